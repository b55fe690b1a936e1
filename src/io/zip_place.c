/*
 * zip_place.c - where a member of the directory lies, and how it is compressed, where the directory
 * and the header before the member's bytes do not agree.
 *
 * Implements zip_agrees(), zip_shift() and zip_place() of zip_int.h. What both say is said twice,
 * so that damage of one of them costs nothing: what decodes to its end, with the right checksum, is
 * right.
 */
#include "zip_int.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/hash.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCAL_N = 30,        /* APPNOTE 4.3.7: a local header without name and extra fields */
    NAME_N_AT = 26,      /* in it */
    EXTRA_N_AT = 28,     /* in it */
    FLAG_DESCRIPTOR = 8, /* sizes and checksum stand behind the member */
    EXTRA_MOST = 0xffff, /* bytes of extra fields */
    SEARCHED = 1 << 12,  /* members among which the one behind another is searched */
    TRIES = 40,          /* places and ways to read a member at the most */
    SCRATCH = 1 << 16    /* bytes decoded at a time, to be thrown away */
};

/* 4.3.9: bytes of a data descriptor, without or with signature, of 32 or 64 bits; none */
static const uint8_t descriptors[] = {0, 12, 16, 20, 24};

/* Where the bytes of a member may begin, and what may be true of them. */
struct way {
    uint64_t data;
    struct trod_zip_member m;
    enum found_by { AT_HEADER, BEHIND, AS_LISTED } how;
};

struct tries {
    struct way at[TRIES];
    size_t n;
};

/* The first header behind that of member K, or the directory; TROD_NOWHERE: not known. */
static uint64_t behind(const struct trod_zip_list *list, size_t k)
{
    const uint64_t own = list->member[k].header;
    uint64_t next = list->directory > own ? list->directory : TROD_NOWHERE;

    for (size_t i = 0; i < list->n; i++)
        if (list->member[i].header > own && list->member[i].header < next)
            next = list->member[i].header;
    return next;
}

/* The same; of many members the one listed behind it, which mostly is the one that lies there. */
static uint64_t likely_behind(const struct trod_zip_list *list, size_t k)
{
    if (list->n <= SEARCHED)
        return behind(list, k);
    return k + 1 < list->n ? list->member[k + 1].header : list->directory;
}

/* May the bytes of M, which begin at DATA, end where something else begins at NEXT? */
static bool ends_at(const struct trod_zip_member *m, uint64_t data, uint64_t next)
{
    if (m->packed > next || data > next - m->packed)
        return false;
    for (size_t i = 0; i < sizeof descriptors; i++)
        if (next - data - m->packed == descriptors[i])
            return i == 0 || (m->flags & FLAG_DESCRIPTOR);
    return false;
}

/* Do the bytes of member K, if they begin at DATA, end where the next header begins? */
static bool fits(const struct trod_zip_list *list, size_t k, uint64_t data)
{
    const struct trod_zip_member *m = &list->member[k];
    const uint64_t next = k + 1 < list->n ? list->member[k + 1].header : list->directory;

    return ends_at(m, data, next) || list->n > SEARCHED || ends_at(m, data, behind(list, k));
}

/* What LOCAL, a header, says otherwise than M, an entry of the directory; NULL: nothing. */
static const char *differs(const struct trod_zip_member *m, const struct trod_zip_member *local)
{
    const bool sized = local->size != TROD_NOWHERE;

    if (strcmp(m->name, local->name) != 0)
        return "name";
    if (m->method != local->method)
        return "compression method";
    if ((m->flags ^ local->flags) & ZIP_ENCRYPTED)
        return "encryption flag";
    if (sized && m->packed != local->packed)
        return "compressed size";
    if (sized && m->size != local->size)
        return "size";
    return sized && m->crc != local->crc ? "checksum" : NULL;
}

bool zip_agrees(struct trod_zip_bytes *b, const struct trod_zip_list *list, size_t k)
{
    const struct trod_zip_member *m = &list->member[k];
    struct trod_zip_member local;
    bool same;

    if (!trod_zip_go(b, m->header) || trod_zip_local(b, &local) != 1)
        return false;
    same = !differs(m, &local) && fits(list, k, trod_zip_tell(b));
    free(local.name);
    return same;
}

