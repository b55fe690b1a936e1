/*
 * lfu.h - least frequently used: a counter for each way, 0 when it is filled, one more at each
 * reference, that of the fill included. The first way with the smallest counter is replaced.
 */
#ifndef TROD_SIM_POLICY_LFU_H
#define TROD_SIM_POLICY_LFU_H

#include <stdint.h>

static inline void trod_lfu_touch(uint64_t *set, uint32_t way)
{
    set[way]++;
}

/* At replacement, before the touch of the fill, and at invalidation. */
static inline void trod_lfu_clear(uint64_t *set, uint32_t way)
{
    set[way] = 0;
}

static inline uint32_t trod_lfu_victim(const uint64_t *set, uint32_t ways)
{
    uint32_t least = 0;

    for (uint32_t w = 1; w < ways; w++)
        if (set[w] < set[least])
            least = w;
    return least;
}

#endif
