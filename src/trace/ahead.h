/*
 * ahead.h - a trace whose rows are decoded by a thread of its own (struct trod_trace_options,
 * ahead), while the caller works on those that came before.
 */
#ifndef TROD_TRACE_AHEAD_H
#define TROD_TRACE_AHEAD_H

#include "trace/trace_impl.h"

/*
 * T, which was just made, is to be read so: what it reports is passed on to its caller's diag when
 * it is its turn. False: out of memory.
 */
bool trod_ahead_new(struct trod_trace *t);
void trod_ahead_free(struct trod_ahead *a);

/* The caller's diag, and the meta as of the rows that the caller has. */
struct trod_diag *trod_ahead_caller(const struct trod_ahead *a);
const struct trod_meta *trod_ahead_meta(const struct trod_ahead *a);

/* What T, which no thread reads at the moment, knows by now is what its caller knows. */
void trod_ahead_sync(struct trod_trace *t);
/* trod_trace_next, as the caller of T sees it. */
int trod_ahead_next(struct trod_trace *t, struct trod_batch **batch);
/* As of the rows that the caller has. False: no thread is reading, ask T itself. */
bool trod_ahead_progress(const struct trod_ahead *a, struct trod_trace_progress *p);
/*
 * Batches have their window and what drivers share in it, where slices have the offsets that they
 * have without a thread. Before the first rows.
 */
void trod_ahead_windows(struct trod_ahead *a);

/* *SLOT is where the batch stands that the caller has; NULL: it cannot be kept. False: no thread
 * decoded it, it stands where T has its batches. */
bool trod_ahead_slot(struct trod_ahead *a, struct trod_batch ***slot);
/* The thread, if there is one, reads no more. */
void trod_ahead_stop(struct trod_ahead *a);

#endif
