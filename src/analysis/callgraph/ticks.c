/*
 * ticks.c - what times count where a trace, or several that are added up, has more than one unit.
 *
 * All numbers of a state are in one tick, the finest so far (callstack/ticks.h).
 */
#include "analysis/callgraph/callgraph.h"

#include "core/pack.h"

#include <stdio.h>

static void scale_calls(struct cg_calls *list, unsigned power)
{
    for (size_t i = 0; i < list->n; i++) {
        list->at[i].time = trod_ticks_scale(list->at[i].time, power);
        list->at[i].last_time = trod_ticks_scale(list->at[i].last_time, power);
    }
}

void cg_scale(void *ctx, unsigned power)
{
    struct cg_core *core = ctx;

    cg_tree_scale(&core->tree, power);
    for (size_t i = 0; i < core->n_lanes; i++) {
        struct cg_account *sum = core->lane[i] ? &core->lane[i]->sum : NULL;

        if (!sum)
            continue;
        cg_tree_scale(&sum->tree, power);
        sum->time = trod_ticks_scale(sum->time, power);
    }
    scale_calls(&core->calls, power);
    scale_calls(&core->open, power);
}

void cg_ticks_end(struct cg_core *core)
{
    core->ticks = *trod_callstack_ticks(core->stack);
    if (core->ticks.held)
        trod_diag_report(core->context.diag, TROD_SEV_WARNING, TROD_OK, "calls.times", NULL,
                         "times are too large for the finest unit of the trace: no function has "
                         "a time");
}

void cg_ticks_check(struct cg_core *core)
{
    if (!core->ticks.held)
        return;
    for (size_t i = 0; i < core->tree.n; i++)
        core->tree.node[i].self[CG_SELF_TIME] = 0;
    core->tree.any_time = false;
}

void cg_ticks_merge(struct cg_core *into, struct cg_core *from)
{
    struct trod_ticks *a = &into->ticks;
    const struct trod_ticks *b = &from->ticks;
    int power; /* of a tick of B, by what A counts */

    if (!b->known)
        return;
    if (!a->known) {
        *a = *b;
        return;
    }
    power = trod_ticks_power(a, b->unit) + b->power - trod_time_exponent(b->unit);
    if (power < a->power) {
        cg_scale(into, (unsigned)(a->power - power));
        a->power = power;
    } else {
        cg_scale(from, (unsigned)(power - a->power));
    }
    a->mixed = a->mixed || b->mixed || a->unit != b->unit;
    a->held |= b->held;
}

enum { LEAST_POWER = 64 }; /* is added, so that it is no negative number */

int cg_ticks_save(const struct cg_core *core, struct trod_buf *out)
{
    const struct trod_ticks *t = &core->ticks;

    return trod_pack(out, t->known) | trod_pack(out, t->mixed) | trod_pack(out, t->unit) |
                   trod_pack(out, (uint64_t)(t->power + LEAST_POWER)) | trod_pack(out, t->held)
               ? TROD_ERR_NOMEM
               : TROD_OK;
}

int cg_ticks_load(struct trod_ticks *t, struct trod_span *in)
{
    uint64_t v[5];

    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    if (v[0] > 1 || v[1] > 1 || v[2] > UINT8_MAX || v[3] > LEAST_POWER || v[4] > 1)
        return TROD_ERR_CORRUPT;
    *t = (struct trod_ticks){.known = v[0] != 0,
                             .mixed = v[1] != 0,
                             .unit = (uint8_t)v[2],
                             .power = (int)v[3] - LEAST_POWER,
                             .held = v[4] != 0};
    return TROD_OK;
}

void cg_put_unit(const struct cg_core *core, struct trod_result *r)
{
    static const uint8_t units[] = {TROD_UNIT_S,  TROD_UNIT_MS, TROD_UNIT_US,
                                    TROD_UNIT_NS, TROD_UNIT_PS, TROD_UNIT_FS};
    const struct trod_ticks *t = &core->ticks;
    const char *name = trod_meta_unit_name(core->context.meta, t->unit);
    int power = t->power; /* of ten, of what is called NAME */
    char text[64];

    if (!t->mixed)
        return;
    if (trod_time_class(t->unit) == TROD_UNIT_S) {
        const int at = power < -15 ? 5 : (2 - power) / 3;

        name = trod_unit_name(units[at]);
        power += 3 * at;
    }
    snprintf(text, sizeof text, "%.*f %s", power < 0 ? -power : 0,
             power < 0    ? 1 / (double)trod_time_scale(1, -power)
             : power == 2 ? 100.0
             : power      ? 10.0
                          : 1.0,
             *name ? name : "tick");
    trod_result_str(r, "time_unit", text);
}
