/*
 * test_tarmac_chosen.c - parts of Tarmac and Trace Matcher traces, and traces in another dialect:
 * rows that leave their time or cpu to the line before are read with the same time and cpu in what
 * is written, whatever is left out before them.
 *
 * The oracle is the trace itself: what its rows say is what those of the output must say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gen.h"
#include "testlib.h"
#include "trod/trod.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum style { ES, FM, MATCHER, STYLES };

static const char *const from[STYLES] = {"tarmac:dialect=es", "tarmac:dialect=fm", "matcher"};

/* A record of a style, of cpu CPU at TIME; what is below an instruction leaves out what it can. */
static void record(struct trod_gen *g, enum style style, unsigned cpu, unsigned time,
                   struct trod_buf *out)
{
    static const char *const units[] = {"ns", "clk", "clk"};
    const unsigned value = (unsigned)gen_below(g, 1000), what = (unsigned)gen_below(g, 12);
    const unsigned at = 0x8000 + 16 * (unsigned)gen_below(g, 64);
    const char *name = style == MATCHER ? "" : "cpu";
    char head[40], below[sizeof head] = "";

    snprintf(head, sizeof head, "%*u %s %s%u ", style == ES ? 11 : 1, time, units[style], name,
             cpu);
    if (style == ES)
        snprintf(below, sizeof below, "%20s", "");
    else if (style == MATCHER || gen_below(g, 2))
        snprintf(below, sizeof below, "%u clk ", time);
    else if (gen_below(g, 2))
        memcpy(below, head, sizeof below);
    if (what == 0 && style != MATCHER && gen_below(g, 3))
        trod_buf_printf(out, "%u %s cpu%u FOO %u\n", time + value % 5, units[style],
                        (unsigned)gen_below(g, 3), value);
    else if (what == 0 && style != MATCHER)
        trod_buf_printf(out, "%sFOO %u\n", below, value);
    else if (what < 4 && style == ES)
        trod_buf_printf(out, "%sES  (0000000000001000:d503201f) O EL1h_n:         NOP\n", head);
    else if (what < 4)
        trod_buf_printf(out, "%sIT (%u) 00001000 d503201f A svc_s : NOP\n", head, value);
    else if (what < 8 || style == MATCHER)
        trod_buf_printf(out, "%sR r%u %08x\n", below, (unsigned)gen_below(g, 16), value);
    else if (style == FM)
        trod_buf_printf(out, "%s%s 000081%02x %08x\n", below, value & 1 ? "MR4" : "MU4_ADD",
                        value & 0xfc, value);
    else
        trod_buf_printf(out, "%sLD 00000000%08x ........ %08x ........ 000000..\n", below, at,
                        value);
    if (style == ES && what > 9)
        trod_buf_printf(out, "%23s00000000%08x ........ ........ %08x ........\n", "", at + 16,
                        value);
}

/* A trace of N records, in which the cpus take turns. */
static struct trod_buf trace(struct trod_gen *g, enum style style, unsigned n)
{
    struct trod_buf out = {0};
    unsigned cpu = 0, time = 1;
    bool begun = false;

    for (unsigned i = 0; i < n; i++) {
        const size_t before = out.n;

        if (gen_once_in(g, 4)) {
            cpu = (unsigned)gen_below(g, 3);
            time += (unsigned)gen_below(g, 2);
        }
        record(g, style, cpu, time, &out);
        /* what is below an instruction is of the same cpu, so that the trace makes sense */
        begun = begun || memchr(out.p + before, 'I', out.n - before) ||
                memchr(out.p + before, 'E', out.n - before);
        if (!begun)
            out.n = before;
    }
    return out;
}

/* What row I of B says of when, where and what. */
static void row_text(const struct trod_batch *b, uint32_t i, struct trod_buf *out)
{
    const uint32_t has = b->has[i] & b->have;

    trod_buf_printf(out, "%s", trod_kind_name(b->kind[i]));
    if (has & TROD_COL_TIME)
        trod_buf_printf(out, " %" PRIu64 " %s", b->time[i],
                        has & TROD_COL_UNIT ? trod_meta_unit_name(b->meta, b->unit[i]) : "");
    if (has & TROD_COL_STREAM)
        trod_buf_printf(out, " %s", b->meta->streams[b->stream[i]].name);
    if (has & TROD_COL_ADDR)
        trod_buf_printf(out, " @%" PRIx64, b->addr[i]);
    if (has & TROD_COL_VALUE)
        trod_buf_printf(out, " =%" PRIx64, b->value[i]);
    trod_buf_printf(out, "\n");
}

static struct trod_trace *open_trace(const char *path, const char *format, uint32_t rows,
                                     struct trod_diag *diag)
{
    const struct trod_trace_options opt = {
        .struct_size = sizeof opt, .from = format, .batch_rows = rows};
    struct trod_trace *t;

