/*
 * test_take.c - batches that are kept (trod_trace_take): their rows stay as they were given while
 * the trace goes on into others, and they are those of a trace that nothing is taken from.
 */
#include "trod/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "testlib.h"

enum { MOST = 1 << 15, KEPT = 64 };

/* What is compared of a row: numbers that stand in columns, not in slices. */
struct seen {
    uint64_t addr, pc, value;
    uint32_t has, flags, size;
    uint8_t kind;
};

static struct seen see(const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->has[i] & b->have;

    return (struct seen){
        .addr = has & TROD_COL_ADDR ? b->addr[i] : 0,
        .pc = has & TROD_COL_PC ? b->pc[i] : 0,
        .value = has & TROD_COL_VALUE ? b->value[i] : 0,
        .has = has,
        .flags = b->flags[i],
        .size = has & TROD_COL_SIZE ? b->size[i] : 0,
        .kind = b->kind[i],
    };
}

static void same(const struct seen *a, const struct seen *b)
{
    assert_int_equal(a->addr, b->addr);
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->value, b->value);
    assert_int_equal(a->has, b->has);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->kind, b->kind);
}

/* Two files that take turns in the order of time. */
static char *turns[2];

static struct trod_trace *open_small(const char *file, enum trod_order order)
{
    const struct trod_trace_options opt = {.batch_rows = 1, .order = order, .cores = 2};
    const bool two = order == TROD_ORDER_TIME;
    char *path = two ? NULL : test_path(test_source_dir(), file);
    const char *const paths[] = {two ? turns[0] : path, turns[1]};
    struct trod_trace *t;

    assert_int_equal(trod_trace_open(&t, paths, two ? 2 : 1, &opt, NULL), TROD_OK);
    free(path);
    return t;
}

static uint32_t plain_rows(const char *file, enum trod_order order, struct seen *row)
{
    struct trod_trace *t = open_small(file, order);
    struct trod_batch *b;
    uint32_t n = 0;

    while (trod_trace_next(t, &b) == 1)
        for (uint32_t i = 0; i < b->n; i++) {
            assert_true(n < MOST);
            row[n++] = see(b, i);
        }
    trod_trace_close(t);
    return n;
}

/*
 * Every batch but each third is kept; SPARE: what was looked at goes back to the trace. In the
 * order of time those are not given away that are a view of a batch. Returns how many were kept.
 */
static uint32_t keep_them(const char *file, enum trod_order order, bool spare)
{
    struct seen want[MOST], got;
    struct trod_batch *kept[KEPT * 8], *b, *back = NULL;
    const uint32_t n = plain_rows(file, order, want);
    struct trod_trace *t = open_small(file, order);
    uint32_t at[KEPT * 8], n_kept = 0, row = 0, number = 0;

    for (; trod_trace_next(t, &b) == 1; number++) {
        for (uint32_t i = 0; i < b->n; i++) {
            got = see(b, i);
            same(&got, &want[row + i]);
        }
        if (number % 3 != 2 && n_kept < KEPT * 8) {
            const int rc = trod_trace_take(t, back);

            row += rc == TROD_OK ? 0 : b->n;
            if (order == TROD_ORDER_TIME && rc == TROD_ERR_UNSUPPORTED && !b->own)
                continue;
            assert_int_equal(rc, TROD_OK);
            assert_non_null(b->own);
            back = NULL;
            at[n_kept] = row;
            kept[n_kept++] = b;
        }
        row += b->n;
        if (spare && number % 5 == 4 && !back)
            back = kept[--n_kept];
    }
    assert_int_equal(row, n);
    trod_trace_close(t);
    trod_batch_free(back);
    for (uint32_t k = 0; k < n_kept; k++) {
        for (uint32_t i = 0; i < kept[k]->n; i++) {
            got = see(kept[k], i);
            same(&got, &want[at[k] + i]);
        }
        trod_batch_free(kept[k]);
    }
    return n_kept;
}

