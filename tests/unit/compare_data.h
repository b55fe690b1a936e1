/*
 * compare_data.h - traces as text, compared, and the differences as text: for test_compare*.c.
 *
 * A difference is a line "TYPE COUNT@FIRST COUNT@FIRST [of N] [FIELDS]", the records of either side
 * counted from 0; "-" stands for none.
 */
#ifndef COMPARE_DATA_H
#define COMPARE_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "testlib.h"
#include "trod/trod.h"

enum { OUT = 1 << 16 };

/* One comparison: what goes in, and what came out. */
struct cmp_case {
    const char *a, *b;   /* text of both sides */
    const char *from[2]; /* formats; NULL: matcher */
    uint32_t batch_rows; /* 0: the default */
    uint32_t window;     /* of the input, bytes; 0: the default */
    struct trod_compare_options opt;
    char out[OUT];
    size_t n;
    struct trod_compare_summary sum;
    char context[2][256]; /* ordinals of the rows before the first difference */
    char inputs[1024];    /* "x0 3 3;" of the first difference: last written by those records */
    bool damaged;         /* A and B may be */
    char problems[4096];  /* what was wrong with them, in the order it was told */
    int rc;
};

static inline void put_side(struct cmp_case *c, const struct trod_difference *d, int side)
{
    c->n += (size_t)(d->count[side] ? snprintf(c->out + c->n, OUT - c->n, " %llu@%llu",
                                               (unsigned long long)d->count[side],
                                               (unsigned long long)d->first[side])
                                    : snprintf(c->out + c->n, OUT - c->n, " -"));
}

static inline void put_first(struct cmp_case *c, const struct trod_difference *d)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0, n = 0; i < d->n_context[side]; i++)
            n += (size_t)snprintf(c->context[side] + n, sizeof c->context[side] - n, "%s%llu",
                                  i ? " " : "", (unsigned long long)d->context[side][i].ordinal);
    for (size_t i = 0, n = 0; i < d->n_inputs; i++) {
        const struct trod_compare_input *in = &d->inputs[i];

        if (in->name[0])
            n += (size_t)snprintf(c->inputs + n, sizeof c->inputs - n, "%s", in->name);
        else
            n += (size_t)snprintf(c->inputs + n, sizeof c->inputs - n, "%llx",
                                  (unsigned long long)in->addr);
        if (in->written)
            n += (size_t)snprintf(c->inputs + n, sizeof c->inputs - n, " %llu %llu",
                                  (unsigned long long)in->last.ordinal[0],
                                  (unsigned long long)in->last.ordinal[1]);
        n += (size_t)snprintf(c->inputs + n, sizeof c->inputs - n, ";");
    }
}

static inline int put_difference(void *user, const struct trod_compare *tc,
                                 const struct trod_difference *d)
{
    static const char *const types[] = {"changed", "missing", "inserted", "reordered", "rest"};
    struct cmp_case *c = user;

    (void)tc;
    if (c->n + 256 > OUT)
        return 0;
    if (d->number == 0)
        put_first(c, d);
    c->n += (size_t)snprintf(c->out + c->n, OUT - c->n, "%s", types[d->type]);
    put_side(c, d, 0);
    put_side(c, d, 1);
    if (d->of != TROD_NOWHERE)
        c->n += (size_t)snprintf(c->out + c->n, OUT - c->n, " of %llu", (unsigned long long)d->of);
    for (unsigned i = 0; i < TROD_COLUMNS; i++)
        if (d->fields >> i & 1)
            c->n += (size_t)snprintf(c->out + c->n, OUT - c->n, " %s", trod_column_name(i));
    if (d->fields & TROD_COMPARE_MODE)
        c->n += (size_t)snprintf(c->out + c->n, OUT - c->n, " mode");
    c->n += (size_t)snprintf(c->out + c->n, OUT - c->n, "\n");
    return 0;
}

static inline void put_problem(void *user, const struct trod_problem *p)
{
    struct cmp_case *c = user;
    size_t n = strlen(c->problems);

    snprintf(c->problems + n, sizeof c->problems - n, "%s:%llu %s\n", strrchr(p->at.path, '/'),
             (unsigned long long)p->at.line, p->message);
}

/* Run C; each row is equal, in a difference, or skipped. */
static inline void cmp_run(struct cmp_case *c)
{
    char *dir = test_tmpdir();
    struct trod_trace *t[2];
    struct trod_diag diag[2];

    c->problems[0] = '\0';
    for (int side = 0; side < 2; side++) {
        const char *text = side ? c->b : c->a;
        char *path = test_path(dir, side ? "b" : "a");
        const char *paths[] = {path};
        const struct trod_trace_options opt = {.from = c->from[side] ? c->from[side] : "matcher",
                                               .batch_rows = c->batch_rows,
                                               .ahead = !c->opt.serial,
                                               .input = {.no_thread = true, .window = c->window}};

        test_save(path, text, strlen(text));
        trod_diag_init(&diag[side], put_problem, c);
        assert_int_equal(trod_trace_open(&t[side], paths, 1, &opt, &diag[side]), 0);
        trod_trace_want(t[side], trod_compare_want(&c->opt));
        free(path);
    }
    c->n = 0;
    c->out[0] = c->inputs[0] = c->context[0][0] = c->context[1][0] = '\0';
    c->rc = trod_compare_run(t[0], t[1], &c->opt, put_difference, c, &c->sum, &diag[0]);
    assert_int_equal(c->rc, 0);
    assert_true(c->damaged || diag[0].errors + diag[1].errors == 0);
    for (int side = 0; side < 2; side++) {
        assert_int_equal(c->sum.rows[side],
                         c->sum.equal[side] + c->sum.differing[side] + c->sum.skipped[side]);
        trod_trace_close(t[side]);
    }
    test_remove(dir);
    free(dir);
}

/* A and B under OPT (NULL: defaults) differ as WANT says. */
static inline void expect_in(const char *format, const char *a, const char *b,
                             const struct trod_compare_options *opt, const char *want)
{
    struct cmp_case *c = calloc(1, sizeof *c);

    assert_non_null(c);
    c->a = a;
    c->b = b;
    c->from[0] = c->from[1] = format;
    if (opt)
        c->opt = *opt;
    cmp_run(c);
    assert_string_equal(c->out, want);
    free(c);
}

static inline void expect(const char *a, const char *b, const struct trod_compare_options *opt,
                          const char *want)
{
    expect_in("matcher", a, b, opt, want);
}

#endif
