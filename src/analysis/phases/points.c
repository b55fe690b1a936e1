/*
 * points.c - the intervals that stand for their phases, as files of SimPoint (phases.h).
 *
 * Implements docs/analysing.md, "phases": lines "INTERVAL PHASE" and "WEIGHT PHASE", as SimPoint
 * 3.2 writes them for -saveSimpoints and -saveSimpointWeights.
 */
#include "analysis/phases/phases.h"

#include "core/inputs.h"

#include <inttypes.h>

static int save(const struct phases_state *s, const char *suffix, const struct trod_buf *text)
{
    struct trod_buf path = {0};
    struct trod_output *out = NULL;
    int rc = trod_buf_printf(&path, "%s%s", s->opt->simpoints, suffix);

    if (rc == TROD_OK)
        rc = trod_buf_add(&path, "", 1);
    if (rc == TROD_OK)
        rc = trod_output_create(&out, (const char *)path.p, NULL, s->context.diag);
    if (rc == TROD_OK)
        rc = trod_output_write(out, text->p, text->n);
    if (rc == TROD_OK)
        rc = trod_output_commit(out);
    else
        trod_output_discard(out);
    trod_buf_fini(&path);
    return rc;
}

/* PATH with SUFFIX is no file of the trace that is read. */
static int apart(const struct trod_context *c, const char *path, const char *suffix)
{
    struct trod_buf text = {0};
    int rc = trod_buf_printf(&text, "%s%s", path, suffix);

    if (rc == TROD_OK)
        rc = trod_buf_add(&text, "", 1);
    if (rc == TROD_OK && c->meta && trod_is_input(c->meta, (const char *)text.p))
        rc = trod_error(c->diag, TROD_ERR_USAGE, "phases.same-file", NULL,
                        "'%s' is input and output at once: write to another file",
                        (const char *)text.p);
    trod_buf_fini(&text);
    return rc;
}

int phases_apart(const struct phases_options *o, const struct trod_context *c)
{
    const struct {
        const char *path, *suffix;
    } out[] = {
        {o->bb, ""}, {o->picture, ""}, {o->simpoints, ".simpoints"}, {o->simpoints, ".weights"}};
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < sizeof out / sizeof *out; i++)
        if (out[i].path)
            rc = apart(c, out[i].path, out[i].suffix);
    return rc;
}

int phases_simpoints(const struct phases_state *s)
{
    const struct phases_clusters *c = &s->clusters;
    struct trod_buf points = {0}, weights = {0};
    uint64_t all = 0;
    int rc = TROD_OK;

    for (unsigned k = 0; k < c->n; k++)
        all += c->weight[k];
    for (unsigned k = 0; rc == TROD_OK && k < c->n; k++) {
        if (!c->members[k])
            continue;
        rc = trod_buf_printf(&points, "%zu %u\n", (size_t)c->chosen[k], k);
        if (rc == TROD_OK)
            rc = trod_buf_printf(&weights, "%.9f %u\n", (double)c->weight[k] / (double)all, k);
    }
    if (rc == TROD_OK)
        rc = save(s, ".simpoints", &points);
    if (rc == TROD_OK)
        rc = save(s, ".weights", &weights);
    trod_buf_fini(&points);
    trod_buf_fini(&weights);
    return rc;
}
