/*
 * decode.c - the decoder's loop: lines out of the input, rows into the batch.
 *
 * Implements docs/design.md, "A format driver", for Tarmac and Trace Matcher. Lines of the
 * canonical forms are eaten by fast.c; all others, and all near the end of the input, come here and
 * go to parse.c one by one. Lines longer than TM_LINE_MAX are stepped over without ever being held.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

enum { RESYNC_POOL = 1 << 14, RESYNC_LINE = 4096 };

/* Add the rows of L, which were put behind those of its batch. */
static void emit(struct tm_line *l)
{
    struct trod_batch *b = l->b;
    const uint32_t want = b->have;

    for (unsigned i = 0; i < l->n_rows; i++) {
        const struct tm_row *r = &l->rows[i];
        uint32_t at = b->n++;

        b->has[at] = r->has & want;
        if (want & TROD_COL_KIND)
            b->kind[at] = r->kind;
        if (want & TROD_COL_FLAGS)
            b->flags[at] = r->flags;
        if (want & TROD_COL_SIZE)
            b->size[at] = r->size;
        if (want & TROD_COL_STREAM)
            b->stream[at] = r->stream;
        if (want & TROD_COL_TIME)
            b->time[at] = r->time;
        if (want & TROD_COL_UNIT)
            b->unit[at] = r->unit;
        if (want & TROD_COL_INDEX)
            b->index[at] = r->index;
        if (want & TROD_COL_ADDR)
            b->addr[at] = r->addr;
        if (want & TROD_COL_PADDR)
            b->paddr[at] = r->paddr;
        if (want & TROD_COL_PC)
            b->pc[at] = r->pc;
        if (want & TROD_COL_TARGET)
            b->target[at] = r->target;
        if (want & TROD_COL_VALUE)
            b->value[at] = r->value;
        if (want & TROD_COL_SUB)
            b->sub[at] = r->sub;
        if (want & TROD_COL_CODE)
            b->code[at] = r->code;
        if (want & TROD_COL_DATA)
            b->data[at] = r->data;
        if (want & TROD_COL_TEXT)
            b->text[at] = r->text;
        if (want & TROD_COL_DETAIL)
            b->detail[at] = r->detail;
        if (want & TROD_COL_RAW)
            b->raw[at] = r->raw;
    }
}

/* Where the decoder is in its input, for problems. */
static struct trod_place place(const struct tm_dec *d, const struct trod_span *in,
                               const uint8_t *at)
{
    return (struct trod_place){.offset = in->offset + (uint64_t)(at - in->p),
                               .record = d->rows,
                               .line = d->lines + 1,
                               .caret = SIZE_MAX};
}

/* Report what is wrong with the line L; WHAT may be another problem than the line's own. */
static int report(struct tm_line *l, const struct trod_span *in, enum tm_problem what, int status,
                  struct trod_diag *diag)
{
    struct trod_place at = place(l->d, in, l->start);

    at.text = l->start;
    at.text_len = (size_t)(l->e - l->start);
    at.caret = (size_t)(l->caret - l->start);
    return trod_error(diag, status, l->d->flavour->problems[what], &at, "%s%s",
                      what == TM_TRUNCATED ? "line is cut off: " : "", l->why);
}

/* Report what is odd about the line L, which was understood. */
static void warn(const struct tm_line *l, const struct trod_span *in, struct trod_diag *diag)
{
    struct trod_place at = place(l->d, in, l->start);

    at.text = l->start;
    at.text_len = (size_t)(l->e - l->start);
    at.caret = (size_t)(l->warning.caret - l->start);
    trod_warning(diag, TROD_ERR_CORRUPT, l->d->flavour->problems[l->warning.what], &at, "%s",
                 l->warning.why);
}

/* Step over the rest of a line that is too long. Returns the place behind it, or END. */
static const uint8_t *skip(struct tm_dec *d, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *nl = memchr(p, '\n', (size_t)(end - p));

    if (!nl)
        return end;
    d->skipping = 0;
    d->lines++;
    return nl + 1;
}

