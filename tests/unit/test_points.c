/*
 * test_points.c - places inside deflate data: from each of them what follows is what was
 * compressed, over the ends of members and into damage, by every codec of the build.
 *
 * Whether a point was gone to, and not all before it inflated, is seen by damage before it.
 */
#include "fewer.h"
#include "io/points.h"
#include "io_data.h"
#include "trod_config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { APART = 1 << 12, SPOIL = 16, TAIL = 12 };

/* Members of the file: what they are and how they are compressed. */
static const struct {
    enum data_kind kind;
    size_t n;
    int level;
} members[] = {
    {DATA_TEXT, 1500000, 6}, {DATA_RANDOM, 150000, 1}, {DATA_TEXT, 10, 1},
    {DATA_ZERO, 200000, 6},  {DATA_TEXT, 1200001, 1},
};

enum { MEMBERS = sizeof members / sizeof *members };

struct points {
    struct trod_point *at;
    size_t n;
};

static int keep(void *user, const struct trod_point *p)
{
    struct points *all = user;
    struct trod_point *at = realloc(all->at, (all->n + 1) * sizeof *at);

    if (!at)
        test_die("out of memory");
    all->at = at;
    all->at[all->n++] = *p;
    return 0;
}

/* Each way to read: with threads, without, and one of thousands, whose codecs are small. */
static const struct trod_input_options ways[] = {
    {.window = 0},
    {.no_thread = true, .window = 5000},
    {.no_thread = true, .lazy = true},
};

enum { WAYS = sizeof ways / sizeof *ways };

/* What is read of PATH from byte FROM on, going to P. */
static struct trod_buf read_from(const char *path, const struct trod_point *p, uint64_t from,
                                 const struct trod_input_options *opt, int *status)
{
    struct trod_buf got = {0};
    struct trod_input *in;
    struct trod_span span;

    assert_int_equal(trod_input_open(&in, path, opt, NULL), 0);
    assert_int_equal(trod_input_point(in, p), 0);
    if (trod_input_skip(in, from) == from)
        while ((*status = trod_input_ahead(in, 1, &span)) == TROD_OK && span.n) {
            assert_int_equal(trod_buf_add(&got, span.p, span.n), 0);
            trod_input_consume(in, span.n);
        }
    else
        *status = trod_input_ahead(in, 1, &span);
    trod_input_close(in);
    return got;
}

static void assert_rest(const char *path, const struct trod_point *p, uint64_t from, size_t way,
                        const struct trod_buf *plain)
{
    int status;
    struct trod_buf got = read_from(path, p, from, &ways[way], &status);

    assert_int_equal(status, 0);
    assert_int_equal(got.n, plain->n - from);
    assert_memory_equal(got.p, plain->p + from, got.n);
    trod_buf_fini(&got);
}

static bool compresses_well(uint64_t decoded)
{
    for (size_t i = 0; i < MEMBERS; decoded -= members[i++].n)
        if (decoded < members[i].n)
            return members[i].kind == DATA_ZERO;
    return false;
}

/* Every point of the file at PATH, its bytes FILE, which stands for PLAIN. */
static void every_point(const char *path, const struct trod_buf *file, const struct trod_buf *plain,
                        size_t least)
{
    struct points all = {0};

    assert_int_equal(trod_points_find(path, APART, keep, &all), 0);
    assert_true(all.n >= least);
    for (size_t k = 0; k < all.n; k += k % 3 ? 1 : test_step()) {
        const struct trod_point *p = &all.at[k];
        const size_t at = p->packed - (p->bits != 0);

        if (!compresses_well(p->decoded)) {
            memset(file->p + at - SPOIL, 0xff, SPOIL);
            test_save(path, file->p, file->n);
        }
        for (size_t way = 0; way < WAYS; way++) {
            const uint64_t ahead = way * 7001 % (plain->n - p->decoded);

            assert_rest(path, p, p->decoded + ahead, way, plain);
        }
    }
    free(all.at);
}

static struct trod_buf whole(struct trod_buf *part)
{
    struct trod_buf plain = {0};

    for (size_t i = 0; i < MEMBERS; i++) {
        part[i] = data_make(members[i].kind, members[i].n, i);
        assert_int_equal(trod_buf_add(&plain, part[i].p, part[i].n), 0);
    }
    return plain;
}

static struct trod_buf gzipped(const struct trod_buf *part)
{
    struct trod_buf file = {0};

    for (size_t i = 0; i < MEMBERS; i++)
        data_encode(trod_filter_find("gzip"), members[i].level, part[i].p, part[i].n, 40000, &file);
    return file;
}

static void test_gzip(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "a.gz");
    struct trod_buf part[MEMBERS], plain = whole(part), file = gzipped(part);

    (void)state;
    test_save(path, file.p, file.n);
    every_point(path, &file, &plain, 16);
    for (size_t i = 0; i < MEMBERS; i++)
        trod_buf_fini(&part[i]);
    trod_buf_fini(&plain);
    trod_buf_fini(&file);
    test_remove(dir);
    free(path);
    free(dir);
}

/* Cut behind the last point, in the data and in the trailer: it is told, whatever codec reads. */
static void test_cut(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "a.gz");
    struct trod_buf part[MEMBERS], plain = whole(part), file = gzipped(part);
    struct points all = {0};

    (void)state;
    test_save(path, file.p, file.n);
    assert_int_equal(trod_points_find(path, APART, keep, &all), 0);
    assert_true(all.n > 0);
    for (size_t cut = 1; cut <= TAIL; cut++) {
        const struct trod_point *p = &all.at[all.n - 1];

        test_save(path, file.p, file.n - cut);
        for (size_t way = 0; way < WAYS; way++) {
            int status;
            struct trod_buf got = read_from(path, p, p->decoded, &ways[way], &status);

            assert_int_equal(status, TROD_ERR_TRUNCATED);
            assert_true(got.n <= plain.n - p->decoded);
            assert_true(cut > 8 || got.n == plain.n - p->decoded);
            assert_memory_equal(got.p, plain.p + p->decoded, got.n);
            trod_buf_fini(&got);
        }
    }
    free(all.at);
    for (size_t i = 0; i < MEMBERS; i++)
        trod_buf_fini(&part[i]);
    trod_buf_fini(&plain);
    trod_buf_fini(&file);
    test_remove(dir);
    free(path);
    free(dir);
}

static void test_zip(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "a.zip");
    struct trod_buf part[MEMBERS], plain = whole(part), file;
    struct trod_output *out;

    (void)state;
    assert_int_equal(trod_output_create(&out, path, NULL, NULL), 0);
    for (size_t i = 0; i < MEMBERS; i++) {
        char name[16];

        snprintf(name, sizeof name, "part.%zu", i);
        assert_int_equal(trod_output_part(out, name), 0);
        assert_int_equal(trod_output_write(out, part[i].p, part[i].n), 0);
    }
    assert_int_equal(trod_output_commit(out), 0);
    file = test_load(path);
    every_point(path, &file, &plain, 5);
    for (size_t i = 0; i < MEMBERS; i++)
        trod_buf_fini(&part[i]);
    trod_buf_fini(&plain);
    trod_buf_fini(&file);
    test_remove(dir);
    free(path);
    free(dir);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_zip),
    };

    if (!TROD_HAVE_ZLIB) {
        print_message("this build has no zlib, which finds the points: they are not tested\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
