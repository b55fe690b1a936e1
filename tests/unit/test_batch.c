/*
 * test_batch.c - batches: keeping rows, views, appending. Implements the contracts of batch.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trod/batch.h"

#include <string.h>

static struct trod_batch *fresh(uint32_t cap)
{
    struct trod_batch *b;

    assert_int_equal(trod_batch_new(&b, cap), 0);
    return b;
}

/* N rows: addr 100 + i, raw = byte i of BYTES, text = "t<i>" in the pool. */
static void fill(struct trod_batch *b, const uint8_t *bytes, uint32_t n)
{
    b->bytes = bytes;
    b->bytes_n = n;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_RAW | TROD_COL_TEXT;
    for (uint32_t i = 0; i < n; i++) {
        char *text = trod_batch_pool(b, 2, &b->text[i]);

        text[0] = 't';
        text[1] = (char)('0' + i % 10);
        b->has[i] = b->have;
        b->kind[i] = TROD_READ;
        b->flags[i] = 0;
        b->addr[i] = 100 + i;
        b->raw[i] = (struct trod_slice){i, 1};
        b->n++;
    }
}

static void test_new_checks_capacity(void **state)
{
    struct trod_batch *b = NULL;

    (void)state;
    assert_int_equal(trod_batch_new(&b, 0), TROD_ERR_USAGE);
    assert_null(b);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS + 1), TROD_ERR_USAGE);
    trod_batch_free(NULL);
}

static void test_columns_are_aligned(void **state)
{
    struct trod_batch *b = fresh(3);

    (void)state;
    assert_int_equal((uintptr_t)b->has % 64, 0);
    assert_int_equal((uintptr_t)b->kind % 64, 0);
    assert_int_equal((uintptr_t)b->time % 64, 0);
    assert_int_equal((uintptr_t)b->raw % 64, 0);
    assert_int_equal((uintptr_t)b->pool % 64, 0);
    trod_batch_free(b);
}

static void test_pool_fills_up(void **state)
{
    struct trod_batch *b = fresh(4);
    struct trod_slice s = {0, 0};
    uint8_t *p;

    (void)state;
    p = trod_batch_pool(b, 3, &s);
    assert_non_null(p);
    assert_ptr_equal(trod_batch_bytes(b, s), p);
    p = trod_batch_pool(b, 8, &s);
    assert_int_equal((uintptr_t)p % 8, 0);
    assert_non_null(trod_batch_pool(b, b->pool_cap - 16, &s));
    assert_null(trod_batch_pool(b, 1, &s));
    trod_batch_free(b);
}

static void test_keep_moves_every_column(void **state)
{
    static const uint8_t bytes[] = "abcdefgh", keep[] = {0, 1, 1, 0, 0, 1, 0, 1};
    static const char left[] = "bcfh";
    struct trod_batch *b = fresh(8);

    (void)state;
    fill(b, bytes, 8);
    assert_int_equal(trod_batch_keep(b, keep), 4);
    assert_int_equal(b->n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t was = (uint64_t)(left[i] - 'a');

        assert_int_equal(b->addr[i], 100 + was);
        assert_int_equal(*trod_batch_bytes(b, b->raw[i]), left[i]);
        assert_int_equal(trod_batch_bytes(b, b->text[i])[1], '0' + (int)was);
    }
    trod_batch_free(b);
}

/* A record of several rows that is kept in part is no longer what its raw bytes say. */
static void test_keep_parts_records(void **state)
{
    static const uint8_t bytes[] = "abcdef", keep[] = {1, 1, 0, 1, 1, 1};
    struct trod_batch *b = fresh(8);

    (void)state;
    fill(b, bytes, 6);
    b->flags[1] = TROD_F_CONT; /* a b: kept whole */
    b->flags[3] = TROD_F_CONT; /* c d: only d is kept */
    b->flags[5] = TROD_F_CONT; /* e f: kept whole */
    assert_int_equal(trod_batch_keep(b, keep), 5);
    assert_true(b->has[0] & TROD_COL_RAW);
    assert_true(b->flags[1] & TROD_F_CONT);
    assert_false(b->has[2] & TROD_COL_RAW);
    assert_false(b->flags[2] & TROD_F_CONT);
    assert_int_equal(b->addr[2], 103);
    assert_true(b->has[3] & TROD_COL_RAW);
    assert_true(b->flags[4] & TROD_F_CONT);
    trod_batch_free(b);
}

