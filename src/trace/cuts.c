/*
 * cuts.c - one plain file as parts that are decoded by themselves: where they begin, and a trace of
 * one of them.
 *
 * Implements docs/design.md, "The engine": a part gives the rows that decoding the whole file gives
 * between the two offsets, and the same problems.
 */
#include "trace/cuts.h"

#include "io/frames.h"
#include "trace/trace_impl.h"

#include <string.h>

/* Rows that are read to find an instruction set; most traces say it in the very first ones. */
enum { FEW_ROWS = 64, ISA_ROWS = 1 << 20 };

enum { MOST_PACKED = 15, LEAST_PACKED = 1 << 20 }; /* each part looks for the frames again */

/* The cuts of what R reads; in compressed files behind beginnings of frames, and not so many. */
static size_t cut_input(struct trod_reader *r, uint64_t piece, uint64_t *cut, size_t most,
                        struct trod_frames *frames)
{
    const struct trod_input_options opt = {.no_thread = true, .window = 1 << 12};
    const char *path = trod_input_path(trod_reader_input(r));
    struct trod_input *in;
    uint64_t size, pieces, frame = 0;
    size_t n = 0;
    bool packed;

    if (trod_input_open(&in, path, &opt, NULL) < 0)
        return 0;
    packed = trod_input_filter(in, 0) != NULL;
    size = trod_input_packed_size(in);
    if (packed)
        trod_reader_frames(r, trod_input_frames(in));
    pieces = size == TROD_NOWHERE || piece == 0 ? 0 : size / piece;
    if (packed && most > MOST_PACKED)
        most = MOST_PACKED;
    if (packed && size != TROD_NOWHERE && pieces > size / LEAST_PACKED)
        pieces = size / LEAST_PACKED;
    if (pieces > most + 1)
        pieces = most + 1;
    for (uint64_t k = 1; k < pieces; k++) {
        uint64_t want = trod_input_frame(in, size / pieces * k), at;

        if (packed && want <= frame)
            continue;
        frame = want;
        /* behind the beginning of a frame: who reads up to there sees where the one before ends */
        at = trod_reader_cut(r, want + packed);
        if (at < size && (n == 0 || at > cut[n - 1]))
            cut[n++] = at;
    }
    if (n)
        trod_frames_copy(frames, trod_input_frames(in));
    trod_input_close(in);
    return n;
}

/*
 * A trace of input FILE of WHOLE, whose reader tells where it can be cut: *AS. PACKED: it may be
 * compressed. NULL: it cannot be.
 */
static struct trod_trace *open_to_cut(const struct trod_trace *whole, size_t file, bool packed,
                                      struct trod_candidate *as)
{
    const struct trod_input_options opt = {.no_thread = true, .window = 1 << 16};
    const struct trod_candidate first = {whole->format, whole->meta.dialect, whole->meta.bits};
    const struct trod_candidate *known = NULL;
    struct trod_trace *t;
    const struct trod_format *f;

    /* the first file was looked at when the trace was opened */
    if (file == 0 && whole->open[0] && whole->open[0] == whole->first && !whole->opt.from)
        known = &first;
    if (trod_trace_open_known(&t, whole, file, known, &opt, NULL, NULL) < 0)
        return NULL;
    f = t->format;
    *as = (struct trod_candidate){f, t->meta.dialect, t->meta.bits};
    if (t->open[0] && (f->stride || f->cuts || (f->parts && (!packed || f->parts->enter))) &&
        !trod_input_members(trod_reader_input(t->open[0])) &&
        (packed || !trod_input_filter(trod_reader_input(t->open[0]), 0)))
        return t;
    trod_trace_close(t);
    return NULL;
}

size_t trod_trace_cuts(const struct trod_trace *whole, size_t file, uint64_t piece, bool packed,
                       uint64_t *cut, size_t most, struct trod_candidate *as)
{
    struct trod_trace *t = open_to_cut(whole, file, packed, as);
    const size_t n = t ? cut_input(t->open[0], piece, cut, most, &whole->frames[file]) : 0;

    trod_trace_close(t);
    return n;
}

void trod_trace_forget_frames(struct trod_trace *whole)
{
    for (size_t i = 0; i < whole->n_inputs; i++)
        trod_frames_fini(&whole->frames[i]);
}

