/*
 * filter.h - the references of a block without repeats.
 *
 * A reference to the line referenced before it has distance 0. What
 * is left is a list of items, each standing for a line and its repeats.
 */
#ifndef TROD_SIM_FILTER_H
#define TROD_SIM_FILTER_H

#include "core/spare.h"
#include "sim/pack.h"
#include "stack.h"

#include <string.h>

enum { TROD_STACK_BLOCK = 4096, TROD_STACK_AHEAD = 16 };
_Static_assert((int)TROD_STACK_BLOCK <= (int)TROD_TALLY_MOST, "a block is counted at once");

/* Items behind the last one that may be read. */
enum { TROD_STACK_BEHIND = 40 };

/* Items are compared with those two, three and four behind them; and the lines alone of the first.
 */
enum {
    TROD_STACK_SAME_2,
    TROD_STACK_SAME_3,
    TROD_STACK_SAME_4,
    TROD_STACK_LINE_2,
    TROD_STACK_SAMES,
    TROD_STACK_WORD = 32
};

/* Items whose distance follows from those beside them have distance 0 (repeats), 1, 2 or 3. */
enum { TROD_STACK_SETTLED = 4 };

/* What follows a look, in that order (looks.c). */
enum { TROD_STACK_PIN_C = 1, TROD_STACK_PIN_S = 2, TROD_STACK_LIFT_S = 4, TROD_STACK_LIFT_C = 8 };

/* An item that is looked up, together with others of the same line that need no look-up. */
struct trod_stack_look {
    uint16_t item;
    uint16_t then;  /* TROD_STACK_PIN_C and so on */
    uint32_t notes; /* trod_tally_notes: references to the line, and distant ones of others */
};

struct trod_stack_block {
    uint64_t line[TROD_STACK_BLOCK + TROD_STACK_BEHIND];
    uint16_t at[TROD_STACK_BLOCK + TROD_STACK_BEHIND]; /* where in the block */
    uint8_t class[TROD_STACK_BLOCK + TROD_STACK_BEHIND];
    /* looks.c: which items come back so many items later, a bit each; zero behind the last one */
    uint32_t same[TROD_STACK_SAMES][TROD_STACK_BLOCK / TROD_STACK_WORD + 4];
    uint32_t n;    /* items */
    uint64_t kept; /* four counters of 16 bits, by class */
    struct trod_stack_look look[TROD_STACK_BLOCK];
    uint32_t n_looks;
    uint32_t home[TROD_STACK_BLOCK + TROD_STACK_AHEAD]; /* of looks: where their search begins */
    uint32_t noted[TROD_STACK_BLOCK]; /* of items that were looked up: trod_stack_note */
    uint32_t n_noted;
    uint64_t settled[TROD_STACK_SETTLED]; /* of the others, by distance, as KEPT */
    uint64_t word[8];                     /* window.h */
};

/*
 * Nothing of a block stays for the next one: thousands of stacks, one a thread of the program, take
 * turns with a few blocks. So many bytes are kept by core/spare.h.
 */
enum { TROD_STACK_BLOCK_BYTES = TROD_SPARE_LEAST };
_Static_assert(sizeof(struct trod_stack_block) <= TROD_STACK_BLOCK_BYTES, "a block fits");

/* Four counters of 16 bits: one of class CLASS. */
static inline uint64_t trod_stack_unit(unsigned class)
{
    return UINT64_C(1) << 16 * class;
}

_Static_assert((UINT64_C(1) << 30) * TROD_REFS <= UINT64_C(1) << 32 && TROD_REFS == 4,
               "a distance and a class are one number of 32 bits");

/* A reference of class CLASS at distance D, until it is counted. */
static inline uint32_t trod_stack_note(uint32_t d, unsigned class)
{
    return d << 2 | class;
}

#if TROD_AVX2
/* The sum of the bytes of V. */
TROD_WIDE static inline uint64_t trod_stack_bytes(__m256i v)
{
    const __m256i four = _mm256_sad_epu8(v, _mm256_setzero_si256());
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));

    return (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
}

