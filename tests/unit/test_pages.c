/*
 * test_pages.c - sets of bytes by page against sorted lists of every byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/pages.h"
#include "core/rng.h"

enum { MARKS = 600, MAX = 1 << 19 };

/* The oracle: every byte that was marked. */
struct list {
    uint64_t *addr;
    size_t n;
};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void list_mark(struct list *l, uint64_t addr, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_true(l->n < MAX);
        l->addr[l->n++] = addr + i;
        if (addr + i == UINT64_MAX)
            break;
    }
}

static uint64_t list_lines(struct list *l, uint64_t line)
{
    uint64_t n = 0;

    qsort(l->addr, l->n, sizeof *l->addr, by_value);
    for (size_t i = 0; i < l->n; i++)
        n += i == 0 || l->addr[i] / line != l->addr[i - 1] / line;
    return n;
}

/* Addresses that cluster, cross words and pages, and reach the end of the address space. */
static uint64_t address(struct trod_rng *r)
{
    static const uint64_t base[] = {0x400000, 0x7fff12345000, UINT64_C(0xffffffff81000ff0),
                                    UINT64_MAX - 5000, 0};

    return base[trod_rng_below(r, 5)] + trod_rng_below(r, 5001);
}

static void compare(const struct trod_pages *s, unsigned plane, struct list *l)
{
    assert_int_equal(trod_pages_count(s, plane), list_lines(l, 1));
    for (uint32_t line = 1; line <= TROD_PAGE_LINE_MAX; line *= 2)
        assert_int_equal(trod_pages_lines(s, plane, line), list_lines(l, line));
}

static void test_marks(void **state)
{
    struct trod_rng r;
    struct list l[2] = {{malloc(MAX * sizeof(uint64_t)), 0}, {malloc(MAX * sizeof(uint64_t)), 0}};
    struct trod_pages *s = trod_pages_new(2, 0);

    (void)state;
    trod_rng_seed(&r, 1);
    for (int i = 0; i < MARKS; i++) {
        unsigned plane = (unsigned)trod_rng_below(&r, 2);
        uint32_t n = (uint32_t)trod_rng_below(&r, i % 20 == 0 ? 9000 : 70);
        uint64_t addr = address(&r);

        assert_int_equal(trod_pages_mark(s, plane, addr, n), TROD_OK);
        list_mark(&l[plane], addr, n);
        if (i % 100 == 99)
            for (unsigned k = 0; k < 2; k++)
                compare(s, k, &l[k]);
    }
    for (unsigned k = 0; k < 2; k++)
        free(l[k].addr);
    trod_pages_free(s);
}

/*
 * Accesses of very many pages, among small ones and on their edges, against lists of the parts of
 * 64 bytes that they touch: all of them begin and end there.
 */
static void test_wide(void **state)
{
    static const uint64_t base[] = {0x400000, 0x7fff12345000, UINT64_MAX - (1 << 22) + 1};
    enum { GRAIN = 64 };
    struct trod_rng r;
    struct list l = {malloc(MAX * sizeof(uint64_t)), 0};
    struct trod_pages *part[2] = {trod_pages_new(1, 0), trod_pages_new(1, 0)}, *s = NULL;
    struct trod_buf a = {0};
    struct trod_span in;

    (void)state;
    trod_rng_seed(&r, 3);
    for (int i = 0; i < 60; i++) {
        const uint32_t n = (uint32_t)trod_rng_below(&r, i % 3 ? 40 : 8000);
        const uint64_t addr = base[trod_rng_below(&r, 3)] + trod_rng_below(&r, 60000) * GRAIN;

        assert_int_equal(trod_pages_mark(part[i & 1], 0, addr, n * GRAIN), TROD_OK);
        for (uint32_t k = 0; k < n && addr / GRAIN + k <= UINT64_MAX / GRAIN; k++)
            l.addr[l.n++] = (addr / GRAIN + k) * GRAIN;
        assert_true(l.n < MAX - 8000);
    }
    assert_int_equal(trod_pages_merge(part[0], part[1]), TROD_OK);
    a.n = 0;
    assert_int_equal(trod_pages_save(part[0], &a), TROD_OK);
    in = (struct trod_span){.p = a.p, .n = a.n};
    assert_int_equal(trod_pages_load(&s, &in), TROD_OK);
    assert_int_equal(in.n, 0);
    for (uint32_t line = GRAIN; line <= TROD_PAGE_LINE_MAX; line *= 2)
        assert_int_equal(trod_pages_lines(s, 0, line), list_lines(&l, line));
    assert_int_equal(trod_pages_count(s, 0), GRAIN * list_lines(&l, GRAIN));
    assert_int_equal(trod_pages_lines(s, 0, 16), 4 * list_lines(&l, GRAIN));
    for (size_t n = 0; n < a.n; n += 1 + n / 64) {
        struct trod_pages *cut = NULL;

        in = (struct trod_span){.p = a.p, .n = n};
        assert_int_equal(trod_pages_load(&cut, &in), TROD_ERR_CORRUPT);
    }
    trod_pages_free(part[0]);
    trod_pages_free(part[1]);
    trod_pages_free(s);
    trod_buf_fini(&a);
    free(l.addr);
}

