/*
 * test_index_memory.c - what blocks leave in memory, as the index keeps it: bytes against the
 * oracle that looks at every event; marks; and how much is read for an answer.
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
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];

    (void)state;
    for (unsigned seed = 0; seed < 12; seed++) {
        struct trod_gen g = gen_seed(2000 + seed);
        struct trod_nav_byte got[256];
        struct trod_nav *nav;
        struct events es;

        events_make(&es, &g, 900, seed % 4 == 3);
        test_save(path, es.text.p, es.text.n);
        assert_true(index_files(f.path, 1, 3 + 11 * (seed / 3), 1 + seed, most[seed % 3]));
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
    nav_files_free(&f);
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

/* What was touched between two places: of the blocks between none is read. */
static void touch_far(struct trod_nav *nav, const char *path)
{
    struct trod_nav *slow = open_nav(path, true);
    struct trod_nav_run *run;
    size_t n;

    batches = 0;
    assert_int_equal(trod_nav_touched(nav, 130, 6250, &run, &n), 0);
    free(run);
    assert_in_range(batches, 0, 2 * NAV_STEPS);
    assert_int_equal(same_touched(nav, slow, 130, 6250), 63 * 8);
    trod_nav_close(slow);
}

/* However far back a byte was written last: one block is read, that of the place. */
static void test_reach(void **state)
{
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];
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
        assert_true(index_files(f.path, 1, 100, 5, kept ? 0 : 1));
        assert_int_equal(trod_nav_open(&nav, f.path, 1, &opt, NULL), 0);
        assert_int_equal(memory_blocks(nav), kept ? 64 : 0);
        batches = 0;
        assert_int_equal(trod_nav_memory(nav, 6399, 0x8000, 4096, got), 0);
        for (unsigned k = 0; k < 64; k++) {
            assert_int_equal(got[64 * k].from, TROD_NAV_WRITTEN);
            assert_int_equal(got[64 * k].value, k + 1);
            assert_int_equal(got[64 * k].row, 100 * k + 50);
        }
        /* at the end of a block nothing has to be read at all */
        assert_in_range(batches, kept ? 0 : 64, kept ? 0 : 64 * NAV_STEPS);
        batches = 0;
        assert_int_equal(trod_nav_memory(nav, 6310, 0x8000, 4096, got), 0);
        assert_int_equal(got[0].row, 50);
        assert_int_equal(got[64 * 63].from, TROD_NAV_UNKNOWN);
        assert_in_range(batches, 1, kept ? 2 : 64 * NAV_STEPS);
        touch_far(nav, path);
        trod_nav_close(nav);
    }
    trod_buf_fini(&text);
    nav_files_free(&f);
}

/* Row TEXT names, by NAV; TROD_NOWHERE: none. *READ: batches that it took. */
static uint64_t place(struct trod_nav *nav, const char *text, unsigned *read)
{
    uint64_t row = 0;
    int rc;

    batches = 0;
    rc = trod_nav_place(nav, text, &row);
    *read = batches;
    assert_true(rc == 0 || rc == 1);
    return rc ? row : TROD_NOWHERE;
}

/* Markers, exceptions: however far away, only blocks that have them are read. */
static void test_marks(void **state)
{
    static const struct {
        const char *text;
        uint64_t row;
        unsigned most; /* batches that may be read for it */
    } places[] = {{"kind:EXCEPTION", 2070, 2},
                  {"kind:EXCEPTION:3", 5070, 2},
                  {"kind:exception:5", 0, 0},
                  {"kind:TLB", 0, 0},
                  {"marker:7", 1011, 2},
                  {"marker:7:3", 4011, 2},
                  {"marker:7:4", 4012, 2},
                  {"marker:7:5", 0, 0},
                  {"marker:7=0x10:3", 4011, 6},
                  {"marker:7=17", 4012, 6},
                  {"marker:7=18", 0, 6},
                  {"marker:5:60", 5933, 2},
                  {"marker:=17", 4012, 200},
                  {"marker:here", 1011, 200},
                  {"marker:Here:3", 4011, 200},
                  {"marker:here=17:2", 0, 200},
                  {"marker:0:2", 0, 0},
                  {"kind:MARKER:13", 1033, 2},
                  {"marker:nothing like this", 0, 200}};
    struct nav_files f = nav_files_new(1, ".csv");
    const char *const path = f.path[0];
    const struct trod_nav_options opt = {.struct_size = sizeof opt, .tick = count_batch};
    struct trod_buf text = {0};
    struct trod_nav *nav, *slow;

    (void)state;
    trod_buf_printf(&text, "kind,addr,size,value,text,sub\n");
    /* 64 blocks; marker 5 in all, marker 7 in blocks 10 and 40, exceptions in 20 and 50 */
    for (unsigned row = 0; row < 6400; row++) {
        const unsigned block = row / 100, i = row % 100;

        if ((block == 10 || block == 40) && (i == 11 || i == 12))
            trod_buf_printf(&text, "MARKER,,,%#x,here,7\n", 16 + (row == 4012));
        else if (i == 33)
            trod_buf_printf(&text, "MARKER,,,%#x,,5\n", block + 1000);
        else if ((block == 20 || block == 50) && (i == 70 || i == 71))
            trod_buf_printf(&text, "EXCEPTION,,,1,,\n");
        else
            trod_buf_printf(&text, "READ,%#x,8,,,\n", 0x8000 + 64 * i);
    }
    test_save(path, text.p, text.n);
    assert_true(index_files(f.path, 1, 100, 5, 0));
    assert_int_equal(trod_nav_open(&nav, f.path, 1, &opt, NULL), 0);
    assert_non_null(trod_nav_index(nav));
    slow = open_nav(path, true);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const uint64_t want = places[i].row ? places[i].row : TROD_NOWHERE;
        unsigned read, all;

        assert_int_equal(place(nav, places[i].text, &read), want);
        assert_int_equal(place(slow, places[i].text, &all), want);
        assert_in_range(read, 0, places[i].most);
    }
    trod_nav_close(slow);
    trod_nav_close(nav);
    trod_buf_fini(&text);
    nav_files_free(&f);
}

