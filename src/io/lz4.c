/*
 * lz4.c - the lz4 filter ("LZ4 Frame Format Description", 1.6.x): frames one after the other,
 * skippable ones among them.
 *
 * Not the legacy frame of lz4's first versions, nor dictionaries.
 */
#include "blocks.h"
#include "filter.h"

#include "core/endian.h"
#include "trod/io.h"
#include "trod_config.h"

/*
 * Magic number; FLG: version 01, reserved bit zero; BD: reserved bits zero, block size 4 to 7. The
 * header's checksum is left to the decoder, so that a damaged header is called one.
 */
static int lz4_bid(const uint8_t *p, size_t n)
{
    size_t at;
    if (trod_bid_skippable(p, n, &at) != 0)
        return TROD_BID_MORE;
    const int bits = trod_bid_magic(p + at, n - at, "\x04\x22\x4d\x18", 4);
    if (bits <= 0)
        return bits;
    if (n - at < 6)
        return TROD_BID_MORE;
    const uint8_t flg = p[at + 4], bd = p[at + 5];
    return (flg & 0xc2) != 0x40 || (bd & 0x8f) || bd < 0x40 ? 0 : bits + 9;
}

static int lz4_again(const uint8_t *p, size_t n)
{
    const int bits = trod_bid_magic(p, n, "\x04\x22\x4d\x18", 4);

    return bits > 0 ? lz4_bid(p, n) : bits;
}

/* "LZ4 Frame Format Description": the header may say the content's size, blocks say their own. */
static bool lz4_frame(struct trod_source *s, uint64_t at, uint64_t *packed, uint64_t *decoded)
{
    const uint64_t from = at;
    uint8_t p[16], block[4];

    if (!trod_frame_look(s, at, p, 8))
        return false;
    if ((trod_load_le32(p) & 0xfffffff0) == 0x184d2a50) {
        *packed = 8 + (uint64_t)trod_load_le32(p + 4);
        *decoded = 0;
        return true;
    }
    /* FLG: 0x10 checksums of blocks, 8 content size, 4 checksum of the content, 1 dictionary */
    if (trod_load_le32(p) != 0x184d2204 || !(p[4] & 8) || !trod_frame_look(s, at, p, 14))
        return false;
    *decoded = trod_load_le64(p + 6);
    at += (uint64_t)15 + (p[4] & 1 ? 4 : 0);
    for (uint32_t looks = 0;; looks++) {
        uint32_t n;

        if (looks == TROD_FRAME_LOOKS || !trod_frame_look(s, at, block, sizeof block))
            return false;
        n = trod_load_le32(block) & 0x7fffffff;
        at += sizeof block;
        if (n == 0)
            break;
        at += (uint64_t)n + (p[4] & 0x10 ? 4 : 0);
    }
    *packed = at + (p[4] & 4u) - from;
    return true;
}

#if TROD_HAVE_LZ4

#include <lz4frame.h>
#include <stdlib.h>

enum { SLICE = 1 << 16, HEADER_MAX = 32 };
/* "LZ4 Frame Format Description": the least of a frame's header, the header of a block */
enum { FRAME_START = 7, BLOCK_HEADER = 4 };

struct lz4_decoder {
    LZ4F_dctx *ctx;
    struct trod_blocks at;
    bool between; /* frames */
};

struct lz4_encoder {
    LZ4F_cctx *ctx;
    LZ4F_preferences_t prefs;
    bool begun;
    size_t cap;
    uint8_t *out;
};

static int lz4_open(struct trod_stage *s)
{
    struct lz4_decoder *d = calloc(1, sizeof *d);
    if (!d || LZ4F_isError(LZ4F_createDecompressionContext(&d->ctx, LZ4F_VERSION))) {
        free(d);
        return trod_fault_nomem(s->fault, "the lz4 filter");
    }
    s->state = d;
    return TROD_OK;
}

/*
 * The frame at the input of S may say how much it makes. False: there may be more of its header, up
 * to there.
 */
static bool note_size(struct trod_stage *s)
{
    enum { FLG = 4, SIZE = 6, SIZE_END = 14 };

    if (s->n <= FLG)
        return s->end;
    if (trod_load_le32(s->p) != 0x184d2204 || !(s->p[FLG] & 8))
        return true;
    if (s->n < SIZE_END)
        return s->end;
    s->frame_size = trod_load_le64(s->p + SIZE);
    return true;
}

