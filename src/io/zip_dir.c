/*
 * zip_dir.c - the structure of a zip archive: central directory and local headers.
 *
 * Implements zip.h after PKWARE's APPNOTE 6.3 (4.3.7 local header, 4.3.12 central directory, 4.3.14
 * to 4.3.16 its end, 4.5.3 zip64). Archives in several parts and encrypted directories are not
 * read.
 */
#include "core/endian.h"
#include "core/grow.h"
#include "zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCAL = 0x04034b50,
    CENTRAL = 0x02014b50,
    END = 0x06054b50,
    END64 = 0x06064b50,
    LOCATOR64 = 0x07064b50,
    LOCAL_N = 30,
    CENTRAL_N = 46,
    END_N = 22,
    END64_N = 56,
    LOCATOR64_N = 20,
    COMMENT_MAX = 0xffff,
    EXTRA_ZIP64 = 1,
    VERSION_MAX = 63,
    FLAG_DESCRIPTOR = 8,
    NUMBER_N = 24, /* "#" and a number, in place of a name that is unreadable */
    HISTORY = 8    /* used bytes kept: a codec may give so many back */
};

/* Fill the buffer behind what is there. False: nothing more comes. */
static bool fill(struct trod_zip_bytes *b)
{
    size_t got = 0, past, gone, room;

    if (b->status != TROD_OK)
        return false;
    past = b->at < HISTORY ? b->at : HISTORY;
    gone = b->at - past;
    if (gone)
        memmove(b->buf, b->buf + gone, b->n - gone);
    b->offset += gone;
    b->n -= gone;
    b->at = past;
    /* where reads end does not depend on where reading began: nor does what is said of damage */
    room = TROD_ZIP_READ - (b->offset + b->n) % TROD_ZIP_READ;
    if (room > b->cap - b->n)
        room = b->cap - b->n;
    b->status =
        b->random ? trod_source_pread(b->in, b->buf + b->n, room, b->offset + b->n, &got, b->fault)
                  : b->in->ops->read(b->in, b->buf + b->n, room, &got, b->fault);
    b->n += got;
    return got != 0;
}

size_t trod_zip_need(struct trod_zip_bytes *b, size_t n)
{
    if (n + HISTORY > b->cap) {
        uint8_t *buf = realloc(b->buf, n + HISTORY);

        if (buf) {
            b->buf = buf;
            b->cap = n + HISTORY;
        }
    }
    while (b->n - b->at < n && fill(b))
        continue;
    return b->n - b->at;
}

bool trod_zip_go(struct trod_zip_bytes *b, uint64_t offset)
{
    if (offset >= b->offset && offset - b->offset <= b->n) {
        b->at = (size_t)(offset - b->offset);
        return true;
    }
    while (!b->random && offset > b->offset) {
        b->at = b->n;
        if (!fill(b))
            return false;
        if (offset - b->offset <= b->n)
            return trod_zip_go(b, offset);
    }
    if (!b->random)
        return false;
    b->offset = offset;
    b->n = b->at = 0;
    return true;
}

int trod_zip_list_add(struct trod_zip_list *list, const struct trod_zip_member *m)
{
    if (!trod_grow(&list->member, list->n, &list->cap, sizeof *list->member, 16))
        return TROD_ERR_NOMEM;
    list->member[list->n++] = *m;
    return TROD_OK;
}

void trod_zip_list_fini(struct trod_zip_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->member[i].name);
    free(list->member);
    *list = (struct trod_zip_list){0};
}

/* A field that zip64 replaces when it is all ones. */
static void replace(uint64_t *field, const uint8_t **p, const uint8_t *end)
{
    if (*field != UINT32_MAX || end - *p < 8)
        return;
    *field = trod_load_le64(*p);
    *p += 8;
}

/* Sizes and offset that do not fit their 32 bits, from the N bytes of extra fields at P. */
static void read_extra(const uint8_t *p, size_t n, struct trod_zip_member *m)
{
    while (n >= 4) {
        size_t len = trod_load_le16(p + 2);
        const uint8_t *q = p + 4;

        if (len > n - 4)
            return;
        if (trod_load_le16(p) == EXTRA_ZIP64) {
            replace(&m->size, &q, p + 4 + len);
            replace(&m->packed, &q, p + 4 + len);
            replace(&m->header, &q, p + 4 + len);
        }
        p += 4 + len;
        n -= 4 + len;
    }
}

static bool readable_name(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x20 || p[i] == 0x7f)
            return false;
    return n > 0;
}

