/*
 * test_meta.c - the table of streams (meta.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trod/meta.h"

#include <stdio.h>
#include <string.h>

static void test_names_are_dense(void **state)
{
    struct trod_meta m;
    char name[16];

    (void)state;
    trod_meta_init(&m);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 1000; i++) {
            int n = snprintf(name, sizeof name, "cpu%d", i);

            assert_int_equal(trod_meta_stream(&m, name, (size_t)n), i);
        }
    assert_int_equal(m.n_streams, 1000);
    assert_string_equal(m.streams[17].name, "cpu17");
    assert_int_equal(m.streams[17].name_len, 5);
    assert_true(m.streams[17].tid == TROD_NOWHERE);
    trod_meta_fini(&m);
}

/* A prefix, an empty name and a name with NUL are names of their own. */
static void test_names_are_compared_whole(void **state)
{
    struct trod_meta m;

    (void)state;
    trod_meta_init(&m);
    assert_int_equal(trod_meta_stream(&m, "cpu1", 4), 0);
    assert_int_equal(trod_meta_stream(&m, "cpu10", 5), 1);
    assert_int_equal(trod_meta_stream(&m, "cpu", 3), 2);
    assert_int_equal(trod_meta_stream(&m, "", 0), 3);
    assert_int_equal(trod_meta_stream(&m, "cpu\0", 4), 4);
    assert_int_equal(trod_meta_stream(&m, "cpu10", 5), 1);
    trod_meta_fini(&m);
}

/* Threads are told apart by thread, process and file, and never taken for names. */
static void test_threads(void **state)
{
    struct trod_meta m;

    (void)state;
    trod_meta_init(&m);
    assert_int_equal(trod_meta_stream(&m, "7", 1), 0);
    assert_int_equal(trod_meta_thread(&m, 7, 1, 0), 1);
    assert_int_equal(trod_meta_thread(&m, 7, 2, 0), 2);
    assert_int_equal(trod_meta_thread(&m, 7, 1, 1), 3);
    assert_int_equal(trod_meta_thread(&m, 7, 1, 0), 1);
    assert_int_equal(trod_meta_stream(&m, "7", 1), 0);
    assert_string_equal(m.streams[2].name, "7");
    assert_int_equal(m.streams[2].pid, 2);
    trod_meta_fini(&m);
}

/* Damaged input may invent names without end: the table does not grow for ever. */
static void test_limit(void **state)
{
    struct trod_meta m;
    int rc = 0;

    (void)state;
    trod_meta_init(&m);
    for (uint64_t i = 0; i < TROD_STREAM_MAX; i++) {
        rc = trod_meta_thread(&m, i, 0, 0);
        if (rc < 0)
            break;
    }
    assert_int_equal(rc, TROD_STREAM_MAX - 1);
    assert_int_equal(trod_meta_thread(&m, TROD_STREAM_MAX, 0, 0), TROD_ERR_LIMIT);
    assert_int_equal(trod_meta_thread(&m, 5, 0, 0), 5);
    trod_meta_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_dense),
        cmocka_unit_test(test_names_are_compared_whole),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
