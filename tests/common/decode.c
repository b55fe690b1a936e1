/*
 * decode.c - run a decoder over memory in every way the reader could, and its rows through an
 * encoder. Implements a part of testlib.h.
 *
 * It keeps to the contract of format.h and ends the program when a driver does not: rows beyond the
 * batch, spans that do not add up, a full batch without rows, bytes left at the end without a word.
 * Small windows are given as blocks of their own, so that AddressSanitizer sees a step beside them.
 */
#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 1 << 16, COPY_MAX = 1 << 13 };

/* A run. */
struct run {
    const struct test_input *in;
    const struct test_how *how;
    struct trod_meta own;
    struct trod_meta *meta;
    struct trod_diag diag;
    struct trod_batch *batch;
    struct test_rows *out;
    bool text;
    uint32_t mask;
    void *dec;
    uint8_t *window; /* copy of the present window, or NULL */
    size_t pos, end; /* of the present window */
    size_t next_cut;
};

void test_rows_free(struct test_rows *r)
{
    free(r->hash);
    free(r->at);
    free(r->len);
    trod_buf_fini(&r->text);
    *r = (struct test_rows){0};
}

static void *must(void *p)
{
    if (!p)
        test_die("out of memory");
    return p;
}

static void add_row(struct run *r, uint32_t row)
{
    struct test_rows *out = r->out;
    const struct trod_batch *b = r->batch;
    uint64_t at = TROD_NOWHERE;
    uint32_t len = 0;

    if (out->n == out->cap) {
        out->cap = out->cap ? 2 * out->cap : 256;
        out->hash = must(realloc(out->hash, out->cap * sizeof *out->hash));
        out->at = must(realloc(out->at, out->cap * sizeof *out->at));
        out->len = must(realloc(out->len, out->cap * sizeof *out->len));
    }
    if ((r->mask & b->have & b->has[row] & TROD_COL_RAW) && b->raw[row].len) {
        len = b->raw[row].len;
        if (!(b->raw[row].off & (TROD_SLICE_POOL | TROD_SLICE_SHARED)))
            at = b->offset + b->raw[row].off;
    }
    out->hash[out->n] = test_row_hash(b, row, r->mask);
    out->at[out->n] = at;
    out->len[out->n] = len;
    out->n++;
    if (r->text)
        test_row_text(b, row, r->mask, &out->text);
}

/* Show the window [pos, end) and let the driver decode; its rows are taken. Returns its answer. */
static int decode_window(struct run *r)
{
    const struct trod_format *f = r->in->format;
    size_t n = r->end - r->pos;
    const uint8_t *p = r->in->p + r->pos;
    struct trod_span span;
    int rc;

    free(r->window);
    r->window = NULL;
    if (n <= COPY_MAX) {
        r->window = must(malloc(n ? n : 1));
        if (n)
            memcpy(r->window, p, n);
        p = r->window;
    }
    if (r->how->move_state) {
        void *dec = must(malloc(f->dec_size ? f->dec_size : 1));

        memcpy(dec, r->dec, f->dec_size);
        memset(r->dec, 0xa5, f->dec_size);
        free(r->dec);
        r->dec = dec;
    }
    span = (struct trod_span){p, n, r->pos, r->end == r->in->n};
    trod_batch_clear(r->batch);
    r->batch->bytes = p;
    r->batch->bytes_n = n;
    r->batch->offset = r->pos;
    r->batch->meta = r->meta;
    r->batch->first = r->out->n;
    rc = f->decode(r->dec, &span, r->batch, &r->diag);
    if (span.p < p || span.p + span.n != p + n)
        test_die("%s: the span no longer ends where it did", f->name);
    if (r->batch->n > r->batch->cap)
        test_die("%s: %u rows in a batch of %u", f->name, r->batch->n, r->batch->cap);
    if (rc > TROD_DEC_END)
        test_die("%s: decode returned %d", f->name, rc);
    if (rc == TROD_DEC_FULL && span.p == p && r->batch->n == 0)
        test_die("%s: full without a row", f->name);
    r->pos += (size_t)(span.p - p);
    for (uint32_t i = 0; i < r->batch->n; i++)
        add_row(r, i);
    return rc;
}

