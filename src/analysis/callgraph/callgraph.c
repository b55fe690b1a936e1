/*
 * callgraph.c - what stacks of functions cost (callgraph.h).
 *
 * Instructions and time are counted where activations begin and end (callstack/tree.h). Other
 * weights are added up row by row (cost.c).
 *
 * Rows before a region are followed and not counted. An activation that is open when counting
 * begins gets its node only when something is counted for it, or for a function that it calls.
 *
 * Where single calls are listed nobody asks for stacks: each stream has one node for all of them,
 * which is enough for what all together cost.
 */
#include "analysis/callgraph/callgraph.h"
#include "analysis/callgraph/like.h"

#include "callstack/given.h"
#include "core/grow.h"
#include "core/pack.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

enum { ALL = 1 }; /* the node of all functions, where calls are listed */

/* ---- lanes */

static void lane_free(struct cg_lane *l)
{
    if (!l)
        return;
    cg_tree_fini(&l->sum.tree);
    free(l->registers);
    free(l);
}

/* The lane of F, which is new. NULL: no memory. */
static struct cg_lane *new_lane(struct cg_core *core, const struct trod_frame *f)
{
    const uint32_t at = (uint32_t)f->own[3];

    if (!trod_grow_to(&core->lane, &core->n_lanes, at, sizeof(struct cg_lane *), NULL))
        return NULL;
    core->lane[at] = calloc(1, sizeof *core->lane[at]);
    if (core->lane[at] &&
        (!cg_tree_begin(&core->lane[at]->sum.tree) ||
         (core->listing && !cg_child(&core->lane[at]->sum.tree, 0, 0, CG_PLAIN)))) {
        lane_free(core->lane[at]);
        core->lane[at] = NULL;
    }
    if (core->lane[at])
        core->lane[at]->stream = f->stream;
    return core->lane[at];
}

/* The lane of F, made if new. NULL: no memory. */
static inline struct cg_lane *lane_of(struct cg_core *core, const struct trod_frame *f)
{
    const size_t at = (size_t)f->own[3];
    struct cg_lane *l = at < core->n_lanes ? core->lane[at] : NULL;

    return l ? l : new_lane(core, f);
}

struct cg_lane *cg_lane_of(struct cg_core *core, const struct trod_frame *f)
{
    return lane_of(core, f);
}

/* The stream of lane AT is over. */
static int lane_end(struct cg_core *core, size_t at)
{
    struct cg_lane *l = core->lane[at];
    const int rc = cg_tree_take(&core->tree, &l->sum.tree);

    lane_free(l);
    core->lane[at] = NULL;
    return rc;
}

/* Streams whose last activation has ended are over: add their trees. */
static int end_lanes(struct cg_core *core)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < core->n_lanes; i++)
        if (core->lane[i])
            rc = lane_end(core, i);
    cg_cost_end(core);
    return rc;
}

static int end_file(struct cg_core *core, uint32_t next)
{
    cg_ticks_turn(core);
    core->file = next;
    if (core->source) {
        core->meta = core->source->meta(core->source->ctx);
        core->isa = core->meta ? (uint8_t)core->meta->isa : core->isa;
    }
    return end_lanes(core);
}

/* ---- events */

static inline uint32_t node_of(const struct cg_core *core, struct cg_lane *l, struct trod_frame *f)
{
    return core->listing ? ALL : cg_account_node(&l->sum, f, core->inline_exceptions);
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct cg_core *core = ctx;
    struct cg_lane *l;
    uint32_t parent = 0, node;
    int64_t number = 0;

    if (f->file != core->file && end_file(core, f->file) < 0) /* without rows (cg_calls) */
        return TROD_ERR_NOMEM;
    if (!(l = lane_of(core, f)))
        return TROD_ERR_NOMEM;
    if (core->following && !(f->under && l->sum.bottom))
        return TROD_OK;
    if (f->depth && !(parent = node_of(core, l, &f[-1])))
        return TROD_ERR_NOMEM;
    /* 0 at the bottom of a stack: what ran before is charged to no function */
    if (!core->following && !f->under)
        cg_account_charge(&l->sum, parent, &f->entry);
    node = core->listing ? ALL : cg_account_nodes(&l->sum, f, core->inline_exceptions);
    if (!node)
        return TROD_ERR_NOMEM;
    l->sum.tree.node[node].count += !core->following;
    if (cg_account_under(&l->sum, f, node) < 0)
        return TROD_ERR_NOMEM;
    if (core->listing && !core->following && (number = cg_list_enter(core, l, f)) < 0)
        return (int)number;
    f->user = node | (uint64_t)number << 32;
    return TROD_OK;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct cg_core *core = ctx;
    struct cg_lane *l = lane_of(core, f);

    if (!l)
        return TROD_ERR_NOMEM;
    if (core->following) {
        l->sum.bottom = f->depth ? l->sum.bottom : (uint32_t)f->user;
    } else {
        const uint32_t node = node_of(core, l, f);

        if (!node)
            return TROD_ERR_NOMEM;
        cg_account_charge(&l->sum, node, &end->next);
        l->sum.bottom = f->depth ? l->sum.bottom : node;
    }
    if (!core->listing || (core->following && core->turning)) /* ended with its file, before */
        return TROD_OK;
    return cg_list_leave(core, l, f->user >> 32, f, end);
}

