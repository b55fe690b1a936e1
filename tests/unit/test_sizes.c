/*
 * test_sizes.c - option structs of programs that were compiled against another version.
 *
 * Each struct that a program fills begins with its size. A longer one is taken if what this library
 * does not know is zero, and refused if it is not; of a shorter one only what it has is looked at;
 * a size in which not even the size fits is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "trod/trod.h"

#include "core/sized.h"
#include "testlib.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MORE = 64, MOST = 1 << 16 };

static struct trod_diag diag;
static char *trace_path;

/* Each of these makes use of options OPT and returns what the library says. */

static int use_emit(const void *opt)
{
    struct trod_emit *e;
    FILE *f = fopen("/dev/null", "w");
    int rc;

    assert_non_null(f);
    rc = trod_emit_new(&e, f, opt);
    if (rc == TROD_OK)
        trod_emit_free(e);
    else
        assert_null(e);
    fclose(f);
    return rc;
}

static int use_show(const void *opt)
{
    struct trod_show *s;
    int rc = trod_show_new(&s, opt);

    trod_show_free(s);
    return rc;
}

static int use_problem(const void *opt)
{
    const struct trod_problem p = {.kind = "a.b", .message = "something", .at = {.path = "p"}};
    struct trod_buf out = {0};
    int rc = trod_show_problem(&out, &p, opt);

    trod_buf_fini(&out);
    return rc;
}

static int use_match(const void *opt)
{
    struct trod_match *m;
    int rc = trod_match_new(&m, opt, &diag);

    trod_match_free(m);
    return rc;
}

static int use_cache(const void *opt)
{
    struct trod_cache *c;
    enum trod_order order;
    uint32_t cores;
    int rc = trod_cache_new(&c, opt, &diag);

    assert_int_equal(trod_cache_order(opt, &order, &cores, &diag), rc);
    trod_cache_free(c);
    return rc;
}

static int use_check(const void *opt)
{
    return trod_check_options_valid(opt, &diag);
}

static int use_run(const void *opt)
{
    struct trod_run *run;
    int rc = trod_run_open(&run, (const char *const[]){trace_path}, 1, opt, &diag);

    if (rc == TROD_OK)
        trod_run_free(run);
    else
        assert_null(run);
    return rc;
}

static int use_beside(const void *opt)
{
    struct trod_trace_options trace = {.struct_size = sizeof trace};
    char *path = test_path(test_source_dir(), "examples/sum.trace.zip");
    struct trod_trace *t;
    struct trod_batch *b;
    int rc;

    /* a struct by value: what follows it is not its own, so that it cannot be longer */
    memcpy(&trace.beside, opt, sizeof trace.beside);
    rc = trod_trace_open(&t, (const char *const[]){path}, 1, &trace, &diag);
    if (rc == TROD_OK)
        rc = trod_trace_next(t, &b);
    trod_trace_close(t);
    free(path);
    return rc == 1 ? TROD_OK : rc;
}

static int use_compare(const void *opt)
{
    struct trod_trace *t[2];
    struct trod_compare_summary summary;
    int rc;

    for (int i = 0; i < 2; i++)
        assert_int_equal(trod_trace_open(&t[i], (const char *const[]){trace_path}, 1, NULL, &diag),
                         TROD_OK);
    assert_true(trod_compare_want(opt) & TROD_COL_KIND);
    rc = trod_compare_run(t[0], t[1], opt, NULL, NULL, &summary, &diag);
    trod_trace_close(t[0]);
    trod_trace_close(t[1]);
    return rc;
}

static int use_record(const void *opt)
{
    char name[] = "/nonexistent/program", *argv[] = {name, NULL};
    struct trod_record_result result;

    /* options are looked at before the program, which is not there */
    trod_diag_init(&diag, NULL, NULL);
    return trod_record("/nonexistent/out", argv, opt, &result, &diag) == TROD_ERR_USAGE &&
                   trod_diag_kind_count(&diag, "record.options")
               ? TROD_ERR_USAGE
               : TROD_OK;
}

static int use_analysis(const char *name, const void *opt)
{
    struct trod_run *run;
    int rc;

    assert_int_equal(trod_run_open(&run, (const char *const[]){trace_path}, 1, NULL, &diag),
                     TROD_OK);
    rc = trod_run_add(run, trod_analysis_find(name, strlen(name)), opt);
    if (rc >= 0)
        rc = trod_run_go(run);
    trod_run_free(run);
    return rc;
}

static int use_count(const void *opt)
{
    return use_analysis("count", opt);
}

static int use_checking(const void *opt)
{
    return use_analysis("check", opt);
}

#define STRUCT(type, first, use, by_value)                                                         \
    {                                                                                              \
#type, sizeof(struct type), offsetof(struct type, first), use, by_value                    \
    }

