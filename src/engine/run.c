/*
 * run.c - several analyses in one pass over a trace: planning, and the pass on one thread.
 *
 * Implements trod/run.h. Parts on several threads: units.c; one that decodes for others: pipe.c.
 */
#include "engine/run_int.h"

#include "core/sized.h"
#include "trace/cuts.h"

#include <stdlib.h>
#include <string.h>

/* So many light analyses cost less to feed where rows are decoded than on threads of their own. */
enum { LIGHT = 2 };

int trod_run_open(struct trod_run **out, const char *const *paths, size_t n,
                  const struct trod_run_options *opt, struct trod_diag *diag)
{
    struct trod_run *r = calloc(1, sizeof *r);
    int rc;

    *out = NULL;
    if (!r)
        return TROD_ERR_NOMEM;
    if (!trod_sized(&r->opt, sizeof r->opt, sizeof r->opt, opt)) {
        free(r);
        return trod_error(diag, TROD_ERR_USAGE, "run.options", NULL,
                          "options are of another version");
    }
    if (r->opt.jobs == 0)
        r->opt.jobs = trod_processors();
    if (r->opt.jobs > TROD_RUN_JOBS)
        r->opt.jobs = TROD_RUN_JOBS;
    if (r->opt.trace.input.beside == 0)
        r->opt.trace.input.beside = (uint16_t)(r->opt.jobs - 1);
    if (r->opt.serial)
        r->opt.jobs = 1;
    if (r->opt.by == TROD_BY_THREAD)
        r->opt.by_stream = true;
    else if (r->opt.by_stream && r->opt.by == TROD_BY_ALL)
        r->opt.by = TROD_BY_THREAD;
    r->diag = diag;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->turn, NULL);
    run_chain_init(&r->chain);
    if (r->opt.trace.want == 0)
        r->opt.trace.want = TROD_COL_KIND;
    r->codes = r->opt.trace.want & TROD_COL_CODE;
    trod_keeper_init(&r->opening, diag && diag->strict);
    rc = trod_trace_open(&r->whole, paths, n, &r->opt.trace, &r->opening.diag);
    engine_cutter_begun(r); /* what begin points to is not needed any more */
    if (rc < 0) {
        trod_keeper_end(&r->opening, diag);
        trod_run_free(r);
        return rc;
    }
    rc = run_check_times(r);
    if (rc < 0) {
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
 * The threads that analyses may share. Decoding is one of them, but of two threads only where
 * another one decompresses beside it: by itself it is over long before an analysis is.
 */
static unsigned jobs_of(const struct trod_run *r)
{
    struct trod_trace_progress p;

    trod_trace_progress(r->whole, &p);
    return r->opt.jobs + (r->opt.jobs == 2 && !p.filters[0]);
}

/*
 * The number of shards. All shards are fed the same rows, so more shards than threads would only
 * cost time. With a state for each interval there is one: the state becomes a result when the
 * interval ends, when shards are not merged yet.
 */
static unsigned shards_of(const struct trod_run *r, const struct trod_analysis *a, const void *opt)
{
    bool intervals = r->opt.interval && !a->boundary;
    unsigned n = 1;

    if (a->shards && a->merge && !a->direct && !intervals && r->opt.jobs > 1)
        n = a->shards(opt, jobs_of(r));
    return n < 1 ? 1 : n > r->opt.jobs ? r->opt.jobs : n;
}

/*
 * Set the options of item IT: the defaults of its analysis if OPT is NULL, a copy of OPT if the
 * struct begins with its size, else OPT. Returns 0 or an error, reported.
 */
static int take_options(struct trod_run *r, struct engine_item *it, const void *opt)
{
    const size_t size = it->analysis->options_size;

    it->opt = opt ? opt : it->analysis->defaults;
    if (!opt || !it->analysis->sized)
        return TROD_OK;
    it->own = calloc(1, size);
    if (!it->own)
        return TROD_ERR_NOMEM;
    it->opt = it->own;
    if (trod_sized(it->own, size, size, opt))
        return TROD_OK;
    free(it->own);
    return trod_error(r->diag, TROD_ERR_USAGE, "run.options", NULL,
                      "options of analysis '%s' are of another version", it->analysis->name);
}

/*
 * The columns that item IT of R is fed with besides those it needs, of a trace of format F: for its
 * sites and streaks, and for whom results are wanted for. 0 or an error, reported.
 */
static int want_columns(struct trod_run *r, const struct engine_item *it,
                        const struct trod_format *f)
{
    const struct trod_analysis *a = it->analysis;
    uint32_t want = a->needs | (a->uses_of && f ? a->uses_of(f->name, it->opt) : a->uses);
    int rc;

    if (r->opt.by >= TROD_BY_MODULE)
        want |= TROD_COL_SITE | TROD_WANT_MODULES;
    if (r->opt.by == TROD_BY_CORE)
        want |= TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE;
    if (it->scope == TROD_PER_STREAM || r->opt.by_stream)
        want |= TROD_COL_STREAM;
    want |= engine_cutter_columns(&r->opt, f);
    r->streaks |= (want & TROD_WANT_STREAKS) && (want & TROD_COL_SITE);
    r->codes |= want & TROD_COL_CODE;
    r->owned |= want & TROD_COL_SITE && (!(want & TROD_WANT_RAN) || r->opt.by >= TROD_BY_MODULE);
    if (want & TROD_COL_SITE) {
        if (!r->sites &&
            (rc = engine_sites_new(&r->sites, trod_trace_meta(r->whole), r->opt.symbols)) < 0)
            return rc;
        if (want & TROD_WANT_MODULES &&
            (rc = engine_sites_modules(r->sites, r->whole, r->diag)) < 0)
            return rc;
        want |= ENGINE_SITE_COLUMNS & ~(f && f->flags & TROD_FMT_FOLLOWS ? TROD_COL_PC : 0u);
    }
    r->opt.trace.want |= want & ~(uint32_t)ENGINE_WANTS;
    return TROD_OK;
}

/*
 * May parts be recorded into states of item IT? States that record much are those of all rows, and
 * are not saved. What a core did is followed in the states of all rows besides those of cores.
 */
static bool may_record(const struct trod_run *r, const struct engine_item *it)
{
    const struct trod_analysis *a = it->analysis;

    if (it->order == TROD_ANY_ORDER || !a->merge || !a->records || !a->records(it->opt))
        return false;
    return a->recorded ? r->opt.by == TROD_BY_ALL && !r->opt.by_stream && r->opt.parts < 2
                       : r->opt.by != TROD_BY_CORE;
}

int trod_run_add(struct trod_run *r, const struct trod_analysis *a, const void *opt)
{
    const struct trod_format *f = trod_trace_format(r->whole);
    uint32_t lacks = f ? a->needs & ~(f->reads | TROD_COL_SITE) : 0;
    struct engine_item *it;
    char names[256];
    int rc;

    if (r->gone)
        return trod_error(r->diag, TROD_ERR_USAGE, "run.too-late", NULL,
                          "analysis '%s' is added to a run that has been", a->name);
    if (r->n_items == TROD_RUN_ITEMS)
        return trod_error(r->diag, TROD_ERR_USAGE, "run.too-many", NULL,
                          "more than %d analyses in one run", TROD_RUN_ITEMS);
    if (lacks)
        return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.columns", NULL,
                          "analysis '%s' needs what format '%s' does not have: %s", a->name,
                          f->name, column_names(lacks, names, sizeof names));
    it = &r->item[r->n_items];
    *it = (struct engine_item){.analysis = a};
    rc = take_options(r, it, opt);
    if (rc < 0)
        return rc;
    opt = it->opt;
    it->shards = shards_of(r, a, opt);
    it->scope = a->scope_of ? a->scope_of(opt) : a->scope;
    it->order = a->order_of ? a->order_of(opt) : a->order;
    it->records = may_record(r, it);
    it->keeps = a->recorded && !(a->takers && a->takers(opt, r->opt.jobs) == 0);
    if (r->opt.by == TROD_BY_CORE && it->order == TROD_ANY_ORDER)
        it->order = TROD_STREAM_ORDER; /* only the beginning of a file says its core */
    rc = run_check_item(r, it);
    if (rc == TROD_OK)
        rc = want_columns(r, it, f);
    if (rc < 0) {
        free(it->own);
        it->own = NULL;
        return rc;
    }
    r->opt.trace.want |= TROD_WANT_NEW_CODE;
    if (r->codes || r->begun || r->opt.trace.skip_rows || r->opt.trace.skip_instructions ||
        r->opt.trace.order != TROD_ORDER_FILE)
        r->opt.trace.want &= ~(uint32_t)TROD_WANT_NEW_CODE; /* those of all rows, or lost ones */
    return (int)r->n_items++;
}

