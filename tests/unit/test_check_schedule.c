/*
 * test_check_schedule.c - schedule files against the trace (docs/checking.md, schedule.serial and
 * schedule.cpu).
 *
 * Two threads on two cpus, each in a file of its own. What their schedule files must say follows
 * from the markers by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checking.h"
#include "testlib.h"
#include "trod/run.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define M(marker, value) {28, marker, value}
#define NOP(pc)          {47, 1, 0x90}, {10, 1, pc}
#define HEAD(tid, ft)    {25, 0, 7}, M(12, 7), M(9, ft), {22, 4, tid}, {24, 4, tid}, M(10, 64), \
                         M(20, 1000), M(18, 4096)
#define TAIL(tid)        {23, 4, tid}, {26, 0, 0}
#define F                0xe40
/* clang-format on */

/* Thread 7: cpu 1, and again after two instructions, then cpu 2. */
#define SEVEN(ft)                                                                                  \
    HEAD(7, ft), M(2, 1000), M(3, 1), NOP(0x1000), NOP(0x1001), M(2, 1010), M(3, 1), NOP(0x1002),  \
        M(2, 1030), M(3, 2), NOP(0x1003), TAIL(7)
/* Thread 8: cpu 2 in between, said twice. */
#define EIGHT(ft) HEAD(8, ft), M(2, 1020), M(3, 2), M(3, 2), NOP(0x2000), TAIL(8)

static const struct drm_raw seven[] = {SEVEN(F)}, eight[] = {EIGHT(F)},
                            core_seven[] = {SEVEN(0x10000 | F)},
                            core_eight[] = {EIGHT(0x10000 | F)},
                            narrow[] = {HEAD(7, 0xe20), M(2, 1000), M(3, 1), NOP(0x1000), TAIL(7)};

#define SEVEN_0                                                                                    \
    {                                                                                              \
        7, 1000, 1, 0                                                                              \
    }
#define SEVEN_1                                                                                    \
    {                                                                                              \
        7, 1010, 1, 2                                                                              \
    }
#define SEVEN_2                                                                                    \
    {                                                                                              \
        7, 1030, 2, 3                                                                              \
    }
#define EIGHT_0                                                                                    \
    {                                                                                              \
        8, 1020, 2, 0                                                                              \
    }

static void put(const char *dir, const char *name, const struct drm_raw *entry, size_t n)
{
    const struct check_data data = {.form = FORM_ENTRIES, .p = entry, .n = n};
    struct trod_buf bytes = check_bytes(&data);
    char *path = test_path(dir, name);

    test_save(path, bytes.p, bytes.n);
    trod_buf_fini(&bytes);
    free(path);
}

struct counts {
    uint64_t serial, cpu, all;
};

/* Findings of both files of DIR with the N entries ENTRY as schedule of all cpus and of each. */
static struct counts judge(const char *dir, unsigned jobs, const struct trod_schedule_entry *entry,
                           size_t n)
{
    const struct trod_check_options check = {.schedule = true};
    const struct trod_run_options opt = {.jobs = jobs};
    struct trod_schedule_entry *copy = malloc((n ? n : 1) * sizeof *copy);
    struct trod_diag diag;
    struct trod_run *run;
    struct counts c;
    void *st;

    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_run_open(&run, &dir, 1, &opt, &diag), 0);
    assert_int_equal(trod_run_add(run, trod_analysis_find("check", 5), &check), 0);
    assert_int_equal(trod_run_go(run), 0);
    st = trod_run_state(run, 0);
    assert_non_null(copy);
    if (n)
        memcpy(copy, entry, n * sizeof *copy);
    for (int serial = 0; serial < 2; serial++)
        assert_int_equal(trod_check_schedule(st, serial, copy, n, "s"), 0);
    c = (struct counts){trod_check_count(st, trod_rule_find("schedule.serial", 15)),
                        trod_check_count(st, trod_rule_find("schedule.cpu", 12)),
                        trod_check_total(st, TROD_RULE_NOTE)};
    free(copy);
    trod_run_free(run);
    return c;
}

static void expect(const char *dir, const struct trod_schedule_entry *entry, size_t n,
                   uint64_t serial, uint64_t cpu)
{
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        const struct counts c = judge(dir, jobs, entry, n);

        assert_int_equal(c.serial, serial);
        assert_int_equal(c.cpu, cpu);
        assert_int_equal(c.all, serial + cpu);
    }
}

