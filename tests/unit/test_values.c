/*
 * test_values.c - which values a block of an index may have: none that was put in is denied in its
 * step, few others are affirmed, damage is noticed.
 */
#include "core/rng.h"
#include "fewer.h"
#include "nav_index.h"
#include "navigate/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 5, ROWS = 32768, OTHERS = 20000 };

static void sample(struct nav_sample *s, const struct trod_buf *p)
{
    nav_sample(s, NAV_S_VALUES, p);
    s->segment = (struct nav_segment){.to = BLOCKS, .values = &s->section};
}

/* Values as programs have them: small ones, addresses, halves, anything. */
static uint64_t value(struct trod_rng *r)
{
    switch (trod_rng_below(r, 4)) {
    case 0:
        return trod_rng_below(r, 1 << 12);
    case 1:
        return UINT64_C(0x7ffc00000000) + 8 * trod_rng_below(r, 1 << 16);
    case 2:
        return trod_rng_next(r) & UINT64_C(0xffffffff00000000);
    default:
        return trod_rng_next(r);
    }
}

/* Block K has N[K] of the values that K and MIXED make. */
static void make(const size_t n[BLOCKS], struct trod_buf *out)
{
    struct nav_values v;

    assert_int_equal(nav_values_init(&v, ROWS), 0);
    for (size_t k = 0; k < BLOCKS; k++) {
        struct trod_rng r;

        trod_rng_seed(&r, k);
        for (size_t i = 0; i < n[k]; i++) {
            nav_values_add(&v, nav_values_hash(value(&r)), (unsigned)(i * NAV_STEPS / n[k]));
            v.many = true;
        }
        assert_int_equal(nav_values_end(&v, (uint32_t)k, NULL), n[k] == 0);
    }
    assert_int_equal(nav_values_save(&v, out), 0);
    nav_values_fini(&v);
}

static int only(struct nav_sample *s, uint64_t number, uint8_t step[BLOCKS])
{
    memset(step, NAV_STEPS == 8 ? 0xff : 0, BLOCKS);
    return nav_values_only(&s->x, &s->segment, &number, 1, step);
}

/* None is denied; of others one in 50 of those that ask a step is affirmed at most. */
static void test_blocks(void **state)
{
    static const size_t sizes[][BLOCKS] = {
        {0, 0, 0, 0, 0}, {1, 0, 2, 100, 0}, {ROWS, ROWS, 1, ROWS / 2, 1000}};
    uint8_t step[BLOCKS];

    (void)state;
    for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++) {
        const size_t *n = sizes[at];
        struct trod_buf p = {0};
        size_t affirmed = 0, rows = 0;
        struct trod_rng r;
        struct nav_sample s;

        make(n, &p);
        sample(&s, &p);
        for (size_t k = 0; k < BLOCKS; k++) {
            trod_rng_seed(&r, k);
            for (size_t i = 0; i < n[k]; i++) {
                assert_int_equal(only(&s, value(&r), step), 0);
                assert_true(step[k] >> (i * NAV_STEPS / n[k]) & 1);
            }
            rows += n[k];
        }
        assert_true(p.n <= 8 + 4 * BLOCKS + BLOCKS * 516 + rows * 3);
        trod_rng_seed(&r, 77);
        for (size_t i = 0; i < OTHERS; i++) {
            const uint64_t other = trod_rng_next(&r) | UINT64_C(1) << 63;

            assert_int_equal(only(&s, i % 2 ? other : other >> 16, step), 0);
            for (size_t k = 0; k < BLOCKS; k++)
                affirmed += (unsigned)__builtin_popcount(step[k]);
        }
        assert_true(affirmed <= OTHERS * BLOCKS * NAV_STEPS / 50);
        assert_int_equal(s.checked[1], 0);
        trod_buf_fini(&p);
    }
}

/* Several numbers are asked for at once; steps that were taken away before stay away. */
static void test_several(void **state)
{
    const size_t n[BLOCKS] = {1, 0, 1, 0, 0};
    uint8_t step[BLOCKS] = {0xff, 0xff, 0, 0xff, 0xff};
    struct trod_buf p = {0};
    uint64_t number[2];
    struct trod_rng r;
    struct nav_sample s;

    (void)state;
    make(n, &p);
    sample(&s, &p);
    for (size_t k = 0; k < 2; k++) {
        trod_rng_seed(&r, 2 * k);
        number[k] = value(&r);
    }
    assert_int_equal(nav_values_only(&s.x, &s.segment, number, 2, step), 0);
    assert_int_equal(step[0], 1);
    assert_int_equal(step[1] | step[2] | step[3] | step[4], 0);
    assert_int_equal(nav_values_only(&s.x, &s.segment, number, 0, step), 0);
    assert_int_equal(step[0], 0);
    s.segment.values = NULL; /* without the section nothing is denied */
    step[0] = 0x42;
    assert_int_equal(nav_values_only(&s.x, &s.segment, number, 2, step), 0);
    assert_int_equal(step[0], 0x42);
    trod_buf_fini(&p);
}

/* A bit that is wrong is noticed by whoever asks of a number of its part, and noted. */
static void test_damaged(void **state)
{
    const size_t n[BLOCKS] = {2000, 3, 0, 500, 40};
    struct trod_buf p = {0};
    uint8_t step[BLOCKS];
    struct nav_sample s;

    (void)state;
    make(n, &p);
    for (size_t at = 0; at < p.n; at += 3 * test_step()) {
        size_t noticed = 0;

        p.p[at] ^= (uint8_t)(1u << at % 8);
        sample(&s, &p);
        s.section.sum = 1; /* of the whole: wrong as well */
        for (size_t i = 0; i < 400 && noticed == 0; i++) {
            const int rc = only(&s, i * i, step);

            noticed += rc == TROD_ERR_CORRUPT;
            assert_true(rc == 0 || (rc == TROD_ERR_CORRUPT && s.checked[1]));
        }
        assert_true(noticed);
        p.p[at] ^= (uint8_t)(1u << at % 8);
    }
    for (size_t cut = 0; cut < p.n; cut += 97) {
        sample(&s, &p);
        s.section.length = cut;
        s.section.sum = 1;
        assert_int_equal(only(&s, 1, step), TROD_ERR_CORRUPT);
    }
    trod_buf_fini(&p);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
