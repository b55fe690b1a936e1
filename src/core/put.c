/*
 * put.c - numbers and strings into memory.
 *
 * Implements docs/design.md, rule 7 (one way for numbers to leave), RFC 8259 and RFC 4180 for
 * strings in JSON and CSV.
 */
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/endian.h"
#include "trod/put.h"

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";
static const char hex[] = "0123456789abcdef";

unsigned trod_digits(uint64_t v)
{
    static const uint64_t power[] = {0,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000,
                                     100000000000000000,
                                     1000000000000000000,
                                     10000000000000000000u};
    /* log10(2) is about 1233 / 4096; the table says whether one more digit is needed */
    const unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1), n = bits * 1233 >> 12;

    return n + (v >= power[n]);
}

unsigned trod_hex_digits(uint64_t v)
{
    return v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
}

/* V in the N digits that end at END. */
static void digits_before(char *end, uint64_t v)
{
    while (v >= 10000) {
        const unsigned four = (unsigned)(v % 10000);

        v /= 10000;
        memcpy(end -= 2, pairs + 2 * (four % 100), 2);
        memcpy(end -= 2, pairs + 2 * (four / 100), 2);
    }
    while (v >= 100) {
        memcpy(end -= 2, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10)
        memcpy(end - 2, pairs + 2 * v, 2);
    else
        end[-1] = (char)('0' + v);
}

char *trod_put_u64(char *p, uint64_t v)
{
    p += trod_digits(v);
    digits_before(p, v);
    return p;
}

char *trod_put_grouped(char *p, uint64_t v)
{
    char digits[TROD_PUT_U64];
    const size_t n = (size_t)(trod_put_u64(digits, v) - digits);

    for (size_t i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *p++ = ',';
        *p++ = digits[i];
    }
    return p;
}

char *trod_put_right(char *p, uint64_t v, unsigned width)
{
    unsigned n = trod_digits(v);

    for (; width > n; width--)
        *p++ = ' ';
    digits_before(p + n, v);
    return p + n;
}

/* The eight hexadecimal digits of V, in memory order. */
static inline uint64_t eight_digits(uint32_t v)
{
    uint64_t x = v;

    /* a digit a byte, the highest in the lowest byte */
    x = (x << 32 | x >> 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x << 16 | x >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x << 8 | x >> 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    /* '0' to '9', and 'a' to 'f' for those that carry into bit 4 when 6 is added */
    return x + UINT64_C(0x3030303030303030) +
           ((x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101)) *
               ('a' - '9' - 1);
}

#ifdef __SSE2__

/* The sixteen hexadecimal digits of V go to P. */
static inline void sixteen_digits(char *p, uint64_t v)
{
    const __m128i low = _mm_set1_epi8(15);
    const uint64_t swapped = __builtin_bswap64(v);
    const __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)&swapped);
    const __m128i digit =
        _mm_and_si128(_mm_unpacklo_epi8(_mm_srli_epi64(x, 4), x), low); /* one a byte */
    const __m128i letter =
        _mm_and_si128(_mm_cmpgt_epi8(digit, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '9' - 1));

    _mm_storeu_si128((__m128i *)(void *)p,
                     _mm_add_epi8(_mm_add_epi8(digit, _mm_set1_epi8('0')), letter));
}

#else

static inline void sixteen_digits(char *p, uint64_t v)
{
    trod_store_le64(p, eight_digits((uint32_t)(v >> 32)));
    trod_store_le64(p + 8, eight_digits((uint32_t)v));
}

#endif

char *trod_put_hex(char *p, uint64_t v, unsigned digits)
{
    unsigned n = trod_hex_digits(v);
    char all[16];

    if (n < digits)
        n = digits;
    if (n >= 8) { /* two halves, which overlap where there are less than 16 digits */
        sixteen_digits(all, v);
        memcpy(p, all + 16 - n, 8);
        memcpy(p + n - 8, all + 8, 8);
        return p + n;
    }
    trod_store_le64(all, eight_digits((uint32_t)v << (32 - 4 * n)));
    if (n & 4) {
        memcpy(p, all, 4);
        p += 4;
    }
    if (n & 2) {
        memcpy(p, all + (n & 4), 2);
        p += 2;
    }
    if (n & 1)
        *p++ = all[n - 1];
    return p;
}

char *trod_put_bytes(char *p, const uint8_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *p++ = hex[s[i] >> 4];
        *p++ = hex[s[i] & 15];
    }
    return p;
}

