/*
 * test_spike.c - Spike's logs, line by line (docs/formats/spike.md). Rows are worked out by hand.
 */
#include "logs.h"

enum { WHAT = LOGS_WHAT | TROD_COL_PC | TROD_COL_SUB };

static void spike(const char *text, const char *rows, uint64_t errors, uint64_t warnings)
{
    logs_expect("spike", NULL, text, WHAT, rows, errors, warnings);
}

/* The line before a commit gives its disassembly; 0x0182b283 is ld t0,24(t0): eight bytes. */
static void test_commit(void **state)
{
    (void)state;
    spike("core   0: 0x000000000000100c (0x0182b283) ld      t0, 24(t0)\n"
          "core   0: 3 0x000000000000100c (0x0182b283) x5  0x0000000080000000 mem "
          "0x0000000000001018\n"
          "core   0: 0x0000000080000000 (0x00533423) sd      t0, 8(t1)\n"
          "core   0: 0 0x0000000080000000 (0x00533423) mem 0x0000000080002008 0x11223344\n"
          "core   0: 1 0x0000000080000004 (0x029d)\n",
          "INSTR size=4 addr=100c pc=100c sub=3 code=\"\\83\\b2\\82\\01\" text=\"ld      t0, "
          "24(t0)\"\n"
          "REG size=8 pc=100c value=80000000 text=\"x5\"\n"
          "READ size=8 addr=1018 pc=100c\n"
          "INSTR size=4 addr=80000000 pc=80000000 sub=0 code=\"#4S\\00\" text=\"sd      t0, "
          "8(t1)\"\n"
          "WRITE size=4 addr=80002008 pc=80000000 value=11223344\n"
          "INSTR size=2 addr=80000004 pc=80000004 sub=1 code=\"\\9d\\02\"\n",
          0, 0);
}

/* CSR 773 is 0x305; the state of the vector unit is no row; v1 has 16 bytes. */
static void test_registers(void **state)
{
    (void)state;
    spike("core   0: 3 0x80000000 (0x30529073) c773_mtvec 0x80000004 f31 0x4000000000000000\n"
          "core   0: 3 0x80000004 (0x0205e087) e32 m1 l4 v1  0x000102030405060708090a0b0c0d0e0f "
          "mem 0x00001020\n",
          "INSTR size=4 addr=80000000 pc=80000000 sub=3 code=\"s\\90R0\"\n"
          "REG size=4 pc=80000000 value=80000004 sub=305 text=\"mtvec\"\n"
          "REG size=8 pc=80000000 value=4000000000000000 text=\"f31\"\n"
          "INSTR size=4 addr=80000004 pc=80000004 sub=3 code=\"\\87\\e0\\05\\02\"\n"
          "REG size=10 pc=80000004 "
          "data=\"\\0f\\0e\\0d\\0c\\0b\\0a\\09\\08\\07\\06\\05\\04\\03\\02\\01\\00\" text=\"v1\"\n"
          "READ addr=1020 pc=80000004\n",
          0, 0);
}

/* As it was before the end of 2020: no hart, a blank in the register's name. */
static void test_old(void **state)
{
    (void)state;
    logs_expect("spike", NULL,
                "3 0x0000000080000000 (0x00000297) x 5 0x0000000080000000\n"
                "0 0x0000000080000008 (0x00008082)\n"
                "core   2: 0x000000008000000a (0x00000013) nop\n"
                "3 0x000000008000000a (0x00000013)\n",
                TROD_COL_STREAM | TROD_COL_SIZE | TROD_COL_TEXT,
                "INSTR size=4\nREG size=8 text=\"x5\"\nINSTR size=2\n"
                "INSTR size=4 stream=0 text=\"nop\"\n",
                0, 0);
}

