/*
 * test_zeroed.c - memory for large tables and arrays (core/zeroed.h): zero at first, of any size,
 * and kept where an array becomes larger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/zeroed.h"
#include "trod/types.h"

static void check_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            fail_msg("byte %zu of %zu is not zero", i, n);
}

/* Sizes around those where memory comes from somewhere else, twice each: used memory comes back. */
static void tables(void **state)
{
    static const size_t sizes[] = {1,       4095,    131071,  131072,  131073, 1 << 20,
                                   2097151, 2097152, 2097153, 5000000, 1 << 23};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i / 2];
        unsigned char *p = trod_zeroed_new(n);

        assert_non_null(p);
        check_zero(p, n);
        memset(p, 0xff, n);
        trod_zeroed_free(p, n);
    }
    trod_zeroed_free(NULL, 1);
    trod_zeroed_free(NULL, 1 << 22);
    assert_null(trod_zeroed_new(SIZE_MAX));
    assert_null(trod_zeroed_new(SIZE_MAX / 2 + 1));
}

/* From nothing to 8 MiB, element by element asked for, each written once. */
static void arrays(void **state)
{
    uint64_t *p = NULL;
    size_t have = 0, times = 0;

    (void)state;
    for (size_t n = 1; n <= 1 << 20; n++) {
        const size_t had = have;

        assert_int_equal(trod_zeroed_room(&p, &have, n, sizeof *p), TROD_OK);
        assert_true(have >= n);
        if (have != had) {
            times++;
            for (size_t i = 0; i < n - 1; i++)
                assert_true(p[i] == i + 1);
            check_zero((unsigned char *)(p + n - 1), (have - n + 1) * sizeof *p);
        }
        p[n - 1] = n;
    }
    assert_true(times < 16);
    trod_zeroed_free(p, have * sizeof *p);
}

/* Where there is no room nothing has changed. */
static void no_room(void **state)
{
    uint32_t *p = NULL;
    size_t have = 0;

    (void)state;
    assert_int_equal(trod_zeroed_room(&p, &have, 1 << 16, sizeof *p), TROD_OK);
    p[12345] = 99;
    assert_int_equal(trod_zeroed_room(&p, &have, SIZE_MAX, sizeof *p), TROD_ERR_NOMEM);
    assert_int_equal(trod_zeroed_room(&p, &have, SIZE_MAX / 8, sizeof *p), TROD_ERR_NOMEM);
    assert_int_equal(have, 1 << 16);
    assert_int_equal(p[12345], 99);
    trod_zeroed_free(p, have * sizeof *p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables), cmocka_unit_test(arrays),
                                       cmocka_unit_test(no_room)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