/* The next window ends here. */
static void widen(struct run *r)
{
    const struct test_how *how = r->how;
    size_t n = r->in->n, end = n;

    if (how->cut) {
        while (r->next_cut < how->n_cuts && how->cut[r->next_cut] <= r->end)
            r->next_cut++;
        if (r->next_cut < how->n_cuts && how->cut[r->next_cut] < n)
            end = how->cut[r->next_cut];
    } else if (how->every && n - r->end > how->every) {
        end = r->end + how->every;
    }
    r->end = end;
}

/* After an error: where the driver says decoding can go on. False when nowhere. */
static bool recover(struct run *r)
{
    const struct trod_format *f = r->in->format;
    size_t at;

    if (!f->resync || r->pos + 1 >= r->in->n)
        return false;
    at = f->resync(r->dec, r->in->p + r->pos + 1, r->in->n - r->pos - 1);
    if (at == SIZE_MAX)
        return false;
    if (at >= r->in->n - r->pos - 1)
        test_die("%s: resync points behind its bytes", f->name);
    r->pos += 1 + at;
    if (r->end < r->pos)
        r->end = r->pos;
    return true;
}

/* Decode everything. */
static void loop(struct run *r)
{
    struct test_rows *out = r->out;

    r->pos = r->end = r->in->from;
    widen(r);
    for (;;) {
        size_t before = r->pos, rows = out->n;
        bool last = r->end == r->in->n;
        int rc = decode_window(r);

        if (rc < 0 && out->rc == 0) {
            out->rc = rc;
            out->stop = r->pos;
        }
        if (rc < 0 && (!r->how->resume || rc == TROD_ERR_TRUNCATED || !recover(r)))
            break;
        if (rc == TROD_DEC_END)
            break;
        if (rc == TROD_DEC_MORE && last && r->pos == before && out->n == rows) {
            if (r->pos < r->in->n)
                test_die("%s: bytes at %zu of %zu left without an error", r->in->format->name,
                         r->pos, r->in->n);
            break;
        }
        if (rc == TROD_DEC_MORE)
            widen(r);
    }
    if (out->rc == 0)
        out->stop = r->pos;
}

void *test_options(const struct trod_format *f, const void *opt)
{
    void *o = must(calloc(1, f->options_size ? f->options_size : 1));

    if (opt || f->defaults)
        memcpy(o, opt ? opt : f->defaults, f->options_size);
    return o;
}

/* Keeps the first problem. */
static void sink(void *user, const struct trod_problem *p)
{
    char *message = user;
    int n = p->at.text ? (int)(p->at.text_len < 150 ? p->at.text_len : 150) : 0;

    if (!*message)
        snprintf(message, sizeof((struct test_rows *)0)->message, "%s: %.100s: '%.*s'", p->kind,
                 p->message, n, n ? (const char *)p->at.text : "");
}

static struct test_rows decode(const struct test_input *in, const struct test_how *how, bool text)
{
    const struct trod_format *f = in->format;
    struct test_rows out = {0};
    struct run r = {.in = in, .how = how, .out = &out, .text = text};
    struct trod_span head = {in->p, in->n < HEAD ? in->n : HEAD, 0, in->n <= HEAD};
    uint32_t rows = how->rows ? how->rows : TROD_BATCH_ROWS;
    void *opt = test_options(f, in->opt);

    if (trod_batch_new(&r.batch, rows > f->record_rows ? rows : f->record_rows) < 0)
        test_die("out of memory");
    r.batch->want = how->want ? how->want : TROD_COL_ALL;
    r.mask = (how->mask ? how->mask : r.batch->want) & (r.batch->want | TEST_ANY_HEAD);
    r.meta = in->meta ? in->meta : &r.own;
    trod_meta_init(&r.own);
    trod_diag_init(&r.diag, sink, out.message);
    r.dec = must(calloc(1, f->dec_size ? f->dec_size : 1));
    out.rc = f->start(r.dec, opt, &head, r.meta, &r.diag);
    if (out.rc == TROD_OK)
        loop(&r);
    if (f->stop)
        f->stop(r.dec);
    out.errors = r.diag.errors;
    out.warnings = r.diag.warnings;
    free(r.window);
    free(r.dec);
    free(opt);
    trod_batch_free(r.batch);
    trod_meta_fini(&r.own);
    return out;
}

struct test_rows test_decode(const struct test_input *in, const struct test_how *how)
{
    return decode(in, how, false);
}

struct test_rows test_decode_text(const struct test_input *in, const struct test_how *how)
{
    return decode(in, how, true);
}