/* Time counts from the first instruction that is counted, one of rows [FROM, TO). */
static void start_clock(const struct cg_core *core, struct cg_lane *l, const struct trod_batch *b,
                        uint32_t from, uint32_t to)
{
    const uint64_t *time = trod_callstack_times(core->stack);

    for (uint32_t i = from; i < to && !l->sum.clocked; i++)
        if (b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_TIME) {
            l->sum.clocked = l->sum.tree.any_time = true;
            l->sum.time = time[i] > l->sum.time ? time[i] : l->sum.time;
        }
}

static int rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct trod_frame *f)
{
    struct cg_core *core = ctx;
    struct cg_lane *l = f ? lane_of(core, f) : NULL;

    if (f && !l)
        return TROD_ERR_NOMEM;
    if (l && core->followed && !core->following)
        start_clock(core, l, b, from, to);
    if (core->weights.n && !core->following) {
        uint64_t n[CG_MOST_WEIGHTS] = {0}, *self;
        const uint32_t node = f ? node_of(core, l, f) : 0;

        cg_weigh(core, b, from, to, n);
        if ((f && !node) || !cg_tree_begin(&core->tree))
            return TROD_ERR_NOMEM;
        if (!(self = cg_tree_weights(f ? &l->sum.tree : &core->tree, node)))
            return TROD_ERR_NOMEM;
        for (unsigned i = 0; i < core->weights.n; i++)
            self[i] += n[i];
        for (unsigned i = 0; l && i < core->weights.n; i++)
            l->weighed[i] += n[i];
    }
    return l && core->n_wanted ? cg_registers(core, l, b, from, to) : TROD_OK;
}

/* The innermost activation of STREAM, and its lane; NULL: none. */
static struct trod_frame *innermost(const struct cg_core *core, uint32_t stream)
{
    uint32_t open;
    const struct trod_frame *f = trod_callstack_frames(core->stack, stream, &open);

    return f && open ? (struct trod_frame *)(uintptr_t)&f[open - 1] : NULL;
}

int cg_late(struct cg_core *core, uint32_t stream, unsigned slot, uint64_t n)
{
    struct trod_frame *f = innermost(core, stream);
    struct cg_lane *l = f ? lane_of(core, f) : NULL;
    const uint32_t node = l ? node_of(core, l, f) : 0;
    uint64_t *weight;

    if ((f && !node) || (!f && !cg_tree_begin(&core->tree)) ||
        !(weight = cg_tree_weights(l ? &l->sum.tree : &core->tree, node)))
        return TROD_ERR_NOMEM;
    if (l)
        l->weighed[slot] += n;
    weight[slot] += n;
    return TROD_OK;
}

/* ---- rows that do not count */

/* Add the numbers that came between FROM and TO to SUM. */
static void add_since(struct trod_callstack_counts *sum, const struct trod_callstack_counts *to,
                      const struct trod_callstack_counts *from)
{
    uint64_t *s = (uint64_t *)(void *)sum;
    const uint64_t *t = (const uint64_t *)(const void *)to;
    const uint64_t *f = (const uint64_t *)(const void *)from;

    for (size_t i = 0; i < sizeof *sum / sizeof *s; i++)
        s[i] += t[i] - f[i];
}

