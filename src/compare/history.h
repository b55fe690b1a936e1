/*
 * history.h - who wrote a register or a byte last.
 *
 * Direct-mapped tables of fixed size: a new entry takes the place of an older one that falls on it.
 */
#ifndef TROD_COMPARE_HISTORY_H
#define TROD_COMPARE_HISTORY_H

#include "compare/row.h"

enum { CMP_REGS = 1 << 10, CMP_WORDS = 1 << 14 };

struct cmp_history {
    struct cmp_written *regs, *words; /* by pair and name, by address / 8 */
    uint16_t used[CMP_REGS];          /* slots of regs in use */
    unsigned n_used;
};

int cmp_history_init(struct cmp_history *h);
void cmp_history_fini(struct cmp_history *h);

/* Row I of A and row J of B, of PAIR and its instruction at PC, agree and write something. */
void cmp_history_note(struct cmp_history *h, int pair, uint64_t pc, const struct trod_batch *a,
                      uint32_t i, const struct trod_batch *b, uint32_t j);

/* The same for rows that were taken out of their batches; whether they write is looked at. */
void cmp_history_note_rows(struct cmp_history *h, int pair, const struct cmp_row *a,
                           const struct cmp_row *b);

/* Register NAME of PAIR under any of its names; the last of them that was written. */
bool cmp_history_register(const struct cmp_history *h, struct cmp_rules *rules, int pair,
                          const char *name, size_t len, struct trod_last_write *out);
/* Any byte of [ADDR, ADDR + SIZE). */
bool cmp_history_memory(const struct cmp_history *h, uint64_t addr, uint32_t size,
                        struct trod_last_write *out);

#endif