/* The value comes in the line behind, of the same hart. Bit 63 or 31 marks an interrupt. */
static void test_exceptions(void **state)
{
    (void)state;
    logs_expect("spike", NULL,
                "core   0: exception trap_load_access_fault, epc 0x0000000080000014\n"
                "core   0:           tval 0x0000000000000044\n"
                "core   0: exception trap_machine_ecall, epc 0x0000000080000014\n"
                "core   1:           tval 0x0000000000000055\n"
                "core   0: exception interrupt #7, epc 0x0000000080000014\n"
                "core   0: exception interrupt #7, epc 0x80000014\n"
                "core   0: exception trap_of_mine, epc 0x80000014\n"
                "core   0: >>>>  main\n",
                TROD_COL_ADDR | TROD_COL_PC | TROD_COL_VALUE | TROD_COL_TEXT,
                "EXCEPTION addr=44 pc=80000014 value=5 text=\"trap_load_access_fault\"\n"
                "EXCEPTION pc=80000014 value=b text=\"trap_machine_ecall\"\n"
                "EXCEPTION pc=80000014 value=8000000000000007 text=\"interrupt #7\"\n"
                "EXCEPTION pc=80000014 value=80000007 text=\"interrupt #7\"\n"
                "EXCEPTION pc=80000014 text=\"trap_of_mine\"\n"
                "MARKER text=\"main\"\n",
                0, 0);
}

/* -l alone: what was fetched are the instructions; equal ones of a hart are folded. */
static void test_fetches(void **state)
{
    static const char three[] = "core   0: 0x80000004 (0x0000a001) c.j     pc + 0x0\n"
                                "core   1: 0x80000008 (0x00000013) nop\n"
                                "core   0: Executed 3 times\n"
                                "core   2: Executed 3 times\n";
    const int commits = 1, *const opt = &commits;

    (void)state;
    logs_expect("spike", NULL, three, TROD_COL_ADDR | TROD_COL_TEXT,
                "INSTR addr=80000004 text=\"c.j     pc + 0x0\"\n"
                "INSTR addr=80000008 text=\"nop\"\n"
                "INSTR addr=80000004 text=\"c.j     pc + 0x0\"\n"
                "INSTR addr=80000004 text=\"c.j     pc + 0x0\"\n"
                "NOTE text=\"core\"\n",
                0, 0);
    logs_expect("spike", opt, three, TROD_COL_ADDR | TROD_COL_TEXT, "", 0, 0);
}

/* A loop that does nothing is executed for ever: its record has 2,047 rows and a warning. */
static void test_executed_often(void **state)
{
    static const char text[] = "core   0: 0x80000004 (0x0000a001) c.j     pc + 0x0\n"
                               "core   0: Executed 4000000000 times\n";
    const struct test_input in = {
        .format = logs_format("spike"), .p = (const uint8_t *)text, .n = sizeof text - 1};
    const struct test_how how = {.mask = TROD_COL_KIND};
    struct test_rows got = test_decode(&in, &how);

    (void)state;
    assert_int_equal(got.n, 1 + 2047);
    assert_int_equal(got.warnings, 1);
    test_rows_free(&got);
}

/* Damage behind a good head leaves the instruction and what was good of it. */
static void test_damage(void **state)
{
    (void)state;
    logs_expect("spike", NULL,
                "core   0: 3 0x0000000000001004 (0x297\n"
                "core   0: 3 0x000000000000100c (0x00000013) x5  0x01 x6  zz\n"
                "core   0: 3 0x0000000000001010 (0x00000013) x32 0x01\n"
                "core   0: what is this\n"
                "hello\n"
                "core   0: 3 0x0000000000001014 (0x00000013) mem",
                TROD_COL_ADDR | TROD_COL_TEXT,
                "INSTR addr=100c\nREG text=\"x5\"\nINSTR addr=1010\nNOTE text=\"core\"\n"
                "NOTE text=\"hello\"\nINSTR addr=1014\n",
                3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commit),  cmocka_unit_test(test_registers),
        cmocka_unit_test(test_old),     cmocka_unit_test(test_exceptions),
        cmocka_unit_test(test_fetches), cmocka_unit_test(test_executed_often),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
