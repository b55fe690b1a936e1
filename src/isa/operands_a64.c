/*
 * operands_a64.c - memory operands of A64 instructions, from their bits.
 *
 * Implements isa/operands.h after the Arm Architecture Reference Manual, C4.1, "A64 instruction set
 * encoding". Operands are those that DynamoRIO names: one for a pair or a list of registers, its
 * bytes together; of atomic operations the same one read and written; sp is no base whose value is
 * told. SVE, SME, memory tags and what came after FEAT_LRCPC2 are not known: not valid.
 */
#include "isa/a64_atomics.h"
#include "isa/operands.h"

enum { SP = 31, LINK = 30 };

static uint32_t bits(uint32_t w, unsigned low, unsigned n)
{
    return w >> low & ((1u << n) - 1);
}

static uint64_t sign(uint32_t v, unsigned n)
{
    const uint64_t top = UINT64_C(1) << (n - 1);

    return (v ^ top) - top;
}

static void changes(struct trod_operands *out, unsigned reg)
{
    if (reg != SP)
        out->changes |= UINT64_C(1) << reg;
}

/* Memory at the base register of W and DISP. */
static struct trod_operand at_base(uint32_t w, uint64_t disp, uint32_t size)
{
    const unsigned base = bits(w, 5, 5);

    return (struct trod_operand){.disp = disp,
                                 .size = size,
                                 .base = (uint8_t)base,
                                 .form = base == SP ? TROD_OPERAND_OTHER : TROD_OPERAND_BASE};
}

static void load(struct trod_operands *out, struct trod_operand op)
{
    out->read[out->n_read++] = op;
}

static void store(struct trod_operands *out, struct trod_operand op)
{
    out->written[out->n_written++] = op;
}

static void prefetch(struct trod_operands *out, uint32_t w, struct trod_operand op)
{
    load(out, op);
    out->insn.flags |= TROD_INSN_PREFETCH;
    out->hint = (uint8_t)(TROD_HINT_A64 + bits(w, 0, 5));
}

/* --- branches, exceptions, system --- */

static void branch(struct trod_operands *out, uint8_t kind)
{
    out->insn.branch = kind;
    if (kind == TROD_BR_CALL || kind == TROD_BR_ICALL)
        changes(out, LINK);
}

static void branch_to(struct trod_operands *out, uint8_t kind, uint64_t pc, uint32_t words,
                      unsigned n)
{
    branch(out, kind);
    out->insn.flags |= TROD_INSN_TARGET;
    out->insn.target = pc + 4 * sign(words, n);
}

/* BR, BLR, RET, ERET and their forms that authenticate. False: no such branch. */
static bool to_register(struct trod_operands *out, uint32_t w)
{
    switch (bits(w, 21, 4)) {
    case 0:
    case 8:
        branch(out, TROD_BR_INDIRECT);
        return true;
    case 1:
    case 9:
        branch(out, TROD_BR_ICALL);
        return true;
    case 2:
        branch(out, TROD_BR_RETURN);
        return true;
    case 4:
        branch(out, TROD_BR_ERET);
        return true;
    default:
        return false;
    }
}

/* Hints that authenticate write x30, or x17. */
static void hint(struct trod_operands *out, unsigned number)
{
    switch (number) {
    case 8:
    case 10:
    case 12:
    case 14:
        changes(out, 17);
        return;
    case 7:
    case 24:
    case 25:
    case 26:
    case 27:
    case 28:
    case 29:
    case 30:
    case 31:
        changes(out, LINK);
        return;
    case 40:
        changes(out, 16);
        return;
    default:
        return;
    }
}

