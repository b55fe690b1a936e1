/*
 * rows_amber.c - rows of PowerPC programs for TT6 and TT6E.
 *
 * Implements docs/recording.md, "Thread synchronization".
 */
#include "record/rows.h"

/*
 * A synchronization record, before an instruction at PC.
 */
void rec_rows_sync(struct rec_rows *r, struct rec_stream *st, uint64_t pc)
{
    struct trod_batch *b = r->b;
    uint32_t i;
    const uint32_t code = (uint32_t)st->sync[0];
    const uint64_t point = st->sync[1];

    st->sync[0] = 0;
    if (r->control.phase != REC_RECORDING || !r->amber || b->n + 1 >= ROWS)
        return;
    rec_rows_leads(r, st, pc);
    i = b->n++;
    b->has[i] = ROW_COMMON | TROD_COL_ADDR | TROD_COL_VALUE | TROD_COL_SUB;
    b->kind[i] = TROD_SYNC;
    b->flags[i] = 0;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = point & UINT32_MAX;
    b->value[i] = point >> 32;
    b->sub[i] = (uint16_t)code;
}
