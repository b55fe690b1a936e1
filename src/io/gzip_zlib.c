/*
 * gzip_zlib.c - inflate and deflate with zlib (RFC 1951, 1952).
 */
#include "trod_config.h"

#if TROD_HAVE_ZLIB

#include "gzip.h"

#define ZLIB_CONST
#include <stdlib.h>
#include <zlib.h>

enum {
    RAW_WINDOW = -15,
    GZIP_WINDOW = 15 + 16, /* zlib's way to say: gzip wrapper, any window */
    MEMORY_LEVEL = 8,
    LEVEL_DEFAULT = 1,
    LEVEL_MAX = 9
};

struct zlib_decoder {
    z_stream z;
    bool between; /* members */
    /* what goes on at a point: deflate data alone, then the trailer of the member (RFC 1952) */
    bool raw;
    uint8_t trailer; /* bytes of it to come */
};

struct zlib_encoder {
    z_stream z;
    bool begun; /* a member */
    uint8_t out[TROD_ENCODE_CHUNK];
};

int trod_zlib_open(struct trod_stage *s)
{
    struct zlib_decoder *d = calloc(1, sizeof *d);
    if (!d || inflateInit2(&d->z, GZIP_WINDOW) != Z_OK) {
        free(d);
        return trod_fault_nomem(s->fault, "the gzip filter");
    }
    s->state = d;
    return TROD_OK;
}

/* The trailer of a member that was gone into is passed over. */
static void pass_trailer(struct trod_stage *s, struct zlib_decoder *d, bool *between)
{
    const size_t n = s->n < d->trailer ? s->n : d->trailer;

    trod_stage_use(s, n);
    d->trailer = (uint8_t)(d->trailer - n);
    *between = d->trailer == 0;
}

static int inflate_some(struct trod_stage *s, bool reset, uint8_t *out, size_t cap, size_t *n,
                        bool *between)
{
    struct zlib_decoder *d = s->state;
    if (d->trailer) {
        pass_trailer(s, d, between);
        return TROD_OK;
    }
    if (reset)
        inflateReset(&d->z);
    const uInt in = s->n < TROD_GZIP_PIECE ? (uInt)s->n : TROD_GZIP_PIECE;
    const uInt room = cap - *n < TROD_GZIP_PIECE ? (uInt)(cap - *n) : TROD_GZIP_PIECE;
    d->z.next_in = s->p;
    d->z.avail_in = in;
    d->z.next_out = out + *n;
    d->z.avail_out = room;
    const int result = inflate(&d->z, Z_NO_FLUSH);
    trod_stage_use(s, in - d->z.avail_in);
    *n += room - d->z.avail_out;
    if (result == Z_MEM_ERROR)
        return trod_fault_nomem(s->fault, "the gzip filter");
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return trod_stage_corrupt(s, d->z.msg ? d->z.msg : "it cannot be inflated");
    if (result == Z_STREAM_END && d->raw) {
        d->raw = false;
        d->trailer = TROD_GZIP_TRAILER;
        inflateReset2(&d->z, GZIP_WINDOW);
        return TROD_OK;
    }
    *between = result == Z_STREAM_END;
    return TROD_OK;
}

int trod_zlib_resume(struct trod_stage *s, const struct trod_point *point)
{
    struct zlib_decoder *d;
    const int status = trod_zlib_open(s);

    if (status != TROD_OK)
        return status;
    d = s->state;
    d->raw = true;
    if (inflateReset2(&d->z, RAW_WINDOW) != Z_OK)
        return trod_fault_nomem(s->fault, "the gzip filter");
    if (point->bits) {
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
        inflatePrime(&d->z, (int)point->bits, *s->p >> (8 - point->bits));
        trod_stage_use(s, 1);
    }
    if (point->window_n && inflateSetDictionary(&d->z, point->window, point->window_n) != Z_OK)
        return trod_stage_corrupt(s, "the window of a point in it is of no use");
    return TROD_OK;
}

int trod_zlib_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct zlib_decoder *d = s->state;
    return trod_gzip_read(s, inflate_some, &d->between, out, cap, n);
}

void trod_zlib_close(struct trod_stage *s)
{
    struct zlib_decoder *d = s->state;
    if (d)
        inflateEnd(&d->z);
    free(d);
}

int trod_zlib_enc_open(void **state, int level, struct trod_fault *fault)
{
    struct zlib_encoder *e = calloc(1, sizeof *e);
    const int l = level < 1 ? LEVEL_DEFAULT : level > LEVEL_MAX ? LEVEL_MAX : level;
    if (!e || deflateInit2(&e->z, l, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY)) {
        free(e);
        return trod_fault_nomem(fault, "the gzip filter");
    }
    *state = e;
    return TROD_OK;
}

/* Begin a member; where it is given at once, with HEADER, to say its length. */
static bool begin(struct zlib_encoder *e, gz_header *header)
{
    static uint8_t extra[] = {'M', 'Z', 4, 0, 0, 0, 0, 0};

    e->begun = deflateReset(&e->z) == Z_OK;
    if (!e->begun || !header)
        return e->begun;
    *header = (gz_header){.os = 255, .extra = extra, .extra_len = sizeof extra};
    return deflateSetHeader(&e->z, header) == Z_OK;
}

int trod_zlib_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                        struct trod_sink *sink)
{
    struct zlib_encoder *e = state;
    const bool whole = !e->begun && finish && n < TROD_GZIP_PIECE && sink->patch;
    gz_header header;
    uint64_t made = 0;
    if (!e->begun && !begin(e, whole ? &header : NULL))
        return trod_fault_nomem(sink->fault, "the gzip filter");
    do {
        const uInt in = n < TROD_GZIP_PIECE ? (uInt)n : TROD_GZIP_PIECE;
        e->z.next_in = p;
        e->z.avail_in = in;
        p += in;
        n -= in;
        do {
            e->z.next_out = e->out;
            e->z.avail_out = TROD_ENCODE_CHUNK;
            (void)deflate(&e->z, finish && n == 0 ? Z_FINISH : Z_NO_FLUSH);
            const int status = sink->put(sink, e->out, TROD_ENCODE_CHUNK - e->z.avail_out);
            if (status != TROD_OK)
                return status;
            made += TROD_ENCODE_CHUNK - e->z.avail_out;
        } while (e->z.avail_out == 0);
    } while (n);
    e->begun = !finish;
    return whole ? trod_gzip_length(sink, made) : TROD_OK;
}

void trod_zlib_enc_close(void *state)
{
    struct zlib_encoder *e = state;
    deflateEnd(&e->z);
    free(e);
}

#else
struct trod_io_gzip_zlib_is_empty; /* ISO C wants a declaration in a file */
#endif
