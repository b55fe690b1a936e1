/*
 * times.h - reuse times of a stream of references, and curves computed from them.
 *
 * Implements docs/locality.md, "Models": reuse times, working sets, the footprint (Xiang et al.,
 * "Linear-time modeling of program working set in shared cache", 2011) and three models of the miss
 * ratio that need nothing else: HOTL (Xiang et al., "HOTL: a higher order theory of locality",
 * 2013), AET (Hu et al., "Kinetic modeling of data eviction in cache", 2016) and StatStack (Eklov
 * and Hagersten, "StatStack: efficient modeling of LRU caches", 2010). The models take references
 * to be a stationary mixture: loops a little larger than the cache are beyond them.
 */
#ifndef TROD_SIM_TIMES_H
#define TROD_SIM_TIMES_H

#include "bins.h"
#include "dist.h"

struct trod_time_line {
    uint64_t line, last; /* last: time of the last reference, from 1; 0: the slot is free */
};

enum { TROD_TIME_SHORT = 4096 }; /* reuse times below are counted one by one */

struct trod_times {
    struct trod_time_line *at; /* open addressing */
    size_t size;               /* a power of two */
    unsigned shift;
    uint64_t now;   /* references */
    uint64_t lines; /* distinct ones */
    uint64_t refs[TROD_REFS];
    uint64_t brief[TROD_TIME_SHORT];  /* reuses by time */
    struct trod_bin reuse[TROD_BINS]; /* reuses by time */
    struct trod_bin first[TROD_BINS]; /* lines by position of their first reference, from 1 */
    uint64_t window, begin;           /* references a window; where the present one began */
    uint64_t fresh;                   /* lines referenced in the present window */
    uint64_t *sets;                   /* lines referenced in each window that ended */
    size_t n_sets, cap_sets;
    uint64_t recent;               /* the line referenced last */
    struct trod_first_time *order; /* parts: lines in order of first references */
    size_t cap_order;
    bool parts;
    unsigned summed; /* threads added */
};

/* A line's first reference in a part. */
struct trod_first_time {
    uint64_t line, time;
};

/*
 * A new state. WINDOW: references of a window whose distinct lines are counted, 0: none. PARTS:
 * trod_times_append will be called. Returns NULL without memory.
 */
struct trod_times *trod_times_new(uint64_t window, bool parts);
void trod_times_free(struct trod_times *t);
/* N more references: lines and classes. Returns false without memory. */
bool trod_times_feed(struct trod_times *t, const uint64_t *line, const uint8_t *class, size_t n);
/* The references of LATER came directly after those of T; neither counts windows. Returns false
 * without memory. */
bool trod_times_append(struct trod_times *t, const struct trod_times *later);
/* When LINE, which T knows, was referenced last. */
uint64_t trod_times_last(const struct trod_times *t, uint64_t line);
/* LINE, which T (a part) does not know, was referenced first and last at these times. 0,
 * TROD_ERR_CORRUPT (it does) or TROD_ERR_NOMEM. */
int trod_times_put(struct trod_times *t, uint64_t line, uint64_t first, uint64_t last);
/*
 * Add the reuse times of OTHER, references of another thread. T cannot be fed afterwards; its
 * windows and curves mean nothing where more than one was added to it.
 */
void trod_times_sum(struct trod_times *t, const struct trod_times *other);
/* The windows of T become those of FROM. Returns false without memory. */
bool trod_times_copy_sets(struct trod_times *t, const struct trod_times *from);
/* Reuses that took TIME. Exact below TROD_TIME_SHORT. */
static inline uint64_t trod_times_at(const struct trod_times *t, uint64_t time)
{
    return time < TROD_TIME_SHORT ? t->brief[time] : 0;
}

/* Lines by number of references from their last one to the end, both included: to TAIL. */
void trod_times_tail(const struct trod_times *t, struct trod_bin *tail);

/*
 * Curves by length of time, at the beginnings of bins (trod_bin_begin), where they are exact.
 */
struct trod_curves {
    uint64_t n, lines;    /* references, distinct lines */
    unsigned points;      /* how many of the bins begin within N */
    double mean;          /* reuse time; NAN where nothing is reused */
    double fp[TROD_BINS]; /* footprint: mean number of lines in windows of so many references */
    double ws[TROD_BINS]; /* Denning's working set: of the last so many references, at each time */
    double fill[TROD_BINS]; /* sum of P(k) for all k below, P(k): share of reuse times beyond k */
};

/* Returns false without memory. */
bool trod_curves_make(struct trod_curves *c, const struct trod_times *t);
/* Miss ratio of an LRU cache of LINES lines as the models give it. */
double trod_curves_hotl(const struct trod_curves *c, double lines);
double trod_curves_aet(const struct trod_curves *c, double lines);
double trod_curves_statstack(const struct trod_curves *c, double lines);

#endif
