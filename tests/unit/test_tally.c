/*
 * test_tally.c - references of lines, more often than the number beside a line can say.
 *
 * What must hold: src/sim/locality/tally.h. The oracle counts each line in numbers of 64 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "refs_gen.h"
#include "sim/locality/save.h"
#include "sim/locality/stack.h"

/* ---- the tally alone */

enum { LINES = 300, STEPS = 200000 };

static void compare(const struct trod_tally *t, const struct trod_line *at,
                    const struct trod_line_count *want)
{
    for (size_t i = 0; i < LINES; i++) {
        const struct trod_line_count is = trod_tally_of(t, &at[i]);

        assert_int_equal(is.refs, want[i].refs);
        assert_int_equal(is.distant, want[i].distant);
    }
}

/* Notes of all sizes, large counts, and lines that are forgotten, in any order. */
static void test_tally(void **state)
{
    static struct trod_line at[LINES];
    static struct trod_line_count want[LINES];
    struct trod_tally t = {.n = 0};
    struct trod_rng rng;

    (void)state;
    trod_rng_seed(&rng, 1);
    for (uint64_t i = 0; i < LINES; i++)
        at[i].line = i * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned step = 0; step < STEPS; step++) {
        const size_t i = (size_t)trod_rng_below(&rng, LINES);
        const uint64_t most = UINT64_C(1) << trod_rng_below(&rng, 13);
        struct trod_line_count more = {trod_rng_below(&rng, most + 1),
                                       trod_rng_below(&rng, most + 1)};

        if (i % 3 < 2) /* either overflows alone */
            *(i % 3 ? &more.refs : &more.distant) = 0;
        if (trod_rng_below(&rng, 2000) == 0) {
            trod_tally_forget(&t, &at[i]);
            want[i] = (struct trod_line_count){.refs = 0};
        }
        if (trod_rng_below(&rng, 4) == 0) {
            more.refs <<= trod_rng_below(&rng, 40);
            more.distant <<= trod_rng_below(&rng, 40);
            trod_tally_add(&t, &at[i], more);
        } else {
            trod_tally_note(&t, &at[i],
                            trod_tally_notes((uint32_t)more.refs, (uint32_t)more.distant));
        }
        want[i].refs += more.refs;
        want[i].distant += more.distant;
        if (step % 20000 == 0)
            compare(&t, at, want);
    }
    compare(&t, at, want);
    assert_true(t.n > 100 && !t.failed);
    trod_tally_clear(&t);
    for (size_t i = 0; i < LINES; i++)
        at[i].lately = 0;
    memset(want, 0, sizeof want);
    compare(&t, at, want);
    trod_tally_fini(&t);
}

/* ---- stacks */

/* A line has 2^18 references, and others 2^14 distant ones: all numbers overflow. */
enum { OFTEN = 12, REFS = 1 << 20, DISTANT = 5 };

struct counted {
    uint64_t line[REFS];
    uint8_t class[REFS];
    struct trod_line_count want[OFTEN + 1];
};

/* Rounds of OFTEN lines, and sometimes one of them many times, or by turns with another. */
static struct counted *make(void)
{
    struct counted *c = calloc(1, sizeof *c);
    uint64_t last[OFTEN + 1] = {0}; /* its last reference + 1 */
    struct trod_rng rng;

    assert_non_null(c);
    trod_rng_seed(&rng, 2);
    for (size_t i = 0, k; i < REFS; i += k) {
        const uint64_t way = trod_rng_below(&rng, 3), one = 1 + trod_rng_below(&rng, 2);

        k = (size_t)trod_rng_below(&rng, 5000) + 1;
        k = k < REFS - i ? k : REFS - i;
        for (size_t j = i; j < i + k; j++)
            c->line[j] = way == 0 ? one : way == 1 && j % 2 ? one : 1 + j % OFTEN;
    }
    for (size_t i = 0; i < REFS; i++) {
        const uint64_t l = c->line[i];
        unsigned d = 0;

        for (unsigned k = 1; k <= OFTEN; k++)
            d += last[l] && last[k] > last[l];
        c->want[l].refs++;
        c->want[l].distant += d > DISTANT;
        last[l] = i + 1;
    }
    return c;
}

