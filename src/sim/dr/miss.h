/*
 * miss.h - the miss analyzer: instructions whose last-level misses follow a stride.
 *
 * Follows drcachesim's simulator/cache_miss_analyzer.cpp.
 */
#ifndef TROD_SIM_DR_MISS_H
#define TROD_SIM_DR_MISS_H

#include "sim/lineset.h"

struct trod_dr_misser {
    uint64_t pc;
    uint64_t *line; /* of its misses, in order */
    size_t n, cap;
};

struct trod_dr_misses {
    struct trod_lines number; /* pc to its place + 1 */
    struct trod_dr_misser *at;
    size_t n, cap;
    uint64_t total;
    size_t most; /* instructions that there were before a reset */
    bool failed;
};

struct trod_dr_hint {
    uint64_t pc;
    int32_t stride; /* bytes */
};

void trod_dr_misses_fini(struct trod_dr_misses *m);
/* The warm-up is over: forget the misses. */

void trod_dr_misses_reset(struct trod_dr_misses *m);
/* A miss of the instruction at PC on LINE; without memory M is marked as failed. */
void trod_dr_misses_add(struct trod_dr_misses *m, uint64_t pc, uint64_t line);

/*
 * Instructions with at least the smaller of COUNT and FRACTION of all misses whose most frequent
 * stride has a share of CONFIDENCE of them, in the order of DynamoRIO's table (gnu_order.h).
 * Returns how many, *OUT to be freed; or TROD_ERR_NOMEM.
 */
int64_t trod_dr_misses_hints(const struct trod_dr_misses *m, uint64_t count, double fraction,
                             double confidence, unsigned line_size, struct trod_dr_hint **out);

#endif
