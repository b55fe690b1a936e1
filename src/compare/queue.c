/*
 * queue.c - queues of rows, and the rows before a difference.
 *
 * Implements the cmp_queue functions of lane.h.
 */
#include "compare/lane.h"

#include <stdlib.h>
#include <string.h>

struct cmp_row *cmp_queue_push(struct cmp_queue *q)
{
    if (q->head + q->n == q->cap && q->head > q->n) {
        memmove(q->row, q->row + q->head, q->n * sizeof *q->row);
        q->head = 0;
    }
    if (q->head + q->n == q->cap) {
        size_t cap = q->cap ? 2 * q->cap : 16;
        struct cmp_row *row = realloc(q->row, cap * sizeof *row);

        if (!row)
            return NULL;
        q->row = row;
        q->cap = cap;
    }
    return &q->row[q->head + q->n++];
}

void cmp_queue_drop(struct cmp_queue *q, size_t n)
{
    q->head += n;
    q->n -= n;
    if (q->n == 0)
        q->head = 0;
}

void cmp_queue_fini(struct cmp_queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        cmp_row_fini(cmp_queue_at(q, i));
    free(q->row);
    *q = (struct cmp_queue){0};
}

void cmp_lane_remember(struct cmp_lane *l, int side, const struct cmp_row *row)
{
    struct cmp_queue *q = &l->context[side];
    struct cmp_row *to;

    if (q->n == CMP_CONTEXT) {
        cmp_row_fini(cmp_queue_at(q, 0));
        cmp_queue_drop(q, 1);
    }
    to = cmp_queue_push(q);
    if (to)
        *to = *row;
}

void cmp_lane_fini(struct cmp_lane *l)
{
    for (int side = 0; side < 2; side++) {
        cmp_queue_fini(&l->queue[side]);
        cmp_queue_fini(&l->pending[side]);
        cmp_queue_fini(&l->context[side]);
    }
}
