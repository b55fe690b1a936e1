/*
 * bench_compare.c - comparing two traces against decoding both.
 *
 * Issue "compare": equal Tarmac files at least 0.8 times as fast as decoding both of them, after a
 * resynchronization too; less than 128 MiB with a window of 100,000 records. Input is generated.
 * Time is that of one thread, so that a busy machine does not count. TROD names the command whose
 * memory is measured.
 *
 *   equal    two equal files                    resync   an instruction more at the beginning
 *   spaced   an instruction less now and then   dialect  register names and notation of another
 * tracer memory   of `trod compare`, a third of the registers different, window 100,000
 */
#include "bench_command.h"

#include "trod/trod.h"

enum { DEFAULT_MB = 64 };

static char dir[256];

/* How a copy differs from the first trace. */
struct edits {
    uint64_t more;   /* an instruction more before this one; 0: none */
    uint64_t less;   /* every so many instructions, one less; 0: never */
    uint64_t value;  /* every so many registers, another value; 0: never */
    bool lower_case; /* registers as another tracer writes them */
};

static void generate(const char *path, size_t bytes, const struct edits *e)
{
    static const char *const ops[] = {"ADD      x0,x1,#8", "LDR      x2,[x0]", "CMP      w3,#0",
                                      "B.NE     {pc}-0x10", "STP      x29,x30,[sp,#-0x10]!"};
    uint64_t seed = 42, regs = 0;
    size_t n = 0;
    FILE *f = fopen(path, "wb");

    if (!f)
        bench_die_errno(path);
    for (uint64_t t = 1; n < bytes; t++) {
        uint64_t r = bench_rand(&seed), v = bench_rand(&seed), pc = 0x80001000 + (r & 0xfffc);
        char line[512];
        int k = sprintf(line, "%" PRIu64 " clk IT (%" PRIu64 ") %08" PRIx64 " %08x O EL1h_n : %s\n",
                        t, t, pc, (unsigned)(r >> 32), ops[r % 5]);

        if (r % 10 < 6) {
            uint64_t w = e->value && ++regs % e->value == 0 ? v ^ 1 : v;

            k += sprintf(line + k,
                         e->lower_case ? "%" PRIu64 " clk R x%u %016" PRIx64 "\n"
                                       : "%" PRIu64 " clk R X%u %016" PRIx64 "\n",
                         t, (unsigned)(v % 31), w);
        }
        if (r % 10 < 2)
            k += sprintf(line + k, "%" PRIu64 " clk MR8 %016" PRIx64 " %08x_%08x\n", t, v >> 16,
                         (unsigned)v, (unsigned)(v >> 32));
        n += (size_t)k;
        if (t == e->more)
            fprintf(f, "%" PRIu64 " clk IT (%" PRIu64 ") 00000040 d503201f O EL1h_n : NOP\n", t, t);
        if (!e->less || t % e->less)
            fwrite(line, 1, (size_t)k, f);
    }
    if (fclose(f) != 0)
        bench_die_errno(path);
}

struct pair {
    const char *a, *b;
    struct trod_compare_options opt;
    struct trod_compare_summary sum;
};

static struct trod_trace *open_one(const char *path, struct trod_diag *diag)
{
    const struct trod_trace_options opt = {.input.no_thread = true};
    struct trod_trace *t;

    trod_diag_init(diag, NULL, NULL);
    if (trod_trace_open(&t, &path, 1, &opt, diag) < 0)
        bench_die_errno(path);
    return t;
}

