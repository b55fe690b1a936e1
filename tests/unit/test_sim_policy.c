/*
 * test_sim_policy - replacement policies and the store of lines against slow simulators.
 *
 * The simulators here are lists with no cleverness, written from the definition of each policy
 * (names in src/sim/policy/); closed forms stand where they are used.
 */
#include "core/rng.h"
#include "sim/lineset.h"
#include "sim/opt.h"
#include "sim/store.h"

#include "trod/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 20000, WAYS_MAX = 48 };

/* --- streams of references --- */

enum shape { UNIFORM, LOOP, STRIDED, ZIPF, SHAPES };

static void draw(uint64_t *line, size_t n, enum shape shape, struct trod_rng *rng)
{
    const uint64_t lines = 2 + trod_rng_below(rng, 400), stride = 1 + trod_rng_below(rng, 70);

    for (size_t i = 0; i < n; i++) {
        switch (shape) {
        case UNIFORM:
            line[i] = trod_rng_below(rng, lines);
            break;
        case LOOP:
            line[i] = i % lines;
            break;
        case STRIDED:
            line[i] = i * stride % (lines * 8);
            break;
        default: { /* rank r with a weight of about 1 / r */
            const double u = (double)(trod_rng_next(rng) >> 11) / 9007199254740992.0;
            uint64_t r = 1;

            while (r < lines && u * 2 < 1.0 / (double)r && trod_rng_below(rng, 3))
                r++;
            line[i] = trod_rng_below(rng, 4) ? trod_rng_below(rng, r * 3) : r + 7 * r;
        }
        }
    }
}

/* --- the slow simulators: one set --- */

struct slow {
    uint32_t kind, ways, n;
    uint64_t line[WAYS_MAX];
    uint64_t used_at[WAYS_MAX]; /* time of the last reference */
    uint64_t come_at[WAYS_MAX]; /* time of the fill */
    uint64_t times[WAYS_MAX];   /* references since the fill, it included */
    unsigned mark[WAYS_MAX];    /* bit or value */
    uint64_t now;
};

/* The subtree [from, from + n) with its decisions as a recursive list of choices. */
static unsigned tree_way(const unsigned *older, unsigned node, unsigned from, unsigned n)
{
    if (n == 1)
        return from;
    return older[node] ? tree_way(older, 2 * node + 2, from + n / 2, n / 2)
                       : tree_way(older, 2 * node + 1, from, n / 2);
}

static void tree_use(unsigned *older, unsigned node, unsigned from, unsigned n, unsigned way)
{
    if (n == 1)
        return;
    if (way < from + n / 2) {
        older[node] = 1; /* the upper half is older now */
        tree_use(older, 2 * node + 1, from, n / 2, way);
    } else {
        older[node] = 0;
        tree_use(older, 2 * node + 2, from + n / 2, n / 2, way);
    }
}

static unsigned slow_victim(struct slow *s)
{
    unsigned v = 0;

    if (s->kind == TROD_REPL_TREE_PLRU)
        return tree_way(s->mark, 0, 0, s->ways);
    if (s->kind == TROD_REPL_BIT_PLRU || s->kind == TROD_REPL_NRU) {
        for (unsigned w = 0; w < s->ways; w++)
            if (!s->mark[w])
                return w;
        memset(s->mark, 0, sizeof s->mark);
        return 0;
    }
    if (s->kind == TROD_REPL_SRRIP) { /* two bits: look for 3, raise all by one, look again */
        for (;;) {
            for (unsigned w = 0; w < s->ways; w++)
                if (s->mark[w] == 3)
                    return w;
            for (unsigned w = 0; w < s->ways; w++)
                s->mark[w]++;
        }
    }
    for (unsigned w = 1; w < s->ways; w++) {
        const uint64_t *key = s->kind == TROD_REPL_FIFO  ? s->come_at
                              : s->kind == TROD_REPL_LFU ? s->times
                                                         : s->used_at;
        if (key[w] < key[v])
            v = w;
    }
    return v;
}

static void slow_use(struct slow *s, unsigned w, bool fill)
{
    bool all = true;

    s->used_at[w] = s->now;
    s->times[w] = fill ? 1 : s->times[w] + 1;
    if (fill)
        s->come_at[w] = s->now;
    switch (s->kind) {
    case TROD_REPL_TREE_PLRU:
        tree_use(s->mark, 0, 0, s->ways, w);
        break;
    case TROD_REPL_NRU:
        s->mark[w] = 1;
        break;
    case TROD_REPL_SRRIP:
        s->mark[w] = fill ? 2 : 0;
        break;
    case TROD_REPL_BIT_PLRU:
        s->mark[w] = 1;
        for (unsigned i = 0; i < s->ways; i++)
            all = all && s->mark[i];
        for (unsigned i = 0; all && i < s->ways; i++)
            s->mark[i] = i == w;
        break;
    default:
        break;
    }
}

