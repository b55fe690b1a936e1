/*
 * test_stack.c - stack distances against a list, Olken's tree and closed forms.
 *
 * What must hold: docs/locality.md, "The words".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "olken.h"
#include "refs_gen.h"
#include "sim/locality/save.h"
#include "sim/locality/stack.h"

enum { ALL = (1 << TROD_REFS) - 1 };

struct stream {
    uint64_t *line, *touched;
    uint8_t *class;
    uint32_t *out;
    size_t n;
};

static struct stream make(enum refs_kind kind, uint64_t m, size_t n, uint64_t seed)
{
    struct stream s = {calloc(n + 1, 8), calloc(n + 1, 8), calloc(n + 1, 1), calloc(n + 1, 4), n};
    struct refs_gen g;

    assert_true(s.line && s.touched && s.class && s.out);
    refs_gen_init(&g, kind, m, seed);
    for (size_t i = 0; i < n; i++) {
        s.line[i] = refs_next(&g) * (seed & 1 ? 1 : UINT64_C(0x10000001));
        s.class[i] = (uint8_t)trod_rng_below(&g.rng, TROD_REFS);
        s.touched[i] = UINT64_C(3) << trod_rng_below(&g.rng, 63);
    }
    return s;
}

static void drop(struct stream *s)
{
    free(s->line);
    free(s->touched);
    free(s->class);
    free(s->out);
}

static struct trod_stack *new_stack(struct trod_stack_options opt)
{
    struct trod_stack *s = trod_stack_new(&opt);

    assert_non_null(s);
    return s;
}

/* Feed references [FROM, TO) in stretches of random lengths. */
static void feed(struct trod_stack *s, const struct stream *t, size_t from, size_t to,
                 uint64_t seed)
{
    struct trod_rng rng;

    trod_rng_seed(&rng, seed);
    for (size_t i = from, k; i < to; i += k) {
        const struct trod_refs r = {t->line + i, t->class + i, t->touched + i};

        k = (size_t)trod_rng_below(&rng, trod_rng_below(&rng, 3) ? 40 : 9000) + 1;
        k = k < to - i ? k : to - i;
        assert_true(trod_stack_feed(s, &r, k, t->out + i));
    }
}

/* What must hold of any stream: sums, cold references, counters by line. */
static void identities(const struct trod_stack *s, const struct stream *t)
{
    uint64_t n = 0, refs = 0;

    assert_int_equal(trod_dist_total(&s->dist, ALL), t->n);
    for (unsigned k = 0; k < TROD_REFS; k++) {
        assert_int_equal(trod_dist_total(&s->dist, 1U << k), s->refs[k]);
        n += s->refs[k];
    }
    assert_int_equal(n, t->n);
    for (size_t i = 0; i < s->lines.size; i++)
        refs += trod_tally_of(&s->tally, &s->lines.at[i]).refs;
    if (!s->opt.limit)
        assert_int_equal(refs, t->n);
}

/* Every distance, histogram and counter against Olken's tree, and the list where M is small. */
static void check(const struct trod_stack *s, const struct stream *t, uint64_t lines, bool list)
{
    uint64_t *order = calloc(t->n + 1, 8), *hist = calloc((t->n + 2) * TROD_REFS, 8);
    size_t in_list = 0;
    struct olken o;

    assert_true(order && hist);
    olken_init(&o);
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t d = olken_ref(&o, t->line[i]);

        assert_int_equal(t->out[i], d == UINT64_MAX ? TROD_DIST_COLD : d);
        if (list)
            assert_int_equal(list_ref(order, &in_list, t->line[i]), d);
        hist[(d == UINT64_MAX ? t->n : d) * TROD_REFS + t->class[i]]++;
    }
    for (size_t d = 0; d <= t->n; d++)
        for (unsigned k = 0; k < TROD_REFS; k++)
            assert_int_equal(hist[d * TROD_REFS + k],
                             d == t->n ? s->dist.cold[k] : trod_dist_at(&s->dist, d, k));
    assert_int_equal(o.n - 1, trod_stack_lines(s));
    assert_int_equal(o.n - 1, trod_stack_counted(s));
    if (lines)
        assert_int_equal(lines, trod_stack_lines(s));
    identities(s, t);
    olken_fini(&o);
    free(order);
    free(hist);
}

