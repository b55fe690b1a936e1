/*
 * full_encode.c - writing FULL from rows.
 *
 * Implements docs/formats/amber.md, "Writing FULL". A record is an instruction and its state. Its
 * access follows from the two; where it led and which registers it wrote follow from the record
 * behind it, which shows whether that is what the rows said: rows may have been left out between
 * them.
 */
#include "format/amber/full.h"

#include "isa/capstone.h"

#include <inttypes.h>
#include <string.h>

enum { RECORD = AMBER_FULL_RECORD, STATE = AMBER_FULL_STATE };

static const char no_state[] = "no row with all registers follows it";

/* Whether traces of META's format may have rows with all registers. */
static bool has_states(const struct trod_meta *meta)
{
    const struct trod_format *f = trod_format_find(meta->format, strlen(meta->format));

    return !f || !f->kinds || f->kinds >> TROD_STATE & 1;
}

int full_begin(void *state, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct full_enc *enc = state;

    enc->meta = meta;
    enc->line = (uint32_t)((const struct amber_options *)opt)->line;
    if (meta && meta->format && !has_states(meta))
        return trod_error(diag, TROD_ERR_LOSS, "full.registers", NULL,
                          "full holds all registers at each instruction: %s does not have them",
                          meta->format);
    return amber_check_isa(meta, "full", diag);
}

int full_target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct full_enc *)enc)->loss = t->loss;
    return TROD_OK;
}

static void begin_file(struct full_enc *enc, struct trod_room *out)
{
    if (enc->begun)
        return;
    enc->begun = true;
    trod_store_be32(out->p, AMBER_FULL_MAGIC);
    out->p += 4;
}

static bool has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

static void lost(struct full_enc *enc, const struct trod_batch *b, uint32_t row, const char *why)
{
    trod_loss_row(enc->loss, b, row, why);
}

/* Execution goes on at PC and not where the record before leads. */
static void check_flow(struct full_enc *enc, uint32_t pc, struct trod_diag *diag)
{
    const struct full_last *l = &enc->last;
    const bool flow = trod_ppc_class(l->opcode, TROD_PPC_TT6) == TROD_PPC_FLOW;
    const uint32_t follows = full_word(l->state, TROD_PPC_STATE_SRR0) + 4;

    if (enc->broken || (l->aimed ? pc == l->target : !flow && pc == follows))
        return;
    enc->broken = true;
    trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "full.break", NULL,
                     "the flow breaks, first at 0x%" PRIx32
                     ": what the instruction before did is read from the state there",
                     pc);
}

/* What the rows of the last record said is compared with NEXT, the state behind it; NULL: none. */
static void settle(struct full_enc *enc, const uint8_t *next, struct trod_diag *diag)
{
    struct full_last *l = &enc->last;

    if (!l->any)
        return;
    l->any = false;
    if (next)
        check_flow(enc, full_word(next, TROD_PPC_STATE_SRR0), diag);
    if (l->aimed && (!next || full_word(next, TROD_PPC_STATE_SRR0) != l->target))
        trod_loss_late(enc->loss, &l->row, TROD_COL_TARGET,
                       "the instruction there does not follow in the output");
    for (unsigned i = 0; i < l->n; i++) {
        const struct full_reg *r = &l->reg[i];
        const bool shown = next && memcmp(next + 4 * (size_t)r->first,
                                          l->after + 4 * (size_t)r->first, 4u * r->words) == 0;

        trod_loss_dropped(enc->loss, &r->row,
                          shown ? NULL : "the next state of the output does not show it");
    }
}

