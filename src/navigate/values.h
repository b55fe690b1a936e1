/*
 * values.h - which numbers rows hold, by step of a block. Of a block in which few rows hold one all
 * are kept, in a list by number (NAV_S_NUMBERS); others have a filter that may say yes for one that
 * is not there, never no for one that is, and in the list those that many rows hold.
 */
#ifndef NAVIGATE_VALUES_H
#define NAVIGATE_VALUES_H

#include "navigate/index.h"
#include "trod/batch.h"

enum {
    NAV_VALUES_BITS = 1 << 12, /* of a part, one of which a number belongs to */
    NAV_VALUES_PROBES = 5,     /* of 12 bits each: the 60 upper ones of a product */
    NAV_VALUES_FEW = 1 << 10,  /* rows with a number of a block that has a list */
    NAV_VALUES_OFTEN = 8,      /* rows with the same number, of others, that are listed */
    NAV_VALUES_COUNTERS = 1 << 14
};

/* A row that has a number. */
struct nav_number {
    uint64_t value;
    uint8_t kind, step;
};

struct nav_often;

/* What is made of rows, as the content of a section. */
struct nav_values {
    uint64_t *bits;         /* of the block: PARTS of them */
    uint32_t parts;         /* a power of two */
    bool many;              /* the block has more than FEW, which are in BITS */
    struct nav_number *all; /* of the block */
    size_t n_all, cap_all;
    uint16_t *counter; /* of a block that has many: rows, by hash of the number, at most */
    struct nav_often *often;
    struct trod_buf table, parts_of; /* of each block so far: the number of its parts; these */
};

/* BLOCK_ROWS: numbers of a block, about. Returns 0 or TROD_ERR_NOMEM. */
int nav_values_init(struct nav_values *v, uint64_t block_rows);
void nav_values_fini(struct nav_values *v);
/*
 * The block, which is number BLOCK, ends; the next one begins. Returns 1: its numbers were added to
 * LIST, 0: they are in its filter, and those that many rows have in LIST, or TROD_ERR_NOMEM.
 */
int nav_values_end(struct nav_values *v, uint32_t block, struct nav_postings *list);
/* The blocks that ended since the last time, as a section's content, appended to OUT. */
int nav_values_save(struct nav_values *v, struct trod_buf *out);

/*
 * All numbers have different ones, of which the upper half depends on the whole number. That which
 * has 0, and so the same bit five times, is a rare one.
 */
static inline uint64_t nav_values_hash(uint64_t number)
{
    return (number ^ number >> 32 ^ UINT64_C(0x2545f4914f6cdd1d)) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Which part a number of hash H belongs to, of N; its bits there, in STEP. */
static inline uint32_t nav_values_part(uint64_t h, uint32_t n)
{
    return (uint32_t)(h >> 40) & (n - 1);
}

static inline uint64_t nav_values_probes(uint64_t h, unsigned step)
{
    return (h ^ h >> 32) * (2 * step + UINT64_C(0x9e3779b97f4a7c15)) >> 4;
}

/* A row in STEP of the block has a number of hash H. */
static inline void nav_values_add(struct nav_values *v, uint64_t h, unsigned step)
{
    uint64_t *part = v->bits + (size_t)nav_values_part(h, v->parts) * (NAV_VALUES_BITS / 64);
    uint64_t probes = nav_values_probes(h, step);

    for (unsigned i = 0; i < NAV_VALUES_PROBES; i++, probes >>= 12)
        part[probes >> 6 & 63] |= UINT64_C(1) << (probes & 63);
}

/* The values of B's rows, which are in STEP of the block. Returns 0 or TROD_ERR_NOMEM. */
int nav_values_rows(struct nav_values *v, const struct trod_batch *b, unsigned step);

/*
 * Of STEP, the steps of each block of segment S, a bit each, those are taken away that cannot have
 * one of the N NUMBERS. Returns 0 or TROD_ERR_CORRUPT.
 */
int nav_values_only(const struct nav_index *x, const struct nav_segment *s, const uint64_t *numbers,
                    size_t n, uint8_t *step);

#endif
