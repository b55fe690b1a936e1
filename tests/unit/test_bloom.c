/*
 * test_bloom.c - which lines a segment of an index can tell something of: none of those that were
 * put in is denied, few others are affirmed, damage is noticed.
 */
#include "core/rng.h"
#include "fewer.h"
#include "nav_index.h"
#include "navigate/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OTHERS = 20000 };

static void sample(struct nav_sample *s, const struct trod_buf *p)
{
    nav_sample(s, NAV_S_BLOOM, p);
    s->segment.bloom = &s->section;
}

/* Lines as programs touch them: neighbours, here and there. */
static uint64_t *lines(size_t n, uint64_t seed)
{
    uint64_t *key = calloc(n + 1, sizeof *key), at = 0;
    struct trod_rng r;

    assert_non_null(key);
    trod_rng_seed(&r, seed);
    for (size_t i = 0; i < n; i++)
        key[i] = at += trod_rng_below(&r, 4) ? 1 : 1 + trod_rng_below(&r, 1 << 30);
    return key;
}

/* None is denied, and of lines that lie between them no more than one in 50 is affirmed. */
static void test_sizes(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 100, 403, 404, 5000, 100000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        uint64_t *key = lines(n, i);
        struct trod_buf p = {0};
        struct nav_sample s;
        struct trod_rng r;
        size_t affirmed = 0;

        assert_int_equal(nav_bloom_encode(key, n, &p), 0);
        assert_true(p.n <= n * 11 / 8 + 2 * 512);
        sample(&s, &p);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(nav_bloom_may(&s.x, &s.segment, key[k]), 1);
        trod_rng_seed(&r, i);
        for (size_t k = 0; k < OTHERS; k++) /* no line has such a number */
            affirmed += nav_bloom_may(&s.x, &s.segment, UINT64_C(1) << 60 | trod_rng_next(&r)) == 1;
        assert_true(affirmed <= OTHERS / 50);
        assert_int_equal(s.checked[1], 0);
        trod_buf_fini(&p);
        free(key);
    }
}

/* A bit that is wrong is noticed by whoever asks of a line of its part, and noted. */
static void test_damaged(void **state)
{
    const size_t n = 2000;
    uint64_t *key = lines(n, 7);
    struct trod_buf p = {0};
    struct nav_sample s;

    (void)state;
    assert_int_equal(nav_bloom_encode(key, n, &p), 0);
    for (size_t at = 0; at < p.n; at += 3 * test_step()) {
        size_t noticed = 0;

        if (at % 512 >= 508) /* of no meaning */
            continue;
        p.p[at] ^= (uint8_t)(1u << at % 8);
        sample(&s, &p);
        for (size_t k = 0; k < n && noticed == 0; k++) {
            const int rc = nav_bloom_may(&s.x, &s.segment, key[k]);

            noticed += rc == TROD_ERR_CORRUPT;
            assert_true(rc == 1 || (rc == TROD_ERR_CORRUPT && s.checked[1]));
        }
        assert_true(noticed);
        p.p[at] ^= (uint8_t)(1u << at % 8);
    }
    trod_buf_fini(&p);
    free(key);
}

/* Without the section nothing is denied. */
static void test_none(void **state)
{
    struct nav_index x = {0};
    struct nav_segment segment = {0};

    (void)state;
    assert_int_equal(nav_bloom_may(&x, &segment, 5), 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
