/*
 * cuts.c - one plain file as parts that are decoded by themselves: where they begin, and a trace of
 * one of them.
 *
 * Implements docs/design.md, "The engine": a part gives the rows that decoding the whole file gives
 * between the two offsets, and the same problems.
 */
#include "trace/trace_impl.h"

#include <string.h>

size_t trod_trace_cuts(const struct trod_trace *whole, size_t file, uint64_t piece, uint64_t *cut,
                       size_t most, struct trod_candidate *as)
{
    const struct trod_input_options opt = {.no_thread = true, .window = 1 << 16};
    struct trod_trace *t;
    const struct trod_format *f;
    uint64_t pieces;
    size_t n = 0;

    if (trod_trace_open_file(&t, whole, file, &opt, NULL) < 0)
        return 0;
    f = t->format;
    *as = (struct trod_candidate){f, t->meta.dialect, t->meta.bits};
    pieces = t->total == TROD_NOWHERE || piece == 0 ? 0 : t->total / piece;
    if (!t->open[0] || !(f->stride || f->cuts) ||
        trod_input_filter(trod_reader_input(t->open[0]), 0) ||
        trod_input_members(trod_reader_input(t->open[0])))
        pieces = 0;
    if (pieces > most + 1)
        pieces = most + 1;
    for (uint64_t k = 1; k < pieces; k++) {
        uint64_t at = trod_reader_cut(t->open[0], t->total / pieces * k);

        if (at < t->total && (n == 0 || at > cut[n - 1]))
            cut[n++] = at;
    }
    trod_trace_close(t);
    return n;
}

int trod_trace_open_bytes(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                          const struct trod_stretch *s, const struct trod_input_options *input,
                          struct trod_diag *diag)
{
    int rc = trod_trace_open_known(out, whole, file, s->as, input, diag);

    if (rc == TROD_OK) {
        (*out)->meta.part = s->part;
        if ((*out)->open[0])
            trod_reader_bytes((*out)->open[0], s->from, s->to);
    }
    return rc;
}

uint64_t trod_trace_lines(const struct trod_trace *whole, size_t file, uint64_t from, uint64_t to)
{
    const struct trod_input_options opt = {.no_thread = true};
    struct trod_input *in;
    struct trod_span span;
    uint64_t n = 0;

    if (trod_input_open(&in, whole->files.file[file].path, &opt, NULL) < 0)
        return 0;
    if (trod_input_skip(in, from) != from)
        to = from;
    while (from < to && trod_input_ahead(in, 1, &span) == TROD_OK && span.n) {
        const uint8_t *p = span.p, *end;
        size_t some = span.n < to - from ? span.n : (size_t)(to - from);

        for (end = p + some; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
            n++;
        trod_input_consume(in, some);
        from += some;
    }
    trod_input_close(in);
    return n;
}
