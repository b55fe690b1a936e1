/*
 * cache_refs.h - references for the tests of caches: random, looping, strided, of unequal
 * frequency.
 */
#ifndef TROD_TEST_CACHE_REFS_H
#define TROD_TEST_CACHE_REFS_H

#include "core/rng.h"
#include "sim/ref.h"

#include <stddef.h>
#include <stdint.h>

enum { CACHE_REFS_SHAPES = 4 };

/* N references of SHAPE to R, of up to THREADS streams, each on a core of its own. */
static inline void draw_refs(struct trod_sim_ref *r, size_t n, unsigned shape, unsigned threads,
                             struct trod_rng *rng)
{
    const uint64_t bytes = 64 * (2 + trod_rng_below(rng, 300));
    uint32_t stream = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t at = shape == 0   ? trod_rng_below(rng, bytes)
                            : shape == 1 ? i * 8 % bytes
                            : shape == 2 ? i * 192 % (8 * bytes)
                                         : trod_rng_below(rng, 1 + trod_rng_below(rng, bytes));

        if (trod_rng_below(rng, 20) == 0)
            stream = (uint32_t)trod_rng_below(rng, threads);
        r[i] = (struct trod_sim_ref){
            .addr = 4096 + at,
            .size = (uint32_t)(1 + trod_rng_below(rng, 16)),
            .pc = 16 * trod_rng_below(rng, 20),
            .op = (uint8_t)trod_rng_below(rng, 3),
            .stream = stream,
            .shard = stream,
        };
    }
}

#endif
