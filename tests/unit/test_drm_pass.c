/*
 * test_drm_pass.c - a plain drmemtrace file decoded in parts, each by a decoder that goes on from
 * one that passed over all before it, gives the rows and problems of one decoder.
 *
 * format.h, struct trod_parts. Random traces of every version, width and mixture of entries, and
 * long rows of plain entries; cuts at random, passed over in windows cut anywhere, or by outlines
 * made of such; the columns that counting wants and all of them. A decoder that rests now and then
 * gives them, too.
 */
#include "drm.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    LEAN = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
           TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_TIME,
    X86_64 = 0x40,
    ENCODINGS = 0x200
};

/* Rows or problems: a hash for each. */
struct list {
    uint64_t *item;
    size_t n, cap;
};

struct decoder {
    const struct trod_format *f;
    void *dec;
    struct trod_meta meta;
    struct trod_batch *b;
    struct trod_diag diag;
    struct list *problems;
    const struct trod_buf *in;
    size_t at;
    uint64_t rows; /* of which first of a batch says the number */
    bool rests;    /* now and then, while rows are there */
};

static void put(struct list *l, uint64_t hash)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->item = realloc(l->item, l->cap * sizeof *l->item);
        assert_non_null(l->item);
    }
    l->item[l->n++] = hash;
}

static void note(void *user, const struct trod_problem *p)
{
    struct decoder *d = user;
    uint64_t h = p->at.offset * 31 + p->at.record;

    for (const char *c = p->message; *c; c++)
        h = h * 131 + (uint8_t)*c;
    put(d->problems, h);
    for (uint32_t i = 0; i < d->diag.n_counts; i++)
        d->diag.counts[i].n = 1; /* all are wanted, not the first of a kind */
}

static void begin(struct decoder *d, const struct trod_buf *in, uint32_t want,
                  struct list *problems)
{
    const struct trod_span head = {.p = in->p, .n = in->n, .last = true};
    void *opt;

    *d = (struct decoder){.f = trod_format_find("drmemtrace", 10), .problems = problems, .in = in};
    trod_meta_init(&d->meta);
    trod_diag_init(&d->diag, note, d);
    d->dec = calloc(1, d->f->dec_size);
    assert_non_null(d->dec);
    assert_int_equal(trod_batch_new(&d->b, TROD_BATCH_ROWS), TROD_OK);
    d->b->want = want;
    opt = test_options(d->f, NULL);
    assert_int_equal(d->f->start(d->dec, opt, &head, &d->meta, &d->diag), TROD_OK);
    free(opt);
}

static void end(struct decoder *d)
{
    d->f->stop(d->dec);
    free(d->dec);
    trod_batch_free(d->b);
    trod_meta_fini(&d->meta);
}

static size_t compared, passed_over, rested; /* traces to their end; cuts; decoders that woke */

/* D rests and wakes; the rows of its batch keep what they share. */
static void rest(struct decoder *d)
{
    const uint8_t *shared = d->b->shared;

    d->f->rest(d->dec);
    d->b->shared = NULL;
    assert_int_equal(d->f->wake(d->dec, d->b), TROD_OK);
    if (d->b->shared)
        rested++;
    else /* it could not rest */
        d->b->shared = shared;
}

/*
 * Up to the offset TO, in windows of up to MOST bytes. Rows go to ROWS; NULL: they are passed over.
 * 0 or the driver's error.
 */
