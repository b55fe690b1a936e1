/*
 * passing.h - for tests of formats with parts (format.h, struct trod_parts): a trace decoded in
 * parts, each by a decoder that goes on from one that passed over all before it, gives the rows and
 * problems of one decoder.
 *
 * Cuts at random, passed over in windows cut anywhere, or by outlines made of such. A decoder that
 * rests now and then gives the same rows and problems, too. Where parts can also begin by
 * themselves, they do so in every other trace, and say whether they arrive at their ends.
 */
#ifndef PASSING_H
#define PASSING_H

#include "gen.h"
#include "testlib.h"
#include "trace/cuts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static void begin(struct decoder *d, const struct trod_format *f, const struct trod_buf *in,
                  uint32_t want, struct list *problems)
{
    const struct trod_span head = {.p = in->p, .n = in->n, .last = true};
    void *opt;

    *d = (struct decoder){.f = f, .problems = problems, .in = in};
    trod_meta_init(&d->meta);
    trod_diag_init(&d->diag, note, d);
    d->dec = calloc(1, d->f->dec_size);
    assert_non_null(d->dec);
    assert_int_equal(trod_batch_new(&d->b, TROD_BATCH_ROWS), TROD_OK);
    d->b->want = want;
    opt = test_options(d->f, NULL);
    assert_int_equal(f->start(d->dec, opt, &head, &d->meta, &d->diag), TROD_OK);
    free(opt);
}

static void end(struct decoder *d)
{
    if (d->f->stop)
        d->f->stop(d->dec);
    free(d->dec);
    trod_batch_free(d->b);
    trod_meta_fini(&d->meta);
}

static size_t compared, passed_over, rested; /* traces to their end; cuts; decoders that woke */

/* The batch of D is to get rows of IN. */
static void prepare(struct decoder *d, const struct trod_span *in)
{
    trod_batch_clear(d->b);
    d->b->meta = &d->meta;
    d->b->first = d->rows;
    d->b->bytes = in->p;
    d->b->bytes_n = in->n;
    d->b->offset = in->offset;
}

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
        const size_t ahead = all || to == d->in->n ? 0 : d->f->parts->ahead;
        const size_t left = to - d->at + ahead, some = want + gen_below(g, most);
        const size_t n = some < left ? some : left;
        struct trod_span in = {.p = d->in->p + d->at, .n = n, .offset = d->at};
        int rc;

        assert_true(d->at + left <= d->in->n);
        in.last = n == left && (all || to == d->in->n);
        prepare(d, &in);
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
        assert_true(in.offset <= to);
        want = in.offset == d->at && d->b->n == 0 ? n + 1 : 1;
        d->at = (size_t)in.offset;
    }
    return TROD_OK;
}

static size_t shown, hidden; /* bytes in outlines */
static size_t waited;        /* windows too short for an outline to take any */

