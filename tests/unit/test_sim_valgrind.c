/*
 * test_sim_valgrind - references listed by Lackey give what Cachegrind and Callgrind printed for
 * them.
 *
 * Files of the shared traces (valgrind/): each output, every line. Callgrind counts five
 * instructions less than there are references (valgrind/README.md); the expected texts have the
 * number of references instead.
 */
#include "sim/layout.h"

#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct trod_sim_ref *refs;
static size_t n_refs;

static void add(uint64_t addr, uint32_t size, uint64_t pc, uint8_t op)
{
    static size_t cap;

    if (n_refs == cap) {
        cap = cap ? 2 * cap : 4096;
        refs = realloc(refs, cap * sizeof *refs);
        assert_non_null(refs);
    }
    refs[n_refs++] = (struct trod_sim_ref){.addr = addr, .size = size, .pc = pc, .op = op};
}

/* The whole of FOLDER/NAME, uncompressed, with a NUL behind it. */
static char *whole(const char *folder, const char *name)
{
    struct trod_buf text = {0};
    struct trod_input *in;
    struct trod_span span;
    char path[1024];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (trod_input_open(&in, path, NULL, NULL) < 0)
        return NULL;
    while (trod_input_ahead(in, 0, &span) == 0 && span.n) {
        assert_int_equal(trod_buf_add(&text, span.p, span.n), 0);
        trod_input_consume(in, span.n);
    }
    trod_input_close(in);
    assert_int_equal(trod_buf_add(&text, "", 1), 0);
    return (char *)text.p;
}

static void read_lackey(char *text)
{
    uint64_t pc = 0;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char kind = *line == 'I' ? 'I' : line[1];
        char *end;
        const uint64_t addr = strtoull(line + 3, &end, 16);
        const uint32_t size = (uint32_t)strtoul(end + 1, NULL, 10);

        assert_int_equal(*end, ',');
        if (kind == 'I') {
            pc = addr;
            add(addr, size, pc, TROD_OP_FETCH);
        }
        if (kind == 'L' || kind == 'M')
            add(addr, size, pc, TROD_OP_READ);
        if (kind == 'S' || kind == 'M')
            add(addr, size, pc, TROD_OP_WRITE);
    }
}

/* In TEXT every FROM becomes TO, of the same length. */
static void change(char *text, const char *from, const char *to)
{
    for (char *at = strstr(text, from); at; at = strstr(at, from))
        memcpy(at, to, strlen(to));
}

static void one_file(const char *folder, const char *name)
{
    const bool callgrind = strncmp(name, "callgrind", 9) == 0;
    char *want = whole(folder, name), *options, *end;
    struct trod_buf got = {0};
    struct trod_cg_sim s;

    assert_non_null(want);
    options = strstr(want, "--tool=");
    end = strstr(want, " ./");
    assert_non_null(options);
    assert_non_null(end);
    *end = 0;
    assert_int_equal(trod_cg_sim_init(&s, callgrind, options, NULL), 0);
    for (size_t i = 0; i < n_refs; i += 1000) /* in pieces: a modification may be cut */
        trod_cg_sim_feed(&s, refs + i, n_refs - i < 1000 ? n_refs - i : 1000);
    trod_cg_sim_end(&s);
    assert_int_equal(trod_layout_cg(&s, &got), 0);
    assert_int_equal(trod_buf_add(&got, "", 1), 0);
    end = strchr(end + 1, '\n') + 1;
    if (callgrind) {
        change(end, "121755", "121760");
        change(end, "121,755", "121,760");
    }
    assert_string_equal((char *)got.p, end);
    trod_buf_fini(&got);
    trod_cg_sim_fini(&s);
    free(want);
}

static void test_files(void **state)
{
    static const char *const names[] = {
        "cachegrind_1.txt",       "cachegrind_2.txt",       "cachegrind_3.txt",
        "callgrind_1.txt",        "callgrind_2.txt",        "callgrind_3.txt",
        "callgrind_wb_1.txt",     "callgrind_wb_2.txt",     "callgrind_wb_3.txt",
        "callgrind_hwpref_1.txt", "callgrind_hwpref_2.txt", "callgrind_hwpref_3.txt",
    };
    const char *traces = getenv("TROD_TRACES"), *source = getenv("TROD_SOURCE");
    char folder[900];
    char *lackey;

    (void)state;
    snprintf(folder, sizeof folder, "%s%s/valgrind",
             traces   ? traces
             : source ? source
                      : ".",
             traces ? "" : "/../shared/traces");
    lackey = whole(folder, "lackey.txt.gz");
    if (!lackey) {
        print_message("no traces in %s\n", folder);
        skip();
    }
    read_lackey(lackey);
    free(lackey);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        one_file(folder, names[i]);
    free(refs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
