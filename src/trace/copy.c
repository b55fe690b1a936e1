/*
 * copy.c - a trace written without rows, several of its files at a time.
 *
 * Implements trod_writer_copy of writer.h. What a file becomes does not depend on the others, so
 * the output is the same for any number of threads; problems are reported in the order of the
 * files.
 */
#include "trod/writer.h"

#include "core/keeper.h"
#include "core/sized.h"
#include "trace/mark.h"
#include "trace/trace_impl.h"
#include "trace/writer_int.h"
#include "trod/run.h"
#include "trod/trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { TICK_NS = 50000000, THREADS_MOST = 256 };

struct job {
    struct copying *all;
    size_t file;
    struct trod_keeper keeper;
    struct trod_file_sink *sink;
    uint64_t rows[TROD_KINDS];
    atomic_uint_least64_t bytes; /* of the file, read */
    int status;                  /* what reading it came to */
};

struct copying {
    struct trod_writer *w;
    struct trod_trace *t;
    struct job *job; /* by file */
    size_t n, from;  /* files; the first one that could be opened */
    const struct trod_copy_options *opt;
    unsigned threads;
    pthread_mutex_t lock; /* of what follows, and of W's sinks */
    pthread_cond_t done;
    size_t next, running;
    int failed; /* what ends the writing */
};

static int part(void *user)
{
    const struct job *j = user;

    return trod_sinks_part(j->sink);
}

static void tell(const struct copying *y)
{
    struct trod_trace_progress p = {.total = y->t->total};

    if (!y->opt->tick)
        return;
    for (size_t i = 0; i < y->n; i++)
        p.bytes += atomic_load_explicit(&y->job[i].bytes, memory_order_relaxed);
    p.decoded = p.bytes;
    y->opt->tick(y->opt->user, &p);
}

static void tick(void *user, uint64_t bytes)
{
    struct job *j = user;

    atomic_store_explicit(&j->bytes, bytes, memory_order_relaxed);
    if (j->all->threads == 1)
        tell(j->all);
}

/* The file that J's rows go to. */
static int open_file(struct job *j)
{
    struct trod_sinks *s = &j->all->w->sinks;
    int rc = TROD_OK;

    pthread_mutex_lock(&j->all->lock);
    if (!j->sink->out) {
        struct trod_diag *const diag = s->diag;

        s->diag = &j->keeper.diag;
        rc = trod_sinks_open_file(s, j->sink);
        s->diag = diag;
    }
    pthread_mutex_unlock(&j->all->lock);
    return rc;
}

/* What R reads is written. Returns what ends the writing. */
static int write_file(struct job *j, struct trod_reader *r)
{
    const struct trod_format *f = j->all->w->spec.format;
    struct trod_copy copy = {.tick = tick, .user = j};
    int rc = open_file(j);

    if (rc < 0)
        return rc;
    copy.out = j->sink->out;
    copy.part = trod_output_has_parts(copy.out) ? part : NULL;
    j->status = f->copy(j->sink->enc, trod_reader_source(r), &copy, &j->keeper.diag);
    for (unsigned i = 0; i < TROD_KINDS; i++)
        j->rows[i] = copy.rows[i];
    rc = j->status == TROD_ERR_NOMEM ? j->status : trod_output_seal(copy.out);
    j->sink->whole = true;
    return rc;
}

/* Copy the file of J, which is open in the trace or is opened here. */
static int copy_file(struct job *j)
{
    const struct copying *y = j->all;
    const struct trod_input_options input = {.no_thread = true};
    struct trod_reader *r = y->t->open[j->file];
    struct trod_trace *own = NULL;
    int rc;

    if (r) /* its problems go where those of opening it went: nobody else writes there */
        return write_file(j, r);
    j->status = trod_trace_open_file(&own, y->t, j->file, &input, &j->keeper.diag);
    if (j->status < 0)
        return j->status == TROD_ERR_NOMEM ? j->status : TROD_OK;
    rc = write_file(j, own->open[0]);
    if (rc >= 0 && j->status == 1)
        rc = trod_error(&j->keeper.diag, TROD_ERR_UNSUPPORTED, "writer.copy", NULL,
                        "'%s' is not like the files before it", trod_trace_path(y->t, j->file));
    trod_trace_close(own);
    return rc;
}

static void *work(void *user)
{
    struct copying *y = user;

    pthread_mutex_lock(&y->lock);
    while (y->next < y->n && y->failed == TROD_OK) {
        struct job *j = &y->job[y->next++];
        int rc;

        pthread_mutex_unlock(&y->lock);
        rc = copy_file(j);
        pthread_mutex_lock(&y->lock);
        if (rc < 0 || (j->status < 0 && y->t->diag && y->t->diag->strict))
            y->failed = rc < 0 ? rc : j->status;
    }
    y->running--;
    pthread_cond_signal(&y->done);
    pthread_mutex_unlock(&y->lock);
    return NULL;
}

/* Threads for the files; progress is reported meanwhile. */
static void copy_files(struct copying *y)
{
    pthread_t thread[THREADS_MOST];
    size_t n = 0;

    y->running = 1;
    if (y->threads == 1) {
        work(y);
        return;
    }
    pthread_mutex_lock(&y->lock);
    y->running = y->threads;
    while (n < y->threads && pthread_create(&thread[n], NULL, work, y) == 0)
        n++;
    y->running -= y->threads - n;
    while (y->running) {
        struct timespec until;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&y->done, &y->lock, &until);
        tell(y);
    }
    pthread_mutex_unlock(&y->lock);
    for (size_t i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    if (n == 0) {
        y->running = 1;
        work(y);
    }
}

