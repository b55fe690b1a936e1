/*
 * bench_count.c - `trod count`: records a second of CPU time, one thread, beside inflate alone.
 *
 * Goals: at least 120 M records a second on the trace with 44 M instructions; on any trace no more
 * than 1.5 times the time of inflate alone plus 4 ns a record. Inputs: a drmemtrace file generated
 * here (gzip; blocks of a program of a megabyte, data of eight), and pthread-5-threads of the
 * shared traces where they are.
 */
#include "bench_drm.h"

#include "trod/trod.h"

enum { DEFAULT_MB = 192, BLOCKS = 16384, FILES_MAX = 64 };

static uint64_t seed = 7, records;
static struct trod_output *out;

/* ---- an input */

static void data(void)
{
    uint64_t r = bench_rand(&seed);
    uint64_t at = r & 1 ? 0x7ffc00000000 + (r >> 8) % 4096 : 0x55550000000 + (r >> 8) % (8 << 20);

    bench_entry(out, r >> 4 & 1 ? BENCH_WRITE : BENCH_READ, r & 2 ? 8 : 4, at & ~UINT64_C(3));
}

/* Block K of the program: always the same instructions. */
static void block(uint64_t k, bool first)
{
    uint64_t shape = k * UINT64_C(0x9e3779b97f4a7c15) | 1, pc = 0x400000 + 64 * k;
    unsigned n = 3 + (unsigned)(shape >> 60);

    for (unsigned i = 0; i < n; i++) {
        uint64_t r = bench_rand(&shape);
        unsigned size = 1 + (unsigned)(r % 6);

        bench_instr(out, i + 1 < n ? BENCH_INSTR : BENCH_TAKEN + (unsigned)(bench_rand(&seed) & 1),
                    size, r, pc, first);
        pc += size;
        if (r >> 8 & 1)
            data();
    }
}

static void generate(const char *path, uint64_t bytes)
{
    static uint8_t seen[BLOCKS];
    struct trod_output_options opt = {.compress = "gzip"};
    uint64_t k = 0;

    if (trod_output_create(&out, path, &opt, NULL) < 0)
        bench_die("cannot create the input");
    bench_thread_begin(out);
    while (trod_output_offset(out) < bytes) {
        uint64_t r = bench_rand(&seed);

        /* mostly loops near by, now and then somewhere else */
        k = r % 64 == 0 ? (r >> 8) % BLOCKS : (k + (r >> 8) % 8) % BLOCKS;
        block(k, !seen[k]);
        seen[k] = 1;
    }
    bench_thread_end(out);
    if (trod_output_commit(out) < 0)
        bench_die("cannot finish the input");
}

/* ---- what is measured */

static const struct trod_trace_options lean = {
    .want = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
            TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB,
    .input = {.no_thread = true},
};

struct input {
    const char *path;
    const char *files[FILES_MAX];
    size_t n_files;
};

static int inflate_alone(void *user)
{
    const struct input *in = user;
    int rc = 0;

    for (size_t i = 0; i < in->n_files && rc == 0; i++)
        rc = bench_inflate(in->files[i]);
    return rc;
}

static int rows_alone(void *user)
{
    const struct input *in = user;
    struct trod_trace *t;
    struct trod_batch *b;
    int rc;

    if (trod_trace_open(&t, &in->path, 1, &lean, NULL) < 0)
        return 1;
    records = 0;
    while ((rc = trod_trace_next(t, &b)) > 0)
        records += b->n;
    trod_trace_close(t);
    return rc;
}

static int count(void *user)
{
    const struct input *in = user;
    struct trod_run_options opt = {.trace = lean, .jobs = 1};
    struct trod_run *r;
    int rc;

    if (trod_run_open(&r, &in->path, 1, &opt, NULL) < 0)
        return 1;
    rc = trod_run_add(r, trod_analysis_find("count", 5), NULL);
    if (rc >= 0)
        rc = trod_run_go(r);
    trod_run_free(r);
    return rc;
}

static void figure(const char *input, const char *what, double seconds, double inflate,
                   const char *want)
{
    char name[64];

    snprintf(name, sizeof name, "count.%s.%s", input, what);
    bench_ratio(name, (double)records / seconds / 1e6, "M rec/s", "inflate alone",
                seconds / inflate, want);
}

static void measure(const char *name, struct input *in, const char *goal)
{
    struct trod_trace *t;
    double inflate, rows, all, limit;

    if (trod_trace_open(&t, &in->path, 1, &lean, NULL) < 0)
        bench_die("cannot read the input");
    for (size_t i = 0; i < trod_trace_files(t) && i < FILES_MAX; i++)
        in->files[in->n_files++] = trod_trace_path(t, i);
    inflate = bench_best(bench_thread, inflate_alone, in);
    rows = bench_best(bench_thread, rows_alone, in);
    all = bench_best(bench_thread, count, in);
    trod_trace_close(t);
    limit = 1.5 * inflate + 4e-9 * (double)records;
    figure(name, "inflate", inflate, inflate, NULL);
    figure(name, "rows", rows, inflate, NULL);
    figure(name, "all", all, inflate, goal);
    printf("{\"name\":\"count.%s.limit\",\"value\":%.6g,\"unit\":\"s\",\"yardstick\":"
           "\"1.5 inflate + 4 ns\",\"ratio\":%.4g,\"want\":\"<= 1\"}\n",
           name, all, all / limit);
    bench_value("count.ns-a-record", (all - rows) / (double)records * 1e9, "ns");
}

int main(void)
{
    char path[BENCH_PATH];
    struct input made = {.path = path}, shared = made;

    bench_scratch(path, ".gz");
    generate(path, bench_bytes(DEFAULT_MB));
    measure("generated", &made, NULL);
    unlink(path);
    if (bench_shared_trace(path))
        measure("pthread-5-threads", &shared, ">= 120 M rec/s");
    return 0;
}