static void test_view_shares(void **state)
{
    static const uint8_t bytes[] = "abcdef";
    struct trod_batch *b = fresh(8), v;

    (void)state;
    fill(b, bytes, 6);
    b->first = 1000;
    trod_batch_view(&v, b, 2, 3);
    assert_int_equal(v.n, 3);
    assert_int_equal(v.first, 1002);
    assert_int_equal(v.addr[0], 102);
    assert_int_equal(*trod_batch_bytes(&v, v.raw[2]), 'e');
    trod_batch_free(b);
}

static void test_append_copies(void **state)
{
    static const uint8_t bytes[] = "abcdef";
    struct trod_batch *b = fresh(8), *to = fresh(4);

    (void)state;
    fill(b, bytes, 6);
    assert_int_equal(trod_batch_append(to, b, 1, 2), 2);
    assert_int_equal(trod_batch_append(to, b, 0, 6), 2);
    memset(b->pool, 'x', 64);
    assert_int_equal(to->n, 4);
    assert_int_equal(to->addr[0], 101);
    assert_int_equal(*trod_batch_bytes(to, to->raw[0]), 'b');
    assert_int_equal(trod_batch_bytes(to, to->text[1])[1], '2');
    assert_int_equal(*trod_batch_bytes(to, to->raw[3]), 'b');
    trod_batch_free(b);
    trod_batch_free(to);
}

/* Of many rows the few that have slices are found, wherever they are. */
static void test_append_finds_slices(void **state)
{
    enum { ROWS = 200 };
    static const uint8_t bytes[ROWS];

    (void)state;
    for (uint32_t at = 0; at < ROWS; at++) {
        struct trod_batch *b = fresh(ROWS), *to = fresh(ROWS);

        fill(b, bytes, ROWS);
        for (uint32_t i = 0; i < ROWS; i++)
            if (i != at && i != 130)
                b->has[i] &= ~(uint32_t)(TROD_COL_TEXT | TROD_COL_RAW);
        assert_int_equal(trod_batch_append(to, b, 0, ROWS), ROWS);
        memset(b->pool, 'x', b->pool_n);
        assert_int_equal(trod_batch_bytes(to, to->text[at])[1], '0' + (int)(at % 10));
        assert_int_equal(trod_batch_bytes(to, to->text[130])[1], '0');
        assert_int_equal(to->addr[ROWS - 1], 100 + ROWS - 1);
        trod_batch_free(b);
        trod_batch_free(to);
    }
}

static void test_names_go_both_ways(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        assert_non_null(trod_kind_name(i));
        assert_int_equal(trod_kind_find(trod_kind_name(i), strlen(trod_kind_name(i))), i);
    }
    assert_null(trod_kind_name(TROD_KINDS));
    assert_int_equal(trod_kind_find("instr", 5), TROD_INSTR);
    assert_int_equal(trod_kind_find("INSTRX", 6), -1);
    for (unsigned i = 0; i < TROD_COLUMNS; i++)
        assert_non_null(trod_column_name(i));
    assert_null(trod_column_name(TROD_COLUMNS));
    for (unsigned i = 0; i < TROD_UNITS; i++)
        assert_int_equal(trod_unit_find(trod_unit_name(i), strlen(trod_unit_name(i))), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_checks_capacity), cmocka_unit_test(test_columns_are_aligned),
        cmocka_unit_test(test_pool_fills_up),       cmocka_unit_test(test_keep_moves_every_column),
        cmocka_unit_test(test_keep_parts_records),  cmocka_unit_test(test_view_shares),
        cmocka_unit_test(test_append_copies),       cmocka_unit_test(test_append_finds_slices),
        cmocka_unit_test(test_names_go_both_ways),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
