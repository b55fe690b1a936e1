/*
 * cmd_report.c - `trod report`: what many analyses find in one pass, as a web page.
 *
 * The page and its JSON are made by the library (trod/report.h).
 */
#include <stdlib.h>
#include <string.h>

#include "reporting.h"

struct options {
    struct cli_analyse analyse;
    const char *run, *title, *output, *against;
    uint64_t rows;
    int format;
};

enum { HTML, JSON };

#define AT(field) offsetof(struct options, field)

static const char *const formats[] = {"html", "json", NULL};

/* The sections, in their order, unless --run names others. A warm-up goes without --times. */
#define ANALYSES(locality)                                                                         \
    "info,count:top=20,check,mix,hot:top=30,flame,profile,branches," locality                      \
    ",cache,phases:list,schedule,syscalls:top=50,functions,sync"
static const char all[] = ANALYSES("locality:times"), all_warm[] = ANALYSES("locality");

static const struct trod_option options[] = {
    {"run", 0, TROD_OPT_STR, AT(run), "ANALYSIS[:OPTION=VALUE,...],...",
     "these analyses, as trod run has them, instead of those that the report has otherwise", NULL,
     NULL},
    {"against", 0, TROD_OPT_STR, AT(against), "TRACE",
     "read this trace too, as the second one: both side by side, and how their results differ",
     NULL, NULL},
    {"title", 0, TROD_OPT_STR, AT(title), "TEXT", "of the page (default: the names of the files)",
     NULL, NULL},
    {"rows", 0, TROD_OPT_COUNT, AT(rows), "N",
     "rows that a table may have (default: 1000, and fewer where the page would be larger than 3 "
     "MB)",
     NULL, NULL},
    {.type = TROD_OPT_GROUP, .text = "Part"},
    {"region", 0, TROD_OPT_STR, AT(analyse.span.region), "FROM..TO[:MEASURE]",
     "only instructions FROM to TO (from 1), or rows (from 0), or times; or between two places, as "
     "main..0x8000:3 or marker:22..end (see trod state)",
     NULL, NULL},
    {"warmup", 0, TROD_OPT_STR, AT(analyse.span.warmup), "N[:MEASURE]",
     "the first N prepare the state and are not counted", NULL, NULL},
    {"limit", 0, TROD_OPT_COUNT, AT(analyse.span.limit), "N", "end after N instructions", NULL,
     NULL},
    CLI_SHARED(analyse.filter, "Choosing rows", trod_match_option_table),
    CLI_SHARED(analyse.input, "Input", cli_input_options),
    {.type = TROD_OPT_GROUP, .text = "Output"},
    {"format", 0, TROD_OPT_ENUM, AT(format), NULL, "a web page, or its JSON alone", formats, NULL},
    {"output", 'o', TROD_OPT_STR, AT(output), "FILE",
     "write the result to FILE, which appears when it is complete", NULL, NULL},
    CLI_SHARED(analyse.common, "General", cli_common_options),
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.analyse.input.order = -1};

/* "a.trace, b.trace and 3 more" */
static int name_files(const struct cli *c, struct trod_buf *out)
{
    enum { NAMED = 3 };
    int r = 0;

    for (size_t i = 0; r == 0 && i < c->n_operands && i < NAMED; i++)
        r = trod_buf_printf(out, "%s%s", i ? ", " : "",
                            strcmp(c->operands[i], "-") == 0 ? "standard input" : c->operands[i]);
    if (r == 0 && c->n_operands > NAMED)
        r = trod_buf_printf(out, " and %zu more", c->n_operands - NAMED);
    return r == 0 ? trod_buf_add(out, "", 1) : r;
}

static int deliver(struct cli *c, const struct options *o, const struct trod_buf *text)
{
    struct trod_output *out;
    int r = cli_not_input(c, o->output, &c->diag);

    if (r == 0)
        r = trod_output_create(&out, o->output ? o->output : "-", NULL, &c->diag);
    if (r != 0)
        return r;
    r = trod_output_write(out, text->p, text->n);
    if (r == 0)
        return trod_output_commit(out);
    trod_output_discard(out);
    return r;
}

