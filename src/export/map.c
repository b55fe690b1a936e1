/*
 * map.c - a table from pairs of numbers to a number. Implements map.h.
 */
#include "export/map.h"

#include "core/grow.h"

static uint32_t hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

    h ^= h >> 29;
    return (uint32_t)((h * UINT64_C(0xbf58476d1ce4e5b9)) >> 32);
}

/* Where the key stands, or the empty place where it belongs. */
static uint32_t *place(const struct export_map *m, uint64_t a, uint64_t b)
{
    uint32_t i = hash(a, b) & m->mask;

    while (m->home[i] && (m->at[m->home[i] - 1].a != a || m->at[m->home[i] - 1].b != b))
        i = (i + 1) & m->mask;
    return &m->home[i];
}

static bool widen(struct export_map *m)
{
    const uint32_t size = m->home ? 2 * (m->mask + 1) : 256;
    uint32_t *home = calloc(size, sizeof *home);

    if (!home)
        return false;
    free(m->home);
    m->home = home;
    m->mask = size - 1;
    for (size_t i = 0; i < m->n; i++)
        *place(m, m->at[i].a, m->at[i].b) = (uint32_t)i + 1;
    return true;
}

struct export_pair *export_map_at(struct export_map *m, uint64_t a, uint64_t b)
{
    uint32_t *home;

    if ((!m->home || 2 * m->n > m->mask) && (m->n >= UINT32_MAX / 4 || !widen(m)))
        return NULL;
    home = place(m, a, b);
    if (!*home) {
        if (!trod_grow(&m->at, m->n, &m->cap, sizeof *m->at, 64))
            return NULL;
        m->at[m->n++] = (struct export_pair){.a = a, .b = b};
        *home = (uint32_t)m->n;
    }
    return &m->at[*home - 1];
}

const struct export_pair *export_map_find(const struct export_map *m, uint64_t a, uint64_t b)
{
    const uint32_t *home = m->home ? place(m, a, b) : NULL;

    return home && *home ? &m->at[*home - 1] : NULL;
}

void export_map_fini(struct export_map *m)
{
    free(m->at);
    free(m->home);
}
