/*
 * test_branch - branch predictors against slow ones, and where the number of wrong predictions is
 * known.
 *
 * The slow predictors are written from the documents that each file of src/sim/branch names, with
 * no cleverness: histories are lists of outcomes, folds are made anew for every branch, tables are
 * searched from the longest history down.
 */
#include "core/rng.h"
#include "sim/branch/branch.h"
#include "sim/branch/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fewer.h"
#include "slow_branch.h"

enum { BRANCHES = 24 };

enum shape { RANDOM, BIASED, LOOPS, CALLS, SHAPES };

/* --- streams of branches --- */

static struct trod_bp_event cond(uint64_t pc, bool taken)
{
    return (struct trod_bp_event){.pc = pc,
                                  .target = pc & 64 ? pc - 40 : pc + 40,
                                  .next = pc + 4,
                                  .kind = TROD_BP_COND,
                                  .taken = taken};
}

static void draw(struct trod_bp_event *e, size_t n, enum shape shape, struct trod_rng *rng)
{
    uint64_t stack[512], trips[BRANCHES] = {0};
    size_t depth = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t b = trod_rng_below(rng, BRANCHES), pc = 0x1000 + 4 * b * (1 + b % 3 * 1024);

        if (shape == RANDOM || (shape == CALLS && trod_rng_below(rng, 2))) {
            e[i] = cond(pc, trod_rng_below(rng, 2));
        } else if (shape == BIASED) {
            e[i] = cond(pc, trod_rng_below(rng, 16) >= b % 16);
        } else if (shape == LOOPS) {
            const uint64_t k = i / 64 % BRANCHES; /* one for a while, then the next */

            trips[k] = trips[k] >= k + 1 ? 0 : trips[k] + 1;
            e[i] = cond(0x2000 + 4 * k, trips[k] != 0);
        } else {
            const uint64_t what = trod_rng_below(rng, 4);

            e[i] = (struct trod_bp_event){.pc = pc, .next = pc + 4, .taken = true};
            e[i].kind = (uint8_t)(what == 0   ? TROD_BP_CALL
                                  : what == 1 ? TROD_BP_RETURN
                                  : what == 2 ? TROD_BP_INDIRECT
                                              : TROD_BP_ICALL);
            e[i].target = 0x8000 + 64 * trod_rng_below(rng, 1 + b % 5);
            if (e[i].kind == TROD_BP_RETURN && depth && trod_rng_below(rng, 8))
                e[i].target = stack[--depth];
            if ((e[i].kind == TROD_BP_CALL || e[i].kind == TROD_BP_ICALL) && depth < 512)
                stack[depth++] = e[i].next;
        }
    }
}

static size_t rested;

/* Put STATE to rest, if it can be, and wake it again. */
static void *rest(const struct trod_bp_choice *c, void *state, const void *fresh)
{
    struct trod_bp_rest *r = trod_bp_rest(state, fresh);

    if (!r)
        return state;
    rested++;
    state = trod_bp_wake(c->type, r, fresh);
    assert_non_null(state);
    return state;
}

/* Predictions of SPEC for the N branches at E. The slow ones, if SLOW. */
static void predict(const char *spec, const struct trod_bp_event *e, size_t n, uint8_t *wrong,
                    bool slow)
{
    struct trod_bp_choice choice[TROD_BP_MOST];
    void *state, *fresh;

    assert_int_equal(trod_bp_choose(choice, spec, NULL), 1);
    if (slow) {
        slow_branch(choice[0].type->name, choice[0].value, 2, e, n, wrong);
        return;
    }
    state = choice[0].type->make(choice[0].value, 2);
    fresh = choice[0].type->make(choice[0].value, 2);
    assert_non_null(state);
    assert_non_null(fresh);
    for (size_t at = 0, step; at < n; at += step) { /* in pieces of any size, with rests */
        step = 1 + (at * 7 + 3) % 300;
        step = step < n - at ? step : n - at;
        choice[0].type->run(state, e + at, step, wrong + at);
        state = rest(&choice[0], state, fresh);
    }
    trod_bp_free(state);
    trod_bp_free(fresh);
}

static const char *const specs[] = {
    "taken",
    "btfn",
    "bimodal:log=3",
    "bimodal:log=12",
    "gshare:log=6,history=6",
    "gshare:log=12,history=5",
    "gshare",
    "local:log=2,history=4",
    "local",
    "perceptron:log=2,history=7",
    "perceptron:log=6,history=40",
    "tage:log=5,tables=3,least=3,most=12,tag=5,extras=0",
    "tage:log=7,tables=6,least=4,most=120,tag=8",
    "tage:extras=0",
    "tage",
    "btb:log=2,ways=2",
    "btb:log=0,ways=5",
    "btb",
    "ras:depth=1",
    "ras:depth=5",
    "ras",
    "ittage:log=5,tables=3,least=3,most=12,tag=5",
    "ittage",
};