#define EXPECT(dir, serial, cpu, ...)                                                              \
    do {                                                                                           \
        const struct trod_schedule_entry entries[] = {__VA_ARGS__};                                \
        expect(dir, entries, sizeof entries / sizeof *entries, serial, cpu);                       \
    } while (0)

static void test_schedules(void **state)
{
    char *dir = test_tmpdir();

    (void)state;
    put(dir, "a.trace", seven, sizeof seven / sizeof *seven);
    put(dir, "b.trace", eight, sizeof eight / sizeof *eight);
    /* all entries, in whatever order */
    EXPECT(dir, 0, 0, SEVEN_0, SEVEN_1, EIGHT_0, SEVEN_2);
    EXPECT(dir, 0, 0, SEVEN_2, EIGHT_0, SEVEN_0, SEVEN_1);
    /* thread 7 goes on: joined */
    EXPECT(dir, 0, 0, SEVEN_0, EIGHT_0, SEVEN_2);
    /* entries of one time are in the order of their instructions */
    EXPECT(dir, 2, 2, {7, 1000, 1, 2}, SEVEN_0, SEVEN_1, EIGHT_0, SEVEN_2, {7, 1030, 1, 9});
    /* a file without entries says nothing */
    expect(dir, NULL, 0, 0, 0);
    /* one is missing, one is of a thread that there is not */
    EXPECT(dir, 1, 1, SEVEN_0, SEVEN_2);
    EXPECT(dir, 1, 1, SEVEN_0, SEVEN_1, EIGHT_0, SEVEN_2, {9, 1040, 1, 0});
    /* something else is said: what there should be, and what there is */
    EXPECT(dir, 2, 2, SEVEN_0, SEVEN_1, {8, 1020, 2, 1}, SEVEN_2);
    EXPECT(dir, 2, 2, SEVEN_0, SEVEN_1, EIGHT_0, {7, 1030, 1, 3});
    EXPECT(dir, 2, 2, SEVEN_0, SEVEN_1, EIGHT_0, {7, 1031, 2, 3});
    test_remove(dir);
    free(dir);
}

/* On cores the instructions of a thread before a file begins are not known: nothing is said. */
static void test_core_sharded(void **state)
{
    char *dir = test_tmpdir();

    (void)state;
    put(dir, "a.trace", core_seven, sizeof core_seven / sizeof *core_seven);
    put(dir, "b.trace", core_eight, sizeof core_eight / sizeof *core_eight);
    EXPECT(dir, 0, 0, SEVEN_0, SEVEN_2);
    test_remove(dir);
    free(dir);
}

/* Programs of 32 bits: the trace has the low half of a time, the schedule all of it. */
static void test_narrow(void **state)
{
    char *dir = test_tmpdir();

    (void)state;
    put(dir, "a.trace", narrow, sizeof narrow / sizeof *narrow);
    EXPECT(dir, 0, 0, {7, 0x35fe400000000 + 1000, 1, 0});
    EXPECT(dir, 2, 2, {7, 0x35fe400000000 + 1001, 1, 0});
    test_remove(dir);
    free(dir);
}

/* What is saved and loaded, or merged, says the same. */
static void test_saved(void **state)
{
    const struct trod_schedule_entry whole[] = {SEVEN_0, SEVEN_1, EIGHT_0, SEVEN_2};
    const struct trod_analysis *a = trod_analysis_find("check", 5);
    const struct trod_check_options check = {.schedule = true};
    char *dir = test_tmpdir();
    struct trod_buf bytes = {0};
    struct trod_diag diag;
    struct trod_run *run;
    const char *path = dir;
    void *st = check_state();

    (void)state;
    put(dir, "a.trace", seven, sizeof seven / sizeof *seven);
    put(dir, "b.trace", eight, sizeof eight / sizeof *eight);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_run_open(&run, &path, 1, NULL, &diag), 0);
    assert_int_equal(trod_run_add(run, a, &check), 0);
    assert_int_equal(trod_run_go(run), 0);
    assert_int_equal(a->save(trod_run_state(run, 0), &bytes), 0);
    assert_int_equal(a->load(st, (struct trod_span){.p = bytes.p, .n = bytes.n}, NULL), 0);
    assert_int_equal(trod_check_schedule(st, true, whole, 4, "s"), 0);
    assert_int_equal(trod_check_total(st, TROD_RULE_NOTE), 0);
    assert_int_equal(trod_check_schedule(st, true, whole, 3, "s"), 0);
    assert_true(trod_check_total(st, TROD_RULE_NOTE) > 0);
    trod_run_free(run);
    trod_buf_fini(&bytes);
    check_release(st);
    test_remove(dir);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_core_sharded),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_saved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
