/*
 * zstf.c - the zstf filter: an STF trace in chunks, each a zstd frame, with an index behind them.
 *
 * "ZSTF", instructions a chunk (8 bytes), where the index begins (8 bytes), the frames, the index
 * (docs/formats/stf.md). Reading only. A file that was not finished has no index: offset 0.
 */
#include "zstd_read.h"

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

struct zstf_decoder {
    struct trod_zstd frames; /* END: where the index begins; 0: nowhere */
    bool begun;
};

static int zstf_open(struct trod_stage *s)
{
    struct zstf_decoder *d = calloc(1, sizeof *d);
    const int status =
        d ? trod_zstd_open(&d->frames, s->fault) : trod_fault_nomem(s->fault, "the zstf filter");

    if (status == TROD_OK)
        s->state = d;
    else
        free(d);
    return status;
}

/* The head: an error with the fault set where it is cut off. */
static int begin(struct trod_stage *s, struct zstf_decoder *d)
{
    while (s->n < ZSTF_HEAD)
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
    d->frames.end = trod_load_le64(s->p + 12);
    d->frames.between = true;
    trod_stage_use(s, ZSTF_HEAD);
    d->begun = true;
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
    int status = d->begun ? TROD_OK : begin(s, d);

    if (status == TROD_OK)
        status = trod_zstd_read(&d->frames, s, out, cap, n);
    return status == TROD_OK && *n == 0 ? drop_index(s) : status;
}

static void zstf_close(struct trod_stage *s)
{
    struct zstf_decoder *d = s->state;

    if (d)
        trod_zstd_close(&d->frames);
    free(d);
}
#endif

const struct trod_filter trod_filter_zstf = {
    .name = "zstf",
    .suffixes = {".zstf"},
    .replaces = true,
    .bid = zstf_bid,
#if TROD_HAVE_ZSTD
    .open = zstf_open,
    .read = zstf_read,
    .close = zstf_close,
#endif
};
