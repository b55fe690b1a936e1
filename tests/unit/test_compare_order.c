/*
 * test_compare_order.c - rows whose order counts: those that follow no instruction, and those of
 * sequences that are compared by themselves.
 *
 * trod-compare(1): rows that follow an instruction up to the next one may come in any order, and a
 * window says within how many rows order does not matter. Accesses in pieces are compared byte by
 * byte.
 */
#include "compare_data.h"

#define R(reg, value)     "1 clk R r" #reg " 000000" #value "\n"
#define W(addr, value)    "1 clk MW4 0000" #addr " 000000" #value "\n"
#define IN(n, addr, name) "1 clk " name " IT (1) 0000" #addr " 0000000" #n " O EL1h_n : x\n"
#define I(n, addr)        IN(n, addr, "cpu0")

static void expect_order(const char *a, const char *b, const struct trod_compare_options *opt,
                         const char *want)
{
    expect_in("tarmac", a, b, opt, want);
}

static void test_no_instruction(void **state)
{
    const struct trod_compare_options window = {.window = 2}, four = {.window = 4};

    (void)state;
    expect_order(R(0, 01) R(0, 02), R(0, 02) R(0, 01), NULL,
                 "changed 1@0 1@0 value\nchanged 1@1 1@1 value\n");
    expect_order(R(0, 01) R(0, 02), R(0, 02) R(0, 01), &window, "");
    expect_order(W(8000, 01) W(8004, 02), W(8004, 02) W(8000, 01), NULL, "reordered 1@0 1@1\n");
    expect_order(W(8000, 01) W(8004, 02), W(8004, 02) W(8000, 01), &window, "");
    /* before the first instruction: order counts; behind it: it does not */
    expect_order(R(1, 01) R(2, 02) I(1, 1000), R(2, 02) R(1, 01) I(1, 1000), NULL,
                 "reordered 1@0 1@1\n");
    expect_order(I(1, 1000) R(1, 01) R(2, 02), I(1, 1000) R(2, 02) R(1, 01), NULL, "");
    /* what an edit script would call changes may stand a little later as well */
    expect_order(W(8000, 01) W(8004, 02) W(8008, 03) W(800c, 04),
                 W(8004, 02) W(8000, 01) W(800c, 04) W(8008, 03), &four, "");
    expect_order(I(1, 1000) I(2, 1004) I(3, 1008) I(4, 100c),
                 I(2, 1004) I(1, 1000) I(4, 100c) I(3, 1008), &four, "");
}

/* One side begins inside an instruction: that instruction alone is missing. */
static void test_begins_inside(void **state)
{
    (void)state;
    expect_order(I(1, 1000) R(1, 01) I(2, 1004) R(2, 02), R(1, 01) I(2, 1004) R(2, 02), NULL,
                 "missing 1@0 -\n");
    expect_order(R(1, 01) I(2, 1004) R(2, 02), I(1, 1000) R(1, 01) I(2, 1004) R(2, 02), NULL,
                 "inserted - 1@0\n");
    expect_order(R(1, 01) I(2, 1004) R(2, 02), I(2, 1004) R(2, 02), NULL, "missing 1@0 -\n");
}

static int choose_no_instructions(void *user, int side, const struct trod_batch *b, uint8_t *keep)
{
    (void)user;
    (void)side;
    for (uint32_t i = 0; i < b->n; i++)
        keep[i] &= b->kind[i] != TROD_INSTR;
    return 0;
}

/* Rows of instructions that are left out follow none. */
static void test_chosen(void **state)
{
    struct trod_compare_options o = {.choose = choose_no_instructions};
    const char *a = I(1, 1000) W(8000, 01) I(2, 1004) W(8004, 02);
    const char *b = I(1, 1000) W(8004, 02) I(2, 1004) W(8000, 01);

    (void)state;
    expect_order(a, a, &o, "");
    expect_order(a, b, &o, "reordered 1@1 1@3\n");
    o.window = 2;
    expect_order(a, b, &o, "");
}