static int go(struct decoder *d, struct trod_gen *g, size_t to, size_t most, struct list *rows)
{
    size_t want = 1;
    bool all =
        false; /* nothing was eaten of all there is: what the driver waits for will not come */

    d->meta.part_cut = to < d->in->n;
    while (d->at < to || to == d->in->n) {
        const size_t left = to - d->at, some = want + gen_below(g, most);
        const size_t n = some < left ? some : left;
        struct trod_span in = {.p = d->in->p + d->at, .n = n, .offset = d->at};
        int rc;

        in.last = n == left && (all || to == d->in->n);
        trod_batch_clear(d->b);
        d->b->meta = &d->meta;
        d->b->first = d->rows;
        d->b->bytes = in.p;
        d->b->bytes_n = in.n;
        d->b->offset = in.offset;
        rc =
            rows ? d->f->decode(d->dec, &in, d->b, &d->diag) : d->f->parts->pass(d->dec, &in, d->b);
        if (d->rests && gen_once_in(g, 2))
            rest(d);
        for (uint32_t i = 0; rows && i < d->b->n; i++)
            put(rows,
                test_row_hash(d->b, i, TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE) + d->b->first + i);
        d->rows = d->b->first + d->b->n;
        if (rc < 0 || (rc == TROD_DEC_MORE && in.offset == d->in->n))
            return rc;
        all = in.offset == d->at && d->b->n == 0 && n == left;
        want = in.offset == d->at && d->b->n == 0 ? n + 1 : 1;
        d->at = (size_t)in.offset;
    }
    return TROD_OK;
}

static size_t shown, hidden; /* bytes in outlines */

/* As go, passing over the bytes up to TO by way of their outline. */
static int go_outlined(struct decoder *d, struct trod_gen *g, size_t to, size_t most)
{
    struct trod_outline o = {.n = 0};
    const uint8_t *p;
    int rc = TROD_OK;

    for (size_t at = d->at; at < to;) {
        const size_t left = to - at, some = 12 + gen_below(g, most);
        const size_t taken =
            d->f->parts->outline(d->dec, d->in->p + at, some < left ? some : left, &o);

        assert_true(taken != SIZE_MAX && taken > 0);
        at += taken;
    }
    p = o.bytes.p;
    d->meta.part_cut = true;
    for (size_t k = 0; k < o.n && rc == TROD_OK; k++) {
        struct trod_span in = {.p = p, .n = o.piece[k].shown, .offset = d->at, .last = true};

        while (rc >= 0 && in.n) {
            trod_batch_clear(d->b);
            d->b->meta = &d->meta;
            d->b->first = d->rows;
            d->b->bytes = in.p;
            d->b->bytes_n = in.n;
            d->b->offset = in.offset;
            rc = d->f->parts->pass(d->dec, &in, d->b);
            d->rows = d->b->first + d->b->n;
        }
        if (rc >= 0)
            rc = o.piece[k].hidden ? d->f->parts->hidden(d->dec, &o.piece[k]) : TROD_OK;
        d->rows += o.piece[k].rows;
        d->at += o.piece[k].shown + (size_t)o.piece[k].hidden;
        p += o.piece[k].shown;
        shown += o.piece[k].shown;
        hidden += (size_t)o.piece[k].hidden;
    }
    trod_buf_fini(&o.bytes);
    free(o.piece);
    return rc;
}

static void same(const struct list *a, const struct list *b)
{
    assert_int_equal(a->n, b->n);
    assert_true(a->n == 0 || memcmp(a->item, b->item, a->n * sizeof *a->item) == 0);
}

/* A decoder of IN that rests now and then gives ROWS and PROBLEMS. */
static void resting(struct trod_gen *g, const struct trod_buf *in, uint32_t want,
                    const struct list *rows, const struct list *problems)
{
    struct list own_rows = {0}, own_problems = {0};
    struct decoder d;

    begin(&d, in, want, &own_problems);
    d.rests = true;
    go(&d, g, in->n, 1 << 10, &own_rows);
    same(rows, &own_rows);
    same(problems, &own_problems);
    end(&d);
    free(own_rows.item);
    free(own_problems.item);
}

