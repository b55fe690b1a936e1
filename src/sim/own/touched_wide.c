/*
 * touched_wide.c - rows to the lines that they reference: the form for processors with AVX2.
 *
 * Implements own/touched_int.h. Of a calm word data is all that is left; of other words four rows
 * are looked at together. Data is left with its repeats (trod_touched_thin).
 */
#include "sim/own/touched_int.h"
#include "sim/pack.h"

#include <string.h>

#if TROD_AVX2
enum { WORD = TROD_TOUCHED_WORD, GROUP = TROD_TOUCHED_GROUP, LANES = TROD_PACK_LANES };

/* The lanes of V that are in MASK go to TO, for which there is room for all. Returns their end. */
TROD_WIDE static inline uint64_t *compress(uint64_t *to, __m256i v, unsigned mask)
{
    trod_pack_store(to, v, mask);
    return to + __builtin_popcount(mask);
}

/* Which of the word of KINDS from row I on are KIND? */
TROD_WIDE static inline uint64_t rows_of(const uint8_t *kinds, enum trod_kind kind)
{
    const __m256i is = _mm256_set1_epi8((char)kind);
    const int low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(trod_pack_load(kinds), is));
    const int high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(trod_pack_load(kinds + WORD / 2), is));

    return (uint32_t)low | (uint64_t)(uint32_t)high << WORD / 2;
}

/* Is one of the WORD rows from row I on without an address or a size, or perhaps no reference? */
TROD_WIDE static inline bool said_less(const struct trod_batch *b, uint32_t i)
{
    const __m256i need = _mm256_set1_epi32(TROD_COL_ADDR | TROD_COL_SIZE);
    __m256i all = need, flags = _mm256_setzero_si256();

    for (unsigned k = 0; k < WORD; k += GROUP) {
        all = _mm256_and_si256(all, trod_pack_load(b->has + i + k));
        flags = _mm256_or_si256(flags, trod_pack_load(b->flags + i + k));
    }
    return !_mm256_testc_si256(all, need) ||
           !_mm256_testz_si256(flags, _mm256_set1_epi32(TROD_NO_REFERENCE));
}

/* The rows of M, from row I on, that are to be looked at one by one for what they do not say. */
TROD_APART TROD_WIDE static uint64_t odd_of(const struct trod_batch *b, uint32_t i,
                                            const struct trod_touched_masks *m)
{
    const __m256i need = _mm256_set1_epi32(TROD_COL_ADDR | TROD_COL_SIZE);
    const __m256i flags = _mm256_set1_epi32(TROD_COL_FLAGS);
    const __m256i never = _mm256_set1_epi32(TROD_NO_REFERENCE), none = _mm256_setzero_si256();
    uint64_t said = 0, not_made = 0;

    for (unsigned k = 0; k < WORD; k += GROUP) {
        const __m256i has = trod_pack_load(b->has + i + k);
        const __m256i all = _mm256_cmpeq_epi32(_mm256_and_si256(has, need), need);
        const __m256i made =
            _mm256_cmpeq_epi32(_mm256_and_si256(trod_pack_load(b->flags + i + k), never), none);
        const __m256i unmade =
            _mm256_andnot_si256(made, _mm256_cmpeq_epi32(_mm256_and_si256(has, flags), flags));

        said |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(all)) << k;
        not_made |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(unmade)) << k;
    }
    return (m->code | m->read | m->write) & (not_made | ~said);
}

TROD_WIDE static inline struct trod_touched_masks masks_of(const struct trod_batch *b, uint32_t i)
{
    struct trod_touched_masks m = {
        .code = rows_of(b->kind + i, TROD_INSTR),
        .read = rows_of(b->kind + i, TROD_READ),
        .write = rows_of(b->kind + i, TROD_WRITE),
        .odd = rows_of(b->kind + i, TROD_ATOMIC) | rows_of(b->kind + i, TROD_BUS),
    };

    if (said_less(b, i))
        m.odd |= odd_of(b, i, &m);
    return m;
}

/* What the eight rows of KIND are, a lane each. */
struct kinds {
    __m256i code, data, write;
};

TROD_WIDE static inline struct kinds kinds_of(const uint8_t *kind)
{
    const __m256i k = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)kind));
    const __m256i write = _mm256_cmpeq_epi32(k, _mm256_set1_epi32(TROD_WRITE));
    const __m256i read = _mm256_cmpeq_epi32(k, _mm256_set1_epi32(TROD_READ));

    return (struct kinds){_mm256_cmpeq_epi32(k, _mm256_set1_epi32(TROD_INSTR)),
                          _mm256_or_si256(read, write), write};
}

