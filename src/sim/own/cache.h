/*
 * cache.h - one cache of a hierarchy: hits, fills and evictions.
 *
 * Implements docs/caches.md, "Rules".
 */
#ifndef TROD_SIM_OWN_CACHE_H
#define TROD_SIM_OWN_CACHE_H

#include "sim/own/config.h"
#include "sim/own/future.h"
#include "sim/own/memory.h"
#include "sim/own/shadow.h"
#include "sim/ref.h"
#include "sim/store.h"

enum trod_own_kind { TROD_OWN_FETCH, TROD_OWN_READ, TROD_OWN_WRITE, TROD_OWN_KINDS };

struct trod_own_counts {
    uint64_t refs[TROD_OWN_KINDS], misses[TROD_OWN_KINDS];
    uint64_t classes[TROD_OWN_CLASSES];
    uint64_t sector_misses;             /* misses of lines that are present in part */
    uint64_t victim_hits;               /* misses that the victim cache had */
    uint64_t prefetches, prefetch_hits; /* asked for here; present already, whoever asked */
    uint64_t useful;                    /* of the prefetches: used later */
    uint64_t evictions, writebacks;     /* lines pushed out; of these dirty */
    uint64_t back_invalidations, coherence_invalidations;
    uint64_t flushed;             /* lines that went because another thread came */
    uint64_t bytes_in, bytes_out; /* from and to the next level */
};

struct trod_own_stride { /* of one instruction */
    uint64_t pc, last;
    int64_t stride;
    uint8_t sure;
};

struct trod_own_flow { /* of one page */
    uint64_t page, last;
    int8_t direction;
    uint8_t run;
};

enum { TROD_OWN_STRIDES = 256, TROD_OWN_FLOWS = 32, TROD_OWN_OFFSETS = 26, TROD_OWN_RECENT = 256 };

/* Best-offset prefetching (Michaud, 2016): offsets are tried in turn against recent requests. */
struct trod_own_best {
    uint64_t recent[TROD_OWN_RECENT];
    uint8_t score[TROD_OWN_OFFSETS];
    uint8_t trying, rounds;
    uint32_t offset; /* in lines; 0: none is good enough */
};

struct trod_own_cache {
    const struct trod_own_spec *spec;
    struct trod_own_cache *next;   /* NULL: memory */
    struct trod_own_cache **child; /* those whose next it is */
    uint32_t n_child;
    unsigned line_bits;
    struct trod_store store, victim;
    uint8_t *state, *victim_state;  /* by line: bits below */
    uint64_t *valid, *dirty;        /* by line, bits of its sectors; NULL: lines come whole */
    struct trod_own_coming *coming; /* policy opt: what the first pass is for; else NULL */
    bool first_pass;                /* and this is it */
    bool may_lose;                  /* to prefetches of an inclusive level, on their way here */
    bool handed;                    /* the write at hand is one that a cache before let through */
    bool watched;                   /* each reference is shown to shadow or coming */
    bool uncounted;                 /* what happens now does not count */
    struct trod_own_shadow *shadow; /* NULL: misses are not classified */
    struct trod_lines lost;         /* lines that coherence took away */
    struct trod_own_stride *stride; /* stride prefetching */
    struct trod_own_flow flow[TROD_OWN_FLOWS];
    unsigned next_flow;
    struct trod_own_best best;
    uint64_t last;    /* line of the last demand reference, TROD_NO_LINE: none */
    uint64_t last_at; /* where it was, set * ways + way */
    bool repeats;     /* a repeated reference to that line changes nothing but counts and dirt */
    struct trod_own_counts n;
    /* Called for each demand miss. NULL: not wanted. */
    void (*missed)(void *user, const struct trod_own_cache *c, uint64_t addr);
    void *user;
    struct trod_own_memory *memory; /* called for what goes to memory; NULL: not wanted */
    bool failed;
};

/*
 * The state of a line. PREFETCHED: this cache asked for it, and there was no reference to it since;
 * EARLIER: it did so when nothing counted.
 */
enum { TROD_OWN_DIRTY = 1, TROD_OWN_PREFETCHED = 2, TROD_OWN_EARLIER = 4 };

/*
 * 0, TROD_ERR_NOMEM or TROD_ERR_USAGE. COMING and FIRST_PASS are for policy opt, which is LRU in
 * the first pass.
 */
int trod_own_cache_init(struct trod_own_cache *c, const struct trod_own_spec *spec, bool classify,
                        struct trod_own_coming *coming, bool first_pass);
void trod_own_cache_fini(struct trod_own_cache *c);
/* Reset the counts: what was prefetched before is no useful prefetch any more. */
void trod_own_cache_reset(struct trod_own_cache *c);

/* A reference of KIND to [ADDR, ADDR + SIZE), which lies in one line of C, by instruction PC. */
void trod_own_cache_ref(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr,
                        uint32_t size, uint64_t pc);

/* The same where ADDR is in the line of the reference before; false: it is not. */
static inline bool trod_own_cache_again(struct trod_own_cache *c, enum trod_own_kind kind,
                                        uint64_t addr)
{
    const uint64_t line = addr >> c->line_bits;

    if (line != c->last || c->store.line[c->last_at] != line)
        return false;
    c->n.refs[kind]++;
    if (kind == TROD_OWN_WRITE)
        c->state[c->last_at] |= TROD_OWN_DIRTY;
    return true;
}

/* Is the line of ADDR present here, or in the victim cache? */
bool trod_own_cache_has(struct trod_own_cache *c, uint64_t addr);
/* Is all of [ADDR, ADDR + SIZE), which lies in one line, present there? */
bool trod_own_cache_has_all(struct trod_own_cache *c, uint64_t addr, uint32_t size);
/*
 * Remove the line of ADDR here and below (towards the cores), for coherence; caches for code that
 * are not kept coherent have it further on, unless C includes what they hold. Returns true if a
 * line was dirty: then it is written back.
 */
bool trod_own_cache_take_away(struct trod_own_cache *c, uint64_t addr);
/* Is the line of ADDR present and dirty here? Then it is clean from here on, and written back. */
bool trod_own_cache_clean(struct trod_own_cache *c, uint64_t addr);

/* A dirty line of BYTES at ADDR comes from outside of the hierarchy, whose first cache is C. */
void trod_own_cache_write_back(struct trod_own_cache *c, uint64_t addr, uint32_t bytes);

/* Empty C: dirty lines are written back. The caches before it are empty already. */
void trod_own_cache_flush(struct trod_own_cache *c);

#endif
