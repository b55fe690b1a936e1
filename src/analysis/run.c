/*
 * run.c - several analyses in one pass over a trace: planning, and the pass on one thread.
 *
 * Implements trod/run.h. Files on several threads: run_unit.c.
 */
#include "analysis/run_int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int trod_run_open(struct trod_run **out, const char *const *paths, size_t n,
                  const struct trod_run_options *opt, struct trod_diag *diag)
{
    struct trod_run *r = calloc(1, sizeof *r);
    int rc;

    *out = NULL;
    if (!r)
        return TROD_ERR_NOMEM;
    if (opt)
        r->opt = *opt;
    r->diag = diag;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->turn, NULL);
    if (r->opt.trace.want == 0)
        r->opt.trace.want = TROD_COL_KIND;
    trod_keeper_init(&r->opening, diag && diag->strict);
    rc = trod_trace_open(&r->whole, paths, n, &r->opt.trace, &r->opening.diag);
    if (rc < 0) {
        trod_keeper_end(&r->opening, diag);
        trod_run_free(r);
        return rc;
    }
    *out = r;
    return TROD_OK;
}

/* Names of the columns of MASK into BUF. */
static const char *column_names(uint32_t mask, char *buf, size_t n)
{
    size_t at = 0;

    buf[0] = '\0';
    for (unsigned i = 0; i < TROD_COLUMNS; i++) {
        const char *name = mask >> i & 1 ? trod_column_name(i) : NULL;

        if (name && at + strlen(name) + 3 < n) {
            if (at)
                buf[at++] = ',', buf[at++] = ' ';
            memcpy(buf + at, name, strlen(name) + 1);
            at += strlen(name);
        }
    }
    return buf;
}

int trod_run_add(struct trod_run *r, const struct trod_analysis *a, const void *opt)
{
    const struct trod_format *f = trod_trace_format(r->whole);
    uint32_t lacks = f ? a->needs & ~f->reads : 0;
    char names[256];

    if (r->n_items == TROD_RUN_ITEMS)
        return trod_error(r->diag, TROD_ERR_USAGE, "run.too-many", NULL,
                          "more than %d analyses in one run", TROD_RUN_ITEMS);
    if (lacks)
        return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.columns", NULL,
                          "analysis '%s' needs what format '%s' does not have: %s", a->name,
                          f->name, column_names(lacks, names, sizeof names));
    r->item[r->n_items] = (struct run_item){.analysis = a, .opt = opt ? opt : a->defaults};
    r->opt.trace.want |= a->needs | (a->uses_of && f ? a->uses_of(f->name) : a->uses);
    return (int)r->n_items++;
}

int run_item_begin(struct run_item *it, const struct trod_meta *meta, struct trod_diag *diag)
{
    it->state = calloc(1, it->analysis->state_size ? it->analysis->state_size : 1);
    if (!it->state)
        return TROD_ERR_NOMEM;
    it->ready = true;
    return it->analysis->init ? it->analysis->init(it->state, it->opt, meta, diag) : TROD_OK;
}

void run_item_end(struct run_item *it)
{
    if (it->ready && it->analysis->fini)
        it->analysis->fini(it->state);
    free(it->state);
    it->state = NULL;
    it->ready = false;
}

void run_tick(struct trod_run *r)
{
    struct trod_trace_progress p;

    if (!r->opt.progress)
        return;
    trod_run_progress(r, &p);
    r->opt.progress(r->opt.user, &p);
}

/* Tell the others how far worker W is. */
static void note(struct run_worker *w, const struct trod_trace *t, uint64_t rows)
{
    struct trod_trace_progress p;

    atomic_store_explicit(&w->rows, rows, memory_order_relaxed);
    if (!w->run->opt.progress)
        return;
    trod_trace_progress(t, &p);
    atomic_store_explicit(&w->bytes, p.bytes, memory_order_relaxed);
}

int run_rows(struct trod_run *r, struct trod_trace *t, struct run_item *items,
             struct trod_diag *diag, struct run_worker *w)
{
    struct trod_batch *b;
    uint64_t rows = 0;
    int rc;

