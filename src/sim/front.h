/*
 * front.h - lists of lines in the order of their last use, with AVX2.
 *
 * A list has 8 or 16 numbers of 64 bits, the most recently used first. No branch depends on the
 * position of a line in it. STRIDE, the length of a list, is a constant in all calls.
 */
#ifndef TROD_SIM_FRONT_H
#define TROD_SIM_FRONT_H

#include "core/wide.h"

#include <stdint.h>

#if TROD_AVX2
enum { TROD_FRONT_LANES = 4 }; /* lines of a vector */

/* Load LIST into the vectors LINES. Returns the mask of the positions that equal LINE in the bits
 * of MATTER. */
TROD_WIDE static inline unsigned trod_front_find(__m256i *lines, const uint64_t *list,
                                                 const unsigned stride, uint64_t line,
                                                 __m256i matter)
{
    const __m256i want = _mm256_and_si256(_mm256_set1_epi64x((int64_t)line), matter);
    unsigned is = 0;

#pragma GCC unroll 4
    for (unsigned k = 0; k < stride / TROD_FRONT_LANES; k++) {
        __m256i same;

        lines[k] = _mm256_load_si256((const __m256i *)(const void *)list + k);
        same = _mm256_cmpeq_epi64(_mm256_and_si256(lines[k], matter), want);
        is |= (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same)) << TROD_FRONT_LANES * k;
    }
    return is;
}

/*
 * Store LINES, the vectors of LIST, to LIST with FIRST at the front: the elements before position
 * AT move back by one, and that at AT is dropped.
 */
TROD_WIDE static inline void trod_front_move(uint64_t *list, const __m256i *lines,
                                             const unsigned stride, unsigned at, uint64_t first)
{
    const __m256i end = _mm256_set1_epi64x((int64_t)at + 1);
    __m256i before = _mm256_set1_epi64x((int64_t)first), place = _mm256_setr_epi64x(0, 1, 2, 3);

#pragma GCC unroll 4
    for (unsigned k = 0; k < stride / TROD_FRONT_LANES; k++) {
        const __m256i turned = _mm256_permute4x64_epi64(lines[k], 0x93);
        const __m256i moved = _mm256_blend_epi32(turned, before, 3);

        _mm256_store_si256((__m256i *)(void *)list + k,
                           _mm256_blendv_epi8(lines[k], moved, _mm256_cmpgt_epi64(end, place)));
        before = turned;
        place = _mm256_add_epi64(place, _mm256_set1_epi64x(TROD_FRONT_LANES));
    }
}
#endif

#endif
