/*
 * pipe.c - an index made by several threads: one reads, others have the lanes. Implements build.h.
 *
 * Batches go round in a ring of slots. Each thread takes all of them in order, for the lanes that
 * are its own; a slot is filled again when all threads are past it. A slot has copies of the
 * bytes of its batch, and of the meta, which grows while the trace is read.
 */
#include "navigate/build.h"

#include <stdlib.h>
#include <string.h>

#include "trace/batch_own.h"
#include "trod/run.h"

enum { SLOTS = 8, ALL = (1 << NAV_LANES) - 1 };

struct slot {
    struct nav_item it;
    struct trod_batch *spare; /* the batch that was here before, to be filled again */
    struct trod_buf window;   /* the bytes of the batch */
};

struct worker {
    struct nav_pipe *pipe;
    pthread_t thread;
    unsigned lanes;
    uint64_t done; /* slots */
    int rc;
};

struct nav_pipe {
    struct nav_builder *b;
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    struct slot slot[SLOTS];
    uint64_t made; /* slots filled */
    bool over;     /* no more come */
    bool failed;   /* a thread gave up */
    struct worker worker[NAV_LANES];
    unsigned n_workers, started;
    int rc;         /* of what the caller does itself */
    uint64_t items; /* put so far */
};

/* Which lanes worker I of N has: those that take longest first. */
static unsigned lanes_of(unsigned i, unsigned n)
{
    unsigned lanes = 0;

    for (unsigned lane = 0; lane < NAV_LANES; lane++)
        if ((lane < n ? lane : n - 1) == i)
            lanes |= 1u << lane;
    return lanes;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct nav_pipe *p = w->pipe;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (w->done == p->made && !p->over)
            pthread_cond_wait(&p->filled, &p->lock);
        if (w->done == p->made)
            break;
        pthread_mutex_unlock(&p->lock);
        w->rc = nav_lanes_take(p->b, w->lanes, &p->slot[w->done % SLOTS].it, w->rc);
        pthread_mutex_lock(&p->lock);
        p->failed |= w->rc < 0;
        w->done++;
        pthread_cond_signal(&p->freed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Wait until all threads are past the slot MADE. False: one of them gave up. */
static bool wait_for(struct nav_pipe *p, uint64_t made)
{
    bool failed;

    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->started; i++)
        while (p->worker[i].done < made)
            pthread_cond_wait(&p->freed, &p->lock);
    failed = p->failed;
    pthread_mutex_unlock(&p->lock);
    return !failed;
}

/* The first rows are worked on without threads: small traces need none. */
static void start(struct nav_pipe *p)
{
    pthread_mutex_lock(&p->lock); /* until it is known how many they are */
    while (p->started < p->n_workers) {
        struct worker *w = &p->worker[p->started];

        w->pipe = p;
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
        p->started++;
    }
    for (unsigned i = 0; i < p->started; i++)
        p->worker[i].lanes = lanes_of(i, p->started);
    p->b->meeting.n = p->started;
    p->n_workers = p->started; /* with none all is done here */
    pthread_mutex_unlock(&p->lock);
}

/* IT by the caller, when all before is done. */
static int do_here(struct nav_pipe *p, const struct nav_item *it)
{
    if (p->started && !wait_for(p, p->made))
        return TROD_ERR_NOMEM; /* which one: nav_pipe_end */
    p->b->meeting.n = 1;
    p->rc = nav_lanes_take(p->b, ALL, it, p->rc);
    p->b->meeting.n = p->started;
    return p->rc;
}

static void publish(struct nav_pipe *p, bool over)
{
    pthread_mutex_lock(&p->lock);
    p->made += !over;
    p->over |= over;
    pthread_cond_broadcast(&p->filled);
    pthread_mutex_unlock(&p->lock);
}

/* The batch of IT needs neither its driver nor the input. False: it does not fit. */
static bool own(struct nav_pipe *p, struct slot *s, const struct nav_item *it)
{
    const uint64_t end = trod_trace_position(p->b->trace), from = it->b->offset;
    const size_t n =
        end >= from && end - from <= it->b->bytes_n ? (size_t)(end - from) : it->b->bytes_n;

    s->window.n = 0;
    return trod_buf_add(&s->window, it->b->bytes, n) == TROD_OK &&
           trod_batch_own_window(it->b, s->window.p);
}

int nav_pipe_put(struct nav_pipe *p, struct nav_item *it)
{
    struct slot *s = &p->slot[p->made % SLOTS];
    struct trod_buf mark;
    int rc;

    if (p->n_workers && !p->started && p->items)
        start(p);
    p->items++;
    if (!p->started)
        return do_here(p, it);
    if (p->made >= SLOTS && !wait_for(p, p->made - SLOTS + 1))
        return TROD_ERR_NOMEM; /* which one: nav_pipe_end */
    if (it->b) {
        rc = trod_trace_take(p->b->trace, s->spare);
        if (rc < 0)
            return rc == TROD_ERR_UNSUPPORTED ? do_here(p, it) : rc;
        s->spare = it->b;
        if (!own(p, s, it))
            return do_here(p, it);
    }
    mark = s->it.mark;
    s->it = *it;
    it->mark = mark;
    if (it->b) {
        s->it.meta = *it->b->meta;
        it->b->meta = &s->it.meta;
    }
    publish(p, false);
    return TROD_OK;
}

int nav_pipe_new(struct nav_pipe **out, struct nav_builder *b)
{
    const unsigned jobs = b->opt->jobs ? b->opt->jobs : trod_processors();
    struct nav_pipe *p = *out = calloc(1, sizeof *p);

    if (!p)
        return TROD_ERR_NOMEM;
    p->b = b;
    p->n_workers = jobs - 1 < NAV_LANES ? jobs - 1 : NAV_LANES;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->filled, NULL);
    pthread_cond_init(&p->freed, NULL);
    pthread_mutex_init(&b->meeting.lock, NULL);
    pthread_cond_init(&b->meeting.over, NULL);
    return TROD_OK;
}

int nav_pipe_end(struct nav_pipe *p)
{
    int rc = p->rc;

    publish(p, true);
    for (unsigned i = 0; i < p->started; i++) {
        pthread_join(p->worker[i].thread, NULL);
        rc = rc < 0 ? rc : p->worker[i].rc;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        trod_batch_free(p->slot[i].spare);
        trod_buf_fini(&p->slot[i].it.mark);
        trod_buf_fini(&p->slot[i].window);
    }
    pthread_cond_destroy(&p->b->meeting.over);
    pthread_mutex_destroy(&p->b->meeting.lock);
    pthread_cond_destroy(&p->freed);
    pthread_cond_destroy(&p->filled);
    pthread_mutex_destroy(&p->lock);
    free(p);
    return rc;
}
