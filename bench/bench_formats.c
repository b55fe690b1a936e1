/*
 * bench_formats.c - every format of `trod formats`, read and written as the command does it, beside
 * plain copying of the file.
 *
 * Files of the formats that can be written are made by `trod gen` (100,000 trips of a loop with a
 * load) or, with all registers, by trod-gen; of those that cannot, here, from a few records again
 * and again. Nothing is copied byte for
 * byte: rows are decoded into all their columns and encoded again. Processor time of one thread,
 * which does the input and output too; TROD names the command. The program fails where a format
 * has no line.
 */
#include "bench_command.h"

#include "trod/trod.h"

#include <stdbool.h>

enum { TRIPS = 100000, PIECE = 1 << 17, NAME = 64 };

/* Formats that nothing of ours writes: HEAD once, LINE again and again. */
static const struct {
    const char *name, *head;
    size_t head_n;
    const char *line;
    size_t line_n;
} samples[] = {
#define TEXT(s) s, sizeof s - 1
    {"execlog", TEXT(""),
     TEXT("0, 0x1004, 0xb9400022, \"ldr w2, [x1]\", load, 0x00009018\n"
          "0, 0x1008, 0x11000442, \"add w2, w2, #1\"\n")},
    {"qemulog",
     TEXT("IN: f\n0x00401000:  48 01 04 24              addq     %rax, (%rsp)\n"
          "0x00401004:  ff c9                    decl     %ecx\n"
          "0x00401006:  75 f8                    jne      0x401000\n\n"),
     TEXT("Trace 0: 0x7f888e800280 [0000000000000000/0000000000401000/1040c0b3/00000200] f\n")},
    {"spike", TEXT(""),
     TEXT("core   0: 0x0000000080000000 (0x0182b283) ld      t0, 24(t0)\n"
          "core   0: 3 0x0000000080000000 (0x0182b283) x5  0x0000000080000000 mem "
          "0x0000000000001018\n")},
    {"rvvitext", TEXT("VERSION 0 4\nPARAMS 1 XLEN 64\n"),
     TEXT("RET 80000000 0182b283 X 5 0000000080000000 MEM D 8 80001018 80001018 0\n"
          "RET 80000004 00028067 X 0 0\n")},
    {"gem5exec", TEXT(""),
     TEXT("   1000: system.cpu0: T0 : 0x1004 @main+4    : ldr x2, [x1]               : MemRead :  "
          "D=0x000000000000002a A=0x8000\n")},
    {"perfscript", TEXT(""),
     TEXT("prog 12 [001] 5.000001: 1 cycles:u: 401136 main+0x6 (/bin/x)  "
          "0x401150/0x401130/M/-/-/12  0x40112a/0x40113c/P/-/-/0  0x401100/0x401104/P/-/-/3\n")},
    {"bt9",
     TEXT("BT9_SPA_TRACE_FORMAT\nbt9_minor_version: 0\nhas_physical_address: 0\nBT9_NODES\n"
          "NODE 0 0 - 0 0\nNODE 1 0x1064 - 0x34ffffe3 4 class: JMP+DIR+CND\nBT9_EDGES\n"
          "EDGE 0 0 1 T 0x1060 - 1\nEDGE 1 1 1 T 0x1060 - 1\nEDGE 2 1 0 N 0x1068 - 0\n"
          "BT9_EDGE_SEQUENCE\n0\n"),
     TEXT("1\n1\n1\n1\n1\n1\n1\n1\n")},
    {"pixie32", TEXT("\x0c\0\x04\0"), TEXT("\x30\0\x20\0\x02\0\x20\x04")},
    {"pixie64", TEXT("\0\x0f\0\0\0\0\0\0\0\x0c\0\0\0\0\x04\0"),
     TEXT("\x03\0\0\0\0\0\x20\0\0\x02\0\0\0\0\x20\x04")},
};

static const char *trod;
static char dir[] = "/tmp/trod-bench-formats-XXXXXX", in[NAME], out[NAME];

struct job {
    const struct trod_format *f;
    bool write;
    uint64_t rows, bytes;
};

static void generate(const char *format, const char *suffix)
{
    char pattern[NAME];
    struct bench_command c = {.argv = {trod, "gen", "-q", "--to", format, pattern, in, NULL}};

    snprintf(in, sizeof in, "%s/in%s", dir, suffix);
    snprintf(pattern, sizeof pattern, "strided:count=%d,stride=64", TRIPS);
    if (bench_command(&c) != 0)
        bench_die(format);
}

