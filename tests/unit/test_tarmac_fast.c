/*
 * test_tarmac_fast.c - the fast path of the Tarmac decoder against the general one, and the
 * scanners under it against their scalar twins.
 */
#include "format/tarmac/fast.h"
#include "format/tarmac/tarmac.h"
#include "format/tarmac/wide_picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tarmac_gen.h"
#include "tarmac_looks.h"
#include "testlib.h"

enum { TRACES = 300, LINES = 120, ROUNDS = 200000 };

static const struct trod_format *original;
static size_t points; /* resync points found */

/* start() of the format, after which no line takes the fast path. */
static int slow_start(void *dec, const void *opt, const struct trod_span *head,
                      struct trod_meta *meta, struct trod_diag *diag)
{
    int rc = original->start(dec, opt, head, meta, diag);

    ((struct tm_dec *)dec)->slow = 1;
    return rc;
}

/*
 * Change some bytes of TEXT: what a line that turns out damaged had named (time, cpu) is not
 * inherited by the lines behind it, whichever path looked at it first.
 */
static void damage(struct trod_gen *g, struct trod_buf *text)
{
    static const char bytes[] = " xX0f:_?\t-.";

    for (unsigned i = 0; text->n && i < 8; i++) {
        size_t at = (size_t)(gen_u64(g) % text->n);

        if (text->p[at] != '\n')
            text->p[at] = (uint8_t)bytes[gen_below(g, sizeof bytes - 1)];
    }
}

/* Lines of TEXT, one in OFTEN, end with a carriage return too; now and then with two. */
static void end_with_cr(struct trod_gen *g, struct trod_buf *text, unsigned often)
{
    struct trod_buf out = {0};

    for (size_t i = 0; i < text->n; i++) {
        if (text->p[i] == '\n' && gen_once_in(g, often))
            assert_int_equal(trod_buf_add(&out, "\r\r", gen_once_in(g, 50) ? 2 : 1), 0);
        assert_int_equal(trod_buf_add(&out, &text->p[i], 1), 0);
    }
    trod_buf_fini(text);
    *text = out;
}

/* Decode TEXT on both paths; on the fast one in batches and windows of a size that SEED draws. */
static void compare_text(const char *name, const struct trod_buf *text, uint32_t want,
                         unsigned seed)
{
    const struct test_how how = {.want = want, .resume = true},
                          cut = {.want = want,
                                 .resume = true,
                                 .rows = seed % 2 ? TM_ROWS_MAX + seed / 2 % 50 : 0,
                                 .every = seed % 5 == 4 ? 500 + seed * 37 % 3000 : 0};
    struct trod_format slow;
    struct trod_meta metas[2];
    struct test_input a, b;

    trod_meta_init(&metas[0]);
    trod_meta_init(&metas[1]);
    original = trod_format_find(name, strlen(name));
    slow = *original;
    slow.start = slow_start;
    a = (struct test_input){.format = original, .p = text->p, .n = text->n, .meta = &metas[0]};
    b = a;
    b.meta = &metas[1];
    b.format = &slow;
    if (!test_same(&a, &cut, 0, &b, &how, "fast and general")) {
        print_message("%.*s", (int)text->n, (const char *)text->p);
        fail_msg("%s, seed %u: the fast path gives other rows", name, seed);
    }
    assert_int_equal(metas[0].isa, metas[1].isa);
    assert_int_equal(metas[0].addr_bits, metas[1].addr_bits);
    trod_meta_fini(&metas[0]);
    trod_meta_fini(&metas[1]);
}

static void compare(const char *name, enum tarmac_gen sort, unsigned seed)
{
    struct trod_gen g = gen_seed(seed);
    struct trod_buf text = {0};
    uint32_t want = gen_below(&g, 3) ? 0 : (uint32_t)gen_u64(&g) & TROD_COL_ALL;

    for (int i = 0; i < LINES; i++)
        tarmac_gen_line(&g, sort, &text);
    if (seed % 3 == 0)
        damage(&g, &text);
    if (seed % 4 == 0)
        end_with_cr(&g, &text, 1 + seed % 3);
    compare_text(name, &text, want, seed);
    trod_buf_fini(&text);
}

