/*
 * zip_write.c - zip archives, written as they come.
 *
 * Implements filter.h for outputs after PKWARE's APPNOTE 6.3 (4.3.7 local header, 4.3.9 data
 * descriptor, 4.3.12 central directory, 4.3.14 to 4.3.16 its end, 4.5.3 zip64; 0xa220 growth hint).
 * Where the output can be written to again, local headers get their sizes when their member is
 * complete; a growth hint of 20 bytes leaves room for sizes of 64 bits. Elsewhere a data descriptor
 * follows the member. Dates are all the same: the same trace gives the same archive.
 */
#include "core/endian.h"
#include "core/grow.h"
#include "filter.h"
#include "trod/buf.h"
#include "trod/io.h"
#include "zip.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOCAL = 0x04034b50,
    DESCRIPTOR = 0x08074b50,
    CENTRAL = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    LOCATOR64 = 0x07064b50,
    LOCAL_N = 30,
    DESCRIPTOR_N = 24,
    CENTRAL_N = 46,
    END_N = 22,
    END64_N = 56,
    LOCATOR64_N = 20,
    EXTRA_N = 20, /* of a local header: a growth hint, or 64-bit sizes */
    EXTRA_ZIP64 = 1,
    EXTRA_GROWTH = 0xa220,
    GROWTH_SIGNATURE = 0xa028,
    FLAG_DESCRIPTOR = 8,
    VERSION = 20,
    VERSION_ZIP64 = 45,
    VERSION_ZSTD = 63,
    DATE = 0, /* 1980-00-00, as DynamoRIO's archives have it */
    NAME_MAX_N = 64,
    ZSTD_LARGE = 10 /* levels from which windows are of several MiB */
};

struct member {
    char name[NAME_MAX_N];
    uint64_t header, packed, size;
    uint32_t crc;
};

struct zip_encoder {
    unsigned method;
    struct trod_sink *sink; /* of the call */
    uint64_t offset;        /* of the archive */
    bool descriptor;        /* it cannot be gone back to */
    struct member *member;
    size_t n, cap;
};

static int put(struct zip_encoder *e, const uint8_t *p, size_t n)
{
    if (n == 0)
        return TROD_OK;
    e->offset += n;
    return e->sink->put(e->sink, p, n);
}

static bool is_large(const struct member *m)
{
    return m->size >= UINT32_MAX || m->packed >= UINT32_MAX;
}

static uint16_t version_of(const struct zip_encoder *e, bool zip64)
{
    return e->method == TROD_ZIP_ZSTD ? VERSION_ZSTD : zip64 ? VERSION_ZIP64 : VERSION;
}

