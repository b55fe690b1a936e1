/*
 * test_raw.c - raw thread files of DynamoRIO: what becomes of each kind of entry, case by case, and
 * what damage costs.
 *
 * The cases are made by hand from docs/formats/drmemtrace-raw.md and the Intel manual; the code
 * that they name lies in an encodings.bin.
 */
#include "raw_cases.h"

static const uint8_t code[] = {
    0x48, 0x8b, 0x43, 0x08,                         /* 00 mov 8(%rbx),%rax */
    0x48, 0x89, 0x43, 0x10,                         /* 04 mov %rax,16(%rbx) */
    0xff, 0x43, 0x20,                               /* 08 incl 32(%rbx) */
    0x75, 0xf3,                                     /* 0b jne 00 */
    0xc3,                                           /* 0d ret */
    0xf3, 0xa4,                                     /* 0e rep movsb */
    0x0f, 0x05,                                     /* 10 syscall */
    0x48, 0x8b, 0x0d, 0x00, 0x01, 0x00, 0x00,       /* 12 mov 256(%rip),%rcx */
    0x90,                                           /* 19 nop */
    0x0f, 0x18, 0x0b,                               /* 1a prefetcht0 (%rbx) */
    0x0f, 0xae, 0x3b,                               /* 1d clflush (%rbx) */
    0xc4, 0xe2, 0x71, 0x90, 0x04, 0x22,             /* 20 vpgatherdd %xmm1,(%rdx,%xmm4),%xmm0 */
    0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0,    0, 0, /* 26 mov %fs:40,%rax */
    0x62, 0xf1, 0xfe, 0x28, 0x6f, 0x43, 0x01,       /* 2f vmovdqu64 32(%rbx),%ymm0 */
    0xeb, 0x00,                                     /* 36 jmp 38 */
    0x53,                                           /* 38 push %rbx */
    0x59,                                           /* 39 pop %rcx */
};

/* Encodings of the instructions above. */
#define E00                                                                                        \
    {                                                                                              \
        47, 4, 0x08438b48                                                                          \
    }
#define E04                                                                                        \
    {                                                                                              \
        47, 4, 0x10438948                                                                          \
    }
#define E08                                                                                        \
    {                                                                                              \
        47, 3, 0x2043ff                                                                            \
    }
#define E0B                                                                                        \
    {                                                                                              \
        47, 2, 0xf375                                                                              \
    }
#define E0D                                                                                        \
    {                                                                                              \
        47, 1, 0xc3                                                                                \
    }
#define E0E                                                                                        \
    {                                                                                              \
        47, 2, 0xa4f3                                                                              \
    }
#define E10                                                                                        \
    {                                                                                              \
        47, 2, 0x050f                                                                              \
    }
#define E12                                                                                        \
    {                                                                                              \
        47, 7, 0x01000d8b48                                                                        \
    }
#define E19                                                                                        \
    {                                                                                              \
        47, 1, 0x90                                                                                \
    }
