/*
 * disasm.h - opcode bytes to text, for every instruction set that traces have.
 *
 * PowerPC and RISC-V go to decoders of our own, the others to Capstone. Each distinct instruction
 * is decoded once: texts are kept in a table of fixed size.
 */
#ifndef TROD_DISASM_H
#define TROD_DISASM_H

#include "trod/batch.h"
#include "trod/meta.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_disasm;

enum { TROD_DISASM_TEXT = 96, TROD_DISASM_CODE = 16 }; /* bytes of text, of opcode, at most */

/*
 * A disassembler for ISA and ENDIAN (of the code). Returns 0, TROD_ERR_NOMEM or
 * TROD_ERR_UNSUPPORTED (reported as a warning: no decoder for ISA in this build, or at all).
 * Release it with trod_disasm_free; NULL is allowed.
 */
int trod_disasm_new(struct trod_disasm **out, enum trod_isa isa, enum trod_endian endian,
                    struct trod_diag *diag);
void trod_disasm_free(struct trod_disasm *d);

/* The library that disassembles all but PowerPC and RISC-V, and its version: "Capstone 4.0". Static
 * text, never NULL. */
const char *trod_disasm_version(void);

/*
 * The text of the instruction whose N opcode bytes lie at CODE in memory order, at address PC. ISET
 * (enum trod_iset) chooses between A32, T32 and A64; TROD_ISET_NONE means what the ISA has. The
 * text is valid until the next call; *LEN is its length. What is no instruction gives ".byte ..".
 * Never fails.
 */
const char *trod_disasm_text(struct trod_disasm *d, unsigned iset, uint64_t pc, const uint8_t *code,
                             uint32_t n, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
