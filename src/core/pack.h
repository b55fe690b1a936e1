/*
 * pack.h - numbers in the saved form of an analysis: seven bits a byte, the lowest first, the
 * eighth bit set in all bytes but the last; and byte strings, length first.
 */
#ifndef TROD_CORE_PACK_H
#define TROD_CORE_PACK_H

#include "trod/buf.h"

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

/*
 * The next number of IN, which is advanced. 0, or TROD_ERR_CORRUPT: the end, more than 64 bits,
 * more bytes than the number needs (there is one way to write each).
 */
static inline int trod_unpack(struct trod_span *in, uint64_t *v)
{
    unsigned shift = 0;

    for (*v = 0; in->n && shift < 64; shift += 7) {
        uint8_t b = *in->p++;

        in->n--;
        if ((shift == 63 && b > 1) || (shift && b == 0))
            return TROD_ERR_CORRUPT;
        *v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return TROD_OK;
    }
    return TROD_ERR_CORRUPT;
}

#endif
