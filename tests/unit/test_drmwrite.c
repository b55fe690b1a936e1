/*
 * test_drmwrite.c - drmemtrace, written: made-up programs, and those filtered and cut into other
 * chunks, each judged by an oracle that knows only entries (drm_check.h) and read back.
 */
#include "drmwrite_data.h"
#include "fewer.h"
#include "trod/reader.h"

#include <sys/resource.h>

static struct trod_writer *open_writer(const char *out, const char *to, const struct trod_meta *m)
{
    const struct trod_writer_options opt = {.to = to, .columns = TROD_COL_ADDR};
    struct trod_writer *w;

    assert_int_equal(trod_writer_open(&w, out, &opt, m, &quiet), 0);
    return w;
}

static void tell(struct told *t, const struct walk_row *r)
{
    t->instrs += r->kind == TROD_INSTR && !r->again;
    t->nofetch += r->again;
    t->reads += r->kind == TROD_READ;
    t->writes += r->kind == TROD_WRITE;
    t->jumps += r->jumped;
    t->threads += !t->seen[r->thread];
    t->lone -= t->is_lone[r->thread];
    if (r->kind == TROD_INSTR)
        t->is_lone[r->thread] = !t->seen[r->thread] && r->branch;
    t->lone += t->is_lone[r->thread];
    t->seen[r->thread] = 1;
}

/* ROWS rows of a program with THREADS threads to OUT. */
static struct told write_walk(struct walk *w, const char *out, const char *to, uint32_t threads,
                              uint64_t rows, uint32_t surprises, uint64_t seed)
{
    struct trod_gen g = gen_seed(seed);
    struct trod_writer *writer;
    struct trod_meta meta;
    struct trod_batch *b;
    struct told t = {0};

    walk_init(w, &g, threads);
    w->surprises = surprises;
    walk_meta(w, &meta);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    writer = open_writer(out, to, &meta);
    while (rows > 0) {
        trod_batch_clear(b);
        b->meta = &meta;
        for (; rows > 0 && b->n < b->cap; rows--) {
            struct walk_row r = walk_next(w);

            tell(&t, &r);
            assert_true(walk_append(b, &r));
        }
        assert_int_equal(trod_writer_put(writer, b), 0);
    }
    assert_int_equal(trod_writer_commit(writer, NULL), 0);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return t;
}

/* The rows of thread 0 of a walk, read back: instruction for instruction, access for access. */
static void compare_walk(const char *path, const struct walk *made, uint64_t rows, uint64_t seed)
{
    struct walk *w = calloc(1, sizeof *w);
    struct trod_gen g = gen_seed(seed);
    struct trod_trace *t;
    struct trod_batch *b = NULL;
    uint32_t i = 0;
    int rc = 1;

    assert_non_null(w);
    walk_init(w, &g, made->threads);
    w->surprises = made->surprises;
    assert_int_equal(trod_trace_open(&t, &path, 1, NULL, &quiet), 0);
    for (; rows > 0; rows--) {
        struct walk_row r = walk_next(w);

        do {
            if (b && ++i < b->n)
                continue;
            rc = trod_trace_next(t, &b);
            i = 0;
        } while (rc == 1 && (b->kind[i] == TROD_MARKER || b->kind[i] == TROD_THREAD));
        if (rc == 0) /* the last branch has no successor: it may be left out with its accesses */
            break;
        assert_int_equal(rc, 1);
        assert_int_equal(b->kind[i], r.kind);
        assert_true(b->addr[i] == r.addr);
        assert_int_equal(b->size[i], r.size);
        assert_true(b->pc[i] == r.code->pc);
        if (r.kind == TROD_INSTR) {
            assert_int_equal(b->code[i].len, r.code->n);
            assert_memory_equal(trod_batch_bytes(b, b->code[i]), r.code->bytes, r.code->n);
            if (!r.jumped) /* a jump to the same rep looks like its next iteration */
                assert_int_equal((b->flags[i] & TROD_F_NOFETCH) != 0, r.again);
        }
    }
    assert_true(rows < 4);
    trod_trace_close(t);
    free(w);
}

