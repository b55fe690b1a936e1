/*
 * bench_drwrite.c - writing drmemtrace: rows of a recorder encoded, entries copied, entries written
 * anew, each plain and as zip.
 *
 * A made-up loop of instructions and accesses is written TROD_BENCH_MB (default 400) megabytes
 * long; the file is then what the other figures read. User time: what the system takes to keep the
 * bytes is not ours.
 */
#include "bench.h"
#include "trod/trace.h"
#include "trod/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INSTRS = 2400 };

static void add_instr(struct trod_batch *b, uint64_t pc, const void *code, uint32_t n)
{
    void *p = trod_batch_pool(b, n, &b->code[b->n]);

    if (!p)
        bench_die("the pool is full");
    memcpy(p, code, n);
    b->kind[b->n] = TROD_INSTR;
    b->has[b->n] = b->have;
    b->addr[b->n] = b->pc[b->n] = pc;
    b->size[b->n++] = n;
}

static void add_read(struct trod_batch *b, uint64_t pc, uint64_t addr)
{
    b->kind[b->n] = TROD_READ;
    b->has[b->n] = b->have & ~(uint32_t)TROD_COL_CODE;
    b->addr[b->n] = addr;
    b->pc[b->n] = pc;
    b->size[b->n++] = 8;
}

/* A loop: moves, loads, untaken branches, and a jump back at its end. */
static void make_loop(struct trod_batch *b, uint64_t *rand)
{
    uint64_t pc = 0x401000;
    int32_t back;
    uint8_t jump[5] = {0xe9};

    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
              TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE;
    for (int i = 0; i < INSTRS; i++) {
        if (i % 2 == 0) {
            add_instr(b, pc, "\x48\x8b\x07", 3);
            add_read(b, pc, 0x7ff000000000 + bench_rand(rand) % (1 << 20));
            pc += 3;
        } else if (i % 7 == 1) {
            add_instr(b, pc, "\x74\x40", 2);
            pc += 2;
        } else {
            add_instr(b, pc, "\x48\x01\xc0", 3);
            pc += 3;
        }
    }
    back = (int32_t)(0x401000 - (pc + 5));
    memcpy(jump + 1, &back, 4);
    add_instr(b, pc, jump, 5);
    for (uint32_t i = 0; i < b->n; i++) {
        b->flags[i] = 0;
        b->stream[i] = 0;
        b->time[i] = 0;
    }
}

/* Seconds to write ROWS rows of the loop to OUT. */
static double record(const char *out, const char *compress, uint64_t rows)
{
    struct trod_writer_options opt = {.to = "drmemtrace", .columns = TROD_COL_ADDR};
    uint64_t rand = 1;
    struct trod_diag diag;
    struct trod_meta meta;
    struct trod_writer *w;
    struct trod_batch *b = NULL;
    double from;

    trod_diag_init(&diag, NULL, NULL);
    trod_meta_init(&meta);
    meta.isa = TROD_ISA_X86_64;
    meta.endian = TROD_ENDIAN_LITTLE;
    opt.output.compress = compress;
    opt.output.no_thread = true;
    if (trod_meta_thread(&meta, 100, 100, 0) < 0 || trod_batch_new(&b, TROD_BATCH_ROWS) < 0)
        bench_die("out of memory");
    b->meta = &meta;
    make_loop(b, &rand);
    from = bench_user();
    if (trod_writer_open(&w, out, &opt, &meta, &diag) < 0)
        bench_die("cannot write");
    for (uint64_t done = 0; done < rows; done += b->n)
        if (trod_writer_put(w, b) < 0)
            bench_die("writing failed");
    if (trod_writer_commit(w, NULL) < 0)
        bench_die("writing failed");
    from = bench_user() - from;
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return from;
}

/* Seconds to read IN and (TO not NULL) to write it to OUT. */
static double copy(const char *in, const char *out, const char *to, const char *compress,
                   uint64_t *rows)
{
    const struct trod_trace_options topt = {.input.no_thread = true};
    struct trod_writer_options opt = {.to = to};
    struct trod_writer *w = NULL;
    struct trod_trace *t;
    struct trod_batch *b;
    struct trod_diag diag;
    double from = bench_user();

    *rows = 0;
    trod_diag_init(&diag, NULL, NULL);
    if (trod_trace_open(&t, &in, 1, &topt, &diag) < 0)
        bench_die("cannot read what was written");
    opt.source = trod_trace_format(t);
    opt.source_options = trod_trace_format_options(t);
    opt.output.compress = compress;
    opt.output.no_thread = true;
    if (to && trod_writer_open(&w, out, &opt, trod_trace_meta(t), &diag) < 0)
        bench_die("cannot write");
    trod_trace_want(t, w ? trod_writer_want(w) : TROD_COL_KIND | TROD_COL_SUB | TROD_COL_RAW);
    while (trod_trace_next(t, &b) > 0) {
        *rows += b->n;
        if (w && trod_writer_put(w, b) < 0)
            bench_die("writing failed");
    }
    if (w && trod_writer_commit(w, NULL) < 0)
        bench_die("writing failed");
    trod_trace_close(t);
    return bench_user() - from;
}

int main(void)
{
    static const struct {
        const char *name, *to, *compress, *want;
    } figures[] = {
        {"drwrite.copy.plain", "drmemtrace", "none", NULL},
        {"drwrite.copy.zip", "drmemtrace", "zip", NULL},
        {"drwrite.anew.plain", "drmemtrace:chunk=10000000", "none", NULL},
        {"drwrite.anew.zip", "drmemtrace:chunk=10000000", "zip", NULL},
        {"drwrite.anew.small-chunks", "drmemtrace:chunk=1000", "zip", NULL},
    };
    char in[] = "/tmp/bench-drwrite-XXXXXX", out[] = "/tmp/bench-drwrite-XXXXXX";
    int a = mkstemp(in), b = mkstemp(out);
    uint64_t rows = bench_bytes(400) / 12;
    double base;

    if (a < 0 || b < 0)
        bench_die("no temporary file");
    close(a);
    close(b);
    bench_ratio("drwrite.record.zip", (double)rows / record(out, "zip", rows) / 1e6, "M rows/s",
                "30 M rows/s", (double)rows / record(out, "zip", rows) / 1e6 / 30,
                ">= 30 M rows/s");
    bench_ratio("drwrite.record.plain", (double)rows / record(in, "none", rows) / 1e6, "M rows/s",
                "30 M rows/s", (double)rows / record(in, "none", rows) / 1e6 / 30,
                ">= 30 M rows/s");
    base = copy(in, out, NULL, NULL, &rows);
    bench_value("drwrite.reading", (double)rows / base / 1e6, "M rows/s");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double s = copy(in, out, figures[i].to, figures[i].compress, &rows);

        bench_ratio(figures[i].name, (double)rows / s / 1e6, "M rows/s", "reading alone", base / s,
                    ">= 30 M rows/s");
    }
    unlink(in);
    unlink(out);
    return 0;
}
