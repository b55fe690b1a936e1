/*
 * test_run.c - runs of several analyses over several files: the same results for any number of
 * threads and any size of batches, problems in the order of the files, planning.
 *
 * The traces are drmemtrace, written here entry by entry; the expected numbers are counted on the
 * entries by the rules of basic_counts of DynamoRIO, without the library.
 */
#include "count_data.h"

#include "core/endian.h"
#include "core/rng.h"
#include "testlib.h"

enum { FILES = 7, ENTRIES = 30000 };

/* What the entries say. */
struct expected {
    uint64_t instrs, nofetch, loads, stores, prefetches, flushes, sched, syscalls, other, encodings;
    uint64_t *pc;
    size_t n_pc;
};

struct file {
    struct trod_buf b;
    struct expected *e;
    bool encoded; /* an encoding waits for its instruction */
};

static void entry(struct file *f, unsigned type, unsigned size, uint64_t addr)
{
    uint8_t p[12];

    trod_store_le16(p, (uint16_t)type);
    trod_store_le16(p + 2, (uint16_t)size);
    trod_store_le64(p + 4, addr);
    assert_int_equal(trod_buf_add(&f->b, p, sizeof p), TROD_OK);
    switch (type) {
    case 0:
        f->e->loads++;
        break;
    case 1:
        f->e->stores++;
        break;
    case 3:
    case 40:
        f->e->prefetches++;
        break;
    case 20:
        f->e->flushes++;
        break;
    case 47:
        f->encoded = true;
        break;
    case 28:
        if (size == 2 || size == 3)
            f->e->sched++;
        else if (size == 25)
            f->e->syscalls++;
        else if (size != 29) /* BRANCH_TARGET is hidden */
            f->e->other++;
        break;
    default:
        break;
    }
}

static void instr(struct file *f, struct trod_rng *r, uint64_t pc)
{
    static const unsigned types[] = {10, 10, 10, 10, 11, 14, 48, 49, 31, 29};
    unsigned type = types[trod_rng_below(r, 10)], size = 1 + (unsigned)(pc * 7 % 15);

    if (trod_rng_below(r, 8) == 0) {
        for (unsigned left = size; left;) {
            unsigned piece = left < 8 ? left : 8;

            entry(f, 47, piece, pc * 1000003);
            left -= piece;
        }
    }
    entry(f, type, size, pc);
    f->e->encodings += f->encoded;
    f->encoded = false;
    if (type == 29) {
        f->e->nofetch++;
        return;
    }
    f->e->instrs++;
    f->e->pc[f->e->n_pc++] = pc;
}

static struct trod_buf trace_file(struct expected *e, uint64_t tid, uint64_t seed)
{
    struct file f = {.e = e};
    struct trod_rng r;

    trod_rng_seed(&r, seed);
    entry(&f, 25, 0, 6);
    entry(&f, 28, 12, 6);
    entry(&f, 28, 9, 0x240); /* with encodings; core-sharded: none need be known */
    entry(&f, 22, 4, tid);
    entry(&f, 24, 4, 1);
    entry(&f, 28, 10, 64);
    entry(&f, 28, 18, 4096);
    entry(&f, 28, 2, 1000);
    entry(&f, 28, 3, 0);
    for (int i = 0; i < ENTRIES; i++) {
        uint64_t at = 0x7f0000000000 + trod_rng_below(&r, 20000);

        switch (trod_rng_below(&r, 30)) {
        case 0:
            entry(&f, 28, 2, 1000 + (uint64_t)i);
            entry(&f, 28, 3, 1);
            break;
        case 1:
            entry(&f, 28, 25, 3);
            break;
        case 2:
            entry(&f, 3, 1, at);
            break;
        case 3:
            entry(&f, 20, 64, at);
            break;
        case 4:
            entry(&f, 28, 46, at);
            f.e->other--; /* SKIPPED_MEMREF has a field of its own */
            break;
        case 5:
            entry(&f, 40, 1, at);
            break;
        case 6:
        case 7:
        case 8:
            entry(&f, 1, 8, at);
            break;
        case 9:
        case 10:
        case 11:
            entry(&f, 0, 4, at);
            break;
        default:
            instr(&f, &r, 0x400000 + trod_rng_below(&r, 3000));
        }
    }
    entry(&f, 23, 0, tid);
    entry(&f, 26, 0, 0);
    return f.b;
}

