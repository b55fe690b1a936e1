/*
 * test_raw_a64.c - raw thread files of AArch64: what becomes of loads and stores of each kind.
 *
 * By hand, from docs/formats/drmemtrace-raw.md and the Arm Architecture Reference Manual (C4.1);
 * random code is compared in tests/cli/test_raw_a64.sh.
 */
#include "raw_cases.h"

static const uint32_t words[] = {
    0xf9400421, /* 00 ldr x1, [x1, #8] */
    0xf9000c41, /* 04 str x1, [x2, #24] */
    0xa9410c44, /* 08 ldp x4, x3, [x2, #16] */
    0xf8008c45, /* 0c str x5, [x2, #8]! */
    0xf8408445, /* 10 ldr x5, [x2], #8 */
    0xf9400be6, /* 14 ldr x6, [sp, #16] */
    0x58000087, /* 18 ldr x7, 28 */
    0xf8e00048, /* 1c ldaddal x0, x8, [x2] */
    0xc8037c49, /* 20 stxr w3, x9, [x2] */
    0xd50b7422, /* 24 dc zva, x2 */
    0xd50b7e22, /* 28 dc civac, x2 */
    0xd50b7522, /* 2c ic ivau, x2 */
    0xf9800050, /* 30 prfm pstl1keep, [x2] */
    0x4c402040, /* 34 ld1 {v0.16b-v3.16b}, [x2] */
    0xd65f03c0, /* 38 ret */
    0xd63f0060, /* 3c blr x3 */
    0xd4000001, /* 40 svc #0 */
    0x85804000, /* 44 ldr z0, [x0]: SVE */
    0xd503201f, /* 48 nop */
    0xc87f0440, /* 4c ldxp x0, x1, [x2] */
    0xb4ffffe0, /* 50 cbz x0, 4c */
};

#define E(at, word)                                                                                \
    {47, 4, word},                                                                                 \
    {                                                                                              \
        10, 4, TEXT + (at)                                                                         \
    }

static const struct raw_case cases[] = {
    {"a base told once; one that its load overwrites; one that its store moves",
     0x48,
     8,
     0,
     0,
     {PC(0, 4), 0x1000, 0x2000, 0x2000, PC(0, 1), 0x3000, FOOTER, END},
     {E(0, 0xf9400421),
      {0, 8, 0x1008},
      E(4, 0xf9000c41),
      {1, 8, 0x2018},
      E(8, 0xa9410c44),
      {0, 16, 0x2010},
      E(12, 0xf8008c45),
      {1, 8, 0x2008},
      {10, 4, TEXT},
      {0, 8, 0x3008},
      EXIT}},
    {"write-back tells the base anew; sp is told in full, a literal not at all",
     0x48,
     8,
     0,
     0,
     {PC(12, 4), 0x2000, 0x2008, 0x7010, FOOTER, END},
     {E(12, 0xf8008c45),
      {1, 8, 0x2008},
      E(16, 0xf8408445),
      {0, 8, 0x2008},
      E(20, 0xf9400be6),
      {0, 8, 0x7010},
      E(24, 0x58000087),
      {0, 8, TEXT + 40},
      EXIT}},
    {"atomic operations, exclusive stores, whole lines, flushes, prefetches, vectors",
     0x4a,
     8,
     0,
     0,
     {PC(28, 7), 0x2011, 0x2011, 0x2011, 0x2051, 0x2011, 0x2011, 0x2011, 0x2011, FOOTER, END},
     {E(28, 0xf8e00048),
      {0, 8, 0x2011},
      {1, 8, 0x2011},
      E(32, 0xc8037c49),
      {1, 8, 0x2011},
      E(36, 0xd50b7422),
      {1, 64, 0x2040},
      E(40, 0xd50b7e22),
      {20, 64, 0x2011},
      E(44, 0xd50b7522),
      {18, 64, 0x2011},
      E(48, 0xf9800050),
      {41, 1, 0x2011},
      E(52, 0x4c402040),
      {0, 64, 0x2011},
      EXIT}},
    {"one address of a block where the base stays; calls and returns say where they went",
     0x48,
     8,
     0,
     0,
     {PC(28, 8), 0x2011, PC(0x3c, 1), PC(0x40, 1), FOOTER, END},
     {E(28, 0xf8e00048),
      {0, 8, 0x2011},
      {1, 8, 0x2011},
      E(32, 0xc8037c49),
      {1, 8, 0x2011},
      E(36, 0xd50b7422),
      {1, 64, 0x2000},
      E(40, 0xd50b7e22),
      {20, 64, 0x2011},
      E(44, 0xd50b7522),
      {18, 64, 0x2011},
      E(48, 0xf9800050),
      {41, 1, 0x2011},
      E(52, 0x4c402040),
      {0, 64, 0x2011},
      {47, 4, 0xd65f03c0},
      {28, 29, TEXT + 0x3c},
      {16, 4, TEXT + 0x38},
      {47, 4, 0xd63f0060},
      {28, 29, TEXT + 0x40},
      {15, 4, TEXT + 0x3c},
      E(0x40, 0xd4000001),
      EXIT}},
    {"a branch that is taken, then not; a pair",
     0x48,
     8,
     0,
     0,
     {PC(0x4c, 2), 0x2000, PC(0x4c, 2), 0x2010, PC(0x48, 1), FOOTER, END},
     {E(0x4c, 0xc87f0440),
      {0, 16, 0x2000},
      {47, 4, 0xb4ffffe0},
      {48, 4, TEXT + 0x50},
      {10, 4, TEXT + 0x4c},
      {0, 16, 0x2010},
      {49, 4, TEXT + 0x50},
      E(0x48, 0xd503201f),
      EXIT}},
    {"an instruction that is not known ends what is known of its block",
     0x48,
     8,
     0,
     1,
     {PC(0x40, 3), 0x5000, FOOTER, END},
     {E(0x40, 0xd4000001), {10, 0, TEXT + 0x44}, {0, 1, 0x5000}, EXIT}},
};

static void by_hand(void **state)
{
    (void)state;
    check_words(cases, sizeof cases / sizeof *cases, words, sizeof words / sizeof *words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
