/*
 * test_zeroed.c - memory for large tables and arrays (core/zeroed.h): zero at first, of any size,
 * and kept where an array becomes larger; memory that is kept for who wants it next (core/spare.h,
 * core/recent.h): zero again where that is promised.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/recent.h"
#include "core/spare.h"
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

/* Blocks of all sizes are given back full, and taken again. */
static void spares(void **state)
{
    static const size_t sizes[] = {1, 131071, 131072, 1 << 20, (1 << 20) + 1, 5000000};
    enum { N = 3 };

    (void)state;
    for (size_t i = 0; i < 3 * sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i / 3];
        unsigned char *p[N];

        for (unsigned k = 0; k < N; k++) {
            p[k] = i % 3 == 1 ? trod_spare_take(n) : trod_spare_zeroed(n);
            assert_non_null(p[k]);
            if (i % 3 != 1)
                check_zero(p[k], n);
            memset(p[k], 0xff, n);
        }
        for (unsigned k = 0; k < N; k++)
            trod_spare_give(p[k], n);
    }
    trod_spare_give(NULL, 1);
    trod_spare_give(NULL, 1 << 22);
}

/* Blocks that this thread has are written by no other one. */
static void *take_turns(void *number)
{
    static const size_t sizes[] = {131072, 140000, 1 << 18, (1 << 18) + 1};
    const unsigned char mark = *(const unsigned char *)number;
    unsigned char *p[4];
    uintptr_t wrong = 0;

    for (unsigned round = 0; round < 200; round++) {
        for (unsigned k = 0; k < 4; k++) {
            p[k] = round % 2 ? trod_spare_take(sizes[k]) : trod_spare_zeroed(sizes[k]);
            if (!p[k])
                return (void *)(uintptr_t)1;
            for (size_t i = 0; i < sizes[k]; i += 997) {
                wrong += round % 2 == 0 && p[k][i] != 0;
                p[k][i] = mark;
            }
        }
        for (unsigned k = 0; k < 4; k++) {
            for (size_t i = 0; i < sizes[k]; i += 997)
                wrong += p[k][i] != mark;
            trod_spare_give(p[k], sizes[k]);
        }
    }
    return (void *)wrong;
}

/* Threads that end leave what they kept to others. */
static void spares_of_threads(void **state)
{
    enum { N = 6 };
    unsigned char number[N];
    pthread_t thread[N];

    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned k = 0; k < N; k++) {
            number[k] = (unsigned char)(k + 1);
            assert_int_equal(pthread_create(&thread[k], NULL, take_turns, &number[k]), 0);
        }
        for (unsigned k = 0; k < N; k++) {
            void *wrong;

            pthread_join(thread[k], &wrong);
            assert_null(wrong);
        }
        assert_null(take_turns(&number[0]));
    }
}

/* More tables of addresses than are kept, each with something else in it, three times. */
static void recents(void **state)
{
    enum { N = 11 };
    struct trod_recent *t[N];

    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned k = 0; k < N; k++) {
            t[k] = trod_recent_new();
            assert_non_null(t[k]);
            check_zero((const unsigned char *)t[k], TROD_RECENT * sizeof *t[k]);
            for (uint64_t i = 0; i < 1u << k; i++) /* the last has all of its words */
                trod_recent_put(t[k], i * 4099 * 64, k, k % 2 ? UINT64_MAX : 1);
            for (uint64_t i = 0; k == N - 1 && i < TROD_RECENT; i++)
                trod_recent_put(t[k], i * 64, k, UINT64_C(1) << (i & 63));
        }
        for (unsigned k = 0; k < N; k++)
            trod_recent_free(t[k]);
    }
    trod_recent_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables),
                                       cmocka_unit_test(arrays),
                                       cmocka_unit_test(no_room),
                                       cmocka_unit_test(spares),
                                       cmocka_unit_test(spares_of_threads),
                                       cmocka_unit_test(recents)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
