/*
 * test_drmwrite_copies.c - drmemtrace, written from traces that exist: copies, golden files of
 * other formats, real traces, judged by the oracle of drm_check.h.
 */
#include "drmwrite_data.h"
#include "golden.h"

#include <sys/stat.h>

static struct trod_buf contents(const char *path)
{
    struct file *f = malloc(sizeof *f);
    struct trod_buf b;

    assert_non_null(f);
    load_file(path, f);
    b = f->bytes;
    free(f);
    return b;
}

static void copied_alike(const char *in, const char *dir)
{
    static const char *const names[] = {"c.trace",     "c.trace.gz",  "c.trace.zip",
                                        "c.trace.lz4", "c.trace.zst", "c.trace.sz"};
    struct trod_buf a = contents(in);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *out = test_path(dir, names[i]);
        const struct job j = {in, out, "drmemtrace", 0, NULL, NULL, 0};
        struct trod_buf b;

        convert(&j);
        b = contents(out);
        if (a.n != b.n || memcmp(a.p, b.p, a.n) != 0)
            fail_msg("%s as %s: not the same entries", in, names[i]);
        trod_buf_fini(&b);
        free(out);
    }
    trod_buf_fini(&a);
}

static void test_golden_copies(void **state)
{
    char *golden = test_path(test_source_dir(), "tests/golden/drmemtrace");
    struct test_list l = test_files(golden);
    char *dir = test_tmpdir();

    (void)state;
    for (size_t i = 0; i < l.n; i++) {
        char *path = test_path(golden, l.name[i]);

        if (strstr(l.name[i], ".trace") && !strstr(l.name[i], "damaged"))
            copied_alike(path, dir);
        free(path);
    }
    test_list_free(&l);
    test_remove(dir);
    free(dir);
    free(golden);
}

/* --- other formats --- */

/* Instructions and accesses of the trace PATH. */
static struct told tell_rows(const char *path, const char *from)
{
    struct told t = {0};
    struct trod_trace *trace;
    struct trod_batch *b;

    assert_int_equal(
        trod_trace_open(&trace, &path, 1, &(struct trod_trace_options){.from = from}, &quiet), 0);
    while (trod_trace_next(trace, &b) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            bool fetch = b->kind[i] == TROD_BUS && b->flags[i] & TROD_F_IFETCH;
            bool none = b->flags[i] & (TROD_F_ABORTED | TROD_F_IO);
            bool at = b->have & b->has[i] & (TROD_COL_ADDR | TROD_COL_PADDR);

            t.instrs += at && !none && (b->kind[i] == TROD_INSTR || fetch);
            t.reads += at && !none && (b->kind[i] == TROD_READ || b->kind[i] == TROD_ATOMIC);
            t.writes += at && !none && (b->kind[i] == TROD_WRITE || b->kind[i] == TROD_ATOMIC);
        }
    trod_trace_close(trace);
    return t;
}

/*
 * FILE of any format as a drmemtrace directory: every file valid, as many instructions and accesses
 * as there were but for a last branch a thread, and for accesses of Arm traces that lie behind each
 * other and are one.
 */
static void foreign(const char *file, const char *from, unsigned width, bool merged)
{
    char *dir = test_tmpdir(), *out = test_path(dir, "out");
    const struct job j = {file, out, "drmemtrace:chunk=500", 0, NULL, from, 0};
    struct told t = tell_rows(file, from);
    struct drm_checked c;
    size_t n;

    if (t.instrs) {
        convert(&j);
        n = check_directory(out, width, 0, &c);
        assert_true(n > 0);
        if (c.instrs > t.instrs || c.instrs + n < t.instrs)
            fail_msg("%s: %llu instructions of %llu", file, (unsigned long long)c.instrs,
                     (unsigned long long)t.instrs);
        assert_true(c.reads <= t.reads && c.writes <= t.writes);
        if (!merged)
            assert_true(c.reads + 2 * n >= t.reads && c.writes + 2 * n >= t.writes);
        assert_true(merged ? c.reads * 4 >= t.reads : 1);
    }
    test_remove(dir);
    free(out);
    free(dir);
}

