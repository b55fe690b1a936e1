/*
 * test_drm_pass.c - a plain drmemtrace file decoded in parts gives the rows and problems of one
 * decoder (passing.h).
 *
 * Random traces of every version, width and mixture of entries, and long rows of plain entries; the
 * columns that counting wants and all of them.
 */
#include "drm.h"
#include "passing.h"

enum {
    LEAN = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
           TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_TIME,
    X86_64 = 0x40,
    ENCODINGS = 0x200
};

static const struct trod_format *drmemtrace(void)
{
    return trod_format_find("drmemtrace", 10);
}

static void test_random(void **state)
{
    struct trod_gen g = gen_seed(31);

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        const struct drm_random how = {
            .width = i % 4 == 3 ? 8 : 12,
            .version = 2 + (unsigned)gen_below(&g, 5),
            .filetype = (i % 2 ? ENCODINGS : 0) | (i % 3 ? X86_64 : 0),
            .chunk = i % 5 ? 0 : 300,
            .threads = 1 + (unsigned)gen_below(&g, 3),
            .bundles = i % 7 == 0,
            .wild = i % 3 == 0,
        };
        struct trod_buf b = {0};

        drm_random(&g, &how, 3000, &b, NULL, NULL);
        parts(&g, drmemtrace(), &b, i % 2 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
              i % 4 ? 4000 : b.n / 3);
        trod_buf_fini(&b);
    }
    assert_true(compared >= 40 && passed_over > 200 && rested > 200);
    assert_int_equal(waited, 0);
}

/* The head of a trace of FILETYPE, of one thread. */
static void head(struct trod_buf *b, uint64_t filetype)
{
    drm_put(b, 12, 25, 0, 6);
    drm_put(b, 12, 28, 12, 6);
    drm_put(b, 12, 28, 9, filetype);
    drm_put(b, 12, 22, 0, 7);
    drm_put(b, 12, 24, 0, 7);
}

/* Long rows of entries of which one in RARE is none for the hot loop, or has no size. */
static void test_plain(void **state)
{
    static const uint8_t types[] = {0, 1, 2, 3, 10, 10, 10, 11, 12, 13, 14, 15, 16, 27, 29, 48, 49};
    struct trod_gen g = gen_seed(32);

    (void)state;
    compared = passed_over = 0;
    for (unsigned k = 0; k < 30; k++) {
        const uint64_t rare = 1 + gen_below(&g, 300), none = k % 3 ? 0 : 40;
        struct trod_buf b = {0};

        head(&b, X86_64 | (k % 2 ? ENCODINGS : 0));
        drm_put(&b, 12, 28, 2, 1000);
        drm_put(&b, 12, 28, 3, 1);
        for (unsigned i = 0; i < 4000; i++) {
            const uint64_t addr = 0x400000 + gen_below(&g, 600) + (gen_below(&g, 20) << 20);
            const unsigned size =
                none && gen_once_in(&g, none) ? 0 : 1 + (unsigned)gen_below(&g, 8);

            if (!gen_once_in(&g, rare)) {
                /* now and then nothing but data */
                drm_put(&b, 12, types[gen_below(&g, i / 700 % 2 ? 4 : sizeof types)], size, addr);
                continue;
            }
            drm_put(&b, 12, 28, 2, 1000 + i);
            drm_put(&b, 12, 47, 1 + size % 8, gen_u64(&g));
            drm_put(&b, 12, 10, 1 + size % 8, addr);
            if (gen_once_in(&g, 5))
                drm_put(&b, 12, 22, 0, 7 + gen_below(&g, 3));
        }
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, drmemtrace(), &b, k % 4 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, 9000);
        trod_buf_fini(&b);
    }
    assert_true(compared == 30 && passed_over > 150);
    assert_true(shown > 10000 && hidden > 10000);
    assert_int_equal(waited, 0);
}

/*
 * The target of an indirect branch that comes only after a long row of other instructions: what
 * is hidden of that row in an outline would take it.
 */
static void test_late_branch(void **state)
{
    enum { BRANCH_TARGET = 29, INDIRECT = 12 };
    struct trod_gen g = gen_seed(35);

    (void)state;
    compared = 0;
    for (unsigned k = 0; k < 20; k++) {
        struct trod_buf b = {0};

        head(&b, X86_64);
        for (unsigned i = 0; i < 2000; i++) {
            if (i % 500 == 100)
                drm_put(&b, 12, 28, BRANCH_TARGET, 0x1234 + i);
            drm_put(&b, 12, i % 500 == 400 || i % 500 == 450 ? INDIRECT : 10, 4, 0x400000 + 4 * i);
        }
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, drmemtrace(), &b, TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, b.n / 2);
        trod_buf_fini(&b);
    }
    assert_in_range(compared, 1, 19);
    assert_int_equal(waited, 0);
}

/*
 * Instructions that all came before, in long rows: a part gets to know so many within a group that
 * its table grows there.
 */
static void test_inherited(void **state)
{
    enum { PLACES = 700 };
    struct trod_gen g = gen_seed(33);

    (void)state;
    compared = 0;
    for (unsigned k = 0; k < 10; k++) {
        struct trod_buf b = {0};

        head(&b, X86_64 | ENCODINGS);
        for (unsigned i = 0; i < PLACES; i++) {
            drm_put(&b, 12, 47, 4, gen_u64(&g) & UINT32_MAX);
            drm_put(&b, 12, 10, 4, 0x400000 + 4 * i);
        }
        for (unsigned i = 0; i < 4 * PLACES; i++)
            drm_put(&b, 12, 10, 4, 0x400000 + 4 * gen_below(&g, PLACES));
        drm_put(&b, 12, 23, 0, 7);
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, drmemtrace(), &b, k % 2 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
              b.n / 3);
        trod_buf_fini(&b);
    }
    assert_int_equal(compared, 10);
    assert_int_equal(waited, 0);
}

/* The last row brings its encoding and stands behind a footer: the trace has no end. */
static void test_no_footer(void **state)
{
    struct trod_gen g = gen_seed(34);
    struct list rows = {0}, problems = {0};
    struct trod_buf b = {0};
    struct decoder d;

    (void)state;
    head(&b, X86_64 | ENCODINGS);
    for (unsigned i = 0; i < 2; i++) {
        drm_put(&b, 12, 47, 4, 0x90909090);
        drm_put(&b, 12, 10, 4, 0x400000 + 4 * i);
        if (i == 0)
            drm_put(&b, 12, 26, 0, 0);
    }
    begin(&d, drmemtrace(), &b, LEAN, &problems);
    (void)go(&d, &g, b.n, 1 << 20, &rows);
    assert_int_equal(problems.n, 1);
    end(&d);
    free(rows.item);
    free(problems.item);
    trod_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_plain),
        cmocka_unit_test(test_late_branch), cmocka_unit_test(test_inherited),
        cmocka_unit_test(test_no_footer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
