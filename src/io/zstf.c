/*
 * zstf.c - the zstf filter: an STF trace in chunks, each a zstd frame, with an index behind them.
 *
 * "ZSTF", instructions a chunk (8 bytes), where the index begins (8 bytes), the frames, the index
 * (docs/formats/stf.md). Reading only. A file that was not finished has no index: offset 0.
 */
#include "filter.h"

#include "core/endian.h"
#include "trod_config.h"

enum { ZSTF_HEAD = 20 };

static int zstf_bid(const uint8_t *p, size_t n)
{
    const int bits = trod_bid_magic(p, n, "ZSTF", 4);

    if (bits <= 0)
        return bits;
    if (n < ZSTF_HEAD + 4)
        return TROD_BID_MORE;
    return trod_load_le32(p + ZSTF_HEAD) == 0xfd2fb528 ? bits + 32 : 0;
}

#if TROD_HAVE_ZSTD

#include <stdlib.h>
#include <zstd.h>

struct zstf_decoder {
    ZSTD_DCtx *ctx;
    uint64_t index; /* where it begins in the file; 0: nowhere */
    bool begun, between;
};

static int zstf_open(struct trod_stage *s)
{
    struct zstf_decoder *d = calloc(1, sizeof *d);

    if (d)
        d->ctx = ZSTD_createDCtx();
    if (!d || !d->ctx) {
        free(d);
        return trod_fault_nomem(s->fault, "the zstf filter");
    }
    s->state = d;
    return TROD_OK;
}

/* The head: false with the fault set where it is cut off. */
static int begin(struct trod_stage *s, struct zstf_decoder *d)
{
    while (s->n < ZSTF_HEAD)
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
    d->index = trod_load_le64(s->p + 12);
    trod_stage_use(s, ZSTF_HEAD);
    d->begun = d->between = true;
    return TROD_OK;
}

/* Behind the last frame: the index is stepped over. */
static int drop_index(struct trod_stage *s)
{
    int status;

    while (!trod_stage_at_end(s, &status))
        trod_stage_use(s, s->n);
    return status;
}

static int zstf_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct zstf_decoder *d = s->state;
    ZSTD_outBuffer o = {.dst = out, .size = cap, .pos = 0};
    int status;

    if (!d->begun && (status = begin(s, d)) != TROD_OK)
        return status;
    while (o.pos < cap) {
        ZSTD_inBuffer in = {.src = s->p, .size = s->n, .pos = 0};
        size_t result;

        if (d->between && o.pos && s->n == 0)
            break;
        if (d->between && d->index && s->used >= d->index)
            return o.pos ? TROD_OK : drop_index(s);
        if (d->between && trod_stage_at_end(s, &status))
            return status;
        in.src = s->p;
        in.size = s->n;
        if (d->index && d->index > s->used && in.size > d->index - s->used)
            in.size = (size_t)(d->index - s->used);
        d->between = false;
        result = ZSTD_decompressStream(d->ctx, &o, &in);
        *n = o.pos;
        if (ZSTD_isError(result))
            return trod_stage_corrupt(s, ZSTD_getErrorName(result));
        trod_stage_use(s, in.pos);
        d->between = result == 0;
        if (s->n || d->between || o.pos == cap)
            continue;
        if (o.pos)
            break;
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
    }
    return TROD_OK;
}

static void zstf_close(struct trod_stage *s)
{
    struct zstf_decoder *d = s->state;

    if (d)
        ZSTD_freeDCtx(d->ctx);
    free(d);
}
#endif

const struct trod_filter trod_filter_zstf = {
    .name = "zstf",
    .suffixes = {".zstf"},
    .bid = zstf_bid,
#if TROD_HAVE_ZSTD
    .open = zstf_open,
    .read = zstf_read,
    .close = zstf_close,
#endif
};
