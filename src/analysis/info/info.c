/*
 * info.c - the analysis "info": what is in a trace, in one pass and in constant memory (but for a
 * counter a stream).
 *
 * What the trace is - format, instruction set, threads - stands in its meta; `trod info` shows
 * both.
 */
#include "analysis/info/info.h"

#include "core/wide.h"

#include <stdlib.h>
#include <string.h>

static int init(void *st, const void *opt, const struct trod_context *context)
{
    (void)opt;
    ((struct info_state *)st)->meta = context->meta;
    return TROD_OK;
}

static void fini(void *st)
{
    struct info_state *s = st;

    free(s->stream);
    free(s->notes.at);
    free(s->markers.at);
    trod_meta_fini(&s->own);
}

static int grow_streams(struct info_state *s, size_t stream)
{
    size_t n = s->cap_streams ? s->cap_streams : 16;
    uint64_t *p;

    while (n <= stream)
        n *= 2;
    p = realloc(s->stream, n * sizeof *p);
    if (!p)
        return TROD_ERR_NOMEM;
    memset(p + s->cap_streams, 0, (n - s->cap_streams) * sizeof *p);
    s->stream = p;
    s->cap_streams = n;
    return TROD_OK;
}

int info_add_stream(struct info_state *s, size_t stream, uint64_t n)
{
    if (stream >= s->cap_streams && grow_streams(s, stream) < 0)
        return TROD_ERR_NOMEM;
    if (stream >= s->n_streams)
        s->n_streams = stream + 1;
    s->stream[stream] += n;
    return TROD_OK;
}

/* ---- feeding */

/* Rows [FROM, TO) of KIND by their text. */
static int count_names(struct info_names *t, const struct trod_batch *b, uint32_t from, uint32_t to,
                       uint8_t kind)
{
    int r = TROD_OK;

    for (uint32_t i = from; r == TROD_OK && i < to; i++) {
        if (b->kind[i] != kind)
            continue;
        if ((b->have & b->has[i] & TROD_COL_TEXT) && b->text[i].len)
            r = info_names_add(t, trod_batch_bytes(b, b->text[i]), b->text[i].len, 1);
        else if (kind == TROD_NOTE)
            r = info_names_add(t, NULL, 0, 1);
    }
    return r;
}

/* The N rows from FROM on, of one unit, have times from LEAST to MOST. BEFORE: rows before B. */
static void add_times(struct info_state *s, const struct trod_batch *b, uint32_t from, uint32_t n,
                      uint64_t least, uint64_t most, uint64_t before)
{
    const uint32_t says = b->has[from] & b->have;
    struct info_span *span = &s->time[says & TROD_COL_UNIT ? b->unit[from] : (uint32_t)INFO_UNSAID];

    if (span->n == 0) {
        span->first = span->least = span->most = b->time[from];
        span->first_at = before + from;
    }
    span->last = b->time[from + n - 1];
    span->last_at = before + from + n - 1;
    span->n += n;
    if (least < span->least)
        span->least = least;
    if (most > span->most)
        span->most = most;
}

static void count_times(struct info_state *s, const struct trod_batch *b, uint32_t from,
                        uint32_t to, uint64_t before)
{
    const uint32_t mask = TROD_COL_TIME | (b->have & TROD_COL_UNIT);
    const uint64_t *time = b->time;
    const uint32_t *has = b->has;

    while (from < to) {
        const uint32_t says = has[from] & mask, first = from;
        uint64_t least = UINT64_MAX, most = 0;

        if (!(says & TROD_COL_TIME)) {
            from++;
            continue;
        }
        do { /* rows of one unit mostly come together */
            const uint64_t t = time[from++];

            least = t < least ? t : least;
            most = t > most ? t : most;
        } while (from < to && (has[from] & mask) == says &&
                 (!(says & TROD_COL_UNIT) || b->unit[from] == b->unit[first]));
        add_times(s, b, first, from - first, least, most, before);
    }
}

static int count_streams(struct info_state *s, const struct trod_batch *b, uint32_t from,
                         uint32_t to)
{
    const uint32_t *stream = b->stream, *has = b->has;
    int r = TROD_OK;

    while (r == TROD_OK && from < to) {
        const uint32_t is = stream[from], says = has[from], first = from++;

        while (from < to && stream[from] == is && !((has[from] ^ says) & TROD_COL_STREAM))
            from++;
        if (says & TROD_COL_STREAM)
            r = info_add_stream(s, is, from - first);
    }
    return r;
}

enum { STEADY = 32 };

/*
 * How many rows from FROM on continue the first: of its stream and unit, with times that do not go
 * back. Looked at STEADY at a time; 1: fewer.
 */
TROD_HOT uint32_t steady(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t mask = b->have & (TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_STREAM);
    const uint32_t says = b->has[from] & mask;
    uint32_t end = from + 1;

    for (; to - end >= STEADY; end += STEADY) {
        const uint32_t *has = b->has + end, *stream = b->stream + end;
        const uint64_t *time = b->time + end;
        const uint8_t *unit = b->unit + end;
        uint32_t differs = 0;
        uint64_t back = 0;
        uint8_t other = 0;

        for (int i = 0; i < STEADY; i++)
            differs |= (has[i] & mask) ^ says;
        if (says & TROD_COL_STREAM)
            for (int i = 0; i < STEADY; i++)
                differs |= stream[i] ^ stream[-1];
        if (says & TROD_COL_UNIT)
            for (int i = 0; i < STEADY; i++)
                other |= unit[i] ^ unit[-1];
        if (says & TROD_COL_TIME) { /* of differences the sign, if there is no such bit in times */
            back = time[-1];
            for (int i = 0; i < STEADY; i++)
                back |= time[i] | (time[i] - time[i - 1]);
        }
        if (differs || other || back >> 63)
            break;
    }
    return end - from;
}

