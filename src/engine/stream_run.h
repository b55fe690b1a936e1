/*
 * stream_run.h - how far the rows of a batch are of one stream.
 *
 * In a header of its own so that each caller compiles it for the processor that it has.
 */
#ifndef TROD_ENGINE_STREAM_RUN_H
#define TROD_ENGINE_STREAM_RUN_H

#include "core/wide.h"
#include "trod/batch.h"

enum { TROD_STREAM_RUN = 256 }; /* rows that are compared at once */

/*
 * What the stream of ROW of B is known by: its number + 1; 0 where the row says none. Such rows are
 * of no other stream: which one is the first of a trace depends on where reading began.
 */
static inline uint32_t trod_stream_key(const struct trod_batch *b, uint32_t row)
{
    return b->have & b->has[row] & TROD_COL_STREAM ? b->stream[row] + 1 : 0;
}

/* The first of rows (FROM, TO) of B that is of another stream than row FROM; TO: there is none. */
TROD_HOT uint32_t trod_stream_run(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t *const restrict stream = b->stream, *const restrict has = b->has;
    const uint32_t of = trod_stream_key(b, from), column = stream[from], said = has[from];

    if (!(b->have & TROD_COL_STREAM))
        return to;
    for (uint32_t i = from, end; i < to; i = end) {
        uint32_t differ = 0, otherwise = 0;

        end = to - i < TROD_STREAM_RUN ? to : i + TROD_STREAM_RUN;
        for (uint32_t k = i; k < end; k++)
            differ |= stream[k] ^ column;
        for (uint32_t k = i; k < end; k++)
            otherwise |= has[k] ^ said;
        if (!differ && !(otherwise & TROD_COL_STREAM))
            continue;
        for (uint32_t k = i; k < end; k++)
            if (trod_stream_key(b, k) != of)
                return k;
    }
    return to;
}

#endif
