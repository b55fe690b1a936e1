/*
 * calls.c - the calls around the cursor: from the index, else followed over the rows. Implements
 * calls.h.
 */
#include "browse/calls.h"
#include "browse/find.h"
#include "browse/folds.h"
#include "browse/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 1 << 20, FIRST = 1 << 14, GROW = 16 };

/* An activation that was seen to begin; its number is its place in the list, from 1. */
struct call {
    uint64_t parent; /* 0: none that was seen */
    uint64_t entry, site, last, instructions;
    uint64_t function;
    bool open;
};

struct following {
    struct browse *b;
    struct trod_callstack *stack;
    struct call *call;
    size_t n, cap;
    uint64_t cursor;
    uint32_t stream;
    uint64_t wanted; /* call that the cursor is in, or that it makes; 0: not known so far */
    uint64_t within; /* the same, of the cursor only */
    bool making;     /* the call that the cursor makes is meant, if it makes one */
    bool passed;     /* the rows up to the cursor have been fed */
    bool ended;      /* the call that is wanted has ended */
};

static int enter(void *ctx, struct trod_frame *f)
{
    struct following *w = ctx;
    struct call *more;

    if (f->stream != w->stream)
        return 0;
    if (w->n == CALLS)
        return TROD_ERR_LIMIT;
    if (!(more = browse_grow(w->call, w->n, &w->cap, sizeof *more)))
        return TROD_ERR_NOMEM;
    w->call = more;
    w->call[w->n++] = (struct call){.parent = f->depth ? f[-1].user : 0,
                                    .entry = f->entry.row,
                                    .site = f->site.pc == TROD_NOWHERE ? TROD_NOWHERE : f->site.row,
                                    .last = TROD_NOWHERE,
                                    .instructions = f->entry.instruction,
                                    .function = f->function,
                                    .open = true};
    f->user = w->n;
    if (w->making && w->passed && !w->wanted && f->kind != TROD_FRAME_ROOT &&
        w->call[w->n - 1].site == w->cursor)
        w->wanted = w->n;
    return 0;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct following *w = ctx;
    struct call *c;

    if (f->stream != w->stream || !f->user)
        return 0;
    c = &w->call[f->user - 1];
    c->open = end->how == TROD_FRAME_OPEN;
    c->last = end->next.row ? end->next.row - 1 : 0;
    c->instructions = end->last.instruction - c->instructions + 1;
    if (w->passed && f->user == w->wanted)
        w->ended = true;
    return 0;
}

/* The call that the cursor is in. */
static void note_within(struct following *w)
{
    uint32_t n;
    const struct trod_frame *f = trod_callstack_frames(w->stack, w->stream, &n);

    w->within = f && n ? f[n - 1].user : 0;
}

/* Rows up to the cursor, then on until the call that is wanted has ended. */
static int feed(void *user, const struct trod_batch *batch, uint32_t i, uint32_t n, uint64_t row)
{
    struct following *w = user;
    uint32_t to = i + n;
    int rc = 0;

    if (!w->passed && row + n > w->cursor) {
        to = i + (uint32_t)(w->cursor - row) + 1;
        rc = trod_callstack_feed(w->stack, batch, i, to);
        note_within(w);
        w->passed = true;
        if (!w->making)
            w->wanted = w->within;
        i = to;
        to = (uint32_t)(i + (n - (w->cursor - row) - 1));
    }
    if (rc == 0 && i < to)
        rc = trod_callstack_feed(w->stack, batch, i, to);
    return rc < 0 ? rc : !w->ended;
}

static void finish(struct following *w)
{
    trod_callstack_free(w->stack);
    free(w->call);
    memset(w, 0, sizeof *w);
}

/* Follow calls from row FROM on, up to the cursor, or to row END. */
static int follow(struct following *w, struct browse *b, uint64_t from, uint64_t end, bool making)
{
    const struct trod_callstack_sink sink = {.ctx = w, .enter = enter, .leave = leave};
    const struct trod_batch *batch;
    uint32_t i;
    int rc = browse_row(b, b->cursor, &batch, &i);

    memset(w, 0, sizeof *w);
    if (rc <= 0)
        return rc;
    w->b = b;
    w->cursor = b->cursor;
    w->stream = trod_batch_stream(batch, i);
    w->making = making;
    rc = trod_callstack_new(&w->stack, &sink, NULL, true);
    if (rc == 0)
        rc = browse_read(b, from, end, TROD_CALLSTACK_COLUMNS, feed, w);
    if (rc == 0 && !w->ended)
        rc = trod_callstack_end(w->stack);
    return rc;
}

/* Was the call that is wanted seen to begin, as a call? */
static bool known(const struct following *w)
{
    return w->wanted && w->wanted <= w->n && w->call[w->wanted - 1].site != TROD_NOWHERE;
}

static int add(struct browse *b, uint32_t stream, const struct call *c)
{
    struct browse_fold f = {.stream = stream, .first = c->entry, .last = c->last};
    char room[TROD_FUNCTION_NAME];

    if (f.last == TROD_NOWHERE || f.last < f.first)
        return 0;
    f.instructions = c->instructions;
    snprintf(f.name, sizeof f.name, "%s", trod_function_name(b->opt.symbols, c->function, room));
    return browse_folds_add(&b->folds, &f);
}

