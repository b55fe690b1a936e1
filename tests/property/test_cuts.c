/*
 * test_cuts.c - the same rows for every way of cutting the input and every batch size.
 *
 * docs/design.md, "A format driver"; format.h, decode. Every golden file of every format and inputs
 * of random rows: each single cut of small ones, random cuts of larger ones, windows of few bytes,
 * batches of few rows, the state moved in memory between windows (design, rule 9), and every
 * prefix: what lies before the end of a cut file is not lost.
 */
#include "fewer.h"
#include "prop.h"

enum { SMALL = 1200, SINGLE = 100, MULTI = 12, CUTS = 12, PREFIXES = 120, GENERATED = 3 };

static const struct test_how whole = {0};

static void check(const struct golden *g, const struct test_how *how, const char *what)
{
    const struct test_input in = prop_input(g);

    prop_true(test_same(&in, &whole, 0, &in, how, what), g, what, how->n_cuts ? how->cut[0] : 0);
}

static void single_cuts(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n);
    const bool all = g->data.n <= SMALL && !prop_alike(g->format);
    size_t n = g->data.n, count = all || n < SINGLE ? n : SINGLE;
    const size_t step = test_step();
    const struct test_input in = prop_input(g);
    struct test_rows base = test_decode(&in, &whole);

    for (size_t i = 1; i < count; i += step) {
        size_t cut = count == n ? i : gen_below(&r, n);
        const struct test_how how = {.cut = &cut, .n_cuts = 1};
        struct test_rows got = test_decode(&in, &how);

        if (!test_rows_equal(&base, 0, &got))
            check(g, &how, "a single cut");
        test_rows_free(&got);
    }
    test_rows_free(&base);
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

static void many_cuts(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n + 1);

    for (size_t i = 0; i < test_fewer(MULTI, 3); i++) {
        size_t cut[CUTS];
        const struct test_how how = {.cut = cut,
                                     .n_cuts = CUTS,
                                     .rows = 1 + (uint32_t)gen_below(&r, 9),
                                     .move_state = i % 2};

        for (int k = 0; k < CUTS; k++)
            cut[k] = gen_below(&r, g->data.n + 1);
        qsort(cut, CUTS, sizeof *cut, by_size);
        check(g, &how, "many cuts");
    }
}

static void small_windows(const struct golden *g)
{
    static const size_t every[] = {1, 2, 3, 7, 61, 4096};

    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        const struct test_how how = {.every = every[i], .move_state = i % 2};

        if (g->data.n / every[i] < 6000)
            check(g, &how, "small windows");
    }
}

static void batch_sizes(const struct golden *g)
{
    static const uint32_t rows[] = {1, 2, 3, 7, 64, TROD_BATCH_ROWS};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct test_how how = {.rows = rows[i], .move_state = i % 2};

        check(g, &how, "batch sizes");
    }
}

/* Rows whose record, and the one behind it, lie before the end of a cut file, come out of it. */
static void prefixes(const struct golden *g)
{
    const struct test_input in = prop_input(g);
    struct trod_gen r = gen_seed(g->data.n + 2);
    struct test_rows base = test_decode(&in, &whole);

    for (size_t i = 0; i < PREFIXES && g->data.n; i += test_step()) {
        struct test_input cut = in;
        struct test_rows got;
        size_t rows = 0, begin = 0; /* first row of the last record that begins before the end */

        cut.n = g->data.n <= PREFIXES ? i % g->data.n : gen_below(&r, g->data.n);
        got = test_decode(&cut, &whole);
        for (size_t k = 0; k < base.n; k++)
            if (base.at[k] != TROD_NOWHERE && base.at[k] <= cut.n) {
                rows = begin;
                begin = k;
            }
        prop_true(got.n >= rows && (rows == 0 || memcmp(got.hash, base.hash, rows * 8) == 0), g,
                  "a prefix loses rows before its end", cut.n);
        test_rows_free(&got);
    }
    test_rows_free(&base);
}

/* Every format has a golden file: the other tests pass over one that has none. */
static void test_has_golden(void **state)
{
    (void)state;
    assert_non_null(trod_format_at(0));
    for (size_t i = 0; trod_format_at(i); i++) {
        struct golden_list l = golden_of(trod_format_at(i), 0);

        if (l.n == 0)
            fail_msg("no golden file in tests/golden/%s", trod_format_at(i)->name);
        golden_free(&l);
    }
}

static void gives_rows(const struct golden *g)
{
    const struct test_input in = prop_input(g);
    struct test_rows base = test_decode(&in, &whole);

    /* a header alone is what an encoder makes of rows of which it holds none */
    prop_true(base.n > 0 || g->data.n <= 4, g, "no rows", 0);
    if (!g->damaged)
        prop_true(base.rc == TROD_OK, g, "decoding ends with an error at", base.stop);
    test_rows_free(&base);
}

static void test_gives_rows(void **state)
{
    (void)state;
    golden_each(GENERATED, gives_rows);
}

static void test_single_cuts(void **state)
{
    (void)state;
    golden_each(GENERATED, single_cuts);
}

static void test_many_cuts(void **state)
{
    (void)state;
    golden_each(GENERATED, many_cuts);
}

static void test_small_windows(void **state)
{
    (void)state;
    golden_each(GENERATED, small_windows);
}

static void test_batch_sizes(void **state)
{
    (void)state;
    golden_each(GENERATED, batch_sizes);
}

static void test_prefixes(void **state)
{
    (void)state;
    golden_each(GENERATED, prefixes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_has_golden),    cmocka_unit_test(test_gives_rows),
        cmocka_unit_test(test_single_cuts),   cmocka_unit_test(test_many_cuts),
        cmocka_unit_test(test_small_windows), cmocka_unit_test(test_batch_sizes),
        cmocka_unit_test(test_prefixes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
