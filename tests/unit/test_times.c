/*
 * test_times.c - reuse times, working sets, footprints and the models of the miss ratio against
 * definitions, exact stack distances and closed forms.
 *
 * What must hold: docs/locality.md, "The words" and "Models".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "refs_gen.h"
#include "sim/locality/stack.h"
#include "sim/locality/times.h"

enum { ALL = (1 << TROD_REFS) - 1 };

static void assert_near(double a, double b, double e)
{
    if (fabs(a - b) > e)
        fail_msg("%.9g is not %.9g", a, b);
}

static uint64_t *make(enum refs_kind kind, uint64_t m, size_t n, uint64_t seed)
{
    uint64_t *line = calloc(n, sizeof *line);
    struct refs_gen g;

    assert_non_null(line);
    refs_gen_init(&g, kind, m, seed);
    for (size_t i = 0; i < n; i++)
        line[i] = refs_next(&g);
    return line;
}

static void feed(struct trod_times *t, const uint64_t *line, size_t n, uint64_t seed)
{
    static const uint8_t class[10000];
    struct trod_rng rng;

    trod_rng_seed(&rng, seed);
    for (size_t i = 0, k; i < n; i += k) {
        k = (size_t)trod_rng_below(&rng, trod_rng_below(&rng, 3) ? 40 : 9000) + 1;
        k = k < n - i ? k : n - i;
        assert_true(trod_times_feed(t, line + i, class, k));
    }
}

static struct trod_times *times_of(const uint64_t *line, size_t n, uint64_t window)
{
    struct trod_times *t = trod_times_new(window, false);

    assert_non_null(t);
    feed(t, line, n, 1);
    return t;
}

/* Distinct lines of N references, by comparing all pairs. */
static uint64_t distinct(const uint64_t *line, size_t n)
{
    uint64_t d = 0;

    for (size_t i = 0; i < n; i++) {
        size_t j = 0;

        while (j < i && line[j] != line[i])
            j++;
        d += j == i;
    }
    return d;
}

static void test_bins(void **state)
{
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 1);
    for (uint64_t v = 0; v < 256; v++)
        assert_int_equal(trod_bin_begin(trod_bin_of(v)), v);
    for (unsigned i = 0; i + 1 < TROD_BINS; i++) {
        assert_int_equal(trod_bin_of(trod_bin_begin(i)), i);
        assert_int_equal(trod_bin_of(trod_bin_begin(i + 1) - 1), i);
    }
    assert_int_equal(trod_bin_of(UINT64_MAX), TROD_BINS - 1);
}

/* Reuse times one by one. */
static void test_histogram(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
        const size_t n = 6000;
        uint64_t *line = make(kind, 90, n, kind), brief[6001] = {0}, first = 0;
        struct trod_bin bins[TROD_BINS];
        struct trod_times *t = times_of(line, n, 0);

        memset(bins, 0, sizeof bins);
        for (size_t i = 0; i < n; i++) {
            size_t j = i;

            while (j > 0 && line[j - 1] != line[i])
                j--;
            first += j == 0;
            if (j > 0) {
                brief[i - j + 1]++;
                trod_bin_count(bins, i - j + 1, 1);
            }
        }
        assert_int_equal(t->lines, first);
        for (size_t k = 0; k < TROD_TIME_SHORT; k++)
            assert_int_equal(trod_times_at(t, k), brief[k]);
        assert_memory_equal(t->reuse, bins, sizeof bins);
        trod_times_free(t);
        free(line);
    }
}

/* Footprint and working set by going through every window. */
static void test_windows(void **state)
{
    struct trod_curves *c = malloc(sizeof *c);

    (void)state;
    assert_non_null(c);
    for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
        const size_t n = 700;
        uint64_t *line = make(kind, 60, n, kind);
        struct trod_times *t = times_of(line, n, 0);

        assert_true(trod_curves_make(c, t));
        assert_near(c->fp[1], 1, 1e-9);
        for (unsigned i = 1; i < c->points; i += 1 + i / 8) {
            const size_t w = trod_bin_begin(i);
            double fp = 0, ws = 0;

            for (size_t at = 0; at + w <= n; at++)
                fp += (double)distinct(line + at, w);
            for (size_t at = 1; at <= n; at++)
                ws += (double)(at < w ? distinct(line, at) : distinct(line + at - w, w));
            assert_near(c->fp[i], fp / (double)(n - w + 1), 1e-9);
            assert_near(c->ws[i], ws / (double)n, 1e-9);
        }
        assert_int_equal(trod_bin_begin(c->points - 1), n);
        assert_near(c->fp[c->points - 1], (double)t->lines, 1e-9);
        trod_times_free(t);
        free(line);
    }
    free(c);
}