/* The line at P is too long: say so once. */
static int begin_skip(struct tm_dec *d, const struct trod_span *in, const uint8_t *p,
                      struct trod_diag *diag)
{
    struct trod_place at = place(d, in, p);
    int rc = trod_error(diag, TROD_ERR_LIMIT, d->flavour->problems[TM_LONG_LINE], &at,
                        "line is longer than %d bytes", TM_LINE_MAX);

    d->skipping = 1;
    d->picture = 0;
    return rc;
}

/* What became of a line. */
enum step { STEP_NEXT, STEP_FULL, STEP_ERROR };

/* One line of the general kind; *RC is the error of STEP_ERROR. */
static enum step line(struct tm_line *l, const struct trod_span *in, const uint8_t *p,
                      const uint8_t *end, const uint8_t *next, struct trod_diag *diag, int *rc)
{
    struct trod_batch *b = l->b;
    int result;

    while (end > p && end[-1] == '\r')
        end--;
    result = tm_parse_line(l, p, end, next);
    if (result == TM_FULL && b->n == 0) {
        l->caret = p;
        l->why = "line needs more memory than a batch has";
        l->what = TM_TOO_WIDE;
        result = TM_BAD;
    }
    switch (result) {
    case TM_OK:
        if (b->n + l->n_rows > b->cap && b->n > 0)
            return STEP_FULL;
        if (l->warning.why)
            warn(l, in, diag);
        emit(l);
        l->d->rows += l->n_rows;
        break;
    case TM_FULL:
        return STEP_FULL;
    case TM_FATAL:
        *rc = trod_error(diag, l->status, "tarmac.no-memory", NULL, "out of memory");
        return STEP_ERROR;
    default:
        if (next == end) { /* no end: the input stops here */
            *rc = report(l, in, TM_TRUNCATED, TROD_ERR_TRUNCATED, diag);
            return STEP_ERROR;
        }
        *rc = report(l, in, l->what, TROD_ERR_CORRUPT, diag);
        l->d->picture = 0;
        if (diag && diag->strict)
            return STEP_ERROR;
    }
    l->d->lines++;
    return STEP_NEXT;
}

/* Offsets of slices have 29 bits: a batch ends before they run out. */
static bool too_far(const struct trod_span *in, const uint8_t *next)
{
    return next - in->p >= TROD_SLICE_SHARED;
}

static const uint8_t *span_end(const struct trod_span *in)
{
    size_t n = in->n < (size_t)TROD_SLICE_SHARED ? in->n : (size_t)TROD_SLICE_SHARED;

    return in->p + n;
}

static void advance(struct trod_span *in, const uint8_t *p)
{
    size_t n = (size_t)(p - in->p);

    in->p += n;
    in->n -= n;
    in->offset += n;
}

int tm_decode(void *dec, struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    struct tm_dec *d = dec;
    struct tm_row rows[TM_ROWS_MAX];
    struct tm_line l = {.base = in->p, .d = d, .b = b, .rows = rows};
    const uint8_t *p = in->p, *end = in->p + in->n, *near = span_end(in);
    int rc = TROD_DEC_MORE;

    b->have = (b->want & TM_READS) | TROD_COL_KIND; /* the kind says what a detail is */
    while (p < end && rc == TROD_DEC_MORE) {
        const uint8_t *nl, *next;
        enum step step;

        if (d->skipping) {
            p = skip(d, p, end);
            continue;
        }
        if (!d->slow)
            p = tm_fast(d, p, near, b);
        if (b->n == b->cap) {
            rc = TROD_DEC_FULL;
            break;
        }
        if (p == end)
            break;
        nl = memchr(p, '\n', (size_t)(end - p < TM_LINE_MAX ? end - p : TM_LINE_MAX));
        if (!nl && end - p >= TM_LINE_MAX) {
            int why = begin_skip(d, in, p, diag);

            if (diag && diag->strict)
                rc = why;
            continue;
        }
        if (!nl && !in->last)
            break;
        next = nl ? nl + 1 : end;
        if (too_far(in, next)) {
            rc = TROD_DEC_FULL;
            break;
        }
        step = line(&l, in, p, nl ? nl : end, next, diag, &rc);
        if (step == STEP_NEXT) {
            p = next;
            rc = TROD_DEC_MORE;
        } else if (step == STEP_FULL) {
            rc = TROD_DEC_FULL;
        }
    }
    advance(in, p);
    return rc;
}

