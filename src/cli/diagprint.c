/*
 * diagprint.c - problems as users see them: "trod: FILE:LINE: message", the line, a caret.
 *
 * Implements docs/design.md, "Errors". Everything goes to standard error.
 */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { QUOTED = 100, BEFORE = 60 }; /* bytes of a line shown; of these before the caret */
enum { LOSSES_TOLD = 4 };           /* of a kind, where losses are allowed */

static const char *const paint_error = "\033[1;31m", *const paint_warning = "\033[1;35m",
                         *const paint_place = "\033[1m", *const paint_off = "\033[0m";

static const char *paint(const struct cli *c, const char *how)
{
    return c->colour_err ? how : "";
}

static void clear_progress(struct cli *c)
{
    if (c->progress_shown)
        fputs("\r\033[K", stderr);
    c->progress_shown = false;
}

/* N bytes at S with control bytes made visible; returns the columns it took. */
static size_t visible(const uint8_t *s, size_t n)
{
    char out[4 * QUOTED];
    size_t len = (size_t)(trod_put_visible(out, s, n) - out), columns = 0;

    fwrite(out, 1, len, stderr);
    for (size_t i = 0; i < len; i++)
        columns += (out[i] & 0xc0) != 0x80;
    return columns;
}

/* The columns N bytes at S take when made visible. */
static size_t columns_of(const uint8_t *s, size_t n)
{
    char out[4 * QUOTED];
    size_t len = (size_t)(trod_put_visible(out, s, n) - out), columns = 0;

    for (size_t i = 0; i < len; i++)
        columns += (out[i] & 0xc0) != 0x80;
    return columns;
}

/* The line at fault, shortened around the caret, and the caret. */
static void quote(const struct cli *c, const struct trod_place *at)
{
    size_t n = at->text_len, from = 0, shown, caret = at->caret, column = 4;
    bool has_caret = caret <= n;

    while (n > 0 && (at->text[n - 1] == '\n' || at->text[n - 1] == '\r'))
        n--;
    if (caret > n)
        caret = n;
    if (has_caret && n > QUOTED && caret > BEFORE)
        from = caret - BEFORE;
    if (from + QUOTED > n && n > QUOTED && from > n - QUOTED)
        from = n - QUOTED;
    shown = n - from > QUOTED ? QUOTED : n - from;
    fputs("    ", stderr);
    if (from > 0)
        fputs("...", stderr);
    visible(at->text + from, shown);
    fputs(from + shown < n ? "...\n" : "\n", stderr);
    if (!has_caret)
        return;
    column += (from > 0 ? 3 : 0) + columns_of(at->text + from, caret - from);
    fprintf(stderr, "%*s%s^%s\n", (int)column, "", paint(c, paint_error), paint(c, paint_off));
}

static void print_place(const struct trod_place *at)
{
    if (at->path)
        fprintf(stderr, "%s:", strcmp(at->path, "-") == 0 ? "standard input" : at->path);
    if (at->member)
        fprintf(stderr, "%s%s:", at->path ? " " : "", at->member);
    if (at->line != TROD_NOWHERE)
        fprintf(stderr, "%llu:", (unsigned long long)at->line);
    if (at->path || at->member || at->line != TROD_NOWHERE)
        putc(' ', stderr);
}

static void print_position(const struct trod_place *at, int status)
{
    const char *sep = " (";

    if (status == TROD_ERR_IO && at->offset == 0)
        return; /* it could not even be opened */
    if (at->record != TROD_NOWHERE) {
        fprintf(stderr, "%srecord %llu", sep, (unsigned long long)at->record);
        sep = ", ";
    }
    if (at->offset != TROD_NOWHERE) {
        fprintf(stderr, "%sbyte %llu", sep, (unsigned long long)at->offset);
        sep = ", ";
    }
    if (sep[0] == ',')
        putc(')', stderr);
}

/*
 * Losses that the user allowed are warnings, of which the first few of a kind are told; how many
 * there were stands in the summary of the command. True if P is one; *TELL says whether to tell it.
 */
static bool is_loss(struct cli *c, const struct trod_problem *p, bool *tell)
{
    size_t i = 0;

    *tell = true;
    while (i < c->n_losses && strcmp(c->losses[i].kind, p->kind) != 0)
        i++;
    if (i == c->n_losses && (!c->allow_loss || p->status != TROD_ERR_LOSS || i == CLI_LOSSES))
        return false;
    if (i == c->n_losses)
        c->losses[c->n_losses++].kind = p->kind;
    *tell = c->losses[i].told++ < LOSSES_TOLD;
    return true;
}

static void sink(void *user, const struct trod_problem *p)
{
    struct cli *c = user;
    bool tell, loss = is_loss(c, p, &tell);
    enum trod_severity severity = loss ? TROD_SEV_WARNING : p->severity;

    /* status ok: how many more of a kind there were */
    if (severity == TROD_SEV_ERROR && p->status != TROD_OK)
        c->trouble = true;
    if (!tell)
        return;
    if (severity != TROD_SEV_ERROR && c->common && c->common->quiet)
        return;
    clear_progress(c);
    fprintf(stderr, "%strod: ", paint(c, paint_place));
    print_place(&p->at);
    fputs(paint(c, paint_off), stderr);
    if (severity == TROD_SEV_WARNING)
        fprintf(stderr, "%swarning:%s ", paint(c, paint_warning), paint(c, paint_off));
    else if (severity == TROD_SEV_NOTE)
        fputs("note: ", stderr);
    else if (c->colour_err)
        fprintf(stderr, "%serror:%s ", paint_error, paint_off);
    fputs(p->message, stderr);
    print_position(&p->at, p->status);
    putc('\n', stderr);
    if (p->at.text)
        quote(c, &p->at);
}

void cli_diag_init(struct cli *c, struct trod_diag *d)
{
    trod_diag_init(d, sink, c);
}

int cli_diag_end(struct cli *c, struct trod_diag *d)
{
    trod_diag_summary(d);
    return c->trouble ? CLI_TROUBLE : CLI_YES;
}

void cli_say(struct cli *c, const char *fmt, ...)
{
    va_list args;

    if (c->common->quiet)
        return;
    clear_progress(c);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    putc('\n', stderr);
}