/* Does a header at AT agree with M? Then *DATA is where it ends. */
static bool header_at(struct trod_zip_bytes *b, const struct trod_zip_member *m, uint64_t at,
                      uint64_t *data)
{
    struct trod_zip_member local;
    bool same;

    if (!trod_zip_go(b, at) || trod_zip_local(b, &local) != 1)
        return false;
    *data = trod_zip_tell(b);
    same = !differs(m, &local);
    free(local.name);
    return same;
}

/* Where the header of M is if it is the last before the directory; TROD_NOWHERE: it is not. */
static uint64_t last_header(struct zip *z, const struct trod_zip_member *m)
{
    const uint64_t least = LOCAL_N + (uint64_t)m->name_n;
    const uint64_t most = least + EXTRA_MOST + descriptors[sizeof descriptors - 1];
    const uint64_t room = z->list.directory - m->packed;
    struct trod_zip_bytes *b = &z->dec.in;
    struct trod_zip_member any = *m;
    uint64_t data;

    any.flags |= FLAG_DESCRIPTOR; /* its header may say so alone */
    if (m->packed > z->list.directory || room < least)
        return TROD_NOWHERE;
    for (uint64_t at = room > most ? room - most : 0; at <= room - least; at++) {
        if (!trod_zip_go(b, at) || trod_zip_need(b, 2) < 2)
            break;
        if (memcmp(trod_zip_at(b), "PK", 2) == 0 && header_at(b, m, at, &data) &&
            ends_at(&any, data, z->list.directory))
            return at;
    }
    return TROD_NOWHERE;
}

void zip_shift(struct zip *z)
{
    struct trod_zip_member *const member = z->list.member;
    const size_t n = z->list.n;
    uint64_t at, shift, data;
    size_t last = 0;

    if (n == 0 || header_at(&z->dec.in, &member[0], member[0].header, &data))
        return;
    for (size_t i = 1; i < n; i++)
        if (member[i].header > member[last].header)
            last = i;
    at = last_header(z, &member[last]);
    shift = at - member[last].header;
    if (at == TROD_NOWHERE || shift == 0)
        return;
    for (size_t i = 0; i < n; i += n / 2 ? n / 2 : 1) /* some of them */
        if (!header_at(&z->dec.in, &member[i], member[i].header + shift, &data))
            return;
    for (size_t i = 0; i < n; i++)
        member[i].header += shift;
    zip_problem(z, SIZE_MAX, TROD_ERR_CORRUPT, "zip.header",
                "offsets in the directory of the zip archive are wrong by %" PRId64
                ", as if bytes were put before it: its members are read all the same",
                (int64_t)shift);
}

bool zip_decodes(struct zip *z, const struct trod_zip_member *m, uint64_t data, uint64_t *size)
{
    struct trod_fault none = {0};
    struct zip_decoder d = {.codec = NULL};
    uint8_t *scratch = malloc(SCRATCH);
    enum zip_step did = ZIP_CORRUPT;
    size_t made;
    const char *why;

    d.in = (struct trod_zip_bytes){.in = z->dec.in.in,
                                   .random = true,
                                   .size = z->dec.in.size,
                                   .buf = malloc(TROD_ZIP_BUFFER),
                                   .cap = TROD_ZIP_BUFFER,
                                   .fault = &none};
    if (z->dec.in.random && scratch && d.in.buf && !(m->flags & ZIP_ENCRYPTED) &&
        (m->method != TROD_ZIP_STORED || m->packed != TROD_NOWHERE) &&
        trod_zip_codec_new(&d.codec, true) == TROD_OK && trod_zip_go(&d.in, data) &&
        zip_decode_begin(&d, m) == TROD_OK)
        do {
            made = SCRATCH;
            did = zip_decode(&d, m, scratch, &made, &why);
        } while (did == ZIP_GOES_ON);
    trod_zip_codec_free(d.codec);
    free(d.in.buf);
    free(scratch);
    *size = d.made;
    return did == ZIP_ENDS && d.crc == m->crc && (m->size == TROD_NOWHERE || d.made == m->size);
}

