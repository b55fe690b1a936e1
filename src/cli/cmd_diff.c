/*
 * cmd_diff.c - `trod diff`: how two saved results differ.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct options {
    struct cli_common common;
    struct cli_report report;
    struct trod_list tolerance, only, key;
};

static const struct trod_option options[] = {
    {"tolerance", 0, TROD_OPT_LIST, offsetof(struct options, tolerance), "N|N%,...",
     "numbers are equal that differ by no more than N, or than N percent of the larger one", NULL,
     NULL},
    {"only", 0, TROD_OPT_LIST, offsetof(struct options, only), "PATH,...",
     "compare what stands at or below these paths; * and ? stand for any text, any letter", NULL,
     NULL},
    {"key", 0, TROD_OPT_LIST, offsetof(struct options, key), "COLUMN,...",
     "match rows of tables by these columns, where they have them (default: the first columns, as "
     "many as tell the rows apart)",
     NULL, NULL},
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static int tolerances(const struct options *o, struct trod_result_diff_options *d,
                      struct trod_diag *diag)
{
    for (size_t i = 0; i < o->tolerance.n; i++) {
        const char *text = o->tolerance.item[i];
        char *end;
        double n = strtod(text, &end);
        bool percent = *end == '%';

        if (end == text || end[percent] || !(n >= 0) || isinf(n))
            return trod_error(diag, TROD_ERR_USAGE, "args.tolerance", NULL,
                              "option '--tolerance': '%s' is neither a number nor a percentage",
                              text);
        *(percent ? &d->relative : &d->absolute) = percent ? n / 100 : n;
    }
    return 0;
}

static int print(struct cli *c, const struct options *o, const struct trod_result *result)
{
    struct cli_out out;
    int r = cli_report_begin(&out, c, &o->report);

    if (r != 0)
        return r;
    trod_result_emit(result, out.emit);
    return cli_report_end(&out);
}

/* How many values were compared. */
static uint64_t compared(const struct trod_result *found)
{
    const struct trod_node *n = trod_result_find(found, "compared");

    return n ? n->value.is.u64 : 0;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct trod_result_diff_options d = {.struct_size = sizeof d,
                                         .only = o->only.item,
                                         .n_only = o->only.n,
                                         .key = o->key.item,
                                         .n_key = o->key.n};
    struct trod_result *a = NULL, *b = NULL, *found = NULL;
    uint64_t different = 0;
    int r = tolerances(o, &d, &c->diag);

    if (r == 0)
        r = trod_result_read(&a, c->operands[0], &c->diag);
    if (r == 0)
        r = trod_result_read(&b, c->operands[1], &c->diag);
    if (r == 0)
        r = trod_result_new(&found);
    if (r == 0)
        r = trod_result_diff(a, b, &d, found, &different);
    if (r == TROD_ERR_NOMEM)
        trod_error(&c->diag, r, "diff.memory", NULL, "out of memory");
    /* the other formats print how many values were compared */
    if (r == 0 && o->only.n && o->report.format == TROD_EMIT_TEXT && compared(found) == 0)
        r = trod_error(&c->diag, TROD_ERR_USAGE, "diff.only", NULL,
                       "neither result has a value at or below the paths of --only");
    if (r == 0 && (different || o->report.format != TROD_EMIT_TEXT))
        r = print(c, o, found);
    trod_result_free(a);
    trod_result_free(b);
    trod_result_free(found);
    return r < 0 ? CLI_TROUBLE : different ? CLI_NO : CLI_YES;
}

const struct cli_command cli_command_diff = {
    .name = "diff",
    .title = "say how two saved results differ",
    .operands = "RESULT1 RESULT2",
    .about = "Compare two results that were saved with --format json, of any command that prints "
             "one (view prints a line a row: see trod compare), value by value: fields by their "
             "names, rows of tables by their key columns, items of lists by their number. Print "
             "each path whose values differ with both values, their "
             "difference and its percentage of the first; nothing where all are equal. There "
             "is no --where, since no rows are read: the results may be of runs that had one.",
    .examples = "  trod cache --format json -o before.json trace\n"
                "  trod cache --format json -o after.json --preset zen2 trace\n"
                "  trod diff before.json after.json\n"
                "  trod diff --tolerance 1% --only 'caches*.misses' before.json after.json\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 2,
    .most = 2,
    .run = run,
};
