/*
 * loops.h - what the files behind trod/loops.h share.
 */
#ifndef TROD_SHOW_LOOPS_H
#define TROD_SHOW_LOOPS_H

#include "trod/loops.h"

enum { LOOPS_RING = 4 * TROD_LOOPS_PERIOD, LOOPS_FIRST = 256, LOOPS_STEPS = 16, LOOPS_TEXTS = 32 };
enum { LOOPS_ROWS = 32 * TROD_LOOPS_PERIOD }; /* of the last steps; a power of two */

/*
 * A step: what it does, as a number; its first row in the trace, and in its lane, counted from 0.
 */
struct loops_step {
    uint64_t does, row, pc, at;
};

/* A loop that is going on. */
struct loops_guess {
    bool on;
    uint64_t from, period; /* steps */
    struct loops_step first, second;
};

struct loops_lane {
    struct loops_step *ring; /* step S is at S % size */
    uint64_t n;              /* steps; the last one may go on */
    uint32_t size, slot;
    uint64_t *done;  /* what a step had done up to row R of the lane is at R % room */
    uint64_t n_rows; /* rows of the lane */
    uint64_t needed; /* the rows before are of steps farther back than a period, or were too many */
    uint32_t room;
    uint64_t checked; /* steps up to which loops were looked for */
    struct loops_guess guess;
};

/* What Arm's tool remembers (like.c). */
struct loops_like {
    uint64_t pc[LOOPS_STEPS];
    unsigned n_pc;
    uint64_t text[LOOPS_TEXTS]; /* the newest first */
    unsigned n_text;
    uint8_t reg[1 << 14];
    uint32_t seen; /* bytes of the register space */
};

struct trod_loops {
    struct trod_loops_options opt;
    struct loops_lane **lane; /* by stream + 1; [0]: rows without one */
    uint32_t n_lanes;
    uint32_t *fail; /* LOOPS_RING: for the search */
    struct trod_final_loop *found;
    size_t n_found;
    struct loops_like *like;
};

/* A number for what row I of B does, going on from H; without its time. */
uint64_t loops_row(const struct trod_batch *b, uint32_t i, uint64_t h);
/* like.c: 1 if the machine is stuck behind row I. */
int loops_like_row(struct loops_like *k, const struct trod_batch *b, uint32_t i);

#endif
