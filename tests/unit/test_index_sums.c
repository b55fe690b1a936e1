/*
 * test_index_sums.c - what an index has of calls, summed up by stacks, is what adding up their
 * texts finds: on random programs of one file and of several, with symbols and without, with
 * several threads, when the trace grows; damaged; of too many stacks it has nothing.
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
#include "nav_symbols.h"
#include "navigate/tree.h"
#include "testlib.h"

/* ---- by rows: each stack is the text of its functions */

enum { LANES = 4, STACKS = 1 << 14, ROOTS = 1024 };

struct stack {
    char *text;
    uint64_t calls, instructions, time;
    unsigned lane; /* LANES: its file is over */
};

struct slow {
    struct stack *stack;
    size_t n;
    char **open; /* stacks of frames, by user; */
    unsigned *open_lane;
    size_t n_open;
    struct {
        uint64_t instruction, time;
        char *bottom;
        unsigned roots;
        bool clocked;
    } lane[LANES];
    uint32_t file;
    bool timed;
};

static char *copy(const char *s)
{
    char *p = malloc(strlen(s) + 1);

    assert_non_null(p);
    return strcpy(p, s);
}

static struct stack *stack_of(struct slow *s, unsigned lane, const char *text)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->stack[i].lane == lane && strcmp(s->stack[i].text, text) == 0)
            return &s->stack[i];
    assert_true(s->n < STACKS);
    s->stack[s->n] = (struct stack){.text = copy(text), .lane = lane};
    return &s->stack[s->n++];
}

static void cost(struct slow *s, unsigned lane, const char *text, const struct trod_moment *at)
{
    struct stack *to = stack_of(s, lane, text);

    to->instructions += at->instruction - s->lane[lane].instruction;
    s->lane[lane].instruction = at->instruction;
    if (at->time == TROD_NOWHERE)
        return;
    if (s->lane[lane].clocked)
        to->time += at->time - s->lane[lane].time;
    s->lane[lane].clocked = s->timed = true;
    s->lane[lane].time = at->time;
}

static void end_file(struct slow *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct stack was = s->stack[i], *to;

        if (was.lane == LANES)
            continue;
        to = stack_of(s, LANES, was.text);
        to->calls += was.calls;
        to->instructions += was.instructions;
        to->time += was.time;
    }
    for (size_t i = 0; i < s->n;) {
        if (s->stack[i].lane == LANES) {
            i++;
            continue;
        }
        free(s->stack[i].text);
        s->stack[i] = s->stack[--s->n];
    }
    for (unsigned i = 0; i < LANES; i++)
        free(s->lane[i].bottom);
    memset(s->lane, 0, sizeof s->lane);
}

/* TEXT, if it is BOTTOM or stands on it, stands on UNDER from now on. */
static void put_below(char **text, const char *bottom, const char *under)
{
    const size_t n = strlen(bottom);
    char *p;

    if (strncmp(*text, bottom, n) != 0 || ((*text)[n] && (*text)[n] != '/'))
        return;
    p = malloc(strlen(under) + strlen(*text) + 1);
    assert_non_null(p);
    strcpy(p, under);
    strcat(p, *text);
    free(*text);
    *text = p;
}

