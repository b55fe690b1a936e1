/*
 * costs.h - what each instruction of each function cost, and what each call.
 */
#ifndef TROD_EXPORT_COSTS_H
#define TROD_EXPORT_COSTS_H

#include "export/lanes.h"
#include "export/misses.h"

/* An instruction, as executed in a function. */
struct export_place {
    uint64_t pc;
    uint32_t function;
    uint64_t self[EXPORT_COSTS];
};

/* All calls of a function from one instruction of another. */
struct export_edge {
    uint64_t site; /* the call; where the caller goes on where it is not known */
    uint32_t from, to;
    uint64_t calls;
    uint64_t inclusive[EXPORT_COSTS]; /* of those inside which the callee was not active before */
};

struct export_totals {
    struct export_lanes lanes;
    struct export_map by_place; /* pc and function; entry I is place I */
    struct export_place *place;
    size_t n_places, cap_places;
    struct export_map by_call; /* site and callee: entry I stands for both */
    struct export_map by_edge; /* caller and that I; entry K is edge K */
    struct export_edge *edge;
    size_t n_edges, cap_edges;
    uint32_t *recent; /* by low bits of the pc: the place met there last + 1 */
    uint32_t *last;   /* by lane: the place of its last instruction + 1 */
    size_t n_last;
    struct export_misses *misses; /* NULL: no caches are simulated */
};

/* MISSES: the caches to be simulated; NULL: none. */
int export_totals_init(struct export_totals *t, const struct export_misses_options *misses,
                       const struct trod_export_context *c);
int export_totals_feed(struct export_totals *t, const struct trod_batch *b, uint32_t from,
                       uint32_t to);
/* No more rows. Places are sorted by function and address, edges by caller and address. */
int export_totals_end(struct export_totals *t);
void export_totals_fini(struct export_totals *t);

#endif
