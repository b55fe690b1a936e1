/*
 * a64_atomics.h - text of A64's atomic memory operations, for disassemblers that do not know them.
 */
#ifndef TROD_ISA_A64_ATOMICS_H
#define TROD_ISA_A64_ATOMICS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The text of the instruction CODE to OUT (TROD_DISASM_TEXT bytes). Returns its length; 0: it is no
 * such operation.
 */
size_t trod_a64_atomic_text(uint32_t code, char *out);

/* Bytes that such an operation reads and writes; 0: CODE is none. */
unsigned trod_a64_atomic_size(uint32_t code);

#endif
