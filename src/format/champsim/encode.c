/*
 * encode.c - writing records of ChampSim from rows.
 *
 * Implements docs/formats/champsim.md, "Writing". The addresses of an instruction stand in the rows
 * behind it, and the direction of a conditional branch in the next instruction: one record waits.
 */
#include "format/champsim/champsim.h"

#include "core/endian.h"
#include "format/streams.h"

#include <string.h>

static bool has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

int chs_begin(struct chs_enc *enc, const struct chs_layout *layout, const struct trod_meta *meta)
{
    enc->layout = layout;
    enc->from = chs_layout_of(meta);
    enc->meta = meta;
    enc->side = chs_side_new(meta);
    return enc->side ? TROD_OK : TROD_ERR_NOMEM;
}

void chs_drop(void *enc)
{
    chs_side_free(((struct chs_enc *)enc)->side);
}

int chs_target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct chs_enc *)enc)->loss = t->loss;
    return TROD_OK;
}

/*
 * A reader gives a branch that is taken the next record of the file as its target, and no target to
 * others. NEXT: the address of that record, if there is one.
 */
static void settle_target(struct chs_enc *enc, const uint64_t *next)
{
    const unsigned branch = chs_branch(enc->layout, enc->record);

    if (!enc->aimed)
        return;
    if (branch == TROD_BR_NONE || branch == TROD_BR_COND_UNTAKEN)
        trod_loss_late(enc->loss, &enc->row, TROD_COL_TARGET,
                       "records of branches that are taken have one");
    else if (!next || *next != enc->target)
        trod_loss_late(enc->loss, &enc->row, TROD_COL_TARGET,
                       "the instruction there does not follow in the output");
}

/* Write the record that waits. NEXT: the address of the instruction behind it, if known. */
static void release(struct chs_enc *enc, const uint64_t *next, struct trod_room *out)
{
    if (!enc->pending)
        return;
    if (enc->asks && next && enc->size)
        enc->record[CHS_AT_TAKEN] = *next != trod_load_le64(enc->record) + enc->size;
    settle_target(enc, next);
    memcpy(out->p, enc->record, enc->layout->record);
    out->p += enc->layout->record;
    enc->pending = false;
}

/* As many of the N registers at FROM as there are places for. */
static void put_registers(struct chs_enc *enc, uint8_t *to, unsigned places, const uint8_t *from,
                          unsigned n)
{
    memcpy(to, from, n < places ? n : places);
    if (n > places)
        enc->cut += n - places;
}

/* A record of the other layout, whose registers are where it has them. */
static void put_other(struct chs_enc *enc, const uint8_t *detail)
{
    const struct chs_layout *from = enc->from, *to = enc->layout;

    enc->record[CHS_AT_BRANCH] = detail[CHS_AT_BRANCH];
    enc->record[CHS_AT_TAKEN] = detail[CHS_AT_TAKEN];
    memcpy(enc->record + CHS_AT_DST, detail + CHS_AT_DST,
           from->n_dst < to->n_dst ? from->n_dst : to->n_dst);
    memcpy(enc->record + to->at_src, detail + from->at_src, CHS_SLOTS);
}

static void put_insn(struct chs_enc *enc, const struct trod_batch *b, uint32_t row)
{
    struct chs_insn insn;

    chs_understand(enc->side, b, row, &insn);
    put_registers(enc, enc->record + CHS_AT_DST, enc->layout->n_dst, insn.dst, insn.n_dst);
    put_registers(enc, enc->record + enc->layout->at_src, CHS_SLOTS, insn.src, insn.n_src);
    enc->record[CHS_AT_BRANCH] = insn.branch != TROD_BR_NONE;
    enc->record[CHS_AT_TAKEN] = insn.branch != TROD_BR_NONE &&
                                insn.branch != TROD_BR_COND_UNTAKEN && insn.branch != TROD_BR_COND;
    enc->asks = insn.branch == TROD_BR_COND;
}

/* The address space of CloudSuite's records: the number of the cpu. */
static void put_space(struct chs_enc *enc, const struct trod_batch *b, uint32_t row)
{
    uint64_t cpu = trod_batch_stream(b, row);

    if (enc->layout->record <= CHS_AT_ASID)
        return;
    if (enc->meta && cpu < enc->meta->n_streams && enc->meta->streams[cpu].cpu != TROD_NOWHERE)
        cpu = enc->meta->streams[cpu].cpu;
    memset(enc->record + CHS_AT_ASID, (int)(cpu & 0xff), 2);
}

