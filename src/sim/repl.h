/*
 * repl.h - the replacement policy of a cache: the state of all its sets, and five operations.
 *
 * Implements rules that all models share. A miss takes the lowest invalid way; if there is none,
 * the way from trod_repl_victim. It then calls trod_repl_evict, and, when the line is in place,
 * trod_repl_fill. The policies are the files of policy/. A switch selects among them, not a table
 * of functions, so that they can be inlined.
 */
#ifndef TROD_SIM_REPL_H
#define TROD_SIM_REPL_H

#include "core/rng.h"
#include "sim/policy/bit_plru.h"
#include "sim/policy/counted_lru.h"
#include "sim/policy/fifo.h"
#include "sim/policy/lfu.h"
#include "sim/policy/lru.h"
#include "sim/policy/nru.h"
#include "sim/policy/opt.h"
#include "sim/policy/rrip.h"
#include "sim/policy/tree_plru.h"

#include <stddef.h>

enum trod_repl_kind {
    TROD_REPL_LRU,
    TROD_REPL_FIFO,
    TROD_REPL_RANDOM,
    TROD_REPL_LFU,
    TROD_REPL_TREE_PLRU,
    TROD_REPL_BIT_PLRU,
    TROD_REPL_NRU,
    TROD_REPL_SRRIP,
    TROD_REPL_BRRIP,
    TROD_REPL_DRRIP,
    TROD_REPL_OPT, /* the caller sets COMING before each step */
    TROD_REPL_KINDS,
    TROD_REPL_COUNTED_LRU = TROD_REPL_KINDS /* DynamoRIO's: not by name */
};

/* Parameters of a policy; 0 selects the default. */
struct trod_repl_options {
    uint8_t kind;
    uint32_t rrip_bits;               /* default 2 */
    uint32_t rrip_period, rrip_longs; /* of BRRIP and DRRIP; default 32 and 1 */
    bool rrip_given;                  /* period and longs are used as they are, even if 0 */
    uint64_t seed;                    /* of RANDOM */
};

struct trod_repl {
    uint8_t kind;
    uint32_t ways;
    size_t stride;   /* elements of a set */
    uint32_t *word;  /* LRU, FIFO */
    int32_t *value;  /* RRIP */
    uint64_t *count; /* LFU, OPT */
    uint8_t *bit;    /* PLRU, NRU */
    struct trod_rrip rrip;
    struct trod_rng rng;
    uint64_t coming; /* OPT: when the line of this reference comes next */
};

/*
 * Prepare a policy for SETS sets of WAYS ways. Returns 0, TROD_ERR_NOMEM, or TROD_ERR_USAGE if the
 * kind does not allow this number of ways (tree PLRU: powers of two only).
 */
int trod_repl_init(struct trod_repl *r, const struct trod_repl_options *o, uint64_t sets,
                   uint32_t ways);
void trod_repl_fini(struct trod_repl *r);

/* The name of KIND: "lru", ...; NULL past the last. */
const char *trod_repl_name(unsigned kind);
/* The kind called NAME (LEN bytes, in any case), or -1. */
int trod_repl_find(const char *name, size_t len);

/* The line in WAY of SET was referenced (a hit). */
static inline void trod_repl_hit(struct trod_repl *r, uint64_t set, uint32_t way)
{
    const size_t at = set * r->stride;

    switch (r->kind) {
    case TROD_REPL_LRU:
        trod_lru_touch(r->word + at, r->ways, way);
        break;
    case TROD_REPL_COUNTED_LRU:
        trod_counted_touch(r->word + at, r->ways, way);
        break;
    case TROD_REPL_LFU:
        trod_lfu_touch(r->count + at, way);
        break;
    case TROD_REPL_TREE_PLRU:
        trod_tree_touch(r->bit + at, r->ways, way);
        break;
    case TROD_REPL_BIT_PLRU:
        trod_bits_touch(r->bit + at, r->ways, way);
        break;
    case TROD_REPL_NRU:
        trod_nru_touch(r->bit + at, way);
        break;
    case TROD_REPL_SRRIP:
    case TROD_REPL_BRRIP:
    case TROD_REPL_DRRIP:
        r->value[at + way] = 0;
        break;
    case TROD_REPL_OPT:
        trod_opt_touch(r->count + at, way, r->coming);
        break;
    default:
        break;
    }
}