int run_decoder_begin(struct run_decoder *d, const struct trod_run *r, bool merged)
{
    *d = (struct run_decoder){.owner = NULL};
    if (r->streaks && !(d->streaks = malloc(sizeof *d->streaks)))
        return TROD_ERR_NOMEM;
    return r->sites ? engine_owner_new(&d->owner, r->sites, merged) : TROD_OK;
}

void run_decoder_end(struct run_decoder *d)
{
    engine_owner_free(d->owner);
    free(d->streaks);
    *d = (struct run_decoder){.owner = NULL};
}

int run_next(struct trod_run *r, struct trod_trace *t, struct run_decoder *d, struct trod_batch **b)
{
    int rc, go = 1;

    if (run_asked_to_stop(r)) {
        r->stopped = true;
        return 0;
    }
    rc = trod_trace_next(t, b);
    if (rc < 0 && run_asked_to_stop(r)) { /* which ended the waiting for more */
        r->stopped = true;
        return 0;
    }
    if (rc <= 0)
        return rc;
    engine_unplaced_rows(r->unplaced, *b);
    if (d->owner && (rc = engine_owner_fill(d->owner, *b, d->streaks)) < 0)
        return rc;
    if (r->opt.filter && (go = r->opt.filter(r->opt.user, *b)) < 0)
        return go;
    if (d->streaks && !(*b)->streaks) /* the filter dropped rows */
        engine_streaks_make(d->streaks, *b);
    return go == 0 ? 2 : 1;
}

