/*
 * replay.c - the calls of a trace once more, from its index. Implements trod_nav_callstack,
 * trod_nav_callstack_open and trod_nav_callstack_first of trod/navigate.h.
 *
 * The frames of each lane and context are those that the call stack had, as far as an index knows
 * of them; the stacks at the beginnings of segments are not needed for that. What is open at the
 * end follows from those of the last segment. Of the first activations, those that are still open
 * when the others are known end in the last segment at whose beginning they are open: only that
 * one is replayed.
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
    bool only_first;
    bool enough; /* the sink is called for the ends of activations whose user is not 0: */
    size_t open; /* so many are open */
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
    return r->sink->enter && !r->only_open && !r->enough ? r->sink->enter(r->sink->ctx, f)
                                                         : TROD_OK;
}

TROD_HOT int leave(struct replay *r, struct lane *l, const struct nav_event *e)
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
    if (r->enough && !c->frame[c->n].user)
        return TROD_OK;
    r->open -= r->enough;
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

static int unsqueeze(struct replay *r, const struct nav_section *s)
{
    r->raw.n = 0;
    return nav_unsqueeze_by(r->unpacker, r->index->file + s->offset, s->length, s->raw, &r->raw);
}

/* How many activations whose user is not 0 are open; into OUT, if there is one, what they are. */
static size_t watched(const struct replay *r, struct trod_frame *out)
{
    size_t n = 0;

    for (uint32_t i = 0; i < r->n_lanes; i++)
        for (uint32_t k = 0; k < r->lane[i].n_contexts; k++)
            for (uint32_t d = 0; d < r->lane[i].context[k].n; d++)
                if (r->lane[i].context[k].frame[d].user) {
                    if (out)
                        out[n] = r->lane[i].context[k].frame[d];
                    n++;
                }
    return n;
}

/*
 * What IN reads after E, of which RC says whether it is there (nav_events_take). Returns 0, or more
 * where the sink wants nothing of what comes then.
 */
static int events(struct replay *r, struct nav_events_reader *in, struct nav_event *e, int rc)
{
    for (; rc > 0; rc = nav_events_take(in, e)) {
        const int told = event(r, e);

        if (told < 0 || (told > 0 && !r->only_first))
            return told;
        if (told > 0) {
            r->enough = true;
            r->open = watched(r, NULL);
        }
        if (r->enough && r->open == 0)
            return 1;
    }
    return rc;
}

static int segment(struct replay *r, const struct nav_section *s)
{
    struct nav_events_reader in = {.left = 0};
    struct nav_event e;
    int rc = unsqueeze(r, s);

    if (rc == TROD_OK)
        rc = nav_calls_read((struct trod_span){.p = r->raw.p, .n = r->raw.n}, &in);
    if (rc == TROD_OK)
        rc = events(r, &in, &e, nav_events_take(&in, &e));
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

static void forget(struct replay *r)
{
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        for (uint32_t k = 0; k < r->lane[i].n_contexts; k++)
            free(r->lane[i].context[k].frame);
        free(r->lane[i].context);
    }
    free(r->lane);
    r->lane = NULL;
    r->n_lanes = 0;
}

/*
 * The stacks at the beginning of the segment S. IN reads what happens from there on, but for the
 * first event. Returns 1 with that in *FIRST, 0 (there is none) or an error.
 */
static int begin_in(struct replay *r, const struct nav_section *s, struct nav_events_reader *in,
                    struct nav_event *first)
{
    struct trod_buf given = {0};
    int rc = unsqueeze(r, s), begun = TROD_OK;

    if (rc == TROD_OK)
        rc =
            nav_calls_begin((struct trod_span){.p = r->raw.p, .n = r->raw.n}, 0, &given, in, first);
    if (rc >= 0)
        begun = begin(r, &given);
    trod_buf_fini(&given);
    return begun < 0 ? begun : rc;
}

