/*
 * reader.c - the generic loop around a driver.
 *
 * Implements reader.h. The loop asks the input for a window, lets the driver decode from it, asks
 * for a larger one when a record does not fit, and goes on where the driver's resync says when it
 * has stepped into the middle of something. It does not know any format.
 */
#include "trod/reader.h"

#include "core/sized.h"
#include "core/spare.h"
#include "io/frames.h"
#include "io/points.h"
#include "trace/batch_own.h"
#include "trace/mark.h"
#include "trace/poison.h"
#include "trace/reader_int.h"
#include "trace/trace_impl.h"

#include <stdlib.h>
#include <string.h>

enum { RESYNC_TAIL = 4096 };

static const char *member_name(const void *of, uint64_t offset)
{
    struct trod_member m;

    return trod_input_member(of, trod_input_member_at(of, offset), &m) ? m.name : NULL;
}

/* What the diag says of places from here on: this input. */
static void name_place(struct trod_reader *r)
{
    if (!r->diag)
        return;
    r->members = (struct trod_diag_members){member_name, r->in};
    r->diag->path = trod_input_path(r->in);
    r->diag->members = trod_input_members(r->in) ? &r->members : NULL;
}

/* The format the user named; its driver is still asked for the dialect. */
static int named(struct trod_reader *r, const char *from, struct trod_candidate *best)
{
    struct trod_probe probe = {.path = trod_input_path(r->in), .size = TROD_NOWHERE};
    int rc = trod_optspec_init(&r->spec, from, r->diag);

    if (rc < 0 || (rc = trod_look_at_head(r->in, r->head, &probe.head)) < 0)
        return rc;
    *best = (struct trod_candidate){r->spec.format, NULL, -1};
    if (r->spec.format->bid)
        r->spec.format->bid(&probe, &best->dialect);
    return TROD_OK;
}

/* What is decoded may be something that is made of the input. */
static int remake(struct trod_reader *r, const struct trod_candidate *best,
                  const struct trod_reader_options *opt)
{
    const struct trod_input *const of = r->in;
    int rc = TROD_OK;

    if (best->format->remake)
        rc = best->format->remake(&r->in, best->dialect, opt->files, opt->beside, r->diag);
    r->made = r->in != of;
    if (rc == TROD_OK)
        name_place(r);
    return rc;
}

/*
 * Rows of a trace mean the same throughout: units, markers, rules of the format and what may be
 * missing are those of the first file.
 */
static int is_only(const struct trod_reader *r, const struct trod_format *f,
                   const struct trod_format *only)
{
    const struct trod_place at = trod_place_path(trod_input_path(r->in));

    if (!only || only == f)
        return TROD_OK;
    return trod_error(
        r->diag, TROD_ERR_UNSUPPORTED, "reader.other-format", &at,
        "this is a trace of format '%s', and the files before are of '%s': read files "
        "of several formats one by one (where one is mistaken: --from FORMAT)",
        f->name, only->name);
}

static int start(struct trod_reader *r, const struct trod_candidate *best)
{
    const struct trod_format *f = best->format;
    struct trod_span head;
    int rc;

    if (!f->decode)
        return trod_error(r->diag, TROD_ERR_UNSUPPORTED, "reader.write-only", NULL,
                          "format '%s' can be written but not read", f->name);
    if (!r->spec.format && (rc = trod_optspec_default(&r->spec, f)) < 0)
        return rc;
    r->meta->format = f->name;
    r->meta->driver = f;
    r->meta->dialect = best->dialect;
    r->meta->bits = best->bits;
    r->meta->file = r->file;
    r->meta->parts = trod_input_members(r->in) > 0;
    if (f->flags & TROD_FMT_TEXT || f->jump)
        trod_input_apart(r->in);
    r->dec_size = f->dec_size ? f->dec_size : 1;
    r->dec = trod_spare_zeroed(r->dec_size); /* most of a large one is not used by short reads */
    if (!r->dec)
        return TROD_ERR_NOMEM;
    if ((rc = trod_input_ahead(r->in, r->head, &head)) < 0)
        return rc;
    r->started = true;
    return f->start(r->dec, r->spec.options, &head, r->meta, r->diag);
}

int trod_reader_open(struct trod_reader **out, struct trod_input *in,
                     const struct trod_reader_options *options, struct trod_meta *meta,
                     struct trod_diag *diag)
{
    struct trod_reader *r = calloc(1, sizeof *r);
    struct trod_reader_options opt;
    struct trod_candidate best;
    int rc;

