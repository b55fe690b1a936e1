/*
 * test_compare.c - every rule of compare.h on traces written by hand.
 *
 * Trace Matcher, "Comparing traces", and issue text: what counts as equal, windows, where to begin
 * and end, what is said of what differs.
 */
#include "compare_data.h"
#include "trod_config.h"

/* Four instructions; their registers and accesses. */
#define I1  "1 clk 0 IT (1) 00001000 00000001 A svc : a\n"
#define R1  "1 clk R r1 00000011\n"
#define I2  "2 clk 0 IT (2) 00001004 00000002 A svc : b\n"
#define R2  "2 clk R r2 00000022\n"
#define M2  "2 clk MR4 00008000 00000022\n"
#define I3  "3 clk 0 IT (3) 00001008 00000003 A svc : c\n"
#define R3  "3 clk R r3 00000033\n"
#define I4  "4 clk 0 IT (4) 0000100c 00000004 A svc : d\n"
#define R4  "4 clk R r4 00000044\n"
#define I5  "5 clk 0 IT (5) 00001010 00000005 A svc : e\n"
#define ALL I1 R1 I2 M2 R2 I3 R3 I4 R4

static void test_equal(void **state)
{
    const struct trod_compare_options times = {.compare = TROD_COL_ALL & ~TROD_COL_TEXT};

    (void)state;
    expect(ALL, ALL, NULL, "");
    /* time and index may differ, and count when they are asked for */
    expect(I1 R1, "7 clk 0 IT (9) 00001000 00000001 A svc : a\n7 clk R r1 00000011\n", NULL, "");
    expect(I1, "7 clk 0 IT (9) 00001000 00000001 A svc : a\n", &times,
           "changed 1@0 1@0 time index\n");
    /* notation, case of names, what one side does not say */
    expect(I1 R1, "1 clk 0 IT (1) 00001000 00000001 A svc : A\n1 clk R R1 0x11\n", NULL, "");
}

static void test_changed(void **state)
{
    const struct trod_compare_options no_values = {.compare = TROD_COL_ADDR | TROD_COL_CODE};

    (void)state;
    expect(ALL, I1 R1 I2 M2 "2 clk R r2 00000023\n" I3 R3 I4 R4, NULL, "changed 1@4 1@4 value\n");
    expect(ALL, I1 R1 I2 M2 "2 clk R r2 00000023\n" I3 R3 I4 R4, &no_values, "");
    expect(ALL, I1 R1 I2 "2 clk MR4 00008004 00000022\n" R2 I3 R3 I4 R4, NULL,
           "changed 1@3 1@3 addr\n");
    expect(ALL, I1 R1 "2 clk 0 IT (2) 00001004 00000099 A svc : b\n" M2 R2 I3 R3 I4 R4, NULL,
           "changed 1@2 1@2 code\n");
    expect(ALL, I1 R1 "2 clk 0 IT (2) 00001004 00000002 T svc : b\n" M2 R2 I3 R3 I4 R4, NULL,
           "changed 1@2 1@2 flags code\n");
    expect(ALL, I1 R1 "2 clk 0 IT (2) 00001004 00000002 A usr : b\n" M2 R2 I3 R3 I4 R4, NULL,
           "changed 1@2 1@2 mode\n");
    /* an instruction elsewhere, with what belongs to it */
    expect(ALL, I1 R1 "2 clk 0 IT (2) 00002004 00000099 A svc : b\n" M2 R2 I3 R3 I4 R4, NULL,
           "changed 3@2 3@2\n");
}

static void test_missing(void **state)
{
    (void)state;
    expect(ALL, I1 R1 I3 R3 I4 R4, NULL, "missing 3@2 -\n");
    expect(I1 R1 I3 R3 I4 R4, ALL, NULL, "inserted - 3@2\n");
    expect(ALL, I1 R1 I2 R2 I3 R3 I4 R4, NULL, "missing 1@3 -\n");
    expect(ALL, I2 M2 R2 I3 R3 I4 R4, NULL, "missing 2@0 -\n");
    /* the line of the instruction alone: its records then follow the one before */
    expect(ALL, I1 R1 I2 M2 R2 R3 I4 R4, NULL, "missing 1@5 -\n");
    expect(I1 R1 I2 M2 R2 R3 I4 R4, ALL, NULL, "inserted - 1@5\n");
    expect(ALL, I1 I4 R1 I2 M2 R2 I3 R3 I4 R4, NULL, "inserted - 1@1\n");
}

