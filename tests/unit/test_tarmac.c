/*
 * test_tarmac.c - the Tarmac and Trace Matcher drivers as wholes: golden rows, detection, bad
 * input, conversion between dialects and formats, real traces.
 *
 * The rows of tests/golden/{tarmac,matcher}/NAME.rows were written by hand from the format pages,
 * in the notation of tarmac_rows.h. Real traces (TROD_TRACES) are skipped, and said to be, where
 * they are absent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tarmac_gen.h"
#include "tarmac_rows.h"
#include "trod/detail.h"

enum { LINE_MAX_BYTES = 1 << 20, FM = 1, ES = 2, GEM5 = 3 };

static const struct trod_format *format(const char *name)
{
    return trod_format_find(name, strlen(name));
}

static struct trod_buf load(const char *path)
{
    char *full = test_path(test_source_dir(), path);
    struct trod_buf b = test_load(full);

    free(full);
    return b;
}

static void golden_rows(const char *name, const char *trace, const char *rows)
{
    struct trod_buf text = load(trace), want = load(rows), got = {0};

    tarmac_rows_of(format(name), "", text.p, text.n, &got);
    if (got.n != want.n || memcmp(got.p, want.p, got.n) != 0)
        fail_msg("%s:\n%.*s", trace, (int)got.n, (char *)got.p);
    trod_buf_fini(&text);
    trod_buf_fini(&want);
    trod_buf_fini(&got);
}

static void test_golden(void **state)
{
    (void)state;
    golden_rows("tarmac", "tests/golden/tarmac/fm.canonical.tarmac", "tests/golden/tarmac/fm.rows");
    golden_rows("tarmac", "tests/golden/tarmac/es.canonical.tarmac", "tests/golden/tarmac/es.rows");
    golden_rows("tarmac", "tests/golden/tarmac/gem5.canonical.tarmac",
                "tests/golden/tarmac/gem5.rows");
    golden_rows("matcher", "tests/golden/matcher/mips.canonical.trace",
                "tests/golden/matcher/mips.rows");
}

/* What the bytes are taken for: "tarmac:fm", "matcher", "" for nothing. */
static const char *taken_for(const void *p, size_t n)
{
    static char name[64];
    struct trod_candidate best;
    struct trod_probe probe = {.head = {p, n, 0, true}, .size = n, .path = "x"};

    if (trod_detect(&probe, NULL, 0, &best, NULL) != TROD_OK)
        return "";
    snprintf(name, sizeof name, "%s%s%s", best.format->name, best.dialect ? ":" : "",
             best.dialect ? best.dialect : "");
    return name;
}

