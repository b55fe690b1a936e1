/*
 * stack_merge.c - stacks of parts and of several streams joined (stack.h).
 *
 * Each part counts alone and remembers its first references in order. For the part before, these
 * have the distance that a single stack would have found: what lies between them in their own part
 * is exactly the first references that have been looked at already (Niu, Dinan, Lu, Sadayappan,
 * "PARDA: a fast parallel reuse distance analysis algorithm", 2012).
 */
#include "stack.h"

#include "filter.h"

#include <stdlib.h>

uint64_t *trod_stack_order(const struct trod_stack *s)
{
    uint64_t *line = malloc((s->live ? s->live : 1) * sizeof *line);
    uint32_t *rank = malloc(((size_t)s->bits.size >> 6) * sizeof *rank);

    if (!line || !rank) {
        free(line);
        free(rank);
        return NULL;
    }
    trod_bits_ranks(&s->bits, rank);
    for (size_t i = 0; i < s->lines.size; i++) {
        const uint32_t p = s->lines.at[i].pos;

        if (p < TROD_LINE_PRUNED)
            line[rank[p >> 6] + (unsigned)__builtin_popcountll(s->bits.word[p >> 6] &
                                                               ((UINT64_C(1) << (p & 63)) - 1))] =
                s->lines.at[i].line;
    }
    free(rank);
    return line;
}

/*
 * Add the counters of FROM's lines to those of S. A line that S does not know becomes live if it is
 * live in FROM.
 */
static bool add_counts(struct trod_stack *s, const struct trod_stack *from)
{
    if (!trod_lines_reserve(&s->lines, from->lines.used))
        return false;
    for (size_t i = 0; i < from->lines.size; i++) {
        const struct trod_line *e = &from->lines.at[i];
        size_t slot;

        if (e->pos == TROD_LINE_EMPTY)
            continue;
        slot = trod_lines_slot(&s->lines, e->line);
        if (s->lines.at[slot].pos == TROD_LINE_EMPTY) {
            s->lines.at[slot] = (struct trod_line){.line = e->line, .pos = TROD_LINE_PRUNED};
            s->lines.used++;
        }
        trod_tally_add(&s->tally, &s->lines.at[slot], trod_tally_of(&from->tally, e));
        if (trod_tally_knows(e) && !trod_tally_knows(&s->lines.at[slot]))
            trod_tally_know(&s->lines.at[slot]);
        if (s->lines.at[slot].pos == TROD_LINE_PRUNED && e->pos < TROD_LINE_PRUNED) {
            s->lines.at[slot].pos = 0;
            s->live++;
        }
    }
    return true;
}

/* Lines looked up between loading ahead and what needs it. */
enum { AHEAD = 16 };

/* Where the lines of LATER will be in S: as they are in LATER, from position BASE on. */
struct above {
    const struct trod_stack *later;
    const uint32_t *rank;
    uint32_t base;
};

TROD_HOT uint32_t position(const struct above *a, uint32_t p)
{
    const uint64_t below = (UINT64_C(1) << (p & 63)) - 1;

    return a->base + a->rank[p >> 6] +
           (uint32_t)__builtin_popcountll(a->later->bits.word[p >> 6] & below);
}

/* Prefetch what line number I of LATER needs of T. */
TROD_HOT void fetch(const struct trod_lines *t, const struct trod_stack *later, size_t i)
{
    __builtin_prefetch(&t->at[trod_lines_home(t, later->first[i].line)], 1);
}

/* The line in slot FROM of LATER is in SLOT of S, from which it leaves its position. */
TROD_HOT void lift(struct trod_stack *s, size_t slot, const struct above *a, size_t from)
{
    struct trod_line *const e = &s->lines.at[slot];

    if (e->pos < TROD_LINE_PRUNED)
        trod_bits_drop(&s->bits, e->pos);
    else
        s->live++;
    if (e->pos == TROD_LINE_EMPTY)
        s->lines.used++;
    e->line = a->later->lines.at[from].line;
    e->pos = position(a, a->later->lines.at[from].pos);
    trod_tally_add(&s->tally, e, trod_tally_of(&a->later->tally, &a->later->lines.at[from]));
}

/* First references [I, TO) of LATER, at most a block, as S, which has room, sees them. */
TROD_HOT void settle_first(struct trod_stack *s, const struct above *a, size_t i, size_t to)
{
    const struct trod_stack *later = a->later;
    struct trod_stack_block *const b = s->block;

    for (b->n_noted = 0; i < to; i++) {
        const struct trod_first *f = &later->first[i];
        const size_t slot = trod_lines_slot(&s->lines, f->line);
        const uint32_t p = s->lines.at[slot].pos;

        if (i + AHEAD < later->n_first) {
            fetch(&s->lines, later, i + AHEAD);
            fetch(&later->lines, later, i + AHEAD);
        }
        if (p < TROD_LINE_PRUNED) {
            /* lines referenced since in S, and in LATER, where each was a first reference */
            const uint32_t d = trod_bits_after(&s->bits, p) + (uint32_t)i;

            b->noted[b->n_noted++] = trod_stack_note(d, f->class);
            trod_tally_note(&s->tally, &s->lines.at[slot], trod_tally_notes(0, d > s->opt.distant));
        } else {
            s->dist.cold[f->class]++;
            s->first[s->n_first++] = *f;
        }
        lift(s, slot, a, trod_lines_slot(&later->lines, f->line));
    }
}

