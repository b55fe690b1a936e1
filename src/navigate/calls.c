/*
 * calls.c - which activations are open: a mirror of the call stacks of all streams, and what
 * happens to them as bytes. Implements calls.h.
 *
 * Saved: for each stack its lane, its context, whether that runs, and its frames, packed
 * (core/pack.h); then events (events.h). A lane is that of the call stack: the rows of a stream, or
 * those that have none.
 */
#include "navigate/calls.h"

#include "callstack/given.h"
#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

#include "navigate/events.h"
#include "navigate/tree.h"

/* A stack: the activations of a context of a lane. */
struct stack {
    uint32_t lane, context;
    bool runs; /* of the contexts of its lane */
    struct call {
        struct trod_nav_call of;
        uint64_t time; /* of its first instruction, as in struct trod_moment */
    } * call;
    uint32_t n;
    size_t cap;
};

struct nav_calls {
    struct trod_callstack *calls;
    struct stack **stack;
    size_t n, cap;
    struct stack *asked; /* found last */
    struct stack *last;  /* whose rows came last */
    uint64_t row;        /* of the first row fed last */
    uint32_t first;      /* which is this of its batch */
    bool log;
    struct trod_buf begin;
    struct nav_events events;
    struct nav_tree tree;
};

static struct stack *stack_of(struct nav_calls *c, uint32_t lane, uint32_t context)
{
    struct stack *s = c->asked;

    if (s && s->lane == lane && s->context == context)
        return s;
    for (size_t i = 0; i < c->n; i++)
        if (c->stack[i]->lane == lane && c->stack[i]->context == context)
            return c->asked = c->stack[i];
    if (!trod_grow(&c->stack, c->n, &c->cap, sizeof(struct stack *), 16) ||
        !(s = calloc(1, sizeof *s)))
        return NULL;
    s->lane = lane;
    s->context = context;
    s->runs = context == 0;
    c->stack[c->n++] = s;
    return s;
}

static void runs(struct nav_calls *c, struct stack *s)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->stack[i]->lane == s->lane)
            c->stack[i]->runs = c->stack[i] == s;
}

static int push(struct stack *s, const struct call *call)
{
    if (!trod_grow(&s->call, s->n, &s->cap, sizeof *s->call, 16))
        return TROD_ERR_NOMEM;
    s->call[s->n] = *call;
    s->call[s->n].of.depth = s->n;
    s->n++;
    return TROD_OK;
}

/* ---- as bytes */

static int put_call(const struct trod_nav_call *call, struct trod_buf *out)
{
    const bool site = call->site_row != TROD_NOWHERE;
    int rc = trod_pack(out, (unsigned)(call->kind << 3 | call->sure << 1 | site));

    if (rc == TROD_OK)
        rc = trod_pack(out, call->pc);
    if (rc == TROD_OK && site)
        rc = trod_pack(out, trod_zigzag(call->site_row, call->row));
    return rc < 0 || !site ? rc : trod_pack(out, trod_zigzag(call->site_pc, call->pc));
}

/* The call that begins with row ROW. */
static bool get_call(struct trod_span *in, uint64_t row, struct trod_nav_call *call)
{
    uint64_t v, at, pc;

    if (trod_unpack(in, &v) < 0 || v >> 3 >= TROD_FRAME_KINDS || trod_unpack(in, &call->pc) < 0)
        return false;
    call->row = row;
    call->kind = (uint8_t)(v >> 3);
    call->sure = v >> 1 & 3;
    call->site_row = call->site_pc = TROD_NOWHERE;
    if (!(v & 1))
        return true;
    if (trod_unpack(in, &at) < 0 || trod_unpack(in, &pc) < 0)
        return false;
    call->site_row = trod_unzigzag(at, row);
    call->site_pc = trod_unzigzag(pc, call->pc);
    return true;
}