/* true: LINE was present. */
static bool slow_reference(struct slow *s, uint64_t line)
{
    unsigned w;

    s->now++;
    for (w = 0; w < s->n; w++)
        if (s->line[w] == line) {
            slow_use(s, w, false);
            return true;
        }
    w = s->n < s->ways ? s->n++ : slow_victim(s);
    s->line[w] = line;
    slow_use(s, w, true);
    return false;
}

/* --- the store --- */

static bool reference(struct trod_store *s, uint64_t line)
{
    const uint64_t set = trod_store_set(s, line);
    uint32_t way = trod_store_find(s, set, line);
    uint64_t old;

    if (way != TROD_NO_WAY) {
        trod_repl_hit(&s->repl, set, way);
        return true;
    }
    way = trod_store_choose(s, set);
    assert_int_equal(trod_store_put(s, set, way, line, &old), 0);
    trod_repl_fill(&s->repl, set, way);
    return false;
}

static uint64_t misses_of(const uint64_t *line, size_t n, unsigned kind, uint64_t sets,
                          uint32_t ways)
{
    const struct trod_repl_options o = {.kind = (uint8_t)kind, .seed = 5};
    struct trod_store s;
    uint64_t misses = 0;

    assert_int_equal(trod_store_init(&s, &o, sets, ways), 0);
    for (size_t i = 0; i < n; i++)
        misses += !reference(&s, line[i]);
    trod_store_fini(&s);
    return misses;
}

/* Every reference hits or misses as in the list. */
static void test_lists(void **state)
{
    static const uint8_t kinds[] = {TROD_REPL_LRU,       TROD_REPL_FIFO,     TROD_REPL_LFU,
                                    TROD_REPL_TREE_PLRU, TROD_REPL_BIT_PLRU, TROD_REPL_NRU,
                                    TROD_REPL_SRRIP};
    uint64_t *line = malloc(N * sizeof *line);
    struct trod_rng rng;

    (void)state;
    assert_non_null(line);
    trod_rng_seed(&rng, 11);
    for (unsigned round = 0; round < 12 * SHAPES; round++) {
        uint64_t sets = 1 + trod_rng_below(&rng, 9);
        uint32_t ways = (uint32_t)(1 + trod_rng_below(&rng, WAYS_MAX));

        draw(line, N, (enum shape)(round % SHAPES), &rng);
        for (size_t k = 0; k < sizeof kinds; k++) {
            const struct trod_repl_options o = {.kind = kinds[k]};
            const bool tree = kinds[k] == TROD_REPL_TREE_PLRU;
            struct slow *slow = calloc(sets, sizeof *slow);
            struct trod_store s;

            if (tree)
                ways = 1u << ways % 6;
            assert_non_null(slow);
            for (uint64_t i = 0; i < sets; i++) {
                slow[i].kind = kinds[k];
                slow[i].ways = ways;
                for (unsigned w = 0; kinds[k] == TROD_REPL_SRRIP && w < ways; w++)
                    slow[i].mark[w] = 3;
            }
            assert_int_equal(trod_store_init(&s, &o, sets, ways), 0);
            for (size_t i = 0; i < N; i++)
                if (reference(&s, line[i]) != slow_reference(&slow[line[i] % sets], line[i]))
                    fail_msg("%s, %u sets, %u ways: reference %zu differs",
                             trod_repl_name(kinds[k]), (unsigned)sets, ways, i);
            trod_store_fini(&s);
            free(slow);
        }
    }
    free(line);
}

/* Optimal by trying everything: the fewest misses of LINE[at..] given what one set holds. */
static unsigned fewest(const uint64_t *line, size_t n, size_t at, uint64_t *held, unsigned used,
                       unsigned ways)
{
    unsigned best = UINT32_MAX;

    for (; at < n; at++) {
        unsigned w = 0;

        while (w < used && held[w] != line[at])
            w++;
        if (w == used)
            break;
    }
    if (at == n)
        return 0;
    if (used < ways) {
        held[used] = line[at];
        return 1 + fewest(line, n, at + 1, held, used + 1, ways);
    }
    for (unsigned w = 0; w < ways; w++) {
        uint64_t copy[4];
        unsigned m;

        memcpy(copy, held, sizeof copy);
        copy[w] = line[at];
        m = 1 + fewest(line, n, at + 1, copy, used, ways);
        best = m < best ? m : best;
    }
    return best;
}

