/*
 * riscv_short.c - RISC-V instructions of 16 bits.
 *
 * Implements trod_rv_expand of riscv.h: The RISC-V Instruction Set Manual, volume I, chapter "C".
 */
#include "isa/riscv.h"

enum form {
#define RISCV_SHORT(name, mask, match, form, set, operands) form,
#include "isa/riscv_short.def"
#undef RISCV_SHORT
};

static const struct {
    const char *name, *operands;
    uint16_t mask, match;
    uint8_t form, set;
} table[] = {
#define RISCV_SHORT(name, mask, match, form, set, operands)                                        \
    {name, operands, mask, match, form, set},
#include "isa/riscv_short.def"
#undef RISCV_SHORT
};

enum { SP = 2, RA = 1, OP_IMM = 0x13, OP_IMM_32 = 0x1b, OP = 0x33, OP_32 = 0x3b };

/* ---- words of 32 bits */

static uint32_t word_i(uint32_t op, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return op | rd << 7 | funct3 << 12 | rs1 << 15 | imm << 20;
}

static uint32_t word_r(uint32_t op, uint32_t funct, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return op | rd << 7 | (funct & 7) << 12 | rs1 << 15 | rs2 << 20 | funct >> 3 << 25;
}

static uint32_t word_s(uint32_t op, uint32_t funct3, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
    return op | (imm & 31) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | imm >> 5 << 25;
}

static uint32_t word_j(uint32_t rd, uint32_t off)
{
    return 0x6f | rd << 7 | (off & 0xff000) | (off >> 11 & 1) << 20 | (off >> 1 & 0x3ff) << 21 |
           (off >> 20 & 1) << 31;
}

static uint32_t word_b(uint32_t funct3, uint32_t rs1, uint32_t off)
{
    return 0x63 | (off >> 11 & 1) << 7 | (off >> 1 & 15) << 8 | funct3 << 12 | rs1 << 15 |
           (off >> 5 & 63) << 25 | (off >> 12 & 1) << 31;
}

/* ---- fields of 16 bits */

/* Bits [LO, LO + N) of C, at bit AT. */
static uint32_t bits(uint16_t c, unsigned lo, unsigned n, unsigned at)
{
    return ((uint32_t)c >> lo & ((1u << n) - 1)) << at;
}

static uint32_t sign(uint32_t v, unsigned n)
{
    return v & 1u << (n - 1) ? v | ~((1u << n) - 1) : v;
}

static uint32_t imm6(uint16_t c)
{
    return sign(bits(c, 2, 5, 0) | bits(c, 12, 1, 5), 6);
}

static uint32_t shift6(uint16_t c)
{
    return bits(c, 2, 5, 0) | bits(c, 12, 1, 5);
}

static uint32_t offset_w(uint16_t c)
{
    return bits(c, 6, 1, 2) | bits(c, 10, 3, 3) | bits(c, 5, 1, 6);
}

static uint32_t offset_d(uint16_t c)
{
    return bits(c, 10, 3, 3) | bits(c, 5, 2, 6);
}

static uint32_t load_sp_w(uint16_t c)
{
    return bits(c, 4, 3, 2) | bits(c, 12, 1, 5) | bits(c, 2, 2, 6);
}

static uint32_t load_sp_d(uint16_t c)
{
    return bits(c, 5, 2, 3) | bits(c, 12, 1, 5) | bits(c, 2, 3, 6);
}

static uint32_t store_sp_w(uint16_t c)
{
    return bits(c, 9, 4, 2) | bits(c, 7, 2, 6);
}

static uint32_t store_sp_d(uint16_t c)
{
    return bits(c, 10, 3, 3) | bits(c, 7, 3, 6);
}

static uint32_t jump(uint16_t c)
{
    return sign(bits(c, 3, 3, 1) | bits(c, 11, 1, 4) | bits(c, 2, 1, 5) | bits(c, 7, 1, 6) |
                    bits(c, 6, 1, 7) | bits(c, 9, 2, 8) | bits(c, 8, 1, 10) | bits(c, 12, 1, 11),
                12);
}

static uint32_t branch(uint16_t c)
{
    return sign(bits(c, 3, 2, 1) | bits(c, 10, 2, 3) | bits(c, 2, 1, 5) | bits(c, 5, 2, 6) |
                    bits(c, 12, 1, 8),
                9);
}

static uint32_t add_sp(uint16_t c)
{
    return sign(bits(c, 6, 1, 4) | bits(c, 2, 1, 5) | bits(c, 5, 1, 6) | bits(c, 3, 2, 7) |
                    bits(c, 12, 1, 9),
                10);
}

static uint32_t add4_sp(uint16_t c)
{
    return bits(c, 6, 1, 2) | bits(c, 5, 1, 3) | bits(c, 11, 2, 4) | bits(c, 7, 4, 6);
}

