/*
 * encode.c - writing cbp2025 from rows.
 *
 * Implements docs/formats/branch.md, "Writing". The access and the registers of an instruction
 * stand in the rows behind it, and where a branch went in the next instruction: one record waits.
 */
#include "format/cbp/cbp2025.h"

#include "core/endian.h"
#include "format/streams.h"

#include <string.h>

/* Fields of A64 loads and stores (Arm ARM, C4.1): modes of addressing. */
enum {
    ONE_MASK = 0x3b200c00, /* of one register */
    ONE_POST = 0x38000400,
    ONE_PRE = 0x38000c00,
    ONE_OFFSET = 0x38200800,
    PAIR_MASK = 0x3a800000,
    PAIR_INDEXED = 0x28800000
};

static bool has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

int cbp_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct cbp_enc *e = enc;

    (void)opt;
    (void)diag;
    e->own = meta && meta->format && strcmp(meta->format, "cbp2025") == 0;
    e->meta = meta;
    return TROD_OK;
}

void cbp_drop(void *enc)
{
    trod_insn_decoder_free(((struct cbp_enc *)enc)->decoder);
}

int cbp_target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct cbp_enc *)enc)->loss = t->loss;
    return TROD_OK;
}

void cbp_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    const uint32_t all = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_PC |
                         TROD_COL_STREAM | TROD_COL_RAW;

    (void)opt;
    if (meta->format && strcmp(meta->format, "cbp2025") == 0)
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++)
        k->flags[i] = 0;
    k->flags[TROD_INSTR] = TROD_F_ISET | TROD_F_BRANCH;
    k->columns[TROD_INSTR] = all | TROD_COL_ADDR | TROD_COL_TARGET;
    k->columns[TROD_READ] = k->columns[TROD_WRITE] = all | TROD_COL_ADDR;
    k->columns[TROD_REG] = all | TROD_COL_TEXT | TROD_COL_VALUE | TROD_COL_DATA;
}

/* --- records --- */