/* DC and IC by address: op1, CRm and op2 of SYS with CRn 7. */
static void maintenance(struct trod_operands *out, uint32_t w)
{
    const unsigned what = bits(w, 16, 3) << 8 | bits(w, 8, 4) << 4 | bits(w, 5, 3);
    const uint32_t reg = bits(w, 0, 5);
    const struct trod_operand op = at_base(reg << 5, 0, 0);

    switch (what) {
    case 0x341: /* DC ZVA */
        store(out, op);
        out->flags |= TROD_OPERANDS_LINE;
        return;
    case 0x351: /* IC IVAU */
        out->flags |= TROD_OPERANDS_CODE;
        break;
    case 0x061: /* DC IVAC, CVAC, CVAU, CVAP, CVADP, CIVAC */
    case 0x3a1:
    case 0x3b1:
    case 0x3c1:
    case 0x3d1:
    case 0x3e1:
        break;
    default:
        return;
    }
    load(out, op);
    out->insn.flags |= TROD_INSN_FLUSH;
}

static bool flow(struct trod_operands *out, uint32_t w, uint64_t pc)
{
    if ((w & 0x7c000000) == 0x14000000)
        branch_to(out, w >> 31 ? TROD_BR_CALL : TROD_BR_DIRECT, pc, bits(w, 0, 26), 26);
    else if ((w & 0x7e000000) == 0x34000000 || (w & 0xff000000) == 0x54000000)
        branch_to(out, TROD_BR_COND, pc, bits(w, 5, 19), 19);
    else if ((w & 0x7e000000) == 0x36000000)
        branch_to(out, TROD_BR_COND, pc, bits(w, 5, 14), 14);
    else if ((w & 0xfe000000) == 0xd6000000)
        return to_register(out, w);
    else if ((w & 0xff00001f) == 0xd4000001)
        out->insn.branch = bits(w, 21, 3) ? TROD_BR_NONE : TROD_BR_SYSCALL;
    else if ((w & 0xfffff01f) == 0xd503201f)
        hint(out, bits(w, 5, 7));
    else if ((w & 0xfff8f000) == 0xd5087000 && bits(w, 19, 2) == 1)
        maintenance(out, w);
    else if ((w & 0xffc00000) == 0xd5000000 && bits(w, 21, 1))
        changes(out, bits(w, 0, 5)); /* MRS, SYSL, TSTART, TTEST */
    else
        return (w & 0xff000000) == 0xd4000000 || (w & 0xffc00000) == 0xd5000000;
    return true;
}

/* --- loads and stores --- */

/* Exclusive and ordered accesses, compare and swap. */
static bool exclusive(struct trod_operands *out, uint32_t w)
{
    const unsigned size = bits(w, 30, 2);
    const bool ordered = bits(w, 23, 1), read = bits(w, 22, 1), pair = bits(w, 21, 1);
    const uint32_t swaps = trod_a64_atomic_size(w);
    const struct trod_operand op = at_base(w, 0, swaps ? swaps : pair ? 2u << size : 1u << size);

    if (swaps) {
        load(out, op);
        store(out, op);
        changes(out, bits(w, 16, 5));
        if (!ordered && bits(w, 16, 5) != SP)
            changes(out, bits(w, 16, 5) + 1);
        return true;
    }
    if (pair && (ordered || size < 2))
        return false;
    if (read) {
        load(out, op);
        changes(out, bits(w, 0, 5));
        if (pair)
            changes(out, bits(w, 10, 5));
    } else {
        store(out, op);
        if (!ordered)
            changes(out, bits(w, 16, 5));
    }
    return true;
}

