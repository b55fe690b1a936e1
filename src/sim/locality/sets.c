/*
 * sets.c - LRU caches of many numbers of sets and ways in one pass (sets.h).
 *
 * With AVX2 a list of up to 16 lines is four vectors, with AVX-512 two: finding a line and moving
 * it to the front take no branch. References are simulated for one number of sets after the other,
 * many at a time: lists are prefetched.
 */
#include "sets_int.h"

#include "filter.h"
#include "sim/front.h"

#include <stdlib.h>
#include <string.h>

enum { VECTOR = 8, WIDE_WAYS = 2 * VECTOR, BLOCK = 1024, AHEAD = 8 };

struct trod_sets *trod_sets_new(unsigned first, unsigned levels, unsigned ways)
{
    struct trod_sets *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->first = first;
    s->levels = levels < TROD_SETS_LEVELS ? levels : TROD_SETS_LEVELS;
    s->ways = ways < TROD_SETS_WAYS ? ways : TROD_SETS_WAYS;
    s->stride = (s->ways + VECTOR - 1) / VECTOR * VECTOR;
    for (unsigned i = 0; i < s->levels; i++) {
        const size_t bytes = ((size_t)s->stride << (first + i)) * sizeof **s->list;

        if (!(s->list[i] = aligned_alloc(VECTOR * sizeof **s->list, bytes))) {
            trod_sets_free(s);
            return NULL;
        }
    }
    if (!(s->front = malloc(sizeof *s->front << first))) {
        trod_sets_free(s);
        return NULL;
    }
    memset(s->front, UINT8_MAX, sizeof *s->front << first);
    return s;
}

void trod_sets_free(struct trod_sets *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->levels; i++) {
        free(s->list[i]);
        free(s->few[i]);
        free(s->met[i]);
        free(s->n_met[i]);
    }
    free(s->front);
    free(s);
}

#if TROD_AVX2
/* As trod_sets_front, for a list of VECTORS vectors. Elements after its WAYS lines have no meaning.
 */
TROD_WIDEST static inline unsigned to_front_widest(uint64_t *list, unsigned ways, uint64_t line,
                                                   const unsigned vectors)
{
    const __m512i want = _mm512_set1_epi64((int64_t)line), low = _mm512_load_si512(list);
    uint32_t is = _mm512_cmpeq_epi64_mask(low, want) | UINT32_C(1) << ways;
    __m512i high = low;
    uint32_t moved;

    if (vectors > 1) {
        high = _mm512_load_si512(list + VECTOR);
        is |= (uint32_t)_mm512_cmpeq_epi64_mask(high, want) << VECTOR;
    }
    is &= -is;
    moved = (is << 1) - 1; /* those up to where it was are each one further */
    _mm512_mask_store_epi64(list, (__mmask8)moved, _mm512_alignr_epi64(low, want, VECTOR - 1));
    if (vectors > 1)
        _mm512_mask_store_epi64(list + VECTOR, (__mmask8)(moved >> VECTOR),
                                _mm512_alignr_epi64(high, low, VECTOR - 1));
    return (unsigned)__builtin_ctz(is);
}

/* The same. */
TROD_WIDE static inline unsigned to_front_wide(uint64_t *list, unsigned ways, uint64_t line,
                                               const unsigned vectors)
{
    __m256i lines[WIDE_WAYS / TROD_FRONT_LANES];
    const unsigned is =
        trod_front_find(lines, list, vectors * VECTOR, line, _mm256_set1_epi64x(-1));
    const unsigned at = (unsigned)__builtin_ctz(is | 1u << ways);

    trod_front_move(list, lines, vectors * VECTOR, at, line);
    return at;
}
#endif

void trod_sets_empty(struct trod_sets *s)
{
    for (unsigned i = 0; i < s->levels; i++)
        memset(s->list[i], UINT8_MAX, /* TROD_SETS_NO_LINE */
               ((size_t)s->stride << (s->first + i)) * sizeof **s->list);
}

void trod_sets_widen(struct trod_sets *s)
{
    if (s->is_narrow)
        trod_sets_empty(s);
    for (unsigned i = 0; s->is_narrow && i < s->levels; i++) {
        const size_t n = (size_t)s->stride << (s->first + i);

        for (size_t k = 0; k < n; k++)
            if (s->few[i][k] != TROD_NARROW_NONE)
                s->list[i][k] = trod_narrow_line(&s->narrow, s->few[i][k]);
        free(s->few[i]);
        s->few[i] = NULL;
    }
    s->is_narrow = false;
}

/* A reference. */
static void one(struct trod_sets *s, uint64_t line, unsigned class)
{
    s->refs[class]++;
    for (unsigned i = 0; i < s->levels; i++) {
        const size_t set = (size_t)(line & ((UINT64_C(1) << (s->first + i)) - 1));
        const unsigned p = trod_sets_front(s->list[i] + set * s->stride, s->ways, line);

        s->at[i][p][class]++; /* [ways]: it was not there */
        if (p == s->ways && s->n_met[i])
            trod_sets_meet(s, i, set, line);
        if (p == 0)
            return;
    }
}

