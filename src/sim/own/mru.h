/*
 * mru.h - the lines of a set in the order of their last use.
 *
 * A line is its address and bits below it (own/first.h); 0: none. A set has room for STRIDE lines,
 * 8 or 16, and uses the first WAYS of them. What is done is that of LRU that fills invalid ways
 * first. With AVX2 and AVX-512 no branch depends on where a line is.
 */
#ifndef TROD_SIM_OWN_MRU_H
#define TROD_SIM_OWN_MRU_H

#include "sim/front.h"
#include "sim/own/first.h"

/*
 * LINE comes to the front of SET; it is dirty if it was, or if LINE says so. Returns whether it was
 * there; where not, *OLD is what had to leave, 0: nothing.
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
#endif

#endif
