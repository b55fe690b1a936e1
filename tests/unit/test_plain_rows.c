/*
 * test_plain_rows.c - rows between markers, counted many at once (analysis/plain_rows.h), against
 * one row after the other.
 */
#include "analysis/plain_rows.h"

#include "core/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROUNDS = 4000, ABSENT = TROD_F_SYNTHETIC | TROD_F_NOFETCH };

static bool says(const struct trod_batch *b, uint32_t i)
{
    return b->have & b->has[i] & TROD_COL_STREAM;
}

static struct trod_plain_rows one_by_one(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const bool said = from < to && says(b, from);
    struct trod_plain_rows r = {.end = from};

    for (; r.end < to && b->kind[r.end] != TROD_MARKER && b->kind[r.end] != TROD_THREAD &&
           says(b, r.end) == said && (!said || b->stream[r.end] == b->stream[from]);
         r.end++) {
        const bool instr = b->kind[r.end] == TROD_INSTR && !(b->flags[r.end] & ABSENT);

        r.instructions += instr;
        r.user += instr && !(b->flags[r.end] & TROD_F_KERNEL);
    }
    return r;
}

/* Rows of few kinds and streams, some of which do not say theirs; changes are one in RARE. */
static void draw_rows(struct trod_batch *b, struct trod_rng *rng, unsigned rare)
{
    static const uint8_t kinds[] = {TROD_INSTR, TROD_READ, TROD_WRITE};
    static const uint32_t flags[] = {0, TROD_F_KERNEL, TROD_F_SYNTHETIC, TROD_F_NOFETCH};

    b->n = 1 + (uint32_t)trod_rng_below(rng, b->cap);
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | (trod_rng_below(rng, 4) ? TROD_COL_STREAM : 0);
    for (uint32_t i = 0; i < b->n; i++) {
        const bool changes = trod_rng_below(rng, rare) == 0;

        b->kind[i] = changes && trod_rng_below(rng, 2)
                         ? (trod_rng_below(rng, 2) ? TROD_MARKER : TROD_THREAD)
                         : kinds[trod_rng_below(rng, 3)];
        b->flags[i] = flags[trod_rng_below(rng, 4)];
        b->stream[i] = i && !changes ? b->stream[i - 1] : (uint32_t)trod_rng_below(rng, 3);
        b->has[i] = b->have & ~(changes && trod_rng_below(rng, 2) ? (uint32_t)TROD_COL_STREAM : 0);
    }
}

static void test_plain(void **state)
{
    static const unsigned rare[] = {3, 50, 1000};
    struct trod_batch *b;
    struct trod_rng rng;
    unsigned long_ones = 0;

    (void)state;
    trod_rng_seed(&rng, 5);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint32_t from = (uint32_t)trod_rng_below(&rng, 700);
        struct trod_plain_rows want, got;

        draw_rows(b, &rng, rare[round % 3]);
        want = one_by_one(b, from < b->n ? from : b->n, b->n);
        got = trod_plain_rows(b, from < b->n ? from : b->n, b->n, ABSENT);
        assert_int_equal(got.end, want.end);
        assert_int_equal(got.instructions, want.instructions);
        assert_int_equal(got.user, want.user);
        long_ones += want.end > from + 300;
    }
    assert_true(long_ones > 100);
    trod_batch_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
