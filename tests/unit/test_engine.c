/*
 * test_engine.c - the engine: every number of threads, every way through a trace gives the same.
 *
 * An analysis made for the purpose hashes everything it is fed, row by row, in one of the ways an
 * analysis may be declared: by stream, in global order, in shards, with intervals. The serial run
 * is the reference. Traces are random rows written as byu6 and matcher (a stream each) files.
 */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct sum {
    const struct trod_context context;
    uint64_t rows, hash, sites, boundaries;
};

static int sum_init(void *st, const void *opt, const struct trod_context *c)
{
    (void)opt;
    memcpy(st, c, sizeof *c);
    return TROD_OK;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
}

static uint64_t row_hash(const struct sum *s, const struct trod_batch *b, uint32_t i)
{
    uint64_t h = mix(b->kind[i], 1);
    uint32_t said = b->have & b->has[i];

    if (said & TROD_COL_ADDR)
        h = mix(h, b->addr[i]);
    if (said & TROD_COL_VALUE)
        h = mix(h, b->value[i]);
    if ((b->have & TROD_COL_SITE) && b->site[i] != TROD_NO_SITE)
        h = mix(h, trod_site_at(s->context.sites, b->site[i])->pc);
    if (said & TROD_COL_TEXT)
        for (uint32_t k = 0; k < b->text[i].len; k++)
            h = mix(h, trod_batch_bytes(b, b->text[i])[k]);
    return h;
}

/* A sum does not depend on the order; ORDERED hashes do. */
static int sum_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct sum *s = st;

    for (uint32_t i = from; i < to; i++) {
        uint64_t h = row_hash(s, b, i);

        if (h % s->context.shards != s->context.shard)
            continue;
        s->rows++;
        s->hash += h;
        s->sites += (b->have & TROD_COL_SITE) && b->site[i] != TROD_NO_SITE;
    }
    return TROD_OK;
}

static int ordered_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct sum *s = st;

    for (uint32_t i = from; i < to; i++) {
        s->rows++;
        s->hash = mix(s->hash, row_hash(s, b, i) + b->first + i);
    }
    return TROD_OK;
}

static int sum_boundary(void *st, const struct trod_boundary *at)
{
    struct sum *s = st;

    if (at->type != TROD_BOUNDARY_END)
        s->boundaries++;
    s->hash = mix(s->hash, (uint64_t)at->type + at->rows * 8);
    return TROD_OK;
}

static int sum_merge(void *into, const void *from)
{
    struct sum *s = into;
    const struct sum *f = from;

    s->rows += f->rows;
    s->hash += f->hash;
    s->sites += f->sites;
    return TROD_OK;
}

static int sum_result(const void *st, struct trod_result *r)
{
    const struct sum *s = st;

    trod_result_u64(r, "rows", s->rows);
    trod_result_hex(r, "hash", s->hash);
    trod_result_u64(r, "sites", s->sites);
    trod_result_u64(r, "boundaries", s->boundaries);
    return TROD_OK;
}

static unsigned all_jobs(const void *opt, unsigned jobs)
{
    (void)opt;
    return jobs;
}

#define COMMON                                                                                     \
    .title = "a sum for testing", .state_size = sizeof(struct sum), .needs = TROD_COL_KIND,        \
    .uses = TROD_COL_ALL & ~(uint32_t)TROD_COL_RAW, .init = sum_init, .result = sum_result

static const struct trod_analysis any = {COMMON, .name = "any", .feed = sum_feed,
                                         .merge = sum_merge, .order = TROD_STREAM_ORDER};
static const struct trod_analysis sharded = {COMMON,
                                             .name = "sharded",
                                             .feed = sum_feed,
                                             .merge = sum_merge,
                                             .order = TROD_GLOBAL_ORDER,
                                             .shards = all_jobs};
static const struct trod_analysis ordered = {COMMON, .name = "ordered", .feed = ordered_feed,
                                             .order = TROD_GLOBAL_ORDER};
static const struct trod_analysis direct = {COMMON, .name = "direct", .feed = ordered_feed,
                                            .order = TROD_GLOBAL_ORDER, .direct = true};
static const struct trod_analysis streams = {COMMON,
                                             .name = "streams",
                                             .scope = TROD_PER_STREAM,
                                             .feed = ordered_feed,
                                             .merge = sum_merge,
                                             .order = TROD_STREAM_ORDER};
static const struct trod_analysis bounded = {COMMON, .name = "bounded", .feed = ordered_feed,
                                             .boundary = sum_boundary, .order = TROD_GLOBAL_ORDER};

