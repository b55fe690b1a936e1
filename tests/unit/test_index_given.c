/*
 * test_index_given.c - what a call stack tells that is given the calls of an index, while a part of
 * the trace is read from inside it on, is what one tells that was fed all rows before: on random
 * programs, of one file and of several.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "callstack/given.h"
#include "fewer.h"
#include "gen.h"
#include "nav_calls.h"
#include "nav_index.h"
#include "nav_symbols.h"
#include "testlib.h"
#include "trace/mark.h"
#include "trod/analysis.h"
#include "trod/callstack.h"

/* ---- what a sink is told, as text */

struct part_log {
    struct trod_buf text;
    bool on; /* rows of the part are fed */
};

static int part_enter(void *ctx, struct trod_frame *f)
{
    struct part_log *l = ctx;

    return !l->on
               ? 0
               : trod_buf_printf(&l->text,
                                 "stream %u file %u context %u depth %u kind %u sure %u%s row %llu "
                                 "time %llx pc "
                                 "%llx from %llx %llx in %llx\n",
                                 f->stream, f->file, f->context, f->depth, f->kind, f->sure,
                                 f->under ? " under" : "", (unsigned long long)f->entry.row,
                                 (unsigned long long)f->entry.time, (unsigned long long)f->entry.pc,
                                 (unsigned long long)(f->site.pc == TROD_NOWHERE ? 0 : f->site.row),
                                 (unsigned long long)f->site.pc,
                                 (unsigned long long)(f->depth ? f[-1].entry.row : TROD_NOWHERE));
}

static int part_leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    const bool open = end->how == TROD_FRAME_OPEN;
    struct part_log *l = ctx;

    return !l->on
               ? 0
               : trod_buf_printf(&l->text,
                                 "%llu at %llx of %u.%u ends: how %u sure %u last %llx row %llx\n",
                                 (unsigned long long)f->entry.row,
                                 (unsigned long long)f->entry.time, f->stream, f->context, end->how,
                                 end->sure, (unsigned long long)(open ? 0 : end->last.time),
                                 (unsigned long long)(open ? 0 : end->next.row));
}

static int part_rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                     struct trod_frame *f)
{
    struct part_log *l = ctx;
    int rc = 0;

    for (uint32_t i = from; l->on && rc == 0 && i < to; i++)
        rc = trod_buf_printf(&l->text, "%llu: %llx\n", (unsigned long long)b->first + i,
                             (unsigned long long)(f ? f->entry.row : TROD_NOWHERE));
    return rc;
}

/* That calls are followed with; NULL: none. */
static const struct trod_symbols *symbols;

/* What is told of the rows FROM to TO of T, all others before them fed first; by CALLS if given. */
static void part(struct trod_trace *t, uint64_t from, uint64_t to,
                 const struct trod_given_calls *calls, struct part_log *l,
                 struct trod_callstack_counts *counts)
{
    const struct trod_callstack_sink sink = {
        .ctx = l, .enter = part_enter, .leave = part_leave, .rows = part_rows};
    struct trod_callstack_counts before = {0};
    struct trod_callstack *c;
    struct trod_batch *b;

    assert_int_equal(trod_callstack_new(&c, &sink, symbols, false), 0);
    if (calls)
        assert_int_equal(trod_callstack_give(c, calls, TROD_ALL_STREAMS), 0);
    while (trod_trace_next(t, &b) > 0 && b->first <= to) {
        const uint32_t k = b->first >= from         ? 0
                           : from - b->first < b->n ? (uint32_t)(from - b->first)
                                                    : b->n;
        const uint32_t n = to - b->first < b->n ? (uint32_t)(to - b->first) + 1 : b->n;

        if (k)
            assert_int_equal(trod_callstack_feed(c, b, 0, k), 0);
        if (k)
            trod_callstack_count(c, &before);
        l->on = k < b->n;
        if (k < n)
            assert_int_equal(trod_callstack_feed(c, b, k, n), 0);
    }
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_count(c, counts);
    for (size_t i = 0; i < sizeof *counts / sizeof(uint64_t); i++)
        ((uint64_t *)(void *)counts)[i] -= ((const uint64_t *)(const void *)&before)[i];
    counts->instructions = counts->transfers = 0;
    trod_callstack_free(c);
}

