/*
 * pack.c - numbers of several bytes. Implements pack.h.
 */
#include "core/pack.h"

#include "core/endian.h"

/* Byte by byte: near the end, and numbers of more than eight bytes. */
static bool unpack_bytes(struct trod_span *in, uint64_t *v)
{
    unsigned shift = 0;

    for (*v = 0; in->n && shift < 64; shift += 7) {
        uint8_t b = *in->p++;

        in->n--;
        if ((shift == 63 && b > 1) || (shift && b == 0))
            return false;
        *v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return true;
    }
    return false;
}

/* The seven bits of each of eight bytes, put together. */
static uint64_t put_together(uint64_t w)
{
    w = (w & UINT64_C(0x007f007f007f007f)) | (w & UINT64_C(0x7f007f007f007f00)) >> 1;
    w = (w & UINT64_C(0x00003fff00003fff)) | (w & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (w & UINT64_C(0x0fffffff)) | (w & UINT64_C(0x0fffffff00000000)) >> 4;
}

bool trod_unpack_long(struct trod_span *in, uint64_t *v)
{
    uint64_t w, ends;
    unsigned bits;

    if (in->n >= 2 && in->p[1] - 1u < 0x7f && in->p[0] > 0x7f) { /* most have two */
        *v = (in->p[0] & 0x7f) | (uint64_t)in->p[1] << 7;
        in->p += 2;
        in->n -= 2;
        return true;
    }
    if (in->n < sizeof w)
        return unpack_bytes(in, v);
    w = trod_load_le64(in->p);
    ends = ~w & UINT64_C(0x8080808080808080);
    if (!ends)
        return unpack_bytes(in, v);
    bits = (unsigned)__builtin_ctzll(ends) + 1;
    w &= UINT64_MAX >> (64 - bits);
    *v = put_together(w);
    if (!(w >> (bits - 8)))
        return false;
    in->p += bits / 8;
    in->n -= bits / 8;
    return true;
}