static void put_all_below(struct slow *s, unsigned lane, const char *under)
{
    char *bottom = copy(s->lane[lane].bottom);

    for (size_t i = 0; i < s->n; i++)
        if (s->stack[i].lane == lane)
            put_below(&s->stack[i].text, bottom, under);
    for (size_t i = 1; i <= s->n_open; i++)
        if (s->open_lane[i] == lane)
            put_below(&s->open[i], bottom, under);
    put_below(&s->lane[lane].bottom, bottom, under);
    free(bottom);
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct slow *s = ctx;
    const unsigned lane = (unsigned)f->own[3];
    const char *below = f->depth ? s->open[f[-1].user] : "", *bottom;
    char *text = malloc(strlen(below) + 32);

    assert_true(text && lane < LANES && s->n_open + 1 < STACKS);
    if (f->file != s->file)
        end_file(s);
    s->file = f->file;
    if (!f->under)
        cost(s, lane, below, &f->entry);
    sprintf(text, "%s/%s%llx", below, f->kind == TROD_FRAME_EXCEPTION ? "!" : "",
            (unsigned long long)f->function);
    stack_of(s, lane, text)->calls++;
    f->user = ++s->n_open;
    s->open[f->user] = text;
    s->open_lane[f->user] = lane;
    bottom = s->lane[lane].bottom;
    if (f->under && bottom && !strchr(bottom + 1, '/') && strcmp(bottom, text) != 0 &&
        s->lane[lane].roots++ < ROOTS) {
        char *under = copy(text);

        put_all_below(s, lane, under);
        free(under);
    }
    return 0;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct slow *s = ctx;
    const unsigned lane = (unsigned)f->own[3];

    cost(s, lane, s->open[f->user], &end->next);
    if (f->depth == 0) {
        free(s->lane[lane].bottom);
        s->lane[lane].bottom = copy(s->open[f->user]);
    }
    free(s->open[f->user]);
    s->open[f->user] = copy("(over)");
    return 0;
}

static int by_text(const void *a, const void *b)
{
    const struct stack *x = a, *y = b;

    return strcmp(x->text, y->text);
}

/* N stacks as lines, in the order of their texts, which are released. */
static void put_lines(struct stack *at, size_t n, bool timed, struct trod_buf *out)
{
    qsort(at, n, sizeof *at, by_text);
    trod_buf_printf(out, "%s\n", timed ? "timed" : "not timed");
    for (size_t i = 0; i < n; i++) {
        if (at[i].text[0] || at[i].instructions || at[i].time)
            trod_buf_printf(out, "%s: %llu calls %llu instructions %llu time\n", at[i].text,
                            (unsigned long long)at[i].calls, (unsigned long long)at[i].instructions,
                            (unsigned long long)at[i].time);
        free(at[i].text);
    }
}

static const struct trod_symbols *symbols;

/* By reading all rows. Returns how many stacks there are. */
static size_t by_rows(const char *const *paths, size_t n, struct trod_buf *out,
                      struct trod_callstack_counts *counts)
{
    const struct trod_trace_options opt = {.struct_size = sizeof opt, .want = TROD_COL_ALL};
    struct slow s = {.stack = calloc(STACKS, sizeof *s.stack),
                     .open = calloc(STACKS, sizeof *s.open),
                     .open_lane = calloc(STACKS, sizeof *s.open_lane)};
    const struct trod_callstack_sink sink = {.ctx = &s, .enter = enter, .leave = leave};
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_trace *t;

    assert_true(s.stack && s.open && s.open_lane);
    assert_int_equal(trod_trace_open(&t, paths, n, &opt, NULL), 0);
    assert_int_equal(trod_callstack_new(&c, &sink, symbols, false), 0);
    while (trod_trace_next(t, &b) > 0)
        assert_int_equal(trod_callstack_feed(c, b, 0, b->n), 0);
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_count(c, counts);
    trod_callstack_free(c);
    trod_trace_close(t);
    end_file(&s);
    put_lines(s.stack, s.n, s.timed, out);
    for (size_t i = 1; i <= s.n_open; i++)
        free(s.open[i]);
    free(s.stack);
    free(s.open);
    free(s.open_lane);
    return s.n;
}

/* ---- by the index */

