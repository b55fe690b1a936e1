/*
 * order_sync.c - the threads of a trace set as one legal interleaving.
 *
 * Implements amber, "Thread Synchronization Records": one file a thread; a wait that carries count
 * N on a sync point comes after the signal that carries N on it. Among the legal orders this picks
 * the one in which the threads take turns of TURN rows, in the order of their files, and a thread
 * whose next row is a wait that cannot complete gives up its turn: deterministic, fair, and
 * independent of how the files are cut into batches. A set without a legal order is reported once
 * everything that could run is delivered; what stands behind the waits is not, or with past_waits
 * as if they had completed.
 */
#include "trace/batch_own.h"
#include "trace/crowd.h"
#include "trace/signals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    AHEAD = 8, /* files that may be read and decompressed ahead, by a thread each */
    TURN = 1024,
    ROWS = 1024,
    PASSED = 1024, /* waits that were passed and whose signals are looked for, at most */
    NEEDS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SUB | TROD_COL_ADDR | TROD_COL_VALUE |
            TROD_COL_STREAM
};

struct thread {
    struct trod_reader *reader;
    struct trod_batch *batch;
    uint32_t at; /* next row of batch */
    bool ended;
    bool passes; /* the row is a wait that cannot complete, and goes on */
};

/* A thread that cannot go on, and where the signal it waits for stands. */
struct wait {
    size_t thread, giver; /* giver: SIZE_MAX when no thread gives the signal */
    uint64_t point, count, row, given_at;
};

struct state {
    struct thread *threads;
    struct trod_crowd crowd;
    size_t turn;   /* whose turn it is */
    uint32_t left; /* rows left of the turn */
    size_t stuck;  /* threads in a row that could not move */
    struct trod_signals given;
    struct wait *passed; /* in their order */
    size_t n_passed;
    struct trod_batch view;
    int failed;
};

static int open_all(struct trod_trace *t)
{
    struct state *s = t->state;
    int rc;

    s->threads = calloc(t->n_inputs, sizeof *s->threads);
    if (!s->threads)
        return TROD_ERR_NOMEM;
    s->left = TURN;
    s->crowd = trod_crowd_of(t);
    if (t->n_inputs > AHEAD)
        t->opt.input.no_thread = true;
    for (size_t i = 0; i < t->n_inputs; i++) {
        struct thread *th = &s->threads[i];

        if ((rc = trod_batch_new(&th->batch, s->crowd.rows < ROWS ? s->crowd.rows : ROWS)) < 0)
            return rc;
        th->batch->want = t->opt.want | NEEDS;
        rc = trod_trace_reader(t, i, &th->reader);
        th->ended = rc < 0;
        if (rc < 0 && s->failed == 0)
            s->failed = rc;
    }
    return t->first ? TROD_OK : s->failed;
}

/* Have a row at th->at. Returns 1, 0 at the end of the thread, or an error. */
static int fill(struct trod_trace *t, size_t i)
{
    struct state *s = t->state;
    struct thread *th = &s->threads[i];
    int rc;

    if (th->ended)
        return 0;
    if ((rc = trod_crowd_wake(&s->crowd, th->reader, th->batch)) < 0)
        return rc;
    if (th->at < th->batch->n)
        return 1;
    th->batch->want = t->opt.want | NEEDS;
    rc = trod_reader_next(th->reader, th->batch);
    th->at = 0;
    if (rc == 1)
        return 1;
    th->ended = true;
    th->batch->n = 0;
    trod_crowd_forget(&s->crowd, th->reader);
    trod_trace_reader_done(t, i);
    if (rc < 0 && s->failed == 0)
        s->failed = rc;
    return rc;
}

static bool is_wait(const struct trod_batch *b, uint32_t row)
{
    return b->kind[row] == TROD_SYNC && trod_sync_is_wait(b->sub[row]);
}

static bool blocked(const struct state *s, const struct thread *th)
{
    const struct trod_batch *b = th->batch;

    return is_wait(b, th->at) && !th->passes &&
           !trod_signals_has(&s->given, b->addr[th->at], b->value[th->at]);
}

