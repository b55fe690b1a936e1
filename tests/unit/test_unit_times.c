/*
 * test_unit_times.c - times whose units and decimals differ are compared and subtracted by what
 * they are: what is expected is worked out by hand, in the units of the rows.
 */
#include "core/times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* UNIT with DECIMALS. */
#define U(unit, decimals) (uint8_t)(TROD_UNIT_##unit | (decimals) << 4)

static void test_compare(void **state)
{
    static const struct {
        uint64_t a;
        uint8_t unit_a;
        uint64_t b;
        uint8_t unit_b;
        int order;
    } items[] = {
        {105, U(US, 1), 1050, U(US, 2), 0},
        {105, U(US, 1), 10356, U(US, 3), 1},
        {105, U(US, 1), 105, U(US, 0), -1},
        {10500, U(NS, 0), 105, U(US, 1), 0},
        {1, U(S, 0), 1000, U(MS, 0), 0},
        {1, U(CS, 0), 10, U(MS, 0), 0},
        {999, U(MS, 0), 1, U(S, 0), -1},
        {1, U(S, 0), UINT64_MAX, U(FS, 0), -1},
        {18447, U(S, 0), UINT64_MAX, U(FS, 0), 1},
        {UINT64_MAX, U(S, 0), 1, U(FS, 15), 1},
        {0, U(S, 0), 0, U(FS, 15), 0},
        {UINT64_MAX, U(FS, 0), 18447, U(S, 0), -1},
        {5, U(CLK, 0), 50, U(CLK, 1), 0},
        {5, U(NONE, 0), 6, U(NONE, 0), -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        assert_int_equal(
            trod_time_compare(items[i].a, items[i].unit_a, items[i].b, items[i].unit_b),
            items[i].order);
        assert_int_equal(
            trod_time_compare(items[i].b, items[i].unit_b, items[i].a, items[i].unit_a),
            -items[i].order);
        assert_int_equal(trod_time_before(items[i].a, items[i].unit_a, items[i].b, items[i].unit_b),
                         items[i].order < 0);
    }
}

static void test_class(void **state)
{
    (void)state;
    assert_int_equal(trod_time_class(U(NS, 3)), trod_time_class(U(S, 0)));
    assert_int_equal(trod_time_class(U(CLK, 1)), trod_time_class(U(CLK, 0)));
    assert_int_not_equal(trod_time_class(U(CLK, 0)), trod_time_class(U(NS, 0)));
    assert_int_not_equal(trod_time_class(U(CLK, 0)), trod_time_class(U(NONE, 0)));
    assert_int_not_equal(trod_time_class(TROD_UNITS), trod_time_class(TROD_UNITS + 1));
    assert_false(trod_time_before(1, U(CLK, 0), 2, U(NS, 0)));
}

static void test_gap(void **state)
{
    static const struct {
        uint64_t since;
        uint8_t unit_since;
        uint64_t t;
        uint8_t unit;
        struct trod_gap gap;
    } items[] = {
        {105, U(US, 1), 105, U(US, 1), {0, 1, false}},
        {105, U(US, 1), 1075, U(US, 2), {25, 2, false}},
        {105, U(US, 1), 11, U(US, 0), {5, 1, false}},
        {11, U(US, 0), 10356, U(US, 3), {644, 3, true}},
        {500, U(NS, 0), 2, U(US, 0), {1500, 3, false}},
        {2, U(US, 0), 500, U(NS, 0), {1500, 0, true}},
        {3, U(CLK, 0), 5, U(CLK, 0), {2, 0, false}},
        /* 15 decimals are the most: of a second and 10^-18 s the second is left */
        {0, U(FS, 3), 1, U(S, 0), {1000000000000000, 15, false}},
        /* 10^19 s are known to the second, in femtoseconds they are more than 64 bits */
        {1,
         U(FS, 0),
         UINT64_C(10000000000000000000),
         U(S, 0),
         {UINT64_C(10000000000000000000), 0, false}},
        {UINT64_C(10000000000000000000), U(S, 0), 1, U(FS, 0), {UINT64_MAX, 0, true}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        const struct trod_gap gap =
            trod_time_gap(items[i].since, items[i].unit_since, items[i].t, items[i].unit);

        assert_int_equal(gap.number, items[i].gap.number);
        assert_int_equal(gap.decimals, items[i].gap.decimals);
        assert_int_equal(gap.back, items[i].gap.back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_class),
        cmocka_unit_test(test_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