static void test_one_thread(void **state)
{
    static const char *const to[] = {"drmemtrace", "drmemtrace:chunk=1000", "drmemtrace:chunk=20",
                                     "drmemtrace:chunk=1"};
    struct walk *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    for (uint64_t seed = 0; seed < 40; seed++) {
        static const char *const names[] = {"a.trace.zip", "a.trace", "a.trace.gz", "a.trace.lz4"};
        char *dir = test_tmpdir(), *path = test_path(dir, names[seed % 4]);
        uint64_t rows = 300 + seed * 150;
        struct drm_checked c;
        struct told t = write_walk(w, path, to[seed / 4 % 4], 1, rows, 0, seed);

        check_file(path, 12, &c);
        assert_true(c.instrs <= t.instrs && c.instrs + 1 >= t.instrs);
        assert_true(c.nofetch == t.nofetch);
        assert_int_equal(c.events, 0);
        assert_int_equal(c.filetype, 0x240);
        assert_int_equal(c.version, 7);
        assert_int_equal(c.tid, 1000);
        assert_int_equal(c.pid, 999);
        compare_walk(path, w, rows, seed);
        test_remove(dir);
        free(path);
        free(dir);
    }
    free(w);
}

/* Where nothing leads to an instruction something else must have taken over. */
static void test_surprises(void **state)
{
    struct walk *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    for (uint64_t seed = 100; seed < 100 + test_fewer(20, 3); seed++) {
        char *dir = test_tmpdir(), *path = test_path(dir, "a.trace.zip");
        struct drm_checked c;
        struct told t = write_walk(w, path, "drmemtrace:chunk=70", 1, 4000, 30, seed);

        check_file(path, 12, &c);
        assert_true(c.events > 0 && c.events <= t.jumps);
        compare_walk(path, w, 4000, seed);
        test_remove(dir);
        free(path);
        free(dir);
    }
    free(w);
}

static void test_threads(void **state)
{
    struct walk *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    for (uint64_t seed = 200; seed < 206; seed++) {
        static const char *const to[] = {"drmemtrace:chunk=100", "drmemtrace:container=gzip",
                                         "drmemtrace:container=zip-zstd"};
        char *dir = test_tmpdir(), *path = test_path(dir, "out");
        struct drm_checked c;
        struct told t = write_walk(w, path, to[seed % 3], 40, test_fewer(60000, 12000), 0, seed);
        size_t n = check_directory(path, 12, t.lone, &c);

        assert_int_equal(n, t.threads);
        assert_true(c.instrs <= t.instrs && c.instrs + 40 >= t.instrs);
        assert_true(c.nofetch == t.nofetch);
        test_remove(dir);
        free(path);
        free(dir);
    }
    free(w);
}

/* More threads than files may be open, and rows for all of them in turn. */
static void test_many_threads(void **state)
{
    const struct rlimit few = {100, 100};
    struct walk *w = calloc(1, sizeof *w);
    char *dir = test_tmpdir(), *path = test_path(dir, "out");
    struct rlimit was;
    struct drm_checked c;
    struct told t;

    (void)state;
    assert_non_null(w);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){few.rlim_cur, was.rlim_max}), 0);
    t = write_walk(w, path, "drmemtrace:chunk=50", 1500, 150000, 0, 300);
    assert_true(t.threads > 1000);
    assert_int_equal(check_directory(path, 12, t.lone, &c), t.threads);
    assert_true(c.instrs <= t.instrs && c.instrs + t.threads >= t.instrs);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    test_remove(dir);
    free(path);
    free(dir);
    free(w);
}

static void same_bytes(const char *a, const char *b)
{
    struct trod_buf x = test_load(a), y = test_load(b);

    assert_int_equal(x.n, y.n);
    assert_memory_equal(x.p, y.p, x.n);
    trod_buf_fini(&x);
    trod_buf_fini(&y);
}

/* The same trace gives the same bytes. */
static void test_deterministic(void **state)
{
    struct walk *w = calloc(1, sizeof *w);
    char *dir = test_tmpdir();
    char *a = test_path(dir, "a.trace.zip"), *b = test_path(dir, "b.trace.zip");

    (void)state;
    assert_non_null(w);
    write_walk(w, a, "drmemtrace:chunk=300", 1, 5000, 0, 7);
    write_walk(w, b, "drmemtrace:chunk=300", 1, 5000, 0, 7);
    same_bytes(a, b);
    test_remove(dir);
    free(a);
    free(b);
    free(dir);
    free(w);
}

/* --- conversions --- */