/* Counters by line against counting each reference. */
static void check_counts(const struct trod_stack *s, const struct stream *t)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->lines.size; i++) {
        const struct trod_line_count count = trod_tally_of(&s->tally, &s->lines.at[i]);
        uint64_t refs = 0, distant = 0;

        if (s->lines.at[i].pos == TROD_LINE_EMPTY)
            continue;
        for (size_t j = 0; j < t->n; j++)
            if (t->line[j] == s->lines.at[i].line) {
                refs++;
                distant += t->out[j] != TROD_DIST_COLD && t->out[j] > s->opt.distant;
            }
        assert_int_equal(count.refs, refs);
        assert_int_equal(count.distant, distant);
        sum += refs;
    }
    assert_int_equal(sum, t->n);
}

static void test_oracles(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 17, 100, 1500};

    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct stream t = make(kind, sizes[i], 30000, kind + 10 * i);
            struct trod_stack *s = new_stack((struct trod_stack_options){
                .distant = i % 4, .without = (uint8_t)((kind + i) % 3)});

            feed(s, &t, 0, t.n, i);
            check(s, &t, 0, sizes[i] <= 100);
            if (sizes[i] <= 100)
                check_counts(s, &t);
            trod_stack_free(s);
            drop(&t);
        }
}

/* Far more lines than positions at the beginning, and many numberings anew. */
static void test_many_lines(void **state)
{
    static const enum refs_kind kinds[] = {REFS_UNIFORM, REFS_ZIPF, REFS_MIXED, REFS_CYCLIC};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct stream t = make(kinds[i], 70000, 600000, i);
        struct trod_stack *s = new_stack((struct trod_stack_options){.without = (uint8_t)(i % 3)});

        feed(s, &t, 0, t.n, i);
        check(s, &t, 0, false);
        trod_stack_free(s);
        drop(&t);
    }
}

/* Section 6: the cyclic scan, the sawtooth, two lines in turn, runs, two scans interleaved. */
static void test_closed_forms(void **state)
{
    const uint64_t m = 1000, rounds = 20;
    struct trod_stack *s = new_stack((struct trod_stack_options){0});
    struct stream t = make(REFS_CYCLIC, m, m * rounds, 1);

    (void)state;
    feed(s, &t, 0, t.n, 1);
    assert_int_equal(trod_dist_cold(&s->dist, ALL), m);
    assert_int_equal(trod_dist_of(&s->dist, m - 1, ALL), m * (rounds - 1));
    trod_stack_free(s);
    drop(&t);

    s = new_stack((struct trod_stack_options){0});
    t = make(REFS_SAWTOOTH, m, m + (2 * m - 2) * rounds, 1);
    feed(s, &t, 0, t.n, 1);
    /* After the first sweep every distance from 1 to m-1 comes twice in 2m-2 references. */
    for (uint64_t d = 1; d < m; d++)
        assert_int_equal(trod_dist_of(&s->dist, d, ALL), 2 * rounds);
    assert_int_equal(trod_dist_of(&s->dist, 0, ALL), 0);
    trod_stack_free(s);
    drop(&t);

    s = new_stack((struct trod_stack_options){0});
    t = make(REFS_CYCLIC, 2, 10001, 1);
    feed(s, &t, 0, t.n, 1);
    assert_int_equal(trod_dist_of(&s->dist, 1, ALL), 9999);
    trod_stack_free(s);
    drop(&t);

    s = new_stack((struct trod_stack_options){0});
    t = make(REFS_RUNS, m, 5 * m * rounds, 1);
    feed(s, &t, 0, t.n, 1);
    assert_int_equal(trod_dist_of(&s->dist, 0, ALL), 4 * m * rounds);
    assert_int_equal(trod_dist_of(&s->dist, m - 1, ALL), m * (rounds - 1));
    trod_stack_free(s);
    drop(&t);

    s = new_stack((struct trod_stack_options){0});
    t = make(REFS_CYCLIC, m, 2 * m * rounds, 1);
    for (size_t i = 0; i < t.n; i++)
        t.line[i] = i % 2 * (1 << 20) + i / 2 % m;
    feed(s, &t, 0, t.n, 1);
    assert_int_equal(trod_dist_of(&s->dist, 2 * m - 1, ALL), 2 * m * (rounds - 1));
    trod_stack_free(s);
    drop(&t);
}