/* Report the problems met when the trace was opened, and, from here on, later ones at once. */
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
    struct run_decoder decoder = {0};
    struct engine_cutter cutter;
    struct trod_batch *b;
    int rc, more = 1;

    begin_whole(r);
    rc = run_begin_items(r, true);
    if (rc == TROD_OK)
        rc = run_decoder_begin(&decoder, r, r->opt.trace.order != TROD_ORDER_FILE);
    engine_cutter_init(&cutter, r);
    while (rc == TROD_OK && more == 1 && !cutter.over) {
        more = run_next(r, r->whole, &decoder, &b);
        if (more <= 0) {
            rc = more;
            break;
        }
        rc = run_feed(r, &cutter, b, false);
        run_tick(r);
    }
    run_decoder_end(&decoder);
    end_whole(r);
    r->read = cutter.now;
    r->met = cutter.begun || cutter.plain;
    r->warming = cutter.warm;
    for (size_t i = 0; rc != TROD_ERR_NOMEM && i < r->n_items; i++) {
        struct engine_instance *in = &r->item[i].instance[0];

        if (!in->analysis) /* not begun: the one before could not be */
            continue;
        engine_instance_close(in, &cutter.end, trod_trace_files(r->whole));
        if (in->rc < 0 && rc == TROD_OK)
            rc = in->rc;
    }
    return rc;
}

/* What the analyses reported, after what the trace did: the same for every number of threads. */
static void tell_instances(struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++)
        for (unsigned k = 0; r->item[i].instance && k < r->item[i].shards; k++)
            trod_keeper_end(&r->item[i].instance[k].keeper, r->diag);
}

