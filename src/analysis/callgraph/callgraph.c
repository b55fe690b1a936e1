/*
 * callgraph.c - what stacks of functions cost (callgraph.h).
 *
 * Instructions and time are counted where activations begin and end: what was executed since the
 * last such place belongs to the innermost one. Other weights are added up row by row (cost.c). A
 * time belongs to the instruction that it passes behind: the last one of a stream has none.
 */
#include "analysis/callgraph/callgraph.h"
#include "analysis/callgraph/like.h"

#include "core/pack.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROOTS = 1024 }; /* that are put below in a stream */

/* ---- lanes */

static void lane_free(struct cg_lane *l)
{
    if (!l)
        return;
    cg_cost_fini(l);
    cg_tree_fini(&l->tree);
    free(l->registers);
    free(l);
}

/* The lane of F, made if new. NULL: no memory. */
static struct cg_lane *lane_of(struct cg_core *core, const struct trod_frame *f)
{
    const size_t at = (size_t)f->own[3];

    if (at >= core->n_lanes) {
        size_t n = core->n_lanes ? core->n_lanes : 16;
        struct cg_lane **p;

        while (n <= at)
            n *= 2;
        p = realloc(core->lane, n * sizeof(struct cg_lane *));
        if (!p)
            return NULL;
        for (size_t i = core->n_lanes; i < n; i++)
            p[i] = NULL;
        core->lane = p;
        core->n_lanes = n;
    }
    if (!core->lane[at]) {
        core->lane[at] = calloc(1, sizeof *core->lane[at]);
        if (core->lane[at] && !cg_tree_begin(&core->lane[at]->tree)) {
            lane_free(core->lane[at]);
            core->lane[at] = NULL;
        }
    }
    return core->lane[at];
}

/* The stream of lane AT is over. */
static int lane_end(struct cg_core *core, size_t at)
{
    struct cg_lane *l = core->lane[at];
    const int rc = cg_tree_add(&core->tree, &l->tree);

    lane_free(l);
    core->lane[at] = NULL;
    return rc;
}

/* ---- events */

static uint32_t node_of(const struct trod_frame *f)
{
    return (uint32_t)f->user;
}

/* What was executed up to AT belongs to NODE. */
static void charge(struct cg_lane *l, uint32_t node, const struct trod_moment *at)
{
    uint64_t *self = l->tree.node[node].self;

    self[CG_SELF_INSTRUCTIONS] += at->instruction - l->instruction;
    l->instruction = at->instruction;
    if (at->time == TROD_NOWHERE)
        return;
    if (l->tree.any_time)
        self[CG_SELF_TIME] += at->time - l->time;
    l->tree.any_time = true;
    l->time = at->time;
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct cg_core *core = ctx;
    struct cg_lane *l = lane_of(core, f);
    const bool exception = f->kind == TROD_FRAME_EXCEPTION;
    uint32_t parent = 0, node;
    int64_t number = 0;

    if (!l)
        return TROD_ERR_NOMEM;
    if (f->depth) {
        parent = node_of(&f[-1]);
        charge(l, parent, &f->entry);
        if (exception && !core->inline_exceptions)
            parent = 0;
    } else if (!f->under) {
        charge(l, 0, &f->entry); /* of what ran before on another stack nothing is left */
    }
    node = cg_child(&l->tree, parent, f->function, exception ? CG_EXCEPTION : CG_PLAIN);
    if (!node)
        return TROD_ERR_NOMEM;
    l->tree.node[node].count++;
    if (f->under && l->bottom && l->tree.node[l->bottom].parent == 0 && l->bottom != node &&
        l->roots++ < MOST_ROOTS && cg_move(&l->tree, l->bottom, node) < 0)
        return TROD_ERR_NOMEM;
    if (core->listing && (number = cg_list_enter(core, l, f)) < 0)
        return (int)number;
    f->user = node | (uint64_t)number << 32;
    return TROD_OK;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct cg_core *core = ctx;
    struct cg_lane *l = lane_of(core, f);

    charge(l, node_of(f), &end->next);
    if (f->depth == 0)
        l->bottom = node_of(f);
    return core->listing ? cg_list_leave(core, l, f->user >> 32, f, end) : TROD_OK;
}

static int rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct trod_frame *f)
{
    struct cg_core *core = ctx;
    struct cg_lane *l = f ? lane_of(core, f) : NULL;

    if (f && !l)
        return TROD_ERR_NOMEM;
    if (core->weights.n) {
        uint64_t n[CG_MOST_WEIGHTS] = {0}, *self;

        cg_weigh(core, l, b, from, to, n);
        if (!cg_tree_begin(&core->tree))
            return TROD_ERR_NOMEM;
        self = f ? l->tree.node[node_of(f)].self : core->tree.node[0].self;
        for (unsigned i = 0; i < core->weights.n; i++)
            self[CG_SELF_WEIGHTS + i] += n[i];
        for (unsigned i = 0; l && i < core->weights.n; i++)
            l->weighed[i] += n[i];
    }
    return l && core->n_wanted ? cg_registers(core, l, b, from, to) : TROD_OK;
}

int cg_late(struct cg_core *core, uint32_t stream, unsigned slot, uint64_t n)
{
    uint32_t open;
    const struct trod_frame *f = trod_callstack_frames(core->stack, stream, &open);
    struct cg_lane *l = f && open ? lane_of(core, &f[open - 1]) : NULL;

    if (f && open && !l)
        return TROD_ERR_NOMEM;
    if (!l && !cg_tree_begin(&core->tree))
        return TROD_ERR_NOMEM;
    if (l) {
        l->tree.node[node_of(&f[open - 1])].self[CG_SELF_WEIGHTS + slot] += n;
        l->weighed[slot] += n;
    } else {
        core->tree.node[0].self[CG_SELF_WEIGHTS + slot] += n;
    }
    return TROD_OK;
}

