/*
 * Opcode words for comparing disassemblers, and the list of known differences.
 */
#ifndef TROD_TESTS_ISA_PPC_WORDS_H
#define TROD_TESTS_ISA_PPC_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ppc_words {
    uint32_t *w;
    size_t n;
};

/*
 * Every major opcode with every 11-bit end, each with several operand patterns and with random
 * operands; moves from and to every special purpose register; then random words. The same every
 * time. Free w with free().
 */
struct ppc_words ppc_words_space(void);

/* The words of a file of big-endian code; n = 0 when it cannot be read. */
struct ppc_words ppc_words_file(const char *path);

/* A difference that is known: patterns (fnmatch) of our text and of theirs, and the reason. */
struct ppc_known {
    const char *ours, *theirs, *why;
    unsigned long seen;
};

/* The row that covers a difference, counted; NULL when none does. */
struct ppc_known *ppc_known_find(struct ppc_known *known, size_t n, const char *ours,
                                 const char *const *theirs, size_t theirs_n);

/* Prints how often each row was needed. */
void ppc_known_report(const char *title, const struct ppc_known *known, size_t n);

/* Makes texts comparable: no blank after a comma, one blank elsewhere, numbers in decimal. */
void ppc_normalize(char *out, size_t size, const char *text);

#endif
