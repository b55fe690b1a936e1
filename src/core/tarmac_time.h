/*
 * tarmac_time.h - times of rows as Arm's Tarmac Trace Utilities hold them.
 *
 * For results that are to be equal to theirs (trod calls --like tarmac, trod waves --like tarmac).
 */
#ifndef TROD_CORE_TARMAC_TIME_H
#define TROD_CORE_TARMAC_TIME_H

#include "trod/batch.h"

enum { TROD_TARMAC_DECIMALS = 6 };

/* The time of row I, which says one. With decimals it is in millionths of its unit, rounded. */
static inline uint64_t trod_tarmac_time(const struct trod_batch *b, uint32_t i)
{
    const unsigned decimals =
        b->have & b->has[i] & TROD_COL_UNIT ? trod_unit_decimals(b->unit[i]) : 0;
    uint64_t t = b->time[i];

    for (unsigned d = decimals; decimals && d < TROD_TARMAC_DECIMALS; d++)
        t *= 10;
    for (unsigned d = TROD_TARMAC_DECIMALS; d < decimals; d++)
        t = d + 1 == decimals ? (t + 5) / 10 : t / 10;
    return t;
}

#endif