/* Columns for which there are loops of their own, or part of them. */
static const uint32_t sets[] = {TM_NARROW, TM_NARROW & ~(uint32_t)TROD_COL_FLAGS,
                                TM_SITES,  TM_SITES & ~(uint32_t)TROD_COL_PADDR,
                                TM_NAMED,  TM_NAMED & ~(uint32_t)TROD_COL_TEXT};

/* Lines that look alike, in several looks, so that what was kept of one meets the next;
 * those of the ES dialect take times, units and cpus from lines before. */
static void test_looks(void **state)
{
    static const char *const modes[] = {"EL3h_s", "EL0t_ns", "svc", "EL1h_n:", "EL1h:ns"};

    (void)state;
    for (unsigned seed = 1; seed <= 2 * TRACES; seed++) {
        const bool es = seed > TRACES;
        struct trod_gen g = gen_seed(seed);
        struct trod_buf text = {0};
        uint32_t want = gen_below(&g, 2) ? 0 : (uint32_t)gen_u64(&g) & TROD_COL_ALL;

        want = gen_below(&g, 2) ? sets[gen_below(&g, sizeof sets / sizeof *sets)] : want;
        for (unsigned i = 0; i < LINES;) {
            const unsigned look = (unsigned)gen_below(&g, 256);
            const struct look l = {.vaddr = gen_below(&g, 2) ? 8 : 16,
                                   .paddr = gen_below(&g, 3) ? gen_below(&g, 3) ? 12 : 16 : 0,
                                   .code = gen_below(&g, 4) ? 8 : 4,
                                   .index = (gen_below(&g, 2) ? 990 : 99999990) +
                                            (unsigned)gen_below(&g, 4),
                                   .sec = gen_below(&g, 2) ? "_NS" : "",
                                   .mode = modes[gen_below(&g, sizeof modes / sizeof *modes)],
                                   .upper = gen_below(&g, 2)};

            for (unsigned k = 5 + (unsigned)gen_below(&g, 40); k > 0; k--, i++)
                es ? es_line(&g, look, 7000 + i / 3, &text) : look_line(&g, &l, i, &text);
        }
        if (seed % 3 == 0)
            end_with_cr(&g, &text, seed % 2 ? 1 : 1 + seed % 9);
        compare_text("tarmac", &text, want, seed);
        trod_buf_fini(&text);
    }
}

/* Lines that have forms, each character changed: whatever they turn into, rows stay the same. */
static void every_place(const char *const lines[3], const char *chars, uint32_t want)
{
    struct trod_buf text = {0};
    char line[300];

    for (unsigned i = 0; i < 60; i++)
        assert_int_equal(trod_buf_add(&text, lines[i % 3], strlen(lines[i % 3])), 0);
    for (unsigned k = 0; k < 3; k++)
        for (size_t at = 0; at + 1 < strlen(lines[k]); at++)
            for (const char *c = chars; *c; c++) {
                snprintf(line, sizeof line, "%s", lines[k]);
                line[at] = *c;
                assert_int_equal(trod_buf_add(&text, line, strlen(line)), 0);
                for (unsigned i = 0; i < 3; i++)
                    assert_int_equal(trod_buf_add(&text, lines[i], strlen(lines[i])), 0);
            }
    compare_text("tarmac", &text, want, 0);
    trod_buf_fini(&text);
}

