/*
 * cmd_export.c - `trod export`: a trace, or part of one, for a program that shows it.
 */
#include <string.h>

#include "export.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_index index;
    struct trod_match_options filter;
    struct cli_cut cut;
    int format;
    const char *to, *out, *compress;
    uint64_t level;
};

static const char *const formats[] = {"text", "json", "csv", NULL};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "View"},
    {"to", 'T', TROD_OPT_STR, offsetof(struct options, to), "VIEW[:OPT=VALUE,...]",
     "what to write (default: by the suffix of OUT); see trod formats", NULL, NULL},
    {"output", 'o', TROD_OPT_STR, offsetof(struct options, out), "OUT",
     "write to OUT, which appears when it is complete (default: standard output)", NULL, NULL},
    {"compress", 'z', TROD_OPT_STR, offsetof(struct options, compress), "FILTER",
     "compress OUT with gzip, zstd, lz4, xz, snappy or none (default: by its suffix)", NULL, NULL},
    {"level", 0, TROD_OPT_U64, offsetof(struct options, level), "N",
     "level of compression (default: a fast one)", NULL, NULL},
    CLI_SHARED(filter, "Which rows", trod_match_option_table),
    CLI_CUT_OPTIONS,
    CLI_INPUT_OPTIONS,
    CLI_WHICH_INDEX,
    {.type = TROD_OPT_GROUP, .text = "Summary"},
    {"format", 0, TROD_OPT_ENUM, offsetof(struct options, format), NULL,
     "how to print the summary: text on standard error, json or csv on standard output", formats,
     NULL},
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

/* The view that --to names, or the name of the output. NULL: neither, as was reported. */
static const char *view(struct cli *c, const struct options *o)
{
    const struct trod_export *v = o->to ? NULL : trod_export_by_name(o->out ? o->out : "-");

    if (o->to || v)
        return o->to ? o->to : v->name;
    trod_error(&c->diag, TROD_ERR_USAGE, "export.view", NULL,
               "nothing says what to write: name it with --to, one of those that trod formats "
               "lists");
    return NULL;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    const struct cli_export x = {
        .paths = c->operands,
        .n = c->n_operands,
        .out = o->out ? o->out : "-",
        .to = view(c, o),
        .input = &o->input,
        .index = &o->index,
        .filter = &o->filter,
        .cut = &o->cut,
        .compress = o->compress,
        .level = o->level,
        .format = o->format,
    };

    return x.to ? cli_export(c, &x) : CLI_TROUBLE;
}

const struct cli_command cli_command_export = {
    .name = "export",
    .title = "write a trace for programs that show it",
    .operands = "FILE...",
    .about = "Write the trace, or the part of it that is chosen, for a program that shows it: as "
             "calls over time, profiles, coverage, tables. Views fold rows into something else; "
             "what each leaves out is named by trod formats VIEW. Nothing reads a trace back from "
             "them: trod convert writes formats that keep rows.",
    .examples = "  trod export --symbols prog.elf -o run.pftrace run.tarmac\n"
                "  trod export --to sqlite -o run.db run.tarmac\n"
                "  trod export --to lcov --symbols prog.elf -o run.info run.tarmac\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
