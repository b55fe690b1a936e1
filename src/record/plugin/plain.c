/*
 * plain.c - instructions that surely are executed to their end.
 *
 * Implements plain.h after the opcode maps of the architecture manuals (Intel SDM volume 2,
 * appendix A; Arm ARM, "A64 instruction set encoding"; Power ISA, appendix of opcodes). Lists what
 * compilers make most of; everything else counts as what may fail, which is only slower.
 */
#include "record/plugin/plain.h"

#include "record/protocol.h"

/* Is the operand of the ModRM byte a register? */
static bool is_register(const uint8_t *p, size_t n)
{
    return n > 0 && p[0] >= 0xc0;
}

/* Opcodes 0f xx. */
static bool plain_0f(const uint8_t *p, size_t n)
{
    if (n == 0)
        return false;
    if ((p[0] & 0xf0) == 0x40 || (p[0] & 0xf0) == 0x90 || p[0] == 0xaf || p[0] == 0xb6 ||
        p[0] == 0xb7 || p[0] == 0xbe || p[0] == 0xbf) /* cmov, setcc, imul, movzx, movsx */
        return is_register(p + 1, n - 1);
    return p[0] == 0x1e || p[0] == 0x1f; /* nop */
}

static bool plain_x86(const uint8_t *p, size_t n, bool wide)
{
    while (n > 0 && (*p == 0x66 || *p == 0x2e || (wide && (*p & 0xf0) == 0x40))) {
        p++;
        n--;
    }
    if (n == 0)
        return false;
    if (p[0] < 0x40 && (p[0] & 7) < 4) /* add or adc sbb and sub xor cmp */
        return is_register(p + 1, n - 1);
    if (p[0] < 0x40 && (p[0] & 7) < 6)
        return true;
    if ((p[0] & 0xf0) == 0xb0 || (p[0] >= 0x90 && p[0] <= 0x99) || p[0] == 0xa8 || p[0] == 0xa9)
        return true;
    if ((p[0] >= 0x84 && p[0] <= 0x8b) || p[0] == 0x80 || p[0] == 0x81 || p[0] == 0x83 ||
        p[0] == 0xc0 || p[0] == 0xc1 || (p[0] >= 0xd0 && p[0] <= 0xd3) || p[0] == 0x69 ||
        p[0] == 0x6b || (wide && p[0] == 0x63))
        return is_register(p + 1, n - 1);
    if (p[0] == 0x8d) /* lea */
        return n > 1 && p[1] < 0xc0;
    if (p[0] == 0xf6 || p[0] == 0xf7) /* test not neg mul imul; not div, idiv */
        return is_register(p + 1, n - 1) && (p[1] >> 3 & 7) < 6;
    if (p[0] == 0xfe || p[0] == 0xff) /* inc, dec */
        return is_register(p + 1, n - 1) && (p[1] >> 3 & 7) < 2;
    return p[0] == 0x0f && plain_0f(p + 1, n - 1);
}

bool rec_repeats(unsigned isa, const uint8_t *code, size_t n)
{
    bool repeated = false;
    size_t i = 0;

    if (isa != REC_X86 && isa != REC_X86_64)
        return false;
    for (; i < n; i++) {
        const uint8_t c = code[i];

        if (c == 0xf2 || c == 0xf3)
            repeated = true;
        else if (c != 0x66 && c != 0x67 && c != 0xf0 && (c & 0xe7) != 0x26 && c != 0x64 &&
                 c != 0x65 && !(isa == REC_X86_64 && (c & 0xf0) == 0x40))
            break;
    }
    /* movs cmps, stos lods scas, ins outs */
    return repeated && i < n &&
           ((code[i] & 0xfc) == 0xa4 || (code[i] >= 0xaa && code[i] <= 0xaf) ||
            (code[i] & 0xfc) == 0x6c);
}

static uint32_t word_le(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t word_be(const uint8_t *p)
{
    return p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

/* Data processing with immediates and with registers. Unallocated encodings end in a trap. */
static bool plain_a64(uint32_t op)
{
    switch (op >> 24 & 0x1f) {
    case 0x10: /* adr, adrp */
    case 0x11: /* add, sub */
        return true;
    case 0x12: /* logical, mov */
        return (op >> 29 & 3) != 1 || (op & 1u << 23) == 0;
    case 0x0a: /* logical, shifted register */
        return true;
    case 0x0b: /* add, sub, shifted and extended */
        return (op >> 22 & 3) != 3;
    default:
        return (op & 0x1fe00000) == 0x1a800000; /* csel and its like */
    }
}

static bool plain_ppc(uint32_t op)
{
    switch (op >> 26) {
    case 7:  /* mulli */
    case 8:  /* subfic */
    case 10: /* cmpli */
    case 11: /* cmpi */
    case 12: /* addic */
    case 13: /* addic. */
    case 14: /* addi */
    case 15: /* addis */
    case 20: /* rlwimi */
    case 21: /* rlwinm */
    case 23: /* rlwnm */
    case 24: /* ori */
    case 25: /* oris */
    case 26: /* xori */
    case 27: /* xoris */
    case 28: /* andi. */
    case 29: /* andis. */
        return true;
    default:
        break;
    }
    if (op >> 26 != 31)
        return false;
    switch (op >> 1 & 0x3ff) {
    case 0:   /* cmp */
    case 32:  /* cmpl */
    case 24:  /* slw */
    case 26:  /* cntlzw */
    case 28:  /* and */
    case 40:  /* subf */
    case 60:  /* andc */
    case 104: /* neg */
    case 124: /* nor */
    case 235: /* mullw */
    case 266: /* add */
    case 316: /* xor */
    case 444: /* or */
    case 536: /* srw */
    case 792: /* sraw */
    case 824: /* srawi */
    case 922: /* extsh */
    case 954: /* extsb */
        return true;
    default:
        return false;
    }
}

bool rec_plain(unsigned isa, const uint8_t *code, size_t n)
{
    switch (isa) {
    case REC_X86:
        return plain_x86(code, n, false);
    case REC_X86_64:
        return plain_x86(code, n, true);
    case REC_A64:
        return n == 4 && plain_a64(word_le(code));
    case REC_PPC:
        return n == 4 && plain_ppc(word_be(code));
    default:
        return false;
    }
}
