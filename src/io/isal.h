/*
 * isal.h - data that ISA-L finds to be corrupt: what it says, and what it has inflated before.
 *
 * Until 64 KiB are made it decodes ahead, into a buffer of its own, of which a call gives out as
 * much as was asked for. Where what it looks at ahead is corrupt, that call says so, and the sound
 * bytes before it stay in the buffer (Debian's 2.30).
 */
#ifndef TROD_IO_ISAL_H
#define TROD_IO_ISAL_H

#include <stddef.h>
#include <string.h>

#include <isa-l/igzip_lib.h>

/* Give out to OUT up to CAP bytes that Z holds. Returns their number; fewer than CAP: none is left.
 */
static inline size_t trod_isal_held(struct inflate_state *z, uint8_t *out, size_t cap)
{
    const size_t held = (size_t)(z->tmp_out_valid - z->tmp_out_processed);
    const size_t n = held < cap ? held : cap;

    memcpy(out, z->tmp_out_buffer + z->tmp_out_processed, n);
    z->tmp_out_processed += (int32_t)n;
    return n;
}

/* What is wrong, as isal_inflate returned it. */
static inline const char *trod_isal_error(int status)
{
    switch (status) {
    case ISAL_INVALID_BLOCK:
        return "invalid deflate block";
    case ISAL_INVALID_SYMBOL:
        return "invalid deflate symbol";
    case ISAL_INVALID_LOOKBACK:
        return "distance before the start";
    case ISAL_INVALID_WRAPPER:
        return "invalid header";
    case ISAL_UNSUPPORTED_METHOD:
        return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
        return "wrong checksum or length";
    default:
        return "it cannot be inflated";
    }
}

#endif
