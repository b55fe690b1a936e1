/*
 * test_stack_loops.c - stack distances of references that come back as those of loops do.
 *
 * Where nobody asks for the distance of each reference, lines that come back again and again are
 * counted without a look at them (src/sim/locality/looks.c). Histograms and counters are compared
 * with those that follow from Olken's tree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "olken.h"
#include "sim/locality/stack.h"

enum { REFS = 60000, LINES = 6000 };

static uint64_t line[REFS];
static uint8_t class[REFS];
static size_t n_refs;
static struct trod_rng rng;

static size_t below(size_t n)
{
    return (size_t)trod_rng_below(&rng, n);
}

/* A reference to L, seldom more than one, and seldom of another class than the line's own. */
static void put(uint64_t l)
{
    for (size_t n = below(8) ? 1 : 1 + below(3); n > 0 && n_refs < REFS; n--) {
        line[n_refs] = l;
        class[n_refs++] = (uint8_t)(below(60) ? l % TROD_REFS : below(TROD_REFS));
    }
}

/* One of the lines of SIZE behind FIRST. */
static uint64_t any(uint64_t first, size_t size)
{
    return first + below(size);
}

/* A line that comes after each other one, another after each second, rounds, and what is neither.
 */
static void phrase(size_t lines)
{
    const uint64_t c = any(0, lines), s = any(0, lines), first = any(0, lines);
    const size_t kind = below(6), n = 1 + below(below(4) ? 12 : 200), period = 2 + below(4);
    const size_t others = 1 + below(below(2) ? 3 : lines);
    uint64_t round[8];

    for (size_t i = 0; i < period; i++)
        round[i] = any(0, lines);
    for (size_t i = 0; i < n; i++)
        switch (kind) {
        case 0:
        case 1:
            put(c);
            put(any(first, others));
            break;
        case 2:
        case 3:
            put(c);
            put(s);
            put(c);
            put(any(first, others));
            break;
        case 4:
            for (size_t k = 0; k < period; k++)
                put(round[k]);
            break;
        default:
            put(any(0, lines));
        }
}

/* Histograms and counters of REFS references, each looked up in a tree. */
struct found {
    uint64_t at[2 * LINES][TROD_REFS], cold[TROD_REFS];
    uint64_t refs[2 * LINES], distant[2 * LINES];
};

static void find(struct found *f, uint32_t distant)
{
    struct olken o;

    memset(f, 0, sizeof *f);
    olken_init(&o);
    for (size_t i = 0; i < n_refs; i++) {
        const uint64_t d = olken_ref(&o, line[i]);

        f->refs[line[i]]++;
        if (d == UINT64_MAX) {
            f->cold[class[i]]++;
            continue;
        }
        assert_true(d < 2 * LINES);
        f->at[d][class[i]]++;
        f->distant[line[i]] += d > distant;
    }
    olken_fini(&o);
}

static void compare(const struct trod_stack *s, const struct found *f)
{
    for (unsigned d = 0; d < 2 * LINES; d++)
        for (unsigned k = 0; k < TROD_REFS; k++)
            assert_int_equal(trod_dist_at(&s->dist, d, k), f->at[d][k]);
    assert_memory_equal(s->dist.cold, f->cold, sizeof f->cold);
    for (uint64_t l = 0; l < 2 * LINES; l++) {
        const size_t slot = trod_lines_slot(&s->lines, l);
        const struct trod_line_count count = trod_tally_of(&s->tally, &s->lines.at[slot]);

        if (!f->refs[l])
            continue;
        assert_int_equal(count.refs, f->refs[l]);
        assert_int_equal(count.distant, f->distant[l]);
    }
}

/* In stretches of random lengths, of which some are asked for each distance if EACH. */
static void feed(struct trod_stack *s, bool each)
{
    static uint32_t out[REFS];

    for (size_t i = 0, n; i < n_refs; i += n) {
        const struct trod_refs r = {line + i, class + i, NULL};

        n = 1 + below(below(3) ? 60 : 9000);
        n = n < n_refs - i ? n : n_refs - i;
        assert_true(trod_stack_feed(s, &r, n, each && below(2) ? out : NULL));
    }
}

static void check(size_t lines, uint32_t distant)
{
    static struct found f;

    n_refs = 0;
    while (n_refs < REFS)
        phrase(lines);
    find(&f, distant);
    for (unsigned form = 0; form < 6; form++) {
        const struct trod_stack_options opt = {.distant = distant, .without = (uint8_t)(form % 3)};
        struct trod_stack *s = trod_stack_new(&opt);

        assert_non_null(s);
        feed(s, form >= 3);
        compare(s, &f);
        trod_stack_free(s);
    }
}

static void test_loops(void **state)
{
    static const size_t lines[] = {2, 3, 4, 6, 20, 90, 400, 1100, LINES};

    (void)state;
    trod_rng_seed(&rng, 5);
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        for (unsigned k = 0; k < 6; k++)
            check(lines[i], k);
}

/* Lines of one class alone: blocks whose items are all settled, up to their last one. */
static void test_ends(void **state)
{
    static struct found f;

    (void)state;
    for (unsigned period = 1; period < 7; period++)
        for (unsigned n = 1; n < 40; n++) {
            const struct trod_stack_options opt = {.distant = period / 2};
            struct trod_stack *s = trod_stack_new(&opt);
            const struct trod_refs r = {line, class, NULL};

            assert_non_null(s);
            for (n_refs = 0; n_refs < n; n_refs++) {
                line[n_refs] = n_refs % 2 && period > 4 ? 0 : 1 + n_refs % period;
                class[n_refs] = TROD_REF_READ;
            }
            find(&f, opt.distant);
            assert_true(trod_stack_feed(s, &r, n, NULL));
            compare(s, &f);
            trod_stack_free(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