/* All stacks as they are. */
static int put_stacks(const struct nav_calls *c, struct trod_buf *out)
{
    int rc = trod_pack(out, c->n);

    for (size_t i = 0; rc == TROD_OK && i < c->n; i++) {
        const struct stack *s = c->stack[i];
        const uint64_t v[] = {s->lane, s->context, s->runs, s->n};
        uint64_t row = 0, time = TROD_NOWHERE;

        for (unsigned k = 0; rc == TROD_OK && k < sizeof v / sizeof *v; k++)
            rc = trod_pack(out, v[k]);
        for (uint32_t k = 0; rc == TROD_OK && k < s->n; k++) {
            rc = trod_pack(out, trod_zigzag(s->call[k].of.row, row));
            if (rc == TROD_OK)
                rc = trod_pack(out, trod_zigzag(s->call[k].time, time));
            row = s->call[k].of.row;
            time = s->call[k].time;
            if (rc == TROD_OK)
                rc = put_call(&s->call[k].of, out);
        }
    }
    return rc;
}

/* ---- what the call stack tells */

/* Events of streams that are over come after their rows: they count where the next rows begin. */
static uint64_t place(const struct nav_calls *c, uint64_t row)
{
    return row < c->row ? c->row : row;
}

static struct stack *stack_of_frame(struct nav_calls *c, const struct trod_frame *f)
{
    return stack_of(c, (uint32_t)f->own[NAV_OWN_LANE], f->context);
}

/* S runs from row ROW on. */
static int switch_to(struct nav_calls *c, struct stack *s, uint64_t row)
{
    const struct nav_event e = {
        .what = NAV_SWITCH, .lane = s->lane, .at = row, .now = {.row = row}, .context = s->context};

    if (s->runs)
        return TROD_OK;
    runs(c, s);
    return c->log ? nav_events_put(&c->events, &e) : TROD_OK;
}

/* What begins with E, an ENTER. */
static struct call call_of(const struct nav_event *e)
{
    return (struct call){.of = {.row = e->at,
                                .pc = e->call.pc,
                                .site_row = e->site_row,
                                .site_pc = e->call.site_pc,
                                .kind = e->call.kind,
                                .sure = e->call.sure},
                         .time = e->now.time};
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct nav_calls *c = ctx;
    const bool site = f->site.pc != TROD_NOWHERE;
    const struct nav_event e = {
        .what = NAV_ENTER,
        .lane = (uint32_t)f->own[NAV_OWN_LANE],
        .at = place(c, f->entry.row),
        .now = f->entry,
        .call = {f->entry.pc, f->site.pc, f->kind, f->sure, f->under},
        .site_row = site ? f->site.row : TROD_NOWHERE,
    };
    const struct call call = call_of(&e);
    struct stack *s = stack_of_frame(c, f);
    int rc = s ? push(s, &call) : TROD_ERR_NOMEM;

    if (rc == TROD_OK)
        rc = switch_to(c, s, e.at);
    if (rc == TROD_OK && c->log)
        rc = nav_events_put(&c->events, &e);
    return rc < 0 || !c->log ? rc : nav_tree_enter(&c->tree, f);
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct nav_calls *c = ctx;
    const struct nav_event e = {
        .what = NAV_LEAVE,
        .lane = (uint32_t)f->own[NAV_OWN_LANE],
        .at = place(c, end->next.row),
        .now = end->next,
        .how = end->how,
        .sure = end->sure,
        .last_time = end->last.time,
    };
    struct stack *s = stack_of_frame(c, f);
    int rc = s ? switch_to(c, s, e.at) : TROD_ERR_NOMEM; /* what is parked ends with its stream */

    if (rc < 0)
        return rc;
    s->n -= s->n > 0;
    if (c->log)
        rc = nav_events_put(&c->events, &e);
    return rc < 0 || !c->log ? rc : nav_tree_leave(&c->tree, f, end);
}

