/*
 * zip_pack.c - making zip members: stored, deflate (ISA-L, else zlib) and zstd.
 *
 * Implements zip.h (trod_zip_packer). Only bytes in, bytes out: sizes and checksums are the
 * business of zip_write.c. A packer can let go of its memory in mid-member: deflate is cut where
 * nothing refers back any more, zstd ends a frame and goes on with another one.
 */
#include "filter.h"
#include "trod_config.h"
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#if TROD_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#elif TROD_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#if TROD_HAVE_ZSTD
#include <zstd.h>
#endif

enum { PIECE_MAX = 1 << 30, ZSTD_LEVEL = 3 };

struct trod_zip_packer {
    unsigned method;
    int level;
    bool begun; /* the compressor holds something of a member */
#if TROD_HAVE_ISAL
    struct isal_zstream z;
    uint8_t *level_buf;
#elif TROD_HAVE_ZLIB
    z_stream z;
    bool z_open;
#endif
#if TROD_HAVE_ZSTD
    ZSTD_CCtx *zstd;
#endif
    uint8_t out[TROD_ENCODE_CHUNK];
};

int trod_zip_packer_new(struct trod_zip_packer **out, unsigned method, int level)
{
    bool can = method == TROD_ZIP_STORED;

#if TROD_HAVE_ISAL || TROD_HAVE_ZLIB
    can = can || method == TROD_ZIP_DEFLATE;
#endif
#if TROD_HAVE_ZSTD
    can = can || method == TROD_ZIP_ZSTD;
#endif
    *out = NULL;
    if (!can)
        return TROD_ERR_UNSUPPORTED;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return TROD_ERR_NOMEM;
    (*out)->method = method;
    (*out)->level = level;
    return TROD_OK;
}

static void let_go(struct trod_zip_packer *p)
{
#if TROD_HAVE_ISAL
    free(p->level_buf);
    p->level_buf = NULL;
#elif TROD_HAVE_ZLIB
    if (p->z_open)
        deflateEnd(&p->z);
    p->z_open = false;
#endif
#if TROD_HAVE_ZSTD
    ZSTD_freeCCtx(p->zstd);
    p->zstd = NULL;
#endif
    p->begun = false;
}

void trod_zip_packer_free(struct trod_zip_packer *p)
{
    if (!p)
        return;
    let_go(p);
    free(p);
}

#if TROD_HAVE_ISAL

static int deflate_begin(struct trod_zip_packer *p)
{
    static const uint32_t sizes[] = {0, ISAL_DEF_LVL1_LARGE, ISAL_DEF_LVL2_LARGE,
                                     ISAL_DEF_LVL3_LARGE};
    const int level = p->level < 1 ? 1 : p->level > 3 ? 3 : p->level;

    if (!p->level_buf && !(p->level_buf = malloc(sizes[level])))
        return TROD_ERR_NOMEM;
    isal_deflate_init(&p->z);
    p->z.level = (uint32_t)level;
    p->z.level_buf = p->level_buf;
    p->z.level_buf_size = sizes[level];
    return TROD_OK;
}

static int deflate_piece(struct trod_zip_packer *p, const uint8_t *in, size_t n,
                         enum trod_zip_step step, trod_zip_put_fn *put, void *user)
{
    int rc = TROD_OK;

    p->z.next_in = (uint8_t *)(uintptr_t)in;
    p->z.avail_in = (uint32_t)n;
    p->z.end_of_stream = step == TROD_ZIP_END;
    p->z.flush = step == TROD_ZIP_PARK ? FULL_FLUSH : NO_FLUSH;
    do {
        p->z.next_out = p->out;
        p->z.avail_out = sizeof p->out;
        if (isal_deflate(&p->z) != COMP_OK)
            return TROD_ERR_IO;
        rc = put(user, p->out, sizeof p->out - p->z.avail_out);
    } while (rc == TROD_OK && (p->z.avail_in || p->z.avail_out == 0));
    return rc;
}

#elif TROD_HAVE_ZLIB