    assert_int_equal(trod_trace_open(&t, (const char *const[]){path}, 1, &opt, diag), TROD_OK);
    return t;
}

/*
 * Rows of IN, one in ONE_IN chosen, or all but one in -ONE_IN, as TO to OUT; their text to TEXT.
 * Returns how many were copied.
 */
static uint64_t choose(struct trod_gen *g, const char *in, const char *format, const char *out,
                       const char *to, int one_in, struct trod_buf *text)
{
    struct trod_writer_summary sum;
    struct trod_diag diag;
    struct trod_trace *t;
    struct trod_writer *w;
    struct trod_batch *b;

    trod_diag_init(&diag, NULL, NULL);
    t = open_trace(in, format, 1 + (uint32_t)gen_below(g, 40), &diag);
    const struct trod_writer_options opt = {.struct_size = sizeof opt,
                                            .to = to,
                                            .source = trod_trace_format(t),
                                            .source_options = trod_trace_format_options(t),
                                            .allow_loss = true};

    assert_int_equal(trod_writer_open(&w, out, &opt, trod_trace_meta(t), &diag), TROD_OK);
    trod_trace_want(t, TROD_COL_ALL);
    while (trod_trace_next(t, &b) == 1) {
        uint8_t keep[TROD_BATCH_ROWS];

        for (uint32_t i = 0; i < b->n; i++)
            keep[i] = one_in == 0  ? 1
                      : one_in < 0 ? !gen_once_in(g, (uint64_t)-one_in)
                                   : gen_once_in(g, (uint64_t)one_in);
        assert_int_equal(trod_writer_put_some(w, b, keep), TROD_OK);
        for (uint32_t i = 0; i < b->n; i++)
            row_text(b, i, text);
    }
    assert_int_equal(trod_writer_commit(w, &sum), TROD_OK);
    trod_trace_close(t);
    assert_int_equal(diag.errors, 0);
    return sum.copied;
}

static struct trod_buf read_text(const char *path, const char *format)
{
    struct trod_buf text = {0};
    struct trod_diag diag;
    struct trod_batch *b;
    struct trod_trace *t;

    trod_diag_init(&diag, NULL, NULL);
    t = open_trace(path, format, 0, &diag);
    while (trod_trace_next(t, &b) == 1)
        for (uint32_t i = 0; i < b->n; i++)
            row_text(b, i, &text);
    assert_int_equal(diag.errors, 0);
    trod_trace_close(t);
    return text;
}

/* Fail with the first line that differs. */
static void same_text(const struct trod_buf *a, const struct trod_buf *b, const char *what)
{
    size_t i = 0;

    while (i < a->n && i < b->n && a->p[i] == b->p[i])
        i++;
    if (i == a->n && i == b->n)
        return;
    while (i && a->p[i - 1] != '\n')
        i--;
    fail_msg("%s: expected %.*s, got %.*s", what, (int)(a->n - i < 60 ? a->n - i : 60),
             (const char *)a->p + i, (int)(b->n - i < 60 ? b->n - i : 60), (const char *)b->p + i);
}

/* N records in STYLE, chosen as choose() does, written as TO, say what they said. */
static void kept(uint64_t seed, enum style style, unsigned n, const char *to, int one_in)
{
    struct trod_gen g = gen_seed(seed);
    struct trod_buf source = trace(&g, style, n), want = {0}, got, written;
    char *dir = test_tmpdir(), *in = test_path(dir, "in"), *out = test_path(dir, "out");
    uint64_t copied;

    test_save(in, source.p, source.n);
    copied = choose(&g, in, from[style], out, to, one_in, &want);
    got = read_text(out, to);
    same_text(&want, &got, from[style]);
    if (one_in == 0 && strcmp(to, from[style]) == 0) { /* all rows: every byte */
        written = test_load(out);
        assert_true(copied > 0);
        assert_int_equal(written.n, source.n);
        assert_memory_equal(written.p, source.p, source.n);
        trod_buf_fini(&written);
    }
    trod_buf_fini(&source);
    trod_buf_fini(&want);
    trod_buf_fini(&got);
    test_remove(dir);
    free(in);
    free(out);
    free(dir);
}

/* The same dialect, with nothing left out, little, half, and most. */
static void test_chosen(void **state)
{
    static const int one_in[] = {0, -20, -2, 5, 30};

    (void)state;
    for (int style = 0; style < STYLES; style++)
        for (uint64_t i = 0; i < 100; i++)
            kept(i, (enum style)style, 300, from[style], one_in[i % 5]);
}

/* Lines that are repeated as they were say a time and a cpu, too. */
static void test_other_dialect(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 60; i++) {
        kept(i, FM, 300, from[ES], i & 1 ? 3 : 0);
        kept(i, ES, 300, from[FM], i & 1 ? 3 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_other_dialect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
