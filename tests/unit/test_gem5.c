/*
 * test_gem5.c - gem5's text of instructions (docs/formats/gem5.md). Rows are worked out by hand.
 */
#include "logs.h"

enum { WHAT = LOGS_WHAT | TROD_COL_PC | TROD_COL_TIME | TROD_COL_FLAGS };

static void exec(const char *text, const char *rows, uint64_t errors)
{
    logs_expect("gem5exec", NULL, text, WHAT, rows, errors, 0);
}

/* The class says whether the address was read; the flag CONT is 0x2000000, SKIPPED 0x400. */
static void test_accesses(void **state)
{
    (void)state;
    exec("    500: system.cpu0: T0 : 0x1000 @main    : stp x29,x30,[sp]   : MemWrite :  "
         "D=0x0000000000000007 A=0x7ff0\n"
         "   1000: system.cpu1: T0 : 0x1060 @wait+4    : ldar w3,[x5]      : MemRead :  A=0x8010\n"
         "   1500: system.cpu0: T0 : 0x1004    : csel x2, x3, x4, eq : IntAlu : Predicated False\n"
         "   2000: system.cpu0: T0 : 0x1008    : add x2, x3, x4 : IntAlu :  D=0x0000000000000009\n"
         "   2500: system.cpu0: T0 : 0x100c    : ret                        : IntAlu : \n"
         "   3000: system.cpu0: T0 : 0x1010    : ret                        : IntAlu :\n",
         "INSTR flags=0 time=1f4 addr=1000 pc=1000 text=\"stp x29,x30,[sp]\"\n"
         "WRITE flags=2000000 time=1f4 addr=7ff0 pc=1000 value=7\n"
         "INSTR flags=0 time=3e8 addr=1060 pc=1060 text=\"ldar w3,[x5]\"\n"
         "READ flags=2000000 time=3e8 addr=8010 pc=1060\n"
         "INSTR flags=400 time=5dc addr=1004 pc=1004 text=\"csel x2, x3, x4, eq\"\n"
         "INSTR flags=0 time=7d0 addr=1008 pc=1008 value=9 text=\"add x2, x3, x4\"\n"
         "INSTR flags=0 time=9c4 addr=100c pc=100c text=\"ret\"\n"
         "INSTR flags=0 time=bb8 addr=1010 pc=1010 text=\"ret\"\n",
         0);
}

/* Micro-operations go on with the instruction before, of their stream, at their address. */
static void test_micro_operations(void **state)
{
    (void)state;
    logs_expect("gem5exec", NULL,
                "  1: system.cpu: T0 : 0x10 @f    : add [rsp], rax\n"
                "  1: system.cpu: T0 : 0x10 @f. 0 :   ADD : ldst   t1, [rsp] : MemRead :  A=0x70\n"
                "  2: system.cpu: T0 : 0x10 @f. 1 :   ADD : add   t1, t1 : IntAlu :  D=0x05\n"
                "  3: system.cpu: T0 : 0x10 @f.12 :   ADD : st   t1 : MemWrite :  D=0x05 A=0x70\n"
                "  4: system.cpu: T0 : 0x14 @f.2+4. 0 :   JNZ : rdip   t1 : IntAlu : \n"
                "  5: system.cpu: T0 : 0x14 @f.2+4. 1 :   JNZ : wrip   t1 : IntAlu : \n"
                "  6: system.cpu: T0 : 0x14 @f.2+4. 0 :   JNZ : rdip   t1 : IntAlu : \n"
                "  6: system.cpu: T0 : 0x18 @f.2    : nop : No_OpClass : \n",
                TROD_COL_ADDR | TROD_COL_VALUE | TROD_COL_TEXT,
                "INSTR addr=10 text=\"add [rsp], rax\"\n"
                "READ addr=70\n"
                "NOTE value=5 text=\"ADD : add   t1, t1\"\n"
                "WRITE addr=70 value=5\n"
                "INSTR addr=14 text=\"JNZ : rdip   t1\"\n"
                "NOTE text=\"JNZ : wrip   t1\"\n"
                "INSTR addr=14 text=\"JNZ : rdip   t1\"\n"
                "INSTR addr=18 text=\"nop\"\n",
                0, 0);
}

/* Threads of a cpu are streams; what ExecFetchSeq, ExecCPSeq, ExecFlags and ExecAsid add. */
static void test_words(void **state)
{
    (void)state;
    logs_expect(
        "gem5exec", NULL,
        "  1: system.cpu: A12 T0 : 0x10    : nop : IntAlu :   FetchSeq=3  CPSeq=7  flags=(A|B)\n"
        "  1: system.cpu: A12 T1 : 0x10    : nop : IntAlu : \n"
        "  2: system.cpu T0 : @main+4    : nop : IntAlu :  D=[0000_0001]\n"
        "  2: system.cpu: ExecEnable: 0x14    : nop\n"
        "warn: not an instruction\n",
        TROD_COL_ADDR | TROD_COL_STREAM | TROD_COL_INDEX | TROD_COL_TEXT,
        "INSTR stream=0 index=7 addr=10 text=\"nop\"\n"
        "INSTR stream=1 addr=10 text=\"nop\"\n"
        "INSTR stream=0 text=\"nop\"\n"
        "INSTR stream=0 addr=14 text=\"nop\"\n"
        "NOTE text=\"warn:\"\n",
        0, 0);
}

static void test_damage(void **state)
{
    (void)state;
    logs_expect("gem5exec", NULL,
                "  1: system.cpu: T0 : 0x10    : ldr : MemRead :  D=0xzz A=0x40\n"
                "  1: system.cpu: T0 : 0x14    : ldr : MemRead :  A=zz\n"
                "  1: system.cpu: T0 : 0x",
                TROD_COL_ADDR | TROD_COL_TEXT,
                "INSTR addr=10 text=\"ldr\"\nINSTR addr=14 text=\"ldr\"\nNOTE text=\"1:\"\n", 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accesses),
        cmocka_unit_test(test_micro_operations),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