static int take(void *user, const struct trod_call_sum *at, size_t n, bool timed)
{
    struct stack *stack = calloc(n, sizeof *stack);

    assert_true(stack && n > 0);
    for (size_t i = 0; i < n; i++) {
        const char *below = i ? stack[at[i].parent].text : "";

        assert_true(at[i].parent < i || i == 0);
        stack[i] = (struct stack){malloc(strlen(below) + 32), at[i].calls, at[i].instructions,
                                  at[i].time, 0};
        assert_non_null(stack[i].text);
        sprintf(stack[i].text, "%s", "");
        if (i)
            sprintf(stack[i].text, "%s/%s%llx", below, at[i].exception ? "!" : "",
                    (unsigned long long)at[i].function);
    }
    put_lines(stack, n, timed, user);
    free(stack);
    return 0;
}

static int by_index(const char *const *paths, size_t n, struct trod_buf *out,
                    struct trod_callstack_counts *counts)
{
    struct trod_nav *nav = open_files(paths, n, false);
    int rc;

    if (!nav)
        return TROD_ERR_UNKNOWN;
    trod_nav_follow(nav, symbols);
    rc = trod_nav_call_sums(nav, take, out, counts);
    trod_nav_close(nav);
    return rc;
}

/* Both ways are the same. Returns how many stacks there are. */
static size_t same(const char *const *paths, size_t n)
{
    struct trod_callstack_counts counts, with = {0};
    struct trod_buf a = {0}, b = {0};
    const size_t stacks = by_rows(paths, n, &a, &counts);

    assert_int_equal(by_index(paths, n, &b, &with), 0);
    assert_same_text(paths[0], &a, &b);
    assert_memory_equal(&counts, &with, sizeof with);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    return stacks;
}

static void make(const char *const *paths, size_t n, unsigned seed)
{
    const struct nav_build_options opt = {.block_rows = 1 + 31 * (seed % 7),
                                          .segment = 1 + seed % 5,
                                          .apart = 1,
                                          .per_stack = 1,
                                          .jobs = 1 + seed % 3,
                                          .symbols = symbols};
    const struct trod_input_options input = {0};
    char where[4096];

    assert_true(index_with(paths, n, &opt, &input, where));
}

/* ---- tests */

static void test_random(void **state)
{
    struct nav_files f = nav_files_new(NAV_FILES, ".tarmac");
    char *elf = test_path(f.dir, "functions");
    size_t stacks = 0;

    (void)state;
    for (unsigned seed = 0; seed < test_fewer(24, 6); seed++) {
        struct trod_gen g = gen_seed(1100 + seed);
        struct trod_symbols *own = random_functions(&g, elf);
        const size_t n = seed % 3 ? 1 : NAV_FILES;

        for (size_t i = 0; i < n; i++)
            save_program(&g, 20 + 40 * seed, seed % 2, f.path[i]);
        symbols = own;
        make(f.path, n, seed);
        stacks += own ? same(f.path, n) : 0;
        symbols = NULL;
        stacks += same(f.path, n);
        trod_symbols_free(own);
    }
    assert_true(stacks > test_fewer(1000, 20));
    free(elf);
    nav_files_free(&f);
}

/* One that goes on from that of half of the trace is the one that is made anew, byte for byte. */
static void grown(struct trod_symbols *own)
{
    struct nav_build_options build = {
        .block_rows = 50, .segment = 2, .apart = 1, .per_stack = 1, .jobs = 1, .symbols = own};
    struct nav_files f = nav_files_new(1, ".tarmac");
    const struct trod_input_options input = {0};
    struct trod_gen g = gen_seed(1200);
    struct trod_buf text = {0}, anew, on;
    struct nav_index *half;
    const char *why;
    char where[4096];
    size_t n;

    wild_program(&g, 1500, false, &text);
    for (n = text.n / 2; text.p[n - 1] != '\n';)
        n++;
    test_save(f.path[0], text.p, n);
    assert_true(index_with(f.path, 1, &build, &input, where));
    test_save(f.path[0], text.p, text.n);
    assert_int_equal(nav_index_open(&half, where, &why), 0);
    build.of = half;
    assert_true(index_with(f.path, 1, &build, &input, where));
    nav_index_close(half);
    on = test_load(where);
    symbols = own;
    same(f.path, 1);
    symbols = NULL;
    same(f.path, 1);
    build.of = NULL;
    assert_true(index_with(f.path, 1, &build, &input, where));
    anew = test_load(where);
    assert_int_equal(anew.n, on.n);
    assert_memory_equal(anew.p, on.p, on.n);
    trod_buf_fini(&anew);
    trod_buf_fini(&on);
    trod_buf_fini(&text);
    nav_files_free(&f);
}

