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

static struct export_pair *find(const struct export_map *m, uint64_t a, uint64_t b)
{
    const uint32_t h = hash(a, b);
    uint32_t i;

    for (size_t at = h; trod_map_next(&m->map, h, &at, &i);)
        if (m->at[i].a == a && m->at[i].b == b)
            return &m->at[i];
    return NULL;
}

struct export_pair *export_map_at(struct export_map *m, uint64_t a, uint64_t b)
{
    struct export_pair *found = find(m, a, b);

    if (found)
        return found;
    if (m->n >= UINT32_MAX / 4 || !trod_grow(&m->at, m->n, &m->cap, sizeof *m->at, 64) ||
        !trod_map_put(&m->map, hash(a, b), (uint32_t)m->n))
        return NULL;
    m->at[m->n] = (struct export_pair){.a = a, .b = b};
    return &m->at[m->n++];
}

const struct export_pair *export_map_find(const struct export_map *m, uint64_t a, uint64_t b)
{
    return find(m, a, b);
}

void export_map_fini(struct export_map *m)
{
    free(m->at);
    trod_map_fini(&m->map);
}
