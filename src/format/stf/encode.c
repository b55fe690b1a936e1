/*
 * encode.c - writing STF from rows.
 *
 * Implements docs/formats/stf.md, "Writing". What an instruction did stands in the rows behind it,
 * and in the trace before its opcode: a group waits until the next instruction.
 */
#include "format/stf/encode.h"

#include "format/stf/records.h"
#include "isa/riscv.h"

#include <string.h>

enum {
    VERSION_MAJOR = 1,
    VERSION_MINOR = 6,
    IEM_RV64 = 2,
    FEATURES = 0xc | STF_FEATURE_EVENT64, /* operands, events */
    FEATURE_RV64 = 0x20,
    VLEN_BYTES_MAX = 1 << 13
};

#define MODE_BIT      (UINT64_C(1) << 62)
#define INTERRUPT_BIT (UINT64_C(1) << 63)

static bool has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

int stf_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct stf_enc *e = enc;

    (void)opt;
    (void)diag;
    e->meta = meta;
    e->first = NO_STREAM;
    e->own = meta && meta->format && strcmp(meta->format, "stf") == 0;
    return TROD_OK;
}

int stf_target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct stf_enc *)enc)->loss = t->loss;
    ((struct stf_enc *)enc)->single = t->single;
    return TROD_OK;
}

void stf_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    const uint32_t all =
        TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_PC | TROD_COL_STREAM | TROD_COL_RAW;
    const uint32_t access = all | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_DATA;

    (void)opt;
    if (meta->format && strcmp(meta->format, "stf") == 0)
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++)
        k->flags[i] = 0;
    k->flags[TROD_INSTR] = TROD_F_BRANCH; /* opcodes say it */
    k->flags[TROD_REG] = TROD_F_SYNTHETIC;
    k->columns[TROD_INSTR] = all | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_CODE | TROD_COL_TARGET;
    k->columns[TROD_READ] = k->columns[TROD_WRITE] = access;
    k->columns[TROD_REG] = all | TROD_COL_SIZE | TROD_COL_TEXT | TROD_COL_VALUE | TROD_COL_DATA;
    k->columns[TROD_EXCEPTION] = all | TROD_COL_ADDR | TROD_COL_VALUE | TROD_COL_TARGET;
    k->columns[TROD_MODE] = all | TROD_COL_VALUE;
}

/* --- the group that waits --- */