static void test_foreign(void **state)
{
    static const struct {
        const char *format;
        unsigned width;
        bool merged;
    } formats[] = {{"byu6", 8, false},
                   {"byu12", 8, false},
                   {"matcher", 12, false},
                   {"tt6", 12, false},
                   {"tt6e", 12, false}};

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char folder[64], *golden;
        struct test_list l;

        snprintf(folder, sizeof folder, "tests/golden/%s", formats[i].format);
        golden = test_path(test_source_dir(), folder);
        l = test_files(golden);
        for (size_t k = 0; k < l.n; k++) {
            char *path = test_path(golden, l.name[k]);

            if (strstr(l.name[k], "canonical"))
                foreign(path, formats[i].format, formats[i].width, formats[i].merged);
            free(path);
        }
        test_list_free(&l);
        free(golden);
    }
}

/* --- real traces --- */

static char *traces(const char *name)
{
    const char *dir = getenv("TROD_TRACES");
    char *shared = dir ? NULL : test_path(test_source_dir(), "../shared/traces");
    char *path = test_path(dir ? dir : shared, name);
    struct stat st;

    free(shared);
    if (stat(path, &st) == 0)
        return path;
    free(path);
    return NULL;
}

/* What DynamoRIO wrote is valid for the oracle: it is not stricter than the format. */
static void test_oracle_on_real_traces(void **state)
{
    static const char *const names[] = {
        "drmemtrace/drmemtrace.simple_app.trace.zip",
        "drmemtrace/drmemtrace.allasm_x86_64.trace.zip",
        "drmemtrace/drmemtrace.threadsig.x64.tracedir/drmemtrace.threadsig.872884.3060.trace.zip",
        "drmemtrace/drmemtrace.threadsig.x64.tracedir/drmemtrace.threadsig.872805.4975.trace.zip"};
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = traces(names[i]);
        struct drm_checked c;

        if (!path)
            continue;
        found++;
        check_file(path, 12, &c);
        free(path);
    }
    if (!found) {
        print_message("no shared traces: skipped\n");
        skip();
    }
}

/* Copies and filtered copies of a real trace, and its schedule files. */
static void test_real_trace(void **state)
{
    char *path = traces("drmemtrace/drmemtrace.threadsig.x64.tracedir"), *one, *dir, *out, *a, *b;
    struct drm_checked c;
    struct trod_buf x, y;

    (void)state;
    if (!path) {
        print_message("no shared traces: skipped\n");
        skip();
    }
    dir = test_tmpdir();
    out = test_path(dir, "out");
    convert(&(struct job){path, out, "drmemtrace", 0, NULL, NULL, 0});
    assert_int_equal(check_directory(out, 12, 0, &c), 9);
    assert_int_equal(c.instrs, 650576); /* as DynamoRIO's basic_counts has it */
    assert_int_equal(c.nofetch, 126);
    a = test_path(path, "serial_schedule.bin.gz");
    b = test_path(out, "trace/serial_schedule.bin.gz");
    x = contents(a);
    y = contents(b);
    assert_int_equal(x.n, y.n);
    assert_memory_equal(x.p, y.p, x.n);
    trod_buf_fini(&x);
    trod_buf_fini(&y);
    one = test_path(path, "drmemtrace.threadsig.872884.3060.trace.zip");
    filters_of(one, dir);
    free(one);
    free(a);
    free(b);
    test_remove(dir);
    free(out);
    free(dir);
    free(path);
}

static void test_real_tarmac(void **state)
{
    static const struct {
        const char *name;
        unsigned width;
    } files[] = {{"tarmac/calculator-aarch64-fastmodel.tarmac", 12},
                 {"tarmac/calculator-aarch64-es-ld-st-style.tarmac", 12},
                 {"tarmac/calculator-aarch64-gem5.tarmac", 12},
                 {"tarmac/calculator-aarch32-fastmodel.tarmac", 8},
                 {"tarmac/calculator-aarch32-es-ld-st-style.tarmac", 8},
                 {"byu12/course.tr", 8}};
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = traces(files[i].name);

        if (!path)
            continue;
        found++;
        foreign(path, NULL, files[i].width, i < 5);
        free(path);
    }
    if (!found) {
        print_message("no shared traces: skipped\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_copies),         cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_oracle_on_real_traces), cmocka_unit_test(test_real_trace),
        cmocka_unit_test(test_real_tarmac),
    };

    trod_diag_init(&quiet, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
