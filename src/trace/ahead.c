/*
 * ahead.c - one thread decodes the rows of a trace, its caller has those that came before.
 *
 * Implements ahead.h. Decoded batches stand in a ring of slots and own what their slices point to.
 * Each brings along what the caller would have been told by then: the meta, the problems, how far
 * the trace was read. What the thread has done beyond the rows that the caller asked for is never
 * seen: all is as if the caller had decoded for itself.
 *
 * The first batch is decoded by the caller: small traces need no thread.
 */
#include "trace/ahead.h"

#include "core/keeper.h"
#include "trace/batch_own.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4 }; /* more of them do not stay in caches */

struct slot {
    struct trod_batch *b;    /* with the rows, given to the caller */
    struct trod_batch *kept; /* B, or what is to be filled next; NULL: the trace makes one */
    int rc;                  /* of trod_trace_step */
    bool lent;               /* B points into the window: nothing is decoded while it is in use */
    struct trod_meta meta;
    const char *path; /* that the diag says of places, or NULL */
    struct trod_keeper said;
    struct trod_trace_progress progress;
};

struct trod_ahead {
    struct trod_diag *caller;
    const char *path;                /* that CALLER says of places, by this trace */
    struct trod_keeper keeper;       /* what the trace reports */
    uint64_t told[TROD_DIAG_KINDS];  /* by number of the kind in KEEPER: the caller counts them */
    struct trod_meta meta;           /* the caller's */
    struct trod_trace_progress done; /* as of the rows that the caller has */
    struct slot *slot;               /* NULL: no thread was started yet */
    struct slot *given;              /* that the caller has; NULL: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    uint64_t made, taken; /* slots: filled; given back by the caller */
    bool begun;           /* rows were read */
    bool running;         /* the thread is there */
    bool alone;           /* there is none to be had */
    bool over, stop;
    int rc; /* OVER: what the end said */
};

bool trod_ahead_new(struct trod_trace *t)
{
    struct trod_ahead *a = calloc(1, sizeof *a);

    if (!a)
        return false;
    a->caller = t->diag;
    trod_keeper_init(&a->keeper, t->diag && t->diag->strict);
    a->keeper.through = t->diag;
    t->diag = &a->keeper.diag;
    t->ahead = a;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->filled, NULL);
    pthread_cond_init(&a->freed, NULL);
    return true;
}