static void test_grown(void **state)
{
    char *dir = test_tmpdir(), *elf = test_path(dir, "functions");
    struct trod_gen g = gen_seed(1201);
    struct trod_symbols *own = random_functions(&g, elf);

    (void)state;
    grown(NULL);
    if (own)
        grown(own);
    trod_symbols_free(own);
    free(elf);
    test_remove(dir);
    free(dir);
}

/* With any byte of the index damaged the sums are what they are, or not there. */
static void test_damaged(void **state)
{
    struct nav_files f = nav_files_new(1, ".tarmac");
    struct trod_gen g = gen_seed(1300);
    struct trod_callstack_counts counts, with;
    struct trod_buf a = {0}, bytes;
    char *index = test_path(f.dir, "0.tarmac.trodx");
    unsigned noticed = 0;

    (void)state;
    save_program(&g, 60, false, f.path[0]);
    make(f.path, 1, 3);
    by_rows(f.path, 1, &a, &counts);
    bytes = test_load(index);
    for (size_t i = 0; i < bytes.n; i += test_fewer(1, 7)) {
        const uint8_t was = bytes.p[i];
        struct trod_buf b = {0};
        int rc;

        bytes.p[i] ^= (uint8_t)(1 + gen_below(&g, 255));
        test_save(index, bytes.p, bytes.n);
        bytes.p[i] = was;
        rc = by_index(f.path, 1, &b, &with);
        if (rc == 0) {
            assert_same_text(f.path[0], &a, &b);
            assert_memory_equal(&counts, &with, sizeof with);
        } else {
            assert_int_equal(rc, TROD_ERR_UNKNOWN);
            assert_int_equal(b.n, 0);
            noticed++;
        }
        trod_buf_fini(&b);
    }
    assert_true(noticed > 100);
    free(index);
    trod_buf_fini(&bytes);
    trod_buf_fini(&a);
    nav_files_free(&f);
}

/*
 * A root of LANE calls N functions, each TIMES times; of the K-th an exception, which ends at once.
 */
static void feed_lane(struct nav_tree *t, uint32_t lane, uint32_t n, unsigned times)
{
    struct trod_frame at[2] = {{.function = 1, .entry.time = TROD_NOWHERE, .own = {[3] = lane}}};
    struct trod_frame_left end = {.how = TROD_FRAME_RETURNED};

    assert_int_equal(nav_tree_enter(t, at), 0);
    for (uint32_t i = 0; i < n * times; i++) {
        at[1] = (struct trod_frame){.function = 2 + i % n,
                                    .depth = 1,
                                    .kind = i % n % 5 ? TROD_FRAME_CALL : TROD_FRAME_EXCEPTION,
                                    .entry = {.instruction = i, .time = TROD_NOWHERE},
                                    .own = {[3] = lane}};
        end.next = (struct trod_moment){.instruction = i + 1, .time = TROD_NOWHERE};
        assert_int_equal(nav_tree_enter(t, &at[1]), 0);
        assert_int_equal(nav_tree_leave(t, &at[1], &end), 0);
    }
    assert_int_equal(nav_tree_leave(t, at, &end), 0);
}

static void feed(struct nav_tree *t, uint32_t n, unsigned times)
{
    feed_lane(t, 1, n, times);
}

