/*
 * zip_codec.c - the compressions of zip members: stored, deflate (ISA-L, else zlib) and zstd.
 *
 * Implements zip.h. Only bytes in, bytes out: sizes and checksums are the business of zip.c.
 */
#include "trod_config.h"
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#if TROD_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#elif TROD_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#if TROD_HAVE_ZSTD
#include <zstd.h>
#endif

enum { PIECE_MAX = 1 << 30 }; /* 32-bit counters count it */

struct trod_zip_codec {
    unsigned method;
#if TROD_HAVE_ISAL
    struct inflate_state z;
#elif TROD_HAVE_ZLIB
    z_stream z;
    bool z_begun;
#endif
#if TROD_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

int trod_zip_codec_new(struct trod_zip_codec **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? TROD_OK : TROD_ERR_NOMEM;
}

void trod_zip_codec_free(struct trod_zip_codec *c)
{
    if (!c)
        return;
#if !TROD_HAVE_ISAL && TROD_HAVE_ZLIB
    if (c->z_begun)
        inflateEnd(&c->z);
#endif
#if TROD_HAVE_ZSTD
    ZSTD_freeDStream(c->zstd);
#endif
    free(c);
}

#if TROD_HAVE_ISAL

uint32_t trod_zip_crc(uint32_t crc, const uint8_t *p, size_t n)
{
    return crc32_gzip_refl(crc, p, n);
}

static int inflate_begin(struct trod_zip_codec *c)
{
    isal_inflate_init(&c->z);
    c->z.crc_flag = ISAL_DEFLATE;
    return TROD_OK;
}

static int inflate_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                        size_t *out_n, const char **why)
{
    const uint32_t n = (uint32_t)*in_n, m = (uint32_t)*out_n;
    int rc;

    c->z.next_in = (uint8_t *)(uintptr_t)in;
    c->z.avail_in = n;
    c->z.next_out = out;
    c->z.avail_out = m;
    rc = isal_inflate(&c->z);
    /* on errors it gives back bytes, those of earlier calls too */
    *in_n = c->z.avail_in < n ? n - c->z.avail_in : 0;
    *out_n = m - c->z.avail_out;
    if (rc < 0) {
        *why = rc == ISAL_INVALID_LOOKBACK ? "distance before the start"
               : rc == ISAL_INVALID_SYMBOL ? "invalid deflate symbol"
                                           : "invalid deflate block";
        return TROD_ERR_CORRUPT;
    }
    return c->z.block_state == ISAL_BLOCK_FINISH;
}

#elif TROD_HAVE_ZLIB

uint32_t trod_zip_crc(uint32_t crc, const uint8_t *p, size_t n)
{
    while (n > PIECE_MAX) {
        crc = (uint32_t)crc32(crc, p, PIECE_MAX);
        p += PIECE_MAX;
        n -= PIECE_MAX;
    }
    return (uint32_t)crc32(crc, p, (uInt)n);
}

static int inflate_begin(struct trod_zip_codec *c)
{
    if (c->z_begun)
        return inflateReset(&c->z) == Z_OK ? TROD_OK : TROD_ERR_NOMEM;
    c->z_begun = inflateInit2(&c->z, -15) == Z_OK;
    return c->z_begun ? TROD_OK : TROD_ERR_NOMEM;
}

static int inflate_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                        size_t *out_n, const char **why)
{
    const uInt n = (uInt)*in_n, m = (uInt)*out_n;
    int rc;

    c->z.next_in = in;
    c->z.avail_in = n;
    c->z.next_out = out;
    c->z.avail_out = m;
    rc = inflate(&c->z, Z_NO_FLUSH);
    *in_n = n - c->z.avail_in;
    *out_n = m - c->z.avail_out;
    if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR) {
        *why = c->z.msg ? c->z.msg : "it cannot be inflated";
        return TROD_ERR_CORRUPT;
    }
    return rc == Z_STREAM_END;
}

#else

uint32_t trod_zip_crc(uint32_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static int inflate_begin(struct trod_zip_codec *c)
{
    (void)c;
    return TROD_ERR_UNSUPPORTED;
}

static int inflate_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                        size_t *out_n, const char **why)
{
    (void)c, (void)in, (void)in_n, (void)out, (void)out_n, (void)why;
    return TROD_ERR_UNSUPPORTED;
}

#endif

static int zstd_begin(struct trod_zip_codec *c)
{
#if TROD_HAVE_ZSTD
    if (!c->zstd && !(c->zstd = ZSTD_createDStream()))
        return TROD_ERR_NOMEM;
    ZSTD_DCtx_reset(c->zstd, ZSTD_reset_session_only);
    ZSTD_DCtx_setParameter(c->zstd, ZSTD_d_windowLogMax, 27);
    return TROD_OK;
#else
    (void)c;
    return TROD_ERR_UNSUPPORTED;
#endif
}

static int zstd_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                     size_t *out_n, const char **why)
{
#if TROD_HAVE_ZSTD
    ZSTD_inBuffer ib = {in, *in_n, 0};
    ZSTD_outBuffer ob = {out, *out_n, 0};
    size_t rc = ZSTD_decompressStream(c->zstd, &ob, &ib);

    *in_n = ib.pos;
    *out_n = ob.pos;
    if (ZSTD_isError(rc)) {
        *why = ZSTD_getErrorName(rc);
        return TROD_ERR_CORRUPT;
    }
    return rc == 0;
#else
    (void)c, (void)in, (void)in_n, (void)out, (void)out_n, (void)why;
    return TROD_ERR_UNSUPPORTED;
#endif
}

int trod_zip_codec_begin(struct trod_zip_codec *c, unsigned method)
{
    c->method = method;
    switch (method) {
    case TROD_ZIP_STORED:
        return TROD_OK;
    case TROD_ZIP_DEFLATE:
        return inflate_begin(c);
    case TROD_ZIP_ZSTD:
        return zstd_begin(c);
    default:
        return TROD_ERR_UNSUPPORTED;
    }
}

unsigned trod_zip_codec_unused(const struct trod_zip_codec *c)
{
#if TROD_HAVE_ISAL
    if (c->method == TROD_ZIP_DEFLATE)
        return c->z.read_in_length > 0 ? (unsigned)c->z.read_in_length / 8 : 0;
#endif
    (void)c;
    return 0;
}

int trod_zip_codec_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                        size_t *out_n, const char **why)
{
    if (*in_n > PIECE_MAX)
        *in_n = PIECE_MAX;
    if (*out_n > PIECE_MAX)
        *out_n = PIECE_MAX;
    if (c->method == TROD_ZIP_DEFLATE)
        return inflate_step(c, in, in_n, out, out_n, why);
    if (c->method == TROD_ZIP_ZSTD)
        return zstd_step(c, in, in_n, out, out_n, why);
    if (*in_n > *out_n)
        *in_n = *out_n;
    *out_n = *in_n;
    if (*in_n)
        memcpy(out, in, *in_n);
    return 0;
}