/* First those that have results by stream, then those that have intervals. */
static const struct trod_analysis *const all[] = {&any,     &sharded, &streams,
                                                  &bounded, &ordered, &direct};

enum { ALL = sizeof all / sizeof *all, BY_STREAM = 3, BY_INTERVAL = 4, FILES = 5 };

struct fixture {
    char dir[64];
    char *path[FILES];
    const char *paths[FILES];
};

static char *result_text(struct trod_run *run, size_t n)
{
    struct trod_emit_options opt = {.format = TROD_EMIT_JSON};
    struct trod_result *r;
    struct trod_emit *e;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    assert_int_equal(trod_result_new(&r), TROD_OK);
    for (size_t i = 0; i < n; i++) {
        trod_result_open(r, all[i]->name, NULL);
        assert_int_equal(trod_run_result(run, i, r), TROD_OK);
        trod_result_close(r);
    }
    assert_int_equal(trod_emit_new(&e, f, &opt), TROD_OK);
    trod_result_emit(r, e);
    assert_int_equal(trod_emit_free(e), TROD_OK);
    fclose(f);
    trod_result_free(r);
    return text;
}

/* All analyses over the files with OPT. */
static char *run_all(const struct fixture *f, const struct trod_run_options *opt, size_t n)
{
    struct trod_diag diag;
    struct trod_run *run;
    char *text;

    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_run_open(&run, f->paths, FILES, opt, &diag), TROD_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(trod_run_add(run, all[i], NULL), (int)i);
    assert_int_equal(trod_run_go(run), TROD_OK);
    text = result_text(run, n);
    trod_run_free(run);
    return text;
}

static void same_for_all_jobs(const struct fixture *f, struct trod_run_options opt, size_t n)
{
    char *serial, *other;

    opt.jobs = 1;
    serial = run_all(f, &opt, n);
    for (unsigned jobs = 2; jobs <= 9; jobs += jobs < 4 ? 1 : 5) { /* 2, 3, 4, 9 */
        opt.jobs = jobs;
        opt.trace.batch_rows = jobs % 3 == 0 ? 97 : 0;
        other = run_all(f, &opt, n);
        assert_string_equal(serial, other);
        free(other);
    }
    free(serial);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    strcpy(f->dir, "engine-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    for (unsigned i = 0; i < FILES; i++) {
        static const char *const ops[] = {"add", "ld", "st", "beq"};
        FILE *out;

        f->path[i] = malloc(96);
        assert_non_null(f->path[i]);
        snprintf(f->path[i], 96, "%s/t%u.tarmac", f->dir, i);
        f->paths[i] = f->path[i];
        out = fopen(f->path[i], "w");
        assert_non_null(out);
        for (unsigned k = 0; k < 3000; k++) {
            unsigned pc = 0x8000 + 4 * ((k * 7 + i) % 61), cpu = (k / 13 + i) % 3;

            fprintf(out, "%u clk cpu%u IT (%u) %08x %08x A svc_s : %s\n", k, cpu, k, pc,
                    0xe1a00000 + pc % 97, ops[k % 4]);
            if (k % 2)
                fprintf(out, "%u clk cpu%u MR4 %08x %08x\n", k, cpu, 0x1000 + 4 * (k % 500), k);
        }
        assert_int_equal(fclose(out), 0);
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < FILES; i++) {
        remove(f->path[i]);
        free(f->path[i]);
    }
    remove(f->dir);
    free(f);
    return 0;
}

/* Files by themselves (units), and one thread that decodes for others (pipe). */
static void test_jobs(void **state)
{
    same_for_all_jobs(*state, (struct trod_run_options){0}, 1);
    same_for_all_jobs(*state, (struct trod_run_options){0}, ALL);
}

static void test_by_stream(void **state)
{
    const struct fixture *f = *state;
    const struct trod_run_options opt = {.by_stream = true};

    same_for_all_jobs(*state, opt, 1);
    same_for_all_jobs(*state, opt, BY_STREAM);
    for (size_t i = BY_STREAM; i < ALL; i++) {
        struct trod_run *run;

        assert_int_equal(trod_run_open(&run, f->paths, FILES, &opt, NULL), TROD_OK);
        assert_int_equal(trod_run_add(run, all[i], NULL), TROD_ERR_USAGE);
        trod_run_free(run);
    }
}

static void test_intervals(void **state)
{
    const struct trod_run_options opts[] = {
        {.interval = 1000},
        {.interval = 777, .interval_in = TROD_IN_ROWS},
        {.interval = 500, .interval_in = TROD_IN_TIME},
        {.warmup = 1234, .interval = 10},
        {.region_from = 100, .region_to = 5000, .warmup = 50, .interval = 999},
        {.region_from = 5, .region_to = 4099, .region_in = TROD_IN_ROWS},
    };

    for (size_t i = 0; i < sizeof opts / sizeof *opts; i++)
        same_for_all_jobs(*state, opts[i], opts[i].interval ? BY_INTERVAL : ALL);
}

