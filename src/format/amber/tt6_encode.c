/*
 * tt6_encode.c - writing TT6 and TT6E from rows.
 *
 * Implements docs/formats/amber.md, "Writing TT6 and TT6E". A record needs what may stand in rows
 * behind its instruction's: the address of its access, or where execution goes on. So one
 * instruction may be pending between rows, never more.
 */
#include "format/amber/amber.h"

#include "core/endian.h"
#include "core/origin.h"
#include "format/streams.h"
#include "isa/capstone.h"

#include <inttypes.h>
#include <string.h>

/* The most that one row gives without the payload of an escape: a bridge, four escapes, two
 * records. */
enum { ROW_MOST = 128 };

/* What is reported once a trace. */
enum tt6_said { SAID_BREAK = 1 << 0, SAID_NO_NEXT = 1 << 1 };

static bool first_time(struct tt6_enc *enc, enum tt6_said what)
{
    bool first = !(enc->said & what);

    enc->said |= (uint16_t)what;
    return first;
}

static void put(struct trod_room *out, uint32_t word)
{
    trod_store_be32(out->p, word);
    out->p += 4;
}

static bool has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

/* V, which ROW says in COLUMN, is cut to the 32 bits of an address. */
static uint32_t cut(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row, uint32_t column,
                    uint64_t v)
{
    if (v >> 32)
        trod_loss_columns(enc->loss, b, row, column, "it is cut to the 32 bits of an address");
    return (uint32_t)v;
}

static void lost(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row)
{
    trod_loss_row(enc->loss, b, row, "there is no record for it at this place");
}

/* INITIAL_PC, unless it is written. */
static void begin_at(struct tt6_enc *enc, uint32_t pc, struct trod_room *out)
{
    if (enc->begun)
        return;
    enc->begun = true;
    enc->pc = pc;
    put(out, pc);
}

/* An escape record with an address, of one word or two, before its instruction. */
static void put_address(struct tt6_enc *enc, enum amber_escape code, uint64_t address,
                        struct trod_room *out)
{
    if (enc->given >> code & 1)
        return;
    put(out, (uint32_t)code << 16 | (address >> 32 ? 2u : 1u));
    if (address >> 32)
        put(out, (uint32_t)(address >> 32));
    put(out, (uint32_t)address);
}

static void put_real_addresses(struct tt6_enc *enc, struct trod_room *out)
{
    if (enc->has_real_target)
        put_address(enc, AMBER_ESC_REAL_TARGET, enc->real_target, out);
    if (enc->has_real_pc)
        put_address(enc, AMBER_ESC_REAL_PC, enc->real_pc, out);
}

/* The pending instruction must not wait any longer: write what is known of it. */
static void flush_pending(struct tt6_enc *enc, struct trod_room *out, const uint32_t *next,
                          struct trod_diag *diag)
{
    struct trod_ppc_insn insn;
    uint32_t word = enc->at + 4;

    if (enc->pending == TROD_PPC_COMPUTE)
        return;
    put_real_addresses(enc, out);
    put(out, enc->opcode);
    if (enc->pending == TROD_PPC_FLOW) {
        if (next) {
            word = *next;
        } else {
            if (trod_ppc_decode(enc->opcode, &insn) && !(insn.flags & TROD_PPC_CONDITIONAL))
                trod_ppc_target(&insn, enc->at, &word);
            if (first_time(enc, SAID_NO_NEXT))
                trod_diag_report(diag, TROD_SEV_NOTE, TROD_OK, "tt6.no-next", NULL,
                                 "where execution continues after 0x%" PRIx32
                                 " is not known: written as 0x%" PRIx32,
                                 enc->at, word);
        }
        put(out, word);
        enc->pc = word;
    } else if (enc->pending != AMBER_CACHE) {
        trod_loss_invent(enc->loss, enc->ordinal, TROD_INSTR,
                         "the address that it accesses is not known and is written as 0");
        put(out, 0);
        if (enc->pending == TROD_PPC_MEMORY_EXTENDED)
            put(out, 0);
    }
    enc->pending = TROD_PPC_COMPUTE;
    enc->given = 0;
}

