/*
 * bench_drmemtrace.c - records a second of the drmemtrace decoder: over memory with few and with
 * all columns, and over a zip archive beside inflating the same archive alone. A trace named by
 * TROD_BENCH_DRMEMTRACE (a file) is measured instead of the generated one.
 */
#include "trod/trod.h"

#include "bench_drm.h"

enum {
    FEW = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_SUB |
          TROD_COL_STREAM
};

struct job {
    const char *path; /* of a file, or NULL: what is at p */
    uint8_t *p;
    size_t n;
    uint32_t want;
    uint64_t rows, bytes, sum;
};

static void put(struct job *j, unsigned type, unsigned size, uint64_t addr)
{
    bench_entry_at(j->p + j->n, type, size, addr);
    j->n += BENCH_ENTRY;
}

/* Loops of instructions, a third of which access memory, with a return here and there. */
static void fill(struct job *j, size_t bytes)
{
    uint64_t s = 88172645463325252u, t = 13386385969186755u;

    put(j, BENCH_HEADER, 0, 7);
    put(j, BENCH_MARKER, TROD_DRM_VERSION, 7);
    put(j, BENCH_MARKER, TROD_DRM_FILETYPE, TROD_DRM_X86_64);
    put(j, BENCH_TID, 4, 100);
    put(j, BENCH_PID, 4, 100);
    put(j, BENCH_MARKER, TROD_DRM_CACHE_LINE_SIZE, 64);
    put(j, BENCH_MARKER, TROD_DRM_PAGE_SIZE, 4096);
    while (j->n + 4096 < bytes) {
        uint64_t r = bench_rand(&s), pc = 0x7f0000400000 + (r & 0x3ff) * 64;

        if ((r >> 40 & 0xff) == 0) {
            put(j, BENCH_MARKER, TROD_DRM_TIMESTAMP, t += r & 0xff);
            put(j, BENCH_MARKER, TROD_DRM_CPU_ID, r >> 8 & 7);
        }
        for (int i = 0; i < 12; i++, r >>= 4) {
            put(j, BENCH_INSTR, 4, pc + (uint64_t)i * 4);
            if ((r & 3) == 0)
                put(j, r >> 2 & 1 ? BENCH_WRITE : BENCH_READ, 8,
                    0x7ffd00000000 + (bench_rand(&s) & 0xffff8));
        }
        if (r & 1)
            put(j, BENCH_MARKER, TROD_DRM_BRANCH_TARGET, pc);
        put(j, r & 1 ? BENCH_RETURN : BENCH_TAKEN, 2, pc + 48);
    }
    put(j, BENCH_EXIT, 4, 100);
    put(j, BENCH_FOOTER, 0, 0);
}

static int open_input(struct job *j, struct trod_input **in)
{
    const struct trod_input_options opt = {.no_thread = true};

    return j->path ? trod_input_open(in, j->path, &opt, NULL)
                   : trod_input_memory(in, j->p, j->n, "bench", &opt, NULL);
}

/* Decompress and copy alone. */
static int bytes(void *user)
{
    static uint8_t copy[1 << 17];
    struct job *j = user;
    struct trod_input *in;
    struct trod_span s;
    int rc = open_input(j, &in);

    if (rc < 0)
        return rc;
    j->bytes = 0;
    while (trod_input_ahead(in, 1, &s) == 0 && s.n) {
        size_t some = s.n < sizeof copy ? s.n : sizeof copy;

        memcpy(copy, s.p, some);
        j->bytes += some;
        trod_input_consume(in, some);
    }
    trod_input_close(in);
    return 0;
}

/* Decode, and look at two columns of each row. */
static int rows(void *user)
{
    struct job *j = user;
    struct trod_reader_options opt = {.from = "drmemtrace"};
    struct trod_reader *r;
    struct trod_input *in;
    struct trod_batch *b;
    struct trod_meta meta;
    int rc = open_input(j, &in);

    if (rc < 0 || trod_batch_new(&b, TROD_BATCH_ROWS) < 0)
        return 1;
    trod_meta_init(&meta);
    if ((rc = trod_reader_open(&r, in, &opt, &meta, NULL)) < 0)
        return rc;
    j->rows = 0;
    b->want = j->want;
    while ((rc = trod_reader_next(r, b)) == 1) {
        for (uint32_t i = 0; i < b->n; i++)
            j->sum += b->kind[i] + b->size[i];
        j->rows += b->n;
    }
    trod_reader_close(r);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return rc;
}

int main(void)
{
    struct job j = {.path = getenv("TROD_BENCH_DRMEMTRACE")};
    size_t n = bench_bytes(96);
    double alone, few, all;

    if (!j.path) {
        j.p = malloc(n);
        if (!j.p)
            return 1;
        fill(&j, n);
    }
    alone = bench_best(bench_thread, bytes, &j);
    j.want = FEW;
    few = bench_best(bench_thread, rows, &j);
    j.want = TROD_COL_ALL & ~(uint32_t)TROD_COL_SITE;
    all = bench_best(bench_thread, rows, &j);
    bench_value("drmemtrace bytes alone", (double)j.bytes / BENCH_ENTRY / alone * 1e-6,
                "M entries/s");
    bench_ratio("drmemtrace decode, few columns", (double)j.rows / few * 1e-6, "M records/s",
                "decompressing and copying the bytes", few / alone, ">= 120 M records/s");
    bench_ratio("drmemtrace decode, all columns", (double)j.rows / all * 1e-6, "M records/s",
                "decompressing and copying the bytes", all / alone, NULL);
    bench_value("drmemtrace decode alone, few columns", (few - alone) / (double)j.rows * 1e9,
                "ns a record");
    free(j.p);
    return j.sum == 0;
}
