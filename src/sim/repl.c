/*
 * repl.c - making replacement policies, and their names.
 *
 * Implements repl.h.
 */
#include "sim/repl.h"

#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {
    [TROD_REPL_LRU] = "lru",
    [TROD_REPL_FIFO] = "fifo",
    [TROD_REPL_RANDOM] = "random",
    [TROD_REPL_LFU] = "lfu",
    [TROD_REPL_TREE_PLRU] = "tree-plru",
    [TROD_REPL_BIT_PLRU] = "bit-plru",
    [TROD_REPL_NRU] = "nru",
    [TROD_REPL_SRRIP] = "srrip",
    [TROD_REPL_BRRIP] = "brrip",
    [TROD_REPL_DRRIP] = "drrip",
    [TROD_REPL_OPT] = "opt",
};

enum { RRIP_BITS = 2, RRIP_PERIOD = 32, RRIP_BITS_MAX = 31, LEADERS = 32, LEAST = 8 };

const char *trod_repl_name(unsigned kind)
{
    return kind < TROD_REPL_KINDS ? names[kind] : NULL;
}

int trod_repl_find(const char *name, size_t len)
{
    for (int i = 0; i < TROD_REPL_KINDS; i++)
        if (strlen(names[i]) == len && strncasecmp(names[i], name, len) == 0)
            return i;
    return -1;
}

static int init_order(struct trod_repl *r, uint64_t sets)
{
    r->stride = trod_order_words(r->ways);
    r->word = calloc(sets * r->stride, sizeof *r->word);
    if (!r->word)
        return TROD_ERR_NOMEM;
    for (uint64_t s = 0; s < sets; s++)
        trod_order_init(r->word + s * r->stride, r->ways);
    return 0;
}

static int init_rrip(struct trod_repl *r, const struct trod_repl_options *o, uint64_t sets)
{
    const uint32_t bits = o->rrip_bits ? o->rrip_bits : RRIP_BITS;
    const uint64_t share = sets / LEADERS < LEAST ? LEAST : sets / LEADERS;
    const uint64_t leaders = share < sets ? share : sets; /* a leader of each kind, if two sets */

    if (bits > RRIP_BITS_MAX)
        return TROD_ERR_USAGE;
    r->rrip.top = (uint32_t)((UINT64_C(1) << bits) - 1);
    r->rrip.period = o->rrip_given ? o->rrip_period : RRIP_PERIOD;
    r->rrip.longs = o->rrip_given ? o->rrip_longs : 1;
    r->rrip.selector = TROD_RRIP_SELECTOR / 2;
    r->rrip.leaders = leaders > UINT32_MAX ? UINT32_MAX : (uint32_t)leaders;
    r->stride = r->ways;
    r->value = malloc(sets * r->stride * sizeof *r->value);
    if (!r->value)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < sets * r->stride; i++)
        r->value[i] = (int32_t)r->rrip.top;
    return 0;
}

static int init_counters(struct trod_repl *r, uint64_t sets)
{
    r->stride = r->ways;
    r->word = malloc(sets * r->stride * sizeof *r->word);
    if (!r->word)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < sets * r->stride; i++)
        r->word[i] = 1;
    return 0;
}

int trod_repl_init(struct trod_repl *r, const struct trod_repl_options *o, uint64_t sets,
                   uint32_t ways)
{
    memset(r, 0, sizeof *r);
    r->kind = o->kind;
    r->ways = ways;
    r->stride = ways;
    switch (o->kind) {
    case TROD_REPL_LRU:
    case TROD_REPL_FIFO:
        return init_order(r, sets);
    case TROD_REPL_COUNTED_LRU:
        return init_counters(r, sets);
    case TROD_REPL_RANDOM:
        trod_rng_seed(&r->rng, o->seed);
        return 0;
    case TROD_REPL_LFU:
    case TROD_REPL_OPT:
        r->count = calloc(sets * ways, sizeof *r->count);
        return r->count ? 0 : TROD_ERR_NOMEM;
    case TROD_REPL_TREE_PLRU:
        if (ways & (ways - 1))
            return TROD_ERR_USAGE; /* fallthrough */
    case TROD_REPL_BIT_PLRU:
    case TROD_REPL_NRU:
        r->bit = calloc(sets, ways);
        return r->bit ? 0 : TROD_ERR_NOMEM;
    case TROD_REPL_SRRIP:
    case TROD_REPL_BRRIP:
    case TROD_REPL_DRRIP:
        return init_rrip(r, o, sets);
    default:
        return TROD_ERR_USAGE;
    }
}

void trod_repl_fini(struct trod_repl *r)
{
    free(r->word);
    free(r->value);
    free(r->count);
    free(r->bit);
    memset(r, 0, sizeof *r);
}
