/*
 * blocks.c - Trace Matcher's way: block against block, wherever that leads.
 *
 * Implements cmp_match_blocks of match.h after Trace Matcher, "Comparing traces" (-w): blocks of
 * the window's size; equal records match whatever their order in the block; what is left over
 * differs in pairs.
 */
#include "compare/match.h"

#include <stdlib.h>

/* Number of the block of the window's size that row I of SIDE's queue lies in. */
static uint64_t block_of(const struct cmp_lane *l, const struct cmp_match *m, int side, size_t i)
{
    const struct cmp_row *r = cmp_queue_at(&l->queue[side], i);

    return trod_time_ticks(r->pub.time, cmp_unit(m->rules, side, r), m->rules->tick) / m->window;
}

/* Rows at the head of SIDE's queue up to the end of block BLOCK; SIZE_MAX: not known yet. */
static size_t block_rows(const struct cmp_lane *l, const struct cmp_match *m, int side, bool ended,
                         uint64_t block)
{
    const struct cmp_queue *q = &l->queue[side];
    size_t n = 0;

    if (m->rules->opt->window_unit == TROD_WINDOW_ROWS)
        return q->n >= m->window ? (size_t)m->window : ended ? q->n : SIZE_MAX;
    while (n < q->n && n < m->lookahead && block_of(l, m, side, n) <= block)
        n++;
    return n < q->n || ended || n >= m->lookahead ? n : SIZE_MAX;
}

static size_t next_open(const bool *done, size_t i, size_t n)
{
    while (i < n && done[i])
        i++;
    return i;
}

/* What is left over: the n-th of one side against the n-th of the other. */
static void report_left(struct cmp_lane *l, struct cmp_match *m, size_t na, const bool *done_a,
                        size_t nb, const bool *done_b)
{
    size_t i = next_open(done_a, 0, na), j = next_open(done_b, 0, nb);

    while ((i < na || j < nb) && !m->stop) {
        struct cmp_diff *d = cmp_diff_begin(m, i == na   ? TROD_DIFF_INSERTED
                                               : j == nb ? TROD_DIFF_MISSING
                                                         : TROD_DIFF_CHANGED);

        if (i < na)
            cmp_diff_add(m, d, 0, cmp_queue_at(&l->queue[0], i));
        if (j < nb)
            cmp_diff_add(m, d, 1, cmp_queue_at(&l->queue[1], j));
        if (i < na && j < nb)
            d->fields = cmp_row_differs(d->row[0][0], d->row[1][0], m->rules);
        cmp_diff_context(l, d, NULL);
        cmp_diff_end(l, m, d);
        i = next_open(done_a, i < na ? i + 1 : i, na);
        j = next_open(done_b, j < nb ? j + 1 : j, nb);
    }
}

static int settle_block(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    const size_t n[2] = {na, nb};
    bool *done = calloc(na + nb + 1, sizeof *done);
    int64_t pairs;

    if (!done)
        return TROD_ERR_NOMEM;
    pairs = cmp_pair_rows(l, m, na, done, nb, done + na);
    if (pairs < 0) {
        free(done);
        return TROD_ERR_NOMEM;
    }
    m->sum->equal[0] += (uint64_t)pairs;
    m->sum->equal[1] += (uint64_t)pairs;
    report_left(l, m, na, done, nb, done + na);
    free(done);
    /* A run that is stopped leaves what was not told where it is. */
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < n[side]; i++)
            cmp_row_drop(m->pool, cmp_lane_shift(l, m->pool, side));
    return TROD_OK;
}

int cmp_match_blocks(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    while (l->queue[0].n && l->queue[1].n && !m->stop) {
        const uint64_t a = block_of(l, m, 0, 0);
        const uint64_t b = block_of(l, m, 1, 0);
        size_t n[2];
        int rc;

        for (int side = 0; side < 2; side++) {
            n[side] = block_rows(l, m, side, ended[side], a < b ? a : b);
            if (n[side] == SIZE_MAX) {
                *want = m->rules->opt->window_unit == TROD_WINDOW_ROWS ? (size_t)m->window
                                                                       : l->queue[side].n + 64;
                return CMP_MORE;
            }
        }
        if ((rc = settle_block(l, m, n[0], n[1])) < 0)
            return rc;
    }
    return CMP_EMPTY;
}
