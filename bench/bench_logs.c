/*
 * bench_logs.c - megabytes a second of the drivers of other tools' logs over memory, all columns,
 * against copying the same bytes.
 */
#include "bench_driver.h"

/* Lines as they are repeated; the first stand once, before them. */
struct log {
    const char *name, *head, *line;
    size_t line_n; /* 0: up to the NUL */
};

#define STF_HEAD                                                                                   \
    "\x01STF\x02\x01\0\0\0\x06\0\0\0\x04\x01\0\x05\x02\0\x07\0\0\x08\0\0\0\0\0\x09\0\x10\0\0\0\0"  \
    "\0"                                                                                           \
    "\0\x13"
#define STF_LINE                                                                                   \
    "\x28\x05\0\x31\x2a\0\0\0\0\0\0\0\x3c\0\x80\0\0\0\0\0\0\x08\0\0\0\x01\x3d\x2a\0\0\0\0\0\0\0"   \
    "\xf0\x83\x32\x03\0\x28\x05\0\x31\x2b\0\0\0\0\0\0\0\xf1\x85\x02"

static const struct log logs[] = {
    {"execlog", "",
     "0, 0x1004, 0xb9400022, \"ldr w2, [x1]\", load, 0x00009018\n"
     "0, 0x1008, 0x11000442, \"add w2, w2, #1\"\n",
     0},
    {"qemulog",
     "IN: f\n0x00401000:  48 01 04 24              addq     %rax, (%rsp)\n"
     "0x00401004:  ff c9                    decl     %ecx\n"
     "0x00401006:  75 f8                    jne      0x401000\n\n",
     "Trace 0: 0x7f888e800280 [0000000000000000/0000000000401000/1040c0b3/00000200] f\n", 0},
    {"spike", "",
     "core   0: 0x0000000080000000 (0x0182b283) ld      t0, 24(t0)\n"
     "core   0: 3 0x0000000080000000 (0x0182b283) x5  0x0000000080000000 mem 0x0000000000001018\n",
     0},
    {"gem5exec", "",
     "   1000: system.cpu0: T0 : 0x1004 @main+4    : ldr x2, [x1]               : MemRead :  "
     "D=0x000000000000002a A=0x8000\n",
     0},
    {"perfscript", "",
     "prog 12 [001] 5.000001: 1 cycles:u: 401136 main+0x6 (/bin/x)  0x401150/0x401130/M/-/-/12  "
     "0x40112a/0x40113c/P/-/-/0  0x401100/0x401104/P/-/-/3\n",
     0},
    {"stf", STF_HEAD, STF_LINE, sizeof STF_LINE - 1},
};

static void fill(struct bench_driver *j, const struct log *g)
{
    const size_t head = g->line_n ? sizeof STF_HEAD - 1 : strlen(g->head);
    const size_t line = g->line_n ? g->line_n : strlen(g->line);
    size_t n = head;

    memcpy(j->in, g->head, head);
    for (; n + line <= j->n; n += line)
        memcpy(j->in + n, g->line, line);
    j->n = n;
}

static void measure(const struct log *g)
{
    struct bench_driver j = {.f = trod_format_find(g->name, strlen(g->name)),
                             .n = bench_bytes(32),
                             .room = 1 << 20,
                             .add_up = false};
    double t, yard;
    char label[64];

    j.in = malloc(j.n);
    j.out = malloc(j.room);
    if (!j.in || !j.out || !j.f)
        exit(1);
    fill(&j, g);
    yard = bench_best(bench_thread, bench_copy, &j);
    t = bench_best(bench_thread, bench_drive, &j);
    if (j.rows == 0)
        exit(1);
    snprintf(label, sizeof label, "%s decode", g->name);
    bench_ratio(label, (double)j.n / t * 1e-6, "MB/s", "memcpy of the bytes", t / yard, NULL);
    snprintf(label, sizeof label, "%s rows", g->name);
    bench_ratio(label, (double)j.rows / t * 1e-6, "M rows/s", "memcpy of the bytes", t / yard,
                NULL);
    free(j.in);
    free(j.out);
}

int main(void)
{
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        measure(&logs[i]);
    return 0;
}
