/*
 * bit_plru.h - pseudo-LRU with one bit a way (MRU bits; Malamy and others, 1994): a reference sets
 * the bit of its way; when all are set, the others are cleared. A way whose bit is clear is
 * replaced: the first here, a random one in DynamoRIO, which is the same with two ways.
 */
#ifndef TROD_SIM_POLICY_BIT_PLRU_H
#define TROD_SIM_POLICY_BIT_PLRU_H

#include <stdint.h>
#include <string.h>

static inline void trod_bits_touch(uint8_t *set, uint32_t ways, uint32_t way)
{
    set[way] = 1;
    if (memchr(set, 0, ways) == NULL) {
        memset(set, 0, ways);
        set[way] = 1;
    }
}

static inline uint32_t trod_bits_victim(const uint8_t *set, uint32_t ways)
{
    const uint8_t *clear = memchr(set, 0, ways);

    return clear ? (uint32_t)(clear - set) : 0;
}

static inline void trod_bits_invalidate(uint8_t *set, uint32_t way)
{
    set[way] = 0;
}

#endif