static struct trod_line_count counted_of(const struct trod_stack *s, uint64_t line)
{
    return trod_tally_of(&s->tally, &s->lines.at[trod_lines_slot(&s->lines, line)]);
}

static void compare_stack(const struct trod_stack *s, const struct counted *c, uint64_t times)
{
    for (uint64_t l = 1; l <= OFTEN; l++) {
        const struct trod_line_count is = counted_of(s, l);

        assert_int_equal(is.refs, times * c->want[l].refs);
        assert_int_equal(is.distant, times * c->want[l].distant);
    }
}

static struct trod_stack *fed(const struct counted *c, size_t from, size_t to, bool each,
                              uint32_t limit, uint8_t without)
{
    const struct trod_stack_options opt = {
        .first = true, .distant = DISTANT, .limit = limit, .without = without};
    struct trod_stack *s = trod_stack_new(&opt);
    uint32_t *out = each ? calloc(REFS, sizeof *out) : NULL;
    const struct trod_refs r = {c->line + from, c->class + from, NULL};

    assert_true(s && (out || !each));
    assert_true(trod_stack_feed(s, &r, to - from, out));
    free(out);
    return s;
}

static void test_stacks(void **state)
{
    struct counted *c = make();
    const struct trod_refs r = {c->line, c->class, NULL};

    (void)state;
    assert_true(c->want[1].refs > 1 << 18 && c->want[12].distant > 1 << 13);
    for (uint8_t form = 0; form < 7; form++) {
        struct trod_stack *s =
            fed(c, 0, REFS, form >= 3, form == 6 ? OFTEN : 0, (uint8_t)(form % 3));

        compare_stack(s, c, 1);
        trod_stack_restart(s);
        for (uint64_t l = 1; l <= OFTEN; l++)
            assert_int_equal(counted_of(s, l).refs, 0);
        assert_true(trod_stack_feed(s, &r, REFS, NULL));
        for (uint64_t l = 1; l <= OFTEN; l++)
            assert_int_equal(counted_of(s, l).refs, c->want[l].refs);
        trod_stack_free(s);
    }
    free(c);
}

/* Two stretches one behind the other; two stacks; and one saved and read again. */
static void test_together(void **state)
{
    struct counted *c = make();
    struct trod_stack *a = fed(c, 0, REFS / 3, false, 0, 0);
    struct trod_stack *b = fed(c, REFS / 3, REFS, false, 0, 0);
    struct trod_stack *d = trod_stack_new(&a->opt);
    struct trod_buf saved = {.p = NULL};
    struct trod_span in;

    (void)state;
    assert_non_null(d);
    assert_true(trod_stack_append(a, b));
    compare_stack(a, c, 1);
    assert_int_equal(trod_stack_save(a, &saved), TROD_OK);
    in = (struct trod_span){.p = saved.p, .n = saved.n};
    assert_int_equal(trod_stack_load(d, &in), TROD_OK);
    compare_stack(d, c, 1);
    assert_true(trod_stack_sum(d, a));
    compare_stack(d, c, 2);
    trod_buf_fini(&saved);
    trod_stack_free(a);
    trod_stack_free(b);
    trod_stack_free(d);
    free(c);
}

static bool is_one(uint64_t line, void *user)
{
    return line == *(const uint64_t *)user;
}

/* A line that was forgotten is counted anew when it comes back. */
static void test_forgotten(void **state)
{
    struct counted *c = make();
    struct trod_stack *s = fed(c, 0, REFS, false, 0, 0);
    uint64_t one = 1;
    const struct trod_refs r = {c->line, c->class, NULL};

    (void)state;
    assert_true(trod_stack_forget(s, is_one, &one));
    for (size_t i = 0; i < REFS; i++)
        c->line[i] = one;
    assert_true(trod_stack_feed(s, &r, REFS, NULL));
    c->want[1] = (struct trod_line_count){.refs = REFS};
    compare_stack(s, c, 1);
    trod_stack_free(s);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tally),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
