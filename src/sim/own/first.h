/*
 * first.h - first-level caches of plain hierarchies, fast.
 *
 * Implements docs/caches.md, "Rules", for one core with an LRU cache for code and one for data that
 * are written back, allocate, and prefetch nothing: what most simulations are, and where most of
 * their time goes. The lines of a set are kept in the order of their last use. Rows become
 * references; those that repeat the one before them in the same cache are left out, because they
 * hit and change nothing. Misses go on to the caches behind, of which the first ones may have the
 * same form (behind.c); the others are simulated one request at a time (own/cache.h). The numbers
 * are those of trod_own_sim_feed.
 */
#ifndef TROD_SIM_OWN_FIRST_H
#define TROD_SIM_OWN_FIRST_H

#include "sim/own/sim.h"
#include "sim/own/touched.h"

enum {
    TROD_FIRST_WAYS = 16, /* at most */
    TROD_FIRST_WIDE = 8,  /* lines of a set that are compared at once */
    TROD_FIRST_LEVELS = 4 /* behind the first one, of the same form, at most */
};

struct trod_first_cache {
    struct trod_own_cache *of; /* whose counts these are, and what is behind */
    uint64_t *tag;             /* by set, STRIDE lines each (own/touched.h): last used first */
    uint32_t *narrow;          /* behind the first level, instead of TAG: mru.h; else NULL */
    unsigned set_bits;         /* of a line: the lowest ones, which are the number of its set */
    uint64_t *front;           /* by set: what is first there, while references are gone through */
    uint64_t mask;
    uint32_t ways, stride;
};

/*
 * References that are kept, in blocks of TROD_FIRST_KEPT bytes, a huge page. LINES above 0: a block
 * of one reference, of which so many lines in a row are meant.
 */
enum { TROD_FIRST_KEPT = 1 << 21 };

struct trod_first_kept {
    struct trod_first_kept *next;
    size_t bytes, n;
    uint64_t lines;
    uint64_t ref[];
};

struct trod_first {
    struct trod_touched in; /* references that the caches have still to see */
    struct trod_own_sim *sim;
    struct trod_first_cache cache[2];                 /* code, data */
    struct trod_first_cache level[TROD_FIRST_LEVELS]; /* those behind, one behind the other */
    unsigned levels;
    bool recording;                           /* references are kept, for trod_first_merge */
    struct trod_first_kept *kept, *last_kept; /* in their order; NULL: none */
    size_t kept_bytes;
    unsigned idle; /* times that references to the front of sets are left in */
    bool fronts;   /* what is in front of the sets is known */
    /* those that missed, and what was last in their sets; 0: nothing */
    uint64_t missed[TROD_TOUCHED_ROOM], left[TROD_TOUCHED_ROOM];
};

/* Is the hierarchy of C, of which only counts are wanted, of this form? */
bool trod_first_fits(const struct trod_own_config *c);
/*
 * Let C, which is of this form, keep the lines of its first level in here only: before
 * trod_own_sim_init.
 */
void trod_first_claim(struct trod_own_config *c);
/* Reduce C, which is of this form, to its first level: for states that only record. */
void trod_first_alone(struct trod_own_config *c);
/* Take over the first level of S, before the first reference. NULL: no memory. */
struct trod_first *trod_first_new(struct trod_own_sim *s);
void trod_first_free(struct trod_first *f);
/* Rows [FROM, TO) of B are the next. 0 or TROD_ERR_NOMEM. */
int trod_first_feed(struct trod_first *f, const struct trod_batch *b, uint32_t from, uint32_t to);

/* Record the references instead of simulating them; before the first one. */
void trod_first_record(struct trod_first *f);
/*
 * Simulate in F the references that FROM recorded, as if its rows came next. 0 or TROD_ERR_NOMEM.
 */
int trod_first_merge(struct trod_first *f, const struct trod_first *from);
/* first.c to behind.c: give the first N misses to the caches behind. */
void trod_first_behind(struct trod_first *f, size_t n);

#endif