/* As go, passing over the bytes up to TO by way of their outline. */
static int go_outlined(struct decoder *d, struct trod_gen *g, size_t to, size_t most)
{
    struct trod_outline o = {.n = 0};
    const uint8_t *p;
    int rc = TROD_OK;

    for (size_t at = d->at, want = 12; at < to;) {
        const size_t left = to - at, some = want + gen_below(g, most);
        const size_t n = some < left ? some : left;
        const size_t taken = d->f->parts->outline(d->dec, d->in->p + at, n, &o);

        assert_true(taken <= n);
        want = taken ? 12 : n + 1; /* a record may be longer */
        waited += taken == 0;
        at += taken;
        if (taken == 0 && n == left) { /* it does not end at TO */
            trod_outline_fini(&o);
            return TROD_ERR_CORRUPT;
        }
    }
    p = o.bytes.p;
    d->meta.part_cut = true;
    for (size_t k = 0; k < o.n && rc == TROD_OK; k++) {
        struct trod_span in = {.p = p, .n = o.piece[k].shown, .offset = d->at, .last = true};

        while (rc >= 0 && in.n) {
            prepare(d, &in);
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
    trod_outline_fini(&o);
    return rc;
}

static void same(const struct list *a, const struct list *b)
{
    assert_int_equal(a->n, b->n);
    assert_true(a->n == 0 || memcmp(a->item, b->item, a->n * sizeof *a->item) == 0);
}

/* A decoder of IN that rests now and then gives ROWS and PROBLEMS. */
static void resting(struct trod_gen *g, const struct trod_format *f, const struct trod_buf *in,
                    uint32_t want, const struct list *rows, const struct list *problems)
{
    struct list own_rows = {0}, own_problems = {0};
    struct decoder d;

    begin(&d, f, in, want, &own_problems);
    d.rests = true;
    go(&d, g, in->n, 1 << 10, &own_rows);
    same(rows, &own_rows);
    same(problems, &own_problems);
    end(&d);
    free(own_rows.item);
    free(own_problems.item);
}

/* D, which decodes IN, begins at the offset FROM, by what is before it. */
static void enter(struct decoder *d, const struct trod_buf *in, size_t from, uint64_t rows)
{
    assert_true(from >= d->f->parts->entry);
    d->f->parts->enter(d->dec, in->p + from - d->f->parts->entry);
    d->at = from;
    d->rows = rows;
}

/* Is what D ends with at its end what a part that begins there would begin with? */
static bool arrives(const struct decoder *d, const struct trod_buf *in)
{
    const struct trod_parts *p = d->f->parts;

    return !p->arrived || p->arrived(d->dec, in->p + d->at - p->entry);
}

/* D goes on from what FROM has passed over. */
static void follow(struct decoder *d, struct decoder *from)
{
    d->at = from->at;
    d->rows = from->rows;
    assert_int_equal(trod_meta_learn(&d->meta, &from->meta), TROD_OK);
    assert_int_equal(d->f->parts->fork(d->dec, from->dec), TROD_OK);
}

/* D passes over IN up to the offset TO. 0 or the driver's error. */
static int pass_to(struct decoder *d, struct trod_gen *g, size_t to)
{
    const int rc = d->f->parts->outline && gen_once_in(g, 2) ? go_outlined(d, g, to, 1 << 14)
                                                             : go(d, g, to, 1 << 12, NULL);

    assert_true(rc < 0 || d->at == to);
    return rc;
}

/* The trace IN of format F, cut where it may be behind every STEP bytes or so. */
static void parts(struct trod_gen *g, const struct trod_format *f, const struct trod_buf *in,
                  uint32_t want, size_t step)
{
    struct list rows = {0}, problems = {0}, part_rows = {0}, part_problems = {0}, ignored = {0};
    const bool enters = f->parts->enter && gen_once_in(g, 2);
    struct decoder serial, scanner, part;
    size_t from = 0;
    int rc = TROD_OK;

    begin(&serial, f, in, want, &problems);
    go(&serial, g, in->n, 1 << 20, &rows);
    begin(&scanner, f, in, want, &ignored);
    while (rc == TROD_OK && from < in->n) {
        const size_t at = from + 1 + gen_below(g, step);
        const size_t more =
            at < in->n ? f->parts->cut(scanner.dec, at, in->p + at, in->n - at) : SIZE_MAX;
        const size_t to = more == SIZE_MAX ? in->n : at + more;

        begin(&part, f, in, want, &part_problems);
        if (from && enters)
            enter(&part, in, from, part_rows.n);
        else if (from)
            follow(&part, &scanner);
        rc = go(&part, g, to, 1 << 12, &part_rows);
        if (to == in->n)
            rc = TROD_OK;
        else if (!enters)
            rc = pass_to(&scanner, g, to);
        else if (rc == TROD_OK && !arrives(&part, in))
            rc = TROD_ERR_CORRUPT;
        end(&part);
        passed_over += rc == TROD_OK;
        from = to;
    }
    assert_int_equal(ignored.n, 0);
    if (rc == TROD_OK) {
        same(&rows, &part_rows);
        same(&problems, &part_problems);
        compared++;
    }
    if (f->rest)
        resting(g, f, in, want, &rows, &problems);
    end(&serial);
    end(&scanner);
    free(rows.item);
    free(problems.item);
    free(part_rows.item);
    free(part_problems.item);
}

#endif
