/*
 * bench_io.c - inputs and outputs beside the bare system calls and libraries.
 *
 *   io.read*        plain files: windows, against read() into one buffer
 *   io.FILTER       decompression through an input without a thread, against the library alone
 *                   over the file in memory (CPU time of the thread)
 *   io.FILTER-beside  a consumer that works on every byte while the file is decompressed, against
 *                   the slower of the two alone (wall time; needs two idle processors)
 *   io.write*       outputs, against write() of one buffer
 */
#include "bench.h"
#include "trod/io.h"
#include "trod_config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if TROD_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif
#if TROD_HAVE_ZSTD
#include <zstd.h>
#endif
#if TROD_HAVE_LZ4
#include <lz4frame.h>
#endif

struct job {
    const char *path;
    const char *compress; /* writing */
    bool no_thread;
    bool work;        /* do something with each byte */
    const uint8_t *p; /* the file, or the bytes to write, in memory */
    size_t n;
    uint64_t out; /* bytes seen */
    uint64_t sum;
};

static uint8_t window[TROD_WINDOW];

/* Work on bytes at about the speed of a parser of text. */
static uint64_t work(const uint8_t *p, size_t n)
{
    uint64_t line = 0, lines = 0;
    for (size_t i = 0; i < n; i++) {
        line = line * 31 + p[i];
        if (p[i] == '\n') {
            lines ^= line;
            line = 0;
        }
    }
    return lines;
}

static int read_input(void *user)
{
    struct job *j = user;
    const struct trod_input_options opt = {.no_thread = j->no_thread};
    struct trod_input *in;
    struct trod_span span;
    int rc = trod_input_open(&in, j->path, &opt, NULL);
    if (rc != 0)
        return rc;
    while ((rc = trod_input_ahead(in, 1, &span)) == 0 && span.n) {
        if (j->work)
            j->sum ^= work(span.p, span.n);
        trod_input_consume(in, span.n);
    }
    j->out = trod_input_offset(in);
    trod_input_close(in);
    return rc;
}

static int read_calls(void *user)
{
    const struct job *j = user;
    const int fd = open(j->path, O_RDONLY);
    ssize_t n;
    if (fd < 0)
        return -1;
    while ((n = read(fd, window, sizeof window)) > 0)
        continue;
    close(fd);
    return (int)n;
}

static int work_memory(void *user)
{
    struct job *j = user;
    for (size_t at = 0; at < j->n; at += TROD_WINDOW)
        j->sum ^= work(j->p + at, j->n - at < TROD_WINDOW ? j->n - at : TROD_WINDOW);
    return 0;
}

#if TROD_HAVE_ISAL
static int isal_alone(void *user)
{
    const struct job *j = user;
    static struct inflate_state z;
    isal_inflate_init(&z);
    z.crc_flag = ISAL_GZIP;
    z.next_in = (uint8_t *)(uintptr_t)j->p;
    z.avail_in = (uint32_t)j->n;
    do {
        z.next_out = window;
        z.avail_out = sizeof window;
        if (isal_inflate(&z) < 0)
            return -1;
    } while (z.block_state != ISAL_BLOCK_FINISH);
    return 0;
}
#endif

#if TROD_HAVE_ZSTD
static int zstd_alone(void *user)
{
    const struct job *j = user;
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    ZSTD_inBuffer in = {j->p, j->n, 0};
    size_t left = 1;
    while (left && !ZSTD_isError(left)) {
        ZSTD_outBuffer out = {window, sizeof window, 0};
        left = ZSTD_decompressStream(ctx, &out, &in);
    }
    ZSTD_freeDCtx(ctx);
    return left != 0;
}
#endif

#if TROD_HAVE_LZ4
static int lz4_alone(void *user)
{
    const struct job *j = user;
    LZ4F_dctx *ctx;
    size_t at = 0, left = 1;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&ctx, LZ4F_VERSION)))
        return -1;
    while (left && !LZ4F_isError(left)) {
        size_t out = sizeof window, in = j->n - at;
        left = LZ4F_decompress(ctx, window, &out, j->p + at, &in, NULL);
        at += in;
    }
    LZ4F_freeDecompressionContext(ctx);
    return left != 0;
}
#endif

static int write_output(void *user)
{
    const struct job *j = user;
    const struct trod_output_options opt = {.no_thread = j->no_thread, .compress = j->compress};
    struct trod_output *out;
    unlink(j->path); /* to replace a file makes some file systems write it to the disk at once */
    int rc = trod_output_create(&out, j->path, &opt, NULL);
    if (rc != 0)
        return rc;
    rc = trod_output_write(out, j->p, j->n);
    if (rc == 0)
        return trod_output_commit(out);
    trod_output_discard(out);
    return rc;
}

