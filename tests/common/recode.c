/*
 * recode.c - from a decoder into an encoder, row by row. Implements test_recode of testlib.h.
 */
#include "testlib.h"
#include "trod/loss.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 1 << 16, ROOM = 1 << 12 };

struct recode {
    const struct test_input *in;
    const struct trod_format *to;
    void *dec, *enc, *opt_in, *opt_out;
    struct trod_meta meta;
    struct trod_diag diag_in, diag_out;
    struct trod_batch *batch;
    struct trod_buf *out;
    struct trod_loss loss;
};

/* Room of N bytes, as a block of its own: a step over its end is seen. */
static int encode_into(struct recode *r, uint32_t *row, size_t n, bool finish)
{
    uint8_t *block = malloc(n);
    struct trod_room room = {block, block + n};
    int rc;

    if (!block)
        test_die("out of memory");
    rc = finish ? r->to->finish(r->enc, &room, &r->diag_out)
                : r->to->encode(r->enc, r->batch, row, &room, &r->diag_out);
    if (room.p < block || room.p > block + n)
        test_die("%s: the encoder went beyond its room", r->to->name);
    if (trod_buf_add(r->out, block, (size_t)(room.p - block)) < 0)
        test_die("out of memory");
    free(block);
    return rc;
}

/* All rows of the batch, or what is pending; the room grows where a row does not fit. */
static int drain(struct recode *r, bool finish)
{
    size_t room = r->to->row_max > ROOM ? r->to->row_max : ROOM;
    uint32_t row = 0;

    for (;;) {
        uint32_t row_before = row;
        size_t before = r->out->n;
        int rc = encode_into(r, &row, room, finish);

        if (rc < 0)
            return rc;
        if (rc == TROD_ENC_PART)
            continue;
        if (rc == TROD_ENC_DONE) {
            if (!finish && row != r->batch->n)
                test_die("%s: done with %u of %u rows", r->to->name, row, r->batch->n);
            return TROD_OK;
        }
        if (row == row_before && r->out->n == before)
            room *= 2;
        if (room > (size_t)1 << 26)
            test_die("%s: a row does not fit 64 MiB", r->to->name);
    }
}

static int loop(struct recode *r)
{
    struct trod_span span = {r->in->p, r->in->n, 0, true};
    bool begun = false;
    int rc = TROD_DEC_FULL, rc_out = TROD_OK;

    while (rc_out == TROD_OK && rc >= 0 && rc != TROD_DEC_END) {
        const uint8_t *p = span.p;

        trod_batch_clear(r->batch);
        r->batch->bytes = span.p;
        r->batch->bytes_n = span.n;
        r->batch->offset = span.offset = r->in->n - span.n;
        rc = r->in->format->decode(r->dec, &span, r->batch, &r->diag_in);
        if (!begun) {
            const struct trod_target target = {.single = true, .loss = &r->loss};

            rc_out = r->to->begin(r->enc, r->opt_out, &r->meta, &r->diag_out);
            begun = rc_out == TROD_OK;
            if (begun && r->to->target)
                rc_out = r->to->target(r->enc, &target, &r->diag_out);
        }
        if (rc_out == TROD_OK && r->batch->n)
            rc_out = drain(r, false);
        if (rc == TROD_DEC_MORE && (span.p == p || span.n == 0))
            break;
    }
    return rc_out == TROD_OK && begun && r->to->finish ? drain(r, true) : rc_out;
}

int test_recode(const struct test_input *in, const struct trod_format *to, const void *opt,
                struct trod_buf *out, uint64_t *lost)
{
    const struct trod_format *f = in->format;
    struct trod_span head = {in->p, in->n < HEAD ? in->n : HEAD, 0, in->n <= HEAD};
    struct recode r = {.in = in, .to = to, .out = out};
    int rc;

    out->n = 0;
    r.dec = calloc(1, f->dec_size ? f->dec_size : 1);
    r.enc = calloc(1, to->enc_size ? to->enc_size : 1);
    r.opt_in = test_options(f, in->opt);
    r.opt_out = test_options(to, opt);
    if (!r.dec || !r.enc || trod_batch_new(&r.batch, TROD_BATCH_ROWS) < 0)
        test_die("out of memory");
    r.batch->meta = &r.meta;
    trod_meta_init(&r.meta);
    trod_diag_init(&r.diag_in, NULL, NULL);
    trod_diag_init(&r.diag_out, NULL, NULL);
    r.meta.format = f->name;
    rc = f->start(r.dec, r.opt_in, &head, &r.meta, &r.diag_in);
    if (rc == TROD_OK)
        rc = loop(&r);
    if (lost)
        *lost = r.diag_out.errors + r.diag_out.warnings + trod_loss_rows(&r.loss) +
                trod_loss_values(&r.loss) + r.loss.invented;
    if (f->stop)
        f->stop(r.dec);
    free(r.dec);
    if (to->drop)
        to->drop(r.enc);
    free(r.enc);
    free(r.opt_in);
    free(r.opt_out);
    trod_batch_free(r.batch);
    trod_meta_fini(&r.meta);
    return rc;
}
