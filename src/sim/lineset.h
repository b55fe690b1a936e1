/*
 * lineset.h - a map from line numbers to 64-bit values (or a set of them): open addressing, linear
 * probing, at most half full. The number that marks free places, TROD_NO_LINE, is kept beside them.
 */
#ifndef TROD_SIM_LINESET_H
#define TROD_SIM_LINESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TROD_NO_LINE UINT64_MAX

struct trod_lines {
    uint64_t *key;
    uint64_t *value; /* one more than keys, for TROD_NO_LINE; NULL: a set */
    size_t n, mask;  /* mask + 1 places; 0: none yet */
    bool map;
    bool top; /* TROD_NO_LINE is in it */
};

/* Zero bytes are an empty set; map is set before the first line for a map. */
void trod_lines_fini(struct trod_lines *m);

/* Make room for one more. false: no memory. */
bool trod_lines_room(struct trod_lines *m);

static inline size_t trod_lines_hash(uint64_t line)
{
    uint64_t h = line * UINT64_C(0x9e3779b97f4a7c15);

    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(h ^ h >> 29);
}

/* The place of LINE, or the free one where it would be; at least one place must exist. */
static inline size_t trod_lines_place(const struct trod_lines *m, uint64_t line)
{
    size_t i = trod_lines_hash(line) & m->mask;

    while (m->key[i] != line && m->key[i] != TROD_NO_LINE)
        i = (i + 1) & m->mask;
    return i;
}

static inline bool trod_lines_has(const struct trod_lines *m, uint64_t line)
{
    return line == TROD_NO_LINE ? m->top : m->key && m->key[trod_lines_place(m, line)] == line;
}

/* trod_lines_add of TROD_NO_LINE. */
int trod_lines_add_top(struct trod_lines *m);

/* Add LINE: 1 if it is new, 0 if it was there, -1: no memory. */
static inline int trod_lines_add(struct trod_lines *m, uint64_t line)
{
    size_t i;

    if (line == TROD_NO_LINE)
        return trod_lines_add_top(m);
    if (2 * m->n >= m->mask && !trod_lines_room(m))
        return -1;
    i = trod_lines_place(m, line);
    if (m->key[i] == line)
        return 0;
    m->key[i] = line;
    m->n++;
    return 1;
}

/* The value of LINE, added with 0 if new; NULL: no memory. Valid until the next change. */
uint64_t *trod_lines_at(struct trod_lines *m, uint64_t line);
/* The value of LINE, NULL where it is not in the map. */
static inline uint64_t *trod_lines_get(const struct trod_lines *m, uint64_t line)
{
    size_t i;

    if (line == TROD_NO_LINE)
        return m->top ? m->value + m->mask + 1 : NULL;
    if (!m->key)
        return NULL;
    i = trod_lines_place(m, line);
    return m->key[i] == line ? m->value + i : NULL;
}

/* Remove LINE; true if it was there. */
bool trod_lines_remove(struct trod_lines *m, uint64_t line);
/* Remove all. */
void trod_lines_clear(struct trod_lines *m);

#endif