/* Vectors that a calm word needs. */
struct calm {
    __m256i in_line, one, two, above, high; /* 32 bits a lane */
    __m256i line, data, dirty;              /* 64 */
};

TROD_WIDE static inline struct calm calm_of(const struct trod_touched *t,
                                            const struct trod_touched_pair *p)
{
    return (struct calm){
        .in_line = _mm256_set1_epi32((int)-(UINT32_C(1) << t->line_bits)),
        .one = _mm256_set1_epi32((int)p->one),
        .two = _mm256_set1_epi32((int)p->two),
        .above = _mm256_set1_epi32((int)p->above),
        .high = _mm256_set1_epi32((int)p->high),
        .line = _mm256_set1_epi64x(-(1LL << t->line_bits)),
        .data = _mm256_set1_epi64x(TROD_TOUCHED_IS | TROD_TOUCHED_DATA),
        .dirty = _mm256_set1_epi64x(t->dirty),
    };
}

/* Append the references of four rows to ADDR that are in MASK at OUT. WRITE: lanes of writes are
 * set.
 */
TROD_WIDE static inline uint64_t *put_four(const struct calm *c, __m256i addr, __m128i write,
                                           unsigned mask, uint64_t *out)
{
    const __m256i dirty = _mm256_and_si256(_mm256_cvtepi32_epi64(write), c->dirty);
    const __m256i ref = _mm256_or_si256(_mm256_and_si256(addr, c->line), c->data);

    return compress(out, _mm256_or_si256(ref, dirty), mask);
}

/*
 * If, of the WORD rows from row I on, all instructions are in the two lines of C, and each row
 * stays within one line (an instruction: within two), append the data references at OUT and return
 * their end; else return NULL. *CROSSED becomes the mask of the instructions in two lines.
 */
TROD_WIDE static inline uint64_t *put_if_calm(const struct calm *c, const struct trod_batch *b,
                                              uint32_t i, uint64_t *out, uint64_t *crossed)
{
    const __m256i none = _mm256_setzero_si256();
    __m256i off = none, never = none; /* bits of lines; any bits */
    uint64_t cross = 0;

    for (unsigned k = 0; k < WORD; k += GROUP) {
        const struct kinds kind = kinds_of(b->kind + i + k);
        const __m256i four = trod_pack_load(b->addr + i + k),
                      next = trod_pack_load(b->addr + i + k + 4);
        const __m256 first = _mm256_castsi256_ps(four), second = _mm256_castsi256_ps(next);
        const __m256i low = _mm256_permute4x64_epi64(
            _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88)), 0xd8);
        const __m256i high = _mm256_permute4x64_epi64(
            _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd)), 0xd8);
        /* of no bytes: more than a line */
        const __m256i more =
            _mm256_add_epi32(trod_pack_load(b->size + i + k), _mm256_set1_epi32(-1));
        const __m256i end = _mm256_add_epi32(low, more);
        const __m256i within =
            _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_xor_si256(low, end), c->in_line), none);
        const __m256i code_crosses = _mm256_andnot_si256(within, kind.code);
        const __m256i apart =
            _mm256_min_epu32(_mm256_xor_si256(end, c->one), _mm256_xor_si256(end, c->two));
        const unsigned data = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(kind.data));

        never =
            _mm256_or_si256(never, _mm256_and_si256(kind.code, _mm256_xor_si256(high, c->high)));
        never = _mm256_or_si256(never, _mm256_andnot_si256(within, kind.data));
        off = _mm256_or_si256(off, _mm256_and_si256(more, _mm256_or_si256(kind.code, kind.data)));
        off = _mm256_or_si256(off, _mm256_and_si256(kind.code, apart));
        off = _mm256_or_si256(off, _mm256_and_si256(code_crosses, _mm256_xor_si256(end, c->above)));
        cross |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(code_crosses)) << k;
        out = put_four(c, four, _mm256_castsi256_si128(kind.write), data & 15, out);
        out = put_four(c, next, _mm256_extracti128_si256(kind.write, 1), data >> 4, out);
    }
    *crossed = cross;
    off = _mm256_or_si256(_mm256_and_si256(off, c->in_line), never);
    return _mm256_testz_si256(off, off) ? out : NULL;
}

