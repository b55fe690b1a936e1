/*
 * bench_byu.c - records a second of the BYU drivers over memory, all columns, against copying the
 * same bytes.
 */
#include "bench_driver.h"

/* Records as a bus has them: runs of fetches, reads and writes here and there. */
static void fill(struct bench_driver *j, size_t record)
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

static void measure(const char *name, size_t record)
{
    struct bench_driver j = {.f = trod_format_find(name, strlen(name)),
                             .n = bench_bytes(48),
                             .room = 1 << 20,
                             .add_up = true};
    double t, yard, all;
    char label[64];

    j.n -= j.n % record;
    j.in = malloc(j.n);
    j.out = malloc(j.room);
    if (!j.in || !j.out || !j.f)
        exit(1);
    j.opt = j.f->defaults;
    fill(&j, record);
    yard = bench_best(bench_thread, bench_copy, &j);
    t = bench_best(bench_thread, bench_drive, &j);
    if (j.rows != j.n / record)
        exit(1);
    snprintf(label, sizeof label, "%s decode and count", name);
    bench_ratio(label, (double)j.rows / t * 1e-6, "M records/s", "memcpy of the bytes", t / yard,
                ">= 250 M records/s");
    j.encode = true;
    all = bench_best(bench_thread, bench_drive, &j);
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
