/*
 * sim.h - a simulated hierarchy: cores, coherence, sharing, misses by owner.
 *
 * Implements docs/caches.md.
 */
#ifndef TROD_SIM_OWN_SIM_H
#define TROD_SIM_OWN_SIM_H

#include "sim/own/cache.h"
#include "sim/own/pages.h"
#include "sim/own/tlb.h"

enum trod_own_by {
    TROD_OWN_BY_NOTHING,
    TROD_OWN_BY_INSTRUCTION,
    TROD_OWN_BY_PAGE,
    TROD_OWN_BY_LINE,
    TROD_OWN_BY_THREAD,
    TROD_OWN_BY_CORE,
    TROD_OWN_BY_OWNER, /* of the data */
    TROD_OWN_BY_ROW    /* numbers go to by_row; the owner of a reference is the number of its row */
};

/*
 * Users of a line: of four threads the bytes read and written; further threads are in another
 * entry.
 */
enum { TROD_OWN_SHARERS = 4, TROD_OWN_SHARED_BYTES = 64 };
struct trod_own_shared {
    uint64_t line, refs, invalidations;
    uint64_t more;    /* number + 1 of the one with further threads; 0: none */
    bool follows;     /* it is such a further one */
    uint32_t threads; /* that it has */
    uint32_t thread[TROD_OWN_SHARERS];
    uint64_t read[TROD_OWN_SHARERS], written[TROD_OWN_SHARERS];
};

enum {
    TROD_OWN_KEY,
    TROD_OWN_REFS,
    TROD_OWN_MISSES,
    TROD_OWN_ROW = TROD_OWN_MISSES + TROD_OWN_CACHES
};

struct trod_own_snapshot {
    uint64_t instructions;
    uint64_t misses[TROD_OWN_CACHES];
};

struct trod_own_walks {
    uint64_t walks, reads;
};

/* The order of the numbers in by_row: caches, then TLBs, then page walks. */
enum { TROD_OWN_MISSERS = TROD_OWN_CACHES + TROD_OWN_TLBS + 1 };

/* Phases: which instructions are simulated, and which count. */
enum trod_own_mode { TROD_OWN_COUNTING, TROD_OWN_WARMING, TROD_OWN_SKIPPING };

struct trod_own_phases {
    uint64_t skip; /* instructions that are not simulated at first */
    /*
     * Sampling: of every EVERY instructions after the skipped ones, the last COUNT are counted, the
     * WARM before these are only simulated, the others are skipped. EVERY 0: all are counted.
     */
    uint64_t every, warm, count;
    bool until_full; /* counts begin when the last caches are full */
};

struct trod_own_kept;

