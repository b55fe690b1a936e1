/*
 * flow.c - implements flow.h.
 *
 * Slots go round in a ring: the caller puts a batch into one, a worker takes the next that is
 * filled, and the caller writes them out in order. How wide the columns of the listing are
 * follows from all rows before; a worker goes by the widths that were known when it began. Where
 * they prove to have been others the caller makes these lines again: columns soon stay as they are.
 */
#include "flow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "start.h"

enum {
    MOST = 64,         /* workers */
    LEAST_LISTING = 3, /* lines of the listing are made as quickly as batches change hands */
    MOST_LOADING = 4,  /* where each loads symbols for itself */
    SPARE = 4,         /* slots that wait while each worker has one */
    FIRST_TEXT = 1 << 20
};

struct slot {
    struct trod_batch *b;
    struct trod_meta meta;
    uint64_t first;
    uint8_t keep[TROD_BATCH_ROWS];
    int kept; /* rows, or an error */
    bool done, shown, settles;
    char *text;
    size_t n, cap;
    uint8_t before[TROD_SHOW_WIDTHS], behind[TROD_SHOW_WIDTHS];
};

struct flowing;

struct worker {
    struct flowing *flow;
    pthread_t thread;
    struct trod_match *match;
    struct trod_show *rows;
    struct trod_disasm *disasm;
    struct trod_meta meta; /* as of the batch at hand */
    bool settled;
};

struct flowing {
    struct cli_flow *f;
    pthread_mutex_t lock;
    pthread_cond_t filled, done;
    struct slot *slot;
    unsigned n_slots;
    uint64_t made, taken, written; /* slots: filled, given to a worker, written out */
    bool begun;                    /* rows were shown: WIDTH is right */
    uint8_t width[TROD_SHOW_WIDTHS];
    bool over;
    struct worker *worker;
    unsigned n_workers, started;
};

static unsigned workers_of(const struct cli_flow *f)
{
    const unsigned most = f->filter->symbols.n ? MOST_LOADING : MOST;
    const unsigned n = cli_threads(f->input);

    return n < (f->rows && f->format == TROD_EMIT_TEXT ? LEAST_LISTING : 2) ? 0
           : n < most                                                       ? n
                                                                            : most;
}

bool cli_flow_can(const struct cli_flow *f)
{
    return workers_of(f) && trod_match_apart(f->match) && trod_trace_rewindable(f->trace) &&
           !cli_unnumbered(f->trace, &f->filter->instructions) &&
           f->show.times == TROD_SHOW_ABSOLUTE;
}

/* --- a worker --- */

/* The instruction set may only be known once rows have been read. */
static void settle(struct worker *w, struct slot *s)
{
    const struct trod_meta *m = &w->meta;

    s->settles = w->flow->f->disassemble && m->isa != TROD_ISA_UNKNOWN &&
                 m->isa != TROD_ISA_REGDEPS && (s->b->have & TROD_COL_CODE);
    if (!s->settles || w->settled)
        return;
    w->settled = true;
    if (trod_disasm_new(&w->disasm, m->isa, m->endian, NULL) == 0)
        trod_show_disasm(w->rows, w->disasm);
}

static bool room(struct slot *s)
{
    size_t cap = s->cap ? 2 * s->cap : FIRST_TEXT;
    char *p;

    if (s->cap - s->n >= TROD_SHOW_LINE)
        return true;
    if (!(p = realloc(s->text, cap)))
        return false;
    s->text = p;
    s->cap = cap;
    return true;
}

static bool one_by_one(struct worker *w, struct slot *s)
{
    char *(*const put)(struct trod_show *, const struct trod_batch *, uint32_t, uint64_t, char *) =
        w->flow->f->format == TROD_EMIT_JSON ? trod_show_json : trod_show_csv;

    for (uint32_t i = 0; i < s->b->n; i++) {
        if (!s->keep[i])
            continue;
        if (!room(s))
            return false;
        s->n = (size_t)(put(w->rows, s->b, i, s->first + i, s->text + s->n) - s->text);
    }
    return true;
}

static bool lines(struct worker *w, struct slot *s)
{
    uint32_t row = 0;

    trod_show_widen(w->rows, s->before);
    settle(w, s);
    if (w->flow->f->format != TROD_EMIT_TEXT)
        return one_by_one(w, s);
    while (row < s->b->n) {
        if (!room(s))
            return false;
        s->n = (size_t)(trod_show_lines(w->rows, s->b, s->keep, s->first, &row, s->text + s->n,
                                        s->text + s->cap) -
                        s->text);
    }
    trod_show_widths(w->rows, s->behind);
    return true;
}