/* LD1 to LD4, ST1 to ST4 of whole registers. */
static uint32_t structure_bytes(uint32_t w)
{
    static const uint8_t registers[16] = {
        [0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};

    return (bits(w, 30, 1) ? 16u : 8u) * registers[bits(w, 12, 4)];
}

/* The same of one element of each, or of one that is repeated. */
static uint32_t element_bytes(uint32_t w)
{
    const unsigned opcode = bits(w, 13, 3), size = bits(w, 10, 2);
    const uint32_t registers = ((opcode & 1) << 1 | bits(w, 21, 1)) + 1;

    switch (opcode >> 1) {
    case 0:
        return registers;
    case 1:
        return size & 1 ? 0 : 2 * registers;
    case 2:
        return (size == 1 ? 8u : size == 0 ? 4u : 0) * registers;
    default:
        return bits(w, 22, 1) && !bits(w, 12, 1) ? registers << size : 0;
    }
}

static bool structures(struct trod_operands *out, uint32_t w)
{
    const bool single = bits(w, 24, 1), after = bits(w, 23, 1);
    const struct trod_operand op = at_base(w, 0, single ? element_bytes(w) : structure_bytes(w));

    if (w >> 31 || op.size == 0 || (!single && bits(w, 21, 1)) || (!after && bits(w, 16, 5)))
        return false;
    if (bits(w, 22, 1))
        load(out, op);
    else
        store(out, op);
    if (after)
        changes(out, bits(w, 5, 5));
    return true;
}

static bool literal(struct trod_operands *out, uint32_t w, uint64_t pc)
{
    const unsigned opc = bits(w, 30, 2);
    const bool vector = bits(w, 26, 1);
    struct trod_operand op = {.form = TROD_OPERAND_FIXED,
                              .disp = pc + 4 * sign(bits(w, 5, 19), 19)};

    if (vector && opc == 3)
        return false;
    op.size = vector ? 4u << opc : opc == 1 ? 8 : 4;
    if (!vector && opc == 3) {
        prefetch(out, w, op);
        return true;
    }
    load(out, op);
    if (!vector)
        changes(out, bits(w, 0, 5));
    return true;
}

static bool pair(struct trod_operands *out, uint32_t w)
{
    const unsigned opc = bits(w, 30, 2), index = bits(w, 23, 2);
    const bool vector = bits(w, 26, 1), read = bits(w, 22, 1);
    const uint32_t size = vector ? 4u << opc : opc == 2 ? 8 : 4;
    const uint64_t disp = size * sign(bits(w, 15, 7), 7);
    const struct trod_operand op = at_base(w, index == 1 ? 0 : disp, 2 * size);

    /* LDPSW is only a load and has no form without a hint; the store there is of tags */
    if (opc == 3 || (!vector && opc == 1 && (!read || index == 0)))
        return false;
    if (read)
        load(out, op);
    else
        store(out, op);
    if (index & 1)
        changes(out, bits(w, 5, 5));
    if (read && !vector) {
        changes(out, bits(w, 0, 5));
        changes(out, bits(w, 10, 5));
    }
    return true;
}

/* Of one register, OP: what size and opc say. */
static bool single(struct trod_operands *out, uint32_t w, struct trod_operand op, bool hints)
{
    const unsigned size = bits(w, 30, 2), opc = bits(w, 22, 2);
    const bool vector = bits(w, 26, 1);

    if (vector ? opc >= 2 && size != 0 : opc == 3 && size >= 2)
        return false;
    if (!vector && size == 3 && opc == 2) {
        if (hints)
            prefetch(out, w, op);
        return hints;
    }
    if (vector ? !(opc & 1) : opc == 0) {
        store(out, op);
    } else {
        load(out, op);
        if (!vector)
            changes(out, bits(w, 0, 5));
    }
    return true;
}

/* Atomic operations on memory, LDAPR. */
static bool atomic(struct trod_operands *out, uint32_t w)
{
    const struct trod_operand op = at_base(w, 0, 1u << bits(w, 30, 2));

    if ((w & 0x3ffffc00) == 0x38bfc000) {
        load(out, op);
    } else if (trod_a64_atomic_size(w)) {
        load(out, op);
        store(out, op);
    } else {
        return false;
    }
    changes(out, bits(w, 0, 5));
    return true;
}

static bool registers(struct trod_operands *out, uint32_t w)
{
    const bool vector = bits(w, 26, 1);
    const uint32_t size = 1u << (bits(w, 30, 2) | (vector ? bits(w, 23, 1) << 2 : 0));
    const unsigned index = bits(w, 10, 2);
    const uint64_t near = sign(bits(w, 12, 9), 9);
    struct trod_operand op;

    if (bits(w, 24, 1))
        return single(out, w, at_base(w, (uint64_t)size * bits(w, 10, 12), size), true);
    if (bits(w, 21, 1) && index == 0)
        return !vector && atomic(out, w);
    if (bits(w, 21, 1) && index == 2) {
        op = at_base(w, 0, size);
        op.form = TROD_OPERAND_OTHER;
        return bits(w, 14, 1) && single(out, w, op, true);
    }
    if (bits(w, 21, 1)) { /* LDRAA, LDRAB */
        if (vector || bits(w, 30, 2) != 3)
            return false;
        op = at_base(w, 8 * sign(bits(w, 22, 1) << 9 | bits(w, 12, 9), 10), 8);
        load(out, op);
        changes(out, bits(w, 0, 5));
        if (index == 3)
            changes(out, bits(w, 5, 5));
        return true;
    }
    if (vector && index == 2)
        return false;
    op = at_base(w, index == 1 ? 0 : near, size);
    if (!single(out, w, op, index == 0))
        return false;
    if (index & 1)
        changes(out, bits(w, 5, 5));
    return true;
}

static bool memory(struct trod_operands *out, uint32_t w, uint64_t pc)
{
    if ((w & 0x3f000000) == 0x08000000)
        return exclusive(out, w);
    if ((w & 0x3e000000) == 0x0c000000)
        return structures(out, w);
    if ((w & 0x3b000000) == 0x18000000)
        return literal(out, w, pc);
    if ((w & 0x3f200c00) == 0x19000000) { /* LDAPUR, STLUR */
        const uint32_t size = 1u << bits(w, 30, 2);

        return single(out, w, at_base(w, sign(bits(w, 12, 9), 9), size), false);
    }
    if ((w & 0x3a000000) == 0x28000000)
        return pair(out, w);
    return (w & 0x3a000000) == 0x38000000 && registers(out, w);
}

/* --- what else writes general registers --- */

static void processing(struct trod_operands *out, uint32_t w)
{
    const unsigned group = bits(w, 21, 4);

    /* conditional compares, RMIF and SETF write flags only */
    if (bits(w, 28, 1) && (group == 2 || (group == 0 && bits(w, 10, 6) != 0)))
        return;
    changes(out, bits(w, 0, 5));
}

/* Of floating point and vectors: conversions to integers, moves of elements. */
static void vectors(struct trod_operands *out, uint32_t w)
{
    const unsigned opcode = bits(w, 16, 3);
    const bool whole = (w & 0x7f20fc00) == 0x1e200000 && opcode != 2 && opcode != 3 && opcode != 7;
    const bool fixed = (w & 0x7f3e0000) == 0x1e180000;
    const bool element = (w & 0xbfe08400) == 0x0e000400 && (bits(w, 11, 4) | 2) == 7;

    if (whole || fixed || element)
        changes(out, bits(w, 0, 5));
}

void trod_operands_a64(uint64_t pc, uint32_t w, struct trod_operands *out)
{
    bool valid;

    *out = (struct trod_operands){.n_read = 0};
    switch (bits(w, 25, 4)) {
    case 0x8:
    case 0x9:
        changes(out, bits(w, 0, 5));
        valid = true;
        break;
    case 0xa:
    case 0xb:
        valid = flow(out, w, pc);
        break;
    case 0x5:
    case 0xd:
        processing(out, w);
        valid = true;
        break;
    case 0x7:
    case 0xf:
        vectors(out, w);
        valid = true;
        break;
    case 0x0:
        valid = w >> 16 == 0; /* UDF */
        break;
    default:
        valid = bits(w, 27, 1) && !bits(w, 25, 1) && memory(out, w, pc);
        break;
    }
    if (!valid)
        *out = (struct trod_operands){.n_read = 0};
    out->insn.valid = valid;
    out->insn.size = valid ? 4 : 0;
}