static int last_segment(struct replay *r, const struct nav_section *s)
{
    struct nav_events_reader in = {.left = 0};
    struct nav_event e;
    int rc = begin_in(r, s, &in, &e);

    rc = rc < 0 ? rc : events(r, &in, &e, rc);
    nav_events_close(&in);
    return rc;
}

/* ---- the ends of the first activations */

/* Put the N frames WATCH in where they are open. Returns how many are. */
static size_t put_in(struct replay *r, const struct trod_frame *watch, size_t n)
{
    r->open = 0;
    for (size_t i = 0; i < n; i++) {
        const struct trod_frame *w = &watch[i];
        const uint64_t lane = w->own[NAV_OWN_LANE];
        struct context *c;

        if (lane >= r->n_lanes || w->context >= r->lane[lane].n_contexts)
            continue;
        c = &r->lane[lane].context[w->context];
        if (w->depth >= c->n || c->frame[w->depth].entry.row != w->entry.row)
            continue;
        c->frame[w->depth] = *w;
        r->open++;
    }
    return r->open;
}

/* Are the N frames WATCH open where segment I begins? 1, 0 or an error. */
static int open_at(struct replay *r, const struct trod_nav *nav, uint32_t i,
                   const struct trod_frame *watch, size_t n)
{
    struct nav_events_reader in = {.left = 0};
    struct nav_event e;
    int rc;

    forget(r);
    rc = begin_in(r, nav_followed(nav, i), &in, &e);
    nav_events_close(&in);
    return rc < 0 ? rc : put_in(r, watch, n) == n;
}

/* The last segment from *I on at whose beginning the N frames WATCH are open, into *I. */
static int last_open(struct replay *r, const struct trod_nav *nav, uint32_t *i,
                     const struct trod_frame *watch, size_t n)
{
    uint32_t end = r->index->n_segments; /* they are not open there */
    int rc;

    for (uint32_t middle = end - 1; *i + 1 < end; middle = *i + (end - *i) / 2) {
        if ((rc = open_at(r, nav, middle, watch, n)) < 0)
            return rc;
        *(rc ? i : &end) = middle;
    }
    return TROD_OK;
}

/* The sink has what it wants, but for the ends of what is open where segment I begins. */
static int ends(struct replay *r, const struct trod_nav *nav, uint32_t i)
{
    struct trod_frame *watch = calloc(r->open + 1, sizeof *watch);
    size_t n = watch ? watched(r, watch) : 0;
    int rc = watch ? TROD_OK : TROD_ERR_NOMEM;

    for (; rc == TROD_OK && n && i < r->index->n_segments; i++) {
        struct nav_events_reader in = {.left = 0};
        struct nav_event e;

        if ((rc = last_open(r, nav, &i, watch, n)) < 0)
            break;
        forget(r);
        rc = begin_in(r, nav_followed(nav, i), &in, &e);
        if (rc >= 0 && put_in(r, watch, n) != n)
            rc = TROD_ERR_CORRUPT;
        rc = rc < 0 ? rc : events(r, &in, &e, rc);
        nav_events_close(&in);
        rc = rc > 0 ? TROD_OK : rc;
        n = watched(r, watch);
    }
    free(watch);
    return rc;
}

static void end(struct replay *r)
{
    forget(r);
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

int trod_nav_callstack_first(struct trod_nav *nav, const struct trod_callstack_sink *sink)
{
    struct replay r = {
        .index = nav->index, .sink = sink, .symbols = nav->follow, .only_first = true};
    uint32_t i = 0;
    int rc;

    if (!nav_followed_counts(nav) || r.index->n_sources != 1)
        return TROD_ERR_UNKNOWN;
    if ((rc = check(nav)) < 0)
        return nav_distrust(nav, rc) ? TROD_ERR_UNKNOWN : rc;
    rc = nav_unpacker_new(&r.unpacker);
    for (; rc == TROD_OK && !r.enough && i < r.index->n_segments; i++)
        rc = segment(&r, nav_followed(nav, i));
    if (rc == TROD_OK && r.enough)
        rc = ends(&r, nav, i);
    end(&r);
    return rc < 0 ? rc : TROD_OK;
}