/* An analysis that follows the trace as a whole has no intervals. */
static void test_no_intervals(void **state)
{
    const struct fixture *f = *state;
    const struct trod_run_options opt = {.interval = 1000};

    for (size_t i = 0; i < ALL; i++) {
        struct trod_diag diag;
        struct trod_run *run;

        trod_diag_init(&diag, NULL, NULL);
        assert_int_equal(trod_run_open(&run, f->paths, FILES, &opt, &diag), TROD_OK);
        assert_int_equal(trod_run_add(run, all[i], NULL), i < BY_INTERVAL ? 0 : TROD_ERR_USAGE);
        trod_run_free(run);
    }
}

static uint64_t number(struct trod_run *run, size_t i, const char *path)
{
    const struct trod_node *n;
    struct trod_result *r;
    uint64_t v;

    assert_int_equal(trod_result_new(&r), TROD_OK);
    assert_int_equal(trod_run_result(run, i, r), TROD_OK);
    n = trod_result_find(r, path);
    assert_non_null(n);
    assert_int_equal(n->type, TROD_NODE_VALUE);
    v = n->value.is.u64;
    trod_result_free(r);
    return v;
}

/* 3,000 instructions and 1,500 reads a file: known numbers of rows in regions and intervals. */
static void test_known(void **state)
{
    const struct fixture *f = *state;
    static const struct known {
        struct trod_run_options opt;
        const char *path;
        uint64_t value;
    } cases[] = {
        {.path = "rows", .value = FILES * 4500},
        {.opt = {.region_from = 1, .region_to = 10}, .path = "rows", .value = 15},
        {.opt = {.region_from = 11, .region_to = 20}, .path = "rows", .value = 15},
        {.opt = {.region_in = TROD_IN_ROWS, .region_to = 99}, .path = "rows", .value = 100},
        {.opt = {.warmup = 3000}, .path = "rows", .value = (FILES - 1) * 4500},
        {.opt = {.interval = 3000}, .path = "intervals.1.instructions_end", .value = 6000},
        {.opt = {.interval = 1000, .interval_in = TROD_IN_ROWS},
         .path = "intervals.2.rows",
         .value = 1000},
        /* intervals and warm-ups begin with the region, and end before the next instruction */
        {.opt = {.region_from = 101, .region_to = 400, .interval = 100},
         .path = "intervals.0.rows",
         .value = 150},
        {.opt = {.region_from = 101, .region_to = 400, .interval = 100},
         .path = "intervals.2.rows",
         .value = 150},
        {.opt = {.region_from = 101, .region_to = 400, .interval = 100},
         .path = "intervals.2.instructions_end",
         .value = 400},
        {.opt = {.region_from = 1001, .region_to = 2000, .warmup = 100},
         .path = "rows",
         .value = 1350},
        {.opt = {.region_from = 1000,
                 .region_to = 1999,
                 .region_in = TROD_IN_ROWS,
                 .interval = 300,
                 .interval_in = TROD_IN_ROWS},
         .path = "intervals.3.rows",
         .value = 100},
        {.opt = {.region_from = 1000,
                 .region_to = 2999,
                 .region_in = TROD_IN_TIME,
                 .interval = 500,
                 .interval_in = TROD_IN_TIME},
         .path = "intervals.0.rows",
         .value = 750},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned jobs = 1; jobs <= 3; jobs++) {
            struct trod_run_options opt = cases[i].opt;
            struct trod_run *run;

            opt.jobs = jobs;
            assert_int_equal(trod_run_open(&run, f->paths, FILES, &opt, NULL), TROD_OK);
            assert_int_equal(trod_run_add(run, &any, NULL), 0);
            assert_int_equal(trod_run_go(run), TROD_OK);
            assert_int_equal(number(run, 0, cases[i].path), cases[i].value);
            trod_run_free(run);
        }
}