static uint32_t field(uint64_t v)
{
    return v >= UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

/* The local header of M with its extra field at P; returns its length. */
static size_t local_header(const struct zip_encoder *e, const struct member *m, uint8_t *p)
{
    const size_t name = strlen(m->name);
    const bool zip64 = e->descriptor || is_large(m);
    uint8_t *x = p + LOCAL_N + name;

    memset(p, 0, LOCAL_N + name + EXTRA_N);
    trod_store_le32(p, LOCAL);
    trod_store_le16(p + 4, version_of(e, zip64));
    trod_store_le16(p + 6, e->descriptor ? FLAG_DESCRIPTOR : 0);
    trod_store_le16(p + 8, (uint16_t)e->method);
    trod_store_le16(p + 12, DATE);
    trod_store_le32(p + 14, e->descriptor ? 0 : m->crc);
    trod_store_le32(p + 18, zip64 ? UINT32_MAX : (uint32_t)m->packed);
    trod_store_le32(p + 22, zip64 ? UINT32_MAX : (uint32_t)m->size);
    trod_store_le16(p + 26, (uint16_t)name);
    trod_store_le16(p + 28, EXTRA_N);
    memcpy(p + LOCAL_N, m->name, name);
    trod_store_le16(x, zip64 ? EXTRA_ZIP64 : EXTRA_GROWTH);
    trod_store_le16(x + 2, EXTRA_N - 4);
    if (!zip64) {
        trod_store_le16(x + 4, GROWTH_SIGNATURE);
    } else if (!e->descriptor) {
        trod_store_le64(x + 4, m->size);
        trod_store_le64(x + 12, m->packed);
    }
    return LOCAL_N + name + EXTRA_N;
}

/* The last member is complete. */
static int close_member(struct zip_encoder *e)
{
    uint8_t head[LOCAL_N + NAME_MAX_N + EXTRA_N], d[DESCRIPTOR_N];
    struct member *m = &e->member[e->n - 1];

    if (!e->descriptor)
        return e->sink->patch(e->sink, m->header, head, local_header(e, m, head));
    trod_store_le32(d, DESCRIPTOR);
    trod_store_le32(d + 4, m->crc);
    trod_store_le64(d + 8, m->packed);
    trod_store_le64(d + 16, m->size);
    return put(e, d, sizeof d);
}

static int open_member(struct zip_encoder *e, const char *name)
{
    uint8_t head[LOCAL_N + NAME_MAX_N + EXTRA_N];
    struct member *m;

    if (!trod_grow(&e->member, e->n, &e->cap, sizeof *e->member, 8))
        return trod_fault_nomem(e->sink->fault, "a zip archive");
    m = &e->member[e->n++];
    *m = (struct member){.header = e->offset};
    memcpy(m->name, name, strnlen(name, NAME_MAX_N - 1));
    e->descriptor = !e->sink->patch;
    return put(e, head, local_header(e, m, head));
}

static int add_central(const struct zip_encoder *e, const struct member *m, struct trod_buf *out)
{
    const bool zip64 = is_large(m) || m->header >= UINT32_MAX;
    const size_t name = strlen(m->name);
    uint8_t h[CENTRAL_N + NAME_MAX_N + 4 + 24] = {0}, *x = h + CENTRAL_N + name, *q = x + 4;

    if (m->size >= UINT32_MAX)
        trod_store_le64(q, m->size), q += 8;
    if (m->packed >= UINT32_MAX)
        trod_store_le64(q, m->packed), q += 8;
    if (m->header >= UINT32_MAX)
        trod_store_le64(q, m->header), q += 8;
    trod_store_le32(h, CENTRAL);
    trod_store_le16(h + 4, version_of(e, zip64));
    trod_store_le16(h + 6, version_of(e, zip64));
    trod_store_le16(h + 8, e->descriptor ? FLAG_DESCRIPTOR : 0);
    trod_store_le16(h + 10, (uint16_t)e->method);
    trod_store_le16(h + 14, DATE);
    trod_store_le32(h + 16, m->crc);
    trod_store_le32(h + 20, field(m->packed));
    trod_store_le32(h + 24, field(m->size));
    trod_store_le16(h + 28, (uint16_t)name);
    trod_store_le32(h + 42, field(m->header));
    memcpy(h + CENTRAL_N, m->name, name);
    if (zip64) {
        trod_store_le16(h + 30, (uint16_t)(q - x));
        trod_store_le16(x, EXTRA_ZIP64);
        trod_store_le16(x + 2, (uint16_t)(q - x - 4));
    }
    return trod_buf_add(out, h, zip64 ? (size_t)(q - h) : CENTRAL_N + name);
}

static int add_end(const struct zip_encoder *e, uint64_t start, struct trod_buf *out)
{
    const uint64_t size = out->n, at64 = e->offset + out->n;
    uint8_t h[END64_N + LOCATOR64_N + END_N] = {0}, *p = h;

    if (e->n >= UINT16_MAX || size >= UINT32_MAX || start >= UINT32_MAX) {
        trod_store_le32(p, END64);
        trod_store_le64(p + 4, END64_N - 12);
        trod_store_le16(p + 12, VERSION_ZIP64);
        trod_store_le16(p + 14, VERSION_ZIP64);
        trod_store_le64(p + 24, e->n);
        trod_store_le64(p + 32, e->n);
        trod_store_le64(p + 40, size);
        trod_store_le64(p + 48, start);
        p += END64_N;
        trod_store_le32(p, LOCATOR64);
        trod_store_le64(p + 8, at64);
        trod_store_le32(p + 16, 1);
        p += LOCATOR64_N;
    }
    trod_store_le32(p, END);
    trod_store_le16(p + 8, e->n >= UINT16_MAX ? UINT16_MAX : (uint16_t)e->n);
    trod_store_le16(p + 10, e->n >= UINT16_MAX ? UINT16_MAX : (uint16_t)e->n);
    trod_store_le32(p + 12, field(size));
    trod_store_le32(p + 16, field(start));
    p += END_N;
    return trod_buf_add(out, h, (size_t)(p - h));
}

/* The central directory. */
static int put_directory(struct zip_encoder *e)
{
    struct trod_buf b = {0};
    uint64_t start = e->offset;
    int rc = TROD_OK;

    for (size_t i = 0; i < e->n && rc == TROD_OK; i++)
        rc = add_central(e, &e->member[i], &b);
    if (rc == TROD_OK)
        rc = add_end(e, start, &b);
    rc = rc == TROD_OK ? put(e, b.p, b.n) : trod_fault_nomem(e->sink->fault, "a zip archive");
    trod_buf_fini(&b);
    return rc;
}

static int zip_part(void *state, const char *name, struct trod_sink *sink)
{
    struct zip_encoder *e = state;

    e->sink = sink;
    return open_member(e, name);
}

static int zip_piece(void *state, const uint8_t *p, size_t n, bool ends, const uint8_t *q, size_t m,
                     struct trod_sink *sink)
{
    struct zip_encoder *e = state;
    struct member *member = &e->member[e->n - 1];
    int rc;

    e->sink = sink;
    member->crc = trod_zip_crc(member->crc, p, n);
    member->size += n;
    member->packed += m;
    rc = put(e, q, m);
    return rc == TROD_OK && ends ? close_member(e) : rc;
}

static int zip_finish(void *state, struct trod_sink *sink)
{
    struct zip_encoder *e = state;

    e->sink = sink;
    return put_directory(e);
}

static int zip_open(void **state, const struct trod_archive *a, struct trod_fault *fault)
{
    struct zip_encoder *e = calloc(1, sizeof *e);

    if (!e)
        return trod_fault_nomem(fault, "a zip archive");
    e->method = a->method;
    *state = e;
    return TROD_OK;
}

static void zip_close(void *state)
{
    struct zip_encoder *e = state;

    free(e->member);
    free(e);
}

static size_t zip_piece_size(int level)
{
    (void)level;
    return TROD_WINDOW;
}

static size_t zstd_piece_size(int level)
{
    return level < ZSTD_LARGE ? 2 * TROD_WINDOW : 8 * TROD_WINDOW;
}

/* Nothing in a stored member says where it ends: its local header must. */
#define ARCHIVE(m)                                                                                 \
    {                                                                                              \
        .method = (m), .goes_back = (m) == TROD_ZIP_STORED, .open = zip_open, .part = zip_part,    \
        .piece = zip_piece, .finish = zip_finish, .close = zip_close                               \
    }

static const struct trod_archive deflated = ARCHIVE(TROD_ZIP_DEFLATE),
                                 zstd = ARCHIVE(TROD_ZIP_ZSTD), stored = ARCHIVE(TROD_ZIP_STORED);

static const struct trod_filter archives[] = {
    {.name = "zip",
     .suffixes = {".zip"},
     .enc_open = trod_zip_deflate_open,
     .enc_write = trod_zip_pack_write,
     .enc_close = trod_zip_pack_close,
     .enc_piece = zip_piece_size,
     .archive = &deflated},
    {.name = "zip-zstd",
     .enc_open = trod_zip_zstd_open,
     .enc_write = trod_zip_pack_write,
     .enc_close = trod_zip_pack_close,
     .enc_piece = zstd_piece_size,
     .archive = &zstd},
    {.name = "zip-stored",
     .enc_open = trod_zip_stored_open,
     .enc_write = trod_zip_pack_write,
     .enc_close = trod_zip_pack_close,
     .enc_piece = zip_piece_size,
     .archive = &stored},
};

const struct trod_filter *trod_archive_at(size_t i)
{
    return i < sizeof archives / sizeof *archives ? &archives[i] : NULL;
}
