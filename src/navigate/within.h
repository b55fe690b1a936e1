/*
 * within.h - at which addresses in a piece of memory (spread.h) a block has rows of a kind: all of
 * them, with how many rows each, so that what a bound in the middle of a piece leaves is counted.
 * Instructions are not among them: a list has these by address.
 */
#ifndef NAVIGATE_WITHIN_H
#define NAVIGATE_WITHIN_H

#include "navigate/index.h"
#include "trod/batch.h"

enum {
    NAV_WITHIN_MOST = 1 << 14, /* bytes of a block; what takes more is left out, as are */
    NAV_WITHIN_SHIFT = 30,     /* larger pieces than of 2 to the power of that */
    NAV_PIECE_KIND = 5         /* bits of a key below the number of the piece: the kind */
};

struct nav_within_entry {
    uint64_t addr;
    uint32_t count;
    uint16_t kind, rank; /* RANK: of its piece, when the block ends */
};

/* The addresses of a block so far. */
struct nav_within {
    struct nav_within_entry *at;
    size_t n, cap;
    uint32_t *slot; /* by hash: BASE + number + 1; up to BASE: of blocks before */
    uint32_t mask, base;
    struct trod_buf payload; /* of the postings of the block */
};

int nav_within_init(struct nav_within *w);
void nav_within_fini(struct nav_within *w);
/* No room for one more: make some. Returns 0 or TROD_ERR_NOMEM. */
int nav_within_grow(struct nav_within *w);

static inline uint32_t nav_within_place(const struct nav_within *w, uint64_t addr, uint32_t kind)
{
    uint32_t i = (uint32_t)((addr ^ (uint64_t)kind << 59) * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (;; i++) {
        const uint32_t number = w->slot[i & w->mask];
        const struct nav_within_entry *e = &w->at[number - w->base - 1];

        if (number <= w->base || (e->addr == addr && e->kind == kind))
            return i & w->mask;
    }
}

/* A row of KIND has the address ADDR. Returns 0 or TROD_ERR_NOMEM. */
static inline int nav_within_add(struct nav_within *w, uint64_t addr, uint32_t kind)
{
    uint32_t at = nav_within_place(w, addr, kind);

    if (w->slot[at] > w->base) {
        w->at[w->slot[at] - w->base - 1].count++;
        return TROD_OK;
    }
    if (w->n == w->cap) {
        if (nav_within_grow(w) < 0)
            return TROD_ERR_NOMEM;
        at = nav_within_place(w, addr, kind);
    }
    w->at[w->n] = (struct nav_within_entry){addr, 1, (uint16_t)kind, 0};
    w->slot[at] = w->base + (uint32_t)++w->n;
    return TROD_OK;
}

/*
 * The block ends, which is number BLOCK and has pieces of 2^SHIFT bytes, whose keys are KEY, by
 * rank: its postings to OUT; the next one begins. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_within_end(struct nav_within *w, uint32_t block, unsigned shift, const uint64_t *key,
                   struct nav_postings *out);

/*
 * How many rows the N bytes at P tell of from byte LO to byte HI of a piece, to *COUNT. Returns 0
 * or TROD_ERR_CORRUPT.
 */
int nav_within_count(const uint8_t *p, size_t n, uint64_t lo, uint64_t hi, uint64_t *count);

#endif