/* One entry of the central directory. Returns 1, 0 (there is none here) or TROD_ERR_NOMEM. */
static int central(struct trod_zip_bytes *b, struct trod_zip_list *list)
{
    struct trod_zip_member m = {0};
    const uint8_t *p;
    size_t name, extra, comment, all, room;

    if (trod_zip_need(b, CENTRAL_N) < CENTRAL_N || trod_load_le32(trod_zip_at(b)) != CENTRAL)
        return 0;
    p = trod_zip_at(b);
    name = trod_load_le16(p + 28);
    extra = trod_load_le16(p + 30);
    comment = trod_load_le16(p + 32);
    all = CENTRAL_N + name + extra;
    if (trod_zip_need(b, all) < all)
        return 0;
    p = trod_zip_at(b);
    m.flags = trod_load_le16(p + 8);
    m.method = trod_load_le16(p + 10);
    m.crc = trod_load_le32(p + 16);
    m.packed = trod_load_le32(p + 20);
    m.size = trod_load_le32(p + 24);
    m.header = trod_load_le32(p + 42);
    m.start = TROD_NOWHERE;
    read_extra(p + CENTRAL_N + name, extra, &m);
    room = name < NUMBER_N ? NUMBER_N : name + 1;
    m.name = malloc(room);
    if (!m.name)
        return TROD_ERR_NOMEM;
    memcpy(m.name, p + CENTRAL_N, name);
    m.name[name] = '\0';
    m.name_n = (uint16_t)name;
    if (!readable_name(p + CENTRAL_N, name))
        snprintf(m.name, room, "#%zu", list->n + 1);
    if (trod_zip_list_add(list, &m) < 0) {
        free(m.name);
        return TROD_ERR_NOMEM;
    }
    return trod_zip_go(b, trod_zip_tell(b) + all + comment) ? 1 : 0;
}

/*
 * Offset of the end record, searched from the end of the archive backwards, with a comment of up to
 * COMMENT bytes behind it; TROD_NOWHERE: none.
 */
static uint64_t find_end(struct trod_zip_bytes *b, size_t comment)
{
    size_t window = b->size < END_N + comment ? (size_t)b->size : END_N + comment;
    uint64_t from = b->size - window;
    const uint8_t *p;

    if (window < END_N || !trod_zip_go(b, from) || trod_zip_need(b, window) < window)
        return TROD_NOWHERE;
    p = trod_zip_at(b);
    for (size_t i = window - END_N + 1; i-- > 0;)
        if (trod_load_le32(p + i) == END && trod_load_le16(p + i + 20) <= window - END_N - i)
            return from + i;
    return TROD_NOWHERE;
}

/* Number of entries and offset of the directory as the end record at END says, or its zip64 form.
 */
static void read_end(struct trod_zip_bytes *b, uint64_t end, uint64_t *count, uint64_t *offset)
{
    const uint8_t *p;

    if (!trod_zip_go(b, end) || trod_zip_need(b, END_N) < END_N)
        return;
    p = trod_zip_at(b);
    *count = trod_load_le16(p + 10);
    *offset = trod_load_le32(p + 16);
    if ((*count != UINT16_MAX && *offset != UINT32_MAX && trod_load_le32(p + 12) != UINT32_MAX) ||
        end < LOCATOR64_N || !trod_zip_go(b, end - LOCATOR64_N) ||
        trod_zip_need(b, LOCATOR64_N) < LOCATOR64_N)
        return;
    p = trod_zip_at(b);
    if (trod_load_le32(p) != LOCATOR64 || !trod_zip_go(b, trod_load_le64(p + 8)) ||
        trod_zip_need(b, END64_N) < END64_N)
        return;
    p = trod_zip_at(b);
    if (trod_load_le32(p) != END64)
        return;
    *count = trod_load_le64(p + 32);
    *offset = trod_load_le64(p + 48);
}

int trod_zip_directory(struct trod_zip_bytes *b, struct trod_zip_list *list)
{
    uint64_t end, count = 0, offset = TROD_NOWHERE;
    int rc = 1;

    if (!b->random || b->size == TROD_NOWHERE)
        return TROD_ERR_TRUNCATED;
    end = find_end(b, 0);
    if (end == TROD_NOWHERE)
        end = find_end(b, COMMENT_MAX);
    if (end == TROD_NOWHERE)
        return TROD_ERR_TRUNCATED;
    read_end(b, end, &count, &offset);
    list->directory = offset;
    if (offset > end || !trod_zip_go(b, offset))
        return TROD_ERR_CORRUPT;
    while (list->n < count && rc == 1)
        rc = central(b, list);
    if (rc < 0)
        return rc;
    return list->n < count ? TROD_ERR_CORRUPT : TROD_OK;
}

int trod_zip_local(struct trod_zip_bytes *b, struct trod_zip_member *m)
{
    const uint8_t *p;
    size_t name, extra, all;

    if (trod_zip_need(b, LOCAL_N) < LOCAL_N || trod_load_le32(trod_zip_at(b)) != LOCAL)
        return 0;
    p = trod_zip_at(b);
    name = trod_load_le16(p + 26);
    extra = trod_load_le16(p + 28);
    all = LOCAL_N + name + extra;
    if ((trod_load_le16(p + 4) & 0xff) > VERSION_MAX || trod_zip_need(b, all) < all)
        return 0;
    p = trod_zip_at(b);
    if (!readable_name(p + LOCAL_N, name))
        return 0;
    *m = (struct trod_zip_member){.header = trod_zip_tell(b),
                                  .flags = trod_load_le16(p + 6),
                                  .method = trod_load_le16(p + 8),
                                  .crc = trod_load_le32(p + 14),
                                  .packed = trod_load_le32(p + 18),
                                  .size = trod_load_le32(p + 22),
                                  .start = TROD_NOWHERE};
    read_extra(p + LOCAL_N + name, extra, m);
    if (m->flags & FLAG_DESCRIPTOR)
        m->packed = m->size = TROD_NOWHERE;
    m->name = malloc(name + 1);
    if (!m->name)
        return TROD_ERR_NOMEM;
    memcpy(m->name, p + LOCAL_N, name);
    m->name[name] = '\0';
    b->at += all;
    return 1;
}
