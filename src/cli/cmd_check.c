/*
 * cmd_check.c - `trod check`: does a trace keep the rules of its format?
 *
 * Rules are applied by the analysis "check"; what the reader could not make sense of is a finding
 * of the rule read.damaged. --salvage writes what could be read as a trace of its own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "damages.h"
#include "findings.h"

enum { JUNIT = 3 };

struct options {
    struct cli_common common;
    struct cli_input input;
    struct trod_check_options check;
    const char *output, *salvage;
    int format, severity;
    bool rules;
};

static const char *const formats[] = {"text", "json", "csv", "junit", NULL};
static const char *const severities[] = {"note", "warning", "error", NULL};

#define AT(field) offsetof(struct options, field)

static const struct trod_option options[] = {
    {"rules", 0, TROD_OPT_BOOL, AT(rules), NULL, "list the rules", NULL, NULL},
    {"only", 0, TROD_OPT_LIST, AT(check.only), "RULE,...",
     "apply only these rules, or the ones whose names begin so (drm.)", NULL, NULL},
    {"skip", 0, TROD_OPT_LIST, AT(check.skip), "RULE,...", "do not apply these rules", NULL, NULL},
    {"where", 0, TROD_OPT_STR, AT(check.where), "EXPRESSION",
     "only findings at rows for which EXPRESSION holds, as 'thread == 3'; see trod-where(7)", NULL,
     NULL},
    {"severity", 0, TROD_OPT_ENUM, AT(severity), "SEVERITY",
     "note, warning (default) or error: findings from which on the exit status is 1", severities,
     NULL},
    {"max", 'n', TROD_OPT_U64, AT(check.keep), "N",
     "findings of each rule to show (default 20); all are counted", NULL, NULL},
    {"salvage", 0, TROD_OPT_STR, AT(salvage), "OUT",
     "write what can be read as a trace of the same format", NULL, NULL},
    CLI_INPUT_OPTIONS,
    {.type = TROD_OPT_GROUP, .text = "Output"},
    {"format", 0, TROD_OPT_ENUM, AT(format), NULL, "how to print the result", formats, NULL},
    {"output", 'o', TROD_OPT_STR, AT(output), "FILE",
     "write the result to FILE, which appears when it is complete", NULL, NULL},
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.severity = TROD_RULE_WARNING, .input.order = -1};

struct checking {
    struct cli *c;
    const struct options *o;
    struct trod_check_options check;
    struct trod_diag diag;
    struct trod_run *run;
    struct cli_progress progress;
    struct trod_writer *writer;
    struct cli_damages damages;
};

/*
 * What could not be read is a finding, not a message: kept until the states are merged. A warning
 * of a whole file, which has been left out, is no finding in what was read.
 */
static void note_damage(void *user, const struct trod_problem *p)
{
    struct checking *k = user;

    if (p->severity == TROD_SEV_WARNING && p->status == TROD_ERR_UNKNOWN &&
        p->at.record == TROD_NOWHERE && p->at.offset == TROD_NOWHERE)
        trod_diag_report(&k->c->diag, p->severity, p->status, p->kind, &p->at, "%s", p->message);
    else
        cli_damages_note(&k->damages, p);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    cli_progress_show(&((struct checking *)user)->progress, p);
}

/* Records of drmemtrace that have no meaning are no part of a valid trace; other formats keep what
 * they do not understand. */
static bool notes_are_damage(const struct trod_trace *t)
{
    return trod_rule_family(trod_trace_format(t)->name) == TROD_RULE_DRMEMTRACE;
}

/* Are there several files, and has the format one for each stream? */
static bool several(const struct trod_trace *t)
{
    return trod_trace_files(t) > 1 && trod_trace_format(t)->flags & TROD_FMT_PER_STREAM;
}

/* The folder PATH, which need not be there: it ends with a slash. To be freed; NULL: no memory. */
static char *folder_of(const char *path)
{
    const size_t n = strlen(path);
    char *folder = malloc(n + 2);

    if (folder) {
        memcpy(folder, path, n);
        memcpy(folder + n, "/", 2);
    }
    return folder;
}

