/*
 * opt.h - the optimal replacement (Belady, "A study of replacement algorithms for a virtual-storage
 * computer", 1966): the line whose next reference is farthest away is replaced, the first way of
 * several that are never referenced again. The caller says at each reference when its line comes
 * next (COMING); an empty way is filled first.
 */
#ifndef TROD_SIM_POLICY_OPT_H
#define TROD_SIM_POLICY_OPT_H

#include <stdint.h>

#define TROD_OPT_NEVER UINT64_MAX

static inline void trod_opt_touch(uint64_t *set, uint32_t way, uint64_t coming)
{
    set[way] = coming;
}

static inline uint32_t trod_opt_victim(const uint64_t *set, uint32_t ways)
{
    uint32_t best = 0;

    for (uint32_t w = 1; w < ways; w++)
        if (set[w] > set[best])
            best = w;
    return best;
}

#endif
