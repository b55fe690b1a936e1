/*
 * stack.c - LRU stack distances, exactly (stack.h; docs/locality.md, "How it works").
 *
 * A hash table gives the position of each line's last reference; the distance is the number of
 * positions after it that are last references of other lines. References come in blocks (block.c).
 */
#include "stack.h"

#include "core/slab.h"
#include "core/spare.h"
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
    if (opt->limit)
        s->owner = calloc(UINT32_C(1) << LEAST_LOG, sizeof *s->owner);
    if ((opt->limit && !s->owner) || !trod_lines_init(&s->lines, false, opt->resident != 0) ||
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
    trod_tally_fini(&s->tally);
    trod_bits_free(&s->bits);
    trod_dist_clear(&s->dist);
    free(s->owner);
    trod_slab_give(s->first, s->cap_first * sizeof *s->first);
    free(s);
}

/* Positions for MORE references, eight times the live lines: then renumbering costs little. */
static uint32_t positions(const struct trod_stack *s, size_t more)
{
    uint64_t size = UINT64_C(1) << LEAST_LOG;

    while (size < 8 * (s->live + more) && size < UINT64_C(1) << 31)
        size *= 2;
    return (uint32_t)size;
}

/* Positions of lines become their ranks; RANK: of the positions' words. */
TROD_HOT void to_ranks(struct trod_stack *s, const uint32_t *rank)
{
    struct trod_line *const at = s->lines.at;
    const uint64_t *const word = s->bits.word;
    const size_t size = s->lines.size;

    for (size_t i = 0; i < size; i++) {
        const uint32_t p = at[i].pos;
        const uint64_t below = (UINT64_C(1) << (p & 63)) - 1;

        if (p < TROD_LINE_PRUNED)
            at[i].pos = rank[p >> 6] + (uint32_t)__builtin_popcountll(word[p >> 6] & below);
    }
}

static void to_ranks_portable(struct trod_stack *s, const uint32_t *rank)
{
    to_ranks(s, rank);
}

#if TROD_AVX2
TROD_WIDE static void to_ranks_wide(struct trod_stack *s, const uint32_t *rank)
{
    to_ranks(s, rank);
}
#endif

static void renumber(struct trod_stack *s, const uint32_t *rank)
{
#if TROD_AVX2
    if (trod_wide_unless(s->opt.without))
        to_ranks_wide(s, rank);
    else
#endif
        to_ranks_portable(s, rank);
    for (size_t i = 0; s->owner && i < s->lines.size; i++)
        if (s->lines.at[i].pos < TROD_LINE_PRUNED)
            s->owner[s->lines.at[i].pos] = (uint32_t)i;
}

bool trod_stack_renumber(struct trod_stack *s, size_t more)
{
    const uint32_t size = positions(s, more);
    const size_t ranks = ((size_t)s->bits.size >> 6) * sizeof(uint32_t);
    uint32_t *rank = trod_slab_take(ranks);
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
        trod_slab_give(rank, ranks);
        return false;
    }
    trod_bits_ranks(&s->bits, rank);
    renumber(s, rank);
    trod_slab_give(rank, ranks);
    if (bits.word != s->bits.word)
        trod_bits_free(&s->bits);
    s->bits = bits;
    trod_bits_first(&s->bits, (uint32_t)s->live);
    s->low = 0;
    return true;
}

