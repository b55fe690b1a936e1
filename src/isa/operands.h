/*
 * operands.h - the memory operands of an instruction, one by one, in the order in which a tracer
 * that instruments instructions meets them: those read, then those written.
 *
 * trod/insn.h says how much an instruction accesses; here is where, as far as the opcode tells.
 */
#ifndef TROD_ISA_OPERANDS_H
#define TROD_ISA_OPERANDS_H

#include "trod/insn.h"

enum { TROD_OPERANDS_READ = 3, TROD_OPERANDS_WRITTEN = 2 };

enum trod_operand_form {
    TROD_OPERAND_OTHER, /* an index, a segment with a base of its own: no more is known */
    TROD_OPERAND_BASE,  /* register BASE and DISP, nothing else */
    TROD_OPERAND_FIXED  /* at address DISP */
};

struct trod_operand {
    uint64_t disp;
    uint32_t size; /* bytes; 0: it depends on the state of the machine */
    uint8_t form;  /* enum trod_operand_form */
    uint8_t base;  /* number of the register: bit of trod_operands.changes */
};

enum trod_operands_flag {
    TROD_OPERANDS_REPEATED = 1 << 0,  /* a string instruction under rep: an element each time */
    TROD_OPERANDS_ELEMENTS = 1 << 1,  /* gather or scatter: any number of elements */
    TROD_OPERANDS_CONDITION = 1 << 2, /* accesses happen under a condition or mask */
    TROD_OPERANDS_SYSENTER = 1 << 3,  /* a system call that does not return to what follows it */
    TROD_OPERANDS_LINE = 1 << 4,      /* writes the whole cache line that its address lies in */
    TROD_OPERANDS_CODE = 1 << 5       /* of a flush: of instructions */
};

/* What a prefetch asks for. */
enum trod_hint {
    TROD_HINT_ANY,
    TROD_HINT_T0,
    TROD_HINT_T1,
    TROD_HINT_T2,
    TROD_HINT_NTA,
    TROD_HINT_WRITE,
    TROD_HINT_A64 = 32 /* from here on: the operation of PRFM, five bits */
};

struct trod_operands {
    struct trod_insn insn; /* valid 0: no such instruction, or its operands are not known */
    struct trod_operand read[TROD_OPERANDS_READ], written[TROD_OPERANDS_WRITTEN];
    uint8_t n_read, n_written;
    uint8_t flags;    /* enum trod_operands_flag */
    uint8_t hint;     /* of a prefetch: enum trod_hint */
    uint64_t changes; /* general registers that it writes, partly or as a whole: bits */
};

struct trod_operands_decoder;

/*
 * A decoder of ISA, little-endian (x86, A64). Returns 0, TROD_ERR_NOMEM or TROD_ERR_UNSUPPORTED
 * (x86 without Capstone, other instruction sets), not reported. Release it with trod_operands_free;
 * NULL is allowed.
 */
int trod_operands_new(struct trod_operands_decoder **out, enum trod_isa isa);
void trod_operands_free(struct trod_operands_decoder *d);

/* The instruction that the N bytes at CODE begin with, at address PC, into OUT. */
void trod_operands_decode(struct trod_operands_decoder *d, uint64_t pc, const uint8_t *code,
                          uint32_t n, struct trod_operands *out);

/* operands_a64.c: of the A64 instruction CODE at address PC. */
void trod_operands_a64(uint64_t pc, uint32_t code, struct trod_operands *out);

/* evex_x86.c: of AVX-512 in 64-bit code, for a Capstone that does not know it. */
bool trod_operands_evex(uint64_t pc, const uint8_t *code, uint32_t n, struct trod_operands *out);

struct cs_insn;

/* The bit of trod_operands.changes that register REG of Capstone (x86) is part of; 0: none. */
uint64_t trod_operands_x86_reg(unsigned reg);
/* operands_x86.c: the same of INSN, an open handle's, whose changes are in OUT. */
void trod_operands_x86(const struct cs_insn *insn, unsigned bits, struct trod_operands *out);

#endif