static void test_detection(void **state)
{
    static const struct {
        const char *text, *name;
    } items[] = {
        {"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n", "matcher"},
        {"10 clk IT (10) 00001000 d503201f O EL1h_n : NOP\n", "tarmac:fm"},
        {"10 clk cpu0 IT (10) 00001000 d503201f A svc_s : NOP\n", "tarmac:fm"},
        {"2 clk MW8 0000cbf0:00000000cbf0_NS 00000000_0000cbd0\n", "tarmac:fm"},
        {"2 clk cpu0 MW8 0000cbf0 0000000000000000\n2 clk cpu0 MW8 0000cbf0 0000000000000000\n",
         "tarmac:gem5"},
        {"250 clk cpu0 IT (2) 002105d8 9100001f O EL3h_s :   ADD   SP, X0, #0\n", "tarmac:gem5"},
        {"41000 ns ES (00000000:e59ff018) A svc: LDR pc,[pc]\n", "tarmac:es"},
        {"Tarmac Text Rev 3t\n          0 tic ES  EXC Reset\n", "tarmac:es"},
        {"0 clk R cpsr 000001d3\n0 clk R fpexc 40000000\n", "tarmac:fm"},
        {"1939 clk cpu0 R TPIDRRO_EL0 00000000:00000000\n", "tarmac:fm"},
        {"1947 clk cpu0 CACHE cpu.cpu0.l1icache LINE 0096 ALLOC 0x0000152112c0\n", "tarmac:fm"},
        {"354ns IT 00000350 490d LDR r1,[pc]\n354ns R R1 00000001\n", "tarmac:fm"},
        {"MNR4O___ 00008008 EB00000C\nMNR4O___ 0000800C EB00000D\n", "tarmac:fm"},
        /* near misses */
        {"10 clk\n20 clk\n30 clk\n", ""},
        {"R r0 1\nR r1 2\nR r2 3\nR r3 4\n", ""},
        {"10 clk WFI\n11 clk WFE\n", ""},
        {"It was (1) 00001000 times so : NOP\n", ""},
        {"IT, IS and R are the types of lines\n", ""},
        {"E 1\nE 2\nE 3\n", ""},
        {"MR smith 00000001\nMRS jones 00000002\n", ""},
        {"12 s R u there?\n", ""},
        {"\x7f"
         "ELF\x02\x01\x01",
         ""},
        {"\x1f\x8b\x08", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        const char *name = taken_for(items[i].text, strlen(items[i].text));

        if (strcmp(name, items[i].name) != 0)
            fail_msg("taken for '%s', not '%s': %s", name, items[i].name, items[i].text);
    }
}

/* Of a trace of thousands of lines a few that make no sense change nothing. */
static void test_detection_noise(void **state)
{
    struct trod_gen g = gen_seed(3);
    struct trod_buf b = {0};

    (void)state;
    for (int i = 0; i < 300; i++) {
        tarmac_gen_line(&g, TARMAC_GEN_FAST, &b);
        if (i % 10 == 0)
            assert_int_equal(trod_buf_printf(&b, "what is this?\n"), 0);
    }
    assert_memory_equal(taken_for(b.p, b.n), "tarmac", 6);
    trod_buf_fini(&b);
}

/* A sink that keeps the first problem. */
struct first {
    uint64_t n, line, record, offset;
    char kind[64];
};

static void keep_first(void *user, const struct trod_problem *p)
{
    struct first *f = user;

    if (f->n++ == 0) {
        f->line = p->at.line;
        f->record = p->at.record;
        f->offset = p->at.offset;
        snprintf(f->kind, sizeof f->kind, "%s", p->kind);
    }
}

struct decoded {
    int rc;
    uint64_t rows, notes;
    size_t left;
    struct first first;
    struct trod_diag diag;
};

/* Decode B in windows of EVERY bytes that grow as the decoder asks. */
static struct decoded decode(const struct trod_buf *b, size_t every, bool strict)
{
    const struct trod_format *f = format("tarmac");
    struct trod_span in = {b->p, 0, 0, false};
    void *dec = calloc(1, f->dec_size);
    struct decoded out = {0};
    struct trod_batch *batch;
    struct trod_meta meta;
    size_t seen = 0;

    trod_meta_init(&meta);
    trod_diag_init(&out.diag, keep_first, &out.first);
    out.diag.strict = strict;
    assert_int_equal(trod_batch_new(&batch, 100), 0);
    batch->want = TROD_COL_ALL;
    batch->meta = &meta;
    assert_int_equal(f->start(dec, NULL, &in, &meta, &out.diag), 0);
    do {
        if (out.rc == TROD_DEC_MORE)
            seen = b->n - seen > every ? seen + every : b->n;
        in.n = seen - (size_t)(in.p - b->p);
        in.last = seen == b->n;
        trod_batch_clear(batch);
        batch->bytes = in.p;
        batch->bytes_n = in.n;
        out.rc = f->decode(dec, &in, batch, &out.diag);
        out.rows += batch->n;
        for (uint32_t i = 0; i < batch->n; i++)
            out.notes += batch->kind[i] == TROD_NOTE;
    } while (out.rc == TROD_DEC_FULL || (out.rc == TROD_DEC_MORE && !in.last));
    out.left = in.n;
    trod_batch_free(batch);
    trod_meta_fini(&meta);
    free(dec);
    return out;
}

static void add(struct trod_buf *b, const char *text)
{
    assert_int_equal(trod_buf_add(b, text, strlen(text)), 0);
}

static void fill(struct trod_buf *b, char c, size_t n)
{
    assert_int_equal(trod_buf_reserve(b, n), 0);
    memset(b->p + b->n, c, n);
    b->n += n;
}

/* Lines up to 1 MiB with their end are read; longer ones are reported once and skipped. */
static void long_line(size_t len, bool fits, size_t every)
{
    struct trod_buf b = {0};
    struct decoded d;

    add(&b, "1 clk R r0 00000001\n");
    fill(&b, 'x', len - 1);
    add(&b, "\n2 clk R r0 00000002\n");
    d = decode(&b, every, false);
    assert_int_equal(d.rc, TROD_DEC_MORE);
    assert_int_equal(d.left, 0);
    assert_int_equal(d.rows, fits ? 3 : 2);
    assert_int_equal(d.diag.errors, fits ? 0 : 1);
    if (!fits) {
        assert_string_equal(d.first.kind, "tarmac.long-line");
        assert_int_equal(d.first.line, 2);
        assert_int_equal(d.first.record, 1);
        assert_int_equal(d.first.offset, 20);
    }
    trod_buf_fini(&b);
}

static void test_long_lines(void **state)
{
    static const size_t every[] = {1000, 65536, 1000000, SIZE_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        long_line(LINE_MAX_BYTES - 1, true, every[i]);
        long_line(LINE_MAX_BYTES, true, every[i]);
        long_line(LINE_MAX_BYTES + 1, false, every[i]);
        long_line(5 * LINE_MAX_BYTES, false, every[i]);
    }
    long_line(100 * LINE_MAX_BYTES, false, 1 << 20);
}

static void test_strict(void **state)
{
    struct trod_buf b = {0};
    struct decoded d;

    (void)state;
    add(&b, "1 clk R r0 00000001\n2 clk MR4 zz 00\n3 clk R r0 00000002\n");
    d = decode(&b, SIZE_MAX, false);
    assert_int_equal(d.rc, TROD_DEC_MORE);
    assert_int_equal(d.rows, 2);
    assert_int_equal(d.diag.errors, 1);
    assert_int_equal(d.first.line, 2);
    assert_int_equal(d.first.offset, 20);
    d = decode(&b, SIZE_MAX, true);
    assert_int_equal(d.rc, TROD_ERR_CORRUPT);
    assert_int_equal(d.rows, 1);
    assert_int_equal(b.n - d.left, 20); /* the input stands at the bad line */
    trod_buf_fini(&b);
}

/* A cut last line is a row if it can be one, and truncation if not. */
static void test_cut_line(void **state)
{
    struct trod_buf b = {0};
    struct decoded d;

    (void)state;
    add(&b, "1 clk R r0 00000001\n2 clk R r1 0000");
    d = decode(&b, SIZE_MAX, false);
    assert_int_equal(d.rc, TROD_DEC_MORE);
    assert_int_equal(d.rows, 2);
    b.n -= 4;
    d = decode(&b, SIZE_MAX, false);
    assert_int_equal(d.rc, TROD_ERR_TRUNCATED);
    assert_int_equal(d.rows, 1);
    assert_string_equal(d.first.kind, "tarmac.truncated");
    assert_int_equal(d.first.line, 2);
    trod_buf_fini(&b);
}

/* Unknown lines, NUL bytes, noise: rows, never errors, whatever their number. */
static void test_junk(void **state)
{
    struct trod_gen g = gen_seed(9);
    struct trod_buf b = {0};
    struct decoded d;

    (void)state;
    for (int i = 0; i < 300000; i++)
        assert_int_equal(trod_buf_printf(&b, "%d clk THING%d what\n", i, i % 7), 0);
    d = decode(&b, 1 << 16, false);
    assert_int_equal(d.rows, 300000);
    assert_int_equal(d.notes, 300000);
    assert_int_equal(d.diag.errors, 0);
    b.n = 0;
    fill(&b, '\0', 1000);
    add(&b, "\n1 clk R r0 00000001\n");
    d = decode(&b, SIZE_MAX, false);
    assert_int_equal(d.rows, 2);
    assert_int_equal(d.notes, 1);
    b.n = 0;
    for (int i = 0; i < 100000; i++) {
        uint8_t c = (uint8_t)gen_raw(&g, 1);

        assert_int_equal(trod_buf_add(&b, &c, 1), 0);
    }
    d = decode(&b, SIZE_MAX, false);
    assert_true(d.rows > 100);
    trod_buf_fini(&b);
}

/* A value of 8,192 bits, and one of a million digits. */
static void test_wide_values(void **state)
{
    struct trod_buf b = {0}, rows = {0};
    struct decoded d;

    (void)state;
    add(&b, "1 clk R za ");
    fill(&b, '0', 2046);
    add(&b, "a5\n");
    tarmac_rows_of(format("tarmac"), "", b.p, b.n, &rows);
    assert_memory_equal(rows.p, "REG t=1clk n=1024 d=a500", 24);
    b.n = 0;
    add(&b, "1 clk R za ");
    fill(&b, 'f', 1000000);
    add(&b, "\n2 clk R r0 00000001\n");
    d = decode(&b, SIZE_MAX, false);
    assert_int_equal(d.diag.errors, 0);
    assert_int_equal(d.rows, 2);
    trod_buf_fini(&b);
    trod_buf_fini(&rows);
}

/* Rows copied to another batch say the same, the slices inside their details included. */
static void test_append(void **state)
{
    struct trod_buf text = load("tests/golden/tarmac/fm.canonical.tarmac"), a = {0}, b = {0};
    const struct trod_format *f = format("tarmac");
    struct trod_span in = {text.p, text.n, 0, true};
    void *dec = calloc(1, f->dec_size);
    struct trod_batch *from, *to;
    struct trod_meta meta;

    (void)state;
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&from, TROD_BATCH_ROWS), 0);
    assert_int_equal(trod_batch_new(&to, TROD_BATCH_ROWS), 0);
    from->want = TROD_COL_ALL;
    from->bytes = in.p;
    from->bytes_n = in.n;
    from->meta = &meta;
    assert_int_equal(f->start(dec, NULL, &in, &meta, NULL), 0);
    assert_int_equal(f->decode(dec, &in, from, NULL), TROD_DEC_MORE);
    assert_int_equal(trod_batch_append(to, from, 0, from->n), from->n);
    for (uint32_t i = 0; i < from->n; i++)
        tarmac_row_text(from, i, &a);
    memset(text.p, '?', text.n);
    memset(from->pool, '?', from->pool_n);
    for (uint32_t i = 0; i < to->n; i++)
        tarmac_row_text(to, i, &b);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
    trod_batch_free(from);
    trod_batch_free(to);
    trod_meta_fini(&meta);
    free(dec);
    trod_buf_fini(&text);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
}