static int report_limit(struct browse *b, int rc)
{
    if (rc != TROD_ERR_LIMIT)
        return rc;
    browse_say(b, "too many calls: go further in");
    return 0;
}

/* ---- by rows */

/* What is open at the end of the trace goes to its last row. */
static int add_seen(struct browse *b, uint32_t stream, struct call *c)
{
    uint64_t rows;

    if (c->open && trod_nav_count(b->nav, &rows) == 0 && rows)
        c->last = rows - 1;
    return add(b, stream, c);
}

static int fold_by_rows(struct browse *b)
{
    struct following w;
    int rc = follow(&w, b, b->cursor, b->cursor + FIRST, true);

    if (rc == 0 && w.wanted && !w.ended) {
        finish(&w);
        rc = follow(&w, b, b->cursor, TROD_NOWHERE, true);
    }
    if (rc == 0 && !w.wanted) {
        finish(&w);
        rc = follow(&w, b, 0, TROD_NOWHERE, false);
    }
    if (rc == 0 && known(&w))
        rc = add_seen(b, w.stream, &w.call[w.wanted - 1]) < 0 ? TROD_ERR_NOMEM : 1;
    finish(&w);
    return rc;
}

static int fold_callees_by_rows(struct browse *b, size_t *n)
{
    struct following w;
    int rc = follow(&w, b, 0, TROD_NOWHERE, false);

    for (size_t i = 0; rc == 0 && w.wanted && i < w.n; i++)
        if (w.call[i].parent == w.wanted && w.call[i].site != TROD_NOWHERE) {
            rc = add_seen(b, w.stream, &w.call[i]);
            ++*n;
        }
    finish(&w);
    return rc;
}

/* ---- by the index */

struct events {
    struct browse *b;
    uint32_t stream;
    struct trod_nav_call outer; /* the one that is looked at; pc NOWHERE: not found so far */
    uint64_t first;             /* that the cursor makes: the row of the first event after it */
    bool begun;                 /* OUTER has */
    bool callees;               /* those that it makes are folded, else it itself */
    bool unfold;                /* nothing is folded: CALL says where it lies */
    struct call call;           /* the one that is open, that is folded where it ends */
    size_t n;
};

static void begin_call(struct events *w, const struct trod_nav_call_event *e)
{
    w->call = (struct call){.entry = e->call.row,
                            .site = e->call.site_row,
                            .last = TROD_NOWHERE,
                            .instructions = e->instruction,
                            .function = e->call.pc,
                            .open = true};
}

static int end_call(struct events *w, const struct trod_nav_call_event *e)
{
    w->call.last = e->row ? e->row - 1 : 0;
    w->call.instructions = e->instruction - w->call.instructions;
    w->n++;
    return w->unfold ? 0 : add(w->b, w->stream, &w->call);
}

/* What OUTER makes, or it itself, from its first row on. */
static int within(void *user, const struct trod_nav_call_event *e)
{
    struct events *w = user;
    const uint32_t depth = w->outer.depth + w->callees;
    int rc = 0;

    if (!w->begun) {
        w->begun = !e->ends && e->call.row == w->outer.row && e->call.pc == w->outer.pc &&
                   e->call.depth == w->outer.depth;
        if (w->begun && !w->callees)
            begin_call(w, e);
        return 1;
    }
    if (e->call.depth == depth && e->ends)
        rc = end_call(w, e);
    else if (e->call.depth == depth)
        begin_call(w, e);
    return rc < 0 ? rc : !e->ends || e->call.depth != w->outer.depth;
}

/* What the instruction at the cursor makes: it begins with the first thing that happens after. */
static int made(void *user, const struct trod_nav_call_event *e)
{
    struct events *w = user;

    if (w->begun)
        return within(w, e);
    if (e->row <= w->b->cursor)
        return 1;
    if (w->first == TROD_NOWHERE)
        w->first = e->row;
    if (e->row != w->first)
        return 0;
    if (!e->ends && e->call.kind != TROD_FRAME_ROOT && e->call.site_row == w->b->cursor) {
        w->outer = e->call;
        w->begun = true;
        begin_call(w, e);
    }
    return 1;
}

/* The innermost call at the cursor into W. 1, 0: none, or an error. */
static int innermost(struct browse *b, struct events *w)
{
    struct trod_nav_call *call = NULL;
    size_t n = 0;
    int rc = trod_nav_calls(b->nav, b->cursor, TROD_NAV_ROW_STREAM, &call, &n);

    if (rc == 0 && n)
        w->outer = call[n - 1];
    free(call);
    return rc < 0 ? rc : n > 0;
}

static int begin_events(struct events *w, struct browse *b)
{
    const struct trod_batch *batch;
    uint32_t i;
    int rc = browse_row(b, b->cursor, &batch, &i);

    *w = (struct events){.b = b, .first = TROD_NOWHERE};
    if (rc > 0)
        w->stream = trod_batch_stream(batch, i);
    return rc;
}

