/*
 * test_count_known.c - `count` of rows whose driver says which instructions are new gives what it
 * gives of copies of the same rows, of which nobody says it.
 *
 * Random drmemtrace traces, with what makes the driver's word worth nothing:
 * instructions without their encoding, bundles, first fetches that are none, windows, threads that
 * take turns, rows that are left out, and a decoder that begins in the middle.
 */
#include "count_data.h"

#include "drm.h"
#include "ran.h"

#include "core/origin.h"
#include "trod/run.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    ENCODINGS = 0x200,
    X86_64 = 0x40,
    INSTR = 10,
    NO_FETCH = 29,
    CODE = 47,
    BUNDLE = 17,
    THREAD = 22,
    MARKER = 28,
    WINDOW = 14,
    PLACES = 3000
};

/* What is rare, one in so many entries; 0: never. */
struct rare {
    unsigned missing, bundle, nofetch, window, thread;
};

static const struct rare kinds[] = {{0, 0, 0, 0, 0},      {200, 0, 0, 0, 0},    {0, 100, 0, 0, 0},
                                    {0, 0, 20, 0, 0},     {0, 0, 0, 300, 0},    {0, 0, 0, 0, 300},
                                    {500, 500, 50, 1, 1}, {900, 0, 9, 900, 700}};

static bool once(struct trod_gen *g, unsigned in)
{
    return in && gen_once_in(g, in);
}

/* An instruction of DynamoRIO's: its encoding the first time, and again at times. */
static void instruction(struct trod_gen *g, struct trod_buf *b, const struct rare *r, bool *seen)
{
    const uint64_t place = gen_below(g, PLACES), pc = 0x400000 + 61 * place;
    const bool code = (!seen[place] && !once(g, r->missing)) || once(g, 5000);
    const unsigned size = 1 + (unsigned)(place % 7);

    if (code)
        drm_put(b, 12, CODE, size, 0x90 + gen_below(g, 2));
    seen[place] = true;
    drm_put(b, 12, once(g, r->nofetch) ? NO_FETCH : INSTR, size, pc);
    if (once(g, r->bundle))
        drm_put(b, 12, BUNDLE, 2, 0x0203);
}

static struct trod_buf trace(struct trod_gen *g, const struct rare *r, uint64_t filetype)
{
    static const uint64_t head[][3] = {{25, 0, 6}, {28, 12, 6}, {28, 9, 0}, {22, 0, 7},
                                       {24, 0, 7}, {28, 2, 9},  {28, 3, 1}};
    struct trod_buf b = {0};
    bool seen[PLACES] = {0};

    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        drm_put(&b, 12, (unsigned)head[i][0], (unsigned)head[i][1], i == 2 ? filetype : head[i][2]);
    if (once(g, 3))
        drm_put(&b, 12, MARKER, WINDOW, 0);
    for (size_t i = 0; i < 20000; i++) {
        if (once(g, 4))
            drm_put(&b, 12, 0, 8, 0x700000 + gen_below(g, 5000));
        else
            instruction(g, &b, r, seen);
        if (once(g, r->window ? r->window + 200 : 0))
            drm_put(&b, 12, MARKER, WINDOW, 1 + gen_below(g, 3));
        if (once(g, r->thread ? r->thread + 200 : 0))
            drm_put(&b, 12, THREAD, 0, 7 + gen_below(g, 2));
    }
    drm_put(&b, 12, 23, 0, 7);
    drm_put(&b, 12, 26, 0, 0);
    return b;
}

/* Rows [FROM, TO) of B as they are to A, as a copy to C. */
static void feed_both(void *a, void *c, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct trod_batch *copy;

    assert_int_equal(count_analysis()->feed(a, b, from, to), TROD_OK);
    assert_int_equal(trod_batch_new(&copy, TROD_BATCH_ROWS), TROD_OK);
    trod_batch_clear(copy);
    assert_int_equal(trod_batch_append(copy, b, from, to - from), to - from);
    assert_int_equal(trod_origin_of(copy).number, 0);
    assert_int_equal(count_analysis()->feed(c, copy, 0, copy->n), TROD_OK);
    trod_batch_free(copy);
}

/* HOLES: some rows are left out. Returns whether the driver said where all rows came from. */
static bool both_count(struct trod_gen *g, const struct trod_buf *t, uint64_t skip, bool holes)
{
    const struct trod_reader_options ropt = {.struct_size = sizeof ropt, .from = "drmemtrace"};
    const struct trod_count_options opt = {.detail = TROD_COUNT_WIDE};
    struct trod_meta meta;
    struct trod_diag diag, quiet;
    struct trod_input *in;
    struct trod_reader *r;
    struct trod_batch *b;
    bool told = true;
    void *a, *c;
    char *x, *y;

    trod_meta_init(&meta);
    trod_diag_init(&diag, NULL, NULL);
    trod_diag_init(&quiet, NULL, NULL);
    assert_int_equal(trod_input_memory(&in, t->p, t->n, "t.trace", NULL, &diag), TROD_OK);
    assert_int_equal(trod_reader_open(&r, in, &ropt, &meta, &diag), TROD_OK);
    if (skip)
        trod_reader_skip(r, skip, false);
    a = count_begin(&opt, &meta, &quiet);
    c = count_begin(&opt, &meta, &quiet);
    assert_int_equal(trod_batch_new(&b, 1 + (uint32_t)gen_below(g, TROD_BATCH_ROWS)), TROD_OK);
    b->want = COUNT_HAVE;
    while (trod_reader_next(r, b) > 0) {
        told = told && trod_origin_of(b).number;
        if (told)
            assert_int_equal(trod_origin_of(b).before, b->first);
        for (uint32_t from = 0, to; from < b->n; from = to) {
            to = once(g, 2) ? b->n : from + 1 + (uint32_t)gen_below(g, b->n - from);
            if (!holes || !once(g, 8))
                feed_both(a, c, b, from, to);
        }
    }
    count_analysis()->settle(a, 0);
    count_analysis()->settle(c, 0);
    x = count_json(a);
    y = count_json(c);
    assert_string_equal(x, y);
    free(x);
    free(y);
    count_end(a);
    count_end(c);
    trod_batch_free(b);
    trod_reader_close(r);
    trod_meta_fini(&meta);
    return told;
}

