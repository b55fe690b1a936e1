/*
 * test_drmwrite.c - drmemtrace, written: made-up programs, filters, conversions and copies, each
 * judged by an oracle that knows only entries (drm_check.h) and read back.
 */
#include "drm_check.h"
#include "golden.h"
#include "testlib.h"
#include "trod/reader.h"
#include "trod/trace.h"
#include "trod/writer.h"
#include "x86_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

enum { PARTS = 4096 };

static struct trod_diag quiet;

/* --- the files of a trace --- */

struct file {
    struct trod_buf bytes;
    struct drm_part part[PARTS];
    size_t n;
    bool zip;
};

static void load_file(const char *path, struct file *f)
{
    struct trod_input *in;
    struct trod_span span;
    struct trod_member m;

    memset(f, 0, sizeof *f);
    assert_int_equal(trod_input_open(&in, path, NULL, &quiet), 0);
    for (;;) {
        assert_int_equal(trod_input_ahead(in, 1, &span), 0);
        if (span.n == 0)
            break;
        assert_int_equal(trod_buf_add(&f->bytes, span.p, span.n), 0);
        trod_input_consume(in, span.n);
    }
    f->n = trod_input_members(in);
    f->zip = f->n > 0;
    assert_true(f->n < PARTS);
    for (size_t i = 0; i < f->n; i++) {
        assert_true(trod_input_member(in, i, &m));
        f->part[i] = (struct drm_part){f->bytes.p + m.offset, (size_t)m.size};
    }
    if (!f->zip) {
        f->n = 1;
        f->part[0] = (struct drm_part){f->bytes.p, f->bytes.n};
    }
    trod_input_close(in);
}

static void check_file(const char *path, unsigned width, struct drm_checked *c)
{
    struct file *f = malloc(sizeof *f);

    assert_non_null(f);
    load_file(path, f);
    if (!drm_check(f->part, f->n, width, f->zip, c))
        fail_msg("%s: %s", path, c->fault);
    trod_buf_fini(&f->bytes);
    free(f);
}

static bool is_trace(const char *name)
{
    return strstr(name, ".trace") != NULL;
}

/* All files of the directory OUT; the counts are added up. Returns how many. */
static size_t check_directory(const char *out, unsigned width, struct drm_checked *sum)
{
    char *dir = test_path(out, "trace");
    struct test_list l = test_files(dir);
    size_t n = 0;

    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < l.n; i++) {
        char *path = test_path(dir, l.name[i]);
        struct drm_checked c;

        if (is_trace(l.name[i])) {
            check_file(path, width, &c);
            sum->instrs += c.instrs;
            sum->nofetch += c.nofetch;
            sum->reads += c.reads;
            sum->writes += c.writes;
            sum->events += c.events;
            sum->filetype = c.filetype;
            sum->version = c.version;
            n++;
        }
        free(path);
    }
    test_list_free(&l);
    free(dir);
    return n;
}

/* --- made-up programs --- */

struct told {
    uint64_t instrs, nofetch, reads, writes, jumps;
    uint64_t threads; /* that have rows */
    uint8_t seen[WALK_THREADS];
};

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
    for (uint64_t seed = 100; seed < 120; seed++) {
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
        struct told t = write_walk(w, path, to[seed % 3], 40, 60000, 0, seed);
        size_t n = check_directory(path, 12, &c);

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
    assert_int_equal(check_directory(path, 12, &c), t.threads);
    assert_true(c.instrs <= t.instrs && c.instrs + t.threads >= t.instrs);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    test_remove(dir);
    free(path);
    free(dir);
    free(w);
}

/* The same trace gives the same bytes. */
static void test_deterministic(void **state)
{
    struct walk *w = calloc(1, sizeof *w);
    char *dir = test_tmpdir();
    char *a = test_path(dir, "a.trace.zip"), *b = test_path(dir, "b.trace.zip");
    struct trod_buf x, y;

    (void)state;
    assert_non_null(w);
    write_walk(w, a, "drmemtrace:chunk=300", 1, 5000, 0, 7);
    write_walk(w, b, "drmemtrace:chunk=300", 1, 5000, 0, 7);
    x = test_load(a);
    y = test_load(b);
    assert_int_equal(x.n, y.n);
    assert_memory_equal(x.p, y.p, x.n);
    trod_buf_fini(&x);
    trod_buf_fini(&y);
    test_remove(dir);
    free(a);
    free(b);
    free(dir);
    free(w);
}

/* --- conversions --- */

