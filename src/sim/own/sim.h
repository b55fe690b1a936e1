/*
 * sim.h - a hierarchy at work: cores, coherence, who shares what, who misses.
 *
 * Implements docs/caches.md.
 */
#ifndef TROD_SIM_OWN_SIM_H
#define TROD_SIM_OWN_SIM_H

#include "sim/own/cache.h"

enum trod_own_by {
    TROD_OWN_BY_NOTHING,
    TROD_OWN_BY_INSTRUCTION,
    TROD_OWN_BY_PAGE,
    TROD_OWN_BY_LINE,
    TROD_OWN_BY_THREAD
};

/* Who used a line: of up to four threads, the bytes read and written. */
enum { TROD_OWN_SHARERS = 4, TROD_OWN_SHARED_BYTES = 64 };
struct trod_own_shared {
    uint64_t line, refs, invalidations;
    uint32_t thread[TROD_OWN_SHARERS], threads; /* threads: at most one more than are kept */
    uint64_t read[TROD_OWN_SHARERS], written[TROD_OWN_SHARERS];
};

struct trod_own_snapshot {
    uint64_t instructions;
    uint64_t misses[TROD_OWN_CACHES];
};

struct trod_own_sim {
    const struct trod_own_config *config; /* not owned */
    struct trod_own_cache *cache;         /* spec by spec, then core by core; shared ones once */
    uint32_t first[TROD_OWN_CACHES];      /* index of the first instance of each spec */
    uint32_t instances;
    struct trod_own_cache *entry[TROD_OWN_CORES][2]; /* of each core: code, data */
    struct trod_lines thread;                        /* stream to core + 1 */
    uint32_t next_core;
    struct trod_lines holders; /* line to bits of cores that may hold it; private caches only */
    uint64_t invalidations, interventions, upgrades;
    uint8_t by;
    struct trod_lines key; /* to number of its row + 1 */
    uint64_t *row;         /* CACHES + 1 numbers each: the key, misses by cache */
    size_t n_rows, cap_rows;
    uint64_t current; /* key of the reference at hand */
    bool sharing;
    struct trod_lines shared_of; /* line to its entry + 1 */
    struct trod_own_shared *shared;
    size_t n_shared, cap_shared;
    uint64_t instructions, refs;
    uint64_t interval; /* instructions; 0: none */
    struct trod_own_snapshot *snapshot;
    size_t n_snapshots, cap_snapshots;
    bool failed;
};

/* A run of CONFIG, which outlives it. 0 or TROD_ERR_NOMEM. by, sharing and interval are set after.
 */
int trod_own_sim_init(struct trod_own_sim *s, const struct trod_own_config *config);
void trod_own_sim_fini(struct trod_own_sim *s);

/* The next N references. CORES: their shards are cores of the trace's order. */
int trod_own_sim_feed(struct trod_own_sim *s, const struct trod_sim_ref *r, size_t n, bool cores);

/* Statistics begin anew, contents stay. */
void trod_own_sim_reset(struct trod_own_sim *s);

/* The sum of all instances of cache I of the configuration. */
struct trod_own_counts trod_own_sim_sum(const struct trod_own_sim *s, unsigned i);

#endif
