/*
 * shape.h - shapes: where the digits of a line stand and what stands between them, for lines that
 * look like an earlier one.
 *
 * Lines of a kind differ in their digits, seldom in where these stand. When fast.c has parsed such
 * a line it keeps the shape; a line that fits it is checked as a whole, 64 characters at once, and
 * its numbers are read from their places. A line that does not fit is parsed again. With AVX2 only:
 * elsewhere no shape is ever kept.
 */
#ifndef TROD_FORMAT_TARMAC_SHAPE_H
#define TROD_FORMAT_TARMAC_SHAPE_H

#include "core/wide.h"
#include "format/tarmac/scan.h"

enum {
    TM_SHAPE = 64,
    TM_SHAPE_TRIES = 16 /* lines that do not fit until the next is kept */
};

struct tm_shape {
    uint8_t text[TM_SHAPE]; /* a line that had it */
    uint64_t exact, hex;    /* characters equal to those of text; lower case hexadecimal digits */
    uint64_t vaddr_least, paddr_least; /* below these so many digits are not the usual ones */
    struct tm_digits {
        uint8_t at, unused; /* the first; 16 less how many, in bits */
    } vaddr, paddr, code;
    bool has_paddr, divided;
    uint8_t mode, mode_n, iset, size; /* size: bytes of the opcode */
    uint32_t len;
    uint32_t sec, has; /* of the address */
    uint32_t wait;     /* lines until another may be kept */
};

/* A time and the characters between it and the type word, as they were but for the digits. */
struct tm_top {
    uint8_t text[32];
    uint32_t exact, digits;     /* characters that are those of text; decimal digits */
    uint32_t n, len;            /* digits; all that is compared */
    uint32_t wait;              /* lines until another may be kept */
    const struct tm_head *head; /* NULL: none */
};

/* No line fits: one character would have to equal two. */
static inline void tm_shape_none(struct tm_shape *s)
{
    s->text[0] = 0;
    s->exact = s->hex = 1;
    s->wait = 0;
}

/* The places [AT, AT + N) as bits. */
static inline uint64_t tm_places(unsigned at, unsigned n)
{
    return n ? UINT64_MAX >> (64 - n) << at : 0;
}

/* Make S the shape of the LEN characters at P, of which those in HEX are digits. */
static inline void tm_shape_keep(struct tm_shape *s, const uint8_t *p, unsigned len, uint64_t hex)
{
    memcpy(s->text, p, TM_SHAPE);
    s->hex = hex;
    s->exact = tm_places(0, len) & ~hex;
    s->len = len;
    s->wait = TM_SHAPE_TRIES;
}

#if TROD_AVX2

/* The bytes at P, one of tm_bytes. */
static inline TROD_WIDE __m256i tm_all32(const uint8_t *p)
{
    return _mm256_load_si256((const __m256i *)(const void *)p);
}

static inline TROD_WIDE uint32_t tm_lower_hex32(__m256i v)
{
    const __m256i d = _mm256_sub_epi8(v, tm_all32(tm_bytes.zero));
    const __m256i a = _mm256_sub_epi8(v, tm_all32(tm_bytes.letter));
    const __m256i is_d = _mm256_cmpeq_epi8(_mm256_min_epu8(d, tm_all32(tm_bytes.n9)), d);
    const __m256i is_a = _mm256_cmpeq_epi8(_mm256_min_epu8(a, tm_all32(tm_bytes.n5)), a);

    return (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(is_d, is_a));
}

static inline TROD_WIDE uint32_t tm_equal_mask32(__m256i v, const uint8_t *p)
{
    const __m256i w = _mm256_loadu_si256((const __m256i *)(const void *)p);

    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, w));
}

/* Have the characters at P the shape S? */
static inline TROD_WIDE bool tm_shape_fits(const struct tm_shape *s, const uint8_t *p)
{
    const __m256i lo = _mm256_loadu_si256((const __m256i *)(const void *)p);
    const __m256i hi = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
    const uint64_t hex = tm_lower_hex32(lo) | (uint64_t)tm_lower_hex32(hi) << 32;
    const uint64_t same = tm_equal_mask32(lo, s->text) | (uint64_t)tm_equal_mask32(hi, s->text + 32)
                                                             << 32;

    return ((s->exact & ~same) | (s->hex & ~hex)) == 0;
}

