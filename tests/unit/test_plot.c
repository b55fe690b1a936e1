/*
 * test_plot.c - results as charts: bars of known lengths, curves of known shapes, ASCII.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trod/buf.h"
#include "trod/trod.h"

#include <cmocka.h>

static struct trod_result *begin(void)
{
    struct trod_result *r;

    assert_int_equal(trod_result_new(&r), TROD_OK);
    return r;
}

/* The charts of R, which is released. */
static char *draw(struct trod_result *r, unsigned width, bool ascii, int charts)
{
    const struct trod_plot_options opt = {
        .struct_size = sizeof opt, .width = width, .rows = 4, .ascii = ascii};
    struct trod_buf out = {0};

    assert_int_equal(trod_plot_result(r, &opt, &out), charts);
    assert_int_equal(trod_buf_add(&out, "", 1), 0);
    trod_result_free(r);
    return (char *)out.p;
}

static struct trod_result *shares(void)
{
    static const struct trod_result_column columns[] = {
        {"name", TROD_COLUMN_KEY, NULL, NULL},
        {"n", TROD_COLUMN_MEASURE, NULL, NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", NULL},
    };
    static const char *const names[] = {"whole", "half", "little", "a\x1b[m", "none", "more"};
    static const double values[] = {50, 25, 1.5625, 12.5, 0, 0};
    struct trod_result *r = begin();

    trod_result_table(r, "parts", "parts of it", columns, 3);
    for (int i = 0; i < 6; i++) {
        trod_result_str(r, NULL, names[i]);
        trod_result_u64(r, NULL, 7);
        trod_result_f64(r, NULL, values[i], 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    return r;
}

/* 50 columns: 7 for the longest name, 5 for numbers, 5 between: 33 for 50 percent. */
static void bars(void **state)
{
    char *text = draw(shares(), 50, false, 1), want[2000] = "parts of it\n  whole   50.00 ";

    (void)state;
    for (int i = 0; i < 33; i++)
        strcat(want, "\u2588");
    strcat(want, "\n  half    25.00 ");
    for (int i = 0; i < 16; i++)
        strcat(want, "\u2588");
    strcat(want, "\u258c\n  little   1.56 \u2588\n  a\\x1b[m 12.50 "); /* 33 / 32; 33 / 4 */
    for (int i = 0; i < 8; i++)
        strcat(want, "\u2588");
    strcat(want, "\u258e\n  and 2 more\n");
    assert_string_equal(text, want);
    free(text);
    text = draw(shares(), 50, true, 1);
    assert_string_equal(text, "parts of it\n"
                              "  whole   50.00 #################################\n"
                              "  half    25.00 #################\n"
                              "  little   1.56 #\n"
                              "  a\\x1b[m 12.50 ######## \n"
                              "  and 2 more\n");
    free(text);
}

/* A step, in 74 dots: the left half of them is half as high. */
static void curve(void **state)
{
    static const struct trod_result_column columns[] = {
        {"x", TROD_COLUMN_X, NULL, NULL},
        {"n", TROD_COLUMN_MEASURE, NULL, NULL},
        {"text", TROD_COLUMN_MEASURE, NULL, NULL},
    };
    struct trod_result *r = begin();
    char *text, *line;

    (void)state;
    trod_result_table(r, "ramp", NULL, columns, 3);
    for (unsigned i = 0; i < 74; i++) {
        trod_result_u64(r, NULL, 10 * i);
        trod_result_u64(r, NULL, 1000 + 1000 * (i / 37));
        trod_result_str(r, NULL, "no number");
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    text = draw(r, 40, true, 1);
    line = strtok(text, "\n");
    assert_string_equal(line, "ramp");
    assert_string_equal(strtok(NULL, "\n"), "  n, at most 2000");
    for (int i = 0; i < 2; i++) {
        line = strtok(NULL, "\n");
        assert_int_equal(strspn(line, " |"), 3 + 18 + 1); /* of 37 characters one is half full */
        assert_int_equal(strlen(line), 3 + 37);
        assert_string_equal(line + 3 + 19, "##################");
    }
    for (int i = 0; i < 2; i++)
        assert_string_equal(strtok(NULL, "\n"), "  |#####################################");
    assert_string_equal(strtok(NULL, "\n"), "  from left to right: x 0 to 730");
    assert_null(strtok(NULL, "\n"));
    free(text);
}

/* Intervals: a curve for each number, but not for where they end. */
static void intervals(void **state)
{
    struct trod_result *r = begin();
    char *text;

    (void)state;
    trod_result_list(r, "intervals", "intervals");
    for (unsigned i = 0; i < 5; i++) {
        trod_result_open(r, NULL, NULL);
        trod_result_u64(r, "interval", i);
        trod_result_u64(r, "rows_end", 10 * i + 10);
        trod_result_u64(r, "loads", i == 3 ? 9 : 0);
        trod_result_str(r, "name", "text");
        trod_result_close(r);
    }
    trod_result_list_close(r);
    text = draw(r, 40, true, 1);
    assert_memory_equal(text, "intervals\n  loads, at most 9\n  |", 32);
    assert_null(strstr(text, "rows_end"));
    assert_null(strstr(text, "name"));
    assert_non_null(strstr(text, "from left to right: interval 0 to 4\n"));
    free(text);
}

static void nothing(void **state)
{
    struct trod_result *r = begin();

    (void)state;
    trod_result_u64(r, "rows", 1);
    free(draw(r, 0, false, 0));
}

static void ascii(void **state)
{
    struct trod_buf text = {0};

    (void)state;
    trod_buf_printf(&text, "a\u2588\u258f\u2801\u2880\u28ff\u2887\u00e9\u20ac\xe2");
    trod_plot_ascii(&text);
    trod_buf_add(&text, "", 1);
    assert_string_equal((const char *)text.p, "a# '.#|\u00e9\u20ac\xe2");
    trod_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars),    cmocka_unit_test(curve), cmocka_unit_test(intervals),
        cmocka_unit_test(nothing), cmocka_unit_test(ascii),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
