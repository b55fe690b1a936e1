/*
 * replay.c - all calls of a trace once more, from its index. Implements trod_nav_callstack and
 * trod_nav_callstack_open of trod/navigate.h.
 *
 * The frames of each lane and context are those that the call stack had, as far as an index knows
 * of them; the stacks at the beginnings of segments are not needed for that. What is open at the
 * end follows from those of the last segment.
 */
#include "callstack/given.h"
#include "navigate/calls.h"
#include "navigate/events_take.h"
#include "navigate/index.h"
#include "navigate/nav.h"

#include "core/grow.h"

#include <stdlib.h>

struct context {
    struct trod_frame *frame;
    uint32_t n;
    size_t cap;
};

struct lane {
    uint32_t now, n_contexts;
    struct context *context;
};

struct replay {
    const struct nav_index *index;
    const struct trod_callstack_sink *sink;
    const struct trod_symbols *symbols; /* that calls were followed with; NULL: none */
    struct lane *lane;
    uint32_t n_lanes, file;
    bool only_open; /* the sink is called for what is open at the end */
    struct nav_unpacker *unpacker;
    struct trod_buf raw; /* the events of a segment */
};

/* The context of L that runs. NULL: no memory. */
static inline struct context *running(struct lane *l)
{
    return l->now < l->n_contexts ||
                   trod_grow_to(&l->context, &l->n_contexts, l->now, sizeof *l->context, NULL)
               ? &l->context[l->now]
               : NULL;
}

/* The file of the trace that ROW is in. Rows come in order. */
static uint32_t file_of(struct replay *r, uint64_t row)
{
    const struct nav_index *x = r->index;

    while (r->file + 1 < x->n_sources && row >= x->source[r->file + 1].row)
        r->file++;
    return r->file;
}

/* Where the function begins that is entered at PC. */
static uint64_t function_of(const struct replay *r, uint64_t pc)
{
    struct trod_symbol_range range;

    return r->symbols && trod_symbols_function(r->symbols, pc, &range) ? range.begin : pc;
}

TROD_HOT int enter(struct replay *r, struct lane *l, const struct nav_event *e)
{
    struct context *c = running(l);
    struct trod_frame *f;

    if (!c || (c->n == c->cap && !trod_grow(&c->frame, c->n, &c->cap, sizeof *c->frame, 32)))
        return TROD_ERR_NOMEM;
    f = &c->frame[c->n];
    f->stream = e->lane ? e->lane - 1 : TROD_NO_STREAM;
    f->file = file_of(r, e->now.row);
    f->context = l->now;
    f->depth = c->n++;
    f->kind = e->call.kind;
    f->sure = e->call.sure;
    f->under = e->call.under;
    f->has_ra = f->has_sp = false;
    f->again = 0;
    f->entry = e->now;
    f->site = (struct trod_moment){.row = e->site_row, .time = TROD_NOWHERE, .pc = e->call.site_pc};
    f->function = function_of(r, e->call.pc);
    f->ra = f->sp = f->user = 0;
    f->own[0] = f->own[1] = f->own[2] = 0;
    f->own[NAV_OWN_LANE] = e->lane;
    return r->sink->enter && !r->only_open ? r->sink->enter(r->sink->ctx, f) : TROD_OK;
}

TROD_HOT int leave(const struct replay *r, struct lane *l, const struct nav_event *e)
{
    struct context *c = running(l);
    const struct trod_frame_left end = {
        .how = e->how,
        .sure = e->sure,
        .last = {.row = TROD_NOWHERE, .time = e->last_time, .pc = TROD_NOWHERE},
        .next = e->now,
    };

    if (!c)
        return TROD_ERR_NOMEM;
    if (c->n == 0)
        return TROD_ERR_CORRUPT;
    c->n--;
    if (r->only_open && e->how != TROD_FRAME_OPEN)
        return TROD_OK;
    return r->sink->leave ? r->sink->leave(r->sink->ctx, &c->frame[c->n], &end) : TROD_OK;
}

/* NULL: no memory. */
static inline struct lane *lane_of(struct replay *r, uint32_t lane)
{
    return lane < r->n_lanes || trod_grow_to(&r->lane, &r->n_lanes, lane, sizeof *r->lane, NULL)
               ? &r->lane[lane]
               : NULL;
}

TROD_HOT int event(struct replay *r, const struct nav_event *e)
{
    struct lane *l = lane_of(r, e->lane);

    if (!l)
        return TROD_ERR_NOMEM;
    switch (e->what) {
    case NAV_ENTER:
        return enter(r, l, e);
    case NAV_LEAVE:
        return leave(r, l, e);
    case NAV_SWITCH:
        l->now = e->context;
        return e->context < TROD_CALLSTACK_CONTEXTS ? TROD_OK : TROD_ERR_CORRUPT;
    default:
        return TROD_OK;
    }
}