/* Parts of PATHS by the index and without. Returns how many were read from inside the trace on. */
static unsigned same_parts(struct trod_gen *g, const char *const *paths, size_t n,
                           struct trod_callstack_counts *sum)
{
    struct trod_trace_options opt = {.struct_size = sizeof opt, .want = TROD_COL_ALL};
    struct trod_nav *nav = open_files(paths, n, false);
    unsigned inside = 0;
    uint64_t rows;

    assert_non_null(nav);
    trod_nav_follow(nav, symbols);
    assert_int_equal(trod_nav_count(nav, &rows), 0);
    for (unsigned i = 0; i < 12; i++) {
        const uint64_t from = 1 + gen_below(g, rows - 1), to = from + gen_below(g, rows - from);
        struct trod_callstack_counts want, got;
        struct part_log a = {.on = false}, b = {.on = false};
        struct trod_trace *t;
        uint64_t first;

        opt.begin = NULL;
        assert_int_equal(trod_trace_open(&t, paths, n, &opt, NULL), 0);
        part(t, from, to, NULL, &a, &want);
        trod_trace_close(t);
        opt.begin = trod_nav_begin(nav, from - 1, true, &first);
        if (opt.begin && trod_nav_begin_calls(nav)) {
            assert_true(first < from);
            assert_ptr_equal(opt.begin->symbols, symbols);
            assert_int_equal(trod_trace_open(&t, paths, n, &opt, NULL), 0);
            part(t, from, to, opt.begin->calls, &b, &got);
            trod_trace_close(t);
            assert_same_text(paths[0], &a.text, &b.text);
            assert_memory_equal(&want, &got, sizeof got);
            trod_callstack_counts_add(sum, &got);
            inside += first > 0;
        }
        trod_buf_fini(&a.text);
        trod_buf_fini(&b.text);
    }
    trod_nav_close(nav);
    return inside;
}

static void test_parts(void **state)
{
    struct nav_files f = nav_files_new(NAV_FILES, ".tarmac");
    char *elf = test_path(f.dir, "functions");
    struct trod_callstack_counts sum = {0};
    unsigned inside = 0;

    (void)state;
    for (unsigned seed = 0; seed < test_fewer(16, 4); seed++) {
        struct trod_gen g = gen_seed(900 + seed);
        const size_t n = seed % 2 ? NAV_FILES : 1;

        const struct trod_input_options input = {0};
        struct nav_build_options opt = {
            .block_rows = 20 + 31 * seed, .segment = 1 + seed % 5, .apart = 1, .jobs = 1};
        struct trod_symbols *own = seed % 4 < 2 ? NULL : random_functions(&g, elf);
        char where[4096];

        for (size_t i = 0; i < n; i++)
            save_program(&g, 500 + 150 * seed, true, f.path[i]);
        symbols = opt.symbols = own;
        assert_true(index_with(f.path, n, &opt, &input, where));
        inside += same_parts(&g, f.path, n, &sum);
        symbols = NULL;
        trod_symbols_free(own);
    }
    free(elf);
    assert_true(inside > test_fewer(100, 25));
    for (unsigned i = 0; i < TROD_FRAME_KINDS; i++)
        assert_true(sum.entered[i] > 0);
    for (unsigned i = 0; i < TROD_FRAME_ENDS; i++)
        assert_true(sum.left[i] > 0);
    assert_true(sum.switches > 0 && sum.unmatched > 0);
    nav_files_free(&f);
}

/* Where times fall, it is not known what they were at most: nor are the calls then. */
static void test_times(void **state)
{
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];

    (void)state;
    for (unsigned falls = 0; falls < 2; falls++) {
        struct trod_buf text = {0};
        struct trod_nav *nav;
        uint64_t first;

        for (unsigned i = 1; i < 300; i++)
            trod_buf_printf(&text, "%u clk IT (%u) 1000 94000004 O EL1h_n : x\n",
                            falls && i == 50 ? 7 : i, i);
        test_save(path, text.p, text.n);
        assert_true(index_files(f.path, 1, 100, 2, 0));
        nav = open_nav(path, false);
        assert_non_null(nav);
        assert_non_null(trod_nav_begin(nav, 250, false, &first));
        assert_true(first > 0);
        assert_int_equal(trod_nav_begin_calls(nav), !falls);
        trod_nav_close(nav);
        trod_buf_fini(&text);
    }
    nav_files_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
