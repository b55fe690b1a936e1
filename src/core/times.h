/*
 * times.h - times of rows whose unit or decimals differ: which of them is later, and by how much.
 *
 * The unit column (enum trod_unit, and decimals in its upper half) says what a time counts. Times
 * in units of seconds can be compared with one another, others with those in the same unit.
 */
#ifndef TROD_CORE_TIMES_H
#define TROD_CORE_TIMES_H

#include "trod/batch.h"

/* Set *POWER to the power of ten of seconds that UNIT is; false: it is no part of a second. */
static inline bool trod_time_power(uint8_t unit, int *power)
{
    static const int8_t powers[16] = {
        [TROD_UNIT_FS] = -15, [TROD_UNIT_PS] = -12, [TROD_UNIT_NS] = -9, [TROD_UNIT_US] = -6,
        [TROD_UNIT_MS] = -3,  [TROD_UNIT_CS] = -2,  [TROD_UNIT_S] = 1, /* 0 stands for none */
    };
    const int found = powers[unit & 15];

    *power = found == 1 ? 0 : found;
    return found != 0;
}

/* The power of ten that a time in UNIT counts: of seconds, or of what the unit is. */
static inline int trod_time_exponent(uint8_t unit)
{
    int power;

    trod_time_power(unit, &power);
    return power - (int)trod_unit_decimals(unit);
}

/* Below 16, and the same for units of one trace whose times can be compared. */
static inline unsigned trod_time_class(uint8_t unit)
{
    int power;

    return trod_time_power(unit, &power) ? TROD_UNIT_S : unit & 15u;
}

/* Below, equal to or above 0 as A * 10^X is less than, equal to or greater than B * 10^Y. */
static inline int trod_time_compare_powers(uint64_t a, int x, uint64_t b, int y)
{
    for (; x > y; x--)
        if (__builtin_mul_overflow(a, 10u, &a))
            return 1;
    for (; y > x; y--)
        if (__builtin_mul_overflow(b, 10u, &b))
            return -1;
    return (a > b) - (a < b);
}

/* Below, equal to or above 0 as time A in UNIT_A is before, at or after B in UNIT_B, of one class.
 */
static inline int trod_time_compare(uint64_t a, uint8_t unit_a, uint64_t b, uint8_t unit_b)
{
    return trod_time_compare_powers(a, trod_time_exponent(unit_a), b, trod_time_exponent(unit_b));
}

/* Is time A in UNIT_A before B in UNIT_B? No where they cannot be compared. */
static inline bool trod_time_before(uint64_t a, uint8_t unit_a, uint64_t b, uint8_t unit_b)
{
    if (unit_a == unit_b)
        return a < b;
    return trod_time_class(unit_a) == trod_time_class(unit_b) &&
           trod_time_compare(a, unit_a, b, unit_b) < 0;
}

/* A time that has passed: NUMBER, with DECIMALS (up to 15) digits behind the point. */
struct trod_gap {
    uint64_t number;
    unsigned decimals;
    bool back; /* it is negative */
};

/*
 * From time SINCE in UNIT_SINCE to T in UNIT, of one class, in UNIT; as exact as 64 bits and 15
 * decimals allow.
 */
static inline struct trod_gap trod_time_gap(uint64_t since, uint8_t unit_since, uint64_t t,
                                            uint8_t unit)
{
    const bool back = trod_time_compare(t, unit, since, unit_since) < 0;
    const int base = trod_time_exponent(unit & 15);
    int x = trod_time_exponent(unit), y = trod_time_exponent(unit_since);
    uint64_t number;

    for (; x > y && t <= UINT64_MAX / 10; x--)
        t *= 10;
    for (; x > y; y++)
        since /= 10;
    for (; y > x && since <= UINT64_MAX / 10; y--)
        since *= 10;
    for (; y > x; x++)
        t /= 10;
    number = back ? since - t : t - since;
    for (; x < base - 15; x++)
        number /= 10;
    for (; x > base; x--)
        number = number > UINT64_MAX / 10 ? UINT64_MAX : number * 10;
    return (struct trod_gap){number, (unsigned)(base - x), back};
}

/* T * 10^POWER, where POWER may be negative: rounded down; UINT64_MAX where it is more than that.
 */
static inline uint64_t trod_time_scale(uint64_t t, int power)
{
    for (; power < 0 && t; power++)
        t /= 10;
    for (; power > 0 && t; power--)
        if (__builtin_mul_overflow(t, 10u, &t))
            return UINT64_MAX;
    return t;
}

/* Whole ticks of unit TICK that T in UNIT is; of units that cannot be compared both count 1. */
static inline uint64_t trod_time_ticks(uint64_t t, uint8_t unit, uint8_t tick)
{
    const bool same = trod_time_class(unit) == trod_time_class(tick);

    return trod_time_scale(t, same ? trod_time_exponent(unit) - trod_time_exponent(tick & 15)
                                   : -(int)trod_unit_decimals(unit));
}

#endif
