/*
 * sweep_walk.h - caches of one line size and one stream, with policies that stack distances do not
 * cover.
 *
 * Implements docs/caches.md, "Many caches at once". All are fed the same lines. A line that was the
 * last one of its set in the smallest number of sets was the last one of its set in all of them:
 * where that changes nothing in a policy it is left out once, for all caches.
 */
#ifndef TROD_SIM_SWEEP_WALK_H
#define TROD_SIM_SWEEP_WALK_H

#include "sim/store.h"

enum { TROD_WALK_BATCH = 4096 };

struct trod_walk_cache {
    struct trod_store store;
    uint64_t sets, ways;
    uint8_t policy;
    bool mine;  /* else another part of the sweep has it */
    bool every; /* the policy takes notice of a reference to the line used last */
    uint64_t misses;
};

struct trod_walk {
    struct trod_walk_cache *cache;
    size_t n;
    uint64_t *last, mask; /* by set of the smallest number of sets */
    bool failed;
    uint64_t line[TROD_WALK_BATCH];
};

/* SETS, a power of two, is the smallest number of sets of the caches to come. 0 or
 * TROD_ERR_NOMEM. */
int trod_walk_init(struct trod_walk *w, uint64_t sets);
void trod_walk_fini(struct trod_walk *w);
/* One more cache; MINE: simulated here. 0, TROD_ERR_NOMEM, or what trod_repl_init returns. */
int trod_walk_add(struct trod_walk *w, unsigned policy, uint64_t sets, uint64_t ways, bool mine);
/* N more references, at most TROD_WALK_BATCH. */
void trod_walk_feed(struct trod_walk *w, const uint64_t *line, size_t n);
/* Misses of a cache that was added. */
uint64_t trod_walk_misses(const struct trod_walk *w, unsigned policy, uint64_t sets, uint64_t ways);
/* Add the misses of OTHER, of the same caches. */
void trod_walk_sum(struct trod_walk *w, const struct trod_walk *other);

/* Does a reference to the line that its set used last change anything in POLICY? */
bool trod_walk_notices(unsigned policy);
/* Are the sets of a cache with POLICY independent of each other, so that they can be shared out? */
bool trod_walk_apart(unsigned policy);

#endif