static const struct sized {
    const char *name;
    size_t size, first; /* of the struct; of what stands behind struct_size */
    int (*use)(const void *opt);
    bool by_value; /* part of another struct */
} all[] = {
    STRUCT(trod_emit_options, format, use_emit, false),
    STRUCT(trod_show_options, meta, use_show, false),
    STRUCT(trod_show_problem, program, use_problem, false),
    STRUCT(trod_match_options, range, use_match, false),
    STRUCT(trod_cache_options, like, use_cache, false),
    STRUCT(trod_check_options, only, use_check, false),
    STRUCT(trod_check_options, only, use_checking, false),
    STRUCT(trod_count_options, line, use_count, false),
    STRUCT(trod_run_options, trace, use_run, false),
    STRUCT(trod_beside_options, modules, use_beside, true),
    STRUCT(trod_compare_options, track, use_compare, false),
    STRUCT(trod_record_options, to, use_record, false),
};

static void set_size(void *p, size_t n)
{
    memcpy(p, &n, sizeof n);
}

static void test_each(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct sized *s = &all[i];
        uint8_t *p = calloc(1, MOST);

        assert_non_null(p);
        assert_true(s->size + MORE <= MOST);
        print_message("%s\n", s->name);
        assert_int_equal(s->first, sizeof(size_t));
        /* 0, and its own size */
        assert_int_equal(s->use(p), TROD_OK);
        set_size(p, s->size);
        assert_int_equal(s->use(p), TROD_OK);
        /* longer, with nothing that is not known; with something */
        set_size(p, s->size + MORE);
        if (!s->by_value) {
            assert_int_equal(s->use(p), TROD_OK);
            p[s->size + MORE - 1] = 1;
            assert_int_equal(s->use(p), TROD_ERR_USAGE);
            p[s->size + MORE - 1] = 0;
        }
        /* shorter than its size */
        set_size(p, sizeof(size_t) - 1);
        assert_int_equal(s->use(p), TROD_ERR_USAGE);
        /* shorter: what stands there is not looked at */
        memset(p, 0xff, s->size);
        set_size(p, sizeof(size_t));
        assert_int_equal(s->use(p), TROD_OK);
        free(p);
    }
}

/* Of a shorter struct what it has is heeded. */
static void test_shorter(void **state)
{
    struct trod_count_options count = {.struct_size = offsetof(struct trod_count_options, top),
                                       .line = 48};
    struct trod_emit_options emit = {.struct_size = offsetof(struct trod_emit_options, colour),
                                     .format = TROD_EMIT_JSON,
                                     .colour = true};
    struct trod_match_options match = {.struct_size = offsetof(struct trod_match_options, streams),
                                       .kinds = {.n = 1, .item = {"NOSUCH"}}};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct trod_emit *e;

    (void)state;
    assert_int_equal(use_count(&count), TROD_ERR_USAGE); /* 48 is no power of two */
    count.line = 128;
    assert_int_equal(use_count(&count), TROD_OK);
    assert_int_equal(use_match(&match), TROD_ERR_USAGE);
    assert_non_null(f);
    assert_int_equal(trod_emit_new(&e, f, &emit), TROD_OK);
    trod_emit_u64(e, "a", 1);
    assert_int_equal(trod_emit_free(e), TROD_OK);
    fclose(f);
    assert_non_null(strchr(text, '{'));
    free(text);
}

/* The copying itself: every size against a plain reading of the rule. */
static void test_copy(void **state)
{
    struct known {
        size_t struct_size;
        uint32_t a, b;
        uint64_t c;
    } given, got, want;

    (void)state;
    for (size_t n = 0; n <= sizeof given; n++) {
        const size_t first = offsetof(struct known, c); /* the first version ended before c */
        const size_t taken = n == 0 ? first : n;
        bool ok;

        memset(&given, 0x5a, sizeof given);
        memset(&got, 0x77, sizeof got);
        memset(&want, 0, sizeof want);
        given.struct_size = n;
        ok = trod_sized(&got, sizeof got, first, &given);
        assert_int_equal(ok, n == 0 || n >= sizeof n);
        if (!ok)
            continue;
        memcpy(&want, &given, taken);
        want.struct_size = sizeof want;
        assert_memory_equal(&got, &want, sizeof want);
    }
    assert_true(trod_sized(&got, sizeof got, sizeof got, NULL));
    memset(&want, 0, sizeof want);
    assert_memory_equal(&got, &want, sizeof want);
}

static int setup(void **state)
{
    (void)state;
    trod_diag_init(&diag, NULL, NULL);
    trace_path = test_path(test_source_dir(), "tests/golden/byu6/boot.canonical.byu6");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(trace_path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_shorter),
        cmocka_unit_test(test_copy),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
