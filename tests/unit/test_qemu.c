/*
 * test_qemu.c - QEMU's logs, line by line (docs/formats/qemu.md). Rows are worked out by hand.
 */
#include "logs.h"

static void execlog(const char *text, const char *rows, uint64_t errors)
{
    logs_expect("execlog", NULL, text, LOGS_WHAT | TROD_COL_PC, rows, errors, 0);
}

/* What one line holds. The instruction set follows from adrp, stp, x29 and x30. */
static void test_execlog_line(void **state)
{
    (void)state;
    execlog("0, 0x1000, 0xa9bf7bfd, \"stp x29, x30, [sp]\", store, 0x00007ff0, load, 0x00007ff8\n"
            "12, 0xffff800010080000, 0x90000081, \"adrp x1, #0x10000\"\n",
            "INSTR size=4 addr=1000 pc=1000 code=\"\\fd{\\bf\\a9\" text=\"stp x29, x30, [sp]\"\n"
            "WRITE addr=7ff0 pc=1000\n"
            "READ addr=7ff8 pc=1000\n"
            "INSTR size=4 addr=ffff800010080000 pc=ffff800010080000 code=\"\\81\\00\\00\\90\" "
            "text=\"adrp x1, #0x10000\"\n",
            0);
}

/* A device makes the address physical; load or a register behind an address is none. */
static void test_execlog_devices(void **state)
{
    (void)state;
    execlog("0, 0x10, 0x0, \"a\", load, 0x09000018, pl011, store, 0x40000000, RAM\n"
            "0, 0x14, 0x0, \"b\", load, 0x20, x2 -> 0x90, load, 0x30, load, 0x34\n",
            "INSTR addr=10 pc=10 text=\"a\"\n"
            "READ paddr=9000018 pc=10 text=\"pl011\"\n"
            "WRITE paddr=40000000 pc=10 text=\"RAM\"\n"
            "INSTR addr=14 pc=14 text=\"b\"\n"
            "READ addr=20 pc=14\n"
            "REG size=1 pc=14 value=90 text=\"x2\"\n"
            "READ addr=30 pc=14\n"
            "READ addr=34 pc=14\n",
            0);
}

/* Two, eight, nine (the first too many), sixteen bytes; disassembly with quotation marks in it. */
static void test_execlog_registers(void **state)
{
    (void)state;
    execlog("0, 0x10, 0x0, \"a \"b\" c\", s -> 0x0102, x -> 0x1122334455667788, y -> "
            "0xff1122334455667788, v -> 0x0f0e0d0c0b0a09080706050403020100\n",
            "INSTR addr=10 pc=10 text=\"a \"b\" c\"\n"
            "REG size=2 pc=10 value=102 text=\"s\"\n"
            "REG size=8 pc=10 value=1122334455667788 text=\"x\"\n"
            "REG size=8 pc=10 value=1122334455667788 text=\"y\"\n"
            "REG size=10 pc=10 "
            "data=\"\\00\\01\\02\\03\\04\\05\\06\\07\\08\\09\\0a\\0b\\0c\\0d\\0e\\0f\" "
            "text=\"v\"\n",
            0);
}

/* RISC-V opcodes have two or four bytes; a5, addi, ecall and mv tell what it is. */
static void test_execlog_lengths(void **state)
{
    (void)state;
    execlog("0, 0x10, 0x178500158593, \"x\"\n" /* more than eight digits */
            "0, 0x10, 0x158593, \"addi a5,a5,1\"\n"
            "0, 0x14, 0x7385, \"mv a0,a6\"\n"
            "0, 0x16, 0x73, \"ecall\"\n",
            "INSTR size=4 addr=10 pc=10 code=\"\\93\\85\\15\\00\" text=\"addi a5,a5,1\"\n"
            "INSTR size=2 addr=14 pc=14 code=\"\\85s\" text=\"mv a0,a6\"\n"
            "INSTR size=4 addr=16 pc=16 code=\"s\\00\\00\\00\" text=\"ecall\"\n",
            1);
}