/* Uniform over M lines: distances are uniform on 0 ... M-1, their mean is (M-1)/2. */
static void test_uniform(void **state)
{
    struct stream t = make(REFS_UNIFORM, 500, 400000, 3);
    struct trod_stack *s = new_stack((struct trod_stack_options){0});
    double sum = 0, n = 0;

    (void)state;
    feed(s, &t, 0, t.n, 1);
    for (uint64_t d = 0; d < 500; d++) {
        sum += (double)d * (double)trod_dist_of(&s->dist, d, ALL);
        n += (double)trod_dist_of(&s->dist, d, ALL);
    }
    assert_true(sum / n > 248.5 && sum / n < 250.5);
    trod_stack_free(s);
    drop(&t);
}

/* The limit: a line that falls out of the list is a first reference when it comes again. */
static void test_limit(void **state)
{
    (void)state;
    for (unsigned limit = 1; limit < 40; limit += 1 + limit / 4)
        for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
            struct stream t = make(kind, 60, 20000, kind);
            struct trod_stack *s = new_stack((struct trod_stack_options){.limit = limit});
            uint64_t list[64], hits = 0, pruned = 0, seen[256] = {0};
            size_t n = 0;

            feed(s, &t, 0, t.n, limit);
            for (size_t i = 0; i < t.n; i++) {
                uint64_t d = list_ref(list, &n, t.line[i]);
                size_t known = 0;

                while (seen[known] && seen[known] != t.line[i] + 1)
                    known++;
                hits += d == UINT64_MAX && seen[known] != 0;
                seen[known] = t.line[i] + 1;
                if (n > limit) {
                    n--;
                    pruned++;
                }
                assert_int_equal(t.out[i], d == UINT64_MAX ? TROD_DIST_COLD : d);
            }
            assert_int_equal(s->live, n);
            assert_int_equal(s->pruned, pruned);
            assert_int_equal(s->pruned_hits, hits);
            identities(s, &t);
            trod_stack_free(s);
            drop(&t);
        }
}

/* The histograms of S and of ALL, fed with N references. */
static void same_distances(const struct trod_stack *s, const struct trod_stack *all, size_t n)
{
    for (uint64_t d = 0; d < n; d++)
        for (unsigned k = 0; k < TROD_REFS; k++)
            assert_int_equal(trod_dist_at(&s->dist, d, k), trod_dist_at(&all->dist, d, k));
    assert_memory_equal(s->dist.cold, all->dist.cold, sizeof all->dist.cold);
}

/* Parts of a stream, counted each on its own and put together in any grouping. */
static void test_append(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++)
        for (unsigned parts = 2; parts < 6; parts++) {
            const struct trod_stack_options opt = {
                .first = true, .distant = 5, .without = (uint8_t)((kind + parts) % 3)};
            struct stream t = make(kind, 40 + 400 * parts, 20000, parts), u;
            struct trod_stack *s[6], *all = new_stack(opt);
            struct trod_rng rng;
            size_t at = 0;

            trod_rng_seed(&rng, kind);
            for (unsigned i = 0; i < parts; i++) {
                size_t to = at + (size_t)trod_rng_below(&rng, 2 * (t.n - at) / (parts - i));

                to = i == parts - 1 || to > t.n ? t.n : to;
                s[i] = new_stack(opt);
                feed(s[i], &t, at, to, i);
                at = to;
            }
            /* the last two first: append groups as it likes */
            assert_true(trod_stack_append(s[parts - 2], s[parts - 1]));
            for (unsigned i = 1; i < parts - 1; i++)
                assert_true(trod_stack_append(s[0], s[i]));
            u = t;
            feed(all, &u, 0, t.n, 9);
            same_distances(s[0], all, t.n);
            identities(s[0], &t);
            check_counts(s[0], &t);
            /* and it goes on as if nothing had been parted */
            feed(all, &t, 0, 3000, 9);
            for (unsigned i = 0; i < 3000; i++)
                assert_true(t.out[i] != TROD_DIST_COLD);
            u.out = calloc(t.n, sizeof *u.out);
            assert_non_null(u.out);
            feed(s[0], &u, 0, 3000, 2);
            assert_memory_equal(u.out, t.out, 3000 * sizeof *u.out);
            free(u.out);
            for (unsigned i = 0; i < parts; i++)
                trod_stack_free(s[i]);
            trod_stack_free(all);
            drop(&t);
        }
}