static void test_opt_is_optimal(void **state)
{
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 3);
    for (unsigned round = 0; round < 300; round++) {
        uint64_t line[16], held[4] = {0}, misses;
        const size_t n = 1 + trod_rng_below(&rng, 16);
        const unsigned ways = (unsigned)(1 + trod_rng_below(&rng, 3));

        for (size_t i = 0; i < n; i++)
            line[i] = trod_rng_below(&rng, 6);
        assert_int_equal(trod_opt_run(line, n, 1, ways, &misses, NULL), 0);
        assert_int_equal(misses, fewest(line, n, 0, held, 0, ways));
    }
}

/* No policy misses less than the optimal one; LRU misses no more with more ways. */
static void test_bounds(void **state)
{
    uint64_t *line = malloc(N * sizeof *line);
    uint8_t *miss = malloc(N);
    struct trod_rng rng;

    (void)state;
    assert_non_null(line);
    assert_non_null(miss);
    trod_rng_seed(&rng, 29);
    for (unsigned round = 0; round < 6 * SHAPES; round++) {
        const uint64_t sets = 1 + trod_rng_below(&rng, 8);
        const uint32_t ways = 1u << trod_rng_below(&rng, 6);
        uint64_t least, sum = 0, before = UINT64_MAX;

        draw(line, N, (enum shape)(round % SHAPES), &rng);
        assert_int_equal(trod_opt_run(line, N, sets, ways, &least, miss), 0);
        for (size_t i = 0; i < N; i++)
            sum += miss[i];
        assert_int_equal(sum, least);
        for (unsigned k = 0; k < TROD_REPL_OPT; k++)
            assert_true(misses_of(line, N, k, sets, ways) >= least);
        for (uint32_t w = 1; w <= 40; w += 3) {
            const uint64_t m = misses_of(line, N, TROD_REPL_LRU, sets, w);

            assert_true(m <= before);
            before = m;
        }
    }
    free(line);
    free(miss);
}

/* Closed forms. */
static void test_closed_forms(void **state)
{
    static const uint64_t belady[] = {1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5};
    enum { M = 100, ROUNDS = 7 };
    uint64_t loop[M * ROUNDS];

    (void)state;
    assert_int_equal(misses_of(belady, 12, TROD_REPL_FIFO, 1, 3), 9);
    assert_int_equal(misses_of(belady, 12, TROD_REPL_FIFO, 1, 4), 10);
    assert_int_equal(misses_of(belady, 12, TROD_REPL_LRU, 1, 3), 10);
    assert_int_equal(misses_of(belady, 12, TROD_REPL_LRU, 1, 4), 8);
    for (size_t i = 0; i < M * ROUNDS; i++)
        loop[i] = i % M;
    for (unsigned k = TROD_REPL_LRU; k <= TROD_REPL_FIFO; k++) {
        assert_int_equal(misses_of(loop, M * ROUNDS, k, 1, M - 1), M * ROUNDS);
        assert_int_equal(misses_of(loop, M * ROUNDS, k, 1, M), M);
    }
    /* direct mapped, 64 < M <= 128 sets: 2 (M - S) misses a round after the first */
    assert_int_equal(misses_of(loop, M * ROUNDS, TROD_REPL_LRU, 64, 1),
                     M + (ROUNDS - 1) * 2 * (M - 64));
}

/* BRRIP fills with the long interval once in 32; the pattern of three in eight is spread. */
static void test_rrip_pattern(void **state)
{
    struct trod_rrip r = {.top = 3, .period = 32, .longs = 1};
    struct trod_rrip three = {.top = 7, .period = 8, .longs = 3};
    unsigned longs = 0;

    (void)state;
    for (unsigned i = 0; i < 96; i++) {
        const uint32_t v = trod_rrip_pattern(&r);

        assert_int_equal(v, i % 32 ? 3 : 2);
    }
    for (unsigned i = 0; i < 8; i++) {
        const bool is_long = (i + 1) * 3 > longs * 8; /* the rule, element by element */

        assert_int_equal(trod_rrip_pattern(&three), is_long ? 6 : 7);
        longs += is_long;
    }
    assert_int_equal(longs, 3);
}