/* Whether the rows of the line [P, NL) and of all behind it depend on nothing before it. */
static bool stands_alone(const struct tm_dec *d, const uint8_t *p, const uint8_t *nl)
{
    uint64_t memory[RESYNC_POOL / 8];
    struct trod_meta meta = {0};
    struct trod_batch b = {.pool = (uint8_t *)memory, .pool_cap = sizeof memory};
    struct tm_dec scratch;
    struct tm_row rows[TM_ROWS_MAX];
    struct tm_line l = {.base = p, .d = &scratch, .b = &b, .rows = rows};
    bool alone;

    tm_dec_general(&scratch);
    scratch.flavour = d->flavour;
    scratch.opt = d->opt;
    scratch.meta = &meta;
    memcpy(scratch.scale, d->scale, sizeof scratch.scale);
    alone = tm_parse_line(&l, p, nl > p && nl[-1] == '\r' ? nl - 1 : nl, nl + 1) == TM_OK &&
            (rows[0].has & TROD_COL_TIME) && rows[0].kind != TROD_NOTE &&
            (!d->sourced || l.source.n) &&
            (l.scale.n == 0 ||
             (strlen(d->scale) == l.scale.n && memcmp(d->scale, l.scale.p, l.scale.n) == 0));
    trod_meta_fini(&meta);
    return alone;
}

/*
 * The next line from which decoding gives exactly the rows of serial decoding, whatever came
 * before.
 *
 * A line can take from the lines before it: the time and its unit, if it has none; the cpu, if it
 * names none and the trace's head has lines that do (start: sourced); the picture that it
 * continues, if it is nothing else. A record that is understood and has a time, and a cpu if the
 * head has any, takes none of these and gives all of them to the lines behind it. A unit of the
 * trace's own is understood only as long as there are few of them, which depends on the lines
 * before: so it must be the one that the head shows. The heads that a decoder has learned change
 * how fast it is, never a row.
 *
 * So a part of a trace that begins at such a line needs only what start() made of the trace's head.
 * What parts learn in the order of lines is in the meta alone: numbers of streams and units, and
 * the first unit.
 */
size_t tm_resync(const void *dec, const uint8_t *p, size_t n)
{
    const struct tm_dec *d = dec;
    const uint8_t *q = p, *end = p + n, *nl;

    if (!(q = memchr(q, '\n', n)))
        return SIZE_MAX;
    for (q++; (nl = memchr(q, '\n', (size_t)(end - q))) != NULL; q = nl + 1)
        if (nl - q < RESYNC_LINE && stands_alone(d, q, nl))
            return (size_t)(q - p);
    return SIZE_MAX;
}

int tm_start(struct tm_dec *d, const struct tm_flavour *flavour, const struct tm_options *opt,
             const struct trod_span *head, struct trod_meta *meta)
{
    struct tm_evidence found;

    d->flavour = flavour;
    if (opt)
        d->opt = *opt;
    d->meta = meta;
    if (!meta->format)
        meta->format = flavour->name;
    tm_weigh(head, &found);
    d->sourced = found.sources;
    memcpy(d->scale, found.scale, sizeof d->scale);
    if (!flavour->matcher) {
        if (d->opt.dialect > 0)
            meta->dialect = tm_dialect_name(d->opt.dialect - 1);
        else if (!meta->dialect)
            meta->dialect = tm_dialect_name(found.dialect);
        if (meta->endian == TROD_ENDIAN_UNKNOWN)
            meta->endian = d->opt.endian == TM_BIG ? TROD_ENDIAN_BIG : TROD_ENDIAN_LITTLE;
    }
    return TROD_OK;
}
