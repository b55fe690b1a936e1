/*
 * ticks.h - what the times count that a call stack tells.
 *
 * A trace may change the unit and the decimals of its times from row to row. A call stack tells all
 * of them in one tick: that of the first time or, for a sink that can scale the times it was told
 * before, that of the finest time so far. Units that cannot be compared (cycles, seconds) count one
 * for one.
 */
#ifndef CALLSTACK_TICKS_H
#define CALLSTACK_TICKS_H

#include "core/times.h"
#include "trod/callstack.h"

struct trod_ticks {
    bool known;   /* a time was seen */
    bool mixed;   /* times have more than one unit, or other decimals */
    uint8_t unit; /* of the first time, as in the unit column */
    int power;    /* a tick is 10^POWER seconds, or of what the unit counts */
    bool held;    /* times of a stream that is over were too large: they are TROD_LAST_TIME */
};

/* The largest time that is told: TROD_NOWHERE means that there is none. */
#define TROD_LAST_TIME (TROD_NOWHERE - 1)

/* The power of ten that a time in UNIT counts, by what T counts. */
static inline int trod_ticks_power(const struct trod_ticks *t, uint8_t unit)
{
    if (trod_time_class(unit) == trod_time_class(t->unit))
        return trod_time_exponent(unit);
    return trod_time_exponent(t->unit & 15) - (int)trod_unit_decimals(unit);
}

/* TIME, which may be TROD_NOWHERE, in ticks of which 10^POWER are one of before. */
static inline uint64_t trod_ticks_scale(uint64_t time, unsigned power)
{
    const uint64_t t = time == TROD_NOWHERE ? time : trod_time_scale(time, (int)power);

    return time != TROD_NOWHERE && t > TROD_LAST_TIME ? TROD_LAST_TIME : t;
}

/*
 * FN is called, with the sink's ctx, where a tick becomes finer, between events: all times told
 * before are to be multiplied by 10^POWER (trod_ticks_scale). Without it finer times are rounded
 * down.
 */
void trod_callstack_scales(struct trod_callstack *c, void (*fn)(void *ctx, unsigned power));

/* The ticks of C so far. */
const struct trod_ticks *trod_callstack_ticks(const struct trod_callstack *c);

/*
 * All streams of C have ended: the times that come next count ticks of their own, as if they were
 * the first. What is added up of both is the caller's to scale.
 */
void trod_callstack_new_ticks(struct trod_callstack *c);

/* The times of the batch that C is being fed, by row, in ticks: while functions of its sink run. */
const uint64_t *trod_callstack_times(const struct trod_callstack *c);

#endif