static int write_report(struct cli *c, const struct options *o, const struct trod_result *found)
{
    struct trod_buf files = {0}, title = {0}, text = {0};
    struct trod_report_options opt = {.struct_size = sizeof opt, .rows = o->rows};
    int r = name_files(c, &files);

    opt.json = o->format == JSON;
    if (r == 0)
        r = o->title     ? trod_buf_printf(&title, "%s", o->title)
            : o->against ? trod_buf_printf(&title, "%s and %s", (const char *)files.p, o->against)
                         : trod_buf_printf(&title, "%s", (const char *)files.p);
    if (r == 0)
        r = trod_buf_add(&title, "", 1);
    opt.title = (const char *)title.p;
    if (r == 0)
        r = trod_report_make(found, &opt, &text);
    if (r == TROD_ERR_LIMIT)
        trod_error(&c->diag, r, "report.size", NULL,
                   "the report would be larger than 3 MB: choose fewer analyses with --run");
    if (r == 0)
        r = deliver(c, o, &text);
    trod_buf_fini(&files);
    trod_buf_fini(&title);
    trod_buf_fini(&text);
    return r;
}

/* The results of BOTH, and how they differ. */
static int put_both(const struct cli_reporting both[2], const char *const title[2],
                    struct trod_result *result)
{
    static const char *const keys[] = {"first", "second"};
    int r = cli_reporting_differences(&both[0], &both[1], result);

    for (int i = 0; r == 0 && i < 2; i++) {
        trod_result_open(result, keys[i], title[i]);
        r = cli_reporting_put(&both[i], result);
        trod_result_close(result);
    }
    return r;
}

static int read_second(struct cli *c, const struct options *o, const struct cli_plan *plan,
                       struct cli_reporting *k)
{
    const char *const *operands = c->operands;
    const size_t n = c->n_operands;
    int r;

    c->operands = &o->against;
    c->n_operands = 1;
    r = cli_reporting_read(k, c, &o->analyse, plan);
    c->operands = operands;
    c->n_operands = n;
    return r;
}

static int report(struct cli *c, const struct options *o, const struct cli_plan *plan)
{
    struct cli_reporting both[2] = {{.c = NULL}, {.c = NULL}};
    struct trod_result *result = NULL;
    struct trod_buf first = {0};
    int r = cli_reporting_read(&both[0], c, &o->analyse, plan);

    if (r == 0 && o->against)
        r = both[0].stopped ? cli_reporting_stop(&both[1], c, o->against)
                            : read_second(c, o, plan, &both[1]);
    if (r == 0)
        r = name_files(c, &first);
    if (r == 0)
        r = trod_result_new(&result);
    if (r == 0) {
        const char *const titles[] = {(const char *)first.p, o->against};

        trod_result_str(result, "trod", trod_version());
        r = o->against ? put_both(both, titles, result) : cli_reporting_put(&both[0], result);
    }
    if (r == 0)
        r = write_report(c, o, result);
    trod_buf_fini(&first);
    trod_result_free(result);
    cli_reporting_fini(&both[0]);
    cli_reporting_fini(&both[1]);
    return r;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct cli_plan plan = {0};
    int r = cli_plan_parse(&plan,
                           o->run                   ? o->run
                           : o->analyse.span.warmup ? all_warm
                                                    : all,
                           &c->diag);

    if (r == 0)
        r = report(c, o, &plan);
    if (r == TROD_ERR_NOMEM)
        trod_error(&c->diag, r, "run.memory", NULL, "out of memory");
    cli_plan_fini(&plan);
    return r < 0 || c->trouble ? CLI_TROUBLE : CLI_YES;
}

const struct cli_command cli_command_report = {
    .name = "report",
    .title = "one web page with what a trace is and what is in it",
    .operands = "FILE...",
    .about =
        "Read the FILEs once (a single file of Amber, tt6 or tt6e, once more, for sync) and write "
        "one web page, which needs no network and is small enough to be sent by mail: what the "
        "trace is and whether all of it could be read, findings of check, instruction mix, hot "
        "code with disassembly, a flame graph of calls, branches, miss-ratio curve and caches, "
        "phases over time, threads and the schedule, system calls. The page holds the numbers as "
        "JSON as well, which --format json prints. With --against two traces stand side by side, "
        "with all that differs.",
    .examples = "  trod report -o report.html app.trace.zip\n"
                "  trod report --symbols app --limit 10M -o report.html app.dir\n"
                "  trod report -o before-after.html --against after.trace.zip before.trace.zip\n"
                "  trod report --run mix,cache:preset=zen2 -o report.html app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
    .alone = "'trod report' cannot share out its work: start one process",
};