struct trod_own_sim {
    const struct trod_own_config *config; /* not owned */
    struct trod_own_cache *cache;         /* spec by spec, then core by core; shared ones once */
    uint32_t first[TROD_OWN_CACHES];      /* index of the first instance of each spec */
    uint32_t instances;
    struct trod_own_cache *entry[TROD_OWN_CORES][2]; /* of each core: code, data */
    struct trod_own_cache *walk[TROD_OWN_CORES];     /* what its page walks read; NULL: memory */
    struct trod_own_tlb *tlb;                        /* spec by spec, as the caches */
    uint32_t first_tlb[TROD_OWN_TLBS];
    uint32_t tlbs;
    struct trod_own_tlb *look[TROD_OWN_CORES][2]; /* of each core: code, data */
    struct trod_own_pages pages;
    struct trod_own_walks walks;
    bool paged;                    /* TLBs, or physical addresses */
    uint32_t runs[TROD_OWN_CORES]; /* stream on each core + 1, where switches empty something */
    uint64_t switches;
    struct trod_lines thread; /* stream to core + 1 */
    uint32_t next_core;
    /* coherence.c */
    uint8_t asks[TROD_OWN_CORES];   /* bits of the kinds of references that it looks at */
    uint8_t leader[TROD_OWN_CORES]; /* lowest core with the same first cache of data */
    uint64_t leaders;               /* bits of these cores */
    uint8_t alone[TROD_OWN_CORES];  /* how many caches code goes through before those of data */
    uint8_t most_alone;
    uint64_t kin;        /* bits of the cores whose writes concern others of the same leader */
    bool unseen;         /* cores may have lines that they did not reference */
    bool mixed;          /* caches that not all cores share have lines of several sizes */
    uint8_t holder_bits; /* of the longest of these lines */
    uint8_t unit_bits;   /* of the lines of first caches of data: what a write takes away */
    struct trod_lines holders; /* address >> holder_bits to bits of leaders that may hold it */
    uint64_t invalidations, interventions, upgrades;
    uint8_t by;
    struct trod_lines key; /* to number of its row + 1 */
    uint64_t *row;         /* ROW numbers each: the key, references, misses by cache */
    size_t n_rows, cap_rows;
    uint64_t current;                   /* key of the reference at hand */
    uint64_t tables;                    /* BY_OWNER: key of what page walks read */
    uint64_t *by_row[TROD_OWN_MISSERS]; /* BY_ROW: by owner of the reference; NULL: not wanted */
    uint64_t last_key, last_row; /* whose row was looked for last, and its number + 1; 0: none */
    bool nameless;               /* BY_INSTRUCTION: that of the reference at hand is not known;
                                    last_row is 0 */
    size_t no_key;               /* number + 1 of the row of these; 0: there is none */
    struct trod_own_memory memory;
    bool sharing;
    struct trod_lines shared_of; /* line to its entry + 1 */
    struct trod_own_shared *shared;
    size_t n_shared, cap_shared;
    uint64_t instructions, refs;
    uint64_t line_refs; /* of cores to their first caches, and of page walks to caches */
    uint64_t interval;  /* instructions; 0: none */
    struct trod_own_snapshot *snapshot;
    size_t n_snapshots, cap_snapshots;
    struct trod_own_phases phases;
    bool phased, full;
    uint8_t mode;        /* enum trod_own_mode */
    uint64_t seen;       /* instructions, all */
    bool any;            /* was a reference simulated? Of use with phases only */
    uint64_t windows;    /* that counted */
    uint64_t full_after; /* instructions, where full */
    struct trod_own_kept *kept;
    unsigned shard, shards, class_shift; /* parts; shards 0 or 1: this one simulates all */
    uint64_t class_mask, mine;           /* bits of the classes that this part simulates */
    bool failed;
};

/* A run of CONFIG, which outlives it. 0 or TROD_ERR_NOMEM. by, sharing and interval are set after.
 */
int trod_own_sim_init(struct trod_own_sim *s, const struct trod_own_config *config);
/* The same, one of two passes of FUTURE, which outlives it; prepared for trod_own_sim_ahead caches.
 */
int trod_own_sim_init_pass(struct trod_own_sim *s, const struct trod_own_config *config,
                           struct trod_own_future *future);
/* How many caches of CONFIG look ahead. */
uint32_t trod_own_sim_ahead(const struct trod_own_config *config);
void trod_own_sim_fini(struct trod_own_sim *s);

/* Pass all traffic to memory to GIVE as rows; to be called before the first reference. 0 or
 * TROD_ERR_NOMEM. */
int trod_own_sim_memory(struct trod_own_sim *s, int (*give)(void *user, const struct trod_batch *b),
                        void *user);

/* The next N references. CORES: their shards are cores of the trace's order. */
int trod_own_sim_feed(struct trod_own_sim *s, const struct trod_sim_ref *r, size_t n, bool cores);

/* Did anything fail so far? 0, TROD_ERR_NOMEM, or what giving and keeping rows returned. */
int trod_own_sim_check(struct trod_own_sim *s);

/* Cache I of core K, or NULL. */
static inline struct trod_own_cache *trod_own_cache_of(const struct trod_own_sim *s, unsigned i,
                                                       uint32_t k)
{
    const uint8_t of = s->config->spec[i].home.of[k];

    return of == TROD_OWN_NOT_HERE ? NULL : &s->cache[s->first[i] + of];
}

