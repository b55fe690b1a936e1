/*
 * zlib.c - deflate data in zlib's wrapper (RFC 1950), one stream. It is only read: DynamoRIO's
 * tracer writes raw files so (.raw.zlib).
 *
 * A header of two bytes says little: a bid inflates the beginning and counts that it can be.
 */
#include "filter.h"
#include "trod_config.h"

#if TROD_HAVE_ZLIB

#define ZLIB_CONST
#include <stdlib.h>
#include <zlib.h>

enum {
    LOOK = 256,            /* bytes of input that are inflated for a bid */
    ENOUGH = 64,           /* of these, if the stream does not end before */
    PIECE = 1 << 30,       /* bytes at a time: 32-bit counters count them */
    HEADER_BITS = 14,      /* four headers of 65,536: any level, no dictionary */
    BLOCK_BITS = 12,       /* codes that are complete, distances that lead to data */
    CHECKSUM_BITS = 32 - 1 /* Adler-32 at the end */
};

static bool is_header(const uint8_t *p)
{
    return p[0] == 0x78 && (0x7800U + p[1]) % 31 == 0 && !(p[1] & 0x20);
}

static int zlib_bid(const uint8_t *p, size_t n)
{
    uint8_t out[1024];
    z_stream z = {.next_in = p, .avail_in = n < LOOK ? (uInt)n : LOOK};
    int result = Z_OK, bits = 0;

    if (n < 2)
        return n && p[0] != 0x78 ? 0 : TROD_BID_MORE;
    if (!is_header(p) || inflateInit(&z) != Z_OK)
        return 0;
    while (result == Z_OK && z.avail_in > 0) {
        z.next_out = out;
        z.avail_out = sizeof out;
        result = inflate(&z, Z_SYNC_FLUSH);
    }
    if (result == Z_STREAM_END)
        bits = HEADER_BITS + CHECKSUM_BITS;
    else if (result == Z_OK || result == Z_BUF_ERROR)
        bits = n < ENOUGH ? TROD_BID_MORE : HEADER_BITS + BLOCK_BITS;
    inflateEnd(&z);
    return bits;
}

struct zlib_state {
    z_stream z;
    bool ended;
};

static int zlib_open(struct trod_stage *s)
{
    struct zlib_state *d = calloc(1, sizeof *d);

    if (!d || inflateInit(&d->z) != Z_OK) {
        free(d);
        return trod_fault_nomem(s->fault, "the zlib filter");
    }
    s->state = d;
    return TROD_OK;
}

static int inflate_some(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct zlib_state *d = s->state;
    const uInt in = s->n < PIECE ? (uInt)s->n : PIECE, room = cap < PIECE ? (uInt)cap : PIECE;
    int result;

    d->z.next_in = s->p;
    d->z.avail_in = in;
    d->z.next_out = out;
    d->z.avail_out = room;
    result = inflate(&d->z, Z_NO_FLUSH);
    trod_stage_use(s, in - d->z.avail_in);
    *n = room - d->z.avail_out;
    d->ended = result == Z_STREAM_END;
    if (result == Z_MEM_ERROR)
        return trod_fault_nomem(s->fault, "the zlib filter");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return trod_stage_corrupt(s, d->z.msg ? d->z.msg : "it cannot be inflated");
    return TROD_OK;
}

static int zlib_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    const struct zlib_state *d = s->state;
    int status;

    while (!d->ended) {
        status = inflate_some(s, out, cap, n);
        if (status != TROD_OK || *n > 0)
            return status;
        if (!d->ended && s->n == 0 && !trod_stage_more(s))
            return trod_stage_starved(s);
    }
    if (trod_stage_at_end(s, &status))
        return status;
    return trod_stage_corrupt(s, "more follows its end");
}

static void zlib_close(struct trod_stage *s)
{
    struct zlib_state *d = s->state;

    if (d)
        inflateEnd(&d->z);
    free(d);
}

#else

static int zlib_bid(const uint8_t *p, size_t n)
{
    (void)p, (void)n;
    return 0;
}

#endif

const struct trod_filter trod_filter_zlib = {
    .name = "zlib",
    .bid = zlib_bid,
#if TROD_HAVE_ZLIB
    .open = zlib_open,
    .read = zlib_read,
    .close = zlib_close,
#endif
};