/* Distinct lines of each window. */
static void test_sets(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++)
        for (uint64_t window = 1; window < 900; window = window * 3 + 1) {
            const size_t n = 5000;
            uint64_t *line = make(kind, 70, n, kind);
            struct trod_times *t = times_of(line, n, window);

            assert_int_equal(t->n_sets, n / window);
            for (size_t i = 0; i < t->n_sets; i++)
                assert_int_equal(t->sets[i], distinct(line + i * window, window));
            trod_times_free(t);
            free(line);
        }
}

static void test_append(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
        const size_t n = 20000, cut[] = {0, 7000, 7001, 15000, n};
        uint64_t *line = make(kind, 900, n, kind);
        struct trod_times *t = times_of(line, n, 0), *p[4];
        struct trod_bin a[TROD_BINS], b[TROD_BINS];

        for (unsigned i = 0; i < 4; i++) {
            p[i] = trod_times_new(0, true);
            assert_non_null(p[i]);
            feed(p[i], line + cut[i], cut[i + 1] - cut[i], i);
        }
        assert_true(trod_times_append(p[2], p[3]));
        assert_true(trod_times_append(p[0], p[1]));
        assert_true(trod_times_append(p[0], p[2]));
        assert_int_equal(p[0]->now, t->now);
        assert_int_equal(p[0]->lines, t->lines);
        assert_memory_equal(p[0]->brief, t->brief, sizeof t->brief);
        assert_memory_equal(p[0]->reuse, t->reuse, sizeof t->reuse);
        assert_memory_equal(p[0]->first, t->first, sizeof t->first);
        trod_times_tail(p[0], a);
        trod_times_tail(t, b);
        assert_memory_equal(a, b, sizeof a);
        for (unsigned i = 0; i < 4; i++)
            trod_times_free(p[i]);
        trod_times_free(t);
        free(line);
    }
}

/* fp of a cyclic scan is min(w, M); of independent uniform references M(1 - (1 - 1/M)^w). */
static void test_closed_forms(void **state)
{
    const uint64_t m = 300;
    const size_t n = 600000;
    struct trod_curves *c = malloc(sizeof *c);
    uint64_t *line = make(REFS_CYCLIC, m, n, 1);
    struct trod_times *t = times_of(line, n, 0);

    (void)state;
    assert_non_null(c);
    assert_int_equal(trod_times_at(t, m), n - m);
    assert_true(trod_curves_make(c, t));
    for (unsigned i = 1; i < c->points; i++)
        assert_near(c->fp[i], fmin((double)trod_bin_begin(i), (double)m), 1e-6);
    trod_times_free(t);
    free(line);

    line = make(REFS_UNIFORM, m, n, 1);
    t = times_of(line, n, 0);
    assert_true(trod_curves_make(c, t));
    for (unsigned i = 1; i < c->points; i++)
        assert_near(c->fp[i], (double)m * (1 - pow(1 - 1 / (double)m, (double)trod_bin_begin(i))),
                    1.0);
    for (double lines = 10; lines < (double)m; lines += 10) {
        const double mr = 1 - lines / (double)m;

        assert_near(trod_curves_hotl(c, lines), mr, 0.02);
        assert_near(trod_curves_aet(c, lines), mr, 0.02);
        assert_near(trod_curves_statstack(c, lines), mr, 0.02);
    }
    trod_times_free(t);
    free(line);
    free(c);
}

/* Independent references that are not uniform: the models against exact stack distances. */
static void test_models(void **state)
{
    const size_t n = 400000;
    uint64_t *line = make(REFS_ZIPF, 5000, n, 1);
    uint8_t *class = calloc(n, 1);
    struct trod_times *t = times_of(line, n, 0);
    struct trod_curves *c = malloc(sizeof *c);
    const struct trod_stack_options opt = {0};
    struct trod_stack *s = trod_stack_new(&opt);
    const struct trod_refs refs = {line, class, NULL};

    (void)state;
    assert_true(class && s && c);
    assert_true(trod_stack_feed(s, &refs, n, NULL));
    assert_true(trod_curves_make(c, t));
    for (uint64_t lines = 50; lines < 5000; lines += 150) {
        uint64_t misses;
        double mr;

        trod_dist_misses(&s->dist, ALL, &lines, 1, &misses);
        mr = (double)misses / (double)n;
        assert_near(trod_curves_hotl(c, (double)lines), mr, 0.02);
        assert_near(trod_curves_aet(c, (double)lines), mr, 0.02);
        assert_near(trod_curves_statstack(c, (double)lines), mr, 0.02);
    }
    trod_stack_free(s);
    trod_times_free(t);
    free(class);
    free(line);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bins),    cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_windows), cmocka_unit_test(test_sets),
        cmocka_unit_test(test_append),  cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_models),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
