/*
 * run.c - a view of a trace: opens it, feeds the view, gives the output its name.
 *
 * Implements trod_export_run() of trod/export.h. To the engine a view is an analysis with one state
 * that takes all rows in the order of the trace, so that sites, decoding on another thread and the
 * messages of the trace are those of all analyses.
 */
#include "core/sized.h"
#include "export/place.h"
#include "trod/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run. */
struct job {
    const struct trod_export *view;
    const struct trod_export_options *o;
    struct trod_diag *diag;
    char *spec; /* owned; options point into it */
    void *options, *state;
    struct export_place place;
    const struct trod_meta *meta; /* of the rows that are being fed */
    const char *source;
    uint64_t taken;
    bool begun;
    int failed; /* what feed or init returned */
};

/* The analysis that stands for the view in the engine: its state is a pointer to the job. */
struct link {
    struct job *job;
};

static int link_init(void *st, const void *opt, const struct trod_context *c)
{
    struct job *j = ((const struct link *)opt)->job;
    const struct trod_export_context context = {
        .meta = c->meta,
        .sites = c->sites,
        .symbols = c->symbols,
        .diag = j->diag,
        .merged = c->merged,
        .out = j->place.out,
        .path = j->place.work,
        .source = j->source,
    };

    ((struct link *)st)->job = j;
    if (j->begun) /* the engine makes one state for all rows */
        return TROD_OK;
    j->begun = true;
    j->meta = c->meta;
    return j->failed = j->view->init(j->state, j->options, &context);
}

static int link_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct job *j = ((struct link *)st)->job;

    struct trod_batch rows = *b;

    /* the batch's own is ahead: it belongs to the thread that decodes */
    rows.meta = (struct trod_meta *)(uintptr_t)j->meta;
    if (j->failed == 0)
        j->failed = j->view->feed(j->state, &rows, from, to);
    j->taken += to - from;
    return j->failed;
}

static bool link_acts(const void *opt)
{
    (void)opt;
    return true;
}

static int link_result(const void *st, struct trod_result *r)
{
    (void)st;
    (void)r;
    return TROD_OK;
}

