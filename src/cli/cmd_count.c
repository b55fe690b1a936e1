/*
 * cmd_count.c - `trod count`: how many of what is in a trace, in all and by thread.
 */
#include <string.h>

#include "analyse.h"

enum { TOP_TEXT = 20 };

struct options {
    struct cli_common common;
    struct cli_input input;
    struct trod_match_options filter;
    struct cli_report report;
    struct trod_count_options count;
    bool per_thread;
};

static const struct trod_option options[] = {
    {"per-thread", 0, TROD_OPT_BOOL, offsetof(struct options, per_thread), NULL,
     "every number of every thread, one below the other (same as --detail list --top 0)", NULL,
     NULL},
    CLI_SHARED(count, "Counting", trod_count_option_table),
    CLI_SHARED(filter, "Choosing records", trod_match_option_table),
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.count = {.top = UINT64_MAX}};

struct counting {
    struct cli *c;
    const struct options *o;
    struct trod_diag diag;
    struct trod_match *match;
    struct cli_progress progress;
    struct trod_run *run;
};

static int filter(void *user, struct trod_batch *b)
{
    struct counting *k = user;
    int r = trod_match_batch(k->match, b);

    if (r < 0)
        return r;
    trod_batch_keep(b, trod_match_keep(k->match));
    return !trod_match_done(k->match);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    struct counting *k = user;

    cli_progress_show(&k->progress, p);
}

/* What was asked for, and what the kind of output makes of the rest. */
static struct trod_count_options choices(const struct options *o)
{
    struct trod_count_options c = o->count;
    bool text = o->report.format == TROD_EMIT_TEXT;

    if (o->per_thread)
        c.detail = TROD_COUNT_LIST;
    else if (!text && c.detail == TROD_COUNT_TABLE)
        c.detail = TROD_COUNT_WIDE;
    if (c.top == UINT64_MAX)
        c.top = text && !o->per_thread ? TOP_TEXT : 0;
    return c;
}

static int open_run(struct counting *k, const struct trod_count_options *count)
{
    const struct options *o = k->o;
    struct trod_run_options opt = {
        .jobs = o->input.jobs < TROD_RUN_JOBS ? (unsigned)o->input.jobs : TROD_RUN_JOBS,
        .progress = progress,
        .user = k,
    };
    int r = trod_match_new(&k->match, &o->filter, &k->diag);

    if (r != 0)
        return r;
    opt.trace = cli_trace_options(&o->input, TROD_COL_KIND | trod_match_want(k->match));
    if (!trod_match_all(k->match))
        opt.filter = filter;
    r = trod_run_open(&k->run, k->c->operands, k->c->n_operands, &opt, &k->diag);
    if (r == 0)
        r = trod_run_add(k->run, trod_analysis_find("count", 5), count);
    return r < 0 ? r : 0;
}

/* The report, also of a trace that could be read only in part. */
static int tell(struct counting *k)
{
    const struct trod_trace *t = trod_run_trace(k->run);
    const struct trod_format *f = trod_trace_format(t);
    struct cli_out out;
    int r = cli_report_begin(&out, k->c, &k->o->report), end;

    if (r != 0)
        return r;
    if (f)
        trod_emit_str(out.emit, "format", f->name);
    trod_emit_u64(out.emit, "files", trod_trace_files(t));
    r = cli_run_emit(k->run, 0, out.emit);
    end = cli_report_end(&out);
    return r < 0 ? r : end;
}

static int run(struct cli *c, const void *opt)
{
    struct counting k = {.c = c, .o = opt};
    struct trod_count_options count = choices(opt);
    int r;

    cli_diag_init(c, &k.diag);
    k.diag.strict = k.o->input.strict;
    r = open_run(&k, &count);
    if (r == 0) {
        int told;

        cli_progress_begin(&k.progress, c);
        r = trod_run_go(k.run);
        cli_progress_end(&k.progress);
        if (r >= 0)
            trod_match_explain(k.match, trod_trace_meta(trod_run_trace(k.run)), &k.diag);
        /* what cannot be counted as asked for has no numbers */
        told = r == TROD_ERR_NOMEM || r == TROD_ERR_USAGE ? r : tell(&k);
        if (r == 0)
            r = told;
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&k.diag, r, "count.memory", NULL, "out of memory");
    if (r < 0)
        c->trouble = true;
    r = cli_diag_end(c, &k.diag);
    trod_match_free(k.match);
    trod_run_free(k.run);
    return c->trouble ? CLI_TROUBLE : r;
}

const struct cli_command cli_command_count = {
    .name = "count",
    .title = "count instructions, accesses, branches, markers and what they touch",
    .operands = "FILE...",
    .about = "Count what is in a trace, in all and by thread or cpu: instructions and how many "
             "different ones, of user and kernel; loads, stores and their bytes; branches by class "
             "and how many are taken; markers by kind; the bytes and cache lines of code and data "
             "that are touched. What a format cannot tell is absent. For traces of DynamoRIO the "
             "numbers are those of its basic_counts, under the same names. Several FILEs, or a "
             "directory, are one trace; its files are shared out to the threads.",
    .examples = "  trod count drmemtrace.app.1234.5678.dir\n"
                "  trod count --per-thread --format json dir | jq '.threads_counts[0]'\n"
                "  trod count --kind WRITE --address 0x8000..0x8fff run.tarmac\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
