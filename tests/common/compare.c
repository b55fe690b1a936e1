/*
 * compare.c - are two runs the same? And rows through an encoder. Implements a part of testlib.h.
 */
#include "testlib.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool test_rows_equal(const struct test_rows *a, size_t skip_a, const struct test_rows *b)
{
    size_t n = a->n - skip_a;

    return a->n >= skip_a && n == b->n && a->rc == b->rc && a->stop == b->stop &&
           (n == 0 || (memcmp(a->hash + skip_a, b->hash, n * sizeof *b->hash) == 0 &&
                       memcmp(a->at + skip_a, b->at, n * sizeof *b->at) == 0));
}

/* Line N of a text, without its end. */
static const char *line_of(const struct trod_buf *text, size_t n, int *len)
{
    const char *p = (const char *)text->p, *end = p + text->n, *q;

    for (; n > 0 && p < end; n--) {
        q = memchr(p, '\n', (size_t)(end - p));
        p = q ? q + 1 : end;
    }
    q = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    *len = (int)(q ? q - p : end - p);
    if (*len > 2000)
        *len = 2000;
    return p < end ? p : "(none)";
}

static void explain(const struct test_rows *a, size_t skip, const struct test_rows *b,
                    const char *what)
{
    size_t i = 0;
    int m, n;
    const char *p, *q;

    fprintf(stderr, "%s: %zu rows, status %d at %" PRIu64 "; %zu rows, status %d at %" PRIu64 "\n",
            what, a->n - skip, a->rc, a->stop, b->n, b->rc, b->stop);
    while (skip + i < a->n && i < b->n && a->hash[skip + i] == b->hash[i] &&
           a->at[skip + i] == b->at[i])
        i++;
    if (skip + i >= a->n && i >= b->n)
        return;
    p = line_of(&a->text, skip + i, &m);
    q = line_of(&b->text, i, &n);
    fprintf(stderr, "  first difference in row %zu:\n  1: %.*s\n  2: %.*s\n", i, m, p, n, q);
}

bool test_same(const struct test_input *a, const struct test_how *how_a, size_t skip_a,
               const struct test_input *b, const struct test_how *how_b, const char *what)
{
    struct test_rows ra = test_decode(a, how_a), rb = test_decode(b, how_b);
    bool same = test_rows_equal(&ra, skip_a, &rb);

    if (!same) {
        struct test_rows ta = test_decode_text(a, how_a), tb = test_decode_text(b, how_b);

        explain(&ta, skip_a, &tb, what);
        test_rows_free(&ta);
        test_rows_free(&tb);
    }
    test_rows_free(&ra);
    test_rows_free(&rb);
    return same;
}
