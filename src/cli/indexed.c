/*
 * indexed.c - analyses that count calls get them from the index of the trace, if there is one.
 *
 * Implements cli_indexed of analyse.h (docs/navigating.md, "The index"). Whether they may is for
 * the run to say (trod_run_calls): only then an index is looked for.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse.h"
#include "navigating.h"

struct indexed {
    const struct cli *c;
    const struct cli_analyse *o;
    const struct trod_symbols *symbols; /* NULL: none */
    struct trod_diag *report_to, diag;
    struct trod_nav **nav; /* of all operands together, or of each; NULL: not looked for yet */
    size_t n, now;         /* whose calls are being reported */
    uint64_t rows;         /* before its rows */
    uint32_t files;        /* before its files */
    const struct trod_callstack_sink *sink;
};

/* Report problems of the index only: the reader of the trace reports the others. */
static void problem(void *user, const struct trod_problem *p)
{
    struct indexed *x = user;

    if (p->kind && strncmp(p->kind, "index.", 6) == 0)
        trod_diag_report(x->report_to, p->severity, p->status, p->kind, &p->at, "%s", p->message);
}

static void close_all(struct indexed *x)
{
    for (size_t i = 0; i < x->n; i++)
        trod_nav_close(x->nav[i]);
    x->n = 0;
}

/* Indexes of the operands, EACH by each. False: they do not all have one. */
static bool open_all(struct indexed *x, size_t each)
{
    const struct trod_trace_options topt = cli_trace_options(&x->o->input, TROD_COL_ALL);
    const struct trod_nav_options opt = {.struct_size = sizeof opt,
                                         .trace = &topt,
                                         .index_dir = x->o->index.index,
                                         .index_only = true};
    const size_t n = x->c->n_operands;

    for (size_t i = 0; i < n; i += each, x->n++) {
        if (trod_nav_open(&x->nav[x->n], x->c->operands + i, each, &opt, &x->diag) != TROD_OK) {
            close_all(x);
            return false;
        }
        trod_nav_follow(x->nav[x->n], x->symbols);
    }
    return true;
}

/* Do all times count the same? Indexes have times as they stand in the trace. */
static bool one_unit(const struct indexed *x)
{
    uint8_t unit = 0, other;
    bool timed = false;

    for (size_t i = 0; i < x->n; i++) {
        const int r = trod_index_unit(x->nav[i], &other);

        if (r < 0 || (r > 0 && timed && other != unit))
            return false;
        unit = r > 0 ? other : unit;
        timed = timed || r > 0;
    }
    return true;
}

static const struct trod_meta *meta(void *ctx)
{
    struct indexed *x = ctx;
    const size_t n = x->c->n_operands;

    if (!x->nav && (x->nav = calloc(n, sizeof(struct trod_nav *))) && !open_all(x, n) && n > 1)
        open_all(x, 1);
    if (!one_unit(x))
        close_all(x);
    return x->n ? trod_nav_meta(x->nav[x->now]) : NULL;
}

/* Rows and files are those of all operands. */
static int enter(void *ctx, struct trod_frame *f)
{
    const struct indexed *x = ctx;

    f->file += x->files;
    f->entry.row += x->rows;
    if (f->site.pc != TROD_NOWHERE)
        f->site.row += x->rows;
    return x->sink->enter ? x->sink->enter(x->sink->ctx, f) : TROD_OK;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    const struct indexed *x = ctx;
    struct trod_frame_left of_all = *end;

    of_all.next.row += x->rows;
    return x->sink->leave ? x->sink->leave(x->sink->ctx, f, &of_all) : TROD_OK;
}

static int tell(void *ctx, const struct trod_callstack_sink *sink,
                struct trod_callstack_counts *counts)
{
    struct indexed *x = ctx;
    const struct trod_callstack_sink own = {.ctx = x, .enter = enter, .leave = leave};
    int rc = TROD_OK;

    memset(counts, 0, sizeof *counts);
    x->sink = sink;
    x->rows = x->files = 0;
    for (x->now = 0; rc == TROD_OK && x->now < x->n; x->now++) {
        struct trod_callstack_counts of_one;
        struct trod_index_info info;

        if (!trod_index_about(x->nav[x->now], &info))
            return TROD_ERR_UNKNOWN;
        /* rows and files of the first are those of all */
        rc = trod_nav_callstack(x->nav[x->now], x->now ? &own : sink, &of_one);
        trod_callstack_counts_add(counts, &of_one);
        x->rows += info.rows;
        x->files += (uint32_t)info.files;
    }
    x->now = 0;
    return rc;
}

static int sums(void *ctx, trod_call_sums_fn fn, void *user, struct trod_callstack_counts *counts)
{
    struct indexed *x = ctx;
    int rc = TROD_OK;

    memset(counts, 0, sizeof *counts);
    for (size_t i = 0; rc == TROD_OK && i < x->n; i++) {
        struct trod_callstack_counts of_one;

        rc = trod_nav_call_sums(x->nav[i], fn, user, &of_one);
        if (rc == TROD_OK)
            trod_callstack_counts_add(counts, &of_one);
    }
    return rc;
}

static int open_calls(void *ctx, const struct trod_callstack_sink *sink)
{
    struct indexed *x = ctx;

    return x->n == 1 ? trod_nav_callstack_open(x->nav[0], sink) : TROD_ERR_UNKNOWN;
}

static int first_calls(void *ctx, const struct trod_callstack_sink *sink)
{
    struct indexed *x = ctx;

    return x->n == 1 ? trod_nav_callstack_first(x->nav[0], sink) : TROD_ERR_UNKNOWN;
}

static int wrote(void *ctx, uint32_t stream, const char *name, uint64_t from, uint64_t *row,
                 const struct trod_batch **b, uint32_t *i)
{
    const struct indexed *x = ctx;
    struct trod_nav_query query = {
        .access = TROD_NAV_WRITES, .reg = name, .stream = stream, .one_stream = true};
    struct trod_index_info info;
    struct trod_nav_hit hit;
    uint64_t base = 0;
    size_t k = 0, n;
    int rc;

    for (; k < x->n && trod_index_about(x->nav[k], &info) && *row - base >= info.rows; k++)
        base += info.rows;
    if (k == x->n || !trod_index_about(x->nav[k], &info))
        return TROD_ERR_UNKNOWN;
    rc = trod_nav_find(x->nav[k], &query, *row - base, true, &hit, 1, &n);
    if (rc < 0 || n == 0 || hit.row + base < from)
        return rc;
    *row = hit.row + base;
    return trod_nav_row(x->nav[k], hit.row, b, i);
}

int cli_indexed(struct trod_run *r, const struct cli *c, const struct cli_analyse *o,
                const struct trod_symbols *symbols, struct trod_diag *diag)
{
    struct indexed x = {.c = c, .o = o, .symbols = symbols, .report_to = diag};
    const struct trod_callstack_source source = {.meta = meta,
                                                 .tell = tell,
                                                 .ctx = &x,
                                                 .wrote = wrote,
                                                 .sums = sums,
                                                 .open = open_calls,
                                                 .first = first_calls};
    int rc;

    if (o->index.no_index)
        return 0;
    for (size_t i = 0; i < c->n_operands; i++)
        if (cli_once_only(c->operands[i]))
            return 0;
    trod_diag_init(&x.diag, problem, &x);
    x.diag.strict = o->input.strict;
    rc = trod_run_calls_named(r, &source);
    close_all(&x);
    free(x.nav);
    return rc == TROD_OK;
}
