/*
 * ring.h - blocks of decoded bytes on their way from a stack of filters to the reader.
 *
 * Implements docs/design.md, "read-ahead thread". One side produces (a thread of its own, or the
 * consumer itself), one consumes. Bytes are handed over as they are made, by a counter a block;
 * nothing is locked but to sleep and to wake.
 */
#ifndef TROD_IO_RING_H
#define TROD_IO_RING_H

#include "filter.h"
#include "source.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    TROD_RING = 4,          /* blocks at the most */
    TROD_RING_ALONE = 2,    /* where nobody reads ahead: what the caches hold */
    TROD_HEADROOM = 1 << 16 /* bytes before a block for the tail of the one before */
};

struct trod_block {
    uint8_t *mem;     /* headroom + window bytes; there before FILLED reaches the block */
    _Atomic size_t n; /* bytes so far, at mem + headroom */
};

struct trod_ring {
    struct trod_stage *top;
    struct trod_source *source;
    struct trod_fault *fault;
    size_t window, headroom; /* bytes of a block; before it, TROD_HEADROOM at the most */
    struct trod_block blocks[TROD_RING];
    unsigned n_blocks;
    _Atomic uint64_t
        filled; /* blocks that get no more bytes; block number FILLED is being filled */
    _Atomic uint64_t released; /* blocks the consumer has done with */
    atomic_bool ended;         /* block number FILLED is the last; set after its last byte */
    int end_status;            /* why; valid once ended */
    uint64_t made;             /* bytes, by the producer */

    bool threads; /* a thread is wanted once the input turns out to be long */
    bool running; /* there is one */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_bool consumer_waits, producer_waits;
    atomic_bool quit;
};

/* WINDOW: bytes of a block. */
int trod_ring_init(struct trod_ring *r, struct trod_stage *top, struct trod_source *source,
                   bool threads, size_t window, struct trod_fault *fault);
void trod_ring_fini(struct trod_ring *r);

/* End the thread; what it read stays. */
void trod_ring_stop(struct trod_ring *r);
/* Forget all blocks; only without a thread. The next byte begins block 0. */
void trod_ring_rewind(struct trod_ring *r);

static inline struct trod_block *trod_ring_block(struct trod_ring *r, uint64_t number)
{
    return &r->blocks[number % r->n_blocks];
}

/* Wait until block NUMBER has more than HAVE bytes, is filled, or the input has ended. */
void trod_ring_wait(struct trod_ring *r, uint64_t number, size_t have);

/* The consumer is done with all blocks before NUMBER. */
void trod_ring_release(struct trod_ring *r, uint64_t number);

#endif
