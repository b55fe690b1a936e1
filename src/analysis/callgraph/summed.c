/*
 * summed.c - what stacks of functions cost, and what is open at the end, from an index that has it.
 */
#include "analysis/callgraph/callgraph.h"

#include <stdlib.h>

/* The N paths AT, into the tree of CORE: where it is empty they are its nodes, unless some move. */
static int add_sums(void *user, const struct trod_call_sum *at, size_t n, bool timed)
{
    struct cg_core *core = user;
    struct cg_tree *t = &core->tree;
    uint32_t *to = calloc(n + 1, sizeof *to);
    int rc = to && cg_tree_begin(t) ? TROD_OK : TROD_ERR_NOMEM;
    bool new = t->n == 1;

    for (size_t i = 0; i < n && new && !core->inline_exceptions; i++)
        new = !at[i].exception;
    for (size_t i = 0; rc == TROD_OK && i < n; i++) {
        const struct trod_call_sum *s = &at[i];
        const bool alone = s->exception && !core->inline_exceptions;

        if (i)
            to[i] = (new ? cg_new_child : cg_child)(t, alone ? 0 : to[s->parent], s->function,
                                                    s->exception ? CG_EXCEPTION : CG_PLAIN);
        if (i && !to[i]) {
            rc = TROD_ERR_NOMEM;
            break;
        }
        t->node[to[i]].count += s->calls;
        t->node[to[i]].self[CG_SELF_INSTRUCTIONS] += s->instructions;
        t->node[to[i]].self[CG_SELF_TIME] += s->time;
    }
    t->any_time |= timed;
    free(to);
    return rc;
}

/*
 * By what SOURCE has summed up. Returns 0, TROD_ERR_UNKNOWN (activations are to be given), or an
 * error.
 */
static int by_sums(struct cg_core *core, const struct trod_callstack_source *source)
{
    int rc = TROD_ERR_UNKNOWN;

    if (source->sums)
        rc = source->sums(source->ctx, add_sums, core, &core->counts);
    if (rc == TROD_OK && core->tree.cut) /* which callers are not kept depends on the order */
        rc = TROD_ERR_UNKNOWN;
    return rc;
}

/* What all of the N paths AT cost together, which is all that is shown of them. */
static int add_total(void *user, const struct trod_call_sum *at, size_t n, bool timed)
{
    struct cg_core *core = user;
    uint64_t *self;

    if (!cg_tree_begin(&core->tree))
        return TROD_ERR_NOMEM;
    self = core->tree.node[0].self;
    for (size_t i = 0; i < n; i++) {
        self[CG_SELF_INSTRUCTIONS] += at[i].instructions;
        self[CG_SELF_TIME] += at[i].time;
    }
    core->tree.any_time |= timed;
    return TROD_OK;
}

static int leave_open(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct cg_core *core = ctx;
    struct cg_lane *l = cg_lane_of(core, f);

    if (!l)
        return TROD_ERR_NOMEM;
    cg_list_begin(core, l, f);
    return cg_list_leave(core, l, 0, f, end);
}

/* The same where nothing but the calls that are open at the end is listed. */
static int by_open(struct cg_core *core, const struct trod_callstack_source *source)
{
    const struct trod_callstack_sink sink = {.ctx = core, .leave = leave_open};
    int rc = TROD_ERR_UNKNOWN;

    if (source->open && source->sums && core->opt->final && !core->opt->list && !core->n_wanted)
        rc = source->sums(source->ctx, add_total, core, &core->counts);
    if (rc == TROD_OK)
        rc = source->open(source->ctx, &sink);
    return rc;
}

/* ---- the first calls that are listed */

/* May calls be counted by their functions? Where a function begins they are entered. */
static bool by_function(const struct cg_core *core)
{
    struct trod_symbol_range range;

    for (size_t i = 0; core->context.symbols && i < core->n_wanted; i++)
        if (trod_symbols_function(core->context.symbols, core->wanted[i], &range) &&
            range.begin != core->wanted[i])
            return false;
    return true;
}

struct first {
    struct cg_core *core;
    uint64_t all;   /* activations that would be listed if there were room */
    uint64_t roots; /* activations of stacks of one function */
};

/* How many activations of the N stacks AT are listed, if their depths are those of the stacks. */
static int count_listed(struct first *first, const struct trod_call_sum *at, size_t n)
{
    const struct cg_core *core = first->core;
    const uint64_t most = core->opt->depth;
    uint32_t *depth = calloc(n + 1, sizeof *depth);

    if (!depth)
        return TROD_ERR_NOMEM;
    for (size_t i = 1; i < n; i++) {
        const struct trod_frame f = {.function = at[i].function, .entry.pc = at[i].function};

        depth[i] = at[i].parent ? depth[at[i].parent] + 1 : 0;
        first->roots += depth[i] ? 0 : at[i].calls;
        if ((!most || depth[i] < most) && cg_is_wanted(core, &f))
            first->all += at[i].calls;
    }
    free(depth);
    return TROD_OK;
}

static int count_first(void *user, const struct trod_call_sum *at, size_t n, bool timed)
{
    struct first *first = user;
    const int rc = count_listed(first, at, n);

    return rc < 0 ? rc : add_total(first->core, at, n, timed);
}

static int enter_first(void *ctx, struct trod_frame *f)
{
    const struct first *first = ctx;
    struct cg_core *core = first->core;
    struct cg_lane *l = cg_lane_of(core, f);
    int64_t number;

    if (!l)
        return TROD_ERR_NOMEM;
    if ((number = cg_list_enter(core, l, f)) < 0)
        return (int)number;
    f->user = (uint64_t)number;
    return core->calls.n == first->all || (core->opt->most && core->calls.n == core->opt->most);
}

static int leave_first(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct cg_core *core = ((const struct first *)ctx)->core;
    struct cg_lane *l = cg_lane_of(core, f);

    return l ? cg_list_leave(core, l, f->user, f, end) : TROD_ERR_NOMEM;
}

/* The calls that are listed where no more than the first ones are wanted, or all of a function. */
static int by_first(struct cg_core *core, const struct trod_callstack_source *source)
{
    const struct cg_options *o = core->opt;
    struct first first = {.core = core};
    const struct trod_callstack_sink sink = {
        .ctx = &first, .enter = enter_first, .leave = leave_first};
    int rc = TROD_ERR_UNKNOWN;

    if (source->first && source->sums && !o->final && !o->time.set && (o->most || core->n_wanted) &&
        by_function(core))
        rc = source->sums(source->ctx, count_first, &first, &core->counts);
    /* depths are not those of stacks where a function was found below what it had called */
    if (rc == TROD_OK && o->depth && first.roots != core->counts.entered[TROD_FRAME_ROOT])
        rc = TROD_ERR_UNKNOWN;
    if (rc == TROD_OK && first.all)
        rc = source->first(source->ctx, &sink);
    if (rc == TROD_OK)
        core->calls.seen = first.all;
    return rc;
}

int cg_summed(struct cg_core *core, const struct trod_callstack_source *source)
{
    int rc;

    if (!core->listing)
        rc = by_sums(core, source);
    else
        rc = core->opt->list || core->n_wanted ? by_first(core, source) : by_open(core, source);
    if (rc == TROD_ERR_UNKNOWN)
        cg_tree_fini(&core->tree);
    return rc;
}
