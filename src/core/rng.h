/*
 * rng.h - a small deterministic generator of random numbers for tests, generators and policies.
 *
 * xoshiro256** seeded by splitmix64 (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", 2018). The same seed gives the same numbers on every machine. Not for secrets.
 */
#ifndef TROD_CORE_RNG_H
#define TROD_CORE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct trod_rng {
    uint64_t s[4];
};

/* The next number of the splitmix64 sequence whose state is *X. */
static inline uint64_t trod_splitmix64(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline void trod_rng_seed(struct trod_rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = trod_splitmix64(&seed);
}

static inline uint64_t trod_rng_rotl(uint64_t v, unsigned k)
{
    return v << k | v >> (64 - k);
}

/* 64 random bits. */
static inline uint64_t trod_rng_next(struct trod_rng *r)
{
    const uint64_t result = trod_rng_rotl(r->s[1] * 5, 7) * 9;
    const uint64_t t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = trod_rng_rotl(r->s[3], 45);
    return result;
}

/* A number from 0 to N - 1, every one equally likely; 0 when N is 0. */
static inline uint64_t trod_rng_below(struct trod_rng *r, uint64_t n)
{
    if (n == 0)
        return 0;
    const uint64_t reject = (0 - n) % n; /* 2^64 mod n: the lowest of these would be too likely */
    uint64_t v;
    do
        v = trod_rng_next(r);
    while (v < reject);
    return v % n;
}

/* N random bytes to P. */
static inline void trod_rng_fill(struct trod_rng *r, void *p, size_t n)
{
    uint8_t *q = p;
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++, v >>= 8) {
        if (i % 8 == 0)
            v = trod_rng_next(r);
        q[i] = (uint8_t)v;
    }
}

#endif
