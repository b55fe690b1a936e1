/*
 * png.c - pictures in shades of grey as PNG (ISO/IEC 15948), for picture.c.
 *
 * The pixels are a zlib stream (RFC 1950) of stored blocks (RFC 1951, 3.2.4): the pictures are
 * small, and who wants them smaller has a program for it.
 */
#include "analysis/phases/phases.h"

#include "core/endian.h"

enum { BLOCK = 65535, ADLER = 65521 };

static int add_be32(struct trod_buf *out, uint32_t v)
{
    uint8_t bytes[4];

    trod_store_be32(bytes, v);
    return trod_buf_add(out, bytes, sizeof bytes);
}

/* The cyclic redundancy code of a chunk (PNG, 5.5 and annex D). */
static uint32_t crc(const uint8_t *p, size_t n)
{
    uint32_t c = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        c ^= p[i];
        for (unsigned bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~c;
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
    return rc == TROD_OK ? add_be32(out, crc(out->p + from, n + 4)) : rc;
}

/* N bytes at P as a zlib stream. */
static int stream(struct trod_buf *out, const uint8_t *p, size_t n)
{
    static const uint8_t head[] = {0x78, 0x01};
    uint32_t a = 1, b = 0;
    int rc = trod_buf_add(out, head, sizeof head);

    for (size_t at = 0, k; rc == TROD_OK && at < n; at += k) {
        uint8_t block[5] = {0};

        k = n - at < BLOCK ? n - at : BLOCK;
        block[0] = at + k == n;
        trod_store_le16(block + 1, (uint16_t)k);
        trod_store_le16(block + 3, (uint16_t)~k);
        rc = trod_buf_add(out, block, sizeof block);
        if (rc == TROD_OK)
            rc = trod_buf_add(out, p + at, k);
    }
    for (size_t i = 0; i < n; i++) {
        a = (a + p[i]) % ADLER;
        b = (b + a) % ADLER;
    }
    return rc == TROD_OK ? add_be32(out, b << 16 | a) : rc;
}

int phases_png(const uint8_t *grey, size_t size, struct trod_buf *out)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t head[13] = {[8] = 8}; /* bits of a pixel; shades of grey, not interlaced */
    struct trod_buf lines = {0}, packed = {0};
    int rc = TROD_OK;

    trod_store_be32(head, (uint32_t)size);
    trod_store_be32(head + 4, (uint32_t)size);
    for (size_t y = 0; rc == TROD_OK && y < size; y++) {
        rc = trod_buf_add(&lines, "", 1); /* filter: none */
        if (rc == TROD_OK)
            rc = trod_buf_add(&lines, grey + y * size, size);
    }
    if (rc == TROD_OK)
        rc = stream(&packed, lines.p, lines.n);
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