/*
 * Is IT fed a streak at a time, with so little to do for each that finding them is most of the
 * work?
 */
static bool is_cheap(const struct engine_item *it)
{
    const struct trod_analysis *a = it->analysis;

    return a->uses & TROD_WANT_STREAKS && it->shards == 1 &&
           (it->order == TROD_ANY_ORDER || it->records);
}

/*
 * Would other threads that feed the analyses only cost? In the order of the files units find
 * streaks on all threads; in another one thread does.
 */
static bool feeds_itself(const struct trod_run *r)
{
    const bool merged = r->opt.trace.order != TROD_ORDER_FILE;
    unsigned light = 0;

    for (size_t i = 0; i < r->n_items; i++) {
        const struct engine_item *it = &r->item[i];
        const bool some = it->analysis->light || (merged && is_cheap(it));

        if (!it->analysis->direct && !some)
            return false;
        light += some;
    }
    return light <= LIGHT;
}

static int cannot_be_parted(struct trod_run *r)
{
    const char *what, *why = run_whole(r, &what);

    return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "run.part", NULL,
                      "this run cannot be parted: it has %s%s%s%s", why ? why : "one part only",
                      what ? ": '" : "", what ? what : "", what ? "'" : "");
}

int trod_run_share(struct trod_run *r, size_t *first, size_t *last)
{
    int rc = run_plan_units(r);

    if (rc < 0)
        return rc;
    if (!r->by_units)
        return cannot_be_parted(r);
    if (r->first_unit == r->n_units)
        return 0;
    *first = r->piece[r->first_unit].file;
    *last = r->piece[r->n_units - 1].file;
    return 1;
}

/* Go through the trace in the way that was planned. */
static int go(struct trod_run *r)
{
    int rc;

    if (r->by_units)
        return run_units(r);
    if (r->opt.jobs < 2 || feeds_itself(r))
        return run_serial(r);
    begin_whole(r);
    rc = run_pipe(r);
    end_whole(r);
    return rc;
}

void run_forget(struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++) {
        struct engine_item *it = &r->item[i];

        for (unsigned k = 0; it->instance && k < it->shards; k++)
            engine_instance_end(&it->instance[k]);
        free(it->instance);
        it->instance = NULL;
        it->records = it->records && !(r->gave_up && it->analysis->direct);
        it->shards = shards_of(r, it->analysis, it->opt);
    }
    free(r->unit);
    free(r->piece);
    free(r->worker);
    r->unit = NULL;
    r->piece = NULL;
    r->worker = NULL;
    r->n_units = r->n_pieces = r->first_unit = r->next = r->merged = r->n_workers = 0;
    r->done = (struct trod_trace_progress){0};
    r->planned = r->by_units = r->in_order = r->tentative = r->gives_up = r->stop = r->cut_short =
        r->codeless = false;
    run_chain_forget(r, 0);
    run_assume_end(r);
    r->chain.rest = false;
    r->rc = TROD_OK;
}

/*
 * Run with tentative units. A unit may turn out to begin with a wrong state: in a damaged frame,
 * what is found depends on where reading began; the decoder state before a part, or an opcode given
 * in an earlier part, may not be known without making rows, or may not be what was assumed; members
 * of an archive may be damaged; an analysis may need the rows before. Then the run is repeated
 * without such units. Problems are reported only when the result is certain.
 */
static int go_tentative(struct trod_run *r)
{
    struct trod_diag *diag = r->diag;
    struct trod_keeper keeper;
    int rc;

    for (;;) {
        const bool assumed = !r->assume.wrong;

        trod_keeper_init(&keeper, diag && diag->strict);
        r->diag = &keeper.diag;
        rc = go(r);
        r->diag = diag;
        trod_keeper_end(&keeper, r->again ? NULL : diag);
        if (!r->again)
            return rc;
        r->again = assumed != r->assume.wrong; /* without such units, or without such that assume */
        run_forget(r);
        trod_trace_forget_frames(r->whole);
        rc = run_plan_units(r);
        if (rc < 0 || !(r->tentative || r->gives_up))
            return rc < 0 ? rc : go(r);
        r->again = false; /* of the files that parts share one is known to be damaged */
    }
}