struct fixture {
    char *dir;
    struct expected e;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->dir = test_tmpdir();
    f->e.pc = malloc(FILES * ENTRIES * sizeof *f->e.pc);
    assert_non_null(f->e.pc);
    for (uint64_t i = 0; i < FILES; i++) {
        struct trod_buf b = trace_file(&f->e, 100 + i, i + 1);
        char name[64];
        char *path;

        snprintf(name, sizeof name, "drmemtrace.app.%05u.0000.trace", (unsigned)(100 + i));
        path = test_path(f->dir, name);
        test_save(path, b.p, i == 3 ? b.n - 5 : b.n); /* the footer of file 3 is cut */
        free(path);
        trod_buf_fini(&b);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    test_remove(f->dir);
    free(f->dir);
    free(f->e.pc);
    free(f);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t distinct(uint64_t *list, size_t n)
{
    uint64_t found = 0;

    qsort(list, n, sizeof *list, by_value);
    for (size_t i = 0; i < n; i++)
        found += i == 0 || list[i] != list[i - 1];
    return found;
}

static void has(const char *json, const char *key, uint64_t v)
{
    char want[100];

    snprintf(want, sizeof want, "\"%s\": %llu,", key, (unsigned long long)v);
    if (!strstr(json, want))
        print_error("no %s in %.2500s\n", want, json);
    assert_non_null(strstr(json, want));
}

/* Problems as text, in the order in which they come. */
static void note(void *user, const struct trod_problem *p)
{
    assert_int_equal(
        trod_buf_printf(user, "%s %s %s\n", p->kind, p->at.path ? p->at.path : "-", p->message),
        TROD_OK);
}

struct result {
    char *json;
    struct trod_buf problems;
    int rc;
    uint64_t errors;
};

static struct result count_dir(const char *dir, unsigned jobs, uint32_t batch, bool strict)
{
    struct trod_run_options opt = {.jobs = jobs, .trace = {.batch_rows = batch}};
    struct trod_count_options count = {.detail = TROD_COUNT_WIDE};
    struct result r = {0};
    struct trod_diag diag;
    struct trod_run *run;

    trod_diag_init(&diag, note, &r.problems);
    diag.strict = strict;
    assert_int_equal(trod_run_open(&run, &dir, 1, &opt, &diag), TROD_OK);
    assert_int_equal(trod_run_add(run, count_analysis(), &count), 0);
    r.rc = trod_run_go(run);
    r.json = count_json(trod_run_state(run, 0));
    r.errors = diag.errors;
    assert_int_equal(trod_run_go(run), TROD_ERR_USAGE);
    trod_run_free(run);
    assert_int_equal(trod_buf_add(&r.problems, "", 1), TROD_OK);
    return r;
}

static void result_free(struct result *r)
{
    free(r->json);
    trod_buf_fini(&r->problems);
}

static void test_numbers(void **state)
{
    struct fixture *f = *state;
    struct result r = count_dir(f->dir, 1, 0, false);

    has(r.json, "fetched_instructions", f->e.instrs);
    has(r.json, "unique_fetched_instructions", distinct(f->e.pc, f->e.n_pc));
    has(r.json, "non_fetched_instructions", f->e.nofetch);
    has(r.json, "data_loads", f->e.loads);
    has(r.json, "data_stores", f->e.stores);
    has(r.json, "bytes_read", 4 * f->e.loads);
    has(r.json, "bytes_written", 8 * f->e.stores);
    has(r.json, "prefetches", f->e.prefetches);
    has(r.json, "dcache_flushes", f->e.flushes);
    has(r.json, "timestamp_cpuid_markers", f->e.sched);
    has(r.json, "system_call_number_markers", f->e.syscalls);
    has(r.json, "other_markers", f->e.other);
    has(r.json, "encodings", f->e.encodings);
    has(r.json, "threads", FILES);
    assert_true(r.errors > 0); /* the cut file */
    assert_non_null(strstr((char *)r.problems.p, "00103"));
    result_free(&r);
}

/* Any number of threads, any size of batches: the same report and the same problems. */
static void test_jobs(void **state)
{
    static const unsigned jobs[] = {1, 2, 5, 16};
    static const uint32_t batches[] = {9, 100, 0};
    struct fixture *f = *state;
    struct result want = count_dir(f->dir, 1, 0, false);

    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        for (size_t k = 0; k < sizeof batches / sizeof *batches; k++) {
            struct result got = count_dir(f->dir, jobs[i], batches[k], false);

            assert_string_equal(want.json, got.json);
            assert_string_equal((char *)want.problems.p, (char *)got.problems.p);
            assert_int_equal(want.rc, got.rc);
            assert_int_equal(want.errors, got.errors);
            result_free(&got);
        }
    result_free(&want);
}

/* The first error ends the run: what comes behind the cut file is not counted, on any thread. */
static void test_strict(void **state)
{
    struct fixture *f = *state;
    struct result one = count_dir(f->dir, 1, 0, true);

    assert_true(one.rc < 0);
    assert_non_null(strstr(one.json, "\"tid\": 103"));
    assert_null(strstr(one.json, "\"tid\": 104"));
    for (unsigned jobs = 2; jobs < 9; jobs += 3) {
        struct result got = count_dir(f->dir, jobs, 0, true);

        assert_string_equal(one.json, got.json);
        assert_int_equal(one.rc, got.rc);
        result_free(&got);
    }
    result_free(&one);
}

/* ---- analyses of the test's own */

struct rows_state {
    uint64_t rows, text;
    uint32_t have;
};

static int rows_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct rows_state *s = st;

    s->rows += to - from;
    s->have |= b->have;
    return TROD_OK;
}

static int rows_merge(void *into, const void *from)
{
    struct rows_state *s = into;

    s->rows += ((const struct rows_state *)from)->rows;
    s->have |= ((const struct rows_state *)from)->have;
    return TROD_OK;
}

static const struct trod_analysis rows_parallel = {
    .name = "rows",
    .state_size = sizeof(struct rows_state),
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_TIME,
    .feed = rows_feed,
    .merge = rows_merge,
};

static const struct trod_analysis rows_serial = {
    .name = "serial",
    .state_size = sizeof(struct rows_state),
    .needs = TROD_COL_KIND | TROD_COL_PC,
    .feed = rows_feed,
};

/* Never back, never past the end. */
static void forward(void *user, const struct trod_trace_progress *p)
{
    uint64_t *calls = user;

    ++*calls;
    assert_true(p->rows > 0);
    assert_in_range(p->bytes, 0, p->total);
}

/* Several analyses in one pass see what all of them want; one that cannot merge makes it serial. */
static void test_several(void **state)
{
    struct fixture *f = *state;
    struct result want = count_dir(f->dir, 1, 0, false);
    const char *dir = f->dir;

    for (unsigned serial = 0; serial < 2; serial++) {
        uint64_t calls = 0;
        struct trod_run_options opt = {.jobs = 3, .progress = forward, .user = &calls};
        struct trod_count_options count = {.detail = TROD_COUNT_WIDE};
        const struct rows_state *rows;
        struct trod_trace_progress p;
        struct trod_run *run;
        char *json;

        assert_int_equal(trod_run_open(&run, &dir, 1, &opt, NULL), TROD_OK);
        assert_int_equal(trod_run_add(run, &rows_parallel, NULL), 0);
        assert_int_equal(trod_run_add(run, count_analysis(), &count), 1);
        if (serial)
            assert_int_equal(trod_run_add(run, &rows_serial, NULL), 2);
        trod_run_go(run);
        rows = trod_run_state(run, 0);
        trod_run_progress(run, &p);
        assert_int_equal(p.rows, rows->rows);
        assert_in_range(p.total - p.bytes, 0, 11); /* a cut record is never consumed */
        /* In parallel the thread that tells may find that the others have left it nothing. */
        assert_true(calls > 1 || !serial);
        assert_true(rows->have & TROD_COL_TIME);
        assert_true(rows->have & TROD_COL_ADDR);
        assert_int_equal(!(rows->have & TROD_COL_PC), !serial);
        json = count_json(trod_run_state(run, 1));
        assert_string_equal(want.json, json);
        free(json);
        trod_run_free(run);
    }
    result_free(&want);
}

/* What a format cannot deliver is refused by name before anything is read. */
static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct trod_run_options opt = {.trace = {.from = "byu6"}};
    const struct trod_analysis needs_time = {.name = "clock",
                                             .state_size = 1,
                                             .needs = TROD_COL_KIND | TROD_COL_TIME | TROD_COL_PC,
                                             .feed = rows_feed};
    char *path = test_path(f->dir, "bus.trace");
    const char *const paths[] = {path};
    const uint8_t bytes[12] = {0, 0, 0x10, 0, 0xf0, 0xd0, 0, 0, 0x20, 0, 0xf0, 0xd0};
    struct trod_buf problems = {0};
    struct trod_diag diag;
    struct trod_run *run;

