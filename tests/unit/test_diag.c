/*
 * test_diag.c - counting problems and handing them on; the names of the statuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trod/trod.h"

/* What a sink saw. */
struct seen {
    unsigned n;
    struct trod_problem last;
    char message[2048];
};

static void sink(void *user, const struct trod_problem *p)
{
    struct seen *s = user;
    s->n++;
    s->last = *p;
    snprintf(s->message, sizeof s->message, "%s", p->message);
}

static void status_names_differ(void **state)
{
    (void)state;
    for (int a = TROD_ERR_UNSUPPORTED; a <= TROD_OK; a++) {
        assert_true(strlen(trod_status_name(a)) > 0);
        for (int b = TROD_ERR_UNSUPPORTED; b < a; b++)
            assert_string_not_equal(trod_status_name(a), trod_status_name(b));
    }
    assert_string_equal(trod_status_name(TROD_ERR_TRUNCATED), "truncated");
    assert_string_equal(trod_status_name(TROD_ERR_CORRUPT), "corrupt");
    assert_non_null(trod_status_name(-1000));
    assert_non_null(trod_status_name(7));
}

static void report_says_what_and_where(void **state)
{
    (void)state;
    struct seen s = {0};
    struct trod_diag d;
    trod_diag_init(&d, sink, &s);
    struct trod_place at = trod_place_offset("a.log", 12);
    at.line = 3;
    assert_int_equal(trod_error(&d, TROD_ERR_CORRUPT, "x.y", &at, "bad '%s' in %d", "q", 5),
                     TROD_ERR_CORRUPT);
    assert_int_equal(s.n, 1);
    assert_string_equal(s.message, "bad 'q' in 5");
    assert_string_equal(s.last.kind, "x.y");
    assert_int_equal(s.last.severity, TROD_SEV_ERROR);
    assert_int_equal(s.last.status, TROD_ERR_CORRUPT);
    assert_string_equal(s.last.at.path, "a.log");
    assert_int_equal(s.last.at.offset, 12);
    assert_int_equal(s.last.at.line, 3);
    assert_true(s.last.at.record == TROD_NOWHERE);
    assert_true(s.last.at.caret > s.last.at.text_len);

    trod_warning(&d, TROD_OK, "x.z", NULL, "careful");
    assert_null(s.last.at.path);
    assert_true(s.last.at.offset == TROD_NOWHERE);
    assert_int_equal(s.last.severity, TROD_SEV_WARNING);

    d.path = "b.log";
    trod_warning(&d, TROD_OK, "x.z", NULL, "careful");
    assert_string_equal(s.last.at.path, "b.log");
    const struct trod_place in_a = trod_place_path("a.log");
    trod_warning(&d, TROD_OK, "x.z", &in_a, "careful");
    assert_string_equal(s.last.at.path, "a.log");
}

static void worst_is_the_first_error(void **state)
{
    (void)state;
    struct trod_diag d;
    trod_diag_init(&d, NULL, NULL);
    trod_diag_report(&d, TROD_SEV_NOTE, TROD_ERR_LIMIT, "n", NULL, "note");
    trod_warning(&d, TROD_ERR_LOSS, "w", NULL, "warning");
    assert_int_equal(d.worst, TROD_OK);
    trod_error(&d, TROD_ERR_TRUNCATED, "e", NULL, "first");
    trod_error(&d, TROD_ERR_IO, "e", NULL, "second");
    assert_int_equal(d.worst, TROD_ERR_TRUNCATED);
    assert_int_equal(d.errors, 2);
    assert_int_equal(d.warnings, 1);
    assert_int_equal(trod_diag_kind_count(&d, "n"), 1);
}

static void only_the_first_are_shown(void **state)
{
    (void)state;
    struct seen s = {0};
    struct trod_diag d;
    trod_diag_init(&d, sink, &s);
    char kind[] = "t.other"; /* another pointer, the same text */
    for (int i = 0; i < 1000; i++) {
        trod_error(&d, TROD_ERR_CORRUPT, "t.many", NULL, "number %d", i);
        assert_int_equal(s.n, i < TROD_DIAG_SHOWN ? i + 1 : TROD_DIAG_SHOWN);
    }
    assert_string_equal(s.message, "number 19");
    for (int i = 0; i < TROD_DIAG_SHOWN; i++)
        trod_warning(&d, TROD_OK, i % 2 ? "t.other" : kind, NULL, "w");
    assert_int_equal(s.n, 2 * TROD_DIAG_SHOWN);
    assert_int_equal(trod_diag_kind_count(&d, "t.many"), 1000);
    assert_int_equal(trod_diag_kind_count(&d, "t.other"), TROD_DIAG_SHOWN);
    assert_int_equal(trod_diag_kind_count(&d, "t.none"), 0);
    assert_int_equal(d.errors, 1000);

    s.n = 0;
    trod_diag_summary(&d);
    assert_int_equal(s.n, 1); /* nothing of t.other was kept back */
    assert_string_equal(s.last.kind, "t.many");
    assert_non_null(strstr(s.message, "980"));
    assert_int_equal(s.last.severity, TROD_SEV_ERROR);
    assert_int_equal(d.errors, 1000);
}

static void kinds_beyond_the_table_are_counted(void **state)
{
    (void)state;
    static char kinds[2 * TROD_DIAG_KINDS][16];
    struct trod_diag d;
    trod_diag_init(&d, NULL, NULL);
    for (int i = 0; i < 2 * TROD_DIAG_KINDS; i++) {
        snprintf(kinds[i], sizeof kinds[i], "k.%d", i);
        trod_error(&d, TROD_ERR_CORRUPT, kinds[i], NULL, "x");
    }
    uint64_t sum = 0;
    assert_true(d.n_counts <= TROD_DIAG_KINDS);
    for (uint32_t i = 0; i < d.n_counts; i++)
        sum += d.counts[i].n;
    assert_int_equal(sum, 2 * TROD_DIAG_KINDS);
    assert_int_equal(d.errors, 2 * TROD_DIAG_KINDS);
    assert_int_equal(trod_diag_kind_count(&d, "k.0"), 1);
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    struct seen s = {0};
    struct trod_diag d;
    trod_diag_init(&d, sink, &s);
    char text[3000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    trod_error(&d, TROD_ERR_CORRUPT, "x", NULL, "%s", text);
    assert_int_equal(strlen(s.message), 1000);
}

static void nobody_to_report_to(void **state)
{
    (void)state;
    assert_int_equal(trod_error(NULL, TROD_ERR_IO, "x", NULL, "%d", 1), TROD_ERR_IO);
}

static void version_is_stated(void **state)
{
    (void)state;
    int major, minor, patch;
    assert_int_equal(sscanf(trod_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_names_differ),
        cmocka_unit_test(report_says_what_and_where),
        cmocka_unit_test(worst_is_the_first_error),
        cmocka_unit_test(only_the_first_are_shown),
        cmocka_unit_test(kinds_beyond_the_table_are_counted),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(nobody_to_report_to),
        cmocka_unit_test(version_is_stated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
