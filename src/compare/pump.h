/*
 * pump.h - decoding the two sides of a comparison at the same time.
 *
 * A thread decodes the next batch of side 1 while the caller decodes that of side 0. A batch is
 * valid until the next one of its trace is asked for, so neither side runs ahead: the pump works
 * where both sides are at the end of their batches, and has batches end together again where rows
 * are missing on a side.
 */
#ifndef TROD_COMPARE_PUMP_H
#define TROD_COMPARE_PUMP_H

#include "trod/trace.h"

#include <pthread.h>

enum cmp_pump_state { CMP_PUMP_IDLE, CMP_PUMP_ASKED, CMP_PUMP_DONE, CMP_PUMP_END };

struct cmp_pump {
    struct trod_trace *trace; /* of side 1; NULL: no thread, everything is decoded by the caller */
    struct trod_diag *diag;   /* of that trace: its problems wait for those of side 0 */
    trod_diag_fn sink;
    void *sink_user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    enum cmp_pump_state state;
    bool open; /* problems of side 1 may be told */
    struct trod_batch *batch;
    int rc;
};

/*
 * Begin to decode TRACE on a thread of its own, beside OTHER. Where both tell their problems to the
 * same diag, or there can be no thread, P stays without one: all works, one after the other.
 */
void cmp_pump_begin(struct cmp_pump *p, struct trod_trace *trace, const struct trod_trace *other);

/* Ask for the next batch of side 1: to be taken, before anything else is done with that side. */
void cmp_pump_ask(struct cmp_pump *p);
/*
 * What was asked for, as trod_trace_next returns it. Side 0 has been decoded: what is wrong with
 * side 1 is told now.
 */
int cmp_pump_take(struct cmp_pump *p, struct trod_batch **batch);

/* Let the thread go; nothing is asked for. */
void cmp_pump_end(struct cmp_pump *p);

#endif