static int fold_by_index(struct browse *b)
{
    struct events w;
    int rc = begin_events(&w, b);

    if (rc > 0)
        rc = trod_nav_call_events(b->nav, b->cursor, made, &w);
    if (rc == 0 && !w.n) {
        rc = innermost(b, &w);
        if (rc > 0 && w.outer.site_row == TROD_NOWHERE)
            rc = 0;
        if (rc > 0)
            rc = trod_nav_call_events(b->nav, w.outer.row, within, &w);
    }
    return rc < 0 ? rc : w.n > 0;
}

static int fold_callees_by_index(struct browse *b, size_t *n)
{
    struct events w;
    int rc = begin_events(&w, b);

    w.callees = true;
    if (rc > 0)
        rc = innermost(b, &w);
    if (rc > 0)
        rc = trod_nav_call_events(b->nav, w.outer.row, within, &w);
    *n = w.n;
    return rc < 0 ? rc : 0;
}

/* Where the innermost call at the cursor lies: its first and last row into C, its stream. */
static int extent_by_index(struct browse *b, struct call *c, uint32_t *stream)
{
    struct events w;
    int rc = begin_events(&w, b);

    w.unfold = true;
    if (rc > 0)
        rc = innermost(b, &w);
    if (rc > 0) {
        rc = trod_nav_call_events(b->nav, w.outer.row, within, &w);
        *c = w.call;
        c->entry = w.outer.row;
        c->last = w.n ? w.call.last : TROD_NOWHERE;
        *stream = w.stream;
        return rc < 0 ? rc : 1;
    }
    return rc;
}

static int extent_by_rows(struct browse *b, struct call *c, uint32_t *stream)
{
    struct following w;
    int rc = follow(&w, b, 0, TROD_NOWHERE, false);
    const bool is = rc == 0 && w.wanted && w.wanted <= w.n;

    if (is) {
        *c = w.call[w.wanted - 1];
        c->last = c->open ? TROD_NOWHERE : c->last;
        *stream = w.stream;
    }
    finish(&w);
    return rc < 0 ? rc : is;
}

/* ---- either */

int browse_unfold_callees(struct browse *b)
{
    uint32_t stream;
    struct call c;
    int rc = trod_nav_index(b->nav) ? extent_by_index(b, &c, &stream) : TROD_ERR_UNKNOWN;

    if (rc == TROD_ERR_UNKNOWN)
        rc = extent_by_rows(b, &c, &stream);
    if (rc > 0)
        browse_folds_clear(&b->folds, stream, c.entry, c.last);
    else if (rc == 0)
        browse_say(b, "the cursor is in no call that the trace shows");
    return report_limit(b, rc);
}

int browse_fold(struct browse *b)
{
    int rc = trod_nav_index(b->nav) ? fold_by_index(b) : TROD_ERR_UNKNOWN;

    if (rc == TROD_ERR_UNKNOWN)
        rc = fold_by_rows(b);
    if (rc > 0 && (rc = browse_near(b, b->cursor, &b->cursor)) >= 0)
        return 1;
    if (rc == 0)
        browse_say(b, "the cursor is in no call that the trace shows");
    return report_limit(b, rc);
}

int browse_fold_callees(struct browse *b)
{
    size_t n = 0;
    int rc = trod_nav_index(b->nav) ? fold_callees_by_index(b, &n) : TROD_ERR_UNKNOWN;

    if (rc == TROD_ERR_UNKNOWN)
        rc = fold_callees_by_rows(b, &n);
    if (rc == 0)
        rc = browse_near(b, b->cursor, &b->cursor);
    if (rc >= 0)
        browse_say(b, "%zu call%s folded", n, n == 1 ? "" : "s");
    return report_limit(b, rc);
}

int browse_unfold(struct browse *b)
{
    const struct trod_batch *batch;
    const struct browse_fold *f;
    uint32_t i;

    if (browse_row(b, b->cursor, &batch, &i) <= 0)
        return 0;
    f = browse_folds_find(&b->folds, trod_batch_stream(batch, i), b->cursor);
    if (!f) {
        browse_say(b, "nothing is folded here");
        return 0;
    }
    browse_folds_remove(&b->folds, f);
    return 1;
}

void browse_unfold_all(struct browse *b)
{
    browse_folds_fini(b);
}

int browse_stack(struct browse *b, struct browse_frame **out, size_t *n)
{
    struct trod_nav_call *call = NULL;
    int rc = b->rows ? trod_nav_calls(b->nav, b->cursor, TROD_NAV_ROW_STREAM, &call, n) : 0;

    *out = NULL;
    if (rc < 0 || b->rows == 0)
        *n = 0;
    else if (!(*out = calloc(*n + 1, sizeof **out)))
        rc = TROD_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < *n; i++) {
        const struct trod_nav_call *from = &call[*n - 1 - i];
        struct browse_frame *to = &(*out)[i];
        char room[TROD_FUNCTION_NAME];

        snprintf(to->name, sizeof to->name, "%s",
                 trod_function_name(b->opt.symbols, from->pc, room));
        to->site = from->site_row;
        to->pc = from->site_pc;
        to->entry = from->row;
    }
    free(call);
    return rc;
}