/* N branches of SHAPE, by both. Returns how many were wrong. */
static size_t compare(const char *spec, enum shape shape, size_t n, struct trod_rng *rng)
{
    struct trod_bp_event *e = calloc(n, sizeof *e);
    uint8_t *fast = calloc(n, 1), *slow = calloc(n, 1);
    size_t wrong = 0;

    assert_true(e && fast && slow);
    draw(e, n, shape, rng);
    predict(spec, e, n, fast, false);
    predict(spec, e, n, slow, true);
    for (size_t i = 0; i < n; i++) {
        if (fast[i] != slow[i])
            fail_msg("%s, shape %d, branch %zu: wrong %d, slow one %d", spec, (int)shape, i,
                     fast[i], slow[i]);
        wrong += fast[i];
    }
    free(e);
    free(fast);
    free(slow);
    return wrong;
}

static void test_slow(void **state)
{
    const size_t n = test_fewer(30000, 3000);
    struct trod_rng rng;
    size_t wrong = 0;

    (void)state;
    trod_rng_seed(&rng, 20251122);
    for (unsigned shape = 0; shape < SHAPES; shape++)
        for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
            wrong += compare(specs[s], (enum shape)shape, n, &rng);
    assert_true(wrong > n);
    assert_true(rested > 0);
}

/* Long enough that useful entries are forgotten, more than once. */
static void test_long(void **state)
{
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 1);
    compare("tage:log=4,tables=3,least=3,most=9,tag=5,extras=0", BIASED, 600000, &rng);
    compare("ittage:log=4,tables=3,least=3,most=9,tag=5", CALLS, 1400000, &rng);
}

/* --- known numbers --- */

/* Wrong predictions of SPEC in the second half of N branches. */
static size_t wrong_later(const char *spec, const struct trod_bp_event *e, size_t n)
{
    uint8_t *wrong = calloc(n, 1);
    size_t sum = 0;

    assert_non_null(wrong);
    predict(spec, e, n, wrong, false);
    for (size_t i = n / 2; i < n; i++)
        sum += wrong[i];
    free(wrong);
    return sum;
}

/* A loop of n trips: the bimodal predictor is wrong at every exit and nowhere else; with a history
 * of n outcomes or more nobody is wrong; always taken is wrong at every exit. */
static void test_loops(void **state)
{
    enum { ENTRIES = 400 };

    (void)state;
    for (size_t trips = 3; trips <= 9; trips++) {
        const size_t n = trips * ENTRIES;
        struct trod_bp_event *e = calloc(n, sizeof *e);

        assert_non_null(e);
        for (size_t i = 0; i < n; i++)
            e[i] = cond(0x1040, i % trips != trips - 1);
        assert_int_equal(wrong_later("taken", e, n), ENTRIES / 2);
        assert_int_equal(wrong_later("btfn", e, n), ENTRIES / 2);
        assert_int_equal(wrong_later("bimodal", e, n), ENTRIES / 2);
        assert_int_equal(wrong_later("local:history=10", e, n), 0);
        assert_int_equal(wrong_later("gshare", e, n), 0);
        assert_int_equal(wrong_later("tage", e, n), 0);
        if (trips > 4) /* three outcomes do not tell where in the loop it is */
            assert_int_equal(wrong_later("local:history=3", e, n), ENTRIES / 2);
        free(e);
    }
}

/* Longer than any history but that of the loop predictor. */
static void test_long_loop(void **state)
{
    enum { TRIPS = 1500, ENTRIES = 40, ALL = TRIPS * ENTRIES };
    struct trod_bp_event *e = calloc(ALL, sizeof *e);

    (void)state;
    assert_non_null(e);
    for (size_t i = 0; i < ALL; i++)
        e[i] = cond(0x1040, i % TRIPS != TRIPS - 1);
    assert_int_equal(wrong_later("tage:extras=0", e, ALL), ENTRIES / 2);
    assert_int_equal(wrong_later("tage", e, ALL), 0);
    assert_int_equal(wrong_later("perceptron", e, ALL), ENTRIES / 2);
    free(e);
}

/* Taken, not taken, by turns: a counter of two bits that begins at 2 is wrong at every second. */
static void test_alternating(void **state)
{
    enum { ALL = 4000 };
    struct trod_bp_event e[ALL];

    (void)state;
    for (size_t i = 0; i < ALL; i++)
        e[i] = cond(0x1000, i % 2 == 0);
    assert_int_equal(wrong_later("taken", e, ALL), ALL / 4);
    assert_int_equal(wrong_later("btfn", e, ALL), ALL / 4);
    assert_int_equal(wrong_later("bimodal", e, ALL), ALL / 4);
    assert_int_equal(wrong_later("local", e, ALL), 0);
    assert_int_equal(wrong_later("gshare", e, ALL), 0);
    assert_int_equal(wrong_later("perceptron", e, ALL), 0);
    assert_int_equal(wrong_later("tage", e, ALL), 0);
}

/*
 * Outcomes without memory, taken with probability p = 3/4: always taken is wrong with 1/4; the
 * counter is a chain of four states whose weights are powers of p / (1 - p) = 3: 1, 3, 9, 27 of 40,
 * so that it is wrong with (4 * 3/4 + 36 * 1/4) / 40 = 12 / 40.
 */
