/*
 * order.h - the ways of a set in an order: the list that LRU and FIFO keep.
 *
 * Front: touched last. A set is 2 * (ways + 1) numbers, next and previous of each way; number WAYS
 * is the head. Every step takes constant time, whatever the number of ways.
 */
#ifndef TROD_SIM_POLICY_ORDER_H
#define TROD_SIM_POLICY_ORDER_H

#include <stdint.h>

static inline uint32_t trod_order_words(uint32_t ways)
{
    return 2 * (ways + 1);
}

/* Way 0 is at the back: it is the first to go. */
static inline void trod_order_init(uint32_t *set, uint32_t ways)
{
    for (uint32_t w = 0; w <= ways; w++) {
        set[2 * w] = w ? w - 1 : ways;         /* next, towards the back */
        set[2 * w + 1] = w < ways ? w + 1 : 0; /* previous, towards the front */
    }
}

static inline void trod_order_unlink(uint32_t *set, uint32_t way)
{
    const uint32_t next = set[2 * way], previous = set[2 * way + 1];

    set[2 * next + 1] = previous;
    set[2 * previous] = next;
}

/* Put WAY, which is in no place, after AFTER (the head: to the front). */
static inline void trod_order_link(uint32_t *set, uint32_t way, uint32_t after)
{
    const uint32_t next = set[2 * after];

    set[2 * way] = next;
    set[2 * way + 1] = after;
    set[2 * next + 1] = way;
    set[2 * after] = way;
}

static inline void trod_order_to_front(uint32_t *set, uint32_t ways, uint32_t way)
{
    if (set[2 * ways] == way)
        return;
    trod_order_unlink(set, way);
    trod_order_link(set, way, ways);
}

static inline void trod_order_to_back(uint32_t *set, uint32_t ways, uint32_t way)
{
    if (set[2 * ways + 1] == way)
        return;
    trod_order_unlink(set, way);
    trod_order_link(set, way, set[2 * ways + 1]);
}

static inline uint32_t trod_order_back(const uint32_t *set, uint32_t ways)
{
    return set[2 * ways + 1];
}

#endif
