/*
 * bench_export.c - views: what `trod export` takes beside writing the same rows as they are.
 *
 * docs/exporting.md. Input is Tarmac text of calls and returns, three deep, with the accesses of
 * their frames, from a loop. The yardstick is `trod convert` of it to itself, which copies every
 * row. Processor time of the command, all threads, start included; TROD names the command. The
 * program fails where a view has no line.
 */
#include "bench_command.h"

#include "trod/trod.h"

#include <sys/stat.h>

enum { DEFAULT_MB = 64, ROWS = 62 };

static const char *trod;
static char dir[256] = "/tmp/trod-bench-export-XXXXXX", in[512], out[512], elf[280];

static double children(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static uint64_t now, rows;

static void instr(FILE *f, unsigned pc, unsigned code, const char *text)
{
    now++;
    rows++;
    fprintf(f, "%" PRIu64 " clk cpu0 IT (%" PRIu64 ") %08x %08x O EL1h_n : %s\n", now, now, pc,
            code, text);
}

static void access_8(FILE *f, char kind, unsigned addr)
{
    rows++;
    fprintf(f, "%" PRIu64 " clk cpu0 M%c8 %08x 00000000_%08x\n", now, kind, addr, (unsigned)now);
}

/* Function DEPTH at 0x1000 times its depth; it calls the next one twice. */
static void call(FILE *f, unsigned depth)
{
    const unsigned at = 0x1000 * depth, stack = 0x80000 - 0x100 * depth;

    instr(f, at, 0xa9bf7bfd, "STP      x29,x30,[sp,#-0x10]!");
    access_8(f, 'W', stack);
    access_8(f, 'W', stack + 8);
    for (unsigned i = 0; i < 2 && depth < 4; i++) {
        instr(f, at + 4 + 4 * i, 0x94000000 | ((0x1000 - 4 - 4 * i) / 4), "BL       next");
        call(f, depth + 1);
    }
    instr(f, at + 12, 0xa8c17bfd, "LDP      x29,x30,[sp],#0x10");
    access_8(f, 'R', stack);
    access_8(f, 'R', stack + 8);
    instr(f, at + 16, 0xd65f03c0, "RET");
}

static void generate(size_t bytes)
{
    FILE *f = fopen(in, "w");

    if (!f)
        bench_die_errno(in);
    while ((size_t)ftell(f) < bytes) {
        instr(f, 0x100, 0x940003c0, "BL       0x1000");
        call(f, 1);
        instr(f, 0x104, 0x17ffffff, "B        0x100");
    }
    if (fclose(f) != 0)
        bench_die_errno(in);
}

/* A program with lines of source where the trace has code, for coverage. */
static void make_lines(void)
{
    char line[1024];
    struct bench_command c = {.argv = {"sh", "-c", line, NULL}};

    snprintf(line, sizeof line,
             "cd %s && awk 'BEGIN { print \".globl f\\n.type f,@function\\nf:\"; "
             "for (i = 256; i < 20480; i++) print \"nop\"; print \".size f, .-f\" }' >elf.s && "
             "as -g -o elf.o elf.s && ld -e f -Ttext=0x100 -o elf elf.o && rm elf.s elf.o",
             dir);
    if (bench_command(&c) != 0)
        bench_die("no program with lines: as or ld failed");
}

static void clear(void)
{
    struct bench_command c = {.argv = {"rm", "-rf", out, NULL}};

    bench_command(&c);
}

/* Most seconds are those of the best round; a folder must not be there before. */
static int once(void *user)
{
    struct bench_command *c = user;

    clear();
    return bench_command(c);
}

/* Every view that the library has is measured. */
static void check_all(const char *const *views, size_t n)
{
    const struct trod_export *e;

    for (size_t i = 0; (e = trod_export_at(i)); i++) {
        size_t j = 0;

        while (j < n && strncmp(views[j], e->name, strlen(e->name)) != 0)
            j++;
        if (j == n)
            bench_die(e->name);
    }
}

int main(void)
{
    static const char *const views[] = {
        "chrome", "perfetto", "speedscope", "folded", "callgrind",
        "pprof",  "dot",      "sqlite",     "ctf",    "drcov:module=a@0..0xfffff",
        "lcov",   "cbp2016"};
    struct bench_command copy = {
        .argv = {NULL, "convert", "-q", "-j", "1", "--to", "tarmac", in, out}};
    double base;

    trod = getenv("TROD");
    if (!trod || !mkdtemp(dir))
        bench_die("TROD does not name the command, or there is no temporary folder");
    snprintf(in, sizeof in, "%s/in.tarmac", dir);
    snprintf(out, sizeof out, "%s/out", dir);
    snprintf(elf, sizeof elf, "%s/elf", dir);
    generate(bench_bytes(DEFAULT_MB));
    make_lines();
    check_all(views, sizeof views / sizeof *views);
    copy.argv[0] = trod;
    base = bench_best(children, once, &copy);
    bench_value("export.copy", (double)rows / base / 1e6, "Mrows/s");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        /* only coverage by line has use for them */
        const char *symbols = strcmp(views[i], "lcov") == 0 ? "--symbols" : NULL;
        struct bench_command c = {.argv = {trod, "export", "-q", "-j", "1", "--to", views[i], "-o",
                                           out, in, symbols, elf}};
        const double t = bench_best(children, once, &c);
        char name[64];

        snprintf(name, sizeof name, "export.%.*s", (int)strcspn(views[i], ":"), views[i]);
        bench_ratio(name, (double)rows / t / 1e6, "Mrows/s", "time of copying every row", t / base,
                    NULL);
    }
    clear();
    unlink(in);
    unlink(elf);
    rmdir(dir);
    return 0;
}