/* The flow goes on at PC and not where the records so far lead: an unconditional branch to 0 stands
 * for what is missing. Returns 0, or TROD_ERR_LOSS when that is not wanted. */
static int bridge(struct tt6_enc *enc, uint32_t pc, struct trod_room *out, struct trod_diag *diag)
{
    if (!enc->join)
        return trod_error(diag, TROD_ERR_LOSS, "tt6.break", NULL,
                          "the flow breaks at 0x%" PRIx32 ", where 0x%" PRIx32
                          " should follow, and join=no does not allow a bridge",
                          pc, enc->pc);
    if (first_time(enc, SAID_BREAK))
        trod_diag_report(
            diag, TROD_SEV_NOTE, TROD_OK, "tt6.break", NULL,
            "the flow breaks, first at 0x%" PRIx32 ": breaks are bridged with b 0 records", pc);
    put(out, AMBER_B_ZERO);
    put(out, pc);
    enc->pc = pc;
    return TROD_OK;
}

/*
 * Is OPCODE, which has no address in TT6, a cache operation whose address may stand in an escape?
 * They all have primary opcode 31.
 */
static inline bool is_cache(const struct tt6_enc *enc, uint32_t opcode)
{
    return enc->escapes && opcode >> 26 == 31 &&
           trod_ppc_class(opcode, TROD_PPC_TT6) == TROD_PPC_COMPUTE &&
           trod_ppc_class(opcode, TROD_PPC_TT6E) == TROD_PPC_MEMORY;
}

/* What the instruction OPCODE waits for: enum trod_ppc_class, or AMBER_CACHE. */
static unsigned waits_for(const struct tt6_enc *enc, uint32_t opcode)
{
    return is_cache(enc, opcode)
               ? (unsigned)AMBER_CACHE
               : (unsigned)trod_ppc_class(opcode, enc->extended ? TROD_PPC_TT6E : TROD_PPC_TT6);
}

/* The columns of an INSTR row that TT6 needs. False when they are not there. */
static bool instruction_of(const struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                           uint32_t *opcode, uint32_t *pc)
{
    if (!has(b, row, TROD_COL_CODE) || b->code[row].len != 4)
        return false;
    *opcode = trod_code_word(trod_batch_bytes(b, b->code[row]),
                             enc->meta ? enc->meta->endian : TROD_ENDIAN_BIG);
    if (has(b, row, TROD_COL_ADDR))
        *pc = (uint32_t)b->addr[row];
    else if (has(b, row, TROD_COL_PC))
        *pc = (uint32_t)b->pc[row];
    else
        return false;
    return *opcode >> 26 != 0; /* major 0 would be an escape */
}

static void keep_real_addresses(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const uint8_t *detail = enc->ours ? trod_batch_detail(b, row) : NULL;

    enc->has_real_pc = has(b, row, TROD_COL_PADDR);
    enc->real_pc = b->paddr[row];
    enc->has_real_target = detail && b->detail[row].len == 8;
    enc->real_target = enc->has_real_target ? trod_load_be64(detail) : 0;
}

/*
 * Where the branch that waits has led to, as an instruction at PC comes next: to its target or
 * behind it. Where it can have led to neither, something else has (a signal): the flow breaks
 * there.
 */
static uint32_t led_to(const struct tt6_enc *enc, uint32_t pc)
{
    struct trod_ppc_insn insn;
    uint32_t target;

    if (enc->pending != TROD_PPC_FLOW || !trod_ppc_decode(enc->opcode, &insn) ||
        !trod_ppc_target(&insn, enc->at, &target))
        return pc;
    if (!(insn.flags & TROD_PPC_CONDITIONAL))
        return target;
    return pc == target ? pc : enc->at + 4;
}

