/*
 * rows_amber.c - rows of PowerPC programs for TT6 and TT6E.
 *
 * Implements docs/recording.md, "PowerPC" and "Thread synchronization".
 */
#include "record/rows.h"

#include <string.h>

enum { TWI = 3, TRAP_PC = 0x700 };

/* What TT6E has behind a twi: b 0x700, rfi. */
static const uint8_t trap_pair[] = {0x48, 0x00, 0x07, 0x02, 0x4c, 0x00, 0x00, 0x64};

void rec_rows_amber_begin(struct rec_rows *r, const struct trod_format *format)
{
    r->amber = rec_amber(format);
    if (r->amber && strcmp(format->name, "tt6e") == 0)
        r->pair = rec_rows_keep(r->shared, trap_pair, sizeof trap_pair);
}

static void put_synthetic(struct rec_rows *r, const struct rec_stream *st, uint64_t at,
                          uint32_t code, uint64_t target)
{
    struct trod_batch *b = r->b;
    const uint32_t i = b->n++;

    b->has[i] =
        ROW_COMMON | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE | TROD_COL_TARGET;
    b->kind[i] = TROD_INSTR;
    b->flags[i] = (uint32_t)TROD_F_SYNTHETIC | TROD_BR_DIRECT;
    b->size[i] = 4;
    b->stream[i] = st->number;
    b->time[i] = st->time;
    b->addr[i] = at;
    b->pc[i] = at;
    b->code[i] = (struct trod_slice){code | (uint32_t)TROD_SLICE_SHARED, 4};
    b->target[i] = target;
}

void rec_rows_trap(struct rec_rows *r, const struct rec_stream *st, uint64_t pc)
{
    if (st->progress < REC_SHOWN || st->last->code[0] >> 2 != TWI || r->b->n + 2 >= ROWS)
        return;
    put_synthetic(r, st, st->last->pc + 4, r->pair, TRAP_PC);
    put_synthetic(r, st, TRAP_PC, r->pair + 4, pc);
}

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
