/*
 * pair_int.h - what pair.c and pair_lanes.c share: rows of two traces by lane.
 *
 * A lane is a stream (cpu, thread) of one trace and that of the other which it is compared with.
 * Rows of a lane are counted by class every EVERY rows of the trace, so that the Nth row of a lane
 * is found by looking at a few thousand rows.
 */
#ifndef BROWSE_PAIR_INT_H
#define BROWSE_PAIR_INT_H

#include "browse/pair.h"

#include <pthread.h>

enum { PAIR_LANES = 16, PAIR_STREAMS = 256, PAIR_NAME = 48, RANGES = 1 << 20, EVERY = 4096 };
enum { RECENT = 1 << 18 };

/* Rows of each class of a lane before row ROW. */
struct point {
    uint64_t row, n[TROD_TRACK_CLASSES];
};

/* Rows of one side that a difference is about. All others that are compared stand in pairs. */
struct range {
    struct point at; /* the first one */
    uint64_t count;
    uint64_t sum;    /* counts of the ranges before, in its lane */
    uint64_t number; /* of the difference, from 1 */
};

struct lane {
    struct range *range; /* by row */
    size_t n, cap;
    struct point *point; /* every so many rows of the trace */
    size_t n_points, cap_points;
    struct point now;
};

struct side {
    struct lane lane[PAIR_LANES];
    uint64_t rows;
    uint8_t recent[RECENT]; /* lanes and classes of the last rows: differences are reported late */
};

struct browse_pair {
    const char *path[2];
    struct trod_trace_options trace[2];
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    struct side side[2];
    struct browse_pair_state state;
    _Atomic uint32_t track;   /* classes that are compared */
    _Atomic unsigned n_lanes; /* so far */
    bool by_order; /* no name is on both sides: the first streams are a lane, and so on */
    bool stop;
    char name[PAIR_LANES][PAIR_NAME]; /* of lanes */
    /* Lanes by stream + 1, 0: not asked for; by side, for the comparing thread and the browser. */
    uint8_t known[2][2][PAIR_STREAMS];
};

/* ---- pair_rows.c */

/* The thread that compares: USER is the struct browse_pair. */
void *pair_compare(void *user);
/* The class of rows of KIND, as 'trod compare' has them. */
unsigned pair_class(unsigned kind);
/* The last range of the lane that begins at or before ROW: its place + 1; 0: none. Locked. */
size_t pair_before(const struct lane *l, uint64_t row);
/* The lane of row I of BATCH, a row of SIDE that the browser has read. */
unsigned pair_lane(struct browse_pair *p, struct browse *const b[2], unsigned side,
                   const struct trod_batch *batch, uint32_t i);

/* ---- pair.c */

/* Is row I of BATCH of a class that is compared? */
bool pair_compared(const struct browse_pair *p, const struct trod_batch *batch, uint32_t i);
uint64_t pair_of_track(const struct browse_pair *p, const struct point *at);
/* Compared rows of lane LANE of SIDE before ROW. 0 or an error. */
int pair_count(struct browse_pair *p, struct browse *const b[2], unsigned side, unsigned lane,
               uint64_t row, uint64_t *n);
/* The compared row of the lane that N others are before. 1, 0: there is none, or an error. */
int pair_find(struct browse_pair *p, struct browse *const b[2], unsigned side, unsigned lane,
              uint64_t n, uint64_t *row);
/* Compared rows of the lane before the row of pair N; *TWIN: the range of difference NUMBER there.
 */
uint64_t pair_place(struct browse_pair *p, unsigned side, unsigned lane, uint64_t n,
                    uint64_t number, struct range *twin);

/* ---- pair_lanes.c: the same as browse_pair_..., where there are several lanes */
int pair_lanes_map(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                   uint64_t *out);
int pair_lanes_page(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                    unsigned height, struct browse_pair_line *line, unsigned *n, unsigned *at);
int pair_lanes_next(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                    bool back, uint64_t *out);

#endif