static int put_instruction(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                           struct trod_room *out, struct trod_diag *diag)
{
    uint32_t opcode, pc, next;
    int rc;

    if (!instruction_of(enc, b, row, &opcode, &pc)) {
        trod_loss_row(enc->loss, b, row, "it has no PowerPC opcode and address");
        return TROD_OK;
    }
    if (!enc->extended && (b->flags[row] & TROD_F_SYNTHETIC)) {
        trod_loss_row(enc->loss, b, row, "tt6 has no synthetic returns from traps");
        return TROD_OK;
    }
    if (has(b, row, TROD_COL_ADDR))
        cut(enc, b, row, TROD_COL_ADDR, b->addr[row]);
    fmt_own_pc(enc->loss, b, row, pc);
    if (has(b, row, TROD_COL_SIZE) && b->size[row] != 4)
        trod_loss_columns(enc->loss, b, row, TROD_COL_SIZE, "instructions have 4 bytes");
    next = led_to(enc, pc);
    flush_pending(enc, out, &next, diag);
    begin_at(enc, pc, out);
    if (pc != enc->pc && (rc = bridge(enc, pc, out, diag)) < 0)
        return rc;
    keep_real_addresses(enc, b, row);
    enc->last = opcode;
    enc->opcode = opcode;
    enc->at = pc;
    enc->ordinal = trod_origin_row(b, row);
    enc->pc = pc + 4;
    enc->pending = (uint8_t)waits_for(enc, opcode);
    if (enc->pending == TROD_PPC_COMPUTE) {
        put_real_addresses(enc, out);
        put(out, opcode);
        enc->given = 0;
    }
    if (enc->pending == TROD_PPC_FLOW && has(b, row, TROD_COL_TARGET)) {
        next = cut(enc, b, row, TROD_COL_TARGET, b->target[row]);
        flush_pending(enc, out, &next, diag);
    } else {
        trod_loss_columns(enc->loss, b, row, TROD_COL_TARGET,
                          "only records of opcodes that branch have one");
    }
    return TROD_OK;
}

/*
 * The third word of OPCODE's record, where the source does not have it, for an access of SIZE
 * bytes: XER, or rB of dst and dstst. Of a stream one row is known: it has one block.
 */
static uint32_t third_of(uint32_t opcode, uint32_t size)
{
    const uint32_t units = size / 16 < 1 ? 1 : size / 16 < 32 ? size / 16 : 32;

    if (trod_ppc_access(opcode).rule != TROD_PPC_STREAM)
        return size & 0x7f;
    return (units & 31) << 24 | 1u << 16 | 16 * units;
}

/* Rows of another family: the record's opcode decides what they are read as. */
static bool fits(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const uint32_t size = has(b, row, TROD_COL_SIZE) ? b->size[row] : 0;
    const struct amber_access a =
        amber_access_of(enc->opcode, third_of(enc->opcode, size), enc->line);
    const uint32_t flags = has(b, row, TROD_COL_FLAGS)
                               ? b->flags[row] & TROD_LOSS_FLAGS & ~(uint32_t)TROD_F_BRANCH
                               : 0;

    if (a.kind != b->kind[row])
        return false;
    if (has(b, row, TROD_COL_SIZE) && a.size != size)
        trod_loss_columns(enc->loss, b, row, TROD_COL_SIZE, "the opcode says another size");
    if (flags & ~a.flags)
        trod_loss_columns(enc->loss, b, row, TROD_COL_FLAGS, "the opcode does not say so");
    if ((uint32_t)b->addr[row] & ~a.mask)
        trod_loss_columns(enc->loss, b, row, TROD_COL_ADDR, "the opcode aligns it");
    cut(enc, b, row, TROD_COL_ADDR, b->addr[row]);
    return true;
}

/*
 * Has the last instruction, whose further access ROW is, got the address of its first one?
 * Recorders give the accesses of lmw and the like one by one.
 */
