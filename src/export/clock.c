/*
 * clock.c - times of a trace as nanoseconds. Implements clock.h.
 */
#include "export/clock.h"

#include "core/times.h"

/* T * 10^POWER, where POWER may be negative; saturates. */
static uint64_t scale(uint64_t t, int power)
{
    for (; power < 0; power++)
        t /= 10;
    for (; power > 0; power--) {
        if (t > UINT64_MAX / 10)
            return UINT64_MAX;
        t *= 10;
    }
    return t;
}

bool export_is_time(uint8_t unit)
{
    int power;

    return trod_time_power(unit, &power);
}

uint64_t export_nanoseconds(uint8_t unit, uint64_t t, uint64_t tick)
{
    const int exponent = trod_time_exponent(unit);

    if (export_is_time(unit))
        return scale(t, exponent + 9);
    for (; tick > 1; tick /= 10)
        t = scale(t, 1);
    return scale(t, exponent);
}
