/*
 * test_check_tarmac.c - for each rule of Tarmac and Trace Matcher traces a trace that breaks it and
 * one that almost does.
 *
 * Opcodes are from the Arm Architecture Reference Manual: d503201f NOP, f9400000 LDR X0,[X0],
 * 54ffff81 B.NE -16, 14000001 B +4, d4000001 SVC #0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checking.h"

#define NOP(time, index, addr) #time " clk IT (" #index ") " #addr " d503201f O EL1h_n : NOP\n"

static const struct check_pair pairs[] = {
    {"tarmac.time", "tarmac",
     CHECK_TEXT("10 clk R X0 0000000000000001\n"
                "9 clk R X0 0000000000000002\n"),
     CHECK_TEXT("10 clk R X0 0000000000000001\n"
                "10 clk R X0 0000000000000002\n")},
    /* of two cpus each has its own time */
    {"tarmac.time", "tarmac",
     CHECK_TEXT("10 clk cpu0 R X0 0000000000000001\n"
                "9 clk cpu1 R X0 0000000000000002\n"
                "9 clk cpu0 R X0 0000000000000002\n"),
     CHECK_TEXT("10 clk cpu0 R X0 0000000000000001\n"
                "9 clk cpu1 R X0 0000000000000002\n"
                "9 clk cpu1 R X0 0000000000000002\n")},
    /* times are compared with the last one that they can be compared with, whatever stands between;
     * of units that are no part of a second each has an order of its own */
    {"tarmac.time", "tarmac",
     CHECK_TEXT("10 ns R X0 0000000000000001\n"
                "5 clk R X0 0000000000000001\n"
                "9 ns R X0 0000000000000002\n"),
     CHECK_TEXT("10 ns R X0 0000000000000001\n"
                "5 clk R X0 0000000000000001\n"
                "10000 ps R X0 0000000000000002\n"
                "5 clk R X0 0000000000000001\n"
                "1 cycles R X0 0000000000000001\n")},
    {"tarmac.time", "tarmac",
     CHECK_TEXT("6 clk R X0 0000000000000001\n"
                "9 us R X0 0000000000000001\n"
                "5 clk R X0 0000000000000002\n"
                "9000 ns R X0 0000000000000002\n"),
     CHECK_TEXT("6 clk R X0 0000000000000001\n"
                "9 us R X0 0000000000000001\n"
                "6 clk R X0 0000000000000002\n"
                "9001 ns R X0 0000000000000002\n")},
    /* the line that Fast Models closes a log with, as the shared samples end: 4783, then 4782 */
    {"tarmac.time", "tarmac", CHECK_TEXT("4783 clk R X0 0000000000000001\n4782 clk E HRESETn 0\n"),
     CHECK_TEXT("4783 clk R X0 0000000000000001\n4782 clk CADI E simulation_stopped\n")},
    {"tarmac.index", "tarmac", CHECK_TEXT(NOP(1, 5, 00001000) NOP(2, 5, 00001004)),
     CHECK_TEXT(NOP(1, 5, 00001000) NOP(2, 7, 00001004))},
    {"tarmac.pc-continuity", "tarmac", CHECK_TEXT(NOP(1, 1, 00001000) NOP(2, 2, 00001008)),
     CHECK_TEXT(NOP(1, 1, 00001000) NOP(2, 2, 00001004))},
    /* a conditional branch leads to two places, and an exception anywhere */
    {"tarmac.pc-continuity", "tarmac",
     CHECK_TEXT("1 clk IT (1) 00001010 54ffff81 O EL1h_n : B.NE 0x1000\n" NOP(2, 2, 00001004)),
     CHECK_TEXT("1 clk IT (1) 00001010 54ffff81 O EL1h_n : B.NE 0x1000\n" NOP(2, 2, 00001000) NOP(
         3, 3, 00001004) "3 clk E 00001008 00000084 CoreEvent_CURRENT_SPx_SYNC\n" NOP(4, 4,
                                                                                      00000200))},
    /* an unconditional branch has no fall-through */
    {"tarmac.pc-continuity", "tarmac",
     CHECK_TEXT("1 clk IT (1) 00001000 14000004 O EL1h_n : B 0x1010\n" NOP(2, 2, 00001004)),
     CHECK_TEXT("1 clk IT (1) 00001000 14000004 O EL1h_n : B 0x1010\n" NOP(2, 2, 00001010))},
    {"tarmac.skipped-branch", "tarmac",
     CHECK_TEXT("1 clk IS (1) 00001010 54ffff81 O EL1h_n : B.NE 0x1000\n" NOP(2, 2, 00001000)),
     CHECK_TEXT("1 clk IS (1) 00001010 54ffff81 O EL1h_n : B.NE 0x1000\n" NOP(2, 2, 00001014))},
    {"tarmac.opcode-text", "tarmac", CHECK_TEXT("1 clk IT (1) 00001000 14000001 O EL1h_n : NOP\n"),
     CHECK_TEXT("1 clk IT (1) 00001000 14000001 O EL1h_n : B 0x1004\n")},
    {"tarmac.opcode-text", "tarmac",
     CHECK_TEXT("1 clk IT (1) 00001000 d503201f O EL1h_n : LDR X0,[X0]\n"),
     CHECK_TEXT("1 clk IT (1) 00001000 f9400000 O EL1h_n : LDR X0,[X0]\n"
                "1 clk MR8 00002000 00000000_00000000\n")},
    {"tarmac.opcode-valid", "tarmac",
     CHECK_TEXT("1 clk IT (1) 00001000 ffffffff O EL1h_n : DCI 0xffffffff\n"),
     CHECK_TEXT("1 clk IT (1) 00001000 --------  O EL1h_n : \n")},
    {"tarmac.access-kind", "tarmac",
     CHECK_TEXT(NOP(1, 1, 00001000) "1 clk MR8 00002000 00000000_00000000\n"
                                    "1 clk MR8 00002008 00000000_00000000\n"),
     CHECK_TEXT("1 clk IT (1) 00001000 f9400000 O EL1h_n : LDR X0,[X0]\n"
                "1 clk MR8 00002000 00000000_00000000\n" NOP(2, 2, 00001004))},
    {"tarmac.access-kind", "tarmac",
     CHECK_TEXT("1 clk IT (1) 00001000 f9400000 O EL1h_n : LDR X0,[X0]\n"
                "1 clk MW8 00002000 00000000_00000000\n"),
     /* what stands behind an exception is not the instruction's */
     CHECK_TEXT(NOP(1, 1, 00001000) "2 clk E 00001004 00000084 CoreEvent_CURRENT_SPx_SYNC\n"
                                    "2 clk MW8 00002000 00000000_00000000\n")},
    {"tarmac.access-size", "tarmac",
     CHECK_TEXT("1 clk IT (1) 00001000 f9400000 O EL1h_n : LDR X0,[X0]\n"
                "1 clk MR4 00002000 00000000\n" NOP(2, 2, 00001004)),
     CHECK_TEXT("1 clk IT (1) 00001000 f9400000 O EL1h_n : LDR X0,[X0]\n"
                "1 clk MR4 00002000 00000000\n"
                "1 clk MR4 00002004 00000000\n" NOP(2, 2, 00001004))},
    /* the last instruction of a trace too; a skipped one does nothing */
    {"tarmac.access-size", "tarmac",
     CHECK_TEXT("1 clk IT (1) 00001000 f9400000 O EL1h_n : LDR X0,[X0]\n"
                "1 clk MR4 00002000 00000000\n"),
     CHECK_TEXT("1 clk IS (1) 00001000 15910000 A svc_ns : LDRNE r0,[r1]\n")},
    {"tarmac.short-value", "tarmac", CHECK_TEXT("1 clk MR8 00002000 00000001\n"),
     /* dashes are digits; words of RTL have their own widths */
     CHECK_TEXT("1 clk MR8 00002000 --------_--------\n2 clk MR1 00002000 01\n"
                "3 clk MW4 00002000 (ABORTED)\n")},
    {"tarmac.register-width", "tarmac", CHECK_TEXT("1 clk R W0 0000000100000000\n"),
     CHECK_TEXT("1 clk R W0 00000000ffffffff\n")},
    {"tarmac.register-width", "tarmac", CHECK_TEXT("1 clk R D1 00000001_00000000_00000000\n"),
     CHECK_TEXT("1 clk R D1 80000000_00000000\n1 clk R Q1 80000000_00000000_00000000_00000000\n")},
    {"tarmac.translation", "tarmac",
     CHECK_TEXT("1 clk MR4 00001000:000080001000 00000000\n"
                "2 clk MR4 00001008:000080002008 00000000\n"),
     CHECK_TEXT("1 clk MR4 00001000:000080001000 00000000\n"
                "1 clk R TTBR0_EL1 0000000080000000\n"
                "2 clk MR4 00001008:000080002008 00000000\n")},
    {"tarmac.page-offset", "tarmac", CHECK_TEXT("1 clk MR4 00001000:000080001004 00000000\n"),
     CHECK_TEXT("1 clk MR4 00001000:000080005000 00000000\n")},
    {"tarmac.mode", "tarmac",
     CHECK_TEXT("1 clk E 00001000 abt 00000019 CoreEvent_ModeChange\n"
                "1 clk IT (1) 00001000 e1a00000 A svc_ns : NOP\n"),
     CHECK_TEXT("1 clk E 00001000 abt 00000019 CoreEvent_ModeChange\n"
                "1 clk IT (1) 00001000 e1a00000 A abt_ns : NOP\n")},
    {"tarmac.exception-mode", "tarmac",
     CHECK_TEXT("1 clk E 00001000 00000088 CoreEvent_LOWER_64_SYNC\n"
                "1 clk IT (1) 00001000 d503201f O EL0t_n : NOP\n"
                "2 clk IT (2) 00001004 d503201f O EL1h_n : NOP\n"),
     CHECK_TEXT("1 clk E 00001000 00000088 CoreEvent_LOWER_64_SYNC\n"
                "1 clk IT (1) 00001000 d503201f O EL0t_n : NOP\n"
                "2 clk E 00001004 00000088 CoreEvent_LOWER_64_SYNC\n"
                "2 clk IT (2) 00000400 d503201f O EL1h_n : NOP\n")},
    {"tarmac.cache-line", "tarmac",
     CHECK_TEXT("1 clk cpu0 CACHE cpu.cpu0.l1dcache LINE 00aa ALLOC 0x000015211540\n"
                "2 clk cpu0 CACHE cpu.cpu0.l1dcache LINE 00ab EVICT 0x000015211580\n"),
     CHECK_TEXT("1 clk cpu0 CACHE cpu.cpu0.l1dcache LINE 00aa ALLOC 0x000015211540\n"
                "2 clk cpu0 CACHE cpu.cpu0.l1dcache LINE 00aa EVICT 0x000015211540\n")},
    {"tarmac.tlb-entry", "tarmac",
     CHECK_TEXT("1 clk cpu0 TLB FILL cpu.cpu0.ITLB 64K 0x00020000, nG asid=0:0x0015220000 Normal\n"
                "2 clk cpu0 TLB EVICT cpu.cpu0.DTLB 64K 0x00020000, nG asid=0\n"),
     CHECK_TEXT("1 clk cpu0 TLB FILL cpu.cpu0.ITLB 64K 0x00020000, nG asid=0:0x0015220000 Normal\n"
                "2 clk cpu0 TLB EVICT cpu.cpu0.ITLB 64K 0x00020000, nG asid=0\n")},
    /* Trace Matcher's form is held to the same: 3c080001 is lui t0,0x1 of MIPS */
    {"tarmac.pc-continuity", "matcher:isa=mips32",
     CHECK_TEXT("1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n"
                "2 clk 0 IT (2) 0000000c 3c080001 A svc : lui t0,0x1\n"),
     CHECK_TEXT("1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1\n"
                "2 clk 0 IT (2) 00000008 3c080001 A svc : lui t0,0x1\n")},
    /* behind beq zero,zero,0x20 (10000006) its delay slot, then where it leads */
    {"tarmac.pc-continuity", "matcher:isa=mips32",
     CHECK_TEXT("1 clk 0 IT (1) 00000004 10000006 A svc : b 0x20\n"
                "2 clk 0 IT (2) 00000020 3c080001 A svc : lui t0,0x1\n"),
     CHECK_TEXT("1 clk 0 IT (1) 00000004 10000006 A svc : b 0x20\n"
                "2 clk 0 IT (2) 00000008 3c080001 A svc : lui t0,0x1\n"
                "3 clk 0 IT (3) 00000020 3c080001 A svc : lui t0,0x1\n")},
    /* bne t0,zero,0x20 (15000006): there or on, nowhere else */
    {"tarmac.pc-continuity", "matcher:isa=mips32",
     CHECK_TEXT("1 clk 0 IT (1) 00000004 15000006 A svc : bnez t0,0x20\n"
                "2 clk 0 IT (2) 00000008 3c080001 A svc : lui t0,0x1\n"
                "3 clk 0 IT (3) 00000010 3c080001 A svc : lui t0,0x1\n"),
     CHECK_TEXT("1 clk 0 IT (1) 00000004 15000006 A svc : bnez t0,0x20\n"
                "2 clk 0 IT (2) 00000008 3c080001 A svc : lui t0,0x1\n"
                "3 clk 0 IT (3) 0000000c 3c080001 A svc : lui t0,0x1\n")},
};

