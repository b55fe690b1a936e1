/*
 * zip_pack.c - making zip members: stored, deflate (ISA-L, else zlib) and zstd.
 *
 * Implements zip.h (trod_filter.enc_open and its sisters, for archives). Only bytes in, bytes out:
 * sizes and checksums are the business of zip_write.c. What is not the last of a member is cut so
 * that what follows can be made by somebody else: deflate is flushed, with nothing that refers back
 * across the cut, zstd ends a frame.
 */
#include "filter.h"
#include "trod_config.h"
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#if TROD_HAVE_ISAL
#include "isal_first.h"
#elif TROD_HAVE_ZLIB
#define ZLIB_CONST
#include <zlib.h>
#endif
#if TROD_HAVE_ZSTD
#include <zstd.h>
#endif

enum { PIECE_MAX = 1 << 30, ZSTD_LEVEL = 3 };

struct packer {
    unsigned method;
    int level;
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

void trod_zip_pack_close(void *state)
{
    struct packer *p = state;

#if TROD_HAVE_ISAL
    free(p->level_buf);
#elif TROD_HAVE_ZLIB
    if (p->z_open)
        deflateEnd(&p->z);
#endif
#if TROD_HAVE_ZSTD
    ZSTD_freeCCtx(p->zstd);
#endif
    free(p);
}

#if TROD_HAVE_ISAL

static int deflate_begin(struct packer *p)
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

static int deflate_some(struct packer *p, const uint8_t *in, size_t n, uint16_t flush,
                        struct trod_sink *sink)
{
    int rc = TROD_OK;

    p->z.next_in = (uint8_t *)(uintptr_t)in;
    p->z.avail_in = (uint32_t)n;
    p->z.flush = flush;
    do {
        p->z.next_out = p->out;
        p->z.avail_out = sizeof p->out;
        if (isal_deflate(&p->z) != COMP_OK)
            return TROD_ERR_IO;
        rc = sink->put(sink, p->out, sizeof p->out - p->z.avail_out);
    } while (rc == TROD_OK && (p->z.avail_in || p->z.avail_out == 0));
    return rc;
}

static int deflate_piece(struct packer *p, const uint8_t *in, size_t n, bool more, bool finish,
                         struct trod_sink *sink)
{
    const uint32_t first = trod_isal_first(&p->z, n, !more);
    const int rc = first ? deflate_some(p, in, first, SYNC_FLUSH, sink) : TROD_OK;

