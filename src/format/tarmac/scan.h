/*
 * scan.h - the small scanners under the Tarmac and Trace Matcher decoders: runs of hex and decimal
 * digits, blanks and line ends, many characters at a time.
 *
 * With SSE2 (every x86-64) 16 characters at once; the scalar twins give the same answers and are
 * tested against them. All of them may read up to TM_AHEAD bytes past what they are asked about:
 * only the fast path, which knows how much input is left, calls them.
 */
#ifndef TROD_FORMAT_TARMAC_SCAN_H
#define TROD_FORMAT_TARMAC_SCAN_H

#include "core/endian.h"
#include "core/wide.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__SSE2__) && !defined(TROD_SCALAR)
#include <emmintrin.h>
#define TM_SSE2 1
#else
#define TM_SSE2 0
#endif

enum { TM_AHEAD = 64 };

/* Value of a hex digit, 0xff for every other character. */
extern const uint8_t tm_hex_table[256];

#define TM_VECTOR_BYTES 32

/*
 * Vectors of equal bytes. They are in memory, in another file, because compilers would otherwise
 * build them from registers each time.
 */
struct tm_equal_bytes {
    _Alignas(TM_VECTOR_BYTES) uint8_t zero[TM_VECTOR_BYTES]; /* '0' */
    uint8_t letter[TM_VECTOR_BYTES];                         /* 'a' */
    uint8_t last[TM_VECTOR_BYTES];                           /* '9' */
    uint8_t line[TM_VECTOR_BYTES];                           /* line end */
    uint8_t blank[TM_VECTOR_BYTES];                          /* ' ', and what makes lower case */
    uint8_t n5[TM_VECTOR_BYTES], n9[TM_VECTOR_BYTES], n10[TM_VECTOR_BYTES], n15[TM_VECTOR_BYTES];
    uint8_t pairs[TM_VECTOR_BYTES]; /* 16 and 1 by turns */
    uint8_t dot[TM_VECTOR_BYTES];   /* '.' */
    uint8_t odd[TM_VECTOR_BYTES];   /* for tm_picture_known */
    uint8_t ten[TM_VECTOR_BYTES];   /* what a lower case digit is more than its value */
    /* weights of decimal digits, of pairs of them and of fours, the last two as 16 bits */
    uint8_t tens[TM_VECTOR_BYTES / 2], hundreds[TM_VECTOR_BYTES / 2], myriads[TM_VECTOR_BYTES / 2];
};
extern const struct tm_equal_bytes tm_bytes;

static inline bool tm_is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

static inline bool tm_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* A run of hex digits: how many (at most 16), their value, whether there is an upper case one. */
struct tm_hexrun {
    unsigned n;
    bool upper;
    uint64_t value;
};