/* What was executed so far is counted; what follows is not. */
static int pause_counting(struct cg_core *core)
{
    for (size_t i = 0; i < core->n_lanes; i++) {
        struct cg_lane *l = core->lane[i];
        struct trod_frame *f = l ? innermost(core, l->stream) : NULL;
        struct trod_moment at;
        uint32_t node;

        if (!f || !trod_callstack_last(core->stack, l->stream, &at))
            continue;
        if (!(node = node_of(core, l, f)))
            return TROD_ERR_NOMEM;
        at.instruction++;
        cg_account_charge(&l->sum, node, &at);
    }
    core->following = true;
    return TROD_OK;
}

static void go_on_counting(struct cg_core *core)
{
    for (size_t i = 0; i < core->n_lanes; i++) {
        struct cg_lane *l = core->lane[i];
        struct trod_moment at;

        if (!l || !trod_callstack_last(core->stack, l->stream, &at))
            continue;
        l->sum.instruction = at.instruction + 1;
        l->sum.time = at.time == TROD_NOWHERE ? 0 : at.time;
        l->sum.clocked = false;
    }
    core->following = false;
}

/* ---- states */

/* A call stack; WITH_ROWS: rows are looked at. */
static int begin_stack(struct cg_core *core, bool with_rows)
{
    const struct trod_callstack_sink sink = {
        .ctx = core, .enter = enter, .leave = leave, .rows = with_rows ? rows : NULL};

    int rc;

    trod_callstack_free(core->stack);
    rc = trod_callstack_new(&core->stack, &sink, core->context.symbols, core->context.merged);
    if (rc == TROD_OK)
        trod_callstack_scales(core->stack, cg_scale);
    return rc < 0 || !core->context.given
               ? rc
               : trod_callstack_give(core->stack, core->context.given, core->context.given_of);
}

int cg_init(void *st, const struct cg_options *opt, const struct trod_context *c, bool inlined,
            bool listing)
{
    struct cg_state *s = st;
    struct cg_core *core = calloc(1, sizeof *core);
    const struct trod_format *f = c->meta ? c->meta->driver : NULL;
    int rc;

    s->core = core;
    if (!core)
        return TROD_ERR_NOMEM;
    core->opt = opt;
    core->context = *c;
    if (f && f->kinds && !(f->kinds >> TROD_INSTR & 1))
        return trod_error(c->diag, TROD_ERR_UNSUPPORTED, "calls.instructions", NULL,
                          "traces of format %s have no instructions: calls cannot be followed",
                          f->name);
    if (!opt->like && (opt->no_offsets || opt->debug))
        return trod_error(c->diag, TROD_ERR_USAGE, "calls.like", NULL,
                          "'--no-offsets' and '--matching' go with '--like tarmac'");
    if (opt->like && (opt->list || opt->final || opt->depth || opt->time.set))
        return trod_error(c->diag, TROD_ERR_USAGE, "calls.like", NULL,
                          "'--like' goes with none of '--list', '--final-stack', '--depth' and "
                          "'--during'");
    core->told = f && f->flags & TROD_FMT_BRANCHES; /* what says no kind is no branch */
    core->inline_exceptions = inlined;
    core->listing = listing;
    if (opt->like)
        return cg_like_init(core);
    rc = cg_wanted(core);
    if (rc == TROD_OK)
        rc = cg_weights_init(core);
    return rc < 0 ? rc : begin_stack(core, core->weights.n || core->n_wanted);
}

void cg_fini(void *st)
{
    struct cg_state *s = st;
    struct cg_core *core = s->core;

    if (!core)
        return;
    cg_cost_end(core);
    trod_callstack_free(core->stack);
    cg_weights_fini(&core->weights);
    cg_like_fini(core);
    for (size_t i = 0; i < core->n_lanes; i++)
        lane_free(core->lane[i]);
    free(core->lane);
    cg_tree_fini(&core->tree);
    free(core->calls.at);
    free(core->open.at);
    free(core->wanted);
    free(core);
}

/* What was seen in rows that count; instructions are those of the tree. */
static void count_all(struct cg_core *core)
{
    struct trod_callstack_counts all;

    trod_callstack_count(core->stack, &all);
    core->counts = (struct trod_callstack_counts){0};
    add_since(&core->counts, &all, &core->left_out);
    if (!core->followed)
        return;
    core->counts.instructions = 0;
    for (size_t i = 0; i < core->tree.n; i++)
        core->counts.instructions += core->tree.node[i].self[CG_SELF_INSTRUCTIONS];
    for (size_t k = 0; k < core->n_lanes; k++)
        for (size_t i = 0; core->lane[k] && i < core->lane[k]->sum.tree.n; i++)
            core->counts.instructions += core->lane[k]->sum.tree.node[i].self[CG_SELF_INSTRUCTIONS];
}

