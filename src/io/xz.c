/*
 * xz.c - the xz filter ("The .xz File Format" 1.1.0): streams one after the other, with padding.
 *
 * Not the older .lzma format, which has no magic number worth the name.
 */
#include "filter.h"

#include "trod/io.h"
#include "trod_config.h"

/* 2.1.1.1 and 2.1.1.2: magic, then stream flags: a zero byte and a check type below 16 */
static int xz_bid(const uint8_t *p, size_t n)
{
    const int bits = trod_bid_magic(p, n,
                                    "\xfd"
                                    "7zXZ\0\0",
                                    7);
    if (bits <= 0)
        return bits;
    if (n < 8)
        return TROD_BID_MORE;
    return p[7] & 0xf0 ? 0 : bits + 4;
}

#if TROD_HAVE_LZMA

#include "xz.h"

#include <stdlib.h>

enum { PRESET_DEFAULT = 1, PRESET_MAX = 9, PRESET_LARGE = 4 /* from here on 4 MiB and more */ };

struct xz_codec {
    lzma_stream z;
    int preset;                     /* of the encoder */
    bool begun;                     /* a stream */
    struct trod_xz_blocks *blocks;  /* of a stream that was gone into; NULL: it is decoded whole */
    bool behind;                    /* such a stream */
    uint8_t out[TROD_ENCODE_CHUNK]; /* of the encoder */
};

static int xz_open(struct trod_stage *s)
{
    struct xz_codec *d = calloc(1, sizeof *d);
    if (!d || lzma_stream_decoder(&d->z, TROD_DECODER_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
        free(d);
        return trod_fault_nomem(s->fault, "the xz filter");
    }
    s->state = d;
    /* behind the first byte of a file, where a block begins rather than a stream */
    if (s->used && trod_stage_more(s) && *s->p != 0xfd &&
        trod_xz_blocks_new(&d->blocks, s) != TROD_OK)
        return trod_fault_nomem(s->fault, "the xz filter");
    return TROD_OK;
}

/* The header of a stream, which has a checksum. */
static int xz_again(const uint8_t *p, size_t n)
{
    const int bits = xz_bid(p, n);
    lzma_stream_flags flags;

    if (bits <= 0)
        return bits;
    if (n < LZMA_STREAM_HEADER_SIZE)
        return TROD_BID_MORE;
    return lzma_stream_header_decode(&flags, p) == LZMA_OK ? bits : 0;
}

static int xz_error(struct trod_stage *s, lzma_ret ret)
{
    switch (ret) {
    case LZMA_MEM_ERROR:
        return trod_fault_nomem(s->fault, "the xz filter");
    case LZMA_MEMLIMIT_ERROR:
        return trod_fault_set(s->fault, TROD_ERR_LIMIT, "io.window",
                              "xz data needs more than %d MiB to decode",
                              TROD_DECODER_MEMORY >> 20);
    case LZMA_OPTIONS_ERROR:
        return trod_fault_set(s->fault, TROD_ERR_UNSUPPORTED, "io.unsupported",
                              "xz data with options that liblzma does not support");
    case LZMA_FORMAT_ERROR:
        return trod_stage_corrupt(s, "what follows a stream is no other one");
    case LZMA_BUF_ERROR:
        return trod_stage_starved(s);
    default:
        return trod_stage_corrupt(s, "wrong checksum or invalid data");
    }
}

/* From a block on, to the end of its stream. */
static int blocks_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct xz_codec *d = s->state;
    const lzma_ret ret = trod_xz_blocks_read(d->blocks, s, out, cap, n);

    if (ret == LZMA_STREAM_END) {
        trod_xz_blocks_free(d->blocks);
        d->blocks = NULL;
        d->behind = true;
        return TROD_OK;
    }
    return ret == LZMA_OK ? TROD_OK : xz_error(s, ret);
}

/* Behind a stream that was gone into, and its padding: at the end of the input? */
static bool ends_here(struct trod_stage *s, int *status)
{
    while (!trod_stage_at_end(s, status)) {
        if (*s->p)
            return false;
        trod_stage_use(s, 1);
    }
    return true;
}

