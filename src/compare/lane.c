/*
 * lane.c - taking rows off a lane.
 */
#include "compare/lane.h"

void cmp_lane_remember(struct cmp_lane *l, struct cmp_pool *pool, int side, struct cmp_row *row)
{
    struct cmp_row **slot = &l->past[side][l->n_past[side]++ % CMP_PAST];

    cmp_row_drop(pool, *slot);
    *slot = cmp_row_keep(row);
}

struct cmp_row *cmp_lane_shift(struct cmp_lane *l, struct cmp_pool *pool, int side)
{
    struct cmp_row *row = cmp_queue_pop(&l->queue[side]);

    if (row->pub.has & TROD_COL_TIME) {
        cmp_row_drop(pool, l->timed[side]);
        l->timed[side] = cmp_row_keep(row);
    }
    l->spent -= l->spent < CMP_PAID ? l->spent : CMP_PAID;
    cmp_lane_remember(l, pool, side, row);
    return row;
}

void cmp_lane_fini(struct cmp_lane *l, struct cmp_pool *pool)
{
    for (int side = 0; side < 2; side++) {
        cmp_queue_fini(pool, &l->queue[side]);
        cmp_queue_fini(pool, &l->rest_rows[side]);
        cmp_bag_fini(pool, &l->waiting[side]);
        cmp_row_drop(pool, l->timed[side]);
        for (size_t i = 0; i < CMP_PAST; i++)
            cmp_row_drop(pool, l->past[side][i]);
    }
}
