/*
 * test_index_grows.c - the index of a trace that grows: gone on with where it ended; made while the
 * trace is written, or opened before it was written on, it does not pass for that of all of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nav_check.h"
#include "nav_index.h"
#include "testlib.h"

static void build_again(const char *path, const char *where, const struct nav_index *of,
                        unsigned jobs)
{
    const struct trod_trace_options topt = {.struct_size = sizeof topt,
                                            .want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE};
    const struct nav_build_options opt = {.options = "",
                                          .block_rows = 20,
                                          .segment = 3,
                                          .isa = TROD_ISA_A64,
                                          .endian = TROD_ENDIAN_LITTLE,
                                          .jobs = jobs,
                                          .of = of};
    struct trod_trace *t;

    assert_int_equal(trod_trace_open(&t, &path, 1, &topt, NULL), 0);
    assert_int_equal(nav_index_build(t, where, &opt), 0);
    trod_trace_close(t);
}

/* Going on gives the bytes that making it anew gives, with other numbers of threads too. */
static void test_grown(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac"), *old = test_path(dir, "old"),
         *more = test_path(dir, "more"), *anew = test_path(dir, "anew");
    struct trod_gen g = gen_seed(77);
    struct trod_buf a, b;
    struct nav_index *x;
    struct events es;
    const char *why;
    size_t half;

    (void)state;
    events_make(&es, &g, 9000, true);
    for (half = es.text.n / 2; es.text.p[half - 1] != '\n';)
        half++;
    test_save(path, es.text.p, half);
    build_again(path, old, NULL, 3);
    assert_int_equal(nav_index_open(&x, old, &why), 0);
    assert_in_range(x->n_segments, 3, 1000);
    test_save(path, es.text.p, es.text.n);
    build_again(path, more, x, 4);
    build_again(path, anew, NULL, 1);
    a = test_load(more);
    b = test_load(anew);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
    nav_index_close(x);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    events_fini(&es);
    test_remove(dir);
    free(path);
    free(old);
    free(more);
    free(anew);
    free(dir);
}

/* Who writes on the trace at PATH while it is indexed. */
struct writing {
    const char *path;
    const struct trod_buf *text;
    size_t written;
    unsigned calls;
};

static void write_on(void *user, const struct trod_trace_progress *p)
{
    struct writing *w = user;

    FILE *f;

    (void)p;
    if (++w->calls > 1)
        return;
    assert_non_null(f = fopen(w->path, "ab"));
    /* to the middle of a line */
    assert_int_equal(fwrite(w->text->p + w->written, w->text->n - 5 - w->written, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

/* A trace that is written while it is indexed: what was there is in the index, the rest comes. */
static void test_written(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac"), where[4096];
    struct trod_gen g = gen_seed(78);
    struct events es;

    (void)state;
    events_make(&es, &g, 9000, true);
    for (size_t cut = 0; cut < 2; cut++) {
        struct writing w = {.path = path, .text = &es.text};
        const struct trod_index_options opt = {.struct_size = sizeof opt,
                                               .again = true,
                                               .jobs = cut ? 4 : 1,
                                               .progress = write_on,
                                               .user = &w};
        size_t half = es.text.n / 2, whole, read;
        struct trod_index_info about;
        struct nav_index *x;
        const char *why;
        struct trod_diag diag;
        struct trod_nav *nav;
        bool made;

        while (es.text.p[half - 1] != '\n')
            half++;
        whole = half;
        w.written = half + 7 * cut;
        test_save(path, es.text.p, w.written);
        trod_diag_init(&diag, NULL, NULL);
        assert_int_equal(trod_index_make(path, &opt, &made, where, sizeof where, &diag), 0);
        assert_true(made);
        assert_in_range(w.calls, 2, 1000000);
        assert_int_equal(diag.errors, 0);
        assert_int_equal(diag.warnings, 1);
        /* not used as long as the trace is another; of what was there it says all */
        nav = open_nav(path, false);
        assert_null(trod_nav_index(nav));
        trod_nav_close(nav);
        assert_int_equal(nav_index_open(&x, where, &why), 0);
        read = x->source[0].bound.size;
        nav_index_close(x);
        assert_in_range(read, whole - (1 << 13), whole);
        test_save(path, es.text.p, read);
        nav = open_nav(path, false);
        assert_non_null(trod_nav_index(nav));
        assert_true(trod_index_about(nav, &about));
        assert_in_range(about.rows, 4000, 4600);
        assert_int_equal(about.problems, 0);
        trod_nav_close(nav);
    }
    events_fini(&es);
    test_remove(dir);
    free(path);
    free(dir);
}

/*
 * A trace that is written on after it was opened, with all that there was read already: its index
 * is not that of more rows than it has.
 */
static void test_opened(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac"),
         *where = test_path(dir, "t.tarmac.trodx");
    const struct trod_trace_options topt = {.struct_size = sizeof topt,
                                            .want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE};
    struct nav_bound before;
    const struct nav_build_options opt = {.options = "",
                                          .isa = TROD_ISA_A64,
                                          .endian = TROD_ENDIAN_LITTLE,
                                          .jobs = 1,
                                          .before = &before};
    struct trod_gen g = gen_seed(79);
    struct trod_index_info about;
    struct trod_trace *t;
    struct trod_nav *nav;
    struct events es;
    size_t some = 0;
    uint64_t rows = 0;

    (void)state;
    events_make(&es, &g, 2000, true);
    for (unsigned lines = 0; lines < 1000; some++)
        lines += es.text.p[some] == '\n';
    test_save(path, es.text.p, some);
    assert_int_equal(nav_bind(path, false, &before), 0);
    assert_int_equal(trod_trace_open(&t, (const char *const *)&path, 1, &topt, NULL), 0);
    test_save(path, es.text.p, es.text.n);
    assert_int_equal(nav_index_build(t, where, &opt), 0);
    trod_trace_close(t);
    assert_int_equal(trod_trace_open(&t, (const char *const *)&path, 1, &topt, NULL), 0);
    for (struct trod_batch *b; trod_trace_next(t, &b) > 0;)
        rows += b->n;
    nav = open_nav(path, false);
    if (trod_nav_index(nav)) { /* all was read */
        assert_true(trod_index_about(nav, &about));
        assert_int_equal(about.rows, rows);
    }
    trod_nav_close(nav);
    trod_trace_close(t);
    events_fini(&es);
    test_remove(dir);
    free(where);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grown), cmocka_unit_test(test_written),
                                       cmocka_unit_test(test_opened)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
