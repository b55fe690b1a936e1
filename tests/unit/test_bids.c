/*
 * test_bids.c - the rules of detection on made-up formats (docs/design.md, "Detection").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trod/format.h"

#include <string.h>

static int bits[3];

static int bid_a(const struct trod_probe *p, const char **dialect)
{
    (void)p;
    *dialect = "odd";
    return bits[0];
}

static int bid_b(const struct trod_probe *p, const char **dialect)
{
    (void)p;
    (void)dialect;
    return bits[1];
}

static int bid_c(const struct trod_probe *p, const char **dialect)
{
    (void)p;
    (void)dialect;
    return bits[2];
}

static const char *const suffix_a[] = {".aaa", NULL}, *const suffix_b[] = {".bbb", NULL};
static const struct trod_format a = {.name = "a", .bid = bid_a, .suffixes = suffix_a};
static const struct trod_format b = {.name = "b", .bid = bid_b, .suffixes = suffix_b};
static const struct trod_format c = {.name = "c", .bid = bid_c};

static char said[1024];

static void sink(void *user, const struct trod_problem *p)
{
    (void)user;
    strncpy(said, p->message, sizeof said - 1);
}

/* Detect with the given bits, in all orders of the three drivers: they must agree. */
static int detect(int x, int y, int z, const char *path, struct trod_candidate *best)
{
    const struct trod_format *const orders[][3] = {{&a, &b, &c}, {&a, &c, &b}, {&b, &a, &c},
                                                   {&b, &c, &a}, {&c, &a, &b}, {&c, &b, &a}};
    const struct trod_probe probe = {.head = {(const uint8_t *)"x", 1, 0, true}, .path = path};
    struct trod_candidate first = {0};
    struct trod_diag diag;
    int rc = 0;

    bits[0] = x;
    bits[1] = y;
    bits[2] = z;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct trod_candidate now = {0};
        int r;

        trod_diag_init(&diag, sink, NULL);
        r = trod_detect(&probe, orders[i], 3, &now, &diag);
        assert_int_equal(diag.errors, r < 0);
        if (i == 0) {
            first = now;
            rc = r;
        }
        assert_int_equal(r, rc);
        assert_ptr_equal(now.format, first.format);
    }
    *best = first;
    return rc;
}

static void test_threshold(void **state)
{
    struct trod_candidate best;

    (void)state;
    assert_int_equal(detect(TROD_BID_ACCEPT, 0, 0, NULL, &best), 0);
    assert_ptr_equal(best.format, &a);
    assert_int_equal(best.bits, TROD_BID_ACCEPT);
    assert_string_equal(best.dialect, "odd");
    assert_int_equal(detect(TROD_BID_ACCEPT - 1, 0, 0, NULL, &best), TROD_ERR_UNKNOWN);
    assert_int_equal(detect(0, 0, 0, "x.aaa", &best), TROD_ERR_UNKNOWN);
}

static void test_lead(void **state)
{
    struct trod_candidate best;

    (void)state;
    assert_int_equal(detect(40, 40 - TROD_BID_LEAD, 1, NULL, &best), 0);
    assert_ptr_equal(best.format, &a);
    assert_int_equal(detect(40, 41 - TROD_BID_LEAD, 1, NULL, &best), TROD_ERR_AMBIGUOUS);
    assert_non_null(strstr(said, "a or b"));
    assert_non_null(strstr(said, "--from"));
    assert_int_equal(detect(50, 49, 48, NULL, &best), TROD_ERR_AMBIGUOUS);
    assert_non_null(strstr(said, "a, b or c"));
}

static void test_suffix_breaks_ties_only(void **state)
{
    struct trod_candidate best;

    (void)state;
    assert_int_equal(detect(40, 40, 0, "x.bbb", &best), 0);
    assert_ptr_equal(best.format, &b);
    assert_int_equal(detect(40, 40, 0, "x.bbb.gz", &best), 0);
    assert_ptr_equal(best.format, &b);
    assert_int_equal(detect(40, 30, 0, "x.bbb", &best), 0);
    assert_ptr_equal(best.format, &a);
    assert_int_equal(detect(40, 40, 0, "x.ccc", &best), TROD_ERR_AMBIGUOUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_lead),
        cmocka_unit_test(test_suffix_breaks_ties_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
