/*
 * test_pace - rows that are handed to another thread and rows that are fed where they were decoded,
 * by turns: an analysis that needs all in their order gets each once, in it.
 *
 * Whole batches, and small ones, of which several share a slot; intervals; an analysis that gives
 * up in the middle. And which way is chosen, by times that are given.
 */
#include "engine/pace.h"
#include "engine/run_int.h"

#include "testlib.h"
#include "trod/run.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LINES = 60000, FILES = 100, FEW_LINES = 300, STOP = 1 << 30 };

struct seen {
    uint64_t hash, rows, ends;
    uint64_t stop; /* rows after which it gives up */
};

static uint64_t stop_at;
static pthread_t decoder;
static atomic_uint elsewhere; /* batches that another thread was given */

static int init(void *st, const void *opt, const struct trod_context *c)
{
    struct seen *s = st;

    (void)opt;
    (void)c;
    s->stop = stop_at;
    return TROD_OK;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct seen *s = st;

    elsewhere += !pthread_equal(pthread_self(), decoder);
    for (uint32_t i = from; i < to; i++) {
        s->hash = s->hash * UINT64_C(0x9e3779b97f4a7c15) + b->addr[i] + b->kind[i] + b->first + i;
        s->hash += b->meta->n_streams;
        s->rows++;
    }
    return s->rows > s->stop ? TROD_ERR_LIMIT : TROD_OK;
}

static int boundary(void *st, const struct trod_boundary *at)
{
    struct seen *s = st;

    s->ends = s->ends * 31 + at->rows + at->type;
    return TROD_OK;
}

static struct seen last;

static int result(const void *st, struct trod_result *r)
{
    (void)r;
    last = *(const struct seen *)st;
    return TROD_OK;
}

static const struct trod_analysis seen = {
    .name = "seen",
    .title = "what was fed, in its order",
    .state_size = sizeof(struct seen),
    .order = TROD_GLOBAL_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_STREAM,
    .init = init,
    .feed = feed,
    .boundary = boundary,
    .result = result,
};

/*
 * A run of ITEMS such analyses over the N files PATHS, which changes the way after each TURN rows;
 * 0: one thread.
 */
static int run(const char *const *paths, size_t n, unsigned items, uint64_t turn,
               const struct trod_run_options *how, struct seen *out)
{
    struct trod_run_options opt = *how;
    struct trod_result *r;
    struct trod_run *run;
    int rc;

    opt.jobs = turn ? items + 1 : 1;
    decoder = pthread_self();
    elsewhere = 0;
    assert_int_equal(trod_run_open(&run, paths, n, &opt, NULL), TROD_OK);
    run->pace_rows = turn;
    for (unsigned i = 0; i < items; i++)
        assert_true(trod_run_add(run, &seen, NULL) >= 0);
    rc = trod_run_go(run);
    memset(&last, 0, sizeof last);
    assert_int_equal(trod_result_new(&r), TROD_OK);
    trod_run_result(run, 0, r);
    trod_result_free(r);
    *out = last;
    trod_run_free(run);
    return rc;
}

/* A trace of LINES accesses of Pin's format: its path, to be released with free(). */
static char *trace_in(const char *dir, const char *name, unsigned lines)
{
    char *path = test_path(dir, name);
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (unsigned i = 0; i < lines; i++)
        fprintf(f, "0x%x: %c 0x%x\n", 0x400000 + i * 4, i % 3 ? 'R' : 'W', i * 2654435761u);
    fprintf(f, "#eof\n");
    assert_int_equal(fclose(f), 0);
    return path;
}

/* All rows of the FILES files PATHS, whose batches are large, or so small that they share slots. */
static void turns(const char *const *paths, size_t files, uint64_t rows)
{
    static const uint64_t turn[] = {1, 100, 4097, 8192, 20000, 50000};

    for (unsigned k = 0; k < 3; k++) {
        const struct trod_run_options how = {.interval = k == 2 ? 7777 : 0};
        struct seen one, two;
        int rc;

        stop_at = k == 1 ? rows * 3 / 4 : STOP;
        rc = run(paths, files, 1, 0, &how, &one);
        assert_int_equal(rc, k == 1 ? TROD_ERR_LIMIT : TROD_OK);
        assert_true(k == 1 || one.rows >= rows);
        for (size_t i = 0; i < sizeof turn / sizeof *turn; i++) {
            assert_int_equal(run(paths, files, 1, turn[i], &how, &two), rc);
            assert_true(elsewhere > 0 || turn[i] >= rows);
            if (k != 1) /* how much more comes before it is noticed differs */
                assert_memory_equal(&one, &two, sizeof one);
        }
    }
}

/* Several workers are given all batches, whatever one would be. */
static void two_workers(const char *const *paths, size_t files)
{
    const struct trod_run_options how = {.interval = 0};
    struct seen one, two;

    stop_at = STOP;
    assert_int_equal(run(paths, files, 2, 0, &how, &one), TROD_OK);
    assert_int_equal(elsewhere, 0);
    assert_int_equal(run(paths, files, 2, 1, &how, &two), TROD_OK);
    assert_true(elsewhere >= 2 * 2 * LINES / TROD_BATCH_ROWS);
    assert_memory_equal(&one, &two, sizeof one);
}

static void test_turns(void **state)
{
    const char *paths[FILES];
    char *dir = test_tmpdir();
    char *large = trace_in(dir, "large.pinatrace", LINES);
    char *small = trace_in(dir, "small.pinatrace", FEW_LINES);

    (void)state;
    for (unsigned i = 0; i < FILES; i++)
        paths[i] = large;
    turns(paths, 2, 2 * LINES); /* one file would be read in parts */
    two_workers(paths, 2);
    for (unsigned i = 0; i < FILES; i++)
        paths[i] = small;
    turns(paths, FILES, FILES * FEW_LINES);
    test_remove(dir);
    free(large);
    free(small);
    free(dir);
}

/*
 * N rows, each of which takes SHARED or ALONE nanoseconds, in the way that is chosen for it.
 * Returns how many of a hundred were fed alone.
 */
static uint64_t go(struct run_pace *p, uint64_t n, uint64_t shared, uint64_t alone)
{
    uint64_t rows = 0, in_alone = 0;

    for (; rows < n; rows += p->window / 4) {
        in_alone += p->alone ? p->window / 4 : 0;
        p->since -= p->window / 4 * (p->alone ? alone : shared); /* so much time has gone by */
        if (run_pace_rows(p, p->window / 4))
            run_pace_go(p);
    }
    return in_alone * 100 / rows;
}

/* The faster way is taken for all but a few rows; also where it becomes another one. */
static void test_choice(void **state)
{
    enum { ROWS = 1 << 30 };
    struct run_pace p;

    (void)state;
    run_pace_init(&p, 0);
    run_pace_go(&p);
    assert_true(p.alone);
    assert_in_range(go(&p, ROWS, 1000, 2000), 0, 4);
    run_pace_init(&p, 0);
    run_pace_go(&p);
    assert_in_range(go(&p, ROWS, 2000, 1000), 94, 100);
    assert_in_range(go(&p, ROWS, 1000, 2000), 0, 20);
    assert_in_range(go(&p, ROWS, 1000, 1050), 80, 100); /* no difference to speak of */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_choice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