static int decode_both(void *user)
{
    const struct pair *p = user;

    for (int side = 0; side < 2; side++) {
        struct trod_diag diag;
        struct trod_trace *t = open_one(side ? p->b : p->a, &diag);
        struct trod_batch *b;
        int rc;

        while ((rc = trod_trace_next(t, &b)) > 0)
            ;
        trod_trace_close(t);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int compare_both(void *user)
{
    struct pair *p = user;
    struct trod_diag diag[2];
    struct trod_trace *a = open_one(p->a, &diag[0]), *b = open_one(p->b, &diag[1]);
    int rc;

    trod_trace_want(a, trod_compare_want(&p->opt));
    trod_trace_want(b, trod_compare_want(&p->opt));
    rc = trod_compare_run(a, b, &p->opt, NULL, NULL, &p->sum, &diag[0]);
    trod_trace_close(a);
    trod_trace_close(b);
    return rc;
}

/* NAME: how fast A and an edited copy are compared, which differ N times (or more). */
static void measure(const char *name, const char *a, size_t bytes, const struct edits *e,
                    uint64_t least, const char *want)
{
    char path[512], label[64];
    struct pair p = {.a = a, .b = path};
    double decode, compare;

    snprintf(path, sizeof path, "%s/%s.tarmac", dir, name);
    snprintf(label, sizeof label, "compare.%s", name);
    generate(path, bytes, e);
    p.opt.serial = true;
    decode = bench_best(bench_thread, decode_both, &p);
    compare = bench_best(bench_thread, compare_both, &p);
    if (p.sum.differences < least || (least == 0 && p.sum.differences)) {
        fprintf(stderr, "bench: %s: %" PRIu64 " differences\n", name, p.sum.differences);
        exit(1);
    }
    bench_ratio(label, 2 * (double)bytes / 1e6 / compare, "MB/s", "decoding both", decode / compare,
                want);
    /* on two threads: wall time, so that it counts only where two processors are idle */
    p.opt.serial = false;
    decode = bench_best(bench_wall, decode_both, &p);
    compare = bench_best(bench_wall, compare_both, &p);
    snprintf(label, sizeof label, "compare.%s.two-threads", name);
    bench_ratio(label, 2 * (double)bytes / 1e6 / compare, "MB/s", "decoding both", decode / compare,
                want);
    unlink(path);
}

/* Two cpus one after the other, FIRST first: what comes last here comes first on the other side. */
static void generate_apart(const char *path, size_t bytes, int first)
{
    FILE *f = fopen(path, "w");
    unsigned long long rows = bytes / 64 / 2;

    if (!f)
        bench_die_errno(path);
    for (int k = 0; k < 2; k++)
        for (unsigned long long i = 0; i < rows; i++)
            fprintf(f, "%llu clk cpu%d IT (%llu) %08llx d503201f O EL1h_n : NOP\n", i, k ^ first, i,
                    0x1000 + 4 * (i % 5000));
    if (fclose(f) != 0)
        bench_die_errno(path);
}

/* Memory of `trod compare` of A and B, which differ, with a window of 100,000. */
static void memory(const char *label, const char *trod, const char *a, const char *b)
{
    struct bench_command c = {.argv = {trod, "compare", "-w", "100000", "-n", "0", "--pair",
                                       "cpu0=cpu0", "--pair", "cpu1=cpu1", a, b, NULL}};

    if (bench_command(&c) != 1)
        bench_die("trod compare did not find the differences");
    bench_ratio(label, (double)c.peak / 1024, "MiB", "128 MiB", (double)c.peak / 1024 / 128,
                "value <= 128");
}

static void memories(const char *trod, const char *a, size_t bytes)
{
    const struct edits e = {.value = 2};
    char b[512], c[512];

    snprintf(b, sizeof b, "%s/b.tarmac", dir);
    snprintf(c, sizeof c, "%s/c.tarmac", dir);
    generate(b, bytes, &e);
    memory("compare.memory", trod, a, b);
    generate_apart(b, bytes, 0);
    generate_apart(c, bytes, 1);
    memory("compare.memory.apart", trod, b, c);
    unlink(b);
    unlink(c);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR"), *trod = getenv("TROD");
    const size_t bytes = bench_bytes(DEFAULT_MB);
    const struct edits none = {0}, more = {.more = 100}, less = {.less = 1000},
                       names = {.lower_case = true};
    char a[512];

    snprintf(dir, sizeof dir, "%s/trod-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        bench_die_errno(dir);
    snprintf(a, sizeof a, "%s/a.tarmac", dir);
    generate(a, bytes, &none);
    measure("equal", a, bytes, &none, 0, "ratio >= 0.8");
    measure("resync", a, bytes, &more, 1, "ratio >= 0.8");
    measure("spaced", a, bytes, &less, 100, NULL);
    measure("dialect", a, bytes, &names, 0, NULL);
    if (trod)
        memories(trod, a, bytes);
    unlink(a);
    rmdir(dir);
    return 0;
}
