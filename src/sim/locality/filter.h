/*
 * filter.h - the references of a block that the recency of the last two lines does not settle.
 *
 * "Locality analyses", section 2, filters 1 and 2. A reference to the line referenced last has
 * distance 0; one to the line before it has distance 1 and swaps the two. What is left is a list of
 * items, each with what was settled on its account. Entries 0 and 1 of the list are the last two
 * lines of the block before. No branch depends on the lines.
 */
#ifndef TROD_SIM_FILTER_H
#define TROD_SIM_FILTER_H

#include "stack.h"

enum { TROD_STACK_BLOCK = 4096, TROD_STACK_AHEAD = 16 };

struct trod_stack_block {
    uint64_t line[TROD_STACK_BLOCK + 2 + TROD_STACK_AHEAD];
    uint64_t touched[TROD_STACK_BLOCK + 3];
    uint32_t weight[TROD_STACK_BLOCK + 3];  /* references, settled ones included */
    uint32_t slot[TROD_STACK_BLOCK + 3];    /* of the line */
    uint16_t at[TROD_STACK_BLOCK + 3];      /* where in the block */
    uint16_t partner[TROD_STACK_BLOCK + 3]; /* the item whose line is the other recent one */
    uint8_t swap[TROD_STACK_BLOCK + 3];     /* odd: the two change places in the end */
    uint8_t class[TROD_STACK_BLOCK + 3];
    uint32_t n;          /* items */
    uint64_t total;      /* references: four counters of 16 bits, by class */
    uint64_t settled[2]; /* by distance: four counters of 16 bits, by class */
    uint64_t recent[2];
};

/*
 * Filter 1 of N references: what is left goes to the arrays of B from item 2 on, with the place in
 * the block as AT. TOTAL and LEFT get counts by class, four of 16 bits. Returns where items end.
 */
static inline __attribute__((always_inline)) uint32_t
trod_stack_repeats(struct trod_stack_block *b, const struct trod_refs *refs, uint32_t n,
                   uint64_t *total, uint64_t *left)
{
    uint64_t was = b->recent[0], all = 0, kept = 0;
    uint32_t k = 2;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t line = refs->line[i], unit = UINT64_C(1) << 16 * refs->class[i];
        const uint64_t fresh = line != was;

        b->line[k] = line;
        b->class[k] = refs->class[i];
        b->at[k] = (uint16_t)i;
        all += unit;
        kept += unit & -fresh;
        k += (uint32_t)fresh;
        was = line;
    }
    *total = all;
    *left = kept;
    return k;
}

/*
 * Fill B with what is left of N (at most TROD_STACK_BLOCK) references. B->recent holds the last two
 * lines before and after. OUT gets 0 and 1 for what is settled.
 */
static inline __attribute__((always_inline)) void trod_stack_filter(struct trod_stack_block *b,
                                                                    const struct trod_refs *refs,
                                                                    size_t n, uint32_t *out,
                                                                    bool touched)
{
    const uint32_t all = (uint32_t)n;
    uint64_t last = b->recent[0], before = b->recent[1], total, left, turns = 0;
    uint32_t end = trod_stack_repeats(b, refs, all, &total, &left);
    uint32_t k = 2, k_last = 1, k_before = 0, at = 0;

    for (unsigned i = 0; i < 3; i++) {
        b->weight[i] = 0;
        b->swap[i] = 0;
        b->touched[i] = 0;
    }
    b->partner[1] = 0;
    b->line[0] = before;
    b->line[1] = last;
    b->at[end] = (uint16_t)n;
    /* repeats at the beginning belong to the last line of the block before */
    b->weight[1] = at = b->at[2];
    if (touched)
        for (uint32_t i = 0; i < at; i++)
            b->touched[1] |= refs->touched[i];
    for (uint32_t i = 0; out && i < all; i++)
        out[i] = 0;
    for (uint32_t j = 2; j < end; j++) {
        const uint64_t line = b->line[j];
        const uint32_t turn = line == before, was = k_last, next = b->at[j + 1];
        const uint8_t class = b->class[j];

        b->line[k] = line;
        b->class[k] = class;
        b->at[k] = (uint16_t)at;
        b->partner[k] = (uint16_t)k_last;
        turns += (UINT64_C(1) << 16 * class) & -(uint64_t)turn;
        k_last = k ^ ((k ^ k_before) & -turn);
        k_before = was;
        before = last;
        last = line;
        b->swap[k_last > k_before ? k_last : k_before] ^= (uint8_t)turn;
        b->weight[k_last] += next - at;
        if (touched)
            for (uint32_t i = at; i < next; i++)
                b->touched[k_last] |= refs->touched[i];
        if (out)
            out[at] = turn;
        at = next;
        k += !turn;
        b->weight[k] = 0;
        b->swap[k] = 0;
        if (touched)
            b->touched[k] = 0;
    }
    b->n = k;
    b->total = total;
    b->settled[0] = total - left;
    b->settled[1] = turns;
    b->recent[0] = last;
    b->recent[1] = before;
}

#endif