static void test_rules(void **state)
{
    (void)state;
    assert_int_equal(check_pairs(pairs, sizeof pairs / sizeof *pairs, "tarmac."), 0);
}

/* Instructions, accesses and registers of a program, on one of three cpus or on none. */
static void program(struct trod_gen *g, struct trod_buf *out)
{
    static const char *const cpus[] = {"", "cpu0 ", "cpu1 ", "cpu2 "};
    const unsigned lines = 1 + (unsigned)gen_below(g, 200);
    static uint64_t time, index;
    unsigned pc = 0x1000, cpu = (unsigned)gen_below(g, 4);
    int rc = 0;

    /* an instruction and, far behind it, what belongs to it */
    for (unsigned i = gen_once_in(g, 30) ? 1500 : 0; i; i--)
        rc |= trod_buf_printf(out, "%llu clk %sR X%u 0000000000000001\n", (unsigned long long)time,
                              cpus[cpu], i % 31);
    if (gen_once_in(g, 9))
        rc |= trod_buf_printf(out, "%llu clk %sMW8 00009000 00000000_00000000\n",
                              (unsigned long long)time, cpus[cpu]);
    for (unsigned i = 0; i < lines; i++, pc += 4, index++) {
        time += gen_below(g, 2);
        if (gen_once_in(g, 30))
            cpu = (unsigned)gen_below(g, 4);
        if (gen_once_in(g, 4))
            rc |=
                trod_buf_printf(out,
                                "%llu clk %sIT (%llu) %08x f9400000 O EL1h_n : LDR X0,[X0]\n"
                                "%llu clk %sMR8 %08x:0000%08x 00000000_00000000\n",
                                (unsigned long long)time, cpus[cpu], (unsigned long long)index, pc,
                                (unsigned long long)time, cpus[cpu], 0x2000 + pc, 0x2000 + pc);
        else
            rc |=
                trod_buf_printf(out, "%llu clk %sIT (%llu) %08x d503201f O EL1h_n : NOP\n",
                                (unsigned long long)time, cpus[cpu], (unsigned long long)index, pc);
        if (gen_once_in(g, 9))
            rc |= trod_buf_printf(out, "%llu clk %sR X%u 0000000000000001\n",
                                  (unsigned long long)time, cpus[cpu], i % 31);
    }
    assert_int_equal(rc, 0);
}

