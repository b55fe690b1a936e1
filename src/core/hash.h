/*
 * hash.h - FNV-1a with 64 bits (Fowler, Noll, Vo: "The FNV Non-Cryptographic Hash Algorithm").
 *
 * For names and other short strings; who looks at the lower bits alone mixes the result first.
 */
#ifndef TROD_CORE_HASH_H
#define TROD_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* What an empty string has. */
#define TROD_FNV UINT64_C(0xcbf29ce484222325)

/* H continued by a byte, or by N bytes at P. */
static inline uint64_t trod_fnv_byte(uint64_t h, uint8_t byte)
{
    return (h ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t trod_fnv(uint64_t h, const void *p, size_t n)
{
    const uint8_t *bytes = p;

    for (size_t i = 0; i < n; i++)
        h = trod_fnv_byte(h, bytes[i]);
    return h;
}

#endif
