/*
 * test_index_memory.c - what blocks leave in memory, as the index keeps it: bytes against the
 * oracle that looks at every event, and how much is read for an answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nav_events.h"
#include "nav_index.h"
#include "testlib.h"

/* How many blocks leave what is known. */
static uint64_t memory_blocks(const struct trod_nav *nav)
{
    struct trod_index_info x;

    assert_true(trod_index_about(nav, &x));
    assert_in_range(x.memory_blocks, 0, x.blocks);
    return x.memory_blocks;
}

/* What all, some and none of the blocks leave in memory is in the index. */
static void test_memory(void **state)
{
    static const uint64_t most[] = {0, 350, 1};
    char *dir = test_tmpdir(), *path = test_path(dir, "random.tarmac");
    const char *paths[] = {path};

    (void)state;
    for (unsigned seed = 0; seed < 12; seed++) {
        struct trod_gen g = gen_seed(2000 + seed);
        struct trod_nav_byte got[256];
        struct trod_nav *nav;
        struct events es;

        events_make(&es, &g, 900, seed % 4 == 3);
        test_save(path, es.text.p, es.text.n);
        assert_true(index_files(paths, 1, 3 + 11 * (seed / 3), 1 + seed, most[seed % 3]));
        nav = open_nav(path, false);
        assert_non_null(trod_nav_index(nav));
        if (seed % 3 == 0)
            assert_int_equal(memory_blocks(nav), nav->index->n_blocks);
        if (seed % 3 == 2)
            assert_in_range(memory_blocks(nav), 0, nav->index->n_blocks - 1);
        for (unsigned i = 0; i < 40; i++) {
            const uint64_t row = gen_u64(&g) % es.n, some = es.at[gen_u64(&g) % es.n].addr,
                           addr = (some ? some : 0x8000) - gen_u64(&g) % 128;

            assert_int_equal(trod_nav_memory(nav, row, addr, 256, got), 0);
            for (unsigned k = 0; k < 256; k++) {
                const struct trod_nav_byte want = events_byte(&es, row, addr + k);

                assert_int_equal(got[k].from, want.from);
                assert_int_equal(got[k].value, want.value);
                assert_int_equal(got[k].row, want.row);
                assert_int_equal(got[k].since, want.since);
            }
        }
        trod_nav_close(nav);
        events_fini(&es);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

/* Batches that are read. */
static unsigned batches;

static int count_batch(void *user, uint64_t row)
{
    (void)user;
    (void)row;
    batches++;
    return TROD_OK;
}

/* However far back a byte was written last: one block is read, that of the place. */
static void test_reach(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac");
    const char *paths[] = {path};
    const struct trod_nav_options opt = {.struct_size = sizeof opt, .tick = count_batch};
    struct trod_nav_byte got[4096];
    struct trod_buf text = {0};
    struct trod_nav *nav;

    (void)state;
    /* line k of 64 is written in block k, read in all blocks behind it; 4096 bytes, block by block
     */
    for (unsigned block = 0; block < 64; block++)
        for (unsigned i = 0; i < 100; i++)
            if (i == 50)
                trod_buf_printf(&text, "1 clk MW8 %016x %016x\n", 0x8000 + 64 * block, block + 1);
            else
                trod_buf_printf(&text, "1 clk MR8 %016x %016x\n", 0x8000 + 64 * (i * block / 100),
                                i * block / 100 + 1);
    test_save(path, text.p, text.n);
    for (unsigned kept = 0; kept < 2; kept++) {
        assert_true(index_files(paths, 1, 100, 5, kept ? 0 : 1));
        assert_int_equal(trod_nav_open(&nav, paths, 1, &opt, NULL), 0);
        assert_int_equal(memory_blocks(nav), kept ? 64 : 0);
        batches = 0;
        assert_int_equal(trod_nav_memory(nav, 6399, 0x8000, 4096, got), 0);
        for (unsigned k = 0; k < 64; k++) {
            assert_int_equal(got[64 * k].from, TROD_NAV_WRITTEN);
            assert_int_equal(got[64 * k].value, k + 1);
            assert_int_equal(got[64 * k].row, 100 * k + 50);
        }
        /* at the end of a block nothing has to be read at all */
        assert_in_range(batches, kept ? 0 : 64, kept ? 0 : 200);
        batches = 0;
        assert_int_equal(trod_nav_memory(nav, 6310, 0x8000, 4096, got), 0);
        assert_int_equal(got[0].row, 50);
        assert_int_equal(got[64 * 63].from, TROD_NAV_UNKNOWN);
        assert_in_range(batches, 1, kept ? 2 : 200);
        trod_nav_close(nav);
    }
    trod_buf_fini(&text);
    test_remove(dir);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_reach),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
