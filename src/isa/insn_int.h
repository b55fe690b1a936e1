/*
 * insn_int.h - what the files behind trod/insn.h share.
 */
#ifndef TROD_ISA_INSN_INT_H
#define TROD_ISA_INSN_INT_H

#include "trod/insn.h"

/* Add a register to the ones read or written, once; what does not fit is left out. */
static inline void trod_insn_add(uint16_t *list, uint8_t *n, uint16_t reg)
{
    for (unsigned i = 0; i < *n; i++)
        if (list[i] == reg)
            return;
    if (*n < TROD_INSN_REGS)
        list[(*n)++] = reg;
}

/* Facts of the PowerPC opcode OP at PC. */
void trod_insn_ppc(uint32_t op, uint64_t pc, struct trod_insn *out);
/* Names of the registers that trod_insn_ppc gives. */
const char *trod_insn_ppc_reg(unsigned reg);

struct cs_insn;

/* Facts that Capstone's details of INSN (an open handle's) lead to. BITS: 32 or 64. */
void trod_insn_x86(const struct cs_insn *insn, unsigned bits, struct trod_insn *out);
void trod_insn_a64(const struct cs_insn *insn, struct trod_insn *out);
void trod_insn_a32(const struct cs_insn *insn, struct trod_insn *out);
/* What is put right in the registers that Capstone gives. */
void trod_insn_a64_registers(const struct cs_insn *insn, struct trod_insn *out);
void trod_insn_a32_registers(const struct cs_insn *insn, struct trod_insn *out);
void trod_insn_mips(const struct cs_insn *insn, struct trod_insn *out);

#endif
