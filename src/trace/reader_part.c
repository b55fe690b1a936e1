/*
 * reader_part.c - a reader of a part of its input: members of an archive, or bytes between two
 * cuts.
 *
 * Implements reader.h and reader_int.h.
 */
#include "io/frames.h"
#include "trace/reader_int.h"
#include "trace/trace_impl.h"

void trod_reader_part(struct trod_reader *r, size_t from, size_t to)
{
    struct trod_member m;

    r->part = from;
    if (trod_input_member(r->in, to, &m) && m.offset != TROD_NOWHERE)
        r->part_end = m.offset;
    r->meta->part_cut = r->part_end != 0;
}

void trod_reader_enter_part(struct trod_reader *r, struct trod_batch *b)
{
    uint64_t at = trod_input_offset(r->in) + r->eaten;
    struct trod_member m;

    trod_batch_clear(b);
    if (trod_input_member(r->in, r->part, &m) && m.offset >= at) {
        trod_input_consume(r->in, r->eaten);
        r->eaten = 0;
        if (trod_input_skip(r->in, m.offset - trod_input_offset(r->in)) == m.offset - at)
            r->spec.format->jump->enter(r->dec, r->part);
        else
            r->done = true;
        r->from = m.offset;
        r->from_file = trod_input_file_offset(r->in);
    }
    r->part = 0;
}

void trod_reader_bytes(struct trod_reader *r, uint64_t from, uint64_t to)
{
    const uint32_t stride = r->spec.format->stride;

    r->began = r->from = r->from_file = from;
    r->enters = from != 0;
    r->part_end = to == TROD_NOWHERE ? 0 : to;
    r->meta->part_cut = r->part_end != 0;
    if (stride)
        r->ordinal = from / stride;
}

void trod_reader_apart(struct trod_reader *r)
{
    r->apart = true;
}

bool trod_reader_enter_bytes(struct trod_reader *r)
{
    const struct trod_parts *parts = r->apart ? r->spec.format->parts : NULL;
    const uint64_t from = r->began - (parts ? parts->entry : 0);
    struct trod_span span;

    if (trod_input_skip(r->in, from) != from)
        return false;
    if (!parts)
        return true;
    if (trod_input_ahead(r->in, parts->entry, &span) < 0 || span.n < parts->entry)
        return false;
    parts->enter(r->dec, span.p);
    trod_input_consume(r->in, parts->entry);
    return true;
}

size_t trod_reader_ahead_of(const struct trod_reader *r)
{
    const struct trod_parts *parts = r->spec.format->parts;

    return parts && !r->damaged && !r->part_last ? parts->ahead : 0;
}

bool trod_reader_cut_part(const struct trod_reader *r, struct trod_span *span)
{
    uint64_t left = r->part_end > span->offset ? r->part_end - span->offset : 0;
    const size_t ahead = trod_reader_ahead_of(r);

    if (left && ahead && span->n >= left + ahead) {
        span->n = (size_t)left + ahead;
        span->last = false;
    } else if (span->n >= left && (span->last || !ahead)) {
        span->last = r->part_last || (span->last && span->n == left && !r->damaged);
        span->n = (size_t)left;
    }
    return left == 0;
}

bool trod_reader_must_arrive(const struct trod_reader *r)
{
    return r->apart && r->part_end && !r->damaged;
}

void trod_reader_look_at_end(struct trod_reader *r, const struct trod_span *span)
{
    const struct trod_parts *parts = r->spec.format->parts;

    if (!trod_reader_must_arrive(r) || span->offset != r->part_end || !parts->arrived ||
        r->eaten == 0 ||
        (r->eaten >= parts->entry && parts->arrived(r->dec, span->p - parts->entry)))
        return;
    r->failed = TROD_ERR_CORRUPT;
    r->done = true;
}

int trod_reader_fork(struct trod_reader *r, const struct trod_reader *from)
{
    const int rc = trod_meta_learn(r->meta, from->meta);

    r->ordinal = from->ordinal;
    return rc < 0 ? rc : r->spec.format->parts->fork(r->dec, from->dec);
}

bool trod_reader_may_assume(const struct trod_reader *r, uint32_t want)
{
    return r->spec.format->parts->may_assume(r->dec, want);
}

int trod_reader_assume(struct trod_reader *r)
{
    r->ordinal = 0;
    return r->spec.format->parts->assume(r->dec);
}

int trod_reader_assumed(struct trod_reader *r, struct trod_reader *before)
{
    return r->spec.format->parts->assumed(r->dec, before->dec);
}

uint64_t trod_reader_cut(const struct trod_reader *r, uint64_t at)
{
    enum { NEAR = 1 << 16 }; /* where nearly all cuts are found */
    const struct trod_input_options opt = {.no_thread = true, .window = NEAR};
    const struct trod_format *f = r->spec.format;
    struct trod_input *in;
    struct trod_span span;
    uint64_t cut = TROD_NOWHERE;
    bool more;

    if (r->made)
        return cut;
    if (f->stride)
        return at + (f->stride - at % f->stride) % f->stride;
    if (!(f->parts || (f->cuts && f->resync)) ||
        trod_input_open(&in, trod_input_path(r->in), &opt, NULL) < 0)
        return cut;
    trod_input_use_frames(in, trod_input_frames(r->in));
    more = trod_input_skip(in, at) == at;
    for (size_t n, some = NEAR; more; some = TROD_WINDOW) {
        if (trod_input_ahead(in, some, &span) < 0)
            break;
        n = f->parts ? f->parts->cut(r->dec, at, span.p, span.n)
                     : f->resync(r->dec, span.p, span.n);
        if (n != SIZE_MAX)
            cut = at + n;
        more = n == SIZE_MAX && some == NEAR && span.n >= NEAR;
    }
    trod_input_close(in);
    return cut;
}
