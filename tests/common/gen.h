/*
 * gen.h - one producer of test data for property tests and fuzzers: the same generators read from
 * random numbers (a seed) or from a fuzzer's bytes, so that what a fuzzer learns steers structured
 * data.
 *
 * A source of bytes that has run out gives zeros: generators must end by themselves then.
 */
#ifndef TROD_TEST_GEN_H
#define TROD_TEST_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct trod_gen {
    const uint8_t *p; /* bytes left, when not random */
    size_t n;
    bool random;
    uint64_t s; /* state of the random numbers */
};

/*
 * From random numbers, the same for the same seed on every machine. TROD_TEST_SEED=N, set by who
 * looks for faults that the usual inputs do not show, gives others to all tests.
 */
static inline struct trod_gen gen_seed(uint64_t seed)
{
    const char *other = getenv("TROD_TEST_SEED");
    const uint64_t n = other ? strtoull(other, NULL, 10) : 0;

    return (struct trod_gen){.random = true, .s = seed + n * UINT64_C(0xd1342543de82ef95)};
}

/* From the N bytes at P. */
static inline struct trod_gen gen_bytes(const void *p, size_t n)
{
    return (struct trod_gen){.p = p, .n = n};
}

/* Whether there is anything left to draw from. */
static inline bool gen_more(const struct trod_gen *g)
{
    return g->random || g->n > 0;
}

/* The next BYTES bytes as a number (splitmix64 when random). */
static inline uint64_t gen_raw(struct trod_gen *g, unsigned bytes)
{
    uint64_t z = 0;

    if (!g->random) {
        for (unsigned i = 0; i < bytes && g->n > 0; i++, g->n--)
            z |= (uint64_t)*g->p++ << (8 * i);
        return z;
    }
    z = g->s += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return bytes >= 8 ? z : z & ((UINT64_C(1) << (8 * bytes)) - 1);
}

static inline uint64_t gen_u64(struct trod_gen *g)
{
    return gen_raw(g, 8);
}

/* 0 to N - 1 (0 when N is 0). */
static inline uint64_t gen_below(struct trod_gen *g, uint64_t n)
{
    unsigned bytes = n <= 0x100 ? 1 : n <= 0x10000 ? 2 : n <= UINT64_C(0x100000000) ? 4 : 8;

    return n ? gen_raw(g, g->random ? 8 : bytes) % n : 0;
}

/* True once in N times. */
static inline bool gen_once_in(struct trod_gen *g, uint64_t n)
{
    return gen_below(g, n) == n - 1;
}

/* A number whose width is drawn first: small and large ones, and the edges of widths, all occur. */
static inline uint64_t gen_wide(struct trod_gen *g)
{
    unsigned bits = (unsigned)gen_below(g, 66);
    uint64_t v;

    if (bits == 65)
        return UINT64_MAX;
    v = bits ? gen_u64(g) >> (64 - (bits > 64 ? 64 : bits)) : 0;
    return v;
}

#endif