static void test_filters(void **state)
{
    struct walk *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    for (uint64_t seed = 400; seed < 400 + test_fewer(10, 2); seed++) {
        char *dir = test_tmpdir(), *path = test_path(dir, "a.trace.zip");

        write_walk(w, path, "drmemtrace:chunk=100", 1, 6000, 0, seed);
        filters_of(path, dir);
        test_remove(dir);
        free(path);
        free(dir);
    }
    free(w);
}

/* Written anew, with other chunks, the rows are the same but for the footers. */
static void same_rows(const char *a, const char *b)
{
    struct trod_trace *t[2];
    struct trod_batch *batch[2] = {NULL, NULL};
    uint32_t at[2] = {0, 0};
    int rc[2] = {1, 1};
    const char *path[2] = {a, b};

    for (int k = 0; k < 2; k++)
        assert_int_equal(trod_trace_open(&t[k], &path[k], 1, NULL, &quiet), 0);
    for (;;) {
        for (int k = 0; k < 2; k++) {
            do {
                if (batch[k] && ++at[k] < batch[k]->n)
                    continue;
                rc[k] = trod_trace_next(t[k], &batch[k]);
                at[k] = 0;
            } while (rc[k] == 1 && batch[k]->kind[at[k]] == TROD_MARKER &&
                     (batch[k]->sub[at[k]] == 21 || batch[k]->sub[at[k]] == 20));
        }
        assert_int_equal(rc[0], rc[1]);
        if (rc[0] != 1)
            break;
        {
            const uint32_t mask = TROD_COL_KIND | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC |
                                  TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE |
                                  TROD_COL_TIME;

            for (int k = 0; k < 2; k++)
                batch[k]->flags[at[k]] &= ~(uint32_t)TROD_F_NEWCODE;
            if (test_row_hash(batch[0], at[0], mask) != test_row_hash(batch[1], at[1], mask))
                fail_msg("%s: row %llu differs", b, (unsigned long long)(batch[0]->first + at[0]));
        }
    }
    for (int k = 0; k < 2; k++)
        trod_trace_close(t[k]);
}

static void test_chunks(void **state)
{
    static const char *const to[] = {"drmemtrace:chunk=1", "drmemtrace:chunk=7",
                                     "drmemtrace:chunk=1000", "drmemtrace:chunk=100000"};
    struct walk *w = calloc(1, sizeof *w);
    char *dir = test_tmpdir(), *path = test_path(dir, "a.trace.gz");

    (void)state;
    assert_non_null(w);
    write_walk(w, path, "drmemtrace:chunk=99", 1, 5000, 50, 500);
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        char *out = test_path(dir, "b.trace.zip");
        const struct job j = {path, out, to[i], 0, NULL, NULL, 0};
        struct drm_checked c;

        convert(&j);
        check_file(out, 12, &c);
        same_rows(path, out);
        free(out);
    }
    test_remove(dir);
    free(path);
    free(dir);
    free(w);
}

/* gzip, whose chunks are not cut, to zip: cut where the first is full. */
static void test_cut_a_copy(void **state)
{
    struct walk *w = calloc(1, sizeof *w);
    char *dir = test_tmpdir(), *path = test_path(dir, "a.trace.gz");
    char *out = test_path(dir, "b.trace.zip");
    const struct job j = {path, out, "drmemtrace", 0, NULL, NULL, 0};
    struct drm_checked c;

    (void)state;
    assert_non_null(w);
    write_walk(w, path, "drmemtrace:chunk=99", 1, 5000, 0, 501);
    convert(&j);
    check_file(out, 12, &c);
    assert_true(c.instrs > 990);
    same_rows(path, out);
    test_remove(dir);
    free(out);
    free(path);
    free(dir);
    free(w);
}

/* Rows put a few at a time go without the loop for many (enc_plain.c): the same bytes. */
static void test_few(void **state)
{
    static const char *const to[] = {"drmemtrace:chunk=7",      "drmemtrace:chunk=1000",
                                     "drmemtrace:encodings=no", "drmemtrace:version=3",
                                     "drmemtrace:entry=8",      "drmemtrace:version=2,chunk=100"};
    struct walk *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    for (uint64_t i = 0; i < 2 * sizeof to / sizeof *to; i++) {
        char *dir = test_tmpdir(), *path = test_path(dir, "a.trace");
        char *many = test_path(dir, "many.trace.zip"), *few = test_path(dir, "few.trace.zip");
        struct job j = {path, many, to[i / 2], 0, NULL, NULL, 0};

        write_walk(w, path, "drmemtrace", 1, 5000, i % 2 ? 50 : 0, 600 + i);
        convert(&j);
        j.out = few;
        j.by = 5;
        convert(&j);
        same_bytes(many, few);
        test_remove(dir);
        free(few);
        free(many);
        free(path);
        free(dir);
    }
    free(w);
}