#if TROD_AVX2
/* References that are on their way through the levels. */
struct some {
    uint64_t line[BLOCK];
    uint8_t class[BLOCK];
};

struct few {
    uint32_t line[BLOCK];
    uint8_t class[BLOCK];
};

/*
 * N references to level I. References that the next level needs are left. Returns how many. MEETS:
 * lines may be first ones of a part.
 */
TROD_HOT size_t level(struct trod_sets *s, unsigned i, size_t n, struct some *to,
                      const unsigned vectors, const bool widest, const bool meets)
{
    const uint64_t mask = (UINT64_C(1) << (s->first + i)) - 1;
    const unsigned ways = s->ways;
    uint64_t *const lists = s->list[i], (*const at)[TROD_REFS] = s->at[i];
    size_t k = 0;

    for (size_t j = 0; j < n; j++) {
        const uint64_t line = to->line[j], soon = to->line[j + AHEAD < n ? j + AHEAD : j];
        const uint8_t class = to->class[j];
        unsigned p;

        for (unsigned v = 0; v < vectors; v++)
            __builtin_prefetch(lists + ((soon & mask) * vectors + v) * VECTOR, 1);
        if (widest)
            p = to_front_widest(lists + (line & mask) * vectors * VECTOR, ways, line, vectors);
        else
            p = to_front_wide(lists + (line & mask) * vectors * VECTOR, ways, line, vectors);
        at[p][class]++;
        if (meets && p == ways)
            trod_sets_meet(s, i, (size_t)(line & mask), line);
        to->line[k] = line;
        to->class[k] = class;
        k += p != 0;
    }
    return k;
}

/* The same of lists of 32 bits. */
TROD_WIDE static inline size_t level_narrow(struct trod_sets *s, unsigned i, size_t n,
                                            struct few *to, const unsigned vectors,
                                            const bool meets)
{
    const uint32_t mask = (UINT32_C(1) << (s->first + i)) - 1;
    const unsigned ways = s->ways;
    uint32_t *const lists = s->few[i];
    uint64_t(*const at)[TROD_REFS] = s->at[i];
    size_t k = 0;

    for (size_t j = 0; j < n; j++) {
        const uint32_t line = to->line[j], soon = to->line[j + AHEAD < n ? j + AHEAD : j];
        const uint8_t class = to->class[j];
        unsigned p;

        __builtin_prefetch(lists + (size_t)(soon & mask) * vectors * VECTOR, 1);
        p = trod_narrow_front(lists + (size_t)(line & mask) * vectors * VECTOR, ways, line,
                              vectors);
        at[p][class]++;
        if (meets && p == ways)
            trod_sets_meet(s, i, line & mask, trod_narrow_line(&s->narrow, line));
        to->line[k] = line;
        to->class[k] = class;
        k += p != 0;
    }
    return k;
}

/* N references to all levels, as lines of 32 bits. False, and nothing done: they are not. */
TROD_WIDE static bool levels_narrow(struct trod_sets *s, size_t n, const struct some *some)
{
    struct few to;

    for (size_t j = 0; j < n; j++) {
        to.line[j] = trod_narrow_of(&s->narrow, some->line[j]);
        to.class[j] = some->class[j];
        if (to.line[j] == TROD_NARROW_NONE)
            return false;
    }
    for (unsigned i = 0; i < s->levels && n; i++) {
        if (s->unmet[i])
            n = s->stride == VECTOR ? level_narrow(s, i, n, &to, 1, true)
                                    : level_narrow(s, i, n, &to, 2, true);
        else
            n = s->stride == VECTOR ? level_narrow(s, i, n, &to, 1, false)
                                    : level_narrow(s, i, n, &to, 2, false);
    }
    return true;
}

/* Lists of 32 bits, if there is memory for them. */
static void narrow(struct trod_sets *s)
{
    s->is_narrow = s->first + s->levels <= TROD_NARROW_BITS;
    for (unsigned i = 0; s->is_narrow && i < s->levels; i++) {
        const size_t bytes = ((size_t)s->stride << (s->first + i)) * sizeof **s->few;

        s->few[i] = aligned_alloc(VECTOR * sizeof **s->few, bytes);
        if (s->few[i])
            memset(s->few[i], UINT8_MAX, bytes); /* TROD_NARROW_NONE */
        else
            s->is_narrow = false;
    }
}

