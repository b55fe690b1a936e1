/*
 * test_order_time.c - order "time" of text traces whose times differ in unit and decimals.
 *
 * Files of random lines, each of whose times is a number of femtoseconds, or of ticks, that is
 * written in some unit with some decimals. They are merged by the definition (the file whose next
 * row has the smallest time, the first of several), with the numbers that the lines were made of:
 * the same rows must come, with the instruction numbers that the lines state, for every batch size
 * and number of files.
 */
#include "gen.h"
#include "testlib.h"
#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LINES = 400, FILES = 80, STEP = 250000, BASE = 0x1000, FAR = 0x10000 };

struct line {
    uint64_t time; /* in femtoseconds, or in millionths of a tick */
    uint64_t index;
    bool timed;
};

struct file {
    struct line line[LINES];
    char *path;
    size_t n, at;
};

/* NUMBER, of 10^-SCALE of UNIT, with DECIMALS, which lose nothing. */
static void put_time(struct trod_buf *b, uint64_t number, unsigned scale, unsigned decimals,
                     const char *unit)
{
    char digits[24];
    uint64_t one = 1;

    for (; scale < decimals; scale++)
        number *= 10;
    for (; scale > decimals; scale--, number /= 10)
        assert_int_equal(number % 10, 0);
    for (unsigned k = 0; k < decimals; k++)
        one *= 10;
    assert_true(trod_buf_printf(b, "%llu", (unsigned long long)(number / one)) >= 0);
    snprintf(digits, sizeof digits, "%0*llu", (int)decimals, (unsigned long long)(number % one));
    if (decimals)
        assert_true(trod_buf_printf(b, ".%s", digits) >= 0);
    assert_true(trod_buf_printf(b, "%s%s ", *unit ? " " : "", unit) >= 0);
}

/* A time of a multiple of STEP femtoseconds, in any unit in which it has 15 decimals or fewer. */
static void put_seconds(struct trod_gen *g, struct trod_buf *b, uint64_t femto)
{
    static const struct {
        const char *name;
        unsigned scale, least; /* digits behind the point of a femtosecond, and of STEP */
    } units[] = {{"fs", 0, 0}, {"ps", 3, 0},  {"ns", 6, 2},
                 {"us", 9, 5}, {"ms", 12, 8}, {"s", 15, 11}};
    const size_t u = gen_below(g, sizeof units / sizeof *units);

    put_time(b, femto, units[u].scale, units[u].least + (unsigned)gen_below(g, 4), units[u].name);
}

/* Ticks in millionths: of a clock, of nothing that is said, or, in all files the same, seconds. */
static void put_ticks(struct trod_gen *g, struct trod_buf *b, uint64_t millionths, size_t file)
{
    static const char *const units[] = {"clk", "ns", ""};
    unsigned decimals = (unsigned)gen_below(g, 7);
    uint64_t rest = millionths;

    for (unsigned k = 6; k > decimals; k--, rest /= 10)
        if (rest % 10)
            decimals = k;
    put_time(b, millionths, 6, decimals, units[file % 3]);
}

static void make_file(struct trod_gen *g, struct file *f, size_t number, const char *dir,
                      bool ticks)
{
    struct trod_buf text = {0};
    uint64_t time = gen_below(g, 40), index = gen_below(g, 1000);
    char name[32];

    *f = (struct file){.n = 1 + gen_below(g, LINES)};
    for (size_t i = 0; i < f->n; i++) {
        struct line *l = &f->line[i];

        time = gen_once_in(g, 40) && time > 5 ? time - 5 : time + gen_below(g, 4);
        if (gen_once_in(g, 100))
            time += gen_below(g, 1000);
        index += 1 + gen_below(g, 3);
        *l = (struct line){time * (ticks ? 500000 : STEP), index, i == 0 || !gen_once_in(g, 5)};
        if (l->timed && ticks)
            put_ticks(g, &text, l->time, number);
        else if (l->timed)
            put_seconds(g, &text, l->time);
        assert_true(trod_buf_printf(&text, "%sIT (%llu) %08zx d503201f O EL1h_n : NOP\n",
                                    l->timed ? "cpu0 " : "", (unsigned long long)index,
                                    BASE + number * FAR + 4 * i) >= 0);
    }
    snprintf(name, sizeof name, "%03zu.tarmac", number);
    f->path = test_path(dir, name);
    test_save(f->path, text.p, text.n);
    trod_buf_fini(&text);
}

/* The file that goes on: that of the smallest time. A line that says none has that before it. */
static struct file *first_of(struct file *f, size_t n)
{
    struct file *first = NULL;

