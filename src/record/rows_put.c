/*
 * rows_put.c - the batch that rows are put into: markers, where a branch leads, the way to the
 * writer.
 *
 * Implements the functions of rows.h that say so. It calls nothing that makes rows of events.
 */
#include "record/rows.h"

int rec_rows_flush(struct rec_rows *r)
{
    int rc;

    if (r->kinds != UINT32_MAX)
        rec_rows_choose(r);
    rc = r->b->n ? trod_writer_put(r->writer, r->b) : TROD_OK;
    r->b->first += r->b->n;
    r->b->n = 0;
    r->b->pool_n = 0;
    r->n_states = 0;
    return rc;
}

void rec_rows_marker(struct rec_rows *r, const struct rec_stream *st, unsigned number,
                     uint64_t value)
{
    struct trod_batch *b = r->b;
    uint32_t i = b->n++;

    b->has[i] = ROW_COMMON | TROD_COL_VALUE | TROD_COL_SUB;
    b->kind[i] = TROD_MARKER;
    b->flags[i] = 0;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->sub[i] = (uint16_t)number;
    b->value[i] = value;
}

void rec_rows_leads(struct rec_rows *r, struct rec_stream *st, uint64_t pc)
{
    struct trod_batch *b = r->b;
    const uint32_t i = st->row - 1;

    /* the last of its stream in this batch, if there is one */
    if (st->progress < REC_SHOWN || !st->row || i >= b->n || b->stream[i] != st->number ||
        b->kind[i] != TROD_INSTR || (b->flags[i] & TROD_F_BRANCH) == TROD_BR_NONE)
        return;
    b->has[i] |= TROD_COL_TARGET;
    b->target[i] = pc;
    st->open = false;
    if ((b->flags[i] & TROD_F_BRANCH) != TROD_BR_COND)
        return;
    b->flags[i] &= ~(uint32_t)TROD_F_BRANCH;
    b->flags[i] |= pc == b->pc[i] + b->size[i] ? TROD_BR_COND_UNTAKEN : TROD_BR_COND_TAKEN;
}
