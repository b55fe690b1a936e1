/*
 * first.h - a fast simulation of the first-level caches of plain hierarchies.
 *
 * Implements docs/caches.md, "Rules", for one core with an LRU instruction cache and an LRU data
 * cache that write back, allocate on writes, and do not prefetch. Most simulations have this form,
 * and the first level takes most of their time. The lines of a set are kept in the order of their
 * last use. Rows are converted to references; a reference to the same line as the previous one in
 * its cache is left out, because it hits and changes nothing. Misses go to the caches behind; the
 * nearest of these may have the same form (behind.c), the others are simulated one request at a
 * time (own/cache.h). The numbers are the same as those of trod_own_sim_feed.
 */
#ifndef TROD_SIM_OWN_FIRST_H
#define TROD_SIM_OWN_FIRST_H

#include "sim/own/kept.h"
#include "sim/own/sim.h"
#include "sim/own/touched.h"

enum {
    TROD_FIRST_WAYS = 16, /* at most */
    TROD_FIRST_WIDE = 8,  /* lines of a set that are compared at once */
    TROD_FIRST_LEVELS = 4 /* levels of this form behind the first, at most */
};

struct trod_first_cache {
    struct trod_own_cache *of; /* receives the counts; has the links to the caches behind */
    uint64_t *tag;             /* by set, STRIDE lines each (own/touched.h): last used first */
    uint32_t *narrow;          /* behind the first level, instead of TAG: mru.h; else NULL */
    unsigned set_bits;         /* number of the lowest bits of a line number that are its set */
    uint64_t *front; /* by set: the most recently used line, while references are thinned */
    uint64_t mask;
    uint32_t ways, stride;
};

struct trod_first {
    struct trod_touched in; /* references not simulated yet */
    struct trod_own_sim *sim;
    struct trod_first_cache cache[2];                 /* code, data */
    struct trod_first_cache level[TROD_FIRST_LEVELS]; /* the levels behind, nearest first */
    unsigned levels;
    bool recording; /* references are kept, for trod_first_merge */
    struct trod_kept kept;
    unsigned unthinned; /* further buffers to be simulated without removing hits to set fronts */
    bool fronts;        /* trod_first_cache.front is valid */
    /* the references that missed, and the line each replaced; 0: none */
    uint64_t missed[TROD_TOUCHED_ROOM], left[TROD_TOUCHED_ROOM];
};

/* Has the hierarchy C, of which only counts are wanted, this form? */
bool trod_first_fits(const struct trod_own_config *c);
/*
 * Note in C, which has this form, that the lines of its first level are kept here; to be called
 * before trod_own_sim_init.
 */
void trod_first_claim(struct trod_own_config *c);
/* Reduce C, which has this form, to its first level: for states that only record. */
void trod_first_alone(struct trod_own_config *c);
/* Take over the first level of S, before the first reference. NULL: no memory. */
struct trod_first *trod_first_new(struct trod_own_sim *s);
void trod_first_free(struct trod_first *f);
/* Simulate, or record, rows [FROM, TO) of B. 0 or TROD_ERR_NOMEM. */
int trod_first_feed(struct trod_first *f, const struct trod_batch *b, uint32_t from, uint32_t to);

/* Record the references instead of simulating them; before the first one. */
void trod_first_record(struct trod_first *f);
/*
 * Simulate in F the references that FROM recorded, as if its rows came next. 0 or TROD_ERR_NOMEM.
 */
int trod_first_merge(struct trod_first *f, const struct trod_first *from);
/* Internal: first.c passes the first N misses to the caches behind (behind.c). */
void trod_first_behind(struct trod_first *f, size_t n);

#endif
