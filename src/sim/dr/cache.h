/*
 * cache.h - a cache of DynamoRIO's simulator: one request, insertion, inclusion, coherence, flush.
 *
 * Follows drcachesim's simulator/caching_device.cpp, cache.cpp and snoop_filter.cpp.
 */
#ifndef TROD_SIM_DR_CACHE_H
#define TROD_SIM_DR_CACHE_H

#include "sim/ref.h"
#include "sim/store.h"

enum trod_dr_side { TROD_DR_UNIFIED, TROD_DR_CODE, TROD_DR_DATA };
enum trod_dr_why { TROD_DR_BY_INCLUSION, TROD_DR_BY_EXCLUSION, TROD_DR_BY_COHERENCE };

struct trod_dr_stats {
    uint64_t hits, misses, compulsory;
    uint64_t prefetch_hits, prefetch_misses;
    uint64_t child_hits, flushes;
    uint64_t invalidated[3]; /* by enum trod_dr_why */
};

/* Which caches hold which line, and whether it was written: one for all caches of a level. */
struct trod_dr_snoop {
    struct trod_lines line; /* to the number of its entry */
    uint64_t *entry;        /* WORDS numbers each: bits of the sharers; then 1 if dirty */
    uint32_t words;
    size_t n, cap;
    struct trod_dr_cache **cache; /* by id */
    uint32_t n_caches;
    uint64_t writes, invalidations, writebacks;
};

struct trod_dr_cache {
    const char *name; /* owned by the hierarchy */
    uint8_t side;
    bool inclusive, exclusive, coherent, prefetches;
    bool failed; /* no memory: the numbers are void */
    unsigned line_bits;
    uint64_t size;
    struct trod_store store;
    uint64_t loaded; /* lines that are valid, as the simulator counts them */
    uint64_t last;   /* remembered line, TROD_NO_LINE: none */
    uint64_t last_set;
    uint32_t last_way;
    struct trod_dr_snoop *snoop; /* NULL: the filter is elsewhere */
    uint32_t snoop_id;
    struct trod_dr_cache *parent;
    struct trod_dr_cache **child;
    uint32_t n_child;
    struct trod_lines seen;   /* lines ever missed */
    struct trod_lines served; /* exclusive: lines that a child was given */
    struct trod_dr_stats now, warmup;
    /* Called for each miss that is no hardware prefetch. NULL: not wanted. */
    void (*missed)(void *user, const struct trod_sim_ref *r, uint64_t addr);
    void *user;
};

/* One request of type R->op for [R->addr, R->addr + R->size). */
void trod_dr_request(struct trod_dr_cache *c, const struct trod_sim_ref *r);
/* A flush of the range of R, here and in all caches above. */
void trod_dr_flush(struct trod_dr_cache *c, const struct trod_sim_ref *r);

/* Prepare the filter of N caches. 0 or TROD_ERR_NOMEM. */
int trod_dr_snoop_init(struct trod_dr_snoop *s, uint32_t n);
void trod_dr_snoop_fini(struct trod_dr_snoop *s);

#endif
