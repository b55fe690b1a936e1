/*
 * given.h - calls that were followed before, as an index of the trace has them: a call stack that
 * is given them tells its sink of them while the rows of a part of the trace are fed, as it would
 * have done after all rows before.
 *
 * Rules do not need what they learnt before the part then, which no index has. See given.c.
 */
#ifndef CALLSTACK_GIVEN_H
#define CALLSTACK_GIVEN_H

#include "trod/callstack.h"

enum trod_given_what {
    TROD_GIVEN_OPEN,  /* an activation that began before the part; the outermost first */
    TROD_GIVEN_ENTER, /* as of rows of the part */
    TROD_GIVEN_LEAVE,
    TROD_GIVEN_SWITCH,   /* context CONTEXT runs */
    TROD_GIVEN_UNMATCHED /* trod_callstack_counts.unmatched */
};

struct trod_given {
    uint8_t what;               /* enum trod_given_what */
    uint8_t kind, how;          /* enum trod_frame_kind; LEAVE: enum trod_frame_end */
    uint8_t sure;               /* enum trod_frame_sure */
    bool under;                 /* as in struct trod_frame */
    bool before;                /* it was so before the part */
    uint32_t lane;              /* stream + 1; 0: of rows that have none */
    uint32_t context;           /* OPEN, SWITCH */
    uint64_t row;               /* of the instruction that made it */
    uint64_t time;              /* OPEN: of that instruction, as in struct trod_moment */
    uint64_t pc;                /* ENTER, OPEN: its first instruction */
    uint64_t site_row, site_pc; /* TROD_NOWHERE: entered from nowhere */
};

struct trod_given_calls {
    void *ctx;
    /*
     * What is there from row ROW on, to be asked for with next and released with end: what is open
     * there, then what happens, in the order of the rows. Streams that end with their file are not
     * told. Returns 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM.
     */
    int (*begin)(void *ctx, uint64_t row, void **reader);
    /* Returns 1, 0 (there is no more) or an error. */
    int (*next)(void *reader, struct trod_given *out);
    void (*end)(void *reader);
    /*
     * The last row before *ROW that writes register NAME of LANE, after the first instruction of
     * LANE in the file of *ROW: into *ROW, element *I of *B. Returns 1, 0 (there is none) or an
     * error. Called, and *B looked at, between lock(ctx, true) and lock(ctx, false).
     */
    int (*wrote)(void *ctx, uint32_t lane, const char *name, uint64_t *row,
                 const struct trod_batch **b, uint32_t *i);
    void (*lock)(void *ctx, bool on);
};

/*
 * C, which was fed nothing, is given CALLS, which outlives it, and follows no rule: its first row
 * may be any. Rows are fed without gaps: all (TROD_ALL_STREAMS), or those of STREAM, or those that
 * say none (TROD_UNSAID_STREAM), whose calls alone are reported then. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_callstack_give(struct trod_callstack *c, const struct trod_given_calls *calls,
                        int64_t stream);

/*
 * FN is called, with the sink's ctx, for what trod_callstack_counts.unmatched counts: by LANE, and
 * where it returned to.
 */
void trod_callstack_unmatched(struct trod_callstack *c,
                              int (*fn)(void *ctx, uint32_t lane, const struct trod_moment *to));

#endif