/* Parts whose first references are several blocks: tables grow, and positions end. */
static void test_append_many(void **state)
{
    static const enum refs_kind kinds[] = {REFS_UNIFORM, REFS_ZIPF, REFS_MIXED, REFS_CYCLIC};

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        const struct trod_stack_options opt = {.first = true, .without = (uint8_t)(i % 3)};
        struct stream t = make(kinds[i / 2], 30000, 150000, i);
        const size_t cut[] = {0, 40000 + 7 * i, 90000 - i, t.n};
        struct trod_stack *s[3], *all = new_stack(opt);

        for (unsigned k = 0; k < 3; k++) {
            s[k] = new_stack(opt);
            feed(s[k], &t, cut[k], cut[k + 1], i);
        }
        assert_true(trod_stack_append(s[0], s[1]));
        assert_true(trod_stack_append(s[0], s[2]));
        feed(all, &t, 0, t.n, i);
        check(all, &t, 0, false);
        same_distances(s[0], all, t.n);
        identities(s[0], &t);
        assert_int_equal(trod_stack_lines(s[0]), trod_stack_lines(all));
        for (unsigned k = 0; k < 3; k++)
            trod_stack_free(s[k]);
        trod_stack_free(all);
        drop(&t);
    }
}

/* A part that began to count behind a warm-up: what is on top thereafter is what came last. */
static void test_append_warm(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
        const struct trod_stack_options opt = {.first = true, .without = (uint8_t)(kind % 3)};
        struct stream t = make(kind, 9000, 60000, kind);
        struct trod_stack *s = new_stack(opt), *warm = new_stack(opt), *all = new_stack(opt);

        feed(s, &t, 0, 10000, 1);
        feed(warm, &t, 10000, 25000, 2);
        trod_stack_restart(warm);
        feed(warm, &t, 25000, 40000, 3);
        assert_true(trod_stack_append(s, warm));
        feed(s, &t, 40000, t.n, 4);
        memcpy(t.touched, t.out, t.n * sizeof *t.out);
        feed(all, &t, 0, t.n, 5);
        assert_memory_equal(t.out + 40000, (uint32_t *)t.touched + 40000,
                            (t.n - 40000) * sizeof *t.out);
        assert_int_equal(s->live, all->live);
        trod_stack_free(s);
        trod_stack_free(warm);
        trod_stack_free(all);
        drop(&t);
    }
}

/* Counters of a histogram beyond 32 bits, however they come there. */
static void test_large_counts(void **state)
{
    static const uint64_t n[] = {
        1, UINT32_MAX, 1, UINT64_C(1) << 32, UINT64_C(0x2fffffffe), 2, UINT64_C(0xc0000000)};
    struct trod_dist a = {0}, b = {0};
    uint64_t sum = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof n / sizeof *n; i++) {
        sum += n[i];
        assert_true(trod_dist_count(&a, 700, 2, n[i]));
        assert_true(trod_dist_count(&b, 700, 2, sum));
        assert_int_equal(trod_dist_at(&a, 700, 2), sum);
    }
    for (uint64_t i = 0, all = trod_dist_at(&b, 700, 2); i < 3; i++) {
        all += sum;
        assert_true(trod_dist_add(&b, &a));
        assert_int_equal(trod_dist_at(&b, 700, 2), all);
        assert_int_equal(trod_dist_total(&b, ALL), all);
        assert_int_equal(trod_dist_next(&b, 0, 4), 700);
        assert_int_equal(trod_dist_next(&b, 0, 3), UINT64_MAX);
    }
    trod_dist_clear(&a);
    trod_dist_clear(&b);
}

/* A saved stack that says a first reference twice, or one of a line that is not there. */
static void test_load_bad(void **state)
{
    static const unsigned char saved[][26] = {
        {3, 0, 0, 0, 2, 0, 0, 0, 2, 7, 0, 9, 0, 2, 7, 2, 0, 9, 1, 0, 1, 1, 0, 0, 0, 0},
        {3, 0, 0, 0, 2, 0, 0, 0, 2, 7, 0, 7, 0, 2, 7, 2, 0, 9, 1, 0, 1, 1, 0, 0, 0, 0},
        {3, 0, 0, 0, 2, 0, 0, 0, 2, 7, 0, 8, 0, 2, 7, 2, 0, 9, 1, 0, 1, 1, 0, 0, 0, 0},
    };

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct trod_stack *s = new_stack((struct trod_stack_options){.first = true});
        struct trod_span in = {.p = saved[i], .n = sizeof saved[i]};

        assert_int_equal(trod_stack_load(s, &in), i ? TROD_ERR_CORRUPT : TROD_OK);
        trod_stack_free(s);
    }
}