int cg_finish(struct cg_core *core)
{
    int rc = TROD_OK;

    core->meta = NULL;
    if (core->stack) {
        rc = cg_weights_feed(core, NULL, 0, 0);
        if (rc == TROD_OK)
            rc = trod_callstack_end(core->stack);
        count_all(core);
        cg_ticks_turn(core);
        trod_callstack_free(core->stack);
        core->stack = NULL;
    }
    if (rc == TROD_OK)
        rc = end_lanes(core);
    cg_ticks_check(core);
    return rc;
}

/* Do rows [FROM, TO) of B tell which instructions are branches? Some say system calls only. */
static bool tells(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const uint32_t said = b->have & b->has[i];
        const uint32_t branch = said & TROD_COL_FLAGS ? b->flags[i] & TROD_F_BRANCH : TROD_BR_NONE;

        if ((b->kind[i] == TROD_INSTR || b->kind[i] == TROD_BRANCH) &&
            (said & TROD_COL_CODE || (branch != TROD_BR_NONE && branch != TROD_BR_SYSCALL)))
            return true;
    }
    return false;
}

const char *cg_note(const struct cg_core *core)
{
    const struct trod_callstack_counts *c = &core->counts;

    if (core->told || c->instructions == 0 || c->entered[TROD_FRAME_CALL] ||
        c->entered[TROD_FRAME_MANUAL] || c->entered[TROD_FRAME_TAIL])
        return NULL;
    return "the trace does not say which instructions are branches: no calls are known";
}

/* Rows of another file come: the streams of the last one have ended. */
static int turn_file(struct cg_core *core, const struct trod_batch *b)
{
    const uint32_t file = b->meta && !core->context.merged ? b->meta->file : 0;
    int rc = TROD_OK;

    core->meta = b->meta;
    if (b->meta && b->meta->isa)
        core->isa = (uint8_t)b->meta->isa;
    if (core->file == file)
        return TROD_OK;
    rc = cg_weights_feed(core, NULL, 0, 0);
    core->turning = true;
    if (rc == TROD_OK)
        rc = trod_callstack_end(core->stack);
    core->turning = false;
    return rc < 0 ? rc : end_file(core, file);
}

int cg_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct cg_core *core = ((struct cg_state *)st)->core;
    int rc;

    if (core->like)
        return cg_like_feed(core, b, from, to);
    if (core->following)
        go_on_counting(core);
    core->told = core->told || tells(b, from, to);
    rc = turn_file(core, b);
    if (rc == TROD_OK)
        rc = cg_weights_feed(core, b, from, to);
    return rc < 0 ? rc : trod_callstack_feed(core->stack, b, from, to);
}

int cg_follow(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct cg_core *core = ((struct cg_state *)st)->core;
    struct trod_callstack_counts before, behind;
    int rc = TROD_OK;

    if (core->like)
        return TROD_OK;
    trod_callstack_count(core->stack, &before);
    if (!core->followed && before.transfers == 0 && core->n_lanes == 0)
        rc = begin_stack(core, true);
    core->followed = true;
    core->told = core->told || tells(b, from, to);
    if (rc == TROD_OK && !core->following)
        rc = pause_counting(core);
    if (rc == TROD_OK)
        rc = turn_file(core, b);
    if (rc == TROD_OK)
        rc = trod_callstack_feed(core->stack, b, from, to);
    trod_callstack_count(core->stack, &behind);
    add_since(&core->left_out, &behind, &before);
    return rc;
}

int cg_merge(void *into, const void *from)
{
    struct cg_core *a = ((struct cg_state *)into)->core;
    struct cg_core *b = ((const struct cg_state *)from)->core;
    int rc = cg_finish(a);

    if (rc == TROD_OK)
        rc = cg_finish(b);
    if (rc == TROD_OK) {
        cg_ticks_merge(a, b);
        rc = cg_tree_add(&a->tree, &b->tree);
        cg_ticks_check(a);
    }
    trod_callstack_counts_add(&a->counts, &b->counts);
    a->told = a->told || b->told;
    return rc < 0 ? rc : cg_list_add(a, b);
}

