/*
 * owner_loops.c - the site column and the streaks of loops (owner_int.h).
 *
 * Programs spend much of their time in small loops: a streak that ends with a branch to its own
 * first instruction. The rows of one iteration are learned once. With AVX2, further iterations are
 * compared with it, 8 or 16 rows at a time, and nothing is looked up. Iterations that differ are
 * processed like all other rows (owner_plain.c), with the same result.
 */
#include "engine/owner_int.h"

#include "core/wide.h"

#include <limits.h>

#if TROD_AVX2
/* Is the instruction of row LAST no branch, GAP bytes long, and directly followed by that of row I?
 */
static bool goes_straight(const struct trod_batch *b, unsigned gap, uint32_t i, uint32_t last)
{
    return gap && b->addr[i] - b->addr[last] == gap && b->size[last] == gap &&
           !(b->flags[last] & TROD_F_BRANCH);
}

/* Add row FIRST + K, an instruction, as lane K to the loop L, which begins with SITE at row FIRST.
 * False: it does not belong to the same streak. */
static bool learn_instruction(const struct engine_owner *o, const struct trod_batch *b,
                              uint32_t first, uint32_t k, struct loop *l, uint32_t site)
{
    const uint64_t off = b->addr[first + k] - b->addr[first];
    const uint8_t gap = o->gap[site + l->n];

    if (off > UINT8_MAX || (k && !goes_straight(b, gap, first + k, first + l->last)))
        return false;
    if (k) {
        l->straight |= 1u << l->last;
        l->size[l->last] = gap;
    }
    l->off[k] = (uint8_t)off;
    l->instr |= 1u << k;
    l->last = k;
    l->n++;
    return true;
}

/* Learn the loop of SITE from the iteration that begins with row I; rows from TO on are not read.
 */
static void learn_loop(struct engine_owner *o, const struct trod_batch *b, uint32_t i, uint32_t to,
                       uint32_t site)
{
    struct loop l = {.site = site + 1, .misses = o->loop.misses};
    uint32_t k;

    for (k = 0; k < LOOP_ROWS && i + k < to; k++) {
        if (owner_is_access(b->kind[i + k]))
            l.access[l.accesses++] = (uint8_t)k;
        else if (b->kind[i + k] != TROD_INSTR || !learn_instruction(o, b, i, k, &l, site))
            break;
        l.kind[k] = b->kind[i + k];
        l.number[k] = (uint8_t)(l.n - 1);
    }
    l.rows = k;
    if (i + k < to && b->flags[i + l.last] & TROD_F_BRANCH) /* else its end was not seen */
        l.key = owner_loop_key(o, site);
    o->loop = l;
}

/* The values expected of eight lanes of an iteration. */
struct half {
    __m256i addr0, addr1, size, site;
    __m128i access;
};

/* The values expected of lanes [AT, AT + 8) of L, where the loop begins at PC with SITE. */
TROD_WIDE TROD_HOT struct half half_of(const struct loop *l, unsigned at, uint64_t pc,
                                       uint32_t site)
{
    const __m128i off = _mm_loadl_epi64((const __m128i *)(const void *)(l->off + at));
    const __m128i size = _mm_loadl_epi64((const __m128i *)(const void *)(l->size + at));
    const __m128i number = _mm_loadl_epi64((const __m128i *)(const void *)(l->number + at));
    const __m128i access = _mm_loadl_epi64((const __m128i *)(const void *)(l->access + at));
    const __m256i from = _mm256_set1_epi64x((long long)pc);

    return (struct half){
        .addr0 = _mm256_add_epi64(from, _mm256_cvtepu8_epi64(off)),
        .addr1 = _mm256_add_epi64(from, _mm256_cvtepu8_epi64(_mm_srli_si128(off, 4))),
        .size = _mm256_cvtepu8_epi32(size),
        .site = _mm256_add_epi32(_mm256_cvtepu8_epi32(number), _mm256_set1_epi32((int)site)),
        .access = _mm_cvtepu8_epi16(access),
    };
}

/* Compare rows I to I + 7 with H. Masks of lanes: *THERE: rows with the address in H; *STRAIGHT:
 * rows that are no branches and have the size in H. */