/* The instruction ROW waits for its addresses. */
static void take_insn(struct chs_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const struct chs_layout *l = enc->layout;
    const uint8_t *detail =
        enc->from && has(b, row, TROD_COL_DETAIL) ? trod_batch_bytes(b, b->detail[row]) : NULL;

    memset(enc->record, 0, sizeof enc->record);
    enc->asks = false;
    if (detail && enc->from == l) {
        memcpy(enc->record, detail, l->record);
        memset(enc->record + l->at_stores, 0, 8u * l->n_stores);
        memset(enc->record + l->at_loads, 0, 8u * CHS_SLOTS);
    } else if (detail) {
        put_other(enc, detail);
        put_space(enc, b, row);
    } else {
        put_insn(enc, b, row);
        put_space(enc, b, row);
    }
    trod_loss_branch(enc->loss, b, row, chs_branch(enc->layout, enc->record), false,
                     "no registers stand for this kind of branch");
    trod_store_le64(enc->record, b->addr[row]);
    fmt_own_pc(enc->loss, b, row, b->addr[row]);
    enc->size = has(b, row, TROD_COL_SIZE) ? b->size[row] : 0;
    enc->waits = trod_batch_stream(b, row);
    /* what is left out of a trace of the format leaves the others as they were */
    enc->aimed = enc->from != l && has(b, row, TROD_COL_TARGET);
    enc->target = enc->aimed ? b->target[row] : 0;
    enc->row = trod_loss_hold(b, row);
    enc->pending = true;
}

/* A free slot of the N at AT: number WISH where the source says one. NULL: all are taken. */
static uint8_t *free_slot(struct chs_enc *enc, const struct trod_batch *b, uint32_t row,
                          unsigned at, unsigned n)
{
    uint8_t *p = enc->record + at;

    if (enc->from && has(b, row, TROD_COL_SUB) && b->sub[row] < n &&
        trod_load_le64(p + 8 * b->sub[row]) == 0)
        return p + 8 * b->sub[row];
    for (unsigned i = 0; i < n; i++)
        if (trod_load_le64(p + 8 * i) == 0)
            return p + 8 * i;
    return NULL;
}

static void lose(struct chs_enc *enc, const struct trod_batch *b, uint32_t row, const char *why)
{
    trod_loss_row(enc->loss, b, row, why);
}

static void take_access(struct chs_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const struct chs_layout *l = enc->layout;
    const bool loads = b->kind[row] != TROD_WRITE, stores = b->kind[row] != TROD_READ;
    const uint32_t column = has(b, row, TROD_COL_ADDR) ? TROD_COL_ADDR : TROD_COL_PADDR;
    uint8_t *load = NULL, *store = NULL;
    uint64_t at;

    if (!has(b, row, column)) {
        lose(enc, b, row, "it has no address");
        return;
    }
    at = column == TROD_COL_ADDR ? b->addr[row] : b->paddr[row];
    if (at == 0) {
        lose(enc, b, row, "an address of 0 is an empty slot");
        return;
    }
    if (!enc->pending || (has(b, row, TROD_COL_STREAM) && enc->waits != b->stream[row])) {
        lose(enc, b, row, "the instruction before it is not its own");
        return;
    }
    if (loads)
        load = free_slot(enc, b, row, l->at_loads, CHS_SLOTS);
    if (stores)
        store = free_slot(enc, b, row, l->at_stores, l->n_stores);
    if ((loads && !load) || (stores && !store)) {
        lose(enc, b, row, "an instruction has no more places for addresses");
        return;
    }
    if (loads)
        trod_store_le64(load, at);
    if (stores)
        trod_store_le64(store, at);
    if (has(b, row, TROD_COL_PC) && b->pc[row] != trod_load_le64(enc->record))
        trod_loss_columns(enc->loss, b, row, TROD_COL_PC,
                          "it is one of the record of the instruction before it");
}

uint32_t chs_copies(void *state, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    struct chs_enc *enc = state;

    (void)b;
    (void)from;
    enc->whole = true;
    return enc->pending ? 0 : n; /* a record that is copied would stand before that which waits */
}

int chs_encode(void *state, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag)
{
    struct chs_enc *enc = state;

    (void)diag;
    for (; *row < in->n; ++*row) {
        switch (in->kind[*row]) {
        case TROD_INSTR:
            if (out->end - out->p < CHS_RECORD_MAX)
                return TROD_ENC_FULL;
            if (!has(in, *row, TROD_COL_ADDR)) {
                release(enc, NULL, out);
                lose(enc, in, *row, "it has no address");
                break;
            }
            release(enc, &in->addr[*row], out);
            take_insn(enc, in, *row);
            break;
        case TROD_READ:
        case TROD_WRITE:
        case TROD_ATOMIC:
            take_access(enc, in, *row);
            break;
        default:
            lose(enc, in, *row, "records are instructions and the addresses that they access");
        }
    }
    if (enc->whole && enc->pending) {
        if (out->end - out->p < CHS_RECORD_MAX)
            return TROD_ENC_FULL;
        release(enc, NULL, out);
    }
    return TROD_ENC_DONE;
}

int chs_finish(void *state, struct trod_room *out, struct trod_diag *diag)
{
    struct chs_enc *enc = state;

    if (out->end - out->p < CHS_RECORD_MAX)
        return TROD_ENC_FULL;
    release(enc, NULL, out);
    if (enc->cut)
        trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "champsim.registers", NULL,
                         "registers of instructions without a place in their records: %llu",
                         (unsigned long long)enc->cut);
    enc->cut = 0;
    return TROD_ENC_DONE;
}