/* A run of decimal digits: how many; 17 stands for more than 16. */
static inline uint64_t tm_decimal8(uint64_t x)
{
    x = (x & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    x = (x & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    return (x & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

/* The number that the N (1 to 16) decimal digits at P are. */
static inline uint64_t tm_decimal(const uint8_t *p, unsigned n)
{
    if (n <= 8)
        return tm_decimal8((trod_load_le64(p) - 0x3030303030303030u) << (64 - 8 * n));
    return tm_decimal8((trod_load_le64(p) - 0x3030303030303030u) << (128 - 8 * n)) * 100000000u +
           tm_decimal8(trod_load_le64(p + n - 8));
}

/* The scalar twins, always compiled. */
static inline unsigned tm_decimal_run_scalar(const uint8_t *p)
{
    unsigned n = 0;

    while (n < 16 && tm_is_digit(p[n]))
        n++;
    return n;
}

static inline struct tm_hexrun tm_hex_run_scalar(const uint8_t *p)
{
    struct tm_hexrun r = {0, false, 0};

    while (r.n < 16 && tm_hex_table[p[r.n]] < 16) {
        r.upper |= p[r.n] >= 'A' && p[r.n] <= 'F';
        r.value = r.value << 4 | tm_hex_table[p[r.n]];
        r.n++;
    }
    return r;
}

/* Bit i is set where p[i] is C. */
static inline uint32_t tm_mask16_scalar(const uint8_t *p, uint8_t c)
{
    uint32_t m = 0;

    for (unsigned i = 0; i < 16; i++)
        m |= (uint32_t)(p[i] == c) << i;
    return m;
}

/* The bytes of a picture: four groups of four, the rightmost pair of digits at the lowest address.
 */
struct tm_bytes16 {
    uint64_t lo, hi; /* bytes at addresses 0 to 7 and 8 to 15; 0 where not accessed */
    uint32_t known;  /* bit i: the byte at address i was accessed */
};

/* The 35 characters at P as a picture of lower case digits and dots. False: they are not. */
static inline bool tm_take_bytes16_scalar(const uint8_t *p, struct tm_bytes16 *out)
{
    *out = (struct tm_bytes16){0, 0, 0};
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t *at = p + i * 2 + i / 4;
        unsigned address = 15 - i;
        uint64_t byte = (uint64_t)(tm_hex_table[at[0]] << 4 | tm_hex_table[at[1]]);

        if (i % 4 == 0 && i && at[-1] != ' ')
            return false;
        if (at[0] == '.' && at[1] == '.')
            continue;
        if (tm_hex_table[at[0]] > 15 || tm_hex_table[at[1]] > 15 ||
            (at[0] >= 'A' && at[0] <= 'F') || (at[1] >= 'A' && at[1] <= 'F'))
            return false;
        out->known |= 1u << address;
        if (address < 8)
            out->lo |= byte << address * 8;
        else
            out->hi |= byte << (address - 8) * 8;
    }
    return true;
}

static inline bool tm_equal32_scalar(const uint8_t *a, const uint8_t *b, unsigned len)
{
    return memcmp(a, b, len) == 0;
}

#if TM_SSE2

/* The bytes at P, one of tm_bytes. */
TROD_HOT __m128i tm_all(const uint8_t *p)
{
    return _mm_load_si128((const __m128i *)(const void *)p);
}

TROD_HOT unsigned tm_decimal_run(const uint8_t *p)
{
    const __m128i v =
        _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), tm_all(tm_bytes.zero));
    const __m128i ok = _mm_cmpeq_epi8(_mm_min_epu8(v, tm_all(tm_bytes.n9)), v);

    return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(ok));
}

TROD_HOT struct tm_hexrun tm_hex_run(const uint8_t *p)
{
    const __m128i raw = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i d = _mm_sub_epi8(raw, tm_all(tm_bytes.zero));
    const __m128i is_d = _mm_cmpeq_epi8(_mm_min_epu8(d, tm_all(tm_bytes.n9)), d);
    const __m128i a =
        _mm_sub_epi8(_mm_or_si128(raw, tm_all(tm_bytes.blank)), tm_all(tm_bytes.letter));
    const __m128i is_a = _mm_cmpeq_epi8(_mm_min_epu8(a, tm_all(tm_bytes.n5)), a);
    const __m128i nibble = _mm_or_si128(_mm_and_si128(d, is_d),
                                        _mm_and_si128(_mm_add_epi8(a, tm_all(tm_bytes.n10)), is_a));
    /* Pairs of digits: the first of each is the high half. */
    const __m128i pair = _mm_or_si128(
        _mm_and_si128(_mm_slli_epi16(nibble, 4), _mm_set1_epi16(0xf0)), _mm_srli_epi16(nibble, 8));
    uint64_t big;
    unsigned valid = (unsigned)_mm_movemask_epi8(_mm_or_si128(is_d, is_a));
    /* Bit 5 is set in every hex digit but the upper case letters. */
    unsigned bit5 = (unsigned)_mm_movemask_epi8(_mm_slli_epi16(raw, 2));
    struct tm_hexrun r;

    _mm_storel_epi64((__m128i *)(void *)&big, _mm_packus_epi16(pair, pair));
    r.n = (unsigned)__builtin_ctz(~valid);
    r.value = r.n ? __builtin_bswap64(big) >> (64 - 4 * r.n) : 0;
    r.upper = (~bit5 & ((1u << r.n) - 1)) != 0;
    return r;
}

/*
 * Half a picture, the 16 digits in X, the first on the left: its value and which bytes were
 * accessed.
 */
