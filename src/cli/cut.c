/*
 * cut.c - the first or the last of the rows chosen: --head, --limit, --tail.
 *
 * The last ones are found by reading twice: the first time records are only counted, so that memory
 * does not depend on how many are wanted.
 */
#include "cli.h"

#define AT(field) offsetof(struct cli_cut, field)

const struct trod_option cli_cut_options[] = {
    {"head", 0, TROD_OPT_U64, AT(head), "N",
     "the first N of the rows chosen, then stop reading (0: all)", NULL, NULL},
    {"limit", 'n', TROD_OPT_U64, AT(head), "N", "same as --head", NULL, NULL},
    {"tail", 0, TROD_OPT_U64, AT(tail), "N",
     "the last N of the rows chosen; reads twice, so not from a pipe (0: all)", NULL, NULL},
    {.type = TROD_OPT_END},
};

/* Rows of the N files PATHS that match FILTER. */
static int count(struct cli *c, const struct trod_match_options *filter,
                 struct trod_trace_options topt, size_t n, uint64_t *found, struct trod_diag *diag)
{
    struct trod_match *m = NULL;
    struct trod_trace *t = NULL;
    struct cli_progress progress;
    struct trod_batch *b;
    int r = trod_match_new(&m, filter, diag);

    if (r == 0)
        r = trod_trace_open(&t, c->operands, n, &topt, diag);
    if (r == 0 && !trod_trace_rewindable(t))
        r = trod_error(diag, TROD_ERR_USAGE, "cut.pipe", NULL,
                       "--tail reads twice, which a pipe does not allow: name a file");
    if (r == 0) {
        trod_trace_want(t, TROD_COL_KIND | trod_match_want(m));
        trod_diag_init(diag, NULL, NULL); /* problems are reported when the rows are shown */
    }
    cli_progress_begin(&progress, c);
    while (r >= 0 && !(m && trod_match_done(m)) && (r = trod_trace_next(t, &b)) > 0) {
        r = trod_match_batch(m, b);
        cli_progress_tick(&progress, t, trod_match_seen(m));
    }
    cli_progress_end(&progress);
    if (m)
        *found = trod_match_found(m);
    trod_trace_close(t);
    trod_match_free(m);
    return r == TROD_ERR_USAGE || r == TROD_ERR_NOMEM || !t ? r : 0;
}

int cli_cut_apply(struct cli *c, const struct cli_cut *cut, const struct trod_match_options *filter,
                  const struct trod_trace_options *topt, size_t n, struct trod_match *m,
                  struct trod_diag *diag)
{
    struct trod_diag counting;
    uint64_t found = 0;
    int r;

    if (cut->head && cut->tail)
        return trod_error(diag, TROD_ERR_USAGE, "cut.both", NULL,
                          "--head (or --limit) and --tail exclude each other");
    if (cut->head)
        trod_match_window(m, 0, cut->head);
    if (!cut->tail)
        return 0;
    counting = *diag;
    r = count(c, filter, *topt, n, &found, &counting);
    if (r == 0 && found > cut->tail)
        trod_match_window(m, found - cut->tail, UINT64_MAX);
    return r;
}
