/*
 * bench_check.c - `trod check` beside `trod count` on the same trace, one thread.
 *
 * Goal: at most twice the time of count. Inputs: a drmemtrace file (gzip) and a Tarmac file
 * generated here, both of programs that keep every rule, so that everything is judged and nothing
 * told; and pthread-5-threads of the shared traces where they are.
 */
#include "bench_drm.h"

#include "trod/check.h"
#include "trod/run.h"

enum { DEFAULT_MB = 64, BLOCKS = 4096, BLOCK = 16, BASE = 0x400000 };

static uint64_t seed = 7;
static struct trod_output *out;

/* ---- inputs */

static void instr(unsigned type, unsigned size, uint64_t code, uint64_t pc, bool first)
{
    bench_instr(out, type, size, code, pc, first);
}

/* Block K, sixteen bytes: mov rax,[rdi]; nop; mov [rdi],eax; nop; jne to the next but one; nops. */
static uint64_t block(uint64_t k, bool first)
{
    uint64_t data = 0x7ffc00000000 + (bench_rand(&seed) & 0xfff8), pc = BASE + BLOCK * k;
    bool taken = !first && (bench_rand(&seed) & 1);

    instr(BENCH_INSTR, 3, 0x078b48, pc, first);
    bench_entry(out, BENCH_READ, 8, data);
    instr(BENCH_INSTR, 1, 0x90, pc + 3, first);
    instr(BENCH_INSTR, 2, 0x0789, pc + 4, first);
    bench_entry(out, BENCH_WRITE, 4, data);
    instr(BENCH_INSTR, 1, 0x90, pc + 6, first);
    instr(taken ? BENCH_TAKEN : BENCH_UNTAKEN, 2, 0x1775, pc + 7, first); /* to pc + 32 */
    for (unsigned i = 9; !taken && i < BLOCK; i++)
        instr(BENCH_INSTR, 1, 0x90, pc + i, first);
    return k + 1 + taken;
}

/* jmp to the first block, where block K would be. */
static uint64_t back(uint64_t k, bool first)
{
    uint64_t pc = BASE + BLOCK * k;

    instr(BENCH_JUMP, 5, 0xe9 | (uint64_t)(uint32_t)(BASE - (pc + 5)) << 8, pc, first);
    return 0;
}

static void generate_drm(uint64_t bytes)
{
    uint64_t k = 0, turns = 0;

    bench_thread_begin(out);
    while (trod_output_offset(out) < bytes || k != 0) {
        if (k < BLOCKS)
            k = block(k, turns == 0);
        else
            k = back(k, turns == 0 || k > BLOCKS); /* the second place has not been seen */
        turns += k == 0;
    }
    bench_thread_end(out);
}

/* One turn of a loop: ldr x0,[x1]; add x0,x0,#1; str x0,[x1]; b.ne or b back. */
static void generate_tarmac(uint64_t bytes)
{
    char line[512];
    uint64_t time = 1, at = 0;

    while (trod_output_offset(out) < bytes) {
        unsigned pc = 0x210000 + 16 * (unsigned)at, data = 0x80000 + 8 * (unsigned)(time % 500);
        unsigned long long t = time;
        bool last = ++at == BLOCKS;
        int n =
            snprintf(line, sizeof line,
                     "%llu clk cpu0 IT (%llu) %08x:%012x f9400020 O EL1h_n : LDR      x0,[x1,#0]\n"
                     "%llu clk cpu0 MR8 %08x:%012x 00000000_%08x\n"
                     "%llu clk cpu0 R X0 %016llx\n"
                     "%llu clk cpu0 IT (%llu) %08x:%012x 91000400 O EL1h_n : ADD      x0,x0,#1\n"
                     "%llu clk cpu0 R X0 %016llx\n"
                     "%llu clk cpu0 IT (%llu) %08x:%012x f9000020 O EL1h_n : STR      x0,[x1,#0]\n"
                     "%llu clk cpu0 MW8 %08x:%012x 00000000_%08x\n",
                     t, t, pc, pc, t, data, data, data, t, t, t + 1, t + 1, pc + 4, pc + 4, t + 1,
                     t, t + 2, t + 2, pc + 8, pc + 8, t + 2, data, data, data);

        bench_put(out, line, (size_t)n);
        if (last) /* b to the first */
            n = snprintf(line, sizeof line,
                         "%llu clk cpu0 IT (%llu) %08x:%012x %08x O EL1h_n : B        {pc}\n",
                         t + 3, t + 3, pc + 12, pc + 12,
                         0x14000000 | ((0u - (pc + 12 - 0x210000) / 4) & 0x3ffffff));
        else
            n = snprintf(line, sizeof line,
                         "%llu clk cpu0 IS (%llu) %08x:%012x 54000041 O EL1h_n : B.NE     {pc}+8\n",
                         t + 3, t + 3, pc + 12, pc + 12);
        bench_put(out, line, (size_t)n);
        at = last ? 0 : at;
        time += 4;
    }
}

/* ---- what is measured */

struct run {
    const char *path, *analysis, *from;
    uint64_t rows, findings;
};

static int run(void *user)
{
    struct run *in = user;
    const struct trod_run_options opt = {.trace = {.from = in->from, .input = {.no_thread = true}},
                                         .jobs = 1};
    struct trod_trace_progress p;
    struct trod_run *r;
    int rc;

    if (trod_run_open(&r, &in->path, 1, &opt, NULL) < 0)
        return 1;
    rc = trod_run_add(r, trod_analysis_find(in->analysis, strlen(in->analysis)), NULL);
    if (rc >= 0)
        rc = trod_run_go(r);
    trod_run_progress(r, &p);
    in->rows = p.rows;
    if (rc == 0 && strcmp(in->analysis, "check") == 0)
        in->findings = trod_check_total(trod_run_state(r, 0), TROD_RULE_NOTE);
    trod_run_free(r);
    return rc;
}

static void measure(const char *name, const char *path, const char *from)
{
    struct run c = {.path = path, .analysis = "count", .from = from}, k = c;
    double count, check;
    char figure[64];

    k.analysis = "check";
    count = bench_best(bench_thread, run, &c);
    check = bench_best(bench_thread, run, &k);
    if (k.findings)
        bench_die("the input does not keep the rules: something else was measured");
    snprintf(figure, sizeof figure, "check.%s", name);
    bench_ratio(figure, (double)k.rows / check / 1e6, "M rec/s", "trod count", check / count,
                "<= 2");
}

static void generated(const char *name, const char *suffix, const char *from, const char *compress,
                      void (*generate)(uint64_t))
{
    struct trod_output_options opt = {.compress = compress};
    char path[BENCH_PATH];

    bench_scratch(path, suffix);
    if (trod_output_create(&out, path, &opt, NULL) < 0)
        bench_die("cannot create the input");
    generate(bench_bytes(DEFAULT_MB));
    if (trod_output_commit(out) < 0)
        bench_die("cannot finish the input");
    measure(name, path, from);
    unlink(path);
}

int main(void)
{
    char shared[BENCH_PATH];

    generated("drmemtrace", ".trace.gz", "drmemtrace", "gzip", generate_drm);
    generated("tarmac", ".tarmac", "tarmac", NULL, generate_tarmac);
    if (bench_shared_trace(shared))
        measure("pthread-5-threads", shared, NULL);
    return 0;
}