/* A new line is in place in WAY of SET. */
static inline void trod_repl_fill(struct trod_repl *r, uint64_t set, uint32_t way)
{
    const size_t at = set * r->stride;

    switch (r->kind) {
    case TROD_REPL_SRRIP:
        r->value[at + way] = (int32_t)(r->rrip.top - 1);
        break;
    case TROD_REPL_BRRIP:
        r->value[at + way] = (int32_t)trod_rrip_pattern(&r->rrip);
        break;
    case TROD_REPL_DRRIP:
        r->value[at + way] = (int32_t)trod_rrip_duel(&r->rrip, set);
        break;
    default:
        trod_repl_hit(r, set, way);
        break;
    }
}

/* WAY of SET is about to be filled. */
static inline void trod_repl_evict(struct trod_repl *r, uint64_t set, uint32_t way)
{
    const size_t at = set * r->stride;

    switch (r->kind) {
    case TROD_REPL_FIFO:
        trod_fifo_fill(r->word + at, r->ways, way);
        break;
    case TROD_REPL_LFU:
        trod_lfu_clear(r->count + at, way);
        break;
    case TROD_REPL_SRRIP:
    case TROD_REPL_BRRIP:
    case TROD_REPL_DRRIP:
        trod_rrip_age(&r->rrip, r->value + at, r->ways, way);
        break;
    default:
        break;
    }
}

/* The way to replace in SET, all of whose ways are valid. */
static inline uint32_t trod_repl_victim(struct trod_repl *r, uint64_t set)
{
    const size_t at = set * r->stride;

    switch (r->kind) {
    case TROD_REPL_LRU:
        return trod_lru_victim(r->word + at, r->ways);
    case TROD_REPL_COUNTED_LRU:
        return trod_counted_victim(r->word + at, r->ways);
    case TROD_REPL_FIFO:
        return trod_fifo_victim(r->word + at, r->ways);
    case TROD_REPL_RANDOM:
        return (uint32_t)trod_rng_below(&r->rng, r->ways);
    case TROD_REPL_LFU:
        return trod_lfu_victim(r->count + at, r->ways);
    case TROD_REPL_TREE_PLRU:
        return trod_tree_victim(r->bit + at, r->ways);
    case TROD_REPL_BIT_PLRU:
        return trod_bits_victim(r->bit + at, r->ways);
    case TROD_REPL_NRU:
        return trod_nru_victim(r->bit + at, r->ways);
    case TROD_REPL_SRRIP:
    case TROD_REPL_BRRIP:
    case TROD_REPL_DRRIP:
        return trod_rrip_victim(&r->rrip, r->value + at, r->ways);
    case TROD_REPL_OPT:
        return trod_opt_victim(r->count + at, r->ways);
    default:
        return 0;
    }
}

/* The line in WAY of SET was removed. */
static inline void trod_repl_invalidate(struct trod_repl *r, uint64_t set, uint32_t way)
{
    const size_t at = set * r->stride;

    switch (r->kind) {
    case TROD_REPL_LRU:
        trod_lru_invalidate(r->word + at, r->ways, way);
        break;
    case TROD_REPL_COUNTED_LRU:
        trod_counted_invalidate(r->word + at, r->ways, way);
        break;
    case TROD_REPL_LFU:
        trod_lfu_clear(r->count + at, way);
        break;
    case TROD_REPL_TREE_PLRU:
        trod_tree_invalidate(r->bit + at, r->ways, way);
        break;
    case TROD_REPL_BIT_PLRU:
        trod_bits_invalidate(r->bit + at, way);
        break;
    case TROD_REPL_NRU:
        trod_nru_invalidate(r->bit + at, way);
        break;
    case TROD_REPL_SRRIP:
    case TROD_REPL_BRRIP:
    case TROD_REPL_DRRIP:
        r->value[at + way] = (int32_t)r->rrip.top;
        break;
    default:
        break;
    }
}

#endif