static int unmatched(void *ctx, uint32_t lane, const struct trod_moment *to)
{
    struct nav_calls *c = ctx;
    const struct nav_event e = {
        .what = NAV_UNMATCHED, .lane = lane, .at = place(c, to->row), .now = *to};

    return nav_events_put(&c->events, &e);
}

/* Rows of another context than before: a kernel switched tasks. */
static int rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct trod_frame *f)
{
    struct nav_calls *c = ctx;

    (void)b;
    (void)to;
    if (!f || (c->last && c->last->lane == f->own[NAV_OWN_LANE] && c->last->context == f->context &&
               c->last->runs))
        return TROD_OK;
    c->last = stack_of_frame(c, f);
    return c->last ? switch_to(c, c->last, c->row + (from - c->first)) : TROD_ERR_NOMEM;
}

int nav_calls_new(struct nav_calls **out, bool log, const struct trod_symbols *symbols)
{
    struct nav_calls *c = calloc(1, sizeof *c);
    const struct trod_callstack_sink sink = {
        .ctx = c, .enter = enter, .leave = leave, .rows = rows};
    int rc;

    *out = NULL;
    if (!c)
        return TROD_ERR_NOMEM;
    c->log = log;
    rc = trod_callstack_new(&c->calls, &sink, symbols, false);
    if (rc == TROD_OK && log) {
        trod_callstack_unmatched(c->calls, unmatched);
        rc = put_stacks(c, &c->begin);
    }
    if (rc < 0)
        nav_calls_free(c);
    else
        *out = c;
    return rc;
}

static void forget(struct nav_calls *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->stack[i]->call);
        free(c->stack[i]);
    }
    free(c->stack);
}

void nav_calls_free(struct nav_calls *c)
{
    if (!c)
        return;
    trod_callstack_free(c->calls);
    forget(c);
    trod_buf_fini(&c->begin);
    nav_events_fini(&c->events);
    nav_tree_fini(&c->tree);
    free(c);
}

int nav_calls_feed(struct nav_calls *c, const struct trod_batch *b, uint32_t i, uint32_t n,
                   uint64_t row)
{
    c->row = row;
    c->first = i;
    return trod_callstack_feed(c->calls, b, i, i + n);
}

int nav_calls_end(struct nav_calls *c, uint64_t row)
{
    c->row = row;
    return trod_callstack_end(c->calls);
}

void nav_calls_counts(const struct nav_calls *c, struct trod_callstack_counts *out)
{
    trod_callstack_count(c->calls, out);
}

size_t nav_calls_events(const struct nav_calls *c)
{
    return c->events.n;
}

int nav_calls_save(struct nav_calls *c, struct trod_buf *out)
{
    int rc = c->begin.n ? trod_buf_add(out, c->begin.p, c->begin.n) : TROD_OK;

    if (rc == TROD_OK)
        rc = nav_events_save(&c->events, out);
    c->begin.n = 0;
    return rc < 0 ? rc : put_stacks(c, &c->begin);
}

int nav_calls_tree(struct nav_calls *c, uint64_t part, struct trod_buf *out)
{
    struct trod_callstack_counts counts;
    uint64_t n = 0;

    nav_calls_counts(c, &counts);
    for (unsigned k = 0; k < TROD_FRAME_KINDS; k++)
        n += counts.entered[k];
    return nav_tree_save(&c->tree, n / part, out);
}

/* ---- looked up */

static int give(const struct stack *s, struct trod_buf *out)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < s->n; i++)
        rc = trod_buf_add(out, &s->call[i].of, sizeof s->call[i].of);
    return rc;
}

/* The stack of LANE that runs, or NULL. */
static struct stack *running(const struct nav_calls *c, uint32_t lane)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->stack[i]->lane == lane && c->stack[i]->runs)
            return c->stack[i];
    return NULL;
}

/* The same of STREAM. */
static struct stack *running_of(const struct nav_calls *c, uint32_t stream)
{
    struct stack *s = running(c, stream + 1);

    return s || stream != TROD_NO_STREAM ? s : running(c, 0);
}