static int segment(struct replay *r, const struct nav_section *s)
{
    const struct nav_index *x = r->index;
    struct nav_events_reader in = {.left = 0};
    struct nav_event e;
    int rc;

    r->raw.n = 0;
    rc = nav_unsqueeze_by(r->unpacker, x->file + s->offset, s->length, s->raw, &r->raw);
    if (rc == TROD_OK)
        rc = nav_calls_read((struct trod_span){.p = r->raw.p, .n = r->raw.n}, &in);
    while (rc == TROD_OK && (rc = nav_events_take(&in, &e)) > 0)
        rc = event(r, &e);
    nav_events_close(&in);
    return rc;
}

/* The activations of GIVEN are open. */
static int begin(struct replay *r, const struct trod_buf *given)
{
    const struct trod_given *g = (const struct trod_given *)(const void *)given->p;
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < given->n / sizeof *g; i++) {
        const struct nav_event e = {
            .what = NAV_ENTER,
            .lane = g[i].lane,
            .now = {.row = g[i].row, .time = g[i].time, .pc = g[i].pc},
            .call = {.pc = g[i].pc, .site_pc = g[i].site_pc, .kind = g[i].kind, .sure = g[i].sure},
            .site_row = g[i].site_row};
        struct lane *l = g[i].context < TROD_CALLSTACK_CONTEXTS ? lane_of(r, g[i].lane) : NULL;

        if (!l)
            return TROD_ERR_CORRUPT;
        l->now = g[i].context;
        if (g[i].what == TROD_GIVEN_OPEN)
            rc = enter(r, l, &e);
    }
    return rc;
}

/* The stacks at the beginning of a segment, and what happens in it. */
static int last_segment(struct replay *r, const struct nav_section *s)
{
    const struct nav_index *x = r->index;
    struct nav_events_reader in = {.left = 0};
    struct trod_buf given = {0};
    struct nav_event e;
    int rc = nav_unsqueeze_by(r->unpacker, x->file + s->offset, s->length, s->raw, &r->raw);

    if (rc == TROD_OK)
        rc = nav_calls_begin((struct trod_span){.p = r->raw.p, .n = r->raw.n}, 0, &given, &in, &e);
    if (rc > 0) {
        rc = begin(r, &given);
        rc = rc < 0 ? rc : event(r, &e);
        while (rc == TROD_OK && (rc = nav_events_take(&in, &e)) > 0)
            rc = event(r, &e);
    }
    nav_events_close(&in);
    trod_buf_fini(&given);
    return rc;
}

static void end(struct replay *r)
{
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        for (uint32_t k = 0; k < r->lane[i].n_contexts; k++)
            free(r->lane[i].context[k].frame);
        free(r->lane[i].context);
    }
    free(r->lane);
    nav_unpacker_free(r->unpacker);
    trod_buf_fini(&r->raw);
}

/* Is what NAV's index knows of calls as it was written? */
static int check(const struct trod_nav *nav)
{
    const struct nav_index *x = nav->index;
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < x->n_segments; i++) {
        const struct nav_section *s = nav_followed(nav, i);

        rc = s ? nav_index_check(x, s) : TROD_ERR_CORRUPT;
    }
    return rc;
}

int trod_nav_callstack(struct trod_nav *nav, const struct trod_callstack_sink *sink,
                       struct trod_callstack_counts *counts)
{
    const struct trod_callstack_counts *seen = nav_followed_counts(nav);
    struct replay r = {.index = nav->index, .sink = sink, .symbols = nav->follow};
    int rc = seen ? check(nav) : TROD_ERR_UNKNOWN;

    if (rc < 0)
        return nav_distrust(nav, rc) ? TROD_ERR_UNKNOWN : rc;
    rc = nav_unpacker_new(&r.unpacker);
    for (uint32_t i = 0; rc == TROD_OK && i < r.index->n_segments; i++)
        rc = segment(&r, nav_followed(nav, i));
    *counts = *seen;
    end(&r);
    return rc;
}

int trod_nav_callstack_open(struct trod_nav *nav, const struct trod_callstack_sink *sink)
{
    struct replay r = {
        .index = nav->index, .sink = sink, .symbols = nav->follow, .only_open = true};
    const struct nav_section *s;
    int rc;

    if (!nav_followed_counts(nav) || r.index->n_sources != 1 || r.index->n_segments == 0)
        return TROD_ERR_UNKNOWN;
    s = nav_followed(nav, r.index->n_segments - 1);
    rc = s ? nav_index_check(r.index, s) : TROD_ERR_CORRUPT;
    if (rc < 0)
        return nav_distrust(nav, rc) ? TROD_ERR_UNKNOWN : rc;
    rc = nav_unpacker_new(&r.unpacker);
    if (rc == TROD_OK)
        rc = last_segment(&r, s);
    end(&r);
    return rc;
}
