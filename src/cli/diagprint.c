/*
 * diagprint.c - problems on standard error, as trod_show_problem words them, and the choice of
 * those that are shown.
 *
 * Implements docs/design.md, "Errors".
 */
#include <stdarg.h>
#include <string.h>

#include "cli.h"

static void sink(void *user, const struct trod_problem *p)
{
    struct cli *c = user;
    struct trod_show_problem show = {.program = "trod", .colour = c->colour_err};
    struct trod_buf text = {0};
    const enum trod_severity severity = p->severity;

    /* status ok: how many more of a kind there were */
    if (severity == TROD_SEV_ERROR && p->status != TROD_OK)
        c->trouble = true;
    if (severity != TROD_SEV_ERROR && c->common && c->common->quiet)
        return;
    cli_progress_erase(c);
    show.severity = severity;
    if (trod_show_problem(&text, p, &show) == 0)
        fwrite(text.p, 1, text.n, stderr);
    else
        fprintf(stderr, "trod: %s\n", p->message);
    trod_buf_fini(&text);
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
    struct trod_buf said = {0}, text = {0};
    va_list args;

    if (c->common->quiet)
        return;
    cli_progress_erase(c);
    va_start(args, fmt);
    /* names of files may hold what a terminal would obey */
    if (trod_buf_vprintf(&said, fmt, args) == 0 && trod_buf_reserve(&text, 4 * said.n + 1) == 0) {
        text.n = (size_t)(trod_put_visible((char *)text.p, said.p, said.n) - (char *)text.p);
        text.p[text.n++] = '\n';
        fwrite(text.p, 1, text.n, stderr);
    }
    va_end(args);
    trod_buf_fini(&said);
    trod_buf_fini(&text);
}
