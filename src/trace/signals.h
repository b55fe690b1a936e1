/*
 * signals.h - which signals have been given: counts seen at each sync point.
 *
 * Counts of a point come nearly in order, so they are kept as ranges: one a point as a rule.
 */
#ifndef TROD_TRACE_SIGNALS_H
#define TROD_TRACE_SIGNALS_H

#include "trod/types.h"

struct trod_signals {
    struct trod_signal_point *points; /* open addressing; size is a power of two */
    size_t size, used;
};

/* All zero is empty. */
void trod_signals_fini(struct trod_signals *s);

/* The signal COUNT of POINT was given. Returns 0 or TROD_ERR_NOMEM. */
int trod_signals_add(struct trod_signals *s, uint64_t point, uint64_t count);

/* Whether it was; count 0 always was: nobody had signalled. */
bool trod_signals_has(const struct trod_signals *s, uint64_t point, uint64_t count);

#endif