static void test_bias(void **state)
{
    enum { ALL = 400000 };
    struct trod_bp_event *e = calloc(ALL, sizeof *e);
    struct trod_rng rng;
    double taken, bimodal;

    (void)state;
    assert_non_null(e);
    trod_rng_seed(&rng, 7);
    for (size_t i = 0; i < ALL; i++)
        e[i] = cond(0x1000, trod_rng_below(&rng, 4) != 0);
    taken = (double)wrong_later("taken", e, ALL) / (ALL / 2);
    bimodal = (double)wrong_later("bimodal", e, ALL) / (ALL / 2);
    assert_true(taken > 0.245 && taken < 0.255);
    assert_true(bimodal > 0.295 && bimodal < 0.305);
    free(e);
}

/* Calls as deep as the stack come back right; of deeper ones as many as the stack has. */
static void test_returns(void **state)
{
    (void)state;
    for (size_t depth = 1; depth <= 40; depth++) {
        struct trod_bp_event e[80];
        uint8_t wrong[80];
        size_t sum = 0;

        for (size_t i = 0; i < depth; i++) {
            e[i] = (struct trod_bp_event){.pc = 0x1000 + 16 * i,
                                          .next = 0x1004 + 16 * i,
                                          .target = 0x9000,
                                          .kind = TROD_BP_CALL,
                                          .taken = true};
            e[2 * depth - 1 - i] = (struct trod_bp_event){.pc = 0x9010,
                                                          .next = 0x9014,
                                                          .target = 0x1004 + 16 * i,
                                                          .kind = TROD_BP_RETURN,
                                                          .taken = true};
        }
        predict("ras:depth=16", e, 2 * depth, wrong, false);
        for (size_t i = 0; i < 2 * depth; i++)
            sum += wrong[i];
        assert_int_equal(sum, depth > 16 ? depth - 16 : 0);
    }
}

/* Targets in a fixed order: the last one is wrong where they change, their history knows them. */
static void test_targets(void **state)
{
    enum { ALL = 6000 };
    struct trod_bp_event *e = calloc(ALL, sizeof *e);

    (void)state;
    assert_non_null(e);
    for (size_t i = 0; i < ALL; i++)
        e[i] = (struct trod_bp_event){.pc = 0x1000,
                                      .next = 0x1004,
                                      .target = 0x4000 + 4 * (i % 3),
                                      .kind = TROD_BP_INDIRECT,
                                      .taken = true};
    assert_int_equal(wrong_later("btb", e, ALL), ALL / 2);
    assert_int_equal(wrong_later("ittage", e, ALL), 0);
    free(e);
}

/* --- folds and names --- */

static void test_folds(void **state)
{
    static const uint32_t lengths[] = {5, 7, 64, 641, 2047}, widths[TROD_BP_FOLDS] = {7, 10, 11};
    struct trod_bp_history h = {.at = 0};
    struct trod_bp_folds f = {.n = 0};
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 3);
    for (size_t i = 0; i < 5; i++)
        trod_bp_fold_add(&f, lengths[i], widths);
    for (size_t i = 0; i < 5000; i++) {
        trod_bp_fold_push(&f, &h, trod_rng_below(&rng, 2));
        for (size_t k = 0; k < TROD_BP_FOLDS; k++)
            for (size_t l = 0; l < 5; l++) {
                uint32_t want = 0;

                for (uint32_t j = 0; j < lengths[l]; j++)
                    want ^= trod_bp_outcome(&h, j) << j % widths[k];
                assert_int_equal(f.of[k].value[l], want);
            }
    }
}

static void test_spec(void **state)
{
    struct trod_bp_choice choice[TROD_BP_MOST];

    (void)state;
    assert_int_equal(trod_bp_choose(choice, "", NULL), 0);
    assert_int_equal(trod_bp_choose(choice, "gshare:log=12:history=8+gshare,ras", NULL), 3);
    assert_string_equal(choice[0].name, "gshare:log=12:history=8");
    assert_string_equal(choice[1].name, "gshare:log=14:history=14");
    assert_string_equal(choice[2].name, "ras:depth=16");
    assert_int_equal(trod_bp_choose(choice, "gshare:log=99", NULL), TROD_ERR_USAGE);
    assert_int_equal(trod_bp_choose(choice, "gshare:size=9", NULL), TROD_ERR_USAGE);
    assert_int_equal(trod_bp_choose(choice, "log=9", NULL), TROD_ERR_USAGE);
    assert_int_equal(trod_bp_choose(choice, "gshared", NULL), TROD_ERR_USAGE);
    assert_int_equal(trod_bp_choose(choice, "gshare:log=", NULL), TROD_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow),        cmocka_unit_test(test_long),
        cmocka_unit_test(test_loops),       cmocka_unit_test(test_long_loop),
        cmocka_unit_test(test_alternating), cmocka_unit_test(test_bias),
        cmocka_unit_test(test_returns),     cmocka_unit_test(test_targets),
        cmocka_unit_test(test_folds),       cmocka_unit_test(test_spec),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
