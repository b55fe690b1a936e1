/*
 * test_browse_more.c - the browser's model, without a terminal: addresses as they are typed, words
 * that they go on with, rows where a value changes, folds that are put together; against what is
 * computed the slow way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "browse/calls.h"
#include "browse/find.h"
#include "browse/folds.h"
#include "browse/model.h"
#include "browse/words.h"
#include "fewer.h"
#include "gen.h"
#include "nav_index.h"
#include "testlib.h"

struct trace {
    char *dir, *path;
    struct browse *b;
};

static void open_text(struct trace *t, const struct trod_buf *text, bool index)
{
    const struct browse_options none = {0};
    const char *paths[1];

    t->dir = test_tmpdir();
    t->path = test_path(t->dir, "t.tarmac");
    paths[0] = t->path;
    test_save(t->path, text->p, text->n);
    if (index)
        assert_true(index_files(paths, 1, 64, 4, 0));
    assert_int_equal(browse_open(&t->b, t->path, &none), 0);
    assert_int_equal(trod_nav_index(t->b->nav) != NULL, index);
}

static void end_text(struct trace *t)
{
    browse_close(t->b);
    test_remove(t->dir);
    free(t->path);
    free(t->dir);
}

/* ---- addresses */

static void test_addresses(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {
        {"0x10+2*3", 22},
        {"1<<4+1", 32},
        {"1 << 63 >> 62", 2},
        {"1<<64", 0},
        {"7>>64", 0},
        {"-1", UINT64_MAX},
        {"(1+2)*3", 9},
        {"5-2-1", 2},
        {"- -5", 5},
        {"+(4)", 4},
        {"x0", 0x1000},
        {"x0+x1*2", 0x1040},
        {"reg::x1 - 1", 0x1f},
        {"w1", 0x20},
        {"pc+4", 0x8004},
        {" x0 <<1 ", 0x2000},
        {"0-(x1)", -UINT64_C(32)},
        {"2*-3", -UINT64_C(6)},
    };
    static const char *const bad[] = {"",   "x9",     "1+",      "2 3",     "(1",     "1)",
                                      "*3", "1<2",    "nothing", "sym::x0", "0x",     "1++",
                                      "()", "reg::9", "x2",      "12z",     "1 + x2", "<<1"};
    struct trod_buf text = {0};
    struct trace t;
    char deep[400];
    uint64_t value;

    (void)state;
    trod_buf_printf(&text, "1 clk R X0 0000000000001000\n1 clk R X1 0000000000000020\n"
                           "1 clk R X2 -------------020\n"
                           "2 clk IT (1) 00008000 91000400 O EL1h_n : ADD x0,x0,#1\n");
    open_text(&t, &text, false);
    t.b->cursor = 3;
    assert_int_equal(browse_state(t.b), 0);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!browse_address(t.b, good[i].text, &value) || value != good[i].value)
            fail_msg("'%s' is %#llx", good[i].text, (unsigned long long)value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (browse_address(t.b, bad[i], &value))
            fail_msg("'%s' is %#llx", bad[i], (unsigned long long)value);
    memset(deep, '(', sizeof deep); /* as deep as it may be, and deeper */
    snprintf(deep + 50, sizeof deep - 50, "7%.50s",
             "))))))))))))))))))))))))))))))))))))))))))))))))))");
    assert_true(browse_address(t.b, deep, &value));
    assert_int_equal(value, 7);
    memset(deep, '-', 300);
    snprintf(deep + 300, sizeof deep - 300, "7");
    assert_false(browse_address(t.b, deep, &value));
    end_text(&t);
    trod_buf_fini(&text);
}

/* ---- words */

/* What TEXT becomes, and how many words there are to choose from. */
static void completes(struct browse *b, unsigned sets, const char *text, const char *to, long words)
{
    struct browse_lines list;
    char line[64];
    size_t at = strlen(text), from;
    long n;

    snprintf(line, sizeof line, "%s;", text); /* something stands behind it */
    n = browse_complete(b, sets, line, sizeof line, &at, &from, &list);
    line[strlen(line) - 1] = '\0';
    if (strcmp(line, to) != 0 || (words >= 0 && n != words) || at != strlen(to))
        fail_msg("'%s' becomes '%s', of %ld words", text, line, n);
    for (size_t i = 0; i < list.n; i++) /* each goes on with what was typed */
        assert_true(strlen(list.at[i]) >= strlen(text) - from);
    browse_lines_fini(&list);
}