    p->z.end_of_stream = finish && !more;
    return rc < 0 ? rc
                  : deflate_some(p, in + first, n - first, more || finish ? NO_FLUSH : FULL_FLUSH,
                                 sink);
}

#elif TROD_HAVE_ZLIB

static int deflate_begin(struct packer *p)
{
    const int level = p->level < 1 ? 1 : p->level > 9 ? 9 : p->level;

    if (p->z_open)
        return deflateReset(&p->z) == Z_OK ? TROD_OK : TROD_ERR_NOMEM;
    p->z_open = deflateInit2(&p->z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    return p->z_open ? TROD_OK : TROD_ERR_NOMEM;
}

static int deflate_piece(struct packer *p, const uint8_t *in, size_t n, bool more, bool finish,
                         struct trod_sink *sink)
{
    const int flush = more ? Z_NO_FLUSH : finish ? Z_FINISH : Z_FULL_FLUSH;
    int rc = TROD_OK;

    p->z.next_in = in;
    p->z.avail_in = (uInt)n;
    do {
        p->z.next_out = p->out;
        p->z.avail_out = sizeof p->out;
        if (deflate(&p->z, flush) == Z_STREAM_ERROR)
            return TROD_ERR_IO;
        rc = sink->put(sink, p->out, sizeof p->out - p->z.avail_out);
    } while (rc == TROD_OK && (p->z.avail_in || p->z.avail_out == 0));
    return rc;
}

#else

static int deflate_begin(struct packer *p)
{
    (void)p;
    return TROD_ERR_UNSUPPORTED;
}

static int deflate_piece(struct packer *p, const uint8_t *in, size_t n, bool more, bool finish,
                         struct trod_sink *sink)
{
    (void)p, (void)in, (void)n, (void)more, (void)finish, (void)sink;
    return TROD_ERR_UNSUPPORTED;
}

#endif

/* What a context has seen before may change what it makes: each frame has its own. */
static int zstd_begin(struct packer *p)
{
#if TROD_HAVE_ZSTD
    ZSTD_freeCCtx(p->zstd);
    p->zstd = ZSTD_createCCtx();
    if (!p->zstd)
        return TROD_ERR_NOMEM;
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, p->level ? p->level : ZSTD_LEVEL);
    return TROD_OK;
#else
    (void)p;
    return TROD_ERR_UNSUPPORTED;
#endif
}

/* A frame, whether more follow or not. */
static int zstd_piece(struct packer *p, const uint8_t *in, size_t n, struct trod_sink *sink)
{
#if TROD_HAVE_ZSTD
    ZSTD_inBuffer ib = {in, n, 0};
    size_t left;
    int rc;

    do {
        ZSTD_outBuffer ob = {p->out, sizeof p->out, 0};

        left = ZSTD_compressStream2(p->zstd, &ob, &ib, ZSTD_e_end);
        if (ZSTD_isError(left))
            return TROD_ERR_IO;
        rc = sink->put(sink, p->out, ob.pos);
    } while (rc == TROD_OK && left);
    return rc;
#else
    (void)p, (void)in, (void)n, (void)sink;
    return TROD_ERR_UNSUPPORTED;
#endif
}

static int deflate_all(struct packer *p, const uint8_t *in, size_t n, bool finish,
                       struct trod_sink *sink)
{
    int rc = deflate_begin(p);

    while (rc == TROD_OK && n > PIECE_MAX) {
        rc = deflate_piece(p, in, PIECE_MAX, true, finish, sink);
        in += PIECE_MAX;
        n -= PIECE_MAX;
    }
    return rc == TROD_OK ? deflate_piece(p, in, n, false, finish, sink) : rc;
}

int trod_zip_pack_write(void *state, const uint8_t *p, size_t n, bool finish,
                        struct trod_sink *sink)
{
    struct packer *k = state;
    int rc;

    if (k->method == TROD_ZIP_DEFLATE)
        rc = deflate_all(k, p, n, finish, sink);
    else if (k->method == TROD_ZIP_ZSTD)
        rc = (rc = zstd_begin(k)) == TROD_OK ? zstd_piece(k, p, n, sink) : rc;
    else
        rc = n ? sink->put(sink, p, n) : TROD_OK;
    if (rc < 0 && sink->fault->status == TROD_OK)
        return trod_fault_set(sink->fault, rc, "io.compress", "cannot compress: zip");
    return rc;
}

static int open_method(void **state, int level, unsigned method, bool can, struct trod_fault *fault)
{
    struct packer *p;

    if (!can)
        return trod_fault_set(fault, TROD_ERR_UNSUPPORTED, "io.unsupported",
                              "this build cannot write zip archives of this compression");
    p = calloc(1, sizeof *p);
    if (!p)
        return trod_fault_nomem(fault, "a zip archive");
    p->method = method;
    p->level = level;
    *state = p;
    return TROD_OK;
}

int trod_zip_deflate_open(void **state, int level, struct trod_fault *fault)
{
    return open_method(state, level, TROD_ZIP_DEFLATE, TROD_HAVE_ISAL || TROD_HAVE_ZLIB, fault);
}

int trod_zip_zstd_open(void **state, int level, struct trod_fault *fault)
{
    return open_method(state, level, TROD_ZIP_ZSTD, TROD_HAVE_ZSTD, fault);
}

int trod_zip_stored_open(void **state, int level, struct trod_fault *fault)
{
    return open_method(state, level, TROD_ZIP_STORED, true, fault);
}