/* TEXT of format FROM written as TO with its option number DIALECT. */
static void convert(const char *from, const char *text, const char *to, int dialect,
                    const char *expected)
{
    struct test_input in = {.format = format(from), .p = (const uint8_t *)text, .n = strlen(text)};
    int *opt = test_options(format(to), NULL);
    struct trod_buf out = {0};
    uint64_t lost;

    if (dialect)
        *opt = dialect; /* the first option of tarmac */
    assert_int_equal(test_recode(&in, format(to), opt, &out, &lost), TROD_OK);
    if (out.n != strlen(expected) || memcmp(out.p, expected, out.n) != 0)
        fail_msg("expected:\n%sgot:\n%.*s", expected, (int)out.n, out.n ? (char *)out.p : "");
    trod_buf_fini(&out);
    free(opt);
}

static void test_dialects(void **state)
{
    static const char fm[] =
        "1 clk cpu0 IT (7) 00001000:000000001000_NS d503201f O EL1h_n : NOP\n"
        "1 clk cpu0 R X0 000000000000000A\n"
        "1 clk cpu0 MW8 0000200c:00000000200c 11223344_55667788\n"
        "2 clk cpu0 IS (8) 00001004:000000001004_NS 54000040 O EL1h_n : B.EQ {pc}+8\n";
    static const char es[] =
        "          5 tic ES  (00001000:e1a00001) A svc_s:          MOV      r0,r1\n"
        "                    R R0 00000001\n"
        "                    LD 00002000 ........ 00000007 ........ ........    S:0000002000    "
        "NM\n";

    (void)state;
    convert("tarmac", fm, "tarmac", GEM5,
            "1 clk cpu0 IT (7) 00001000:000000001000_NS d503201f O EL1h_n :   NOP\n"
            "1 clk cpu0 R X0 000000000000000a\n"
            "1 clk cpu0 MW8 0000200c:00000000200c 1122334455667788\n"
            "2 clk cpu0 IS (8) 00001004:000000001004_NS 54000040 O EL1h_n :   B.EQ {pc}+8\n");
    convert("tarmac", fm, "tarmac", ES,
            "          1 clk cpu0 ES  (0000000000001000:d503201f) O EL1h_n:         NOP\n"
            "                    R X0 000000000000000a\n"
            "                    ST 0000000000002000 55667788 ........ ........ ........"
            "    S:0000002000\n"
            "                       0000000000002010 ........ ........ ........ 11223344"
            "    S:0000002010\n"
            "          2 clk cpu0 ES  (0000000000001004:54000040) O EL1h_n:  CCFAIL B.EQ {pc}+8\n");
    convert("tarmac", es, "tarmac", FM,
            "5 tic IT (1) 00001000 e1a00001 A svc_s : MOV      r0,r1\n"
            "5 tic R R0 00000001\n"
            "5 tic MR4 00002008:000000002008 00000007\n");
    convert("tarmac", es, "tarmac", 0, es);
}

