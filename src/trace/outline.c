/*
 * outline.c - outlines of parts of a file: read by any thread, and passed over by the decoder that
 * passes over the file.
 *
 * Implements trace/cuts.h.
 */
#include "trace/batch_own.h"
#include "trace/cuts.h"
#include "trace/reader_int.h"
#include "trace/trace_impl.h"

#include <stdlib.h>

/* WINDOW: bytes read at a time. MOST: bytes of an outline; passing over more is left to who reads.
 */
enum { WINDOW = 1 << 18, MOST = 1 << 24 };

void trod_outline_fini(struct trod_outline *o)
{
    trod_buf_fini(&o->bytes);
    free(o->piece);
    *o = (struct trod_outline){.n = 0};
}

/* The outline of the bytes [AT, TO) of IN, which is at AT. 0 or an error. */
static int outline(const struct trod_reader *r, struct trod_input *in, uint64_t at, uint64_t to,
                   struct trod_outline *out)
{
    const struct trod_parts *const parts = r->spec.format->parts;
    struct trod_span span;
    size_t taken = 0;
    int rc = TROD_OK;

    for (; rc == TROD_OK && at < to; at += taken) {
        size_t n;

        trod_input_consume(in, taken);
        rc = trod_input_ahead(in, r->spec.format->row_max, &span);
        n = to - at < span.n ? (size_t)(to - at) : span.n;
        taken = rc == TROD_OK ? parts->outline(r->dec, span.p, n, out) : 0;
        if (taken == SIZE_MAX)
            return TROD_ERR_NOMEM;
        if (rc == TROD_OK && (taken == 0 || out->bytes.n > MOST))
            rc = TROD_ERR_UNSUPPORTED;
    }
    return rc;
}

int trod_trace_outline(const struct trod_trace *t, uint64_t from, uint64_t to,
                       struct trod_outline *out)
{
    const struct trod_input_options opt = {.no_thread = true, .window = WINDOW};
    struct trod_reader *const r = t->open[0];
    struct trod_input *in;
    int rc;

    if (!r || !r->spec.format->parts || !r->spec.format->parts->outline)
        return TROD_ERR_UNSUPPORTED;
    rc = trod_input_open(&in, trod_input_path(trod_reader_input(r)), &opt, NULL);
    if (rc < 0)
        return rc;
    rc = trod_input_skip(in, from) == from ? outline(r, in, from, to, out) : TROD_ERR_IO;
    trod_input_close(in);
    return rc;
}

/* The bytes that PIECE shows are those at P, of the trace at OFFSET. 0 or an error. */
static int pass_shown(struct trod_reader *r, struct trod_batch *b, uint64_t offset,
                      const uint8_t *p, const struct trod_outline_piece *piece)
{
    struct trod_span span = {.p = p, .n = piece->shown, .offset = offset, .last = true};
    int rc = TROD_OK;

    while (rc >= 0 && span.n) {
        const size_t before = span.n;

        trod_batch_clear(b);
        b->meta = r->meta;
        b->first = r->ordinal;
        b->bytes = span.p;
        b->bytes_n = span.n;
        b->offset = span.offset;
        trod_batch_driver(b, r->spec.format);
        trod_batch_shares(b, 0);
        rc = r->spec.format->parts->pass(r->dec, &span, b);
        r->ordinal = b->first + b->n;
        if (rc >= 0 && span.n == before)
            rc = TROD_ERR_CORRUPT;
    }
    return rc < 0 ? rc : TROD_OK;
}

int trod_trace_pass_outline(struct trod_trace *t, uint64_t to, const struct trod_outline *o)
{
    struct trod_reader *const r = t->open[0];
    const uint8_t *p = o->bytes.p;
    struct trod_batch *b;
    uint64_t at;
    int rc = trod_trace_pass_batch(t, &b);

    if (rc < 0)
        return rc;
    trod_input_consume(r->in, r->eaten);
    r->eaten = 0;
    r->meta->part_cut = true;
    at = trod_input_offset(r->in);
    for (const struct trod_outline_piece *k = o->piece; rc == TROD_OK && k < o->piece + o->n; k++) {
        rc = pass_shown(r, b, at, p, k);
        if (rc == TROD_OK && k->hidden)
            rc = r->spec.format->parts->hidden(r->dec, k);
        r->ordinal += k->rows;
        at += k->shown + k->hidden;
        p += k->shown;
    }
    if (rc == TROD_OK && at != to)
        rc = TROD_ERR_CORRUPT;
    if (rc == TROD_OK && trod_input_skip(r->in, to - trod_input_offset(r->in)) == 0)
        rc = TROD_ERR_IO;
    return rc;
}
