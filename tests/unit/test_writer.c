/*
 * test_writer.c - writers as programs use them: like a trace that was read, of parts, with options
 * of other versions; and readers of what is cut or damaged, to the byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "testlib.h"
#include "trod/trod.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    char *dir, *in, *out;
    struct trod_diag diag;
    struct trod_trace *t;
    struct trod_writer *w;
};

static void begin(struct fixture *x, const char *golden, const char *out)
{
    *x = (struct fixture){.dir = test_tmpdir()};
    x->in = test_path(test_source_dir(), golden);
    x->out = test_path(x->dir, out);
    trod_diag_init(&x->diag, NULL, NULL);
    assert_int_equal(trod_trace_open(&x->t, (const char *const[]){x->in}, 1, NULL, &x->diag),
                     TROD_OK);
}

static void end(struct fixture *x)
{
    trod_trace_close(x->t);
    test_remove(x->dir);
    free(x->dir);
    free(x->in);
    free(x->out);
}

/* Every row to a writer that is like the trace: the same bytes again. */
static void test_like(void **state)
{
    static const char *const golden[] = {"tests/golden/drmemtrace/version7.canonical.trace",
                                         "tests/golden/byu6/boot.canonical.byu6",
                                         "tests/golden/full/records.canonical.full"};

    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        struct trod_buf want, got;
        struct trod_batch *b;
        struct fixture x;

        begin(&x, golden[i], "copy.trace");
        assert_int_equal(trod_writer_open_like(&x.w, x.out, x.t, 0, &x.diag), TROD_OK);
        while (trod_trace_next(x.t, &b) == 1)
            assert_int_equal(trod_writer_put(x.w, b), TROD_OK);
        assert_int_equal(trod_writer_commit(x.w, NULL), TROD_OK);
        want = test_load(x.in);
        got = test_load(x.out);
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p, want.p, want.n);
        trod_buf_fini(&want);
        trod_buf_fini(&got);
        end(&x);
    }
}

/* Leave out rows of KIND from a writer that was told DROPS. Returns what put_some said first. */
static int without(enum trod_kind kind, uint32_t drops)
{
    int rc = TROD_OK, commit;
    struct trod_batch *b;
    struct fixture x;

    begin(&x, "tests/golden/drmemtrace/version7.canonical.trace", "part.trace");
    assert_int_equal(trod_writer_open_like(&x.w, x.out, x.t, drops, &x.diag), TROD_OK);
    while (rc == TROD_OK && trod_trace_next(x.t, &b) == 1) {
        uint8_t *keep = malloc(b->n);

        assert_non_null(keep);
        for (uint32_t i = 0; i < b->n; i++)
            keep[i] = b->kind[i] != kind;
        rc = trod_writer_put_some(x.w, b, keep);
        free(keep);
    }
    commit = trod_writer_commit(x.w, NULL);
    assert_int_equal(commit, rc);
    assert_int_equal(access(x.out, F_OK) == 0, rc == TROD_OK);
    assert_int_equal(trod_diag_kind_count(&x.diag, "writer.drops"), rc < 0);
    end(&x);
    return rc;
}

/* What was not announced may not be left out: the file would be damaged. */
static void test_drops(void **state)
{
    (void)state;
    assert_int_equal(without(TROD_INSTR, 0), TROD_ERR_USAGE);
    assert_int_equal(without(TROD_READ, 0), TROD_ERR_USAGE);
    assert_int_equal(without(TROD_MARKER, 0), TROD_ERR_USAGE);
    assert_int_equal(without(TROD_INSTR, TROD_DROP_DATA), TROD_ERR_USAGE);
    assert_int_equal(without(TROD_READ, TROD_DROP_INSTR), TROD_ERR_USAGE);
    assert_int_equal(without(TROD_INSTR, TROD_DROP_INSTR), TROD_OK);
    assert_int_equal(without(TROD_READ, TROD_DROP_DATA), TROD_OK);
    assert_int_equal(without(TROD_MARKER, TROD_DROP_OTHER), TROD_OK);
    assert_int_equal(without(TROD_KINDS, 0), TROD_OK);
}

