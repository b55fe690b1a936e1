/*
 * spread.h - where the addresses of a block's rows lie: how many rows of each kind have one in
 * which piece of memory. Pieces are as small as the block's addresses are near each other: their
 * number is bounded.
 */
#ifndef NAVIGATE_SPREAD_H
#define NAVIGATE_SPREAD_H

#include "navigate/within.h"

enum {
    NAV_SPREAD_MOST = 256, /* of a block: pieces of instructions, and of all other rows, by kind */
    NAV_SPREAD_SLOTS = 1024,
    NAV_SPREAD_LEVELS = 8,
    NAV_SPREAD_REACH = 1 << 16, /* bytes of an access that is where its address is */
    NAV_SPREAD_KINDS = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC
};

/* Bits of an address below its piece, by level. */
extern const uint8_t nav_spread_shift[NAV_SPREAD_LEVELS];

struct nav_spread_piece {
    uint64_t key; /* number of the piece * 32 + kind */
    uint32_t count, turn;
    uint32_t rank; /* when the block ends */
};

/* Those of a block: as few as NAV_SPREAD_MOST. */
struct nav_pieces {
    struct nav_spread_piece piece[NAV_SPREAD_SLOTS]; /* by hash of their key */
    struct nav_spread_piece *last;                   /* that a row was in; NULL: none so far */
    uint32_t n, turn;
    unsigned level, shift; /* its nav_spread_shift */
};

struct nav_spread {
    struct nav_pieces rows, code; /* CODE: of instructions, which are nearer to each other */
    struct nav_within within;     /* of ROWS, which are put in pieces when the block ends */
    bool apart; /* some of NAV_SPREAD_KINDS say no virtual address, or reach too far */
};

/* Returns 0 or TROD_ERR_NOMEM. */
int nav_spread_init(struct nav_spread *s);
void nav_spread_fini(struct nav_spread *s);
/* COUNT instructions have the address ADDR. */
void nav_spread_code(struct nav_spread *s, uint64_t addr, uint32_t count);

/* Row I of B, which is no instruction, is in the block. Returns 0 or TROD_ERR_NOMEM. */
static inline int nav_spread_row(struct nav_spread *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i];

    if (has & TROD_COL_ADDR) {
        s->apart |= has & TROD_COL_SIZE && b->size[i] > NAV_SPREAD_REACH;
        return nav_within_add(&s->within, b->addr[i], b->kind[i]);
    }
    s->apart |= NAV_SPREAD_KINDS >> b->kind[i] & 1;
    return TROD_OK;
}

/*
 * The block ends: its postings, as those of BLOCK, to OUT, those of addresses in its pieces to
 * WITHIN; the next one begins.
 */
int nav_spread_end(struct nav_spread *s, uint32_t block, struct nav_postings *out,
                   struct nav_postings *within);

/*
 * Rows of blocks of segment S whose address is in LO..HI to AT, by kind: that of kind K in block B
 * of S is AT[TROD_KINDS * B + K]; UINT64_MAX: it is not known. Returns 0 or an error.
 */
int nav_spread_count(const struct nav_index *x, const struct nav_segment *s, uint64_t lo,
                     uint64_t hi, uint64_t *at);

/*
 * Blocks of S that may have rows of KINDS, which are of NAV_SPREAD_KINDS, that touch LO..HI get all
 * their steps in STEPS, by block of the trace. Returns 0 or an error.
 */
int nav_spread_may(const struct nav_index *x, const struct nav_segment *s, uint64_t lo, uint64_t hi,
                   uint32_t kinds, uint8_t *steps);

#endif