/* DRRIP: on a loop somewhat larger than the cache BRRIP keeps a part, and DRRIP follows it. */
static void test_drrip_follows(void **state)
{
    enum { SETS = 64, WAYS = 8, M = SETS * WAYS * 3 / 2, ROUNDS = 60 };
    uint64_t *loop = malloc(sizeof *loop * M * ROUNDS);
    uint64_t s, b, d;

    (void)state;
    assert_non_null(loop);
    for (size_t i = 0; i < (size_t)M * ROUNDS; i++)
        loop[i] = i % M;
    s = misses_of(loop, (size_t)M * ROUNDS, TROD_REPL_SRRIP, SETS, WAYS);
    b = misses_of(loop, (size_t)M * ROUNDS, TROD_REPL_BRRIP, SETS, WAYS);
    d = misses_of(loop, (size_t)M * ROUNDS, TROD_REPL_DRRIP, SETS, WAYS);
    assert_int_equal(s, (uint64_t)M * ROUNDS);
    assert_true(b < s * 3 / 4);
    assert_true(d < (s + b) / 2);
    free(loop);
}

/* The same in a cache of four sets, of lines that come into use for a while: SRRIP keeps them. */
static void test_drrip_follows_in_few_sets(void **state)
{
    enum { SETS = 4, WAYS = 8, LINES = SETS * 6, ROUNDS = 8, PHASES = 200 };
    uint64_t *rows = malloc(sizeof *rows * LINES * ROUNDS * PHASES);
    uint64_t s, b, d;
    size_t n = 0;

    (void)state;
    assert_non_null(rows);
    for (size_t phase = 0; phase < PHASES; phase++)
        for (size_t i = 0; i < LINES * ROUNDS; i++)
            rows[n++] = phase * LINES + i % LINES;
    s = misses_of(rows, n, TROD_REPL_SRRIP, SETS, WAYS);
    b = misses_of(rows, n, TROD_REPL_BRRIP, SETS, WAYS);
    d = misses_of(rows, n, TROD_REPL_DRRIP, SETS, WAYS);
    assert_true(s < b / 2);
    assert_true(d < (s + b) / 2);
    free(rows);
}

static void test_lineset(void **state)
{
    enum { KEYS = 500 };
    struct trod_lines m = {.map = true};
    uint64_t value[KEYS] = {0};
    bool in[KEYS] = {false};
    struct trod_rng rng;
    size_t n = 0;

    (void)state;
    trod_rng_seed(&rng, 8);
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t k = trod_rng_below(&rng, KEYS);
        const uint64_t line = k ? k << 20 : TROD_NO_LINE; /* the mark of free places too */

        if (trod_rng_below(&rng, 2)) {
            uint64_t *v = trod_lines_at(&m, line);

            assert_non_null(v);
            assert_int_equal(*v, in[k] ? value[k] : 0);
            n += !in[k];
            *v = value[k] = i;
            in[k] = true;
        } else {
            assert_int_equal(trod_lines_remove(&m, line), in[k]);
            n -= in[k];
            in[k] = false;
        }
        assert_int_equal(m.n, n);
        assert_int_equal(trod_lines_has(&m, line), in[k]);
        assert_int_equal(trod_lines_get(&m, line) != NULL, in[k]);
    }
    assert_non_null(trod_lines_at(&m, TROD_NO_LINE));
    trod_lines_clear(&m);
    assert_false(trod_lines_has(&m, TROD_NO_LINE));
    assert_int_equal(trod_lines_add(&m, TROD_NO_LINE), 1);
    assert_int_equal(trod_lines_add(&m, TROD_NO_LINE), 0);
    trod_lines_fini(&m);
}

static void test_usage(void **state)
{
    const struct trod_repl_options tree = {.kind = TROD_REPL_TREE_PLRU};
    struct trod_repl r;

    (void)state;
    assert_int_equal(trod_repl_init(&r, &tree, 4, 3), TROD_ERR_USAGE);
    trod_repl_fini(&r);
    for (int k = 0; k < TROD_REPL_KINDS; k++)
        assert_int_equal(
            trod_repl_find(trod_repl_name((unsigned)k), strlen(trod_repl_name((unsigned)k))), k);
    assert_int_equal(trod_repl_find("LRU", 3), TROD_REPL_LRU);
    assert_int_equal(trod_repl_find("lr", 2), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_opt_is_optimal),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_rrip_pattern),
        cmocka_unit_test(test_drrip_follows),
        cmocka_unit_test(test_drrip_follows_in_few_sets),
        cmocka_unit_test(test_lineset),
        cmocka_unit_test(test_usage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
