/*
 * stack.c - LRU stack distances, exactly (stack.h; "Locality analyses", section 2).
 *
 * A hash table gives the position of each line's last reference; the distance is the number of
 * positions behind it that are last references of other lines. Blocks of references first go
 * through a filter, and what is among the last few lines of the block is not searched (filter.h).
 */
#include "stack.h"

#include "core/wide.h"
#include "filter.h"

#include <stdlib.h>
#include <string.h>

enum { LIVE_MAX = 1 << 30, LEAST_LOG = TROD_BITS_B };

struct trod_stack *trod_stack_new(const struct trod_stack_options *opt)
{
    struct trod_stack *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->opt = *opt;
    s->block = calloc(1, sizeof *s->block);
    if (opt->limit)
        s->owner = calloc(UINT32_C(1) << LEAST_LOG, sizeof *s->owner);
    if (!s->block || (opt->limit && !s->owner) ||
        !trod_lines_init(&s->lines, opt->count, opt->resident != 0) ||
        !trod_bits_init(&s->bits, UINT32_C(1) << LEAST_LOG)) {
        trod_stack_free(s);
        return NULL;
    }
    return s;
}

void trod_stack_free(struct trod_stack *s)
{
    if (!s)
        return;
    trod_lines_free(&s->lines);
    trod_bits_free(&s->bits);
    trod_dist_clear(&s->dist);
    free(s->owner);
    free(s->first);
    free(s->block);
    free(s);
}

/* Positions for MORE references, eight times the live lines: then numbering anew costs little. */
static uint32_t positions(const struct trod_stack *s, size_t more)
{
    uint64_t size = UINT64_C(1) << LEAST_LOG;

    while (size < 8 * (s->live + more) && size < UINT64_C(1) << 31)
        size *= 2;
    return (uint32_t)size;
}

bool trod_stack_renumber(struct trod_stack *s, size_t more)
{
    const uint32_t size = positions(s, more);
    uint32_t *rank = malloc(((size_t)s->bits.size >> 6) * sizeof *rank);
    struct trod_bits bits = s->bits;
    uint32_t *owner = s->owner;
    bool ok = rank != NULL;

    if (ok && size != s->bits.size) {
        ok = trod_bits_init(&bits, size);
        if (ok && s->owner)
            ok = (owner = realloc(s->owner, size * sizeof *owner)) != NULL;
        if (ok)
            s->owner = owner;
    }
    if (!ok) {
        free(rank);
        return false;
    }
    trod_bits_ranks(&s->bits, rank);
    for (size_t i = 0; i < s->lines.size; i++) {
        const uint32_t p = s->lines.at[i].pos;
        const uint64_t below = (UINT64_C(1) << (p & 63)) - 1;

        if (p >= TROD_LINE_PRUNED)
            continue;
        s->lines.at[i].pos =
            rank[p >> 6] + (uint32_t)__builtin_popcountll(s->bits.word[p >> 6] & below);
        if (s->owner)
            s->owner[s->lines.at[i].pos] = (uint32_t)i;
    }
    free(rank);
    if (bits.word != s->bits.word)
        trod_bits_free(&s->bits);
    s->bits = bits;
    trod_bits_first(&s->bits, (uint32_t)s->live);
    s->low = 0;
    return true;
}

/* Room for N more references in every array. */
static bool reserve(struct trod_stack *s, size_t n)
{
    const size_t slots = s->lines.size;

    if (s->live + n > LIVE_MAX || !trod_lines_reserve(&s->lines, n))
        return false;
    if (s->opt.first && s->n_first + n > s->cap_first) {
        const size_t cap = 2 * s->cap_first + n;
        struct trod_first *more = realloc(s->first, cap * sizeof *more);

        if (!more)
            return false;
        s->first = more;
        s->cap_first = cap;
    }
    if (s->bits.size - s->bits.now < n + 1 || (s->owner && slots != s->lines.size))
        return trod_stack_renumber(s, n);
    return true;
}

/* End a residency of the line in SLOT. */
static void end_residency(struct trod_stack *s, size_t slot)
{
    s->parts[__builtin_popcountll(s->lines.touched[slot])]++;
    s->lines.touched[slot] = 0;
}

