/*
 * test_shards.c - samples of lines against all of them; many set-associative caches in one pass
 * against each alone.
 *
 * "Locality analyses", sections 3, 4 and 6.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "refs_gen.h"
#include "sim/locality/sets.h"
#include "sim/locality/shards.h"

enum { ALL = (1 << TROD_REFS) - 1, POINTS = 24 };

struct stream {
    uint64_t *line;
    uint8_t *class;
    size_t n;
};

static struct stream make(enum refs_kind kind, uint64_t m, size_t n, uint64_t seed)
{
    struct stream s = {calloc(n, 8), calloc(n, 1), n};
    struct refs_gen g;

    assert_true(s.line && s.class);
    refs_gen_init(&g, kind, m, seed);
    for (size_t i = 0; i < n; i++) {
        s.line[i] = refs_next(&g);
        s.class[i] = (uint8_t)trod_rng_below(&g.rng, TROD_REFS);
    }
    return s;
}

static void drop(struct stream *s)
{
    free(s->line);
    free(s->class);
}

static struct trod_shards *sample(const struct stream *t, double rate, uint64_t most, uint32_t *out)
{
    struct trod_shards *s = trod_shards_new(rate, most, 0);

    assert_non_null(s);
    for (size_t i = 0, k; i < t->n; i += k) {
        const struct trod_refs r = {t->line + i, t->class + i, NULL};

        k = t->n - i < 5000 ? t->n - i : 5000;
        assert_true(trod_shards_feed(s, &r, k, out ? out + i : NULL));
    }
    return s;
}

/* Exact misses of T at sizes that double from FIRST on. */
static void exact(const struct stream *t, uint64_t first, uint64_t *size, uint64_t *misses)
{
    const struct trod_stack_options opt = {0};
    struct trod_stack *s = trod_stack_new(&opt);
    const struct trod_refs r = {t->line, t->class, NULL};

    assert_non_null(s);
    assert_true(trod_stack_feed(s, &r, t->n, NULL));
    for (unsigned i = 0; i < POINTS; i++)
        size[i] = (first << i / 2) + (i & 1 ? first << i / 2 >> 1 : 0);
    trod_dist_misses(&s->dist, ALL, size, POINTS, misses);
    trod_stack_free(s);
}

/* Every line sampled: the exact numbers at the beginnings of bins, the exact distances. */
static void test_whole(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
        struct stream t = make(kind, 3000, 50000, kind);
        uint32_t *out = calloc(t.n, sizeof *out), *all = calloc(t.n, sizeof *all);
        uint64_t size[POINTS], misses[POINTS];
        double got[POINTS], error[POINTS];
        struct trod_shards *s = sample(&t, 1, 0, out);
        const struct trod_stack_options opt = {0};
        struct trod_stack *e = trod_stack_new(&opt);
        const struct trod_refs r = {t.line, t.class, NULL};

        assert_true(out && all && e);
        assert_true(trod_stack_feed(e, &r, t.n, all));
        assert_memory_equal(out, all, t.n * sizeof *out);
        exact(&t, 4, size, misses);
        assert_true(trod_shards_misses(s, ALL, size, POINTS, got, error));
        for (unsigned i = 0; i < POINTS; i++)
            assert_int_equal((uint64_t)llround(got[i]), misses[i]);
        assert_int_equal(trod_shards_sampled(s), trod_stack_lines(e));
        trod_stack_free(e);
        trod_shards_free(s);
        free(out);
        free(all);
        drop(&t);
    }
}

/*
 * Samples of more than 8,000 lines: off by what they say, and by less than 1 % on average where few
 * lines are hot. Where all are alike the adjustment is worth one standard deviation of the number
 * of lines sampled.
 */
static void compare(const struct stream *t, const struct trod_shards *s, enum refs_kind kind)
{
    uint64_t size[POINTS], misses[POINTS];
    double got[POINTS], error[POINTS], sum = 0;

    exact(t, 256, size, misses);
    assert_true(trod_shards_misses(s, ALL, size, POINTS, got, error));
    for (unsigned i = 0; i < POINTS; i++) {
        const double off = fabs(got[i] - (double)misses[i]) / (double)t->n;

        sum += off / POINTS;
        assert_true(off < 0.03);
        assert_true(off < 5 * error[i] + 0.005);
    }
    assert_true(sum < (kind == REFS_ZIPF ? 0.01 : 2 / sqrt((double)trod_shards_sampled(s))));
}

static void test_error(void **state)
{
    static const enum refs_kind kinds[] = {REFS_ZIPF, REFS_UNIFORM, REFS_MIXED, REFS_SAWTOOTH};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct stream t = make(kinds[i], 100000, 1000000, i + 1);
        struct trod_shards *s = sample(&t, 0.15, 0, NULL);

        assert_true(trod_shards_sampled(s) > TROD_SHARDS_ENOUGH);
        compare(&t, s, kinds[i]);
        trod_shards_free(s);
        s = sample(&t, 1, 12000, NULL);
        assert_true(trod_shards_sampled(s) <= 12000 + 4096);
        assert_true(trod_shards_sampled(s) >= 11000);
        assert_true(trod_shards_rate(s) < 0.2);
        compare(&t, s, kinds[i]);
        trod_shards_free(s);
        drop(&t);
    }
}

