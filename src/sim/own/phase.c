/*
 * phase.c - what is skipped, what only fills the caches, and what counts.
 *
 * Implements own/sim.h, "Phases". Counts are kept where counting stops and put back where it goes
 * on: contents stay as they have become.
 */
#include "sim/own/sim.h"

#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

struct trod_own_kept {
    struct trod_own_counts *cache;
    struct trod_own_tlb_counts *tlb;
    struct trod_own_walks walks;
    uint64_t invalidations, interventions, upgrades, switches, unknown, instructions, refs;
    uint64_t line_refs;
};

static void keep(struct trod_own_sim *s)
{
    struct trod_own_kept *k = s->kept;

    for (uint32_t i = 0; i < s->instances; i++)
        k->cache[i] = s->cache[i].n;
    for (uint32_t i = 0; i < s->tlbs; i++)
        k->tlb[i] = s->tlb[i].n;
    k->walks = s->walks;
    k->invalidations = s->invalidations;
    k->interventions = s->interventions;
    k->upgrades = s->upgrades;
    k->switches = s->switches;
    k->unknown = s->pages.unknown;
    k->instructions = s->instructions;
    k->refs = s->refs;
    k->line_refs = s->line_refs;
}

static void put_back(struct trod_own_sim *s)
{
    const struct trod_own_kept *k = s->kept;

    for (uint32_t i = 0; i < s->instances; i++)
        s->cache[i].n = k->cache[i];
    for (uint32_t i = 0; i < s->tlbs; i++)
        s->tlb[i].n = k->tlb[i];
    s->walks = k->walks;
    s->invalidations = k->invalidations;
    s->interventions = k->interventions;
    s->upgrades = k->upgrades;
    s->switches = k->switches;
    s->pages.unknown = k->unknown;
    s->instructions = k->instructions;
    s->refs = k->refs;
    s->line_refs = k->line_refs;
}

static void set_mode(struct trod_own_sim *s, enum trod_own_mode mode)
{
    s->mode = (uint8_t)mode;
    for (uint32_t i = 0; i < s->instances; i++)
        s->cache[i].uncounted = mode != TROD_OWN_COUNTING;
}

/* The mode in which instruction number SEEN, from 0 on, is simulated. */
static enum trod_own_mode mode_of(const struct trod_own_phases *p, uint64_t seen)
{
    uint64_t at;

    if (seen < p->skip)
        return TROD_OWN_SKIPPING;
    if (p->every == 0)
        return TROD_OWN_COUNTING;
    at = (seen - p->skip) % p->every;
    return at < p->every - p->count - p->warm ? TROD_OWN_SKIPPING
           : at < p->every - p->count         ? TROD_OWN_WARMING
                                              : TROD_OWN_COUNTING;
}

int trod_own_sim_phases(struct trod_own_sim *s, const struct trod_own_phases *p)
{
    s->phases = *p;
    s->phased = p->skip || p->every;
    if (!s->phased)
        return 0;
    s->kept = calloc(1, sizeof *s->kept);
    if (!s->kept)
        return TROD_ERR_NOMEM;
    s->kept->cache = calloc(s->instances + 1, sizeof *s->kept->cache);
    s->kept->tlb = calloc(s->tlbs + 1, sizeof *s->kept->tlb);
    if (!s->kept->cache || !s->kept->tlb)
        return TROD_ERR_NOMEM;
    set_mode(s, mode_of(p, 0));
    return 0;
}

void trod_own_phase_fini(struct trod_own_sim *s)
{
    if (s->kept) {
        free(s->kept->cache);
        free(s->kept->tlb);
    }
    free(s->kept);
}

void trod_own_phase_reset(struct trod_own_sim *s)
{
    if (s->kept)
        keep(s);
    s->windows = 0;
}

/* Does a window begin with instruction number SEEN directly after the end of another? */
static bool goes_on(const struct trod_own_phases *p, uint64_t seen)
{
    return p->every && p->count == p->every && seen > p->skip && (seen - p->skip) % p->every == 0;
}

void trod_own_phase_instruction(struct trod_own_sim *s)
{
    const bool next = goes_on(&s->phases, s->seen);
    const enum trod_own_mode mode = mode_of(&s->phases, s->seen++);

    if (mode == s->mode && !next)
        return;
    if (s->mode == TROD_OWN_COUNTING) {
        keep(s);
        s->windows++;
        if (s->phases.every)
            trod_own_sim_snapshot(s);
    } else if (mode == TROD_OWN_COUNTING) {
        put_back(s);
    }
    set_mode(s, mode);
}

void trod_own_sim_end(struct trod_own_sim *s)
{
    if (!s->phased)
        return;
    if (s->mode != TROD_OWN_COUNTING)
        put_back(s);
    else if (s->phases.every && (s->seen || s->any))
        s->windows++;
    s->mode = TROD_OWN_COUNTING;
    s->phased = false;
}

void trod_own_phase_full(struct trod_own_sim *s)
{
    bool any = false;

    for (uint32_t i = 0; i < s->instances; i++) {
        const struct trod_own_cache *c = &s->cache[i];

        if (c->next || c->n.refs[0] + c->n.refs[1] + c->n.refs[2] == 0)
            continue;
        if (c->store.valid < c->store.sets * c->store.ways)
            return;
        any = true;
    }
    if (!any)
        return;
    s->full = true;
    s->full_after = s->instructions;
    trod_own_sim_reset(s);
}
