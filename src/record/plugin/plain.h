/*
 * plain.h - instructions that surely are executed to their end.
 */
#ifndef TROD_RECORD_PLAIN_H
#define TROD_RECORD_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * True when the instruction of N bytes at CODE (memory order) of ISA (enum rec_isa) accesses no
 * memory, cannot trap and does not change the flow: whatever begins it executes it, and what
 * follows it too. False when that is not certain.
 */
bool rec_plain(unsigned isa, const uint8_t *code, size_t n);

/* Is it an x86 string operation that is repeated (rep, repe, repne)? */
bool rec_repeats(unsigned isa, const uint8_t *code, size_t n);

#endif
