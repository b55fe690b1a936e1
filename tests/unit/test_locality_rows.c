/*
 * test_locality_rows.c - rows to numbers of lines and classes, 32 at a time, in each form
 * (analysis/locality/rows.c), against one row after the other.
 */
#include "analysis/locality/locality.h"

#include "core/rng.h"
#include "core/wide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3000, NONE = 0xff };

static uint8_t classes[TROD_KINDS]; /* by kind */

static void all_references(void)
{
    memset(classes, NONE, sizeof classes);
    classes[TROD_INSTR] = classes[TROD_BUS] = TROD_REF_INSTR;
    classes[TROD_READ] = TROD_REF_READ;
    classes[TROD_WRITE] = classes[TROD_ATOMIC] = TROD_REF_WRITE;
    classes[TROD_PREFETCH] = TROD_REF_OTHER;
}

static void one_by_one(struct loc_block *k, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const bool flagged = b->have & b->has[i] & TROD_COL_FLAGS;
        const uint32_t flags = flagged ? b->flags[i] : 0;

        if (!(b->have & b->has[i] & TROD_COL_ADDR) || classes[b->kind[i]] == NONE ||
            flags & TROD_NO_REFERENCE || (b->kind[i] == TROD_BUS && !(flags & TROD_F_IFETCH)))
            continue;
        k->line[k->n] = b->addr[i] / 64;
        k->class[k->n++] = classes[b->kind[i]];
    }
}

/* Rows of instructions and data; one in RARE is of any kind, or says less. */
static void draw_rows(struct trod_batch *b, struct trod_rng *rng, unsigned rare)
{
    static const uint32_t flags[] = {0,
                                     TROD_F_KERNEL | TROD_F_BRANCH,
                                     TROD_F_NOFETCH,
                                     TROD_F_SYNTHETIC,
                                     TROD_F_ABORTED,
                                     TROD_F_IO,
                                     TROD_F_IFETCH};
    const uint32_t all = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_FLAGS;

    b->n = 1 + (uint32_t)trod_rng_below(rng, b->cap);
    b->have = all & ~(trod_rng_below(rng, 8) ? 0 : (uint32_t)TROD_COL_FLAGS) &
              ~(trod_rng_below(rng, 20) ? 0 : (uint32_t)TROD_COL_ADDR);
    for (uint32_t i = 0; i < b->n; i++) {
        const bool odd = trod_rng_below(rng, rare) == 0;

        b->kind[i] = (uint8_t)(odd && trod_rng_below(rng, 2) ? trod_rng_below(rng, TROD_KINDS)
                                                             : 1 + trod_rng_below(rng, 3));
        b->addr[i] = trod_rng_next(rng);
        b->flags[i] = flags[odd ? trod_rng_below(rng, 7) : trod_rng_below(rng, 2)];
        b->has[i] = all & ~(odd && trod_rng_below(rng, 2) ? (uint32_t)TROD_COL_FLAGS : 0) &
                    ~(odd && trod_rng_below(rng, 3) == 0 ? (uint32_t)TROD_COL_ADDR : 0);
    }
}

static void test_rows(void **state)
{
    static const unsigned rare[] = {2, 40, 500};
    struct loc_block *want = calloc(1, sizeof *want), *is = calloc(1, sizeof *is);
    struct loc_rows rows = {.class = classes, .shift = 6};
    struct trod_batch *b;
    struct trod_rng rng;

    (void)state;
    assert_true(want && is);
    all_references();
    trod_rng_seed(&rng, 7);
    assert_int_equal(trod_batch_new(&b, 300), TROD_OK);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t from, to;

        draw_rows(b, &rng, rare[i % 3]);
        from = (uint32_t)trod_rng_below(&rng, b->n);
        to = from + (uint32_t)trod_rng_below(&rng, b->n - from + 1);
        want->n = trod_rng_below(&rng, LOC_BLOCK - b->cap);
        rows.without = (uint8_t)(i / 3 % (TROD_WITHOUT_WIDE + 1));
        is->n = want->n;
        one_by_one(want, b, from, to);
        loc_rows_put(is, &rows, b, from, to);
        assert_int_equal(is->n, want->n);
        assert_memory_equal(is->line, want->line, is->n * sizeof *is->line);
        assert_memory_equal(is->class, want->class, is->n);
        memset(want, 0, sizeof *want);
        memset(is, 0, sizeof *is);
    }
    trod_batch_free(b);
    free(want);
    free(is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
