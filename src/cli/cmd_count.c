/*
 * cmd_count.c - `trod count`: how many of what is in a trace, in all and by thread.
 */
#include <string.h>

#include "analyse.h"

enum { TOP_TEXT = 20 };

struct options {
    struct cli_analyse analyse;
    struct trod_count_options count;
    bool per_thread;
};

static const struct trod_option options[] = {
    {"per-thread", 0, TROD_OPT_BOOL, offsetof(struct options, per_thread), NULL,
     "every number of every thread, one below the other (same as --detail list --top 0)", NULL,
     NULL},
    CLI_SHARED(count, "Counting", trod_count_option_table),
    CLI_ANALYSE_OPTIONS,
    CLI_SHARED(analyse.common, "General", cli_common_options),
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.count = {.top = UINT64_MAX}};

void cli_count_for(struct trod_count_options *count, int format)
{
    if (format != TROD_EMIT_TEXT && count->detail == TROD_COUNT_TABLE)
        count->detail = TROD_COUNT_WIDE;
}

/* What was asked for, and what the kind of output makes of the rest. */
static struct trod_count_options choices(const struct options *o)
{
    struct trod_count_options c = o->count;
    bool text = o->analyse.report.format == TROD_EMIT_TEXT;

    if (o->per_thread)
        c.detail = TROD_COUNT_LIST;
    cli_count_for(&c, o->analyse.report.format);
    if (c.top == UINT64_MAX)
        c.top = text && !o->per_thread ? TOP_TEXT : 0;
    return c;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    const struct trod_count_options count = choices(o);
    const struct cli_planned plan = {.analysis = trod_analysis_find("count", 5), .options = &count};

    return cli_analyse(c, &o->analyse, &plan, 1, NULL);
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
