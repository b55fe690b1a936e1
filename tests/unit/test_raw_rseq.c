/*
 * test_raw_rseq.c - restartable sequences in raw thread files: how each ended, and what is taken
 * back.
 *
 * By hand. What is expected is what DynamoRIO's raw2trace makes of such entries, as its unit tests
 * (raw2trace_unit_tests.cpp) tell: fall-through, roll-back with times and with a signal, an exit by
 * a branch, by one that a branch jumps over, and with a signal, the end of the trace within.
 */
#include "raw_cases.h"

static const uint8_t code[] = {
    0x90,             /* 00 nop */
    0x74, 0x08,       /* 01 je 0b: leaves the sequence */
    0x48, 0x89, 0xd8, /* 03 mov %rbx,%rax */
    0x48, 0x89, 0x03, /* 06 mov %rax,(%rbx): commits */
    0x89, 0xc3,       /* 09 mov %eax,%ebx: behind it */
    0x89, 0xd8,       /* 0b mov %ebx,%eax */
    0x74, 0x02,       /* 0d je 11: jumps over what leaves */
    0xeb, 0x08,       /* 0f jmp 19 */
    0x48, 0x89, 0xd8, /* 11 mov %rbx,%rax */
    0x48, 0x89, 0x03, /* 14 mov %rax,(%rbx): commits */
    0x89, 0xc3,       /* 17 mov %eax,%ebx */
    0x89, 0xd8,       /* 19 mov %ebx,%eax */
};

#define ENTRY(end) M(24, TEXT + (end))
#define ABORT(pc)  M(13, TEXT + (pc))
#define EVENT(pc)  M(45, TEXT + (pc))
#define XFER(pc)   M(1, TEXT + (pc))
#define IS_ENTRY(end)                                                                              \
    {                                                                                              \
        28, 24, TEXT + (end)                                                                       \
    }
#define IS_ABORT(pc)                                                                               \
    {                                                                                              \
        28, 13, TEXT + (pc)                                                                        \
    }
#define IS_EVENT(pc)                                                                               \
    {                                                                                              \
        28, 0, TEXT + (pc)                                                                         \
    }
#define MOVE1(at)                                                                                  \
    {47, 3, 0xd88948},                                                                             \
    {                                                                                              \
        10, 3, TEXT + (at)                                                                         \
    }
#define STORE(at)                                                                                  \
    {47, 3, 0x038948}, {10, 3, TEXT + (at)},                                                       \
    {                                                                                              \
        1, 8, 42                                                                                   \
    }
#define MOVE2(at)                                                                                  \
    {47, 2, 0xc389},                                                                               \
    {                                                                                              \
        10, 2, TEXT + (at)                                                                         \
    }
#define MOVE3(at)                                                                                  \
    {47, 2, 0xd889},                                                                               \
    {                                                                                              \
        10, 2, TEXT + (at)                                                                         \
    }

