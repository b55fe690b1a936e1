/*
 * bench_byu.c - records a second of the BYU drivers over memory, all columns, against copying the
 * same bytes.
 */
#include "trod/trod.h"

#include "bench.h"

struct job {
    const struct trod_format *f;
    uint8_t *in, *out;
    size_t n, written;
    uint64_t rows, bytes;
    bool encode;
};

/* Records as a bus has them: runs of fetches, reads and writes here and there. */
static void fill(struct job *j, size_t record)
{
    static const uint8_t types6[] = {0x80, 0xc0, 0xf0, 0x80, 0x90, 0xd0, 0x80, 0xe0};
    static const uint8_t types12[] = {0, 1, 3, 0, 0, 2, 0, 0x20};
    uint64_t s = 88172645463325252u;

    for (size_t i = 0; i + record <= j->n; i += record) {
        uint64_t r = bench_rand(&s);
        uint8_t *p = j->in + i;

        memset(p, 0, record);
        p[0] = (uint8_t)(r >> 8 & 0xf8);
        p[1] = (uint8_t)(r >> 16);
        p[2] = (uint8_t)(r >> 24);
        p[3] = record == 6 ? p[0] : 0;
        p[4] = record == 6 ? (uint8_t)(r >> 40) : types12[r & 7];
        p[5] = record == 6 ? types6[r & 7] : 8;
        if (record == 12)
            p[8] = (uint8_t)(r >> 48);
    }
}

static int work(void *user)
{
    struct job *j = user;
    static uint8_t dec[1 << 16], enc[1 << 16];
    struct trod_span in = {j->in, j->n, 0, true};
    struct trod_batch *b;
    struct trod_meta meta;
    int rc;

    trod_meta_init(&meta);
    meta.format = j->f->name;
    if (trod_batch_new(&b, TROD_BATCH_ROWS) < 0)
        return 1;
    b->meta = &meta;
    memset(dec, 0, sizeof dec);
    memset(enc, 0, sizeof enc);
    j->rows = j->bytes = j->written = 0;
    if (j->f->dec_size > sizeof dec || j->f->enc_size > sizeof enc ||
        j->f->start(dec, j->f->defaults, &in, &meta, NULL) < 0 ||
        j->f->begin(enc, j->f->defaults, &meta, NULL) < 0)
        return 1;
    do {
        struct trod_room room = {j->out, j->out + (1 << 20)};
        uint32_t row = 0;

        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = j->f->decode(dec, &in, b, NULL);
        j->rows += b->n;
        for (uint32_t i = 0; i < b->n; i++)
            j->bytes += b->size[i];
        if (j->encode && j->f->encode(enc, b, &row, &room, NULL) != TROD_ENC_DONE)
            return 1;
        j->written += (size_t)(room.p - j->out);
    } while (rc == TROD_DEC_FULL);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return rc;
}

static int copy(void *user)
{
    struct job *j = user;

    for (size_t i = 0; i < j->n; i += 1 << 20)
        memcpy(j->out, j->in + i, j->n - i < 1 << 20 ? j->n - i : 1 << 20);
    return j->out[0] == j->in[0] + 300;
}

static void measure(const char *name, size_t record)
{
    struct job j = {.f = trod_format_find(name, strlen(name)), .n = bench_bytes(48)};
    double t, yard, all;
    char label[64];

    j.n -= j.n % record;
    j.in = malloc(j.n);
    j.out = malloc(1 << 20);
    if (!j.in || !j.out || !j.f)
        exit(1);
    fill(&j, record);
    yard = bench_best(bench_thread, copy, &j);
    t = bench_best(bench_thread, work, &j);
    if (j.rows != j.n / record)
        exit(1);
    snprintf(label, sizeof label, "%s decode and count", name);
    bench_ratio(label, (double)j.rows / t * 1e-6, "M records/s", "memcpy of the bytes", t / yard,
                ">= 250 M records/s");
    j.encode = true;
    all = bench_best(bench_thread, work, &j);
    if (j.written != j.n)
        exit(1);
    snprintf(label, sizeof label, "%s encode", name);
    bench_ratio(label, (double)j.rows / (all - t > 1e-9 ? all - t : 1e-9) * 1e-6, "M records/s",
                "memcpy of the bytes", (all - t) / yard, ">= 125 M records/s");
    free(j.in);
    free(j.out);
}

int main(void)
{
    measure("byu6", 6);
    measure("byu12", 12);
    return 0;
}
