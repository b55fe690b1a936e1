/*
 * cost.c - what rows weigh: rows, accesses, their bytes, misses of a small cache, columns.
 *
 * The cache of CG_MISSES is one of 32 KiB, 8 ways, lines of 64 bytes, least recently used, one for
 * each stream: enough to see where misses come from. `trod cache` simulates what a machine really
 * has.
 */
#include "analysis/callgraph/callgraph.h"

#include "core/grow.h"
#include "sim/ref.h"

#include <stdlib.h>
#include <string.h>

enum { SETS = 64, WAYS = 8, LINE = 6 };

struct cg_cache {
    uint64_t line[SETS][WAYS]; /* number + 1, most recently used first; 0: empty */
};

void cg_cost_end(struct cg_core *core)
{
    for (uint32_t i = 0; i < core->n_caches; i++)
        free(core->cache[i]);
    free(core->cache);
    core->cache = NULL;
    core->n_caches = 0;
}

/* The cache of the stream of row I of B, made if new; NULL: no memory. */
static struct cg_cache *cache_of(struct cg_core *core, const struct trod_batch *b, uint32_t i)
{
    const uint32_t at = b->have & b->has[i] & TROD_COL_STREAM ? b->stream[i] + 1 : 0;

    if (!trod_grow_to(&core->cache, &core->n_caches, at, sizeof *core->cache, NULL))
        return NULL;
    if (!core->cache[at])
        core->cache[at] = calloc(1, sizeof **core->cache);
    return core->cache[at];
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

static uint64_t misses(struct cg_core *core, const struct trod_batch *b, uint32_t i, uint64_t size)
{
    const uint64_t addr = trod_ref_place(b, i, b->have & b->has[i]);
    struct cg_cache *cache = cache_of(core, b, i);
    uint64_t n = 0;

    if (!cache)
        return 0;
    if (size == 0)
        size = 1;
    if (size > 4096) /* as `rep` may claim */
        size = 4096;
    if (size > UINT64_MAX - addr) /* the address space ends there */
        size = UINT64_MAX - addr + 1;
    for (uint64_t at = addr >> LINE; at <= (addr + size - 1) >> LINE; at++)
        n += touch(cache, at);
    return n;
}

static uint64_t access_of(struct cg_core *core, const struct cg_weight *w,
                          const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    const uint64_t size = said & TROD_COL_SIZE ? b->size[i] : 1;

    if (flags & TROD_F_IFETCH)
        return 0;
    switch (w->what) {
    case CG_LOADS:
        return b->kind[i] != TROD_WRITE;
    case CG_STORES:
        return b->kind[i] != TROD_READ;
    case CG_BYTES:
        return size;
    case CG_BYTES_READ:
        return b->kind[i] != TROD_WRITE ? size : 0;
    case CG_BYTES_WRITTEN:
        return b->kind[i] != TROD_READ ? size : 0;
    case CG_MISSES:
        if (flags & TROD_NO_REFERENCE || !trod_ref_is_placed(said, b->kind[i]))
            return 0;
        return misses(core, b, i, size);
    default:
        return 1;
    }
}

static uint64_t accesses(struct cg_core *core, const struct cg_weight *w,
                         const struct trod_batch *b, uint32_t from, uint32_t to)
{
    uint64_t n = 0;

    for (uint32_t i = from; i < to; i++)
        if (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE || b->kind[i] == TROD_ATOMIC)
            n += access_of(core, w, b, i);
    return n;
}

static uint64_t rows_of(const struct cg_weight *w, const struct trod_batch *b, uint32_t from,
                        uint32_t to)
{
    uint64_t n = 0;

    if (w->kind == TROD_KINDS)
        return to - from;
    for (uint32_t i = from; i < to; i++)
        n += b->kind[i] == w->kind;
    return n;
}

/* What row I says in COLUMN. */
static uint64_t cell(const struct trod_batch *b, uint32_t column, uint32_t i)
{
    switch (column) {
    case TROD_COL_FLAGS:
        return b->flags[i];
    case TROD_COL_SIZE:
        return b->size[i];
    case TROD_COL_TIME:
        return b->time[i];
    case TROD_COL_INDEX:
        return b->index[i];
    case TROD_COL_ADDR:
        return b->addr[i];
    case TROD_COL_PADDR:
        return b->paddr[i];
    case TROD_COL_PC:
        return b->pc[i];
    case TROD_COL_TARGET:
        return b->target[i];
    case TROD_COL_VALUE:
        return b->value[i];
    case TROD_COL_SUB:
        return b->sub[i];
    default:
        return b->core[i];
    }
}

static uint64_t sum_of(const struct cg_weight *w, const struct trod_batch *b, uint32_t from,
                       uint32_t to)
{
    const uint32_t column = UINT32_C(1) << w->column;
    uint64_t n = 0;

    for (uint32_t i = from; b->have & column && i < to; i++)
        if (b->has[i] & column && (w->kind == TROD_KINDS || b->kind[i] == w->kind))
            n += cell(b, column, i);
    return n;
}

void cg_weigh(struct cg_core *core, const struct trod_batch *b, uint32_t from, uint32_t to,
              uint64_t *self)
{
    for (unsigned k = 0; k < core->weights.n; k++) {
        const struct cg_weight *w = &core->weights.at[k];
        const uint64_t *given = core->weights.number;

        switch (w->what) {
        case CG_ROWS:
            self[k] += rows_of(w, b, from, to);
            break;
        case CG_COLUMN:
            self[k] += sum_of(w, b, from, to);
            break;
        case CG_ANALYSIS:
            for (uint32_t i = from; i < to; i++)
                self[k] += given[k * (size_t)TROD_BATCH_ROWS + i];
            break;
        default:
            self[k] += accesses(core, w, b, from, to);
            break;
        }
    }
}
