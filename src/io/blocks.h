/*
 * blocks.h - how much to give to a library that decodes frames of blocks.
 *
 * Libraries for zstd and lz4 frames forget what they made in a call that fails. So that damage
 * costs no sound block, a call has one block at most, and what follows a block, or is still to be
 * given out, has a call of its own.
 */
#ifndef TROD_IO_BLOCKS_H
#define TROD_IO_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* Between two calls. All zero: a frame begins. */
struct trod_blocks {
    size_t hint; /* bytes that the library asked for; 0: none yet of this frame */
    size_t into; /* bytes given since it asked for some: of a part that is not whole */
    bool full;   /* the last output was used up: there may be more of it without input */
};

/*
 * Bytes of the input for the next call. START: the least of a frame's header; HEADER: that of a
 * block, which hints have in addition to the block before it.
 */
static inline size_t trod_blocks_next(const struct trod_blocks *b, size_t start, size_t header)
{
    if (b->full)
        return 0;
    if (b->hint > header)
        return b->hint - header;
    return b->hint ? b->hint : start;
}

/* A call was given USED bytes of the WANT that trod_blocks_next() returned. */
static inline void trod_blocks_given(struct trod_blocks *b, size_t used, size_t want)
{
    b->into = used == want ? 0 : b->into + used;
}

/* A call has returned HINT, 0 at the end of a frame. FULL: it used all of the output. */
static inline void trod_blocks_called(struct trod_blocks *b, size_t hint, bool full)
{
    b->hint = hint;
    b->full = hint && full;
}

#endif