TROD_HOT bool tm_take_half(__m128i x, uint64_t *value, uint32_t *known)
{
    const __m128i dot = _mm_cmpeq_epi8(x, _mm_set1_epi8('.'));
    const __m128i d = _mm_sub_epi8(x, _mm_set1_epi8('0'));
    const __m128i is_d = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);
    const __m128i a = _mm_sub_epi8(x, _mm_set1_epi8('a'));
    const __m128i is_a = _mm_cmpeq_epi8(_mm_min_epu8(a, _mm_set1_epi8(5)), a);
    const __m128i nibble = _mm_or_si128(_mm_and_si128(d, is_d),
                                        _mm_and_si128(_mm_add_epi8(a, _mm_set1_epi8(10)), is_a));
    const __m128i pair = _mm_or_si128(
        _mm_and_si128(_mm_slli_epi16(nibble, 4), _mm_set1_epi16(0xf0)), _mm_srli_epi16(nibble, 8));
    /* one byte a pair of characters, in order; both must be of one sort */
    const __m128i digits = _mm_or_si128(is_d, is_a);
    const __m128i both = _mm_cmpeq_epi16(digits, _mm_set1_epi8(-1));
    unsigned ok =
        (unsigned)_mm_movemask_epi8(_mm_or_si128(both, _mm_cmpeq_epi16(dot, _mm_set1_epi8(-1))));
    unsigned m = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(both, both)) & 0xff;
    uint64_t big;

    _mm_storel_epi64((__m128i *)(void *)&big, _mm_packus_epi16(pair, pair));
    *value = __builtin_bswap64(big);
    /* bit 0 is the leftmost byte, which has the highest address */
    m = (m & 0xf0) >> 4 | (m & 0x0f) << 4;
    m = (m & 0xcc) >> 2 | (m & 0x33) << 2;
    *known = (m & 0xaa) >> 1 | (m & 0x55) << 1;
    return ok == 0xffff;
}

TROD_HOT bool tm_take_bytes16(const uint8_t *p, struct tm_bytes16 *out)
{
    const __m128i hi =
        _mm_set_epi64x((long long)trod_load_le64(p + 9), (long long)trod_load_le64(p));
    const __m128i lo =
        _mm_set_epi64x((long long)trod_load_le64(p + 27), (long long)trod_load_le64(p + 18));
    uint32_t upper, lower;

    if (p[8] != ' ' || p[17] != ' ' || p[26] != ' ' || !tm_take_half(hi, &out->hi, &upper) ||
        !tm_take_half(lo, &out->lo, &lower))
        return false;
    out->known = upper << 8 | lower;
    return true;
}

TROD_HOT uint32_t tm_mask16(const uint8_t *p, uint8_t c)
{
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);

    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)c)));
}

/* Whether the first LEN (1 to 32) bytes at A and B are equal. */
TROD_HOT bool tm_equal32(const uint8_t *a, const uint8_t *b, unsigned len)
{
    const __m128i *x = (const __m128i *)(const void *)a, *y = (const __m128i *)(const void *)b;
    uint32_t lo =
        (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(x), _mm_loadu_si128(y)));
    uint32_t hi =
        (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(x + 1), _mm_loadu_si128(y + 1)));

    return (~(lo | hi << 16)) << (32 - len) == 0;
}

#else

TROD_HOT bool tm_take_bytes16(const uint8_t *p, struct tm_bytes16 *out)
{
    return tm_take_bytes16_scalar(p, out);
}

TROD_HOT unsigned tm_decimal_run(const uint8_t *p)
{
    return tm_decimal_run_scalar(p);
}

TROD_HOT struct tm_hexrun tm_hex_run(const uint8_t *p)
{
    return tm_hex_run_scalar(p);
}

TROD_HOT uint32_t tm_mask16(const uint8_t *p, uint8_t c)
{
    return tm_mask16_scalar(p, c);
}

TROD_HOT bool tm_equal32(const uint8_t *a, const uint8_t *b, unsigned len)
{
    return tm_equal32_scalar(a, b, len);
}

#endif

/* First C at or behind P; END when there is none in whole steps of 16 before it. */
TROD_HOT const uint8_t *tm_find16(const uint8_t *p, const uint8_t *end, uint8_t c)
{
    for (; end - p >= 16; p += 16) {
        uint32_t m = tm_mask16(p, c);

        if (m)
            return p + __builtin_ctz(m);
    }
    return end;
}

#endif