static void test_every_place(void **state)
{
    static const char *const texts[][3] = {
        {"    1000008 tic ES  (000000000040020c:7103fd2a) O el3h_s:         SUBS     "
         "w10,w9,#0xff\n",
         "                    LD 00000000000ff770 ........ ........ 0005bf3d d35d5a89    "
         "S:000000ff770    nGnRnE OSH\n",
         "                    R X10 00000d439296b39b\n"},
        {"   70000 tic cpu0 ES  (000201d4:4770) T svc_s:   CCFAIL BX    lr\n",
         "                  ST 0000fff0 00000014 ....0004 ........ 12......    000000fff0\n",
         "                  R R1 00020026\n"},
        {"      70000 tic ES  (0000000000020204:e1a00000) A svc_s:          NOP\n",
         "                    LD 0000000000020000 ....00aa ........ ........ 7f....01\n",
         "                    BR (ffb00204) A\n"},
        {"      70001 tic ES  (0000000000020204:e1a00000) O svc_s:          NOP\n",
         "                    BR (ffb0020400000000) O\n", "                    R cpsr 000001d3\n"},
        {"1951 clk cpu0 IT (1927) 000112cc:0000152112cc d63f0020 O EL3h_s : BLR x1\n",
         "1951 clk cpu0 R X30 00000000000112D0\n",
         "1952 clk cpu0 MW8X 00011540:000015211540_NS 00000000_13000000\n"},
        {"1951 clk cpu0 R V30 00000000000112D0FFFFFFFF00000000\n",
         "1951 clk cpu0 R Z0 01234567_89abcdef_01234567_89abcdef\n",
         "1952 clk cpu0 MW16 00011540:000015211540_NS 00000000_13000000_00000000_89abcdef\n"},
        {"                    R Q1 0123456789abcdef0123456789abcdef0123456789abcdef\n",
         "1952 clk MR32 00011540 "
         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
         "1952 clk MW64 0001154000000000 "
         "00000000_13000000_00000000_89abcdef_00000000_13000000_00000000_89abcdef_"
         "00000000_13000000_00000000_89abcdef_00000000_13000000_00000000_89abcdef\n"},
        {"7 clk E 00008100:000000008100_NS 00000084 CoreEvent_CURRENT_SPx_SYNC\n",
         "7 clk E 0000000000001000 abt 000001d3 00000019 CoreEvent_ModeChange\n",
         "9 clk E ffffff8000001000 00000003 0000001a Cafe_affe\n"},
        {"7 clk R Z1 00000000_00000000_00000000_00000000\n",
         "7 clk R Z2 A0000000_00000000_00000000_00000000\n",
         "7 clk R Z3 00000000_00000000_0000000B_00000000\n"},
        {"1 clk R X1 00000000\n", "1 clk R PC 0000000000000000\n", "1 clk R r1_svc 00000001\n"}};

    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        every_place(texts[i], "0aA _\n", 0);
        every_place(texts[i], "9f.\t\r:C", TM_NARROW);
        every_place(texts[i], "1b.S", TM_SITES);
        every_place(texts[i], "2C\r", TM_NAMED);
    }
}

/* The same for lines that end with a carriage return. */
static void test_every_place_cr(void **state)
{
    static const char *const texts[][3] = {
        {"    1000008 tic ES  (000000000040020c:7103fd2a) O el3h_s:         SUBS     w10 \r\n",
         "                    LD 00000000000ff770 ........ ........ 0005bf3d d35d5a89    "
         "S:000000ff770    nGnRnE OSH\r\n",
         "                    R X10 00000d439296b39b\r\n"},
        {"   70000 tic cpu0 ES  (000201d4:4770) T svc_s:   CCFAIL BX    lr\r\n",
         "                  ST 0000fff0 00000014 ....0004 ........ 12......    000000fff0\r\n",
         "                  BR (ffb00204) A\r\n"},
        {"1951 clk cpu0 IT (1927) 000112cc:0000152112cc d63f0020 O EL3h_s : BLR x1 \r\n",
         "1951 clk cpu0 R X30 00000000000112D0\r\n",
         "1952 clk cpu0 MW8X 00011540:000015211540_NS 00000000_13000000\r\n"},
        {"                  ST 0000fff0 00000014 ....0004 ........ 12......    000000fff0\r\n",
         "                  ST 0000fff0 00000014 ....0004 ........ 12......    000000fff0\r 1\r\n",
         "                  ST 0000fff0 00000014 ....0004 ........ 12......\r 1\r\n"},
        {"1951 clk cpu0 R Z0 01234567_89abcdef_01234567_89abcdef\r\n",
         "1952 clk cpu0 MW1 00011540:000015211540_NS 00\r\n",
         "7 clk cpu0 E 00008100:000000008100_NS 00000084 CoreEvent_CURRENT_SPx_SYNC\r\n"}};
    static const uint32_t wants[] = {0, TM_NARROW, TM_SITES, TM_NAMED};

    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        for (unsigned k = 0; k < 4; k++)
            every_place(texts[i], k % 2 ? "0\r\nC" : "9 \r\n\t", wants[k]);
}

