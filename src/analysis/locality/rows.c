/*
 * rows.c - rows to numbers of lines and classes, 32 at a time where all of them are references
 * (locality.h).
 */
#include "analysis/locality/locality.h"

#include "core/wide.h"

/* Rows [FROM, TO), one by one, by what they say of columns HAVE. */
static inline void put_said(struct loc_block *k, const struct loc_rows *r,
                            const struct trod_batch *b, uint32_t from, uint32_t to, uint32_t have)
{
    size_t n = k->n;

    for (uint32_t i = from; i < to; i++) {
        const uint8_t class = r->class[b->kind[i]];

        k->line[n] = trod_ref_place(b, i, b->has[i] & have) >> r->shift;
        k->class[n] = class;
        n += (class != 0xff) & loc_refers(b, i, have);
    }
    k->n = n;
}

/* Rows [FROM, TO). Few traces have physical addresses alone: for others they are not looked for. */
static void put_each(struct loc_block *k, const struct loc_rows *r, const struct trod_batch *b,
                     uint32_t from, uint32_t to)
{
    if (b->have & TROD_COL_PADDR)
        put_said(k, r, b, from, to, b->have);
    else
        put_said(k, r, b, from, to, b->have & ~(uint32_t)TROD_COL_PADDR);
}

#if TROD_AVX2
enum { WORD = 32, VECTOR_KINDS = 16 };

/* The classes of WORD rows from row I on; the highest bit: none. */
TROD_WIDE static inline __m256i classes_of(const struct loc_rows *r, const struct trod_batch *b,
                                           uint32_t i)
{
    const __m128i of = _mm_loadu_si128((const __m128i *)(const void *)r->class);
    const __m256i kind = _mm256_loadu_si256((const __m256i *)(const void *)(b->kind + i));

    /* no kind behind the first ones is a reference in itself */
    return _mm256_or_si256(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(of), kind),
                           _mm256_cmpgt_epi8(kind, _mm256_set1_epi8(VECTOR_KINDS - 1)));
}

/*
 * Take WORD rows from row I on if all of them are references; false: they are not, and nothing was
 * done.
 */
TROD_WIDE static bool put_word_wide(struct loc_block *k, const struct loc_rows *r,
                                    const struct trod_batch *b, uint32_t i)
{
    const __m256i class = classes_of(r, b, i);
    const __m256i said = _mm256_set1_epi32((int32_t)b->have);
    const __m256i flags = _mm256_set1_epi32(TROD_COL_FLAGS);
    const __m128i shift = _mm_cvtsi32_si128((int)r->shift);
    __m256i all = said, none = _mm256_setzero_si256();

    for (uint32_t j = i; j < i + WORD; j += 8) {
        const __m256i has = _mm256_loadu_si256((const __m256i *)(const void *)(b->has + j));
        const __m256i flag = _mm256_loadu_si256((const __m256i *)(const void *)(b->flags + j));
        const __m256i says = _mm256_and_si256(_mm256_and_si256(has, said), flags);

        all = _mm256_and_si256(all, has);
        none = _mm256_or_si256(none, _mm256_and_si256(flag, _mm256_cmpeq_epi32(says, flags)));
    }
    if (_mm256_movemask_epi8(class) || !_mm256_testc_si256(all, _mm256_set1_epi32(TROD_COL_ADDR)) ||
        !_mm256_testz_si256(none, _mm256_set1_epi32(TROD_NO_REFERENCE)))
        return false;
    _mm256_storeu_si256((__m256i *)(void *)(k->class + k->n), class);
    for (uint32_t j = 0; j < WORD; j += 4)
        _mm256_storeu_si256(
            (__m256i *)(void *)(k->line + k->n + j),
            _mm256_srl_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(b->addr + i + j)),
                             shift));
    k->n += WORD;
    return true;
}

/* The same, with AVX-512. */
TROD_WIDEST static bool put_word_widest(struct loc_block *k, const struct loc_rows *r,
                                        const struct trod_batch *b, uint32_t i)
{
    const __m256i class = classes_of(r, b, i);
    const __m512i addr = _mm512_set1_epi32((int32_t)(b->have & TROD_COL_ADDR));
    const __m512i flags = _mm512_set1_epi32((int32_t)(b->have & TROD_COL_FLAGS));
    const __m512i never = _mm512_set1_epi32(TROD_NO_REFERENCE);
    const __m128i shift = _mm_cvtsi32_si128((int)r->shift);
    unsigned none = 0;

    for (uint32_t j = i; j < i + WORD; j += 16) {
        const __m512i has = _mm512_loadu_si512(b->has + j);
        const __m512i flag = _mm512_loadu_si512(b->flags + j);

        none |= _mm512_testn_epi32_mask(has, addr);
        none |= _mm512_mask_test_epi32_mask(_mm512_test_epi32_mask(has, flags), flag, never);
    }
    if (none || _mm256_movepi8_mask(class))
        return false;
    _mm256_storeu_si256((__m256i *)(void *)(k->class + k->n), class);
    for (uint32_t j = 0; j < WORD; j += 8)
        _mm512_storeu_si512(k->line + k->n + j,
                            _mm512_srl_epi64(_mm512_loadu_si512(b->addr + i + j), shift));
    k->n += WORD;
    return true;
}
#endif

void loc_rows_put(struct loc_block *k, const struct loc_rows *r, const struct trod_batch *b,
                  uint32_t from, uint32_t to)
{
#if TROD_AVX2
    const bool wide = trod_wide_unless(r->without), widest = trod_widest_unless(r->without);

    for (; wide && to - from >= WORD; from += WORD)
        if (!(widest ? put_word_widest(k, r, b, from) : put_word_wide(k, r, b, from)))
            put_each(k, r, b, from, from + WORD);
#endif
    put_each(k, r, b, from, to);
}
