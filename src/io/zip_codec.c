/*
 * zip_codec.c - the compressions of zip members: stored, deflate (ISA-L or zlib) and zstd.
 *
 * Implements zip.h. Only bytes in, bytes out: sizes and checksums are the business of zip.c.
 */
#include "points.h"
#include "trod_config.h"
#include "zip.h"
#include "zstd_read.h"

#include <stdlib.h>
#include <string.h>

#if TROD_HAVE_ISAL
#include "isal.h"

#include <isa-l/crc.h>
#endif
#if TROD_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif

enum { PIECE_MAX = 1 << 30 }; /* 32-bit counters count it */

struct trod_zip_codec {
    unsigned method;
    bool lean; /* zlib where ISA-L would do it in half the time and twice the memory */
#if TROD_HAVE_ISAL
    struct inflate_state *isal;
    int isal_wrong; /* what it has found; told when what it held is given out */
#endif
#if TROD_HAVE_ZLIB
    z_stream z;
    bool z_begun;
#endif
#if TROD_HAVE_ZSTD
    struct trod_zstd_blocks zstd;
#endif
};

int trod_zip_codec_new(struct trod_zip_codec **out, bool lean)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return TROD_ERR_NOMEM;
    (*out)->lean = lean;
    return TROD_OK;
}

void trod_zip_codec_free(struct trod_zip_codec *c)
{
    if (!c)
        return;
#if TROD_HAVE_ISAL
    free(c->isal);
#endif
#if TROD_HAVE_ZLIB
    if (c->z_begun)
        inflateEnd(&c->z);
#endif
#if TROD_HAVE_ZSTD
    ZSTD_freeDCtx(c->zstd.ctx);
#endif
    free(c);
}

uint32_t trod_zip_crc(uint32_t crc, const uint8_t *p, size_t n)
{
#if TROD_HAVE_ISAL
    return crc32_gzip_refl(crc, p, n);
#elif TROD_HAVE_ZLIB
    while (n > PIECE_MAX) {
        crc = (uint32_t)crc32(crc, p, PIECE_MAX);
        p += PIECE_MAX;
        n -= PIECE_MAX;
    }
    return (uint32_t)crc32(crc, p, (uInt)n);
#else
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
#endif
}

/* ---- deflate */

#if TROD_HAVE_ISAL

static int isal_begin(struct trod_zip_codec *c)
{
    if (!c->isal && !(c->isal = calloc(1, sizeof *c->isal)))
        return TROD_ERR_NOMEM;
    isal_inflate_init(c->isal);
    c->isal->crc_flag = ISAL_DEFLATE;
    c->isal_wrong = 0;
    return TROD_OK;
}

/* Something is wrong behind the N bytes made. What is held goes out first, up to *OUT_N. */
static int isal_rest(struct trod_zip_codec *c, uint8_t *out, size_t n, size_t *out_n,
                     const char **why)
{
    const size_t cap = *out_n;

    *out_n = n + trod_isal_held(c->isal, out + n, cap - n);
    if (*out_n == cap)
        return TROD_OK;
    *why = trod_isal_error(c->isal_wrong);
    return TROD_ERR_CORRUPT;
}

static int isal_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                     size_t *out_n, const char **why)
{
    const uint32_t n = (uint32_t)*in_n, m = (uint32_t)*out_n;
    struct inflate_state *z = c->isal;
    int rc;

    if (c->isal_wrong) {
        *in_n = 0;
        return isal_rest(c, out, 0, out_n, why);
    }
    z->next_in = (uint8_t *)(uintptr_t)in;
    z->avail_in = n;
    z->next_out = out;
    z->avail_out = m;
    rc = isal_inflate(z);
    /* on errors it gives back bytes, those of earlier calls too */
    *in_n = z->avail_in < n ? n - z->avail_in : 0;
    if (rc < 0) {
        c->isal_wrong = rc;
        return isal_rest(c, out, m - z->avail_out, out_n, why);
    }
    *out_n = m - z->avail_out;
    return z->block_state == ISAL_BLOCK_FINISH;
}

#endif
#if TROD_HAVE_ZLIB

static int zlib_begin(struct trod_zip_codec *c)
{
    if (c->z_begun)
        return inflateReset(&c->z) == Z_OK ? TROD_OK : TROD_ERR_NOMEM;
    c->z_begun = inflateInit2(&c->z, -15) == Z_OK;
    return c->z_begun ? TROD_OK : TROD_ERR_NOMEM;
}

static int zlib_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
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

#endif

/* Does ISA-L inflate, not zlib? */
static inline bool by_isal(const struct trod_zip_codec *c)
{
    return TROD_HAVE_ISAL && !(TROD_HAVE_ZLIB && c->lean);
}

static int inflate_begin(struct trod_zip_codec *c)
{
#if TROD_HAVE_ISAL
    if (by_isal(c))
        return isal_begin(c);
#endif
#if TROD_HAVE_ZLIB
    return zlib_begin(c);
#else
    return TROD_ERR_UNSUPPORTED;
#endif
}

static int inflate_step(struct trod_zip_codec *c, const uint8_t *in, size_t *in_n, uint8_t *out,
                        size_t *out_n, const char **why)
{
#if TROD_HAVE_ISAL
    if (by_isal(c))
        return isal_step(c, in, in_n, out, out_n, why);
#endif
#if TROD_HAVE_ZLIB
    return zlib_step(c, in, in_n, out, out_n, why);
#else
    (void)c, (void)in, (void)in_n, (void)out, (void)out_n, (void)why;
    return TROD_ERR_UNSUPPORTED;
#endif
}

/* ---- zstd */

static int zstd_begin(struct trod_zip_codec *c)
{
#if TROD_HAVE_ZSTD
    if (!c->zstd.ctx && !(c->zstd.ctx = ZSTD_createDCtx()))
        return TROD_ERR_NOMEM;
    c->zstd = (struct trod_zstd_blocks){.ctx = c->zstd.ctx};
    ZSTD_DCtx_reset(c->zstd.ctx, ZSTD_reset_session_only);
    ZSTD_DCtx_setParameter(c->zstd.ctx, ZSTD_d_windowLogMax, 27);
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
    size_t rc = trod_zstd_some(&c->zstd, &ob, &ib);

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

bool trod_zip_codec_enter(struct trod_zip_codec *c, const struct trod_point *point, uint8_t first)
{
    if (inflate_begin(c) != TROD_OK)
        return false;
#if TROD_HAVE_ISAL
    if (by_isal(c)) {
        if (point->bits) {
            c->isal->read_in = (uint64_t)first >> (8 - point->bits);
            c->isal->read_in_length = (int32_t)point->bits;
        }
        return !point->window_n ||
               isal_inflate_set_dict(c->isal, (uint8_t *)(uintptr_t)point->window,
                                     point->window_n) == COMP_OK;
    }
#endif
#if TROD_HAVE_ZLIB
    return (!point->bits ||
            inflatePrime(&c->z, (int)point->bits, first >> (8 - point->bits)) == Z_OK) &&
           (!point->window_n ||
            inflateSetDictionary(&c->z, point->window, point->window_n) == Z_OK);
#else
    (void)point, (void)first;
    return false;
#endif
}

unsigned trod_zip_codec_unused(const struct trod_zip_codec *c)
{
#if TROD_HAVE_ISAL
    if (c->method == TROD_ZIP_DEFLATE && by_isal(c))
        return c->isal->read_in_length > 0 ? (unsigned)c->isal->read_in_length / 8 : 0;
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
