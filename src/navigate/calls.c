/*
 * calls.c - which activations are open: a mirror of the call stacks of all streams, and what
 * happens to them as bytes. Implements calls.h.
 *
 * Saved: for each stack its stream, its context, whether that runs, and its frames; then events. An
 * event: 3 * (row, less that of the event before, zigzag) + what it is; its stream; of an entry the
 * frame, of a switch the context. Numbers are packed (core/pack.h).
 */
#include "navigate/calls.h"

#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

#include "trod/callstack.h"

enum { ENTER, LEAVE, SWITCH, WHATS };

/* A stack: the activations of a context of a stream. */
struct stack {
    uint32_t stream, context;
    bool runs; /* of the contexts of its stream */
    struct trod_nav_call *call;
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
    struct trod_buf begin, events;
    size_t n_events;
    uint64_t before; /* row of the last event */
};

static struct stack *stack_of(struct nav_calls *c, uint32_t stream, uint32_t context)
{
    struct stack *s = c->asked;

    if (s && s->stream == stream && s->context == context)
        return s;
    for (size_t i = 0; i < c->n; i++)
        if (c->stack[i]->stream == stream && c->stack[i]->context == context)
            return c->asked = c->stack[i];
    if (!trod_grow(&c->stack, c->n, &c->cap, sizeof(struct stack *), 16) ||
        !(s = calloc(1, sizeof *s)))
        return NULL;
    s->stream = stream;
    s->context = context;
    s->runs = context == 0;
    c->stack[c->n++] = s;
    return s;
}

static void runs(struct nav_calls *c, struct stack *s)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->stack[i]->stream == s->stream)
            c->stack[i]->runs = c->stack[i] == s;
}

static int push(struct stack *s, const struct trod_nav_call *call)
{
    if (!trod_grow(&s->call, s->n, &s->cap, sizeof *s->call, 16))
        return TROD_ERR_NOMEM;
    s->call[s->n] = *call;
    s->call[s->n].depth = s->n;
    s->n++;
    return TROD_OK;
}

/* ---- as bytes */

static uint64_t zigzag(uint64_t a, uint64_t b)
{
    const uint64_t d = a - b;

    return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t v, uint64_t b)
{
    return b + (v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

static int put_call(const struct trod_nav_call *call, struct trod_buf *out)
{
    const bool site = call->site_row != TROD_NOWHERE;
    int rc = trod_pack(out, (unsigned)(call->kind << 3 | call->sure << 1 | site));

    if (rc == TROD_OK)
        rc = trod_pack(out, call->pc);
    if (rc == TROD_OK && site)
        rc = trod_pack(out, zigzag(call->site_row, call->row));
    return rc < 0 || !site ? rc : trod_pack(out, zigzag(call->site_pc, call->pc));
}

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
    call->site_row = unzigzag(at, row);
    call->site_pc = unzigzag(pc, call->pc);
    return true;
}

static int event(struct nav_calls *c, unsigned what, uint64_t row, uint32_t stream)
{
    int rc;

    if (!c->log)
        return TROD_OK;
    rc = trod_pack(&c->events, WHATS * zigzag(row, c->before) + what);
    c->before = row;
    c->n_events++;
    return rc < 0 ? rc : trod_pack(&c->events, stream);
}

/* All stacks as they are. */
static int put_stacks(const struct nav_calls *c, struct trod_buf *out)
{
    int rc = trod_pack(out, c->n);

    for (size_t i = 0; rc == TROD_OK && i < c->n; i++) {
        const struct stack *s = c->stack[i];
        const uint64_t v[] = {s->stream, s->context, s->runs, s->n};
        uint64_t before = 0;

        for (unsigned k = 0; rc == TROD_OK && k < sizeof v / sizeof *v; k++)
            rc = trod_pack(out, v[k]);
        for (uint32_t k = 0; rc == TROD_OK && k < s->n; k++) {
            rc = trod_pack(out, zigzag(s->call[k].row, before));
            before = s->call[k].row;
            if (rc == TROD_OK)
                rc = put_call(&s->call[k], out);
        }
    }
    return rc;
}

/* ---- what the call stack tells */

/* Events of streams that are over come behind their rows: they count where the next rows begin. */
static uint64_t place(const struct nav_calls *c, uint64_t row)
{
    return row < c->row ? c->row : row;
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct nav_calls *c = ctx;
    const struct trod_nav_call call = {
        .row = place(c, f->entry.row),
        .pc = f->entry.pc,
        .site_row = f->site.pc == TROD_NOWHERE ? TROD_NOWHERE : f->site.row,
        .site_pc = f->site.pc,
        .kind = f->kind,
        .sure = f->sure,
    };
    struct stack *s = stack_of(c, f->stream, f->context);
    int rc = s ? push(s, &call) : TROD_ERR_NOMEM;

    if (rc == TROD_OK && !s->runs) {
        runs(c, s);
        if ((rc = event(c, SWITCH, call.row, f->stream)) == TROD_OK && c->log)
            rc = trod_pack(&c->events, f->context);
    }
    if (rc == TROD_OK)
        rc = event(c, ENTER, call.row, f->stream);
    return rc < 0 || !c->log ? rc : put_call(&call, &c->events);
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct nav_calls *c = ctx;
    struct stack *s = stack_of(c, f->stream, f->context);

    if (!s)
        return TROD_ERR_NOMEM;
    if (!s->runs) { /* the end of a stream: what is parked ends as well */
        int rc = event(c, SWITCH, place(c, end->next.row), f->stream);

        runs(c, s);
        if (rc == TROD_OK && c->log)
            rc = trod_pack(&c->events, f->context);
        if (rc < 0)
            return rc;
    }
    s->n -= s->n > 0;
    return event(c, LEAVE, place(c, end->next.row), f->stream);
}

/* Rows of another context than before: a kernel switched tasks. */
static int rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct trod_frame *f)
{
    struct nav_calls *c = ctx;
    int rc;

    (void)b;
    (void)to;
    if (!f || (c->last && c->last->stream == f->stream && c->last->context == f->context &&
               c->last->runs))
        return TROD_OK;
    c->last = stack_of(c, f->stream, f->context);
    if (!c->last)
        return TROD_ERR_NOMEM;
    if (c->last->runs)
        return TROD_OK;
    runs(c, c->last);
    rc = event(c, SWITCH, c->row + (from - c->first), f->stream);
    return rc < 0 || !c->log ? rc : trod_pack(&c->events, f->context);
}

