/*
 * test_sets_parts - LRU caches of many sets and ways: references in parts that do not know what
 * came before them, appended to each other, against the same references in one go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "sim/locality/sets.h"

enum { MOST = 600, PARTS = 6 };

/* Few lines, so that all of them come back; lines of one set; lines far from each other. */
static size_t draw(struct trod_rng *rng, uint64_t *line)
{
    const size_t n = (size_t)trod_rng_below(rng, MOST);
    const uint64_t lines = 1 + trod_rng_below(rng, 80);
    const unsigned shift = (unsigned)trod_rng_below(rng, 4), far = trod_rng_below(rng, 3) == 0;
    const bool last = trod_rng_below(rng, 3) == 0;

    for (size_t i = 0; i < n; i++) {
        line[i] = trod_rng_below(rng, lines) << shift;
        if (far)
            line[i] |= trod_rng_below(rng, 20) << 30;
        if (last && trod_rng_below(rng, 10) == 0)
            line[i] = UINT64_MAX;
    }
    return n;
}

static struct trod_sets *make(unsigned first, unsigned levels, unsigned ways, unsigned without)
{
    struct trod_sets *s = trod_sets_new(first, levels, ways);

    assert_non_null(s);
    s->without = (uint8_t)without;
    return s;
}

static void same(const struct trod_sets *a, const struct trod_sets *b)
{
    for (unsigned level = 0; level < a->levels; level++)
        for (unsigned ways = 1; ways <= a->ways; ways++)
            assert_int_equal(trod_sets_misses(a, level, ways, 1),
                             trod_sets_misses(b, level, ways, 1));
}

/* What is fed to S directly comes now and then between the parts. */
static void one_round(struct trod_rng *rng)
{
    static const uint8_t class[MOST];
    const unsigned first = (unsigned)trod_rng_below(rng, 4);
    const unsigned levels = 1 + (unsigned)trod_rng_below(rng, 4);
    const unsigned ways = 1 + (unsigned)trod_rng_below(rng, 18);
    struct trod_sets *whole = make(first, levels, ways, (unsigned)trod_rng_below(rng, 3));
    struct trod_sets *s = make(first, levels, ways, (unsigned)trod_rng_below(rng, 3));

    for (unsigned k = 0; k < PARTS; k++) {
        uint64_t line[MOST];
        const size_t n = draw(rng, line);
        const size_t cut = (size_t)trod_rng_below(rng, n + 1);

        trod_sets_feed(whole, line, class, n);
        if (trod_rng_below(rng, 4) == 0) {
            trod_sets_feed(s, line, class, n);
        } else {
            struct trod_sets *part = make(first, levels, ways, (unsigned)trod_rng_below(rng, 3));

            assert_true(trod_sets_begin_part(part));
            trod_sets_feed(part, line, class, cut);
            trod_sets_feed(part, line + cut, class + cut, n - cut);
            trod_sets_append(s, part);
            trod_sets_free(part);
        }
        same(s, whole);
        if (trod_rng_below(rng, 4) == 0) {
            trod_sets_restart(s);
            trod_sets_restart(whole);
        }
    }
    trod_sets_free(s);
    trod_sets_free(whole);
}

static void test_parts(void **state)
{
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 4);
    for (unsigned round = 0; round < 3000; round++)
        one_round(&rng);
}

/* A part of which nothing came, before and behind others. */
static void test_empty_part(void **state)
{
    static const uint64_t line[] = {1, 2, 1};
    static const uint8_t class[3];
    struct trod_sets *s = make(0, 2, 2, 0), *none = make(0, 2, 2, 0), *some = make(0, 2, 2, 0);

    (void)state;
    assert_true(trod_sets_begin_part(none) && trod_sets_begin_part(some));
    trod_sets_feed(some, line, class, 3);
    trod_sets_append(s, none);
    trod_sets_append(s, some);
    trod_sets_append(s, none);
    trod_sets_append(s, some);
    assert_int_equal(trod_sets_misses(s, 0, 2, 1), 2);
    assert_int_equal(trod_sets_misses(s, 0, 1, 1), 5); /* only the second 1 1 hits */
    assert_int_equal(trod_sets_misses(s, 1, 1, 1), 2);
    trod_sets_free(s);
    trod_sets_free(none);
    trod_sets_free(some);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_empty_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