TROD_WIDE uint32_t trod_touched_calm_wide(struct trod_touched *t, const struct trod_batch *b,
                                          uint32_t from, uint32_t to)
{
    uint64_t *out = t->ref + t->n, *const end = t->ref + TROD_TOUCHED_REFS - WORD, *behind;
    uint64_t instrs = 0, reads = 0, writes = 0, cross;
    struct trod_touched_pair p;
    struct calm c;

    if (!trod_touched_pair_of(t, t->last[0], &p))
        return from;
    c = calm_of(t, &p);
    for (; to - from >= WORD && out <= end; from += WORD) {
        const struct trod_touched_masks m = masks_of(b, from);

        if (m.odd || !(behind = put_if_calm(&c, b, from, out, &cross)))
            break;
        out = behind;
        instrs += trod_touched_bits_in(m.code);
        reads += trod_touched_bits_in(m.read);
        writes += trod_touched_bits_in(m.write);
        if (cross)
            trod_touched_crossed(t, b, from, cross);
    }
    if (reads + writes)
        t->last[1] = out[-1];
    t->n = (size_t)(out - t->ref);
    trod_touched_count(t, instrs, reads, writes);
    return from;
}

/* By mask of four lanes: for each the last one before it that is in the mask, as lanes of 32 bits;
 * with the highest bit: there is none. */
#define NO 0x80, 0x80
static const uint8_t one_before[1 << LANES][8] = {
    {NO, NO, NO, NO},   {NO, 0, 1, 0, 1, 0, 1}, {NO, NO, 2, 3, 2, 3}, {NO, 0, 1, 2, 3, 2, 3},
    {NO, NO, NO, 4, 5}, {NO, 0, 1, 0, 1, 4, 5}, {NO, NO, 2, 3, 4, 5}, {NO, 0, 1, 2, 3, 4, 5},
    {NO, NO, NO, NO},   {NO, 0, 1, 0, 1, 0, 1}, {NO, NO, 2, 3, 2, 3}, {NO, 0, 1, 2, 3, 2, 3},
    {NO, NO, NO, 4, 5}, {NO, 0, 1, 0, 1, 4, 5}, {NO, NO, 2, 3, 4, 5}, {NO, 0, 1, 2, 3, 4, 5},
};
#undef NO

/* Vectors that words need, 64 bits a lane. */
struct any {
    __m256i line, bits, upper; /* of a line; by kind, those of a reference; what is no kind */
};

TROD_WIDE static inline struct any any_of(const struct trod_touched *t)
{
    uint8_t bits[16] = {0};

    bits[TROD_INSTR] = TROD_TOUCHED_IS;
    bits[TROD_READ] = TROD_TOUCHED_IS | TROD_TOUCHED_DATA;
    bits[TROD_WRITE] = (uint8_t)(TROD_TOUCHED_IS | TROD_TOUCHED_DATA | t->dirty);
    return (struct any){
        .line = _mm256_set1_epi64x(-(1LL << t->line_bits)),
        .bits = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(void *)bits)),
        .upper = _mm256_set1_epi64x((int64_t)UINT64_C(0x8080808080808000)),
    };
}

_Static_assert(TROD_INSTR < 16 && TROD_READ < 16 && TROD_WRITE < 16, "kinds are looked up by byte");

/*
 * Convert the four rows from row I on; CODE and DATA are masks of their kinds. *LAST: the last code
 * reference, in all lanes. Code references that do not repeat the previous one, and all data
 * references, are appended at *OUT. *CROSSED becomes the mask of instructions in two lines. False,
 * with nothing done: a row must be handled by itself.
 */
TROD_WIDE static inline bool put_group(const struct any *v, const struct trod_batch *b, uint32_t i,
                                       unsigned code, unsigned data, __m256i *last, uint64_t **out,
                                       unsigned *crossed)
{
    const __m256i none = _mm256_setzero_si256(), is = _mm256_set1_epi64x(TROD_TOUCHED_IS);
    const __m256i addr = trod_pack_load(b->addr + i);
    const __m128i size = _mm_loadu_si128((const __m128i *)(const void *)(b->size + i));
    const __m256i more = _mm256_cvtepu32_epi64(_mm_add_epi32(size, _mm_set1_epi32(-1)));
    const __m256i end = _mm256_and_si256(_mm256_add_epi64(addr, more), v->line);
    const __m256i start = _mm256_and_si256(addr, v->line);
    int32_t kinds;
    __m256i kind, ref, before, place;
    unsigned within, odd, again;

    memcpy(&kinds, b->kind + i, sizeof kinds);
    kind = _mm256_or_si256(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(kinds)), v->upper);
    ref = _mm256_or_si256(end, _mm256_shuffle_epi8(v->bits, kind));
    place = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)one_before[code]));
    before = _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(ref, place), *last,
                                _mm256_srai_epi32(place, 31));
    within = trod_pack_mask(_mm256_cmpeq_epi64(start, end));
    again = trod_pack_mask(_mm256_cmpeq_epi64(ref, before));
    /* more than a line or nothing, data in two lines, an instruction in two of which the first was
     * not the last one, or the first line of all behind the last */
    odd = ~trod_pack_mask(_mm256_cmpeq_epi64(_mm256_and_si256(more, v->line), none));
    odd |=
        ~within & (data | ~trod_pack_mask(_mm256_cmpeq_epi64(_mm256_or_si256(start, is), before)) |
                   trod_pack_mask(_mm256_cmpeq_epi64(end, none)));
    if (__builtin_expect(odd & (code | data), 0))
        return false;
    *out = compress(*out, ref, data | (code & ~again));
    *crossed = code & ~within;
    if (code)
        *last = _mm256_permutevar8x32_epi32(
            ref, _mm256_add_epi32(_mm256_set1_epi64x(INT64_C(0x100000000)),
                                  _mm256_set1_epi32(2 * (31 - __builtin_clz(code)))));
    return true;
}

