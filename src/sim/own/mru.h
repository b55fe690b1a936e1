/*
 * mru.h - the lines of a set in the order of their last use.
 *
 * A line is its address and bits below it (own/first.h); 0: none. A set has room for STRIDE lines,
 * 8 or 16, and uses the first WAYS of them. What is done is that of LRU that fills invalid ways
 * first. With AVX2 and AVX-512 no branch depends on where a line is.
 *
 * A narrow set has numbers of 32 bits: of a line what is above the number of its set, 30 bits of
 * it, and the bits that say that it is there and dirty. So 16 lines are one cache line.
 */
#ifndef TROD_SIM_OWN_MRU_H
#define TROD_SIM_OWN_MRU_H

#include "sim/front.h"
#include "sim/own/first.h"

/*
 * Bring LINE to the front of SET; it is dirty if it was, or if LINE says so. Returns whether it was
 * there; if not, *OLD is the line that it replaced, 0: none.
 */
static inline bool trod_mru_touch(uint64_t *set, uint32_t ways, uint64_t line, uint64_t *old)
{
    uint64_t before = line;

    /* each line takes the place of the one before it, up to that of the line referenced */
    for (uint32_t w = 0; w < ways; w++) {
        const uint64_t was = set[w];

        set[w] = before;
        if (((was ^ line) & ~(uint64_t)TROD_TOUCHED_DIRTY) == 0) {
            set[0] = was | line;
            return true;
        }
        before = was;
    }
    *old = before;
    return false;
}

/* LINE is dirty from here on if it is in SET; is it? */
static inline bool trod_mru_write(uint64_t *set, uint32_t ways, uint64_t line)
{
    for (uint32_t w = 0; w < ways; w++)
        if (((set[w] ^ line) & ~(uint64_t)TROD_TOUCHED_DIRTY) == 0) {
            set[w] |= TROD_TOUCHED_DIRTY;
            return true;
        }
    return false;
}

enum { TROD_NARROW_TAG = 30, TROD_NARROW_FLAGS = 2 };

/* The line at ADDR, with BITS, as a number of 32 bits. It fits. */
static inline uint32_t trod_mru_narrow(const struct trod_first_cache *c, unsigned line_bits,
                                       uint64_t addr, unsigned bits)
{
    return (uint32_t)(addr >> (line_bits + c->set_bits)) << TROD_NARROW_FLAGS | bits;
}

/* What NUMBER of set SET stands for. */
static inline uint64_t trod_mru_broad(const struct trod_first_cache *c, unsigned line_bits,
                                      uint32_t number, uint64_t set)
{
    const uint64_t flags = TROD_TOUCHED_IS | TROD_TOUCHED_DIRTY;

    return ((uint64_t)(number >> TROD_NARROW_FLAGS) << c->set_bits | set) << line_bits |
           (number & flags);
}

_Static_assert((TROD_TOUCHED_IS | TROD_TOUCHED_DIRTY) < 1 << TROD_NARROW_FLAGS, "flags");

#if TROD_AVX2
/*
 * As trod_mru_touch; *OLD is set in any case, and means something where LINE was not there. STRIDE
 * is a constant where this is called.
 */
TROD_WIDE static inline bool trod_mru_touch_wide(uint64_t *set, const uint32_t stride,
                                                 uint32_t ways, uint64_t line, uint64_t *old)
{
    const __m256i clean = _mm256_set1_epi64x(~(int64_t)TROD_TOUCHED_DIRTY);
    __m256i lines[TROD_FIRST_WAYS / TROD_FRONT_LANES];
    const unsigned is = trod_front_find(lines, set, stride, line, clean);
    const unsigned at = (unsigned)__builtin_ctz(is | 1u << (ways - 1));
    const uint64_t was = set[at], dirty = was & TROD_TOUCHED_DIRTY & -(uint64_t)(is != 0);

    *old = set[ways - 1];
    trod_front_move(set, lines, stride, at, line | dirty);
    return is != 0;
}