static void test_same_rows(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TRACES; i++) {
        compare("tarmac", TARMAC_GEN_FAST, i);
        compare("tarmac", TARMAC_GEN_ES, i);
        compare("tarmac", TARMAC_GEN_ANY, i);
        compare("tarmac", TARMAC_GEN_MUTATED, i);
        compare("matcher", TARMAC_GEN_FAST, i);
        compare("matcher", TARMAC_GEN_MATCHER, i);
    }
}

/*
 * A part of a trace that begins where resync says gives the rows of serial decoding from there,
 * with nothing but the state that start() made of the head: times, cpus and pictures that lines
 * take from those before them included.
 */
static void parts(const char *name, enum tarmac_gen sort, unsigned seed)
{
    static const struct test_how how = {.mask = TROD_COL_ALL & ~(uint32_t)TROD_COL_SITE};
    const struct trod_format *f = trod_format_find(name, strlen(name));
    struct trod_gen g = gen_seed(seed);
    struct trod_buf text = {0};
    struct trod_span head;
    struct trod_meta meta, scratch;
    struct test_input in;
    struct test_rows base;
    void *dec = calloc(1, f->dec_size), *opt = test_options(f, NULL);

    for (int i = 0; i < LINES; i++)
        tarmac_gen_line(&g, sort, &text);
    if (seed % 3 == 0)
        damage(&g, &text);
    head = (struct trod_span){text.p, text.n, 0, true};
    trod_meta_init(&meta);
    trod_meta_init(&scratch);
    in = (struct test_input){.format = f, .p = text.p, .n = text.n, .meta = &meta};
    base = test_decode(&in, &how);
    assert_int_equal(f->start(dec, opt, &head, &scratch, NULL), 0);
    for (int i = 0; i < 8; i++) {
        size_t from = gen_below(&g, text.n), row = 0,
               at = f->resync(dec, text.p + from, text.n - from);
        struct test_rows tail;

        if (at == SIZE_MAX)
            continue;
        points++;
        in.from = from + at;
        while (row < base.n && (base.at[row] == TROD_NOWHERE || base.at[row] < in.from))
            row++;
        tail = test_decode(&in, &how);
        assert_int_equal(tail.n, base.n - row);
        for (size_t k = 0; k < tail.n; k++)
            if (tail.hash[k] != base.hash[row + k])
                fail_msg("%s, sort %d, seed %u: row %zu behind byte %zu differs", name, (int)sort,
                         seed, k, in.from);
        test_rows_free(&tail);
        in.from = 0;
    }
    test_rows_free(&base);
    trod_meta_fini(&meta);
    trod_meta_fini(&scratch);
    free(dec);
    free(opt);
    trod_buf_fini(&text);
}

