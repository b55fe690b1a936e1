/*
 * touched_int.h - what the forms of touched.c for AVX2 and AVX-512 share.
 *
 * Rows are looked at a word of 64 at a time. A word is calm where its instructions are all in the
 * two lines of code referenced last: nothing but its data is left of it.
 */
#ifndef TROD_SIM_OWN_TOUCHED_INT_H
#define TROD_SIM_OWN_TOUCHED_INT_H

#include "core/wide.h"
#include "sim/own/touched.h"

/* Rows [FROM, TO) of B, one by one. */
void trod_touched_each(struct trod_touched *t, const struct trod_batch *b, uint32_t from,
                       uint32_t to);

#if TROD_AVX2
enum { TROD_TOUCHED_WORD = 64, TROD_TOUCHED_GROUP = 8 };

/* What a word is: bits of the rows. */
struct trod_touched_masks {
    uint64_t code, read, write;
    uint64_t odd; /* to be looked at one by one */
};

/* So many rows were references. */
static inline void trod_touched_count(struct trod_touched *t, uint64_t instrs, uint64_t reads,
                                      uint64_t writes)
{
    t->instructions += instrs;
    t->rows += instrs + reads + writes;
    t->refs[TROD_TOUCHED_CODE] += instrs;
    t->refs[TROD_TOUCHED_READ] += reads;
    t->refs[TROD_TOUCHED_WRITE] += writes;
}

static inline uint64_t trod_touched_bits_in(uint64_t mask)
{
    return (uint64_t)__builtin_popcountll(mask);
}

/* The instructions CROSSED, bits of the rows from row I on, touch two lines. */
static inline void trod_touched_crossed(struct trod_touched *t, const struct trod_batch *b,
                                        uint32_t i, uint64_t crossed)
{
    t->more[0][TROD_TOUCHED_CODE] += trod_touched_bits_in(crossed);
    for (; t->sizes > 1 && crossed; crossed &= crossed - 1) {
        const uint32_t row = i + (uint32_t)__builtin_ctzll(crossed);
        const uint64_t end = b->addr[row] + b->size[row] - 1;

        for (unsigned k = 1; k < t->sizes; k++)
            t->more[k][TROD_TOUCHED_CODE] += (end ^ b->addr[row]) >> (t->line_bits + k) != 0;
    }
}

/* The two lines that instructions are expected in, as lower halves of addresses. */
struct trod_touched_pair {
    uint32_t one, two;
    uint32_t above; /* the upper one of neighbours; where they are none, another line */
    uint32_t high;  /* upper half of both */
};

/* False: there are none that a word could be calm with. */
static inline bool trod_touched_pair_of(const struct trod_touched *t, uint64_t last,
                                        struct trod_touched_pair *p)
{
    const uint64_t line = UINT64_C(1) << t->line_bits, none = TROD_TOUCHED_NONE;
    const uint64_t one = last & none;
    const uint64_t two = t->second == TROD_TOUCHED_NONE ? one : t->second & none;
    const uint64_t third = (one ^ line) == two ? one ^ 2 * line : one ^ line;

    *p = (struct trod_touched_pair){(uint32_t)one, (uint32_t)two, (uint32_t)third,
                                    (uint32_t)(one >> 32)};
    if (one == two + line)
        p->above = p->one;
    if (two == one + line)
        p->above = p->two;
    return last != TROD_TOUCHED_NONE && one >> 32 == two >> 32;
}

/* touched_wide.c, with AVX2: as put_calm, put_word and skip_repeats_widest in touched.c. */
uint32_t trod_touched_calm_wide(struct trod_touched *t, const struct trod_batch *b, uint32_t from,
                                uint32_t to);
void trod_touched_word_wide(struct trod_touched *t, const struct trod_batch *b, uint32_t i);
void trod_touched_skip_wide(struct trod_touched *t);
#endif

#endif