static void repeat(size_t i)
{
    FILE *f;

    snprintf(in, sizeof in, "%s/in", dir);
    if (!(f = fopen(in, "wb")))
        bench_die_errno(in);
    fwrite(samples[i].head, 1, samples[i].head_n, f);
    for (unsigned n = 0; n < TRIPS; n++)
        fwrite(samples[i].line, 1, samples[i].line_n, f);
    if (strcmp(samples[i].name, "bt9") == 0)
        fputs("2\nEOF\n", f);
    if (fclose(f) != 0)
        bench_die_errno(in);
}

/* FULL has all registers at each instruction, which trod gen does not make. */
static void generate_full(void)
{
    char line[1024];
    struct bench_command c = {.argv = {"sh", "-c", line, NULL}};

    snprintf(in, sizeof in, "%s/in.full", dir);
    snprintf(line, sizeof line,
             "\"$(dirname '%s')\"/../../tests/gen/trod-gen full --records %d >%s", trod, TRIPS, in);
    if (bench_command(&c) != 0)
        bench_die("trod-gen");
}

/* Copy the file as cp would. */
static int copy(void *user)
{
    struct job *j = user;
    static char piece[PIECE];
    const int from = open(in, O_RDONLY), to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n;

    j->bytes = 0;
    while ((n = read(from, piece, sizeof piece)) > 0 && write(to, piece, (size_t)n) == n)
        j->bytes += (uint64_t)n;
    return n != 0 || close(from) != 0 || close(to) != 0;
}

/* Read all rows, and write them. */
static int go(void *user)
{
    struct job *j = user;
    const char *const paths[] = {in};
    const struct trod_trace_options topt = {.from = j->f->name, .input.no_thread = true};
    struct trod_writer_options opt = {
        .to = j->f->name, .allow_loss = true, .output = {.compress = "none", .no_thread = true}};
    struct trod_writer *w = NULL;
    struct trod_trace *t;
    struct trod_batch *b;
    struct trod_diag diag;
    int r;

    trod_diag_init(&diag, NULL, NULL);
    if ((r = trod_trace_open(&t, paths, 1, &topt, &diag)) < 0)
        return r;
    if (j->write)
        r = trod_writer_open(&w, out, &opt, trod_trace_meta(t), &diag);
    j->rows = 0;
    while (r >= 0 && (r = trod_trace_next(t, &b)) > 0) {
        j->rows += b->n;
        if (w)
            r = trod_writer_put(w, b);
    }
    if (w && r >= 0)
        r = trod_writer_commit(w, NULL);
    trod_trace_close(t);
    return r < 0 ? -r : diag.errors ? 1 : 0;
}

static void figure(const struct job *j, const char *what, double seconds, double yard)
{
    char name[NAME];

    snprintf(name, sizeof name, "formats.%s.%s", j->f->name, what);
    bench_ratio(name, (double)j->rows / seconds * 1e-6, "M rows/s", "copying the file",
                seconds / yard, NULL);
}

static void measure(const struct trod_format *f)
{
    struct job j = {.f = f};
    double yard, reading, both;
    size_t i = 0;

    snprintf(out, sizeof out, "%s/out%s", dir, f->suffixes[0] ? f->suffixes[0] : "");
    while (i < sizeof samples / sizeof *samples && strcmp(samples[i].name, f->name) != 0)
        i++;
    if (strcmp(f->name, "full") == 0)
        generate_full();
    else if (f->encode)
        generate(f->name, f->suffixes[0] ? f->suffixes[0] : "");
    else if (i < sizeof samples / sizeof *samples)
        repeat(i);
    else
        bench_die(f->name);
    yard = bench_best(bench_thread, copy, &j);
    reading = bench_best(bench_thread, go, &j);
    if (j.rows == 0)
        bench_die(f->name);
    figure(&j, "read", reading, yard);
    j.write = f->encode != NULL;
    if (j.write) {
        both = bench_best(bench_thread, go, &j);
        figure(&j, "write", both - reading > 1e-9 ? both - reading : 1e-9, yard);
    }
    unlink(in);
    unlink(out);
}

int main(void)
{
    const struct trod_format *f;

    trod = getenv("TROD");
    if (!trod || !mkdtemp(dir))
        bench_die("TROD does not name the command, or there is no temporary folder");
    for (size_t i = 0; (f = trod_format_at(i)); i++)
        measure(f);
    return rmdir(dir) != 0;
}
