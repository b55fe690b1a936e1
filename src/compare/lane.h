/*
 * lane.h - two sequences of rows that are matched: those of one pair of streams, or of one class of
 * rows of it.
 *
 * Rows enter at the queues. What the rows of an instruction leave over waits in the bags.
 */
#ifndef TROD_COMPARE_LANE_H
#define TROD_COMPARE_LANE_H

#include "compare/queue.h"

enum {
    CMP_BLOCKS = 64,
    CMP_PAST = 32,
    CMP_PAID = 32 /* rows that a search may look at for each row taken off */
};

/* Instructions that were missing or inserted: they may turn up on the other side. */
struct cmp_block {
    uint64_t hash, serial;
    uint64_t at[2]; /* rows of each side that had been read off when it was reported */
    size_t groups;
    int side;
};

struct cmp_lane {
    struct cmp_queue queue[2];
    struct cmp_bag waiting[2];
    struct cmp_row *past[2][CMP_PAST]; /* the last rows that were taken off: a ring */
    uint64_t n_past[2];
    uint64_t places[2];       /* rows taken into the lane so far */
    struct cmp_row *timed[2]; /* the last row taken off that has a time; NULL: none so far */
    uint64_t group;           /* settlements so far */
    uint64_t rest[2];         /* rows of a side after the end of the other */
    uint64_t rest_instructions[2];
    struct cmp_queue rest_rows[2];       /* the first of them */
    struct cmp_block blocks[CMP_BLOCKS]; /* a ring of the last ones */
    size_t n_blocks;
    int pair;
    size_t number;  /* among the lanes of the comparison */
    uint64_t spent; /* rows looked at in searches, less what rows taken off have paid for */
    unsigned stage; /* how far the search for a place to go on has widened */
    bool grouped;   /* rows belong to the instruction before them, if there is one */
};

/* The lanes of a comparison, by pair, and by class where these are independent. */
struct cmp_lanes {
    struct cmp_lane **lane; /* NULL: not needed yet */
    size_t n;
};

/* The first row of SIDE leaves the queue; its reference goes to the caller. */
struct cmp_row *cmp_lane_shift(struct cmp_lane *l, struct cmp_pool *pool, int side);
/* ROW is the last one before whatever comes; a reference is taken. */
void cmp_lane_remember(struct cmp_lane *l, struct cmp_pool *pool, int side, struct cmp_row *row);
void cmp_lane_fini(struct cmp_lane *l, struct cmp_pool *pool);

/* Rows that follow no instruction are groups by themselves: their order counts. */
static inline bool cmp_starts_group(const struct cmp_lane *l, const struct cmp_row *r)
{
    return !l->grouped || r->pub.kind == TROD_INSTR || !r->owner;
}

/* Rows of SIDE that have been taken off. */
static inline uint64_t cmp_lane_gone(const struct cmp_lane *l, int side)
{
    return l->places[side] - l->queue[side].n;
}

#endif