    for (size_t i = 0; i < n; i++) {
        if (f[i].at == f[i].n)
            continue;
        if (f[i].at && !f[i].line[f[i].at].timed)
            f[i].line[f[i].at].time = f[i].line[f[i].at - 1].time;
        if (!first || f[i].line[f[i].at].time < first->line[first->at].time)
            first = &f[i];
    }
    return first;
}

static void read_merged(struct file *f, size_t n, const struct trod_trace_options *opt)
{
    const char *paths[FILES];
    struct trod_diag diag;
    struct trod_trace *t;
    struct trod_batch *b;
    uint64_t row = 0;

    for (size_t i = 0; i < n; i++) {
        paths[i] = f[i].path;
        f[i].at = 0;
    }
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_trace_open(&t, paths, n, opt, &diag), TROD_OK);
    while (trod_trace_next(t, &b) == 1)
        for (uint32_t i = 0; i < b->n; i++, row++) {
            struct file *from = first_of(f, n);

            assert_non_null(from);
            if (b->addr[i] != (uint64_t)(BASE + (from - f) * FAR + 4 * (ptrdiff_t)from->at))
                fail_msg("row %llu is 0x%llx, not line %zu of file %zd", (unsigned long long)row,
                         (unsigned long long)b->addr[i], from->at, from - f);
            assert_int_equal(b->first + i, row);
            if (!opt->want) {
                assert_true(b->have & b->has[i] & TROD_COL_INDEX);
                assert_int_equal(b->index[i], from->line[from->at].index);
            }
            from->at++;
        }
    assert_null(first_of(f, n));
    assert_int_equal(diag.errors, 0);
    trod_trace_close(t);
}

static void merged(size_t n, uint64_t seed, bool ticks)
{
    static const uint32_t rows[] = {0, 1, 37};
    struct trod_gen g = gen_seed(seed);
    struct file *f = calloc(n, sizeof *f);
    char *dir = test_tmpdir();

    assert_non_null(f);
    for (size_t i = 0; i < n; i++)
        make_file(&g, &f[i], i, dir, ticks);
    for (size_t k = 0; k < 2 * sizeof rows / sizeof *rows; k++) {
        const struct trod_trace_options opt = {
            .from = "tarmac",
            .order = TROD_ORDER_TIME,
            .batch_rows = rows[k / 2],
            .want = k % 2 ? TROD_COL_KIND | TROD_COL_ADDR : 0,
        };

        read_merged(f, n, &opt);
    }
    for (size_t i = 0; i < n; i++)
        free(f[i].path);
    free(f);
    test_remove(dir);
    free(dir);
}

static void test_seconds(void **state)
{
    (void)state;
    merged(1, 1, false);
    merged(2, 2, false);
    merged(3, 3, false);
    merged(7, 4, false);
    merged(FILES, 5, false); /* so many that they are closed until their turn */
}

/* Where units cannot be compared, their numbers are, with their decimals. */
static void test_ticks(void **state)
{
    (void)state;
    merged(2, 6, true);
    merged(3, 7, true);
    merged(8, 8, true);
    merged(FILES, 9, true);
}

/*
 * Of seconds the unit of the first one counts as a tick: the clock's 2 lies between 1 us and 3 us,
 * and so the order does not depend on which two are compared.
 */
static void test_common_measure(void **state)
{
    static const char *const lines[] = {"1 us", "2 clk", "3000 ns", "2.5 clk", "2250 ns"};
    static const uint64_t want[] = {0, 1, 4, 3, 2};
    const struct trod_trace_options opt = {.from = "tarmac", .order = TROD_ORDER_TIME};
    const char *paths[5];
    char *dir = test_tmpdir(), name[32];
    struct trod_trace *t;
    struct trod_batch *b;
    size_t row = 0;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct trod_buf text = {0};

        assert_true(trod_buf_printf(&text, "%s cpu0 IT (1) %08zx d503201f O EL1h_n : NOP\n",
                                    lines[i], i) >= 0);
        snprintf(name, sizeof name, "%zu.tarmac", i);
        paths[i] = test_path(dir, name);
        test_save(paths[i], text.p, text.n);
        trod_buf_fini(&text);
    }
    assert_int_equal(trod_trace_open(&t, paths, 5, &opt, NULL), TROD_OK);
    while (trod_trace_next(t, &b) == 1)
        for (uint32_t i = 0; i < b->n; i++)
            assert_int_equal(b->addr[i], want[row++]);
    assert_int_equal(row, 5);
    trod_trace_close(t);
    for (size_t i = 0; i < 5; i++)
        free((char *)(uintptr_t)paths[i]);
    test_remove(dir);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_common_measure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
