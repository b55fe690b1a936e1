/*
 * flow.c - control flow: how execution came to each instruction. Implements flow.h.
 *
 * The kind of a branch comes from its row if that says it, else from the opcode, which is decoded
 * once a site.
 */
#include "export/flow.h"

#include <stdlib.h>
#include <string.h>

/* Room for the facts of site SITE, and of stream STREAM. False without memory. */
static bool room(struct export_flow *f, uint32_t site, uint32_t stream)
{
    if (site >= f->n_facts) {
        const uint32_t n = site + site / 2 + 256;
        uint8_t *facts = realloc(f->facts, n), *sizes;

        if (!facts)
            return false;
        f->facts = facts;
        sizes = realloc(f->sizes, n);
        if (!sizes)
            return false;
        f->sizes = sizes;
        memset(facts + f->n_facts, 0, n - f->n_facts);
        memset(sizes + f->n_facts, 0, n - f->n_facts);
        f->n_facts = n;
    }
    if (stream >= f->n) {
        const uint32_t n = stream + stream / 2 + 16;
        struct export_last *last = realloc(f->last, n * sizeof *last);

        if (!last)
            return false;
        for (uint32_t i = f->n; i < n; i++)
            last[i] = (struct export_last){.site = TROD_NO_SITE};
        f->last = last;
        f->n = n;
    }
    return true;
}

static void learn(struct export_flow *f, uint32_t site)
{
    const struct trod_site *s = trod_site_at(f->sites, site);
    const struct trod_insn *insn = trod_site_insn(f->sites, site);

    f->facts[site] = (uint8_t)(1 + (s->branch     ? s->branch
                                    : insn->valid ? insn->branch
                                                  : TROD_BR_NONE));
    f->sizes[site] = (uint8_t)(s->size ? s->size : s->code_n ? s->code_n : insn->size);
}

int export_flow_row(struct export_flow *f, const struct trod_batch *b, uint32_t i,
                    struct export_step *step)
{
    const uint32_t has = b->have & b->has[i], stream = trod_batch_stream(b, i);
    const uint32_t site = b->have & TROD_COL_SITE ? b->site[i] : TROD_NO_SITE;
    struct export_last *last;
    unsigned branch = TROD_BR_NONE;

    if (b->kind[i] != TROD_INSTR || !(has & TROD_COL_ADDR) || site == TROD_NO_SITE)
        return 0;
    if (!room(f, site, stream))
        return TROD_ERR_NOMEM;
    if (!f->facts[site])
        learn(f, site);
    if (has & TROD_COL_FLAGS)
        branch = b->flags[i] & TROD_F_BRANCH;
    if (branch == TROD_BR_NONE)
        branch = f->facts[site] - 1u;
    if (branch == TROD_BR_COND_TAKEN || branch == TROD_BR_COND_UNTAKEN)
        branch = TROD_BR_COND;
    last = &f->last[stream];
    *step = (struct export_step){
        .before = *last,
        .pc = b->addr[i],
        .size = has & TROD_COL_SIZE && b->size[i] ? b->size[i] : f->sizes[site],
        .stream = stream,
        .site = site,
        .branch = (uint8_t)branch,
    };
    *last = (struct export_last){step->pc, step->pc + step->size, site, (uint8_t)branch};
    return 1;
}

void export_flow_fini(struct export_flow *f)
{
    free(f->last);
    free(f->facts);
    free(f->sizes);
}
