/*
 * wide.c - the hot loop of decode.c for 16 entries at a time, on processors with AVX2.
 *
 * Entries of 12 bytes are split into vectors of type, size and address; what follows from the type
 * is looked up for all 16 at once (side->look). Rows are written for all of them, but only those
 * before the first entry that the hot loop does not handle are counted; the others are overwritten.
 * On other processors decode.c makes all rows.
 */
#include "format/drmemtrace/decode.h"

#include "core/endian.h"

#include <stddef.h>
#include <string.h>

#if TROD_AVX2

enum { GROUP = 16 };

_Static_assert(((TROD_INSTR | TROD_READ | TROD_WRITE | TROD_PREFETCH) & ~(int)DRM_LOOK_KIND) == 0,
               "kinds of the hot loop");
_Static_assert(((TROD_F_NOFETCH | TROD_F_IFETCH) & ~((int)DRM_LOOK_FLAGS << 16)) == 0,
               "flags of the hot loop");

/* What is known of a group besides its columns: bit i is entry i. */
struct group {
    uint32_t stop;    /* the hot loop does not know it */
    uint32_t instr;   /* an instruction */
    uint32_t nofetch; /* not fetched again */
};

static inline TROD_WIDE __m256i load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline TROD_WIDE void store(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

/* The first 4 bytes of 8 entries: type, and size above. */
static inline TROD_WIDE __m256i keys(const uint8_t *p)
{
    const __m256i order = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5);
    const __m256i some = _mm256_blend_epi32(load(p), load(p + 32), 0x92);

    return _mm256_permutevar8x32_epi32(_mm256_blend_epi32(some, load(p + 64), 0x24), order);
}

/* The addresses of 4 entries. */
static inline TROD_WIDE __m256i addresses(const uint8_t *p)
{
    const __m256i low = _mm256_setr_epi32(1, 2, 4, 5, 0, 0, 0, 0);
    const __m256i high = _mm256_setr_epi32(0, 0, 0, 0, 3, 4, 6, 7);

    return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(load(p), low),
                              _mm256_permutevar8x32_epi32(load(p + 16), high), 0xf0);
}

/* Look up the row TYPES / 16 of TABLE for each type: see side.h. */
static inline TROD_WIDE __m256i look(const uint8_t (*table)[32], __m128i types)
{
    const __m256i t = _mm256_broadcastsi128_si256(types), above = _mm256_set1_epi8(0x70);
    __m256i found = _mm256_setzero_si256();

    /* numbers of other rows become 128 and more, for which the shuffle gives 0 */
    for (int k = 0; k < 4; k++) {
        const __m256i i = _mm256_xor_si256(t, _mm256_set1_epi8((char)(16 * k)));

        found =
            _mm256_or_si256(found, _mm256_shuffle_epi8(load(table[k]), _mm256_adds_epu8(i, above)));
    }
    return found;
}

/* Flags of 8 rows: their first byte and their third. */
static inline TROD_WIDE __m256i flags(__m128i first, __m128i third)
{
    return _mm256_or_si256(_mm256_cvtepu8_epi32(first),
                           _mm256_slli_epi32(_mm256_cvtepu8_epi32(third), 16));
}

/* Kind, flags, sub and size of the GROUP entries at P to rows N and on. */
static inline TROD_WIDE struct group classify(const struct trod_batch *out, const uint8_t *p,
                                              uint32_t n, const uint8_t (*table)[32])
{
    const __m256i k0 = keys(p), k1 = keys(p + 8 * DRM_ENTRY_64);
    const __m256i low = _mm256_set1_epi32(0xffff);
    const __m256i s0 = _mm256_srli_epi32(k0, 16), s1 = _mm256_srli_epi32(k1, 16);
    const __m256i types = _mm256_permute4x64_epi64(
        _mm256_packus_epi32(_mm256_and_si256(k0, low), _mm256_and_si256(k1, low)), 0xd8);
    const __m256i small = _mm256_min_epu16(types, _mm256_set1_epi16(63));
    const __m256i found = look(
        table, _mm_packus_epi16(_mm256_castsi256_si128(small), _mm256_extracti128_si256(small, 1)));
    const __m128i class = _mm256_castsi256_si128(found), first = _mm256_extracti128_si256(found, 1);
    const __m128i kind = _mm_and_si128(class, _mm_set1_epi8(DRM_LOOK_KIND));
    const __m128i third = _mm_and_si128(class, _mm_set1_epi8(DRM_LOOK_FLAGS));
    const __m256i no0 = _mm256_cmpeq_epi32(s0, _mm256_setzero_si256());
    const __m256i no1 = _mm256_cmpeq_epi32(s1, _mm256_setzero_si256());
    struct group g;

    store(out->sub + n, types);
    store(out->size + n, s0);
    store(out->size + n + 8, s1);
    store(out->flags + n, flags(first, third));
    store(out->flags + n + 8, flags(_mm_srli_si128(first, 8), _mm_srli_si128(third, 8)));
    _mm_storeu_si128((__m128i *)(void *)(out->kind + n), kind);
    g.stop = (uint32_t)_mm_movemask_epi8(class);
    g.instr = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(kind, _mm_set1_epi8(TROD_INSTR)));
    g.nofetch = (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(class, 4));
    if (!_mm256_testz_si256(_mm256_or_si256(no0, no1), _mm256_or_si256(no0, no1))) {
        uint32_t empty = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(no0)) |
                         (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(no1)) << 8;

        g.stop |= g.instr & empty; /* an instruction without a size is no row */
    }
    return g;
}

