/*
 * test_emit.c - one report as text, JSON (read back by jansson) and CSV.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "trod/emit.h"
#include "trod_config.h"

#if TROD_HAVE_JANSSON
#include <jansson.h>
#endif

static const char *const columns[] = {"kind", "rows", "percent"};

/* A report with everything that the interface has. */
static void report(struct trod_emit *e)
{
    trod_emit_str(e, "file_name", "a\"b\xff");
    trod_emit_u64(e, "big", UINT64_MAX);
    trod_emit_i64(e, "small", INT64_MIN);
    trod_emit_hex(e, "address", 0xffffffffffff0000);
    trod_emit_f64(e, "ratio", 2.0 / 3, 3);
    trod_emit_bool(e, "whole", true);
    trod_emit_str(e, "absent", NULL);
    trod_emit_list(e, "filters", NULL);
    trod_emit_str(e, NULL, "gzip");
    trod_emit_str(e, NULL, "zstd");
    trod_emit_list_close(e);
    trod_emit_list(e, "empty", NULL);
    trod_emit_list_close(e);
    trod_emit_list(e, "parts", "Parts");
    for (uint64_t i = 0; i < 2; i++) {
        trod_emit_open(e, NULL, i ? "second" : "first");
        trod_emit_u64(e, "n", i);
        trod_emit_table(e, "kinds", "By kind", columns, 3);
        trod_emit_strn(e, NULL, "RE,AD", 5);
        trod_emit_u64(e, NULL, 10 + i);
        trod_emit_f64(e, NULL, 99.5, 1);
        trod_emit_row_end(e);
        trod_emit_str(e, NULL, "REG");
        trod_emit_absent(e);
        trod_emit_f64(e, NULL, 0.5, 1);
        trod_emit_row_end(e);
        trod_emit_table_close(e);
        trod_emit_close(e);
    }
    trod_emit_list_close(e);
    trod_emit_open(e, "end", NULL);
    trod_emit_u64(e, "last", 3);
}

static unsigned width; /* that emitted() folds to */

static char *emitted(enum trod_emit_format format, void (*fill)(struct trod_emit *))
{
    struct trod_emit_options opt = {.format = format, .width = width};
    struct trod_emit *e;
    static char *text; /* static: gcc 12 takes what open_memstream gives for the address of text */
    static size_t n;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    assert_int_equal(trod_emit_new(&e, f, &opt), 0);
    fill(e);
    assert_int_equal(trod_emit_free(e), 0);
    fclose(f);
    return text;
}

static void text(void **state)
{
    static const char want[] = "file name:  a\"b\\xff\n"
                               "big:        18446744073709551615\n"
                               "small:      -9223372036854775808\n"
                               "address:    0xffffffffffff0000\n"
                               "ratio:      0.667\n"
                               "whole:      yes\n"
                               "filters:    gzip, zstd\n"
                               "\n"
                               "Parts\n"
                               "\n"
                               "  first\n"
                               "    n:  0\n"
                               "\n"
                               "    By kind\n"
                               "      kind   rows  percent\n"
                               "      RE,AD    10     99.5\n"
                               "      REG       -      0.5\n"
                               "\n"
                               "  second\n"
                               "    n:  1\n"
                               "\n"
                               "    By kind\n"
                               "      kind   rows  percent\n"
                               "      RE,AD    11     99.5\n"
                               "      REG       -      0.5\n"
                               "\n"
                               "end\n"
                               "  last:  3\n";
    char *got = emitted(TROD_EMIT_TEXT, report);

    (void)state;
    assert_string_equal(got, want);
    free(got);
}

static void csv(void **state)
{
    static const char want[] = "name,value\n"
                               "file_name,\"a\"\"b\xff\"\n"
                               "big,18446744073709551615\n"
                               "small,-9223372036854775808\n"
                               "address,0xffffffffffff0000\n"
                               "ratio,0.667\n"
                               "whole,true\n"
                               "filters.0,gzip\n"
                               "filters.1,zstd\n"
                               "parts.0.n,0\n"
                               "\n"
                               "item,kind,rows,percent\n"
                               "parts.0,\"RE,AD\",10,99.5\n"
                               "parts.0,REG,,0.5\n"
                               "\n"
                               "name,value\n"
                               "parts.1.n,1\n"
                               "\n"
                               "item,kind,rows,percent\n"
                               "parts.1,\"RE,AD\",11,99.5\n"
                               "parts.1,REG,,0.5\n"
                               "\n"
                               "name,value\n"
                               "end.last,3\n";
    char *got = emitted(TROD_EMIT_CSV, report);

    (void)state;
    assert_string_equal(got, want);
    free(got);
}