/* Rows of one instruction come in any order; accesses may be cut in another way. */
static void test_groups(void **state)
{
    (void)state;
    expect(ALL, I1 R1 I2 R2 M2 I3 R3 I4 R4, NULL, "");
    expect(I1 "1 clk MW8 00008000 1122334455667788\n" I2,
           I1 "1 clk MW4 00008000 55667788\n1 clk MW4 00008004 11223344\n" I2, NULL, "");
    expect(I1 "1 clk MW8 00008000 1122334455667788\n" I2,
           I1 "1 clk MW4 00008000 55667788\n1 clk MW4 00008004 11223345\n" I2, NULL,
           "changed 1@1 1@1 size value\ninserted - 1@2\n");
    expect_in("matcher:endian=big", I1 "1 clk MW8 00008000 1122334455667788\n" I2,
              I1 "1 clk MW4 00008000 11223344\n1 clk MW4 00008004 55667788\n" I2, NULL, "");
    /* but not beyond it */
    expect(ALL, I1 I2 M2 R1 R2 I3 R3 I4 R4, NULL, "missing 1@1 -\ninserted - 1@3\n");
}

static void test_moved(void **state)
{
    (void)state;
    expect(ALL, I1 R1 I3 R3 I4 R4 I2 M2 R2, NULL, "reordered 3@2 3@6\n");
    expect(I1 R1 I3 R3 I4 R4 I2 M2 R2, ALL, NULL, "reordered 3@6 3@2\n");
}

static void test_rest(void **state)
{
    const struct trod_compare_options skip = {.skip_rest = true};

    (void)state;
    expect(ALL, I1 R1 I2 M2 R2, NULL, "rest 4@5 -\n");
    expect(I1 R1 I2 M2 R2, ALL, NULL, "rest - 4@5\n");
    expect(ALL, I1 R1 I2 M2 R2, &skip, "");
    expect(ALL, I1 R1 I2, NULL, "rest 6@3 -\n");
}

static void test_window(void **state)
{
    struct trod_compare_options o = {.window = 4};

    (void)state;
    /* write-back a little later, within the window and beyond it; at the end of the trace too */
    expect(ALL, I1 I2 M2 R1 R2 I3 R3 I4 R4, &o, "");
    expect(I1 R1 I2 M2 R2, I1 I2 M2 R2 R1, &o, "");
    expect(ALL I5, I1 I2 M2 R2 I3 R3 I4 R4 R1 I5, &o, "missing 1@1 -\ninserted - 1@8\n");
    /* instructions too */
    expect(ALL, I2 M2 R2 I1 R1 I3 R3 I4 R4, &(struct trod_compare_options){.window = 8}, "");
    /* one extra instruction stays one difference */
    expect(ALL, I1 R1 I3 R3 I4 R4, &o, "missing 3@2 -\n");
    o.window_unit = TROD_WINDOW_TICKS;
    o.window = 2;
    expect(ALL, I1 I2 M2 R1 R2 I3 R3 I4 R4, &o, "");
    expect(ALL I5, I1 I2 M2 R2 I3 R3 I4 R4 R1 I5, &o, "missing 1@1 -\ninserted - 1@8\n");
}

/* The example of the wiki, and blocks in general. */
static void test_blocks(void **state)
{
    struct trod_compare_options o = {.align = TROD_ALIGN_NONE, .window = 1};
    const char *a = I1 "1 clk R r8 00000001\n", *b = "1 clk R r8 00000001\n" I1;

    (void)state;
    expect(a, b, &o, "changed 1@0 1@0 kind\nchanged 1@1 1@1 kind\n");
    o.window = 2;
    expect(a, b, &o, "");
    /* wherever that leads: one record less, and nothing fits any more */
    o.window = 1;
    expect(I1 I2 I3 I4, I1 I3 I4, &o,
           "changed 1@1 1@1 addr code\nchanged 1@2 1@2 addr code\nrest 1@3 -\n");
    o.window = 2;
    expect(I1 I2 I3 I4, I2 I1 I4 I3, &o, "");
    expect(I1 I2 I3 I4, I1 I3 I2 I4, &o, "changed 1@1 1@1 addr code\nchanged 1@2 1@2 addr code\n");
    o.window_unit = TROD_WINDOW_TICKS;
    o.window = 1;
    expect(a, b, &o, "");
    expect(I1 R1 I2 R2, R1 I1 R2 I2, &o, "");
}

