/*
 * clock.c - times of a trace as nanoseconds. Implements clock.h.
 */
#include "export/clock.h"

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
    switch (unit & 15) {
    case TROD_UNIT_FS:
    case TROD_UNIT_PS:
    case TROD_UNIT_NS:
    case TROD_UNIT_US:
    case TROD_UNIT_MS:
    case TROD_UNIT_S:
    case TROD_UNIT_CS:
        return true;
    default:
        return false;
    }
}

uint64_t export_nanoseconds(uint8_t unit, uint64_t t, uint64_t tick)
{
    const int decimals = (int)trod_unit_decimals(unit);

    switch (unit & 15) {
    case TROD_UNIT_FS:
        return scale(t, -6 - decimals);
    case TROD_UNIT_PS:
        return scale(t, -3 - decimals);
    case TROD_UNIT_NS:
        return scale(t, -decimals);
    case TROD_UNIT_US:
        return scale(t, 3 - decimals);
    case TROD_UNIT_MS:
        return scale(t, 6 - decimals);
    case TROD_UNIT_CS:
        return scale(t, 7 - decimals);
    case TROD_UNIT_S:
        return scale(t, 9 - decimals);
    default:
        break;
    }
    for (; tick > 1; tick /= 10)
        t = scale(t, 1);
    return scale(t, -decimals);
}
