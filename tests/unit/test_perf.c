/*
 * test_perf.c - the text of perf script (docs/formats/perf.md). Rows are worked out by hand.
 */
#include "logs.h"

enum {
    WHAT = TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE |
           TROD_COL_SUB | TROD_COL_SIZE | TROD_COL_CODE | TROD_COL_TEXT
};

static void script(const char *text, uint32_t mask, const char *rows, uint64_t errors)
{
    logs_expect("perfscript", NULL, text, mask, rows, errors, 0);
}

/* The newest branch stands first in the line, and last in time. */
static void test_branch_stack(void **state)
{
    (void)state;
    script("prog 12 [001] 5.000001: 1 cycles:u: 401136 main+0x6 (/bin/a/b)  "
           "0x401150/0x401130/M/-/-/12  0x40112a/0x40113c/P/X/-/0/CALL/-  "
           "0x401100(/bin/x)/0x401104([y])/-/-/-/3/COND/-\n",
           WHAT,
           "BRANCH addr=401100 pc=401100 target=401104 value=3\n"
           "BRANCH addr=40112a pc=40112a target=40113c sub=2\n"
           "BRANCH addr=401150 pc=401150 target=401130 value=c sub=1\n",
           0);
    script("  0x10/0x20/P/-/-/0\n", WHAT, "BRANCH addr=10 pc=10 target=20 sub=2\n", 0);
}

/* Branches by kind: call is 6, other 11, COND taken 4. */
static void test_branch_kinds(void **state)
{
    (void)state;
    script(" 0x10/0x20/P/-/-/0/CALL/- 0x30/0x40/P/-/-/0 0x50/0x60/P/-/-/0/COND\n",
           TROD_COL_FLAGS | TROD_COL_ADDR,
           "BRANCH flags=4 addr=50\nBRANCH flags=200000b addr=30\nBRANCH flags=2000006 addr=10\n",
           0);
}

/* An access: the address, what it was, its weight, the instruction, the physical address. */
static void test_memory(void **state)
{
    (void)state;
    script("prog 12 [000] 5.000001: 1 cpu/mem-loads,ldlat=30/P: 7ffd1234 5080022 |OP LOAD|LVL L1 "
           "hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A  42 401136 add+0x6 (/bin/x) 12345678\n"
           "prog 12 [000] 5.000002: 1 cpu/mem-stores/P: 7ffd1238 401139 add (/bin/x)\n"
           "prog 12 [000] 5.000003: 3 mem: 7ffd1240 5080042 |OP STORE|LVL L1 hit 40113c fade (/x)\n"
           "prog 12 [000] 5.000003: 3 mem: 7ffd1240 40113c main+0x3 (/x)\n",
           WHAT,
           "READ addr=7ffd1234 paddr=12345678 pc=401136\n"
           "WRITE addr=7ffd1238 pc=401139\n"
           "WRITE addr=7ffd1240 pc=40113c\n"
           "MARKER pc=40113c value=3 text=\"mem\"\n",
           0);
}

static void test_instructions(void **state)
{
    (void)state;
    script("my prog 2 12/13 [000] 5.000001: 401140 main+0x10 (/x) insn: 48 89 e7\n"
           "prog 12 5.000001234: 401143 [unknown] (/x) ilen: 2 insn: 0f 05\n"
           "prog 12 [000] 5.000001: branches:u: 401136 main+0x6 (/x) => 401140 f+0x0 (/x)\n",
           WHAT,
           "INSTR size=3 addr=401140 pc=401140 code=\"H\\89\\e7\"\n"
           "INSTR size=2 addr=401143 pc=401143 code=\"\\0f\\05\"\n"
           "BRANCH addr=401136 pc=401136 target=401140\n",
           0);
}

/* The thread, and times of 6 and 9 decimals: microseconds (5), nanoseconds (4). */
static void test_heads(void **state)
{
    (void)state;
    script("a 3 b 12/13 [000] 5.000001: 1 x: 10 f+0x0 (/x)\n"
           "a 12 5.000000002: 1 x: 10 f+0x0 (/x)\n",
           TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_STREAM,
           "MARKER stream=0 time=4c4b41 unit=5\nMARKER stream=1 time=12a05f202 unit=4\n", 0);
    /* a thread that perf does not know, and a time of more than 64 bits, of which no part is taken
     */
    script(":-1 -1 [000] 5.000001: 1 x: 10 f+0x0 (/x)\n"
           ":-1 -1/-1 5.000001: 1 x: 10 f+0x0 (/x)\n"
           "a 12 [000] 18446744073709.551616: 1 x: 10 f+0x0 (/x)\n",
           TROD_COL_TIME | TROD_COL_STREAM | TROD_COL_VALUE,
           "MARKER time=4c4b41 value=1\nMARKER time=4c4b41 value=1\nNOTE\n", 0);
}

/* Callers of a sample give no rows; other lines are kept. */
static void test_stacks_and_damage(void **state)
{
    (void)state;
    script("prog 12 [000] 5.000001: 100 cycles: \n"
           "\t            1004 main+0x4 (prog.elf)\n"
           "\t            1000 start+0x4 (prog.elf)\n"
           "\n"
           "# comment\n"
           "prog 12 [000] 5.000001: 401140 main+0x10 (/x) insn: 48 8\n"
           "prog 12 [000] 5.000001: 0x401150/zz/M\n",
           WHAT, "MARKER value=64 text=\"cycles\"\nNOTE text=\"#\"\n", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branch_stack), cmocka_unit_test(test_branch_kinds),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_heads),        cmocka_unit_test(test_stacks_and_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