    *out = NULL;
    if (!r) {
        trod_input_close(in);
        return TROD_ERR_NOMEM;
    }
    *r = (struct trod_reader){
        .in = in, .meta = meta, .diag = diag, .want = 1, .head = TROD_HEAD_SMALL};
    name_place(r);
    rc = trod_sized(&opt, sizeof opt, sizeof opt, options)
             ? TROD_OK
             : trod_error(diag, TROD_ERR_USAGE, "reader.options", NULL,
                          "options are of another version");
    r->file = opt.file;
    if (opt.from && opt.head)
        r->head = opt.head;
    if (rc == TROD_OK && opt.known && !opt.from)
        best = *opt.known;
    else if (rc == TROD_OK)
        rc = opt.from ? named(r, opt.from, &best) : trod_detect_input(r->in, &best, r->diag);
    if (rc == TROD_OK)
        rc = is_only(r, best.format, opt.only);
    if (rc == TROD_OK)
        rc = remake(r, &best, &opt);
    if (rc == TROD_OK)
        rc = start(r, &best);
    if (rc < 0) {
        trod_reader_close(r);
        return rc;
    }
    *out = r;
    return TROD_OK;
}

/*
 * Step to where decoding can go on, in SPAN. False when that is not in it: then all but a tail, in
 * which a record may begin whose evidence lies behind the window, is passed over.
 */
static bool resynchronize(struct trod_reader *r, struct trod_span *span)
{
    size_t at = span->n ? r->spec.format->resync(r->dec, span->p, span->n) : SIZE_MAX;
    size_t tail = span->last ? 0 : span->n / 2 < RESYNC_TAIL ? span->n / 2 : RESYNC_TAIL;

    r->resync = at == SIZE_MAX;
    if (at == SIZE_MAX)
        at = span->n - tail;
    r->skipped += at;
    span->p += at;
    span->n -= at;
    span->offset += at;
    return !r->resync;
}

/* Does the error RC end all reading? */
static bool is_fatal(const struct trod_reader *r, int rc)
{
    return rc < 0 && (rc == TROD_ERR_NOMEM || rc == TROD_ERR_IO || (r->diag && r->diag->strict));
}

/*
 * The driver failed with RC at the head of SPAN, EATEN bytes into the window, and reported it: what
 * follows cannot be read. A driver that can go on behind a malformed record does so itself.
 */
static void give_up(struct trod_reader *r, int rc, const struct trod_span *span, size_t eaten)
{
    r->eaten = eaten;
    r->done = true;
    if (is_fatal(r, rc))
        r->failed = rc;
    else if (trod_reader_must_arrive(r))
        r->failed = TROD_ERR_CORRUPT;
    else
        r->skipped += span->n;
}

/* No row and nothing eaten: the record is larger than the window. */
static void widen(struct trod_reader *r, size_t n)
{
    const struct trod_place at = trod_place_offset(NULL, trod_input_offset(r->in));

    r->want = n < TROD_AHEAD_MAX / 2 ? 2 * n : TROD_AHEAD_MAX;
    if (r->want <= n) {
        r->failed = trod_error(r->diag, TROD_ERR_LIMIT, "reader.record-too-large", &at,
                               "record is larger than %d bytes", TROD_AHEAD_MAX);
        r->done = true;
    }
    if (r->want == 0)
        r->want = 1;
}

void trod_reader_window(struct trod_reader *r, size_t n)
{
    r->window = n;
}

/* The next window to SPAN, of at least *WANT bytes, or what is left. Returns 0 or an error. */
static int show(struct trod_reader *r, size_t *want, struct trod_span *span)
{
    size_t most;
    int rc;

    *want = r->want;
    if (!r->window)
        return trod_input_ahead(r->in, r->want, span);
    /* one byte more says whether these are the last */
    most = r->want > r->window ? r->want : r->window;
    *want = most < TROD_AHEAD_MAX ? most + 1 : most;
    rc = trod_input_ahead(r->in, *want, span);
    if (rc == TROD_OK && span->n > most) {
        span->n = most;
        span->last = false;
        *want = most;
    }
    return rc;
}

/*
 * Strict reading ends where a member of an archive is damaged, which others are read on behind: it
 * is as if the part ended there. What a record has before it, without its end, is no row.
 */
