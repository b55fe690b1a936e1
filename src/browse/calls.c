/*
 * calls.c - the calls around the cursor. Implements calls.h.
 */
#include "browse/calls.h"
#include "browse/find.h"
#include "browse/folds.h"

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
    struct browse_frame *frame;
    size_t n_frames;
    bool whole; /* the stack's outermost function was seen to begin */
};

static int enter(void *ctx, struct trod_frame *f)
{
    struct following *w = ctx;

    if (f->stream != w->stream)
        return 0;
    if (w->n == CALLS)
        return TROD_ERR_LIMIT;
    if (w->n == w->cap) {
        const size_t cap = w->cap ? 2 * w->cap : 256;
        struct call *more = realloc(w->call, cap * sizeof *more);

        if (!more)
            return TROD_ERR_NOMEM;
        w->call = more;
        w->cap = cap;
    }
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

static int keep_frames(struct following *w)
{
    uint32_t n;
    const struct trod_frame *f = trod_callstack_frames(w->stack, w->stream, &n);

    w->within = f && n ? f[n - 1].user : 0;
    free(w->frame);
    w->n_frames = 0;
    w->frame = calloc((size_t)n + 1, sizeof *w->frame);
    if (!w->frame)
        return TROD_ERR_NOMEM;
    w->whole = !f || !n || f[0].kind != TROD_FRAME_ROOT || f[0].entry.row == 0;
    for (uint32_t i = f ? n : 0; i-- > 0;) {
        struct browse_frame *to = &w->frame[w->n_frames++];
        char room[TROD_FUNCTION_NAME];

        snprintf(to->name, sizeof to->name, "%s",
                 trod_function_name(w->b->opt.symbols, f[i].function, room));
        to->site = f[i].site.pc == TROD_NOWHERE ? TROD_NOWHERE : f[i].site.row;
        to->pc = f[i].site.pc;
        to->entry = f[i].entry.row;
    }
    return 0;
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
        if (rc == 0)
            rc = keep_frames(w);
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
    free(w->frame);
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
    rc = trod_callstack_new(&w->stack, &sink, b->opt.symbols, true);
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

/*
 * Follow the call that the cursor is in: from further and further back, until its beginning is
 * seen. Without an index all is read from the beginning anyway.
 */
static int around(struct following *w, struct browse *b)
{
    uint64_t back = trod_nav_index(b->nav) ? FIRST : UINT64_MAX;

    for (;;) {
        const uint64_t from = b->cursor > back ? b->cursor - back : 0;
        int rc;

        rc = follow(w, b, from, b->cursor + 1, false); /* cheap: does it begin behind FROM? */
        if (rc < 0 || (!known(w) && from == 0))
            return rc;
        if (known(w)) {
            finish(w);
            return follow(w, b, from, TROD_NOWHERE, false);
        }
        finish(w);
        back = back < UINT64_MAX / GROW ? back * GROW : UINT64_MAX;
    }
}

static int add(struct browse *b, const struct following *w, const struct call *c)
{
    struct browse_fold f = {.stream = w->stream, .first = c->entry, .last = c->last};
    char room[TROD_FUNCTION_NAME];

    if (f.last == TROD_NOWHERE || f.last < f.first)
        return 0;
    f.instructions = c->instructions;
    snprintf(f.name, sizeof f.name, "%s", trod_function_name(b->opt.symbols, c->function, room));
    return browse_folds_add(&b->folds, &f);
}

static int told(struct browse *b, int rc)
{
    if (rc != TROD_ERR_LIMIT)
        return rc;
    browse_say(b, "too many calls: go further in");
    return 0;
}

int browse_fold(struct browse *b)
{
    struct following w;
    int rc = follow(&w, b, b->cursor, b->cursor + FIRST, true);

    if (rc == 0 && w.wanted && !w.ended) {
        finish(&w);
        rc = follow(&w, b, b->cursor, TROD_NOWHERE, true);
    }
    if (rc == 0 && !w.wanted) {
        finish(&w);
        rc = around(&w, b);
    }
    if (rc == 0 && known(&w)) {
        rc = add(b, &w, &w.call[w.wanted - 1]);
        if (rc == 0)
            rc = browse_near(b, b->cursor, &b->cursor);
        rc = rc < 0 ? rc : 1;
    } else if (rc == 0) {
        browse_say(b, "the cursor is in no call that the trace shows");
    }
    finish(&w);
    return told(b, rc);
}

int browse_fold_callees(struct browse *b)
{
    struct following w;
    size_t n = 0;
    int rc = around(&w, b);

    if (rc == 0 && w.wanted && !known(&w)) { /* where the trace begins: all of it */
        finish(&w);
        rc = follow(&w, b, 0, TROD_NOWHERE, false);
    }
    for (size_t i = 0; rc == 0 && w.wanted && i < w.n; i++)
        if (w.call[i].parent == w.wanted && w.call[i].site != TROD_NOWHERE) {
            rc = add(b, &w, &w.call[i]);
            n++;
        }
    if (rc == 0)
        rc = browse_near(b, b->cursor, &b->cursor);
    if (rc >= 0)
        browse_say(b, "%zu call%s folded", n, n == 1 ? "" : "s");
    finish(&w);
    return told(b, rc);
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
    uint64_t back = trod_nav_index(b->nav) ? 1 << 20 : UINT64_MAX;
    struct following w;
    int rc;

    *out = NULL;
    *n = 0;
    rc = follow(&w, b, b->cursor > back ? b->cursor - back : 0, b->cursor + 1, false);
    if (rc == 0) {
        *out = w.frame;
        *n = w.n_frames;
        w.frame = NULL;
    }
    finish(&w);
    return told(b, rc);
}
