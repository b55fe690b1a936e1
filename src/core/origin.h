/*
 * origin.h - where the rows of a batch come from, and what is known of them therefore.
 *
 * A source is a driver that says which instructions are new: of each INSTR row without
 * TROD_F_NEWCODE it gave one with it before, of the same address, or the decoder that it goes on
 * from (struct trod_parts) did, of the same thread. Who has seen all rows of a source so far need
 * not look up the others, if what was seen of the decoders before is put together with it. Batches
 * whose rows are copies, or not all that came, have no source; which rows they are is known. This
 * stands first in what the library remembers of a batch (trace/batch_own.h).
 */
#ifndef TROD_CORE_ORIGIN_H
#define TROD_CORE_ORIGIN_H

#include "trod/batch.h"
#include "trod/drmemtrace.h"

struct trod_origin {
    uint64_t number; /* of the source, given once in a process; 0: none */
    uint64_t before; /* rows of it before row 0 of the batch */
    /* By row, how far behind trod_batch.first it came, where some were dropped or made up; NULL:
     * none were. */
    uint32_t *rows;
};

/* The source of the rows of B. */
static inline struct trod_origin trod_origin_of(const struct trod_batch *b)
{
    const struct trod_origin none = {0, 0, NULL};

    return b->own ? *(const struct trod_origin *)b->own : none;
}

/* All rows of B are of source NUMBER, the last of them being number END - 1 of it. */
static inline void trod_origin_set(struct trod_batch *b, uint64_t number, uint64_t end)
{
    if (b->own)
        *(struct trod_origin *)b->own = (struct trod_origin){number, end - b->n, NULL};
}

/* The number of row I of B in the trace, whichever rows were dropped. */
static inline uint64_t trod_origin_row(const struct trod_batch *b, uint32_t i)
{
    const uint32_t *rows = trod_origin_of(b).rows;

    return b->first + (rows ? rows[i] : i);
}

/*
 * Does row I of B say what a core did between records (struct trod_trace_options, idle)? The order
 * of the files made it up: it is of no file, and no analysis is to count it that did not ask.
 */
static inline bool trod_gap_row(const struct trod_batch *b, uint32_t i)
{
    return b->kind[i] == TROD_MARKER && b->flags[i] & TROD_F_SYNTHETIC &&
           b->have & b->has[i] & TROD_COL_CORE && !(b->has[i] & TROD_COL_STREAM) &&
           (b->sub[i] == TROD_DRM_CORE_IDLE || b->sub[i] == TROD_DRM_CORE_WAIT);
}

/* The number of the row that came, or comes, behind B, by those of its rows. */
static inline uint64_t trod_origin_end(const struct trod_batch *b)
{
    const uint32_t last = b->n ? b->n - 1 : 0;

    if (!b->n || !trod_origin_of(b).rows)
        return b->first + b->n;
    return trod_origin_row(b, last) + !trod_gap_row(b, last); /* which has that of the next */
}

static inline void trod_origin_none(struct trod_batch *b)
{
    trod_origin_set(b, 0, b->n);
}

#endif