/* Loads and stores; 0: FORM is none. */
static uint32_t memory(unsigned form, uint16_t c)
{
    const uint32_t rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    const uint32_t low = 8 + (c >> 2 & 7), high = 8 + (c >> 7 & 7);

    switch (form) {
    case C_LW:
        return word_i(0x03, 2, low, high, offset_w(c));
    case C_LD:
        return word_i(0x03, 3, low, high, offset_d(c));
    case C_FLW:
        return word_i(0x07, 2, low, high, offset_w(c));
    case C_FLD:
        return word_i(0x07, 3, low, high, offset_d(c));
    case C_SW:
        return word_s(0x23, 2, high, low, offset_w(c));
    case C_SD:
        return word_s(0x23, 3, high, low, offset_d(c));
    case C_FSW:
        return word_s(0x27, 2, high, low, offset_w(c));
    case C_FSD:
        return word_s(0x27, 3, high, low, offset_d(c));
    case C_LWSP:
        return rd ? word_i(0x03, 2, rd, SP, load_sp_w(c)) : 0;
    case C_LDSP:
        return rd ? word_i(0x03, 3, rd, SP, load_sp_d(c)) : 0;
    case C_FLWSP:
        return word_i(0x07, 2, rd, SP, load_sp_w(c));
    case C_FLDSP:
        return word_i(0x07, 3, rd, SP, load_sp_d(c));
    case C_SWSP:
        return word_s(0x23, 2, SP, rs2, store_sp_w(c));
    case C_SDSP:
        return word_s(0x23, 3, SP, rs2, store_sp_d(c));
    case C_FSWSP:
        return word_s(0x27, 2, SP, rs2, store_sp_w(c));
    case C_FSDSP:
        return word_s(0x27, 3, SP, rs2, store_sp_d(c));
    default:
        return 0;
    }
}

/* Jumps and branches; 0: FORM is none. */
static uint32_t flow(unsigned form, uint16_t c)
{
    const uint32_t rs1 = c >> 7 & 31, high = 8 + (c >> 7 & 7);

    switch (form) {
    case C_J:
        return word_j(0, jump(c));
    case C_JAL:
        return word_j(RA, jump(c));
    case C_BEQZ:
        return word_b(0, high, branch(c));
    case C_BNEZ:
        return word_b(1, high, branch(c));
    case C_JR:
        return rs1 ? word_i(0x67, 0, 0, rs1, 0) : 0;
    case C_JALR:
        return word_i(0x67, 0, RA, rs1, 0);
    case C_EBREAK:
        return 0x100073;
    default:
        return 0;
    }
}

static uint32_t arithmetic(unsigned form, uint16_t c)
{
    const uint32_t rd = c >> 7 & 31, rs2 = c >> 2 & 31;
    const uint32_t low = 8 + (c >> 2 & 7), high = 8 + (c >> 7 & 7);

    switch (form) {
    case C_ADDI4SPN:
        return add4_sp(c) ? word_i(OP_IMM, 0, low, SP, add4_sp(c)) : 0;
    case C_NOP:
    case C_ADDI:
        return word_i(OP_IMM, 0, rd, rd, imm6(c));
    case C_ADDIW:
        return rd ? word_i(OP_IMM_32, 0, rd, rd, imm6(c)) : 0;
    case C_LI:
        return word_i(OP_IMM, 0, rd, 0, imm6(c));
    case C_ADDI16SP:
        return add_sp(c) ? word_i(OP_IMM, 0, SP, SP, add_sp(c)) : 0;
    case C_LUI:
        return imm6(c) ? 0x37 | rd << 7 | imm6(c) << 12 : 0;
    case C_SRLI:
        return word_i(OP_IMM, 5, high, high, shift6(c));
    case C_SRAI:
        return word_i(OP_IMM, 5, high, high, shift6(c) | 0x400);
    case C_ANDI:
        return word_i(OP_IMM, 7, high, high, imm6(c));
    case C_SLLI:
        return word_i(OP_IMM, 1, rd, rd, shift6(c));
    case C_SUB:
        return word_r(OP, 0x20 << 3, high, high, low);
    case C_XOR:
        return word_r(OP, 4, high, high, low);
    case C_OR:
        return word_r(OP, 6, high, high, low);
    case C_AND:
        return word_r(OP, 7, high, high, low);
    case C_SUBW:
        return word_r(OP_32, 0x20 << 3, high, high, low);
    case C_ADDW:
        return word_r(OP_32, 0, high, high, low);
    case C_MV:
        return word_r(OP, 0, rd, 0, rs2);
    case C_ADD:
        return word_r(OP, 0, rd, rd, rs2);
    default:
        return 0;
    }
}

uint32_t trod_rv_expand(uint16_t code, unsigned bits_of_code, const char **name,
                        const char **operands)
{
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        uint32_t w;

        if ((code & table[i].mask) != table[i].match ||
            (table[i].set && table[i].set != bits_of_code))
            continue;
        *name = table[i].name;
        *operands = table[i].operands;
        w = memory(table[i].form, code);
        w = w ? w : flow(table[i].form, code);
        return w ? w : arithmetic(table[i].form, code);
    }
    return 0;
}
