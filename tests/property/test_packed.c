/*
 * test_packed.c - the same rows from a file and from the file compressed.
 *
 * Every golden file, plain and under each filter, once packed by our own outputs and once by the
 * tools that others use, read as a trace with and without the read-ahead thread; filters stacked;
 * and from memory cut into batches of other sizes.
 */
#include "prop.h"

#include "trod/io.h"
#include "trod/trace.h"

static char *dir;

struct packer {
    const char *filter, *suffix; /* of trod_output_create */
    const char *tool;            /* a command that packs its argument to its output, or NULL */
};

static const struct packer packers[] = {
    {"none", "", NULL},         {"gzip", ".gz", "gzip -nc"}, {"zstd", ".zst", "zstd -qc"},
    {"lz4", ".lz4", "lz4 -qc"}, {"xz", ".xz", "xz -c"},      {"snappy", ".sz", NULL},
};

/* Rows of the trace PATH, as test_decode gives them. */
static struct test_rows read_trace(const char *path, const struct golden *g, bool thread)
{
    const struct trod_trace_options opt = {
        .from = g->format->name, .batch_rows = 100, .input.no_thread = !thread};
    struct test_rows out = {0};
    struct trod_diag diag;
    struct trod_batch *b;
    struct trod_trace *t;
    int rc;

    trod_diag_init(&diag, NULL, NULL);
    rc = trod_trace_open(&t, &path, 1, &opt, &diag);
    prop_true(rc == TROD_OK, g, "not opened as a trace: status", (uint64_t)-rc);
    while ((rc = trod_trace_next(t, &b)) > 0) {
        out.hash = realloc(out.hash, (out.n + b->n) * sizeof *out.hash);
        if (!out.hash)
            test_die("out of memory");
        for (uint32_t i = 0; i < b->n; i++)
            out.hash[out.n++] = test_row_hash(b, i, TROD_COL_ALL);
    }
    prop_true(rc == TROD_OK, g, "not read to its end: status", (uint64_t)-rc);
    trod_trace_close(t);
    return out;
}

static void same_rows(const struct golden *g, const char *path, const char *what)
{
    const struct test_how whole = {0};
    const struct test_input in = prop_input(g);
    struct test_rows want = test_decode(&in, &whole);

    for (int thread = 0; thread < 2; thread++) {
        struct test_rows got = read_trace(path, g, thread);

        prop_true(got.n == want.n, g, what, got.n);
        prop_true(got.n == 0 || memcmp(got.hash, want.hash, got.n * sizeof *got.hash) == 0, g, what,
                  (uint64_t)thread);
        test_rows_free(&got);
    }
    test_rows_free(&want);
}

static void pack(const char *path, const struct trod_buf *data, const char *filter)
{
    const struct trod_output_options opt = {.compress = filter};
    struct trod_output *out;

    assert_int_equal(trod_output_create(&out, path, &opt, NULL), TROD_OK);
    assert_int_equal(trod_output_write(out, data->p, data->n), TROD_OK);
    assert_int_equal(trod_output_commit(out), TROD_OK);
}

static void our_packers(const struct golden *g)
{
    if (g->damaged)
        return;
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++) {
        char name[32], *path;

        snprintf(name, sizeof name, "trace%s", packers[i].suffix);
        path = test_path(dir, name);
        pack(path, &g->data, packers[i].filter);
        same_rows(g, path, packers[i].filter);
        remove(path);
        free(path);
    }
}

static void their_packers(const struct golden *g)
{
    if (g->damaged)
        return;
    for (size_t i = 0; i < sizeof packers / sizeof *packers; i++) {
        char *plain = test_path(dir, "plain"), command[1200], packed[512];

        if (packers[i].tool) {
            test_save(plain, g->data.p, g->data.n);
            snprintf(packed, sizeof packed, "%s%s", plain, packers[i].suffix);
            snprintf(command, sizeof command, "%s %s >%s", packers[i].tool, plain, packed);
            if (system(command) != 0)
                fail_msg("'%s' failed: is its package of scripts/packages.txt installed?", command);
            same_rows(g, packed, packers[i].tool);
            remove(packed);
        }
        free(plain);
    }
}

/* zstd of gzip of the file: filters are peeled until none is left. */
static void stacked(const struct golden *g)
{
    char *once = test_path(dir, "once"), *twice = test_path(dir, "twice");
    struct trod_buf b;

    if (!g->damaged) {
        pack(once, &g->data, "gzip");
        b = test_load(once);
        pack(twice, &b, "zstd");
        same_rows(g, twice, "gzip in zstd");
        trod_buf_fini(&b);
    }
    free(once);
    free(twice);
}

static void test_our_packers(void **state)
{
    (void)state;
    golden_each(0, our_packers);
}

static void test_their_packers(void **state)
{
    (void)state;
    golden_each(0, their_packers);
}

static void test_stacked(void **state)
{
    (void)state;
    golden_each(0, stacked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_packers),
        cmocka_unit_test(test_their_packers),
        cmocka_unit_test(test_stacked),
    };
    int rc;

    dir = test_tmpdir();
    rc = cmocka_run_group_tests(tests, NULL, NULL);
    test_remove(dir);
    free(dir);
    return rc;
}
