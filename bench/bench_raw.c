/*
 * bench_raw.c - raw thread files of DynamoRIO, read as the trace that is made of them: entries of
 * that trace a second, against reading it when it is a file, and against copying its bytes.
 *
 * The code is a loop of ten instructions of which four access memory: two of their addresses are
 * left out, as the tracer does. Then the same by the command, start included: convert of the raw
 * file beside cp of what it becomes, count of it beside count of that. TROD names the command.
 */
#include "bench.h"
#include "bench_command.h"

#include "trod/trod.h"

#include <unistd.h>

#define EXT(sub, b, a) (UINT64_C(6) << 61 | (uint64_t)(sub) << 56 | (uint64_t)(b) << 48 | (a))
#define BLOCK          (UINT64_C(5) << 61 | UINT64_C(10) << 49 | UINT64_C(0xffff) << 33)

static const uint8_t code[] = {
    0x48, 0x8b, 0x43, 0x08, /* mov 8(%rbx),%rax */
    0x48, 0x01, 0xc8,       /* add %rcx,%rax */
    0x48, 0x89, 0x43, 0x10, /* mov %rax,16(%rbx) */
    0x48, 0xff, 0xc2,       /* inc %rdx */
    0x48, 0x8b, 0x34, 0xd7, /* mov (%rdi,%rdx,8),%rsi */
    0x48, 0x31, 0xf0,       /* xor %rsi,%rax */
    0x48, 0x8b, 0x73, 0x18, /* mov 24(%rbx),%rsi */
    0x48, 0x83, 0xc1, 0x01, /* add $1,%rcx */
    0x48, 0x39, 0xd1,       /* cmp %rdx,%rcx */
    0x75, 0xde,             /* jne the first */
};

struct job {
    const char *path;
    uint8_t *keep; /* entries are kept here, if anywhere */
    size_t n, cap;
    uint64_t rows;
};

static void save(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
        bench_die_errno(path);
}

static int read_all(void *user)
{
    struct job *j = user;
    struct trod_trace_options opt = {.struct_size = sizeof opt,
                                     .want = TROD_COL_KIND | TROD_COL_ADDR |
                                             (j->keep ? TROD_COL_RAW : 0)};
    struct trod_trace *t;
    struct trod_batch *b;
    int rc = trod_trace_open(&t, &j->path, 1, &opt, NULL);

    j->rows = j->n = 0;
    if (rc < 0)
        return rc;
    while ((rc = trod_trace_next(t, &b)) == 1) {
        j->rows += b->n;
        for (uint32_t i = 0; j->keep && i < b->n; i++) {
            const size_t n = b->has[i] & TROD_COL_RAW ? b->raw[i].len : 0;

            if (j->n + n > j->cap)
                bench_die("more entries than there is room for");
            memcpy(j->keep + j->n, trod_batch_bytes(b, b->raw[i]), n);
            j->n += n;
        }
    }
    trod_trace_close(t);
    return rc;
}

struct copy {
    const uint8_t *from;
    uint8_t *to;
    size_t n;
};

static int copy_all(void *user)
{
    struct copy *c = user;

    memcpy(c->to, c->from, c->n);
    return 0;
}

/*
 * Processor time of the command on the file RAW, whose trace of N entries is FINAL, and which it
 * writes to OUT.
 */
static void commands(const char *raw, const char *final, const char *out, double n)
{
    const char *trod = getenv("TROD");
    struct bench_command cp = {.argv = {"cp", final, out}},
                         convert = {.argv = {trod, "convert", "-q", "-j1", "--to",
                                             "drmemtrace:container=none", raw, out}},
                         count = {.argv = {trod, "count", "-j1", raw}},
                         same = {.argv = {trod, "count", "-j1", final}};
    double t, yard;

    if (!trod)
        bench_die("TROD does not name the command; scripts/bench sets it");
    yard = bench_best(bench_children, bench_command, &cp);
    t = bench_best(bench_children, bench_command, &convert);
    bench_ratio("drmemtrace raw: convert", n / t * 1e-6, "M entries/s", "cp of the trace", t / yard,
                NULL);
    yard = bench_best(bench_children, bench_command, &same);
    t = bench_best(bench_children, bench_command, &count);
    bench_ratio("drmemtrace raw: count", n / t * 1e-6, "M entries/s", "count of the trace",
                t / yard, NULL);
}

int main(void)
{
    const size_t blocks = bench_bytes(48) / (3 * 8), cap = blocks * 14 * 12 + (1 << 16);
    const uint64_t head[] = {EXT(4, 8, 0x40), UINT64_C(2) << 61 | 7, UINT64_C(3) << 61 | 7,
                             EXT(2, 10, 64)};
    const uint64_t record[] = {1, 0, 24 + sizeof code, 0, 0x401000};
    uint64_t *raw = malloc((blocks * 3 + 8) * 8);
    uint8_t *made = malloc(cap), *copy = malloc(cap), list[sizeof record + sizeof code];
    char dir[] = "/tmp/bench-raw-XXXXXX", path[5][64];
    size_t n = sizeof head / sizeof *head;
    double t, final, yard;

    if (!raw || !made || !copy || !mkdtemp(dir))
        bench_die_errno("bench_raw");
    for (int i = 0; i < 5; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", dir,
                 (const char *const[]){"encodings.bin", "modules.log", "drmemtrace.a.1.raw",
                                       "drmemtrace.a.1.trace", "made.trace"}[i]);
    memcpy(list, record, sizeof record);
    memcpy(list + sizeof record, code, sizeof code);
    save(path[0], list, sizeof list);
    save(path[1], "Module Table: version 5, count 0\n", 33);
    memcpy(raw, head, sizeof head);
    for (size_t i = 0; i < blocks; i++) {
        raw[n++] = BLOCK;
        raw[n++] = 0x10000 + i % 64 * 64;
        raw[n++] = 0x200000 + i % 4096 * 8;
    }
    raw[n++] = EXT(1, 0, 0);
    save(path[2], raw, n * 8);

    struct job j = {.path = path[2], .keep = made, .cap = cap};
    if (read_all(&j) != 0)
        bench_die("the raw file cannot be read");
    save(path[3], made, j.n);
    struct copy c = {made, copy, j.n};
    yard = bench_best(bench_thread, copy_all, &c);
    j.keep = NULL;
    t = bench_best(bench_user, read_all, &j);
    bench_ratio("drmemtrace raw: made and read", (double)c.n / 12 / t * 1e-6, "M entries/s",
                "memcpy of the entries", t / yard, NULL);
    j.path = path[3];
    final = bench_best(bench_user, read_all, &j);
    bench_ratio("drmemtrace raw: beside its trace", (double)c.n / 12 / t * 1e-6, "M entries/s",
                "reading the final file", t / final, NULL);
    commands(path[2], path[3], path[4], (double)c.n / 12);
    for (int i = 0; i < 5; i++)
        unlink(path[i]);
    rmdir(dir);
    free(raw);
    free(made);
    free(copy);
    return 0;
}
