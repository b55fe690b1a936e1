/*
 * sync_graph.h - the time threads would take if only synchronization held them up.
 *
 * An ideal machine runs every thread at one instruction a tick; a wait ends when the signal it
 * waits for is given. What comes out - clocks, waits that had to wait, the critical path - follows
 * from the trace alone, whatever legal order its rows come in.
 */
#ifndef TROD_ANALYSIS_SYNC_GRAPH_H
#define TROD_ANALYSIS_SYNC_GRAPH_H

#include "trod/types.h"

enum { TROD_SYNC_SIGNALS = 1 << 18, TROD_SYNC_NODES = 1 << 20 };

/* Where a path changes threads: a wait of THREAD that ended with a signal of another. */
struct trod_sync_node {
    uint32_t refs, prev; /* prev: node + 1, or 0 */
    uint32_t thread, giver;
    uint64_t point, count;
    uint64_t time; /* when the signal was given: the path comes over from the giver here */
    uint64_t hops;
};

struct trod_sync_graph {
    struct trod_sync_node *nodes;
    uint32_t n_nodes, cap_nodes, free; /* free: node + 1, or 0 */
    struct trod_sync_signal *signals;  /* a ring of the last ones */
    uint32_t *slots;                   /* hash of signals: index + 1 */
    uint64_t given;                    /* signals so far */
    bool cut;                          /* paths have lost their beginning for want of nodes */
};

/* A thread's state. All zero at its start. */
struct trod_sync_thread {
    uint64_t clock;
    uint32_t path; /* node + 1, or 0 */
};

/* Prepare G. Returns 0 or TROD_ERR_NOMEM. */
int trod_sync_graph_init(struct trod_sync_graph *g);
void trod_sync_graph_fini(struct trod_sync_graph *g);

/* Thread I, state T, gives signal COUNT on POINT. */
void trod_sync_graph_signal(struct trod_sync_graph *g, uint32_t i, const struct trod_sync_thread *t,
                            uint64_t point, uint64_t count);

/*
 * Thread I, state T, has waited for signal COUNT on POINT: its clock is set to the time of the
 * signal if that is later. Returns the ticks it had to wait: 0 when the signal had been given (or
 * so long ago that TROD_SYNC_SIGNALS others have come since). TROD_ERR_NOMEM never: a path that
 * finds no node is cut.
 */
uint64_t trod_sync_graph_wait(struct trod_sync_graph *g, uint32_t i, struct trod_sync_thread *t,
                              uint64_t point, uint64_t count);

#endif
