/*
 * test_tarmac_heads.c - times, units and cpus of Tarmac and Trace Matcher lines where more of what
 * stands before the type word differs than the decoder keeps heads (TM_HEADS).
 *
 * The oracle is what each line was written with.
 */
#include "format/tarmac/fast.h"
#include "format/tarmac/tarmac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen.h"
#include "testlib.h"

#include <inttypes.h>

enum { ROUNDS = 400, LINES = 1500, MOST_CPUS = 80 };

enum style { FM, ES, MATCHER, STYLES };

static const char *const units[] = {"clk", "ns", "tic"};

/* What a line says, or has of the line before. */
struct said {
    unsigned time, unit, cpu;
};

struct trace {
    enum style style;
    unsigned cpus, units;
    struct trod_buf text;
    struct said said[LINES];
};

/* An instruction of its own cpu and unit. */
static void instruction(struct trod_gen *g, struct trace *t, const struct said *s)
{
    const unsigned pc = 0x1000 + 4 * (unsigned)gen_below(g, 1000);
    const char *const name = t->style == MATCHER ? "" : "cpu";

    trod_buf_printf(&t->text, "%u %s %s%u ", s->time, units[s->unit], name, s->cpu);
    if (t->style == ES)
        trod_buf_printf(&t->text, "ES  (%08x:f9000100) O EL3h_s:          STR      x0,[x8,#0]\n",
                        pc);
    else
        trod_buf_printf(&t->text, "IT (%u) %08x f9000100 O EL3h_s : STR      x0,[x8,#0]\n", s->time,
                        pc);
}

/* A register write or an access; it may leave out what is that of the line before. */
static void value(struct trod_gen *g, struct trace *t, struct said *s, const struct said *before)
{
    const char *const name = t->style == MATCHER ? "" : "cpu";
    const unsigned v = (unsigned)gen_u64(g);

    if (gen_once_in(g, 3)) {
        *s = *before;
        if (t->style == ES)
            trod_buf_printf(&t->text, "%20s", "");
        else
            trod_buf_printf(&t->text, "%u %s ", s->time, units[s->unit]);
    } else {
        trod_buf_printf(&t->text, "%u %s %s%u ", s->time, units[s->unit], name, s->cpu);
    }
    if (gen_below(g, 2))
        trod_buf_printf(&t->text, "R r%u %08x\n", (unsigned)gen_below(g, 10), v);
    else if (t->style == ES)
        trod_buf_printf(&t->text, "LD %016x ........ %08x ........ ........\n", 16 * (v >> 8), v);
    else
        trod_buf_printf(&t->text, "MW8 %08x %08x_5944cfec\n", 8 * (v >> 8), v);
}

static void generate(struct trod_gen *g, struct trace *t)
{
    unsigned time = 1000;

    for (unsigned i = 0; i < LINES; i++) {
        struct said *s = &t->said[i];

        time += (unsigned)gen_below(g, 3);
        *s = (struct said){time, (unsigned)gen_below(g, t->units), (unsigned)gen_below(g, t->cpus)};
        if (i && gen_below(g, 8)) /* mostly as near the line before */
            s->cpu = (t->said[i - 1].cpu + (unsigned)gen_below(g, 2)) % t->cpus;
        if (i == 0 || gen_below(g, 2))
            instruction(g, t, s);
        else
            value(g, t, s, &t->said[i - 1]);
    }
}

/* The number behind NAME in the row at P, which ends before END. */
static unsigned number(const char *p, const char *end, const char *name)
{
    const char *const at = strstr(p, name);

    if (!at || at >= end)
        fail_msg("no%s in '%.*s'", name, (int)(end - p), p);
    return (unsigned)strtoul(at + strlen(name), NULL, 16);
}

/* The row at P is of a line that says S, as far as the columns of WANT tell. */
static void same(const char *p, const char *end, const struct trace *t, const struct said *s,
                 const struct trod_meta *meta, uint32_t want)
{
    char cpu[16];

    snprintf(cpu, sizeof cpu, "%s%u", t->style == MATCHER ? "" : "cpu", s->cpu);
    if (want & TROD_COL_STREAM)
        assert_string_equal(meta->streams[number(p, end, " stream=")].name, cpu);
    if (want & TROD_COL_TIME)
        assert_int_equal(number(p, end, " time="), s->time);
    if (want & TROD_COL_UNIT)
        assert_string_equal(trod_meta_unit_name(meta, (uint8_t)number(p, end, " unit=")),
                            units[s->unit]);
}

/* Columns for which there are loops of their own, and others. */
static const uint32_t sets[] = {
    TROD_COL_ALL,
    TM_NARROW,
    TM_SITES,
    TM_NAMED,
    TM_NARROW | TROD_COL_TIME,
    TROD_COL_KIND | TROD_COL_STREAM,
    TROD_COL_KIND | TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_STREAM | TROD_COL_VALUE,
};

/* T is decoded in batches and windows drawn by G: rows say what lines do. */
static void decoded(struct trod_gen *g, const struct trace *t)
{
    const uint32_t want = sets[gen_below(g, sizeof sets / sizeof *sets)];
    const struct test_how how = {.want = want,
                                 .mask = want & (TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT),
                                 .rows = gen_below(g, 2) ? TM_ROWS_MAX + (unsigned)gen_below(g, 200)
                                                         : 0,
                                 .every = gen_once_in(g, 3) ? 600 + gen_below(g, 9000) : 0};
    const char *const name = t->style == MATCHER ? "matcher" : "tarmac";
    struct trod_meta meta;
    struct test_input in = {.format = trod_format_find(name, strlen(name)),
                            .p = t->text.p,
                            .n = t->text.n,
                            .meta = &meta};
    struct test_rows rows;
    const char *p, *end;

    trod_meta_init(&meta);
    rows = test_decode_text(&in, &how);
    assert_int_equal(rows.rc, 0);
    assert_int_equal(rows.n, LINES);
    assert_int_equal(trod_buf_add(&rows.text, "", 1), 0);
    p = (const char *)rows.text.p;
    for (unsigned i = 0; i < LINES; i++, p = end + 1) {
        end = strchr(p, '\n');
        same(p, end, t, &t->said[i], &meta, want);
    }
    test_rows_free(&rows);
    trod_meta_fini(&meta);
}

static void test_heads(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= ROUNDS; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct trace *t = calloc(1, sizeof *t);

        assert_non_null(t);
        t->style = (enum style)(seed % STYLES);
        t->cpus = 1 + (unsigned)gen_below(&g, MOST_CPUS);
        t->units = gen_below(&g, 2) ? 1 : 1 + (unsigned)gen_below(&g, 3);
        generate(&g, t);
        decoded(&g, t);
        trod_buf_fini(&t->text);
        free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
