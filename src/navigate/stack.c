/*
 * stack.c - the activations that are open at a row: from the index, or by following all rows before
 * it. Implements trod_nav_calls and trod_nav_call_events of trod/navigate.h.
 */
#include "navigate/calls.h"
#include "navigate/index.h"

#include <stdlib.h>
#include <string.h>

static int follow(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    int rc = nav_calls_feed(user, b, i, n, row);

    return rc < 0 ? rc : 1;
}

static int by_rows(struct trod_nav *nav, uint64_t row, uint32_t stream, struct trod_buf *out)
{
    struct nav_calls *c;
    int rc = nav_calls_new(&c, false, NULL);

    if (rc == TROD_OK)
        rc = nav_scan(nav, 0, row + 1, follow, c);
    if (rc == TROD_OK)
        rc = nav_calls_stack(c, stream, out);
    nav_calls_free(c);
    return rc;
}

/* What segment S of X knows of calls. */
static int calls_of(const struct nav_index *x, const struct nav_segment *s, struct trod_buf *raw)
{
    int rc = s->calls ? nav_index_check(x, s->calls) : TROD_ERR_CORRUPT;

    return rc < 0
               ? rc
               : nav_unsqueeze(x, x->file + s->calls->offset, s->calls->length, s->calls->raw, raw);
}

static int by_index(const struct trod_nav *nav, uint64_t row, uint32_t stream, struct trod_buf *out)
{
    const struct nav_index *x = nav->index;
    struct trod_buf raw = {0};
    int rc = calls_of(x, &x->segment[nav_index_segment(x, nav_block_of(nav, row))], &raw);

    if (rc == TROD_OK)
        rc = nav_calls_load((struct trod_span){.p = raw.p, .n = raw.n}, row, stream, out);
    trod_buf_fini(&raw);
    return rc;
}

/* The stream that rows like ROW are of, into *STREAM unless one is asked for. */
static int stream_of(struct trod_nav *nav, uint64_t row, int64_t asked, uint32_t *stream)
{
    const struct trod_batch *b;
    uint32_t i;
    int rc = row == TROD_NOWHERE ? 0 : trod_nav_row(nav, row, &b, &i);

    if (rc < 0)
        return rc;
    if (rc == 0)
        return trod_error(nav->diag, TROD_ERR_USAGE, "navigate.row", NULL,
                          "the trace has no row %llu", (unsigned long long)row);
    *stream = (uint32_t)asked;
    if (asked == TROD_NAV_ROW_STREAM || !nav_has(b, i, TROD_COL_STREAM))
        *stream = nav_has(b, i, TROD_COL_STREAM) ? b->stream[i] : TROD_NO_STREAM;
    return TROD_OK;
}

static int open_calls(struct trod_nav *nav, uint64_t row, int64_t stream,
                      struct trod_nav_call **out, size_t *n)
{
    struct trod_buf found = {0};
    uint32_t of = TROD_NO_STREAM;
    int rc = stream_of(nav, row, stream, &of);

    *out = NULL;
    *n = 0;
    if (rc < 0)
        return rc;
    rc = nav->index ? by_index(nav, row, of, &found) : by_rows(nav, row, of, &found);
    if (rc < 0) {
        trod_buf_fini(&found);
        return rc;
    }
    *out = (struct trod_nav_call *)(void *)found.p;
    *n = found.n / sizeof **out;
    return TROD_OK;
}

int trod_nav_calls(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_call **out,
                   size_t *n)
{
    const int rc = open_calls(nav, row, stream, out, n);

    return nav_distrust(nav, rc) ? open_calls(nav, row, stream, out, n) : rc;
}

int trod_nav_call_events(struct trod_nav *nav, uint64_t row, trod_nav_call_fn fn, void *user)
{
    uint32_t stream = TROD_NO_STREAM, context = NAV_NO_CONTEXT, i;
    int rc = stream_of(nav, row, TROD_NAV_ROW_STREAM, &stream);

    if (rc < 0)
        return rc;
    if (!nav->index)
        return TROD_ERR_UNKNOWN;
    rc = 1;
    for (i = nav_index_segment(nav->index, nav_block_of(nav, row));
         rc > 0 && i < nav->index->n_segments; i++) {
        struct trod_buf raw = {0};

        rc = calls_of(nav->index, &nav->index->segment[i], &raw);
        if (rc == TROD_OK)
            rc = nav_calls_walk((struct trod_span){.p = raw.p, .n = raw.n}, row, stream, &context,
                                fn, user);
        trod_buf_fini(&raw);
    }
    return nav_distrust(nav, rc) ? TROD_ERR_UNKNOWN : rc < 0 ? rc : TROD_OK;
}