static int unknown_view(const char *name, size_t n, struct trod_diag *diag)
{
    const char *names[64], *near;
    size_t k = 0;

    for (; k < 64 && trod_export_at(k); k++)
        names[k] = trod_export_at(k)->name;
    near = trod_suggest(name, n, names, k);
    return trod_error(diag, TROD_ERR_USAGE, "export.unknown", NULL,
                      "no view is called '%.*s'%s%s%s; see trod formats", (int)n, name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The view that j->o->to names, its options and an empty state. */
static int choose(struct job *j)
{
    const char *to = j->o->to ? j->o->to : "", *colon = strchr(to, ':');
    const size_t n = colon ? (size_t)(colon - to) : strlen(to);
    const struct trod_export *v = trod_export_find(to, n);

    if (!v)
        return unknown_view(to, n, j->diag);
    j->view = v;
    j->spec = strdup(to);
    j->options = calloc(1, v->options_size ? v->options_size : 1);
    j->state = calloc(1, v->state_size);
    if (!j->spec || !j->options || !j->state)
        return TROD_ERR_NOMEM;
    if (v->defaults)
        memcpy(j->options, v->defaults, v->options_size);
    if (!colon)
        return TROD_OK;
    if (!v->options)
        return trod_error(j->diag, TROD_ERR_USAGE, "export.options", NULL,
                          "view '%s' has no options", v->name);
    return trod_option_spec(v->options, j->options, j->spec + n + 1, j->diag);
}

static int not_an_input(const char *const *paths, size_t n, const char *out, struct trod_diag *diag)
{
    return trod_trace_reads(paths, n, out)
               ? trod_error(diag, TROD_ERR_USAGE, "export.same-file", NULL,
                            "'%s' is input and output at once", out)
               : TROD_OK;
}

static int check_columns(const struct job *j, const struct trod_run *run)
{
    const struct trod_format *f = trod_trace_format(trod_run_trace(run));
    const uint32_t lacks = f ? j->view->needs & ~(f->reads | TROD_COL_SITE) : 0;
    char names[256] = "";
    size_t n = 0;

    for (unsigned i = 0; i < TROD_COLUMNS && n < sizeof names; i++)
        if (lacks >> i & 1)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "",
                                  trod_column_name(i));
    return lacks ? trod_error(j->diag, TROD_ERR_UNSUPPORTED, "export.columns", NULL,
                              "view '%s' needs what format '%s' does not have: %s", j->view->name,
                              f->name, names)
                 : TROD_OK;
}

/* Feed all rows, then let the view write the rest. */
static int go(struct job *j, struct trod_run *run, const struct trod_analysis *stand_in,
              struct trod_export_summary *sum, struct trod_result *result)
{
    struct link link = {j};
    struct trod_trace_progress progress;
    int r = trod_run_add(run, stand_in, &link), damage;

    if (r < 0)
        return r;
    damage = trod_run_go(run);
    if (j->failed || damage == TROD_ERR_NOMEM)
        return j->failed ? j->failed : damage;
    /* what was read before damage is written all the same, except with --strict */
    if (damage < 0 && (!j->begun || j->diag->strict))
        return damage;
    trod_run_progress(run, &progress);
    r = j->view->finish(j->state, trod_trace_meta(trod_run_trace(run)), result);
    if (r == 0)
        r = export_place_commit(&j->place, &sum->bytes, j->diag);
    sum->rows = progress.rows;
    sum->taken = j->taken;
    return r < 0 ? r : damage;
}

static int run_job(struct job *j, const char *const *paths, size_t n, const char *out,
                   struct trod_export_summary *sum, struct trod_result *result)
{
    const struct trod_analysis stand_in = {
        .name = j->view->name,
        .title = j->view->title,
        .options_size = sizeof(struct link),
        .state_size = sizeof(struct link),
        .scope = TROD_PER_RUN,
        .order = TROD_GLOBAL_ORDER,
        .needs = j->view->needs,
        .uses = j->view->uses,
        .init = link_init,
        .feed = link_feed,
        .result = link_result,
        .acts = link_acts,
    };
    struct trod_run *run = NULL;
    int r = trod_run_open(&run, paths, n, &j->o->run, j->diag);

    if (r == 0)
        r = check_columns(j, run);
    if (r == 0)
        r = export_place_open(&j->place, j->view, out, &j->o->output, j->diag);
    j->source = r == 0 ? trod_trace_path(trod_run_trace(run), 0) : NULL;
    if (r == 0)
        r = go(j, run, &stand_in, sum, result);
    if (j->begun && j->view->fini)
        j->view->fini(j->state);
    export_place_discard(&j->place);
    trod_run_free(run);
    return r;
}

int trod_export_run(const char *const *paths, size_t n, const char *out,
                    const struct trod_export_options *opt, struct trod_export_summary *sum,
                    struct trod_result *result, struct trod_diag *diag)
{
    struct trod_export_options o;
    struct job j = {.o = &o, .diag = diag};
    struct trod_result *into = result;
    int r = 0;

    memset(sum, 0, sizeof *sum);
    if (!trod_sized(&o, sizeof o, sizeof o, opt))
        return trod_error(diag, TROD_ERR_USAGE, "export.version", NULL,
                          "options of another version");
    if (!into)
        r = trod_result_new(&into);
    if (r == 0)
        r = choose(&j);
    if (r == 0)
        r = not_an_input(paths, n, out, diag);
    if (r == 0)
        r = run_job(&j, paths, n, out, sum, into);
    if (!result)
        trod_result_free(into);
    if (r == TROD_ERR_NOMEM)
        trod_error(diag, r, "export.memory", NULL, "out of memory");
    free(j.state);
    free(j.options);
    free(j.spec);
    return r;
}