/* Damage behind a good head leaves the instruction; foreign lines are kept. */
static void test_execlog_damage(void **state)
{
    (void)state;
    execlog("0, 0x10, 0x0, \"a\", load\n"
            "0, 0x14, 0x0, \"b\", store, 0x\n"
            "0, 0x18, 0x0, \"c\" \n"
            "3 apples\n"
            "\n"
            "qemu: uncaught target signal 11\n"
            "0, 0x1c, 0x0\n"
            "0, 0x20, 0x0, \"d\", load, 0x40, store, zz",
            "INSTR addr=10 pc=10 text=\"a\"\n"
            "INSTR addr=14 pc=14 text=\"b\"\n"
            "NOTE text=\"3\"\n"
            "NOTE text=\"qemu:\"\n"
            "INSTR addr=20 pc=20 text=\"d\"\n"
            "READ addr=40 pc=20\n",
            5);
}

static void qemulog(const char *text, const char *rows, uint64_t errors, uint64_t warnings)
{
    logs_expect("qemulog", NULL, text, LOGS_WHAT | TROD_COL_STREAM | TROD_COL_FLAGS, rows, errors,
                warnings);
}

/* The flag CONT is 0x2000000. */
static void test_qemulog_block(void **state)
{
    (void)state;
    qemulog("----------------\n"
            "IN: f\n"
            "0x00401000:  48 b8 88 77 66 55 44 33  movabsq  $0x1122334455667788, %rax\n"
            "0x00401008:  22 11\n"
            "0x0040100a:  75 f8                    jne      0x401004\n"
            "\n"
            "Trace 0: 0x7f0100 [0000000000000000/0000000000401000/1040c0b3/00000200] f\n"
            "Trace 3: 0x7f0100 [0000000000000000/0000000000401000/1040c0b3/00000200] f\n",
            "INSTR flags=0 size=a stream=0 addr=401000 code=\"H\\b8\\88wfUD3\"\\11\" "
            "text=\"movabsq  $0x1122334455667788, %rax\"\n"
            "INSTR flags=2000000 size=2 stream=0 addr=40100a code=\"u\\f8\" text=\"jne      "
            "0x401004\"\n"
            "INSTR flags=0 size=a stream=1 addr=401000 code=\"H\\b8\\88wfUD3\"\\11\" "
            "text=\"movabsq  $0x1122334455667788, %rax\"\n"
            "INSTR flags=2000000 size=2 stream=1 addr=40100a code=\"u\\f8\" text=\"jne      "
            "0x401004\"\n",
            0, 0);
}

/* Other code at the same address: each place of the host's memory keeps its block. */
static void test_qemulog_retranslated(void **state)
{
    static const char text[] = "IN: \n0x10:  01  a\n\nTrace 0: 0x100 [0/10/0/0] \n"
                               "IN: \n0x10:  02  b\n\nTrace 0: 0x200 [0/10/0/0] \n"
                               "Trace 0: 0x100 [0/10/0/0] \n"
                               "Trace 0: 0x200 [0/10/0/0] \n"
                               "IN: \n0x10:  01  a\n\nTrace 0: 0x200 [0/10/0/0] \n"
                               "Trace 0: 0x300 [0/10/0/0] \n";

    (void)state;
    logs_expect("qemulog", NULL, text, TROD_COL_TEXT,
                "INSTR text=\"a\"\nINSTR text=\"b\"\nINSTR text=\"a\"\nINSTR text=\"b\"\n"
                "INSTR text=\"a\"\nINSTR text=\"a\"\n",
                0, 0);
}