static void report_wait(struct trod_trace *t, const struct wait *w)
{
    struct trod_place at = trod_place_path(t->files.file[w->thread].path);
    const char *giver = w->giver == SIZE_MAX ? NULL : t->files.file[w->giver].path;

    at.record = w->row;
    if (!giver)
        trod_error(t->diag, TROD_ERR_CORRUPT, "sync.never-signalled", &at,
                   "wait cannot complete: no thread gives signal %" PRIu64
                   " on sync point 0x%" PRIx64,
                   w->count, w->point);
    else
        trod_error(t->diag, TROD_ERR_CORRUPT, "sync.cycle", &at,
                   "wait cannot complete: signal %" PRIu64 " on sync point 0x%" PRIx64
                   " is given by record %" PRIu64 " of '%s', after a wait that cannot complete",
                   w->count, w->point, w->given_at, giver);
}

/* What is known of wait K that was passed is reported, and it is forgotten. */
static void settle(struct trod_trace *t, size_t k)
{
    struct state *s = t->state;

    report_wait(t, &s->passed[k]);
    memmove(&s->passed[k], &s->passed[k + 1], (--s->n_passed - k) * sizeof *s->passed);
}

/* The next row of thread I gives signal COUNT of POINT: waits for it were passed before. */
static void give_late(struct trod_trace *t, size_t i, uint64_t point, uint64_t count)
{
    struct state *s = t->state;
    const struct thread *th = &s->threads[i];

    for (size_t k = 0; k < s->n_passed;) {
        struct wait *w = &s->passed[k];

        if (w->point == point && w->count == count) {
            w->giver = i;
            w->given_at = th->batch->first + th->at;
            settle(t, k);
        } else {
            k++;
        }
    }
}

/* Thread I gives the signal of its next row: each count of a sync point is given once. */
static int give(struct trod_trace *t, size_t i)
{
    struct state *s = t->state;
    const struct thread *th = &s->threads[i];
    uint64_t point = th->batch->addr[th->at], count = th->batch->value[th->at];

    if (count > 0 && trod_signals_has(&s->given, point, count)) {
        struct trod_place at = trod_place_path(t->files.file[i].path);

        at.record = th->batch->first + th->at;
        trod_error(t->diag, TROD_ERR_CORRUPT, "sync.signalled-twice", &at,
                   "signal %" PRIu64 " on sync point 0x%" PRIx64
                   " was given before: which of the two a wait is for is not known",
                   count, point);
    }
    give_late(t, i, point, count);
    return trod_signals_add(&s->given, point, count);
}

/* How many rows of thread I can go before its turn ends or a wait stops it; signals are given. */
static int run(struct trod_trace *t, size_t i, uint32_t *rows)
{
    struct state *s = t->state;
    struct thread *th = &s->threads[i];
    const struct trod_batch *b = th->batch;
    uint32_t from = th->at;
    int rc = TROD_OK;

    while (th->at < b->n && rc == TROD_OK) {
        bool inside = b->flags[th->at] & TROD_F_CONT;

        if (!inside && (s->left == 0 || blocked(s, th)))
            break;
        if (b->kind[th->at] == TROD_SYNC && trod_sync_is_signal(b->sub[th->at]))
            rc = give(t, i);
        s->left -= s->left > 0;
        th->passes = false;
        th->at++;
    }
    *rows = th->at - from;
    return rc;
}

static void pass_turn(struct trod_trace *t)
{
    struct state *s = t->state;

    s->turn = (s->turn + 1) % t->n_inputs;
    s->left = TURN;
}

/* Look through what is left of thread I for the signals of the N waits W. */
static void look_ahead(struct trod_trace *t, size_t i, struct wait *w, size_t n)
{
    struct state *s = t->state;
    struct thread *th = &s->threads[i];

    for (; fill(t, i) == 1; th->at++) {
        const struct trod_batch *b = th->batch;

        if (b->kind[th->at] != TROD_SYNC || !trod_sync_is_signal(b->sub[th->at]))
            continue;
        for (size_t k = 0; k < n; k++)
            if (w[k].giver == SIZE_MAX && w[k].point == b->addr[th->at] &&
                w[k].count == b->value[th->at]) {
                w[k].giver = i;
                w[k].given_at = b->first + th->at;
            }
    }
}