/* Warn if a region or a warm-up left nothing to count. */
static void tell_nothing(const struct trod_run *r)
{
    char text[ENGINE_REASON];

    if (!r->stopped && engine_nothing(r, text, sizeof text))
        trod_warning(r->diag, TROD_OK, "run.nothing", NULL, "%s", text);
}

static int go_planned(struct trod_run *r)
{
    const struct trod_meta *m = trod_trace_meta(r->whole);

    /* Units repeat the problems met when their files were opened, but no unit reads what is not
     * part of the trace. Of several processes the first one reports it. */
    if (r->by_units && r->opt.part == 0 && r->diag)
        trod_keeper_tell_others(&r->opening, m->files, m->n_files, r->diag);
    return r->tentative || r->gives_up ? go_tentative(r) : go(r);
}

int trod_run_go(struct trod_run *r)
{
    int rc;

    if (r->gone)
        return TROD_ERR_USAGE;
    r->gone = true;
    rc = engine_unplaced_new(&r->unplaced, r->opt.symbols) < 0 ? TROD_ERR_NOMEM : run_plan_units(r);
    if (rc < 0)
        trod_keeper_end(&r->opening, r->diag);
    else if (r->opt.parts > 1 && !r->by_units)
        rc = cannot_be_parted(r);
    else
        rc = go_planned(r);
    tell_instances(r);
    engine_sites_meta(r->sites, trod_trace_meta(r->whole));
    if (rc == TROD_OK && r->opt.parts <= 1)
        engine_code_tell(r->unplaced, r->sites, r->whole, r->diag);
    if (rc == TROD_OK)
        tell_nothing(r);
    return rc;
}

int trod_run_result(const struct trod_run *r, size_t i, struct trod_result *result)
{
    char text[ENGINE_REASON];
    int rc;

    if (i >= r->n_items || !r->item[i].instance || !r->item[i].instance[0].st)
        return TROD_ERR_USAGE;
    if ((rc = engine_instance_refresh(&r->item[i].instance[0])) < 0)
        return rc;
    if (r->stopped)
        trod_result_bool(result, "partial", true);
    engine_nothing(r, text, sizeof text);
    if (*text && !r->stopped)
        trod_result_str(result, "measure_note", text);
    rc = engine_instance_result(&r->item[i].instance[0], result);
    trod_keeper_tell(&r->item[i].instance[0].keeper, r->diag); /* files that could not be written */
    return rc;
}

void *trod_run_state(const struct trod_run *r, size_t i)
{
    if (i >= r->n_items || !r->item[i].instance ||
        engine_instance_refresh(&r->item[i].instance[0]) < 0)
        return NULL;
    return r->item[i].instance[0].st;
}

bool trod_run_stopped(const struct trod_run *r)
{
    return r->stopped;
}

const struct trod_trace *trod_run_trace(const struct trod_run *r)
{
    return r->whole;
}

void trod_run_free(struct trod_run *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_items; i++) {
        for (unsigned k = 0; r->item[i].instance && k < r->item[i].shards; k++)
            engine_instance_end(&r->item[i].instance[k]);
        free(r->item[i].instance);
        free(r->item[i].own);
    }
    free(r->unit);
    free(r->piece);
    free(r->worker);
    free(r->pipe_workers);
    run_chain_end(r);
    run_assume_end(r);
    free(r->sound);
    engine_sites_free(r->sites);
    engine_unplaced_free(r->unplaced);
    trod_trace_close(r->whole);
    trod_keeper_tell(&r->opening, NULL);
    pthread_cond_destroy(&r->turn);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