/* Addresses of the GROUP entries at P, sign-extended from bit 63 - SHIFT, to TO. */
static inline TROD_WIDE void put_addresses(uint64_t *to, const uint8_t *p, unsigned shift)
{
    const uint64_t low = UINT64_MAX >> shift, top = UINT64_C(1) << (63 - shift);
    const __m256i mask = _mm256_set1_epi64x((long long)low);
    const __m256i sign = _mm256_set1_epi64x((long long)top);

    for (unsigned i = 0; i < GROUP; i += 4) {
        const __m256i a = _mm256_and_si256(addresses(p + (size_t)i * DRM_ENTRY_64), mask);

        store(to + i, _mm256_sub_epi64(_mm256_xor_si256(a, sign), sign));
    }
}

/* Check that the encodings of the instructions in M, of the rows from N on, have come. */
TROD_HOT TROD_WIDE void prove_all(struct drm_call *c, const uint8_t *p, uint32_t n, uint32_t m)
{
    struct trod_batch *out = c->out;

    m = (uint32_t)trod_recent_lacks_wide(c->d->side->recent, out->addr + n, m, GROUP, 0);
    for (; m; m &= m - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(m);

        if (!drm_proven(c->d->side, out->addr[n + i])) /* one before may have brought its word */
            out->flags[n + i] |= drm_prove(c, p + (size_t)i * DRM_ENTRY_64, n + i, out->addr[n + i],
                                           out->flags[n + i]);
    }
}

/* Indices of the rows of a group: BEFORE, and one more from each bit of FETCHED on. */
static inline TROD_WIDE void put_index(uint64_t *to, uint64_t before, uint32_t fetched)
{
    const __m128i bit = _mm_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m128i half = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    const __m256i base = _mm256_set1_epi64x((long long)before);
    __m128i n = _mm_shuffle_epi8(_mm_cvtsi32_si128((int)fetched), half);

    n = _mm_cmpeq_epi8(_mm_and_si128(n, bit), bit); /* -1 where there is one; then their sums */
    n = _mm_add_epi8(n, _mm_slli_si128(n, 1));
    n = _mm_add_epi8(n, _mm_slli_si128(n, 2));
    n = _mm_add_epi8(n, _mm_slli_si128(n, 4));
    n = _mm_add_epi8(n, _mm_slli_si128(n, 8));
    store(to, _mm256_sub_epi64(base, _mm256_cvtepi8_epi64(n)));
    store(to + 4, _mm256_sub_epi64(base, _mm256_cvtepi8_epi64(_mm_srli_si128(n, 4))));
    store(to + 8, _mm256_sub_epi64(base, _mm256_cvtepi8_epi64(_mm_srli_si128(n, 8))));
    store(to + 12, _mm256_sub_epi64(base, _mm256_cvtepi8_epi64(_mm_srli_si128(n, 12))));
}

/* The instructions that the rows from N on belong to: themselves, or the one before. */
static inline TROD_WIDE void put_pc(const struct trod_batch *out, uint32_t n, uint64_t before,
                                    uint32_t others)
{
    uint64_t *pc = out->pc + n;

    for (unsigned i = 0; i < GROUP; i += 4)
        store(pc + i, load((const uint8_t *)(out->addr + n + i)));
    if (others & 1)
        pc[0] = before;
    for (others &= ~1u; others; others &= others - 1) {
        const unsigned i = (unsigned)__builtin_ctz(others);

        pc[i] = pc[i - 1];
    }
}

/* The entries of the group, the first of which is OFF bytes from the base. */
static inline TROD_WIDE void put_raw(struct trod_slice *to, uint32_t off)
{
    enum { N = DRM_ENTRY_64 };
    const __m256i first = _mm256_setr_epi32(0, N, N, N, 2 * N, N, 3 * N, N);
    const __m256i four = _mm256_setr_epi32(4 * N, 0, 4 * N, 0, 4 * N, 0, 4 * N, 0);
    __m256i raw = _mm256_add_epi32(first, _mm256_set1_epi64x(off));

    for (unsigned i = 0; i < GROUP; i += 4, raw = _mm256_add_epi32(raw, four))
        store(to + i, raw);
}

_Static_assert(offsetof(struct drm_known, len) == offsetof(struct drm_known, off) + 4 &&
                   sizeof(struct drm_known) == 16,
               "copied as one");