/* Processor time of this thread in seconds. */
static double cpu_time(void)
{
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The time that COUNT instructions take, of an interval each; their results are looked at. */
static double time_of_intervals(const struct fixture *f, unsigned count)
{
    const struct trod_run_options opt = {.interval = 1, .jobs = 1};
    const struct trod_node *n;
    struct trod_result *r;
    struct trod_run *run;
    char path[96];
    FILE *out;
    uint64_t i = 0;
    double begun;

    snprintf(path, sizeof path, "%s/many.din", f->dir);
    out = fopen(path, "w");
    assert_non_null(out);
    for (unsigned k = 0; k < count; k++)
        fprintf(out, "2 %x\n", 0x1000 + 4 * (k % 61));
    assert_int_equal(fclose(out), 0);
    begun = cpu_time();
    assert_int_equal(trod_run_open(&run, (const char *const[]){path}, 1, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, &any, NULL), 0);
    assert_int_equal(trod_run_go(run), TROD_OK);
    assert_int_equal(trod_result_new(&r), TROD_OK);
    assert_int_equal(trod_run_result(run, 0, r), TROD_OK);
    begun = cpu_time() - begun;
    n = trod_result_find(r, "intervals");
    assert_non_null(n);
    assert_int_equal(n->type, TROD_NODE_LIST);
    for (n = n->first; n; n = n->next, i++) {
        assert_string_equal(n->first->key, "interval");
        assert_int_equal(n->first->value.is.u64, i);
    }
    assert_int_equal(i, count);
    trod_result_free(r);
    trod_run_free(run);
    remove(path);
    return begun;
}

/*
 * Ten times as many intervals take about ten times as long; about a hundred times, if each were
 * compared with all before it.
 */
static void test_many_intervals(void **state)
{
    const double few = time_of_intervals(*state, 5000), many = time_of_intervals(*state, 50000);

    assert_true(many < 35 * few);
}

/* 61 addresses; every read belongs to the instruction before it in its stream. */
static void test_sites(void **state)
{
    const struct fixture *f = *state;

    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        struct trod_run_options opt = {.jobs = jobs};
        struct trod_run *run;

        assert_int_equal(trod_run_open(&run, f->paths, FILES, &opt, NULL), TROD_OK);
        assert_int_equal(trod_run_add(run, &any, NULL), 0);
        assert_int_equal(trod_run_go(run), TROD_OK);
        assert_int_equal(number(run, 0, "sites"), FILES * 4500);
        assert_int_equal(
            trod_sites_count(((const struct sum *)trod_run_state(run, 0))->context.sites), 61);
        trod_run_free(run);
    }
}

/* ---- reading ahead ---- */

enum { AHEAD_JOBS = 2, AHEAD_UNITS = 2 * FILES };

static atomic_uint begun; /* units of which a row was fed */

static void a_moment(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};

    nanosleep(&t, NULL);
}

/* The first unit does not end before the others have come as far as they may. */
static int waiting_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct sum *s = st;
    unsigned seen, quiet = 0;

    if (s->rows == 0)
        atomic_fetch_add(&begun, 1);
    if (s->rows == 0 && s->context.meta->file == 0) {
        for (unsigned ms = 0; ms < 20000 && atomic_load(&begun) <= AHEAD_JOBS; ms++)
            a_moment(1);
        for (seen = atomic_load(&begun); quiet < 500; quiet++) {
            a_moment(1);
            if (atomic_load(&begun) != seen)
                quiet = 0;
            seen = atomic_load(&begun);
        }
        s->boundaries = seen;
    }
    return sum_feed(st, b, from, to);
}

static int waiting_merge(void *into, const void *from)
{
    ((struct sum *)into)->boundaries += ((const struct sum *)from)->boundaries;
    return sum_merge(into, from);
}

/*
 * While the first file is not merged, no more than two files for each thread are begun, however
 * many there are: what waits to be merged does not grow with the trace.
 */
static void test_ahead(void **state)
{
    static const struct trod_analysis waiting = {COMMON, .name = "waiting", .feed = waiting_feed,
                                                 .merge = waiting_merge,
                                                 .order = TROD_STREAM_ORDER};
    const struct fixture *f = *state;
    const char *paths[AHEAD_UNITS];
    struct trod_run_options opt = {.jobs = AHEAD_JOBS};
    struct trod_run *run;
    uint64_t ahead;

    for (unsigned i = 0; i < AHEAD_UNITS; i++)
        paths[i] = f->paths[i % FILES];
    atomic_store(&begun, 0);
    assert_int_equal(trod_run_open(&run, paths, AHEAD_UNITS, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, &waiting, NULL), 0);
    assert_int_equal(trod_run_go(run), TROD_OK);
    assert_int_equal(number(run, 0, "rows"), AHEAD_UNITS * 4500);
    ahead = number(run, 0, "boundaries");
    assert_in_range(ahead, AHEAD_JOBS + 1, 2 * AHEAD_JOBS);
    trod_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_jobs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_by_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(test_intervals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_intervals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_intervals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_known, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sites, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ahead, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
