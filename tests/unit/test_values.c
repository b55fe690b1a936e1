/*
 * test_values.c - which values the rows of a block hold: how many hold one of some ranges, and in
 * which steps, is what looking at all rows says; damage is noticed.
 */
#include "core/rng.h"
#include "fewer.h"
#include "nav_index.h"
#include "navigate/values.h"
#include "trod/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 5, ROWS = 8192, ASKED = 300, SOME_KINDS = 3 };

static const uint8_t kinds[SOME_KINDS] = {TROD_READ, TROD_WRITE, TROD_REG};

struct row {
    uint64_t value;
    uint8_t block, kind, step;
};

static struct row all[BLOCKS * ROWS];
static size_t n_all;

static void sample(struct nav_sample *s, const struct trod_buf *p)
{
    nav_sample(s, NAV_S_VALUES, p);
    s->segment = (struct nav_segment){.to = BLOCKS, .values = &s->section};
}

/* Values as programs have them: small ones, addresses, halves, the largest, anything. */
static uint64_t value(struct trod_rng *r)
{
    switch (trod_rng_below(r, 5)) {
    case 0:
        return trod_rng_below(r, 1 << 10);
    case 1:
        return UINT64_C(0x7ffc00000000) + 8 * trod_rng_below(r, 1 << 16);
    case 2:
        return trod_rng_next(r) & UINT64_C(0xffffffff00000000);
    case 3:
        return UINT64_MAX - trod_rng_below(r, 4);
    default:
        return trod_rng_next(r);
    }
}

/* Block K has N[K] rows, one in eight of them without a value. */
static void make(const size_t n[BLOCKS], uint64_t seed, struct trod_buf *out)
{
    struct trod_batch *b;
    struct nav_values v;
    struct trod_rng r;

    n_all = 0;
    trod_rng_seed(&r, seed);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    assert_int_equal(nav_values_init(&v), 0);
    b->have = TROD_COL_KIND | TROD_COL_VALUE;
    for (size_t k = 0; k < BLOCKS; k++) {
        for (size_t i = 0; i < n[k];) {
            const uint8_t step = (uint8_t)(i * NAV_STEPS / n[k]);

            for (b->n = 0; b->n < b->cap && i < n[k] && i * NAV_STEPS / n[k] == step; i++, b->n++) {
                const bool has = trod_rng_below(&r, 8) > 0;

                b->has[b->n] = TROD_COL_KIND | (has ? TROD_COL_VALUE : 0u);
                b->kind[b->n] = kinds[trod_rng_below(&r, SOME_KINDS)];
                b->value[b->n] = value(&r);
                if (has)
                    all[n_all++] = (struct row){b->value[b->n], (uint8_t)k, b->kind[b->n], step};
            }
            assert_int_equal(nav_values_rows(&v, b, step), 0);
        }
        assert_int_equal(nav_values_end(&v), 0);
    }
    assert_int_equal(nav_values_save(&v, out), 0);
    nav_values_fini(&v);
    trod_batch_free(b);
}

/* A number near one that a row holds, or anything. */
static uint64_t bound(struct trod_rng *r)
{
    if (!n_all || trod_rng_below(r, 8) == 0)
        return value(r);
    return all[trod_rng_below(r, n_all)].value + trod_rng_below(r, 3) - 1;
}

/* Up to three ranges, the last one to the largest number at times. */
static struct trod_match_spans some_spans(struct trod_rng *r)
{
    struct trod_match_spans s = {.set = true, .n = (uint32_t)trod_rng_below(r, 4)};
    uint64_t from = 0;

    for (uint32_t i = 0; i < s.n; i++) {
        const uint64_t a = bound(r), b = trod_rng_below(r, 3) ? bound(r) : a;

        s.at[i].lo = a < b ? a : b;
        s.at[i].hi = a < b ? b : a;
        if (s.at[i].lo < from || (i && from == 0)) {
            s.n = i;
            break;
        }
        from = s.at[i].hi + 1;
    }
    if (s.n && trod_rng_below(r, 4) == 0)
        s.at[s.n - 1].hi = UINT64_MAX;
    return s;
}

static bool in(const struct trod_match_spans *s, uint64_t v)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (v >= s->at[i].lo && v <= s->at[i].hi)
            return true;
    return false;
}

