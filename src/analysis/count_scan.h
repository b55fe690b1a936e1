/*
 * count_scan.h - what the rows of a block of up to 64 are, as masks with a bit a row.
 *
 * Used by count_feed.c, which has the run that a block belongs to, and count_row.h.
 */
#ifndef TROD_ANALYSIS_COUNT_SCAN_H
#define TROD_ANALYSIS_COUNT_SCAN_H

#include "analysis/count_int.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64 };

/* drmemtrace: numbers of markers that mean something for counting, a bit of the file type. */
enum { FILETYPE = 9, LINE_SIZE = 10, WINDOW_ID = 14, FILETYPE_ENCODINGS = 0x200 };

enum {
    SPECIAL = TROD_F_KERNEL | TROD_F_NOFETCH | TROD_F_NEWCODE | TROD_F_SKIPPED | TROD_F_SYNTHETIC
};

/* What the rows of one batch are counted with. */
struct run {
    struct count_state *s;
    const struct trod_batch *b;
    struct trod_diag *diag;
    struct count_lane *lane;
    struct trod_pages *code, *data; /* of the lane's open window; data NULL: not counted */
    const uint32_t *flags, *streams;
    uint32_t stream, has; /* of the run's first row */
    uint32_t said;        /* TROD_COL_STREAM where rows may say one */
    bool known;           /* instructions that are not new are in code: see struct count_known */
    bool encoded;         /* other code at the same address comes with TROD_F_NEWCODE */
    bool fast;
    bool wide;                  /* blocks are counted with AVX2 */
    bool targets;               /* rows may say where branches went */
    struct trod_recent *recent; /* instructions known to be in code */
    uint32_t tag;
    bool fresh; /* the last accesses touched what none had before */
};

/* N low bits; everything for 64 and more. */
TROD_HOT uint64_t low_bits(uint32_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

struct masks {
    uint64_t instr, read, write, reg, branch;
    uint32_t flags;   /* of all, together */
    uint32_t differs; /* not 0: not all rows belong to the run */
};

TROD_HOT void scan_one(const struct run *r, uint32_t from, uint32_t i, struct masks *m)
{
    const struct trod_batch *b = r->b;
    uint8_t kind = b->kind[from + i];
    uint32_t flags = r->flags[from + i];

    m->instr |= (uint64_t)(kind == TROD_INSTR) << i;
    m->read |= (uint64_t)(kind == TROD_READ) << i;
    m->write |= (uint64_t)(kind == TROD_WRITE) << i;
    m->reg |= (uint64_t)(kind == TROD_REG) << i;
    m->branch |= (uint64_t)((flags & TROD_F_BRANCH) != 0) << i;
    m->flags |= flags;
    m->differs |= (r->streams[from + i] ^ r->stream) | ((b->has[from + i] ^ r->has) & r->said);
}

#ifdef __SSE2__
TROD_HOT __m128i load(const void *p)
{
    return _mm_loadu_si128(p);
}

TROD_HOT uint32_t any_bit(__m128i v)
{
    v = _mm_or_si128(v, _mm_shuffle_epi32(v, 0x4e));
    v = _mm_or_si128(v, _mm_shuffle_epi32(v, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(v);
}

TROD_HOT uint64_t equal(__m128i v, uint8_t to)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)to)));
}

/* The same for 64 rows. */
TROD_HOT void scan_block(const struct run *r, uint32_t from, struct masks *m)
{
    const struct trod_batch *b = r->b;
    const uint32_t *flags = r->flags + from, *stream = r->streams + from, *has = b->has + from;
    const __m128i branch = _mm_set1_epi32(TROD_F_BRANCH), lane = _mm_set1_epi32((int)r->stream),
                  said = _mm_set1_epi32((int)r->has), zero = _mm_setzero_si128();
    __m128i all = zero, other = zero, lacks = zero;

    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i kind = load(b->kind + from + i), is[4];

        for (unsigned k = 0; k < 4; k++) {
            __m128i f = load(flags + i + 4 * k);

            all = _mm_or_si128(all, f);
            is[k] = _mm_cmpeq_epi32(_mm_and_si128(f, branch), zero);
            other = _mm_or_si128(other, _mm_xor_si128(load(stream + i + 4 * k), lane));
            lacks = _mm_or_si128(lacks, _mm_xor_si128(load(has + i + 4 * k), said));
        }
        is[0] = _mm_packs_epi16(_mm_packs_epi32(is[0], is[1]), _mm_packs_epi32(is[2], is[3]));
        m->branch |= (~(uint64_t)(uint32_t)_mm_movemask_epi8(is[0]) & 0xffff) << i;
        m->instr |= equal(kind, TROD_INSTR) << i;
        m->read |= equal(kind, TROD_READ) << i;
        m->write |= equal(kind, TROD_WRITE) << i;
        m->reg |= equal(kind, TROD_REG) << i;
    }
    m->flags = any_bit(all);
    m->differs = any_bit(other) | (any_bit(lacks) & r->said);
}