/* The largest accesses, again and again: no time and memory for each of their pages. */
static void test_largest(void **state)
{
    enum { TIMES = 100000 };
    struct trod_pages *s = trod_pages_new(1, 0);

    (void)state;
    for (uint64_t i = 0; i < TIMES; i++)
        assert_int_equal(trod_pages_mark(s, 0, i % 100 << 33, UINT32_MAX), TROD_OK);
    assert_int_equal(trod_pages_count(s, 0), UINT64_C(100) * UINT32_MAX);
    assert_int_equal(trod_pages_lines(s, 0, 64), 100 * (UINT64_C(1) << 26));
    assert_true(s->n <= 100 && s->run[0]->cap < TIMES / 10);
    trod_pages_free(s);
}

/* A page that is full gives its memory back and still counts; so does a set of many. */
static void test_full(void **state)
{
    struct trod_pages *s = trod_pages_new(1, 0), *t = trod_pages_new(1, 0);

    (void)state;
    for (uint64_t at = 0; at < 64 * 4096; at += 48)
        assert_int_equal(trod_pages_mark(s, 0, 0x10000 + at, 48), TROD_OK);
    assert_int_equal(trod_pages_count(s, 0), 64 * 4096 + 32); /* 48 does not divide it */
    assert_int_equal(trod_pages_lines(s, 0, 64), 64 * 64 + 1);
    assert_ptr_equal(trod_pages_get(s, 0x10000 >> TROD_PAGE_SHIFT),
                     trod_pages_get(s, 0x11000 >> TROD_PAGE_SHIFT));
    assert_int_equal(trod_pages_merge(t, s), TROD_OK);
    assert_int_equal(trod_pages_merge(t, s), TROD_OK);
    assert_int_equal(trod_pages_count(t, 0), 64 * 4096 + 32);
    trod_pages_free(s);
    trod_pages_free(t);
}

static void pack(const struct trod_pages *s, struct trod_buf *out)
{
    out->n = 0;
    assert_int_equal(trod_pages_save(s, out), TROD_OK);
}

/* Two places of 100 bytes, in different pages of group I. */
static void mark_group(struct trod_pages *s, uint64_t i)
{
    trod_pages_mark(s, 0, i << 14 | 64, 100);
    trod_pages_mark(s, 0, i << 14 | 0xc40, 100);
}

/* A sample does not depend on the order, nor on how the work is parted; it estimates well. */
static void test_sample(void **state)
{
    enum { PAGES = 20000, CAP = 2000 };
    struct trod_pages *one = trod_pages_new(1, CAP), *part[3], *sum = trod_pages_new(1, CAP);
    struct trod_buf a = {0}, b = {0};
    uint64_t estimate;

    (void)state;
    for (int k = 0; k < 3; k++)
        part[k] = trod_pages_new(1, CAP);
    for (uint64_t i = 0; i < PAGES; i++) {
        uint64_t other = i * 7919 % PAGES;

        mark_group(one, i);
        mark_group(part[other % 7 % 3], other);
    }
    for (int k = 2; k >= 0; k--)
        assert_int_equal(trod_pages_merge(sum, part[k]), TROD_OK);
    pack(one, &a);
    pack(sum, &b);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
    assert_true(one->level > 0 && one->n <= CAP);
    estimate = trod_pages_count(one, 0);
    assert_in_range(estimate, PAGES * 200 * 9 / 10, PAGES * 200 * 11 / 10);
    assert_in_range(trod_pages_lines(one, 0, 64), PAGES * 4 * 9 / 10, PAGES * 4 * 11 / 10);
    assert_int_equal(estimate, 200 * trod_pages_lines(one, 0, TROD_PAGE_LINE_MAX));
    for (int k = 0; k < 3; k++)
        trod_pages_free(part[k]);
    trod_pages_free(one);
    trod_pages_free(sum);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
}

static void test_save(void **state)
{
    struct trod_rng r;
    struct trod_pages *s = trod_pages_new(2, 100), *t = NULL;
    struct trod_buf a = {0}, b = {0};
    struct trod_span in;

    (void)state;
    trod_rng_seed(&r, 2);
    for (int i = 0; i < MARKS; i++)
        trod_pages_mark(s, i & 1, address(&r), (uint32_t)trod_rng_below(&r, 9000));
    pack(s, &a);
    in = (struct trod_span){.p = a.p, .n = a.n};
    assert_int_equal(trod_pages_load(&t, &in), TROD_OK);
    assert_int_equal(in.n, 0);
    pack(t, &b);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
    assert_int_equal(trod_pages_count(s, 0), trod_pages_count(t, 0));
    trod_pages_free(t);
    for (size_t n = 0; n < a.n; n += 1 + n / 64) {
        in = (struct trod_span){.p = a.p, .n = n};
        assert_int_equal(trod_pages_load(&t, &in), TROD_ERR_CORRUPT);
        assert_null(t);
    }
    trod_pages_free(s);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks), cmocka_unit_test(test_wide),   cmocka_unit_test(test_largest),
        cmocka_unit_test(test_full),  cmocka_unit_test(test_sample), cmocka_unit_test(test_save),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
