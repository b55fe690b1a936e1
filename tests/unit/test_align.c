/*
 * test_align.c - anchors and edit scripts against slow oracles (align.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare/align.h"
#include "core/rng.h"

#include <string.h>

enum { MOST = 60 };

/* Key I of S, with the end marks that stand behind a known end; false: not known. */
static bool key_at(const struct trod_keys *s, size_t i, uint64_t *out)
{
    if (i < s->n)
        *out = s->key[i];
    else if (s->end)
        *out = UINT64_MAX;
    return i < s->n || s->end;
}

/* By trying every pair of places. */
static bool slow_find(struct trod_keys a, struct trod_keys b, size_t k, size_t *best)
{
    bool found = false;

    for (size_t i = 0; i <= a.n; i++)
        for (size_t j = 0; j <= b.n; j++) {
            bool same = true;

            for (size_t m = 0; m < k && same; m++) {
                uint64_t x = 0, y = 0;

                same = key_at(&a, i + m, &x) && key_at(&b, j + m, &y) && x == y;
            }
            if (same && (!found || i + j < *best)) {
                *best = i + j;
                found = true;
            }
        }
    return found;
}

static size_t random_keys(struct trod_rng *rng, uint64_t *key, uint64_t kinds)
{
    size_t n = trod_rng_below(rng, MOST);

    for (size_t i = 0; i < n; i++)
        key[i] = trod_rng_below(rng, kinds);
    return n;
}

static void test_find(void **state)
{
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 7);
    for (int round = 0; round < 3000; round++) {
        uint64_t ka[MOST], kb[MOST], kinds = 2 + trod_rng_below(&rng, 6);
        struct trod_keys a = {ka, random_keys(&rng, ka, kinds), trod_rng_below(&rng, 2)};
        struct trod_keys b = {kb, random_keys(&rng, kb, kinds), trod_rng_below(&rng, 2)};
        size_t k = 1 + trod_rng_below(&rng, 5), i = 0, j = 0, best = 0;
        bool there = slow_find(a, b, k, &best);

        assert_int_equal(trod_align_find(a, b, k, &i, &j), there);
        if (there)
            assert_int_equal(i + j, best);
    }
}

/* Length of a longest common subsequence, by the table. */
static size_t slow_common(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    static size_t t[MOST + 1][MOST + 1];

    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++)
            t[i][j] = i == 0 || j == 0            ? 0
                      : a[i - 1] == b[j - 1]      ? t[i - 1][j - 1] + 1
                      : t[i - 1][j] > t[i][j - 1] ? t[i - 1][j]
                                                  : t[i][j - 1];
    return t[n][m];
}

/* A script covers both sequences in order, its equal parts are equal, and it is a shortest one. */
static void test_script(void **state)
{
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 9);
    for (int round = 0; round < 3000; round++) {
        uint64_t a[MOST], b[MOST], kinds = 2 + trod_rng_below(&rng, 10);
        size_t n = random_keys(&rng, a, kinds), m = random_keys(&rng, b, kinds);
        struct trod_edits e = {0};
        size_t x = 0, y = 0, equal = 0;

        assert_int_equal(trod_align_script(a, n, b, m, 1000, &e), 0);
        for (size_t i = 0; i < e.n; i++) {
            assert_int_equal(e.edit[i].a, x);
            assert_int_equal(e.edit[i].b, y);
            if (e.edit[i].type == TROD_EDIT_EQUAL) {
                assert_int_equal(e.edit[i].na, e.edit[i].nb);
                assert_memory_equal(a + x, b + y, e.edit[i].na * sizeof *a);
                equal += e.edit[i].na;
            }
            if (e.edit[i].type == TROD_EDIT_DELETE)
                assert_int_equal(e.edit[i].nb, 0);
            if (e.edit[i].type == TROD_EDIT_INSERT)
                assert_int_equal(e.edit[i].na, 0);
            x += e.edit[i].na;
            y += e.edit[i].nb;
        }
        assert_int_equal(x, n);
        assert_int_equal(y, m);
        assert_int_equal(equal, slow_common(a, n, b, m));
        trod_edits_fini(&e);
    }
}

/* Past the limit the whole is one change. */
static void test_limit(void **state)
{
    const uint64_t a[] = {1, 2, 3, 4}, b[] = {5, 6, 7};
    struct trod_edits e = {0};

    (void)state;
    assert_int_equal(trod_align_script(a, 4, b, 3, 3, &e), 0);
    assert_int_equal(e.n, 1);
    assert_int_equal(e.edit[0].type, TROD_EDIT_CHANGE);
    assert_int_equal(e.edit[0].na, 4);
    assert_int_equal(e.edit[0].nb, 3);
    trod_edits_fini(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