int nav_calls_stack(const struct nav_calls *c, uint32_t stream, struct trod_buf *out)
{
    const struct stack *s = running_of(c, stream);

    return s ? give(s, out) : TROD_OK;
}

static int get_stacks(struct nav_calls *c, struct trod_span *in)
{
    uint64_t n, v[4];

    if (trod_unpack(in, &n) < 0)
        return TROD_ERR_CORRUPT;
    while (n--) {
        struct stack *s;
        struct call call = {.time = TROD_NOWHERE};
        uint64_t row = 0, d, t;
        int rc = TROD_OK;

        for (unsigned k = 0; k < sizeof v / sizeof *v; k++)
            if (trod_unpack(in, &v[k]) < 0 || v[k] > UINT32_MAX)
                return TROD_ERR_CORRUPT;
        if (!(s = stack_of(c, (uint32_t)v[0], (uint32_t)v[1])))
            return TROD_ERR_NOMEM;
        if (s->n)
            return TROD_ERR_CORRUPT;
        s->runs = v[2] != 0;
        for (; rc == TROD_OK && v[3]; v[3]--) {
            if (trod_unpack(in, &d) < 0 || trod_unpack(in, &t) < 0 ||
                !get_call(in, row = trod_unzigzag(d, row), &call.of))
                return TROD_ERR_CORRUPT;
            call.time = trod_unzigzag(t, call.time);
            rc = push(s, &call);
        }
        if (rc < 0)
            return rc;
    }
    return TROD_OK;
}

/* E happens to the stacks of C. *S: that of the event before; NULL: none. */
static int apply(struct nav_calls *c, const struct nav_event *e, struct stack **s)
{
    struct call call;

    if (e->what == NAV_UNMATCHED)
        return TROD_OK;
    if (e->what == NAV_SWITCH)
        *s = NULL;
    else if (!*s || (*s)->lane != e->lane)
        *s = running(c, e->lane);
    if (!*s && !(*s = stack_of(c, e->lane, e->context)))
        return TROD_ERR_NOMEM;
    if (e->what == NAV_SWITCH) {
        runs(c, *s);
        return TROD_OK;
    }
    if (e->what == NAV_LEAVE) {
        (*s)->n -= (*s)->n > 0;
        return TROD_OK;
    }
    call = call_of(e);
    return push(*s, &call);
}

static bool may_be_of(const struct nav_event *e, uint32_t stream)
{
    return e->lane == stream + 1 || (e->lane == 0 && stream == TROD_NO_STREAM);
}

/* What happens up to ROW to the rows that may be those of STREAM. */
static int get_events(struct nav_calls *c, struct trod_span in, uint64_t row, uint32_t stream)
{
    struct nav_events_reader r;
    struct nav_event e;
    struct stack *s = NULL;
    int rc = nav_events_open(&r, in);

    while (rc == TROD_OK && (rc = nav_events_next(&r, &e)) > 0) {
        rc = TROD_OK;
        if (e.at > row)
            break;
        if (may_be_of(&e, stream))
            rc = apply(c, &e, &s);
    }
    nav_events_close(&r);
    return rc;
}

int nav_calls_load(struct trod_span in, uint64_t row, uint32_t stream, struct trod_buf *out)
{
    struct nav_calls c = {0};
    int rc = get_stacks(&c, &in);

    if (rc == TROD_OK)
        rc = get_events(&c, in, row, stream);
    if (rc == TROD_OK)
        rc = nav_calls_stack(&c, stream, out);
    forget(&c);
    return rc;
}

/* The context of STREAM that runs after ROW. */
static int context_at(struct trod_span in, uint64_t row, uint32_t stream, uint32_t *context)
{
    struct nav_calls c = {0};
    const struct stack *s;
    int rc = get_stacks(&c, &in);

    if (rc == TROD_OK)
        rc = get_events(&c, in, row, stream);
    s = running_of(&c, stream);
    *context = s ? s->context : 0;
    forget(&c);
    return rc;
}

