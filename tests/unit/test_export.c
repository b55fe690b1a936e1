/*
 * test_export.c - views through the library: which there are, their names, what a run tells, what
 * it refuses and what it leaves behind.
 */
#include "trod/export.h"
#include "trod/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/trod-export-XXXXXX", input[4096], output[4096];

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(input, sizeof input, "%s/in.tarmac", dir);
    snprintf(output, sizeof output, "%s/out", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(input);
    unlink(output);
    return rmdir(dir);
}

static void write_input(const char *text)
{
    FILE *f = fopen(input, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static size_t read_output(char *text, size_t size)
{
    FILE *f = fopen(output, "r");
    size_t n;

    assert_non_null(f);
    n = fread(text, 1, size - 1, f);
    text[n] = 0;
    fclose(f);
    return n;
}

static int run(const char *to, struct trod_export_summary *sum, struct trod_result *result,
               struct trod_diag *diag)
{
    const char *const paths[] = {input};
    const struct trod_export_options o = {.struct_size = sizeof o, .to = to};

    trod_diag_init(diag, NULL, NULL);
    return trod_export_run(paths, 1, output, &o, sum, result, diag);
}

static void descriptors(void **state)
{
    size_t n = 0;

    (void)state;
    for (; trod_export_at(n); n++) {
        const struct trod_export *v = trod_export_at(n);

        assert_ptr_equal(trod_export_find(v->name, strlen(v->name)), v);
        /* --to takes both: a name means one thing */
        assert_null(trod_format_find(v->name, strlen(v->name)));
        assert_non_null(v->title);
        assert_non_null(v->opens);
        assert_non_null(v->leaves_out);
        assert_non_null(v->suffixes);
        assert_true(v->needs & TROD_COL_KIND);
        for (size_t i = 0; v->suffixes[i]; i++) {
            char name[64];

            snprintf(name, sizeof name, "a%s", v->suffixes[i]);
            assert_ptr_equal(trod_export_by_name(name), v);
            if (v->form == TROD_EXPORT_TEXT) {
                strcat(name, ".zst");
                assert_ptr_equal(trod_export_by_name(name), v);
                strcat(name, "d");
                assert_ptr_equal(trod_export_by_name(name), v);
            }
            /* no format has it */
            for (size_t k = 0; trod_format_at(k); k++)
                for (size_t j = 0; trod_format_at(k)->suffixes && trod_format_at(k)->suffixes[j];
                     j++)
                    assert_string_not_equal(trod_format_at(k)->suffixes[j], v->suffixes[i]);
        }
    }
    assert_true(n > 10);
    assert_null(trod_export_find("chrom", 5));
    assert_null(trod_export_by_name("-"));
    assert_null(trod_export_by_name("x.tarmac"));
    assert_null(trod_export_by_name(".folded"));
}

static const char program[] = "1 clk IT (1) 00001000 94000008 O EL1h_n : BL       {pc}+0x20\n"
                              "2 clk IT (2) 00001020 d503201f O EL1h_n : NOP\n"
                              "3 clk IT (3) 00001024 d65f03c0 O EL1h_n : RET\n"
                              "4 clk IT (4) 00001004 d503201f O EL1h_n : NOP\n";

static void writes(void **state)
{
    struct trod_export_summary sum;
    struct trod_result *result;
    struct trod_diag diag;
    char text[256];

    (void)state;
    write_input(program);
    assert_int_equal(trod_result_new(&result), 0);
    assert_int_equal(run("folded:count=instructions", &sum, result, &diag), 0);
    assert_int_equal(read_output(text, sizeof text), sum.bytes);
    assert_non_null(strstr(text, ";0x1000 2\n"));
    assert_non_null(strstr(text, ";0x1000;0x1020 2\n"));
    assert_int_equal(sum.rows, 4);
    assert_int_equal(sum.taken, 4);
    assert_int_equal(trod_result_find(result, "stacks")->value.is.u64, 2);
    assert_int_equal(trod_result_find(result, "instructions")->value.is.u64, 4);
    trod_result_free(result);
    /* without anybody who wants to know */
    assert_int_equal(run("dot", &sum, NULL, &diag), 0);
    read_output(text, sizeof text);
    assert_memory_equal(text, "digraph", 7);
}

/* What is refused leaves an output that is there as it is. */
static void refuses(void **state)
{
    static const char *const wrong[] = {"",           "no-such-view",   "folded:count=apples",
                                        "folded:x=1", "drcov:module=p", "drcov",
                                        "lcov",       "callgrind:x=1"};
    struct trod_export_summary sum;
    struct trod_diag diag;
    char text[16];
    FILE *f = fopen(output, "w");

    (void)state;
    assert_non_null(f);
    fputs("before", f);
    fclose(f);
    write_input(program);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(run(wrong[i], &sum, NULL, &diag), TROD_ERR_USAGE);
        assert_true(diag.errors > 0);
        read_output(text, sizeof text);
        assert_string_equal(text, "before");
    }
    {
        const char *const paths[] = {input};
        const struct trod_export_options o = {.struct_size = sizeof o, .to = "folded"};

        trod_diag_init(&diag, NULL, NULL);
        assert_int_equal(trod_export_run(paths, 1, input, &o, &sum, NULL, &diag), TROD_ERR_USAGE);
    }
}

/* Damage: what could be read is written, and the error returned; strictly nothing is. */
static void damaged(void **state)
{
    struct trod_export_summary sum;
    struct trod_diag diag;
    char text[256];

    (void)state;
    write_input("1 clk IT (1) 00001000 d503201f O EL1h_n : NOP\n"
                "2 clk IT (2 00001004\n"
                "3 clk IT (3) 00001004 d503201f O EL1h_n : NOP\n");
    run("folded", &sum, NULL, &diag);
    assert_true(diag.errors > 0);
    read_output(text, sizeof text);
    assert_non_null(strstr(text, ";0x1000 2\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors),
        cmocka_unit_test(writes),
        cmocka_unit_test(refuses),
        cmocka_unit_test(damaged),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
