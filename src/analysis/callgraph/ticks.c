/*
 * ticks.c - what times count where a trace, or several that are added up, has more than one unit.
 *
 * The streams of a file, and the calls that are listed of it, are in the tick of that file, the
 * finest so far (callstack/ticks.h). Where it ends they and what is known of the files before are
 * brought to the finer of both ticks: so the files are the same whoever reads them, in one state or
 * in several. A time from the beginning of a trace may then be too large while those that functions
 * took are not.
 */
#include "analysis/callgraph/callgraph.h"

#include "core/pack.h"

#include <stdio.h>

/* Calls [FROM, TO) of LIST. Was a time too large? */
static bool scale_calls(struct cg_calls *list, size_t from, size_t to, unsigned power)
{
    bool large = false;

    for (size_t i = from; power && i < to; i++) {
        struct cg_call *c = &list->at[i];

        c->time = trod_ticks_scale(c->time, power);
        c->last_time = trod_ticks_scale(c->last_time, power);
        large |= c->time == TROD_LAST_TIME || c->last_time == TROD_LAST_TIME;
    }
    return large;
}

static bool scale_tree(struct cg_tree *t, unsigned power)
{
    bool large = false;

    cg_tree_scale(t, power);
    for (size_t i = 0; power && i < t->n; i++)
        large |= t->node[i].self[CG_SELF_TIME] > TROD_LAST_TIME;
    return large;
}

/* What CORE knows of the file whose rows come, or came last. */
static bool scale_file(struct cg_core *core, unsigned power)
{
    bool large = false;

    for (size_t i = 0; i < core->n_lanes; i++) {
        struct cg_account *sum = core->lane[i] ? &core->lane[i]->sum : NULL;

        if (!sum)
            continue;
        large |= scale_tree(&sum->tree, power);
        sum->time = trod_ticks_scale(sum->time, power);
    }
    large |= scale_calls(&core->calls, core->calls.before, core->calls.n, power);
    return large | scale_calls(&core->open, core->open.before, core->open.n, power);
}

/* What CORE knows of files that are over. */
static bool scale_over(struct cg_core *core, unsigned power)
{
    bool large = scale_tree(&core->tree, power);

    large |= scale_calls(&core->calls, 0, core->calls.before, power);
    return large | scale_calls(&core->open, 0, core->open.before, power);
}

void cg_scale(void *ctx, unsigned power)
{
    scale_file(ctx, power); /* its largest time says whether it is too large, when it ends */
}

/*
 * Times of B, which are in FROM and scaled by SCALE, are to be added to those of INTO's files that
 * are over.
 */
static void join(struct cg_core *into, const struct trod_ticks *b, struct cg_core *from,
                 bool (*scale)(struct cg_core *, unsigned))
{
    struct trod_ticks *a = &into->ticks;
    int power; /* of a tick of B, by what A counts */

    if (!b->known)
        return;
    if (!a->known) {
        *a = *b;
        return;
    }
    power = trod_ticks_power(a, b->unit) + b->power - trod_time_exponent(b->unit);
    if (power < a->power) {
        a->held |= scale_over(into, (unsigned)(a->power - power));
        a->power = power;
    } else {
        a->held |= scale(from, (unsigned)(power - a->power));
    }
    a->mixed = a->mixed || b->mixed || a->unit != b->unit;
    a->held |= b->held;
}

void cg_ticks_turn(struct cg_core *core)
{
    if (core->stack) {
        join(core, trod_callstack_ticks(core->stack), core, scale_file);
        trod_callstack_new_ticks(core->stack);
    }
    core->calls.before = core->calls.n;
    core->open.before = core->open.n;
}

int cg_conclude(struct cg_core *core)
{
    const int rc = cg_finish(core);

    if (core->ticks.held && !core->told_large)
        trod_diag_report(core->context.diag, TROD_SEV_WARNING, TROD_OK, "calls.times", NULL,
                         "times are too large for the finest unit of the trace: no function has "
                         "a time");
    core->told_large |= core->ticks.held;
    return rc;
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
    join(into, &from->ticks, from, scale_over);
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