/* The share of lines that is sampled is the rate, whatever their stride; memory stays bounded. */
static void test_rate(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 45; shift += 7) {
        struct stream t = make(REFS_CYCLIC, 200000, 200000, 1);
        struct trod_shards *s;

        for (size_t i = 0; i < t.n; i++)
            t.line[i] <<= shift;
        s = sample(&t, 0.05, 0, NULL);
        assert_true(fabs((double)trod_shards_sampled(s) - 10000) < 500);
        assert_true(fabs(trod_shards_lines(s) - 200000) < 10000);
        trod_shards_free(s);
        s = sample(&t, 1, 100, NULL);
        assert_true(trod_shards_sampled(s) <= 200);
        assert_true(s->stack->lines.size <= 1 << 14);
        trod_shards_free(s);
        drop(&t);
    }
}

/* One cache, as it works: sets of lists. */
static uint64_t misses_of(const struct stream *t, unsigned log, unsigned ways, unsigned classes)
{
    uint64_t *list = malloc((sizeof *list * ways) << log), misses = 0;

    assert_non_null(list);
    memset(list, 0xff, (sizeof *list * ways) << log);
    for (size_t i = 0; i < t->n; i++) {
        uint64_t *set = list + (t->line[i] & ((UINT64_C(1) << log) - 1)) * ways;
        unsigned p = 0;

        while (p < ways && set[p] != t->line[i])
            p++;
        misses += p == ways && (classes >> t->class[i] & 1);
        memmove(set + 1, set, (p < ways ? p : ways - 1) * sizeof *set);
        set[0] = t->line[i];
    }
    free(list);
    return misses;
}

static void test_sets(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
        struct stream t = make(kind, 700, 20000, kind);
        struct trod_sets *s = trod_sets_new(kind % 3, 8, 9);

        assert_non_null(s);
        trod_sets_feed(s, t.line, t.class, t.n);
        for (unsigned level = 0; level < 8; level++)
            for (unsigned ways = 1; ways <= 9; ways++) {
                assert_int_equal(trod_sets_misses(s, level, ways, ALL),
                                 misses_of(&t, kind % 3 + level, ways, ALL));
                assert_int_equal(trod_sets_misses(s, level, ways, 2),
                                 misses_of(&t, kind % 3 + level, ways, 2));
            }
        trod_sets_free(s);
        drop(&t);
    }
}

/* Direct mapped, S < M <= 2S: 2(M - S) misses a round; x and x + S k for k = 1 ... A thrash A ways.
 */
static void test_closed_forms(void **state)
{
    struct stream t = make(REFS_CYCLIC, 100, 1000, 1);
    struct trod_sets *s = trod_sets_new(6, 1, 8);

    (void)state;
    assert_non_null(s);
    trod_sets_feed(s, t.line, t.class, t.n);
    assert_int_equal(trod_sets_misses(s, 0, 1, ALL), 100 + 9 * 2 * (100 - 64));
    assert_int_equal(trod_sets_misses(s, 0, 2, ALL), 100);
    trod_sets_free(s);
    for (size_t i = 0; i < t.n; i++)
        t.line[i] = 5 + 64 * (i % 5);
    s = trod_sets_new(6, 1, 8);
    assert_non_null(s);
    trod_sets_feed(s, t.line, t.class, t.n);
    assert_int_equal(trod_sets_misses(s, 0, 4, ALL), 1000);
    assert_int_equal(trod_sets_misses(s, 0, 5, ALL), 5);
    trod_sets_free(s);
    drop(&t);
}

/* The last line of the address space, whose number stands for none, and another one of its set. */
static void test_last_line(void **state)
{
    struct stream t = make(REFS_CYCLIC, 100, 1000, 1);

    (void)state;
    for (size_t i = 0; i < t.n; i++)
        t.line[i] = i % 2 ? UINT64_MAX : 63;
    for (unsigned portable = 0; portable < 2; portable++) {
        struct trod_sets *s = trod_sets_new(6, 1, 8);

        assert_non_null(s);
        s->portable = portable;
        trod_sets_feed(s, t.line, t.class, t.n);
        assert_int_equal(trod_sets_misses(s, 0, 1, ALL), t.n);
        assert_int_equal(trod_sets_misses(s, 0, 2, ALL), 2);
        trod_sets_free(s);
    }
    drop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),        cmocka_unit_test(test_error),
        cmocka_unit_test(test_rate),         cmocka_unit_test(test_sets),
        cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_last_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