static void put_instruction(struct full_enc *enc, const struct trod_batch *b, uint32_t row)
{
    if (enc->pending)
        trod_loss_dropped(enc->loss, &enc->row, no_state);
    enc->pending = false;
    if (!has(b, row, TROD_COL_CODE) || b->code[row].len != 4) {
        lost(enc, b, row, "it has no PowerPC opcode");
        return;
    }
    enc->row = trod_loss_hold(b, row);
    enc->opcode = trod_code_word(trod_batch_bytes(b, b->code[row]),
                                 enc->meta ? enc->meta->endian : TROD_ENDIAN_BIG);
    enc->at = has(b, row, TROD_COL_ADDR) ? b->addr[row] : TROD_NOWHERE;
    enc->aimed = has(b, row, TROD_COL_TARGET);
    enc->target = enc->aimed ? (uint32_t)b->target[row] : 0;
    if (enc->aimed && b->target[row] >> 32)
        enc->row.lost = trod_loss_columns(enc->loss, b, row, TROD_COL_TARGET,
                                          "it is cut to the 32 bits of an address");
    enc->pending = true;
}

static void put_state(struct full_enc *enc, const struct trod_batch *b, uint32_t row,
                      struct trod_room *out, struct trod_diag *diag)
{
    struct full_last *l = &enc->last;
    const uint8_t *state;

    if (!enc->pending || !has(b, row, TROD_COL_DATA) || b->data[row].len != STATE) {
        lost(enc, b, row, enc->pending ? "it has another size" : "its instruction is not there");
        return;
    }
    state = trod_batch_bytes(b, b->data[row]);
    settle(enc, state, diag);
    trod_store_be32(out->p, enc->opcode);
    memcpy(out->p + 4, state, STATE);
    out->p += RECORD;
    if (enc->at != TROD_NOWHERE && enc->at != full_word(state, TROD_PPC_STATE_SRR0))
        trod_loss_late(enc->loss, &enc->row, TROD_COL_ADDR, "its state says another one");
    enc->pending = false;
    l->row = enc->row;
    l->opcode = enc->opcode;
    l->target = enc->target;
    l->aimed = enc->aimed;
    l->accessed = false;
    l->any = true;
    l->n = 0;
    memcpy(l->state, state, STATE);
    memcpy(l->after, state, STATE);
}

/* Does ROW belong to the record that was written last? */
static bool of_last(const struct full_enc *enc, const struct trod_batch *b, uint32_t row)
{
    return enc->last.any && !enc->pending && has(b, row, TROD_COL_PC) &&
           b->pc[row] == full_word(enc->last.state, TROD_PPC_STATE_SRR0);
}

/* Is ROW the access that the record says? Which bytes a line has, readers are told. */
static bool is_access(const struct full_enc *enc, const struct trod_batch *b, uint32_t row)
{
    struct full_access a;

    if (!has(b, row, TROD_COL_ADDR) ||
        !full_access(enc->last.opcode, enc->last.state, enc->line, &a) ||
        a.row.kind != b->kind[row])
        return false;
    if (a.rule == TROD_PPC_LINE)
        return a.ea - b->addr[row] < AMBER_LINE_MOST;
    return b->addr[row] == (a.ea & a.row.mask);
}

static void put_access(struct full_enc *enc, const struct trod_batch *b, uint32_t row)
{
    if (!of_last(enc, b, row) || enc->last.accessed || !is_access(enc, b, row)) {
        lost(enc, b, row, "it does not follow from an instruction with all registers");
        return;
    }
    enc->last.accessed = true;
    trod_loss_left(enc->loss, b, row);
}

/* The first word of the register of number N. */
static unsigned word_of(unsigned n)
{
    if (n < TROD_PPC_STATE_N_FPR)
        return TROD_PPC_STATE_SRR1 + n;
    if (n < TROD_PPC_STATE_N_FPSCR)
        return TROD_PPC_STATE_FPR + 2 * (n - TROD_PPC_STATE_N_FPR);
    if (n == TROD_PPC_STATE_N_FPSCR)
        return TROD_PPC_STATE_FPSCR;
    return n < TROD_PPC_STATE_N_VRVALID ? TROD_PPC_STATE_VR + 4 * (n - TROD_PPC_STATE_N_VR)
                                        : (unsigned)TROD_PPC_STATE_VRVALID;
}

