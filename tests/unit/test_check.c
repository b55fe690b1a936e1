/*
 * test_check.c - the analysis "check" by itself: selection, what is kept, merging, saved states
 * good and bad, counts beyond 32 bits, and one pass together with another analysis.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checking.h"
#include "trod/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char two_cpus[] = "10 clk cpu0 R X0 0000000000000001\n"
                               "9 clk cpu0 R X0 0000000000000002\n"
                               "10 clk cpu1 R W0 0000000100000000\n"
                               "8 clk cpu0 R X0 0000000000000003\n"
                               "9 clk cpu1 R X0 0000000000000002\n";

static const struct trod_analysis *analysis(void)
{
    return trod_analysis_find("check", 5);
}

static const struct trod_rule *rule(const char *id)
{
    const struct trod_rule *r = trod_rule_find(id, strlen(id));

    assert_non_null(r);
    return r;
}

/* Check TEXT as Tarmac with options OPT. */
static void *checked(const char *text, const struct trod_check_options *opt)
{
    const struct trod_analysis *a = analysis();
    const struct trod_reader_options ropt = {.from = "tarmac", .input.no_thread = true};
    static struct trod_meta meta;
    const struct trod_context context = {.meta = &meta, .stream = TROD_ALL_STREAMS, .shards = 1};
    void *st = check_state();
    struct trod_reader *r;
    struct trod_input *in;
    struct trod_batch *b;

    trod_meta_init(&meta);
    assert_int_equal(a->init(st, opt, &context), TROD_OK);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), TROD_OK);
    assert_int_equal(trod_input_memory(&in, text, strlen(text), "text", &ropt.input, NULL), 0);
    assert_int_equal(trod_reader_open(&r, in, &ropt, &meta, NULL), 0);
    b->want = TROD_COL_ALL;
    while (trod_reader_next(r, b) == 1)
        assert_int_equal(a->feed(st, b, 0, b->n), TROD_OK);
    assert_int_equal(a->settle(st, 0), TROD_OK);
    trod_reader_close(r);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return st;
}

static void test_places(void **state)
{
    const struct trod_check_options opt = {0};
    void *st = checked(two_cpus, &opt);
    const struct trod_finding *f = trod_check_finding(st, 0);

    (void)state;
    assert_int_equal(trod_check_total(st, TROD_RULE_NOTE), 4);
    assert_int_equal(trod_check_total(st, TROD_RULE_ERROR), 0);
    assert_ptr_equal(f->rule, rule("tarmac.time"));
    assert_int_equal(f->ordinal, 1);
    assert_int_equal(f->offset, 34);
    assert_int_equal(f->line, 2);
    assert_string_equal(f->stream, "cpu0");
    assert_string_equal(f->text, "9 clk cpu0 R X0 0000000000000002");
    f = trod_check_finding(st, 3);
    assert_int_equal(f->line, 5);
    assert_string_equal(f->stream, "cpu1");
    assert_null(trod_check_finding(st, 4));
    check_release(st);
}

static void test_selection(void **state)
{
    struct trod_check_options opt = {.only = {.n = 1, .item = {"tarmac.time"}}};
    struct trod_diag diag;
    void *st = checked(two_cpus, &opt);

    (void)state;
    assert_int_equal(trod_check_total(st, TROD_RULE_NOTE), 3);
    check_release(st);
    opt = (struct trod_check_options){.skip = {.n = 1, .item = {"tarmac.time"}}};
    st = checked(two_cpus, &opt);
    assert_int_equal(trod_check_total(st, TROD_RULE_NOTE), 1);
    check_release(st);
    /* a family; a beginning that is none; nothing at all */
    opt = (struct trod_check_options){.only = {.n = 1, .item = {"byu."}}};
    st = checked(two_cpus, &opt);
    assert_int_equal(trod_check_total(st, TROD_RULE_NOTE), 0);
    check_release(st);
    opt.only.item[0] = "tarmac.t";
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_check_options_valid(&opt, &diag), TROD_ERR_USAGE);
    assert_int_equal(diag.errors, 1);
    opt.only.item[0] = "";
    assert_int_equal(trod_check_options_valid(&opt, &diag), TROD_ERR_USAGE);
}

/* Of each rule the first N are kept, all are counted; also of states that are merged. */
static void test_kept(void **state)
{
    const struct trod_check_options opt = {.keep = 2};
    void *a = checked(two_cpus, &opt), *b = checked(two_cpus, &opt);

    (void)state;
    assert_int_equal(trod_check_count(a, rule("tarmac.time")), 3);
    assert_non_null(trod_check_finding(a, 2));
    assert_null(trod_check_finding(a, 3));
    assert_int_equal(analysis()->merge(a, b), TROD_OK);
    assert_int_equal(trod_check_count(a, rule("tarmac.time")), 6);
    assert_int_equal(trod_check_count(a, rule("tarmac.register-width")), 2);
    assert_ptr_equal(trod_check_finding(a, 3)->rule, rule("tarmac.register-width"));
    assert_null(trod_check_finding(a, 4));
    /* b is as it was */
    assert_int_equal(trod_check_count(b, rule("tarmac.time")), 3);
    check_release(b);
    check_release(a);
}

static struct trod_buf save(const void *st)
{
    struct trod_buf out = {0};

    assert_int_equal(analysis()->save(st, &out), TROD_OK);
    return out;
}

