/*
 * zstd.c - the zstd filter (RFC 8878): frames one after the other, skippable ones among them.
 *
 * Dictionaries are not supported. Windows above TROD_DECODER_MEMORY are refused by the library's
 * own limit (128 MiB).
 */
#include "zstd_read.h"

#include "core/endian.h"
#include "trod/io.h"

#include <string.h>

enum { SKIPPABLE_BITS = 28 };

/* RFC 8878, 3.1.1: magic number, frame header descriptor with its reserved bit zero */
static int zstd_bid(const uint8_t *p, size_t n)
{
    size_t at;
    if (trod_bid_skippable(p, n, &at) != 0)
        return TROD_BID_MORE;
    if (at && at == n)
        return n < TROD_FEED / 2 ? TROD_BID_MORE : SKIPPABLE_BITS;
    const int bits = trod_bid_magic(p + at, n - at, "\x28\xb5\x2f\xfd", 4);
    if (bits <= 0)
        return bits;
    if (n - at < 5)
        return TROD_BID_MORE;
    return p[at + 4] & 0x08 ? 0 : bits + 1;
}

static int zstd_again(const uint8_t *p, size_t n)
{
    const int bits = trod_bid_magic(p, n, "\x28\xb5\x2f\xfd", 4);

    return bits > 0 ? zstd_bid(p, n) : bits;
}

/* RFC 8878, 3.1.1.1 and 3.1.1.2: the header says the content's size, each block its own. */
static bool zstd_frame(struct trod_source *s, uint64_t at, uint64_t *packed, uint64_t *decoded)
{
    static const uint8_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    uint8_t p[18], last = 0;
    uint64_t from = at;
    size_t n, single;

    if (!trod_frame_look(s, at, p, 8))
        return false;
    if ((trod_load_le32(p) & 0xfffffff0) == 0x184d2a50) {
        *packed = 8 + (uint64_t)trod_load_le32(p + 4);
        *decoded = 0;
        return true;
    }
    single = p[4] >> 5 & 1u;
    n = content[p[4] >> 6];
    if (single && n == 0)
        n = 1;
    if (trod_load_le32(p) != 0xfd2fb528 || n == 0)
        return false;
    at += (uint64_t)5 + !single + dictionary[p[4] & 3];
    memset(p + 8, 0, 8);
    if (!trod_frame_look(s, at, p + 8, n))
        return false;
    *decoded = trod_load_le64(p + 8) + (n == 2 ? 256 : 0);
    at += n;
    for (uint32_t looks = 0; !last; looks++) {
        uint8_t block[3];

        if (looks == TROD_FRAME_LOOKS || !trod_frame_look(s, at, block, sizeof block))
            return false;
        last = block[0] & 1;
        n = (size_t)block[0] >> 3 | (size_t)block[1] << 5 | (size_t)block[2] << 13;
        at += sizeof block + ((block[0] >> 1 & 3) == 1 ? 1 : n);
    }
    *packed = at + (p[4] & 4u) - from;
    return true;
}

#if TROD_HAVE_ZSTD

#include <stdlib.h>
#include <zstd_errors.h>

/* RFC 8878, 3.1.1 and 3.1.1.2: the least and the most of a frame's header, the header of a block */
enum { FRAME_START = 5, HEADER_MAX = 18, BLOCK_HEADER = 3 };
enum { LEVEL_DEFAULT = 1, LEVEL_LARGE = 10 /* from here on windows are of several MiB */ };

struct zstd_encoder {
    ZSTD_CCtx *ctx; /* of a frame; NULL: none has begun */
    int level;
    uint8_t out[TROD_ENCODE_CHUNK];
};

int trod_zstd_open(struct trod_zstd *d, struct trod_fault *fault)
{
    d->blocks.ctx = ZSTD_createDCtx();
    return d->blocks.ctx ? TROD_OK : trod_fault_nomem(fault, "the zstd filter");
}

void trod_zstd_close(struct trod_zstd *d)
{
    ZSTD_freeDCtx(d->blocks.ctx);
}

static int zstd_open(struct trod_stage *s)
{
    struct trod_zstd *d = calloc(1, sizeof *d);
    const int status =
        d ? trod_zstd_open(d, s->fault) : trod_fault_nomem(s->fault, "the zstd filter");
    if (status == TROD_OK)
        s->state = d;
    else
        free(d);
    return status;
}

/* RESULT is an error, INTO bytes into a part of a frame. */
static int zstd_error(struct trod_stage *s, size_t result, size_t into)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return trod_fault_nomem(s->fault, "the zstd filter");
    case ZSTD_error_frameParameter_windowTooLarge:
        return trod_fault_set(s->fault, TROD_ERR_LIMIT, "io.window",
                              "zstd data needs a window of more than 128 MiB");
    default:
        return trod_stage_corrupt_from(s, into, ZSTD_getErrorName(result));
    }
}

/* Bytes of the input at hand that are of frames: those up to the end of the last one. */
static size_t of_frames(const struct trod_zstd *d, const struct trod_stage *s)
{
    return d->end > s->used && s->n > d->end - s->used ? (size_t)(d->end - s->used) : s->n;
}