char *trod_put_bytes_reversed(char *p, const uint8_t *s, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        *p++ = hex[s[i] >> 4];
        *p++ = hex[s[i] & 15];
    }
    return p;
}

char *trod_put_fixed(char *p, uint64_t v, unsigned decimals)
{
    uint64_t scale = 1;

    if (decimals == 0)
        return trod_put_u64(p, v);
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    p = trod_put_u64(p, v / scale);
    *p++ = '.';
    v %= scale;
    for (unsigned i = decimals; i-- > 0; v /= 10)
        p[i] = (char)('0' + v % 10);
    return p + decimals;
}

size_t trod_utf8_len(const uint8_t *s, size_t n)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c;
    size_t len;

    if (n == 0 || s[0] < 0x20 || s[0] == 0x7f)
        return 0;
    if (s[0] < 0x80)
        return 1;
    len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < len)
        return 0;
    c = s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    /* overlong forms, surrogates, beyond Unicode */
    if (c < least[len] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
        return 0;
    return len;
}

/* Are the eight bytes at S characters of ASCII that can be seen, or blanks? */
static inline bool all_visible(const uint8_t *s)
{
    const uint64_t v = trod_load_le64(s), top = UINT64_C(0x8080808080808080);

    /* bit 7 of a byte of 0x80 and more, below 0x20, or of 0x7f */
    return !((v | (v + UINT64_C(0x0101010101010101)) | ~(v + UINT64_C(0x6060606060606060))) & top);
}

/* Is one of the eight bytes at S, all below 0x80, the character C? */
static inline bool any_is(const uint8_t *s, char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), v = trod_load_le64(s) ^ ones * (uint8_t)c;

    return (v - ones) & ~v & ones << 7;
}

char *trod_put_json(char *p, const void *text, size_t n)
{
    static const char names[] = "btn\0fr"; /* \b to \r */
    const uint8_t *s = text;

    for (size_t i = 0, len; i < n; i += len) {
        if (n - i >= 8 && all_visible(s + i) && !any_is(s + i, '"') && !any_is(s + i, '\\')) {
            memcpy(p, s + i, 8);
            p += 8;
            len = 8;
            continue;
        }
        len = s[i] >= 0x20 && s[i] < 0x7f ? 1 : trod_utf8_len(s + i, n - i);
        if (len == 1 && s[i] != '"' && s[i] != '\\') {
            *p++ = (char)s[i];
        } else if (len > 1) {
            memcpy(p, s + i, len);
            p += len;
        } else {
            len = 1;
            *p++ = '\\';
            if (s[i] == '"' || s[i] == '\\') {
                *p++ = (char)s[i];
            } else if (s[i] >= 8 && s[i] <= 13 && s[i] != 11) {
                *p++ = names[s[i] - 8];
            } else {
                memcpy(p, "u00", 3);
                p = trod_put_bytes(p + 3, s + i, 1);
            }
        }
    }
    return p;
}

char *trod_put_csv(char *p, const void *text, size_t n)
{
    const char *s = text;
    bool quote = false;

    for (size_t i = 0; i < n; i++)
        quote |= s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
    quote |= n > 0 && (s[0] == ' ' || s[n - 1] == ' ');
    if (!quote) {
        memcpy(p, s, n);
        return p + n;
    }
    *p++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"')
            *p++ = '"';
        *p++ = s[i];
    }
    *p++ = '"';
    return p;
}

char *trod_put_visible(char *p, const void *text, size_t n)
{
    const uint8_t *s = text;

    for (size_t i = 0, len; i < n; i += len) {
        if (n - i >= 8 && all_visible(s + i)) {
            memcpy(p, s + i, 8);
            p += 8;
            len = 8;
            continue;
        }
        if (s[i] >= 0x20 && s[i] < 0x7f) {
            *p++ = (char)s[i];
            len = 1;
            continue;
        }
        len = trod_utf8_len(s + i, n - i);
        if (len == 2 && s[i] == 0xc2 && s[i + 1] < 0xa0)
            len = 0; /* a C1 control: terminals obey them */
        if (len > 0) {
            memcpy(p, s + i, len);
            p += len;
        } else if (s[i] == '\t') {
            *p++ = ' ';
            len = 1;
        } else {
            *p++ = '\\';
            *p++ = 'x';
            p = trod_put_bytes(p, s + i, 1);
            len = 1;
        }
    }
    return p;
}
