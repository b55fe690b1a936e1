/*
 * cost.c - what rows weigh: rows, accesses, their bytes, misses of a small cache.
 *
 * The cache of CG_MISSES is one of 32 KiB, 8 ways, lines of 64 bytes, least recently used, one for
 * each stream: enough to see where misses come from. `trod cache` simulates what a machine really
 * has.
 */
#include "analysis/callgraph/callgraph.h"

#include <stdlib.h>
#include <string.h>

enum { SETS = 64, WAYS = 8, LINE = 6 };

struct cg_cache {
    uint64_t line[SETS][WAYS]; /* number + 1, most recently used first; 0: empty */
};

void cg_cost_fini(struct cg_lane *l)
{
    free(l->cache);
}

/* 1 if LINE is not there. */
static unsigned touch(struct cg_cache *c, uint64_t line)
{
    uint64_t *set = c->line[line % SETS];
    unsigned i = 0;

    while (i < WAYS - 1 && set[i] != line + 1)
        i++;
    const bool miss = set[i] != line + 1;

    memmove(set + 1, set, i * sizeof *set);
    set[0] = line + 1;
    return miss;
}

static uint64_t misses(struct cg_lane *l, uint64_t addr, uint64_t size)
{
    uint64_t n = 0;

    if (!l || (!l->cache && !(l->cache = calloc(1, sizeof *l->cache))))
        return 0;
    if (size == 0)
        size = 1;
    if (size > 4096) /* as `rep` may claim */
        size = 4096;
    for (uint64_t at = addr >> LINE; at <= (addr + size - 1) >> LINE; at++) {
        n += touch(l->cache, at);
        if (at == UINT64_MAX >> LINE)
            break;
    }
    return n;
}

static uint64_t access_of(struct cg_core *core, struct cg_lane *l, const struct trod_batch *b,
                          uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    const uint64_t size = said & TROD_COL_SIZE ? b->size[i] : 1;

    if (said & TROD_COL_FLAGS && b->flags[i] & TROD_F_IFETCH)
        return 0;
    switch (core->opt->weight) {
    case CG_LOADS:
        return b->kind[i] != TROD_WRITE;
    case CG_STORES:
        return b->kind[i] != TROD_READ;
    case CG_BYTES:
        return size;
    case CG_MISSES:
        return said & TROD_COL_ADDR ? misses(l, b->addr[i], size) : 0;
    default:
        return 1;
    }
}

uint64_t cg_weigh(struct cg_core *core, struct cg_lane *l, const struct trod_batch *b,
                  uint32_t from, uint32_t to)
{
    uint64_t n = 0;

    if (core->opt->weight == CG_ROWS)
        return to - from;
    for (uint32_t i = from; i < to; i++)
        if (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE || b->kind[i] == TROD_ATOMIC)
            n += access_of(core, l, b, i);
    return n;
}
