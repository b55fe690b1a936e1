/*
 * run.c - several analyses in one pass over a trace: planning, and the pass on one thread.
 *
 * Implements trod/run.h. Files and their parts on several threads: units.c; one thread that decodes
 * and others that feed: pipe.c.
 */
#include "engine/run_int.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int trod_run_open(struct trod_run **out, const char *const *paths, size_t n,
                  const struct trod_run_options *opt, struct trod_diag *diag)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct trod_run *r = calloc(1, sizeof *r);
    int rc;

    *out = NULL;
    if (!r)
        return TROD_ERR_NOMEM;
    if (opt)
        r->opt = *opt;
    if (r->opt.jobs == 0)
        r->opt.jobs = processors < 1 ? 1 : (unsigned)processors;
    if (r->opt.jobs > TROD_RUN_JOBS)
        r->opt.jobs = TROD_RUN_JOBS;
    if (r->opt.serial)
        r->opt.jobs = 1;
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

/*
 * Shards are fed the same rows: more of them than threads would only cost. States of intervals are
 * turned into results one by one, which those of shards cannot be before they are merged.
 */
static unsigned shards_of(const struct trod_run *r, const struct trod_analysis *a, const void *opt)
{
    bool intervals = r->opt.interval && !a->boundary;
    unsigned n = 1;

    if (a->shards && a->merge && !a->direct && !intervals && r->opt.jobs > 1)
        n = a->shards(opt, r->opt.jobs);
    return n < 1 ? 1 : n > r->opt.jobs ? r->opt.jobs : n;
}

int trod_run_add(struct trod_run *r, const struct trod_analysis *a, const void *opt)
{
    const struct trod_format *f = trod_trace_format(r->whole);
    uint32_t lacks = f ? a->needs & ~(f->reads | TROD_COL_SITE) : 0, want;
    char names[256];

    if (r->n_items == TROD_RUN_ITEMS)
        return trod_error(r->diag, TROD_ERR_USAGE, "run.too-many", NULL,
                          "more than %d analyses in one run", TROD_RUN_ITEMS);
    if (lacks)
        return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.columns", NULL,
                          "analysis '%s' needs what format '%s' does not have: %s", a->name,
                          f->name, column_names(lacks, names, sizeof names));
    opt = opt ? opt : a->defaults;
    r->item[r->n_items] = (struct engine_item){.analysis = a,
                                               .opt = opt,
                                               .shards = shards_of(r, a, opt),
                                               .scope = a->scope_of ? a->scope_of(opt) : a->scope,
                                               .order = a->order_of ? a->order_of(opt) : a->order};
    want = a->needs | (a->uses_of && f ? a->uses_of(f->name, opt) : a->uses);
    if (want & TROD_COL_SITE) {
        want |= ENGINE_SITE_COLUMNS;
        if (!r->sites && engine_sites_new(&r->sites, trod_trace_meta(r->whole), r->opt.symbols) < 0)
            return TROD_ERR_NOMEM;
    }
    if (r->item[r->n_items].scope == TROD_PER_STREAM)
        want |= TROD_COL_STREAM;
    r->opt.trace.want |= want;
    return (int)r->n_items++;
}

void run_tick(struct trod_run *r)
{
    struct trod_trace_progress p;

    if (!r->opt.progress)
        return;
    trod_run_progress(r, &p);
    r->opt.progress(r->opt.user, &p);
}

int run_next(struct trod_run *r, struct trod_trace *t, struct engine_owner *owner,
             struct trod_batch **b)
{
    int rc, go = 1;

    if (r->opt.stop && *r->opt.stop) {
        r->stopped = true;
        return 0;
    }
    if ((rc = trod_trace_next(t, b)) <= 0)
        return rc;
    if (owner && (rc = engine_owner_fill(owner, *b)) < 0)
        return rc;
    if (r->opt.filter && (go = r->opt.filter(r->opt.user, *b)) < 0)
        return go;
    return go == 0 ? 2 : 1;
}

int run_instances(struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++) {
        struct engine_item *it = &r->item[i];

        it->instance = calloc(it->shards, sizeof *it->instance);
        if (!it->instance)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

int run_begin_items(struct trod_run *r)
{
    int rc;

    for (size_t i = 0; i < r->n_items; i++)
        r->item[i].shards = 1;
    rc = run_instances(r);
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++)
        rc = engine_instance_begin(&r->item[i].instance[0], r, &r->item[i],
                                   trod_trace_meta(r->whole), 0);
    return rc;
}