static void add(struct tries *t, const struct way *way)
{
    if (t->n < TRIES)
        t->at[t->n++] = *way;
}

/* The bytes at DATA may be as M, the entry, says, as LOCAL, the header, or as both in part. */
static void add_ways(struct tries *t, const struct trod_zip_member *m,
                     const struct trod_zip_member *local, uint64_t data, enum found_by how)
{
    struct way way = {.data = data, .m = *m, .how = how};

    add(t, &way);
    way.m.method = local->method;
    way.m.flags = local->flags;
    add(t, &way);
    way.m.packed = local->packed;
    way.m.size = local->size;
    if (local->size != TROD_NOWHERE)
        way.m.crc = local->crc;
    add(t, &way);
    way.m.method = m->method;
    way.m.flags = m->flags;
    add(t, &way);
    /* sizes are of use to check with alone: a checksum that is right shows as much */
    way.m.packed = way.m.size = TROD_NOWHERE;
    add(t, &way);
    way.m.crc = m->crc;
    add(t, &way);
}

/* The header at AT, if one of that name or checksum is there. False: none is. */
static bool add_header(struct tries *t, struct trod_zip_bytes *b, const struct trod_zip_member *m,
                       uint64_t at, enum found_by how)
{
    struct trod_zip_member local;
    bool own;

    if (!trod_zip_go(b, at) || trod_zip_local(b, &local) != 1)
        return false;
    own = strcmp(local.name, m->name) == 0 || local.crc == m->crc || how == AT_HEADER;
    if (own)
        add_ways(t, m, &local, trod_zip_tell(b), how);
    free(local.name);
    return own;
}

static uint64_t name_hash(const char *name)
{
    return trod_fnv(TROD_FNV, name, strlen(name));
}

/* The header of member K behind the bytes of member LAST (SIZE_MAX: where the archive begins). */
static bool add_behind(struct tries *t, struct zip *z, size_t k, size_t last)
{
    const struct trod_zip_member *m = &z->list.member[k];
    const struct trod_zip_member *before = last == SIZE_MAX ? NULL : &z->list.member[last];
    struct trod_zip_bytes *b = &z->dec.in;
    struct trod_zip_member local;
    uint64_t end = 0;

    if (before) {
        if (!trod_zip_go(b, before->header) || trod_zip_local(b, &local) != 1)
            return false;
        free(local.name);
        end = trod_zip_tell(b);
        if (before->packed > b->size - end)
            return false;
        end += before->packed;
    }
    for (size_t i = 0; i < sizeof descriptors; i++)
        if (end + descriptors[i] != m->header && add_header(t, b, m, end + descriptors[i], BEHIND))
            return true;
    return false;
}

/* Keep where the headers are that stand behind members, of all of them at once. */
static void search(struct zip *z)
{
    struct trod_zip_bytes *b = &z->dec.in;
    struct trod_zip_member local;

    z->searched = true;
    for (size_t i = 0; i < z->list.n; i++) {
        const struct trod_zip_member *m = &z->list.member[i];
        uint64_t end;

        if (!trod_zip_go(b, m->header) || trod_zip_local(b, &local) != 1)
            continue;
        free(local.name);
        end = trod_zip_tell(b);
        if (m->packed > b->size - end)
            continue;
        end += m->packed;
        for (size_t k = 0; k < sizeof descriptors; k++) {
            if (!trod_zip_go(b, end + descriptors[k]) || trod_zip_local(b, &local) != 1)
                continue;
            if (trod_grow(&z->found, z->n_found, &z->cap_found, sizeof *z->found, 64))
                z->found[z->n_found++] = (struct zip_header){
                    .at = end + descriptors[k], .name = name_hash(local.name), .crc = local.crc};
            free(local.name);
        }
    }
}

