/*
 * findings.c - what the rules found: kept, placed, counted, merged and told.
 *
 * Implements the functions on findings of check.h. All findings are counted; of each rule the first
 * are kept, so that memory does not grow with what is wrong.
 */
#include "check/parts.h"

#include "core/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 192 }; /* at most 255 */

struct trod_finding *chk_finding(struct chk *c, size_t rule)
{
    struct trod_finding *f;

    if (!c->on[rule] || c->muted)
        return NULL;
    c->count[rule]++;
    if (c->kept[rule] >= c->keep)
        return NULL;
    if (!trod_grow(&c->found, c->n_found, &c->cap_found, sizeof *c->found, 16))
        return NULL;
    c->kept[rule]++;
    f = &c->found[c->n_found++];
    memset(f, 0, sizeof *f);
    f->rule = trod_rule_at(rule);
    f->offset = f->line = TROD_NOWHERE;
    return f;
}

static void name_stream(const struct chk *c, struct trod_finding *f)
{
    const struct trod_stream *s = chk_stream_of(c, c->stream);

    if (s)
        snprintf(f->stream, sizeof f->stream, "%s", s->name);
    f->file = c->file;
}

/* Messages quote traces, which may hold any bytes. */
static void printable(char *s)
{
    for (; *s; s++)
        if (*s < ' ' || *s > '~')
            *s = '.';
}

/* The record as text, where it is text. */
static void quote(struct trod_finding *f, const struct trod_batch *b, uint32_t i)
{
    uint32_t n, at = 0;
    const uint8_t *p;

    p = trod_batch_bytes(b, b->raw[i]);
    n = b->raw[i].len < sizeof f->text - 1 ? b->raw[i].len : (uint32_t)sizeof f->text - 1;
    for (; at < n && p[at] >= ' ' && p[at] <= '~'; at++)
        f->text[at] = (char)p[at];
    if (at < n && p[at] != '\n' && p[at] != '\r')
        at = 0;
    f->text[at] = '\0';
}

void chk_count_lines(struct chk *c, const struct trod_batch *b, uint64_t to)
{
    const uint8_t *p, *end;

    if (!c->lines_known || to <= c->lines_to)
        return;
    /* what the reader passed over is not in the window: from there on lines cannot be told */
    if (c->lines_to < b->offset || to > b->offset + b->bytes_n) {
        c->lines_known = false;
        return;
    }
    p = b->bytes + (c->lines_to - b->offset);
    end = b->bytes + (to - b->offset);
    c->lines_to = to;
    /* sums of single bytes: the form that compilers turn into vectors */
    while (p < end) {
        size_t n = (size_t)(end - p) < BLOCK ? (size_t)(end - p) : BLOCK;
        uint8_t sum = 0;

        for (size_t i = 0; i < n; i++)
            sum = (uint8_t)(sum + (p[i] == '\n'));
        c->lines += sum;
        p += n;
    }
}

/* Ends of lines from AT, in the window of B, to where they are counted: the window before may have
 * gone on into this one. */
