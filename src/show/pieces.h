/*
 * pieces.h - comparing and copying the pieces of lines that rows_again.c puts together.
 *
 * The portable forms are the definition. WIDE is a constant where these functions are called: the
 * loop that is compiled for AVX2 has it.
 */
#ifndef TROD_SHOW_PIECES_H
#define TROD_SHOW_PIECES_H

#include <string.h>

#include "core/endian.h"
#include "core/wide.h"
#include "show/rows.h"

/* Of a row's columns these must be exactly those, so that pieces can be used. */
struct form {
    uint32_t mask, has;
    const struct show_number *head;
};

/* What the loop over rows needs of the batch: not read again for each row. */
struct rows {
    const struct trod_batch *b;
    const uint8_t *kind;
    const uint16_t *sub;
    const uint32_t *has, *flags, *size, *stream;
    const uint64_t *time, *addr, *pc, *index;
    const struct trod_slice *code;
    uint64_t addr_most; /* with no more digits than the column */
    bool fronts;        /* they can be used */
    bool gaps;          /* struct trod_show */
    uint32_t made;      /* of the pieces that are right */
    uint32_t same;      /* rows up to here have the time and the stream of the heads */
    uint32_t until;     /* for rows up to here there is room, if they are made of pieces */
    struct form form[TROD_KINDS];
};

#if TROD_AVX2

static inline TROD_WIDE void copy_32(char *p, const char *from)
{
    _mm256_storeu_si256((__m256i *)(void *)p,
                        _mm256_loadu_si256((const __m256i *)(const void *)from));
}

#else

static inline void copy_32(char *p, const char *from)
{
    memcpy(p, from, 32);
}

#endif

/* N bytes, a constant multiple of 32, in the registers of vectors: no call, no string instruction.
 */
TROD_HOT void copy(char *p, const char *from, unsigned n, const bool wide)
{
    for (unsigned i = 0; wide && i < n; i += 32)
        copy_32(p + i, from + i);
    for (unsigned i = 0; !wide && i < n; i += 16)
        memcpy(p + i, from + i, 16);
}

/* LEN bytes, FIRST of them or fewer as a rule, never more than ALL. */
TROD_HOT char *put_text(char *p, const char *text, uint64_t len, unsigned first, unsigned all,
                        const bool wide)
{
    copy(p, text, first, wide);
    if (len > first)
        copy(p + first, text + first, all - first, wide);
    return p + len;
}

TROD_HOT struct show_seen seen(const struct rows *x, uint32_t i)
{
    return (struct show_seen){x->made, x->size[i], x->flags[i], x->sub[i]};
}

TROD_HOT bool same_seen(const struct show_seen *s, const struct rows *x, uint32_t i)
{
    return s->made == x->made && s->size == x->size[i] && s->flags == x->flags[i] &&
           s->sub == x->sub[i];
}

/* N bytes, 1 to SHOW_CODE: their ends may overlap. */
TROD_HOT bool same_bytes(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    if (n >= 8)
        return ((trod_load_le64(a) ^ trod_load_le64(b)) |
                (trod_load_le64(a + n - 8) ^ trod_load_le64(b + n - 8))) == 0;
    if (n >= 4)
        return ((trod_load_le32(a) ^ trod_load_le32(b)) |
                (trod_load_le32(a + n - 4) ^ trod_load_le32(b + n - 4))) == 0;
    return ((a[0] ^ b[0]) | (a[n / 2] ^ b[n / 2]) | (a[n - 1] ^ b[n - 1])) == 0;
}

/* Has row I the opcode bytes, and all else, that S was made for? */
TROD_HOT bool same_site(const struct show_site *s, const struct rows *x, uint32_t i)
{
    const struct trod_slice code = x->code[i];

    return s->addr == x->addr[i] && same_seen(&s->seen, x, i) && s->code.len == code.len &&
           same_bytes(s->bytes, trod_batch_bytes(x->b, code), code.len);
}

#if TROD_AVX2

