/*
 * poison.h - in debug builds (TROD_POISON), what rows do not say is noise.
 */
#ifndef TROD_TRACE_POISON_H
#define TROD_TRACE_POISON_H

#include "trod/batch.h"

/*
 * Overwrite what the rows of B do not say: elements of columns that a row's has does not list, and
 * columns that B does not carry. Slices then point far outside of the batch. Whoever reads a column
 * without asking has gets another result each time, or a fault. Flags and stream are left as they
 * are: drivers write them for all rows (0 where there is nothing to say). Without TROD_POISON:
 * nothing.
 */
#ifdef TROD_POISON
void trod_batch_poison(struct trod_batch *b);
#else
static inline void trod_batch_poison(struct trod_batch *b)
{
    (void)b;
}
#endif

#endif
