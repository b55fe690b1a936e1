/*
 * map.h - a table from pairs of numbers to a number, which grows.
 */
#ifndef TROD_EXPORT_MAP_H
#define TROD_EXPORT_MAP_H

#include "core/map.h"
#include "trod/types.h"

struct export_pair {
    uint64_t a, b; /* the key */
    uint64_t value;
};

/* Empty: all zero. Entries keep their numbers, in the order in which they came. */
struct export_map {
    struct export_pair *at;
    size_t n, cap;
    struct trod_map map;
};

/*
 * The entry of the key (A, B), added with value 0 if there is none; valid until the next call.
 * NULL: no memory.
 */
struct export_pair *export_map_at(struct export_map *m, uint64_t a, uint64_t b);
/* The same without adding: NULL where there is none. */
const struct export_pair *export_map_find(const struct export_map *m, uint64_t a, uint64_t b);
void export_map_fini(struct export_map *m);

#endif