size_t trod_zstd_some(struct trod_zstd_blocks *b, ZSTD_outBuffer *o, ZSTD_inBuffer *in)
{
    size_t result = 1;
    do {
        const size_t left = in->size - in->pos;
        const size_t some = trod_blocks_next(&b->at, FRAME_START, BLOCK_HEADER);
        if (in->pos && left < some)
            break; /* it may come whole */
        ZSTD_inBuffer part = {
            .src = in->src, .size = in->pos + (some < left ? some : left), .pos = in->pos};
        result = ZSTD_decompressStream(b->ctx, o, &part);
        if (ZSTD_isError(result))
            break;
        trod_blocks_given(&b->at, part.pos - in->pos, some);
        in->pos = part.pos;
        trod_blocks_called(&b->at, result, o->pos == o->size);
    } while (result && !b->at.full && in->pos < in->size);
    return result;
}

/*
 * The frame at the input of S may say how much it makes. All of its header is needed for that:
 * false, there may be more of it.
 */
static bool note_size(struct trod_stage *s)
{
    const unsigned long long size = ZSTD_getFrameContentSize(s->p, s->n);

    s->frame_size =
        size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? TROD_NOWHERE : size;
    return size != ZSTD_CONTENTSIZE_ERROR || s->n >= HEADER_MAX || s->end;
}

int trod_zstd_read(struct trod_zstd *d, struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    ZSTD_outBuffer o = {.dst = out, .size = cap, .pos = 0};
    while (o.pos < cap) {
        int status;
        if (d->between && ((s->n == 0 && o.pos) || (d->end && s->used >= d->end)))
            break;
        if (d->between && trod_stage_at_end(s, &status))
            return status;
        if (d->between && (status = trod_stage_frame(s, s->made + o.pos)) != TROD_OK)
            return status;
        d->between = false;
        const size_t want = trod_blocks_next(&d->blocks.at, FRAME_START, BLOCK_HEADER);
        if (trod_stage_waits(s, want) || (s->used == s->frame_used && s->n && !note_size(s))) {
            /* what was made goes out before more is waited for */
            if (o.pos)
                break;
            trod_stage_more(s);
            continue;
        }
        ZSTD_inBuffer in = {.src = s->p, .size = of_frames(d, s), .pos = 0};
        const size_t result = trod_zstd_some(&d->blocks, &o, &in);
        *n = o.pos;
        trod_stage_use(s, in.pos);
        if (ZSTD_isError(result))
            return zstd_error(s, result, d->blocks.at.into);
        d->between = result == 0;
        if (s->n || d->between || o.pos == cap)
            continue;
        /* what was made goes out before more is waited for */
        if (o.pos)
            break;
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
    }
    return TROD_OK;
}

static int zstd_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    return trod_zstd_read(s->state, s, out, cap, n);
}

static void zstd_close(struct trod_stage *s)
{
    if (s->state)
        trod_zstd_close(s->state);
    free(s->state);
}

static int zstd_enc_open(void **state, int level, struct trod_fault *fault)
{
    struct zstd_encoder *e = malloc(sizeof *e);
    if (!e)
        return trod_fault_nomem(fault, "the zstd filter");
    e->ctx = NULL;
    e->level = level ? level : LEVEL_DEFAULT;
    *state = e;
    return TROD_OK;
}

/* What a context has seen before may change what it makes: each frame has its own. */
static bool zstd_begin(struct zstd_encoder *e)
{
    e->ctx = ZSTD_createCCtx();
    if (!e->ctx)
        return false;
    ZSTD_CCtx_setParameter(e->ctx, ZSTD_c_compressionLevel, e->level);
    ZSTD_CCtx_setParameter(e->ctx, ZSTD_c_checksumFlag, 1);
    return true;
}

static int zstd_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                          struct trod_sink *sink)
{
    struct zstd_encoder *e = state;
    if (!e->ctx && !zstd_begin(e))
        return trod_fault_nomem(sink->fault, "the zstd filter");
    ZSTD_inBuffer in = {.src = p, .size = n, .pos = 0};
    const ZSTD_EndDirective end = finish ? ZSTD_e_end : ZSTD_e_continue;
    size_t left;
    do {
        ZSTD_outBuffer o = {.dst = e->out, .size = sizeof e->out, .pos = 0};
        left = ZSTD_compressStream2(e->ctx, &o, &in, end);
        if (ZSTD_isError(left))
            return trod_fault_set(sink->fault, TROD_ERR_IO, "io.compress", "cannot compress: %s",
                                  ZSTD_getErrorName(left));
        const int status = sink->put(sink, e->out, o.pos);
        if (status != TROD_OK)
            return status;
    } while (in.pos < in.size || (finish && left));
    if (finish) {
        ZSTD_freeCCtx(e->ctx);
        e->ctx = NULL;
    }
    return TROD_OK;
}

static size_t zstd_enc_piece(int level)
{
    return level < LEVEL_LARGE ? 2 * TROD_WINDOW : 8 * TROD_WINDOW;
}

static void zstd_enc_close(void *state)
{
    struct zstd_encoder *e = state;
    ZSTD_freeCCtx(e->ctx);
    free(e);
}
#endif

const struct trod_filter trod_filter_zstd = {
    .name = "zstd",
    .suffixes = {".zst", ".zstd"},
    .bid = zstd_bid,
    .frame = zstd_frame,
    .again = zstd_again,
#if TROD_HAVE_ZSTD
    .open = zstd_open,
    .read = zstd_read,
    .close = zstd_close,
    .enc_open = zstd_enc_open,
    .enc_write = zstd_enc_write,
    .enc_close = zstd_enc_close,
    .enc_piece = zstd_enc_piece,
#endif
};
