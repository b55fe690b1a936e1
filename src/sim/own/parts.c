/*
 * parts.c - a hierarchy shared out to several threads by sets, and joined again.
 *
 * Implements own/sim.h, "Parts". Some bits of the address are part of the set's number in every
 * cache, so references that differ in them never meet. Each part sees all references and simulates
 * those with its own values of these bits.
 */
#include "sim/own/sim.h"

#include "sim/sweep_walk.h"
#include "trod/diag.h"

#include <string.h>

enum { BITS_MOST = 6, SHARING_BITS = 6 };

static unsigned log2_of(uint64_t v)
{
    unsigned bits = 0;

    while (v >>= 1)
        bits++;
    return bits;
}

unsigned trod_own_sim_classes(const struct trod_own_config *c, unsigned *shift)
{
    unsigned low = SHARING_BITS, high = 64;

    if (c->n_tlbs || c->physical || c->classify)
        return 0;
    for (unsigned i = 0; i < c->n; i++) {
        const struct trod_own_spec *s = &c->spec[i];
        const unsigned line = log2_of(s->line);

        if (s->sets & (s->sets - 1) || s->victims || s->prefetch ||
            s->policy.kind == TROD_REPL_OPT || !trod_walk_apart(s->policy.kind))
            return 0;
        low = line > low ? line : low;
        high = line + log2_of(s->sets) < high ? line + log2_of(s->sets) : high;
    }
    *shift = low;
    return high <= low ? 0 : high - low < BITS_MOST ? high - low : BITS_MOST;
}

void trod_own_sim_take(struct trod_own_sim *s, unsigned shard, unsigned shards)
{
    unsigned bits = shards > 1 ? trod_own_sim_classes(s->config, &s->class_shift) : 0;

    s->shard = shard;
    s->shards = shards;
    s->class_mask = (UINT64_C(1) << bits) - 1;
    s->mine = 0;
    for (uint64_t class = 0; shards && class <= s->class_mask; class ++)
        s->mine |= (uint64_t)(class % shards == shard) << class;
}

static bool merge_rows(struct trod_own_sim *s, const struct trod_own_sim *from)
{
    s->nameless = false;
    for (size_t i = 0; i < from->n_rows; i++) {
        const uint64_t *row = from->row + i * TROD_OWN_ROW;
        uint64_t *into = i + 1 == from->no_key ? trod_own_sim_row_none(s)
                                               : trod_own_sim_row(s, row[TROD_OWN_KEY]);

        if (!into)
            return false;
        for (size_t k = TROD_OWN_REFS; k < TROD_OWN_ROW; k++)
            into[k] += row[k];
    }
    return true;
}

void trod_own_sim_add(void *into, const void *from, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        uint64_t a, b;

        memcpy(&a, (const char *)into + at * sizeof a, sizeof a);
        memcpy(&b, (const char *)from + at * sizeof b, sizeof b);
        a += b;
        memcpy((char *)into + at * sizeof a, &a, sizeof a);
    }
}

struct trod_own_counts trod_own_sim_sum(const struct trod_own_sim *s, unsigned i)
{
    struct trod_own_counts sum = {0};

    for (uint32_t k = 0; k < s->config->spec[i].home.instances; k++)
        trod_own_sim_add(&sum, &s->cache[s->first[i] + k].n, sizeof sum / sizeof(uint64_t));
    return sum;
}

struct trod_own_tlb_counts trod_own_sim_sum_tlb(const struct trod_own_sim *s, unsigned i)
{
    struct trod_own_tlb_counts sum = {.evictions = 0};

    for (uint32_t k = 0; k < s->config->tlb[i].home.instances; k++)
        trod_own_sim_add(&sum, &s->tlb[s->first_tlb[i] + k].n, sizeof sum / sizeof(uint64_t));
    return sum;
}

int trod_own_sim_merge(struct trod_own_sim *s, const struct trod_own_sim *from)
{
    for (uint32_t i = 0; i < s->instances; i++)
        trod_own_sim_add(&s->cache[i].n, &from->cache[i].n,
                         sizeof s->cache[i].n / sizeof(uint64_t));
    s->invalidations += from->invalidations;
    s->interventions += from->interventions;
    s->upgrades += from->upgrades;
    s->refs += from->refs;
    s->line_refs += from->line_refs;
    for (size_t i = 0; i < s->n_snapshots && i < from->n_snapshots; i++)
        for (unsigned k = 0; k < s->config->n; k++)
            s->snapshot[i].misses[k] += from->snapshot[i].misses[k];
    return merge_rows(s, from) && trod_own_sharing_merge(s, from) ? 0 : TROD_ERR_NOMEM;
}