static bool accessed(const struct tt6_enc *enc, const struct trod_batch *b, uint32_t row)
{
    return enc->ours && enc->begun && (b->flags[row] & TROD_F_CONT) && has(b, row, TROD_COL_PC) &&
           (uint32_t)b->pc[row] == enc->at && waits_for(enc, enc->last) != TROD_PPC_COMPUTE;
}

/*
 * The ADDRESS of the access ROW of a cache operation stands in an escape, or is put into one. Only
 * one can be said: false where that is another.
 */
static bool put_cache_address(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                              uint32_t address, struct trod_room *out)
{
    const uint32_t mask = amber_access_of(enc->opcode, 0, enc->line).mask;
    const bool escaped = enc->given >> AMBER_ESC_DATA & 1;

    if (escaped && (enc->data & mask) != (address & mask))
        return false;
    if (escaped)
        trod_loss_left(enc->loss, b, row);
    else
        put_address(enc, AMBER_ESC_DATA, address, out);
    return true;
}

/* An access: it completes the record of its instruction. */
static void put_access(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                       struct trod_room *out)
{
    const uint8_t *detail = enc->ours ? trod_batch_detail(b, row) : NULL;
    uint32_t len = detail ? b->detail[row].len : 0;
    const uint32_t address = len ? trod_load_be32(detail) : (uint32_t)b->addr[row];
    const bool awaited = enc->pending == TROD_PPC_MEMORY || enc->pending == AMBER_CACHE ||
                         enc->pending == TROD_PPC_MEMORY_EXTENDED;

    if (!awaited && accessed(enc, b, row)) {
        trod_loss_left(enc->loss, b, row);
        return;
    }
    if (!awaited || (!len && !has(b, row, TROD_COL_ADDR)) || (!enc->ours && !fits(enc, b, row)) ||
        (enc->pending == AMBER_CACHE && !put_cache_address(enc, b, row, address, out))) {
        lost(enc, b, row);
        return;
    }
    if (!enc->ours && has(b, row, TROD_COL_PC) && b->pc[row] != enc->at)
        trod_loss_columns(enc->loss, b, row, TROD_COL_PC,
                          "its record is that of the instruction before it");
    put_real_addresses(enc, out);
    if (has(b, row, TROD_COL_PADDR))
        put_address(enc, AMBER_ESC_REAL_DATA, b->paddr[row], out);
    put(out, enc->opcode);
    if (enc->pending != AMBER_CACHE)
        put(out, address);
    if (enc->pending == TROD_PPC_MEMORY_EXTENDED)
        put(out, len > 4 ? trod_load_be32(detail + 4)
                         : third_of(enc->opcode, has(b, row, TROD_COL_SIZE) ? b->size[row] : 0));
    enc->pending = TROD_PPC_COMPUTE;
    enc->given = 0;
}

/* A row that is an escape record. False when it is none. */
static bool is_escape(const struct tt6_enc *enc, const struct trod_batch *b, uint32_t row)
{
    if (b->kind[row] == TROD_SYNC)
        return has(b, row, TROD_COL_SUB | TROD_COL_ADDR | TROD_COL_VALUE) &&
               (trod_sync_is_signal(b->sub[row]) || trod_sync_is_wait(b->sub[row]));
    return b->kind[row] == TROD_MARKER && enc->ours && has(b, row, TROD_COL_SUB) &&
           b->sub[row] < AMBER_ESC_CODES &&
           (!has(b, row, TROD_COL_DATA) || b->data[row].len / 4 <= AMBER_ESC_WORDS);
}

/* The first row tells where the trace begins; an escape from another source need not. */
static void begin_before(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                         struct trod_room *out)
{
    for (uint32_t i = row; i < b->n && !enc->begun; i++) {
        uint32_t opcode, pc;

        if (has(b, i, TROD_COL_PC))
            begin_at(enc, (uint32_t)b->pc[i], out);
        else if (b->kind[i] == TROD_INSTR && instruction_of(enc, b, i, &opcode, &pc))
            begin_at(enc, pc, out);
    }
    begin_at(enc, 0, out);
}

