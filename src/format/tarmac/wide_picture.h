/*
 * wide_picture.h - the bytes of pictures that have a form (form.h), 32 characters at once.
 *
 * A form accepts digits, dots and two more characters for them, and the blanks between groups; what
 * remains to be checked is that each pair is two digits or two dots.
 */
#ifndef TROD_FORMAT_TARMAC_WIDE_PICTURE_H
#define TROD_FORMAT_TARMAC_WIDE_PICTURE_H

#include "format/tarmac/form.h"

#if TROD_AVX2

/*
 * The 32 characters of the picture at P without the blanks between them: pairs from right to left,
 * those of the higher addresses first.
 */
static inline TROD_WIDE __m256i tm_picture_text(const uint8_t *p)
{
    const __m256i turned = _mm256_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1,
                                            14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1);
    __m256i v = tm_load32(p);

    v = _mm256_blend_epi32(v, tm_load32(p + 1), 0x0c);
    v = _mm256_blend_epi32(v, tm_load32(p + 2), 0x30);
    v = _mm256_blend_epi32(v, tm_load32(p + 3), 0xc0);
    return _mm256_shuffle_epi8(v, turned);
}

/*
 * The pairs of the picture V that are two digits; *GOOD: the others are two dots. Its characters
 * are those that a form lets through; of these '.' and the two that are no digits stand in
 * tm_bytes.odd, each where its low half says.
 */
static inline TROD_WIDE __m256i tm_picture_known(__m256i v, bool *good)
{
    const __m256i odd = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(tm_load32(tm_bytes.odd), v), v);
    const __m256i known = _mm256_cmpeq_epi16(odd, _mm256_setzero_si256());
    const __m256i dots = _mm256_cmpeq_epi16(v, tm_load32(tm_bytes.dot));

    *good = _mm256_testc_si256(_mm256_or_si256(known, dots), _mm256_set1_epi8(-1));
    return known;
}

/* A bit for each of those pairs, the lowest for the lowest address. */
static inline TROD_WIDE uint32_t tm_picture_mask(__m256i known)
{
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm256_extracti128_si256(known, 1), _mm256_castsi256_si128(known)));
}

/* Which bytes of the picture at P are accessed, as tm_bytes16.known; 0: none, or it is damaged. */
static inline TROD_WIDE uint32_t tm_take_known32(const uint8_t *p)
{
    bool good;
    const __m256i known = tm_picture_known(tm_picture_text(p), &good);

    return good ? tm_picture_mask(known) : 0;
}

/* The same as tm_take_bytes16 where a form has let these characters through. */
static inline TROD_WIDE bool tm_take_bytes32(const uint8_t *p, struct tm_bytes16 *out)
{
    bool good;
    const __m256i v = tm_picture_text(p), known = tm_picture_known(v, &good);
    /* of a digit the first is less, of a letter the second; of a dot it is 0 */
    const __m256i nibble = _mm256_min_epu8(_mm256_subs_epu8(v, tm_load32(tm_bytes.zero)),
                                           _mm256_sub_epi8(v, tm_load32(tm_bytes.ten)));
    const __m256i pair = _mm256_maddubs_epi16(nibble, tm_load32(tm_bytes.pairs));
    const __m256i bytes = _mm256_packus_epi16(pair, pair);

    out->hi = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(bytes));
    out->lo = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(bytes, 1));
    out->known = tm_picture_mask(known);
    return good;
}

#endif

#endif