static int open_salvage(struct checking *k)
{
    const struct trod_trace *t = trod_run_trace(k->run);
    struct trod_writer_options w = {.to = trod_trace_format(t)->name,
                                    .source = trod_trace_format(t),
                                    .source_options = trod_trace_format_options(t),
                                    .allow_loss = true};
    char *folder = NULL;
    int r;

    /* what is left out makes the writer see to headers, chunks and ends itself */
    if (notes_are_damage(t))
        w.drops = TROD_DROP_OTHER;
    cli_interrupt_begin();
    if ((r = cli_not_input(k->c, k->o->salvage, &k->c->diag)) < 0)
        return r;
    if (several(t) && strcmp(k->o->salvage, "-") == 0)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "salvage.several", NULL,
                          "'-' holds one thread: give a directory to --salvage");
    if (several(t) && !(folder = folder_of(k->o->salvage)))
        return TROD_ERR_NOMEM;
    r = trod_writer_open(&k->writer, folder ? folder : k->o->salvage, &w, trod_trace_meta(t),
                         &k->c->diag);
    free(folder);
    return r;
}

/* What is good of B goes to the salvaged trace. */
static int salvage(void *user, struct trod_batch *b)
{
    struct checking *k = user;
    bool notes = notes_are_damage(trod_run_trace(k->run));
    int r = 0;

    if (!k->writer)
        r = open_salvage(k);
    for (uint32_t i = 0, to; r == 0 && i < b->n; i = to) {
        struct trod_batch view;

        for (to = i; to < b->n && !(notes && b->kind[to] == TROD_NOTE);)
            to++;
        if (to > i) {
            trod_batch_view(&view, b, i, to - i);
            r = trod_writer_put(k->writer, &view);
        }
        while (to < b->n && notes && b->kind[to] == TROD_NOTE)
            to++;
    }
    return r < 0 ? r : 1;
}

/* The order to read in: threads that synchronize are merged, if nothing else was asked for. */
static int order_of(struct checking *k)
{
    const struct trod_trace_options probe = {.from = k->o->input.from};
    struct trod_trace *t;
    int order = TROD_ORDER_FILE;

    if (k->o->input.order >= 0)
        return k->o->input.order;
    for (size_t i = 0; i < k->c->n_operands; i++)
        if (cli_once_only(k->c->operands[i]))
            return order;
    if (trod_trace_open(&t, k->c->operands, k->c->n_operands, &probe, NULL) < 0)
        return order;
    if (trod_trace_files(t) > 1 && trod_rule_family(trod_trace_format(t)->name) == TROD_RULE_TT6)
        order = TROD_ORDER_SYNC;
    trod_trace_close(t);
    return order;
}

static int open_run(struct checking *k)
{
    const struct options *o = k->o;
    struct cli_input input = o->input;
    struct trod_run_options opt = {
        .jobs = cli_jobs(&input),
        .progress = progress,
        .user = k,
        /* what is salvaged is not complete either: such a run ends at once */
        .stop = o->salvage ? NULL : cli_stop(),
    };
    int r;

    input.order = order_of(k);
    k->check = o->check;
    k->check.merged = input.order != TROD_ORDER_FILE;
    k->check.schedule = true;
    opt.serial = input.order != TROD_ORDER_FILE;
    opt.trace = cli_trace_options(&input, TROD_COL_KIND);
    opt.trace.past_waits = true;
    opt.trace.ahead = input.jobs != 1 && trod_processors() > 1;
    if (o->salvage) {
        opt.filter = salvage;
        opt.trace.want = TROD_COL_ALL;
    }
    r = trod_run_open(&k->run, k->c->operands, k->c->n_operands, &opt, &k->diag);
    if (r == 0)
        r = trod_run_add(k->run, trod_analysis_find("check", 5), &k->check);
    return r < 0 ? r : 0;
}