/* Forget the least recent line. */
static void prune(struct trod_stack *s)
{
    while (!(s->bits.word[s->low >> 6] >> (s->low & 63) & 1))
        s->low++;
    trod_bits_drop(&s->bits, s->low);
    const size_t slot = s->owner[s->low];

    s->lines.at[slot].pos = TROD_LINE_PRUNED;
    if (s->lines.count)
        s->lines.count[slot] = (struct trod_line_count){0};
    if (s->lines.touched)
        end_residency(s, slot);
    s->live--;
    s->pruned++;
}

/* Take LINE from the stack, or add it: how far down it was, and its slot. There is room. */
static inline __attribute__((always_inline)) uint32_t lift(struct trod_stack *s, uint64_t line,
                                                           size_t *slot)
{
    uint32_t d = TROD_DIST_COLD;
    struct trod_line *e;

    *slot = trod_lines_slot(&s->lines, line);
    e = &s->lines.at[*slot];
    if (__builtin_expect(e->pos < TROD_LINE_PRUNED, 1)) {
        d = trod_bits_after(&s->bits, e->pos);
        trod_bits_drop(&s->bits, e->pos);
    } else {
        s->lines.used += e->pos == TROD_LINE_EMPTY;
        s->pruned_hits += e->pos == TROD_LINE_PRUNED;
        e->line = line;
        e->pos = 0;
        s->live++;
    }
    return d;
}

/* Put the line of SLOT on top of the stack. */
static inline __attribute__((always_inline)) void put_down(struct trod_stack *s, size_t slot)
{
    trod_bits_set(&s->bits, s->bits.now);
    s->lines.at[slot].pos = s->bits.now++;
}

/* Put LINE on top of the stack: where it was, and its slot. There is room. */
static inline uint32_t place(struct trod_stack *s, uint64_t line, size_t *slot)
{
    const uint32_t d = lift(s, line, slot);

    put_down(s, *slot);
    return d;
}

static inline __attribute__((always_inline)) bool record(struct trod_stack *s, uint64_t line,
                                                         unsigned class, uint32_t d)
{
    if (__builtin_expect(d == TROD_DIST_COLD, 0)) {
        s->dist.cold[class]++;
        if (s->opt.first)
            s->first[s->n_first++] = (struct trod_first){line, (uint8_t) class};
        return true;
    }
    return trod_dist_count(&s->dist, d, class, 1);
}

bool trod_stack_touch(struct trod_stack *s, uint64_t line, uint32_t *d, size_t *slot)
{
    if (!reserve(s, 1))
        return false;
    *d = place(s, line, slot);
    return true;
}

/* One reference, without a filter. There is room. */
static bool one(struct trod_stack *s, uint64_t line, unsigned class, uint64_t touched,
                uint32_t *out)
{
    size_t slot;
    const uint32_t d = place(s, line, &slot);

    if (s->lines.count) {
        s->lines.count[slot].refs++;
        s->lines.count[slot].distant += d != TROD_DIST_COLD && d > s->opt.distant;
    }
    if (s->lines.touched) {
        if (d != TROD_DIST_COLD && d >= s->opt.resident)
            end_residency(s, slot);
        s->lines.touched[slot] |= touched;
    }
    if (out)
        *out = d;
    s->refs[class]++;
    if (s->owner) {
        s->owner[s->bits.now - 1] = (uint32_t)slot;
        if (s->live > s->opt.limit)
            prune(s);
    }
    return record(s, line, class, d);
}

/* Begin to load what the references behind P will need: table, counters, then bits. */
static inline __attribute__((always_inline)) void fetch_ahead(const struct trod_stack *s,
                                                              const uint64_t *p, bool count)
{
    const size_t far = trod_lines_home(&s->lines, p[TROD_STACK_AHEAD]);
    const uint32_t pos = s->lines.at[trod_lines_home(&s->lines, p[TROD_STACK_AHEAD / 2])].pos;

    __builtin_prefetch(&s->lines.at[far], 1);
    if (count)
        __builtin_prefetch(&s->lines.count[far], 1);
    if (pos < TROD_LINE_PRUNED) {
        __builtin_prefetch(&s->bits.word[pos >> 6], 1);
        __builtin_prefetch(&s->bits.a[pos >> TROD_BITS_A], 1);
    }
}

