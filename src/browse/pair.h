/*
 * pair.h - two traces: which rows stand beside each other.
 *
 * The comparer (trod/compare.h) says where they differ, on a thread of its own; what it has found
 * so far counts. Between two differences rows that are compared stand beside each other one by one;
 * which they are is known by their class, counted every few thousand rows.
 */
#ifndef BROWSE_PAIR_H
#define BROWSE_PAIR_H

#include "browse/model.h"

struct browse_pair;

/* Compare PATHS, opened with TRACE. Returns 0 or TROD_ERR_NOMEM. Release it with browse_pair_end.
 */
int browse_pair_begin(struct browse_pair **out, const char *const paths[2],
                      const struct trod_trace_options *const trace[2]);
void browse_pair_end(struct browse_pair *p);

struct browse_pair_state {
    bool done;
    int status;       /* when done: 0 or the error that ended it */
    uint64_t rows[2]; /* compared so far */
    uint64_t differences;
    bool more; /* than are kept: what is after them does not stand beside what it should */
};
void browse_pair_state(struct browse_pair *p, struct browse_pair_state *out);

/* A line of both: rows, TROD_NOWHERE: none of that side. */
struct browse_pair_line {
    uint64_t row[2];
    bool differs;
};

/* B: the two traces. The row of the other side that ROW of SIDE stands beside, or the next one. */
int browse_pair_map(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                    uint64_t *out);
/*
 * The lines around row ROW of SIDE: *N of them, at most HEIGHT, into LINE; that of ROW is number
 * *AT, in the middle where there are enough. Returns 0 or an error.
 */
int browse_pair_page(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                     unsigned height, struct browse_pair_line *line, unsigned *n, unsigned *at);
/*
 * The row of SIDE at the next difference after ROW (BACK: the last one before it), beside it where
 * only the other side has rows. 1, 0: none is known, or an error.
 */
int browse_pair_next(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                     bool back, uint64_t *out);

#endif