/* What `count` of the trace at PATH finds with JOBS threads, to be freed; pieces of PIECE bytes. */
static char *count_of(const char *path, unsigned jobs, uint64_t piece)
{
    const struct trod_run_options opt = {
        .jobs = jobs, .piece = piece, .trace = {.from = "drmemtrace"}};
    struct trod_run *run;
    char *found;

    assert_int_equal(trod_run_open(&run, &path, 1, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, count_analysis(), NULL), TROD_OK);
    assert_int_equal(trod_run_go(run), TROD_OK);
    found = test_found(run, 1);
    trod_run_free(run);
    return found;
}

/* Parts that go on from what came before find what one decoder finds. */
static void test_parts(void **state)
{
    struct trod_gen g = gen_seed(78);
    char path[] = "/tmp/trod-test-XXXXXX";
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    for (unsigned i = 0; i < 4 * (sizeof kinds / sizeof *kinds); i++) {
        struct trod_buf t = trace(&g, &kinds[i % (sizeof kinds / sizeof *kinds)],
                                  i % 3 == 2 ? X86_64 : X86_64 | ENCODINGS);
        char *one, *parts;

        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, t.p, t.n, 0), (ssize_t)t.n);
        one = count_of(path, 1, 0);
        parts = count_of(path, 2 + i % 3, 5000 + gen_below(&g, 90000));
        if (strcmp(one, parts) != 0)
            fprintf(stderr, "trace %u, one go:\n%s\nparts:\n%s\n", i, one, parts);
        assert_string_equal(one, parts);
        free(one);
        free(parts);
        trod_buf_fini(&t);
    }
    close(fd);
    unlink(path);
}

static void test_told(void **state)
{
    struct trod_gen g = gen_seed(77);

    (void)state;
    for (unsigned i = 0; i < 20 * (sizeof kinds / sizeof *kinds); i++) {
        const unsigned k = i % (sizeof kinds / sizeof *kinds);
        const uint64_t filetype = i % 3 == 2 ? X86_64 : X86_64 | ENCODINGS;
        struct trod_buf t = trace(&g, &kinds[k], filetype);
        const uint64_t skip = i % 5 == 4 ? 1 + gen_below(&g, 9000) : 0;
        const bool told = both_count(&g, &t, skip, i % 7 == 6);

        if (k == 0 && !skip)
            assert_int_equal(told, (filetype & ENCODINGS) != 0);
        trod_buf_fini(&t);
    }
}

/* N rows of instructions at PC of SIZE bytes, FLAGS, rows BEFORE and on of source 77. */
static void feed_source(void *st, struct trod_meta *meta, uint64_t before, uint32_t n, uint64_t pc,
                        uint32_t size, uint32_t flags)
{
    const struct one row = {TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR,
                            .kind = TROD_INSTR, .flags = flags, .size = size, .addr = pc};
    struct trod_batch *b;

    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), TROD_OK);
    trod_batch_clear(b);
    b->have = COUNT_HAVE;
    b->meta = meta;
    for (uint32_t i = 0; i < n; i++)
        put_row(b, &row);
    trod_origin_set(b, 77, before + n);
    assert_int_equal(count_analysis()->feed(st, b, 0, b->n), TROD_OK);
    trod_batch_free(b);
}

/*
 * Two instructions of 2 and 8 bytes at one address: which comes first makes no difference. The
 * first is new, the other has FLAGS.
 */
static void longer_and_shorter(uint64_t filetype, uint32_t flags)
{
    const struct trod_count_options opt = {.detail = TROD_COUNT_WIDE};
    const struct trod_format *f = trod_format_find("drmemtrace", 10);
    char *json[2];

    for (unsigned k = 0; k < 2; k++) {
        struct trod_meta meta;
        struct trod_diag diag;
        void *st;

        trod_meta_init(&meta);
        trod_diag_init(&diag, NULL, NULL);
        meta.driver = f;
        meta.filetype = filetype;
        st = count_begin(&opt, &meta, &diag);
        feed_source(st, &meta, 0, 10, 0x1000, k ? 8 : 2, TROD_F_NEWCODE);
        feed_source(st, &meta, 10, 10, 0x1000, k ? 2 : 8, flags);
        count_analysis()->settle(st, 0);
        json[k] = count_json(st);
        count_end(st);
        trod_meta_fini(&meta);
    }
    assert_string_equal(json[0], json[1]);
    free(json[0]);
    free(json[1]);
}

/* Where encodings do not say what lies at an address a row that is not new may have more bytes;
 * where they do, one that is. */
static void test_longer(void **state)
{
    (void)state;
    longer_and_shorter(X86_64, 0);
    longer_and_shorter(X86_64, TROD_F_NEWCODE);
    longer_and_shorter(X86_64 | ENCODINGS, TROD_F_NEWCODE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_told), cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_longer)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