struct job {
    const char *in, *out, *to;
    uint32_t drops;
    bool (*keep)(const struct trod_batch *b, uint32_t row, uint64_t ordinal);
    const char *from;
};

/* Returns the writer's summary; the trace is read to its end. */
static struct trod_writer_summary convert(const struct job *j)
{
    struct trod_writer_options opt = {.to = j->to, .allow_loss = true, .drops = j->drops};
    struct trod_writer_summary sum = {0};
    struct trod_writer *w;
    struct trod_trace *t;
    struct trod_batch *b;
    uint64_t ordinal = 0;
    uint8_t keep[TROD_BATCH_ROWS];

    assert_int_equal(
        trod_trace_open(&t, &j->in, 1, &(struct trod_trace_options){.from = j->from}, &quiet), 0);
    opt.source = trod_trace_format(t);
    opt.source_options = trod_trace_format_options(t);
    assert_int_equal(trod_writer_open(&w, j->out, &opt, trod_trace_meta(t), &quiet), 0);
    trod_trace_want(t, trod_writer_want(w) | TROD_COL_ALL);
    while (trod_trace_next(t, &b) > 0) {
        for (uint32_t i = 0; i < b->n; i++)
            keep[i] = !j->keep || j->keep(b, i, ordinal + i);
        ordinal += b->n;
        if (j->keep)
            assert_int_equal(trod_writer_put_some(w, b, keep), 0);
        else
            assert_int_equal(trod_writer_put(w, b), 0);
    }
    assert_int_equal(trod_writer_commit(w, &sum), 0);
    trod_trace_close(t);
    return sum;
}

static bool keep_some_data(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    return (b->kind[row] != TROD_READ && b->kind[row] != TROD_WRITE) || ordinal % 3 == 0;
}

static bool keep_some_instrs(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    return b->kind[row] != TROD_INSTR || ordinal % 4 != 0;
}

static bool keep_data(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    (void)ordinal;
    return b->kind[row] == TROD_READ || b->kind[row] == TROD_WRITE;
}

static bool keep_no_markers(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    (void)ordinal;
    return b->kind[row] != TROD_MARKER;
}

static bool keep_middle(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    (void)b;
    (void)row;
    return ordinal >= 1237 && ordinal < 3911;
}

/* Every way of leaving something out gives a valid trace, and says in its file type what it did. */
static void filters_of(const char *in, const char *dir)
{
    static const struct {
        uint32_t drops, sets;
        bool (*keep)(const struct trod_batch *, uint32_t, uint64_t);
    } filters[] = {
        {0, 0, NULL},
        {TROD_DROP_DATA, 0x100, keep_some_data},
        {TROD_DROP_INSTR | TROD_DROP_DATA, 0x180, keep_some_instrs},
        {TROD_DROP_INSTR, 0x80, keep_data},
        {TROD_DROP_OTHER, 0, keep_no_markers},
        {TROD_DROP_SPAN, 0, keep_middle},
    };

    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        char *out = test_path(dir, "filtered.trace.zip");
        const struct job j = {in,
                              out,
                              i % 2 ? "drmemtrace:chunk=77" : "drmemtrace",
                              filters[i].drops,
                              filters[i].keep,
                              NULL};
        struct drm_checked c;

        convert(&j);
        check_file(out, 12, &c);
        assert_int_equal(c.filetype & 0x180, filters[i].sets);
        free(out);
    }
}

static void test_filters(void **state)
{
    struct walk *w = calloc(1, sizeof *w);

    (void)state;
    assert_non_null(w);
    for (uint64_t seed = 400; seed < 410; seed++) {
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
        const struct job j = {path, out, to[i], 0, NULL, NULL};
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
    const struct job j = {path, out, "drmemtrace", 0, NULL, NULL};
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

/* --- copies --- */

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
        const struct job j = {in, out, "drmemtrace", 0, NULL, NULL};
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
    const struct job j = {file, out, "drmemtrace:chunk=500", 0, NULL, from};
    struct told t = tell_rows(file, from);
    struct drm_checked c;
    size_t n;

    if (t.instrs) {
        convert(&j);
        n = check_directory(out, width, &c);
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
    convert(&(struct job){path, out, "drmemtrace", 0, NULL, NULL});
    assert_int_equal(check_directory(out, 12, &c), 9);
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
        cmocka_unit_test(test_one_thread),
        cmocka_unit_test(test_surprises),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_cut_a_copy),
        cmocka_unit_test(test_golden_copies),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_oracle_on_real_traces),
        cmocka_unit_test(test_real_trace),
        cmocka_unit_test(test_real_tarmac),
    };

    trod_diag_init(&quiet, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