static void test_parts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TRACES / 2; i++) {
        parts("tarmac", TARMAC_GEN_FAST, i);
        parts("tarmac", TARMAC_GEN_ES, i);
        parts("tarmac", TARMAC_GEN_ANY, i);
        parts("tarmac", TARMAC_GEN_MUTATED, i);
        parts("matcher", TARMAC_GEN_MATCHER, i);
    }
    assert_true(points > TRACES);
}

/* How many forms D has. */
static unsigned formed(const struct tm_dec *d)
{
    unsigned n = 0;

    for (unsigned i = 0; i < TM_FORMS; i++)
        n += (d->forms[0][i].kind ? 1u : 0u) + (d->forms[1][i].kind ? 1u : 0u);
    return n;
}

/* The fast path is taken at all: of canonical lines it eats nearly every one, and some have forms.
 */
static void taken(const char *line, uint32_t rows, unsigned forms)
{
    const struct trod_format *f = trod_format_find("tarmac", 6);
    struct trod_buf text = {0};
    struct trod_batch *b;
    struct trod_meta meta;
    struct tm_dec *d = calloc(1, sizeof *d);
    struct trod_span in;
    uint32_t before;

    for (int i = 0; i < 100; i++)
        assert_int_equal(trod_buf_add(&text, line, strlen(line)), 0);
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    in = (struct trod_span){text.p, 800, 0, false};
    assert_int_equal(f->start(d, NULL, &in, &meta, NULL), 0);
    b->want = TROD_COL_ALL;
    b->bytes = text.p;
    assert_int_equal(f->decode(d, &in, b, NULL), TROD_DEC_MORE);
    trod_batch_clear(b);
    b->bytes = in.p;
    b->have = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
    before = (uint32_t)(in.p - text.p);
    assert_true(tm_fast(d, in.p, text.p + text.n, b) > text.p + text.n - 700);
    assert_true(b->n > rows * 90 && before > 0);
#if TROD_AVX2
    if (trod_wide())
        assert_true(formed(d) >= forms);
#endif
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(d);
    trod_buf_fini(&text);
}

static void test_taken(void **state)
{
    (void)state;
    taken("1951 clk cpu0 IT (1927) 000112cc:0000152112cc d63f0020 O EL3h_s : BLR x1\n"
          "1951 clk cpu0 R X30 00000000000112D0\n"
          "1952 clk cpu0 MW8X 00011540:000015211540_NS 00000000_13000000\n",
          3, 3);
    taken("1951 clk cpu0 R V30 00000000000112D0FFFFFFFF00000000\n"
          "1951 clk cpu0 MR16 00011540 00000000_13000000_00000000_89abcdef\n"
          "1952 clk cpu0 MW16 00011540 00000000130000000000000089abcdef\n"
          "1952 clk cpu0 R Z0 01234567_89abcdef_01234567_89abcdef\n",
          4, 4);
    /* a line of each form, of which some are chosen by the same characters */
    taken("1951 clk cpu0 R r10 00000000\n1951 clk cpu0 R r13_svc 00000000\n"
          "1951 clk cpu0 R r130_svc 00000000\n1951 clk cpu0 R r14 0000000000000000\n"
          "1951 clk cpu0 IT (1927) 000112cc d63f0020 O EL3h_s : BLR x1\n"
          "1951 clk cpu0 IT (1927) 000112cc d63f O EL3h_s : BLR x1\n"
          "1951 clk cpu0 IT (1927) 000112cc d63f0020 O EL0t : BLR x1\n"
          "1951 clk cpu0 IT (19270) 000112cc d63f0020 O EL0t : BLR x1\n",
          8, 8);
    taken("1951 clk cpu0 E 00008100:000000008100_NS 00000084 CoreEvent_CURRENT_SPx_SYNC\n"
          "1951 clk cpu0 E 00008100 abt 00000084 00000019 CoreEvent_ModeChange\n",
          2, 2);
    taken("     510000 tic ES  (000201d0:e3401002) A svc_s:          MOVT     r1,#2\n"
          "                    ST 0000fff0 00000014 00000004 ........ ........    S:000000fff0    "
          "nGnRnE OSH\n"
          "                    LD 0000000000020000 ....00aa ........ ........ 7f....01    "
          "NS:0000020000    NM ISH\n"
          "                    R R1 00020026\n"
          "     510100 tic ES  (000201d4:13401002) A svc_s:   CCFAIL MOVNE    r1,#2\n",
          7, 4);
}