static void put_escape(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                       struct trod_room *out, struct trod_diag *diag)
{
    bool sync = b->kind[row] == TROD_SYNC;
    uint32_t words = !sync && has(b, row, TROD_COL_DATA) ? b->data[row].len / 4 : 0;
    uint32_t code = b->sub[row];

    flush_pending(enc, out, NULL, diag);
    begin_before(enc, b, row, out);
    put(out, code << 16 | (sync ? 2 : words));
    if (sync) {
        put(out, cut(enc, b, row, TROD_COL_ADDR, b->addr[row]));
        put(out, cut(enc, b, row, TROD_COL_VALUE, b->value[row]));
    } else if (words) {
        memcpy(out->p, trod_batch_bytes(b, b->data[row]), 4 * (size_t)words);
        out->p += 4 * (size_t)words;
    }
    if (code < 8)
        enc->given |= (uint8_t)(1u << code);
    if (code == AMBER_ESC_DATA && words == 1)
        enc->data = trod_load_be32(out->p - 4);
}

/* The row of an INITIAL_PC record: the trace begins, or another one begins behind it. */
static int put_initial(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                       struct trod_room *out, struct trod_diag *diag)
{
    uint32_t pc = (uint32_t)b->pc[row];

    flush_pending(enc, out, NULL, diag);
    if (enc->begun)
        return bridge(enc, pc, out, diag);
    begin_at(enc, pc, out);
    return TROD_OK;
}

static int put_row(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                   struct trod_room *out, struct trod_diag *diag)
{
    switch (b->kind[row]) {
    case TROD_INSTR:
        return put_instruction(enc, b, row, out, diag);
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
    case TROD_PREFETCH:
    case TROD_FLUSH:
    case TROD_CACHE_OP:
        put_access(enc, b, row, out);
        return TROD_OK;
    default:
        if (is_escape(enc, b, row)) {
            put_escape(enc, b, row, out, diag);
            return TROD_OK;
        }
        if (b->kind[row] == TROD_MARKER && enc->ours && has(b, row, TROD_COL_SUB | TROD_COL_PC) &&
            b->sub[row] == AMBER_INITIAL_PC)
            return put_initial(enc, b, row, out, diag);
    }
    lost(enc, b, row);
    return TROD_OK;
}

int amber_tt6_begin(void *state, const struct amber_options *opt, const struct trod_meta *meta,
                    bool extended, struct trod_diag *diag)
{
    struct tt6_enc *enc = state;

    enc->name = extended ? "tt6e" : "tt6";
    enc->meta = meta;
    enc->extended = extended;
    enc->join = opt->join;
    enc->line = (uint32_t)opt->line;
    enc->ours = amber_source(meta);
    enc->escapes = !extended && meta && meta->format && strcmp(meta->format, "tt6") == 0;
    return amber_check_isa(meta, enc->name, diag);
}

int amber_tt6_target(void *state, const struct trod_target *target, struct trod_diag *diag)
{
    (void)diag;
    ((struct tt6_enc *)state)->loss = target->loss;
    return TROD_OK;
}

/* Of what other families say of accesses the opcodes are asked (fits); texts are their names. */
void amber_tt6_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    const uint32_t place = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                           TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET;

    (void)opt;
    if (amber_source(meta))
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++)
        k->columns[i] &= place | TROD_COL_VALUE | TROD_COL_SUB;
    k->columns[TROD_INSTR] = place | TROD_COL_CODE;
    k->flags[TROD_INSTR] = TROD_F_BRANCH; /* opcodes say it */
    for (unsigned i = TROD_READ; i <= TROD_FLUSH; i++)
        k->columns[i] = place;
    k->columns[TROD_CACHE_OP] = place | TROD_COL_TEXT;
}

