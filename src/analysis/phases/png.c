/*
 * png.c - pictures in shades of grey as PNG (ISO/IEC 15948), for picture.c.
 */
#include "analysis/phases/phases.h"

#include "core/endian.h"
#include "trod/diag.h"
#include "trod_config.h"

#if TROD_HAVE_ZLIB

#include <zlib.h>

static int add_be32(struct trod_buf *out, uint32_t v)
{
    uint8_t bytes[4];

    trod_store_be32(bytes, v);
    return trod_buf_add(out, bytes, sizeof bytes);
}

/* A chunk of TYPE. */
static int chunk(struct trod_buf *out, const char *type, const void *p, size_t n)
{
    int rc = add_be32(out, (uint32_t)n);
    const size_t from = out->n;

    if (rc == TROD_OK)
        rc = trod_buf_add(out, type, 4);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, p, n);
    return rc == TROD_OK ? add_be32(out, (uint32_t)crc32(0, out->p + from, (uInt)(n + 4))) : rc;
}

/* The N bytes at P as a zlib stream. */
static int deflated(struct trod_buf *out, const uint8_t *p, size_t n)
{
    uLongf size = compressBound((uLong)n);

    if (trod_buf_reserve(out, size) < 0 || compress(out->p, &size, p, (uLong)n) != Z_OK)
        return TROD_ERR_NOMEM;
    out->n = size;
    return TROD_OK;
}

int phases_png(const uint8_t *grey, size_t size, struct trod_buf *out, struct trod_diag *diag)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t head[13] = {[8] = 8}; /* bits of a pixel; shades of grey, not interlaced */
    struct trod_buf lines = {0}, packed = {0};
    int rc = TROD_OK;

    (void)diag;
    trod_store_be32(head, (uint32_t)size);
    trod_store_be32(head + 4, (uint32_t)size);
    for (size_t y = 0; rc == TROD_OK && y < size; y++) {
        rc = trod_buf_add(&lines, "", 1); /* filter: none */
        if (rc == TROD_OK)
            rc = trod_buf_add(&lines, grey + y * size, size);
    }
    if (rc == TROD_OK)
        rc = deflated(&packed, lines.p, lines.n);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, signature, sizeof signature);
    if (rc == TROD_OK)
        rc = chunk(out, "IHDR", head, sizeof head);
    if (rc == TROD_OK)
        rc = chunk(out, "IDAT", packed.p, packed.n);
    if (rc == TROD_OK)
        rc = chunk(out, "IEND", "", 0);
    trod_buf_fini(&lines);
    trod_buf_fini(&packed);
    return rc;
}

#else

int phases_png(const uint8_t *grey, size_t size, struct trod_buf *out, struct trod_diag *diag)
{
    (void)grey, (void)size, (void)out;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "phases.png", NULL,
                      "trod was built without zlib, which PNG needs: name a .pgm or .html file");
}

#endif