TROD_WIDE void trod_touched_word_wide(struct trod_touched *t, const struct trod_batch *b,
                                      uint32_t i)
{
    const struct trod_touched_masks m = masks_of(b, i);
    const struct any v = any_of(t);
    const uint64_t data = m.read | m.write;
    __m256i last = _mm256_set1_epi64x((int64_t)t->last[0]);
    uint64_t done = 0, crossed = 0, *out = t->ref + t->n;

    t->last[1] = TROD_TOUCHED_NONE;
    for (unsigned k = 0; k < WORD; k += LANES) {
        unsigned cross;

        if (!(m.odd >> k & 15) &&
            put_group(&v, b, i + k, m.code >> k & 15, data >> k & 15, &last, &out, &cross)) {
            done |= UINT64_C(15) << k;
            crossed |= (uint64_t)cross << k;
            continue;
        }
        t->n = (size_t)(out - t->ref);
        t->last[0] = (uint64_t)_mm256_extract_epi64(last, 0);
        trod_touched_each(t, b, i + k, i + k + LANES);
        last = _mm256_set1_epi64x((int64_t)t->last[0]);
        out = t->ref + t->n;
        t->last[1] = TROD_TOUCHED_NONE;
    }
    t->n = (size_t)(out - t->ref);
    t->last[0] = (uint64_t)_mm256_extract_epi64(last, 0);
    trod_touched_count(t, trod_touched_bits_in(m.code & done), trod_touched_bits_in(m.read & done),
                       trod_touched_bits_in(m.write & done));
    trod_touched_crossed(t, b, i, crossed);
}

/* Lanes of A that share no bit with B. */
TROD_WIDE static inline __m256i no_bits(__m256i a, __m256i b)
{
    return _mm256_cmpeq_epi64(_mm256_and_si256(a, b), _mm256_setzero_si256());
}

TROD_WIDE void trod_touched_skip_wide(struct trod_touched *t)
{
    const __m256i read = _mm256_set1_epi64x(~(int64_t)TROD_TOUCHED_DIRTY);
    const __m256i sets = _mm256_set1_epi64x((int64_t)(t->sets | TROD_TOUCHED_DATA));
    __m256i before = _mm256_set1_epi64x((int64_t)TROD_TOUCHED_NONE);
    uint64_t *out = t->ref;

    for (size_t i = 0; i < t->n; i += LANES) {
        const __m256i ref = trod_pack_load(t->ref + i), matter = _mm256_or_si256(ref, read);
        const __m256i mid = _mm256_permute2x128_si256(before, ref, 0x21);
        const __m256i one = _mm256_xor_si256(ref, _mm256_alignr_epi8(ref, mid, 8));
        const __m256i two = _mm256_xor_si256(ref, mid);
        const __m256i three = _mm256_xor_si256(ref, _mm256_alignr_epi8(mid, before, 8));
        const __m256i near = no_bits(one, sets), nearer = _mm256_or_si256(near, no_bits(two, sets));
        const __m256i back = _mm256_or_si256(_mm256_andnot_si256(near, no_bits(two, matter)),
                                             _mm256_andnot_si256(nearer, no_bits(three, matter)));
        const unsigned drop = (unsigned)_mm256_movemask_pd(
            _mm256_castsi256_pd(_mm256_or_si256(back, no_bits(one, matter))));
        const unsigned some = t->n - i < LANES ? (1u << (t->n - i)) - 1 : 15;

        out = compress(out, ref, ~drop & some);
        before = ref;
    }
    t->n = (size_t)(out - t->ref);
}
#endif