/* TO gets the references that are not to the front of their set at level 0. Returns how many. */
TROD_WIDE static inline size_t skip_front(struct trod_sets *s, const uint64_t *line,
                                          const uint8_t *class, size_t n, struct some *to)
{
    const uint64_t mask = (UINT64_C(1) << s->first) - 1;
    uint64_t all, left;
    size_t k = 0;

    for (size_t j = 0; j < n; j++) {
        uint64_t *const front = &s->front[line[j] & mask];

        to->line[k] = line[j];
        to->class[k] = class[j];
        k += *front != line[j];
        *front = line[j];
    }
    all = trod_stack_total_wide(class, (uint32_t)n);
    left = trod_stack_total_wide(to->class, (uint32_t)k);
    for (unsigned c = 0; c < TROD_REFS; c++) {
        s->refs[c] += all >> 16 * c & 0xffff;
        s->at[0][0][c] += (all - left) >> 16 * c & 0xffff;
    }
    return k;
}

TROD_HOT void feed_levels(struct trod_sets *s, const uint64_t *line, const uint8_t *class, size_t n,
                          const bool widest)
{
    struct some to;

    for (size_t at = 0, some; at < n; at += some) {
        size_t left;

        some = n - at < BLOCK ? n - at : BLOCK;
        left = skip_front(s, line + at, class + at, some, &to);
        if (!widest && s->is_narrow && levels_narrow(s, left, &to))
            continue;
        if (!widest)
            trod_sets_widen(s);
        for (unsigned i = 0; i < s->levels && left; i++) {
            if (s->unmet[i])
                left = s->stride == VECTOR ? level(s, i, left, &to, 1, widest, true)
                                           : level(s, i, left, &to, 2, widest, true);
            else
                left = s->stride == VECTOR ? level(s, i, left, &to, 1, widest, false)
                                           : level(s, i, left, &to, 2, widest, false);
        }
    }
}

TROD_WIDE static void feed_wide(struct trod_sets *s, const uint64_t *line, const uint8_t *class,
                                size_t n)
{
    feed_levels(s, line, class, n, false);
}

TROD_WIDEST static void feed_widest(struct trod_sets *s, const uint64_t *line, const uint8_t *class,
                                    size_t n)
{
    feed_levels(s, line, class, n, true);
}
#endif

/* The lines before one that has the number of empty places and comes for the first time. */
static size_t before_no_line(const struct trod_sets *s, const uint64_t *line, size_t n)
{
    size_t i = s->no_line ? n : 0;

    while (i < n && line[i] != TROD_SETS_NO_LINE)
        i++;
    return i;
}

/* Before the first reference. */
static void begin(struct trod_sets *s)
{
    s->fed = true;
#if TROD_AVX2
    if (s->ways <= WIDE_WAYS && trod_wide_unless(s->without) && !trod_widest_unless(s->without))
        narrow(s);
#endif
    if (!s->is_narrow)
        trod_sets_empty(s);
}

static void feed(struct trod_sets *s, const uint64_t *line, const uint8_t *class, size_t n)
{
    if (!s->fed)
        begin(s);
#if TROD_AVX2
    if (s->ways <= WIDE_WAYS && trod_widest_unless(s->without)) {
        feed_widest(s, line, class, n);
        return;
    }
    if (s->ways <= WIDE_WAYS && trod_wide_unless(s->without)) {
        feed_wide(s, line, class, n);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++)
        one(s, line[i], class[i]);
}

void trod_sets_feed(struct trod_sets *s, const uint64_t *line, const uint8_t *class, size_t n)
{
    const size_t before = before_no_line(s, line, n);

    feed(s, line, class, before);
    if (before == n)
        return;
    trod_sets_widen(s);
    s->no_line = true; /* a miss everywhere, though places that are empty look like it */
    s->refs[class[before]]++;
    s->front[(UINT64_C(1) << s->first) - 1] = TROD_SETS_NO_LINE;
    for (unsigned i = 0; i < s->levels; i++) {
        const size_t set = ((size_t)1 << (s->first + i)) - 1;

        trod_sets_front(s->list[i] + set * s->stride, s->ways, TROD_SETS_NO_LINE);
        if (s->n_met[i])
            trod_sets_meet(s, i, set, TROD_SETS_NO_LINE);
    }
    feed(s, line + before + 1, class + before + 1, n - before - 1);
}

void trod_sets_restart(struct trod_sets *s)
{
    memset(s->at, 0, sizeof s->at);
    memset(s->refs, 0, sizeof s->refs);
}

void trod_sets_sum(struct trod_sets *s, const struct trod_sets *other)
{
    for (unsigned k = 0; k < TROD_REFS; k++) {
        s->refs[k] += other->refs[k];
        for (unsigned i = 0; i < s->levels; i++)
            for (unsigned p = 0; p < s->ways; p++)
                s->at[i][p][k] += other->at[i][p][k];
    }
}

uint64_t trod_sets_misses(const struct trod_sets *s, unsigned level, unsigned ways,
                          unsigned classes)
{
    uint64_t misses = 0;

    for (unsigned k = 0; k < TROD_REFS; k++) {
        if (!(classes >> k & 1))
            continue;
        misses += s->refs[k];
        for (unsigned i = 0; i <= level; i++)
            misses -= s->at[i][0][k];
        for (unsigned p = 1; p < ways && p < s->ways; p++)
            misses -= s->at[level][p][k];
    }
    return misses;
}