/* The same for lines that end with a carriage return, and for those beside them that do not. */
static void test_taken_cr(void **state)
{
    (void)state;
    taken("1951 clk cpu0 IT (1927) 000112cc:0000152112cc d63f0020 O EL3h_s : BLR x1\r\n"
          "1951 clk cpu0 R X30 00000000000112D0\r\n"
          "1951 clk cpu0 R V30 00000000000112D0FFFFFFFF00000000\r\n"
          "1951 clk cpu0 E 00008100:000000008100_NS 00000084 CoreEvent_CURRENT_SPx_SYNC\r\n"
          "1952 clk cpu0 MW8X 00011540:000015211540_NS 00000000_13000000\r\n"
          "1952 clk cpu0 MW8X 00011540:000015211540_NS 00000000_13000000\n",
          6, 6);
    taken("     510000 tic ES  (000201d0:e3401002) A svc_s:          MOVT     r1,#2\r\n"
          "                    ST 0000fff0 00000014 00000004 ........ ........    S:000000fff0    "
          "nGnRnE OSH\r\n"
          "                    LD 0000000000020000 ....00aa ........ ........ 7f....01\r\n"
          "                    BR (ffb00204) A\r\n"
          "                    R R1 00020026\r\n",
          7, 5);
}

/* Columns that are wanted may change from batch to batch: forms are kept, what they give is not. */
static void test_other_columns(void **state)
{
    static const char line[] = "1951 clk cpu0 IT (1927) 000112cc d63f0020 O EL3h_s : BLR x1\n"
                               "1951 clk cpu0 R X30 00000000000112D0\n"
                               "1952 clk cpu0 MW8X 00011540:000015211540_NS 00000000_13000000\n";
    const struct trod_format *f = trod_format_find("tarmac", 6);
    struct trod_buf text = {0};
    struct trod_batch *b[2];
    struct trod_meta meta[2];
    struct tm_dec *d[2];

    (void)state;
    for (int i = 0; i < 50; i++)
        assert_int_equal(trod_buf_add(&text, line, sizeof line - 1), 0);
    for (int k = 0; k < 2; k++) {
        const struct trod_span head = {text.p, text.n, 0, false};

        d[k] = calloc(1, sizeof *d[k]);
        trod_meta_init(&meta[k]);
        assert_int_equal(trod_batch_new(&b[k], TROD_BATCH_ROWS), 0);
        assert_int_equal(f->start(d[k], NULL, &head, &meta[k], NULL), 0);
    }
    d[1]->slow = 1;
    for (size_t i = 0; i < 2 * sizeof sets / sizeof *sets; i++) {
        for (int k = 0; k < 2; k++) {
            struct trod_span in = {text.p, text.n, 0, false};

            trod_batch_clear(b[k]);
            b[k]->want = sets[i % (sizeof sets / sizeof *sets)];
            b[k]->bytes = text.p;
            assert_int_equal(f->decode(d[k], &in, b[k], NULL), TROD_DEC_MORE);
        }
        assert_int_equal(b[0]->n, 150);
        assert_int_equal(b[1]->n, 150);
        assert_memory_equal(b[0]->has, b[1]->has, 150 * sizeof *b[0]->has);
    }
    for (int k = 0; k < 2; k++) {
        trod_batch_free(b[k]);
        trod_meta_fini(&meta[k]);
        free(d[k]);
    }
    trod_buf_fini(&text);
}

#if TROD_AVX2
/*
 * The bytes of the picture TEXT are Y, if TAKEN; who asks knows of the blanks between them, and
 * which characters others are.
 */
