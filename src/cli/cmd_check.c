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

#include "diffs.h"
#include "trod/check.h"

enum { DAMAGES = 20, JUNIT = 3 };

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
    {"severity", 0, TROD_OPT_ENUM, AT(severity), "SEVERITY",
     "note, warning (default) or error: findings from which on the exit status is 1", severities,
     NULL},
    {"max", 'n', TROD_OPT_U64, AT(check.keep), "N",
     "findings of each rule to show (default 20); all are counted", NULL, NULL},
    {"salvage", 0, TROD_OPT_STR, AT(salvage), "OUT",
     "write what can be read as a trace of the same format", NULL, NULL},
    {.type = TROD_OPT_FUNC, .offset = AT(input), .text = "Input", .more = cli_input_options},
    {.type = TROD_OPT_GROUP, .text = "Output"},
    {"format", 0, TROD_OPT_ENUM, AT(format), NULL, "how to print the result", formats, NULL},
    {"output", 'o', TROD_OPT_STR, AT(output), "FILE",
     "write the result to FILE, which appears when it is complete", NULL, NULL},
    {.type = TROD_OPT_FUNC, .offset = AT(common), .text = "General", .more = cli_common_options},
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.severity = TROD_RULE_WARNING, .input.order = -1};

/* A problem that the reader reported. */
struct damage {
    char message[TROD_CHECK_MESSAGE];
    uint64_t record;
};

struct checking {
    struct cli *c;
    const struct options *o;
    struct trod_diag diag;
    struct trod_run *run;
    struct cli_progress progress;
    struct trod_writer *writer;
    struct damage damage[DAMAGES];
    uint64_t damages;
    FILE *file;
};

/* What could not be read is a finding, not a message. */
static void note_damage(void *user, const struct trod_problem *p)
{
    struct checking *k = user;
    struct damage *d = k->damages < DAMAGES ? &k->damage[k->damages] : NULL;

    if (p->severity != TROD_SEV_ERROR)
        return;
    k->damages++;
    if (!d)
        return;
    d->record = p->at.record == TROD_NOWHERE ? 0 : p->at.record;
    if (p->at.line != TROD_NOWHERE)
        snprintf(d->message, sizeof d->message, "%s:%" PRIu64 ": %s", p->at.path ? p->at.path : "",
                 p->at.line, p->message);
    else if (p->at.offset != TROD_NOWHERE)
        snprintf(d->message, sizeof d->message, "%s: %s (byte %" PRIu64 ")",
                 p->at.path ? p->at.path : "", p->message, p->at.offset);
    else
        snprintf(d->message, sizeof d->message, "%s: %s", p->at.path ? p->at.path : "", p->message);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    cli_progress_show(&((struct checking *)user)->progress, p);
}

/* The rows of B go to the salvaged trace too. */
static int salvage(void *user, struct trod_batch *b)
{
    struct checking *k = user;
    const struct trod_trace *t = trod_run_trace(k->run);
    int r = 0;

    if (!k->writer) {
        struct trod_writer_options w = {.to = trod_trace_format(t)->name,
                                        .source = trod_trace_format(t),
                                        .source_options = trod_trace_format_options(t),
                                        .allow_loss = true};

        r = trod_writer_open(&k->writer, k->o->salvage, &w, trod_trace_meta(t), &k->c->diag);
    }
    if (r == 0)
        r = trod_writer_put(k->writer, b);
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
    if (k->c->n_operands == 1 && strcmp(k->c->operands[0], "-") == 0)
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
        .jobs = input.jobs < TROD_RUN_JOBS ? (unsigned)input.jobs : TROD_RUN_JOBS,
        .progress = progress,
        .user = k,
    };
    int r;

    input.order = order_of(k);
    opt.serial = input.order != TROD_ORDER_FILE;
    opt.trace = cli_trace_options(&input, TROD_COL_KIND);
    if (o->salvage) {
        opt.filter = salvage;
        opt.trace.want = TROD_COL_ALL;
    }
    r = trod_run_open(&k->run, k->c->operands, k->c->n_operands, &opt, &k->diag);
    if (r == 0)
        r = trod_run_add(k->run, trod_analysis_find("check", 5), &o->check);
    return r < 0 ? r : 0;
}

static void add_damages(struct checking *k, void *st)
{
    const struct trod_rule *rule = trod_rule_find("read.damaged", 12);

    for (uint64_t i = 0; i < k->damages; i++) {
        const struct damage *d = i < DAMAGES ? &k->damage[i] : NULL;

        trod_check_add(st, rule, d ? d->record : 0, NULL, d ? d->message : "see above");
    }
}

static void print_finding(FILE *to, const struct trod_trace *t, const struct trod_finding *f,
                          bool colour)
{
    static const char *const paint[] = {"\033[36m", "\033[35m", "\033[31m"};
    const char *path = trod_trace_path(t, f->file);

    if (strcmp(f->rule->id, "read.damaged") == 0)
        fprintf(to, "%s%s%s %s: %s\n", colour ? paint[f->rule->severity] : "",
                trod_rule_severity_name(f->rule->severity), colour ? "\033[0m" : "", f->rule->id,
                f->message);
    else
        fprintf(to, "%s%s%s %s: %s: record %" PRIu64 "%s%s: %s\n",
                colour ? paint[f->rule->severity] : "", trod_rule_severity_name(f->rule->severity),
                colour ? "\033[0m" : "", f->rule->id, path ? path : "", f->ordinal,
                f->stream[0] ? ", " : "", f->stream, f->message);
    if (f->text[0])
        fprintf(to, "    %s\n", f->text);
}