/* Line number I in front goes back to the stack, on top. */
static inline __attribute__((always_inline)) void put_back(struct trod_stack *s, unsigned i,
                                                           bool count, bool touched)
{
    struct trod_front *f = &s->block->front;
    const size_t slot = f->slot[i];

    put_down(s, slot);
    if (count) {
        s->lines.count[slot].refs += f->refs[i];
        s->lines.count[slot].distant += f->distant[i];
        f->refs[i] = f->distant[i] = 0;
    }
    if (touched)
        s->lines.touched[slot] = f->touched[i];
}

/* Item J, not in front, comes there: its distance. *I: its number. */
static inline __attribute__((always_inline)) uint32_t bring(struct trod_stack *s, uint32_t j,
                                                            unsigned *i, bool count, bool touched)
{
    struct trod_front *f = &s->block->front;
    size_t slot;
    uint32_t d;

    fetch_ahead(s, s->block->line + j, count);
    d = lift(s, s->block->line[j], &slot);
    if (d != TROD_DIST_COLD)
        d += f->n;
    if (f->n < TROD_FRONT) {
        *i = f->n++;
    } else {
        *i = (unsigned)(f->order >> 60);
        put_back(s, *i, count, touched);
    }
    f->order = f->order << 4 | *i;
    f->line[*i] = s->block->line[j];
    f->slot[*i] = (uint32_t)slot;
    if (touched)
        f->touched[*i] = s->lines.touched[slot];
    return d;
}

_Static_assert((uint64_t)LIVE_MAX *TROD_REFS <= UINT64_C(1) << 32 && TROD_REFS == 4,
               "a distance and a class are one number of 32 bits");

/* Item J, not in front, has distance D: it is counted with the others of the block. */
static inline __attribute__((always_inline)) void note(struct trod_stack *s, uint32_t j, uint32_t d)
{
    struct trod_stack_block *const b = s->block;

    if (__builtin_expect(d == TROD_DIST_COLD, 0))
        record(s, b->line[j], b->class[j], d);
    else
        b->far[b->n_far++] = d << 2 | b->class[j];
}

/*
 * Count what was noted. Where the counters are not in the nearest caches many are loaded at a time,
 * as there is nothing else between.
 */
static bool count_noted(struct trod_stack *s)
{
    struct trod_stack_block *const b = s->block;

    for (uint32_t k = 0; k < b->n_far; k++)
        if (!trod_dist_count(&s->dist, b->far[k] >> 2, b->far[k] & 3, 1))
            return false;
    b->n_far = 0;
    return true;
}

/* What was found in front, and repeats: TOTAL, references by class, less the items. */
static bool count_found(struct trod_stack *s, uint64_t total)
{
    struct trod_front *f = &s->block->front;

    for (unsigned k = 0; k < TROD_REFS; k++)
        f->found[0][k] += (uint32_t)((total - s->block->kept) >> 16 * k & 0xffff);
    for (unsigned d = 0; d < TROD_FRONT; d++)
        for (unsigned k = 0; k < TROD_REFS; k++) {
            if (f->found[d][k] && !trod_dist_count(&s->dist, d, k, f->found[d][k]))
                return false;
            f->found[d][k] = 0;
        }
    return true;
}