static int hand_on(const struct nav_event *e, const struct stack *s, trod_nav_call_fn fn,
                   void *user)
{
    struct trod_nav_call_event out = {
        .row = e->at, .instruction = e->now.instruction, .ends = e->what == NAV_LEAVE};

    if (!out.ends)
        out.call = call_of(e).of;
    out.call.depth = out.ends ? s->n : s->n - 1;
    return fn(user, &out);
}

int nav_calls_walk(struct trod_span in, uint64_t row, uint32_t stream, uint32_t *context,
                   trod_nav_call_fn fn, void *user)
{
    struct nav_calls c = {0};
    struct nav_events_reader r = {.left = 0};
    struct stack *s = NULL;
    struct nav_event e;
    int rc = *context == NAV_NO_CONTEXT ? context_at(in, row, stream, context) : TROD_OK, last = 1;

    if (rc == TROD_OK)
        rc = get_stacks(&c, &in);
    if (rc == TROD_OK)
        rc = nav_events_open(&r, in);
    while (rc == TROD_OK && last > 0 && (rc = nav_events_next(&r, &e)) > 0) {
        if (!may_be_of(&e, stream)) {
            rc = TROD_OK;
            continue;
        }
        rc = apply(&c, &e, &s);
        if (rc == TROD_OK && e.at >= row && s && s->context == *context &&
            (e.what == NAV_ENTER || e.what == NAV_LEAVE))
            last = hand_on(&e, s, fn, user);
    }
    nav_events_close(&r);
    forget(&c);
    return rc < 0 ? rc : last;
}

/* The stacks of C as they are: each call as one that is open, then which of them runs. */
static int give_all(const struct nav_calls *c, struct trod_buf *out)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < c->n; i++) {
        const struct stack *s = c->stack[i];

        for (uint32_t k = 0; rc == TROD_OK && k < s->n; k++) {
            const struct trod_nav_call *call = &s->call[k].of;
            const struct trod_given g = {.what = TROD_GIVEN_OPEN,
                                         .kind = call->kind,
                                         .sure = call->sure,
                                         .before = true,
                                         .lane = s->lane,
                                         .context = s->context,
                                         .row = call->row,
                                         .time = s->call[k].time,
                                         .pc = call->pc,
                                         .site_row = call->site_row,
                                         .site_pc = call->site_pc};

            rc = trod_buf_add(out, &g, sizeof g);
        }
    }
    for (size_t i = 0; rc == TROD_OK && i < c->n; i++) {
        const struct trod_given g = {.what = TROD_GIVEN_SWITCH,
                                     .before = true,
                                     .lane = c->stack[i]->lane,
                                     .context = c->stack[i]->context};

        if (c->stack[i]->runs && c->stack[i]->n)
            rc = trod_buf_add(out, &g, sizeof g);
    }
    return rc;
}

int nav_calls_begin(struct trod_span in, uint64_t row, struct trod_buf *out,
                    struct nav_events_reader *r, struct nav_event *first)
{
    struct nav_calls c = {0};
    struct stack *s = NULL;
    int rc = get_stacks(&c, &in);

    *r = (struct nav_events_reader){.left = 0};
    if (rc == TROD_OK)
        rc = nav_events_open(r, in);
    while (rc == TROD_OK && (rc = nav_events_next(r, first)) > 0 && first->at < row)
        rc = apply(&c, first, &s);
    if (rc >= 0) {
        const int given = give_all(&c, out);

        rc = given < 0 ? given : rc;
    }
    forget(&c);
    return rc;
}

int nav_calls_read(struct trod_span in, struct nav_events_reader *out)
{
    struct nav_calls c = {0};
    int rc = get_stacks(&c, &in);

    *out = (struct nav_events_reader){.left = 0};
    forget(&c);
    return rc < 0 ? rc : nav_events_open(out, in);
}