static uint8_t *put(uint8_t *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static uint8_t *put64(uint8_t *to, uint64_t v)
{
    trod_store_le64(to, v);
    return to + 8;
}

/* A base that is written back is the last of the registers that are written. */
static void base_last(struct cbp_enc *e)
{
    const uint8_t n = e->at.written;
    uint8_t value[CBP_WIDE];
    const uint8_t *at = e->base < CBP_REGISTERS ? memchr(e->registers, e->base, n) : NULL;
    size_t i;

    if (!at)
        return;
    i = (size_t)(at - e->registers);
    memcpy(value, e->values + CBP_WIDE * i, CBP_WIDE);
    memmove(e->registers + i, e->registers + i + 1, n - i - 1);
    memmove(e->values + CBP_WIDE * i, e->values + CBP_WIDE * (i + 1), CBP_WIDE * (n - i - 1));
    e->registers[n - 1] = e->base;
    memcpy(e->values + CBP_WIDE * (size_t)(n - 1), value, CBP_WIDE);
}

/* Write the record that waits. NEXT: the address of the instruction behind it, if known. */
static void release(struct cbp_enc *e, const uint64_t *next, struct trod_room *out)
{
    struct cbp_record *r = &e->at;
    const bool branch = cbp_branches[r->class] != 0;
    uint8_t *p = out->p;

    if (!e->pending)
        return;
    e->pending = false;
    if ((r->class == CBP_LOAD || r->class == CBP_STORE) && !e->accessed)
        r->class = CBP_ALU; /* where is not known */
    if (e->asks)
        r->taken = next && *next != r->pc + e->size;
    if (r->taken && !e->aimed && next)
        r->target = *next;
    if (r->taken && !e->aimed && !next) {
        r->taken = 0; /* where it went is not known */
        if (r->class == CBP_COND)
            trod_loss_late(e->loss, &e->row, TROD_COL_FLAGS,
                           "a branch that is taken has a target, and the trace ends here");
    }
    if (!(branch && r->taken))
        trod_loss_late(e->loss, &e->row, TROD_COL_TARGET,
                       "records of branches that are taken have one");
    base_last(e);
    p = put64(p, r->pc);
    *p++ = r->class;
    if (branch) {
        *p++ = r->taken;
        p = r->taken ? put64(p, r->target) : p;
    } else if (r->class == CBP_LOAD || r->class == CBP_STORE) {
        p = put64(p, r->addr);
        *p++ = r->size;
        *p++ = r->writes_back;
        if (r->class == CBP_STORE)
            *p++ = r->has_offset;
    }
    *p++ = r->sources;
    p = put(p, e->source, r->sources);
    *p++ = r->written;
    p = put(p, e->registers, r->written);
    for (unsigned i = 0; i < r->written; i++)
        p = put(p, e->values + CBP_WIDE * i, cbp_is_simd(e->registers[i]) ? CBP_WIDE : 8);
    out->p = p;
}

/* --- rows --- */

/* Is NAME (N bytes, in upper or lower case) that of register NUMBER? */
static bool same_name(const char *name, size_t n, int number)
{
    const char *own = cbp_names[number];

    if (n != strnlen(own, sizeof cbp_names[number]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] != own[i] && (name[i] < 'A' || name[i] > 'Z' || (name[i] | 0x20) != own[i]))
            return false;
    return true;
}

/* The register that NAME is; -1: none. Parts of a register are the register. */
static int number_of(const char *name, size_t n)
{
    char lower[8] = {0};

    if (n == 0 || n >= sizeof lower)
        return -1;
    for (int i = 0; i < CBP_REGISTERS; i++)
        if (same_name(name, n, i))
            return i;
    for (size_t i = 0; i < n; i++)
        lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
    if (strcmp(lower, "cpsr") == 0)
        return CBP_NZCV;
    if (strncmp(lower, "sp_el", 5) == 0)
        return CBP_SP;
    if ((lower[0] == 'w' || lower[0] == 'q' || lower[0] == 'd' || lower[0] == 's') && lower[1]) {
        lower[0] = lower[0] == 'w' ? 'x' : 'v';
        return strcmp(lower, "xsp") == 0 ? CBP_SP : number_of(lower, n);
    }
    return strcmp(lower, "fp") == 0 ? 29 : strcmp(lower, "lr") == 0 ? 30 : -1;
}

static void add_source(struct cbp_enc *e, int number)
{
    if (number < 0 || e->at.sources == CBP_REGISTERS_MAX ||
        memchr(e->source, number, e->at.sources))
        return;
    e->source[e->at.sources++] = (uint8_t)number;
}

static uint8_t class_of(unsigned branch)
{
    if (branch == TROD_BR_COND || branch == TROD_BR_COND_TAKEN)
        return CBP_COND;
    for (uint8_t i = 0; branch && i < CBP_CLASSES; i++)
        if (cbp_branches[i] == branch)
            return i;
    return CBP_ALU;
}

/* The kind of branch that a record of class CLASS is, where the row says BRANCH. */
static unsigned branch_of(uint8_t class, unsigned branch)
{
    return class == CBP_COND ? branch : cbp_branches[class];
}

/* Is there a decoder? What the trace is may be known with its first rows only. */
static bool can_decode(struct cbp_enc *e)
{
    if (!e->decoder && !e->none && e->meta && e->meta->isa == TROD_ISA_A64)
        e->none = trod_insn_decoder_new(&e->decoder, TROD_ISA_A64, TROD_ENDIAN_LITTLE) < 0;
    return e->decoder && e->meta->isa == TROD_ISA_A64;
}

/* What the opcode at CODE says: class, registers that are read, how it addresses. */
static unsigned understand(struct cbp_enc *e, uint64_t pc, const uint8_t *code)
{
    const uint32_t op = trod_load_le32(code);
    const uint8_t rn = op >> 5 & 31, offset = op >> 16 & 31;
    const int rm = offset == 31 ? CBP_ZERO : offset;
    const struct trod_insn *in;

    if (!can_decode(e))
        return TROD_BR_NONE;
    e->at.has_offset = (op & ONE_MASK) == ONE_OFFSET;
    e->at.writes_back = (op & ONE_MASK) == ONE_POST || (op & ONE_MASK) == ONE_PRE ||
                        (op & PAIR_MASK) == PAIR_INDEXED;
    in = trod_insn_decode(e->decoder, TROD_ISET_A64, pc, code, CBP_WORD);
    if (!in->valid)
        return TROD_BR_NONE;
    if (e->at.writes_back)
        e->base = rn;
    if (in->stores) { /* base, offset, data */
        add_source(e, rn);
        add_source(e, e->at.has_offset ? rm : -1);
    }
    for (unsigned i = 0; i < in->n_reads; i++) {
        const char *name = trod_insn_reg_name(e->decoder, TROD_ISET_A64, in->reads[i]);

        add_source(e, number_of(name, strlen(name)));
    }
    e->at.class = in->loads ? CBP_LOAD : in->stores ? CBP_STORE : CBP_ALU;
    if (e->at.class == CBP_ALU && in->flags & TROD_INSN_FP)
        e->at.class = CBP_FP;
    return in->branch;
}

/* The record of the same format whose row this is. */
static void copy_record(struct cbp_enc *e, const uint8_t *raw, uint32_t n)
{
    struct cbp_record r;

    if (cbp_parse(raw, raw + n, &r) != CBP_OK)
        return;
    memcpy(e->source, r.source, r.sources);
    r.written = 0;
    e->at = r;
    e->aimed = true;
}

/* The instruction ROW waits for its rows. */
static void take_insn(struct cbp_enc *e, const struct trod_batch *b, uint32_t row)
{
    const uint32_t flags = has(b, row, TROD_COL_FLAGS) ? b->flags[row] : 0;
    unsigned branch = TROD_BR_NONE;

    e->at = (struct cbp_record){.pc = b->addr[row]};
    e->size = has(b, row, TROD_COL_SIZE) && b->size[row] ? b->size[row] : CBP_WORD;
    e->row = trod_loss_hold(b, row);
    e->pending = true;
    e->asks = e->aimed = e->accessed = false;
    e->base = CBP_REGISTERS;
    if (e->own && has(b, row, TROD_COL_RAW) && b->raw[row].len) {
        copy_record(e, trod_batch_bytes(b, b->raw[row]), b->raw[row].len);
        return;
    }
    if (has(b, row, TROD_COL_CODE) && b->code[row].len == CBP_WORD)
        branch = understand(e, e->at.pc, trod_batch_bytes(b, b->code[row]));
    if (flags & TROD_F_BRANCH)
        branch = flags & TROD_F_BRANCH;
    if (flags & TROD_F_SKIPPED && branch != TROD_BR_NONE)
        branch = TROD_BR_COND_UNTAKEN;
    if (class_of(branch))
        e->at.class = class_of(branch);
    e->aimed = has(b, row, TROD_COL_TARGET);
    e->at.target = e->aimed ? b->target[row] : 0;
    e->row.lost = trod_loss_branch(e->loss, b, row, branch_of(e->at.class, branch), false,
                                   "no class stands for this kind of branch");
    fmt_own_pc(e->loss, b, row, e->at.pc);
    e->asks = branch == TROD_BR_COND;
    e->at.taken = cbp_branches[e->at.class] && branch != TROD_BR_COND_UNTAKEN;
}

/* ROW was put into the record that waits, and is read as one of its instruction. */
static void follow(struct cbp_enc *e, const struct trod_batch *b, uint32_t row)
{
    if (has(b, row, TROD_COL_PC) && b->pc[row] != e->at.pc)
        trod_loss_columns(e->loss, b, row, TROD_COL_PC,
                          "it is one of the record of the instruction before it");
}

/* Whose record is to have row ROW; false: lost. */
static bool belongs(struct cbp_enc *e, const struct trod_batch *b, uint32_t row)
{
    if (e->pending && (!has(b, row, TROD_COL_STREAM) || b->stream[row] == e->waits))
        return true;
    trod_loss_row(e->loss, b, row, "the instruction before it is not its own");
    return false;
}

/*
 * Access ROW and what the record that waits has are neighbours of one direction, as those of a
 * pair of registers are: records have one address and the size in all. False: they are not.
 */
static bool join_access(struct cbp_enc *e, const struct trod_batch *b, uint32_t row)
{
    struct cbp_record *r = &e->at;
    const uint64_t addr = b->addr[row];
    const uint32_t size = has(b, row, TROD_COL_SIZE) ? b->size[row] : 0;

    if (!e->accessed || r->class != (b->kind[row] == TROD_READ ? CBP_LOAD : CBP_STORE) ||
        size == 0 || r->size == 0 || size > (uint32_t)UINT8_MAX - r->size)
        return false;
    if (addr < r->addr ? r->addr - addr != size : addr - r->addr != r->size)
        return false;
    r->addr = addr < r->addr ? addr : r->addr;
    r->size = (uint8_t)(r->size + size);
    return true;
}

static void take_access(struct cbp_enc *e, const struct trod_batch *b, uint32_t row)
{
    const char *why = NULL;

    if (!belongs(e, b, row))
        return;
    if (has(b, row, TROD_COL_ADDR) && join_access(e, b, row)) {
        follow(e, b, row);
        return;
    }
    if (!has(b, row, TROD_COL_ADDR))
        why = "it has no address";
    else if (e->accessed)
        why = "a record has the first access of an instruction, and what lies next to it";
    else if (cbp_branches[e->at.class])
        why = "a branch has no access";
    else if (has(b, row, TROD_COL_SIZE) && b->size[row] > UINT8_MAX)
        why = "a record has no size above 255";
    if (why) {
        trod_loss_row(e->loss, b, row, why);
        return;
    }
    e->at.class = b->kind[row] == TROD_READ ? CBP_LOAD : CBP_STORE;
    e->at.addr = b->addr[row];
    e->at.size = has(b, row, TROD_COL_SIZE) ? (uint8_t)b->size[row] : 0;
    if (has(b, row, TROD_COL_SIZE) && b->size[row] == 0)
        trod_loss_columns(e->loss, b, row, TROD_COL_SIZE,
                          "in a record 0 is a size that is not said");
    e->accessed = true;
    follow(e, b, row);
}

static void take_register(struct cbp_enc *e, const struct trod_batch *b, uint32_t row)
{
    const struct trod_slice name =
        has(b, row, TROD_COL_TEXT) ? b->text[row] : (struct trod_slice){0, 0};
    const int number = number_of((const char *)trod_batch_bytes(b, name), name.len);
    const bool wide = number >= 0 && cbp_is_simd((uint8_t)number);
    uint8_t *value = e->values + (size_t)CBP_WIDE * e->at.written;
    const char *why = NULL;

    if (!belongs(e, b, row))
        return;
    if (number < 0)
        why = "a record has no number for this register";
    else if (e->at.written == CBP_REGISTERS_MAX)
        why = "a record has 32 registers at the most";
    else if (trod_batch_value_gaps(b, row))
        why = "digits of its value are not known";
    else if (wide ? !has(b, row, TROD_COL_DATA) || b->data[row].len != CBP_WIDE
                  : !has(b, row, TROD_COL_VALUE))
        why = "its value is not known, or not of the size that a record has";
    if (why) {
        trod_loss_row(e->loss, b, row, why);
        return;
    }
    if (wide)
        memcpy(value, trod_batch_bytes(b, b->data[row]), CBP_WIDE);
    else
        trod_store_le64(value, b->value[row]);
    e->registers[e->at.written++] = (uint8_t)number;
    if (!same_name((const char *)trod_batch_bytes(b, name), name.len, number))
        trod_loss_columns(e->loss, b, row, TROD_COL_TEXT, "registers have their own names");
    if (has(b, row, TROD_COL_SIZE) && b->size[row] != (wide ? CBP_WIDE : 8u))
        trod_loss_columns(e->loss, b, row, TROD_COL_SIZE, "registers have 8 or 16 bytes");
    follow(e, b, row);
}

static void take_row(struct cbp_enc *e, const struct trod_batch *b, uint32_t row,
                     struct trod_room *out)
{
    const unsigned iset = has(b, row, TROD_COL_FLAGS)
                              ? (b->flags[row] & TROD_F_ISET) >> TROD_F_ISET_SHIFT
                              : TROD_ISET_NONE;

    switch (b->kind[row]) {
    case TROD_INSTR:
        release(e, has(b, row, TROD_COL_ADDR) ? &b->addr[row] : NULL, out);
        if (!has(b, row, TROD_COL_ADDR) || (iset != TROD_ISET_NONE && iset != TROD_ISET_A64)) {
            trod_loss_row(e->loss, b, row, "records are A64 instructions, by address");
            break;
        }
        if (has(b, row, TROD_COL_SIZE) && b->size[row] != CBP_WORD)
            trod_loss_columns(e->loss, b, row, TROD_COL_SIZE, "instructions have 4 bytes");
        e->waits = trod_batch_stream(b, row);
        take_insn(e, b, row);
        break;
    case TROD_READ:
    case TROD_WRITE:
        take_access(e, b, row);
        break;
    case TROD_REG:
        take_register(e, b, row);
        break;
    default:
        trod_loss_row(e->loss, b, row, "records are instructions, an access and registers");
    }
}

int cbp_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag)
{
    (void)diag;
    for (; *row < in->n; ++*row) {
        if (out->end - out->p < CBP_RECORD_MAX)
            return TROD_ENC_FULL;
        take_row(enc, in, *row, out);
    }
    return TROD_ENC_DONE;
}

int cbp_finish(void *enc, struct trod_room *out, struct trod_diag *diag)
{
    (void)diag;
    if (out->end - out->p < CBP_RECORD_MAX)
        return TROD_ENC_FULL;
    release(enc, NULL, out);
    return TROD_ENC_DONE;
}
