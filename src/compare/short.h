/*
 * short.h - a few bytes at once: opcodes and names of registers on the fast path.
 *
 * Calls of memcpy and memcmp for lengths that are not known beforehand cost more than what they do.
 */
#ifndef TROD_COMPARE_SHORT_H
#define TROD_COMPARE_SHORT_H

#include <stdint.h>
#include <string.h>

/* N bytes (1 to 8) at P as a number that no other N bytes give; the order of bytes is the host's.
 */
static inline uint64_t cmp_short(const void *p, uint32_t n)
{
    const uint8_t *b = p;
    uint32_t low, high;
    uint16_t half;

    if (n >= 4) {
        memcpy(&low, b, 4);
        memcpy(&high, b + n - 4, 4);
        return low | (uint64_t)high << 32;
    }
    if (n == 1)
        return b[0];
    memcpy(&half, b, 2);
    return half | (uint64_t)b[n - 1] << 16;
}

#endif
