/*
 * test_flame.c - folded stacks: of stacks that are added in any order each comes once, with the sum
 * of its counts, and lines are in the order of their bytes, whatever names begin with. Pictures
 * have all characters of names that XML allows.
 */
#include "core/rng.h"
#include "trod/buf.h"
#include "trod/flame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STACKS = 400, LONG = 64, ROUNDS = 30 };

struct line {
    char stack[LONG];
    uint64_t count;
};

/* Characters on both sides of ';', names that are beginnings of others. */
static const char *const names[] = {"a",  "a b", "a:",        "a<", "a(",
                                    "ab", "b",   "a\xc3\xa9", "0",  "a b;a"};

static void random_stack(struct trod_rng *r, char out[LONG])
{
    const unsigned n = 1 + (unsigned)trod_rng_below(r, 5);

    out[0] = '\0';
    for (unsigned i = 0; i < n; i++)
        snprintf(out + strlen(out), LONG - strlen(out), "%s%s", i ? ";" : "",
                 names[trod_rng_below(r, sizeof names / sizeof *names)]);
}

static int by_bytes(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return strcmp(x->stack, y->stack); /* as unsigned characters */
}

/* Equal stacks of the N lines AT become one; how many are left. */
static size_t add_up(struct line *at, size_t n)
{
    size_t m = 0;

    qsort(at, n, sizeof *at, by_bytes);
    for (size_t i = 0; i < n; i++)
        if (m && strcmp(at[m - 1].stack, at[i].stack) == 0)
            at[m - 1].count += at[i].count;
        else
            at[m++] = at[i];
    return m;
}

static void test_order(void **state)
{
    struct trod_flame_options opt = {.struct_size = sizeof opt};
    struct trod_rng r;

    (void)state;
    trod_rng_seed(&r, 5);
    for (unsigned round = 0; round < ROUNDS; round++) {
        static struct line line[STACKS];
        struct trod_buf got = {0}, want = {0};
        struct trod_flame *f;
        size_t n = 1 + (size_t)trod_rng_below(&r, STACKS);

        assert_int_equal(trod_flame_new(&f), TROD_OK);
        for (size_t i = 0; i < n; i++) {
            random_stack(&r, line[i].stack);
            line[i].count = 1 + trod_rng_below(&r, 9);
            assert_int_equal(
                trod_flame_add(f, line[i].stack, strlen(line[i].stack), 0, line[i].count), TROD_OK);
        }
        n = add_up(line, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(trod_buf_printf(&want, "%s %llu\n", line[i].stack,
                                             (unsigned long long)line[i].count),
                             TROD_OK);
        assert_int_equal(trod_flame_stacks(f), n);
        assert_int_equal(trod_flame_folded(f, &opt, &got), TROD_OK);
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p, want.p, want.n);
        trod_buf_fini(&got);
        trod_buf_fini(&want);
        trod_flame_free(f);
    }
}

static void test_names(void **state)
{
    const struct trod_flame_options opt = {.struct_size = sizeof opt, .unit = "instructions"};
    static const char name[] = "a\xc3\xa9 \xe2\x98\x83 \xf0\x9f\x98\x80 \xef\xbf\xbd";
    static const char none[] = "b\xef\xbf\xbf\xef\xbf\xbe\xc3 \x01\x7f";
    struct trod_flame *f;
    struct trod_buf out = {0};

    (void)state;
    assert_int_equal(trod_flame_new(&f), 0);
    assert_int_equal(trod_flame_add(f, name, strlen(name), 0, 3), 0);
    assert_int_equal(trod_flame_add(f, none, strlen(none), 0, 3), 0);
    assert_int_equal(trod_flame_svg(f, &opt, &out), 0);
    assert_int_equal(trod_buf_add(&out, "", 1), 0);
    assert_non_null(strstr((char *)out.p, name));
    assert_non_null(strstr((char *)out.p, "\"b??????? ??\""));
    trod_buf_fini(&out);
    trod_flame_free(f);
}

struct drained {
    struct trod_buf all;
    size_t most;     /* bytes given at a time */
    unsigned pieces; /* given so far */
    unsigned fails;  /* the piece that is not taken; 0: none */
};

static int drain(void *user, const uint8_t *p, size_t n)
{
    struct drained *d = user;

    d->most = n > d->most ? n : d->most;
    if (++d->pieces == d->fails)
        return TROD_ERR_IO;
    return trod_buf_add(&d->all, p, n);
}

/* A long text that is taken as it comes is the text that is kept, and it is not kept. */
static void test_drain(void **state)
{
    enum { LINES = 20000, PIECE = 1 << 18, LINE = 200 };
    const struct trod_flame_options opt = {.struct_size = sizeof opt, .unit = "instructions"};
    int (*const put[])(const struct trod_flame *, const struct trod_flame_options *,
                       struct trod_buf *) = {trod_flame_folded, trod_flame_svg};
    struct trod_flame *f;

    (void)state;
    assert_int_equal(trod_flame_new(&f), 0);
    for (unsigned i = 0; i < LINES; i++) {
        char stack[LINE];
        const int n = snprintf(stack, sizeof stack, "main;function_%u;with_a_long_name_%u;%u",
                               i % 100, i % 5000, i);

        assert_int_equal(trod_flame_add(f, stack, (size_t)n, 0, 1 + i % 3), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct drained d = {.most = 0}, failing = {.fails = 2};
        struct trod_buf kept = {0}, some = {.drain = drain, .user = &d};
        struct trod_buf none = {.drain = drain, .user = &failing};

        assert_int_equal(put[i](f, &opt, &kept), TROD_OK);
        assert_int_equal(put[i](f, &opt, &some), TROD_OK);
        assert_true(d.pieces >= 2 && d.most < PIECE + 8 * LINE && some.cap <= 2 * PIECE);
        assert_int_equal(trod_buf_add(&d.all, some.p, some.n), TROD_OK);
        assert_int_equal(d.all.n, kept.n);
        assert_memory_equal(d.all.p, kept.p, kept.n);
        assert_int_equal(put[i](f, &opt, &none), TROD_ERR_IO);
        trod_buf_fini(&d.all);
        trod_buf_fini(&failing.all);
        trod_buf_fini(&kept);
        trod_buf_fini(&some);
        trod_buf_fini(&none);
    }
    trod_flame_free(f);
}

/* Parents with few children and with many: each child is one, however often it comes. */
static void test_children(void **state)
{
    struct trod_rng r;

    (void)state;
    trod_rng_seed(&r, 11);
    for (unsigned most = 1; most <= 40; most++) {
        uint64_t count[2][40] = {{0}}, all = 0, stacks = 0;
        struct trod_flame *f;

        assert_int_equal(trod_flame_new(&f), 0);
        for (unsigned i = 0; i < 12 * most; i++) {
            const unsigned child = (unsigned)(trod_rng_next(&r) % most), side = i % 2;
            char text[32];
            const int n = snprintf(text, sizeof text, "%s;f%u", side ? "b" : "main", child);

            assert_int_equal(trod_flame_add(f, text, (size_t)n, 0, i), 0);
            stacks += i && count[side][child] == 0;
            count[side][child] += i;
            all += i;
        }
        assert_int_equal(trod_flame_stacks(f), stacks);
        assert_int_equal(trod_flame_total(f, 0), all);
        trod_flame_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_children),
                                       cmocka_unit_test(test_drain)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