static void test_parts(void **state)
{
    struct check_parts opt = {.pairs = pairs,
                              .n = sizeof pairs / sizeof *pairs,
                              .from = "tarmac",
                              .bytes = 900000,
                              .filling = 2,
                              .filler = program,
                              .leave_out = {"tarmac.cache-line", "tarmac.tlb-entry"}};

    (void)state;
    assert_int_equal(check_in_parts(&opt, 5), 0);
    opt.bytes = 200000; /* lines and entries that came before make it necessary to read in one go */
    opt.leave_out[0] = opt.leave_out[1] = NULL;
    opt.whole_too = true;
    assert_int_equal(check_in_parts(&opt, 3), 0);
    opt.bytes = 900000;
    opt.whole_too = false;
    opt.leave_out[0] = "tarmac.cache-line";
    opt.leave_out[1] = "tarmac.tlb-entry";
    opt.leave_out[2] = "tarmac.translation";
    opt.leave_out[3] = "tarmac.exception-mode";
    opt.seed = 100;
    assert_int_equal(check_in_parts(&opt, 4), 0);
    opt.from = "matcher:isa=mips32";
    opt.filler = NULL;
    assert_int_equal(check_in_parts(&opt, 3), 0);
}

/* Cache lines and TLB entries that came long before: all is read in one go. */
static void test_in_one_go(void **state)
{
    static const char *const far_apart[][2] = {
        {"0 clk cpu0 CACHE cpu.cpu0.l1dcache LINE 00aa ALLOC 0x000015211540\n",
         "9999999 clk cpu0 CACHE cpu.cpu0.l1dcache LINE 00aa EVICT 0x000015211580\n"},
        {"0 clk cpu0 TLB FILL cpu.cpu0.ITLB 64K 0x00020000, nG asid=0:0x0015220000 Normal\n",
         "9999999 clk cpu0 TLB EVICT cpu.cpu0.ITLB 64K 0x00030000, nG asid=0\n"}};
    const struct trod_check_options all = {.struct_size = sizeof all, .keep = 1 << 20};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct trod_gen g = gen_seed(500 + i);
        struct trod_buf trace = {0};
        unsigned parted = 0;

        assert_int_equal(trod_buf_printf(&trace, "%s", far_apart[i % 2][0]), 0);
        while (trace.n < 200000)
            program(&g, &trace);
        assert_int_equal(trod_buf_printf(&trace, "%s", far_apart[i % 2][1]), 0);
        assert_int_equal(check_parted("tarmac", &trace, &all, &parted), 0);
        assert_int_equal(parted, 0);
        trod_buf_fini(&trace);
    }
}

