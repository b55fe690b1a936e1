/*
 * test_put.c - numbers and strings into memory, against printf and hand-written expectations.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trod/put.h"

static const uint64_t edges[] = {0,
                                 1,
                                 9,
                                 10,
                                 15,
                                 16,
                                 99,
                                 100,
                                 101,
                                 999,
                                 1000,
                                 9999,
                                 10000,
                                 10001,
                                 99999,
                                 100000,
                                 4294967295u,
                                 4294967296u,
                                 9007199254740993u,
                                 9999999999999999999u,
                                 10000000000000000000u,
                                 UINT64_MAX};

enum { EDGES = sizeof edges / sizeof edges[0] };

/* Counted from the right every fourth character is a comma, and without them it is DIGITS. */
static void check_grouped(uint64_t v, const char *digits)
{
    char got[TROD_PUT_GROUPED];
    const size_t n = (size_t)(trod_put_grouped(got, v) - got);
    size_t left = strlen(digits);

    assert_int_equal(n, left + (left - 1) / 3);
    for (size_t i = 1; i <= n; i++)
        assert_int_equal(got[n - i], i % 4 == 0 ? ',' : digits[--left]);
    assert_int_equal(left, 0);
}

static void check_number(uint64_t v)
{
    char want[64], got[64];
    size_t n = (size_t)(trod_put_u64(got, v) - got);

    got[n] = 0;
    snprintf(want, sizeof want, "%" PRIu64, v);
    assert_string_equal(got, want);
    assert_int_equal(trod_digits(v), strlen(want));
    check_grouped(v, want);
    for (unsigned width = 0; width < 25; width += 6) {
        snprintf(want, sizeof want, "%*" PRIu64, (int)width, v);
        *trod_put_right(got, v, width) = 0;
        assert_string_equal(got, want);
    }
    for (unsigned digits = 1; digits <= 16; digits++) {
        snprintf(want, sizeof want, "%0*" PRIx64, (int)digits, v);
        *trod_put_hex(got, v, digits) = 0;
        assert_string_equal(got, want);
    }
    snprintf(want, sizeof want, "%" PRIx64, v);
    assert_int_equal(trod_hex_digits(v), strlen(want));
}

static void numbers(void **state)
{
    uint64_t x = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < EDGES; i++)
        check_number(edges[i]);
    for (int i = 0; i < 2000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        check_number(x >> (i % 64));
    }
}

static void fixed(void **state)
{
    char s[TROD_PUT_TIME + 1];

    (void)state;
    *trod_put_fixed(s, 10356000, 6) = 0;
    assert_string_equal(s, "10.356000");
    *trod_put_fixed(s, 5, 1) = 0;
    assert_string_equal(s, "0.5");
    *trod_put_fixed(s, 135, 0) = 0;
    assert_string_equal(s, "135");
    *trod_put_fixed(s, UINT64_MAX, 15) = 0;
    assert_string_equal(s, "18446.744073709551615");
}

static void hexadecimal_bytes(void **state)
{
    char s[9];

    (void)state;
    *trod_put_bytes(s, (const uint8_t *)"\x00\x1f\xe0\xff", 4) = 0;
    assert_string_equal(s, "001fe0ff");
    *trod_put_bytes_reversed(s, (const uint8_t *)"\x00\x1f\xe0\xff", 4) = 0;
    assert_string_equal(s, "ffe01f00");
}

/* Expect IN (N bytes) to become OUT. */
#define CONVERTS(how, in, out)                                                                     \
    do {                                                                                           \
        char got_[256];                                                                            \
        *how(got_, in, sizeof(in) - 1) = 0;                                                        \
        assert_string_equal(got_, out);                                                            \
    } while (0)

static void json(void **state)
{
    (void)state;
    CONVERTS(trod_put_json, "", "");
    CONVERTS(trod_put_json, "plain /text", "plain /text");
    CONVERTS(trod_put_json, "\"\\\b\t\n\f\r\v\x01\x7f",
             "\\\"\\\\\\b\\t\\n\\f\\r\\u000b\\u0001\\u007f");
    CONVERTS(trod_put_json, "a\0b", "a\\u0000b");
    CONVERTS(trod_put_json, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xbe",
             "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xbe");
    /* alone, overlong, surrogate, beyond Unicode, cut */
    CONVERTS(trod_put_json, "\xff", "\\u00ff");
    CONVERTS(trod_put_json, "\xc0\x80", "\\u00c0\\u0080");
    CONVERTS(trod_put_json, "\xed\xa0\x80", "\\u00ed\\u00a0\\u0080");
    CONVERTS(trod_put_json, "\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080");
    CONVERTS(trod_put_json, "\xe2\x82", "\\u00e2\\u0082");
}

static void csv(void **state)
{
    (void)state;
    CONVERTS(trod_put_csv, "", "");
    CONVERTS(trod_put_csv, "plain", "plain");
    CONVERTS(trod_put_csv, "a,b", "\"a,b\"");
    CONVERTS(trod_put_csv, "say \"x\"", "\"say \"\"x\"\"\"");
    CONVERTS(trod_put_csv, "two\nlines", "\"two\nlines\"");
    CONVERTS(trod_put_csv, "cr\r", "\"cr\r\"");
    CONVERTS(trod_put_csv, " lead", "\" lead\"");
}

static void visible(void **state)
{
    (void)state;
    CONVERTS(trod_put_visible, "a\tb", "a b");
    CONVERTS(trod_put_visible, "\x1b[31m\0\x7f", "\\x1b[31m\\x00\\x7f");
    CONVERTS(trod_put_visible, "\xc3\xbc\xff", "\xc3\xbc\\xff");
    CONVERTS(trod_put_visible, "\xc2\x9b", "\\xc2\\x9b");
}

/* Every byte at every place of texts that are looked at in eights, against one byte at a time. */
static void visible_everywhere(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at < 19; at++) {
            char text[20], got[160], want[160];
            size_t n = 0;

            memset(text, '~', sizeof text);
            text[at] = (char)byte;
            for (size_t i = 0; i < sizeof text; i++)
                n = (size_t)(trod_put_visible(want + n, text + i, 1) - want);
            assert_int_equal(trod_put_visible(got, text, sizeof text) - got, n);
            assert_memory_equal(got, want, n);
            n = 0;
            for (size_t i = 0; i < sizeof text; i++)
                n = (size_t)(trod_put_json(want + n, text + i, 1) - want);
            assert_int_equal(trod_put_json(got, text, sizeof text) - got, n);
            assert_memory_equal(got, want, n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(fixed),
        cmocka_unit_test(hexadecimal_bytes),
        cmocka_unit_test(json),
        cmocka_unit_test(csv),
        cmocka_unit_test(visible),
        cmocka_unit_test(visible_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
