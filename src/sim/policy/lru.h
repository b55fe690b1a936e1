/*
 * lru.h - least recently used (Mattson and others, "Evaluation techniques for storage hierarchies",
 * 1970): every reference puts its way to the front, the way at the back is replaced. An invalidated
 * way is the next to go.
 */
#ifndef TROD_SIM_POLICY_LRU_H
#define TROD_SIM_POLICY_LRU_H

#include "sim/policy/order.h"

static inline void trod_lru_touch(uint32_t *set, uint32_t ways, uint32_t way)
{
    trod_order_to_front(set, ways, way);
}

static inline uint32_t trod_lru_victim(const uint32_t *set, uint32_t ways)
{
    return trod_order_back(set, ways);
}

static inline void trod_lru_invalidate(uint32_t *set, uint32_t ways, uint32_t way)
{
    trod_order_to_back(set, ways, way);
}

#endif
