/*
 * isal_held.h - what ISA-L has inflated and not given out when it finds that data is corrupt.
 *
 * Until 64 KiB are made it decodes ahead, into a buffer of its own, of which a call gives out as
 * much as was asked for. Where what it looks at ahead is corrupt, that call says so, and the sound
 * bytes before it stay in the buffer (Debian's 2.30).
 */
#ifndef TROD_IO_ISAL_HELD_H
#define TROD_IO_ISAL_HELD_H

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

#endif
