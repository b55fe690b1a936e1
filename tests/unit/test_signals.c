/*
 * test_signals.c - sets of signal counts against a plain array of what was added (signals.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rng.h"
#include "trace/signals.h"

enum { POINTS = 40, COUNTS = 60 };

static void test_random_orders(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct trod_rng rng;
        struct trod_signals s = {0};
        bool given[POINTS][COUNTS] = {{false}};

        trod_rng_seed(&rng, seed);
        for (int i = 0; i < 1500; i++) {
            uint64_t p = trod_rng_below(&rng, POINTS), c = 1 + trod_rng_below(&rng, COUNTS - 1);

            assert_int_equal(trod_signals_has(&s, p * 0x1000, c), given[p][c]);
            assert_int_equal(trod_signals_add(&s, p * 0x1000, c), 0);
            given[p][c] = true;
        }
        for (uint64_t p = 0; p < POINTS; p++)
            for (uint64_t c = 1; c < COUNTS; c++)
                assert_int_equal(trod_signals_has(&s, p * 0x1000, c), given[p][c]);
        trod_signals_fini(&s);
    }
}

static void test_count_zero_waits_for_nothing(void **state)
{
    struct trod_signals s = {0};

    (void)state;
    assert_true(trod_signals_has(&s, 1, 0));
    assert_false(trod_signals_has(&s, 1, 1));
    assert_int_equal(trod_signals_add(&s, 1, UINT64_MAX - 1), 0);
    assert_true(trod_signals_has(&s, 1, UINT64_MAX - 1));
    assert_false(trod_signals_has(&s, 1, UINT64_MAX - 2));
    trod_signals_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_orders),
        cmocka_unit_test(test_count_zero_waits_for_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
