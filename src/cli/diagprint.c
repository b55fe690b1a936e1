/*
 * diagprint.c - problems on standard error, as trod_show_problem words them, and which are told.
 *
 * Implements docs/design.md, "Errors".
 */
#include <stdarg.h>
#include <string.h>

#include "cli.h"

enum { LOSSES_TOLD = 4 }; /* of a kind, where losses are allowed */

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
    struct trod_show_problem show = {.program = "trod", .colour = c->colour_err};
    struct trod_buf text = {0};
    enum trod_severity severity = loss ? TROD_SEV_WARNING : p->severity;

    /* status ok: how many more of a kind there were */
    if (severity == TROD_SEV_ERROR && p->status != TROD_OK)
        c->trouble = true;
    if (!tell)
        return;
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
    va_list args;

    if (c->common->quiet)
        return;
    cli_progress_erase(c);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    putc('\n', stderr);
}