/* Opcodes of the rows of INSTR among those from N on, and which of them have one. */
static inline TROD_WIDE void put_codes(struct drm_call *c, const uint8_t *p, uint32_t n,
                                       uint32_t instr)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i says = _mm256_set1_epi32(TROD_COL_CODE);
    const struct trod_batch *out = c->out;
    const struct drm_known *known = c->d->side->known;
    uint32_t mask = c->d->side->known_mask;

    for (unsigned i = 0; i < GROUP; i += 8) {
        const __m256i all = _mm256_set1_epi32((int)(instr >> i));
        const __m256i is = _mm256_cmpeq_epi32(_mm256_and_si256(all, bit), bit);

        store(out->has + n + i, _mm256_and_si256(is, says));
    }
    for (uint32_t m = instr; m; m &= m - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(m);
        const uint64_t addr = out->addr[n + i];
        uint32_t place = drm_side_hash(addr) & mask;
        const struct drm_known *k = &known[place];
        uint64_t slice;

        while (k->pc != addr && k->len)
            k = &known[++place & mask];
        if (!k->plain || k->pc != addr) {
            out->flags[n + i] |=
                drm_take_code(c, p + (size_t)i * DRM_ENTRY_64, n + i, addr, out->flags[n + i]);
            known = c->d->side->known; /* it may have grown */
            mask = c->d->side->known_mask;
            continue;
        }
        memcpy(&slice, &k->off, sizeof slice);
        slice &= UINT64_MAX >> 16; /* off and len */
        memcpy(&out->code[n + i], &slice, sizeof slice);
    }
}

TROD_HOT TROD_WIDE const uint8_t *rows(struct drm_call *c, const uint8_t *p, struct drm_hot_run *h,
                                       const enum drm_level level, const bool proves)
{
    const uint8_t(*table)[32] = (const uint8_t(*)[32])c->d->side->look;
    const unsigned shift = c->d->shift;
    struct trod_batch *out = c->out;
    uint64_t instrs = h->instrs;
    uint32_t at = h->n;

    while (h->end - at >= GROUP) {
        const struct group g = classify(out, p, at, table);
        const uint32_t good = g.stop ? (uint32_t)__builtin_ctz(g.stop) : GROUP;
        const uint32_t all = (1u << good) - 1, instr = g.instr & all, fetched = instr & ~g.nofetch;

        put_addresses(out->addr + at, p, shift);
        if (level != DRM_LEAN) {
            put_index(out->index + at, instrs, fetched);
            put_pc(out, at, h->pc, all & ~instr);
            put_raw(out->raw + at, (uint32_t)(p - c->base));
            h->pc = good ? out->pc[at + good - 1] : h->pc;
        }
        instrs += (unsigned)__builtin_popcount(fetched);
        if (level == DRM_CODE)
            put_codes(c, p, at, instr);
        if (proves)
            prove_all(c, p, at, instr);
        p += (size_t)good * DRM_ENTRY_64;
        at += good;
        if (good < GROUP)
            break;
    }
    h->n = at;
    h->instrs = instrs;
    return p;
}

static TROD_WIDE const uint8_t *rows_lean(struct drm_call *c, const uint8_t *p,
                                          struct drm_hot_run *h, bool proves)
{
    return rows(c, p, h, DRM_LEAN, proves);
}

static TROD_WIDE const uint8_t *rows_full(struct drm_call *c, const uint8_t *p,
                                          struct drm_hot_run *h, bool proves)
{
    return rows(c, p, h, DRM_FULL, proves);
}

static TROD_WIDE const uint8_t *rows_code(struct drm_call *c, const uint8_t *p,
                                          struct drm_hot_run *h)
{
    return rows(c, p, h, DRM_CODE, false);
}

static bool is_hot(const struct drm_hot *hot, const uint8_t *p)
{
    const uint32_t key = trod_load_le32(p), type = key & 0xffff;

    return key >> 16 >= hot[type < 64 ? type : 63].least;
}

const uint8_t *drm_wide_rows(struct drm_call *c, const uint8_t *p, struct drm_hot_run *h,
                             enum drm_level level, bool proves)
{
    const struct drm_hot *hot = c->d->side->hot;

    if (h->end - h->n < GROUP || !is_hot(hot, p) || !is_hot(hot, p + DRM_ENTRY_64) || !trod_wide())
        /* where the first entries are not for the hot loop, splitting a group is wasted */
        return p;
    return level == DRM_LEAN   ? rows_lean(c, p, h, proves)
           : level == DRM_FULL ? rows_full(c, p, h, proves)
                               : rows_code(c, p, h);
}

#else

const uint8_t *drm_wide_rows(struct drm_call *c, const uint8_t *p, struct drm_hot_run *h,
                             enum drm_level level, bool proves)
{
    (void)c, (void)h, (void)level, (void)proves;
    return p;
}

#endif