static const struct raw_case cases[] = {
    {"addresses in full, a branch taken and one not",
     0x42,
     8,
     0,
     0,
     {PC(0, 4), 0x1008, 0x1010, 0x1020, 0x1020, PC(0, 4), 0x2008, 0x2010, 0x2020, 0x2020,
      PC(0x19, 1), FOOTER, END},
     {E00,
      {10, 4, TEXT},
      {0, 8, 0x1008},
      E04,
      {10, 4, TEXT + 4},
      {1, 8, 0x1010},
      E08,
      {10, 3, TEXT + 8},
      {0, 4, 0x1020},
      {1, 4, 0x1020},
      E0B,
      {48, 2, TEXT + 11},
      {10, 4, TEXT},
      {0, 8, 0x2008},
      {10, 4, TEXT + 4},
      {1, 8, 0x2010},
      {10, 3, TEXT + 8},
      {0, 4, 0x2020},
      {1, 4, 0x2020},
      {49, 2, TEXT + 11},
      E19,
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"three of four accesses are not there, the second time",
     0x42,
     8,
     0,
     0,
     {PC(0, 4), 0x1008, 0x1010, 0x1020, 0x1020, PC(0, 4), 0x2008, PC(0x19, 1), FOOTER, END},
     {E00,
      {10, 4, TEXT},
      {0, 8, 0x1008},
      E04,
      {10, 4, TEXT + 4},
      {1, 8, 0x1010},
      E08,
      {10, 3, TEXT + 8},
      {0, 4, 0x1020},
      {1, 4, 0x1020},
      E0B,
      {48, 2, TEXT + 11},
      {10, 4, TEXT},
      {0, 8, 0x2008},
      {10, 4, TEXT + 4},
      {10, 3, TEXT + 8},
      {49, 2, TEXT + 11},
      E19,
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"one address of four; another base value in the next block",
     0x40,
     8,
     0,
     0,
     {PC(0, 3), 0x1000, PC(0, 3), 0x2000, FOOTER, END},
     {E00,
      {10, 4, TEXT},
      {0, 8, 0x1008},
      E04,
      {10, 4, TEXT + 4},
      {1, 8, 0x1010},
      E08,
      {10, 3, TEXT + 8},
      {0, 4, 0x1020},
      {1, 4, 0x1020},
      {10, 4, TEXT},
      {0, 8, 0x2008},
      {10, 4, TEXT + 4},
      {1, 8, 0x2010},
      {10, 3, TEXT + 8},
      {0, 4, 0x2020},
      {1, 4, 0x2020},
      EXIT}},
    {"before version 3 none is left out",
     0x40,
     2,
     0,
     0,
     {PC(4, 2), 0x1000, 0x1000, 0x1000, FOOTER, END},
     {E04,
      {10, 4, TEXT + 4},
      {1, 8, 0x1010},
      E08,
      {10, 3, TEXT + 8},
      {0, 4, 0x1020},
      {1, 4, 0x1020},
      EXIT}},
    {"an address that the code tells",
     0x40,
     8,
     0,
     0,
     {PC(0x12, 2), FOOTER, END},
     {E12, {10, 7, TEXT + 0x12}, {0, 8, TEXT + 0x119}, E19, {10, 1, TEXT + 0x19}, EXIT}},
    {"prefetch and flush",
     0x42,
     8,
     0,
     0,
     {PC(0x1a, 2), 0x1000, 0x1000, FOOTER, END},
     {{47, 3, 0x0b180f},
      {10, 3, TEXT + 0x1a},
      {3, 1, 0x1000},
      {47, 3, 0x3bae0f},
      {10, 3, TEXT + 0x1d},
      {20, 64, 0x1000},
      EXIT}},
    {"repeated string instructions, once without any",
     0x40,
     8,
     0,
     0,
     {PC(0x0e, 1), 0x1000, 0x2000, PC(0x0e, 1), 0x1001, 0x2001, PC(0x19, 1), PC(0x0e, 1), FOOTER,
      END},
     {E0E,
      {10, 2, TEXT + 14},
      {0, 1, 0x1000},
      {1, 1, 0x2000},
      {29, 2, TEXT + 14},
      {0, 1, 0x1001},
      {1, 1, 0x2001},
      E19,
      {10, 1, TEXT + 0x19},
      {10, 2, TEXT + 14},
      EXIT}},
    {"a gather of three",
     0x40,
     8,
     0,
     0,
     {PC(0x20, 1), 0x1000, EXT(5, 0, 9), 0x1100, 0x1200, PC(0x19, 1), FOOTER, END},
     {{47, 6, 0x22049071e2c4},
      {10, 6, TEXT + 0x20},
      {0, 4, 0x1000},
      {0, 4, 0x1100},
      {0, 4, 0x1200},
      E19,
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"a segment's base is in the address; vectors; the stack",
     0x40,
     8,
     0,
     0,
     {PC(0x26, 2), 0x7008, 0x1000, PC(0x38, 2), 0x9000, 0x8ff8, FOOTER, END},
     {{47, 8, 0x2825048b4864},
      {47, 1, 0},
      {10, 9, TEXT + 0x26},
      {0, 8, 0x7008},
      {47, 7, 0x01436f28fef162},
      {10, 7, TEXT + 0x2f},
      {0, 32, 0x1020},
      {47, 1, 0x53},
      {10, 1, TEXT + 0x38},
      {1, 8, 0x8ff8},
      {47, 1, 0x59},
      {10, 1, TEXT + 0x39},
      {0, 8, 0x8ff8},
      EXIT}},
    {"a system call that may wait, one that did not happen",
     0x440,
     8,
     0,
     0,
     {PC(0x10, 1), TS(20), M(3, 1), M(25, 0), TS(21), M(3, 1), PC(0x10, 1), TS(22), M(3, 1), FOOTER,
      END},
     {E10,
      {10, 2, TEXT + 16},
      {28, 2, 20},
      {28, 3, 1},
      {28, 25, 0},
      {28, 26, 0},
      {28, 2, 21},
      {28, 3, 1},
      {28, 2, 22},
      {28, 3, 1},
      EXIT}},
    {"a signal in the middle of a block; a step back in time",
     0x42,
     8,
     0,
     0,
     {PC(0, 4), 0x1008, 0x1010, 0x1020, M(45, TEXT + 8), M(40, 11), TS(50), TS(45), TS(5),
      PC(0x19, 1), FOOTER, END},
     {E00,
      {10, 4, TEXT},
      {0, 8, 0x1008},
      E04,
      {10, 4, TEXT + 4},
      {1, 8, 0x1010},
      {28, 41, 0x2043ff},
      {28, 0, TEXT + 8},
      {28, 40, 11},
      {28, 2, 50},
      {28, 2, 50},
      {28, 2, 5},
      E19,
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"branches wait: markers stay behind them, times go before",
     0x40,
     8,
     0,
     0,
     {PC(0x0d, 1), 0x9000, M(4, 5), TS(30), M(3, 2), PC(0x36, 1), PC(0x19, 1), FOOTER, END},
     {{28, 2, 30},
      {28, 3, 2},
      E0D,
      {28, 29, TEXT + 0x36},
      {16, 1, TEXT + 13},
      {0, 8, 0x9000},
      {28, 4, 5},
      {47, 2, 0xeb},
      {11, 2, TEXT + 0x36},
      E19,
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"a last branch whose target nobody knows goes",
     0x40,
     8,
     0,
     0,
     {PC(0x19, 1), PC(0x0d, 1), 0x9000, M(14, 1), PC(0x0d, 1), 0x9000, PC(0x19, 1), FOOTER, END},
     {E19,
      {10, 1, TEXT + 0x19},
      {28, 14, 1},
      E0D,
      {28, 29, TEXT + 0x19},
      {16, 1, TEXT + 13},
      {0, 8, 0x9000},
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"values of 64 bits",
     0x40,
     8,
     0,
     0,
     {M(8, 0xffffffff), M(3, 0xffffffff), PC(0x19, 1), FOOTER, END},
     {{28, 3, UINT64_MAX}, E19, {10, 1, TEXT + 0x19}, EXIT}},
    {"filtered: instructions and accesses come by themselves",
     0x1c2,
     8,
     0,
     0,
     {PC(0, 1), PC(4, 0), 0x1010, PC(8, 0), EXT(3, 1, 4), 0x1020, PC(0x0d, 1), FOOTER, END},
     {E00,
      {10, 4, TEXT},
      {10, 0, TEXT + 4},
      {1, 8, 0x1010},
      {10, 0, TEXT + 8},
      {1, 4, 0x1020},
      E0D,
      {16, 1, TEXT + 13},
      EXIT}},
    {"filtered accesses belong to the instruction named",
     0x142,
     8,
     0,
     0,
     {PC(0, 3), PC(4, 0), 0x1010, PC(0x19, 1), FOOTER, END},
     {E00,
      {10, 4, TEXT},
      E04,
      {10, 4, TEXT + 4},
      {1, 8, 0x1010},
      E08,
      {10, 3, TEXT + 8},
      E19,
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"filtered until the endpoint, then all",
     0x21c2,
     8,
     0,
     0,
     {PC(0, 1), PC(4, 0), 0x1010, M(23, 0), PC(0, 3), 0x2008, 0x2010, 0x2020, 0x2020, FOOTER, END},
     {E00,
      {10, 4, TEXT},
      {10, 0, TEXT + 4},
      {1, 8, 0x1010},
      {28, 23, 0},
      {10, 4, TEXT},
      {0, 8, 0x2008},
      E04,
      {10, 4, TEXT + 4},
      {1, 8, 0x2010},
      E08,
      {10, 3, TEXT + 8},
      {0, 4, 0x2020},
      {1, 4, 0x2020},
      EXIT}},
    {"instructions only",
     0x44,
     8,
     0,
     0,
     {PC(0, 2), FOOTER, END},
     {E00, {10, 4, TEXT}, E04, {10, 4, TEXT + 4}, EXIT}},
    {"a sequence that was aborted did not store",
     0x42,
     8,
     0,
     0,
     {M(24, TEXT + 8), PC(0, 2), 0x1008, 0x1010, M(13, TEXT + 0x19), M(45, TEXT + 0x19),
      PC(0x19, 1), FOOTER, END},
     {{28, 24, TEXT + 8},
      E00,
      {10, 4, TEXT},
      {0, 8, 0x1008},
      {28, 13, TEXT + 0x19},
      {28, 0, TEXT + 0x19},
      E19,
      {10, 1, TEXT + 0x19},
      EXIT}},
    {"a sequence that was left by a branch",
     0x42,
     8,
     0,
     0,
     {M(24, TEXT + 15), PC(0x0b, 1), PC(0x0d, 1), 0x9000, PC(0, 1), 0x1008, FOOTER, END},
     {{28, 24, TEXT + 15},
      E0B,
      {49, 2, TEXT + 11},
      E0D,
      {28, 29, TEXT},
      {16, 1, TEXT + 13},
      {0, 8, 0x9000},
      E00,
      {10, 4, TEXT},
      {0, 8, 0x1008},
      EXIT}},
    {"code that is not known",
     0x40,
     8,
     0,
     1,
     {PC(0x19, 1), PC(0x800, 3), 0x1000, 0x2000, PC(0x19, 1), FOOTER, END},
     {E19, {10, 1, TEXT + 0x19}, {0, 1, 0x1000}, {0, 1, 0x2000}, {10, 1, TEXT + 0x19}, EXIT}},
    {"the tracer was detached in the middle of a block",
     0x42,
     8,
     0,
     0,
     {PC(0x19, 2), M(42, TEXT + 0x1a), FOOTER, END},
     {E19, {10, 1, TEXT + 0x19}, EXIT}},
    {"an access without an instruction, and no end",
     0x40,
     8,
     2,
     0,
     {PC(0x19, 1), 0x1000, END},
     {E19, {10, 1, TEXT + 0x19}, EXIT}},
    {"the lower half of a value is missing; a kind that has no place",
     0x40,
     8,
     2,
     0,
     {M(8, 1), EXT(9, 0, 0), PC(0x19, 1), FOOTER, END},
     {E19, {10, 1, TEXT + 0x19}, EXIT}},
};

enum { CASES = sizeof cases / sizeof *cases };

static void by_hand(void **state)
{
    (void)state;
    check_cases(cases, CASES, code, sizeof code);
}

/* Cut anywhere, and with any byte changed, a raw file gives a trace or an error, and ends. */
static void damage(void **state)
{
    char *top = test_tmpdir(), *dir = folder(top, code, sizeof code);
    char *path = test_path(dir, "drmemtrace.a.1.raw");
    struct trod_diag diag;

    (void)state;
    for (size_t i = 0; i < CASES; i += 3) {
        struct trod_buf raw = raw_of(&cases[i]), got = {0};

        for (size_t k = 16; k < 2 * raw.n; k++) {
            const uint8_t was = k < raw.n ? 0 : raw.p[k - raw.n];

            if (k >= raw.n)
                raw.p[k - raw.n] ^= (uint8_t)(1u << k % 8);
            test_save(path, raw.p, k < raw.n ? k : raw.n);
            trod_diag_init(&diag, NULL, NULL);
            got.n = 0;
            read_trace(dir, &got, &diag);
            if (k < raw.n)
                assert_true(diag.errors > 0);
            else
                raw.p[k - raw.n] = was;
        }
        trod_buf_fini(&raw), trod_buf_fini(&got);
    }
    test_remove(top);
    free(top), free(dir), free(path);
}

/* A version of later is an error that says so, not some other format. */
static void newer(void **state)
{
    struct raw_case c = cases[0];
    char *top = test_tmpdir(), *dir = folder(top, code, sizeof code);
    char *path = test_path(dir, "drmemtrace.a.1.raw");

    (void)state;
    for (c.version = 9; c.version < 12; c.version++) {
        struct trod_buf raw = raw_of(&c), got = {0};
        struct trod_diag diag;

        test_save(path, raw.p, raw.n);
        trod_diag_init(&diag, NULL, NULL);
        read_trace(dir, &got, &diag);
        assert_true(diag.errors > 0);
        assert_int_equal(got.n, 0);
        trod_buf_fini(&raw), trod_buf_fini(&got);
    }
    test_remove(top);
    free(top), free(dir), free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(damage),
        cmocka_unit_test(newer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
