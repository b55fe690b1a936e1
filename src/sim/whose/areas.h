/*
 * areas.h - stretches of addresses that do not overlap, each with a number: a treap by address.
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

/* Zero bytes are none. Areas are known by their index, from 1; 0 is none. */
struct trod_areas {
    struct trod_area *at;
    size_t n, cap;
    uint32_t root, unused;
    uint64_t given;
};

void trod_areas_fini(struct trod_areas *s);

/*
 * The area that ADDR lies in, or 0. [*FROM, *TO), in which ADDR lies, is narrowed to the addresses
 * of which the same is true: those of the area, or those between its neighbours.
 */
uint32_t trod_areas_find(const struct trod_areas *s, uint64_t addr, uint64_t *from, uint64_t *to);

/* The last area that begins below ADDR, the first that ends behind it; 0: none. */
uint32_t trod_areas_before(const struct trod_areas *s, uint64_t addr);
uint32_t trod_areas_behind(const struct trod_areas *s, uint64_t addr);

/* Take addresses [FROM, TO) out of all areas. false: no memory. */
bool trod_areas_cut(struct trod_areas *s, uint64_t from, uint64_t to);

/* Addresses [FROM, TO) become an area with VALUE, in the place of what was there. false: no memory.
 */
bool trod_areas_put(struct trod_areas *s, uint64_t from, uint64_t to, uint32_t value);

#endif