static void test_where_to_begin(void **state)
{
    struct trod_compare_options o = {.boot = 2};

    (void)state;
    expect(ALL, I3 R3 I3 R3 I3 R3 I4 R4, &o, "");
    expect(ALL, I1 R1 I1 R1 I3 R4 I4 R4, &o, "missing 1@6 -\ninserted - 1@5\n");
    o = (struct trod_compare_options){.has_start = true, .start = 0x1008};
    expect(ALL, I3 R3 I4 R4, &o, "");
    expect(ALL, I1 R1 R2 I3 R3 I4 R4, &o, "");
    /* the start address is looked for behind the boot code */
    o.boot = 3;
    expect(I1 I2 I3 I4 I3 R3 I4, I1 I2 I4 I3 R3 I4, &o, "");
}

static void test_first_stop(void **state)
{
    struct cmp_case *c = calloc(1, sizeof *c);

    (void)state;
    assert_non_null(c);
    c->a = ALL;
    c->b = I1 "1 clk R r1 00000012\n" I2 M2 I3 R3 I4 R4;
    c->opt.first_stop = true;
    cmp_run(c);
    assert_string_equal(c->out, "changed 1@1 1@1 value\n");
    assert_true(c->sum.ended);
    assert_int_equal(c->sum.differences, 1);
    free(c);
}

static void test_skip_equal(void **state)
{
    const struct trod_compare_options o = {.skip_equal = true};
    const char *again = "2 clk R r1 00000011\n";
    char text[1024];

    (void)state;
    snprintf(text, sizeof text, "%s%s%s%s", I1 R1, again, again, I3 R3);
    expect(text, I1 R1 I3 R3, &o, "");
    expect(text, I1 R1 I3 R3, NULL, "missing 2@2 -\n");
    expect(I1 R1 "2 clk R r1 00000012\n" I3, I1 R1 I3, &o, "missing 1@2 -\n");
    /* the next pass of a loop has another index */
    expect("1 clk IT (1) 00001000 eafffffe A svc_s : B {pc}\n"
           "2 clk IT (1) 00001000 eafffffe A svc_s : B {pc}\n"
           "3 clk IT (2) 00001000 eafffffe A svc_s : B {pc}\n" I3,
           "1 clk IT (1) 00001000 eafffffe A svc_s : B {pc}\n" I3, &o, "missing 1@2 -\n");
}

static void test_registers(void **state)
{
    const char *const ignored[] = {"R2", "r3"};
    struct trod_compare_options o = {.masks = {{"r2", 0xf0}}, .n_masks = 1};

    (void)state;
    expect(ALL, I1 R1 I2 M2 "2 clk R r2 00000fff\n" I3 R3 I4 R4, &o, "changed 1@4 1@4 value\n");
    expect(ALL, I1 R1 I2 M2 "2 clk R r2 00000f2f\n" I3 R3 I4 R4, &o, "");
    o = (struct trod_compare_options){.ignore_registers = ignored, .n_ignore_registers = 2};
    expect(ALL, I1 R1 I2 M2 I3 "2 clk R r3 00000fff\n" I4 R4, &o, "");
    expect(ALL, I1 R1 I2 M2 I3 I4, &o, "rest 1@8 -\n");
    o = (struct trod_compare_options){.aliases = {{"tmp", "r2"}}, .n_aliases = 1};
    expect(ALL, I1 R1 I2 M2 "2 clk R tmp 00000022\n" I3 R3 I4 R4, &o, "");
    expect(ALL, I1 R1 I2 M2 "2 clk R tmp 00000022\n" I3 R3 I4 R4, NULL,
           "missing 1@4 -\ninserted - 1@4\n");
}

#define A64(n) "1 clk IT (1) 00001000 00000000 O EL1h_n : x\n1 clk R " n "\n"