/* A block that was stopped gives nothing; one at another address does not stop it. */
static void test_qemulog_stopped(void **state)
{
    (void)state;
    logs_expect("qemulog", NULL,
                "IN: \n0x10:  01  a\n\nTrace 0: 0x100 [0/10/0/0] \n"
                "Trace 0: 0x100 [0/10/0/0] \n"
                "Stopped execution of TB chain before 0x100 [10] \n"
                "Trace 0: 0x100 [0/10/0/0] \n"
                "Stopped execution of TB chain before 0x200 [20] \n"
                "Trace 0: 0x100 [0/10/0/0] \n"
                "Stopped by the user\n",
                TROD_COL_TEXT,
                "INSTR text=\"a\"\nINSTR text=\"a\"\nINSTR text=\"a\"\n"
                "NOTE text=\"Stopped\"\n",
                0, 0);
}

/* cflags with a count of 1 say that the line is one instruction; other unknown blocks warn. */
static void test_qemulog_unknown_blocks(void **state)
{
    (void)state;
    logs_expect("qemulog", NULL,
                "Trace 0: 0x100 [0/10/0/00000201] \n"
                "Trace 0: 0x100 [0/14/0/00000200] \n"
                "Trace 0: 0x100 [0/18/0] \n"
                "Trace 0x100 [2: 1c] f\n"
                "Trace 0x100 [0000000000000020] f\n",
                TROD_COL_ADDR,
                "INSTR addr=10\nINSTR addr=14\nINSTR addr=18\nINSTR addr=1c\nINSTR addr=20\n", 0,
                4);
}

/* Groups of four digits are T32 (iset 2, flag 0x20), of eight A32 (0x10), in 32-bit Arm code. */
static void test_qemulog_arm(void **state)
{
    (void)state;
    qemulog("IN: \n0x10:  e12fff14  bx       r4\n\nTrace 0: 0x100 [0/10/0/0] \n"
            "IN: \n0x14:  f241 2534  movw     r5, #0x1234\n0x18:  bc90       pop {r7}\n\n"
            "Trace 0: 0x200 [0/14/0/0] \n",
            "INSTR flags=10 size=4 stream=0 addr=10 code=\"\\14\\ff/\\e1\" text=\"bx       r4\"\n"
            "INSTR flags=20 size=4 stream=0 addr=14 code=\"A\\f24%\" text=\"movw     r5, "
            "#0x1234\"\n"
            "INSTR flags=2000020 size=2 stream=0 addr=18 code=\"\\90\\bc\" text=\"pop {r7}\"\n",
            0, 0);
}

/* PowerPC is big-endian by itself; MIPS has no opcodes. */
static void test_qemulog_orders(void **state)
{
    (void)state;
    qemulog("IN: \n0x10:  7ca802a6  mflr     r5\n0x14:  9421fff0  stwu r1, -16(r1)\n"
            "0x18:  2c030000  cmpwi r3, 0\n\nTrace 0: 0x100 [0/10/0/0] \n",
            "INSTR flags=0 size=4 stream=0 addr=10 code=\"|\\a8\\02\\a6\" text=\"mflr     r5\"\n"
            "INSTR flags=2000000 size=4 stream=0 addr=14 code=\"\\94!\\ff\\f0\" text=\"stwu r1, "
            "-16(r1)\"\n"
            "INSTR flags=2000000 size=4 stream=0 addr=18 code=\",\\03\\00\\00\" text=\"cmpwi r3, "
            "0\"\n",
            0, 0);
    qemulog("IN: \n0x10:  addiu\tsp,sp,-16\n\nTrace 0: 0x100 [0/10/0/0] \n",
            "INSTR flags=0 stream=0 addr=10 text=\"addiu sp,sp,-16\"\n", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_execlog_line),           cmocka_unit_test(test_execlog_devices),
        cmocka_unit_test(test_execlog_registers),      cmocka_unit_test(test_execlog_lengths),
        cmocka_unit_test(test_execlog_damage),         cmocka_unit_test(test_qemulog_block),
        cmocka_unit_test(test_qemulog_retranslated),   cmocka_unit_test(test_qemulog_stopped),
        cmocka_unit_test(test_qemulog_unknown_blocks), cmocka_unit_test(test_qemulog_arm),
        cmocka_unit_test(test_qemulog_orders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
