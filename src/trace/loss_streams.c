/*
 * loss_streams.c - what rows lose in a file that holds one stream. Implements loss_streams.h.
 */
#include "trace/loss_streams.h"

#include "core/grow.h"
#include "core/origin.h"
#include "trod/diag.h"
#include "trod/meta.h"

#include <stdlib.h>

/* Rows of a stream that were given and not dropped so far. */
struct given {
    uint64_t total, first; /* FIRST: ordinal in the trace */
    uint64_t *lost;        /* by kind, as which they count; NULL: none do so far */
};

struct trod_loss_streams {
    const char *why;
    struct given *of; /* by stream */
    uint32_t n;
    uint32_t own; /* the stream of the file, where OF has rows of it */
};

int trod_loss_streams_begin(struct trod_loss *l, const char *why)
{
    l->streams = calloc(1, sizeof *l->streams);
    if (!l->streams)
        return TROD_ERR_NOMEM;
    l->streams->why = why;
    return TROD_OK;
}

void trod_loss_streams_end(struct trod_loss *l)
{
    struct trod_loss_streams *s = l->streams;

    for (size_t i = 0; s && i < s->n; i++)
        free(s->of[i].lost);
    if (s)
        free(s->of);
    free(s);
    l->streams = NULL;
}

static unsigned kind_of(unsigned kind)
{
    return kind < TROD_KINDS ? kind : (unsigned)TROD_NOTE;
}

/* Does a row of KIND that says COLUMNS have a stream to lose here? */
static bool counts(const struct trod_loss *l, unsigned kind, uint32_t columns)
{
    return columns & TROD_COL_STREAM & ~l->watch[kind];
}

static struct given *given_of(struct trod_loss_streams *s, uint32_t stream)
{
    return trod_grow_to(&s->of, &s->n, stream, sizeof *s->of, NULL) ? &s->of[stream] : NULL;
}

static void lose(struct trod_loss *l, struct given *g, const struct trod_batch *b, uint32_t row)
{
    const unsigned kind = kind_of(b->kind[row]);

    g->lost[kind]++;
    l->columns[kind][__builtin_ctz(TROD_COL_STREAM)]++;
    if (!l->first.why)
        l->first = (struct trod_loss_first){.why = l->streams->why,
                                            .row = trod_origin_row(b, row),
                                            .kind = (uint8_t)kind,
                                            .columns = TROD_COL_STREAM};
}

int trod_loss_streams_give(struct trod_loss *l, const struct trod_batch *b)
{
    struct trod_loss_streams *s = l->streams;
    uint32_t first = 0;
    struct given *g;
    uint64_t n = 0;

    if (!(b->have & TROD_COL_STREAM))
        return TROD_OK;
    for (uint32_t i = 0; i < b->n; i++)
        n += (b->has[i] & TROD_COL_STREAM) != 0;
    while (first < b->n && !counts(l, kind_of(b->kind[first]), b->has[first]))
        first++;
    if (n == 0 || first == b->n)
        return TROD_OK;
    if (!(g = given_of(s, b->stream[first])))
        return TROD_ERR_NOMEM;
    if (s->own >= s->n || s->of[s->own].total == 0)
        s->own = b->stream[first];
    if (g->total == 0)
        g->first = trod_origin_row(b, first);
    g->total += n;
    if (s->own == b->stream[first])
        return TROD_OK;
    if (!g->lost && !(g->lost = calloc(TROD_KINDS, sizeof *g->lost)))
        return TROD_ERR_NOMEM;
    for (uint32_t i = first; i < b->n; i++)
        if (counts(l, kind_of(b->kind[i]), b->has[i]))
            lose(l, g, b, i);
    return TROD_OK;
}

/* The file has no row of the stream that was its own: it is that of the first of the others. */
static void choose(struct trod_loss *l)
{
    struct trod_loss_streams *s = l->streams;
    struct given *best = NULL;

    for (size_t i = 0; i < s->n; i++)
        if (s->of[i].total && (!best || s->of[i].first < best->first))
            best = &s->of[i];
    if (!best)
        return;
    s->own = (uint32_t)(best - s->of);
    for (unsigned k = 0; best->lost && k < TROD_KINDS; k++) {
        l->columns[k][__builtin_ctz(TROD_COL_STREAM)] -= best->lost[k];
        best->lost[k] = 0;
    }
    if (l->first.why == s->why)
        l->first.why = NULL;
}

void trod_loss_streams_drop(struct trod_loss *l, const struct trod_loss_held *row)
{
    struct trod_loss_streams *s = l->streams;
    struct given *g = row->stream < s->n ? &s->of[row->stream] : NULL;

    if (!(row->columns & TROD_COL_STREAM) || !g || g->total == 0)
        return;
    g->total--;
    if (s->own == row->stream) {
        if (g->total == 0)
            choose(l);
    } else if (g->lost && counts(l, row->kind, row->columns)) {
        g->lost[row->kind]--;
        l->columns[row->kind][__builtin_ctz(TROD_COL_STREAM)]--;
    }
}
