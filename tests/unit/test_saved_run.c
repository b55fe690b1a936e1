/*
 * test_saved_run.c - saved states that name what their run did not have: sites behind the last one,
 * and formats without names of records. They are refused, or lead to a result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/pack.h"
#include "testlib.h"
#include "trod/analysis.h"
#include "trod/format.h"
#include "trod/run.h"

enum { MAGIC = 8 };

static struct trod_run *open_run(const char *path, const char *name)
{
    const struct trod_run_options opt = {.jobs = 1};
    struct trod_run *run;

    assert_int_equal(trod_run_open(&run, &path, 1, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, trod_analysis_find(name, strlen(name)), NULL), 0);
    return run;
}

/* What a run of analysis NAME over PATH saves. */
static struct trod_buf save(const char *path, const char *name)
{
    struct trod_run *run = open_run(path, name);
    struct trod_buf out = {0};

    assert_int_equal(trod_run_save(run, &out), TROD_ERR_USAGE); /* nothing was read */
    assert_int_equal(trod_run_go(run), TROD_OK);
    assert_int_equal(trod_run_save(run, &out), TROD_OK);
    assert_int_equal(trod_run_add(run, trod_analysis_find(name, strlen(name)), NULL),
                     TROD_ERR_USAGE); /* it would have no results */
    trod_run_free(run);
    return out;
}

/* A run without analyses that has not been read is none to save. */
static void save_nothing(const char *path)
{
    const struct trod_run_options opt = {.jobs = 1};
    struct trod_buf out = {0};
    struct trod_run *run;

    assert_int_equal(trod_run_open(&run, &path, 1, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_save(run, &out), TROD_ERR_USAGE);
    assert_int_equal(out.n, 0);
    assert_int_equal(trod_run_go(run), TROD_OK);
    assert_int_equal(trod_run_save(run, &out), TROD_OK);
    trod_run_free(run);
    trod_buf_fini(&out);
}

/* Merge STATE, and look at the result if there is one. What trod_run_merge returns. */
static int merge(const char *path, const char *name, const struct trod_buf *state)
{
    struct trod_run *run = open_run(path, name);
    struct trod_result *result;
    int rc = trod_run_merge(run, (struct trod_span){.p = state->p, .n = state->n});

    if (rc == TROD_OK) {
        assert_int_equal(trod_result_new(&result), TROD_OK);
        trod_run_result(run, 0, result);
        trod_result_free(result);
    } else {
        assert_int_equal(trod_run_merge(run, (struct trod_span){.p = state->p, .n = state->n}),
                         TROD_ERR_USAGE);
    }
    trod_run_free(run);
    return rc;
}

static uint64_t number(struct trod_span *in)
{
    uint64_t v;

    assert_int_equal(trod_unpack(in, &v), TROD_OK);
    return v;
}

static void pass(struct trod_span *in, uint64_t n)
{
    assert_true(n <= in->n);
    in->p += n;
    in->n -= (size_t)n;
}

/* Behind the rows, the instruction set and the byte order of IN: the number of its sites. */
static uint64_t count_sites(struct trod_span *in)
{
    pass(in, MAGIC);
    for (int i = 0; i < 3; i++)
        number(in);
    return number(in);
}

/* Pass over a site: four numbers, and its opcode, length first. */
static void pass_site(struct trod_span *in)
{
    for (int i = 0; i < 4; i++)
        number(in);
    pass(in, number(in));
}

/* STATE with the first KEEP of its sites only. */
static struct trod_buf with_sites(const struct trod_buf *state, uint64_t keep)
{
    struct trod_span in = {.p = state->p, .n = state->n}, sites;
    struct trod_buf out = {0};
    uint64_t n, i = 0;

    pass(&in, MAGIC);
    for (int k = 0; k < 3; k++)
        number(&in);
    assert_int_equal(trod_buf_add(&out, state->p, state->n - in.n), TROD_OK);
    n = number(&in);
    assert_int_equal(trod_pack(&out, keep), TROD_OK);
    for (sites = in; i < keep; i++)
        pass_site(&in);
    assert_int_equal(trod_buf_add(&out, sites.p, sites.n - in.n), TROD_OK);
    for (; i < n; i++)
        pass_site(&in);
    assert_int_equal(trod_buf_add(&out, in.p, in.n), TROD_OK);
    return out;
}

static void test_sites(void **state)
{
    static const char *const names[] = {"hot", "mix", "branches", "deps"};
    char *path = test_path(test_source_dir(), "examples/sum.trace.zip");

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct trod_buf saved = save(path, names[i]);
        struct trod_span in = {.p = saved.p, .n = saved.n};
        const uint64_t n = count_sites(&in);

        assert_true(n > 1);
        for (uint64_t keep = 0; keep <= n; keep++) {
            struct trod_buf less = with_sites(&saved, keep);
            const int rc = merge(path, names[i], &less);

            if (keep == 0) /* all are of instructions that were executed */
                assert_int_equal(rc, TROD_ERR_CORRUPT);
            else if (keep == n)
                assert_int_equal(rc, TROD_OK);
            else
                assert_true(rc == TROD_OK || rc == TROD_ERR_CORRUPT);
            trod_buf_fini(&less);
        }
        trod_buf_fini(&saved);
    }
    free(path);
}

/* The state of `count` with the names of format number FORMAT, from 1. */
static struct trod_buf with_format(const struct trod_buf *saved, uint64_t format)
{
    struct trod_span in = {.p = saved->p, .n = saved->n};
    struct trod_buf out = {0}, state = {0};
    const uint8_t *at;

    assert_int_equal(count_sites(&in), 0);
    assert_int_equal(number(&in), 1); /* analyses */
    pass(&in, number(&in));           /* its name */
    assert_int_equal(trod_buf_add(&out, saved->p, saved->n - in.n), TROD_OK);
    number(&in); /* the length of its state, which is the rest */
    at = in.p;
    pass(&in, MAGIC);
    for (int i = 0; i < 6; i++)
        number(&in);
    assert_int_equal(trod_buf_add(&state, at, (size_t)(in.p - at)), TROD_OK);
    number(&in);
    assert_int_equal(trod_pack(&state, format), TROD_OK);
    assert_int_equal(trod_buf_add(&state, in.p, in.n), TROD_OK);
    assert_int_equal(trod_pack(&out, state.n), TROD_OK);
    assert_int_equal(trod_buf_add(&out, state.p, state.n), TROD_OK);
    trod_buf_fini(&state);
    return out;
}

static void test_formats(void **unused)
{
    char *path = test_path(test_source_dir(), "examples/sum.trace.zip");
    struct trod_buf saved = save(path, "count");
    unsigned refused = 0;

    save_nothing(path);
    (void)unused;
    for (size_t i = 0; trod_format_at(i); i++) {
        struct trod_buf other = with_format(&saved, i + 1);
        const int rc = merge(path, "count", &other);

        assert_int_equal(rc, trod_format_at(i)->sub_name ? TROD_OK : TROD_ERR_CORRUPT);
        refused += rc < 0;
        trod_buf_fini(&other);
    }
    assert_true(refused > 0);
    trod_buf_fini(&saved);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sites),
                                       cmocka_unit_test(test_formats)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
