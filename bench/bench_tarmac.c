/*
 * bench_tarmac.c - Tarmac text to rows and back, over memory, one thread.
 *
 * The input is made here: a program of a few thousand instructions that walks about, with register
 * writes and memory accesses in the proportions of real traces, growing times and Fast Models
 * style. The yardstick is counting its lines with memchr, as wc -l does. Figures: all columns,
 * kind and address only, a few, encoding, and the same trace in the other dialects. The decoder
 * runs on windows of 1 MiB, as the reader gives them.
 */
#include "bench.h"

#include "trod/buf.h"
#include "trod/format.h"

enum { PROGRAM = 4096, WINDOW = 1 << 20, DEFAULT_MB = 256, ROOM = 1 << 22 };

struct work {
    const struct trod_format *format;
    const uint8_t *p;
    size_t n;
    uint32_t want;
    struct trod_batch *batch;
    uint64_t rows, bytes, lines;
    bool encode;
    int dialect;          /* to encode to: the first of the format's options */
    struct trod_buf *out; /* NULL: what is encoded is thrown away */
    uint8_t *room;
};

static const char *const ops[] = {
    "LDR      x9,[sp,#8]",           "ADD      x0,x0,#1",
    "STR      x0,[x8,#0]",           "SUBS     w10,w9,#0xff",
    "B.EQ     {pc}+0x40 ; 0x21080c", "MOV      w1,wzr",
    "LDP      x29,x30,[sp,#0x10]",   "RET",
    "AND      w8,w8,#0xff",          "BL       {pc}-0x1f8 ; 0x2106bc"};

/* One instruction and what it does, at TIME; returns the time of the next. */
static void add_instr(struct trod_buf *b, uint64_t *seed, uint64_t time, uint32_t at)
{
    uint64_t r = bench_rand(seed);
    unsigned op = (unsigned)(at * 2654435761u >> 28) % 10;
    unsigned long long t = time, index = time + 1;
    uint32_t pc = 0x00210000 + 4 * at;
    int rc = trod_buf_printf(b, "%llu clk cpu0 %s (%llu) %08x:%012x %08x O EL3h_s : %s\n", t,
                             op == 4 && (r & 1) ? "IS" : "IT", index, pc, pc,
                             (unsigned)(at * 2654435761u), ops[op]);

    if (op == 0 || op == 6)
        rc |= trod_buf_printf(b, "%llu clk cpu0 MR8 %08x:%012x %08x_%08x\n", t,
                              (unsigned)(0xff000 + (r & 0xff8)), (unsigned)(0xff000 + (r & 0xff8)),
                              (unsigned)(r >> 40), (unsigned)(r >> 12));
    if (op == 2)
        rc |= trod_buf_printf(b, "%llu clk cpu0 MW4 %08x:%012x_NS %08x\n", t,
                              (unsigned)(0x80000000 + (r & 0xfffff0)),
                              (unsigned)(0x80000000 + (r & 0xfffff0)), (unsigned)(r >> 30));
    if (op == 3)
        rc |= trod_buf_printf(b, "%llu clk cpu0 R cpsr 600003cd\n", t);
    if (op != 2 && op != 4 && op != 7)
        rc |= trod_buf_printf(b, "%llu clk cpu0 R X%u %016llX\n", t, (unsigned)(r % 30),
                              (unsigned long long)(r >> 20));
    if (rc < 0)
        exit(1);
}

static struct trod_buf generate(size_t n)
{
    struct trod_buf b = {0};
    uint64_t seed = 88172645463325252u, time = 1000000;
    uint32_t at = 0;

    if (trod_buf_reserve(&b, n + 4096) < 0)
        exit(1);
    while (b.n < n) {
        add_instr(&b, &seed, time++, at);
        at = bench_rand(&seed) % 16 ? (at + 1) % PROGRAM : (uint32_t)(bench_rand(&seed) % PROGRAM);
    }
    return b;
}

static int count_lines(void *user)
{
    struct work *w = user;
    const uint8_t *p = w->p, *end = p + w->n;

    w->lines = 0;
    while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        w->lines++;
        p++;
    }
    return 0;
}

/* N bytes of the room were written. */
static void keep(struct work *w, size_t n)
{
    w->bytes += n;
    if (w->out && trod_buf_add(w->out, w->room, n) < 0)
        exit(1);
}