static void print_counts(FILE *to, const void *st)
{
    uint64_t total = trod_check_total(st, TROD_RULE_NOTE);

    for (size_t i = 0; trod_rule_at(i); i++) {
        const struct trod_rule *r = trod_rule_at(i);
        uint64_t n = trod_check_count(st, r);

        if (n)
            fprintf(to, "%12" PRIu64 " %-8s %s: %s\n", n, trod_rule_severity_name(r->severity),
                    r->id, r->text);
    }
    fprintf(to, "%12" PRIu64 " finding%s\n", total, total == 1 ? "" : "s");
}

static void print_text(const struct checking *k, const void *st, FILE *to, bool colour)
{
    const struct trod_finding *f;

    for (size_t i = 0; (f = trod_check_finding(st, i)); i++)
        print_finding(to, trod_run_trace(k->run), f, colour);
    print_counts(to, st);
}

/* Every rule of the format is a test case. */
static void print_junit(const struct checking *k, const void *st, FILE *to)
{
    const struct trod_trace *t = trod_run_trace(k->run);
    unsigned family = trod_trace_format(t) ? trod_rule_family(trod_trace_format(t)->name) : 0;

    fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"trod check\">\n");
    for (size_t i = 0; trod_rule_at(i); i++) {
        const struct trod_rule *r = trod_rule_at(i);
        uint64_t n = trod_check_count(st, r);
        const struct trod_finding *f;

        if (!(r->families & family) && n == 0)
            continue;
        fprintf(to, "  <testcase classname=\"trod.check\" name=\"%s\">\n", r->id);
        if (n && (int)r->severity >= k->o->severity) {
            fprintf(to, "    <failure message=\"%" PRIu64 " findings\">", n);
            for (size_t j = 0; (f = trod_check_finding(st, j)); j++)
                if (f->rule == r) {
                    fprintf(to, "record %" PRIu64 ": ", f->ordinal);
                    cli_xml_text(to, f->message, strlen(f->message));
                    fputc('\n', to);
                }
            fprintf(to, "</failure>\n");
        }
        fprintf(to, "  </testcase>\n");
    }
    fprintf(to, "</testsuite>\n");
}

static int tell(struct checking *k)
{
    struct cli_report report = {k->o->format == JUNIT ? TROD_EMIT_TEXT : k->o->format,
                                k->o->output};
    const void *st = trod_run_state(k->run, 0);
    struct cli_out out;
    int r = cli_report_begin(&out, k->c, &report), end;

    if (r != 0)
        return r;
    if (k->o->format == JUNIT)
        print_junit(k, st, out.file);
    else if (k->o->format == TROD_EMIT_TEXT)
        print_text(k, st, out.file, !out.path && cli_colour(k->c, STDOUT_FILENO));
    else
        r = trod_run_report(k->run, 0, out.emit);
    end = cli_report_end(&out);
    return r < 0 ? r : end;
}

static int list_rules(struct cli *c, const struct options *o)
{
    static const char *const columns[] = {"rule", "severity", "text", "source"};
    struct cli_report report = {o->format == JUNIT ? TROD_EMIT_TEXT : o->format, o->output};
    struct cli_out out;

    if (cli_report_begin(&out, c, &report) != 0)
        return CLI_TROUBLE;
    trod_emit_table(out.emit, "rules", NULL, columns, 4);
    for (size_t i = 0; trod_rule_at(i); i++) {
        const struct trod_rule *r = trod_rule_at(i);

        trod_emit_str(out.emit, "rule", r->id);
        trod_emit_str(out.emit, "severity", trod_rule_severity_name(r->severity));
        trod_emit_str(out.emit, "text", r->text);
        trod_emit_str(out.emit, "source", r->source);
        trod_emit_row_end(out.emit);
    }
    trod_emit_table_close(out.emit);
    return cli_report_end(&out) == 0 ? CLI_YES : CLI_TROUBLE;
}

/* Read it all, tell what was found; the exit status. */
static int check(struct checking *k)
{
    uint64_t found;
    int r, told;

    cli_progress_begin(&k->progress, k->c);
    r = trod_run_go(k->run);
    cli_progress_end(&k->progress);
    if (k->writer && r != TROD_ERR_NOMEM)
        told = trod_writer_commit(k->writer, NULL);
    else
        told = 0;
    k->writer = NULL;
    if (r == TROD_ERR_NOMEM || told < 0)
        return CLI_TROUBLE;
    add_damages(k, trod_run_state(k->run, 0));
    if (tell(k) < 0)
        return CLI_TROUBLE;
    found = trod_check_total(trod_run_state(k->run, 0), (enum trod_rule_severity)k->o->severity);
    return found ? CLI_NO : CLI_YES;
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
};
