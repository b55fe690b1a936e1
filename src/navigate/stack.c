/*
 * stack.c - the activations that are open at a row: from the index, or by following all rows before
 * it. Implements trod_nav_calls of trod/navigate.h.
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

static int by_index(const struct trod_nav *nav, uint64_t row, uint32_t stream, struct trod_buf *out)
{
    const struct nav_index *x = nav->index;
    const struct nav_segment *s = &x->segment[nav_index_segment(x, nav_block_of(nav, row))];
    struct trod_buf raw = {0};
    int rc;

    if (!s->calls)
        return TROD_ERR_CORRUPT;
    rc = nav_index_check(x, s->calls);
    if (rc == TROD_OK)
        rc = nav_unsqueeze(x, x->file + s->calls->offset, s->calls->length, s->calls->raw, &raw);
    if (rc == TROD_OK)
        rc = nav_calls_load((struct trod_span){.p = raw.p, .n = raw.n}, row, stream, out);
    trod_buf_fini(&raw);
    return rc;
}

static int open_calls(struct trod_nav *nav, uint64_t row, int64_t stream,
                      struct trod_nav_call **out, size_t *n)
{
    uint32_t of = (uint32_t)stream, i;
    const struct trod_batch *b;
    struct trod_buf found = {0};
    int rc;

    *out = NULL;
    *n = 0;
    rc = row == TROD_NOWHERE ? 0 : trod_nav_row(nav, row, &b, &i);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return trod_error(nav->diag, TROD_ERR_USAGE, "navigate.row", NULL,
                          "the trace has no row %llu", (unsigned long long)row);
    if (stream == TROD_NAV_ROW_STREAM || !nav_has(b, i, TROD_COL_STREAM))
        of = nav_has(b, i, TROD_COL_STREAM) ? b->stream[i] : TROD_NO_STREAM;
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