/* SHOW: the widths are known. */
static void do_slot(struct worker *w, struct slot *s, bool show)
{
    w->meta = s->meta;
    s->b->meta = &w->meta;
    s->n = 0;
    s->settles = false;
    s->kept = trod_match_batch(w->match, s->b);
    if (s->kept <= 0)
        return;
    memcpy(s->keep, trod_match_keep(w->match), s->b->n);
    if (show && !lines(w, s))
        s->kept = TROD_ERR_NOMEM;
    s->shown = show;
}

static void *work(void *user)
{
    struct worker *w = user;
    struct flowing *x = w->flow;

    pthread_mutex_lock(&x->lock);
    for (;;) {
        struct slot *s;
        bool show;

        while (x->taken == x->made && !x->over)
            pthread_cond_wait(&x->filled, &x->lock);
        if (x->over)
            break;
        s = &x->slot[x->taken++ % x->n_slots];
        show = x->begun && x->f->rows;
        memcpy(s->before, x->width, sizeof s->before);
        pthread_mutex_unlock(&x->lock);
        s->shown = false;
        do_slot(w, s, show);
        pthread_mutex_lock(&x->lock);
        s->done = true;
        pthread_cond_signal(&x->done);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

/* --- the caller --- */

static void show_slot(struct flowing *x, struct slot *s)
{
    const struct cli_flow *f = x->f;
    const bool same =
        f->format != TROD_EMIT_TEXT || memcmp(s->before, x->width, sizeof s->before) == 0;

    if (s->shown && same && (*f->settled || !s->settles)) {
        cli_sink_write(f->sink, s->text, s->n);
        if (f->format == TROD_EMIT_TEXT)
            trod_show_widen(f->rows, s->behind);
    } else {
        s->b->meta = &s->meta;
        f->put(f->user, s->b, s->keep, s->first);
    }
}

/* Rows before row ROW were shown: the next ones may be by others where all widths are known. */
static void passed(struct flowing *x, uint64_t row)
{
    const struct cli_flow *f = x->f;

    if (!*f->measured)
        f->pass(f->user, row);
    pthread_mutex_lock(&x->lock);
    trod_show_widths(f->rows, x->width);
    x->begun = *f->measured;
    pthread_mutex_unlock(&x->lock);
}

/* Write out what is done, in order; WAIT: at least one. Returns 0 or an error. */
static int deliver(struct flowing *x, bool wait)
{
    while (x->written < x->made) {
        struct slot *s = &x->slot[x->written % x->n_slots];
        bool done;

        pthread_mutex_lock(&x->lock);
        while (wait && !s->done)
            pthread_cond_wait(&x->done, &x->lock);
        done = s->done;
        pthread_mutex_unlock(&x->lock);
        if (!done)
            break;
        wait = false;
        if (s->kept < 0)
            return s->kept;
        *x->f->found += (uint64_t)s->kept;
        if (s->kept && x->f->rows)
            show_slot(x, s);
        if (x->f->rows && (s->kept || !x->begun))
            passed(x, s->first + s->b->n);
        if (x->f->rows && !x->f->sink->file)
            cli_sink_flush(x->f->sink);
        x->written++;
    }
    return 0;
}

static int deliver_all(struct flowing *x)
{
    int r = 0;

    while (r == 0 && x->written < x->made)
        r = deliver(x, true);
    return r;
}

/* Judge and show the rows of B, number FIRST of the trace, here and now: all before are written. */
static int do_here(struct flowing *x, struct trod_batch *b, uint64_t first)
{
    struct cli_flow *f = x->f;
    int r = deliver_all(x);

    if (r < 0)
        return r;
    b->first = first;
    r = trod_match_batch(f->match, b);
    if (r <= 0)
        return r;
    *f->found += (uint64_t)r;
    if (!f->rows)
        return 0;
    f->put(f->user, b, trod_match_keep(f->match), first);
    if (!f->sink->file)
        cli_sink_flush(f->sink);
    passed(x, first + b->n);
    return 0;
}

/* What slices lines and filters look at: of records as they are, only those nobody understands. */
static uint32_t slices_of(const struct trod_batch *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (b->kind[i] == TROD_NOTE)
            return TROD_COL_ALL;
    return TROD_COL_ALL & ~(uint32_t)TROD_COL_RAW;
}

/* The rows of B, number FIRST of the trace, to the workers. */
static int give(struct flowing *x, struct trod_batch *b, uint64_t first)
{
    struct slot *s = &x->slot[x->made % x->n_slots];
    int r = deliver(x, x->made - x->written == x->n_slots);

    if (r < 0)
        return r;
    r = trod_trace_take(x->f->trace, s->b);
    if (r == TROD_ERR_UNSUPPORTED)
        return do_here(x, b, first);
    if (r < 0)
        return r;
    s->b = b;
    if (!trod_batch_own(b, slices_of(b)))
        return do_here(x, b, first);
    b->first = s->first = first;
    s->meta = *b->meta;
    s->done = false;
    pthread_mutex_lock(&x->lock);
    x->made++;
    pthread_cond_signal(&x->filled);
    pthread_mutex_unlock(&x->lock);
    return 0;
}

static int start_worker(struct flowing *x, struct worker *w)
{
    struct trod_show_options show = x->f->show;
    struct trod_diag quiet;
    int r;

    trod_diag_init(&quiet, NULL, NULL); /* what is wrong with the options was said before */
    w->flow = x;
    w->meta = *trod_trace_meta(x->f->trace);
    r = trod_match_new(&w->match, x->f->filter, &quiet);
    if (r == 0 && x->f->rows) {
        show.meta = &w->meta;
        show.symbols = trod_match_symbols(w->match);
        r = trod_show_new(&w->rows, &show);
    }
    if (r == 0 && pthread_create(&w->thread, NULL, work, w) != 0)
        r = TROD_ERR_NOMEM;
    x->started += r == 0;
    return r;
}

static int start(struct flowing *x)
{
    int r = 0;

    x->n_slots = x->n_workers + SPARE;
    x->slot = calloc(x->n_slots, sizeof *x->slot);
    x->worker = calloc(x->n_workers, sizeof *x->worker);
    if (!x->slot || !x->worker)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; i < x->n_workers && r == 0; i++)
        r = start_worker(x, &x->worker[i]);
    return r;
}

static void end(struct flowing *x)
{
    pthread_mutex_lock(&x->lock);
    x->over = true;
    pthread_cond_broadcast(&x->filled);
    pthread_mutex_unlock(&x->lock);
    for (unsigned i = 0; i < x->started; i++)
        pthread_join(x->worker[i].thread, NULL);
    for (unsigned i = 0; x->worker && i < x->n_workers; i++) {
        struct worker *w = &x->worker[i];

        if (w->match)
            trod_match_join(x->f->match, w->match);
        trod_show_free(w->rows);
        trod_disasm_free(w->disasm);
        trod_match_free(w->match);
    }
    for (unsigned i = 0; x->slot && i < x->n_slots; i++) {
        trod_batch_free(x->slot[i].b);
        free(x->slot[i].text);
    }
    free(x->worker);
    free(x->slot);
}

static int flow(struct flowing *x, struct cli_progress *progress)
{
    struct cli_flow *f = x->f;
    struct trod_batch *b;
    uint64_t seen = 0;
    int r, w = 0;

    while ((r = trod_trace_next(f->trace, &b)) > 0) {
        const uint64_t first = b->first > seen ? b->first : seen;

        /* the first batch is done here: small traces need no threads */
        if (!x->slot && seen)
            w = start(x);
        if (w == 0)
            w = seen ? give(x, b, first) : do_here(x, b, first);
        seen = first + b->n;
        if (w < 0 || (f->rows && f->sink->failed))
            break;
        cli_progress_tick(progress, f->trace, seen);
    }
    if (w == 0 && !(f->rows && f->sink->failed))
        w = deliver_all(x);
    return w < 0 ? w : r;
}

int cli_flow(struct cli_flow *f)
{
    struct flowing x = {.f = f, .n_workers = workers_of(f)};
    struct cli_progress progress;
    int r;

    pthread_mutex_init(&x.lock, NULL);
    pthread_cond_init(&x.filled, NULL);
    pthread_cond_init(&x.done, NULL);
    cli_progress_begin(&progress, f->c);
    r = flow(&x, &progress);
    cli_progress_end(&progress);
    end(&x);
    pthread_cond_destroy(&x.done);
    pthread_cond_destroy(&x.filled);
    pthread_mutex_destroy(&x.lock);
    return r < 0 ? r : 0;
}
