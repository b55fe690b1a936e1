/*
 * test_hot.c - the analysis "hot": counters of jumps that 32 bits do not hold (hot.h), which no
 * trace is long enough for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/hot/hot.h"
#include "core/zeroed.h"

enum { SITES = 8, FROM = 2, TO = 5, ON = 7 };

/* Executions of S. Nothing says where TO is left, so that what lies behind it goes on with it. */
static void check_fetched(const struct hot_state *s, uint64_t from, uint64_t to, uint64_t on)
{
    uint64_t *n = hot_fetched(s);

    assert_non_null(n);
    assert_true(n[FROM] == from);
    assert_true(n[TO] == to);
    assert_true(n[ON] - n[ON - 1] == on);
    free(n);
}

/*
 * FROM was left 2^32 - 1 times for TO by a jump, and as often for ON without one: the counters are
 * full. Then once more each way.
 */
static void full(void **state)
{
    const uint64_t many = UINT32_MAX;
    struct hot_state s = {0};
    struct hot_lane lane = {.here = {.site = FROM, .before = TROD_NO_SITE}};
    struct trod_pairs jumps;

    (void)state;
    assert_int_equal(hot_room(&s, SITES), TROD_OK);
    s.back[FROM] = (struct hot_back){
        .to = (TO + 1) | HOT_LOOP, .n = UINT32_MAX, .on = ON + 1, .n_on = UINT32_MAX};
    s.fetched[FROM] += 2 * many;
    assert_int_equal(hot_back_to(&s.back[FROM]), TO);
    check_fetched(&s, 2 * many, many, many);

    assert_int_equal(hot_trips_count(&s, &lane, ON, 1, false), TROD_OK);
    s.fetched[FROM]++;
    assert_int_equal(s.back[FROM].n_on, 1);
    check_fetched(&s, 2 * many + 1, many, many + 1);

    assert_int_equal(hot_trips_count(&s, &lane, TO, 1, true), TROD_OK);
    s.fetched[FROM]++;
    assert_int_equal(s.back[FROM].n, 1);
    assert_int_equal(s.back[FROM].to, (TO + 1) | HOT_LOOP);
    check_fetched(&s, 2 * many + 2, many + 1, many + 1);
    assert_int_equal(hot_jumps(&jumps, &s), TROD_OK);
    assert_int_equal(jumps.n, 1);
    for (size_t i = 0; i < jumps.size; i++)
        if (jumps.at[i].n) {
            assert_true(jumps.at[i].key == ((uint64_t)FROM << 32 | TO));
            assert_true(jumps.at[i].n == many + 1);
        }
    free(jumps.at);
    free(s.jumps.at);
    hot_trips_end(&s, &lane);
    trod_zeroed_free(s.fetched, s.n_ran * sizeof *s.fetched);
    hot_trips_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(full)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