static void test_names(void **state)
{
    (void)state;
    expect_in("tarmac", A64("X29 0000000000000001"), A64("FP 0000000000000001"), NULL, "");
    expect_in("tarmac", A64("X7 0000000012345678"), A64("W7 12345678"), NULL, "");
    expect_in("tarmac", A64("X7 ffffffff12345678"), A64("W7 12345678"), NULL, "");
    expect_in("tarmac", A64("X7 0000000012345678"), A64("W7 12345679"), NULL,
              "changed 1@1 1@1 value\n");
    expect_in("tarmac", A64("SP_EL1 0000000000000001"), A64("SP 0000000000000001"), NULL, "");
    expect_in("tarmac", A64("SP_EL1 0000000000000001"), A64("SP_EL2 0000000000000001"), NULL,
              "missing 1@1 -\ninserted - 1@1\n");
    expect_in("matcher:isa=mips32", I1 "1 clk R t0 00000001\n", I1 "1 clk R r8 00000001\n", NULL,
              "");
    expect_in("matcher:isa=mips32", I1 "1 clk R $8 00000001\n", I1 "1 clk R t0 00000001\n", NULL,
              "");
    expect_in("matcher:isa=mips32", I1 "1 clk R t0 00000001\n", I1 "1 clk R r9 00000001\n", NULL,
              "missing 1@1 -\ninserted - 1@1\n");
    /* without being told: no other instruction set has such names */
    expect(I1 "1 clk R t0 00000001\n", I1 "1 clk R r8 00000001\n", NULL, "");
    expect_in("matcher:isa=arm", I1 "1 clk R r13 00000001\n", I1 "1 clk R sp 00000001\n", NULL, "");
}

/* Unknown digits and bits that were not written match anything; wide values in full. */
static void test_unknown(void **state)
{
    (void)state;
    expect_in("tarmac", A64("X1 00000000--345678"), A64("X1 0000000012345678"), NULL, "");
    expect_in("tarmac", A64("X1 00000000--345678"), A64("X1 0000000012345679"), NULL,
              "changed 1@1 1@1 value\n");
    expect_in("tarmac", A64("V1 0000000000000001_0000000000000002"),
              A64("V1 0000000000000001_0000000000000002"), NULL, "");
    expect_in("tarmac", A64("V1 0000000000000001_0000000000000002"),
              A64("V1 0000000000000003_0000000000000002"), NULL, "changed 1@1 1@1 value\n");
    expect_in("tarmac", A64("V1<127:64> 0000000000000001"),
              A64("V1 0000000000000001_0000000000000002"), NULL, "");
    expect_in("tarmac", A64("V1<127:64> 0000000000000001"),
              A64("V1 0000000000000003_0000000000000002"), NULL, "changed 1@1 1@1 value\n");
    expect_in("tarmac", A64("D1 0000000000000002"), A64("V1 0000000000000003_0000000000000002"),
              NULL, "");
    expect_in("tarmac", A64("D1 0000000000000002"), A64("V1 0000000000000003_0000000000000003"),
              NULL, "changed 1@1 1@1 value\n");
}

static void test_slides(void **state)
{
    struct trod_compare_options o = {.slides = {{0, 0x1000, 0x1fff, 0x400000}}, .n_slides = 1};
    const char *b = "1 clk 0 IT (1) 00401000 00000001 A svc : a\n1 clk R r1 00401004\n"
                    "2 clk 0 IT (2) 00401004 00000002 A svc : b\n2 clk MR4 00008000 00000022\n";
    const char *a = I1 "1 clk R r1 00001004\n" I2 M2;

    (void)state;
    expect(a, b, &o, "");
    o.slides[0] = (struct trod_slide){1, 0x401000, 0x401fff, (uint64_t)-0x400000};
    expect(a, b, &o, "");
    o.slides[0].hi = 0x401003;
    expect(a, b, &o, "changed 1@1 1@1 value\nchanged 2@2 2@2\n");
}

/* Streams: by name, by number, by order, as told; interleaved in any way. */
static void test_streams(void **state)
{
    struct trod_compare_options o = {.pairs = {{"0", "1"}, {"1", "0"}}, .n_pairs = 2};
#define ON(cpu, pc, code) "1 clk " cpu " IT (1) 0000" pc " 000000" code " A svc : x\n"
    const char *a =
        ON("0", "1000", "01") ON("1", "2000", "02") ON("0", "1004", "03") ON("1", "2004", "04");
    const char *swapped =
        ON("1", "1000", "01") ON("0", "2000", "02") ON("1", "1004", "03") ON("0", "2004", "04");
    const char *later =
        ON("1", "2000", "02") ON("1", "2004", "04") ON("0", "1000", "01") ON("0", "1004", "03");

    (void)state;
    expect(a, later, NULL, "");
    expect(a, swapped, &o, "");
    expect(a, ON("1", "2000", "02") ON("0", "1000", "01") ON("0", "1004", "03"), NULL,
           "rest 1@3 -\n");
#undef ON
#define ON(cpu, pc) "1 clk " cpu " IT (1) 0000" pc " 00000001 A svc_s : x\n"
    expect_in("tarmac", ON("cpu0", "1000") ON("cpu1", "2000"), ON("1", "2000") ON("0", "1000"),
              NULL, "");
    expect_in("tarmac", ON("big", "1000") ON("little", "2000"), ON("p", "1000") ON("q", "2000"),
              NULL, "");
#undef ON
}

