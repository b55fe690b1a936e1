/*
 * cores.c - threads and traced cpus shared out to simulated cores.
 *
 * Implements dr/cores.h: each newcomer goes to the core with the fewest, the first of several.
 */
#include "sim/dr/cores.h"

#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

int trod_dr_cores_init(struct trod_dr_cores *c, uint32_t n, uint8_t mode)
{
    memset(c, 0, sizeof *c);
    c->mode = mode;
    c->n = n;
    c->thread.map = c->cpu.map = true;
    c->core = calloc(n, sizeof *c->core);
    return c->core ? 0 : TROD_ERR_NOMEM;
}

void trod_dr_cores_fini(struct trod_dr_cores *c)
{
    for (uint32_t i = 0; c->core && i < c->n; i++)
        free(c->core[i].cpu);
    free(c->core);
    trod_lines_fini(&c->thread);
    trod_lines_fini(&c->cpu);
    memset(c, 0, sizeof *c);
}

uint32_t trod_dr_cores_of(struct trod_dr_cores *c, uint64_t tid)
{
    uint64_t *core = trod_lines_get(&c->thread, tid);
    uint32_t best = 0;

    if (core)
        return (uint32_t)*core;
    for (uint32_t i = 1; i < c->n; i++)
        if (c->core[i].live < c->core[best].live)
            best = i;
    if (!(core = trod_lines_at(&c->thread, tid))) {
        c->failed = true;
        return 0;
    }
    *core = best;
    c->core[best].live++;
    c->core[best].ever++;
    return best;
}

/* The core of CPU. */
static uint32_t core_of_cpu(struct trod_dr_cores *c, uint64_t cpu)
{
    uint64_t *core = trod_lines_get(&c->cpu, cpu), *more;
    uint32_t best = 0;

    if (core)
        return (uint32_t)*core;
    for (uint32_t i = 1; i < c->n; i++)
        if (c->core[i].n_cpu < c->core[best].n_cpu)
            best = i;
    more = realloc(c->core[best].cpu, (c->core[best].n_cpu + 1) * sizeof *more);
    if (more)
        c->core[best].cpu = more;
    if (!more || !(core = trod_lines_at(&c->cpu, cpu))) {
        c->failed = true;
        return 0;
    }
    *core = best;
    more[c->core[best].n_cpu++] = cpu;
    return best;
}

void trod_dr_cores_cpu(struct trod_dr_cores *c, uint64_t tid, uint64_t cpu)
{
    const uint32_t core = core_of_cpu(c, cpu);
    uint64_t *before = trod_lines_get(&c->thread, tid);

    if (before)
        c->core[*before].live--;
    else if (!(before = trod_lines_at(&c->thread, tid))) {
        c->failed = true;
        return;
    }
    *before = core;
    c->core[core].live++;
    c->core[core].ever++;
}

void trod_dr_cores_exit(struct trod_dr_cores *c, uint64_t tid)
{
    const uint64_t *core = trod_lines_get(&c->thread, tid);

    if (!core)
        return;
    c->core[*core].live--;
    trod_lines_remove(&c->thread, tid);
}