static TROD_WIDE void picture_wide(const uint8_t *text, bool taken, const struct tm_bytes16 *y)
{
    struct tm_bytes16 x;

    if (!trod_wide())
        return;
    for (unsigned i = 0; i < 35; i++)
        if (i % 9 == 8 ? text[i] != ' ' : !strchr("0123456789./`abcdef", text[i]))
            return;
    assert_int_equal(tm_take_bytes32(text, &x), taken);
    assert_int_equal(tm_take_known32(text), taken ? y->known : 0);
    if (!taken)
        return;
    assert_int_equal(x.known, y->known);
    assert_true(x.lo == y->lo && x.hi == y->hi);
}
#endif

/* The 16 bytes of a picture, drawn into the room at P. */
static void picture(struct trod_gen *g, const uint8_t *p)
{
    static const char digits[] = "0123456789abcdef";
    struct tm_bytes16 x = {0, 0, 0}, y = {0, 0, 0};
    uint8_t text[64];
    bool taken;

    memcpy(text, p, sizeof text);
    for (unsigned i = 0; i < 35; i++)
        text[i] = (uint8_t)(i % 9 == 8 ? ' ' : digits[gen_below(g, 16)]);
    for (unsigned i = 0; i < 16; i++)
        if (gen_below(g, 2))
            memcpy(text + i * 2 + i / 4, "..", 2);
    if (gen_once_in(g, 2))
        text[gen_below(g, 35)] = (uint8_t) "0aA.# x`/"[gen_below(g, 9)];
    taken = tm_take_bytes16_scalar(text, &y);
    assert_int_equal(tm_take_bytes16(text, &x), taken);
    if (taken) {
        assert_int_equal(x.known, y.known);
        assert_true(x.lo == y.lo && x.hi == y.hi);
    }
#if TROD_AVX2
    picture_wide(text, taken, &y);
#endif
}

static void test_scanners(void **state)
{
    static const char chars[] = "0123456789abcdefABCDEF0123456789 _:\nGgxX(/";
    struct trod_gen g = gen_seed(1);
    uint8_t a[64], b[64];

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct tm_hexrun x, y;
        unsigned digits, len = 1 + (unsigned)gen_below(&g, 32);
        uint8_t c = (uint8_t)gen_raw(&g, 1);

        for (size_t k = 0; k < sizeof a; k++)
            a[k] = gen_once_in(&g, 30) ? (uint8_t)gen_raw(&g, 1)
                                       : (uint8_t)chars[gen_below(&g, gen_below(&g, 2) ? 10 : 42)];
        memcpy(b, a, sizeof b);
        b[gen_below(&g, 32)] ^= (uint8_t)gen_below(&g, 2);
        x = tm_hex_run(a);
        y = tm_hex_run_scalar(a);
        assert_int_equal(x.n, y.n);
        assert_true(x.value == y.value);
        assert_int_equal(x.upper, y.upper);
        digits = tm_decimal_run(a);
        assert_int_equal(digits, tm_decimal_run_scalar(a));
        if (digits) {
            uint64_t v = 0;

            for (unsigned k = 0; k < digits; k++)
                v = v * 10 + (uint64_t)(a[k] - '0');
            assert_true(tm_decimal(a, digits) == v);
        }
        picture(&g, a);
        assert_int_equal(tm_mask16(a, c), tm_mask16_scalar(a, c));
        assert_int_equal(tm_equal32(a, b, len), tm_equal32_scalar(a, b, len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_rows),      cmocka_unit_test(test_looks),
        cmocka_unit_test(test_every_place),    cmocka_unit_test(test_parts),
        cmocka_unit_test(test_taken),          cmocka_unit_test(test_taken_cr),
        cmocka_unit_test(test_scanners),       cmocka_unit_test(test_other_columns),
        cmocka_unit_test(test_every_place_cr),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
