/*
 * weigh.c - which branches are predicted wrong, by row, for `--weight`.
 *
 * Implements docs/navigating.md, "Weights": "PREDICTOR[:KEY=N...]" as in `trod branches`. Whether a
 * prediction was wrong is known when the next instruction of the stream comes.
 */
#include "analysis/branches/branches.h"

#include <stdlib.h>
#include <string.h>

struct weighing {
    struct br_options options;
    struct br_state state;
    char *text; /* the predictors */
};

static void fini(void *st)
{
    struct weighing *w = st;

    if (w)
        br_fini(&w->state);
    free(w ? w->text : NULL);
    free(w);
}

static int make(void **st, const char *const *what, unsigned n, const struct trod_context *c)
{
    struct weighing *w = calloc(1, sizeof *w);
    struct trod_context own = *c;
    struct trod_buf text = {0};
    int rc = TROD_OK;

    *st = w;
    if (!w)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_buf_printf(&text, "%s%s", i ? "," : "", what[i]);
    if (rc == TROD_OK)
        rc = trod_buf_add(&text, "", 1);
    w->text = rc == TROD_OK ? strdup((const char *)text.p) : NULL;
    trod_buf_fini(&text);
    if (!w->text)
        return TROD_ERR_NOMEM;
    own.shard = 0;
    own.shards = 1;
    w->options.predictors = w->text;
    rc = br_init(&w->state, &w->options, &own);
    if (rc == TROD_OK && w->state.n_choices != n)
        rc = trod_error(c->diag, TROD_ERR_USAGE, "weight.branches", NULL,
                        "weight 'branches.%s': one predictor each", w->text);
    return rc;
}

static int weigh(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                 const struct trod_weighed *out)
{
    struct weighing *w = st;
    int rc;

    w->state.weighed = out;
    rc = b ? br_feed(&w->state, b, from, to)
           : br_boundary(&w->state, &(struct trod_boundary){.type = TROD_BOUNDARY_END});
    return rc < 0 ? rc : w->state.owed;
}

const struct trod_weigher br_weigher = {
    .about = "PREDICTOR[:KEY=N...]",
    .unit = "wrong predictions",
    .uses = TROD_COL_SITE | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TARGET |
            TROD_COL_SUB | TROD_COL_VALUE,
    .order = TROD_STREAM_ORDER,
    .make = make,
    .weigh = weigh,
    .fini = fini,
};