/* What is said of SPANS is what the rows say. */
static void check(struct nav_sample *s, const struct trod_match_spans *spans, uint32_t asked)
{
    uint64_t at[BLOCKS * TROD_KINDS] = {0}, want[BLOCKS * TROD_KINDS] = {0};
    uint8_t step[BLOCKS] = {0}, steps[BLOCKS] = {0};

    assert_int_equal(nav_values_count(&s->x, &s->segment, spans, at), 0);
    assert_int_equal(nav_values_steps(&s->x, &s->segment, spans, asked, step), 0);
    for (size_t i = 0; i < n_all; i++) {
        const struct row *row = &all[i];

        if (!in(spans, row->value))
            continue;
        want[row->block * TROD_KINDS + row->kind]++;
        if (asked >> row->kind & 1)
            steps[row->block] |= (uint8_t)(1u << row->step);
    }
    assert_memory_equal(at, want, sizeof at);
    assert_memory_equal(step, steps, sizeof step);
}

static void test_spans(void **state)
{
    static const size_t sizes[][BLOCKS] = {
        {0, 0, 0, 0, 0}, {1, 0, 2, 100, 0}, {ROWS, ROWS, 1, ROWS / 2, 1000}};
    static const struct trod_match_spans whole = {.set = true, .n = 1, .at = {{0, UINT64_MAX}}};

    (void)state;
    for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++) {
        struct trod_buf p = {0};
        struct nav_sample s;
        struct trod_rng r;

        make(sizes[at], at, &p);
        sample(&s, &p);
        check(&s, &whole, UINT32_MAX);
        trod_rng_seed(&r, 77);
        for (size_t i = 0; i < ASKED; i++) {
            const struct trod_match_spans spans = some_spans(&r);

            check(&s, &spans, i % 2 ? UINT32_MAX : 1u << kinds[i % SOME_KINDS]);
        }
        assert_int_equal(s.checked[1], 0);
        trod_buf_fini(&p);
    }
}

/* Nine bytes for a number at random, less for others, and what is said of pages and lists. */
static void test_size(void **state)
{
    const size_t n[BLOCKS] = {ROWS, ROWS, ROWS, ROWS, ROWS};
    struct trod_buf p = {0};

    (void)state;
    make(n, 1, &p);
    assert_true(p.n <= NAV_VALUES_HEAD +
                           BLOCKS * SOME_KINDS * (NAV_VALUES_LIST + NAV_VALUES_ENTRY) +
                           n_all * NAV_VALUES_ENTRY / NAV_VALUES_PAGE + 9 * n_all);
    trod_buf_fini(&p);
}

/* A bit that is wrong is noticed by whoever asks about numbers near it, and noted. */
static void test_damaged(void **state)
{
    const size_t n[BLOCKS] = {2000, 3, 0, 500, 40};
    uint64_t at[BLOCKS * TROD_KINDS] = {0};
    struct trod_match_spans spans = {.set = true, .n = 1};
    uint8_t step[BLOCKS];
    struct trod_buf p = {0};
    struct nav_sample s;

    (void)state;
    make(n, 1, &p);
    for (size_t where = 0; where < p.n; where += 3 * test_step()) {
        size_t noticed = 0;

        p.p[where] ^= (uint8_t)(1u << where % 8);
        sample(&s, &p);
        s.section.sum = 1; /* of the whole: wrong as well */
        for (size_t i = 0; i < n_all && noticed == 0; i++) {
            int rc, also;

            spans.at[0].lo = all[i].value;
            spans.at[0].hi = all[i].value;
            rc = nav_values_count(&s.x, &s.segment, &spans, at);
            also = nav_values_steps(&s.x, &s.segment, &spans, UINT32_MAX, step);
            noticed += rc == TROD_ERR_CORRUPT || also == TROD_ERR_CORRUPT;
            assert_true((rc == 0 && also == 0) || s.checked[1]);
        }
        assert_true(noticed);
        p.p[where] ^= (uint8_t)(1u << where % 8);
    }
    for (size_t cut = 0; cut < p.n; cut += 97) {
        sample(&s, &p);
        s.section.length = cut;
        s.section.sum = 1;
        spans.at[0].lo = 0;
        spans.at[0].hi = UINT64_MAX - 1;
        assert_int_equal(nav_values_count(&s.x, &s.segment, &spans, at), TROD_ERR_CORRUPT);
    }
    s.segment.values = NULL;
    assert_int_equal(nav_values_steps(&s.x, &s.segment, &spans, 1, step), TROD_ERR_CORRUPT);
    trod_buf_fini(&p);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