void trod_ahead_free(struct trod_ahead *a)
{
    if (!a)
        return;
    for (unsigned i = 0; a->slot && i < SLOTS; i++) {
        trod_keeper_tell(&a->slot[i].said, NULL);
        trod_batch_free(a->slot[i].kept);
    }
    trod_keeper_tell(&a->keeper, NULL);
    free(a->slot);
    pthread_cond_destroy(&a->freed);
    pthread_cond_destroy(&a->filled);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

struct trod_diag *trod_ahead_caller(const struct trod_ahead *a)
{
    return a->caller;
}

const struct trod_meta *trod_ahead_meta(const struct trod_ahead *a)
{
    return &a->meta;
}

/* --- what the caller is told --- */

static uint64_t beyond(uint64_t n)
{
    return n > TROD_DIAG_SHOWN ? n - TROD_DIAG_SHOWN : 0;
}

/* What was counted by D and not kept, since the last time. */
static void count_rest(struct trod_ahead *a, const struct trod_diag *d)
{
    for (uint32_t i = 0; i < d->n_counts; i++) {
        const struct trod_diag_count *c = &d->counts[i];

        trod_diag_more(a->caller, c->severity, d->worst, c->kind,
                       beyond(c->n) - beyond(a->told[i]));
        a->told[i] = c->n;
    }
}

/* The name of the file that the diag of T speaks of: one that is there as long as T. */
static const char *path_of(const struct trod_trace *t, const struct trod_diag *d)
{
    const uint32_t file = t->meta.file - t->base;

    return d->path && file < t->n_inputs ? t->names[file] : NULL;
}

static void name_place(struct trod_ahead *a, const char *path,
                       const struct trod_diag_members *members)
{
    a->path = path;
    if (!a->caller)
        return;
    a->caller->path = path;
    a->caller->members = members;
}

void trod_ahead_sync(struct trod_trace *t)
{
    struct trod_ahead *a = t->ahead;

    a->meta = t->meta;
    count_rest(a, &a->keeper.diag);
    name_place(a, a->keeper.diag.path, a->keeper.diag.members);
}

/* --- the thread --- */

/* The rows in SLOT belong to it from here on, with all that they point to; or they are lent. */
static void keep(struct trod_trace *t, struct slot *s)
{
    s->lent = trod_trace_swap(t, s->kept) < 0;
    if (s->lent)
        return;
    s->kept = s->b;
    s->lent = !trod_batch_own_followed(s->b, t->slices);
}

static void fill(struct trod_trace *t, struct slot *s)
{
    struct trod_ahead *a = t->ahead;

    s->lent = false;
    s->rc = trod_trace_step(t, &s->b);
    if (s->rc == 1)
        keep(t, s);
    s->meta = t->meta;
    s->path = path_of(t, &a->keeper.diag);
    trod_trace_count(t, &s->progress);
    trod_keeper_move(&s->said, &a->keeper);
}

static void *work(void *user)
{
    struct trod_trace *t = user;
    struct trod_ahead *a = t->ahead;
    bool more = true;

    pthread_mutex_lock(&a->lock);
    while (more && !a->stop) {
        struct slot *s = &a->slot[a->made % SLOTS];

        /* who finds the ring full waits for half of it: taking turns slot by slot costs */
        if (a->made - a->taken == SLOTS)
            while (a->made - a->taken > SLOTS / 2 && !a->stop)
                pthread_cond_wait(&a->freed, &a->lock);
        if (a->stop)
            break;
        pthread_mutex_unlock(&a->lock);
        fill(t, s);
        more = s->rc == 1;
        pthread_mutex_lock(&a->lock);
        a->made++;
        pthread_cond_signal(&a->filled);
        while (s->lent && a->made > a->taken && !a->stop)
            pthread_cond_wait(&a->freed, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* --- the caller --- */

/* Is there a thread? Orders of several files give windows; who reads a pipe may have to wait. */
static bool start(struct trod_trace *t)
{
    struct trod_ahead *a = t->ahead;

    if (a->running || a->alone)
        return a->running;
    if (!t->opt.ahead || t->opt.order != TROD_ORDER_FILE || !trod_trace_rewindable(t)) {
        a->alone = true;
        return false;
    }
    a->slot = calloc(SLOTS, sizeof *a->slot);
    for (unsigned i = 0; a->slot && i < SLOTS; i++)
        trod_keeper_init(&a->slot[i].said, false);
    a->keeper.through = NULL;
    a->running = a->slot && pthread_create(&a->thread, NULL, work, t) == 0;
    if (!a->running) {
        a->alone = true;
        a->keeper.through = a->caller;
    }
    return a->running;
}

static int next_alone(struct trod_trace *t, struct trod_batch **batch)
{
    struct trod_ahead *a = t->ahead;
    int rc = trod_trace_step(t, batch);

    a->begun = true;
    trod_ahead_sync(t);
    if (rc == 1)
        (*batch)->meta = &a->meta;
    return rc;
}

/* The next slot that is filled; the one before is given back. */
static struct slot *next_slot(struct trod_ahead *a)
{
    struct slot *s;

    pthread_mutex_lock(&a->lock);
    if (a->given) {
        a->taken++;
        if (a->made - a->taken == SLOTS / 2 || a->given->lent)
            pthread_cond_signal(&a->freed);
    }
    while (a->made == a->taken)
        pthread_cond_wait(&a->filled, &a->lock);
    s = a->given = &a->slot[a->taken % SLOTS];
    pthread_mutex_unlock(&a->lock);
    return s;
}

int trod_ahead_next(struct trod_trace *t, struct trod_batch **batch)
{
    struct trod_ahead *a = t->ahead;
    struct slot *s;

    if (a->over)
        return a->rc;
    if (!a->begun || !start(t))
        return next_alone(t, batch);
    s = next_slot(a);
    trod_keeper_tell(&s->said, a->caller);
    count_rest(a, &s->said.diag);
    a->meta = s->meta;
    a->done = s->progress;
    name_place(a, s->path, NULL);
    if (s->rc != 1) {
        a->over = true;
        a->rc = s->rc;
        return a->rc;
    }
    s->b->meta = &a->meta;
    *batch = s->b;
    return 1;
}

bool trod_ahead_progress(const struct trod_ahead *a, struct trod_trace_progress *p)
{
    if (!a->running || !a->given)
        return false;
    *p = a->done;
    return true;
}

bool trod_ahead_slot(struct trod_ahead *a, struct trod_batch ***slot)
{
    *slot = a->given && !a->given->lent ? &a->given->kept : NULL;
    return a->given != NULL;
}

void trod_ahead_stop(struct trod_ahead *a)
{
    if (a->caller && a->caller->path == a->path)
        name_place(a, NULL, NULL);
    if (!a->running)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->freed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    a->running = false;
}
