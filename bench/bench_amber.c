/*
 * bench_amber.c - instructions a second of the Amber drivers over memory, all columns, against
 * copying the same bytes.
 *
 * The trace is a walk through a made-up program of 4096 instructions in the proportions of compiled
 * PowerPC code: 45 % integer, 35 % loads and stores, 15 % branches, 5 % indexed forms and others.
 */
#include "bench_driver.h"

enum { PROGRAM = 4096, BASE = 0x10000, OUT = 1 << 22 };

static void put32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static uint32_t opcode(uint64_t r)
{
    static const uint32_t integer[] = {0x38630001, 0x7c632214, 0x60000000, 0x2c030000, 0x5463103a};
    static const uint32_t access[] = {0x80610008, 0x90610008, 0x88630000, 0x98630000,
                                      0xa0640002, 0xc8210010, 0xd8210018, 0x84010004};
    static const uint32_t indexed[] = {0x7c63202e, 0x7c63212e, 0x7c6320ae, 0x7c0020ce, 0xbbc10008};
    unsigned what = (unsigned)(r % 100), pick = (unsigned)(r >> 32);

    if (what < 45)
        return integer[pick % 5] ^ (pick >> 8 & 0x3e00000);
    if (what < 80)
        return access[pick % 8] ^ (pick >> 8 & 0x3fffff8);
    if (what < 90)
        return 0x40820000 | ((pick % 200) << 2) | 4; /* bne forward */
    if (what < 93)
        return 0x4bffff00; /* b back */
    if (what < 95)
        return 0x4e800020; /* blr */
    return indexed[pick % 5];
}

static size_t make(uint8_t *out, size_t n, uint64_t *instructions)
{
    static uint32_t program[PROGRAM];
    uint64_t s = 88172645463325252u;
    uint32_t pc = 0;
    size_t at = 4;

    for (int i = 0; i < PROGRAM; i++)
        program[i] = opcode(bench_rand(&s));
    put32(out, BASE);
    for (*instructions = 0; at + 12 <= n; ++*instructions) {
        uint32_t op = program[pc], major = op >> 26, next = (pc + 1) % PROGRAM;

        put32(out + at, op);
        at += 4;
        if (major == 16 || major == 18 || major == 19) {
            uint64_t r = bench_rand(&s);

            if (major == 18)
                next = (pc + PROGRAM - 64) % PROGRAM;
            else if (major == 19 || r % 3 == 0)
                next = major == 19 ? (uint32_t)(r >> 40) % PROGRAM
                                   : (pc + (op & 0xfffc) / 4) % PROGRAM;
            put32(out + at, BASE + 4 * next);
            at += 4;
        } else if (major >= 32 || (major == 31 && (op >> 1 & 0x3ff) != 266)) {
            put32(out + at, (uint32_t)bench_rand(&s) & 0xfffff8);
            at += 4;
        } else if (next == 0) { /* the program wraps around: the chain must not break */
            next = pc;
            put32(out + at - 4, 0x48000000);
            put32(out + at, BASE);
            at += 4;
            next = 0;
        }
        pc = next;
    }
    return at;
}

static void measure_tt6(const char *name)
{
    struct bench_driver j = {
        .f = trod_format_find(name, strlen(name)), .n = bench_bytes(64), .room = OUT};
    double t, yard, all;
    uint64_t instructions;
    char label[64];

    j.in = malloc(j.n);
    j.out = malloc(OUT);
    if (!j.in || !j.out || !j.f)
        exit(1);
    j.opt = j.f->defaults;
    j.n = make(j.in, j.n, &instructions);
    yard = bench_best(bench_thread, bench_copy, &j);
    t = bench_best(bench_thread, bench_drive, &j);
    snprintf(label, sizeof label, "%s decode", name);
    bench_ratio(label, (double)instructions / t * 1e-6, "M instructions/s", "memcpy of the bytes",
                t / yard, ">= 150 M instructions/s");
    j.encode = true;
    all = bench_best(bench_thread, bench_drive, &j);
    if (j.written != j.n)
        exit(1);
    snprintf(label, sizeof label, "%s encode", name);
    bench_ratio(label, (double)instructions / (all - t > 1e-9 ? all - t : 1e-9) * 1e-6,
                "M instructions/s", "memcpy of the bytes", (all - t) / yard,
                ">= 75 M instructions/s");
    free(j.in);
    free(j.out);
}

/* Records in which an instruction writes one register, every eighth one a vector or float too. */
static uint64_t make_full(struct bench_driver *j)
{
    uint64_t s = 88172645463325252u;
    uint8_t *p = j->in + 4, *last = NULL;
    uint64_t records = 0;

    put32(j->in, 0xa1118e17);
    for (; p + 1004 <= j->in + j->n; p += 1004, records++) {
        uint64_t r = bench_rand(&s);

        if (last)
            memcpy(p, last, 1004);
        else
            memset(p, 0, 1004);
        put32(p, opcode(bench_rand(&s)));
        put32(p + 4, BASE + 4 * (uint32_t)records);
        put32(p + 12 + 4 * (r % 32), (uint32_t)(r >> 32));
        if (r >> 8 & 7)
            put32(p + 140, (uint32_t)(r >> 11));
        else
            put32(p + 428 + 16 * (r >> 11 & 31), (uint32_t)(r >> 32));
        last = p;
    }
    j->n = (size_t)(p - j->in);
    return records;
}

static void measure_full(void)
{
    static const struct {
        const char *label, *spec, *want;
    } how[] = {{"full decode without registers", "registers=none", ">= 1500 MB/s"},
               {"full decode with registers", "registers=diff", NULL}};
    uint64_t records;
    struct bench_driver j = {.f = trod_format_find("full", 4), .n = bench_bytes(128), .room = OUT};
    double t, yard, all;
    void *opt = j.f ? malloc(j.f->options_size) : NULL;

    j.in = malloc(j.n);
    j.out = malloc(OUT);
    if (!j.in || !j.out || !opt)
        exit(1);
    records = make_full(&j);
    yard = bench_best(bench_thread, bench_copy, &j);
    j.opt = opt;
    for (size_t i = 0; i < 2; i++) {
        char spec[32], label[64];

        memcpy(opt, j.f->defaults, j.f->options_size);
        strcpy(spec, how[i].spec);
        if (trod_option_spec(j.f->options, opt, spec, NULL) < 0)
            exit(1);
        j.encode = false;
        t = bench_best(bench_thread, bench_drive, &j);
        bench_ratio(how[i].label, (double)j.n / t * 1e-6, "MB/s", "memcpy of the bytes", t / yard,
                    how[i].want);
        snprintf(label, sizeof label, "%s, rows", how[i].label);
        bench_value(label, (double)j.rows / t * 1e-6, "M rows/s");
        snprintf(label, sizeof label, "%s, records", how[i].label);
        bench_value(label, (double)records / t * 1e-6, "M records/s");
        j.encode = true;
        all = bench_best(bench_thread, bench_drive, &j);
        if (j.written != j.n)
            exit(1);
    }
    bench_ratio("full encode", (double)j.n / (all - t > 1e-9 ? all - t : 1e-9) * 1e-6, "MB/s",
                "memcpy of the bytes", (all - t) / yard, ">= 750 MB/s");
    free(opt);
    free(j.in);
    free(j.out);
}

int main(void)
{
    measure_tt6("tt6");
    measure_tt6("tt6e");
    measure_full();
    return 0;
}
