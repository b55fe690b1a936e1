/*
 * gnu_random.h - random() of the GNU C library with its default seed.
 *
 * The additive feedback generator x^31 + x^3 + 1 of the C library's manual, seeded with 1. Dinero
 * IV takes its random numbers from there, so that equal results need equal numbers.
 */
#ifndef TROD_SIM_DIN_GNU_RANDOM_H
#define TROD_SIM_DIN_GNU_RANDOM_H

#include <stdint.h>

struct trod_gnu_random {
    uint32_t r[34];
    unsigned at;
};

static inline uint32_t trod_gnu_random_raw(struct trod_gnu_random *g)
{
    const uint32_t v = g->r[(g->at + 31) % 34] + g->r[(g->at + 3) % 34];

    g->r[g->at] = v;
    g->at = (g->at + 1) % 34;
    return v;
}

static inline void trod_gnu_random_init(struct trod_gnu_random *g)
{
    g->r[0] = 1;
    for (unsigned i = 1; i < 31; i++)
        g->r[i] = (uint32_t)(UINT64_C(16807) * g->r[i - 1] % 2147483647);
    for (unsigned i = 31; i < 34; i++)
        g->r[i] = g->r[i - 31];
    g->at = 0;
    for (unsigned i = 0; i < 310; i++)
        trod_gnu_random_raw(g);
}

/* 0 to 2^31 - 1. */
static inline uint32_t trod_gnu_random_next(struct trod_gnu_random *g)
{
    return trod_gnu_random_raw(g) >> 1;
}

#endif
