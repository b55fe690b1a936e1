/*
 * calls_all.c - calls folded all over the trace: those at a depth, those of a function. Implements
 * browse_fold_deep and browse_fold_function of calls.h.
 *
 * An index tells all calls; without one they are followed over all rows.
 */
#include "browse/calls.h"
#include "browse/find.h"
#include "browse/folds.h"
#include "browse/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

struct all {
    struct browse *b;
    bool by_function; /* else by depth */
    uint64_t function;
    uint32_t depth; /* of what is folded */
    uint64_t rows;  /* of the trace: what is open at its end goes on to the last one */
    struct browse_fold *fold;
    size_t n, cap;
    struct trod_callstack *stack; /* without an index */
};

/* Is F folded? It has been called: what runs from the beginning on has no line to stand in. */
static bool wanted(const struct all *w, const struct trod_frame *f)
{
    if (f->kind == TROD_FRAME_ROOT || f->site.pc == TROD_NOWHERE)
        return false;
    if (w->b->only >= 0 && f->stream != (uint64_t)w->b->only)
        return false;
    return w->by_function ? f->function == w->function : f->depth == w->depth;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct all *w = ctx;
    struct browse_fold *more, *to;
    char room[TROD_FUNCTION_NAME];
    uint64_t last = end->next.row ? end->next.row - 1 : 0;

    if (!wanted(w, f))
        return 0;
    if (end->how == TROD_FRAME_OPEN)
        last = w->rows ? w->rows - 1 : 0;
    if (last < f->entry.row)
        return 0;
    if (w->n == MOST)
        return TROD_ERR_LIMIT;
    if (!(more = browse_grow(w->fold, w->n, &w->cap, sizeof *more)))
        return TROD_ERR_NOMEM;
    w->fold = more;
    to = &w->fold[w->n++];
    *to = (struct browse_fold){.stream = f->stream,
                               .first = f->entry.row,
                               .last = last,
                               .instructions = end->next.instruction - f->entry.instruction};
    snprintf(to->name, sizeof to->name, "%s",
             trod_function_name(w->b->opt.symbols, f->function, room));
    return 0;
}

static int feed(void *user, const struct trod_batch *batch, uint32_t i, uint32_t n, uint64_t row)
{
    struct all *w = user;
    const int rc = trod_callstack_feed(w->stack, batch, i, i + n);

    (void)row;
    return rc < 0 ? rc : 1;
}

static int follow(struct all *w, const struct trod_callstack_sink *sink)
{
    int rc = trod_callstack_new(&w->stack, sink, NULL, true);

    if (rc == 0)
        rc = browse_read(w->b, 0, TROD_NOWHERE, TROD_CALLSTACK_COLUMNS, feed, w);
    if (rc == 0)
        rc = trod_callstack_end(w->stack);
    trod_callstack_free(w->stack);
    return rc;
}

/* 1, 0: there is none (not reported), or an error. */
static int fold(struct all *w)
{
    const struct trod_callstack_sink sink = {.ctx = w, .leave = leave};
    struct trod_callstack_counts counts;
    struct browse *b = w->b;
    int rc = trod_nav_count(b->nav, &w->rows);

    if (rc == 0)
        rc = trod_nav_index(b->nav) ? trod_nav_callstack(b->nav, &sink, &counts) : TROD_ERR_UNKNOWN;
    if (rc == TROD_ERR_UNKNOWN)
        rc = follow(w, &sink);
    if (rc == 0 && !w->by_function) /* what is deeper or not so deep is seen */
        browse_unfold_all(b);
    if (rc == 0 && w->n)
        rc = browse_folds_merge(&b->folds, w->fold, w->n);
    if (rc == TROD_ERR_LIMIT) {
        browse_say(b, "too many calls: more than %u", MOST);
        rc = 1;
    } else if (rc == 0 && w->n) {
        browse_say(b, "%zu call%s folded", w->n, w->n == 1 ? "" : "s");
        rc = browse_near(b, b->cursor, &b->cursor);
        rc = rc < 0 ? rc : 1;
    }
    free(w->fold);
    return rc;
}

int browse_fold_deep(struct browse *b, uint32_t depth)
{
    struct all w = {.b = b, .depth = depth + 1};
    int rc = b->rows ? fold(&w) : 0;

    if (rc == 0)
        browse_say(b, "no call is made at depth %u", depth);
    return rc;
}

int browse_fold_function(struct browse *b, uint64_t pc)
{
    struct all w = {.b = b, .by_function = true, .function = pc};
    char room[TROD_FUNCTION_NAME];
    int rc = b->rows ? fold(&w) : 0;

    if (rc == 0)
        browse_say(b, "no call of %s is in the trace",
                   trod_function_name(b->opt.symbols, pc, room));
    return rc;
}

int browse_function(struct browse *b, uint64_t *pc)
{
    struct trod_nav_call *call = NULL;
    const struct trod_batch *batch;
    const struct browse_fold *f;
    size_t n = 0;
    uint32_t i;
    int rc = b->rows ? browse_row(b, b->cursor, &batch, &i) : 0;

    if (rc <= 0)
        return rc;
    f = browse_folds_find(&b->folds, trod_batch_stream(batch, i), b->cursor);
    rc = trod_nav_calls(b->nav, f ? f->first : b->cursor, TROD_NAV_ROW_STREAM, &call, &n);
    if (rc == 0 && n)
        *pc = call[n - 1].pc;
    free(call);
    return rc < 0 ? rc : n > 0;
}