/* The header of member K where the directory does not say: behind that before it, or another. */
static void add_elsewhere(struct tries *t, struct zip *z, size_t k)
{
    const struct trod_zip_member *m = &z->list.member[k];
    const uint64_t name = name_hash(m->name);

    if (add_behind(t, z, k, k ? k - 1 : SIZE_MAX) || add_behind(t, z, k, SIZE_MAX))
        return;
    if (!z->searched)
        search(z);
    for (size_t i = 0; i < z->n_found; i++) {
        const struct zip_header *h = &z->found[i];

        if (h->at != m->header && (h->name == name || h->crc == m->crc) &&
            add_header(t, &z->dec.in, m, h->at, BEHIND))
            return;
    }
}

/* Where bytes may begin behind a header that is damaged, or says wrong lengths of what is in it. */
static void add_listed(struct tries *t, struct zip *z, size_t k)
{
    const struct trod_zip_member *m = &z->list.member[k];
    struct trod_zip_bytes *b = &z->dec.in;
    struct way way = {.m = *m, .how = AS_LISTED};
    const uint64_t next = likely_behind(&z->list, k);

    if (trod_zip_go(b, m->header) && trod_zip_need(b, LOCAL_N) >= LOCAL_N) {
        const uint8_t *p = trod_zip_at(b);
        const uint64_t name = trod_load_le16(p + NAME_N_AT), extra = trod_load_le16(p + EXTRA_N_AT);

        way.data = m->header + LOCAL_N + name + extra;
        add(t, &way);
        way.data = m->header + LOCAL_N + m->name_n + extra;
        add(t, &way);
        way.data = m->header + LOCAL_N + m->name_n;
        add(t, &way);
    }
    for (size_t i = 0; next != TROD_NOWHERE && i < sizeof descriptors; i++)
        if (m->packed <= next && next - m->packed >= m->header + LOCAL_N + descriptors[i]) {
            way.data = next - m->packed - descriptors[i];
            add(t, &way);
        }
}

/* Report what is wrong with the place of the member K, which is read as WAY says, if it is SOUND.
 */
static void tell(struct zip *z, size_t k, const struct way *way, const char *what, bool sound)
{
    const struct trod_zip_member *m = &z->list.member[k];

    z->left = TROD_LEFT_SOUND; /* none of it has been read */
    if (way->how == BEHIND)
        zip_problem(z, k, TROD_ERR_CORRUPT, "zip.header",
                    "has no header where the directory says, at offset %" PRIu64
                    ": it was found behind another member",
                    m->header);
    else if (way->how == AS_LISTED)
        zip_problem(z, k, TROD_ERR_CORRUPT, "zip.header",
                    "has a damaged header, at offset %" PRIu64 ": it is read as the directory says",
                    m->header);
    else if (what)
        zip_problem(
            z, k, TROD_ERR_CORRUPT, "zip.header",
            "has another %s in its header, at offset %" PRIu64 ", than in the directory: %s", what,
            m->header, sound ? "what its checksum confirms is taken" : "the directory is followed");
    z->left = TROD_LEFT_GAP;
}

bool zip_place(struct zip *z, size_t k)
{
    const struct trod_zip_member *m = &z->list.member[k];
    struct trod_zip_bytes *b = &z->dec.in;
    struct trod_zip_member local;
    struct tries tries = {.n = 0};
    const char *what = NULL;
    bool there, sound = false;
    uint64_t size;
    size_t i;

    z->now = *m;
    if (zip_agrees(b, &z->list, k))
        return true;
    there = trod_zip_go(b, m->header) && trod_zip_local(b, &local) == 1;
    if (there) {
        what = differs(m, &local);
        add_ways(&tries, m, &local, trod_zip_tell(b), AT_HEADER);
        free(local.name);
    }
    add_elsewhere(&tries, z, k);
    add_listed(&tries, z, k);
    for (i = 0; i < tries.n && !sound; i++)
        sound = zip_decodes(z, &tries.at[i].m, tries.at[i].data, &size);
    if (!sound && !there) {
        zip_problem(z, k, TROD_ERR_CORRUPT, "zip.header",
                    "has no header where the directory says, at offset %" PRIu64, m->header);
        return false;
    }
    i = sound ? i - 1 : 0;
    z->now = tries.at[i].m;
    tell(z, k, &tries.at[i], what, sound);
    return trod_zip_go(b, tries.at[i].data);
}
