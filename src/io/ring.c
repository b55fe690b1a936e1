/*
 * ring.c - handing decoded blocks from the thread that makes them to the one that reads them.
 *
 * See ring.h. Of the two waits one can only be where the other is not: the consumer waits when
 * nothing is made, the producer when everything is full, so they share a condition variable. The
 * flags that say who sleeps and the counters are sequentially consistent: either the sleeper sees
 * the new counter or the other side sees the sleeper.
 */
#include "ring.h"

#include "core/spare.h"
#include "thread.h"
#include "trod/io.h"

#include <stdlib.h>

enum {
    PIECE = 1 << 18,      /* bytes asked of the stack at a time: what the caches hold */
    THREAD_FROM = 1 << 18 /* shorter inputs are not worth a thread */
};

static bool block_make(const struct trod_ring *r, struct trod_block *b)
{
    if (!b->mem)
        b->mem = trod_spare_take(r->headroom + r->window);
    return b->mem != NULL;
}

/* No more bytes. Returns false, for produce. */
static bool end(struct trod_ring *r, int status)
{
    r->end_status = status;
    atomic_store(&r->ended, true);
    return false;
}

/* Produce a piece. False: the input has ended. */
static bool produce(struct trod_ring *r)
{
    const uint64_t number = atomic_load_explicit(&r->filled, memory_order_relaxed);
    struct trod_block *b = trod_ring_block(r, number);
    const size_t n = atomic_load_explicit(&b->n, memory_order_relaxed);
    if (!block_make(r, b))
        return end(r, trod_fault_nomem(r->fault, "an input window"));
    size_t got;
    const size_t cap = r->window - n < PIECE ? r->window - n : PIECE;
    const int status = trod_stage_read(r->top, b->mem + r->headroom + n, cap, &got);
    if (got == 0)
        return end(r, status);
    r->made += got;
    atomic_store(&b->n, n + got);
    if (n + got < r->window)
        return true;
    /* the consumer may use the next block, its headroom too, as soon as FILLED says so */
    struct trod_block *next = trod_ring_block(r, number + 1);
    if (!block_make(r, next))
        return end(r, trod_fault_nomem(r->fault, "an input window"));
    atomic_store_explicit(&next->n, 0, memory_order_relaxed);
    atomic_store(&r->filled, number + 1);
    return true;
}

static void wake_if(struct trod_ring *r, atomic_bool *waits)
{
    if (!atomic_load(waits))
        return;
    pthread_mutex_lock(&r->lock);
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

static bool full(struct trod_ring *r)
{
    return atomic_load(&r->filled) - atomic_load(&r->released) >= r->n_blocks - 1;
}

static void wait_for_space(struct trod_ring *r)
{
    if (!full(r))
        return;
    pthread_mutex_lock(&r->lock);
    atomic_store(&r->producer_waits, true);
    while (full(r) && !atomic_load(&r->quit))
        pthread_cond_wait(&r->wake, &r->lock);
    atomic_store(&r->producer_waits, false);
    pthread_mutex_unlock(&r->lock);
}

static void *run(void *user)
{
    struct trod_ring *r = user;
    bool more = true;
    while (more) {
        wait_for_space(r);
        if (atomic_load(&r->quit))
            break;
        more = produce(r);
        wake_if(r, &r->consumer_waits);
    }
    return NULL;
}

static void start(struct trod_ring *r)
{
    atomic_store(&r->quit, false);
    r->running = trod_thread_start(&r->thread, run, r);
    r->threads = r->running; /* without a thread the consumer goes on producing */
}

static bool has_more(struct trod_ring *r, uint64_t number, size_t have)
{
    return atomic_load(&r->filled) > number || atomic_load(&trod_ring_block(r, number)->n) > have ||
           atomic_load(&r->ended);
}

void trod_ring_wait(struct trod_ring *r, uint64_t number, size_t have)
{
    if (has_more(r, number, have))
        return;
    if (!r->running && r->threads && r->made >= THREAD_FROM)
        start(r);
    if (!r->running) {
        while (!has_more(r, number, have))
            produce(r);
        return;
    }
    pthread_mutex_lock(&r->lock);
    atomic_store(&r->consumer_waits, true);
    while (!has_more(r, number, have))
        pthread_cond_wait(&r->wake, &r->lock);
    atomic_store(&r->consumer_waits, false);
    pthread_mutex_unlock(&r->lock);
}

void trod_ring_release(struct trod_ring *r, uint64_t number)
{
    atomic_store(&r->released, number);
    wake_if(r, &r->producer_waits);
}

int trod_ring_init(struct trod_ring *r, struct trod_stage *top, struct trod_source *source,
                   bool threads, size_t window, struct trod_fault *fault)
{
    *r = (struct trod_ring){.top = top,
                            .source = source,
                            .fault = fault,
                            .threads = threads,
                            .n_blocks = threads ? TROD_RING : TROD_RING_ALONE,
                            .window = (window + 63) & ~(size_t)63,
                            .headroom = window < TROD_HEADROOM ? (window + 63) & ~(size_t)63
                                                               : TROD_HEADROOM};
    if (pthread_mutex_init(&r->lock, NULL) != 0)
        return trod_fault_nomem(fault, "an input");
    if (pthread_cond_init(&r->wake, NULL) != 0) {
        pthread_mutex_destroy(&r->lock);
        return trod_fault_nomem(fault, "an input");
    }
    return TROD_OK;
}

void trod_ring_stop(struct trod_ring *r)
{
    if (!r->running)
        return;
    atomic_store(&r->quit, true);
    pthread_mutex_lock(&r->lock);
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->lock);
    if (r->source->ops->interrupt)
        r->source->ops->interrupt(r->source);
    pthread_join(r->thread, NULL);
    r->running = false;
}

void trod_ring_rewind(struct trod_ring *r)
{
    for (int i = 0; i < TROD_RING; i++)
        atomic_store(&r->blocks[i].n, 0);
    atomic_store(&r->filled, 0);
    atomic_store(&r->released, 0);
    atomic_store(&r->ended, false);
    r->made = 0;
}

void trod_ring_fini(struct trod_ring *r)
{
    trod_ring_stop(r);
    for (int i = 0; i < TROD_RING; i++)
        trod_spare_give(r->blocks[i].mem, r->headroom + r->window);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->wake);
}
