/*
 * test_tarmac_wide.c - long lines of Tarmac traces: registers of many kilobytes and accesses of
 * thousands of bytes, recognized by what they begin with and written in each dialect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testlib.h"

#include <stdlib.h>
#include <string.h>

enum { FM = 1, ES, GEM5 }; /* values of the option dialect, the first of tarmac */

static const char instruction[] = "1 clk cpu0 IT (1) 00001000 d503201f O EL1h_n : NOP\n";

static const struct trod_format *tarmac(void)
{
    return trod_format_find("tarmac", strlen("tarmac"));
}

static void add(struct trod_buf *b, const char *text)
{
    assert_int_equal(trod_buf_add(b, text, strlen(text)), TROD_OK);
}

/* A write of a register of WORDS words, divided by SEP. */
static void add_register(struct trod_buf *b, unsigned words, const char *sep)
{
    add(b, "1 clk cpu0 R za ");
    for (unsigned i = 0; i < words; i++)
        trod_buf_printf(b, "%s%08x", i ? sep : "", 0xdeadbee0 | i % 16);
    add(b, "\n");
}

/* The trace TEXT in DIALECT. */
static struct trod_buf written(const struct trod_buf *text, int dialect)
{
    const struct test_input in = {.format = tarmac(), .p = text->p, .n = text->n};
    int *opt = test_options(tarmac(), NULL);
    struct trod_buf out = {0};

    *opt = dialect;
    assert_int_equal(test_recode(&in, tarmac(), opt, &out, NULL), TROD_OK);
    free(opt);
    return out;
}

/* Is the trace TEXT recognized, seen whole or as far as a window goes? */
static bool recognized(const struct trod_buf *text)
{
    const size_t window = 1 << 16;
    const bool last = text->n <= window;
    const struct trod_probe probe = {.path = "x",
                                     .head = {text->p, last ? text->n : window, 0, last}};
    const char *dialect;

    return tarmac()->bid(&probe, &dialect) >= TROD_BID_ACCEPT;
}

/* Lines of any length count for the format that they are of. */
static void test_recognized(void **state)
{
    static const unsigned words[] = {1, 450, 455, 460, 512, 2048, 16384};
    static const char *const seps[] = {"_", " ", ":", ""};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < sizeof seps / sizeof *seps; k++) {
            struct trod_buf b = {0};

            for (int lines = 0; lines < 20; lines++)
                add_register(&b, words[i], seps[k]);
            if (!recognized(&b))
                fail_msg("%u words divided by '%s'", words[i], seps[k]);
            b.n = 0;
            add(&b, instruction);
            for (int lines = 0; lines < 20; lines++)
                add_register(&b, words[i], seps[k]);
            assert_true(recognized(&b));
            trod_buf_fini(&b);
        }
}

/* Other text of long lines does not become one. */
static void test_other_text(void **state)
{
    static const char *const pieces[] = {"\"key\": 12, ", "R ", "MR4 ", "a", "1 clk "};

    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct trod_buf b = {0};

        for (int lines = 0; lines < 3; lines++) {
            while (b.n < 10000 * (size_t)(lines + 1))
                add(&b, pieces[i]);
            add(&b, "\n");
        }
        if (recognized(&b))
            fail_msg("lines of %s", pieces[i]);
        trod_buf_fini(&b);
    }
}

/*
 * Registers of up to 400 kB: as long as the line is one of at most 1 MiB, it is written, in es with
 * blanks between its words.
 */
static void test_registers(void **state)
{
    static const unsigned words[] = {32, 4096, 13500, 16384, 65536, 100000};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct trod_buf fm = {0}, es, again, want = {0};

        add(&fm, instruction);
        add_register(&fm, words[i], "_");
        es = written(&fm, ES);
        add(&want, "                    R za ");
        for (size_t at = sizeof instruction - 1 + strlen("1 clk cpu0 R za "); at < fm.n; at++)
            trod_buf_printf(&want, "%c", fm.p[at] == '_' ? ' ' : fm.p[at]);
        assert_true(es.n > want.n);
        assert_memory_equal(es.p + es.n - want.n, want.p, want.n);
        again = written(&es, FM);
        assert_int_equal(again.n, fm.n);
        assert_memory_equal(again.p, fm.p, fm.n);
        trod_buf_fini(&fm);
        trod_buf_fini(&es);
        trod_buf_fini(&again);
        trod_buf_fini(&want);
    }
}

/*
 * Wide accesses in pictures, below the name of a cpu as long as may be: there is room. The encoder
 * gets a power of two, which the smaller one nearly fills.
 */
static void test_pictures(void **state)
{
    static const unsigned sizes[] = {6350, 9999};
    enum { NAME = 250 };

    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct trod_buf fm = {0}, es;
        size_t lines = 0;

        add(&fm, "1 clk cpu");
        for (int i = 0; i < NAME; i++)
            add(&fm, "x");
        trod_buf_printf(&fm, " MR%u 00008001:000000008001 ", sizes[k]);
        for (unsigned i = 0; i < sizes[k]; i++)
            add(&fm, "a5");
        add(&fm, "\n");
        es = written(&fm, ES); /* which ends the program where the encoder leaves its room */
        for (size_t i = 0; i < es.n; i++)
            lines += es.p[i] == '\n';
        assert_int_equal(lines, (1 + sizes[k] + 15) / 16); /* from 0x8000 on */
        trod_buf_fini(&fm);
        trod_buf_fini(&es);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recognized),
        cmocka_unit_test(test_other_text),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_pictures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
