/*
 * fuzz_format.c - any bytes through the driver of one format (TARGET_FORMAT), which is built in.
 *
 * What is checked of every input: the same rows and the same first error for two ways of cutting
 * it; rows from a resync point are those of serial decoding; what the driver's encoder makes of the
 * rows decodes to them again, and encodes to itself.
 */
#include "fuzz.h"

static const struct trod_format *format(void)
{
    const struct trod_format *f = trod_format_find(TARGET_FORMAT, strlen(TARGET_FORMAT));

    if (!f)
        test_die("no format " TARGET_FORMAT);
    return f;
}

static void cuts(const struct test_input *in, struct trod_gen *g, const struct test_rows *base)
{
    static const size_t every[] = {1, 5, 13, 64, 500};
    const struct test_how whole = {0};
    struct test_how how = {.every = every[gen_below(g, 5)], .rows = 1 + (uint32_t)gen_below(g, 70)};
    struct test_rows rows;

    how.move_state = fuzz_moves(g, in->format, in->n, how.every);
    rows = test_decode(in, &how);

    if (!test_rows_equal(base, 0, &rows)) {
        test_same(in, &whole, 0, in, &how, "cut");
        fuzz_true(false, "the rows depend on how the input is cut");
    }
    test_rows_free(&rows);
}

/* What the reader does behind errors comes to an end. */
static void resume(const struct test_input *in, struct trod_gen *g)
{
    const struct test_how how = {.every = 1 + gen_below(g, 300), .resume = true};
    struct test_rows rows = test_decode(in, &how);

    test_rows_free(&rows);
}

enum { HEADER = 12 }; /* bytes of the longest header that may be damaged */

static void round_trip(const struct test_input *in, const struct test_rows *base)
{
    const struct trod_format *f = in->format;
    const struct test_how how = {.mask = (f->reads & f->writes & ~(uint32_t)TROD_COL_RAW) |
                                         TEST_ANY_HEAD};
    struct trod_buf once = {0}, twice = {0};
    struct test_input again = *in;
    struct test_rows a, b;
    uint64_t lost = 0;
    bool copied;

    if (!f->begin || base->rc != TROD_OK || test_recode(in, f, NULL, &once, &lost) < 0 || lost) {
        trod_buf_fini(&once);
        return;
    }
    again.p = once.p;
    again.n = once.n;
    a = test_decode(in, &how);
    b = test_decode(&again, &how);
    a.stop = b.stop = 0;
    if (!test_rows_equal(&a, 0, &b)) {
        test_same(in, &how, 0, &again, &how, "encoded");
        fuzz_true(false, "rows do not survive encoding");
    }
    /* a copy has the errors of what it was made of, but for a damaged header, which it has anew */
    copied = once.n == in->n && (once.n == 0 || memcmp(once.p, in->p, once.n) == 0);
    copied |= once.n == in->n && once.n > HEADER && b.errors < a.errors &&
              memcmp(once.p + HEADER, in->p + HEADER, once.n - HEADER) == 0;
    fuzz_true(b.errors == 0 || copied, b.message);
    fuzz_true(test_recode(&again, f, NULL, &twice, NULL) == TROD_OK, "encoded once, but not twice");
    fuzz_true(once.n == twice.n && (once.n == 0 || memcmp(once.p, twice.p, once.n) == 0),
              "what was encoded encodes to something else");
    test_rows_free(&a);
    test_rows_free(&b);
    trod_buf_fini(&once);
    trod_buf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct test_input in = {.format = format(), .p = data, .n = size};
    const struct test_how whole = {0};
    struct trod_gen g = fuzz_gen(data, size);
    struct test_rows base = test_decode(&in, &whole);

    cuts(&in, &g, &base);
    resume(&in, &g);
    round_trip(&in, &base);
    test_rows_free(&base);
    return 0;
}
