/*
 * test_tarmac_fast.c - the fast path of the Tarmac decoder against the general one, and the
 * scanners under it against their scalar twins.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tarmac_gen.h"
#include "testlib.h"

enum { TRACES = 300, LINES = 120, ROUNDS = 200000 };

static const struct trod_format *original;

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

static void compare(const char *name, enum tarmac_gen sort, unsigned seed)
{
    struct trod_gen g = gen_seed(seed);
    struct trod_buf text = {0};
    struct trod_format slow;
    struct test_input a, b;
    struct test_how how = {.want = gen_below(&g, 3) ? 0 : (uint32_t)gen_u64(&g) & TROD_COL_ALL};

    original = trod_format_find(name, strlen(name));
    slow = *original;
    slow.start = slow_start;
    for (int i = 0; i < LINES; i++)
        tarmac_gen_line(&g, sort, &text);
    if (seed % 3 == 0)
        damage(&g, &text);
    a = (struct test_input){.format = original, .p = text.p, .n = text.n};
    b = a;
    b.format = &slow;
    if (!test_same(&a, &how, 0, &b, &how, "fast and general")) {
        print_message("%.*s", (int)text.n, (const char *)text.p);
        fail_msg("%s, seed %u: the fast path gives other rows", name, seed);
    }
    trod_buf_fini(&text);
}

static void test_same_rows(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TRACES; i++) {
        compare("tarmac", TARMAC_GEN_FAST, i);
        compare("tarmac", TARMAC_GEN_ANY, i);
        compare("tarmac", TARMAC_GEN_MUTATED, i);
        compare("matcher", TARMAC_GEN_FAST, i);
        compare("matcher", TARMAC_GEN_MATCHER, i);
    }
}

/* The fast path is taken at all: of canonical lines it eats nearly every one. */
static void test_taken(void **state)
{
    static const char line[] = "1951 clk cpu0 IT (1927) 000112cc:0000152112cc d63f0020 O EL3h_s : "
                               "BLR x1\n1951 clk cpu0 R X30 00000000000112D0\n"
                               "1952 clk cpu0 MW8X 00011540:000015211540_NS 00000000_13000000\n";
    const struct trod_format *f = trod_format_find("tarmac", 6);
    struct trod_buf text = {0};
    struct trod_batch *b;
    struct trod_meta meta;
    struct tm_dec *d = calloc(1, sizeof *d);
    struct trod_span in;
    uint32_t before;

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(trod_buf_add(&text, line, sizeof line - 1), 0);
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    in = (struct trod_span){text.p, 400, 0, false};
    assert_int_equal(f->start(d, NULL, &in, &meta, NULL), 0);
    b->want = TROD_COL_ALL;
    b->bytes = text.p;
    assert_int_equal(f->decode(d, &in, b, NULL), TROD_DEC_MORE);
    trod_batch_clear(b);
    b->bytes = in.p;
    b->have = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
    before = (uint32_t)(in.p - text.p);
    assert_true(tm_fast(d, in.p, text.p + text.n, b) > text.p + text.n - 400);
    assert_true(b->n > 280 && before > 0);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(d);
    trod_buf_fini(&text);
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
        assert_int_equal(tm_mask16(a, c), tm_mask16_scalar(a, c));
        assert_int_equal(tm_equal32(a, b, len), tm_equal32_scalar(a, b, len));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_rows),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_scanners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