static void test_matcher_conversion(void **state)
{
    (void)state;
    /* exclusive is not privileged: each letter only where the format has the meaning */
    convert("matcher",
            "1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n1 clk MR8X 00001000 "
            "0000000000000005\n1 clk MR4T 00001000 00000005\n",
            "tarmac", FM,
            "1 clk cpu0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n1 clk cpu0 MR8 00001000 "
            "00000000_00000005\n1 clk cpu0 MR4T 00001000 00000005\n");
    convert("tarmac",
            "1 clk cpu3 IT (1) 00000004 3c080001 A svc_s : x\n1 clk cpu3 MW8X 00001000 "
            "00000000_00000005\n1 clk cpu3 R r8 00000001\n1 clk cpu3 CACHE l1 LINE 0001 "
            "ALLOC 0x000000001000\n",
            "matcher", 0,
            "1 clk 3 IT (1) 00000004 3c080001 A svc_s : x\n1 clk MW8 00001000 "
            "0000000000000005\n1 clk R r8 00000001\n");
}

/* A directory of real traces, or NULL. */
static char *traces(void)
{
    const char *dir = getenv("TROD_TRACES");
    char *path =
        dir ? test_path(dir, "tarmac") : test_path(test_source_dir(), "../shared/traces/tarmac");

    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* Addresses of the instructions executed or not, and counts of rows by kind. */
struct flow {
    struct trod_buf pcs;
    uint64_t kinds[TROD_KINDS], errors;
};

static struct flow flow_of(const char *dir, const char *name)
{
    char *path = test_path(dir, name);
    struct trod_buf text = test_load(path);
    const struct trod_format *f = format("tarmac");
    struct trod_span in = {text.p, text.n, 0, true};
    void *dec = calloc(1, f->dec_size);
    struct flow out = {0};
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_batch *b;
    int rc;

    trod_meta_init(&meta);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->want = TROD_COL_KIND | TROD_COL_ADDR;
    b->meta = &meta;
    assert_int_equal(f->start(dec, NULL, &in, &meta, &diag), 0);
    do {
        trod_batch_clear(b);
        b->bytes = in.p;
        b->bytes_n = in.n;
        rc = f->decode(dec, &in, b, &diag);
        for (uint32_t i = 0; i < b->n; i++) {
            out.kinds[b->kind[i]]++;
            if (b->kind[i] == TROD_INSTR)
                assert_int_equal(trod_buf_add(&out.pcs, &b->addr[i], sizeof b->addr[i]), 0);
        }
    } while (rc == TROD_DEC_FULL);
    assert_int_equal(rc, TROD_DEC_MORE);
    out.errors = diag.errors;
    trod_batch_free(b);
    trod_meta_fini(&meta);
    trod_buf_fini(&text);
    free(dec);
    free(path);
    return out;
}

/* Every line of the real traces is understood, and all traces of a program tell the same story. */
static void test_real_traces(void **state)
{
    static const char *const programs[][3] = {
        {"calculator-aarch32-fastmodel.tarmac", "calculator-aarch32-es-ld-st-style.tarmac", NULL},
        {"calculator-aarch64-fastmodel.tarmac", "calculator-aarch64-es-ld-st-style.tarmac",
         "calculator-aarch64-gem5.tarmac"}};
    char *dir = traces();

    (void)state;
    if (!dir) {
        print_message("no real traces (TROD_TRACES)\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        struct flow first = flow_of(dir, programs[i][0]);

        assert_int_equal(first.errors, 0);
        assert_int_equal(first.kinds[TROD_NOTE], 0);
        for (int k = 1; k < 3 && programs[i][k]; k++) {
            struct flow other = flow_of(dir, programs[i][k]);

            assert_int_equal(other.errors, 0);
            /* "Tarmac Text Rev 3t" heads traces of the ES family */
            assert_int_equal(other.kinds[TROD_NOTE], k == 1);
            assert_int_equal(other.pcs.n, first.pcs.n);
            assert_memory_equal(other.pcs.p, first.pcs.p, first.pcs.n);
            trod_buf_fini(&other.pcs);
        }
        trod_buf_fini(&first.pcs);
    }
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_detection),
        cmocka_unit_test(test_detection_noise),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_cut_line),
        cmocka_unit_test(test_junk),
        cmocka_unit_test(test_wide_values),
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_matcher_conversion),
        cmocka_unit_test(test_real_traces),
        cmocka_unit_test(test_append),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