static int deflate_begin(struct trod_zip_packer *p)
{
    const int level = p->level < 1 ? 1 : p->level > 9 ? 9 : p->level;

    if (p->z_open)
        return deflateReset(&p->z) == Z_OK ? TROD_OK : TROD_ERR_NOMEM;
    memset(&p->z, 0, sizeof p->z);
    p->z_open = deflateInit2(&p->z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    return p->z_open ? TROD_OK : TROD_ERR_NOMEM;
}

static int deflate_piece(struct trod_zip_packer *p, const uint8_t *in, size_t n,
                         enum trod_zip_step step, trod_zip_put_fn *put, void *user)
{
    const int flush = step == TROD_ZIP_END ? Z_FINISH
                      : step == TROD_ZIP_PARK ? Z_FULL_FLUSH
                                              : Z_NO_FLUSH;
    int rc = TROD_OK;

    p->z.next_in = in;
    p->z.avail_in = (uInt)n;
    do {
        p->z.next_out = p->out;
        p->z.avail_out = sizeof p->out;
        if (deflate(&p->z, flush) == Z_STREAM_ERROR)
            return TROD_ERR_IO;
        rc = put(user, p->out, sizeof p->out - p->z.avail_out);
    } while (rc == TROD_OK && (p->z.avail_in || p->z.avail_out == 0));
    return rc;
}

#else

static int deflate_begin(struct trod_zip_packer *p)
{
    (void)p;
    return TROD_ERR_UNSUPPORTED;
}

static int deflate_piece(struct trod_zip_packer *p, const uint8_t *in, size_t n,
                         enum trod_zip_step step, trod_zip_put_fn *put, void *user)
{
    (void)p, (void)in, (void)n, (void)step, (void)put, (void)user;
    return TROD_ERR_UNSUPPORTED;
}

#endif

static int zstd_begin(struct trod_zip_packer *p)
{
#if TROD_HAVE_ZSTD
    if (!p->zstd && !(p->zstd = ZSTD_createCCtx()))
        return TROD_ERR_NOMEM;
    ZSTD_CCtx_reset(p->zstd, ZSTD_reset_session_only);
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, p->level ? p->level : ZSTD_LEVEL);
    return TROD_OK;
#else
    (void)p;
    return TROD_ERR_UNSUPPORTED;
#endif
}

static int zstd_piece(struct trod_zip_packer *p, const uint8_t *in, size_t n,
                      enum trod_zip_step step, trod_zip_put_fn *put, void *user)
{
#if TROD_HAVE_ZSTD
    const ZSTD_EndDirective end = step == TROD_ZIP_MORE ? ZSTD_e_continue : ZSTD_e_end;
    ZSTD_inBuffer ib = {in, n, 0};
    size_t left;
    int rc;

    do {
        ZSTD_outBuffer ob = {p->out, sizeof p->out, 0};

        left = ZSTD_compressStream2(p->zstd, &ob, &ib, end);
        if (ZSTD_isError(left))
            return TROD_ERR_IO;
        rc = put(user, p->out, ob.pos);
    } while (rc == TROD_OK && (ib.pos < ib.size || (end == ZSTD_e_end && left)));
    return rc;
#else
    (void)p, (void)in, (void)n, (void)step, (void)put, (void)user;
    return TROD_ERR_UNSUPPORTED;
#endif
}

static int begin(struct trod_zip_packer *p)
{
    int rc = TROD_OK;

    if (!p->begun && p->method == TROD_ZIP_DEFLATE)
        rc = deflate_begin(p);
    else if (!p->begun && p->method == TROD_ZIP_ZSTD)
        rc = zstd_begin(p);
    p->begun = rc == TROD_OK;
    return rc;
}

static int piece(struct trod_zip_packer *p, const uint8_t *in, size_t n, enum trod_zip_step step,
                 trod_zip_put_fn *put, void *user)
{
    switch (p->method) {
    case TROD_ZIP_DEFLATE:
        return deflate_piece(p, in, n, step, put, user);
    case TROD_ZIP_ZSTD:
        return zstd_piece(p, in, n, step, put, user);
    default:
        return n ? put(user, in, n) : TROD_OK;
    }
}

int trod_zip_packer_step(struct trod_zip_packer *p, const uint8_t *in, size_t n,
                         enum trod_zip_step step, trod_zip_put_fn *put, void *user)
{
    int rc = TROD_OK;

    if (step == TROD_ZIP_PARK && !p->begun) {
        let_go(p);
        return TROD_OK;
    }
    if ((rc = begin(p)) < 0)
        return rc;
    while (rc == TROD_OK && n > PIECE_MAX) {
        rc = piece(p, in, PIECE_MAX, TROD_ZIP_MORE, put, user);
        in += PIECE_MAX;
        n -= PIECE_MAX;
    }
    if (rc == TROD_OK && (n || step != TROD_ZIP_MORE))
        rc = piece(p, in, n, step, put, user);
    if (step == TROD_ZIP_PARK)
        let_go(p);
    if (step == TROD_ZIP_END)
        p->begun = false;
    return rc;
}