_Static_assert(TROD_STACK_BLOCK / 32 < 256 && TROD_REFS == 4, "a byte counts a lane of a block");

/* N references by class, four counters of 16 bits: N is at most TROD_STACK_BLOCK. */
TROD_WIDE static inline uint64_t trod_stack_total_wide(const uint8_t *class, uint32_t n)
{
    __m256i read = _mm256_setzero_si256(), write = read, other = read;
    uint64_t total, instr;
    uint32_t i = 0;

    for (; i + 32 <= n; i += 32) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(class + i));

        read = _mm256_sub_epi8(read, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(TROD_REF_READ)));
        write = _mm256_sub_epi8(write, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(TROD_REF_WRITE)));
        other = _mm256_sub_epi8(other, _mm256_cmpeq_epi8(v, _mm256_set1_epi8(TROD_REF_OTHER)));
    }
    total = trod_stack_bytes(read) << 16 * TROD_REF_READ |
            trod_stack_bytes(write) << 16 * TROD_REF_WRITE |
            trod_stack_bytes(other) << 16 * TROD_REF_OTHER;
    instr = i - (total >> 16 & 0xffff) - (total >> 32 & 0xffff) - (total >> 48);
    for (total += instr; i < n; i++)
        total += trod_stack_unit(class[i]);
    return total;
}
#endif

/* The same. WIDE: with AVX2. */
TROD_HOT uint64_t trod_stack_total(const uint8_t *class, uint32_t n, const bool wide)
{
    uint64_t total = 0;

#if TROD_AVX2
    if (wide)
        return trod_stack_total_wide(class, n);
#endif
    (void)wide;
    for (uint32_t i = 0; i < n; i++)
        total += trod_stack_unit(class[i]);
    return total;
}

/*
 * Fill B with the items of N (at most TROD_STACK_BLOCK) references, without a branch that depends
 * on them.
 */
TROD_HOT void trod_stack_repeats(struct trod_stack_block *b, const struct trod_refs *refs,
                                 uint32_t n)
{
    uint64_t was = ~refs->line[0], kept = 0;
    uint32_t k = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t line = refs->line[i], fresh = line != was;

        b->line[k] = line;
        b->class[k] = refs->class[i];
        b->at[k] = (uint16_t)i;
        kept += trod_stack_unit(refs->class[i]) & -fresh;
        k += (uint32_t)fresh;
        was = line;
    }
    b->n = k;
    b->kept = kept;
}

#if TROD_AVX2
/* The same, four references at a time. */
TROD_WIDE static inline void trod_stack_repeats_wide(struct trod_stack_block *b,
                                                     const struct trod_refs *refs, uint32_t n)
{
    /* by mask: which bytes of four come first */
    static const uint32_t bytes[1 << TROD_PACK_LANES] = {
        0,    0x00000000, 0x01,   0x0100,   0x02,   0x0200,   0x0201,   0x020100,
        0x03, 0x0300,     0x0301, 0x030100, 0x0302, 0x030200, 0x030201, 0x03020100};
    __m128i at = _mm_set_epi16(0, 0, 0, 0, 4, 3, 2, 1);
    uint32_t k = 1, i = 1;

    b->line[0] = refs->line[0];
    b->class[0] = refs->class[0];
    b->at[0] = 0;
    for (; i + TROD_PACK_LANES <= n; i += TROD_PACK_LANES) {
        const __m256i line = trod_pack_load(refs->line + i);
        const __m256i same = _mm256_cmpeq_epi64(line, trod_pack_load(refs->line + i - 1));
        const unsigned fresh = trod_pack_mask(same) ^ 15;
        uint32_t classes;

        memcpy(&classes, refs->class + i, sizeof classes);
        classes = (uint32_t)_mm_cvtsi128_si32(_mm_shuffle_epi8(
            _mm_cvtsi32_si128((int)classes), _mm_cvtsi32_si128((int)bytes[fresh])));
        memcpy(b->class + k, &classes, sizeof classes);
        trod_pack_store(b->line + k, line, fresh);
        trod_pack_store16(b->at + k, at, fresh);
        k += (uint32_t)__builtin_popcount(fresh);
        at = _mm_add_epi16(at, _mm_set1_epi16(TROD_PACK_LANES));
    }
    for (; i < n; i++) {
        b->line[k] = refs->line[i];
        b->class[k] = refs->class[i];
        b->at[k] = (uint16_t)i;
        k += refs->line[i] != refs->line[i - 1];
    }
    b->n = k;
    b->kept = trod_stack_total_wide(b->class, k);
}