/* What the trace told while it was opened, and tells from here on. */
static void begin_whole(struct trod_run *r)
{
    trod_keeper_tell(&r->opening, r->diag);
    r->opening.through = r->diag;
    trod_trace_want(r->whole, r->opt.trace.want);
}

static void end_whole(struct trod_run *r)
{
    trod_keeper_end(&r->opening, r->diag);
    r->opening.through = NULL;
}

int run_feed(struct trod_run *r, struct engine_cutter *cutter, const struct trod_batch *b,
             bool direct)
{
    struct engine_cut cut[ENGINE_CUTS];
    int rc = TROD_OK;

    for (uint32_t at = 0; at < b->n && !cutter->over;) {
        uint32_t n = engine_cutter_next(cutter, b, &at, cut);

        for (size_t i = 0; i < r->n_items; i++)
            for (uint32_t k = 0; k < n && (r->item[i].analysis->direct || !direct); k++)
                engine_instance_feed(&r->item[i].instance[0], b, &cut[k]);
    }
    for (size_t i = 0; rc == TROD_OK && i < r->n_items; i++)
        if (r->item[i].analysis->direct || !direct)
            rc = r->item[i].instance[0].rc;
    return rc;
}

int run_serial(struct trod_run *r)
{
    struct engine_owner *owner = NULL;
    struct engine_cutter cutter;
    struct trod_batch *b;
    int rc, more = 1;

    begin_whole(r);
    rc = run_begin_items(r);
    if (rc == TROD_OK && r->sites)
        rc = engine_owner_new(&owner, r->sites);
    engine_cutter_init(&cutter, &r->opt);
    while (rc == TROD_OK && more == 1 && !cutter.over) {
        more = run_next(r, r->whole, owner, &b);
        if (more <= 0) {
            rc = more;
            break;
        }
        rc = run_feed(r, &cutter, b, false);
        run_tick(r);
    }
    engine_owner_free(owner);
    end_whole(r);
    for (size_t i = 0; rc != TROD_ERR_NOMEM && i < r->n_items; i++) {
        struct engine_instance *in = &r->item[i].instance[0];

        engine_instance_close(in, &cutter.end, trod_trace_files(r->whole));
        if (in->rc < 0 && rc == TROD_OK)
            rc = in->rc;
    }
    return rc;
}

/* What the analyses reported, behind what the trace did: the same for every number of threads. */
static void tell_instances(struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        for (unsigned k = 0; r->item[i].instance && k < r->item[i].shards; k++)
            trod_keeper_end(&r->item[i].instance[k].keeper, r->diag);
}

static bool all_direct(const struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        if (!r->item[i].analysis->direct)
            return false;
    return true;
}

int trod_run_go(struct trod_run *r)
{
    int rc;

    if (r->gone)
        return TROD_ERR_USAGE;
    r->gone = true;
    if (r->opt.parts > 1 && !run_by_units(r)) {
        rc = trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.part", NULL,
                        "this run cannot be parted: parts need files in their order, analyses that "
                        "can be merged, and no filter, interval, region or warm-up");
    } else if (r->opt.parts > 1 || run_by_units(r)) {
        rc = run_units(r);
    } else if (r->opt.jobs > 1 && !all_direct(r)) {
        begin_whole(r);
        rc = run_pipe(r);
        end_whole(r);
    } else {
        rc = run_serial(r);
    }
    tell_instances(r);
    return rc;
}

int trod_run_result(const struct trod_run *r, size_t i, struct trod_result *result)
{
    if (i >= r->n_items || !r->item[i].instance || !r->item[i].instance[0].st)
        return TROD_ERR_USAGE;
    if (r->stopped)
        trod_result_bool(result, "partial", true);
    return engine_instance_result(&r->item[i].instance[0], result);
}

void *trod_run_state(const struct trod_run *r, size_t i)
{
    return i < r->n_items && r->item[i].instance ? r->item[i].instance[0].st : NULL;
}

bool trod_run_stopped(const struct trod_run *r)
{
    return r->stopped;
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
    for (size_t i = 0; i < r->n_items; i++) {
        for (unsigned k = 0; r->item[i].instance && k < r->item[i].shards; k++)
            engine_instance_end(&r->item[i].instance[k]);
        free(r->item[i].instance);
    }
    free(r->unit);
    free(r->piece);
    free(r->worker);
    free(r->pipe_workers);
    engine_sites_free(r->sites);
    trod_trace_close(r->whole);
    trod_keeper_tell(&r->opening, NULL);
    pthread_cond_destroy(&r->turn);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