    test_save(path, bytes, sizeof bytes);
    trod_diag_init(&diag, note, &problems);
    assert_int_equal(trod_run_open(&run, paths, 1, &opt, &diag), TROD_OK);
    assert_int_equal(trod_run_add(run, &needs_time, NULL), TROD_ERR_UNSUPPORTED);
    assert_int_equal(trod_buf_add(&problems, "", 1), TROD_OK);
    assert_non_null(strstr((char *)problems.p, "analysis 'clock' needs what format 'byu6' does "
                                               "not have: time, pc"));
    trod_run_free(run);
    trod_buf_fini(&problems);
    free(path);
}

/* Rows may be chosen; the run may end early. */
static int first_thousand(void *user, struct trod_batch *b)
{
    uint64_t *seen = user;
    uint8_t keep[TROD_BATCH_ROWS];

    for (uint32_t i = 0; i < b->n; i++)
        keep[i] = (*seen)++ < 1000;
    trod_batch_keep(b, keep);
    return *seen < 1000;
}

static void test_filter(void **state)
{
    struct fixture *f = *state;
    uint64_t seen = 0;
    struct trod_run_options opt = {.jobs = 3, .filter = first_thousand, .user = &seen};
    const char *dir = f->dir;
    struct trod_run *run;

    assert_int_equal(trod_run_open(&run, &dir, 1, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, &rows_parallel, NULL), 0);
    assert_int_equal(trod_run_go(run), TROD_OK);
    assert_int_equal(((const struct rows_state *)trod_run_state(run, 0))->rows, 1000);
    trod_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_strict),  cmocka_unit_test(test_several),
        cmocka_unit_test(test_filter),  cmocka_unit_test(test_refused), /* adds a file: last */
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
