/*
 * test_shards.c - samples of lines against all of them; many set-associative caches in one pass
 * against each alone.
 *
 * What must hold: docs/locality.md, "Long traces: samples".
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
    static unsigned samples;
    struct trod_shards *s = trod_shards_new(rate, most, 0);

    assert_non_null(s);
    s->stack->opt.without = (uint8_t)(samples++ % 3);
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
        for (unsigned i = 0; i < POINTS; i++) {
            assert_int_equal((uint64_t)llround(got[i]), misses[i]);
            assert_true(error[i] == 0);
        }
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

/* The hash that docs/locality.md gives. */
static uint64_t hash_of(uint64_t line)
{
    uint64_t h = line * UINT64_C(0xff51afd7ed558ccd);

    h = (h ^ h >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 29;
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = hash_of(*(const uint64_t *)a), y = hash_of(*(const uint64_t *)b);

    return x < y ? -1 : x > y;
}

/* A sample of MOST lines as a list, most recent first: what each reference of T must get, to OUT.
 */
static uint64_t listed(const struct stream *t, size_t most, uint32_t *out, size_t *n)
{
    const size_t period = most < 4096 ? most : 4096, keep = most - most / 16;
    uint64_t *list = calloc(t->n + 1, sizeof *list), *by = calloc(t->n + 1, sizeof *by);
    uint64_t limit = UINT64_MAX;

    assert_true(list && by);
    *n = 0;
    for (size_t i = 0; i < t->n; i++) {
        size_t d = 0, k = 0;

        out[i] = TROD_SHARDS_OUT;
        if (hash_of(t->line[i]) <= limit) {
            while (d < *n && list[d] != t->line[i])
                d++;
            out[i] = d == *n ? TROD_DIST_COLD
                             : (uint32_t)((double)d * (1 / (((double)limit + 1) * 0x1p-64)));
            *n += d == *n;
            memmove(list + 1, list, d * sizeof *list);
            list[0] = t->line[i];
        }
        if ((i + 1) % period || *n <= most)
            continue;
        memcpy(by, list, *n * sizeof *by);
        qsort(by, *n, sizeof *by, by_hash);
        limit = hash_of(by[keep - 1]);
        for (size_t j = 0; j < *n; j++)
            if (hash_of(list[j]) <= limit)
                list[k++] = list[j];
        *n = k;
    }
    free(list);
    free(by);
    return limit;
}

/* A sample of bounded size, reference by reference: which are in it, how far, and the last limit.
 */
static void test_most(void **state)
{
    static const size_t most[] = {1, 5, 64, 100, 1000, 1500};

    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++)
        for (unsigned i = 0; i < sizeof most / sizeof *most; i++) {
            struct stream t = make(kind, i % 2 ? 3 * most[i] : most[i] + 1, 20000, kind + i);
            uint32_t *out = calloc(t.n, sizeof *out), *want = calloc(t.n, sizeof *want);
            struct trod_shards *s = sample(&t, 1, most[i], out);
            size_t n;

            assert_true(out && want);
            assert_int_equal(listed(&t, most[i], want, &n), s->limit);
            assert_memory_equal(want, out, t.n * sizeof *out);
            assert_int_equal(trod_shards_sampled(s), n);
            trod_shards_free(s);
            free(out);
            free(want);
            drop(&t);
        }
}

/* docs/locality.md: a line for each 128 bytes beyond the first 1,712,128, but 64 at least. */
static void test_lines_in(void **state)
{
    const uint64_t fixed = 1712128;

    (void)state;
    assert_int_equal(trod_shards_lines_in(0), 64);
    for (uint64_t n = 1; n < 10000; n += n < 100 ? 1 : 977) {
        assert_int_equal(trod_shards_lines_in(fixed + 128 * n), n < 64 ? 64 : n);
        assert_int_equal(trod_shards_lines_in(fixed + 128 * n + 127), n < 64 ? 64 : n);
    }
    assert_int_equal(trod_shards_least(), fixed + 64 * 128);
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
    for (unsigned without = 0; without < 3; without++) {
        struct trod_sets *s = trod_sets_new(6, 1, 8);

        assert_non_null(s);
        s->without = (uint8_t)without;
        trod_sets_feed(s, t.line, t.class, t.n);
        assert_int_equal(trod_sets_misses(s, 0, 1, ALL), t.n);
        assert_int_equal(trod_sets_misses(s, 0, 2, ALL), 2);
        trod_sets_free(s);
    }
    drop(&t);
}

/* Lines all over the address space, whose upper parts become more than lists of 32 bits know. */
static void test_far_lines(void **state)
{
    struct stream t = make(REFS_ZIPF, 700, 20000, 3);

    (void)state;
    for (size_t i = 0; i < t.n; i++)
        t.line[i] += (t.line[i] % (1 + i / 500)) << 28;
    for (unsigned without = 0; without < 3; without++) {
        struct trod_sets *s = trod_sets_new(2, 6, 8 + without);

        assert_non_null(s);
        s->without = (uint8_t)without;
        for (size_t i = 0, k; i < t.n; i += k) {
            k = t.n - i < 700 ? t.n - i : 700;
            trod_sets_feed(s, t.line + i, t.class + i, k);
        }
        for (unsigned level = 0; level < 6; level++)
            for (unsigned ways = 1; ways <= 8 + without; ways++)
                assert_int_equal(trod_sets_misses(s, level, ways, ALL),
                                 misses_of(&t, 2 + level, ways, ALL));
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
        cmocka_unit_test(test_most),         cmocka_unit_test(test_lines_in),
        cmocka_unit_test(test_far_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
