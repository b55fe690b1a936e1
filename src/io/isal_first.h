/*
 * isal_first.h - how a stream that ISA-L deflates begins.
 *
 * Its levels 1 and 2 enter the third byte of a stream into their hash table under a hash of the
 * address of their state, so that later matches may differ from process to process (2.30, x86).
 * Where the first bytes are flushed by themselves, other code enters them, which looks at the data
 * alone; so it is with streams of up to 16 bytes.
 */
#ifndef TROD_IO_ISAL_FIRST_H
#define TROD_IO_ISAL_FIRST_H

#include <stdbool.h>
#include <stddef.h>

#include <isa-l/igzip_lib.h>

/* Of the N bytes that Z is to be given now, those to be given with SYNC_FLUSH before the others.
 * ENDS: nothing comes behind the N bytes. */
static inline uint32_t trod_isal_first(const struct isal_zstream *z, size_t n, bool ends)
{
    enum { FIRST = 4, SHORT = 16, CLEAN_LEVEL = 3 };

    if (z->internal_state.has_hist != IGZIP_NO_HIST || z->level >= CLEAN_LEVEL ||
        (ends && n <= SHORT))
        return 0;
    return n < FIRST ? (uint32_t)n : FIRST;
}

#endif