/* The trace IN, cut where it may be behind every STEP bytes or so. */
static void parts(struct trod_gen *g, const struct trod_buf *in, uint32_t want, size_t step)
{
    struct list rows = {0}, problems = {0}, part_rows = {0}, part_problems = {0}, ignored = {0};
    struct decoder serial, scanner, part;
    size_t from = 0;
    int rc = TROD_OK;

    begin(&serial, in, want, &problems);
    go(&serial, g, in->n, 1 << 20, &rows);
    begin(&scanner, in, want, &ignored);
    while (rc == TROD_OK && from < in->n) {
        const size_t at = from + 1 + gen_below(g, step);
        const size_t more =
            at < in->n ? serial.f->parts->cut(scanner.dec, at, in->p + at, in->n - at) : SIZE_MAX;
        const size_t to = more == SIZE_MAX ? in->n : at + more;

        begin(&part, in, want, &part_problems);
        if (from) {
            part.at = from;
            part.rows = scanner.rows;
            assert_int_equal(trod_meta_learn(&part.meta, &scanner.meta), TROD_OK);
            assert_int_equal(part.f->parts->fork(part.dec, scanner.dec), TROD_OK);
        }
        go(&part, g, to, 1 << 12, &part_rows);
        end(&part);
        if (to < in->n) {
            rc = gen_once_in(g, 2) ? go_outlined(&scanner, g, to, 1 << 14)
                                   : go(&scanner, g, to, 1 << 12, NULL);
            assert_true(rc < 0 || scanner.at == to);
        }
        passed_over += rc == TROD_OK;
        from = to;
    }
    assert_int_equal(ignored.n, 0);
    if (rc == TROD_OK) {
        same(&rows, &part_rows);
        same(&problems, &part_problems);
        compared++;
    }
    resting(g, in, want, &rows, &problems);
    end(&serial);
    end(&scanner);
    free(rows.item);
    free(problems.item);
    free(part_rows.item);
    free(part_problems.item);
}

static void test_random(void **state)
{
    struct trod_gen g = gen_seed(31);

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        const struct drm_random how = {
            .width = i % 4 == 3 ? 8 : 12,
            .version = 2 + (unsigned)gen_below(&g, 5),
            .filetype = (i % 2 ? ENCODINGS : 0) | (i % 3 ? X86_64 : 0),
            .chunk = i % 5 ? 0 : 300,
            .threads = 1 + (unsigned)gen_below(&g, 3),
            .bundles = i % 7 == 0,
            .wild = i % 3 == 0,
        };
        struct trod_buf b = {0};

        drm_random(&g, &how, 3000, &b, NULL, NULL);
        parts(&g, &b, i % 2 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
              i % 4 ? 4000 : b.n / 3);
        trod_buf_fini(&b);
    }
    assert_true(compared >= 40 && passed_over > 200 && rested > 200);
}

/* The head of a trace of FILETYPE, of one thread. */
static void head(struct trod_buf *b, uint64_t filetype)
{
    drm_put(b, 12, 25, 0, 6);
    drm_put(b, 12, 28, 12, 6);
    drm_put(b, 12, 28, 9, filetype);
    drm_put(b, 12, 22, 0, 7);
    drm_put(b, 12, 24, 0, 7);
}

