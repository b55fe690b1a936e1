/*
 * plain_rows.c - implements plain_rows.h: the end is searched first, then rows are counted.
 */
#include "analysis/plain_rows.h"

#include "engine/stream_run.h"

#include <string.h>

/* The first of rows [FROM, TO) of B that is a marker, or says what becomes of a thread. */
static uint32_t marker_in(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    static const int kinds[] = {TROD_MARKER, TROD_THREAD};

    for (unsigned k = 0; k < 2; k++) {
        const uint8_t *at = from < to ? memchr(b->kind + from, kinds[k], to - from) : NULL;

        to = at ? (uint32_t)(at - b->kind) : to;
    }
    return to;
}

TROD_HOT struct trod_plain_rows count(const struct trod_batch *b, uint32_t from, uint32_t to,
                                      uint32_t absent)
{
    const uint8_t *const restrict kind = b->kind;
    const uint32_t *const restrict flags = b->flags;
    struct trod_plain_rows r = {.end = trod_stream_run(b, from, to)};
    uint32_t all = 0, user = 0;

    for (uint32_t i = from; i < r.end; i++) {
        const uint32_t there = (uint32_t)(kind[i] == TROD_INSTR) & (uint32_t) !(flags[i] & absent);

        all += there;
        user += there & (uint32_t) !(flags[i] & TROD_F_KERNEL);
    }
    r.instructions = all;
    r.user = user;
    return r;
}

#if TROD_AVX2
TROD_WIDE static struct trod_plain_rows count_wide(const struct trod_batch *b, uint32_t from,
                                                   uint32_t to, uint32_t absent)
{
    return count(b, from, to, absent);
}
#endif

struct trod_plain_rows trod_plain_rows(const struct trod_batch *b, uint32_t from, uint32_t to,
                                       uint32_t absent)
{
    to = marker_in(b, from, to);
    if (from == to)
        return (struct trod_plain_rows){.end = from};
#if TROD_AVX2
    if (trod_wide())
        return count_wide(b, from, to, absent);
#endif
    return count(b, from, to, absent);
}