static const struct raw_case cases[] = {
    {"run to its end: nothing is taken back",
     0x42,
     8,
     0,
     0,
     {ENTRY(9), PC(3, 2), 42, PC(9, 1), FOOTER, END},
     {IS_ENTRY(9), MOVE1(3), STORE(6), MOVE2(9), EXIT}},
    {"aborted, with a time behind the store: both go",
     0x42,
     8,
     0,
     0,
     {TS(5), M(3, 1), ENTRY(9), PC(3, 2), 42, TS(6), M(3, 1), ABORT(9), EVENT(9), PC(9, 1), FOOTER,
      END},
     {{28, 2, 5}, {28, 3, 1}, IS_ENTRY(9), MOVE1(3), IS_ABORT(9), IS_EVENT(9), MOVE2(9), EXIT}},
    {"aborted by a signal: two events",
     0x42,
     8,
     0,
     0,
     {ENTRY(9), PC(3, 2), 42, ABORT(11), EVENT(11), TS(6), M(3, 1), EVENT(11), PC(9, 1), FOOTER,
      END},
     {IS_ENTRY(9),
      MOVE1(3),
      IS_ABORT(11),
      IS_EVENT(11),
      {28, 2, 6},
      {28, 3, 1},
      IS_EVENT(11),
      MOVE2(9),
      EXIT}},
    {"the third time aborted: what was written of it stays written",
     0x42,
     8,
     0,
     0,
     {ENTRY(9), PC(3, 2), 42, PC(9, 1), ENTRY(9), PC(3, 2), 42, ABORT(9), EVENT(9), PC(9, 1),
      ENTRY(9), PC(3, 2), 42, PC(9, 1), FOOTER, END},
     {IS_ENTRY(9),
      MOVE1(3),
      STORE(6),
      MOVE2(9),
      IS_ENTRY(9),
      {10, 3, TEXT + 3},
      IS_ABORT(9),
      IS_EVENT(9),
      {10, 2, TEXT + 9},
      IS_ENTRY(9),
      {10, 3, TEXT + 3},
      {10, 3, TEXT + 6},
      {1, 8, 42},
      {10, 2, TEXT + 9},
      EXIT}},
    {"left by a branch, which was not taken when it was recorded",
     0x42,
     8,
     0,
     0,
     {ENTRY(9), PC(1, 1), PC(3, 2), 42, PC(11, 1), FOOTER, END},
     {IS_ENTRY(9), {47, 2, 0x0874}, {48, 2, TEXT + 1}, MOVE3(11), EXIT}},
    {"the same, and a signal comes there",
     0x42,
     8,
     0,
     0,
     {ENTRY(9), PC(1, 1), PC(3, 2), 42, EVENT(11), PC(3, 1), XFER(6), PC(11, 1), FOOTER, END},
     {IS_ENTRY(9),
      {47, 2, 0x0874},
      {48, 2, TEXT + 1},
      IS_EVENT(11),
      MOVE1(3),
      {28, 1, TEXT + 6},
      MOVE3(11),
      EXIT}},
    {"left by a jump that a branch jumped over when it was recorded",
     0x42,
     8,
     0,
     0,
     {ENTRY(0x17), PC(13, 1), PC(0x11, 2), 42, PC(0x19, 1), FOOTER, END},
     {IS_ENTRY(0x17),
      {47, 2, 0x0274},
      {49, 2, TEXT + 13},
      {47, 5, 0x05e9},
      {11, 5, TEXT + 15},
      MOVE3(0x19),
      EXIT}},
    {"the same with a time, then once more to its end: encodings come then",
     0x42,
     8,
     0,
     0,
     {ENTRY(0x17), PC(13, 1), PC(0x11, 2), 42, TS(6), M(3, 1), PC(0x19, 1), ENTRY(0x17), PC(13, 1),
      PC(0x11, 2), 42, PC(0x17, 1), FOOTER, END},
     {IS_ENTRY(0x17),
      {47, 2, 0x0274},
      {49, 2, TEXT + 13},
      {47, 5, 0x05e9},
      {11, 5, TEXT + 15},
      MOVE3(0x19),
      IS_ENTRY(0x17),
      {48, 2, TEXT + 13},
      MOVE1(0x11),
      STORE(0x14),
      MOVE2(0x17),
      EXIT}},
    {"the trace ends within, before the end of the sequence",
     0x42,
     8,
     0,
     0,
     {ENTRY(9), PC(1, 1), PC(3, 1), FOOTER, END},
     {IS_ENTRY(9), {47, 2, 0x0874}, {49, 2, TEXT + 1}, MOVE1(3), EXIT}},
    {"and at it",
     0x42,
     8,
     0,
     0,
     {ENTRY(9), PC(1, 1), PC(3, 2), 42, FOOTER, END},
     {IS_ENTRY(9), {47, 2, 0x0874}, {49, 2, TEXT + 1}, MOVE1(3), STORE(6), EXIT}},
};

static void sequences(void **state)
{
    (void)state;
    check_cases(cases, sizeof cases / sizeof *cases, code, sizeof code);
}

/* The jump that nobody recorded is one of the instruction set's. */
static void of_aarch64(void **state)
{
    static const uint32_t words[] = {
        0x54000040, /* 00 b.eq 08: jumps over what leaves */
        0x14000004, /* 04 b 14 */
        0xaa0103e0, /* 08 mov x0, x1 */
        0xf9000020, /* 0c str x0, [x1]: commits */
        0xd503201f, /* 10 nop: behind it */
        0x2a0003e1, /* 14 mov w1, w0 */
    };
    static const struct raw_case c = {"left by a jump that a branch jumped over",
                                      0x4a,
                                      8,
                                      0,
                                      0,
                                      {ENTRY(16), PC(0, 1), PC(8, 2), 42, PC(20, 1), FOOTER, END},
                                      {IS_ENTRY(16),
                                       {47, 4, 0x54000040},
                                       {49, 4, TEXT},
                                       {47, 4, 0x14000004},
                                       {11, 4, TEXT + 4},
                                       {47, 4, 0x2a0003e1},
                                       {10, 4, TEXT + 20},
                                       EXIT}};

    (void)state;
    check_words(&c, 1, words, sizeof words / sizeof *words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences),
        cmocka_unit_test(of_aarch64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
