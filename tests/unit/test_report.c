/*
 * test_report.c - reports: what is shortened and what the report says of it, stacks as functions,
 * texts that look like markup, the size that is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trod/buf.h"
#include "trod/trod.h"

#include <cmocka.h>

static const struct trod_result_column ranked[] = {
    {"name", TROD_COLUMN_KEY, NULL, NULL},
    {"n", TROD_COLUMN_MEASURE, NULL, NULL},
};
static const struct trod_result_column curve[] = {
    {"x", TROD_COLUMN_X, NULL, NULL},
    {"n", TROD_COLUMN_MEASURE, NULL, NULL},
};

static struct trod_result *begin(const char *name)
{
    struct trod_result *r;

    assert_int_equal(trod_result_new(&r), TROD_OK);
    trod_result_open(r, name, name);
    return r;
}

static void put_table(struct trod_result *r, const char *key,
                      const struct trod_result_column *columns, unsigned rows)
{
    trod_result_table(r, key, NULL, columns, 2);
    for (unsigned i = 0; i < rows; i++) {
        char name[16];

        snprintf(name, sizeof name, "row%u", i);
        if (columns == ranked)
            trod_result_str(r, NULL, name);
        else
            trod_result_u64(r, NULL, i);
        trod_result_u64(r, NULL, i);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

/* The report of R, which is released, ends with a NUL. */
static char *make(struct trod_result *r, uint64_t rows, uint64_t bytes, bool json, int status)
{
    const struct trod_report_options opt = {
        .struct_size = sizeof opt, .rows = rows, .bytes = bytes, .json = json};
    struct trod_buf out = {0};

    trod_result_close(r);
    assert_int_equal(trod_report_make(r, &opt, &out), status);
    trod_result_free(r);
    if (status < 0) {
        assert_int_equal(out.n, 0);
        return NULL;
    }
    assert_true(!bytes || out.n <= bytes);
    assert_int_equal(trod_buf_add(&out, "", 1), 0);
    return (char *)out.p;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

/* The first rows of a table; of a curve every 4th (3001 rows to at most 1000) and the last one. */
static void test_shortened(void **state)
{
    struct trod_result *r = begin("mix");
    char *text;

    (void)state;
    put_table(r, "ranked", ranked, 1001);
    put_table(r, "curve", curve, 3001);
    put_table(r, "short", curve, 1000);
    text = make(r, 0, 0, true, TROD_OK);
    assert_int_equal(count(text, "{\"name\": "), 1000);
    assert_int_equal(count(text, "{\"x\": "), 751 + 1000);
    assert_non_null(strstr(text, "{\"x\": 3000, "));
    assert_non_null(strstr(text, "{\"table\": \"mix.ranked\", \"rows\": 1001, \"kept\": 1000, "));
    assert_non_null(strstr(text, "{\"table\": \"mix.curve\", \"rows\": 3001, \"kept\": 751, "));
    assert_int_equal(count(text, "{\"table\": "), 2);
    free(text);
}

/* Of a curve no more rows are kept than asked for, the first one and, of several, the last one. */
static void test_curves(void **state)
{
    (void)state;
    for (uint64_t rows = 1; rows < 9; rows++)
        for (unsigned n = 1; n < 40; n++) {
            const unsigned all = n <= rows;
            struct trod_result *r = begin("mix");
            char last[32], *text;
            unsigned kept;

            put_table(r, "curve", curve, n);
            text = make(r, rows, 0, true, TROD_OK);
            kept = count(text, "{\"x\": ");
            assert_true(all ? kept == n : kept <= rows && kept > rows / 2);
            snprintf(last, sizeof last, "{\"x\": %u, ", n - 1);
            assert_int_equal(count(text, "{\"x\": 0, "), 1);
            assert_int_equal(count(text, last), rows > 1 || n == 1);
            free(text);
        }
}

static void test_lists_and_texts(void **state)
{
    struct trod_result *r = begin("locality");
    char name[TROD_REPORT_NAME + 20], *text;

    (void)state;
    memset(name, 'a', sizeof name);
    memcpy(name + TROD_REPORT_NAME - 1, "\xc3\xa9", 3); /* a letter of two bytes is not parted */
    trod_result_list(r, "streams", NULL);
    for (int i = 0; i < 100; i++) {
        trod_result_open(r, NULL, NULL);
        trod_result_str(r, "name", name);
        trod_result_close(r);
    }
    trod_result_list_close(r);
    text = make(r, 0, 0, true, TROD_OK);
    assert_int_equal(count(text, "\"name\": \""), 32);
    assert_int_equal(count(text, "\xc3"), 0);
    assert_int_equal(count(text, "a\"\n"), 32);
    assert_non_null(strstr(text, "\"locality.streams\", \"rows\": 100, \"kept\": 32, "));
    free(text);
}

static void put_stack(struct trod_result *r, const char *stack, uint64_t n)
{
    trod_result_str(r, NULL, stack);
    trod_result_u64(r, NULL, n);
    trod_result_row_end(r);
}

static struct trod_result *stacks(void)
{
    static const struct trod_result_column columns[] = {
        {"stack", TROD_COLUMN_KEY, NULL, NULL},
        {"count", TROD_COLUMN_MEASURE, NULL, NULL},
    };
    struct trod_result *r = begin("flame");

    trod_result_table(r, "stacks", NULL, columns, 2);
    put_stack(r, "main", 5);
    put_stack(r, "main-x", 7); /* "-" sorts before ";" */
    put_stack(r, "main;f", 20);
    put_stack(r, "main;f;g", 3);
    put_stack(r, "main;h", 2);
    trod_result_table_close(r);
    return r;
}

static void test_frames(void **state)
{
    char *text = make(stacks(), 0, 0, true, TROD_OK);

    (void)state;
    assert_non_null(
        strstr(text, "{\"parent\": null, \"name\": \"all\", \"total\": 37, \"self\": 0},\n"
                     "      {\"parent\": 0, \"name\": \"main\", \"total\": 30, \"self\": 5},\n"
                     "      {\"parent\": 1, \"name\": \"f\", \"total\": 23, \"self\": 20},\n"
                     "      {\"parent\": 2, \"name\": \"g\", \"total\": 3, \"self\": 3},\n"
                     "      {\"parent\": 1, \"name\": \"h\", \"total\": 2, \"self\": 2},\n"
                     "      {\"parent\": 0, \"name\": \"main-x\", \"total\": 7, \"self\": 7}\n"));
    assert_int_equal(count(text, "\"table\": "), 0);
    free(text);
    /* the four that cost most; g and h count for f and main */
    text = make(stacks(), 4, 0, true, TROD_OK);
    assert_non_null(
        strstr(text, "{\"parent\": null, \"name\": \"all\", \"total\": 37, \"self\": 0},\n"
                     "      {\"parent\": 0, \"name\": \"main\", \"total\": 30, \"self\": 7},\n"
                     "      {\"parent\": 1, \"name\": \"f\", \"total\": 23, \"self\": 23},\n"
                     "      {\"parent\": 0, \"name\": \"main-x\", \"total\": 7, \"self\": 7}\n"));
    assert_non_null(strstr(text, "\"flame.frames\", \"rows\": 6, \"kept\": 4, "));
    free(text);
}

/* What a trace says is text: in fields, cells, titles, attributes, and in the JSON of the page. */
static void test_markup(void **state)
{
    static const char bad[] = "</script><script>alert('1')</script>\"&\x01\xff";
    struct trod_result *r = begin("mix");
    char *text;

    (void)state;
    trod_result_str(r, "note", bad);
    put_table(r, "table", ranked, 1);
    trod_result_list(r, "streams", bad);
    trod_result_open(r, NULL, bad);
    trod_result_str(r, "name", bad);
    trod_result_list(r, "parts", NULL);
    trod_result_str(r, NULL, bad);
    trod_result_list_close(r);
    trod_result_close(r);
    trod_result_list_close(r);
    text = make(r, 0, 0, false, TROD_OK);
    assert_int_equal(count(text, "<script"), 2);
    assert_int_equal(count(text, "</script"), 2);
    assert_null(strchr(text, '\x01'));
    assert_null(strchr(text, '\xff'));
    assert_int_equal(count(text, "&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)"), 5);
    assert_int_equal(count(text, "\\u003c/script>\\u003cscript>alert('1')"), 3);
    assert_int_equal(count(text, "\\x01\\xff"), 5);
    free(text);
}

/* Tables become shorter until the page fits. */
static void test_size(void **state)
{
    struct trod_result *r = begin("mix");
    char *text;

    (void)state;
    for (int i = 0; i < 40; i++) {
        char key[16];

        snprintf(key, sizeof key, "table%d", i);
        put_table(r, key, ranked, 1000);
    }
    text = make(r, 0, 500000, false, TROD_OK);
    assert_non_null(strstr(text, "row62"));
    free(text);
    r = begin("mix");
    put_table(r, "ranked", ranked, 1000);
    make(r, 0, 1000, false, TROD_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortened),       cmocka_unit_test(test_curves),
        cmocka_unit_test(test_lists_and_texts), cmocka_unit_test(test_frames),
        cmocka_unit_test(test_markup),          cmocka_unit_test(test_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
