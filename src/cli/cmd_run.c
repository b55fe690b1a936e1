/*
 * cmd_run.c - `trod run`: several analyses in one pass; a part of a trace for `trod merge`.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyse.h"
#include "plan.h"
#include "ranks.h"

struct options {
    struct cli_analyse analyse;
    const char *part, *save;
    struct trod_list plugins;
    bool list;
};

static const struct trod_option options[] = {
    {"list", 0, TROD_OPT_BOOL, offsetof(struct options, list), NULL,
     "list the analyses; with names of some behind it, their options", NULL, NULL},
    {"plugin", 0, TROD_OPT_LIST, offsetof(struct options, plugins), "FILE.so,...",
     "load analyses from these shared objects", NULL, NULL},
    {"part", 0, TROD_OPT_STR, offsetof(struct options, part), "I/N",
     "read part I (from 0) of N of the files and their members only; with --save", NULL, NULL},
    {"save", 0, TROD_OPT_STR, offsetof(struct options, save), "STATE",
     "write what was found to STATE, for trod merge, instead of printing it", NULL, NULL},
    CLI_ANALYSE_OPTIONS,
    CLI_SHARED(analyse.plot, NULL, cli_plot_options),
    CLI_SHARED(analyse.common, "General", cli_common_options),
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.analyse.input.order = -1};

static int list_analyses(struct cli *c, const struct cli_report *report)
{
    static const char *const columns[] = {"name", "title"};
    struct cli_out out;

    if (cli_report_begin(&out, c, report) != 0)
        return CLI_TROUBLE;
    trod_emit_table(out.emit, "analyses", "analyses", columns, 2);
    for (size_t i = 0; trod_analysis_at(i); i++) {
        trod_emit_str(out.emit, NULL, trod_analysis_at(i)->name);
        trod_emit_str(out.emit, NULL, trod_analysis_at(i)->title);
        trod_emit_row_end(out.emit);
    }
    trod_emit_table_close(out.emit);
    return cli_report_end(&out) == 0 ? CLI_YES : CLI_TROUBLE;
}

/* What analysis A does, and its options, as they are written after a colon. */
static int explain(struct trod_buf *out, const struct trod_analysis *a, unsigned width)
{
    int r = trod_buf_printf(out, "%s: %s\n", a->name, a->title);

    if (r == 0 && a->about)
        r = trod_buf_printf(out, "\n");
    if (r == 0 && a->about)
        r = trod_wrap(out, a->about, 0, 0, width);
    if (r == 0)
        r = trod_buf_printf(out, "%s\n", a->about ? "\n" : "");
    return r < 0        ? r
           : a->options ? trod_option_help(a->options, "", width, out)
                        : trod_buf_printf(out, "It has no options.\n");
}

/* The analyses that the operands name, one after the other. */
static int explain_all(struct cli *c, const struct cli_report *report)
{
    struct trod_buf text = {0};
    struct cli_out out;
    int r = 0;

    if (report->format != TROD_EMIT_TEXT)
        r = trod_error(&c->diag, TROD_ERR_USAGE, "args.list", NULL,
                       "options of analyses are listed as text only");
    for (size_t i = 0; r == 0 && i < c->n_operands; i++) {
        struct cli_plan plan = {0};

        r = cli_plan_parse(&plan, c->operands[i], &c->diag);
        for (size_t k = 0; r == 0 && k < plan.n; k++) {
            r = i + k ? trod_buf_printf(&text, "\n") : 0;
            if (r == 0)
                r = explain(&text, plan.item[k].analysis, cli_width(STDOUT_FILENO));
        }
        cli_plan_fini(&plan);
    }
    if (r == 0 && (r = cli_report_begin(&out, c, report)) == 0) {
        fwrite(text.n ? (const char *)text.p : "", 1, text.n, out.file);
        r = cli_report_end(&out);
    }
    trod_buf_fini(&text);
    return r == 0 ? CLI_YES : CLI_TROUBLE;
}

static int parse_part(struct cli *c, const struct options *o, struct cli_parts *parts)
{
    const struct cli_report *report = &o->analyse.report;

    parts->save = o->save;
    if (o->save && (report->output || report->format != TROD_EMIT_TEXT || o->analyse.plot.on))
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.save", NULL,
                          "option '--save' prints no results: '--output', '--format' and '--plot' "
                          "do not go with it; trod merge has '--output' and '--format'");
    if (!o->part)
        return 0;
    if (!cli_plan_part(o->part, &parts->part, &parts->parts))
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.part", NULL,
                          "option '--part': '%s' is not I/N with I from 0 to N - 1", o->part);
    if (!o->save && parts->parts > 1)
        return trod_error(&c->diag, TROD_ERR_USAGE, "args.part", NULL,
                          "option '--part' needs '--save STATE': the parts are put together by "
                          "trod merge");
    return 0;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct cli_plan plan = {0};
    struct cli_parts parts = {0};
    struct trod_buf head = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && i < o->plugins.n; i++)
        r = trod_analysis_plugin(o->plugins.item[i], &c->diag);
    if (r == 0 && o->list)
        return c->n_operands ? explain_all(c, &o->analyse.report)
                             : list_analyses(c, &o->analyse.report);
    if (r == 0 && c->n_operands < 2)
        r = trod_error(&c->diag, TROD_ERR_USAGE, "args.operands", NULL,
                       "no analyses or no file given: trod run ANALYSIS,... FILE...");
    if (r == 0)
        r = parse_part(c, o, &parts);
    if (r == 0 && parts.save && !parts.parts && cli_ranks())
        return cli_ranks_refuse(c, "with '--save' each of them needs a '--part I/N' of its own; "
                                   "without it results are put together at once");
    if (r == 0)
        r = cli_plan_parse(&plan, c->operands[0], &c->diag);
    if (r == 0 && parts.save)
        r = cli_plan_head(&head, c, &o->analyse, &parts);
    if (r == 0) {
        cli_plan_for(&plan, o->analyse.report.format);
        parts.head = (struct trod_span){.p = head.p, .n = head.n};
        c->operands++;
        c->n_operands--;
        r = cli_analyse(c, &o->analyse, plan.item, plan.n, &parts);
    } else {
        r = CLI_TROUBLE;
    }
    trod_buf_fini(&head);
    cli_plan_fini(&plan);
    return r;
}

const struct cli_command cli_command_run = {
    .name = "run",
    .title = "run several analyses in one pass over a trace",
    .operands = "ANALYSIS[:OPTION=VALUE,...],... FILE...",
    .about =
        "Read the FILEs once and run all the analyses named over them, on all processors. An "
        "analysis has the options of its sub-command, written after a colon; lists go on behind "
        "commas, as in deps:window=8,32,width=4,count. With --part and --save the work can be "
        "shared by hand among machines; trod merge puts the parts "
        "together, and the result is that of one machine.",
    .examples = "  trod run --list\n"
                "  trod run --list count\n"
                "  trod run count,sync traces/\n"
                "  trod run count:footprint=none --part 0/4 --save 0.state dir\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
};
