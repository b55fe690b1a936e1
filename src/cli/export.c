/*
 * export.c - writing a view: options to a run, progress, the summary.
 */
#include "export.h"
#include "start.h"

#include <string.h>

struct exporting {
    struct cli *c;
    const struct cli_export *x;
    struct trod_diag diag;
    struct trod_match *match;
    struct cli_progress progress;
};

bool cli_export_names(const char *to)
{
    return trod_export_find(to, strcspn(to, ":")) != NULL;
}

static int filter(void *user, struct trod_batch *b)
{
    struct exporting *e = user;
    int r = trod_match_batch(e->match, b);

    if (r < 0)
        return r;
    trod_batch_keep(b, trod_match_keep(e->match));
    return !trod_match_done(e->match);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    struct exporting *e = user;

    cli_progress_show(&e->progress, p);
}

/* The summary of a file on standard output, where that is asked for, else a line for people. */
static int tell(struct exporting *e, const struct trod_export_summary *sum,
                const struct trod_result *result)
{
    const struct cli_export *x = e->x;
    struct cli_report report = {x->format, NULL};
    struct cli_out out;
    char rows[TROD_PUT_GROUPED + 1], bytes[TROD_PUT_GROUPED + 1];

    if (x->format == TROD_EMIT_TEXT || strcmp(x->out, "-") == 0) {
        *trod_put_grouped(rows, sum->taken) = '\0';
        *trod_put_grouped(bytes, sum->bytes) = '\0';
        cli_say(e->c, "%s: %s rows as %.*s, %s bytes",
                strcmp(x->out, "-") == 0 ? "standard output" : x->out, rows,
                (int)strcspn(x->to, ":"), x->to, bytes);
        return 0;
    }
    if (cli_report_begin(&out, e->c, &report) != 0)
        return TROD_ERR_IO;
    trod_emit_str(out.emit, "output", x->out);
    trod_emit_strn(out.emit, "to", x->to, strcspn(x->to, ":"));
    trod_emit_u64(out.emit, "rows_read", sum->rows);
    trod_emit_u64(out.emit, "rows_chosen", sum->taken);
    trod_emit_u64(out.emit, "bytes", sum->bytes);
    trod_emit_u64(out.emit, "errors", e->diag.errors);
    trod_emit_u64(out.emit, "warnings", e->diag.warnings);
    trod_result_emit(result, out.emit);
    return cli_report_end(&out);
}

static int run(struct exporting *e, struct trod_result *result)
{
    const struct cli_export *x = e->x;
    struct trod_export_summary sum;
    struct cli_start start = {.input = x->input,
                              .index = x->index,
                              .paths = x->paths,
                              .n = x->n,
                              .filter = x->filter,
                              .owners = true};
    struct trod_export_options o = {
        .to = x->to,
        .run = {.jobs = cli_jobs(x->input), .progress = progress, .user = e},
        .output = {.compress = x->compress,
                   .level = x->level > 99 ? 99 : (int)x->level,
                   .no_thread = x->input->jobs == 1,
                   .jobs = (uint16_t)cli_jobs(x->input)},
    };
    int r = trod_match_new(&e->match, x->filter, &e->diag);

    if (r != 0)
        return r;
    o.run.trace = cli_trace_options(x->input, TROD_COL_KIND | trod_match_want(e->match));
    start.match = e->match;
    cli_start(&start, &o.run.trace, &e->diag);
    r = cli_cut_apply(e->c, x->cut, x->filter, &o.run.trace, x->n, e->match, &e->diag);
    if (r != 0) {
        cli_start_end(&start);
        return r;
    }
    if (!trod_match_all(e->match))
        o.run.filter = filter;
    o.run.symbols = trod_match_symbols(e->match);
    cli_interrupt_begin();
    cli_progress_begin(&e->progress, e->c);
    r = trod_export_run(x->paths, x->n, x->out, &o, &sum, result, &e->diag);
    cli_progress_end(&e->progress);
    cli_start_end(&start);
    if (r == 0 || sum.bytes)
        return tell(e, &sum, result) != 0 ? TROD_ERR_IO : r;
    return r;
}

int cli_export(struct cli *c, const struct cli_export *x)
{
    struct exporting e = {.c = c, .x = x};
    struct trod_result *result;
    int r;

    cli_diag_init(c, &e.diag);
    e.diag.strict = x->input->strict;
    r = trod_result_new(&result);
    if (r == 0)
        r = run(&e, result);
    if (r == TROD_ERR_NOMEM)
        trod_error(&e.diag, r, "export.memory", NULL, "out of memory");
    cli_diag_end(c, &e.diag);
    trod_result_free(result);
    trod_match_free(e.match);
    return r < 0 ? CLI_TROUBLE : CLI_YES;
}
