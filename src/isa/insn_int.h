/*
 * insn_int.h - what the files behind trod/insn.h share.
 */
#ifndef TROD_ISA_INSN_INT_H
#define TROD_ISA_INSN_INT_H

#include "trod/insn.h"

#include <string.h>

/* Add a register to the ones read or written, once; what does not fit is left out. */
static inline void trod_insn_add(uint16_t *list, uint8_t *n, uint16_t reg)
{
    for (unsigned i = 0; i < *n; i++)
        if (list[i] == reg)
            return;
    if (*n < TROD_INSN_REGS)
        list[(*n)++] = reg;
}

/* Is M one of LIST, which ends with NULL? */
static inline bool trod_insn_named(const char *m, const char *const *list)
{
    /* most differ in the first letter: nothing is called for these */
    while (*list && (m[0] != (*list)[0] || strcmp(m, *list) != 0))
        list++;
    return *list != NULL;
}

/* Facts of the PowerPC opcode OP at PC. */
void trod_insn_ppc(uint32_t op, uint64_t pc, struct trod_insn *out);
/* Names of the registers that trod_insn_ppc gives. */
const char *trod_insn_ppc_reg(unsigned reg);
/* Facts of the RISC-V instruction that the N bytes at CODE begin with, in code of BITS. */
void trod_insn_riscv(const uint8_t *code, size_t n, uint64_t pc, unsigned bits,
                     struct trod_insn *out);
const char *trod_insn_riscv_reg(unsigned reg);

struct cs_insn;

/* Facts that Capstone's details of INSN (an open handle's) lead to. BITS: 32 or 64. */
void trod_insn_x86(const struct cs_insn *insn, unsigned bits, struct trod_insn *out);
void trod_insn_a64(const struct cs_insn *insn, struct trod_insn *out);
/* The same of the atomic memory operation CODE (FEAT_LSE), for a Capstone that does not know it. */
void trod_insn_a64_atomic(uint32_t code, struct trod_insn *out);
/* Branches of A64 with pointer authentication, which old Capstones do not know. False: none. */
bool trod_insn_a64_authenticated(uint32_t code, struct trod_insn *out);
void trod_insn_a32(const struct cs_insn *insn, struct trod_insn *out);
/* What is put right in the registers that Capstone gives. */
void trod_insn_x86_registers(const struct cs_insn *insn, unsigned bits, struct trod_insn *out);
void trod_insn_a64_registers(const struct cs_insn *insn, struct trod_insn *out);
void trod_insn_a32_registers(const struct cs_insn *insn, struct trod_insn *out);
void trod_insn_mips(const struct cs_insn *insn, struct trod_insn *out);
/* Flags of its family, and its extension; the flags above are there. HANDLE: Capstone's. */
void trod_insn_kind(size_t handle, const struct cs_insn *insn, enum trod_isa isa, unsigned iset,
                    struct trod_insn *out);

#endif