/*
 * Too much is touched between two places, or nearly: what accesses that leave nothing pass over
 * does not count, and rows are read for it only where lists do not say so.
 */
static void test_too_much(void **state)
{
    enum { MOST = TROD_NAV_MEMORY / 64 };
    static const struct {
        uint64_t written, aborted; /* lines; ABORTED accesses come first */
        const char *word;
        int rc;
    } cases[] = {
        {MOST + 1000, 0, "MW8", TROD_ERR_LIMIT},
        {MOST + 1000, 0, "MR8", TROD_ERR_LIMIT},
        {MOST + 1000, 10, "MW8", TROD_ERR_LIMIT},
        {MOST - 1000, 2000, "MW8", TROD_OK},
    };
    struct nav_files f = nav_files_new(1, ".tarmac");

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct trod_nav *with, *without;
        struct trod_nav_run *a, *b;
        struct trod_buf text = {0};
        uint64_t rows = cases[k].aborted;
        size_t n, m;

        for (uint64_t i = 0; i < rows; i++)
            trod_buf_printf(&text, "1 clk MR4 %08x (ABORTED)\n", 0x10000000 + 64 * (unsigned)i);
        for (uint64_t i = 0; i < cases[k].written; i++, rows++)
            trod_buf_printf(&text, "1 clk %s %016x %016x\n", cases[k].word, 64 * (unsigned)i,
                            (unsigned)i);
        test_save(f.path[0], text.p, text.n);
        trod_buf_fini(&text);
        assert_true(index_files(f.path, 1, 4000, 9, 1));
        with = open_nav(f.path[0], false);
        assert_int_equal(trod_nav_touched(with, 0, rows - 1, &a, &n), cases[k].rc);
        without = open_nav(f.path[0], true);
        assert_int_equal(trod_nav_touched(without, 0, rows - 1, &b, &m), cases[k].rc);
        assert_int_equal(n, m);
        if (n)
            assert_memory_equal(a, b, n * sizeof *a);
        free(a);
        free(b);
        trod_nav_close(with);
        trod_nav_close(without);
    }
    nav_files_free(&f);
}

/*
 * The lists of an index say that failed writes are writes. Bytes that only those touch since are
 * looked for farther back, in the same segment and in those before.
 */
static void test_failed_writes(void **state)
{
    enum { ROWS = 2000, AT = 0x8000, BYTES = 192 };
    struct nav_files f = nav_files_new(1, ".tarmac");
    struct trod_nav_byte got[BYTES], want[BYTES];

    (void)state;
    for (unsigned seed = 0; seed < 8; seed++) {
        struct trod_gen g = gen_seed(7100 + seed);
        struct trod_buf text = {0};
        struct trod_nav *with, *without;

        for (unsigned i = 0; i < ROWS; i++) {
            const unsigned at = AT + (unsigned)(gen_u64(&g) % (BYTES / 8)) * 8;

            if (i < ROWS / 4 || gen_u64(&g) % 16 == 0) /* later ones fail, as a rule */
                trod_buf_printf(&text, "1 clk MW8 %08x %016x\n", at, i);
            else
                trod_buf_printf(&text, "1 clk MW8 %08x (ABORTED)\n", at);
        }
        test_save(f.path[0], text.p, text.n);
        trod_buf_fini(&text);
        assert_true(index_files(f.path, 1, 20 + 30 * (seed % 4), 5 + 60 * (seed / 4), 0));
        with = open_nav(f.path[0], false);
        without = open_nav(f.path[0], true);
        assert_non_null(trod_nav_index(with));
        for (unsigned i = 0; i < 60; i++) {
            const uint64_t row = gen_u64(&g) % ROWS;

            assert_int_equal(trod_nav_memory(with, row, AT, BYTES, got), 0);
            assert_int_equal(trod_nav_memory(without, row, AT, BYTES, want), 0);
            for (unsigned k = 0; k < BYTES; k++) {
                assert_int_equal(got[k].value, want[k].value);
                assert_int_equal(got[k].row, want[k].row);
                assert_int_equal(got[k].from, want[k].from);
            }
        }
        trod_nav_close(with);
        trod_nav_close(without);
    }
    nav_files_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_reach),
        cmocka_unit_test(test_too_much), cmocka_unit_test(test_failed_writes),
        cmocka_unit_test(test_marks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