/* Is the line at P one with the time and head of T? */
static inline TROD_WIDE bool tm_top_fits(const struct tm_top *t, const uint8_t *p)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    const __m256i d = _mm256_sub_epi8(v, tm_all32(tm_bytes.zero));
    const __m256i is_d = _mm256_cmpeq_epi8(_mm256_min_epu8(d, tm_all32(tm_bytes.n9)), d);

    return ((t->exact & ~tm_equal_mask32(v, t->text)) |
            (t->digits & ~(uint32_t)_mm256_movemask_epi8(is_d))) == 0;
}

/* The number that the digits D of the line at P are, all of them lower case. */
static inline TROD_WIDE uint64_t tm_shape_number(const uint8_t *p, struct tm_digits d)
{
    const __m128i raw = _mm_loadu_si128((const __m128i *)(const void *)(p + d.at));
    const __m128i letter = _mm_cmpgt_epi8(raw, tm_all(tm_bytes.last));
    const __m128i nibble = _mm_add_epi8(_mm_and_si128(raw, tm_all(tm_bytes.n15)),
                                        _mm_and_si128(letter, tm_all(tm_bytes.n9)));
    const __m128i pair = _mm_maddubs_epi16(nibble, tm_all(tm_bytes.pairs));

    return __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(_mm_packus_epi16(pair, pair))) >> d.unused;
}

/* Whether there is a letter among the N digits at P. */
static inline TROD_WIDE bool tm_letters(const uint8_t *p, unsigned n)
{
    const __m128i raw = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i letter = _mm_cmpgt_epi8(raw, tm_all(tm_bytes.last));

    return (uint32_t)_mm_movemask_epi8(letter) << (32 - n) != 0;
}

/* See tm_equal32. */
static inline TROD_WIDE bool tm_equal32_wide(const uint8_t *a, const uint8_t *b, unsigned len)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)a);

    return ~tm_equal_mask32(v, b) << (32 - len) == 0;
}

/* The first line end in whole steps of 32 from P up to END, or END: as tm_find16. */
static TROD_WIDE __attribute__((noinline, unused)) const uint8_t *
tm_line_end_far(const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= 32; p += 32) {
        const uint32_t m =
            tm_equal_mask32(_mm256_loadu_si256((const __m256i *)(const void *)p), tm_bytes.line);

        if (m)
            return p + __builtin_ctz(m);
    }
    return end;
}

/* The same for the N bytes at P, at least 32. */
static inline TROD_WIDE const uint8_t *tm_line_end32(const uint8_t *p, unsigned n)
{
    const uint32_t m =
        tm_equal_mask32(_mm256_loadu_si256((const __m256i *)(const void *)p), tm_bytes.line);

    return m ? p + __builtin_ctz(m) : tm_line_end_far(p + 32, p + n);
}

/* How many of the 32 characters at P are blanks before the first that is none. */
static inline TROD_WIDE unsigned tm_blanks32(const uint8_t *p)
{
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);

    return (unsigned)_tzcnt_u32(~tm_equal_mask32(v, tm_bytes.blank)); /* 32 of 0 */
}

/* How many of the 16 characters at P come before the first of: blank, tab, line end, '<' and '('.
 */
static inline TROD_WIDE unsigned tm_name_len(const uint8_t *p)
{
    /* by the low half of a character the one that ends a name; 0x80 is none, and given for none */
    const __m128i ends = _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, '(', '\t', '\n', 0, '<', 0, 0, 0);
    const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i is = _mm_cmpeq_epi8(_mm_shuffle_epi8(ends, v), v);

    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(is) | 1u << 16);
}

#else

static inline bool tm_shape_fits(const struct tm_shape *s, const uint8_t *p)
{
    (void)s, (void)p;
    return false;
}

static inline bool tm_top_fits(const struct tm_top *t, const uint8_t *p)
{
    (void)t, (void)p;
    return false;
}

static inline uint64_t tm_shape_number(const uint8_t *p, struct tm_digits d)
{
    (void)p, (void)d;
    return 0;
}

static inline bool tm_equal32_wide(const uint8_t *a, const uint8_t *b, unsigned len)
{
    return tm_equal32(a, b, len);
}

static inline const uint8_t *tm_line_end32(const uint8_t *p, unsigned n)
{
    return tm_find16(p, p + n, '\n');
}

static inline unsigned tm_blanks32(const uint8_t *p)
{
    (void)p;
    return 0;
}

static inline unsigned tm_name_len(const uint8_t *p)
{
    (void)p;
    return 0;
}

#endif

#endif