static uint64_t lines_behind(const struct chk *c, const struct trod_batch *b, uint64_t at)
{
    const uint8_t *p = b->bytes + (at - b->offset), *end = b->bytes + (c->lines_to - b->offset);
    uint64_t n = 0;

    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

/* The row of B that row I, whose record may have several, has its bytes with. */
static uint32_t first_of_record(const struct trod_batch *b, uint32_t i)
{
    while (i && (b->flags[i] & TROD_F_CONT))
        i--;
    return i;
}

struct chk_at chk_locate(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    const uint32_t first = first_of_record(b, i);
    struct chk_at at = {b->first + i - c->base, TROD_NOWHERE, TROD_NOWHERE};

    if (!chk_has(b, first, TROD_COL_RAW) ||
        (b->raw[first].off & (TROD_SLICE_SHARED | TROD_SLICE_POOL)))
        return at;
    at.offset = b->offset + b->raw[first].off;
    chk_count_lines(c, b, at.offset);
    if (c->lines_known && c->lines_to <= b->offset + b->bytes_n)
        at.line = c->lines - lines_behind(c, b, at.offset);
    return at;
}

/* The same of row I of rows that were kept, which come behind those that C has judged. */
static struct chk_at locate_kept(const struct chk *c, uint32_t i)
{
    struct chk_at at = c->at[i];

    at.ordinal += c->rows;
    at.line = c->lines_known && at.line != TROD_NOWHERE ? c->lines - 1 + at.line : TROD_NOWHERE;
    return at;
}

struct chk_at chk_place(struct chk *c, const struct trod_batch *b, uint32_t i)
{
    return c->at ? locate_kept(c, i) : chk_locate(c, b, i);
}

static void set_place(const struct chk *c, struct trod_finding *f, const struct chk_at *at)
{
    f->ordinal = at->ordinal;
    if (at->offset == TROD_NOWHERE || c->merged)
        return;
    f->offset = at->offset;
    f->line = at->line;
}

/* A new finding of RULE in the stream being judged. NULL: it is only counted. */
static struct trod_finding *say(struct chk *c, enum chk_rule rule, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

static struct trod_finding *say(struct chk *c, enum chk_rule rule, const char *fmt, va_list args)
{
    struct trod_finding *f = chk_finding(c, rule);

    if (!f)
        return NULL;
    vsnprintf(f->message, sizeof f->message, fmt, args);
    name_stream(c, f);
    printable(f->message);
    printable(f->stream);
    return f;
}

void chk_report(struct chk *c, enum chk_rule rule, const struct trod_batch *b, uint32_t i,
                const char *fmt, ...)
{
    struct trod_finding *f;
    struct chk_at at;
    va_list args;

    if (b && !chk_wanted(c, i))
        return;
    va_start(args, fmt);
    f = say(c, rule, fmt, args);
    va_end(args);
    if (!f)
        return;
    f->ordinal = c->stream < c->n_streams ? c->streams[c->stream].last : TROD_NOWHERE;
    if (!b)
        return;
    at = chk_place(c, b, i);
    set_place(c, f, &at);
    if (at.offset != TROD_NOWHERE && c->family->text)
        quote(f, b, first_of_record(b, i));
}

void chk_report_at(struct chk *c, enum chk_rule rule, const struct chk_at *at, const char *fmt, ...)
{
    struct trod_finding *f;
    va_list args;

    va_start(args, fmt);
    f = say(c, rule, fmt, args);
    va_end(args);
    if (f)
        set_place(c, f, at);
}

/* Problems of the reader that a rule finds too. */
static bool is_covered(const struct chk *c, const char *kind)
{
    static const struct {
        const char *kind;
        enum chk_rule rule;
    } covered[] = {
        {"drmemtrace.chunk-order", CHK_DRM_FOOTER},
        {"drmemtrace.chunk-count", CHK_DRM_CHUNK},
    };

    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++)
        if (strcmp(covered[i].kind, kind) == 0)
            return c->on[covered[i].rule];
    return false;
}

int trod_check_problem(void *st, const struct trod_problem *p, uint32_t file, uint64_t n)
{
    struct chk *c = st;
    struct trod_finding *f;
    size_t len;

    if (n == 0 || p->severity != TROD_SEV_ERROR || !c->on[CHK_READ_DAMAGED] ||
        is_covered(c, p->kind))
        return TROD_OK;
    c->count[CHK_READ_DAMAGED] += n - 1;
    f = chk_finding(c, CHK_READ_DAMAGED);
    if (!f)
        return c->kept[CHK_READ_DAMAGED] < c->keep ? TROD_ERR_NOMEM : TROD_OK;
    snprintf(f->message, sizeof f->message, "%s", p->message);
    f->file = file;
    f->ordinal = p->at.record;
    f->offset = p->at.offset;
    f->line = p->at.line;
    printable(f->message);
    len = p->at.text_len < sizeof f->text - 1 ? p->at.text_len : sizeof f->text - 1;
    for (size_t i = 0; p->at.text && i < len; i++)
        f->text[i] = p->at.text[i] >= ' ' && p->at.text[i] <= '~' ? (char)p->at.text[i] : '.';
    return TROD_OK;
}

static size_t rule_number(const struct trod_rule *rule)
{
    size_t i = 0;

    while (i < CHK_RULES && trod_rule_at(i) != rule)
        i++;
    return i;
}

int chk_adopt(struct chk *c, const struct trod_finding *f)
{
    const size_t rule = rule_number(f->rule);

    if (c->kept[rule] >= c->keep)
        return TROD_OK;
    if (!trod_grow(&c->found, c->n_found, &c->cap_found, sizeof *c->found, 16))
        return TROD_ERR_NOMEM;
    c->kept[rule]++;
    c->found[c->n_found++] = *f;
    return TROD_OK;
}

/* FROM's findings behind INTO's: its rows come behind. */
int chk_merge(void *into, const void *from)
{
    struct chk *a = into;
    const struct chk *b = from;
    int rc = TROD_OK;

    if (b->recording) /* it is only released from here on */
        return chk_part_merge(a, (struct chk *)(uintptr_t)b);
    for (size_t i = 0; rc == TROD_OK && i < b->n_found; i++)
        rc = chk_adopt(a, &b->found[i]);
    for (size_t i = 0; i < CHK_RULES; i++)
        a->count[i] += b->count[i];
    chk_schedule_merge(&a->schedule, &b->schedule);
    return a->schedule.nomem ? TROD_ERR_NOMEM : rc;
}

uint64_t trod_check_count(const void *st, const struct trod_rule *rule)
{
    size_t i = rule_number(rule);

    return i < CHK_RULES ? ((const struct chk *)st)->count[i] : 0;
}

const struct trod_finding *trod_check_finding(const void *st, size_t i)
{
    const struct chk *c = st;

    return i < c->n_found ? &c->found[i] : NULL;
}

uint64_t trod_check_total(const void *st, enum trod_rule_severity severity)
{
    const struct chk *c = st;
    uint64_t n = 0;

    for (size_t i = 0; i < CHK_RULES; i++)
        if (trod_rule_at(i)->severity >= severity)
            n += c->count[i];
    return n;
}

static void emit_counts(const struct chk *c, struct trod_result *e)
{
    static const char *const columns[] = {"rule", "severity", "findings", "text"};

    trod_result_counts(e, "rules", "rules broken", columns, 4);
    for (size_t i = 0; i < CHK_RULES; i++) {
        if (c->count[i] == 0)
            continue;
        trod_result_str(e, "rule", trod_rule_at(i)->id);
        trod_result_str(e, "severity", trod_rule_severity_name(trod_rule_at(i)->severity));
        trod_result_u64(e, "findings", c->count[i]);
        trod_result_str(e, "text", trod_rule_at(i)->text);
        trod_result_row_end(e);
    }
    trod_result_table_close(e);
}

static void emit_number(struct trod_result *e, const char *key, uint64_t v)
{
    if (v != TROD_NOWHERE)
        trod_result_u64(e, key, v);
}

int chk_result(const void *st, struct trod_result *e)
{
    const struct chk *c = st;

    trod_result_u64(e, "total", trod_check_total(st, TROD_RULE_NOTE));
    trod_result_list(e, "findings", NULL);
    for (size_t i = 0; i < c->n_found; i++) {
        const struct trod_finding *f = &c->found[i];

        trod_result_open(e, NULL, f->rule->id);
        trod_result_str(e, "rule", f->rule->id);
        trod_result_str(e, "severity", trod_rule_severity_name(f->rule->severity));
        if (c->meta && f->file < c->meta->n_files)
            trod_result_str(e, "file", c->meta->files[f->file]);
        emit_number(e, "record", f->ordinal);
        emit_number(e, "offset", f->offset);
        emit_number(e, "line", f->line);
        if (f->stream[0])
            trod_result_str(e, "stream", f->stream);
        trod_result_str(e, "message", f->message);
        if (f->text[0])
            trod_result_str(e, "text", f->text);
        trod_result_close(e);
    }
    trod_result_list_close(e);
    emit_counts(c, e);
    return TROD_OK;
}
