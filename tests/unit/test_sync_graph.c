/*
 * test_sync_graph.c - clocks and paths over random sync events against a slow oracle that keeps
 * every event for ever (sync_graph.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/sync_graph.h"
#include "core/rng.h"

enum { THREADS = 5, POINTS = 4, EVENTS = 3000 };

struct event {
    uint64_t point, count, time;
    uint64_t hops;
};

/* The oracle: all signals in a list, looked through from the first. */
static const struct event *given(const struct event *list, int n, uint64_t point, uint64_t count)
{
    for (int i = 0; i < n; i++)
        if (list[i].point == point && list[i].count == count)
            return &list[i];
    return NULL;
}

static void one_run(uint64_t seed)
{
    static struct event signals[EVENTS];
    struct trod_sync_thread fast[THREADS] = {{0}};
    uint64_t clock[THREADS] = {0}, hops[THREADS] = {0}, counts[POINTS] = {0};
    struct trod_sync_graph g;
    struct trod_rng rng;
    int n = 0;

    assert_int_equal(trod_sync_graph_init(&g), 0);
    trod_rng_seed(&rng, seed);
    for (int i = 0; i < EVENTS; i++) {
        uint32_t t = (uint32_t)trod_rng_below(&rng, THREADS);
        uint64_t point = trod_rng_below(&rng, POINTS), run = trod_rng_below(&rng, 100);

        fast[t].clock += run;
        clock[t] += run;
        if (trod_rng_below(&rng, 2)) {
            signals[n++] = (struct event){point, ++counts[point], clock[t], hops[t]};
            trod_sync_graph_signal(&g, t, &fast[t], point, counts[point]);
        } else {
            uint64_t count = trod_rng_below(&rng, counts[point] + 1), waited = 0;
            const struct event *s = count ? given(signals, n, point, count) : NULL;

            if (s && s->time > clock[t]) {
                waited = s->time - clock[t];
                clock[t] = s->time;
                hops[t] = s->hops + 1;
            }
            assert_int_equal(trod_sync_graph_wait(&g, t, &fast[t], point, count), waited);
        }
        assert_int_equal(fast[t].clock, clock[t]);
        assert_int_equal(fast[t].path ? g.nodes[fast[t].path - 1].hops : 0, hops[t]);
    }
    trod_sync_graph_fini(&g);
}

static void test_against_oracle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        one_run(seed);
}

/* Signals that nobody waits for are forgotten in the end: memory stays bounded. */
static void test_memory_is_bounded(void **state)
{
    struct trod_sync_thread a = {0}, b = {0};
    struct trod_sync_graph g;

    (void)state;
    assert_int_equal(trod_sync_graph_init(&g), 0);
    for (uint64_t i = 1; i <= 3 * (uint64_t)TROD_SYNC_SIGNALS; i++) {
        a.clock = 2 * i;
        b.clock = 2 * i - 1;
        trod_sync_graph_signal(&g, 0, &a, 1, i);
        assert_int_equal(trod_sync_graph_wait(&g, 1, &b, 1, i), 1);
        assert_int_equal(trod_sync_graph_wait(&g, 0, &a, 1, i > TROD_SYNC_SIGNALS ? 1 : 0), 0);
    }
    assert_true(g.n_nodes < TROD_SYNC_NODES);
    assert_false(g.cut);
    trod_sync_graph_fini(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_oracle),
        cmocka_unit_test(test_memory_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