/*
 * The time goes back behind many lines that say none (those of the debugger do not count): a part
 * that begins among them does not know what it was.
 */
static void test_time_before(void **state)
{
    const struct trod_check_options all = {.struct_size = sizeof all, .keep = 1 << 20};
    struct trod_buf trace = {0};
    unsigned parted = 0;
    int rc = 0;

    (void)state;
    for (unsigned i = 0; i < 40; i++) {
        rc |= trod_buf_printf(&trace, "%u clk cpu0 R X0 0000000000000001\n", 1000 * i + 10);
        for (unsigned k = 0; k < 700; k++)
            rc |= trod_buf_printf(&trace, "1 clk cpu0 CADI E simulation_stopped\n");
        rc |= trod_buf_printf(&trace, "%u clk cpu0 R X0 0000000000000001\n", 1000 * i + 5);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(check_parted("tarmac", &trace, &all, &parted), 0);
    trod_buf_fini(&trace);
}

/* A time in a unit that the stream had last far before: in parts it is found as in one go. */
static void test_time_far_before(void **state)
{
    const struct trod_check_options all = {.struct_size = sizeof all, .keep = 1 << 20};

    (void)state;
    for (unsigned back = 0; back < 2; back++) {
        struct trod_buf trace = {0};
        unsigned parted = 0;
        void *st = check_state();
        int rc = 0;

        for (unsigned i = 0; i < 20000; i++) {
            rc |= trod_buf_printf(&trace, "%u clk cpu0 R X0 0000000000000001\n", i);
            if (i == 100 || i == 19900)
                rc |= trod_buf_printf(&trace, "%u ns cpu0 R X0 0000000000000001\n",
                                      i == 100 ? 50 : 50 - back);
        }
        assert_int_equal(rc, 0);
        assert_int_equal(check_memory(st, "tarmac", trace.p, trace.n, 0).total, back);
        check_release(st);
        assert_int_equal(check_parted("tarmac", &trace, &all, &parted), 0);
        if (!back) /* nothing is wrong, and no need to read in one go */
            assert_true(parted > 0);
        trod_buf_fini(&trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),           cmocka_unit_test(test_parts),
        cmocka_unit_test(test_in_one_go),       cmocka_unit_test(test_time_before),
        cmocka_unit_test(test_time_far_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
