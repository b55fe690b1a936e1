/*
 * counted_lru.h - LRU as DynamoRIO keeps it: a counter for each way, at first 1; 0: used last.
 *
 * The same as lru.h as long as ways are invalidated where their lines were. DynamoRIO's flush
 * invalidates ways of another set; then counters can be equal, and the first greatest one goes.
 */
#ifndef TROD_SIM_POLICY_COUNTED_LRU_H
#define TROD_SIM_POLICY_COUNTED_LRU_H

#include <stdint.h>

static inline void trod_counted_touch(uint32_t *set, uint32_t ways, uint32_t way)
{
    const uint32_t c = set[way];

    if (c == 0)
        return;
    for (uint32_t w = 0; w < ways; w++)
        set[w] += set[w] <= c;
    set[way] = 0;
}

static inline uint32_t trod_counted_victim(const uint32_t *set, uint32_t ways)
{
    uint32_t most = 0;

    for (uint32_t w = 1; w < ways; w++)
        if (set[w] > set[most])
            most = w;
    return most;
}

static inline void trod_counted_invalidate(uint32_t *set, uint32_t ways, uint32_t way)
{
    set[way] = set[trod_counted_victim(set, ways)] + 1;
}

#endif