/* --- opcodes of any length --- */

enum { LONGEST = 20 }; /* bytes of the longest opcode put; readers take 15 */

/* Instructions behind each other, with opcodes of 1 to LONGEST bytes. */
static struct trod_writer_summary write_lengths(const char *out, const char *to)
{
    const struct trod_writer_options opt = {.to = to, .allow_loss = true};
    struct trod_writer_summary sum;
    struct walk *w = calloc(1, sizeof *w);
    struct trod_gen g = gen_seed(1);
    struct trod_writer *writer;
    struct trod_meta meta;
    struct trod_batch *b;
    uint64_t pc = 0x400000;

    assert_non_null(w);
    walk_init(w, &g, 1);
    walk_meta(w, &meta);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    assert_int_equal(trod_writer_open(&writer, out, &opt, &meta, &quiet), 0);
    trod_batch_clear(b);
    b->meta = &meta;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
              TROD_COL_PC | TROD_COL_CODE;
    for (uint32_t n = 1; n <= LONGEST; pc += n++) {
        uint8_t *code = trod_batch_pool(b, n, &b->code[b->n]);

        assert_non_null(code);
        for (uint32_t i = 0; i < n; i++)
            code[i] = (uint8_t)(0x60 + i);
        b->has[b->n] = b->have;
        b->kind[b->n] = TROD_INSTR;
        b->flags[b->n] = 0;
        b->size[b->n] = n;
        b->stream[b->n] = 0;
        b->addr[b->n] = b->pc[b->n] = pc;
        b->n++;
    }
    assert_int_equal(trod_writer_put(writer, b), 0);
    assert_int_equal(trod_writer_commit(writer, &sum), 0);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(w);
    return sum;
}

static void read_lengths(const char *path)
{
    struct trod_diag diag;
    struct trod_trace *t;
    struct trod_batch *b;
    uint32_t seen = 0;
    int rc;

    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_trace_open(&t, &path, 1, NULL, &diag), 0);
    while ((rc = trod_trace_next(t, &b)) == 1)
        for (uint32_t i = 0; i < b->n; i++) {
            const uint32_t n = seen + 1 < 15 ? seen + 1 : 15;

            if (b->kind[i] != TROD_INSTR)
                continue;
            assert_int_equal(b->size[i], n);
            assert_int_equal(b->code[i].len, n);
            for (uint32_t k = 0; k < n; k++)
                assert_int_equal(trod_batch_bytes(b, b->code[i])[k], 0x60 + k);
            seen++;
        }
    assert_int_equal(rc, 0);
    assert_int_equal(seen, LONGEST);
    assert_int_equal(diag.errors, 0);
    trod_trace_close(t);
}

/* The reference reader takes encodings of 15 bytes at the most: of longer ones the rest is lost. */
static void test_lengths(void **state)
{
    (void)state;
    for (unsigned width = 8; width <= 12; width += 4) {
        char *dir = test_tmpdir(), *path = test_path(dir, "a.trace.zip");
        const struct trod_writer_summary sum =
            write_lengths(path, width == 8 ? "drmemtrace:entry=8" : "drmemtrace:entry=12");
        struct drm_checked c;

        check_file(path, width, &c);
        read_lengths(path);
        assert_int_equal(sum.loss.columns[TROD_INSTR][__builtin_ctz(TROD_COL_CODE)], LONGEST - 15);
        assert_int_equal(sum.loss.columns[TROD_INSTR][__builtin_ctz(TROD_COL_SIZE)], LONGEST - 15);
        test_remove(dir);
        free(path);
        free(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_thread),    cmocka_unit_test(test_surprises),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_deterministic), cmocka_unit_test(test_filters),
        cmocka_unit_test(test_chunks),        cmocka_unit_test(test_cut_a_copy),
        cmocka_unit_test(test_few),           cmocka_unit_test(test_lengths),
    };

    trod_diag_init(&quiet, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
