/*
 * tree_plru.h - pseudo-LRU with a binary tree (So and Rechtschaffen, "Cache operations by MRU
 * change", 1988): ways - 1 bits, node I has the children 2 * I and 2 * I + 1 (from 1). A bit says
 * which half is to be replaced; a reference turns the bits on its path away from itself. The number
 * of ways is a power of two.
 */
#ifndef TROD_SIM_POLICY_TREE_PLRU_H
#define TROD_SIM_POLICY_TREE_PLRU_H

#include <stdint.h>

static inline void trod_tree_touch(uint8_t *set, uint32_t ways, uint32_t way)
{
    uint32_t node = 1;

    for (uint32_t half = ways / 2; half; half /= 2) {
        const uint32_t upper = (way & half) != 0;

        set[node] = !upper;
        node = 2 * node + upper;
    }
}

/* The way that the bits lead to. */
static inline uint32_t trod_tree_victim(const uint8_t *set, uint32_t ways)
{
    uint32_t node = 1;

    while (node < ways)
        node = 2 * node + set[node];
    return node - ways;
}

/* Turn the path towards WAY: it is the next to go. */
static inline void trod_tree_invalidate(uint8_t *set, uint32_t ways, uint32_t way)
{
    uint32_t node = 1;

    for (uint32_t half = ways / 2; half; half /= 2) {
        const uint32_t upper = (way & half) != 0;

        set[node] = (uint8_t)upper;
        node = 2 * node + upper;
    }
}

#endif
