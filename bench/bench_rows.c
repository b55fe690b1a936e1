/*
 * bench_rows.c - rows a second of the formats of simulators and memory tracers over memory, against
 * copying the same bytes.
 *
 * Every format gets the rows of one made-up program, as far as it holds them.
 */
#include "bench_driver.h"

enum { ROOM = 8 << 20, LINE = 32 };

/* A program as lackey prints it: runs of instructions, accesses here and there. */
static void program(struct bench_driver *j)
{
    uint64_t s = 88172645463325252u, pc = 0x401000;
    size_t n = 0;

    while (n + 2 * LINE < j->n) {
        const uint64_t r = bench_rand(&s);
        const unsigned size = 1 + (unsigned)(r & 7);

        n += (size_t)snprintf((char *)j->in + n, LINE, "I  %08" PRIx64 ",%u\n", pc, size);
        if ((r >> 8 & 3) == 0)
            n += (size_t)snprintf((char *)j->in + n, LINE, " %c %08" PRIx64 ",8\n",
                                  r >> 10 & 1 ? 'L' : 'S', 0x7fff0000 + (r >> 16 & 0xfff8));
        pc = (r >> 40 & 15) == 0 ? 0x401000 + (r >> 44 & 0xffff) : pc + size;
    }
    j->n = n;
}

/* TO->in: the rows of FROM in the format of TO. */
static void make(struct bench_driver *to, const struct bench_driver *from)
{
    void *dec = calloc(1, from->f->dec_size), *enc = calloc(1, to->f->enc_size);
    struct trod_span in = {from->in, from->n, 0, true};
    const size_t room = 8 * from->n + ROOM;
    struct trod_room out;
    struct trod_batch *b;
    struct trod_meta meta;
    int rc = TROD_DEC_FULL;

    to->in = malloc(room);
    trod_meta_init(&meta);
    meta.format = from->f->name;
    meta.driver = from->f;
    if (!dec || !enc || !to->in || trod_batch_new(&b, TROD_BATCH_ROWS) < 0)
        bench_die("out of memory");
    out = (struct trod_room){to->in, to->in + room};
    b->meta = &meta;
    if (from->f->start(dec, from->opt, &in, &meta, NULL) < 0 ||
        to->f->begin(enc, to->opt, &meta, NULL) < 0)
        bench_die("a driver does not begin");
    while (rc == TROD_DEC_FULL) {
        uint32_t row = 0;

        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = from->f->decode(dec, &in, b, NULL);
        if (rc < 0 || to->f->encode(enc, b, &row, &out, NULL) != TROD_ENC_DONE)
            bench_die("rows are not written");
    }
    if (to->f->finish && to->f->finish(enc, &out, NULL) != TROD_ENC_DONE)
        bench_die("rows are not finished");
    if (to->f->drop)
        to->f->drop(enc);
    to->n = (size_t)(out.p - to->in);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    free(enc);
}

static void measure(const char *name, const struct bench_driver *program_rows)
{
    struct bench_driver j = {.f = trod_format_find(name, strlen(name)), .room = ROOM};
    double t, yard, all;
    char label[64];

    if (!j.f)
        bench_die("no such format");
    j.opt = j.f->defaults;
    make(&j, program_rows);
    j.out = malloc(j.room);
    if (!j.out)
        bench_die("out of memory");
    yard = bench_best(bench_thread, bench_copy, &j);
    t = bench_best(bench_thread, bench_drive, &j);
    snprintf(label, sizeof label, "%s decode", name);
    bench_ratio(label, (double)j.rows / t * 1e-6, "M rows/s", "memcpy of the bytes", t / yard,
                strcmp(name, "csv") == 0 ? ">= 5 M rows/s" : ">= 10 M rows/s");
    j.encode = true;
    all = bench_best(bench_thread, bench_drive, &j);
    snprintf(label, sizeof label, "%s encode", name);
    bench_ratio(label, (double)j.rows / (all - t > 1e-9 ? all - t : 1e-9) * 1e-6, "M rows/s",
                "memcpy of the bytes", (all - t) / yard, ">= 10 M rows/s");
    free(j.in);
    free(j.out);
}

int main(void)
{
    static const char *const names[] = {
        "dinero",       "dinerox",         "dinerob",    "lackey",    "pinatrace",
        "memtrace_x86", "memtrace_simple", "instrace",   "ramulator", "dramsim3",
        "champsim",     "cloudsuite",      "gem5packet", "csv"};
    struct bench_driver j = {.f = trod_format_find("lackey", 6), .n = bench_bytes(16)};

    j.in = malloc(j.n);
    if (!j.in || !j.f)
        bench_die("out of memory");
    program(&j);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        measure(names[i], &j);
    free(j.in);
    return 0;
}