size_t trod_trace_cuts_near(const struct trod_trace *whole, size_t file, const uint64_t *want,
                            size_t n, uint64_t *cut, struct trod_candidate *as)
{
    const uint64_t size = trod_trace_bytes(whole, file);
    struct trod_trace *t = open_to_cut(whole, file, false, as);
    uint64_t last = 0;
    size_t found = 0;

    for (size_t k = 0; k < n; k++) {
        cut[k] = t ? trod_reader_cut(t->open[0], want[k]) : TROD_NOWHERE;
        if (cut[k] >= size || cut[k] <= last)
            cut[k] = TROD_NOWHERE;
        else
            last = cut[k];
        found += cut[k] != TROD_NOWHERE;
    }
    trod_trace_close(t);
    return found;
}

int trod_trace_open_bytes(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                          const struct trod_stretch *s, const struct trod_input_options *input,
                          struct trod_diag *diag)
{
    int rc = trod_trace_open_known(out, whole, file, s->as, input, NULL, diag);

    if (rc == TROD_OK) {
        (*out)->meta.part = s->part;
        if ((*out)->open[0])
            trod_reader_bytes((*out)->open[0], s->from, s->to);
        if ((*out)->open[0] && s->apart)
            trod_reader_apart((*out)->open[0]);
    }
    return rc;
}

int trod_trace_pass_batch(struct trod_trace *t, struct trod_batch **b)
{
    struct trod_batch **slot = t->order->slot ? t->order->slot(t) : NULL;

    if (!slot || !t->open[0])
        return TROD_ERR_UNSUPPORTED;
    if (!*slot && trod_batch_new(slot, t->opt.batch_rows) < 0)
        return TROD_ERR_NOMEM;
    (*slot)->want = t->opt.want;
    *b = *slot;
    return TROD_OK;
}

int trod_trace_pass(struct trod_trace *t, uint64_t to)
{
    struct trod_batch *b;
    const int rc = trod_trace_pass_batch(t, &b);

    return rc < 0 ? rc : trod_reader_pass(t->open[0], b, to);
}

int trod_trace_fork(struct trod_trace *t, const struct trod_trace *from)
{
    return t->open[0] && from->open[0] ? trod_reader_fork(t->open[0], from->open[0])
                                       : TROD_ERR_UNSUPPORTED;
}

struct trod_trace *trod_trace_beginning(const struct trod_trace *whole, size_t file, uint32_t want)
{
    struct trod_candidate as;
    struct trod_trace *t = open_to_cut(whole, file, false, &as);
    uint64_t cut = TROD_NOWHERE;

    if (t && t->format->parts && t->format->parts->may_assume)
        cut = trod_reader_cut(t->open[0], 0);
    if (cut != TROD_NOWHERE) {
        trod_trace_want(t, want);
        if (trod_trace_pass(t, cut) == TROD_OK && trod_reader_may_assume(t->open[0], want))
            return t;
    }
    trod_trace_close(t);
    return NULL;
}

/*
 * What the first rows of input FILE of WHOLE tell of the instruction set: a batch, and then up to
 * *ROWS, which become fewer.
 */
static enum trod_isa isa_of(const struct trod_trace *whole, size_t file, uint32_t *rows)
{
    enum trod_isa isa = TROD_ISA_UNKNOWN;
    struct trod_trace *t;
    struct trod_batch *b;

    if (trod_trace_open_file(&t, whole, file, NULL, NULL) < 0)
        return isa;
    trod_trace_want(t, TROD_COL_KIND);
    if (*rows)
        trod_trace_limit(t, FEW_ROWS);
    while (trod_trace_next(t, &b) == 1 && !t->meta.isa && *rows) {
        *rows -= b->n < *rows ? b->n : *rows;
        trod_trace_limit(t, 0);
    }
    isa = t->meta.isa;
    trod_trace_close(t);
    return isa;
}

bool trod_trace_first_isa(struct trod_trace *whole)
{
    const struct trod_format *f = whole->format;
    const bool opcodes = f && f->reads & TROD_COL_CODE; /* else no file is likely to tell */
    uint32_t rows = opcodes ? ISA_ROWS : 0;

    for (size_t i = 0; i < whole->n_inputs && !whole->meta.isa && (i == 0 || opcodes); i++)
        whole->meta.isa = isa_of(whole, i, &rows);
    whole->isa = whole->meta.isa;
    return opcodes && !whole->isa && rows == 0;
}

int trod_trace_assume(struct trod_trace *t, const struct trod_trace *beginning)
{
    const int rc = trod_trace_fork(t, beginning);

    return rc < 0 ? rc : trod_reader_assume(t->open[0]);
}

int trod_trace_assumed(struct trod_trace *t, struct trod_trace *before)
{
    return trod_reader_assumed(t->first, before->first);
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
