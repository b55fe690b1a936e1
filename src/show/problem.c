/*
 * problem.c - problems as users see them: "trod: FILE:LINE: message", the line, a caret.
 *
 * Implements trod_show_problem (trod/show.h) and docs/design.md, "Errors".
 */
#include <stdarg.h>
#include <string.h>

#include "core/sized.h"
#include "trod/put.h"
#include "trod/show.h"

enum { QUOTED = 100, BEFORE = 60 }; /* bytes of a line shown; of these before the caret */

static const char *const paint_error = "\033[1;31m", *const paint_warning = "\033[1;35m",
                         *const paint_place = "\033[1m", *const paint_off = "\033[0m";

struct out {
    struct trod_buf *b;
    bool colour, nomem;
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (trod_buf_vprintf(o->b, fmt, args) != 0)
        o->nomem = true;
    va_end(args);
}

/* S, which may be the name of a file or part of one: what a terminal would obey is made visible. */
static void put_text(struct out *o, const char *s)
{
    const size_t n = strlen(s);

    if (n > 0 && trod_buf_reserve(o->b, 4 * n) != 0)
        o->nomem = true;
    else if (n > 0)
        o->b->n = (size_t)(trod_put_visible((char *)o->b->p + o->b->n, s, n) - (char *)o->b->p);
}

static const char *paint(const struct out *o, const char *how)
{
    return o->colour ? how : "";
}

/* N bytes at S with control bytes made visible at TEXT; returns the columns they take. */
static size_t visible(char *text, size_t *len, const uint8_t *s, size_t n)
{
    size_t columns = 0;

    *len = (size_t)(trod_put_visible(text, s, n) - text);
    for (size_t i = 0; i < *len; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

/* The line at fault, shortened around the caret, and the caret. */
static void quote(struct out *o, const struct trod_place *at)
{
    size_t n = at->text_len, from = 0, shown, caret = at->caret, column = 4, len;
    bool has_caret = caret <= n;
    char text[4 * QUOTED];

    while (n > 0 && (at->text[n - 1] == '\n' || at->text[n - 1] == '\r'))
        n--;
    if (caret > n)
        caret = n;
    if (has_caret && n > QUOTED && caret > BEFORE)
        from = caret - BEFORE;
    if (from + QUOTED > n && n > QUOTED && from > n - QUOTED)
        from = n - QUOTED;
    shown = n - from > QUOTED ? QUOTED : n - from;
    visible(text, &len, at->text + from, shown);
    put(o, "    %s%.*s%s\n", from > 0 ? "..." : "", (int)len, text, from + shown < n ? "..." : "");
    if (!has_caret)
        return;
    column += (from > 0 ? 3 : 0) + visible(text, &len, at->text + from, caret - from);
    put(o, "%*s%s^%s\n", (int)column, "", paint(o, paint_error), paint(o, paint_off));
}

static void put_place(struct out *o, const struct trod_place *at)
{
    if (at->path) {
        put_text(o, strcmp(at->path, "-") == 0 ? "standard input" : at->path);
        put(o, ":");
    }
    if (at->member) {
        put(o, "%s", at->path ? " " : "");
        put_text(o, at->member);
        put(o, ":");
    }
    if (at->line != TROD_NOWHERE)
        put(o, "%llu:", (unsigned long long)at->line);
    if (at->path || at->member || at->line != TROD_NOWHERE)
        put(o, " ");
}

static void put_position(struct out *o, const struct trod_place *at, int status)
{
    const char *sep = " (";

    if (status == TROD_ERR_IO && at->offset == 0)
        return; /* it could not even be opened */
    if (at->record != TROD_NOWHERE) {
        put(o, "%srecord %llu", sep, (unsigned long long)at->record);
        sep = ", ";
    }
    if (at->offset != TROD_NOWHERE) {
        put(o, "%sbyte %llu", sep, (unsigned long long)at->offset);
        sep = ", ";
    }
    if (sep[0] == ',')
        put(o, ")");
}

int trod_show_problem(struct trod_buf *out, const struct trod_problem *p,
                      const struct trod_show_problem *opt)
{
    struct trod_show_problem own;
    struct out o = {out, false, false};
    enum trod_severity severity;

    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return TROD_ERR_USAGE;
    o.colour = own.colour;
    severity = opt ? own.severity : p->severity;
    put(&o, "%s", paint(&o, paint_place));
    if (own.program)
        put(&o, "%s: ", own.program);
    put_place(&o, &p->at);
    put(&o, "%s", paint(&o, paint_off));
    if (severity == TROD_SEV_WARNING)
        put(&o, "%swarning:%s ", paint(&o, paint_warning), paint(&o, paint_off));
    else if (severity == TROD_SEV_NOTE)
        put(&o, "note: ");
    else if (o.colour)
        put(&o, "%serror:%s ", paint_error, paint_off);
    put_text(&o, p->message);
    put_position(&o, &p->at, p->status);
    put(&o, "\n");
    if (p->at.text)
        quote(&o, &p->at);
    return o.nomem ? TROD_ERR_NOMEM : 0;
}