/* Options that begin with another size than they have here. */
static void test_sizes(void **state)
{
    struct {
        struct trod_trace_options options;
        uint64_t more;
    } newer = {.options = {.struct_size = sizeof newer}};
    struct trod_trace_options older = {.struct_size = offsetof(struct trod_trace_options, want),
                                       .skip_rows = 1000000};
    struct trod_writer_options writer = {.to = "byu6", .struct_size = 4};
    char *dir = test_tmpdir(), *out = test_path(dir, "x.byu6");
    char *in = test_path(test_source_dir(), "tests/golden/byu6/boot.canonical.byu6");
    struct trod_trace *t;
    struct trod_batch *b;
    struct trod_diag diag;
    struct trod_meta meta;
    struct trod_writer *w;

    (void)state;
    trod_diag_init(&diag, NULL, NULL);
    trod_meta_init(&meta);
    /* what a newer program does not use may be there */
    assert_int_equal(trod_trace_open(&t, (const char *const[]){in}, 1, &newer.options, &diag), 0);
    trod_trace_close(t);
    newer.more = 1;
    assert_int_equal(trod_trace_open(&t, (const char *const[]){in}, 1, &newer.options, &diag),
                     TROD_ERR_USAGE);
    assert_null(t);
    /* what an older program does not have is not looked at */
    assert_int_equal(trod_trace_open(&t, (const char *const[]){in}, 1, &older, &diag), 0);
    assert_int_equal(trod_trace_next(t, &b), 1);
    assert_true(b->n > 0);
    trod_trace_close(t);
    assert_int_equal(trod_writer_open(&w, out, &writer, &meta, &diag), TROD_ERR_USAGE);
    assert_null(w);
    writer.struct_size = sizeof writer.struct_size; /* and no format */
    assert_int_equal(trod_writer_open(&w, out, &writer, &meta, &diag), TROD_ERR_USAGE);
    assert_null(w);
    trod_meta_fini(&meta);
    test_remove(dir);
    free(dir);
    free(out);
    free(in);
}

/* Read N bytes at P as FROM. Returns what the reader counted as skipped; *ROWS how many rows. */
static uint64_t skipped(const char *from, const uint8_t *p, size_t n, uint64_t *rows,
                        uint64_t *errors)
{
    const struct trod_reader_options opt = {.from = from};
    struct trod_reader *r;
    struct trod_input *in;
    struct trod_batch *b;
    struct trod_diag diag;
    struct trod_meta meta;
    uint64_t bytes;

    trod_diag_init(&diag, NULL, NULL);
    trod_meta_init(&meta);
    assert_int_equal(trod_input_memory(&in, p, n, "memory", NULL, &diag), TROD_OK);
    assert_int_equal(trod_reader_open(&r, in, &opt, &meta, &diag), TROD_OK);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), TROD_OK);
    b->want = TROD_COL_ALL;
    while (trod_reader_next(r, b) == 1)
        continue;
    *rows = trod_reader_rows(r);
    *errors = diag.errors;
    bytes = trod_reader_skipped(r);
    trod_reader_close(r);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return bytes;
}

/* What is cut off is skipped, to the byte; what comes before it is not lost. */
static void test_skipped(void **state)
{
    char *path = test_path(test_source_dir(), "tests/golden/byu6/boot.canonical.byu6");
    struct trod_buf b = test_load(path);
    uint64_t rows, errors, whole;

    (void)state;
    for (size_t cut = 0; cut <= 12; cut++) {
        const uint64_t bytes = skipped("byu6", b.p, b.n - cut, &rows, &errors);

        assert_int_equal(bytes, (b.n - cut) % 6);
        assert_int_equal(rows, (b.n - cut) / 6);
        assert_int_equal(errors, (b.n - cut) % 6 != 0);
    }
    trod_buf_fini(&b);
    free(path);
    /* a magic number with one wrong byte costs nothing else; one that is none everything */
    path = test_path(test_source_dir(), "tests/golden/full/records.canonical.full");
    b = test_load(path);
    assert_int_equal(skipped("full", b.p, b.n, &whole, &errors), 0);
    b.p[0] ^= 1;
    assert_int_equal(skipped("full", b.p, b.n, &rows, &errors), 0);
    assert_int_equal(rows, whole);
    assert_int_equal(errors, 1);
    b.p[1] ^= 1;
    assert_int_equal(skipped("full", b.p, b.n, &rows, &errors), b.n);
    assert_int_equal(rows, 0);
    assert_int_equal(errors, 1);
    trod_buf_fini(&b);
    free(path);
}

/*
 * Rows made by hand: what COLUMNS (0: all) say of them and byu12, whose data have no values, has no
 * place for is counted, and a problem where nobody allowed it.
 */
