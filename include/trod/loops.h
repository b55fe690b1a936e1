/*
 * loops.h - the endless loop that a trace ends in, such as `while (1);` after the work is done.
 *
 * Implements docs/navigating.md, "truncate". A step of a stream is an instruction with the rows
 * after it (accesses, register writes), without times and numbers of instructions. A stream ends
 * in a loop when its last steps repeat with some period up to its end: as far as the trace shows,
 * the machine comes back to the same states. Of the last step only the first rows may be there.
 * Memory is bounded: of each stream the last steps are kept, and periods of up to TROD_LOOPS_PERIOD
 * steps are found; where the last step is cut off, periods of up to 32 * TROD_LOOPS_PERIOD rows.
 */
#ifndef TROD_LOOPS_H
#define TROD_LOOPS_H

#include "trod/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TROD_LOOPS_PERIOD = 1 << 15 };

struct trod_loops;

struct trod_loops_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    bool like_tarmac;   /* the rules of Arm's tarmac-truncate instead */
    uint64_t least;     /* periods that make a loop, at least; 0: 3 */
};

/* The loop that a stream ends in. */
struct trod_final_loop {
    uint32_t stream;     /* as in batches */
    bool has_stream;     /* false: rows that do not say one */
    uint64_t row;        /* the first row of the first period */
    uint64_t repeat_row; /* the first row of the second period: all from here on is repetition */
    uint64_t pc;         /* address of its first instruction; TROD_NOWHERE: not known */
    uint64_t step;       /* steps of the stream before the first period */
    uint64_t period;     /* length of a period in steps */
    uint64_t periods;    /* number of whole periods */
};

/* Columns that it looks at. */
enum {
    TROD_LOOPS_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                         TROD_COL_ADDR | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB |
                         TROD_COL_DATA | TROD_COL_TEXT | TROD_COL_RAW
};

/*
 * Returns 0, TROD_ERR_USAGE (options of another version) or TROD_ERR_NOMEM. OPT may be NULL.
 * Release it with trod_loops_free; NULL is allowed.
 */
int trod_loops_new(struct trod_loops **out, const struct trod_loops_options *opt);
void trod_loops_free(struct trod_loops *l);

/*
 * The next rows of the trace. Returns 0, TROD_ERR_NOMEM, or with like_tarmac 1: the loop is found,
 * *ROW is the last row of B that is kept; no more rows are to come.
 */
int trod_loops_feed(struct trod_loops *l, const struct trod_batch *b, uint32_t *row);

/* The trace has ended: find the loops. Returns 0 or TROD_ERR_NOMEM. */
int trod_loops_end(struct trod_loops *l);

/* Loop I, in the order of the streams; NULL past the last. After trod_loops_end. */
const struct trod_final_loop *trod_loops_at(const struct trod_loops *l, size_t i);

/*
 * Which rows of B are before the end of the first period: keep[i] is 1 for these, else 0. Returns
 * how many are. After trod_loops_end, with the rows of the trace once more.
 */
uint32_t trod_loops_keep(const struct trod_loops *l, const struct trod_batch *b, uint8_t *keep);

#ifdef __cplusplus
}
#endif

#endif