static int lz4_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct lz4_decoder *d = s->state;
    while (*n < cap) {
        int status;
        if (d->between && s->n == 0 && *n)
            break;
        if (d->between && trod_stage_at_end(s, &status))
            return status;
        if (d->between && (status = trod_stage_frame(s, s->made + *n)) != TROD_OK)
            return status;
        d->between = false;
        const size_t want = trod_blocks_next(&d->at, FRAME_START, BLOCK_HEADER);
        if (trod_stage_waits(s, want) || (s->used == s->frame_used && s->n && !note_size(s))) {
            /* what was made goes out before more is waited for */
            if (*n)
                break;
            trod_stage_more(s);
            continue;
        }
        size_t room = cap - *n, in = want < s->n ? want : s->n;
        const size_t result = LZ4F_decompress(d->ctx, out + *n, &room, s->p, &in, NULL);
        if (LZ4F_isError(result))
            return trod_stage_corrupt_from(s, d->at.into, LZ4F_getErrorName(result));
        trod_blocks_given(&d->at, in, want);
        trod_stage_use(s, in);
        *n += room;
        trod_blocks_called(&d->at, result, *n == cap);
        d->between = result == 0;
        if (s->n || d->between || room)
            continue;
        /* what was made goes out before more is waited for */
        if (*n)
            break;
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
    }
    return TROD_OK;
}

static void lz4_close(struct trod_stage *s)
{
    struct lz4_decoder *d = s->state;
    if (d)
        LZ4F_freeDecompressionContext(d->ctx);
    free(d);
}

static int lz4_enc_open(void **state, int level, struct trod_fault *fault)
{
    struct lz4_encoder *e = calloc(1, sizeof *e);
    if (!e || LZ4F_isError(LZ4F_createCompressionContext(&e->ctx, LZ4F_VERSION))) {
        free(e);
        return trod_fault_nomem(fault, "the lz4 filter");
    }
    e->prefs.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    e->prefs.frameInfo.blockSizeID = LZ4F_max256KB;
    e->prefs.compressionLevel = level;
    e->cap = LZ4F_compressBound(SLICE, &e->prefs) + HEADER_MAX;
    e->out = malloc(e->cap);
    if (!e->out) {
        LZ4F_freeCompressionContext(e->ctx);
        free(e);
        return trod_fault_nomem(fault, "the lz4 filter");
    }
    *state = e;
    return TROD_OK;
}

/* Hand the bytes of a call to the library to SINK, or say what went wrong in it. */
static int lz4_put(struct lz4_encoder *e, size_t result, struct trod_sink *sink)
{
    if (LZ4F_isError(result))
        return trod_fault_set(sink->fault, TROD_ERR_IO, "io.compress", "cannot compress: %s",
                              LZ4F_getErrorName(result));
    return result ? sink->put(sink, e->out, result) : TROD_OK;
}

static int lz4_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                         struct trod_sink *sink)
{
    struct lz4_encoder *e = state;
    int status = TROD_OK;
    if (!e->begun) {
        /* what a context has seen before changes what it makes: each stream has its own */
        if (!e->ctx && LZ4F_isError(LZ4F_createCompressionContext(&e->ctx, LZ4F_VERSION)))
            return trod_fault_nomem(sink->fault, "the lz4 filter");
        e->begun = true;
        /* what is given at once says its size, and can be found without decoding it */
        e->prefs.frameInfo.contentSize = finish ? n : 0;
        status = lz4_put(e, LZ4F_compressBegin(e->ctx, e->out, e->cap, &e->prefs), sink);
    }
    while (n && status == TROD_OK) {
        const size_t slice = n < SLICE ? n : SLICE;
        status = lz4_put(e, LZ4F_compressUpdate(e->ctx, e->out, e->cap, p, slice, NULL), sink);
        p += slice;
        n -= slice;
    }
    if (finish && status == TROD_OK)
        status = lz4_put(e, LZ4F_compressEnd(e->ctx, e->out, e->cap, NULL), sink);
    if (finish) {
        LZ4F_freeCompressionContext(e->ctx);
        e->ctx = NULL;
        e->begun = false;
    }
    return status;
}

static size_t lz4_enc_piece(int level)
{
    (void)level;
    return TROD_WINDOW;
}

static void lz4_enc_close(void *state)
{
    struct lz4_encoder *e = state;
    LZ4F_freeCompressionContext(e->ctx);
    free(e->out);
    free(e);
}
#endif

const struct trod_filter trod_filter_lz4 = {
    .name = "lz4",
    .suffixes = {".lz4"},
    .bid = lz4_bid,
    .frame = lz4_frame,
    .again = lz4_again,
#if TROD_HAVE_LZ4
    .open = lz4_open,
    .read = lz4_read,
    .close = lz4_close,
    .enc_open = lz4_enc_open,
    .enc_write = lz4_enc_write,
    .enc_close = lz4_enc_close,
    .enc_piece = lz4_enc_piece,
#endif
};