/* ---- states */

int cg_init(void *st, const struct cg_options *opt, const struct trod_context *c, bool inlined,
            bool listing)
{
    struct cg_state *s = st;
    struct cg_core *core = calloc(1, sizeof *core);
    struct trod_callstack_sink sink = {.ctx = core, .enter = enter, .leave = leave};
    const struct trod_format *f = c->meta ? c->meta->driver : NULL;
    int rc;

    s->core = core;
    if (!core)
        return TROD_ERR_NOMEM;
    core->opt = opt;
    core->context = *c;
    if (f && f->kinds && !(f->kinds >> TROD_INSTR & 1))
        return trod_error(c->diag, TROD_ERR_UNSUPPORTED, "calls.instructions", NULL,
                          "traces of format %s have no instructions: who calls whom is not seen "
                          "there",
                          f->name);
    core->inline_exceptions = inlined;
    core->listing = listing;
    if (opt->like)
        return cg_like_init(core);
    rc = cg_wanted(core);
    if (rc == TROD_OK)
        rc = cg_weights_init(core);
    if (core->weights.n || core->n_wanted)
        sink.rows = rows;
    return rc < 0 ? rc : trod_callstack_new(&core->stack, &sink, c->symbols, c->merged);
}

void cg_fini(void *st)
{
    struct cg_state *s = st;
    struct cg_core *core = s->core;

    if (!core)
        return;
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

/* Streams whose last activation ended are over: their trees are added. */
static int end_lanes(struct cg_core *core)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < core->n_lanes; i++)
        if (core->lane[i])
            rc = lane_end(core, i);
    return rc;
}

int cg_finish(struct cg_core *core)
{
    int rc = TROD_OK;

    core->meta = NULL;
    if (core->stack) {
        rc = cg_weights_feed(core, NULL, 0, 0);
        if (rc == TROD_OK)
            rc = trod_callstack_end(core->stack);
        trod_callstack_count(core->stack, &core->counts);
        trod_callstack_free(core->stack);
        core->stack = NULL;
    }
    return rc < 0 ? rc : end_lanes(core);
}

int cg_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct cg_core *core = ((struct cg_state *)st)->core;
    const uint32_t file = b->meta && !core->context.merged ? b->meta->file : 0;
    int rc = TROD_OK;

    core->meta = b->meta;
    if (b->meta && b->meta->isa)
        core->isa = (uint8_t)b->meta->isa;
    if (core->like)
        return cg_like_feed(core, b, from, to);
    if (core->file != file) { /* its streams have ended */
        rc = cg_weights_feed(core, NULL, 0, 0);
        if (rc == TROD_OK)
            rc = trod_callstack_end(core->stack);
        if (rc == TROD_OK)
            rc = end_lanes(core);
        core->file = file;
    }
    if (rc == TROD_OK)
        rc = cg_weights_feed(core, b, from, to);
    return rc < 0 ? rc : trod_callstack_feed(core->stack, b, from, to);
}

static void add_counts(struct trod_callstack_counts *to, const struct trod_callstack_counts *from)
{
    uint64_t *a = (uint64_t *)(void *)to;
    const uint64_t *b = (const uint64_t *)(const void *)from;

    for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
        a[i] += b[i];
}

int cg_merge(void *into, const void *from)
{
    struct cg_core *a = ((struct cg_state *)into)->core;
    struct cg_core *b = ((const struct cg_state *)from)->core;
    int rc = cg_finish(a);

    if (rc == TROD_OK)
        rc = cg_finish(b);
    if (rc == TROD_OK)
        rc = cg_tree_add(&a->tree, &b->tree);
    add_counts(&a->counts, &b->counts);
    return rc < 0 ? rc : cg_list_add(a, b);
}

int cg_save(const void *st, struct trod_buf *out)
{
    struct cg_core *core = ((const struct cg_state *)st)->core;
    const uint64_t *counts = (const uint64_t *)(const void *)&core->counts;
    int rc = cg_finish(core);

    if (core->like)
        return TROD_ERR_UNSUPPORTED;
    for (size_t i = 0; rc == TROD_OK && i < sizeof core->counts / sizeof *counts; i++)
        rc = trod_pack(out, counts[i]);
    if (rc == TROD_OK)
        rc = cg_tree_save(&core->tree, out);
    return rc < 0 ? rc : cg_list_save(core, out);
}

int cg_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct cg_core *core = ((struct cg_state *)st)->core;
    struct trod_callstack_counts counts;
    uint64_t *p = (uint64_t *)(void *)&counts;
    int rc;

    (void)sites;
    if (!core)
        return TROD_ERR_CORRUPT;
    for (size_t i = 0; i < sizeof counts / sizeof *p; i++)
        if (trod_unpack(&in, &p[i]) < 0)
            return TROD_ERR_CORRUPT;
    rc = cg_finish(core);
    if (rc == TROD_OK)
        rc = cg_tree_load(&core->tree, &in);
    if (rc == TROD_OK)
        rc = cg_list_load(core, &in);
    add_counts(&core->counts, &counts);
    return rc == TROD_OK && in.n ? TROD_ERR_CORRUPT : rc;
}

uint32_t cg_uses_of(const char *format, const void *opt)
{
    static const struct cg_options none;
    const struct cg_options *o = opt ? opt : &none;

    return trod_callstack_columns(format) | (o->function.n ? TROD_COL_TEXT | TROD_COL_VALUE : 0u) |
           (o->like ? CG_LIKE_COLUMNS : 0u) | cg_weights_columns(&o->weight);
}
