/* The text a disassembly is written to: counts past the end, as snprintf does. Private to
 * src/isa/ppc*.c. */
#ifndef TROD_ISA_PPC_TEXT_H
#define TROD_ISA_PPC_TEXT_H

#include "ppc_int.h"

struct ppc_text {
    char *buf;
    size_t room, len;
};

void trod_ppc_put(struct ppc_text *t, const char *s);
void trod_ppc_put_int(struct ppc_text *t, int32_t n);
void trod_ppc_put_hex(struct ppc_text *t, uint32_t n);   /* 0x and eight digits */
void trod_ppc_put_crbit(struct ppc_text *t, unsigned n); /* "4*cr1+eq", "lt" */

/* The branches b, bc, bclr, bcctr and the traps: mnemonic and operands. */
void trod_ppc_put_branch(struct ppc_text *t, const struct trod_ppc_insn *insn, uint32_t pc);
void trod_ppc_put_trap(struct ppc_text *t, const struct trod_ppc_insn *insn);

/* The short form of a move from or to an SPR ("mflr r0", "mtsprg 1,r3"); false when there is none.
 */
bool trod_ppc_put_spr_move(struct ppc_text *t, const struct trod_ppc_insn *insn);

#endif