/* Long rows of entries of which one in RARE is none for the hot loop, or has no size. */
static void test_plain(void **state)
{
    static const uint8_t types[] = {0, 1, 2, 3, 10, 10, 10, 11, 12, 13, 14, 15, 16, 27, 29, 48, 49};
    struct trod_gen g = gen_seed(32);

    (void)state;
    compared = passed_over = 0;
    for (unsigned k = 0; k < 30; k++) {
        const uint64_t rare = 1 + gen_below(&g, 300), none = k % 3 ? 0 : 40;
        struct trod_buf b = {0};

        head(&b, X86_64 | (k % 2 ? ENCODINGS : 0));
        drm_put(&b, 12, 28, 2, 1000);
        drm_put(&b, 12, 28, 3, 1);
        for (unsigned i = 0; i < 4000; i++) {
            const uint64_t addr = 0x400000 + gen_below(&g, 600) + (gen_below(&g, 20) << 20);
            const unsigned size =
                none && gen_once_in(&g, none) ? 0 : 1 + (unsigned)gen_below(&g, 8);

            if (!gen_once_in(&g, rare)) {
                /* now and then nothing but data */
                drm_put(&b, 12, types[gen_below(&g, i / 700 % 2 ? 4 : sizeof types)], size, addr);
                continue;
            }
            drm_put(&b, 12, 28, 2, 1000 + i);
            drm_put(&b, 12, 47, 1 + size % 8, gen_u64(&g));
            drm_put(&b, 12, 10, 1 + size % 8, addr);
            if (gen_once_in(&g, 5))
                drm_put(&b, 12, 22, 0, 7 + gen_below(&g, 3));
        }
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, &b, k % 4 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, 9000);
        trod_buf_fini(&b);
    }
    assert_true(compared == 30 && passed_over > 150);
    assert_true(shown > 10000 && hidden > 10000);
}

/*
 * The target of an indirect branch that comes only after a long row of other instructions: what
 * is hidden of that row in an outline would take it.
 */
static void test_late_branch(void **state)
{
    enum { BRANCH_TARGET = 29, INDIRECT = 12 };
    struct trod_gen g = gen_seed(35);

    (void)state;
    compared = 0;
    for (unsigned k = 0; k < 20; k++) {
        struct trod_buf b = {0};

        head(&b, X86_64);
        for (unsigned i = 0; i < 2000; i++) {
            if (i % 500 == 100)
                drm_put(&b, 12, 28, BRANCH_TARGET, 0x1234 + i);
            drm_put(&b, 12, i % 500 == 400 || i % 500 == 450 ? INDIRECT : 10, 4, 0x400000 + 4 * i);
        }
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, &b, TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, b.n / 2);
        trod_buf_fini(&b);
    }
    assert_in_range(compared, 1, 19);
}

/*
 * Instructions that all came before, in long rows: a part gets to know so many within a group that
 * its table grows there.
 */
static void test_inherited(void **state)
{
    enum { PLACES = 700 };
    struct trod_gen g = gen_seed(33);

    (void)state;
    compared = 0;
    for (unsigned k = 0; k < 10; k++) {
        struct trod_buf b = {0};

        head(&b, X86_64 | ENCODINGS);
        for (unsigned i = 0; i < PLACES; i++) {
            drm_put(&b, 12, 47, 4, gen_u64(&g) & UINT32_MAX);
            drm_put(&b, 12, 10, 4, 0x400000 + 4 * i);
        }
        for (unsigned i = 0; i < 4 * PLACES; i++)
            drm_put(&b, 12, 10, 4, 0x400000 + 4 * gen_below(&g, PLACES));
        drm_put(&b, 12, 23, 0, 7);
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, &b, k % 2 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, b.n / 3);
        trod_buf_fini(&b);
    }
    assert_int_equal(compared, 10);
}

/* The last row brings its encoding and stands behind a footer: the trace has no end. */
static void test_no_footer(void **state)
{
    struct trod_gen g = gen_seed(34);
    struct list rows = {0}, problems = {0};
    struct trod_buf b = {0};
    struct decoder d;

    (void)state;
    head(&b, X86_64 | ENCODINGS);
    for (unsigned i = 0; i < 2; i++) {
        drm_put(&b, 12, 47, 4, 0x90909090);
        drm_put(&b, 12, 10, 4, 0x400000 + 4 * i);
        if (i == 0)
            drm_put(&b, 12, 26, 0, 0);
    }
    begin(&d, &b, LEAN, &problems);
    (void)go(&d, &g, b.n, 1 << 20, &rows);
    assert_int_equal(problems.n, 1);
    end(&d);
    free(rows.item);
    free(problems.item);
    trod_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_plain),
        cmocka_unit_test(test_late_branch), cmocka_unit_test(test_inherited),
        cmocka_unit_test(test_no_footer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
