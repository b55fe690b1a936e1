/*
 * pairs.h - pairs of numbers that are counted, by open addressing: jumps from one site to another.
 */
#ifndef TROD_ANALYSIS_PAIRS_H
#define TROD_ANALYSIS_PAIRS_H

#include "trod/buf.h"
#include "trod/types.h"

struct trod_pair {
    uint64_t key; /* one number << 32 | the other */
    uint64_t n;   /* 0: an empty place */
};

/* All zero: no pairs. Its memory is at: released with free(). */
struct trod_pairs {
    struct trod_pair *at;
    size_t n, size; /* pairs; places, a power of two or 0 */
    unsigned shift; /* 64 - log2(size) */
};

/* Where the search for KEY begins in a table of 1 << (64 - SHIFT) places. */
static inline size_t trod_table_home(uint64_t key, unsigned shift)
{
    return (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> shift);
}

/* N more of KEY; N is not 0. Returns TROD_OK or TROD_ERR_NOMEM. */
int trod_pairs_add(struct trod_pairs *t, uint64_t key, uint64_t n);

/* Add the pairs of FROM to INTO. Returns TROD_OK or TROD_ERR_NOMEM. */
int trod_pairs_merge(struct trod_pairs *into, const struct trod_pairs *from);

/*
 * How many pairs T has, and each (both numbers and how often) in the order of their keys, to OUT:
 * equal tables are equal bytes (core/pack.h). Returns TROD_OK or TROD_ERR_NOMEM.
 */
int trod_pairs_save(const struct trod_pairs *t, struct trod_buf *out);

/* One more of KEY. */
static inline int trod_pairs_count(struct trod_pairs *t, uint64_t key)
{
    if (t->size) {
        struct trod_pair *p = &t->at[trod_table_home(key, t->shift)];

        if (p->key == key && p->n) {
            p->n++;
            return TROD_OK;
        }
    }
    return trod_pairs_add(t, key, 1);
}

#endif