    while ((rc = trod_trace_next(t, &b)) > 0) {
        int go = 1;

        rows += b->n;
        if (r->opt.filter && (go = r->opt.filter(r->opt.user, b)) < 0)
            return go;
        for (size_t i = 0; i < r->n_items && b->n; i++)
            if ((rc = items[i].analysis->feed(items[i].state, b, diag)) < 0)
                return rc;
        if (w)
            note(w, t, rows);
        if (!w || w->first)
            run_tick(r);
        if (go == 0)
            return TROD_OK;
    }
    return rc;
}

/* One pass over the whole trace, in its order. */
static int run_serial(struct trod_run *r)
{
    int rc = TROD_OK;

    trod_keeper_tell(&r->opening, r->diag);
    r->opening.through = r->diag;
    trod_trace_want(r->whole, r->opt.trace.want);
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++)
        rc = run_item_begin(&r->item[i], trod_trace_meta(r->whole), r->diag);
    if (rc < 0)
        return rc;
    rc = run_rows(r, r->whole, r->item, r->diag, NULL);
    trod_keeper_end(&r->opening, r->diag);
    r->opening.through = NULL;
    for (size_t i = 0; rc != TROD_ERR_NOMEM && i < r->n_items; i++)
        for (size_t k = 0; r->item[i].analysis->settle && k < trod_trace_files(r->whole); k++)
            if (r->item[i].analysis->settle(r->item[i].state, (uint32_t)k) < 0)
                return TROD_ERR_NOMEM;
    return rc;
}

static bool is_serial(const struct trod_run *r)
{
    bool serial = r->opt.serial || r->opt.filter || r->opt.trace.order != TROD_ORDER_FILE ||
                  !trod_trace_rewindable(r->whole) ||
                  (trod_trace_files(r->whole) < 2 &&
                   !(run_may_part(r) && trod_trace_members(r->whole, 0) > 1));

    for (size_t i = 0; i < r->n_items; i++)
        serial |= !r->item[i].analysis->merge;
    return serial;
}

int trod_run_go(struct trod_run *r)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    if (r->gone)
        return TROD_ERR_USAGE;
    r->gone = true;
    if (r->opt.jobs == 0)
        r->opt.jobs = n < 1 ? 1 : n < TROD_RUN_JOBS ? (unsigned)n : TROD_RUN_JOBS;
    if (r->opt.jobs > TROD_RUN_JOBS)
        r->opt.jobs = TROD_RUN_JOBS;
    return is_serial(r) ? run_serial(r) : run_parallel(r);
}

int trod_run_report(const struct trod_run *r, size_t i, struct trod_emit *e)
{
    if (i >= r->n_items || !r->item[i].ready)
        return TROD_ERR_USAGE;
    return r->item[i].analysis->report(r->item[i].state, e);
}

void *trod_run_state(const struct trod_run *r, size_t i)
{
    return i < r->n_items ? r->item[i].state : NULL;
}

const struct trod_trace *trod_run_trace(const struct trod_run *r)
{
    return r->whole;
}

void trod_run_progress(struct trod_run *r, struct trod_trace_progress *p)
{
    struct trod_trace_progress whole;

    trod_trace_progress(r->whole, &whole);
    if (!r->unit) {
        *p = whole;
        return;
    }
    pthread_mutex_lock(&r->lock);
    *p = r->done;
    pthread_mutex_unlock(&r->lock);
    p->total = whole.total;
    memcpy(p->filters, whole.filters, sizeof p->filters);
    for (unsigned i = 0; i < r->n_workers; i++) {
        p->rows += atomic_load_explicit(&r->worker[i].rows, memory_order_relaxed);
        p->bytes += atomic_load_explicit(&r->worker[i].bytes, memory_order_relaxed);
    }
}

void trod_run_free(struct trod_run *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_items; i++)
        run_item_end(&r->item[i]);
    free(r->unit);
    free(r->piece);
    free(r->worker);
    trod_trace_close(r->whole);
    trod_keeper_tell(&r->opening, NULL);
    pthread_cond_destroy(&r->turn);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