/* Streams with the same stacks have them in memory each, and are kept as one. */
static void test_streams(void **state)
{
    enum { SEVERAL = 3, N = NAV_TREE_FOLLOWED / (SEVERAL + 1) };
    struct nav_tree t = {.n_lanes = 0};
    struct trod_call_sum *at;
    struct trod_buf a = {0};
    size_t n;
    bool timed;

    (void)state;
    assert_true(N * SEVERAL > NAV_TREE_NODES);
    for (uint32_t lane = 1; lane <= SEVERAL; lane++)
        feed_lane(&t, lane, N, 1);
    assert_int_equal(nav_tree_save(&t, UINT64_MAX, &a), 0);
    assert_int_equal(nav_tree_load((struct trod_span){.p = a.p, .n = a.n}, &at, &n, &timed), 0);
    assert_int_equal(n, N + 2);
    for (size_t i = 2; i < n; i++)
        assert_int_equal(at[i].calls, SEVERAL);
    nav_tree_unload(at, n);
    nav_tree_fini(&t);
    trod_buf_fini(&a);
}

static void test_many(void **state)
{
    struct nav_tree full = {.n_lanes = 0}, over = {.n_lanes = 0};
    struct trod_call_sum *at;
    struct trod_buf a = {0}, b = {0};
    size_t n;
    bool timed;

    (void)state;
    feed(&full, NAV_TREE_NODES / 2 - 2, 2); /* node 0 and the root: twice, where they are added */
    assert_int_equal(nav_tree_save(&full, NAV_TREE_NODES / 2 - 2, &a), 0);
    assert_int_equal(a.n, 0); /* a node more than are wanted */
    assert_int_equal(nav_tree_save(&full, NAV_TREE_NODES / 2 - 1, &a), 0);
    assert_int_equal(nav_tree_load((struct trod_span){.p = a.p, .n = a.n}, &at, &n, &timed), 0);
    assert_int_equal(n, NAV_TREE_NODES / 2);
    assert_false(timed);
    for (size_t i = 2; i < n; i++) {
        assert_int_equal(at[i].function, i);
        assert_int_equal(at[i].calls, 2);
        assert_int_equal(at[i].instructions, 2);
        assert_int_equal(at[i].exception, (i - 2) % 5 == 0);
        assert_int_equal(at[i].parent, 1);
    }
    nav_tree_unload(at, n);
    feed(&over, NAV_TREE_FOLLOWED, 1);
    assert_true(over.impossible && over.all.node == NULL && over.lane == NULL);
    assert_int_equal(nav_tree_save(&over, UINT64_MAX, &b), 0);
    assert_int_equal(b.n, 0);
    nav_tree_fini(&full);
    nav_tree_fini(&over);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
}

/* Bytes that are none of ours: refused, or read to an end. */
static void test_foreign(void **state)
{
    struct nav_tree t = {.n_lanes = 0};
    struct trod_gen g = gen_seed(1400);
    struct trod_buf raw = {0};
    unsigned refused = 0;

    (void)state;
    feed(&t, 300, 3);
    assert_int_equal(nav_tree_save(&t, UINT64_MAX, &raw), 0);
    for (unsigned k = 0; k < test_fewer(20000, 1000); k++) {
        const size_t at = (size_t)gen_below(&g, raw.n);
        const uint8_t was = raw.p[at];
        struct trod_call_sum *sums;
        size_t n = 0;
        bool timed;
        int rc;

        raw.p[at] = (uint8_t)gen_u64(&g);
        rc = nav_tree_load((struct trod_span){.p = raw.p, .n = raw.n - (k % 9 == 0 ? at : 0)},
                           &sums, &n, &timed);
        assert_true(rc == 0 || rc == TROD_ERR_CORRUPT);
        for (size_t i = 1; rc == 0 && i < n; i++)
            assert_true(sums[i].parent < i);
        refused += rc < 0;
        nav_tree_unload(sums, n);
        raw.p[at] = was;
    }
    assert_true(refused > 100);
    nav_tree_fini(&t);
    trod_buf_fini(&raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_grown),
        cmocka_unit_test(test_streams), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_foreign),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
