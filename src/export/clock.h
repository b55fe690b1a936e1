/*
 * clock.h - times of a trace as nanoseconds.
 */
#ifndef TROD_EXPORT_CLOCK_H
#define TROD_EXPORT_CLOCK_H

#include "trod/batch.h"
#include "trod/meta.h"

/*
 * Time T, written in UNIT (enum trod_unit and decimals), in nanoseconds. Units that are no time
 * (cycles, none) count as TICK nanoseconds each. Saturates.
 */
uint64_t export_nanoseconds(uint8_t unit, uint64_t t, uint64_t tick);
/* Is UNIT a time? */
bool export_is_time(uint8_t unit);

/* The unit of row I of B. */
static inline uint8_t export_unit(const struct trod_batch *b, uint32_t i)
{
    return b->have & b->has[i] & TROD_COL_UNIT ? b->unit[i] : b->meta ? b->meta->unit : 0;
}

#endif
