/*
 * meta.c - the table of streams of a trace, by name or by thread.
 *
 * Implements meta.h. A hash with open addressing over the streams; entries are never removed.
 */
#include "trod/meta.h"

#include "core/hash.h"
#include "trod/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table of streams that has become too small. It stays: other threads may still read it. */
struct retired {
    struct retired *next;
    struct trod_stream *streams;
};

struct trod_meta_own {
    struct retired *retired;
    uint32_t size, used; /* size: a power of two; slots hold stream + 1 */
    uint32_t slot[];
};

/* A file that copies have beside them; its bytes follow. */
struct trod_meta_kept {
    struct trod_meta_kept *next;
    const char *name;
    size_t n;
    uint8_t bytes[];
};

void trod_meta_init(struct trod_meta *m)
{
    memset(m, 0, sizeof *m);
}

void trod_meta_fini(struct trod_meta *m)
{
    for (uint32_t i = 0; i < m->n_streams; i++)
        free((void *)(uintptr_t)m->streams[i].name);
    while (m->own && m->own->retired) {
        struct retired *next = m->own->retired->next;

        free(m->own->retired->streams);
        free(m->own->retired);
        m->own->retired = next;
    }
    while (m->kept) {
        struct trod_meta_kept *next = m->kept->next;

        free(m->kept);
        m->kept = next;
    }
    free(m->streams);
    free(m->own);
    memset(m, 0, sizeof *m);
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    return h;
}

static uint64_t hash_name(const char *name, size_t len)
{
    return mix(trod_fnv(TROD_FNV, name, len));
}

static uint64_t hash_thread(uint64_t tid, uint64_t pid, uint32_t file)
{
    return mix(mix(mix(tid) ^ pid) ^ file);
}

/* A stream looked for: by name, or (name NULL) by its numbers. */
struct key {
    const char *name;
    size_t len;
    uint64_t tid, pid;
    uint32_t file;
    uint64_t hash;
};

static bool matches(const struct trod_stream *s, const struct key *k)
{
    if (k->name)
        return s->tid == TROD_NOWHERE && s->name_len == k->len &&
               memcmp(s->name, k->name, k->len) == 0;
    return s->tid == k->tid && s->pid == k->pid && s->file == k->file;
}

static uint64_t hash_of(const struct trod_stream *s)
{
    return s->tid == TROD_NOWHERE ? hash_name(s->name, s->name_len)
                                  : hash_thread(s->tid, s->pid, s->file);
}

int trod_meta_unit(struct trod_meta *m, const char *name, size_t len)
{
    for (unsigned i = 1; i < TROD_UNITS; i++)
        if (strlen(trod_unit_name(i)) == len && memcmp(trod_unit_name(i), name, len) == 0)
            return (int)i;
    if (len == 0 || len >= TROD_UNIT_NAME || memchr(name, '\0', len))
        return TROD_ERR_LIMIT;
    for (unsigned i = 0; i < TROD_OWN_UNITS; i++) {
        if (!m->own_unit[i][0])
            memcpy(m->own_unit[i], name, len);
        if (memcmp(m->own_unit[i], name, len) == 0 && m->own_unit[i][len] == '\0')
            return (int)(TROD_UNITS + i);
    }
    return TROD_ERR_LIMIT;
}

const char *trod_meta_unit_name(const struct trod_meta *m, unsigned unit)
{
    unit &= 0xf;
    if (unit < TROD_UNITS)
        return trod_unit_name(unit);
    return unit - TROD_UNITS < TROD_OWN_UNITS ? m->own_unit[unit - TROD_UNITS] : "";
}

static int grow_hash(struct trod_meta *m)
{
    uint32_t size = m->own ? m->own->size * 2 : 64;
    struct trod_meta_own *h = calloc(1, sizeof *h + size * sizeof *h->slot);

    if (!h)
        return TROD_ERR_NOMEM;
    h->size = size;
    h->retired = m->own ? m->own->retired : NULL;
    for (uint32_t i = 0; i < m->n_streams; i++) {
        uint64_t at = hash_of(&m->streams[i]);

        while (h->slot[at & (size - 1)])
            at++;
        h->slot[at & (size - 1)] = i + 1;
        h->used++;
    }
    free(m->own);
    m->own = h;
    return TROD_OK;
}

/* A larger table; the one that M had stays where it is. */
static int grow_streams(struct trod_meta *m)
{
    uint32_t cap = m->cap_streams ? m->cap_streams * 2 : 16;
    struct trod_stream *s = malloc(cap * sizeof *s);
    struct retired *old = m->streams ? malloc(sizeof *old) : NULL;

    if (!s || (m->streams && !old)) {
        free(s);
        free(old);
        return TROD_ERR_NOMEM;
    }
    if (old) {
        memcpy(s, m->streams, m->n_streams * sizeof *s);
        *old = (struct retired){m->own->retired, m->streams};
        m->own->retired = old;
    }
    m->streams = s;
    m->cap_streams = cap;
    return TROD_OK;
}

static int add(struct trod_meta *m, const struct key *k, struct trod_stream **out)
{
    char *name = malloc(k->len + 1);

    if (!name)
        return TROD_ERR_NOMEM;
    if (m->n_streams == m->cap_streams && grow_streams(m) < 0) {
        free(name);
        return TROD_ERR_NOMEM;
    }
    memcpy(name, k->name, k->len);
    name[k->len] = '\0';
    *out = &m->streams[m->n_streams++];
    **out = (struct trod_stream){name, k->len, k->tid, k->pid, TROD_NOWHERE, k->file};
    return TROD_OK;
}