static uint8_t *put(uint8_t *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static uint8_t *put8(uint8_t *to, unsigned v)
{
    *to = (uint8_t)v;
    return to + 1;
}

static uint8_t *put16(uint8_t *to, unsigned v)
{
    trod_store_le16(to, (uint16_t)v);
    return to + 2;
}

static uint8_t *put32(uint8_t *to, uint32_t v)
{
    trod_store_le32(to, v);
    return to + 4;
}

static uint8_t *put64(uint8_t *to, uint64_t v)
{
    trod_store_le64(to, v);
    return to + 8;
}

static uint8_t *put_header(const struct stf_enc *e, uint8_t *p)
{
    static const char generator[] = {'t', 'r', 'o', 'd'};
    const bool rv32 = e->meta && e->meta->isa == TROD_ISA_RISCV32;

    p = put(put8(p, STF_IDENTIFIER), "STF", 3);
    p = put32(put32(put8(p, STF_VERSION), VERSION_MAJOR), VERSION_MINOR);
    p = put16(put8(p, STF_ISA), STF_ISA_RISCV);
    p = put16(put8(p, STF_INST_IEM), rv32 ? STF_IEM_RV32 : IEM_RV64);
    p = put32(put8(p, STF_TRACE_INFO), 0); /* no number of a generator, nor its version */
    p = put(put16(p, sizeof generator), generator, sizeof generator);
    p = put64(put8(p, STF_FEATURES), FEATURES | (rv32 ? 0u : (uint64_t)FEATURE_RV64));
    p = put64(put8(p, STF_FORCE_PC), e->at);
    return put8(p, STF_END_HEADER);
}

/* Vector registers have another length from here on, another thread runs. */
static uint8_t *put_context(struct stf_enc *e, uint8_t *p)
{
    const struct trod_stream *s =
        e->meta && e->waits < e->meta->n_streams ? &e->meta->streams[e->waits] : NULL;

    if (e->group_vlen && e->group_vlen != e->vlen) {
        p = put32(put8(p, STF_VLEN), e->group_vlen);
        e->vlen = e->group_vlen;
    }
    if (!s || s->tid > UINT32_MAX || (e->on_thread && s->tid == e->tid && s->pid == e->pid))
        return p;
    e->on_thread = true;
    e->tid = s->tid;
    e->pid = s->pid;
    p = put32(put8(p, STF_PROCESS), 0);
    return put32(put32(p, (uint32_t)s->pid), (uint32_t)s->tid);
}

/* Write the group that waits. NEXT: the address of the instruction behind it, if known. */
static void release(struct stf_enc *e, const uint64_t *next, struct trod_room *out)
{
    const uint64_t through = e->at + e->size;
    uint8_t *p = out->p;

    if (!e->pending)
        return;
    e->pending = false;
    if (e->asks)
        e->taken = e->aimed && next && *next == e->target;
    else if (!e->own && !e->aimed && !e->event && !e->event_aimed && e->jumps && next &&
             *next != through) { /* STF says itself which jumps were taken */
        e->taken = true;
        e->target = *next;
    }
    if (e->aimed && !e->taken)
        trod_loss_late(e->loss, &e->row, TROD_COL_TARGET, "instructions that go there have one");
    if (!e->begun)
        p = put_header(e, p);
    p = put_context(e, p);
    if (e->begun && e->at != e->pc)
        p = put64(put8(p, STF_FORCE_PC), e->at);
    e->begun = true;
    if (e->taken)
        p = put64(put8(p, STF_PC_TARGET), e->target);
    p = put(p, e->group, e->n);
    p = put8(p, e->size == 4 ? STF_INST_32 : STF_INST_16);
    out->p = put(p, e->opcode, e->size);
    e->pc = e->event_aimed ? e->event_target : e->taken ? e->target : through;
}

/* --- rows --- */

static void lose(struct stf_enc *e, const struct trod_batch *b, uint32_t row, const char *why)
{
    trod_loss_row(e->loss, b, row, why);
}

/* Is STREAM, a file of STF that names no thread, the only such one that comes to this file? */
static bool is_file(struct stf_enc *e, uint32_t stream)
{
    if (e->first == NO_STREAM && !e->on_thread)
        e->first = stream;
    return e->own && (!e->single || (e->first == stream && !e->on_thread));
}

/* Streams are threads here; the cpu is that of the file. */
static void check_stream(struct stf_enc *e, const struct trod_batch *b, uint32_t row)
{
    if (!has(b, row, TROD_COL_STREAM))
        return;
    if ((!e->meta || b->stream[row] >= e->meta->n_streams ||
         e->meta->streams[b->stream[row]].tid > UINT32_MAX) &&
        !is_file(e, b->stream[row]))
        trod_loss_columns(e->loss, b, row, TROD_COL_STREAM,
                          e->own ? "a file holds one that has no thread: write to a directory"
                                 : "a stream is a thread here");
}

static void take_insn(struct stf_enc *e, const struct trod_batch *b, uint32_t row)
{
    const unsigned branch = has(b, row, TROD_COL_FLAGS) ? b->flags[row] & TROD_F_BRANCH : 0;
    const unsigned bits = e->meta && e->meta->isa == TROD_ISA_RISCV32 ? 32 : 64;
    struct trod_rv rv;

    check_stream(e, b, row);
    e->pending = true;
    e->n = e->group_vlen = 0;
    e->event = e->event_aimed = false;
    e->at = b->addr[row];
    e->size = (uint8_t)b->code[row].len;
    memcpy(e->opcode, trod_batch_bytes(b, b->code[row]), e->size);
    e->waits = has(b, row, TROD_COL_STREAM) ? b->stream[row] : NO_STREAM;
    e->row = trod_loss_hold(b, row);
    e->aimed = has(b, row, TROD_COL_TARGET);
    e->target = e->aimed ? b->target[row] : 0;
    e->asks = branch == TROD_BR_COND;
    e->taken = e->aimed && branch != TROD_BR_COND_UNTAKEN;
    e->jumps = branch || (trod_rv_decode(e->opcode, e->size, bits, &rv) &&
                          rv.facts & (RV_JAL | RV_JALR | RV_COND));
    if (has(b, row, TROD_COL_SIZE) && b->size[row] != e->size)
        trod_loss_columns(e->loss, b, row, TROD_COL_SIZE, "it is that of the opcode");
}

/* Room for N bytes in the group of the instruction that ROW belongs to; NULL: ROW is lost. */
static uint8_t *room_for(struct stf_enc *e, const struct trod_batch *b, uint32_t row, size_t n)
{
    if (!e->pending || (has(b, row, TROD_COL_STREAM) && b->stream[row] != e->waits) ||
        (has(b, row, TROD_COL_PC) && b->pc[row] != e->at)) {
        lose(e, b, row, "the instruction before it is not its own");
        return NULL;
    }
    if (n > STF_GROUP_MAX - e->n) {
        lose(e, b, row, "its instruction does too much");
        return NULL;
    }
    check_stream(e, b, row);
    return e->group + e->n;
}

static void grown(struct stf_enc *e, const uint8_t *p)
{
    e->n = (uint32_t)(p - e->group);
}

/* What an access of SIZE bytes read or wrote, up to 8 bytes a record. */
static uint8_t *put_content(struct stf_enc *e, const struct trod_batch *b, uint32_t row,
                            uint32_t size, unsigned id, uint8_t *p)
{
    if (size == 0 || trod_batch_value_gaps(b, row)) {
        trod_loss_columns(e->loss, b, row, TROD_COL_VALUE | TROD_COL_DATA,
                          size == 0 ? "its size is not known" : "digits of it are not known");
        return p;
    }
    if (size <= 8) {
        if (has(b, row, TROD_COL_VALUE)) {
            p = put64(put8(p, id), b->value[row]);
            if (size < 8 && b->value[row] >> 8 * size)
                trod_loss_columns(e->loss, b, row, TROD_COL_VALUE, "it is longer than the access");
        }
        trod_loss_columns(e->loss, b, row, TROD_COL_DATA, "it is not as long as the access");
        return p;
    }
    trod_loss_columns(e->loss, b, row, TROD_COL_VALUE, "it is not as long as the access");
    if (!has(b, row, TROD_COL_DATA))
        return p;
    if (b->data[row].len != size) {
        trod_loss_columns(e->loss, b, row, TROD_COL_DATA, "it is not as long as the access");
        return p;
    }
    for (uint32_t i = 0; i < size; i += 8) {
        uint8_t eight[8] = {0};

        memcpy(eight, trod_batch_bytes(b, b->data[row]) + i, size - i < 8 ? size - i : 8);
        p = put(put8(p, id), eight, sizeof eight);
    }
    return p;
}

static void take_access(struct stf_enc *e, const struct trod_batch *b, uint32_t row)
{
    const uint32_t size = has(b, row, TROD_COL_SIZE) ? b->size[row] : 0;
    const bool bus = b->kind[row] == TROD_BUS;
    uint8_t *p;

    if (!has(b, row, TROD_COL_ADDR) || size > UINT16_MAX || (bus && !e->own)) {
        lose(e, b, row, "a record has an address and up to 65535 bytes");
        return;
    }
    if (!(p = room_for(e, b, row, 32 + 9 * ((size_t)size / 8 + 1))))
        return;
    p = put16(put64(put8(p, bus ? STF_BUS_ACCESS : STF_ACCESS), b->addr[row]), size);
    if (bus) {
        memset(p, 0, 7);
        *p = e->own && has(b, row, TROD_COL_SUB) ? (uint8_t)b->sub[row] : 0;
        p += 7;
    } else {
        p = put16(p, e->own && has(b, row, TROD_COL_SUB) ? b->sub[row] : 0);
        p = put8(p, b->kind[row] == TROD_WRITE ? 2 : 1);
    }
    grown(e, put_content(e, b, row, size, bus ? STF_BUS_CONTENT : STF_CONTENT, p));
}

/* Type and number of the register NAME of N bytes; type 0: STF has none of the name. */
static unsigned register_of(const char *name, size_t n, unsigned *number)
{
    static const char letters[] = {0, 'x', 'f', 'v'};
    int csr;

    for (unsigned type = STF_TYPE_X; type <= STF_TYPE_V; type++) {
        if (n < 2 || n > 3 || name[0] != letters[type] || name[1] < '0' || name[1] > '9' ||
            (n == 3 && (name[2] < '0' || name[2] > '9' || name[1] == '0')))
            continue;
        *number = (unsigned)(name[1] - '0');
        if (n == 3)
            *number = 10 * *number + (unsigned)(name[2] - '0');
        if (*number < 32)
            return type;
    }
    csr = trod_rv_csr_number(name, n);
    if (csr < 0)
        return 0;
    *number = (unsigned)csr;
    return STF_TYPE_CSR;
}

static void take_register(struct stf_enc *e, const struct trod_batch *b, uint32_t row)
{
    const struct trod_slice name =
        has(b, row, TROD_COL_TEXT) ? b->text[row] : (struct trod_slice){0, 0};
    const bool state = has(b, row, TROD_COL_FLAGS) && b->flags[row] & TROD_F_SYNTHETIC;
    unsigned number = 0;
    const unsigned type = register_of((const char *)trod_batch_bytes(b, name), name.len, &number);
    const bool wide = type == STF_TYPE_V;
    const uint32_t len = wide && has(b, row, TROD_COL_DATA) ? b->data[row].len : 0;
    uint8_t *p;

    if (type == 0 || trod_batch_value_gaps(b, row) ||
        (wide ? len == 0 || len > VLEN_BYTES_MAX : !has(b, row, TROD_COL_VALUE)) ||
        (wide && e->pending && e->group_vlen && e->group_vlen != 8 * len)) {
        lose(e, b, row, "it is none of STF's registers, or its value is not known");
        return;
    }
    if (!(p = room_for(e, b, row, 16 + (size_t)len)))
        return;
    p = put16(put8(p, STF_REG), number);
    p = put8(p, type | (unsigned)(state ? STF_USE_STATE : STF_USE_RESULT) << 4);
    if (wide) {
        p = put(p, trod_batch_bytes(b, b->data[row]), len);
        e->group_vlen = 8 * len;
    } else {
        p = put64(p, b->value[row]);
    }
    grown(e, p);
    if (has(b, row, TROD_COL_SIZE) && b->size[row] != (wide ? len : 8))
        trod_loss_columns(e->loss, b, row, TROD_COL_SIZE, "registers have 8 bytes");
}

static void take_walk(struct stf_enc *e, const struct trod_batch *b, uint32_t row)
{
    uint8_t *p;

    if (!e->own || !has(b, row, TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_VALUE)) {
        lose(e, b, row, "it is no entry of a page table with its address and value");
        return;
    }
    if (!(p = room_for(e, b, row, 64)))
        return;
    p = put64(put8(p, STF_WALK), b->addr[row]);
    memset(p, 0, 12); /* its page's number and size are not in the rows */
    p = put8(p + 12, 1);
    grown(e, put64(put64(p, b->paddr[row]), b->value[row]));
}

/* Do numbers of exceptions and modes mean what they mean here? */
static bool is_riscv(const struct stf_enc *e)
{
    return e->meta && (e->meta->isa == TROD_ISA_RISCV64 || e->meta->isa == TROD_ISA_RISCV32);
}

/* An exception, or a change of mode. Of several fields the first is the pc, the last the address.
 */
static void take_event(struct stf_enc *e, const struct trod_batch *b, uint32_t row)
{
    const bool mode = b->kind[row] == TROD_MODE;
    const uint64_t id = has(b, row, TROD_COL_VALUE) ? b->value[row] : 0;
    const unsigned place = mode ? 1 : stf_address_field(id);
    const unsigned fields = mode || has(b, row, TROD_COL_ADDR) ? place : 0;
    uint8_t *p;

    if (!has(b, row, TROD_COL_VALUE) || (!mode && id & MODE_BIT) || !is_riscv(e)) {
        lose(e, b, row, "events are those of RISC-V, by number");
        return;
    }
    if (!(p = room_for(e, b, row, 64)))
        return;
    p = put8(put64(put8(p, STF_EVENT), mode ? MODE_BIT : id), fields);
    for (unsigned i = 1; i <= fields; i++)
        p = put64(p, mode ? id : i == place ? b->addr[row] : i == 1 ? e->at : 0);
    if (!mode && fields == 0)
        trod_loss_columns(e->loss, b, row, TROD_COL_ADDR, "events of this kind have no address");
    if (has(b, row, TROD_COL_TARGET)) {
        p = put64(put8(p, STF_EVENT_TARGET), b->target[row]);
        e->event_target = b->target[row];
        e->event_aimed = true;
    }
    e->event = e->event || !mode;
    grown(e, p);
}

static void take_row(struct stf_enc *e, const struct trod_batch *b, uint32_t row,
                     struct trod_room *out)
{
    switch (b->kind[row]) {
    case TROD_INSTR:
        release(e, has(b, row, TROD_COL_ADDR) ? &b->addr[row] : NULL, out);
        if (has(b, row, TROD_COL_ADDR | TROD_COL_CODE) &&
            (b->code[row].len == 2 || b->code[row].len == 4))
            take_insn(e, b, row);
        else
            lose(e, b, row, "an instruction is its address and its opcode");
        break;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_BUS:
        take_access(e, b, row);
        break;
    case TROD_REG:
        take_register(e, b, row);
        break;
    case TROD_WALK:
        take_walk(e, b, row);
        break;
    case TROD_EXCEPTION:
    case TROD_MODE:
        take_event(e, b, row);
        break;
    default:
        lose(e, b, row, "STF has no record for it");
    }
}

int stf_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag)
{
    (void)diag;
    for (; *row < in->n; ++*row) {
        if (out->end - out->p < STF_ROW_MAX)
            return TROD_ENC_FULL;
        take_row(enc, in, *row, out);
    }
    return TROD_ENC_DONE;
}

int stf_finish(void *enc, struct trod_room *out, struct trod_diag *diag)
{
    struct stf_enc *e = enc;

    (void)diag;
    if (out->end - out->p < STF_ROW_MAX)
        return TROD_ENC_FULL;
    release(e, NULL, out);
    if (!e->begun)
        out->p = put_header(e, out->p);
    e->begun = true;
    return TROD_ENC_DONE;
}