static int encode(struct work *w, void *enc)
{
    struct trod_room room = {w->room, w->room + ROOM};
    uint32_t row = 0;
    int rc;

    while ((rc = w->format->encode(enc, w->batch, &row, &room, NULL)) == TROD_ENC_FULL) {
        keep(w, (size_t)(room.p - w->room));
        room.p = w->room;
    }
    keep(w, (size_t)(room.p - w->room));
    return rc;
}

static int run(void *user)
{
    struct work *w = user;
    const struct trod_format *f = w->format;
    struct trod_span head = {w->p, w->n < 65536 ? w->n : 65536, 0, false};
    void *dec = calloc(1, f->dec_size), *enc = calloc(1, f->enc_size);
    int *opt = calloc(1, f->options_size);
    struct trod_meta meta;
    struct trod_diag diag;
    size_t at = 0;
    int rc;

    trod_meta_init(&meta);
    trod_diag_init(&diag, NULL, NULL);
    rc = f->start(dec, opt, &head, &meta, &diag);
    *opt = w->dialect;
    if (rc == 0)
        rc = f->begin(enc, opt, &meta, &diag);
    w->rows = w->bytes = 0;
    w->batch->want = w->want;
    w->batch->meta = &meta;
    while (rc >= 0 && at < w->n) {
        size_t n = w->n - at < WINDOW ? w->n - at : WINDOW;
        struct trod_span in = {w->p + at, n, at, at + n == w->n};

        do {
            trod_batch_clear(w->batch);
            w->batch->bytes = in.p;
            w->batch->bytes_n = in.n;
            rc = f->decode(dec, &in, w->batch, &diag);
            w->rows += w->batch->n;
            if (rc >= 0 && w->encode && encode(w, enc) < 0)
                rc = -1;
        } while (rc == TROD_DEC_FULL);
        at += n - in.n;
    }
    if (diag.errors)
        rc = -1;
    trod_meta_fini(&meta);
    free(dec);
    free(enc);
    free(opt);
    return rc < 0 ? 1 : 0;
}

/* The same trace in another dialect: the general parser, for the most part. */
static void other_dialect(const struct work *from, int dialect, const char *name)
{
    struct work w = *from;
    struct trod_buf text = {0};
    double t;

    w.encode = true;
    w.dialect = dialect;
    w.out = &text;
    w.want = TROD_COL_ALL;
    if (run(&w) != 0)
        exit(1);
    w = *from;
    w.p = text.p;
    w.n = text.n;
    w.want = TROD_COL_ALL;
    t = bench_best(bench_thread, run, &w);
    bench_value(name, (double)text.n / 1e6 / t, "MB/s");
    trod_buf_fini(&text);
}

int main(void)
{
    struct trod_buf text = generate(bench_bytes(DEFAULT_MB));
    struct work w = {.format = trod_format_find("tarmac", 6), .p = text.p, .n = text.n};
    double mb = (double)text.n / 1e6, count, all, t;

    if (!w.format || trod_batch_new(&w.batch, TROD_BATCH_ROWS) < 0 || !(w.room = malloc(ROOM)))
        return 1;
    count = bench_best(bench_thread, count_lines, &w);
    bench_value("tarmac_count_lines", mb / count, "MB/s");
    w.want = TROD_COL_ALL;
    all = bench_best(bench_thread, run, &w);
    bench_ratio("tarmac_decode_all", mb / all, "MB/s", "counting the lines", all / count,
                ">= 900 MB/s");
    bench_ratio("tarmac_decode_all_lines", (double)w.rows / all / 1e6, "M lines/s",
                "counting the lines", all / count, ">= 16 M lines/s");
    w.want = TROD_COL_KIND | TROD_COL_ADDR;
    t = bench_best(bench_thread, run, &w);
    bench_ratio("tarmac_decode_narrow", mb / t, "MB/s", "counting the lines", t / count,
                ">= 1400 MB/s");
    w.want = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_FLAGS | TROD_COL_STREAM |
             TROD_COL_TIME;
    t = bench_best(bench_thread, run, &w);
    bench_ratio("tarmac_decode_some", mb / t, "MB/s", "counting the lines", t / count, NULL);
    w.want = TROD_COL_ALL;
    w.encode = true;
    t = bench_best(bench_thread, run, &w) - all;
    bench_ratio("tarmac_encode", (double)w.bytes / 1e6 / t, "MB/s", "decoding all columns", t / all,
                NULL);
    w.encode = false;
    other_dialect(&w, 2, "tarmac_decode_es");
    other_dialect(&w, 3, "tarmac_decode_gem5");
    trod_batch_free(w.batch);
    free(w.room);
    trod_buf_fini(&text);
    return 0;
}
