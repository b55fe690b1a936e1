/*
 * map.h - numbers of entries by a hash of what they stand for: the entries themselves, and what
 * makes two of them the same, belong to the caller.
 *
 * Open addressing with linear probing (Knuth, "The Art of Computer Programming", vol. 3, 6.4,
 * algorithm L); at most half of the slots are in use. Nothing is removed but all at once. Tables on
 * hot paths whose slots hold more than a number (cache lines, pages, stores) have rooms of their
 * own.
 */
#ifndef TROD_CORE_MAP_H
#define TROD_CORE_MAP_H

#include "core/zeroed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct trod_map_slot {
    uint32_t hash, number; /* number + 1; 0: the slot is empty */
};

/* Empty: all zero. */
struct trod_map {
    struct trod_map_slot *slot;
    size_t size, n; /* slots, a power of two or 0; numbers */
};

enum { TROD_MAP_FIRST = 32 };

/* What is left of H, of 64 bits that differ anywhere, in the 32 bits that tables here go by. */
static inline uint32_t trod_map_hash(uint64_t h)
{
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h ^ h >> 32);
}

/*
 * The next number put in with HASH, which may stand for something else: *AT is the hash at first,
 * and where to go on later. Returns false when there are no more.
 *
 *     for (size_t at = hash; trod_map_next(&map, hash, &at, &i);)
 *         if (entry[i].key == key)
 *             return &entry[i];
 */
static inline bool trod_map_next(const struct trod_map *m, uint32_t hash, size_t *at,
                                 uint32_t *number)
{
    for (; m->size; ++*at) {
        const struct trod_map_slot *s = &m->slot[*at & (m->size - 1)];

        if (s->number == 0)
            return false;
        if (s->hash == hash) {
            ++*at;
            *number = s->number - 1;
            return true;
        }
    }
    return false;
}

static inline void trod_map_take(struct trod_map *m, struct trod_map_slot s)
{
    size_t i = s.hash;

    while (m->slot[i & (m->size - 1)].number)
        i++;
    m->slot[i & (m->size - 1)] = s;
}

/* See to room for N numbers. Returns false when there is no memory; then nothing has changed. */
static inline bool trod_map_room(struct trod_map *m, size_t n)
{
    struct trod_map more = {.size = m->size ? m->size : TROD_MAP_FIRST, .n = m->n};

    if (2 * n <= m->size)
        return true;
    while (2 * n > more.size)
        more.size *= 2;
    more.slot = trod_zeroed_new(more.size * sizeof *more.slot);
    if (!more.slot)
        return false;
    for (size_t i = 0; i < m->size; i++)
        if (m->slot[i].number)
            trod_map_take(&more, m->slot[i]);
    trod_zeroed_free(m->slot, m->size * sizeof *m->slot);
    *m = more;
    return true;
}

/*
 * Put NUMBER, below UINT32_MAX, in under HASH, beside whatever is there. Returns false when there
 * is no memory; then nothing has changed.
 */
static inline bool trod_map_put(struct trod_map *m, uint32_t hash, uint32_t number)
{
    if (!trod_map_room(m, m->n + 1))
        return false;
    trod_map_take(m, (struct trod_map_slot){hash, number + 1});
    m->n++;
    return true;
}

/* Forget all numbers; the memory stays. */
static inline void trod_map_clear(struct trod_map *m)
{
    if (m->size)
        memset(m->slot, 0, m->size * sizeof *m->slot);
    m->n = 0;
}

static inline void trod_map_fini(struct trod_map *m)
{
    trod_zeroed_free(m->slot, m->size * sizeof *m->slot);
    *m = (struct trod_map){.slot = NULL};
}

#endif
