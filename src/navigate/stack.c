/*
 * stack.c - the activations that are open at a row: from the index, or by following all rows before
 * it. Implements trod_nav_calls of trod/navigate.h.
 */
#include "navigate/calls.h"
#include "navigate/index.h"

#include <stdlib.h>
#include <string.h>

/* The stream of a row. */
struct row_stream {
    uint32_t stream;
    bool found;
};

static int note_stream(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct row_stream *r = user;

    (void)n;
    (void)row;
    r->found = true;
    r->stream = nav_has(b, i, TROD_COL_STREAM) ? b->stream[i] : TROD_NO_STREAM;
    return 0;
}

static int follow(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    int rc = nav_calls_feed(user, b, i, n, row);

    return rc < 0 ? rc : 1;
}

static int by_rows(struct trod_nav *nav, uint64_t row, uint32_t stream, struct trod_buf *out)
{
    struct nav_calls *c;
    int rc = nav_calls_new(&c, false);

    if (rc == TROD_OK)
        rc = nav_scan(nav, 0, row + 1, follow, c);
    if (rc == TROD_OK)
        rc = nav_calls_stack(c, stream, out);
    nav_calls_free(c);
    return rc;
}

static int by_index(const struct trod_nav *nav, uint64_t row, uint32_t stream, struct trod_buf *out)
{
    const struct nav_index *x = nav->index;
    const struct nav_segment *s = &x->segment[nav_index_segment(x, nav_block_of(nav, row))];
    struct trod_buf raw = {0};
    int rc;

    if (!s->calls)
        return TROD_ERR_CORRUPT;
    rc = nav_unsqueeze(x->file + s->calls->offset, s->calls->length, s->calls->raw, &raw);
    if (rc == TROD_OK)
        rc = nav_calls_load((struct trod_span){.p = raw.p, .n = raw.n}, row, stream, out);
    trod_buf_fini(&raw);
    return rc;
}

int trod_nav_calls(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_call **out,
                   size_t *n)
{
    struct row_stream of = {.stream = (uint32_t)stream};
    struct trod_buf found = {0};
    int rc = TROD_OK;

    *out = NULL;
    *n = 0;
    if (row != TROD_NOWHERE)
        rc = nav_scan(nav, row, row + 1, note_stream, &of);
    if (rc == TROD_OK && !of.found)
        return trod_error(nav->diag, TROD_ERR_USAGE, "navigate.row", NULL,
                          "the trace has no row %llu", (unsigned long long)row);
    if (stream != TROD_NAV_ROW_STREAM && of.stream != TROD_NO_STREAM)
        of.stream = (uint32_t)stream;
    if (rc == TROD_OK)
        rc = nav->index ? by_index(nav, row, of.stream, &found)
                        : by_rows(nav, row, of.stream, &found);
    if (rc < 0) {
        trod_buf_fini(&found);
        return rc;
    }
    *out = (struct trod_nav_call *)(void *)found.p;
    *n = found.n / sizeof **out;
    return TROD_OK;
}
