/*
 * cmd_sync.c - `trod sync`: how the threads of a trace set synchronize.
 */
#include <string.h>

#include "analyse.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct trod_match_options filter;
    struct cli_report report;
    const char *dot;
};

static const struct trod_option options[] = {
    {"dot", 0, TROD_OPT_STR, offsetof(struct options, dot), "FILE",
     "write the order graph to FILE in the DOT language (see dot(1))", NULL, NULL},
    CLI_SHARED(filter, "Choosing rows", trod_match_option_table),
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

/* Threads are merged as their synchronization allows, unless another order is asked for. */
static const struct options defaults = {.input.order = TROD_ORDER_SYNC};

struct syncing {
    struct cli *c;
    const struct options *o;
    struct trod_diag diag;
    struct trod_match *match;
    struct trod_run *run;
    struct trod_output *out;
    struct trod_sync_dot *dot;
    struct cli_progress progress;
};

static int choose(void *user, struct trod_batch *b)
{
    struct syncing *s = user;
    int r = trod_match_batch(s->match, b);

    if (r < 0)
        return r;
    trod_batch_keep(b, trod_match_keep(s->match));
    if (s->dot && (r = trod_sync_dot_feed(s->dot, b)) < 0)
        return r;
    return !trod_match_done(s->match);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    struct syncing *s = user;

    cli_progress_show(&s->progress, p);
}

/* Formats without such records are refused by name, not by a column that they lack. */
static int has_sync(struct syncing *s)
{
    char text[256];

    if (!cli_lacks(trod_trace_format(trod_run_trace(s->run)), "sync", text, sizeof text))
        return 0;
    return trod_error(&s->diag, TROD_ERR_UNSUPPORTED, "sync.format", NULL, "%s", text);
}

static int open_run(struct syncing *s)
{
    struct trod_run_options opt = {
        .serial = true, .progress = progress, .user = s, .stop = cli_stop()};
    int r = trod_match_new(&s->match, &s->o->filter, &s->diag);

    if (r == 0)
        r = cli_not_input(s->c, s->o->dot, &s->diag);
    if (r < 0)
        return r;
    opt.trace = cli_trace_options(&s->o->input, TROD_COL_KIND | trod_match_want(s->match));
    if (s->o->dot || !trod_match_all(s->match))
        opt.filter = choose;
    r = trod_run_open(&s->run, s->c->operands, s->c->n_operands, &opt, &s->diag);
    if (r == 0)
        r = has_sync(s);
    if (r == 0)
        r = trod_run_add(s->run, trod_analysis_find("sync", 4), NULL);
    if (r >= 0 && s->o->dot) {
        r = trod_output_create(&s->out, s->o->dot, NULL, &s->diag);
        if (r == 0)
            r = trod_sync_dot_new(&s->dot, s->out, trod_trace_meta(trod_run_trace(s->run)));
    }
    return r < 0 ? r : 0;
}

/* The graph gets its name when it is whole; what could not be merged is part of neither. */
static int finish_graph(struct syncing *s, int r)
{
    int end = trod_sync_dot_end(s->dot);

    if (!s->out)
        return r;
    if (trod_run_stopped(s->run))
        trod_warning(&s->diag, TROD_ERR_TRUNCATED, "run.interrupted", NULL,
                     "interrupted: '%s' was not written", s->o->dot);
    if (end == 0 && r != TROD_ERR_IO && r != TROD_ERR_NOMEM && !trod_run_stopped(s->run))
        end = trod_output_commit(s->out);
    else
        trod_output_discard(s->out);
    return r < 0 ? r : end;
}

static int tell(struct syncing *s)
{
    struct cli_out out;
    int r = cli_report_begin(&out, s->c, &s->o->report), end;

    if (r != 0)
        return r;
    if (s->o->report.format != TROD_EMIT_TEXT)
        cli_run_emit_trace(s->c, s->run, &s->diag, out.emit);
    r = cli_run_emit(s->run, 0, out.emit);
    end = cli_report_end(&out);
    return r < 0 ? r : end;
}

static int run(struct cli *c, const void *opt)
{
    struct syncing s = {.c = c, .o = opt};
    int r;

    cli_diag_init(c, &s.diag);
    s.diag.strict = s.o->input.strict;
    r = open_run(&s);
    if (r == 0) {
        int shown;

        r = cli_run_go(c, s.run, &s.progress, &s.diag);
        if (r >= 0)
            trod_match_explain(s.match, trod_trace_meta(trod_run_trace(s.run)), &s.diag);
        shown = r == TROD_ERR_NOMEM ? r : tell(&s);
        r = r < 0 ? r : shown;
    }
    r = finish_graph(&s, r);
    if (r == TROD_ERR_NOMEM)
        trod_error(&s.diag, r, "sync.memory", NULL, "out of memory");
    if (r < 0)
        c->trouble = true;
    r = cli_diag_end(c, &s.diag);
    trod_run_free(s.run);
    trod_match_free(s.match);
    return c->trouble ? CLI_TROUBLE : r;
}

const struct cli_command cli_command_sync = {
    .name = "sync",
    .title = "show how threads synchronize: sync points, contention, critical path",
    .operands = "FILE...",
    .about =
        "Merge the threads of a trace set (a file a thread, or a directory) into an order that "
        "their synchronization records allow, and list the sync points: signals, waits, waits that "
        "had to wait, the threads that use them. Times are those of an ideal machine that executes "
        "one instruction a tick in every thread and is held up by nothing but synchronization; the "
        "critical path is what makes it take as long as it does. A set that has no legal order is "
        "reported with the threads, records and sync points that stand against it. Options that "
        "choose rows, as --where, leave the order as it is: they say what is counted.",
    .examples = "  trod sync thread1.tt6 thread2.tt6\n"
                "  trod sync traces/ --dot order.dot && dot -Tsvg order.dot > order.svg\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
    .alone = "'trod sync' needs all rows in order, which one process reads",
};
