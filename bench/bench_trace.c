/*
 * bench_trace.c - the command end to end: what users wait for.
 *
 * docs/design.md; the goals stand in docs/testing.md, "Benchmarks". Input is generated: Tarmac text
 * of instructions, registers and accesses, in a folder of its own in memory (/dev/shm) where there
 * is room, else in TMPDIR. TROD names the command to measure.
 *
 *   info     trod info FILE against `cat FILE >/dev/null` plus the parse alone
 *   memory   the most memory trod info takes, for a file and for a quarter of it
 *   packed   reading .gz and .zst against the slower of decompressing and parsing alone
 *   convert  Tarmac to Tarmac, bytes in and out
 */
#include "bench_command.h"

#include "trod/trod.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

enum { DEFAULT_MB = 1024, CHUNK = 1 << 20 };

static const char *trod;
static char dir[256];

/* Path of NAME in the folder; of the last eight calls. */
static const char *in_dir(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *p = paths[next++ % 8];

    snprintf(p, sizeof paths[0], "%s/%s", dir, name);
    return p;
}

/* A mix as simulators write it: of ten lines five instructions, three registers, two accesses. */
static size_t lines(char *p, size_t room, uint64_t *time, uint64_t *seed)
{
    static const char *const ops[] = {"ADD      x0,x1,#8", "LDR      x2,[x0]", "CMP      w3,#0",
                                      "B.NE     {pc}-0x10", "STP      x29,x30,[sp,#-0x10]!"};
    size_t n = 0;

    while (n + 400 < room) {
        uint64_t r = bench_rand(seed), t = ++*time, pc = 0x80001000 + (r & 0xfffc);
        uint64_t v = bench_rand(seed);

        n += (size_t)sprintf(p + n,
                             "%" PRIu64 " clk IT (%" PRIu64 ") %08" PRIx64 " %08x O EL1h_n : %s\n",
                             t, t, pc, (unsigned)(r >> 32), ops[r % 5]);
        if (r % 10 < 6)
            n += (size_t)sprintf(p + n, "%" PRIu64 " clk R X%u %016" PRIx64 "\n", t,
                                 (unsigned)(v % 31), v);
        if (r % 10 < 2)
            n += (size_t)sprintf(p + n, "%" PRIu64 " clk MR8 %016" PRIx64 " %08x_%08x\n", t,
                                 v >> 16, (unsigned)v, (unsigned)(v >> 32));
        else if (r % 10 < 4)
            n += (size_t)sprintf(p + n, "%" PRIu64 " clk MW4 %016" PRIx64 " %08x\n", t, v >> 16,
                                 (unsigned)v);
    }
    return n;
}

static void generate(const char *path, size_t bytes)
{
    static char chunk[CHUNK];
    uint64_t time = 0, seed = 42;
    FILE *f = fopen(path, "wb");

    if (!f)
        bench_die_errno(path);
    for (size_t n = 0, k; n < bytes; n += k) {
        k = lines(chunk, sizeof chunk, &time, &seed);
        if (fwrite(chunk, 1, k, f) != k)
            bench_die_errno(path);
    }
    if (fclose(f) != 0)
        bench_die_errno(path);
}

/* Memory where the input fits three times over, else the temporary folder. */
static void make_dir(size_t bytes)
{
    const char *tmp = getenv("TMPDIR"), *base = tmp ? tmp : "/tmp";
    struct statvfs v;

    if (statvfs("/dev/shm", &v) == 0 && (uint64_t)v.f_bavail * v.f_frsize > 3 * (uint64_t)bytes)
        base = "/dev/shm";
    snprintf(dir, sizeof dir, "%s/trod-bench-XXXXXX", base);
    if (!mkdtemp(dir))
        bench_die_errno(dir);
}

/* Parse the file, one thread, all columns the command counts with. */
static int parse(void *path)
{
    const struct trod_trace_options opt = {.input.no_thread = true};
    const char *paths[] = {path};
    struct trod_diag diag;
    struct trod_batch *b;
    struct trod_trace *t;
    int rc;

    trod_diag_init(&diag, NULL, NULL);
    rc = trod_trace_open(&t, paths, 1, &opt, &diag);
    while (rc >= 0 && (rc = trod_trace_next(t, &b)) > 0)
        ;
    if (t)
        trod_trace_close(t);
    return rc;
}