static void by_hand(uint32_t columns, bool allow, uint64_t lost)
{
    struct trod_writer_options opt = {
        .struct_size = sizeof opt, .to = "byu12", .allow_loss = allow, .columns = columns};
    char *dir = test_tmpdir(), *out = test_path(dir, "made.byu12");
    struct trod_writer_summary sum;
    struct trod_writer *w;
    struct trod_batch *b;
    struct trod_meta meta;
    struct trod_diag diag;

    trod_diag_init(&diag, NULL, NULL);
    trod_meta_init(&meta);
    assert_int_equal(trod_meta_stream(&meta, "cpu", 3), 0);
    assert_int_equal(trod_batch_new(&b, 1), TROD_OK);
    b->n = 1;
    b->have = b->has[0] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_PADDR | TROD_COL_SIZE |
                          TROD_COL_VALUE | TROD_COL_STREAM;
    b->kind[0] = TROD_READ;
    b->flags[0] = 0;
    b->stream[0] = 0;
    b->paddr[0] = 4096;
    b->size[0] = 4;
    b->value[0] = 3;
    b->meta = &meta;
    assert_int_equal(trod_writer_open(&w, out, &opt, &meta, &diag), TROD_OK);
    assert_int_equal(trod_writer_put(w, b), TROD_OK);
    assert_int_equal(trod_writer_commit(w, &sum), TROD_OK);
    assert_int_equal(sum.loss.columns[TROD_READ][__builtin_ctz(TROD_COL_VALUE)], lost);
    assert_int_equal(trod_loss_rows(&sum.loss), 0);
    assert_int_equal(diag.errors > 0, lost && !allow);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    test_remove(dir);
    free(dir);
    free(out);
}

static void test_by_hand(void **state)
{
    (void)state;
    by_hand(0, true, 1);
    by_hand(0, false, 1);
    by_hand(TROD_COL_KIND | TROD_COL_PADDR | TROD_COL_SIZE, false, 0);
}

/* What nothing could be read with is refused before anything is read. */
static void test_refused(void **state)
{
    const struct trod_trace_options wrong[] = {
        {.struct_size = sizeof *wrong, .batch_rows = TROD_BATCH_ROWS + 1},
        {.struct_size = sizeof *wrong, .cores = TROD_MOST_CORES + 1},
        {.struct_size = sizeof *wrong, .beside.struct_size = 1},
    };
    char *path = test_path(test_source_dir(), "tests/golden/stf/model.canonical.stf");
    struct trod_input *in;
    struct trod_reader *r;
    struct trod_batch *b;
    struct trod_meta meta;
    struct trod_trace *t;
    struct trod_diag diag;

    (void)state;
    trod_diag_init(&diag, NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(trod_trace_open(&t, (const char *const[]){path}, 1, &wrong[i], &diag),
                         TROD_ERR_USAGE);
        assert_int_equal(diag.errors, i + 1);
    }
    trod_meta_init(&meta);
    assert_int_equal(trod_input_open(&in, path, NULL, &diag), TROD_OK);
    assert_int_equal(trod_reader_open(&r, in, NULL, &meta, &diag), TROD_OK);
    assert_int_equal(trod_batch_new(&b, trod_reader_format(r)->record_rows - 1), TROD_OK);
    assert_int_equal(trod_reader_next(r, b), TROD_ERR_USAGE);
    assert_int_equal(trod_diag_kind_count(&diag, "reader.batch"), 1);
    trod_batch_free(b);
    assert_int_equal(trod_batch_new(&b, trod_reader_format(r)->record_rows), TROD_OK);
    assert_int_equal(trod_reader_next(r, b), 1);
    trod_batch_free(b);
    trod_reader_close(r);
    trod_meta_fini(&meta);
    free(path);
}

/* Which format a name means, and what is said where it means none. */
static void test_names(void **state)
{
    static const struct {
        const char *name, *usual, *want; /* NULL: none */
    } names[] = {
        {"x.tarmac", "drmemtrace", "tarmac"},
        {"x.tarmac.gz", "drmemtrace", "tarmac"},
        {"x.tarmac.zstd", "drmemtrace", "tarmac"}, /* each suffix that outputs know */
        {"x.tarmac.snappy", "drmemtrace", "tarmac"},
        {"x.zstf", "drmemtrace", NULL}, /* that stands for a format of its own */
        {"x.trace", "drmemtrace", "drmemtrace"},
        {"x.trace", "matcher", "matcher"},
        {"x.zip", "drmemtrace", "drmemtrace"},
        {"folder", "drmemtrace", "drmemtrace"},
        {"a.b/folder", "tarmac", "tarmac"},
        {"-", "tarmac", "tarmac"},
        {"x.pdf", "drmemtrace", NULL},
        {"x.json.gz", "tarmac", NULL},
        {"x.trace", "tarmac", NULL}, /* of two formats */
    };
    struct trod_diag diag;

    (void)state;
    trod_diag_init(&diag, NULL, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct trod_format *f,
            *usual = trod_format_find(names[i].usual, strlen(names[i].usual));
        const int rc = trod_format_by_name(&f, names[i].name, usual, NULL, &diag);

        assert_int_equal(rc, names[i].want ? TROD_OK : TROD_ERR_USAGE);
        if (names[i].want)
            assert_string_equal(f->name, names[i].want);
    }
    assert_int_equal(trod_diag_kind_count(&diag, "writer.suffix"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like),    cmocka_unit_test(test_drops),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_skipped),
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