static int tell(struct checking *k)
{
    struct cli_report report = {k->o->format == JUNIT ? TROD_EMIT_TEXT : k->o->format,
                                k->o->output};
    struct cli_findings f = {.trace = trod_run_trace(k->run),
                             .state = trod_run_state(k->run, 0),
                             .severity = k->o->severity,
                             .partial = trod_run_stopped(k->run)};
    struct cli_out out;
    int r = cli_report_begin(&out, k->c, &report);

    if (r != 0)
        return r;
    f.fold = out.path ? 0 : cli_fold();
    f.colour = !out.path && cli_colour(k->c, STDOUT_FILENO);
    if (k->o->format == JUNIT)
        cli_findings_junit(&f, out.file);
    else if (k->o->format == TROD_EMIT_TEXT)
        cli_findings_text(&f, out.file);
    else
        cli_findings_emit(&f, out.emit);
    return cli_report_end(&out);
}

static int list_rules(struct cli *c, const struct options *o)
{
    struct cli_report report = {o->format == JUNIT ? TROD_EMIT_TEXT : o->format, o->output};
    struct cli_out out;

    if (cli_report_begin(&out, c, &report) != 0)
        return CLI_TROUBLE;
    cli_rules_emit(out.emit);
    return cli_report_end(&out) == 0 ? CLI_YES : CLI_TROUBLE;
}

/* Read the trace and print the findings. Returns the exit status. */
static int check(struct checking *k)
{
    uint64_t found;
    int r, written;

    r = cli_run_go(k->c, k->run, &k->progress, &k->c->diag);
    if (k->writer && r != TROD_ERR_NOMEM)
        written = trod_writer_commit(k->writer, NULL);
    else
        written = 0;
    k->writer = NULL;
    if (r == TROD_ERR_NOMEM || written < 0)
        return CLI_TROUBLE;
    if (cli_check_complete(&k->damages, k->run, 0, &k->diag) < 0 || tell(k) != 0)
        return CLI_TROUBLE;
    found = trod_check_total(trod_run_state(k->run, 0), (enum trod_rule_severity)k->o->severity);
    return trod_run_stopped(k->run) ? CLI_TROUBLE : found ? CLI_NO : CLI_YES;
}

static int run(struct cli *c, const void *opt)
{
    struct checking k = {.c = c, .o = opt};
    int r;

    if (k.o->rules)
        return list_rules(c, opt);
    if (c->n_operands == 0) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.operands", NULL,
                   "no file given: trod check FILE...");
        return CLI_TROUBLE;
    }
    if (trod_check_options_valid(&k.o->check, &c->diag) < 0)
        return CLI_TROUBLE;
    cli_diag_init(c, &k.diag);
    k.diag.strict = k.o->input.strict;
    r = open_run(&k);
    if (r == 0) {
        k.diag.sink = note_damage;
        k.diag.user = &k;
        r = check(&k);
    } else {
        r = CLI_TROUBLE;
    }
    trod_writer_discard(k.writer);
    trod_run_free(k.run);
    cli_damages_fini(&k.damages);
    return r;
}

const struct cli_command cli_command_check = {
    .name = "check",
    .title = "tell whether a trace keeps the rules of its format",
    .operands = "FILE...",
    .about =
        "Apply the rules of a trace's format to its records: order and time, flow of control "
        "against the decoded instructions, accesses against opcodes, states, translations, "
        "synchronization, chunks and markers. Each rule has a name and a reference (--rules). All "
        "findings are counted, the first of each rule shown. The exit status is 0 when there is "
        "none of the given severity, 1 when there are, 2 when the trace cannot be read.",
    .examples = "  trod check trace.dir\n"
                "  trod check run.tarmac --skip tarmac.time --format junit -o check.xml\n"
                "  trod check damaged.tt6 --salvage good.tt6\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
    .alone = "'trod run check FILE...' shares out the work of 'trod check'",
};
