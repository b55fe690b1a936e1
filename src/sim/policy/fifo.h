/*
 * fifo.h - first in, first out: a filled way goes to the front, hits change nothing, the way at the
 * back is replaced. Filling an invalid way moves it as well; invalidation moves nothing
 * (DynamoRIO's rule).
 */
#ifndef TROD_SIM_POLICY_FIFO_H
#define TROD_SIM_POLICY_FIFO_H

#include "sim/policy/order.h"

static inline void trod_fifo_fill(uint32_t *set, uint32_t ways, uint32_t way)
{
    trod_order_to_front(set, ways, way);
}

static inline uint32_t trod_fifo_victim(const uint32_t *set, uint32_t ways)
{
    return trod_order_back(set, ways);
}

#endif