/* Bytes that ROW may need. */
static size_t need(const struct trod_batch *b, uint32_t row)
{
    bool escape = b->kind[row] == TROD_MARKER && has(b, row, TROD_COL_DATA);

    return ROW_MOST + (escape ? b->data[row].len : 0);
}

/*
 * Rows from ROW on that are as the decoder makes them, with nothing pending: most of them, so this
 * is the fast way. Returns how many were written; put_row takes the next one.
 */
static uint32_t put_plain(struct tt6_enc *enc, const struct trod_batch *b, uint32_t row,
                          struct trod_room *out)
{
    const enum trod_ppc_variant variant = enc->extended ? TROD_PPC_TT6E : TROD_PPC_TT6;
    const uint32_t need = TROD_COL_CODE | TROD_COL_ADDR, odd = TROD_COL_PADDR | TROD_COL_DETAIL;
    const uint32_t from = row, have = b->have;
    uint32_t pc = enc->pc, at = enc->at, opcode = enc->last;
    uint8_t *p = out->p;

    while (row < b->n && out->end - p >= 16) {
        enum trod_ppc_class class;
        uint32_t word = 0, next = pc + 4;
        const uint8_t *from_p;

        if (b->kind[row] != TROD_INSTR || (have & b->has[row] & (need | odd)) != need ||
            b->addr[row] != pc || b->code[row].len != 4 || (b->flags[row] & TROD_F_SYNTHETIC))
            break;
        from_p = trod_batch_bytes(b, b->code[row]);
        word = trod_load_be32(from_p);
        class = trod_ppc_class(word, variant);
        if (word >> 26 == 0 || is_cache(enc, word))
            break;
        if (class == TROD_PPC_FLOW) {
            if (!(have & b->has[row] & TROD_COL_TARGET) || b->target[row] >> 32)
                break;
            next = (uint32_t)b->target[row];
            trod_store_be32(p + 4, next);
        } else if (class != TROD_PPC_COMPUTE) {
            uint32_t len = 4 * (trod_ppc_record_words(class) - 1);

            if (row + 1 == b->n || (have & b->has[row + 1] & odd) != TROD_COL_DETAIL ||
                !(b->flags[row + 1] & TROD_F_CONT) || b->detail[row + 1].len != len)
                break;
            memcpy(p + 4, trod_batch_bytes(b, b->detail[row + 1]), 4);
            if (len > 4)
                memcpy(p + 8, trod_batch_bytes(b, b->detail[row + 1]) + 4, 4);
            row++;
        }
        row++;
        memcpy(p, from_p, 4);
        p += 4 * trod_ppc_record_words(class);
        at = pc;
        pc = next;
        opcode = word;
    }
    enc->pc = pc;
    enc->at = at;
    enc->last = opcode;
    out->p = p;
    return row - from;
}

int amber_tt6_encode(void *state, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                     struct trod_diag *diag)
{
    struct tt6_enc *enc = state;
    int rc;

    /* the ISA may not have been known before the first rows */
    if ((rc = amber_check_isa(enc->meta, enc->name, diag)) < 0)
        return rc;
    for (; *row < in->n; ++*row) {
        if (enc->ours && enc->begun && !enc->given && enc->pending == TROD_PPC_COMPUTE)
            *row += put_plain(enc, in, *row, out);
        if (*row == in->n)
            break;
        if ((size_t)(out->end - out->p) < need(in, *row))
            return TROD_ENC_FULL;
        if ((rc = put_row(enc, in, *row, out, diag)) < 0)
            return rc;
    }
    return TROD_ENC_DONE;
}

int amber_tt6_finish(void *state, struct trod_room *out, struct trod_diag *diag)
{
    if (out->end - out->p < ROW_MOST)
        return TROD_ENC_FULL;
    flush_pending(state, out, NULL, diag);
    return TROD_ENC_DONE;
}
