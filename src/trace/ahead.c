/*
 * ahead.c - one thread decodes the rows of a trace, its caller has those that came before.
 *
 * Implements ahead.h. Decoded batches stand in a ring of slots and own what their slices point to.
 * Each brings along what the caller would know by then: the meta, the problems, how far
 * the trace was read. What the thread has done beyond the rows that the caller asked for is never
 * seen: all is as if the caller had decoded for itself.
 *
 * The first batch is decoded by the caller: small traces need no thread.
 */
#include "trace/ahead.h"

#include "core/keeper.h"
#include "trace/batch_own.h"
#include "trace/mark.h"
#include "trace/reader_int.h"
#include "trod/buf.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8 }; /* more of them do not stay in caches */

struct slot {
    struct trod_batch *b;    /* with the rows, given to the caller */
    struct trod_batch *kept; /* B, or what is to be filled next; NULL: the trace makes one */
    int rc;                  /* of trod_trace_step */
    bool lent;               /* B points into the window: nothing is decoded while it is in use */
    struct trod_meta meta;
    const char *path; /* that the diag says of places, or NULL */
    struct trod_keeper said;
    struct trod_trace_progress progress;
    /* Where windows are wanted: a copy of it, and what is new of the shared bytes. */
    uint8_t *window;
    size_t window_cap;
    struct trod_buf news; /* struct trod_slice and its bytes, one behind the other */
};

struct trod_ahead {
    struct trod_diag *caller;
    const char *path;          /* that CALLER says of places, by this trace */
    struct trod_keeper keeper; /* what the trace reports */
    uint64_t
        reported[TROD_DIAG_KINDS];   /* by number of the kind in KEEPER: the caller counts them */
    struct trod_meta meta;           /* the caller's */
    struct trod_trace_progress done; /* as of the rows that the caller has */
    struct trod_trace_progress counted; /* by the thread, at some batch before its last one */
    bool windows;                       /* batches have their window, and what is shared */
    size_t file;                        /* number of the one whose driver shares it */
    size_t sent;                        /* bytes of what is shared that the caller was given */
    uint8_t *mirror;                    /* what is shared, as of the rows that the caller has */
    size_t mirror_cap;
    struct slot *slot;  /* NULL: no thread was started yet */
    struct slot *given; /* that the caller has; NULL: none */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled, freed;
    uint64_t made, taken; /* slots: filled; given back by the caller */
    bool begun;           /* rows were read */
    bool running;         /* the thread is there */
    bool alone;           /* there is none to be had */
    bool over, stop;
    int rc;     /* OVER: what the end said */
    bool ended; /* with the lock: the slot filled last has no rows */
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
        trod_buf_fini(&a->slot[i].news);
        free(a->slot[i].window);
    }
    free(a->mirror);
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

/* --- what is reported to the caller --- */

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
                       beyond(c->n) - beyond(a->reported[i]));
        a->reported[i] = c->n;
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

/*
 * Bytes of the window of B, of which T has just decoded rows, that these can speak of. Of the
 * record that ends a trace rows may be there although it is not eaten.
 */
static size_t eaten_of(const struct trod_trace *t, const struct trod_batch *b)
{
    const struct trod_reader *r = t->open[t->at];
    const uint64_t at = r && !r->done ? trod_reader_position(r) : TROD_NOWHERE;

    return at >= b->offset && at - b->offset < b->bytes_n ? (size_t)(at - b->offset) : b->bytes_n;
}

/* In these orders a trace does not know of what file the window of a batch is. */
static bool by_time(const struct trod_trace *t)
{
    return t->order == &trod_order_time || t->order == &trod_order_recorded;
}

static bool add_news(struct slot *s, struct trod_slice at)
{
    return trod_buf_add(&s->news, &at, sizeof at) == TROD_OK &&
           trod_buf_add(&s->news, s->b->shared + at.off, at.len) == TROD_OK;
}

/* Does any row of B say that its opcode is new? Mostly none does. */
static bool has_new_code(const struct trod_batch *b)
{
    uint32_t any = 0;

    for (uint32_t i = 0; i < b->n; i++)
        any |= b->flags[i];
    return (b->have & TROD_COL_CODE) && (any & TROD_F_NEWCODE);
}

/*
 * What rows speak of in the bytes that the driver shares: what lies behind all that was spoken of
 * before, and what a row says is new (struct trod_slice).
 */
static bool keep_shared(struct trod_ahead *a, struct slot *s)
{
    const struct trod_batch *b = s->b;
    const size_t end = trod_batch_shared_end(b);
    const bool new_code = has_new_code(b);
    bool kept = true;

    for (uint32_t i = 0; kept && new_code && i < b->n; i++) {
        const struct trod_slice at = {b->code[i].off & ~(uint32_t)TROD_SLICE_SHARED,
                                      b->code[i].len};

        if ((b->has[i] & TROD_COL_CODE) && (b->flags[i] & TROD_F_NEWCODE) &&
            (b->code[i].off & TROD_SLICE_SHARED) && at.off < a->sent)
            kept = add_news(s, at);
    }
    if (kept && end > a->sent) {
        kept = add_news(s, (struct trod_slice){(uint32_t)a->sent, (uint32_t)(end - a->sent)});
        a->sent = end;
    }
    return kept;
}