/* Can all files of T be copied so? */
static bool possible(const struct trod_writer *w, const struct trod_trace *t)
{
    const struct trod_format *f = w->spec.format;

    return f->copy && t->format == f && t->meta.dialect && w->opt.source == f &&
           w->opt.drops == 0 && t->opt.order == TROD_ORDER_FILE && !t->opt.skip_rows &&
           !t->opt.skip_instructions && t->done.rows == 0 && t->at < t->n_inputs &&
           t->open[t->at] && (w->sinks.directory || t->n_inputs == 1);
}

/* Is file FILE like the first one? */
static bool remade(const struct copying *y, size_t file)
{
    struct trod_probe probe = {.path = trod_trace_path(y->t, file), .size = TROD_NOWHERE};
    const struct trod_input_options opt = {.no_thread = true, .window = 1 << 16};
    const char *dialect = NULL;
    struct trod_input *in;
    bool is = false;

    if (trod_input_open(&in, probe.path, &opt, NULL) < 0)
        return true; /* it is reported when it is its turn */
    if (trod_input_ahead(in, 1, &probe.head) == TROD_OK)
        is = y->t->format->bid(&probe, &dialect) > 0 && dialect == y->t->meta.dialect;
    trod_input_close(in);
    return is;
}

static int begin(struct copying *y)
{
    int rc = TROD_OK;

    y->from = y->t->at;
    if (!(y->job = calloc(y->n, sizeof *y->job)))
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < y->n; i++) {
        struct job *j = &y->job[i];

        *j = (struct job){.all = y, .file = i};
        trod_keeper_init(&j->keeper, y->t->diag && y->t->diag->strict);
    }
    if (!y->w->sinks.directory) {
        y->job[0].sink = y->w->sinks.sink;
        return rc;
    }
    for (size_t i = y->from; i < y->n && rc == TROD_OK; i++)
        rc = trod_sinks_keyed(&y->w->sinks, (uint32_t)i, &y->job[i].sink);
    /* the table of them grows no more */
    for (size_t i = y->from; i < y->n && rc == TROD_OK; i++)
        rc = trod_sinks_keyed(&y->w->sinks, (uint32_t)i, &y->job[i].sink);
    return rc;
}

/* Does the driver say that it can? Nothing is read. */
static bool agreed(const struct copying *y)
{
    const struct job *j = &y->job[y->from];
    const struct trod_format *f = y->w->spec.format;

    return f->copy(j->sink->enc, trod_reader_source(y->t->open[y->from]), NULL, NULL) == 0;
}

/* What the files came to, in their order. Returns the first error. */
static int end(struct copying *y, uint64_t *rows)
{
    struct trod_writer *w = y->w;
    int rc = y->failed;

    for (size_t i = 0; y->job && i < y->n; i++) {
        struct job *j = &y->job[i];

        if (j->sink && j->sink->out)
            trod_output_tell(j->sink->out, w->diag);
        trod_keeper_end(&j->keeper, y->t->diag);
        for (unsigned k = 0; k < TROD_KINDS; k++) {
            rows[k] += j->rows[k];
            w->sum.rows += j->rows[k];
            w->sum.copied += j->rows[k];
        }
        if (rc == TROD_OK && j->status < 0)
            rc = j->status;
    }
    free(y->job);
    return rc;
}

/* Threads for the files, JOBS at the most. */
static void share(struct copying *y, unsigned jobs)
{
    const size_t files = y->n - y->from;

    y->next = y->from;
    y->threads = jobs < THREADS_MOST ? jobs : THREADS_MOST;
    if (y->threads > files)
        y->threads = (unsigned)files;
    if (y->threads > 1 && y->threads == jobs) { /* each compresses what it writes */
        y->w->sinks.crew = NULL;
        y->w->sinks.output.no_thread = true;
    }
}

int trod_writer_copy(struct trod_writer *w, struct trod_trace *t,
                     const struct trod_copy_options *opt, uint64_t *rows)
{
    struct trod_copy_options own;
    struct copying y = {.w = w, .t = t, .n = t->n_inputs, .opt = &own};
    struct trod_crew *const crew = w->sinks.crew;
    bool can = possible(w, t);
    int rc;

    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return trod_error(w->diag, TROD_ERR_USAGE, "writer.options", NULL,
                          "options are of another version");
    for (size_t i = t->at + 1; can && i < y.n; i++)
        can = trod_trace_rewindable(t) && remade(&y, i);
    if (!can || w->failed < 0)
        return w->failed;
    rc = begin(&y);
    if (rc == TROD_OK && !agreed(&y)) {
        free(y.job);
        return TROD_OK;
    }
    share(&y, own.jobs ? own.jobs : trod_processors());
    pthread_mutex_init(&y.lock, NULL);
    pthread_cond_init(&y.done, NULL);
    if (rc == TROD_OK)
        copy_files(&y);
    pthread_cond_destroy(&y.done);
    pthread_mutex_destroy(&y.lock);
    w->sinks.crew = crew;
    if (rc == TROD_OK)
        w->failed = y.failed;
    else
        w->failed = rc;
    rc = end(&y, rows);
    return w->failed < 0 ? w->failed : rc < 0 ? rc : 1;
}
