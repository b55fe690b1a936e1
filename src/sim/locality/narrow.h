/*
 * narrow.h - lists of lines as numbers of 32 bits, with AVX2.
 *
 * A line is its lower 28 bits and a number of four bits that stands for the bits above them, of
 * which programs have few values. A list of 16 lines is one cache line, not two.
 */
#ifndef TROD_SIM_NARROW_H
#define TROD_SIM_NARROW_H

#include "core/wide.h"

#include <stdint.h>

enum { TROD_NARROW_BITS = 28, TROD_NARROW_UPPER = 15 };

/* An empty place. */
#define TROD_NARROW_NONE UINT32_MAX

/* Upper parts of lines that came, in that order. */
struct trod_narrow {
    uint64_t upper[TROD_NARROW_UPPER];
    unsigned n;
};

/* LINE as a number of 32 bits; TROD_NARROW_NONE: there are too many upper parts. */
static inline uint32_t trod_narrow_of(struct trod_narrow *s, uint64_t line)
{
    const uint64_t upper = line >> TROD_NARROW_BITS;
    const uint32_t low = (uint32_t)line & ((UINT32_C(1) << TROD_NARROW_BITS) - 1);
    unsigned k = 0;

    while (k < s->n && s->upper[k] != upper)
        k++;
    if (k == s->n) {
        if (k == TROD_NARROW_UPPER)
            return TROD_NARROW_NONE;
        s->upper[s->n++] = upper;
    }
    return low | (uint32_t)k << TROD_NARROW_BITS;
}

/* The line that NUMBER, which is not TROD_NARROW_NONE, stands for. */
static inline uint64_t trod_narrow_line(const struct trod_narrow *s, uint32_t number)
{
    const uint32_t low = number & ((UINT32_C(1) << TROD_NARROW_BITS) - 1);

    return s->upper[number >> TROD_NARROW_BITS] << TROD_NARROW_BITS | low;
}

#if TROD_AVX2
/* Bring LINE to the front of LIST, of VECTORS vectors. Returns where it was, or WAYS. */
TROD_WIDE static inline unsigned trod_narrow_front(uint32_t *list, unsigned ways, uint32_t line,
                                                   const unsigned vectors)
{
    const __m256i turn = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
    const __m256i want = _mm256_set1_epi32((int)line);
    const __m256i low = _mm256_load_si256((const __m256i *)(const void *)list);
    const __m256i turned = _mm256_permutevar8x32_epi32(low, turn);
    __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), high = low, end;
    unsigned is = 1u << ways, at;

    is |= (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(low, want)));
    if (vectors > 1) {
        high = _mm256_load_si256((const __m256i *)(const void *)list + 1);
        is |= (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(high, want)))
              << 8;
    }
    at = (unsigned)__builtin_ctz(is);
    end = _mm256_set1_epi32((int)at + 1); /* those up to where it was are each one further */
    _mm256_store_si256((__m256i *)(void *)list,
                       _mm256_blendv_epi8(low, _mm256_blend_epi32(turned, want, 1),
                                          _mm256_cmpgt_epi32(end, place)));
    if (vectors > 1) {
        high = _mm256_blendv_epi8(
            high, _mm256_blend_epi32(_mm256_permutevar8x32_epi32(high, turn), turned, 1),
            _mm256_cmpgt_epi32(end, _mm256_add_epi32(place, _mm256_set1_epi32(8))));
        _mm256_store_si256((__m256i *)(void *)list + 1, high);
    }
    return at;
}
#endif

#endif