/* A block. There is room. */
static inline __attribute__((always_inline)) bool block(struct trod_stack *s,
                                                        const struct trod_refs *refs, uint32_t n,
                                                        uint32_t *out, bool count, bool touched,
                                                        bool wide)
{
    struct trod_stack_block *const b = s->block;
    struct trod_front *const f = &b->front;
    const uint64_t total = trod_stack_total(refs->class, n, wide);

    for (uint32_t i = 0; out && i < n; i++)
        out[i] = 0;
    for (uint32_t j = b->n; j < b->n + TROD_STACK_AHEAD; j++)
        b->line[j] = refs->line[0];
    b->at[b->n] = (uint16_t)n;
    for (uint32_t j = 0; j < b->n; j++) {
        const uint32_t is = trod_front_find(f, b->line[j], wide), at = b->at[j];
        const uint32_t end = b->at[j + 1];
        unsigned i;
        uint32_t d;

        if (is) {
            i = (unsigned)__builtin_ctz(is);
            d = trod_front_turn(f, i);
            f->found[d][b->class[j]]++;
        } else {
            d = bring(s, j, &i, count, touched);
            note(s, j, d);
        }
        if (count) {
            f->refs[i] += end - at;
            f->distant[i] += d != TROD_DIST_COLD && d > s->opt.distant;
        }
        if (touched) {
            if (d != TROD_DIST_COLD && d >= s->opt.resident) {
                s->parts[__builtin_popcountll(f->touched[i])]++;
                f->touched[i] = 0;
            }
            for (uint32_t k = at; k < end; k++)
                f->touched[i] |= refs->touched[k];
        }
        if (out)
            out[at] = d;
    }
    for (uint32_t k = f->n; k-- > 0;)
        put_back(s, f->order >> 4 * k & 15, count, touched);
    f->n = 0;
    for (unsigned k = 0; k < TROD_REFS; k++)
        s->refs[k] += total >> 16 * k & 0xffff;
    return count_noted(s) && count_found(s, total);
}

static inline __attribute__((always_inline)) bool
any_block(struct trod_stack *s, const struct trod_refs *refs, uint32_t n, uint32_t *out, bool wide)
{
    if (s->lines.touched)
        return block(s, refs, n, out, s->lines.count != NULL, true, wide);
    if (out)
        return block(s, refs, n, out, s->lines.count != NULL, false, wide);
    if (s->lines.count)
        return block(s, refs, n, NULL, true, false, wide);
    return block(s, refs, n, NULL, false, false, wide);
}

#if TROD_AVX2
TROD_WIDE static bool block_wide(struct trod_stack *s, const struct trod_refs *refs, uint32_t n,
                                 uint32_t *out)
{
    if (trod_widest())
        trod_stack_repeats_widest(s->block, refs, n);
    else
        trod_stack_repeats(s->block, refs, n);
    return any_block(s, refs, n, out, true);
}
#endif

static bool any_way(struct trod_stack *s, const struct trod_refs *refs, uint32_t n, uint32_t *out)
{
#if TROD_AVX2
    if (!s->opt.portable && trod_wide())
        return block_wide(s, refs, n, out);
#endif
    trod_stack_repeats(s->block, refs, n);
    return any_block(s, refs, n, out, false);
}

bool trod_stack_feed(struct trod_stack *s, const struct trod_refs *refs, size_t n, uint32_t *out)
{
    for (size_t i = 0, k; i < n; i += k) {
        const struct trod_refs at = {refs->line + i, refs->class + i,
                                     s->opt.resident ? refs->touched + i : NULL};
        uint32_t *o = out ? out + i : NULL;
        bool ok;

        /* with a limit any reference may make the stack forget a line */
        k = s->opt.limit ? 1 : n - i < TROD_STACK_BLOCK ? n - i : TROD_STACK_BLOCK;
        if (!reserve(s, k))
            return false;
        if (s->opt.limit)
            ok = one(s, at.line[0], at.class[0], at.touched ? at.touched[0] : 0, o);
        else
            ok = any_way(s, &at, (uint32_t)k, o);
        if (!ok)
            return false;
    }
    return true;
}

uint64_t trod_stack_lines(const struct trod_stack *s)
{
    return s->lines.used;
}

void trod_stack_restart(struct trod_stack *s)
{
    trod_dist_clear(&s->dist);
    memset(s->refs, 0, sizeof s->refs);
    memset(s->parts, 0, sizeof s->parts);
    if (s->lines.count)
        memset(s->lines.count, 0, s->lines.size * sizeof *s->lines.count);
    s->pruned = s->pruned_hits = 0;
    s->n_first = 0;
}