static int end_at_damage(struct trod_reader *r, const struct trod_span *span)
{
    const uint64_t at = r->diag && r->diag->strict ? trod_input_damage(r->in) : TROD_NOWHERE;

    if (at == TROD_NOWHERE || (r->part_end && r->part_end < at))
        return TROD_OK;
    if (at <= span->offset)
        return TROD_ERR_CORRUPT;
    r->part_end = at;
    r->damaged = true;
    r->failed = TROD_ERR_CORRUPT;
    return TROD_OK;
}

/* The next window to SPAN. *CUT: the input is damaged, or cannot be read, behind it. */
static int look(struct trod_reader *r, struct trod_span *span, bool *cut)
{
    size_t want;
    const int rc = show(r, &want, span);

    /* fewer bytes than asked for: the input ends, or is damaged, behind them */
    *cut = rc == TROD_OK && span->n < want && !span->last;
    if (!*cut)
        return rc;
    span->last = true;
    r->failed = trod_input_end(r->in);
    return trod_input_interrupted(r->in) ? r->failed : TROD_OK;
}

/* Let the driver decode SPAN into B. CUT: it ends before damage, and more follows. */
static int drive(struct trod_reader *r, struct trod_span *span, struct trod_batch *b, bool cut)
{
    const bool part_cut = r->meta->part_cut;
    int rc;

    r->meta->part_cut |= cut;
    rc = r->passes ? r->spec.format->parts->pass(r->dec, span, b)
                   : r->spec.format->decode(r->dec, span, b, r->diag);
    r->meta->part_cut = part_cut;
    return rc;
}

/* Decode one window into B. Sets r->done at the end. Returns 0 or an input error. */
static int step(struct trod_reader *r, struct trod_batch *b)
{
    struct trod_span span;
    const uint8_t *from;
    size_t n;
    bool cut;
    int rc = look(r, &span, &cut);

    if (rc < 0 || (rc = end_at_damage(r, &span)) < 0)
        return rc;
    n = span.n;
    if (r->part_end && trod_reader_cut_part(r, &span)) {
        r->done = true;
        return TROD_OK;
    }
    cut = cut && span.n == n;
    n = span.n;
    from = span.p;
    if (r->torn) {
        trod_reader_next_line(r, &span);
        return TROD_OK;
    }
    if (r->resync && !resynchronize(r, &span)) {
        r->eaten = (size_t)(span.p - from);
        r->done = n == 0;
        return TROD_OK;
    }
    if (cut && !trod_reader_whole_lines(r, &span)) {
        trod_reader_tear(r, 0, n);
        r->done = n == 0;
        return TROD_OK;
    }
    b->bytes = span.p;
    b->bytes_n = span.n;
    b->offset = span.offset;
    trod_batch_driver(b, r->spec.format);
    trod_batch_shares(b, 0);
    rc = drive(r, &span, b, cut && r->failed == TROD_OK);
    r->eaten = (size_t)(span.p - from);
    if (cut && r->failed == TROD_OK && !is_fatal(r, rc) &&
        (rc < 0 || (rc == TROD_DEC_MORE && r->eaten == 0 && b->n == 0)))
        trod_reader_tear(r, r->eaten, n - r->eaten);
    else if (rc < 0)
        give_up(r, rc, &span, r->eaten);
    else if (rc == TROD_DEC_END)
        r->done = true;
    else if (r->eaten > 0 || (rc == TROD_DEC_FULL && b->n > 0))
        r->want = 1;
    else if (r->part_end && span.offset + span.n == r->part_end && r->damaged)
        r->done = true;
    else if (r->part_end && span.offset + span.n == r->part_end + trod_reader_ahead_of(r) &&
             !r->part_last)
        r->part_last = true;
    else if (!span.last)
        widen(r, n);
    else
        r->done = n == 0 || b->n == 0;
    trod_reader_look_at_end(r, &span);
    return TROD_OK;
}

/* Begin a batch with the rows that come next. */
static void begin_batch(struct trod_reader *r, struct trod_batch *b)
{
    trod_batch_clear(b);
    b->meta = r->meta;
    b->first = r->ordinal;
}

int trod_reader_pass(struct trod_reader *r, struct trod_batch *b, uint64_t to)
{
    int rc = TROD_OK;

    r->passes = true;
    r->part_end = to;
    r->meta->part_cut = true;
    r->part_last = r->done = false;
    r->want = 1;
    while (rc == TROD_OK && !r->done) {
        trod_input_consume(r->in, r->eaten);
        r->eaten = 0;
        begin_batch(r, b);
        rc = step(r, b);
        r->ordinal = b->first + b->n;
    }
    if (rc == TROD_OK && trod_reader_position(r) != to)
        rc = r->failed < 0 ? r->failed : TROD_ERR_CORRUPT;
    return rc;
}

