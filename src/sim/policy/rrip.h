/*
 * rrip.h - re-reference interval prediction (Jaleel and others, "High performance cache replacement
 * using re-reference interval prediction", 2010), with hit priority: a value of 0 to T for each
 * way, T = 2^bits - 1, at first T. A hit makes it 0. The first way at T is replaced; when there is
 * none, all are raised until one is. What a fill writes tells the members of the family apart:
 *
 *   SRRIP  T - 1
 *   BRRIP  T, and T - 1 once in PERIOD fills (a pattern that repeats, one for the whole cache)
 *   DRRIP  whichever of the two misses less in its leader sets
 *
 * The pattern is DynamoRIO's: of PERIOD fills LONG are T - 1, spread evenly, the first among them.
 */
#ifndef TROD_SIM_POLICY_RRIP_H
#define TROD_SIM_POLICY_RRIP_H

#include <stdbool.h>
#include <stdint.h>

struct trod_rrip {
    uint32_t top;           /* T */
    uint32_t period, longs; /* LONG of PERIOD fills are T - 1 */
    uint32_t at, given;     /* in the pattern: fills, and how many of them were T - 1 */
    uint32_t selector;      /* DRRIP: 0 to 1023, from 512 on BRRIP misses less */
    uint32_t leaders;       /* DRRIP: one set in so many leads for each */
};

enum { TROD_RRIP_SELECTOR = 1024 };

/* What the next fill of the pattern writes. */
static inline uint32_t trod_rrip_pattern(struct trod_rrip *r)
{
    bool is_long;

    if (r->longs >= r->period)
        return r->top - 1;
    if (r->longs == 0)
        return r->top;
    is_long = (uint64_t)(r->at + 1) * r->longs > (uint64_t)r->given * r->period;
    r->given += is_long;
    if (++r->at == r->period)
        r->at = r->given = 0;
    return is_long ? r->top - 1 : r->top;
}

/* DRRIP: a miss in a leader set counts against its policy; the value that this set is filled with.
 */
static inline uint32_t trod_rrip_duel(struct trod_rrip *r, uint64_t set)
{
    const uint64_t role = set % r->leaders;
    bool brrip = r->selector >= TROD_RRIP_SELECTOR / 2;

    if (role == 0) {
        brrip = false;
        r->selector += r->selector < TROD_RRIP_SELECTOR - 1;
    } else if (role == r->leaders / 2) {
        brrip = true;
        r->selector -= r->selector > 0;
    }
    return brrip ? trod_rrip_pattern(r) : r->top - 1;
}

static inline uint32_t trod_rrip_victim(const struct trod_rrip *r, const int32_t *set,
                                        uint32_t ways)
{
    uint32_t most = 0;

    for (uint32_t w = 0; w < ways; w++) {
        if (set[w] == (int32_t)r->top)
            return w;
        if (set[w] > set[most])
            most = w;
    }
    return most;
}

/*
 * WAY is about to be replaced: all ways grow as old as it takes. (Where WAY was emptied without a
 * step of the policy others pass T; a way that has passed it makes none older.)
 */
static inline void trod_rrip_age(const struct trod_rrip *r, int32_t *set, uint32_t ways,
                                 uint32_t way)
{
    const int32_t more = (int32_t)r->top - set[way];

    for (uint32_t w = 0; more > 0 && w < ways; w++)
        set[w] += more;
}

#endif
