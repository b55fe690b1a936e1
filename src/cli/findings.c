/*
 * findings.c - findings of `trod check` as people and programs want them.
 *
 * Implements findings.h. JUnit is the form that continuous integration systems agree on: a suite,
 * a case a rule, a failure that holds the first findings.
 */
#include "findings.h"

#include <inttypes.h>
#include <string.h>

#include "diffs.h"
#include "trod/put.h"

static const char *path_of(const struct cli_findings *f, const struct trod_finding *g)
{
    const char *path =
        g->file < trod_trace_files(f->trace) ? trod_trace_path(f->trace, g->file) : NULL;

    return path ? path : "";
}

/* "FILE:LINE" or "FILE: record N (byte M), thread T"; what is not known is left out. */
static void where(const struct cli_findings *f, const struct trod_finding *g, char *out, size_t n)
{
    const char *path = path_of(f, g);
    size_t at = 0;

#define ADD(...)                                                                                   \
    do {                                                                                           \
        int len = snprintf(out + at, n - at, __VA_ARGS__);                                         \
                                                                                                   \
        at = len < 0 || (size_t)len >= n - at ? n - 1 : at + (size_t)len;                          \
    } while (0)
    out[0] = '\0';
    ADD("%s", path);
    if (g->line != TROD_NOWHERE)
        ADD("%s%" PRIu64, at ? ":" : "line ", g->line);
    if (g->ordinal != TROD_NOWHERE)
        ADD("%srecord %" PRIu64, at ? ": " : "", g->ordinal);
    if (g->line == TROD_NOWHERE && g->offset != TROD_NOWHERE)
        ADD("%sbyte %" PRIu64, g->ordinal != TROD_NOWHERE ? ", " : at ? ": " : "", g->offset);
    if (g->stream[0])
        ADD("%s%s %s", at ? ", " : "", cli_stream_word(trod_trace_meta(f->trace)), g->stream);
#undef ADD
}

static void text_finding(const struct cli_findings *f, const struct trod_finding *g, FILE *to)
{
    static const char *const paint[] = {"\033[36m", "\033[35m", "\033[31m"};
    char place[4200], line[4600];

    where(f, g, place, sizeof place);
    snprintf(line, sizeof line, "%s: %s%s%s", g->rule->id, place, place[0] ? ": " : "", g->message);
    fprintf(to, "%s%s%s ", f->colour ? paint[g->rule->severity] : "",
            trod_rule_severity_name(g->rule->severity), f->colour ? "\033[0m" : "");
    cli_put_folded(to, f->fold, line,
                   (unsigned)strlen(trod_rule_severity_name(g->rule->severity)) + 1, 4);
    if (g->text[0])
        fprintf(to, "    %s\n", g->text);
}

void cli_findings_text(const struct cli_findings *f, FILE *to)
{
    uint64_t total = trod_check_total(f->state, TROD_RULE_NOTE);
    const struct trod_finding *g;
    char line[512], number[TROD_PUT_GROUPED + 1];

    for (size_t i = 0; (g = trod_check_finding(f->state, i)); i++)
        text_finding(f, g, to);
    for (size_t i = 0; trod_rule_at(i); i++) {
        const struct trod_rule *r = trod_rule_at(i);
        uint64_t n = trod_check_count(f->state, r);

        if (n == 0)
            continue;
        *trod_put_grouped(number, n) = 0;
        fprintf(to, "%12s %-8s ", number, trod_rule_severity_name(r->severity));
        snprintf(line, sizeof line, "%s: %s", r->id, r->text);
        cli_put_folded(to, f->fold, line, 22, 22);
    }
    *trod_put_grouped(number, total) = 0;
    fprintf(to, "%12s finding%s%s\n", number, total == 1 ? "" : "s",
            f->partial ? " in what was read" : "");
}

static void emit_number(struct trod_emit *e, const char *key, uint64_t v)
{
    if (v != TROD_NOWHERE)
        trod_emit_u64(e, key, v);
    else
        trod_emit_absent(e);
}

static void emit_text(struct trod_emit *e, const char *key, const char *s)
{
    if (s[0])
        trod_emit_str(e, key, s);
    else
        trod_emit_absent(e);
}