static void test_words(void **state)
{
    struct trod_buf text = {0};
    struct trace t;

    (void)state;
    trod_buf_printf(&text, "1 clk R X0 0000000000001000\n1 clk R X10 0000000000000020\n"
                           "1 clk R cpsr 20000005\n");
    open_text(&t, &text, false);
    t.b->cursor = 2;
    assert_int_equal(browse_state(t.b), 0);
    completes(t.b, BROWSE_REGISTERS, "c", "cpsr", 1);
    completes(t.b, BROWSE_REGISTERS, "x", "x", 2);
    completes(t.b, BROWSE_REGISTERS, "0x10+X1", "0x10+x10", 1);
    completes(t.b, BROWSE_REGISTERS, "nothing", "nothing", 0);
    completes(t.b, BROWSE_PLACES, "l", "line:", 1);
    completes(t.b, BROWSE_PLACES, "kind:exc", "kind:EXCEPTION", 1);
    completes(t.b, BROWSE_PLACES, "", "", 8);
    completes(t.b, BROWSE_WHERE, "kind == excep", "kind == EXCEPTION", 1);
    completes(t.b, 0, "l", "l", 0);
    end_text(&t);
    trod_buf_fini(&text);
}

/* A word that has no room is cut, and what stands behind it stays. */
static void test_no_room(void **state)
{
    char line[12] = "abXYZ";
    size_t at = 2;

    (void)state;
    browse_put_word(line, sizeof line, 1, &at, "0123456789abcdef");
    assert_string_equal(line, "a0123456XYZ");
    assert_int_equal(at, 8);
}

/* ---- changes */

enum { ROWS = 400, BYTES = 16, REGS = 3 };

/* The value of WHAT behind ROW, as text, "" where it is not known. */
static void value_of(struct browse *b, const char *what, uint64_t row, char out[64])
{
    uint8_t value[64] = {0}, known[64] = {0};
    struct trod_nav_byte byte;
    struct trod_nav_state *s;
    size_t n = 0;

    out[0] = '\0';
    if (what[0] == '0') {
        assert_int_equal(trod_nav_memory(b->nav, row, strtoull(what, NULL, 0), 1, &byte), 0);
        if (byte.from != TROD_NAV_UNKNOWN)
            snprintf(out, 64, "%02x", byte.value);
        return;
    }
    assert_int_equal(trod_nav_state(b->nav, row, TROD_NAV_ROW_STREAM, &s), 0);
    if (trod_nav_state_named(s, what, value, known, sizeof value, &n) && n)
        browse_digits(out, 64, value, known, n);
    trod_nav_state_free(s);
}

static void random_row(struct trod_gen *g, struct trod_buf *text, unsigned i)
{
    const unsigned size = 1u << gen_below(g, 4), at = (unsigned)gen_below(g, BYTES / size) * size;
    const uint64_t what = gen_below(g, 8);
    char digits[17];

    for (unsigned k = 0; k < 16; k++) /* few values, so that many writes change nothing */
        digits[k] = gen_below(g, 8) ? '0' : '1';
    digits[16] = '\0';
    if (what < 2)
        trod_buf_printf(text, "%u clk R X%u %s\n", i, (unsigned)gen_below(g, REGS), digits);
    else if (what == 2)
        trod_buf_printf(text, "%u clk R X%u --------%s\n", i, (unsigned)gen_below(g, REGS),
                        digits + 8);
    else if (what == 3)
        trod_buf_printf(text, "%u clk R V%u %s%s\n", i, (unsigned)gen_below(g, REGS), digits,
                        digits);
    else
        trod_buf_printf(text, "%u clk M%c%u %08x %s\n", i, gen_below(g, 2) ? 'W' : 'R', size,
                        0x8000 + at, digits + 16 - 2 * size);
}

/* Forwards and backwards from each row: the change that looking at all rows finds. */
static void check_changes(struct browse *b, const char *what, const char (*value)[64],
                          unsigned from)
{
    unsigned next = from + 1, last = from;

    while (next < ROWS && strcmp(value[next], value[from]) == 0)
        next++;
    while (last-- > 1 && strcmp(value[last], value[last - 1]) == 0)
        ;
    b->cursor = from;
    assert_int_equal(browse_change(b, what, false), next < ROWS);
    assert_int_equal(b->cursor, next < ROWS ? next : from);
    if (last == 0 || last > ROWS) /* what the first row does is seen by no other */
        return;
    b->cursor = from;
    assert_int_equal(browse_change(b, what, true), 1);
    assert_int_equal(b->cursor, last);
}

static void test_changes(void **state)
{
    static char value[ROWS][64];

    (void)state;
    for (unsigned seed = 0; seed < test_fewer(6, 2); seed++) {
        struct trod_gen g = gen_seed(seed);
        struct trod_buf text = {0};
        struct trace t;

        for (unsigned i = 0; i < ROWS; i++)
            random_row(&g, &text, i);
        open_text(&t, &text, seed % 2);
        for (unsigned k = 0; k < 8; k++) {
            char what[16];

            if (k < 4)
                snprintf(what, sizeof what, "%#x", 0x8000 + (unsigned)gen_below(&g, BYTES));
            else
                snprintf(what, sizeof what, "%c%u", "xwvs"[k - 4], (unsigned)gen_below(&g, REGS));
            for (unsigned i = 0; i < ROWS; i++)
                value_of(t.b, what, i, value[i]);
            for (unsigned i = 0; i < 20; i++)
                check_changes(t.b, what, (const char(*)[64])value, (unsigned)gen_below(&g, ROWS));
        }
        assert_int_equal(browse_change(t.b, "0..0xffffffffffffffff", false), TROD_ERR_USAGE);
        end_text(&t);
        trod_buf_fini(&text);
    }
}