#if TROD_HAVE_JANSSON

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static void json(void **state)
{
    char *got = emitted(TROD_EMIT_JSON, report);
    json_error_t error;
    json_t *o, *part, *kinds;

    (void)state;
    /* jansson has no unsigned 64-bit integers */
    assert_non_null(strstr(got, "\"big\": 18446744073709551615,"));
    memset(strstr(got, "18446744073709551615"), ' ', 4);
    o = json_loads(got, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(o);
    assert_string_equal(text_of(o, "file_name"), "a\"b\xc3\xbf");
    assert_true(json_integer_value(json_object_get(o, "small")) == INT64_MIN);
    assert_string_equal(text_of(o, "address"), "0xffffffffffff0000");
    assert_true(fabs(json_real_value(json_object_get(o, "ratio")) - 0.667) < 1e-9);
    assert_true(json_is_true(json_object_get(o, "whole")));
    assert_null(json_object_get(o, "absent"));
    assert_int_equal(json_array_size(json_object_get(o, "filters")), 2);
    assert_int_equal(json_array_size(json_object_get(o, "empty")), 0);
    assert_int_equal(json_array_size(json_object_get(o, "parts")), 2);
    part = json_array_get(json_object_get(o, "parts"), 1);
    assert_int_equal(json_integer_value(json_object_get(part, "n")), 1);
    kinds = json_object_get(part, "kinds");
    assert_int_equal(json_array_size(kinds), 2);
    assert_string_equal(text_of(json_array_get(kinds, 0), "kind"), "RE,AD");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(kinds, 0), "rows")), 11);
    assert_true(json_is_null(json_object_get(json_array_get(kinds, 1), "rows")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "end"), "last")), 3);
    json_decref(o);
    free(got);
}

static void nothing(struct trod_emit *e)
{
    (void)e;
}

static void not_finite(struct trod_emit *e)
{
    trod_emit_f64(e, "a", (double)NAN, 2);
    trod_emit_f64(e, "b", -(double)INFINITY, 2);
    trod_emit_f64(e, "c", 1e300, 2);
}

/* Deeper than the emitter goes: what is too deep is left out, the rest stays whole. */
static void deep(struct trod_emit *e)
{
    for (int i = 0; i < TROD_EMIT_DEPTH + 5; i++)
        trod_emit_open(e, "in", NULL);
    trod_emit_u64(e, "lost", 1);
    for (int i = 0; i < TROD_EMIT_DEPTH + 5; i++)
        trod_emit_close(e);
    trod_emit_u64(e, "kept", 2);
}

static void json_is_always_whole(void **state)
{
    static void (*const fills[])(struct trod_emit *) = {nothing, not_finite, deep};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char *got = emitted(TROD_EMIT_JSON, fills[i]);
        json_error_t error;
        json_t *o = json_loads(got, 0, &error);

        assert_true(json_is_object(o));
        assert_true(i != 1 || json_is_null(json_object_get(o, "a")));
        assert_true(i != 2 || json_integer_value(json_object_get(o, "kept")) == 2);
        json_decref(o);
        free(got);
    }
}

#endif

/* 1,278,587,797 / 2^30 = 1.19; 1,234,567 / 2^20 = 1.18; 10,240 = 10 * 2^10 */
static void for_people(struct trod_emit *e)
{
    trod_emit_bytes(e, "a", 1278587797);
    trod_emit_bytes(e, "b", 1234567);
    trod_emit_bytes(e, "c", 10240);
    trod_emit_bytes(e, "d", 999);
    trod_emit_count(e, "e", 1234);
    trod_emit_count(e, "f", 12345);
    trod_emit_count(e, "g", UINT64_MAX);
}

static void counts_are_grouped_for_people_only(void **state)
{
    char *text = emitted(TROD_EMIT_TEXT, for_people), *csv = emitted(TROD_EMIT_CSV, for_people);

    (void)state;
    assert_string_equal(text, "a:  1,278,587,797 bytes (1.2 GiB)\n"
                              "b:  1,234,567 bytes (1.2 MiB)\n"
                              "c:  10,240 bytes (10.0 KiB)\n"
                              "d:  999\n"
                              "e:  1,234\n"
                              "f:  12,345\n"
                              "g:  18,446,744,073,709,551,615\n");
    assert_non_null(strstr(csv, "a,1278587797\n"));
    assert_non_null(strstr(csv, "g,18446744073709551615\n"));
    free(text);
    free(csv);
}

