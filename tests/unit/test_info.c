/*
 * test_info.c - the analysis "info" counts rows that go on alike together: what it tells is that of
 * the same rows one by one.
 */
#include "analysis/info/info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen.h"
#include "testlib.h"

enum { ROUNDS = 300, ROWS = 700 };

/* Rows that mostly go on as the one before. */
static void rows(struct trod_gen *g, struct trod_batch *b)
{
    const unsigned calm = 1u << gen_below(g, 9);
    uint32_t has = TROD_COL_KIND | TROD_COL_TIME | TROD_COL_STREAM, stream = 0;
    uint64_t time = gen_below(g, 1000);
    uint8_t unit = 0;

    trod_batch_clear(b);
    b->have = gen_below(g, 4) ? UINT32_MAX : TROD_COL_KIND | (uint32_t)gen_u64(g);
    for (b->n = 0; b->n < ROWS; b->n++) {
        if (gen_once_in(g, calm))
            has ^= gen_below(g, 2) ? (uint32_t)TROD_COL_TIME : (uint32_t)TROD_COL_STREAM;
        if (gen_once_in(g, calm))
            has ^= TROD_COL_UNIT;
        if (gen_once_in(g, calm))
            stream = (uint32_t)gen_below(g, 5);
        if (gen_once_in(g, calm))
            unit = (uint8_t)gen_below(g, 4);
        time = gen_once_in(g, calm) ? gen_u64(g) >> gen_below(g, 64) : time + gen_below(g, 3);
        b->has[b->n] = has | (gen_below(g, 2) ? (uint32_t)TROD_COL_ADDR : 0);
        b->kind[b->n] = (uint8_t)gen_below(g, gen_below(g, 20) ? 4 : TROD_KINDS);
        b->stream[b->n] = stream;
        b->unit[b->n] = unit;
        b->time[b->n] = time;
    }
}

/* Rows of B from *AT on, N at most, go to the state ST. */
static void feed(const struct trod_analysis *info, void *st, const struct trod_batch *b,
                 uint32_t *at, uint32_t n)
{
    const uint32_t to = b->n - *at < n ? b->n : *at + n;

    assert_int_equal(info->feed(st, b, *at, to), TROD_OK);
    *at = to;
}

/* Streams that the meta does not know are not saved. */
static void same_streams(const struct info_state *a, const struct info_state *b)
{
    assert_int_equal(a->n_streams, b->n_streams);
    for (size_t i = 0; i < a->n_streams; i++)
        assert_int_equal(a->stream[i], b->stream[i]);
}

static void test_one_by_one(void **state)
{
    struct trod_meta meta;
    const struct trod_context context = {.meta = &meta};
    const struct trod_analysis *info = trod_analysis_find("info", 4);
    struct trod_gen g = gen_seed(3);
    struct trod_batch *b;

    (void)state;
    trod_meta_init(&meta);
    assert_int_equal(trod_batch_new(&b, ROWS), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        void *many = calloc(1, info->state_size), *one = calloc(1, info->state_size);
        struct trod_buf x = {0}, y = {0};

        assert_int_equal(info->init(many, NULL, &context), TROD_OK);
        assert_int_equal(info->init(one, NULL, &context), TROD_OK);
        for (unsigned k = 0; k < 3; k++) {
            uint32_t at = 0;

            rows(&g, b);
            while (at < b->n)
                feed(info, many, b, &at, 1 + (uint32_t)gen_below(&g, ROWS));
            for (at = 0; at < b->n;)
                feed(info, one, b, &at, 1);
        }
        assert_int_equal(info->save(many, &x), TROD_OK);
        assert_int_equal(info->save(one, &y), TROD_OK);
        assert_int_equal(x.n, y.n);
        assert_memory_equal(x.p, y.p, x.n);
        same_streams(many, one);
        info->fini(many);
        info->fini(one);
        free(many);
        free(one);
        trod_buf_fini(&x);
        trod_buf_fini(&y);
    }
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
