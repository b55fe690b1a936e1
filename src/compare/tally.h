/*
 * tally.h - differences by register and by instruction: tables of fixed size.
 */
#ifndef TROD_COMPARE_TALLY_H
#define TROD_COMPARE_TALLY_H

#include "trod/compare.h"

enum { CMP_TALLY = 4096 };

struct cmp_tally_slot {
    uint64_t key, n; /* n 0: empty */
    struct trod_compare_place place;
};

/* The first CMP_TALLY / 2 registers, and as many instructions, are told apart. */
struct cmp_tally {
    struct cmp_tally_slot regs[CMP_TALLY], pcs[CMP_TALLY], fields[CMP_TALLY];
    size_t n_regs, n_pcs, n_fields;
};

/* ONLY: the side that has it alone, -1: both have it. */
void cmp_tally_register(struct cmp_tally *t, uint64_t id, const char *name, size_t len, int only);
void cmp_tally_field(struct cmp_tally *t, const char *name);
void cmp_tally_pc(struct cmp_tally *t, uint64_t pc);

/* The most frequent ones into SUM. */
void cmp_tally_report(struct cmp_tally *t, struct trod_compare_summary *sum);

#endif
