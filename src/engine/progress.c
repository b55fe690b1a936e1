/*
 * progress.c - how far a run is, whatever way it goes through its trace.
 */
#include "engine/run_int.h"

#include <string.h>

void trod_run_progress(struct trod_run *r, struct trod_trace_progress *p)
{
    struct trod_trace_progress whole;

    trod_trace_progress(r->whole, &whole);
    if (!r->unit) {
        *p = whole;
        return;
    }
    pthread_mutex_lock(&r->lock);
    *p = r->done;
    pthread_mutex_unlock(&r->lock);
    p->total = whole.total;
    memcpy(p->filters, whole.filters, sizeof p->filters);
    for (unsigned i = 0; i < r->n_workers; i++) {
        p->rows += atomic_load_explicit(&r->worker[i].rows, memory_order_relaxed);
        p->bytes += atomic_load_explicit(&r->worker[i].bytes, memory_order_relaxed);
    }
}

/* How far a trace is takes a look at each of its files: with many files that is not done often. */
void run_tick(struct trod_run *r)
{
    struct trod_trace_progress p;

    if (!r->opt.progress || r->ticks++ % (1 + trod_trace_files(r->whole)))
        return;
    trod_run_progress(r, &p);
    r->opt.progress(r->opt.user, &p);
}