static void rows(struct trod_emit *e)
{
    trod_emit_rows(e, columns, 3);
    for (uint64_t i = 0; i < 2; i++) {
        trod_emit_str(e, NULL, "X");
        trod_emit_u64(e, NULL, i * 1000);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void rows_stream(void **state)
{
    static const char *const want[] = {
        "kind  rows  percent\nX        0        -\nX     1000        -\n",
        ("{\"kind\": \"X\", \"rows\": 0, \"percent\": null}\n"
         "{\"kind\": \"X\", \"rows\": 1000, \"percent\": null}\n"),
        "kind,rows,percent\nX,0,\nX,1000,\n",
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        char *got = emitted((enum trod_emit_format)i, rows);

        assert_string_equal(got, want[i]);
        free(got);
    }
}

static void holes(struct trod_emit *e)
{
    trod_emit_table(e, "t", NULL, columns, 3);
    for (uint64_t i = 0; i < 2; i++) {
        trod_emit_absent(e);
        trod_emit_u64(e, NULL, 9 + i);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void columns_that_say_nothing_are_left_out_of_text(void **state)
{
    char *got = emitted(TROD_EMIT_TEXT, holes);

    (void)state;
    assert_string_equal(got, "t\n  rows\n     9\n    10\n");
    free(got);
    got = emitted(TROD_EMIT_CSV, holes);
    assert_string_equal(got, "kind,rows,percent\n,9,\n,10,\n");
    free(got);
}

static void table_and_field(struct trod_emit *e)
{
    trod_emit_open(e, NULL, NULL);
    holes(e);
    trod_emit_u64(e, "sum", 19);
    trod_emit_u64(e, "rest", 0);
    trod_emit_close(e);
}

static void a_field_behind_a_table_is_no_row_of_it(void **state)
{
    char *got = emitted(TROD_EMIT_TEXT, table_and_field);

    (void)state;
    assert_string_equal(got, "t\n  rows\n     9\n    10\n\nsum:   19\nrest:  0\n");
    free(got);
}

/* More rows than are held back for alignment. */
static void many(struct trod_emit *e)
{
    trod_emit_rows(e, columns, 2);
    for (uint64_t i = 0; i < 200000; i++) {
        trod_emit_str(e, NULL, "word");
        trod_emit_u64(e, NULL, i);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void long_tables_lose_nothing(void **state)
{
    char *got = emitted(TROD_EMIT_TEXT, many), *p = got;
    uint64_t lines = 0;

    (void)state;
    p = strchr(p, '\n') + 1;
    for (; *p; p++) {
        assert_memory_equal(p, "word", 4);
        assert_int_equal(strtoul(p + 4, &p, 10), lines);
        assert_int_equal(*p, '\n');
        lines++;
    }
    assert_int_equal(lines, 200000);
    free(got);
}

/* Tables and fields wider than a line, laid out by hand for lines of 60 columns. */
static void wide(struct trod_emit *e)
{
    static const char *const rules[] = {"rule", "n", "text"};
    static const char *const numbers[] = {"thread",        "instructions", "bytes_read",
                                          "bytes_written", "code_bytes",   "name"};

    trod_emit_str(e, "hint", "one two three four five six seven eight nine ten eleven twelve");
    trod_emit_u64(e, "n", 1);
    trod_emit_table(e, "rules", "Rules", rules, 3);
    trod_emit_str(e, NULL, "a.b");
    trod_emit_u64(e, NULL, 7);
    trod_emit_str(e, NULL, "every record can be read: no damage, no cut ends, no file missing");
    trod_emit_row_end(e);
    trod_emit_str(e, NULL, "a.long-name");
    trod_emit_u64(e, NULL, 12);
    trod_emit_str(e, NULL, "short");
    trod_emit_row_end(e);
    trod_emit_table_close(e);
    trod_emit_table(e, "t", NULL, numbers, 6);
    for (unsigned i = 8; i < 11; i += 2) {
        trod_emit_u64(e, NULL, i);
        trod_emit_u64(e, NULL, i * 1000);
        trod_emit_u64(e, NULL, i * 10);
        trod_emit_absent(e);
        trod_emit_u64(e, NULL, i * 100000);
        trod_emit_str(e, NULL, i == 8 ? "eight" : "ten");
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void what_is_wide_is_folded(void **state)
{
    static const char want[] = "hint:  one two three four five six seven eight nine ten\n"
                               "       eleven twelve\n"
                               "n:     1\n"
                               "\n"
                               "Rules\n"
                               "  rule          n  text\n"
                               "  a.b           7  every record can be read: no damage, no\n"
                               "                   cut ends, no file missing\n"
                               "  a.long-name  12  short\n"
                               "\n"
                               "t\n"
                               "  thread  instructions  bytes_read  code_bytes  name\n"
                               "       8          8000          80      800000  eight\n"
                               "      10         10000         100     1000000  ten\n";
    static const char narrow[] = "\n"
                                 "  thread  instructions  bytes_read\n"
                                 "       8          8000          80\n"
                                 "      10         10000         100\n"
                                 "\n"
                                 "  thread  code_bytes  name\n"
                                 "       8      800000  eight\n"
                                 "      10     1000000  ten\n";
    char *got;

    (void)state;
    width = 60;
    got = emitted(TROD_EMIT_TEXT, wide);
    assert_string_equal(got, want);
    free(got);
    width = 40;
    got = emitted(TROD_EMIT_TEXT, wide);
    assert_non_null(strstr(got, "\nt\n"));
    assert_string_equal(strstr(got, "\nt\n") + 2, narrow);
    free(got);
    width = 0;
}

/* A table drawn from a seed: words of up to 30 letters, numbers, absent cells. */
static struct trod_rng rng;

static size_t below(size_t n)
{
    return (size_t)(trod_rng_next(&rng) % n);
}

static void drawn(struct trod_emit *e)
{
    static const char *const heads[] = {"a", "bb", "ccc", "dddd", "eeeee", "ffffff"};
    const size_t n = 1 + below(6), rows = below(9);
    unsigned shape = (unsigned)below(64);

    trod_emit_table(e, "t", NULL, heads, n);
    for (size_t i = 0; i < rows * n; i++) {
        char text[64] = "", *at = text;

        for (size_t words = 1 + below(7); words > 0; words--) {
            const size_t len = 1 + below(5);

            memset(at, 'w', len);
            at += len;
            *at++ = words > 1 ? ' ' : '\0';
        }
        if (below(8) == 0)
            trod_emit_absent(e);
        else if (shape >> (i % n) & 1)
            trod_emit_str(e, NULL, text);
        else
            trod_emit_u64(e, NULL, below(1000000));
        if ((i + 1) % n == 0)
            trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static size_t letters(const char *s, int what)
{
    size_t n = 0;

    for (; *s; s++)
        n += what == 'w' ? *s == 'w' : *s >= '0' && *s <= '9';
    return n;
}

/* Folded, no line is too long, and nothing is lost: as many letters as without folding. */
static void folding_loses_nothing(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 500; seed++) {
        char *whole, *folded;
        bool numbers_repeat;

        trod_rng_seed(&rng, seed);
        width = 0;
        whole = emitted(TROD_EMIT_TEXT, drawn);
        trod_rng_seed(&rng, seed);
        width = 60 + seed % 60;
        folded = emitted(TROD_EMIT_TEXT, drawn);
        for (const char *p = folded, *end; *p; p = end + 1) {
            end = strchr(p, '\n');
            assert_non_null(end);
            assert_in_range(end - p, 0, width);
            assert_true(end == p || end[-1] != ' ');
        }
        /* blocks repeat the first column, and only it */
        numbers_repeat = letters(folded, 'w') != letters(whole, 'w') ||
                         letters(folded, '0') != letters(whole, '0');
        assert_true(letters(folded, 'w') >= letters(whole, 'w'));
        assert_true(letters(folded, '0') >= letters(whole, '0'));
        assert_true(!numbers_repeat || strstr(folded, "\n\n"));
        free(whole);
        free(folded);
    }
    width = 0;
}

static void numbers_are_said_in_words(struct trod_emit *e)
{
    trod_emit_said(e, "bits", 60, "known_by", "its content");
    trod_emit_u64(e, "n", 1);
}

static void text_may_say_a_number_in_words(void **state)
{
    char *got = emitted(TROD_EMIT_TEXT, numbers_are_said_in_words);

    (void)state;
    assert_string_equal(got, "known by:  its content\nn:         1\n");
    free(got);
    got = emitted(TROD_EMIT_CSV, numbers_are_said_in_words);
    assert_non_null(strstr(got, "bits,60\n"));
    assert_null(strstr(got, "content"));
    free(got);
}

static void a_full_disk_is_told(void **state)
{
    struct trod_emit_options opt = {.format = TROD_EMIT_JSON};
    struct trod_emit *e;
    FILE *f = fopen("/dev/full", "w");

    (void)state;
    if (!f)
        skip();
    assert_int_equal(trod_emit_new(&e, f, &opt), 0);
    trod_emit_u64(e, "a", 1);
    assert_int_equal(trod_emit_free(e), TROD_ERR_IO);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(csv),
#if TROD_HAVE_JANSSON
        cmocka_unit_test(json),
        cmocka_unit_test(json_is_always_whole),
#endif
        cmocka_unit_test(rows_stream),
        cmocka_unit_test(counts_are_grouped_for_people_only),
        cmocka_unit_test(columns_that_say_nothing_are_left_out_of_text),
        cmocka_unit_test(a_field_behind_a_table_is_no_row_of_it),
        cmocka_unit_test(long_tables_lose_nothing),
        cmocka_unit_test(what_is_wide_is_folded),
        cmocka_unit_test(folding_loses_nothing),
        cmocka_unit_test(text_may_say_a_number_in_words),
        cmocka_unit_test(a_full_disk_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