/* ---- folds */

/* Calls within calls, the inner ones first: the outermost ones are what is left. */
static void nest(struct trod_gen *g, struct browse_fold *f, unsigned *n, uint64_t *row,
                 unsigned depth)
{
    for (uint64_t k = gen_below(g, 5); k > 0 && depth < 8 && *n < 200; k--) {
        const uint64_t first = (*row)++;

        nest(g, f, n, row, depth + 1);
        f[(*n)++] = (struct browse_fold){.stream = 1, .first = first, .last = (*row)++};
    }
}

static void test_merge(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 50; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct browse_folds one = {0}, all = {0};
        struct browse_fold f[300];
        unsigned n = 0, half;
        uint64_t row = 0;

        nest(&g, f, &n, &row, 0);
        for (unsigned i = 0; i < n; i++)
            assert_int_equal(browse_folds_add(&one, &f[i]), 0);
        half = n ? (unsigned)gen_below(&g, n) : 0;
        assert_int_equal(browse_folds_merge(&all, f + half, n - half), 0);
        assert_int_equal(browse_folds_merge(&all, f, half), 0);
        assert_int_equal(all.n, one.n);
        for (size_t i = 0; i < one.n; i++)
            assert_true(one.at[i].first == all.at[i].first && one.at[i].last == all.at[i].last);
        for (size_t i = 0; i < all.n; i++) /* each begins where it is taken away from */
            assert_non_null(browse_folds_find(&all, 1, all.at[i].last));
        browse_folds_clear(&all, 0, 0, row);
        assert_int_equal(all.n, one.n);
        browse_folds_clear(&all, 1, row / 2, row);
        for (size_t i = 0; i < all.n; i++)
            assert_true(all.at[i].first < row / 2);
        free(one.at);
        free(all.at);
    }
}

/* ---- what is stopped */

static int stop_in(void *user, uint64_t row)
{
    int *left = user;

    (void)row;
    return (*left)-- == 0 ? BROWSE_STOPPED : 0;
}

static int ask(struct browse *b, unsigned what)
{
    struct browse_accesses all = {.at = NULL};
    uint64_t pc;
    int rc;

    switch (what) {
    case 0:
        return browse_change(b, "x0", false);
    case 1:
        return browse_change(b, "0x8000", true);
    case 2:
        rc = browse_accesses(b, "x0", &all);
        free(all.at);
        return rc;
    case 3:
        return browse_fold_deep(b, 0);
    case 4:
        return browse_fold_function(b, 0x2000);
    case 5:
        return browse_unfold_callees(b);
    case 6:
        return browse_function(b, &pc);
    case 7:
        return browse_hold_registers(b);
    default:
        b->other = 5;
        return browse_second_state(b);
    }
}

/* Calls of 0x2000 from 0x1000, each of which writes X0 and memory. */
static void many_calls(struct trod_buf *text)
{
    for (unsigned k = 0; k < 100; k++)
        trod_buf_printf(text,
                        "1 clk IT (1) 00001000 94000400 O EL1h_n : BL 0x2000\n"
                        "1 clk R X0 %016x\n1 clk MW1 00008000 %02x\n"
                        "1 clk IT (1) 00002000 d65f03c0 O EL1h_n : RET\n"
                        "1 clk IT (1) 00001004 17ffffff O EL1h_n : B 0x1000\n",
                        k, k);
}

/* A question that is stopped leaves what is folded and held, and the cursor, as they were. */
static void test_stop(void **state)
{
    const struct browse_fold fold = {.first = 3, .last = 3};
    struct trod_buf text = {0};
    unsigned stopped = 0;
    struct trace t;

    (void)state;
    many_calls(&text);
    open_text(&t, &text, false);
    for (unsigned what = 0; what < 9; what++)
        for (int stop = 0; stop < 3; stop++) {
            int left = 1 << 20, rc;
            const struct browse_options opt = {.tick = stop_in, .user = &left};
            struct browse *b;

            assert_int_equal(browse_open(&b, t.path, &opt), 0);
            b->cursor = 252;
            assert_int_equal(browse_folds_add(&b->folds, &fold), 0);
            left = stop;
            rc = ask(b, what);
            stopped += rc == BROWSE_STOPPED;
            if (rc == BROWSE_STOPPED) {
                assert_int_equal(b->folds.n, 1);
                assert_int_equal(b->cursor, 252);
                assert_true(!b->held && !b->second);
                left = 1 << 20;
                rc = ask(b, what);
            }
            assert_true(rc >= 0);
            if (what == 3 || what == 4)
                assert_int_equal(b->folds.n, 100);
            browse_close(b);
        }
    assert_true(stopped > 6);
    end_text(&t);
    trod_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_words),
        cmocka_unit_test(test_no_room),   cmocka_unit_test(test_changes),
        cmocka_unit_test(test_merge),     cmocka_unit_test(test_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
