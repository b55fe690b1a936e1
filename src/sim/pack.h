/*
 * pack.h - moving the lanes of a vector that are in a mask together, with AVX2.
 *
 * For four lanes, what AVX-512 has an instruction for (compress).
 */
#ifndef TROD_SIM_PACK_H
#define TROD_SIM_PACK_H

#include "core/wide.h"

#include <stdint.h>

#if TROD_AVX2
enum { TROD_PACK_LANES = 4 };

/* By mask: which halves of lanes come first; of lanes of 16 bits, their bytes. */
static const uint8_t trod_pack_halves[1 << TROD_PACK_LANES][8] = {
    {0},
    {0, 1},
    {2, 3},
    {0, 1, 2, 3},
    {4, 5},
    {0, 1, 4, 5},
    {2, 3, 4, 5},
    {0, 1, 2, 3, 4, 5},
    {6, 7},
    {0, 1, 6, 7},
    {2, 3, 6, 7},
    {0, 1, 2, 3, 6, 7},
    {4, 5, 6, 7},
    {0, 1, 4, 5, 6, 7},
    {2, 3, 4, 5, 6, 7},
    {0, 1, 2, 3, 4, 5, 6, 7},
};

TROD_WIDE static inline __m256i trod_pack_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

TROD_WIDE static inline unsigned trod_pack_mask(__m256i v)
{
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(v));
}

TROD_WIDE static inline __m128i trod_pack_order(unsigned mask)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)trod_pack_halves[mask]);
}

/* The lanes of V that are in MASK go to TO, where there is room for all of them. */
TROD_WIDE static inline void trod_pack_store(uint64_t *to, __m256i v, unsigned mask)
{
    const __m256i order = _mm256_cvtepu8_epi32(trod_pack_order(mask));

    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32(v, order));
}

/* The same of the four lanes of 16 bits that V begins with. */
TROD_WIDE static inline void trod_pack_store16(uint16_t *to, __m128i v, unsigned mask)
{
    _mm_storel_epi64((__m128i *)(void *)to, _mm_shuffle_epi8(v, trod_pack_order(mask)));
}
#endif

#endif
