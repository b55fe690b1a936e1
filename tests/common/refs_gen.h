/*
 * refs_gen.h - streams of references of known character: loops, sawtooths, strides, random and
 * Zipf.
 */
#ifndef TROD_REFS_GEN_H
#define TROD_REFS_GEN_H

#include "core/rng.h"

#include <math.h>

enum refs_kind {
    REFS_CYCLIC,   /* 0 ... M-1, again and again */
    REFS_SAWTOOTH, /* 0 ... M-1 ... 1, repeated */
    REFS_UNIFORM,
    REFS_ZIPF,    /* p_i ~ 1 / (i + 1) */
    REFS_STRIDED, /* every 64th line of a space, in an order of its own */
    REFS_TURNS,   /* two lines in turn for a while, then two others */
    REFS_RUNS,    /* each line of a scan several times in a row */
    REFS_MIXED,   /* stretches of all of these */
    REFS_KINDS
};

struct refs_gen {
    struct trod_rng rng;
    enum refs_kind kind, now;
    uint64_t m, i, left, a, b;
};

static inline void refs_gen_init(struct refs_gen *g, enum refs_kind kind, uint64_t m, uint64_t seed)
{
    *g = (struct refs_gen){.kind = kind, .m = m};
    trod_rng_seed(&g->rng, seed);
}

static inline uint64_t refs_of(struct refs_gen *g, enum refs_kind kind)
{
    const uint64_t i = g->i++, m = g->m, period = m > 1 ? 2 * m - 2 : 1;

    switch (kind) {
    case REFS_CYCLIC:
        return i % m;
    case REFS_SAWTOOTH:
        return i % period < m ? i % period : period - i % period;
    case REFS_ZIPF:
        return (uint64_t)(pow((double)m + 1,
                              (double)(trod_rng_next(&g->rng) >> 11) / 9007199254740992.0) -
                          1);
    case REFS_STRIDED:
        return i * 7 % m * 64;
    case REFS_TURNS:
        if (trod_rng_below(&g->rng, 8) == 0) {
            g->a = trod_rng_below(&g->rng, m);
            g->b = trod_rng_below(&g->rng, m);
        }
        return i & 1 ? g->a : g->b;
    case REFS_RUNS:
        return i / 5 % m;
    default:
        return trod_rng_below(&g->rng, m);
    }
}

static inline uint64_t refs_next(struct refs_gen *g)
{
    if (g->kind != REFS_MIXED)
        return refs_of(g, g->kind);
    if (g->left-- == 0) {
        g->now = (enum refs_kind)trod_rng_below(&g->rng, REFS_MIXED);
        g->left = trod_rng_below(&g->rng, 3000);
    }
    return refs_of(g, g->now);
}

#endif