/* TLB I of core K, or NULL. */
static inline struct trod_own_tlb *trod_own_tlb_of(const struct trod_own_sim *s, unsigned i,
                                                   uint32_t k)
{
    const uint8_t of = s->config->tlb[i].home.of[k];

    return of == TROD_OWN_NOT_HERE ? NULL : &s->tlb[s->first_tlb[i] + of];
}

/* Phases P, before the first reference. 0 or TROD_ERR_NOMEM. */
int trod_own_sim_phases(struct trod_own_sim *s, const struct trod_own_phases *p);
/* The references have ended: counts are final. */
void trod_own_sim_end(struct trod_own_sim *s);
/* phase.c to sim.c and back: before an instruction; after a reference until all is full. */
void trod_own_phase_instruction(struct trod_own_sim *s);
void trod_own_phase_full(struct trod_own_sim *s);
void trod_own_phase_reset(struct trod_own_sim *s);
void trod_own_phase_fini(struct trod_own_sim *s);
void trod_own_sim_snapshot(struct trod_own_sim *s);

/* coherence.c: what the hierarchy of S, which is built, means for it. */
void trod_own_coherence_init(struct trod_own_sim *s);
/* CORE reads the line of ADDR, or writes it, and has not done so yet. */
void trod_own_cohere(struct trod_own_sim *s, uint32_t core, uint64_t addr, bool write);

/* sharing.c: R uses SIZE bytes at ADDR; N cores lost the line of ADDR. */
void trod_own_sharing_note(struct trod_own_sim *s, const struct trod_sim_ref *r, uint64_t addr,
                           uint32_t size);
void trod_own_sharing_lost(struct trod_own_sim *s, uint64_t addr, unsigned n);
/* How the threads of the line of E, an entry that continues no other, share it. */
struct trod_own_sharing {
    uint64_t threads;
    bool written, truly; /* TRULY: what one of them writes another one uses */
};
struct trod_own_sharing trod_own_sharing_of(const struct trod_own_sim *s,
                                            const struct trod_own_shared *e);
/* Lines of 64 bytes are whole in a part, so that each is in one of them only. */
bool trod_own_sharing_merge(struct trod_own_sim *s, const struct trod_own_sim *from);

/*
 * Parts: how many bits of the address, from *SHIFT on, are in the number of the set in every cache
 * of C, so that references that differ there have nothing to do with each other. 0: none, or
 * something is not by sets (seeded and dueling policies, prefetchers, victims, TLBs, ...).
 */
unsigned trod_own_sim_classes(const struct trod_own_config *c, unsigned *shift);
/* Simulate part SHARD of SHARDS, at most 2^classes; before the first reference. */
void trod_own_sim_take(struct trod_own_sim *s, unsigned shard, unsigned shards);
/* Add what FROM, another part of the same references, found. Both have ended. 0 or TROD_ERR_NOMEM.
 */
int trod_own_sim_merge(struct trod_own_sim *s, const struct trod_own_sim *from);
/* The row of KEY, or of none where s->nameless, added if new; NULL: no memory (failed). */
uint64_t *trod_own_sim_row(struct trod_own_sim *s, uint64_t key);
/* The row of what has no key: no instruction is known. */
uint64_t *trod_own_sim_row_none(struct trod_own_sim *s);
/* Add the COUNT numbers FROM to INTO. */
void trod_own_sim_add(void *into, const void *from, size_t count);

/* Reset the statistics; the contents are kept. */
void trod_own_sim_reset(struct trod_own_sim *s);

/* The sum of all instances of cache I of the configuration. */
struct trod_own_counts trod_own_sim_sum(const struct trod_own_sim *s, unsigned i);
/* The same of TLB I. */
struct trod_own_tlb_counts trod_own_sim_sum_tlb(const struct trod_own_sim *s, unsigned i);

#endif
