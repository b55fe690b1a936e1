/*
 * replay.c - all calls of a trace once more, from its index. Implements trod_nav_callstack of
 * trod/navigate.h.
 *
 * The frames of each lane and context are those that the call stack had, as far as an index knows
 * of them; the stacks at the beginnings of segments are not needed for that.
 */
#include "navigate/calls.h"
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
};

/* The context of L that runs. NULL: no memory. */
static struct context *running(struct lane *l)
{
    return trod_grow_to(&l->context, &l->n_contexts, l->now, sizeof *l->context, NULL)
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

static int enter(struct replay *r, struct lane *l, const struct nav_event *e)
{
    struct context *c = running(l);
    struct trod_frame *f;

    if (!c || !trod_grow(&c->frame, c->n, &c->cap, sizeof *c->frame, 32))
        return TROD_ERR_NOMEM;
    f = &c->frame[c->n];
    *f = (struct trod_frame){
        .stream = e->lane ? e->lane - 1 : TROD_NO_STREAM,
        .file = file_of(r, e->now.row),
        .context = l->now,
        .depth = c->n++,
        .kind = e->call.kind,
        .sure = e->call.sure,
        .under = e->call.under,
        .entry = e->now,
        .site = {.row = e->site_row, .time = TROD_NOWHERE, .pc = e->call.site_pc},
        .function = function_of(r, e->call.pc),
        .own = {[NAV_OWN_LANE] = e->lane},
    };
    return r->sink->enter ? r->sink->enter(r->sink->ctx, f) : TROD_OK;
}

static int leave(const struct replay *r, struct lane *l, const struct nav_event *e)
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
    return r->sink->leave ? r->sink->leave(r->sink->ctx, &c->frame[c->n], &end) : TROD_OK;
}

static int event(struct replay *r, const struct nav_event *e)
{
    struct lane *l;

    if (!trod_grow_to(&r->lane, &r->n_lanes, e->lane, sizeof *r->lane, NULL))
        return TROD_ERR_NOMEM;
    l = &r->lane[e->lane];
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
    struct trod_buf raw = {0};
    struct nav_event e;
    int rc = nav_unsqueeze(x, x->file + s->offset, s->length, s->raw, &raw);

    if (rc == TROD_OK)
        rc = nav_calls_read((struct trod_span){.p = raw.p, .n = raw.n}, &in);
    while (rc == TROD_OK && (rc = nav_events_next(&in, &e)) > 0)
        rc = event(r, &e);
    nav_events_close(&in);
    trod_buf_fini(&raw);
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
    for (uint32_t i = 0; rc == TROD_OK && i < r.index->n_segments; i++)
        rc = segment(&r, nav_followed(nav, i));
    *counts = *seen;
    end(&r);
    return rc;
}
