/*
 * areas.h - address ranges that do not overlap, each with a value: a treap by address.
 */
#ifndef TROD_SIM_WHOSE_AREAS_H
#define TROD_SIM_WHOSE_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/treap.h"

struct trod_area {
    uint64_t from, to; /* addresses [from, to) */
    uint32_t value;
    struct treap_link link;
};

/* All zero: empty. Areas are identified by their index, from 1; 0 is none. */
struct trod_areas {
    struct trod_area *at;
    size_t n, cap;
    uint32_t root, unused;
    uint64_t given;
};

void trod_areas_fini(struct trod_areas *s);

/*
 * The area that contains ADDR, or 0. The range [*FROM, *TO), which contains ADDR, is narrowed to
 * the addresses with the same answer: those of the area, or those between its neighbours.
 */
uint32_t trod_areas_find(const struct trod_areas *s, uint64_t addr, uint64_t *from, uint64_t *to);

/* The last area that begins below ADDR; the first one that ends above it. 0: none. */
uint32_t trod_areas_before(const struct trod_areas *s, uint64_t addr);
uint32_t trod_areas_behind(const struct trod_areas *s, uint64_t addr);

/* Remove addresses [FROM, TO) from all areas. False: no memory. */
bool trod_areas_cut(struct trod_areas *s, uint64_t from, uint64_t to);

/* Make addresses [FROM, TO) an area with VALUE, replacing what was there. False: no memory. */
bool trod_areas_put(struct trod_areas *s, uint64_t from, uint64_t to, uint32_t value);

#endif