/* The rows in SLOT get a window of their own, and what is new of the bytes that are shared. */
static bool keep_window(struct trod_trace *t, struct slot *s)
{
    const size_t n = eaten_of(t, s->b);

    if (n > s->window_cap) {
        free(s->window);
        s->window_cap = n + n / 2;
        if (!(s->window = malloc(s->window_cap)))
            s->window_cap = 0;
    }
    if (t->at != t->ahead->file) /* another driver */
        t->ahead->sent = 0;
    t->ahead->file = t->at;
    if ((n && s->window_cap < n) || (s->b->shared && !keep_shared(t->ahead, s)))
        return false;
    if (n)
        memcpy(s->window, s->b->bytes, n);
    s->b->bytes = s->window;
    s->b->bytes_n = n;
    return true;
}

/* A copy of the rows in SLOT, which are a window on batches that T goes on with. */
static bool copy_rows(const struct trod_trace *t, struct slot *s)
{
    const struct trod_batch *b = s->b;

    if (!s->kept && trod_batch_new(&s->kept, t->opt.batch_rows) < 0)
        return false;
    if (b->n > s->kept->cap)
        return false;
    trod_batch_clear(s->kept);
    s->kept->want = b->want;
    s->kept->first = b->first;
    if (trod_batch_append(s->kept, b, 0, b->n) < b->n)
        return false;
    s->b = s->kept;
    return true;
}

/* The rows in SLOT belong to it from here on, with all that they point to; or they are lent. */
static void keep(struct trod_trace *t, struct slot *s)
{
    const int rc =
        by_time(t) && t->ahead->windows ? TROD_ERR_UNSUPPORTED : trod_trace_swap(t, s->kept);

    if (rc == TROD_ERR_UNSUPPORTED) { /* a view of a batch that T goes on with */
        s->lent = !copy_rows(t, s);
        return;
    }
    s->lent = rc < 0;
    if (s->lent)
        return;
    s->kept = s->b;
    s->lent = t->ahead->windows ? !keep_window(t, s) : !trod_batch_own_followed(s->b, t->slices);
}

/*
 * How far S is. Of many files that are open at once each would be asked for every batch, which has
 * few rows then: bytes are those of some batches before, but at the end.
 */
static void count(struct trod_trace *t, struct slot *s)
{
    enum { FILES = 32 }; /* asked a batch */
    struct trod_ahead *a = t->ahead;

    if (s->rc != 1 || a->made % (1 + t->n_inputs / FILES) == 0)
        trod_trace_count(t, &a->counted);
    s->progress = a->counted;
    s->progress.rows = t->done.rows;
}

static void fill(struct trod_trace *t, struct slot *s)
{
    struct trod_ahead *a = t->ahead;

    s->lent = false;
    s->news.n = 0;
    s->rc = trod_trace_step(t, &s->b);
    if (s->rc == 1)
        keep(t, s);
    s->meta = t->meta;
    s->path = path_of(t, &a->keeper.diag);
    count(t, s);
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
        a->ended |= !more;
        if (a->made - a->taken == SLOTS / 2 || a->ended || s->lent)
            pthread_cond_signal(&a->filled);
        while (s->lent && a->made > a->taken && !a->stop)
            pthread_cond_wait(&a->freed, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* --- the caller --- */

/* What is new in S goes where the caller's rows look. */
static bool learn_shared(struct trod_ahead *a, const struct slot *s)
{
    for (size_t i = 0; i < s->news.n;) {
        struct trod_slice at;

        memcpy(&at, s->news.p + i, sizeof at);
        i += sizeof at;
        if ((size_t)at.off + at.len > a->mirror_cap) {
            const size_t cap = 2 * ((size_t)at.off + at.len);
            uint8_t *p = realloc(a->mirror, cap);

            if (!p)
                return false;
            a->mirror = p;
            a->mirror_cap = cap;
        }
        memcpy(a->mirror + at.off, s->news.p + i, at.len);
        i += at.len;
    }
    return true;
}

/*
 * Is there a thread? Who reads a pipe may have to wait, and what cores are doing is given in the
 * meta as it changes.
 */
static bool start(struct trod_trace *t)
{
    struct trod_ahead *a = t->ahead;

    if (a->running || a->alone)
        return a->running;
    if (!t->opt.ahead || t->meta.cores || !trod_trace_rewindable(t)) {
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
    if (rc != 1)
        return rc;
    (*batch)->meta = &a->meta;
    /* as of the batches that follow: where one window ends the next one begins */
    if (a->windows && !by_time(t))
        (*batch)->bytes_n = eaten_of(t, *batch);
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
    /* in the same way who finds it empty waits for more than one, where more come without it */
    if (a->made == a->taken)
        while (a->made - a->taken < SLOTS / 2 && !a->ended &&
               !(a->made > a->taken && a->slot[(a->made - 1) % SLOTS].lent))
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
    if (a->windows && !learn_shared(a, s))
        return TROD_ERR_NOMEM;
    if (a->windows && !s->lent)
        s->b->shared = a->mirror;
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

void trod_ahead_windows(struct trod_ahead *a)
{
    a->windows = true;
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

/* --- trace.h --- */

void trod_trace_alone(struct trod_trace *t)
{
    t->opt.ahead = false;
}

void trod_trace_inputs_alone(struct trod_trace *t)
{
    t->inputs_alone = true;
    for (size_t i = 0; i < t->n_inputs; i++)
        if (t->open[i])
            trod_reader_alone(t->open[i]);
}

void trod_trace_windows(struct trod_trace *t)
{
    if (t->ahead)
        trod_ahead_windows(t->ahead);
}