/* CLASS of those of eight references that are in FRESH, the first ones in front. */
TROD_WIDEST static inline uint64_t trod_stack_classes(const uint8_t *class, unsigned fresh)
{
    uint64_t classes;

    memcpy(&classes, class, sizeof classes);
    return _pext_u64(classes, _pdep_u64(fresh, UINT64_C(0x0101010101010101)) * 0xff);
}

/* The same, 16 references at a time. */
TROD_WIDEST static inline void trod_stack_repeats_widest(struct trod_stack_block *b,
                                                         const struct trod_refs *refs, uint32_t n)
{
    const __m512i sixteen = _mm512_set1_epi32(16);
    __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i before = _mm512_set1_epi64((int64_t)~refs->line[0]);
    uint32_t k = 0, i = 0;

    for (; i + 16 <= n; i += 16) {
        const __m512i low = _mm512_loadu_si512(refs->line + i);
        const __m512i high = _mm512_loadu_si512(refs->line + i + 8);
        const unsigned first = _mm512_cmpneq_epi64_mask(low, _mm512_alignr_epi64(low, before, 7));
        const unsigned second = _mm512_cmpneq_epi64_mask(high, _mm512_alignr_epi64(high, low, 7));
        const uint32_t next = k + (unsigned)__builtin_popcount(first);
        const uint64_t classes[2] = {trod_stack_classes(refs->class + i, first),
                                     trod_stack_classes(refs->class + i + 8, second)};

        _mm512_storeu_si512(b->line + k, _mm512_maskz_compress_epi64((__mmask8)first, low));
        _mm512_storeu_si512(b->line + next, _mm512_maskz_compress_epi64((__mmask8)second, high));
        memcpy(b->class + k, &classes[0], sizeof classes[0]);
        memcpy(b->class + next, &classes[1], sizeof classes[1]);
        _mm256_storeu_si256((__m256i *)(void *)(b->at + k),
                            _mm512_cvtepi32_epi16(
                                _mm512_maskz_compress_epi32((__mmask16)(first | second << 8), at)));
        k = next + (unsigned)__builtin_popcount(second);
        before = high;
        at = _mm512_add_epi32(at, sixteen);
    }
    for (; i < n; i++) {
        b->line[k] = refs->line[i];
        b->class[k] = refs->class[i];
        b->at[k] = (uint16_t)i;
        k += i == 0 || refs->line[i] != refs->line[i - 1];
    }
    b->n = k;
    b->kept = trod_stack_total_wide(b->class, k);
}
#endif

/*
 * block.c to stack.c: N references, at most TROD_STACK_BLOCK. Returns false without memory.
 */
bool trod_stack_block(struct trod_stack *s, const struct trod_refs *refs, uint32_t n,
                      uint32_t *out);
/*
 * block.c: count what was noted in S's block. Where counters are not in the nearest caches the
 * processor loads many at a time, as nothing is between them. Returns false without memory.
 */
bool trod_stack_noted(struct trod_stack *s);
/*
 * looks.c: the look-ups that the items of S's block need, where distances of single items are not
 * wanted; and all.
 */
void trod_stack_choose(struct trod_stack *s);
void trod_stack_look_at_all(struct trod_stack *s);
/* S has a block until the end of what is done with it. False: no memory. */
bool trod_stack_begin(struct trod_stack *s);
void trod_stack_end(struct trod_stack *s);
/* stack.c to block.c: the first reference to LINE, in SLOT, of class CLASS. */
void trod_stack_cold(struct trod_stack *s, size_t slot, uint64_t line, unsigned class);

#endif