/* The slot of key K in the table of M, or the free one where it belongs. */
static uint32_t *slot_of(const struct trod_meta *m, const struct key *k)
{
    uint32_t *const slot = m->own->slot;
    uint64_t at = k->hash;

    while (slot[at & (m->own->size - 1)] &&
           !matches(&m->streams[slot[at & (m->own->size - 1)] - 1], k))
        at++;
    return &slot[at & (m->own->size - 1)];
}

/*
 * The stream of key K; ADDED is what is stored if it is new. Nothing is written if it is known:
 * several threads may look up known streams at the same time.
 */
static int look_up(struct trod_meta *m, const struct key *k, const struct key *added)
{
    uint32_t *slot = m->own ? slot_of(m, k) : NULL;
    struct trod_stream *s;
    int rc;

    if (slot && *slot)
        return (int)*slot - 1;
    if (m->n_streams >= TROD_STREAM_MAX)
        return TROD_ERR_LIMIT;
    if (!m->own || m->own->used * 2 >= m->own->size) {
        if ((rc = grow_hash(m)) < 0)
            return rc;
        slot = slot_of(m, k);
    }
    if ((rc = add(m, added, &s)) < 0)
        return rc;
    *slot = m->n_streams;
    m->own->used++;
    return (int)m->n_streams - 1;
}

int trod_meta_stream(struct trod_meta *m, const char *name, size_t len)
{
    const struct key k = {name, len, TROD_NOWHERE, TROD_NOWHERE, m->file, hash_name(name, len)};

    return look_up(m, &k, &k);
}

int trod_meta_thread(struct trod_meta *m, uint64_t tid, uint64_t pid, uint32_t file)
{
    const struct key k = {NULL, 0, tid, pid, file, hash_thread(tid, pid, file)};
    struct key added = k;
    char name[24];

    added.len = (size_t)snprintf(name, sizeof name, "%" PRIu64, tid);
    added.name = name;
    return look_up(m, &k, &added);
}

int64_t trod_meta_find(const struct trod_meta *m, const struct trod_stream *s)
{
    const bool named = s->tid == TROD_NOWHERE;
    const struct key k = {named ? s->name : NULL, s->name_len, s->tid, s->pid, s->file, hash_of(s)};

    return m->own ? (int64_t)*slot_of(m, &k) - 1 : -1;
}

/* Streams of FROM, and what it knows of their numbers. */
static int learn_streams(struct trod_meta *m, const struct trod_meta *from)
{
    for (uint32_t i = 0; i < from->n_streams; i++) {
        const struct trod_stream *s = &from->streams[i];
        const struct key k = {s->tid == TROD_NOWHERE ? s->name : NULL,
                              s->name_len,
                              s->tid,
                              s->pid,
                              s->file,
                              hash_of(s)};
        struct key added = k;
        int at;

        added.name = s->name;
        at = look_up(m, &k, &added);
        if (at < 0)
            return at;
        if (m->streams[at].cpu == TROD_NOWHERE)
            m->streams[at].cpu = s->cpu;
        if (m->streams[at].pid == TROD_NOWHERE)
            m->streams[at].pid = s->pid;
    }
    return TROD_OK;
}

int trod_meta_learn(struct trod_meta *m, const struct trod_meta *from)
{
    /* a machine that executes A64 is one, whatever else it executes */
    if (from->isa != TROD_ISA_UNKNOWN && from->isa != m->isa &&
        !(m->isa == TROD_ISA_A64 && from->isa == TROD_ISA_ARM))
        m->isa = from->isa;
    if (from->endian != TROD_ENDIAN_UNKNOWN)
        m->endian = from->endian;
    if (from->addr_bits > m->addr_bits)
        m->addr_bits = from->addr_bits;
    if (m->unit == 0 && (from->unit & 0xf) < TROD_UNITS)
        m->unit = from->unit;
    for (unsigned i = 0; i < TROD_OWN_UNITS && from->own_unit[i][0]; i++) {
        const int unit = trod_meta_unit(m, from->own_unit[i], strlen(from->own_unit[i]));

        if (m->unit == 0 && unit > 0 && (from->unit & 0xf) == TROD_UNITS + i)
            m->unit = (uint8_t)unit;
    }
    if (from->line_size)
        m->line_size = from->line_size;
    if (from->page_size)
        m->page_size = from->page_size;
    if (m->version == 0)
        m->version = from->version;
    if (m->filetype == 0)
        m->filetype = from->filetype;
    return learn_streams(m, from);
}

int trod_meta_keep(struct trod_meta *m, const char *name, const void *p, size_t n)
{
    struct trod_meta_kept *k = malloc(sizeof *k + n), **at = &m->kept;

    if (!k)
        return TROD_ERR_NOMEM;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    *k = (struct trod_meta_kept){.next = *at ? (*at)->next : NULL, .name = name, .n = n};
    if (n)
        memcpy(k->bytes, p, n);
    free(*at);
    *at = k;
    return TROD_OK;
}

const void *trod_meta_file(const struct trod_meta *m, const char *name, size_t *n)
{
    const struct trod_meta_kept *k = m->kept;

    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    *n = k ? k->n : 0;
    return k ? k->bytes : NULL;
}
