/*
 * run_int.h - the inside of a run: what is planned, and the pieces of work.
 */
#ifndef TROD_ANALYSIS_RUN_INT_H
#define TROD_ANALYSIS_RUN_INT_H

#include "analysis/run_diag.h"
#include "trod/run.h"

#include <pthread.h>
#include <stdatomic.h>

/* An analysis that is planned, and its state. */
struct run_item {
    const struct trod_analysis *analysis;
    const void *opt;
    void *state;
    bool ready; /* init was called: fini is due */
};

/* What a unit of work covers: a file, or some members of an archive. */
struct run_piece {
    size_t file, from, to; /* from, to: members; to 0: the whole file */
    uint32_t part;
    bool last; /* of its file */
};

/* A piece of the trace, read by itself. */
struct run_unit {
    struct run_item item[TROD_RUN_ITEMS];
    struct trod_trace *trace; /* until it is merged: states may point into its meta */
    struct trod_keeper keeper;
    struct trod_trace_progress done;
    int rc;
    bool complete, fatal; /* fatal: nothing to merge */
};

struct run_worker {
    struct trod_run *run;
    pthread_t thread;
    bool first; /* the thread of trod_run_go */
    atomic_uint_fast64_t rows, bytes;
};

struct trod_run {
    struct trod_run_options opt;
    struct trod_diag *diag;
    struct trod_trace *whole;
    struct trod_keeper opening; /* of whole: in a parallel run the units report again */
    struct run_item item[TROD_RUN_ITEMS];
    size_t n_items;
    bool gone;
    struct trod_trace_progress done; /* of what is merged */

    /* parallel: what follows is guarded by lock, but for what a worker does with its unit */
    pthread_mutex_t lock;
    pthread_cond_t turn;
    struct run_piece *piece;
    struct run_unit **unit; /* by piece; NULL: not begun, or merged */
    size_t n_units, next, merged, ahead;
    bool stop;
    int rc;
    struct run_worker *worker;
    unsigned n_workers;
};

/* Make and release the state of IT for a trace with META. */
int run_item_begin(struct run_item *it, const struct trod_meta *meta, struct trod_diag *diag);
void run_item_end(struct run_item *it);

/* All rows of T to the items. FILTER may be NULL. Returns 0 or an error. */
int run_rows(struct trod_run *r, struct trod_trace *t, struct run_item *items,
             struct trod_diag *diag, struct run_worker *w);

/* Are archives parted? Where files alone would not keep the threads busy, and all analyses can. */
bool run_may_part(const struct trod_run *r);

/* Tell who wants to know. */
void run_tick(struct trod_run *r);

/* All files or their parts, each by itself, on the workers. Returns 0 or the first error. */
int run_parallel(struct trod_run *r);

#endif