/* The rows of a block, in COLUMN from FROM on, that are VALUE under MASK. */
TROD_HOT uint64_t block_equal(const uint32_t *column, uint32_t from, uint32_t mask, uint32_t value)
{
    const __m128i some = _mm_set1_epi32((int)mask), all = _mm_set1_epi32((int)value);
    uint64_t m = 0;

    for (unsigned i = 0; i < BLOCK; i += 16) {
        const uint32_t *p = column + from + i;
        const __m128i a = _mm_cmpeq_epi32(_mm_and_si128(load(p), some), all),
                      b = _mm_cmpeq_epi32(_mm_and_si128(load(p + 4), some), all),
                      c = _mm_cmpeq_epi32(_mm_and_si128(load(p + 8), some), all),
                      d = _mm_cmpeq_epi32(_mm_and_si128(load(p + 12), some), all);
        const __m128i is = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));

        m |= (uint64_t)(uint32_t)_mm_movemask_epi8(is) << i;
    }
    return m;
}
#else
TROD_HOT void scan_block(const struct run *r, uint32_t from, struct masks *m)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        scan_one(r, from, i, m);
}

TROD_HOT uint64_t block_equal(const uint32_t *column, uint32_t from, uint32_t mask, uint32_t value)
{
    uint64_t m = 0;

    for (uint32_t i = 0; i < BLOCK; i++)
        m |= (uint64_t)((column[from + i] & mask) == value) << i;
    return m;
}
#endif

#if TROD_AVX2

static inline TROD_WIDE __m256i load_wide(const void *p)
{
    return _mm256_loadu_si256(p);
}

static inline TROD_WIDE uint64_t equal_wide(__m256i v, uint8_t to)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_set1_epi8((char)to)));
}

/* What scan_block finds, with AVX2. */
static inline TROD_WIDE void scan_block_wide(const struct run *r, uint32_t from, struct masks *m)
{
    const struct trod_batch *b = r->b;
    const uint32_t *flags = r->flags + from, *stream = r->streams + from, *has = b->has + from;
    const __m256i branch = _mm256_set1_epi32(TROD_F_BRANCH),
                  lane = _mm256_set1_epi32((int)r->stream), said = _mm256_set1_epi32((int)r->has),
                  zero = _mm256_setzero_si256(), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i all = zero, other = zero, lacks = zero;

    for (unsigned i = 0; i < BLOCK; i += 32) {
        __m256i kind = load_wide(b->kind + from + i), is[4];

        for (unsigned k = 0; k < 4; k++) {
            const __m256i f = load_wide(flags + i + 8 * k);

            all = _mm256_or_si256(all, f);
            is[k] = _mm256_cmpeq_epi32(_mm256_and_si256(f, branch), zero);
            other = _mm256_or_si256(other, _mm256_xor_si256(load_wide(stream + i + 8 * k), lane));
            lacks = _mm256_or_si256(lacks, _mm256_xor_si256(load_wide(has + i + 8 * k), said));
        }
        is[0] =
            _mm256_packs_epi16(_mm256_packs_epi32(is[0], is[1]), _mm256_packs_epi32(is[2], is[3]));
        is[0] = _mm256_permutevar8x32_epi32(is[0], order); /* packing mixes the halves */
        m->branch |= (uint64_t) ~(uint32_t)_mm256_movemask_epi8(is[0]) << i;
        m->instr |= equal_wide(kind, TROD_INSTR) << i;
        m->read |= equal_wide(kind, TROD_READ) << i;
        m->write |= equal_wide(kind, TROD_WRITE) << i;
        m->reg |= equal_wide(kind, TROD_REG) << i;
    }
    m->flags = any_bit(_mm_or_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
    lacks = _mm256_and_si256(lacks, _mm256_set1_epi32((int)r->said));
    other = _mm256_or_si256(other, lacks);
    m->differs = !_mm256_testz_si256(other, other);
}

/* What block_equal finds, with AVX2. */
static inline TROD_WIDE uint64_t block_equal_wide(const uint32_t *column, uint32_t from,
                                                  uint32_t mask, uint32_t value)
{
    const __m256i some = _mm256_set1_epi32((int)mask), all = _mm256_set1_epi32((int)value);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    uint64_t m = 0;

    for (unsigned i = 0; i < BLOCK; i += 32) {
        __m256i is[4];

        for (unsigned k = 0; k < 4; k++)
            is[k] = _mm256_cmpeq_epi32(_mm256_and_si256(load_wide(column + from + i + 8 * k), some),
                                       all);
        is[0] =
            _mm256_packs_epi16(_mm256_packs_epi32(is[0], is[1]), _mm256_packs_epi32(is[2], is[3]));
        is[0] = _mm256_permutevar8x32_epi32(is[0], order);
        m |= (uint64_t)(uint32_t)_mm256_movemask_epi8(is[0]) << i;
    }
    return m;
}

#endif

/* What the N rows from FROM on are. */
TROD_HOT struct masks scan(const struct run *r, uint32_t from, uint32_t n, const bool wide)
{
    struct masks m = {0};

#if TROD_AVX2
    if (n == BLOCK && wide) {
        scan_block_wide(r, from, &m);
        return m;
    }
#endif
    (void)wide;
    if (n == BLOCK)
        scan_block(r, from, &m);
    else
        for (uint32_t i = 0; i < n; i++)
            scan_one(r, from, i, &m);
    return m;
}

/* Those of the N rows from FROM on, in COLUMN, that are VALUE under MASK. */
TROD_HOT uint64_t rows_equal(const uint32_t *column, uint32_t from, uint32_t n, uint32_t mask,
                             uint32_t value, const bool wide)
{
    uint64_t m = 0;

#if TROD_AVX2
    if (n == BLOCK && wide)
        return block_equal_wide(column, from, mask, value);
#endif
    (void)wide;
    if (n == BLOCK)
        return block_equal(column, from, mask, value);
    for (uint32_t i = 0; i < n; i++)
        m |= (uint64_t)((column[from + i] & mask) == value) << i;
    return m;
}

#endif
