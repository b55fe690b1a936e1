/*
 * nav_calls.h - programs that call, return, jump, are interrupted and switch between stacks, for
 * tests; texts that must be the same.
 */
#ifndef NAV_CALLS_H
#define NAV_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "gen.h"
#include "testlib.h"
#include "trod/buf.h"

/* N instructions of two cpus that go anywhere, and what makes calls of that. STEADY: times never
 * fall. */
static inline void wild_program(struct trod_gen *g, size_t n, bool steady, struct trod_buf *out)
{
    static const char *const codes[] = {"94000004", "94000004", "d65f03c0", "d65f03c0",
                                        "d61f0020", "d63f0020", "14000002", "d69f03e0",
                                        "d4000001", "d503201f", "d503201f", "d503201f"};
    uint64_t pc[2] = {0x1000, 0x2000}, time = 100;
    char address[17];

    for (size_t i = 0; i < n; i++) {
        const unsigned cpu = gen_u64(g) % 8 == 0, code = (unsigned)gen_below(g, 12);

        time += gen_below(g, 4);
        snprintf(address, sizeof address, "%08x", (unsigned)pc[cpu]);
        trod_buf_printf(out, "%llu clk cpu%u IT (%zu) %s %s O EL1h_n : x\n",
                        (unsigned long long)time - (gen_below(g, 20) == 0 && !steady ? 3 : 0), cpu,
                        i + 1, address, codes[code]);
        if (code < 2 || code == 5)
            trod_buf_printf(out, "%llu clk cpu%u R X30 %016x\n", (unsigned long long)time, cpu,
                            (unsigned)pc[cpu] + 4);
        if (gen_below(g, 6) == 0)
            trod_buf_printf(out, "%llu clk cpu%u R SP_EL1 %016x\n", (unsigned long long)time, cpu,
                            0x8000 - 16 * (unsigned)gen_below(g, 6));
        if (gen_below(g, 30) == 0)
            trod_buf_printf(out, "%llu clk cpu%u E %08x 00000005 IRQ\n", (unsigned long long)time,
                            cpu, (unsigned)pc[cpu] + 4);
        pc[cpu] = code >= 9 && gen_below(g, 20) ? pc[cpu] + 4
                                                : 0x1000 + 4 * gen_below(g, 40) + 0x400 * cpu;
    }
}

/* The same as a file, PATH. */
static inline void save_program(struct trod_gen *g, size_t n, bool steady, const char *path)
{
    struct trod_buf text = {0};

    wild_program(g, n, steady, &text);
    test_save(path, text.p, text.n);
    trod_buf_fini(&text);
}

/* What happened in a trace, as text. */
struct log {
    struct trod_buf text, open; /* OPEN: of what is open at the end alone */
    uint64_t n;
};

static inline void log_fini(struct log *l)
{
    trod_buf_fini(&l->text);
    trod_buf_fini(&l->open);
}

static inline void assert_same_text(const char *path, const struct trod_buf *a,
                                    const struct trod_buf *b)
{
    size_t i = 0, line = 0;

    for (; i < a->n && i < b->n && a->p[i] == b->p[i]; i++)
        line = a->p[i] == '\n' ? i + 1 : line;
    if (i < a->n || i < b->n)
        fail_msg("%s: %.*s\nis %.*s", path, (int)(a->n - line > 300 ? 300 : a->n - line),
                 (const char *)a->p + line, (int)(b->n - line > 300 ? 300 : b->n - line),
                 (const char *)b->p + line);
}

#endif