/* Times and streams of the rows [FROM, TO); BEFORE: rows before B. */
TROD_HOT int count_runs(struct info_state *s, const struct trod_batch *b, uint32_t from,
                        uint32_t to, uint64_t before)
{
    int r = TROD_OK;

    while (r == TROD_OK && from < to) {
        const uint32_t says = b->has[from] & b->have;
        uint32_t n = steady(b, from, to);

        if (n == 1) {
            n = to - from < STEADY ? to - from : STEADY;
            if (b->have & TROD_COL_TIME)
                count_times(s, b, from, from + n, before);
            if (b->have & TROD_COL_STREAM)
                r = count_streams(s, b, from, from + n);
        } else {
            if (says & TROD_COL_TIME)
                add_times(s, b, from, n, b->time[from], b->time[from + n - 1], before);
            if (says & TROD_COL_STREAM)
                r = info_add_stream(s, b->stream[from], n);
        }
        from += n;
    }
    return r;
}

static int runs_plain(struct info_state *s, const struct trod_batch *b, uint32_t from, uint32_t to,
                      uint64_t before)
{
    return count_runs(s, b, from, to, before);
}

static TROD_WIDE int runs_wide(struct info_state *s, const struct trod_batch *b, uint32_t from,
                               uint32_t to, uint64_t before)
{
    return count_runs(s, b, from, to, before);
}

/*
 * Rows by kind, in several counters for each kind, so that one increment need not wait for the one
 * before.
 */
static void count_kinds(struct info_state *s, const struct trod_batch *b, uint32_t from,
                        uint32_t to)
{
    enum { TURNS = 4, KINDS = 256 };
    uint32_t n[TURNS][KINDS] = {{0}};
    const uint8_t *kind = b->kind;
    uint32_t i = from;

    for (; to - i >= TURNS; i += TURNS)
        for (unsigned k = 0; k < TURNS; k++)
            n[k][kind[i + k]]++;
    for (; i < to; i++)
        n[0][kind[i]]++;
    for (unsigned k = 0; k < KINDS; k++)
        s->kind[k < TROD_KINDS ? k : (unsigned)TROD_NOTE] +=
            n[0][k] + (uint64_t)n[1][k] + n[2][k] + n[3][k];
}

/* Rows by kind and by what the format calls them where it is not said as text. */
static void count_named(struct info_state *s, const struct trod_batch *b, uint32_t from,
                        uint32_t to)
{
    const uint32_t mask = b->have & (TROD_COL_SUB | TROD_COL_TEXT);
    const uint8_t *kind = b->kind;
    const uint16_t *sub = b->sub;
    const uint32_t *has = b->has;
    const struct trod_format *const f = b->meta->driver;

    for (uint32_t i = from; i < to; i++) {
        const unsigned k = kind[i] < TROD_KINDS ? kind[i] : TROD_NOTE;

        s->kind[k]++;
        if ((has[i] & mask) == TROD_COL_SUB)
            s->named[k][named_slot(f, sub[i])]++;
    }
}

/* Rows that the tracer put in. */
static void count_synthetic(struct info_state *s, const struct trod_batch *b, uint32_t from,
                            uint32_t to)
{
    uint64_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += (b->has[i] & TROD_COL_FLAGS) && (b->flags[i] & TROD_F_SYNTHETIC);
    s->synthetic += n;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct info_state *s = st;
    const uint64_t notes = s->kind[TROD_NOTE], markers = s->kind[TROD_MARKER], before = s->rows;
    const bool named = b->meta && b->meta->driver && b->meta->driver->sub_name;
    int r = TROD_OK;

    s->rows += to - from;
    if (named)
        count_named(s, b, from, to);
    else
        count_kinds(s, b, from, to);
    if (s->kind[TROD_NOTE] > notes)
        r = count_names(&s->notes, b, from, to, TROD_NOTE);
    if (r == TROD_OK && s->kind[TROD_MARKER] > markers)
        r = count_names(&s->markers, b, from, to, TROD_MARKER);
    if (named && b->have & TROD_COL_FLAGS)
        count_synthetic(s, b, from, to);
    if (r == TROD_OK && b->have & (TROD_COL_TIME | TROD_COL_STREAM))
        r = trod_wide() ? runs_wide(s, b, from, to, before - from)
                        : runs_plain(s, b, from, to, before - from);
    return r;
}

static uint32_t uses_of(const char *format, const void *opt)
{
    const struct trod_format *f = trod_format_find(format, strlen(format));

    (void)opt;
    /* texts that are made of values ("syscall read") must not depend on who else wants these */
    return TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_TEXT |
           (f && f->beside ? TROD_COL_VALUE : 0) |
           (f && f->sub_name ? TROD_COL_FLAGS | TROD_COL_SUB : 0);
}

const struct trod_analysis trod_analysis_info = {
    .name = "info",
    .title = "rows by kind, stream and name, spans of time",
    .state_size = sizeof(struct info_state),
    .scope = TROD_PER_RUN,
    .order = TROD_ANY_ORDER,
    .light = true,
    .needs = TROD_COL_KIND,
    .uses = TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_TEXT | TROD_COL_FLAGS |
            TROD_COL_SUB,
    .uses_of = uses_of,
    .init = init,
    .feed = feed,
    .merge = info_merge,
    .save = info_save,
    .load = info_load,
    .result = info_result,
    .fini = fini,
};
