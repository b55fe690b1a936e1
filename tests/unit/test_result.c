/*
 * test_result.c - the result tree: what was put in is found again, and printed as the emitter
 * would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trod/trod.h"

#include <cmocka.h>

static const struct trod_result_column columns[] = {
    {"name", TROD_COLUMN_KEY, NULL, "what is counted"},
    {"bytes", TROD_COLUMN_MEASURE, "bytes", NULL},
    {"share", TROD_COLUMN_MEASURE, "percent", NULL},
};

static void build(struct trod_result *r)
{
    char name[] = "a";

    trod_result_u64(r, "rows", UINT64_MAX);
    trod_result_describe(r, "rows", "all of them");
    trod_result_open(r, "total", "total counts");
    trod_result_i64(r, "least", INT64_MIN);
    trod_result_hex(r, "address", 0x8000);
    trod_result_f64(r, "ratio", 0.25, 2);
    trod_result_bool(r, "exact", true);
    trod_result_close(r);
    trod_result_list(r, "threads", NULL);
    for (int i = 0; i < 3; i++) {
        trod_result_open(r, NULL, NULL);
        trod_result_str(r, "name", name);
        name[0]++; /* texts are copied */
        trod_result_close(r);
    }
    trod_result_list_close(r);
    trod_result_table(r, "lines", "lines", columns, 3);
    for (unsigned i = 0; i < 1000; i++) {
        trod_result_str(r, NULL, i % 2 ? "odd" : "even");
        trod_result_u64(r, NULL, i);
        if (i % 3)
            trod_result_f64(r, NULL, i / 10.0, 1);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static char *printed(const struct trod_result *r, enum trod_emit_format format)
{
    struct trod_emit_options opt = {.format = format};
    struct trod_emit *e;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    assert_int_equal(trod_emit_new(&e, f, &opt), TROD_OK);
    trod_result_emit(r, e);
    assert_int_equal(trod_emit_free(e), TROD_OK);
    fclose(f);
    return text;
}

static const struct trod_value *value(const struct trod_result *r, const char *path)
{
    const struct trod_node *n = trod_result_find(r, path);

    assert_non_null(n);
    assert_int_equal(n->type, TROD_NODE_VALUE);
    return &n->value;
}

static void test_found(void **state)
{
    const struct trod_node *t;
    struct trod_result *r;

    (void)state;
    assert_int_equal(trod_result_new(&r), TROD_OK);
    build(r);
    assert_int_equal(trod_result_status(r), TROD_OK);
    assert_true(value(r, "rows")->is.u64 == UINT64_MAX);
    assert_string_equal(trod_result_find(r, "rows")->about, "all of them");
    assert_true(value(r, "total.least")->is.i64 == INT64_MIN);
    assert_int_equal(value(r, "total.address")->type, TROD_RESULT_HEX);
    assert_true(value(r, "total.exact")->is.boolean);
    assert_string_equal(value(r, "threads.2.name")->is.str, "c");
    assert_null(trod_result_find(r, "threads.3"));
    assert_null(trod_result_find(r, "threads.x"));
    assert_null(trod_result_find(r, "rows.more"));
    assert_null(trod_result_find(r, "tot"));
    t = trod_result_find(r, "lines");
    assert_non_null(t);
    assert_int_equal(t->n_rows, 1000);
    assert_int_equal(trod_result_column(t, "share"), 2);
    assert_int_equal(trod_result_column(t, "shares"), -1);
    assert_int_equal(t->cells[999 * 3 + 1].is.u64, 999);
    assert_int_equal(t->cells[999 * 3 + 2].type,
                     TROD_RESULT_ABSENT); /* filled up by the row's end */
    assert_string_equal(t->columns[1].unit, "bytes");
    trod_result_free(r);
}

/* A tree put into another one prints as it does itself. */
static void test_copied(void **state)
{
    static const enum trod_emit_format formats[] = {TROD_EMIT_TEXT, TROD_EMIT_JSON, TROD_EMIT_CSV};
    struct trod_result *a, *b;

    (void)state;
    assert_int_equal(trod_result_new(&a), TROD_OK);
    assert_int_equal(trod_result_new(&b), TROD_OK);
    build(a);
    trod_result_add(b, a);
    for (size_t i = 0; i < 3; i++) {
        char *p = printed(a, formats[i]), *q = printed(b, formats[i]);

        assert_string_equal(p, q);
        assert_true(strlen(p) > 1000);
        free(p);
        free(q);
    }
    trod_result_free(a);
    trod_result_free(b);
}

/* Deeper than the emitter goes is an error that is kept, not a crash. */
/* Members of an object have different names; items of a list have none. */
static void test_same_name(void **state)
{
    struct trod_result *r;

    (void)state;
    assert_int_equal(trod_result_new(&r), TROD_OK);
    for (uint64_t i = 1; i <= 3; i++) {
        trod_result_open(r, "cache", NULL);
        trod_result_u64(r, "misses", i);
        trod_result_close(r);
    }
    trod_result_u64(r, "cache_2", 4);
    assert_int_equal(trod_result_status(r), TROD_OK);
    assert_int_equal(trod_result_find(r, "cache.misses")->value.is.u64, 1);
    assert_int_equal(trod_result_find(r, "cache_2.misses")->value.is.u64, 2);
    assert_int_equal(trod_result_find(r, "cache_3.misses")->value.is.u64, 3);
    assert_int_equal(trod_result_find(r, "cache_2_2")->value.is.u64, 4);
    trod_result_free(r);
}

static void test_too_deep(void **state)
{
    struct trod_result *r;

    (void)state;
    assert_int_equal(trod_result_new(&r), TROD_OK);
    for (int i = 0; i < 2 * TROD_EMIT_DEPTH; i++)
        trod_result_open(r, "deeper", NULL);
    assert_int_equal(trod_result_status(r), TROD_ERR_NOMEM);
    trod_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_copied),
        cmocka_unit_test(test_same_name),
        cmocka_unit_test(test_too_deep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
