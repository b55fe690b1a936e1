/*
 * test_index_jobs.c - an index is the same, byte for byte, whatever the number of threads that make
 * it and however the bytes of its trace come in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nav_events.h"
#include "nav_index.h"
#include "testlib.h"
#include "trod/format.h"

/* Threads, and bytes that the input decodes at a time (0: as it likes), by one more thread or not.
 */
static const struct way {
    unsigned jobs;
    uint32_t window;
    bool no_thread;
} ways[] = {{1, 0, true}, {1, 4096, true}, {2, 0, false}, {3, 70000, true}, {5, 1 << 16, false}};

enum { WAYS = sizeof ways / sizeof *ways };

/* All ways to an index of PATHS lead to the same. False: it cannot be read. */
static bool same(const char *const *paths, size_t n, struct nav_build_options opt)
{
    struct trod_buf first = {0};

    for (unsigned i = 0; i < WAYS; i++) {
        const struct trod_input_options input = {.window = ways[i].window,
                                                 .no_thread = ways[i].no_thread};
        struct trod_buf bytes;
        char where[4096];

        opt.jobs = ways[i].jobs;
        if (!index_with(paths, n, &opt, &input, where))
            return false;
        bytes = test_load(where);
        if (i == 0) {
            first = bytes;
            continue;
        }
        if (bytes.n != first.n || memcmp(bytes.p, first.p, first.n) != 0)
            fail_msg("%s: with %u threads and a window of %u the index is another", paths[0],
                     ways[i].jobs, ways[i].window);
        trod_buf_fini(&bytes);
    }
    trod_buf_fini(&first);
    return true;
}

/* Blocks end inside windows and where windows end, segments by number and by what they hold. */
static void test_random(void **state)
{
    static const struct nav_build_options opts[] = {
        {.block_rows = 1000, .segment = 3}, {.block_rows = 37, .segment = 200}, {.block_rows = 0}};
    char *dir = test_tmpdir(), *path = test_path(dir, "random.tarmac");
    const char *paths[] = {path};

    (void)state;
    for (unsigned i = 0; i < sizeof opts / sizeof *opts; i++) {
        struct trod_gen g = gen_seed(4000 + i);
        struct events es;

        events_make(&es, &g, i == 2 ? 40000 : 9000, i % 2);
        test_save(path, es.text.p, es.text.n);
        assert_true(same(paths, 1, opts[i]));
        events_fini(&es);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

/* Files of a trace: blocks end with them, streams and calls of one are over. */
static void test_several(void **state)
{
    char *dir = test_tmpdir(), *path[3];
    const char *paths[3];
    struct trod_gen g = gen_seed(4100);
    struct events es;

    (void)state;
    events_make(&es, &g, 3000, true);
    for (size_t i = 0, from = 0, to; i < 3; i++, from = to) {
        char name[32];

        snprintf(name, sizeof name, "%zu.tarmac", i);
        paths[i] = path[i] = test_path(dir, name);
        for (to = es.text.n * (i + 1) / 3; es.text.p[to - 1] != '\n';)
            to++;
        test_save(path[i], es.text.p + from, to - from);
    }
    assert_true(same(paths, 3, (struct nav_build_options){.block_rows = 400, .segment = 2}));
    events_fini(&es);
    test_remove(dir);
    for (unsigned i = 0; i < 3; i++)
        free(path[i]);
    free(dir);
}

static void test_golden(void **state)
{
    char *dir = test_tmpdir(), root[4096];
    unsigned files = 0;

    (void)state;
    for (size_t f = 0; trod_format_at(f); f++) {
        struct test_list list;

        snprintf(root, sizeof root, "%s/tests/golden/%s", test_source_dir(),
                 trod_format_at(f)->name);
        list = test_files(root);
        for (size_t i = 0; i < list.n; i++) {
            char *from = test_path(root, list.name[i]), *to = test_path(dir, list.name[i]);
            const char *paths[] = {to};
            struct trod_buf bytes = test_load(from);

            test_save(to, bytes.p, bytes.n);
            if (bytes.n < 1 << 20)
                files += same(paths, 1, (struct nav_build_options){.block_rows = 40, .segment = 4});
            trod_buf_fini(&bytes);
            free(from);
            free(to);
        }
        test_list_free(&list);
    }
    assert_in_range(files, 10, 10000);
    test_remove(dir);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_golden),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