static int write_calls(void *user)
{
    const struct job *j = user;
    unlink(j->path);
    const int fd = open(j->path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        return -1;
    for (size_t at = 0; at < j->n;) {
        const ssize_t n = write(fd, j->p + at, j->n - at < TROD_WINDOW ? j->n - at : TROD_WINDOW);
        if (n < 0)
            return -1;
        at += (size_t)n;
    }
    return close(fd);
}

/* Lines like those of a Tarmac trace. */
static uint8_t *make_text(size_t n)
{
    uint8_t *p = malloc(n + 256);
    uint64_t seed = 88172645463325252;
    uint64_t pc = 0x80000000, clock = 0;
    if (!p)
        bench_die("out of memory");
    for (size_t at = 0; at < n;) {
        const uint64_t r = bench_rand(&seed);
        pc = r % 8 ? pc + 4 : 0x80000000 + (r >> 20) % 4096 * 4;
        clock++;
        at += (size_t)snprintf((char *)p + at, 200,
                               "%" PRIu64 " clk IT (%" PRIu64 ") %08" PRIx64 " %08" PRIx64
                               " O EL1h_s : LDR x%u,[x%u,#%u]\n",
                               clock, clock, pc, pc * 2654435761u & 0xffffffff,
                               (unsigned)(pc / 4 % 31), (unsigned)(pc / 8 % 31),
                               (unsigned)(pc / 16 % 512));
    }
    return p;
}

static uint8_t *load(const char *path, size_t *n)
{
    struct stat st;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0)
        bench_die("cannot open a file just written");
    uint8_t *p = malloc((size_t)st.st_size);
    *n = 0;
    while (p && *n < (size_t)st.st_size) {
        const ssize_t got = read(fd, p + *n, (size_t)st.st_size - *n);
        if (got <= 0)
            bench_die("cannot read a file just written");
        *n += (size_t)got;
    }
    close(fd);
    return p;
}

static double mb_per_s(size_t n, double seconds)
{
    return (double)n / seconds / 1e6;
}

static void bench_plain(struct job *j, size_t n)
{
    const double calls = bench_best(bench_wall, read_calls, j);
    j->no_thread = true;
    const double alone = bench_best(bench_wall, read_input, j);
    j->no_thread = false;
    const double threads = bench_best(bench_wall, read_input, j);
    bench_ratio("io.read", mb_per_s(n, threads), "MB/s", "read()", calls / threads, NULL);
    bench_ratio("io.read-no-thread", mb_per_s(n, alone), "MB/s", "read()", calls / alone, NULL);
}

/* Decompression of the file of J, PLAIN bytes; ALONE is the library without us, or NULL. */
static void bench_filter(const char *filter, struct job *j, int (*alone)(void *),
                         const struct job *plain)
{
    char name[60];
    size_t n;
    uint8_t *packed = load(j->path, &n);
    j->p = packed;
    j->n = n;
    j->no_thread = true;
    const double ours = bench_best(bench_thread, read_input, j);
    if (j->out != plain->n)
        bench_die("what was written is not what is read");
    snprintf(name, sizeof name, "io.%s", filter);
    if (alone) {
        const double theirs = bench_best(bench_thread, alone, j);
        bench_ratio(name, mb_per_s(plain->n, ours), "MB/s", "the library alone", theirs / ours,
                    NULL);
    } else {
        bench_value(name, mb_per_s(plain->n, ours), "MB/s");
    }

    struct job text = *plain;
    const double read_alone = bench_best(bench_wall, read_input, j);
    const double work_alone = bench_best(bench_wall, work_memory, &text);
    j->no_thread = false;
    j->work = true;
    const double both = bench_best(bench_wall, read_input, j);
    j->work = false;
    const double slower = read_alone > work_alone ? read_alone : work_alone;
    snprintf(name, sizeof name, "io.%s-beside", filter);
    bench_ratio(name, mb_per_s(plain->n, both), "MB/s", "time of the slower alone", both / slower,
                "<= 1.15");
    free(packed);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/trod-bench-io-%ld", tmp ? tmp : "/tmp", (long)getpid());
    const size_t n = bench_bytes(256);
    const struct job plain = {.p = make_text(n), .n = n};
    static const struct {
        const char *filter;
        int (*alone)(void *);
    } cases[] = {
#if TROD_HAVE_ISAL
        {"gzip", isal_alone},
#endif
#if TROD_HAVE_ZSTD
        {"zstd", zstd_alone},
#endif
#if TROD_HAVE_LZ4
        {"lz4", lz4_alone},
#endif
#if TROD_HAVE_SNAPPY
        {"snappy", NULL},
#endif
    };
    struct job j = {.path = path, .compress = "none", .p = plain.p, .n = plain.n};
    const double calls = bench_best(bench_wall, write_calls, &j);
    const double output = bench_best(bench_wall, write_output, &j);
    bench_ratio("io.write", mb_per_s(n, output), "MB/s", "write()", calls / output, NULL);
    bench_plain(&j, n);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[60];
        j = (struct job){.path = path, .compress = cases[i].filter, .p = plain.p, .n = plain.n};
        snprintf(name, sizeof name, "io.write-%s", cases[i].filter);
        const double beside = bench_best(bench_wall, write_output, &j);
        bench_value(name, mb_per_s(n, beside), "MB/s");
        bench_filter(cases[i].filter, &j, cases[i].alone, &plain);
    }
    unlink(path);
    free((void *)(uintptr_t)plain.p);
    return 0;
}
