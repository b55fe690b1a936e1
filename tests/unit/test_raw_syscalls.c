/*
 * test_raw_syscalls.c - templates of system calls: where they are put into what raw files become.
 *
 * By hand, from docs/formats/drmemtrace-raw.md: just before the first of a time, the end, a kernel
 * event or transfer, and the second function marker behind SYSCALL.
 */
#include "raw_cases.h"

static const uint8_t code[] = {
    0x0f, 0x05, /* 00 syscall */
    0x90,       /* 02 nop */
};

#define SYSCALL                                                                                    \
    {47, 2, 0x050f},                                                                               \
    {                                                                                              \
        10, 2, TEXT                                                                                \
    }
#define NOP                                                                                        \
    {47, 1, 0x90},                                                                                 \
    {                                                                                              \
        10, 1, TEXT + 2                                                                            \
    }

/*
 * What the file says of call 202, and of all others; the kernel goes back to address BACK. The
 * markers around it have the number of the call: drmemtrace, section 7, markers 27 and 28.
 */
#define CALL(number, pc, back)                                                                     \
    {28, 27, number}, {47, 1, 0x90}, {10, 1, pc}, {47, 3, 0x18}, {0, 8, 0xffff0000}, {10, 3, 2},   \
        {47, 3, 0x48cf}, {28, 29, back}, {16, 3, (pc) + 1},                                        \
    {                                                                                              \
        28, 28, number                                                                             \
    }

static const struct drm_raw templates[] = {
    {25, 0, 7},
    {28, 12, 7},
    {28, 9, 0x4240},
    CALL(202, 0xffff8000, 1),
    CALL(0x0fffffff, 0xffff9000, 1),
    {26, 0, 0},
};

static const struct raw_case cases[] = {
    {"before the time behind the call",
     0x1440,
     8,
     0,
     0,
     {PC(0, 1), TS(50), M(3, 1), M(25, 202), TS(60), M(3, 1), PC(2, 1), FOOTER, END},
     {SYSCALL,
      {28, 2, 50},
      {28, 3, 1},
      {28, 25, 202},
      {28, 26, 0},
      CALL(202, 0xffff8000, TEXT + 2),
      {28, 2, 60},
      {28, 3, 1},
      NOP,
      EXIT}},
    {"before the second function marker; a call that has no template of its own",
     0x1440,
     8,
     0,
     0,
     {PC(0, 1), M(25, 39), M(4, 7), M(6, 5), M(4, 7), M(7, 6), TS(60), PC(2, 1), FOOTER, END},
     {SYSCALL,
      {28, 25, 39},
      {28, 4, 7},
      {28, 6, 5},
      CALL(39, 0xffff9000, TEXT + 2),
      {28, 4, 7},
      {28, 7, 6},
      {28, 2, 60},
      NOP,
      EXIT}},
    {"before a transfer, an event, the end, and before what is executed next",
     0x1440,
     8,
     0,
     0,
     {PC(0, 1), M(25, 202), M(1, TEXT), PC(2, 1), PC(0, 1), M(25, 202), M(45, TEXT + 2), PC(2, 1),
      PC(0, 1), M(25, 202), PC(2, 1), PC(0, 1), M(25, 202), FOOTER, END},
     {SYSCALL,
      {28, 25, 202},
      {28, 26, 0},
      CALL(202, 0xffff8000, TEXT + 2),
      {28, 1, TEXT},
      NOP,
      {10, 2, TEXT},
      {28, 25, 202},
      {28, 26, 0},
      CALL(202, 0xffff8000, TEXT + 2),
      {28, 0, TEXT + 2},
      {10, 1, TEXT + 2},
      {10, 2, TEXT},
      {28, 25, 202},
      {28, 26, 0},
      CALL(202, 0xffff8000, TEXT + 2),
      {10, 1, TEXT + 2},
      {10, 2, TEXT},
      {28, 25, 202},
      {28, 26, 0},
      CALL(202, 0xffff8000, TEXT + 2),
      EXIT}},
};

static void save_templates(const char *dir, size_t n)
{
    char *path = test_path(dir, "syscall_templates.trace");
    struct trod_buf b = {0};

    for (size_t i = 0; i < n; i++)
        drm_put(&b, 12, templates[i].type, templates[i].size, templates[i].addr);
    test_save(path, b.p, b.n);
    trod_buf_fini(&b);
    free(path);
}

static void put_in(void **state)
{
    char *top = test_tmpdir(), *dir = folder(top, code, sizeof code);
    char *path = test_path(dir, "drmemtrace.a.1.raw");

    (void)state;
    save_templates(dir, sizeof templates / sizeof *templates);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], dir, path);
    test_remove(top);
    free(top), free(dir), free(path);
}

/* A file that is none of templates is refused: what it would add must not be missed. */
static void no_templates(void **state)
{
    char *top = test_tmpdir(), *dir = folder(top, code, sizeof code);
    char *path = test_path(dir, "drmemtrace.a.1.raw");
    struct trod_buf raw = raw_of(&cases[0]), got = {0};
    struct trod_diag diag;

    (void)state;
    test_save(path, raw.p, raw.n);
    for (size_t n = 1; n < 5; n++) {
        save_templates(dir, n);
        trod_diag_init(&diag, NULL, NULL);
        got.n = 0;
        read_trace(dir, &got, &diag);
        assert_true(diag.errors > 0);
    }
    trod_buf_fini(&raw), trod_buf_fini(&got);
    test_remove(top);
    free(top), free(dir), free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_in),
        cmocka_unit_test(no_templates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