static void settle_portable(struct trod_stack *s, const struct above *a, size_t i, size_t to)
{
    settle_first(s, a, i, to);
}

#if TROD_AVX2
TROD_WIDE static void settle_wide(struct trod_stack *s, const struct above *a, size_t i, size_t to)
{
    settle_first(s, a, i, to);
}
#endif

/* The same. Returns false without memory. */
static bool settle(struct trod_stack *s, const struct above *a, size_t i, size_t to)
{
#if TROD_AVX2
    if (trod_wide_unless(s->opt.without))
        settle_wide(s, a, i, to);
    else
#endif
        settle_portable(s, a, i, to);
    return trod_stack_noted(s);
}

/*
 * Lines of LATER that had been referenced before it began to count are on top of S without a
 * reference.
 */
static bool lift_others(struct trod_stack *s, const struct above *a)
{
    const struct trod_lines *t = &a->later->lines;

    if (!trod_stack_reserve(s, a->later->live - a->later->n_first))
        return false;
    for (size_t i = 0; i < t->size; i++) {
        size_t slot;

        if (t->at[i].pos >= TROD_LINE_PRUNED)
            continue;
        slot = trod_lines_slot(&s->lines, t->at[i].line);
        if (s->lines.at[slot].pos != position(a, t->at[i].pos)) /* it is not there yet */
            lift(s, slot, a, i);
    }
    return true;
}

/* The lines of LATER come to the top of S, their first references are counted. */
static bool put_above(struct trod_stack *s, const struct trod_stack *later)
{
    /* S's positions must not change meanwhile: reserve room, with a margin */
    const size_t room = later->live + TROD_STACK_BLOCK + 1;
    uint32_t *rank = malloc(((size_t)later->bits.size >> 6) * sizeof *rank);
    struct above a = {.later = later, .rank = rank};
    bool ok = rank && trod_stack_begin(s) &&
              (s->bits.size - s->bits.now > room || trod_stack_renumber(s, room));

    if (ok)
        trod_bits_ranks(&later->bits, rank);
    a.base = s->bits.now;
    for (size_t i = 0, k; ok && i < later->n_first; i += k) {
        k = later->n_first - i < TROD_STACK_BLOCK ? later->n_first - i : TROD_STACK_BLOCK;
        ok = trod_stack_reserve(s, k) && settle(s, &a, i, i + k);
    }
    if (ok && later->n_first < later->live)
        ok = lift_others(s, &a);
    trod_stack_end(s);
    free(rank);
    if (ok)
        trod_bits_fill(&s->bits, (uint32_t)later->live);
    return ok;
}

bool trod_stack_append(struct trod_stack *s, const struct trod_stack *later)
{
    if (!put_above(s, later))
        return false;
    s->anew = s->anew || later->anew;
    for (unsigned k = 0; k < TROD_REFS; k++) {
        s->refs[k] += later->refs[k];
        s->dist.cold[k] -= later->dist.cold[k]; /* which are added, and were looked up instead */
    }
    return trod_dist_add(&s->dist, &later->dist) && !s->tally.failed;
}

bool trod_stack_sum(struct trod_stack *s, const struct trod_stack *other)
{
    uint64_t parts[TROD_PARTS + 1];

    for (unsigned k = 0; k < TROD_REFS; k++)
        s->refs[k] += other->refs[k];
    trod_stack_parts(other, parts);
    for (unsigned i = 0; i <= TROD_PARTS; i++)
        s->parts[i] += parts[i];
    s->anew = s->anew || other->anew;
    s->pruned += other->pruned;
    s->pruned_hits += other->pruned_hits;
    return trod_dist_add(&s->dist, &other->dist) && add_counts(s, other) && !s->tally.failed;
}

bool trod_stack_forget(struct trod_stack *s, bool (*drop)(uint64_t line, void *user), void *user)
{
    for (size_t i = 0; i < s->lines.size; i++) {
        struct trod_line *e = &s->lines.at[i];

        if (e->pos >= TROD_LINE_PRUNED || !drop(e->line, user))
            continue;
        trod_bits_drop(&s->bits, e->pos);
        e->pos = TROD_LINE_PRUNED;
        trod_tally_forget(&s->tally, e);
        s->live--;
    }
    return trod_lines_purge(&s->lines) && trod_stack_renumber(s, 0); /* the last is at now - 1 */
}

void trod_stack_parts(const struct trod_stack *s, uint64_t *n)
{
    n[0] = 0; /* of a residency without parts nothing was referenced since counts were reset */
    for (unsigned i = 1; i <= TROD_PARTS; i++)
        n[i] = s->parts[i];
    for (size_t i = 0; s->lines.touched && i < s->lines.size; i++)
        if (s->lines.touched[i])
            n[__builtin_popcountll(s->lines.touched[i])]++;
}