/* The bytes alone: read and decompressed, not parsed. */
static int inflate(void *path)
{
    const struct trod_input_options opt = {.no_thread = true};
    struct trod_span span = {0};
    struct trod_input *in;
    int rc = trod_input_open(&in, path, &opt, NULL);

    while (rc == 0 && (rc = trod_input_ahead(in, 1, &span)) == 0 && span.n)
        trod_input_consume(in, span.n);
    trod_input_close(in);
    return rc;
}

static void info(const char *file, double mb)
{
    struct bench_command cat = {{"cat", file, NULL}, 0}, i = {{trod, "info", file, NULL}, 0};
    double t_cat = bench_best(bench_wall, bench_command, &cat);
    double t_parse = bench_best(bench_wall, parse, (void *)(uintptr_t)file);
    double t_info = bench_best(bench_wall, bench_command, &i);

    bench_value("trace.cat", mb / t_cat, "MB/s");
    bench_ratio("trace.parse", mb / t_parse, "MB/s", "cat", t_parse / t_cat, NULL);
    bench_ratio("trace.info", mb / t_info, "MB/s", "cat plus parse", t_info / (t_cat + t_parse),
                "ratio <= 2.5");
}

static void memory(const char *file, const char *quarter)
{
    struct bench_command a = {{trod, "info", quarter, NULL}, 0},
                         b = {{trod, "info", file, NULL}, 0};

    if (bench_command(&a) != 0 || bench_command(&b) != 0) {
        bench_die("trod info failed");
    }
    bench_ratio("trace.info.memory", (double)b.peak / 1024, "MiB", "a quarter of the file",
                (double)b.peak / (double)a.peak, "value <= 64");
}

static void packed(const char *file, const char *packer, const char *name, double mb)
{
    struct bench_command pack = {{packer, "-1", "-k", "-f", "-q", file, NULL}, 0};
    struct bench_command i = {{trod, "info", name, NULL}, 0};
    double t_parse, t_inflate, t_info, slower;
    char label[64];

    if (bench_command(&pack) != 0)
        bench_die_errno(packer);
    t_parse = bench_best(bench_wall, parse, (void *)(uintptr_t)file);
    t_inflate = bench_best(bench_wall, inflate, (void *)(uintptr_t)name);
    t_info = bench_best(bench_wall, bench_command, &i);
    slower = t_parse > t_inflate ? t_parse : t_inflate;
    snprintf(label, sizeof label, "trace.info.%s", packer);
    bench_ratio(label, mb / t_info, "MB/s",
                t_parse > t_inflate ? "parsing alone" : "decompressing alone", t_info / slower,
                "ratio <= 1.15");
}

static void convert(const char *file, double mb)
{
    const char *out = in_dir("out.tarmac");
    struct bench_command c = {{trod, "convert", "--quiet", file, out, NULL}, 0};
    struct bench_command cp = {{"cp", file, out, NULL}, 0};
    double t_cp = bench_best(bench_wall, bench_command, &cp),
           t = bench_best(bench_wall, bench_command, &c);

    bench_ratio("trace.convert", mb / t, "MB/s", "cp", t / t_cp, "value >= 800");
    unlink(out);
}

int main(void)
{
    size_t bytes = bench_bytes(DEFAULT_MB);
    const char *file, *quarter, *gz, *zst;
    struct stat st;
    double mb;

    trod = getenv("TROD");
    if (!trod || !*trod) {
        fprintf(stderr, "bench_trace: TROD does not name the command; scripts/bench sets it\n");
        return 2;
    }
    make_dir(bytes);
    file = in_dir("big.tarmac");
    quarter = in_dir("quarter.tarmac");
    gz = in_dir("quarter.tarmac.gz");
    zst = in_dir("quarter.tarmac.zst");
    generate(file, bytes);
    generate(quarter, bytes / 4);
    if (stat(file, &st) != 0)
        bench_die_errno(file);
    mb = (double)st.st_size / 1e6;
    info(file, mb);
    memory(file, quarter);
    convert(file, mb);
    unlink(file);
    packed(quarter, "gzip", gz, mb / 4);
    packed(quarter, "zstd", zst, mb / 4);
    unlink(quarter);
    unlink(gz);
    unlink(zst);
    rmdir(dir);
    return 0;
}