uint64_t trod_reader_position(const struct trod_reader *r)
{
    return r->enters ? r->began : trod_input_offset(r->in) + r->eaten;
}

int trod_reader_mark(struct trod_reader *r, uint64_t *offset, struct trod_buf *state,
                     struct trod_buf *log)
{
    if (!r->spec.format->save || r->resync || r->skip || r->part)
        return TROD_ERR_UNSUPPORTED;
    *offset = trod_reader_position(r);
    return r->spec.format->save(r->dec, state, log);
}

struct trod_input *trod_reader_source(struct trod_reader *r)
{
    return r->in;
}

int trod_reader_resume(struct trod_reader *r, uint64_t offset, uint64_t rows,
                       struct trod_span state, struct trod_span log)
{
    if (!r->spec.format->load)
        return TROD_ERR_UNSUPPORTED;
    r->began = r->from = r->from_file = offset;
    r->enters = offset != 0;
    r->ordinal = rows;
    return r->spec.format->load(r->dec, &state, &log);
}

static uint64_t behind(uint64_t at, uint64_t from)
{
    return at > from ? at - from : 0;
}

void trod_reader_read(const struct trod_reader *r, uint64_t *bytes, uint64_t *decoded)
{
    *bytes = behind(trod_input_file_offset(r->in), r->from_file);
    *decoded = behind(trod_input_offset(r->in), r->from);
}

void trod_reader_frames(struct trod_reader *r, const struct trod_frames *frames)
{
    trod_input_use_frames(r->in, frames);
}

/* A record may have more rows than B has room for. */
static int too_small(const struct trod_reader *r, const struct trod_batch *b)
{
    return trod_error(r->diag, TROD_ERR_USAGE, "reader.batch", NULL,
                      "a batch of %u rows is too small: records of format '%s' have up to %u",
                      (unsigned)b->cap, r->spec.format->name,
                      (unsigned)r->spec.format->record_rows);
}

int trod_reader_next(struct trod_reader *r, struct trod_batch *b)
{
    int rc;

    name_place(r);
    if (b->cap < r->spec.format->record_rows)
        return too_small(r, b);
    r->meta->file = r->file;
    begin_batch(r, b);
    if (r->enters) {
        r->enters = false;
        r->done = !trod_reader_enter_bytes(r);
    }
    while (b->n == 0) {
        if (r->eaten)
            trod_input_consume(r->in, r->eaten);
        r->eaten = 0;
        if (r->done)
            return r->failed;
        rc = step(r, b);
        if (rc < 0) {
            r->failed = rc;
            r->done = true;
        }
        if (r->part && b->n)
            trod_reader_enter_part(r, b);
        if (r->skip && b->n)
            trod_reader_leave_out(r, b);
    }
    r->ordinal = b->first + b->n;
    r->rows += b->n;
    trod_batch_poison(b);
    return 1;
}

void trod_reader_rest(struct trod_reader *r)
{
    if (r && r->spec.format->rest)
        r->spec.format->rest(r->dec);
}

int trod_reader_wake(struct trod_reader *r, struct trod_batch *rows)
{
    return r && r->spec.format->wake ? r->spec.format->wake(r->dec, rows) : TROD_OK;
}

const struct trod_format *trod_reader_format(const struct trod_reader *r)
{
    return r->spec.format;
}

const void *trod_reader_format_options(const struct trod_reader *r)
{
    return r->spec.options;
}

void trod_reader_alone(struct trod_reader *r)
{
    trod_input_alone(r->in);
}

const struct trod_input *trod_reader_input(const struct trod_reader *r)
{
    return r->in;
}

struct trod_meta *trod_reader_meta(const struct trod_reader *r)
{
    return r->meta;
}

uint64_t trod_reader_number(const struct trod_reader *r)
{
    return r->ordinal;
}

uint64_t trod_reader_rows(const struct trod_reader *r)
{
    return r->rows;
}

uint64_t trod_reader_skipped(const struct trod_reader *r)
{
    return r->skipped;
}

void trod_reader_close(struct trod_reader *r)
{
    if (!r)
        return;
    if (r->diag && r->diag->path == trod_input_path(r->in)) {
        r->diag->path = NULL;
        r->diag->members = NULL;
    }
    if (r->started && r->spec.format->stop)
        r->spec.format->stop(r->dec);
    trod_input_close(r->in);
    trod_optspec_fini(&r->spec);
    trod_spare_give(r->dec, r->dec_size);
    free(r);
}
