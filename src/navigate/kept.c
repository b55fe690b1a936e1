/*
 * kept.c - rows that scans have decoded stay for those after them. Implements nav.h.
 *
 * With an index a question is a scan over some steps, and questions come back to the same ones: a
 * chain looks for a writer, reads its instruction and the values before it, counts the lines to it.
 */
#include "navigate/index.h"

#include "trace/batch_own.h"
#include "trace/mark.h"
#include "trace/trace_impl.h"

enum {
    NEAR = 1 << 13, /* rows before those that a scan is about which are worth keeping */
    A_SCAN = 4,     /* batches of a scan that are kept: one over many blocks leaves the others */
    ONE = 32        /* scans that one question may take, after which a program ends: none is kept */
};

struct trod_batch *nav_kept_find(struct trod_nav *nav, uint64_t row)
{
    for (unsigned k = 0; k < NAV_KEPT; k++) {
        struct nav_kept *e = &nav->keep.at[k];

        if (e->b && row >= e->b->first && row - e->b->first < e->b->n) {
            e->used = ++nav->keep.clock;
            return e->b;
        }
    }
    return NULL;
}

/* The place of those rows that were of use longest ago. */
static struct nav_kept *oldest(struct nav_keep *keep)
{
    struct nav_kept *to = NULL;

    for (unsigned k = 0; k < NAV_KEPT; k++) {
        struct nav_kept *e = &keep->at[k];

        if ((!e->b || e->b != keep->held) && (!to || e->used < to->used))
            to = e;
    }
    return to;
}

void nav_kept_put(struct trod_nav *nav, struct trod_trace *t, struct trod_batch *b, uint64_t row,
                  uint64_t from, bool last, unsigned *n)
{
    struct nav_kept *to = oldest(&nav->keep);
    const uint64_t end = trod_trace_position(t), begin = b->offset;
    const size_t bytes =
        end >= begin && end - begin <= b->bytes_n ? (size_t)(end - begin) : b->bytes_n;
    const bool wanted = nav->keep.scans > ONE || (nav->keep.row && row + b->n > from);

    if (!nav->index || !wanted || *n == A_SCAN || row + b->n + NEAR <= from || b->n == 0 ||
        nav_kept_find(nav, row) || nav_kept_find(nav, row + b->n - 1))
        return;
    if (last && !to->b) /* the trace needs no other one */
        (void)trod_trace_last_batch(t);
    else if (trod_trace_take(t, to->b) < 0)
        return;
    ++*n;
    to->b = b;
    to->used = ++nav->keep.clock;
    to->window.n = 0;
    b->first = row;
    b->meta = NULL;
    b->bytes_n = bytes;
    if (trod_buf_add(&to->window, b->bytes, bytes) < 0 || !trod_batch_own_window(b, to->window.p))
        trod_batch_clear(b);
}

void nav_kept_forget(struct nav_keep *keep)
{
    for (unsigned k = 0; k < NAV_KEPT; k++)
        if (keep->at[k].b)
            trod_batch_clear(keep->at[k].b);
    keep->held = NULL;
}

void nav_kept_fini(struct nav_keep *keep)
{
    for (unsigned k = 0; k < NAV_KEPT; k++) {
        trod_batch_free(keep->at[k].b);
        trod_buf_fini(&keep->at[k].window);
    }
    trod_batch_free(keep->spare);
}