bool trod_stack_reserve(struct trod_stack *s, size_t n)
{
    const size_t slots = s->lines.size;

    if (s->live + n > LIVE_MAX || !trod_lines_reserve(&s->lines, n))
        return false;
    if (s->opt.first && s->n_first + n > s->cap_first) {
        const size_t cap = 2 * s->cap_first + n;
        struct trod_first *more = trod_slab_take(cap * sizeof *more);

        if (!more)
            return false;
        if (s->n_first)
            memcpy(more, s->first, s->n_first * sizeof *more);
        trod_slab_give(s->first, s->cap_first * sizeof *more);
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
    trod_tally_forget(&s->tally, &s->lines.at[slot]);
    if (s->lines.touched)
        end_residency(s, slot);
    s->live--;
    s->pruned++;
}

/* LINE, whose SLOT has no position, is live from now on. */
static void add(struct trod_stack *s, size_t slot, uint64_t line)
{
    struct trod_line *const e = &s->lines.at[slot];

    s->lines.used += e->pos == TROD_LINE_EMPTY;
    s->pruned_hits += e->pos == TROD_LINE_PRUNED;
    e->line = line;
    s->live++;
}

/* The first reference to LINE, of class CLASS, is counted. */
static void count_cold(struct trod_stack *s, uint64_t line, unsigned class)
{
    s->dist.cold[class]++;
    if (s->opt.first)
        s->first[s->n_first++] = (struct trod_first){line, (uint8_t) class};
}

void trod_stack_cold(struct trod_stack *s, size_t slot, uint64_t line, unsigned class)
{
    add(s, slot, line);
    count_cold(s, line, class);
}

/* Put LINE on top of the stack: where it was, and its slot. There is room. */
static uint32_t place(struct trod_stack *s, uint64_t line, size_t *slot)
{
    uint32_t d = TROD_DIST_COLD;
    struct trod_line *e;

    *slot = trod_lines_slot(&s->lines, line);
    e = &s->lines.at[*slot];
    if (e->pos < TROD_LINE_PRUNED) {
        d = trod_bits_after(&s->bits, e->pos);
        trod_bits_drop(&s->bits, e->pos);
    } else {
        add(s, *slot, line);
    }
    trod_bits_set(&s->bits, s->bits.now);
    e->pos = s->bits.now++;
    return d;
}

bool trod_stack_touch(struct trod_stack *s, uint64_t line, uint32_t *d, size_t *slot)
{
    if (!trod_stack_reserve(s, 1))
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

    trod_tally_note(&s->tally, &s->lines.at[slot],
                    trod_tally_notes(1, d != TROD_DIST_COLD && d > s->opt.distant));
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
    if (d != TROD_DIST_COLD)
        return trod_dist_count(&s->dist, d, class, 1);
    count_cold(s, line, class);
    return true;
}

bool trod_stack_begin(struct trod_stack *s)
{
    if (!s->opt.limit)
        s->block = trod_spare_take(TROD_STACK_BLOCK_BYTES);
    return s->opt.limit || s->block;
}

void trod_stack_end(struct trod_stack *s)
{
    trod_spare_give(s->block, TROD_STACK_BLOCK_BYTES);
    s->block = NULL;
}

/*
 * References of the next block: every one might be to a new line, for which there must be room, and
 * of thousands of threads each has a table of lines. So blocks are small while there is little
 * room, and tables grow when they are nearly full.
 */
static uint32_t block_of(const struct trod_stack *s)
{
    enum { LEAST = 256 };
    const size_t room = trod_lines_most(s->lines.size) - s->lines.used;

    return room < LEAST ? LEAST : room < TROD_STACK_BLOCK ? (uint32_t)room : TROD_STACK_BLOCK;
}

static bool feed(struct trod_stack *s, const struct trod_refs *refs, size_t n, uint32_t *out)
{
    for (size_t i = 0, k; i < n; i += k) {
        const struct trod_refs at = {refs->line + i, refs->class + i,
                                     s->opt.resident ? refs->touched + i : NULL};
        uint32_t *o = out ? out + i : NULL;
        bool ok;

        /* with a limit any reference may make the stack forget a line */
        k = s->opt.limit ? 1 : block_of(s);
        k = n - i < k ? n - i : k;
        if (s->opt.limit)
            ok = trod_stack_reserve(s, 1) &&
                 one(s, at.line[0], at.class[0], at.touched ? at.touched[0] : 0, o);
        else
            ok = trod_stack_block(s, &at, (uint32_t)k, o);
        if (!ok)
            return false;
    }
    return true;
}

bool trod_stack_feed(struct trod_stack *s, const struct trod_refs *refs, size_t n, uint32_t *out)
{
    const bool ok = trod_stack_begin(s) && feed(s, refs, n, out) && !s->tally.failed;

    trod_stack_end(s);
    return ok;
}

uint64_t trod_stack_lines(const struct trod_stack *s)
{
    return s->lines.used;
}

uint64_t trod_stack_counted(const struct trod_stack *s)
{
    uint64_t n = 0;

    if (!s->anew)
        return trod_stack_lines(s);
    for (size_t i = 0; i < s->lines.size; i++)
        n += s->lines.at[i].pos != TROD_LINE_EMPTY && trod_tally_knows(&s->lines.at[i]);
    return n;
}

void trod_stack_restart(struct trod_stack *s)
{
    trod_dist_clear(&s->dist);
    memset(s->refs, 0, sizeof s->refs);
    memset(s->parts, 0, sizeof s->parts);
    trod_tally_clear(&s->tally);
    for (size_t i = 0; i < s->lines.size; i++)
        s->lines.at[i].lately = 0;
    if (s->lines.touched)
        memset(s->lines.touched, 0, s->lines.size * sizeof *s->lines.touched);
    s->pruned = s->pruned_hits = 0;
    s->n_first = 0;
    s->anew = true;
}