static void test_tracks(void **state)
{
    struct trod_compare_options o = {.track = TROD_TRACK_INSTR | TROD_TRACK_MEM};

    (void)state;
    expect(ALL, I1 I2 M2 I3 "3 clk R r3 00000034\n" I4, &o, "");
    expect(ALL, I1 I2 I3 I4, &o, "missing 1@3 -\n");
    /* each class a sequence of its own: registers and accesses may wander */
    o = (struct trod_compare_options){.track = TROD_TRACK_INSTR | TROD_TRACK_REG | TROD_TRACK_MEM,
                                      .independent = true};
    expect(ALL, I1 I2 I3 I4 R1 R2 R3 R4 M2, &o, "");
    expect(ALL, I1 I2 I3 I4 R1 R3 R4 M2, &o, "missing 1@4 -\n");
}

/* What is before the difference on both sides, and who wrote what the instruction reads. */
static void test_context(void **state)
{
    static const char a[] =
        "1 clk IT (1) 00001000 d2800020 O EL1h_n : MOV x0,#1\n1 clk R X0 0000000000000001\n"
        "2 clk IT (2) 00001004 d2800041 O EL1h_n : MOV x1,#2\n2 clk R X1 0000000000000002\n"
        "3 clk IT (3) 00001008 f9000001 O EL1h_n : STR x1,[x0]\n"
        "3 clk MW8 0000000000000001 00000000_00000002\n"
        "4 clk IT (4) 0000100c f9400002 O EL1h_n : LDR x2,[x0]\n"
        "4 clk MR8 0000000000000001 00000000_00000002\n4 clk R X2 0000000000000002\n"
        "5 clk IT (5) 00001010 8b020003 O EL1h_n : ADD x3,x0,x2\n5 clk R X3 0000000000000003\n";
    struct cmp_case *c = calloc(1, sizeof *c);
    char b[sizeof a];
    char *last;

    (void)state;
    assert_non_null(c);
    memcpy(b, a, sizeof a);
    last = strrchr(b, '3');
    assert_non_null(last);
    *last = '4';
    c->a = a;
    c->b = b;
    c->from[0] = c->from[1] = "tarmac";
    cmp_run(c);
    assert_string_equal(c->out, "changed 1@10 1@10 value\n");
    assert_string_equal(c->context[0], "0 1 2 3 4 5 6 7 8 9");
    assert_string_equal(c->context[1], "0 1 2 3 4 5 6 7 8 9");
#if TROD_HAVE_CAPSTONE
    assert_string_equal(c->inputs, "x0 1 1;x2 8 8;");
#endif
    assert_int_equal(c->sum.n_registers, 1);
    assert_string_equal(c->sum.registers[0].name, "X3");
    assert_int_equal(c->sum.n_pcs, 1);
    assert_int_equal(c->sum.pcs[0].pc, 0x1010);
    /* the bytes a load reads */
    memcpy(b, a, sizeof a);
    last = strstr(b, "R X2 ");
    last[20] = '9';
    cmp_run(c);
    assert_string_equal(c->out, "changed 1@8 1@8 value\n");
    assert_non_null(strstr(c->inputs, "1 5 5;"));
    free(c);
}

static void test_empty(void **state)
{
    (void)state;
    expect("", "", NULL, "");
    expect(ALL, "", NULL, "rest 9@0 -\n");
    expect("", ALL, NULL, "rest - 9@0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),          cmocka_unit_test(test_changed),
        cmocka_unit_test(test_missing),        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_moved),          cmocka_unit_test(test_rest),
        cmocka_unit_test(test_window),         cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_where_to_begin), cmocka_unit_test(test_first_stop),
        cmocka_unit_test(test_skip_equal),     cmocka_unit_test(test_registers),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_slides),         cmocka_unit_test(test_streams),
        cmocka_unit_test(test_tracks),         cmocka_unit_test(test_context),
        cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