TROD_WIDE TROD_HOT void compare_half(const struct trod_batch *b, const struct half *h, uint32_t i,
                                     unsigned *there, unsigned *straight)
{
    const __m256i *const addr = (const __m256i *)(const void *)(b->addr + i);
    const __m256i at0 = _mm256_cmpeq_epi64(h->addr0, _mm256_loadu_si256(addr));
    const __m256i at1 = _mm256_cmpeq_epi64(h->addr1, _mm256_loadu_si256(addr + 1));
    const __m256i branch =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)(b->flags + i)),
                         _mm256_set1_epi32(TROD_F_BRANCH));
    const __m256i same = _mm256_cmpeq_epi32(
        h->size, _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(const void *)(b->size + i)),
                                 _mm256_slli_epi32(branch, CHAR_BIT)));

    *there = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(at0)) |
             (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(at1)) << 4;
    *straight = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(same));
}

/* Write the sites of rows I to I + 7, and, unless ACCESS is NULL, their accesses there. FIRST: the
 * first row of the iteration. */
TROD_WIDE TROD_HOT void put_half(const struct trod_batch *b, const struct half *h, uint32_t i,
                                 uint32_t first, uint16_t *access)
{
    _mm256_storeu_si256((__m256i *)(void *)(b->site + i), h->site);
    if (access)
        _mm_storeu_si128((__m128i *)(void *)access,
                         _mm_add_epi16(h->access, _mm_set1_epi16((short)first)));
}

/*
 * Take the rows from I on that are whole iterations of L and end before row TO. Streaks and
 * accesses are written to STREAKS and ACCESS, if those are not NULL. FAR: an iteration has more
 * than eight rows. Returns the number of iterations.
 */
TROD_WIDE TROD_HOT uint32_t take_rounds(const struct trod_batch *b, const struct loop *l,
                                        uint32_t i, uint32_t to, struct trod_streak *streaks,
                                        uint16_t *access, bool far)
{
    const uint32_t site = l->site - 1, rows = l->rows;
    const unsigned all = (1u << rows) - 1, instr = l->instr, straight = l->straight;
    const struct half low = half_of(l, 0, b->addr[i], site);
    const struct half high = far ? half_of(l, LOOP_HALF, b->addr[i], site) : low;
    const __m128i kinds = _mm_loadu_si128((const __m128i *)(const void *)l->kind);
    uint32_t n = 0;

    for (; to - i >= rows; n++, i += rows) {
        const __m128i *const at = (const __m128i *)(const void *)(b->kind + i);
        const __m128i kind = far ? _mm_loadu_si128(at) : _mm_loadl_epi64(at);
        const unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(kind, kinds));
        unsigned there, on, there_too = 0, on_too = 0;

        compare_half(b, &low, i, &there, &on);
        if (far)
            compare_half(b, &high, i + LOOP_HALF, &there_too, &on_too);
        there |= there_too << LOOP_HALF;
        on |= on_too << LOOP_HALF;
        if ((all & ~same) | (instr & ~there) | (straight & ~on) ||
            !(b->flags[i + l->last] & TROD_F_BRANCH))
            break;
        put_half(b, &low, i, i, access);
        if (far)
            put_half(b, &high, i + LOOP_HALF, i, access ? access + LOOP_HALF : NULL);
        if (access)
            access += l->accesses;
        if (streaks)
            *streaks++ = (struct trod_streak){i, i + l->last, site, l->n};
    }
    return n;
}

TROD_WIDE uint32_t owner_take_loop(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                                   uint32_t to, uint32_t site, struct trod_streak *streaks,
                                   uint16_t *access)
{
    struct loop *const l = &o->loop;
    uint32_t n = 0;

    if (l->site != site + 1)
        *l = (struct loop){.site = site + 1};
    if (l->key != owner_loop_key(o, site) && !(l->misses & (l->misses - 1)))
        learn_loop(o, b, i, to, site);
    if (l->key == owner_loop_key(o, site))
        n = l->rows > LOOP_HALF ? take_rounds(b, l, i, to, streaks, access, true)
                                : take_rounds(b, l, i, to, streaks, access, false);
    if (n) {
        l->misses = 0;
    } else if (to - i >= LOOP_ROWS) { /* with fewer rows, their end may be the reason */
        l->misses++;
        l->key = 0;
    }
    return n;
}
#endif