static void emit_rules(const struct cli_findings *f, struct trod_emit *e)
{
    static const char *const columns[] = {"rule", "severity", "findings", "text"};

    trod_emit_table(e, "rules", "rules broken", columns, 4);
    for (size_t i = 0; trod_rule_at(i); i++) {
        const struct trod_rule *r = trod_rule_at(i);
        uint64_t n = trod_check_count(f->state, r);

        if (n == 0)
            continue;
        trod_emit_str(e, "rule", r->id);
        trod_emit_str(e, "severity", trod_rule_severity_name(r->severity));
        trod_emit_count(e, "findings", n);
        trod_emit_str(e, "text", r->text);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

void cli_findings_emit(const struct cli_findings *f, struct trod_emit *e)
{
    static const char *const columns[] = {"rule", "severity", "file",    "record", "offset",
                                          "line", "stream",   "message", "text"};
    const struct trod_finding *g;

    if (f->partial)
        trod_emit_bool(e, "partial", true);
    trod_emit_count(e, "total", trod_check_total(f->state, TROD_RULE_NOTE));
    trod_emit_table(e, "findings", "findings", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; (g = trod_check_finding(f->state, i)); i++) {
        trod_emit_str(e, "rule", g->rule->id);
        trod_emit_str(e, "severity", trod_rule_severity_name(g->rule->severity));
        emit_text(e, "file", path_of(f, g));
        emit_number(e, "record", g->ordinal);
        emit_number(e, "offset", g->offset);
        emit_number(e, "line", g->line);
        emit_text(e, "stream", g->stream);
        trod_emit_str(e, "message", g->message);
        emit_text(e, "text", g->text);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
    emit_rules(f, e);
}

static void xml(FILE *to, const char *s)
{
    cli_xml_text(to, s, strlen(s));
}

static void junit_failure(const struct cli_findings *f, const struct trod_rule *r, uint64_t n,
                          FILE *to)
{
    const struct trod_finding *g;
    char place[4200];

    fprintf(to, "    <failure type=\"%s\" message=\"%" PRIu64 " finding%s\">",
            trod_rule_severity_name(r->severity), n, n == 1 ? "" : "s");
    for (size_t i = 0; (g = trod_check_finding(f->state, i)); i++) {
        if (g->rule != r)
            continue;
        where(f, g, place, sizeof place);
        xml(to, place);
        fputs(": ", to);
        xml(to, g->message);
        fputc('\n', to);
    }
    fputs("</failure>\n", to);
}

void cli_findings_junit(const struct cli_findings *f, FILE *to)
{
    const struct trod_format *format = trod_trace_format(f->trace);
    unsigned family = format ? trod_rule_family(format->name) : 0;
    unsigned tests = 0, failures = 0;

    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            fprintf(to,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"trod check\" "
                    "tests=\"%u\" failures=\"%u\" errors=\"%d\">\n",
                    tests + f->partial, failures, f->partial);
        for (size_t i = 0; trod_rule_at(i); i++) {
            const struct trod_rule *r = trod_rule_at(i);
            uint64_t n = trod_check_count(f->state, r);
            bool fails = n && (int)r->severity >= f->severity;

            if (!(r->families & family) && n == 0)
                continue;
            tests++;
            failures += fails;
            if (pass == 0)
                continue;
            fputs("  <testcase classname=\"trod.check\" name=\"", to);
            xml(to, r->id);
            fputs(fails ? "\">\n" : "\"/>\n", to);
            if (fails) {
                junit_failure(f, r, n, to);
                fputs("  </testcase>\n", to);
            }
        }
    }
    if (f->partial)
        fputs("  <testcase name=\"read to the end\" classname=\"trod check\">\n"
              "    <error message=\"interrupted: findings are those of what was read\"/>\n"
              "  </testcase>\n",
              to);
    fputs("</testsuite>\n", to);
}

void cli_rules_emit(struct trod_emit *e)
{
    static const char *const columns[] = {"rule", "severity", "text", "source"};

    trod_emit_table(e, "rules", NULL, columns, 4);
    for (size_t i = 0; trod_rule_at(i); i++) {
        const struct trod_rule *r = trod_rule_at(i);

        trod_emit_str(e, "rule", r->id);
        trod_emit_str(e, "severity", trod_rule_severity_name(r->severity));
        trod_emit_str(e, "text", r->text);
        trod_emit_str(e, "source", r->source);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}