/*
 * Each stream by itself: one without instructions in order, the rows of the other's instruction in
 * any order, however many equal rows of streams lie between.
 */
static void test_streams(void **state)
{
    enum { MANY = 9000 };
    const struct {
        const char *a, *b, *want;
    } ends[] = {{W(8000, 01) W(8004, 02), W(8004, 02) W(8000, 01), ""},
                {IN(2, 2000, "cpu1") W(8000, 01) W(8004, 02),
                 IN(2, 2000, "cpu1") W(8004, 02) W(8000, 01), ""},
                {IN(2, 2000, "cpu1") W(8000, 01), IN(2, 2000, "cpu1") W(8000, 02),
                 "changed 1@9003 1@9003 value\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *text[2];

        for (int side = 0; side < 2; side++) {
            size_t n = 0;
            char *p = text[side] = calloc(1, 64 * MANY);

            assert_non_null(p);
            n += (size_t)sprintf(p, "%s", IN(1, 1000, "cpu0") IN(1, 1000, "cpu1"));
            for (int k = 0; k < MANY; k++)
                n += (size_t)sprintf(p + n, "1 clk cpu%d MW4 00009000 00000001\n", k < MANY - 1);
            sprintf(p + n, "%s", side ? ends[i].b : ends[i].a);
        }
        expect_order(text[0], text[1], NULL, ends[i].want);
        free(text[0]);
        free(text[1]);
    }
}

/* Rows that follow no instruction are not collected: what differs is known at once. */
static void test_nothing_collected(void **state)
{
    enum { ROWS = 100000, LENGTH = 40 };
    struct cmp_case *c = calloc(1, sizeof *c);
    char *a = calloc(ROWS, LENGTH), *b;
    size_t n = 0;

    (void)state;
    assert_non_null(c);
    assert_non_null(a);
    for (unsigned i = 0; i < ROWS; i++)
        n += (size_t)sprintf(a + n, "1 clk MW4 %08x 00000001\n", 0x8000 + 4 * (i % 512));
    b = malloc(n + 1);
    assert_non_null(b);
    memcpy(b, a, n + 1);
    b[strcspn(b, "\n") - 1] = '2';
    c->a = a;
    c->b = b;
    c->from[0] = c->from[1] = "tarmac";
    c->opt.first_stop = true;
    cmp_run(c);
    assert_string_equal(c->out, "changed 1@0 1@0 value\n");
    assert_true(c->sum.rows[0] < 1000);
    free(a);
    free(b);
    free(c);
}

static void test_pieces(void **state)
{
    const struct trod_compare_options alone = {.independent = true};
    const struct trod_compare_options mem = {.track = TROD_TRACK_MEM};
    static const char *const no_value[] = {"value"};
    const struct trod_compare_options addresses = {
        .track = TROD_TRACK_MEM, .ignore = no_value, .n_ignore = 1};
#define WHOLE "1 clk MW8 00008000 11223344_55667788\n"
#define LOW   "1 clk MW4 00008000 55667788\n"
#define HIGH  "1 clk MW4 00008004 11223344\n"
#define WRONG "1 clk MW4 00008004 11223345\n"
#define READ  "1 clk MR8 00008000 11223344_55667788\n"
#define OTHER "1 clk MW4 00009000 00000001\n"
    const char *a = I(1, 1000) WHOLE I(2, 1004) OTHER, *b = I(1, 1000) LOW HIGH I(2, 1004) OTHER;
    const char *down = I(1, 1000) HIGH LOW I(2, 1004) OTHER;
    const char *wrong = I(1, 1000) LOW WRONG I(2, 1004) OTHER;

    (void)state;
    expect_order(a, b, &alone, "");
    expect_order(b, a, &alone, "");
    expect_order(a, b, &mem, "");
    expect_order(a, down, &mem, "");
    expect_order(a, wrong, &mem, "changed 1@1 1@1 size value\ninserted - 1@2\n");
    expect_order(a, wrong, &addresses, "");
    /* at the end of a trace, behind a difference, and as it is cut into other pieces */
    expect_order(WHOLE, LOW HIGH, NULL, "");
    expect_order(LOW HIGH, WHOLE, NULL, "");
    expect_order(OTHER WHOLE OTHER, LOW HIGH OTHER, NULL, "missing 1@0 -\n");
    expect_order("1 clk MW2 00008000 7788\n1 clk MW4 00008002 33445566\n"
                 "1 clk MW2 00008006 1122\n",
                 LOW HIGH, NULL, "");
    expect_in("matcher:endian=big", "1 clk MW8 00008000 1122334455667788\n",
              "1 clk MW4 00008000 11223344\n1 clk MW4 00008004 55667788\n", NULL, "");
    /* what is missing is no piece; neither is another kind of access, nor one elsewhere */
    expect_order(WHOLE, LOW, NULL, "changed 1@0 1@0 size value\n");
    expect_order(READ OTHER, LOW HIGH OTHER, NULL, "changed 1@0 2@0\n");
    expect_order(WHOLE OTHER, LOW OTHER HIGH, NULL, "changed 1@0 1@0 size value\nrest - 1@2\n");
}

/* Bytes LO to HI of VALUE, written to ADDR + LO, in pieces if RNG says so. */
static size_t put_pieces(char *p, struct trod_rng *rng, uint64_t addr, uint64_t value, unsigned lo,
                         unsigned hi)
{
    const unsigned size = hi - lo;
    const uint64_t part = value >> (8 * lo) & (UINT64_MAX >> (64 - 8 * size));

    if (size > 1 && trod_rng_below(rng, 2)) {
        const size_t n = put_pieces(p, rng, addr, value, lo, lo + size / 2);

        return n + put_pieces(p + n, rng, addr, value, lo + size / 2, hi);
    }
    return (size_t)sprintf(p, "1 clk MW%u %08llx %0*llx\n", size, (unsigned long long)addr + lo,
                           (int)(2 * size), (unsigned long long)part);
}

/* Sequences of writes cut at random are equal; not so where one byte differs. */
static void test_random_pieces(void **state)
{
    enum { WRITES = 200, LINE = 400 };
    struct cmp_case *c = calloc(1, sizeof *c);
    char *text[2] = {malloc(WRITES * LINE), malloc(WRITES * LINE)};
    struct trod_rng rng;

    (void)state;
    assert_non_null(c);
    assert_non_null(text[0]);
    assert_non_null(text[1]);
    trod_rng_seed(&rng, 17);
    for (int round = 0; round < 60; round++) {
        const uint64_t wrong = round % 3 ? WRITES : trod_rng_below(&rng, WRITES);
        size_t n[2] = {0, 0};

        for (uint64_t i = 0; i < WRITES; i++) {
            const uint64_t addr = 0x8000 + 8 * trod_rng_below(&rng, 64);
            const uint64_t value = trod_rng_below(&rng, UINT64_MAX);

            for (int side = 0; side < 2; side++)
                n[side] += put_pieces(text[side] + n[side], &rng, addr,
                                      value ^ (uint64_t)(side && i == wrong) << 40, 0, 8);
        }
        c->a = text[0];
        c->b = text[1];
        c->from[0] = c->from[1] = "matcher:endian=little";
        c->batch_rows = 1 + (uint32_t)trod_rng_below(&rng, 300);
        c->opt.track = round % 2 ? TROD_TRACK_MEM : 0;
        cmp_run(c);
        assert_int_equal(c->sum.differing[0] == 0 && c->sum.differing[1] == 0, wrong == WRITES);
        assert_int_equal(c->n == 0, wrong == WRITES);
    }
    free(text[0]);
    free(text[1]);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_instruction),
        cmocka_unit_test(test_begins_inside),
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_nothing_collected),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_random_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