static inline TROD_WIDE __m128i load(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* See same_seen: made, size, flags and sub. */
static inline TROD_WIDE __m128i seen_wide(const struct rows *x, uint32_t i)
{
    const __m128i made = _mm_cvtsi32_si128((int)x->made);

    return _mm_insert_epi16(
        _mm_insert_epi32(_mm_insert_epi32(made, (int)x->size[i], 1), (int)x->flags[i], 2),
        x->sub[i], 6);
}

static inline TROD_WIDE bool same_seen_wide(const struct show_seen *s, const struct rows *x,
                                            uint32_t i)
{
    const __m128i differs = _mm_xor_si128(seen_wide(x, i), load(s));

    return _mm_testz_si128(differs, differs);
}

_Static_assert(offsetof(struct show_site, code) == 8 && offsetof(struct show_site, seen) == 16,
               "compared at once");

/*
 * See same_site. If rows were left out, one of them may have put other bytes in the place of the
 * opcode.
 */
static inline TROD_WIDE bool same_site_wide(const struct show_site *s, const struct rows *x,
                                            uint32_t i)
{
    uint64_t code;
    __m128i place;
    __m256i differs;

    memcpy(&code, &x->code[i], sizeof code);
    if (x->gaps || !(code & TROD_SLICE_SHARED))
        return same_site(s, x, i);
    place = _mm_insert_epi64(_mm_cvtsi64_si128((long long)x->addr[i]), (long long)code, 1);
    differs = _mm256_xor_si256(_mm256_set_m128i(seen_wide(x, i), place),
                               _mm256_loadu_si256((const __m256i *)(const void *)s));
    return _mm256_testz_si256(differs, differs);
}

/* Have the 8 rows from I on this time and this stream? */
static inline TROD_WIDE bool same_run_8(const struct rows *x, uint32_t i, uint64_t time,
                                        uint32_t stream)
{
    const __m256i *t = (const __m256i *)(const void *)(x->time + i);
    const __m256i *s = (const __m256i *)(const void *)(x->stream + i);
    const __m256i times = _mm256_set1_epi64x((long long)time);
    const __m256i differs =
        _mm256_or_si256(_mm256_or_si256(_mm256_xor_si256(_mm256_loadu_si256(t), times),
                                        _mm256_xor_si256(_mm256_loadu_si256(t + 1), times)),
                        _mm256_xor_si256(_mm256_loadu_si256(s), _mm256_set1_epi32((int)stream)));

    return _mm256_testz_si256(differs, differs);
}

/* The lowest DIGITS hexadecimal digits of V at P; what is behind, up to 16 bytes, is spoilt. */
static inline TROD_WIDE void put_hex_wide(char *p, uint64_t v, unsigned digits)
{
    const __m128i all = _mm_setr_epi8('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b',
                                      'c', 'd', 'e', 'f');
    const __m128i x = _mm_cvtsi64_si128((long long)__builtin_bswap64(v << (64 - 4 * digits)));
    const __m128i digit = _mm_and_si128(_mm_unpacklo_epi8(_mm_srli_epi64(x, 4), x),
                                        _mm_set1_epi8(15)); /* one a byte */

    _mm_storeu_si128((__m128i *)(void *)p, _mm_shuffle_epi8(all, digit));
}

#else

static inline bool same_seen_wide(const struct show_seen *s, const struct rows *x, uint32_t i)
{
    return same_seen(s, x, i);
}

static inline bool same_site_wide(const struct show_site *s, const struct rows *x, uint32_t i)
{
    return same_site(s, x, i);
}

static inline bool same_run_8(const struct rows *x, uint32_t i, uint64_t time, uint32_t stream)
{
    (void)x, (void)i, (void)time, (void)stream;
    return false;
}

static inline void put_hex_wide(char *p, uint64_t v, unsigned digits)
{
    trod_put_hex(p, v, digits);
}

#endif

TROD_HOT char *put_hex(char *p, uint64_t v, unsigned digits, const bool wide)
{
    if (wide)
        put_hex_wide(p, v, digits);
    else
        trod_put_hex(p, v, digits);
    return p + digits;
}

#endif
