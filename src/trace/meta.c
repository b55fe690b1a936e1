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

struct trod_meta_hash {
    struct retired *retired;
    uint32_t size, used; /* size: a power of two; slots hold stream + 1 */
    uint32_t slot[];
};

void trod_meta_init(struct trod_meta *m)
{
    memset(m, 0, sizeof *m);
}

void trod_meta_fini(struct trod_meta *m)
{
    for (uint32_t i = 0; i < m->n_streams; i++)
        free((void *)(uintptr_t)m->streams[i].name);
    while (m->hash && m->hash->retired) {
        struct retired *next = m->hash->retired->next;

        free(m->hash->retired->streams);
        free(m->hash->retired);
        m->hash->retired = next;
    }
    free(m->streams);
    free(m->hash);
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
    if (len == 0 || len >= TROD_UNIT_NAME)
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
    uint32_t size = m->hash ? m->hash->size * 2 : 64;
    struct trod_meta_hash *h = calloc(1, sizeof *h + size * sizeof *h->slot);

    if (!h)
        return TROD_ERR_NOMEM;
    h->size = size;
    h->retired = m->hash ? m->hash->retired : NULL;
    for (uint32_t i = 0; i < m->n_streams; i++) {
        uint64_t at = hash_of(&m->streams[i]);

        while (h->slot[at & (size - 1)])
            at++;
        h->slot[at & (size - 1)] = i + 1;
        h->used++;
    }
    free(m->hash);
    m->hash = h;
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
        *old = (struct retired){m->hash->retired, m->streams};
        m->hash->retired = old;
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

/* The stream of key K; ADDED is what is stored if it is new. */
static int look_up(struct trod_meta *m, const struct key *k, const struct key *added)
{
    struct trod_stream *s;
    uint64_t at = k->hash;
    int rc;

    if ((!m->hash || m->hash->used * 2 >= m->hash->size) && (rc = grow_hash(m)) < 0)
        return rc;
    for (;; at++) {
        uint32_t slot = m->hash->slot[at & (m->hash->size - 1)];

        if (slot == 0)
            break;
        if (matches(&m->streams[slot - 1], k))
            return (int)slot - 1;
    }
    if (m->n_streams >= TROD_STREAM_MAX)
        return TROD_ERR_LIMIT;
    if ((rc = add(m, added, &s)) < 0)
        return rc;
    m->hash->slot[at & (m->hash->size - 1)] = m->n_streams;
    m->hash->used++;
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