int cg_save(const void *st, struct trod_buf *out)
{
    struct cg_core *core = ((const struct cg_state *)st)->core;
    const uint64_t *counts = (const uint64_t *)(const void *)&core->counts;
    int rc = cg_conclude(core);

    if (core->like)
        return TROD_ERR_UNSUPPORTED;
    for (size_t i = 0; rc == TROD_OK && i < sizeof core->counts / sizeof *counts; i++)
        rc = trod_pack(out, counts[i]);
    if (rc == TROD_OK)
        rc = cg_ticks_save(core, out);
    if (rc == TROD_OK)
        rc = trod_pack(out, core->told);
    if (rc == TROD_OK)
        rc = cg_tree_save(&core->tree, out);
    return rc < 0 ? rc : cg_list_save(core, out);
}

int cg_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct cg_core *core = ((struct cg_state *)st)->core;
    struct trod_callstack_counts counts;
    uint64_t *p = (uint64_t *)(void *)&counts, told;
    int rc;

    (void)sites;
    if (!core)
        return TROD_ERR_CORRUPT;
    for (size_t i = 0; i < sizeof counts / sizeof *p; i++)
        if (trod_unpack(&in, &p[i]) < 0)
            return TROD_ERR_CORRUPT;
    rc = cg_finish(core); /* nothing: states are loaded into new ones */
    if (rc == TROD_OK)
        rc = cg_ticks_load(&core->ticks, &in);
    if (rc == TROD_OK && (trod_unpack(&in, &told) < 0 || told > 1))
        return TROD_ERR_CORRUPT;
    core->told |= rc == TROD_OK && told;
    if (rc == TROD_OK)
        rc = cg_tree_load(&core->tree, &in);
    if (rc == TROD_OK)
        rc = cg_list_load(core, &in);
    trod_callstack_counts_add(&core->counts, &counts);
    return rc == TROD_OK && in.n ? TROD_ERR_CORRUPT : rc;
}

/* ---- without rows */

bool cg_by_calls(const void *opt, const struct trod_format *f)
{
    const struct cg_options *o = opt;
    struct cg_weights w = {.n = 0};

    (void)f;
    return o && !o->like && cg_weights_parse(&w, &o->weight, NULL) == TROD_OK && w.n == 0;
}

/* May rows of format F write registers? */
static bool has_registers(const struct trod_format *f)
{
    return !f || !f->kinds || f->kinds >> TROD_REG & 1;
}

bool cg_begins(const void *opt, const struct trod_format *f)
{
    (void)f;
    return opt != NULL;
}

bool cg_follows(const void *opt)
{
    const struct cg_options *o = opt;

    return !o || !o->like; /* those tools have no regions */
}

int cg_calls(void *st, const struct trod_callstack_source *source)
{
    struct cg_core *core = ((struct cg_state *)st)->core;
    const struct trod_callstack_sink sink = {.ctx = core, .enter = enter, .leave = leave};
    const struct trod_format *f = core->context.meta ? core->context.meta->driver : NULL;
    int rc;

    if (!(core->meta = source->meta(source->ctx)))
        return TROD_ERR_UNKNOWN;
    /* rows, which tell, are not seen: what the format can tell counts */
    core->told = core->told || !f || f->reads & TROD_COL_CODE;
    core->source = source;
    core->isa = (uint8_t)core->meta->isa;
    rc = cg_summed(core, source);
    if (rc == TROD_ERR_UNKNOWN)
        rc = source->tell(source->ctx, &sink, &core->counts);
    core->source = NULL;
    if (rc == TROD_OK && core->n_wanted &&
        has_registers(core->context.meta ? core->context.meta->driver : NULL))
        rc = cg_list_arguments(core, source);
    trod_callstack_free(core->stack);
    core->stack = NULL;
    return rc < 0 ? rc : cg_finish(core);
}

uint32_t cg_uses_of(const char *format, const void *opt)
{
    static const struct cg_options none;
    const struct cg_options *o = opt ? opt : &none;

    return trod_callstack_columns(format) | (o->function.n ? TROD_COL_TEXT | TROD_COL_VALUE : 0u) |
           (o->like ? CG_LIKE_COLUMNS : 0u) | cg_weights_columns(format, &o->weight);
}
