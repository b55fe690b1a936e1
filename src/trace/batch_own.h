/*
 * batch_own.h - what the library remembers of a batch besides its rows: columns that a driver fills
 * only once, and where the rows come from.
 *
 * Part of the batch (trod/batch.h), for readers and drivers; not installed.
 */
#ifndef TROD_TRACE_BATCH_OWN_H
#define TROD_TRACE_BATCH_OWN_H

#include "core/origin.h"
#include "trod/batch.h"

/* Stands at the beginning of a batch's memory: trod_batch.own. */
struct trod_batch_own {
    struct trod_origin source;
    size_t bytes;      /* of this memory */
    bool mapped;       /* it is the system's, else of core/spare.h */
    const void *owner; /* driver whose constant columns are there; NULL: none are */
    uint32_t tag;      /* of their content */
    uint32_t filled;   /* enum trod_column */
    uint32_t shared_n; /* bytes that the driver shares by now; 0: it does not say */
};

enum { TROD_BATCH_ALIGN = 64 }; /* of columns */

/* Where trod_origin.rows of B, which has memory of its own, are: before the first column. */
static inline uint32_t *trod_batch_rows_room(const struct trod_batch *b)
{
    uint8_t *p = (uint8_t *)b->own + TROD_BATCH_ALIGN;

    return (uint32_t *)(void *)(p + -(uintptr_t)p % TROD_BATCH_ALIGN);
}

/*
 * Columns that are the same in every batch (raw slices of fixed-size records, has, ...) need to be
 * filled only once a batch object. Returns those columns of COLUMNS (enum trod_column; KIND stands
 * for has as well) that do not hold the constant content TAG of driver OWNER any more; the caller
 * fills their elements [0, cap), wanted or not, and they count as filled from here on. TAG tells
 * apart different contents of the same driver. Whoever else writes to columns of a batch that a
 * driver will fill again calls trod_batch_changed; trod_batch_keep does it itself.
 */
static inline uint32_t trod_batch_constant(struct trod_batch *b, const void *owner, uint32_t tag,
                                           uint32_t columns)
{
    struct trod_batch_own *own = (struct trod_batch_own *)b->own;
    uint32_t fill = columns;

    if (!own)
        return columns;
    if (own->owner == owner && own->tag == tag)
        fill &= ~own->filled;
    else
        own->filled = 0;
    own->owner = owner;
    own->tag = tag;
    own->filled |= fill;
    return fill;
}

/* The driver of B shares N bytes by now: who keeps the rows need not look how far slices reach. */
static inline void trod_batch_shares(struct trod_batch *b, size_t n)
{
    struct trod_batch_own *own = (struct trod_batch_own *)b->own;

    if (own)
        own->shared_n = (uint32_t)n;
}

/* Columns hold the constant content of no driver any more. */
static inline void trod_batch_other(struct trod_batch *b)
{
    struct trod_batch_own *own = (struct trod_batch_own *)b->own;

    if (own) {
        own->owner = NULL;
        own->tag = own->filled = 0;
    }
}

/* The same, and its rows are not those that its driver gave. */
static inline void trod_batch_changed(struct trod_batch *b)
{
    trod_batch_other(b);
    trod_origin_none(b);
}

/* The same of COLUMNS only. */
static inline void trod_batch_changed_in(struct trod_batch *b, uint32_t columns)
{
    struct trod_batch_own *own = (struct trod_batch_own *)b->own;

    if (own)
        own->filled &= ~columns;
}

/* Driver OWNER is about to fill B: what another one left as constant is forgotten. */
static inline void trod_batch_driver(struct trod_batch *b, const void *owner)
{
    const struct trod_batch_own *own = (const struct trod_batch_own *)b->own;

    if (own && own->owner != owner)
        trod_batch_other(b);
}

/*
 * Rows [FROM, FROM + N) of SRC, as far as they are WANTED, become row TO of DST and every STRIDE-th
 * behind it; there is room. They say only what SRC has, and CORE, which the caller fills. Slices
 * are copied into the pool of DST: false, it is full.
 */
bool trod_batch_scatter(struct trod_batch *dst, uint32_t to, uint32_t stride,
                        const struct trod_batch *src, uint32_t from, uint32_t n, uint32_t wanted);

/*
 * B, which is the caller's (trod_trace_take), gets WINDOW, a copy of its window, and its own copy
 * of what its driver shares. False: the pool is too small.
 */
bool trod_batch_own_window(struct trod_batch *b, const uint8_t *window);

/*
 * How far the slices of B reach in what its driver shares, or all of that where it says how much
 * there is: 0 where none points there.
 */
size_t trod_batch_shared_end(const struct trod_batch *b);

/*
 * trod_batch_own of a batch whose slices are followed in the columns FOLLOWED only, and in RAW of
 * NOTE rows. Rows still say whether they have the others. The window and what is shared are gone.
 */
bool trod_batch_own_followed(struct trod_batch *b, uint32_t followed);

#endif
