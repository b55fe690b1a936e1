/*
 * history.h - who wrote a register or a byte last.
 *
 * Direct-mapped tables of fixed size: a new entry takes the place of an older one that falls on it.
 */
#ifndef TROD_COMPARE_HISTORY_H
#define TROD_COMPARE_HISTORY_H

#include "compare/row.h"

struct cmp_history {
    struct cmp_written *regs, *words; /* by name, by address / 8 */
};

int cmp_history_init(struct cmp_history *h);
void cmp_history_fini(struct cmp_history *h);

/* Row I of A and row J of B agree and write something: remember it. */
void cmp_history_note(struct cmp_history *h, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j);

/* The same for rows that were taken out of their batches. */
void cmp_history_note_rows(struct cmp_history *h, const struct cmp_row *a, const struct cmp_row *b);

bool cmp_history_register(const struct cmp_history *h, const char *name, size_t len,
                          struct trod_last_write *out);
bool cmp_history_memory(const struct cmp_history *h, uint64_t addr, uint32_t size,
                        struct trod_last_write *out);

#endif
