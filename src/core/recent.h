/*
 * recent.h - which addresses of a set were asked for not long ago: a table of words of 64 bits,
 * one bit an address, in front of a larger set that keeps all of them.
 *
 * A place belongs to one word at a time, the place being the low bits of its number; a new word
 * takes the place of the old one. A bit that is set says that the address is in the set; one that
 * is not set says nothing. Several sets share a table by tags, which are part of the number.
 */
#ifndef TROD_CORE_RECENT_H
#define TROD_CORE_RECENT_H

#include "core/wide.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    TROD_RECENT = 1 << 16,     /* words: 4 MiB of addresses; memory is what of 1 MiB is used */
    TROD_RECENT_TAGS = 1 << 6, /* numbers of words have 58 bits */
    TROD_RECENT_PART = 1 << 8  /* words of a part of 4 KiB, which is cleared as a whole */
};

struct trod_recent {
    uint64_t word, bits; /* address >> 6 and the tag above; a bit for each of its addresses */
};

/* An empty table, which takes the memory of what is used of it. NULL when memory is out. */
struct trod_recent *trod_recent_new(void);
void trod_recent_free(struct trod_recent *t);

/* Forget all addresses. */
void trod_recent_clear(struct trod_recent *t);

/* A bit for each part that a word was put into, behind the words of T. */
static inline uint64_t *trod_recent_parts(struct trod_recent *t)
{
    return (uint64_t *)(void *)(t + TROD_RECENT);
}

static inline uint64_t trod_recent_word(uint64_t addr, unsigned tag)
{
    return addr >> 6 | (uint64_t)tag << 58;
}

static inline struct trod_recent *trod_recent_at(struct trod_recent *t, uint64_t addr)
{
    return &t[addr >> 6 & (TROD_RECENT - 1)];
}

static inline bool trod_recent_has(const struct trod_recent *t, uint64_t addr, unsigned tag)
{
    const struct trod_recent *e = &t[addr >> 6 & (TROD_RECENT - 1)];

    return e->word == trod_recent_word(addr, tag) && e->bits >> (addr & 63) & 1;
}

/* The addresses in the word of ADDR that are in the set are BITS, as far as is known. */
static inline void trod_recent_put(struct trod_recent *t, uint64_t addr, unsigned tag,
                                   uint64_t bits)
{
    struct trod_recent *e = trod_recent_at(t, addr);
    const uint64_t word = trod_recent_word(addr, tag);
    const size_t part = (addr >> 6 & (TROD_RECENT - 1)) / TROD_RECENT_PART;

    trod_recent_parts(t)[part / 64] |= UINT64_C(1) << part % 64;
    *e = (struct trod_recent){word, e->word == word ? e->bits | bits : bits};
}

/* The bits of MASK whose address, ADDR[bit], the table does not have. */
static inline uint64_t trod_recent_lacks(const struct trod_recent *t, const uint64_t *addr,
                                         uint64_t mask, unsigned tag)
{
    uint64_t lacks = 0;

    for (uint64_t m = mask; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctzll(m);

        lacks |= (uint64_t)!trod_recent_has(t, addr[i], tag) << i;
    }
    return lacks;
}

#if TROD_AVX2

_Static_assert(sizeof(struct trod_recent) == 1 << (6 - 2), "places are looked up by bytes");

/* The place at byte AT of the table. */
static inline TROD_WIDE __m128i trod_recent_load(const struct trod_recent *t, long long at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)((const char *)t + at));
}

/* Bit i is set where the table has ADDR[i], for four addresses. */
static inline TROD_WIDE unsigned trod_recent_has4(const struct trod_recent *t, const uint64_t *addr,
                                                  __m256i tag)
{
    const __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)addr);
    const __m256i word = _mm256_srli_epi64(at, 6);
    /* bytes from the beginning of the table: the number of the place times their size, 16 */
    const __m256i place = _mm256_and_si256(_mm256_srli_epi64(at, 2),
                                           _mm256_set1_epi64x((TROD_RECENT - 1) * sizeof *t));
    const __m128i p01 = _mm256_castsi256_si128(place), p23 = _mm256_extracti128_si256(place, 1);
    const __m128i e0 = trod_recent_load(t, _mm_cvtsi128_si64(p01));
    const __m128i e1 = trod_recent_load(t, _mm_extract_epi64(p01, 1));
    const __m128i e2 = trod_recent_load(t, _mm_cvtsi128_si64(p23));
    const __m128i e3 = trod_recent_load(t, _mm_extract_epi64(p23, 1));
    const __m256i even = _mm256_inserti128_si256(_mm256_castsi128_si256(e0), e2, 1);
    const __m256i odd = _mm256_inserti128_si256(_mm256_castsi128_si256(e1), e3, 1);
    const __m256i same =
        _mm256_cmpeq_epi64(_mm256_unpacklo_epi64(even, odd), _mm256_or_si256(word, tag));
    /* the bit of the address becomes the highest */
    const __m256i up = _mm256_andnot_si256(at, _mm256_set1_epi64x(63));
    const __m256i bit = _mm256_sllv_epi64(_mm256_unpackhi_epi64(even, odd), up);

    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_and_si256(same, bit)));
}

/* The same as trod_recent_lacks; the first N (a multiple of 16, up to 64) addresses are readable.
 */
static inline TROD_WIDE uint64_t trod_recent_lacks_wide(const struct trod_recent *t,
                                                        const uint64_t *addr, uint64_t mask,
                                                        unsigned n, unsigned tag)
{
    const __m256i tags = _mm256_set1_epi64x((long long)((uint64_t)tag << 58));
    uint64_t has = 0;

    for (unsigned i = 0; i < n; i += 16)
        has |= (uint64_t)(trod_recent_has4(t, addr + i, tags) |
                          trod_recent_has4(t, addr + i + 4, tags) << 4 |
                          trod_recent_has4(t, addr + i + 8, tags) << 8 |
                          trod_recent_has4(t, addr + i + 12, tags) << 12)
               << i;
    return mask & ~has;
}

#endif

#endif
