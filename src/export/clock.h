/*
 * clock.h - times of a trace as nanoseconds.
 */
#ifndef TROD_EXPORT_CLOCK_H
#define TROD_EXPORT_CLOCK_H

#include "trod/batch.h"
#include "trod/diag.h"
#include "trod/meta.h"

/*
 * Time T, written in UNIT (enum trod_unit and decimals), in nanoseconds. Units that are no time
 * (cycles, none) count as one each. *ROUNDED: it is no whole number of them, and rounded down.
 * Saturates.
 */
uint64_t export_nanoseconds(uint8_t unit, uint64_t t, bool *rounded);
/* N times were rounded down to whole nanoseconds: a note, if there are any. */
void export_report_rounded(struct trod_diag *diag, uint64_t n);

enum { EXPORT_DECIMAL = 80 };

/*
 * Write NUMBER * 10^POWER into OUT, POWER from -40 to 18, all digits of it: those behind the point,
 * if there are any, in threes. Returns OUT.
 */
const char *export_decimal(char out[EXPORT_DECIMAL], uint64_t number, int power);

/* Is UNIT a time? */
bool export_is_time(uint8_t unit);

/* The unit of row I of B. */
static inline uint8_t export_unit(const struct trod_batch *b, uint32_t i)
{
    return b->have & b->has[i] & TROD_COL_UNIT ? b->unit[i] : b->meta ? b->meta->unit : 0;
}

#endif