static void test_rows_stay(void **state)
{
    static const char *const files[] = {"examples/hello.tarmac", "examples/sum.trace.zip",
                                        "examples/sum.tt6", "examples/boot.byu12"};

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        keep_them(files[i], TROD_ORDER_FILE, false);
        keep_them(files[i], TROD_ORDER_FILE, true);
    }
    keep_them("examples/sum.trace.zip", TROD_ORDER_DYNAMIC, true);
}

/* ROWS instructions to PATH, as two files of them take turns of TURN: file K. */
static void save_turns(const char *path, unsigned rows, unsigned turn, unsigned k)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (unsigned i = 0; i < rows; i++)
        fprintf(f, "%u clk cpu%u IT (%u) %08x d503201f A EL1h_n : NOP\n",
                (2 * (i / turn) + k) * turn + i % turn, k, i, 4096 + 4 * (i % 64));
    fclose(f);
}

/* In the order of time: whole batches can be kept, views of them cannot. */
static void test_times(void **state)
{
    enum { ROWS = 15000, TURN = 5000 };
    char *dir = test_tmpdir();
    struct trod_batch *b;
    struct trod_trace *t;
    unsigned views = 0;

    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        turns[k] = test_path(dir, k ? "b.tarmac" : "a.tarmac");
        save_turns(turns[k], ROWS, TURN, k);
    }
    t = open_small(NULL, TROD_ORDER_TIME);
    while (trod_trace_next(t, &b) == 1)
        views += !b->own;
    trod_trace_close(t);
    assert_true(views > 0);
    assert_true(keep_them(NULL, TROD_ORDER_TIME, false) > 1);
    keep_them(NULL, TROD_ORDER_TIME, true);
    test_remove(dir);
    free(turns[0]);
    free(turns[1]);
    free(dir);
}

/* There is one batch to take for each that was given: none before the first and behind the last. */
static void take_once(const char *path, bool ahead, enum trod_order order)
{
    const char *const paths[] = {path};
    const struct trod_trace_options opt = {.batch_rows = 1, .order = order, .ahead = ahead};
    struct trod_batch *b, *kept = NULL, *spare;
    struct trod_diag diag;
    struct trod_trace *t;
    uint64_t refused = 0;
    unsigned taken = 0;

    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_batch_new(&spare, TROD_BATCH_ROWS), TROD_OK);
    assert_int_equal(trod_trace_open(&t, paths, 1, &opt, &diag), TROD_OK);
    assert_int_equal(trod_trace_take(t, NULL), TROD_ERR_USAGE);
    assert_int_equal(diag.errors, ++refused);
    while (trod_trace_next(t, &b) == 1) {
        const int rc = trod_trace_take(t, kept);

        if (rc == TROD_ERR_UNSUPPORTED) { /* that it is, however often it is asked */
            assert_int_equal(trod_trace_take(t, kept), TROD_ERR_UNSUPPORTED);
            continue;
        }
        assert_int_equal(rc, TROD_OK);
        kept = b;
        taken++;
        assert_int_equal(trod_trace_take(t, NULL), TROD_ERR_USAGE);
        assert_int_equal(trod_trace_take(t, spare), TROD_ERR_USAGE); /* which stays the caller's */
        refused += 2;
        assert_int_equal(diag.errors, refused);
    }
    assert_int_equal(trod_trace_take(t, NULL), TROD_ERR_USAGE);
    assert_int_equal(diag.errors, ++refused);
    assert_int_equal(diag.worst, TROD_ERR_USAGE);
    assert_true(order != TROD_ORDER_FILE || taken > 2);
    trod_trace_close(t);
    trod_batch_free(kept);
    trod_batch_free(spare);
}

static void test_once(void **state)
{
    static const enum trod_order orders[] = {TROD_ORDER_FILE, TROD_ORDER_TIME};

    char *dir = test_tmpdir(), *path = test_path(dir, "a.tarmac");

    (void)state;
    save_turns(path, 8 * TROD_BATCH_ROWS, 1, 0);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        take_once(path, false, orders[i]);
        take_once(path, true, orders[i]);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_stay),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