/* What thread I, which cannot go on, waits for. */
static struct wait wait_of(const struct state *s, size_t i)
{
    const struct thread *th = &s->threads[i];
    const struct trod_batch *b = th->batch;

    return (struct wait){i, SIZE_MAX, b->addr[th->at], b->value[th->at], b->first + th->at, 0};
}

/* No thread can move: all that wait go on. What they wait for may still come. */
static int pass_waits(struct trod_trace *t)
{
    struct state *s = t->state;

    if (!s->passed && !(s->passed = calloc(PASSED, sizeof *s->passed)))
        return TROD_ERR_NOMEM;
    if (s->failed == 0)
        s->failed = TROD_ERR_CORRUPT;
    for (size_t i = 0; i < t->n_inputs; i++) {
        if (s->threads[i].ended)
            continue;
        if (s->n_passed == PASSED)
            settle(t, 0);
        s->passed[s->n_passed++] = wait_of(s, i);
        s->threads[i].passes = true;
    }
    s->stuck = 0;
    return TROD_OK;
}

/* No thread can move: say which wait for what, and where that is. The rest is read, not given. */
static int deadlock(struct trod_trace *t)
{
    struct state *s = t->state;
    struct wait *w = calloc(t->n_inputs, sizeof *w);
    size_t n = 0;

    if (!w)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->n_inputs; i++)
        if (!s->threads[i].ended)
            w[n++] = wait_of(s, i);
    for (size_t k = 0; k < n; k++)
        look_ahead(t, w[k].thread, w, n);
    for (size_t k = 0; k < n; k++)
        report_wait(t, &w[k]);
    free(w);
    return s->failed < 0 ? s->failed : TROD_ERR_CORRUPT;
}

/* Rows of the thread whose turn it is: 1 and *BATCH; 0: it was passed on; or an error. */
static int step(struct trod_trace *t, struct trod_batch **batch)
{
    struct state *s = t->state;
    struct thread *th = &s->threads[s->turn];
    uint32_t from, rows = 0;
    int rc = fill(t, s->turn);

    if (rc < 0 && t->diag && t->diag->strict)
        return rc;
    from = th->at;
    if (rc == 1 && (rc = run(t, s->turn, &rows)) < 0)
        return rc;
    if (rows == 0) {
        /* The turn is over, the thread is, or it waits; only a used turn is progress. */
        s->stuck = s->left < TURN ? 0 : s->stuck + 1;
        pass_turn(t);
        return 0;
    }
    s->stuck = 0;
    trod_batch_view(&s->view, th->batch, from, rows);
    s->view.first = t->done.rows;
    /* The receiver may move rows of the view, which share the columns of the batch. */
    trod_batch_changed(th->batch);
    t->done.rows += rows;
    *batch = &s->view;
    return 1;
}

/* Is a thread not at its end? */
static bool any_left(const struct trod_trace *t)
{
    const struct state *s = t->state;

    for (size_t i = 0; i < t->n_inputs; i++)
        if (!s->threads[i].ended)
            return true;
    return false;
}

static int next(struct trod_trace *t, struct trod_batch **batch)
{
    struct state *s = t->state;

    for (;;) {
        int rc = 0;

        while (s->stuck < t->n_inputs && (rc = step(t, batch)) == 0)
            ;
        if (rc != 0)
            return rc;
        if (!any_left(t))
            break;
        if (!t->opt.past_waits || (t->diag && t->diag->strict))
            return deadlock(t);
        if ((rc = pass_waits(t)) < 0)
            return rc;
    }
    while (s->n_passed)
        settle(t, 0);
    return s->failed;
}

static void close_all(struct trod_trace *t)
{
    struct state *s = t->state;

    for (size_t i = 0; s->threads && i < t->n_inputs; i++)
        trod_batch_free(s->threads[i].batch);
    free(s->threads);
    free(s->passed);
    trod_signals_fini(&s->given);
}

const struct trod_order_ops trod_order_sync = {
    "sync", sizeof(struct state), open_all, next, close_all, NULL,
};