/* Parts of lines that are touched before they leave a cache: against a list with masks. */
static void test_parts(void **state)
{
    (void)state;
    for (unsigned size = 1; size < 60; size += 1 + size / 3)
        for (unsigned kind = 0; kind < REFS_KINDS; kind++) {
            struct stream t = make(kind, 50, 20000, kind + 1);
            struct trod_stack *s =
                new_stack((struct trod_stack_options){.distant = 1, .resident = size});
            uint64_t list[3301], mask[3301] = {0}, parts[TROD_PARTS + 1] = {0}, got[TROD_PARTS + 1];
            size_t n = 0;

            feed(s, &t, 0, t.n, size);
            for (size_t i = 0; i < t.n; i++) {
                const uint64_t d = list_ref(list, &n, t.line[i]),
                               l = t.line[i] % 3301; /* the lines of a stream differ */

                if (d != UINT64_MAX && d >= size) {
                    parts[__builtin_popcountll(mask[l])]++;
                    mask[l] = 0;
                }
                mask[l] |= t.touched[i];
            }
            for (size_t l = 0; l < 3301; l++)
                if (mask[l])
                    parts[__builtin_popcountll(mask[l])]++;
            trod_stack_parts(s, got);
            assert_memory_equal(parts, got, sizeof got);
            trod_stack_free(s);
            drop(&t);
        }
}

static bool odd(uint64_t line, void *user)
{
    (void)user;
    return line & 1;
}

/* Forgetting lines leaves the stack of the others. */
static void test_forget(void **state)
{
    struct stream t = make(REFS_MIXED, 5000, 40000, 1), u = make(REFS_MIXED, 5000, 40000, 1);
    struct trod_stack *s = new_stack((struct trod_stack_options){.distant = 1});
    struct trod_stack *e = new_stack((struct trod_stack_options){.distant = 1});
    size_t n = 0;

    (void)state;
    feed(s, &t, 0, 20000, 1);
    assert_true(trod_stack_forget(s, odd, NULL));
    for (size_t i = 0; i < t.n; i++)
        if (!(t.line[i] & 1)) {
            if (i < 20000)
                u.n = n + 1;
            u.line[n] = t.line[i];
            u.class[n] = t.class[i];
            t.line[n] = t.line[i];
            t.class[n++] = t.class[i];
        }
    feed(e, &u, 0, n, 3);
    feed(s, &t, u.n, n, 2);
    assert_memory_equal(t.out + u.n, u.out + u.n, (n - u.n) * sizeof *t.out);
    assert_int_equal(trod_stack_lines(s), trod_stack_lines(e));
    trod_stack_free(s);
    trod_stack_free(e);
    drop(&t);
    drop(&u);
}

/* Streams summed: histograms and counters add up, lines are united. */
static void test_sum(void **state)
{
    struct stream t = make(REFS_ZIPF, 700, 30000, 1), u = make(REFS_UNIFORM, 500, 30000, 3);
    const struct trod_stack_options opt = {.distant = 100};
    struct trod_stack *a = new_stack(opt), *b = new_stack(opt);
    uint64_t total[3], distinct = 0, seen[700] = {0};

    (void)state;
    feed(a, &t, 0, t.n, 1);
    feed(b, &u, 0, u.n, 2);
    total[0] = trod_dist_at(&a->dist, 3, TROD_REF_READ);
    total[1] = trod_dist_at(&b->dist, 3, TROD_REF_READ);
    assert_true(trod_stack_sum(a, b));
    assert_int_equal(trod_dist_at(&a->dist, 3, TROD_REF_READ), total[0] + total[1]);
    assert_int_equal(trod_dist_total(&a->dist, ALL), t.n + u.n);
    for (size_t i = 0; i < t.n; i++) {
        seen[t.line[i]]++;
        seen[u.line[i]]++;
    }
    for (unsigned l = 0; l < 700; l++)
        distinct += seen[l] != 0;
    assert_int_equal(trod_stack_lines(a), distinct);
    for (uint64_t l = 0; l < 700; l++) {
        const size_t slot = trod_lines_slot(&a->lines, l);

        if (seen[l])
            assert_int_equal(trod_tally_of(&a->tally, &a->lines.at[slot]).refs, seen[l]);
    }
    trod_stack_free(a);
    trod_stack_free(b);
    drop(&t);
    drop(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracles),      cmocka_unit_test(test_many_lines),
        cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_limit),        cmocka_unit_test(test_append),
        cmocka_unit_test(test_parts),        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_sum),          cmocka_unit_test(test_append_many),
        cmocka_unit_test(test_append_warm),  cmocka_unit_test(test_large_counts),
        cmocka_unit_test(test_load_bad),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
