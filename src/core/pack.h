/*
 * pack.h - numbers in the saved form of an analysis: seven bits a byte, the lowest first, the
 * eighth bit set in all bytes but the last; and byte strings, length first. Differences that may be
 * negative are small numbers as zigzag: the sign is the lowest bit.
 */
#ifndef TROD_CORE_PACK_H
#define TROD_CORE_PACK_H

#include "trod/buf.h"

#include <stdbool.h>

/* V to P, where there is room for ten bytes. Returns where it ends. */
static inline uint8_t *trod_pack_at(uint8_t *p, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static inline int trod_pack(struct trod_buf *out, uint64_t v)
{
    uint8_t b[10];

    return trod_buf_add(out, b, (size_t)(trod_pack_at(b, v) - b));
}

/* Does trod_unpack return 0? For numbers of more than one byte. */
bool trod_unpack_long(struct trod_span *in, uint64_t *v);

/*
 * The next number of IN, which is advanced. 0, or TROD_ERR_CORRUPT: the end, more than 64 bits,
 * more bytes than the number needs (there is one way to write each).
 */
static inline int trod_unpack(struct trod_span *in, uint64_t *v)
{
    if (in->n == 0 || *in->p > 0x7f) {
        uint64_t many; /* so that V may be a register */
        const bool sound = trod_unpack_long(in, &many);

        *v = many;
        return sound ? TROD_OK : TROD_ERR_CORRUPT;
    }
    *v = *in->p++;
    in->n--;
    return TROD_OK;
}

/* A less B, and A of it. */
static inline uint64_t trod_zigzag(uint64_t a, uint64_t b)
{
    const uint64_t d = a - b;

    return d << 1 ^ (d >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t trod_unzigzag(uint64_t v, uint64_t b)
{
    return b + (v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

#endif
