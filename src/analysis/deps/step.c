/*
 * step.c - what is rare in the steps of instructions, or long (step.h).
 *
 * Implements docs/analysing.md, "deps", "The model".
 */
#include "analysis/deps/step.h"

/* Count WHAT for the site of instruction N. */
void deps_blame(struct deps_state *s, uint64_t n, enum deps_what what)
{
    struct deps_counts *site = deps_counts_at(&s->places, s->live.step[(n - 1) % DEPS_PART].site);

    s->sums.what[what]++;
    if (site)
        site->count[what]++;
}

/* SITE uses what a load gave, DISTANCE instructions before. */
static void use_load(struct deps_state *s, struct deps_site *site, uint64_t distance)
{
    s->sums.load_use[deps_bin(distance)]++;
    if (distance >= s->limits.latency[DEPS_LOAD])
        return;
    s->sums.stall_cycles += s->limits.latency[DEPS_LOAD] - distance;
    site->stalled++;
}

/* Instruction N, of SITE, reads register REG, which was loaded, or written long ago. */
uint32_t deps_read_rare(struct deps_state *s, struct deps_site *site, unsigned reg, uint64_t n)
{
    const uint64_t wrote = s->live.wrote[reg] & ~DEPS_LOADED;

    s->sums.registers[deps_bin(n - wrote)]++;
    if (s->live.wrote[reg] != wrote)
        use_load(s, site, n - wrote);
    s->live.wrote[reg] = wrote;
    return deps_far(n - wrote);
}

/* A store to the stack is loaded again, whole. */
void deps_reload(struct deps_state *s, struct deps_record *r, uint64_t distance)
{
    s->sums.spills += !r->reloaded;
    r->reloaded = true;
    s->sums.reloads++;
    s->sums.reload[deps_bin(distance)]++;
}

/* An access of SIZE bytes at ADDR that is misaligned or larger than any. Returns its size. */
uint32_t deps_odd_access(struct deps_state *s, uint64_t n, uint64_t addr, uint32_t size)
{
    if (size && (size & (size - 1)) == 0 && addr & (size - 1))
        deps_blame(s, n, DEPS_MISALIGNED);
    return size < SIZE_MOST ? size : SIZE_MOST;
}

/* The stores of the instruction, which is done at DONE. */
int deps_write_memory(struct deps_state *s, uint64_t done)
{
    struct deps_live *l = &s->live;
    int rc = TROD_OK;

    for (unsigned k = 0; rc == TROD_OK && k < l->n_stores; k++) {
        l->store[k].ready = done;
        if (s->n_configs == 0 && deps_memory_again(&l->memory, &l->store[k]))
            continue;
        rc = deps_memory_store(&l->memory, &l->store[k], l->done, s->opt->most, &s->sums.forgotten);
    }
    l->n_stores = 0;
    return rc;
}