/* As trod_mru_touch; *OLD is set in any case, and means something where LINE was not there. */
TROD_WIDEST static inline bool trod_mru_touch_widest(uint64_t *set, uint32_t stride, uint32_t ways,
                                                     uint64_t line, uint64_t *old)
{
    const __m512i clean = _mm512_set1_epi64(~(int64_t)TROD_TOUCHED_DIRTY);
    const __m512i all = _mm512_set1_epi64((int64_t)line), low = _mm512_load_si512(set);
    const __mmask8 in_low = _mm512_testn_epi64_mask(_mm512_xor_si512(low, all), clean);
    /* what is known of the line where it is there, in element 0 */
    __m512i first = _mm512_or_si512(all, _mm512_maskz_compress_epi64(in_low, low));
    unsigned is = in_low, up_to;

    *old = set[ways - 1];
    if (stride > TROD_FIRST_WIDE) {
        const __m512i high = _mm512_load_si512(set + TROD_FIRST_WIDE);
        const __mmask8 in_high = _mm512_testn_epi64_mask(_mm512_xor_si512(high, all), clean);

        first = _mm512_or_si512(first, _mm512_maskz_compress_epi64(in_high, high));
        is |= (unsigned)in_high << TROD_FIRST_WIDE;
        up_to = is | 1u << (ways - 1);
        up_to ^= up_to - 1;
        _mm512_store_si512(
            set + TROD_FIRST_WIDE,
            _mm512_mask_alignr_epi64(high, (__mmask8)(up_to >> TROD_FIRST_WIDE), high, low, 7));
    } else {
        up_to = is | 1u << (ways - 1);
        up_to ^= up_to - 1;
    }
    first = _mm512_mask_mov_epi64(_mm512_alignr_epi64(low, low, 7), 1, first);
    _mm512_store_si512(set, _mm512_mask_mov_epi64(low, (__mmask8)up_to, first));
    return is != 0;
}

/* As trod_mru_touch_wide, of a narrow set. */
TROD_WIDE static inline bool trod_mru_narrow_wide(uint32_t *set, const uint32_t stride,
                                                  uint32_t ways, uint32_t line, uint32_t *old)
{
    const __m256i clean = _mm256_set1_epi32(~TROD_TOUCHED_DIRTY);
    const __m256i want = _mm256_set1_epi32((int)line);
    const __m256i turn = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
    __m256i v[2], before, place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), end;
    uint32_t is = 0, at, dirty;

#pragma GCC unroll 2
    for (unsigned k = 0; k < stride / 8; k++) {
        v[k] = _mm256_load_si256((const __m256i *)(const void *)set + k);
        is |= (uint32_t)_mm256_movemask_ps(
                  _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(v[k], clean), want)))
              << 8 * k;
    }
    at = (uint32_t)__builtin_ctz(is | 1u << (ways - 1));
    dirty = set[at] & TROD_TOUCHED_DIRTY & -(uint32_t)(is != 0);
    *old = set[ways - 1];
    end = _mm256_set1_epi32((int)at + 1);
    before = _mm256_set1_epi32((int)(line | dirty));
#pragma GCC unroll 2
    for (unsigned k = 0; k < stride / 8; k++) {
        const __m256i turned = _mm256_permutevar8x32_epi32(v[k], turn);

        _mm256_store_si256((__m256i *)(void *)set + k,
                           _mm256_blendv_epi8(v[k], _mm256_blend_epi32(turned, before, 1),
                                              _mm256_cmpgt_epi32(end, place)));
        before = turned;
        place = _mm256_add_epi32(place, _mm256_set1_epi32(8));
    }
    return is != 0;
}

/* As trod_mru_touch_widest, of a narrow set of 16 lines. */
TROD_WIDEST static inline bool trod_mru_narrow_widest(uint32_t *set, uint32_t ways, uint32_t line,
                                                      uint32_t *old)
{
    const __m512i clean = _mm512_set1_epi32(~TROD_TOUCHED_DIRTY);
    const __m512i want = _mm512_set1_epi32((int)line), all = _mm512_load_si512(set);
    const __mmask16 is = _mm512_testn_epi32_mask(_mm512_xor_si512(all, want), clean);
    const __m512i first = _mm512_or_si512(want, _mm512_maskz_compress_epi32(is, all));
    unsigned up_to = is | 1u << (ways - 1);

    up_to ^= up_to - 1;
    *old = set[ways - 1];
    _mm512_store_si512(
        set,
        _mm512_mask_mov_epi32(all, (__mmask16)up_to,
                              _mm512_mask_mov_epi32(_mm512_alignr_epi32(all, all, 15), 1, first)));
    return is != 0;
}

/* As trod_mru_write, of a narrow set. */
TROD_WIDE static inline bool trod_mru_narrow_write(uint32_t *set, const uint32_t stride,
                                                   uint32_t line)
{
    const __m256i clean = _mm256_set1_epi32(~TROD_TOUCHED_DIRTY);
    const __m256i want = _mm256_set1_epi32((int)line);
    uint32_t is = 0;

#pragma GCC unroll 2
    for (unsigned k = 0; k < stride / 8; k++) {
        const __m256i v = _mm256_load_si256((const __m256i *)(const void *)set + k);

        is |= (uint32_t)_mm256_movemask_ps(
                  _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(v, clean), want)))
              << 8 * k;
    }
    if (!is)
        return false;
    set[__builtin_ctz(is)] |= TROD_TOUCHED_DIRTY;
    return true;
}
#endif

#endif
