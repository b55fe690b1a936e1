/*
 * nru.h - not recently used: one bit a way, set by a reference. The first way whose bit is clear is
 * replaced; when there is none, all bits are cleared first. (Bit-PLRU clears them at the reference
 * that sets the last one.)
 */
#ifndef TROD_SIM_POLICY_NRU_H
#define TROD_SIM_POLICY_NRU_H

#include <stdint.h>
#include <string.h>

static inline void trod_nru_touch(uint8_t *set, uint32_t way)
{
    set[way] = 1;
}

static inline uint32_t trod_nru_victim(uint8_t *set, uint32_t ways)
{
    const uint8_t *clear = memchr(set, 0, ways);

    if (clear)
        return (uint32_t)(clear - set);
    memset(set, 0, ways);
    return 0;
}

static inline void trod_nru_invalidate(uint8_t *set, uint32_t way)
{
    set[way] = 0;
}

#endif