static int xz_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct xz_codec *d = s->state;
    int status;
    if (d->blocks) {
        status = blocks_read(s, out, cap, n);
        if (status != TROD_OK || *n)
            return status;
    }
    if (d->behind && ends_here(s, &status))
        return status;
    d->behind = false;
    for (;;) {
        d->z.next_in = s->p;
        d->z.avail_in = s->n;
        d->z.next_out = out + *n;
        d->z.avail_out = cap - *n;
        /* the end of the input ends the decoding: no stream says that it is the last */
        const lzma_ret ret = lzma_code(&d->z, s->end ? LZMA_FINISH : LZMA_RUN);
        trod_stage_use(s, s->n - d->z.avail_in);
        *n = cap - d->z.avail_out;
        if (ret == LZMA_STREAM_END)
            return s->up_status;
        if (ret != LZMA_OK && (ret != LZMA_BUF_ERROR || s->end))
            return xz_error(s, ret);
        if (*n == cap || (*n && s->n == 0))
            return TROD_OK;
        if (s->n == 0)
            trod_stage_more(s);
    }
}

static void xz_close(struct trod_stage *s)
{
    struct xz_codec *d = s->state;
    if (d) {
        trod_xz_blocks_free(d->blocks);
        lzma_end(&d->z);
    }
    free(d);
}

static int preset_of(int level)
{
    return level < 1 ? PRESET_DEFAULT : level > PRESET_MAX ? PRESET_MAX : level;
}

static size_t xz_enc_piece(int level)
{
    return preset_of(level) < PRESET_LARGE ? 4 * TROD_WINDOW : 16 * TROD_WINDOW;
}

/* Begin a stream, with the memory of the one before. No dictionary is larger than a piece. */
static bool xz_begin(struct xz_codec *e)
{
    lzma_options_lzma o;
    const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &o}, {LZMA_VLI_UNKNOWN, NULL}};

    if (lzma_lzma_preset(&o, (uint32_t)e->preset))
        return false;
    if (o.dict_size > xz_enc_piece(e->preset))
        o.dict_size = (uint32_t)xz_enc_piece(e->preset);
    e->begun = lzma_stream_encoder(&e->z, filters, LZMA_CHECK_CRC64) == LZMA_OK;
    return e->begun;
}

static int xz_enc_open(void **state, int level, struct trod_fault *fault)
{
    struct xz_codec *e = calloc(1, sizeof *e);
    if (e)
        e->preset = preset_of(level);
    if (!e || !xz_begin(e)) {
        free(e);
        return trod_fault_nomem(fault, "the xz filter");
    }
    *state = e;
    return TROD_OK;
}

static int xz_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                        struct trod_sink *sink)
{
    struct xz_codec *e = state;
    if (!e->begun && !xz_begin(e))
        return trod_fault_nomem(sink->fault, "the xz filter");
    e->z.next_in = p;
    e->z.avail_in = n;
    lzma_ret ret;
    do {
        e->z.next_out = e->out;
        e->z.avail_out = sizeof e->out;
        ret = lzma_code(&e->z, finish ? LZMA_FINISH : LZMA_RUN);
        if (ret != LZMA_OK && ret != LZMA_STREAM_END && ret != LZMA_BUF_ERROR)
            return trod_fault_set(sink->fault, TROD_ERR_IO, "io.compress", "cannot compress: xz");
        const int status = sink->put(sink, e->out, sizeof e->out - e->z.avail_out);
        if (status != TROD_OK)
            return status;
    } while (finish ? ret != LZMA_STREAM_END : e->z.avail_in || e->z.avail_out == 0);
    e->begun = !finish;
    return TROD_OK;
}

static void xz_enc_close(void *state)
{
    struct xz_codec *e = state;
    lzma_end(&e->z);
    free(e);
}
#endif

const struct trod_filter trod_filter_xz = {
    .name = "xz",
    .suffixes = {".xz"},
    .bid = xz_bid,
#if TROD_HAVE_LZMA
    .find = trod_xz_find,
    .again = xz_again,
    .open = xz_open,
    .read = xz_read,
    .close = xz_close,
    .enc_open = xz_enc_open,
    .enc_write = xz_enc_write,
    .enc_close = xz_enc_close,
    .enc_piece = xz_enc_piece,
#endif
};