/* load: what comes of the N bytes at P. A state that was taken saves to the same bytes. */
static int load(const uint8_t *p, size_t n)
{
    void *st = check_state();
    int rc = analysis()->load(st, (struct trod_span){.p = p, .n = n}, NULL);

    if (rc == TROD_OK) {
        struct trod_buf again = save(st);

        assert_int_equal(again.n, n);
        assert_memory_equal(again.p, p, n);
        trod_buf_fini(&again);
    } else {
        assert_int_equal(rc, TROD_ERR_CORRUPT);
    }
    check_release(st);
    return rc;
}

static void test_saved(void **state)
{
    const struct trod_check_options opt = {0};
    void *st = checked(two_cpus, &opt);
    struct trod_buf b = save(st);
    unsigned taken = 0;

    (void)state;
    assert_int_equal(load(b.p, b.n), TROD_OK);
    for (size_t n = 0; n < b.n; n++) {
        uint8_t *cut = malloc(n ? n : 1);

        assert_non_null(cut);
        memcpy(cut, b.p, n);
        assert_int_equal(load(cut, n), TROD_ERR_CORRUPT);
        free(cut);
    }
    /* every bit wrong: a state or none, never more than what is there */
    for (size_t i = 0; i < 8 * b.n; i++) {
        b.p[i / 8] ^= (uint8_t)(1u << i % 8);
        taken += load(b.p, b.n) == TROD_OK;
        b.p[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    assert_true(taken > 0); /* texts may hold anything */
    trod_buf_fini(&b);
    check_release(st);
}

/* Counts beyond 32 bits: a saved state made by hand, merged into itself. */
static void test_wide(void **state)
{
    static const char id[] = "tarmac.time";
    const uint64_t many = UINT64_C(0xfffffffff);
    const struct trod_analysis *a = analysis();
    struct trod_buf b = {0};
    const uint8_t head[] = {'T', 'R', 'O', 'D', 'c', 'h', 'k', 2, 20, 1, sizeof id - 1};
    const uint8_t count[] = {0xff, 0xff, 0xff, 0xff, 0xff,
                             0x01, 0,    0,    0}; /* 36 ones, no findings, no schedule */
    void *st = check_state(), *other = check_state();

    (void)state;
    assert_int_equal(trod_buf_add(&b, head, sizeof head), TROD_OK);
    assert_int_equal(trod_buf_add(&b, id, sizeof id - 1), TROD_OK);
    assert_int_equal(trod_buf_add(&b, count, sizeof count), TROD_OK);
    assert_int_equal(a->load(st, (struct trod_span){.p = b.p, .n = b.n}, NULL), TROD_OK);
    assert_int_equal(a->load(other, (struct trod_span){.p = b.p, .n = b.n}, NULL), TROD_OK);
    assert_true(trod_check_count(st, rule(id)) == many);
    assert_int_equal(a->merge(st, other), TROD_OK);
    assert_true(trod_check_count(st, rule(id)) == 2 * many);
    assert_true(trod_check_total(st, TROD_RULE_WARNING) == 2 * many);
    trod_buf_fini(&b);
    check_release(st);
    check_release(other);
}

/* Two analyses in one pass find what each finds by itself. */
static void test_together(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "two.tarmac");
    const char *paths[1] = {path};
    const struct trod_run_options opt = {.trace.from = "tarmac"};
    struct trod_run *r;
    struct trod_diag diag;

    (void)state;
    test_save(path, two_cpus, sizeof two_cpus - 1);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_run_open(&r, paths, 1, &opt, &diag), 0);
    assert_int_equal(trod_run_add(r, trod_analysis_find("count", 5), NULL), 0);
    assert_int_equal(trod_run_add(r, analysis(), NULL), 1);
    assert_int_equal(trod_run_go(r), 0);
    assert_int_equal(trod_check_total(trod_run_state(r, 1), TROD_RULE_NOTE), 4);
    assert_int_equal(trod_check_finding(trod_run_state(r, 1), 0)->line, 2);
    trod_run_free(r);
    test_remove(dir);
    free(path);
    free(dir);
}

/* Problems of the reader: counted, but for those that a rule finds as well. */
static void test_problems(void **state)
{
    const struct trod_check_options opt = {0};
    void *st = checked(two_cpus, &opt);
    struct trod_problem p = {.severity = TROD_SEV_ERROR,
                             .kind = "drmemtrace.cut",
                             .message = "record is cut",
                             .at = trod_place_offset("x", 77)};

    (void)state;
    assert_int_equal(trod_check_problem(st, &p, 3, 5), TROD_OK);
    assert_int_equal(trod_check_count(st, rule("read.damaged")), 5);
    assert_int_equal(trod_check_finding(st, 4)->offset, 77);
    assert_int_equal(trod_check_finding(st, 4)->file, 3);
    assert_true(trod_check_finding(st, 4)->line == TROD_NOWHERE);
    p.kind = "drmemtrace.chunk-count";
    assert_int_equal(trod_check_problem(st, &p, 3, 1), TROD_OK);
    p.kind = "drmemtrace.cut";
    p.severity = TROD_SEV_WARNING;
    assert_int_equal(trod_check_problem(st, &p, 3, 1), TROD_OK);
    assert_int_equal(trod_check_count(st, rule("read.damaged")), 5);
    check_release(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),   cmocka_unit_test(test_selection),
        cmocka_unit_test(test_kept),     cmocka_unit_test(test_saved),
        cmocka_unit_test(test_wide),     cmocka_unit_test(test_together),
        cmocka_unit_test(test_problems),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