int nav_calls_new(struct nav_calls **out, bool log)
{
    struct nav_calls *c = calloc(1, sizeof *c);
    const struct trod_callstack_sink sink = {
        .ctx = c, .enter = enter, .leave = leave, .rows = rows};
    int rc;

    *out = NULL;
    if (!c)
        return TROD_ERR_NOMEM;
    c->log = log;
    rc = trod_callstack_new(&c->calls, &sink, NULL, false);
    if (rc == TROD_OK && log)
        rc = put_stacks(c, &c->begin);
    if (rc < 0)
        nav_calls_free(c);
    else
        *out = c;
    return rc;
}

void nav_calls_free(struct nav_calls *c)
{
    if (!c)
        return;
    trod_callstack_free(c->calls);
    for (size_t i = 0; i < c->n; i++) {
        free(c->stack[i]->call);
        free(c->stack[i]);
    }
    free(c->stack);
    trod_buf_fini(&c->begin);
    trod_buf_fini(&c->events);
    free(c);
}

int nav_calls_feed(struct nav_calls *c, const struct trod_batch *b, uint32_t i, uint32_t n,
                   uint64_t row)
{
    c->row = row;
    c->first = i;
    return trod_callstack_feed(c->calls, b, i, i + n);
}

size_t nav_calls_events(const struct nav_calls *c)
{
    return c->n_events;
}

int nav_calls_save(struct nav_calls *c, struct trod_buf *out)
{
    int rc = c->begin.n ? trod_buf_add(out, c->begin.p, c->begin.n) : TROD_OK;

    if (rc == TROD_OK && c->events.n)
        rc = trod_buf_add(out, c->events.p, c->events.n);
    c->begin.n = c->events.n = c->n_events = 0;
    c->before = 0;
    return rc < 0 ? rc : put_stacks(c, &c->begin);
}

/* ---- looked up */

static int give(const struct stack *s, struct trod_buf *out)
{
    return s->n ? trod_buf_add(out, s->call, s->n * sizeof *s->call) : TROD_OK;
}

int nav_calls_stack(const struct nav_calls *c, uint32_t stream, struct trod_buf *out)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->stack[i]->stream == stream && c->stack[i]->runs)
            return give(c->stack[i], out);
    return TROD_OK;
}

static int get_stacks(struct nav_calls *c, struct trod_span *in)
{
    uint64_t n, v[4];

    if (trod_unpack(in, &n) < 0)
        return TROD_ERR_CORRUPT;
    while (n--) {
        struct stack *s;
        uint64_t row = 0, d;
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
            struct trod_nav_call call;

            if (trod_unpack(in, &d) < 0 || !get_call(in, row = unzigzag(d, row), &call))
                return TROD_ERR_CORRUPT;
            rc = push(s, &call);
        }
        if (rc < 0)
            return rc;
    }
    return TROD_OK;
}

/* Only what happens to STREAM is of interest, up to ROW. */
static int get_events(struct nav_calls *c, struct trod_span *in, uint64_t row, uint32_t stream)
{
    struct stack *now = NULL;
    uint64_t at = 0, v, who, context;
    int rc = TROD_OK;

    for (size_t i = 0; i < c->n; i++)
        if (c->stack[i]->stream == stream && c->stack[i]->runs)
            now = c->stack[i];
    while (rc == TROD_OK && in->n) {
        struct trod_nav_call call = {0};

        if (trod_unpack(in, &v) < 0 || trod_unpack(in, &who) < 0)
            return TROD_ERR_CORRUPT;
        at = unzigzag(v / WHATS, at);
        if (v % WHATS == ENTER && !get_call(in, at, &call))
            return TROD_ERR_CORRUPT;
        if (v % WHATS == SWITCH && (trod_unpack(in, &context) < 0 || context > UINT32_MAX))
            return TROD_ERR_CORRUPT;
        if (who != stream || at > row)
            continue;
        if (!now || v % WHATS == SWITCH) {
            now = stack_of(c, stream, v % WHATS == SWITCH ? (uint32_t)context : 0);
            if (!now)
                return TROD_ERR_NOMEM;
            runs(c, now);
        }
        if (v % WHATS == ENTER)
            rc = push(now, &call);
        else if (v % WHATS == LEAVE)
            now->n -= now->n > 0;
    }
    return rc;
}

int nav_calls_load(struct trod_span in, uint64_t row, uint32_t stream, struct trod_buf *out)
{
    struct nav_calls c = {0};
    int rc = get_stacks(&c, &in);

    if (rc == TROD_OK)
        rc = get_events(&c, &in, row, stream);
    if (rc == TROD_OK)
        rc = nav_calls_stack(&c, stream, out);
    for (size_t i = 0; i < c.n; i++) {
        free(c.stack[i]->call);
        free(c.stack[i]);
    }
    free(c.stack);
    return rc;
}
