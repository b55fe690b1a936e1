/*
 * cache.h - a cache of Dinero IV, with sub-blocks, prefetches and classified misses.
 *
 * Follows Dinero IV 7 (ref.c).
 */
#ifndef TROD_SIM_DIN_CACHE_H
#define TROD_SIM_DIN_CACHE_H

#include "sim/din/config.h"
#include "sim/din/gnu_random.h"
#include "sim/lineset.h"

enum trod_din_type { TROD_DIN_READ, TROD_DIN_WRITE, TROD_DIN_INSTR, TROD_DIN_MISC, TROD_DIN_TYPES };

/* What is counted of each type, of demand (0) and prefetch (1). */
struct trod_din_counts {
    uint64_t fetches[2][TROD_DIN_TYPES], misses[2][TROD_DIN_TYPES], blocks[2][TROD_DIN_TYPES];
    uint64_t miss_class[3][2][TROD_DIN_TYPES];  /* compulsory, capacity, conflict */
    uint64_t block_class[3][2][TROD_DIN_TYPES]; /* the same of block misses */
    uint64_t multi, from_memory, to_memory;
};

/* A block's place in the list of its set. */
struct trod_din_node {
    uint64_t block;                    /* number */
    uint64_t valid, referenced, dirty; /* a bit a sub-block; nothing valid: no block */
    uint32_t next, previous;
};

/* Lists of blocks, one a set, the first to go last. */
struct trod_din_stacks {
    struct trod_din_node *node; /* set by set */
    uint32_t *top;              /* by set: its first node */
    uint32_t *used;             /* by set: valid nodes */
    uint64_t sets;
    uint32_t ways;
    struct trod_lines where; /* block to node, where there are many ways */
};

struct trod_din_ref {
    uint64_t addr;
    uint32_t size;
    uint8_t type;
    bool prefetch;
    bool own; /* to be handled by this cache, not by the one below */
};

struct trod_din_cache {
    const struct trod_din_spec *spec;
    struct trod_din_cache *below; /* NULL: memory */
    unsigned block_bits, sub_bits;
    uint64_t addresses; /* the bits that an address has */
    bool code;          /* instructions only */
    bool failed;
    struct trod_din_stacks sets, full; /* full: fully associative, where misses are classified */
    struct trod_lines seen, seen_blocks;
    struct trod_din_ref *pending;
    size_t n_pending, cap_pending;
    struct trod_gnu_random *random;
    struct trod_din_counts n;
};

int trod_din_cache_init(struct trod_din_cache *c, const struct trod_din_spec *spec,
                        struct trod_gnu_random *random);
void trod_din_cache_fini(struct trod_din_cache *c);

void trod_din_cache_ref(struct trod_din_cache *c, const struct trod_din_ref *r);
/* Write all that is dirty down, here and below. */
void trod_din_cache_copy_back(struct trod_din_cache *c);
/* The same of the block of ADDR alone, at each level. */
void trod_din_cache_copy_block(struct trod_din_cache *c, uint64_t addr);
/* Forget the block of ADDR, here and below, without writing it. */
void trod_din_cache_drop_block(struct trod_din_cache *c, uint64_t addr);
/* Forget all blocks, here and below, without writing them. */
void trod_din_cache_invalidate(struct trod_din_cache *c);

#endif
