/*
 * test_index_calls_from.c - what an index tells of the calls of a stream from any row on is what
 * following all rows finds, on random programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fewer.h"
#include "gen.h"
#include "nav_calls.h"
#include "nav_index.h"
#include "navigate/calls.h"
#include "testlib.h"
#include "trod/callstack.h"

enum { MOST = 4096 }; /* rows */

/* What happens, and which stack each row belongs to. */
struct history {
    struct happened {
        uint64_t row, instruction, pc;
        uint32_t stream, context, depth;
        bool ends;
    } at[4 * MOST];
    size_t n;
    uint32_t context[MOST][3]; /* of each stream, from that row on */
    uint64_t rows, fed;
    bool open; /* the trace has ended */
};

static int note(struct history *h, const struct trod_frame *f, const struct trod_moment *at,
                bool ends)
{
    assert_true(h->n < sizeof h->at / sizeof *h->at && f->stream < 3);
    h->at[h->n++] = (struct happened){.row = h->open && at->row < h->rows ? h->rows : at->row,
                                      .instruction = at->instruction,
                                      .pc = ends ? 0 : f->entry.pc,
                                      .stream = f->stream,
                                      .context = f->context,
                                      .depth = f->depth,
                                      .ends = ends};
    return 0;
}

static int note_enter(void *ctx, struct trod_frame *f)
{
    return note(ctx, f, &f->entry, false);
}

static int note_leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    return note(ctx, f, &end->next, true);
}

static int note_rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                     struct trod_frame *f)
{
    struct history *h = ctx;

    (void)b;
    for (uint32_t i = from; f && i < to; i++)
        for (uint64_t row = h->fed + i; row < MOST; row++)
            h->context[row][f->stream] = f->context;
    return 0;
}

static void read_history(const char *path, struct history *h)
{
    const struct trod_trace_options opt = {.struct_size = sizeof opt, .want = TROD_COL_ALL};
    const struct trod_callstack_sink sink = {
        .ctx = h, .enter = note_enter, .leave = note_leave, .rows = note_rows};
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_trace *t;

    assert_int_equal(trod_trace_open(&t, &path, 1, &opt, NULL), 0);
    assert_int_equal(trod_callstack_new(&c, &sink, NULL, false), 0);
    while (trod_trace_next(t, &b) > 0) {
        h->fed = h->rows;
        assert_int_equal(trod_callstack_feed(c, b, 0, b->n), 0);
        h->rows += b->n;
    }
    h->open = true;
    assert_in_range(h->rows, 1, MOST);
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_free(c);
    trod_trace_close(t);
}

/* What is told, against the history from AT on. */
struct telling {
    const struct history *h;
    size_t at, left; /* events of the history; events until it is enough */
    uint64_t row;
    uint32_t stream, context;
};

static bool more(struct telling *t)
{
    while (t->at < t->h->n) {
        const struct happened *e = &t->h->at[t->at];

        if (e->row >= t->row && e->stream == t->stream && e->context == t->context)
            return true;
        t->at++;
    }
    return false;
}

static int told(void *user, const struct trod_nav_call_event *e)
{
    struct telling *t = user;
    const struct happened *want = &t->h->at[t->at];

    assert_true(more(t));
    want = &t->h->at[t->at++];
    assert_int_equal(e->row, want->row);
    assert_int_equal(e->instruction, want->instruction);
    assert_int_equal(e->ends, want->ends);
    assert_int_equal(e->call.depth, want->depth);
    assert_int_equal(e->ends ? 0 : e->call.pc, want->pc);
    return --t->left > 0;
}

/* From random rows on, all events, or the first few. */
static void test_from(void **state)
{
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];
    struct history *h = calloc(1, sizeof *h);
    uint64_t seen = 0;

    (void)state;
    assert_non_null(h);
    for (unsigned seed = 0; seed < test_fewer(12, 3); seed++) {
        struct trod_gen g = gen_seed(750 + seed);
        struct trod_nav *nav;

        memset(h, 0, sizeof *h);
        save_program(&g, 20 + 100 * seed, false, path);
        read_history(path, h);
        assert_true(make_index(path, 1 + 31 * seed, 1 + seed % 5));
        nav = open_nav(path, false);
        for (unsigned k = 0; k < 60; k++) {
            const struct trod_batch *b;
            uint32_t i;
            struct telling t = {.h = h, .row = gen_below(&g, h->rows)};

            t.left = gen_below(&g, 2) ? 1 + gen_below(&g, 5) : SIZE_MAX;
            assert_int_equal(trod_nav_row(nav, t.row, &b, &i), 1);
            t.stream = trod_batch_stream(b, i);
            t.context = h->context[t.row][t.stream];
            assert_int_equal(trod_nav_call_events(nav, t.row, told, &t), 0);
            seen += t.at;
            if (t.left)
                assert_false(more(&t));
        }
        assert_int_equal(trod_nav_call_events(nav, h->rows, told, NULL), TROD_ERR_USAGE);
        trod_nav_close(nav);
        nav = open_nav(path, true);
        assert_int_equal(trod_nav_call_events(nav, 0, told, NULL), TROD_ERR_UNKNOWN);
        trod_nav_close(nav);
    }
    assert_true(seen > 1000);
    free(h);
    nav_files_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_from)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