/* The register that ROW names. False: it is none of a state. */
static bool register_of(const struct trod_batch *b, uint32_t row, struct trod_ppc_state_register *r)
{
    const struct trod_slice s = b->text[row];
    const uint8_t *const text = trod_batch_bytes(b, s);
    unsigned n = 0;

    if (s.off & TROD_SLICE_SHARED && b->shared == (const uint8_t *)amber_names)
        n = (s.off & ~(uint32_t)TROD_SLICE_SHARED) / (uint32_t)sizeof amber_names[0] -
            (unsigned)AMBER_NAME_REGISTER;
    else
        for (; n < TROD_PPC_STATE_REGISTERS; n++) {
            const char *name = amber_names[AMBER_NAME_REGISTER + n];

            if (s.len < sizeof amber_names[0] && memcmp(name, text, s.len) == 0 && !name[s.len])
                break;
        }
    return n < TROD_PPC_STATE_REGISTERS && trod_ppc_state_register(word_of(n), r);
}

/* The value of ROW for the register R, as a state has it. */
static bool value_of(const struct trod_batch *b, uint32_t row,
                     const struct trod_ppc_state_register *r, uint8_t value[16])
{
    if (trod_batch_value_gaps(b, row))
        return false;
    if (r->words == 4) {
        if (!has(b, row, TROD_COL_DATA) || b->data[row].len != 16)
            return false;
        for (unsigned k = 0; k < 16; k++)
            value[k] = trod_batch_bytes(b, b->data[row])[15 - k];
        return true;
    }
    if (!has(b, row, TROD_COL_VALUE) || (r->words == 1 && b->value[row] >> 32))
        return false;
    if (r->words == 1)
        trod_store_be32(value, (uint32_t)b->value[row]);
    else
        trod_store_be64(value, b->value[row]);
    return true;
}

/* Readers find the write of a register where the next state differs there: it waits for that. */
static void put_register(struct full_enc *enc, const struct trod_batch *b, uint32_t row)
{
    struct full_last *l = &enc->last;
    struct trod_ppc_state_register r;
    uint8_t value[16];

    if (!of_last(enc, b, row) || !has(b, row, TROD_COL_TEXT) || !register_of(b, row, &r) ||
        !value_of(b, row, &r, value) ||
        memcmp(l->after + 4 * (size_t)r.first, l->state + 4 * (size_t)r.first, 4u * r.words) != 0 ||
        memcmp(value, l->state + 4 * (size_t)r.first, 4u * r.words) == 0) {
        lost(enc, b, row, "records show registers that an instruction changed");
        return;
    }
    memcpy(l->after + 4 * (size_t)r.first, value, 4u * r.words);
    l->reg[l->n++] = (struct full_reg){trod_loss_hold(b, row), (uint8_t)r.first, (uint8_t)r.words};
}

static void put_row(struct full_enc *enc, const struct trod_batch *b, uint32_t row,
                    struct trod_room *out, struct trod_diag *diag)
{
    switch (b->kind[row]) {
    case TROD_INSTR:
        put_instruction(enc, b, row);
        break;
    case TROD_STATE:
        put_state(enc, b, row, out, diag);
        break;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_PREFETCH:
    case TROD_FLUSH:
    case TROD_CACHE_OP:
        put_access(enc, b, row);
        break;
    case TROD_REG:
        put_register(enc, b, row);
        break;
    default:
        lost(enc, b, row, "records hold instructions with all registers");
    }
}

int full_encode(void *state, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                struct trod_diag *diag)
{
    struct full_enc *enc = state;
    int rc;

    if ((rc = amber_check_isa(enc->meta, "full", diag)) < 0)
        return rc;
    for (; *row < in->n; ++*row) {
        if (out->end - out->p < RECORD + 4)
            return TROD_ENC_FULL;
        begin_file(enc, out);
        put_row(enc, in, *row, out, diag);
    }
    return TROD_ENC_DONE;
}

int full_finish(void *state, struct trod_room *out, struct trod_diag *diag)
{
    struct full_enc *enc = state;

    if (out->end - out->p < 4)
        return TROD_ENC_FULL;
    begin_file(enc, out);
    if (enc->pending)
        trod_loss_dropped(enc->loss, &enc->row, no_state);
    enc->pending = false;
    settle(enc, NULL, diag);
    return TROD_ENC_DONE;
}
