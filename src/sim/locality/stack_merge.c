/*
 * stack_merge.c - stacks of parts and of several streams put together (stack.h).
 *
 * Parts: each counts alone and remembers its first references in order. These, seen by the part
 * before, have the distance that a single stack would have found: what lies between them in their
 * own part is exactly the first references that have been looked at already (Niu, Dinan, Lu,
 * Sadayappan, "PARDA: a fast parallel reuse distance analysis algorithm", 2012).
 */
#include "stack.h"

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
 * Counters of the lines of FROM on top of those of S. A line that S does not know is only known
 * thereafter; where stacks are summed it is as live as it is in FROM.
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
        if (s->lines.count) {
            s->lines.count[slot].refs += from->lines.count[i].refs;
            s->lines.count[slot].distant += from->lines.count[i].distant;
        }
        if (s->summed && s->lines.at[slot].pos == TROD_LINE_PRUNED && e->pos < TROD_LINE_PRUNED) {
            s->lines.at[slot].pos = 0;
            s->live++;
        }
    }
    return true;
}

/* The first references of LATER, as S sees them. */
static bool feed_first(struct trod_stack *s, const struct trod_stack *later)
{
    for (size_t i = 0; i < later->n_first; i++) {
        const struct trod_first *f = &later->first[i];
        size_t slot;
        uint32_t d;

        if (!trod_stack_touch(s, f->line, &d, &slot))
            return false;
        if (d == TROD_DIST_COLD) {
            s->dist.cold[f->class]++;
            s->first[s->n_first++] = *f;
        } else if (!trod_dist_count(&s->dist, d, f->class, 1)) {
            return false;
        }
        if (s->lines.count)
            s->lines.count[slot].distant += d != TROD_DIST_COLD && d > s->opt.distant;
    }
    return true;
}

bool trod_stack_append(struct trod_stack *s, const struct trod_stack *later)
{
    uint64_t *order;
    bool ok = true;

    if (!feed_first(s, later) || !(order = trod_stack_order(later)))
        return false;
    for (uint64_t i = 0; i < later->live && ok; i++) {
        size_t slot;
        uint32_t d;

        ok = trod_stack_touch(s, order[i], &d, &slot);
    }
    free(order);
    for (unsigned k = 0; k < TROD_REFS; k++) {
        s->refs[k] += later->refs[k];
        s->dist.cold[k] -= later->dist.cold[k]; /* which are added, and were looked up instead */
    }
    return ok && trod_dist_add(&s->dist, &later->dist) && add_counts(s, later);
}

bool trod_stack_sum(struct trod_stack *s, const struct trod_stack *other)
{
    uint64_t parts[TROD_PARTS + 1];

    s->summed = true;
    for (unsigned k = 0; k < TROD_REFS; k++)
        s->refs[k] += other->refs[k];
    trod_stack_parts(other, parts);
    for (unsigned i = 0; i <= TROD_PARTS; i++)
        s->parts[i] += parts[i];
    s->pruned += other->pruned;
    s->pruned_hits += other->pruned_hits;
    return trod_dist_add(&s->dist, &other->dist) && add_counts(s, other);
}

bool trod_stack_forget(struct trod_stack *s, bool (*drop)(uint64_t line, void *user), void *user)
{
    for (size_t i = 0; i < s->lines.size; i++) {
        struct trod_line *e = &s->lines.at[i];

        if (e->pos >= TROD_LINE_PRUNED || !drop(e->line, user))
            continue;
        trod_bits_drop(&s->bits, e->pos);
        e->pos = TROD_LINE_PRUNED;
        s->live--;
    }
    return trod_lines_purge(&s->lines) && trod_stack_renumber(s, 0); /* the last is at now - 1 */
}

void trod_stack_parts(const struct trod_stack *s, uint64_t *n)
{
    for (unsigned i = 0; i <= TROD_PARTS; i++)
        n[i] = s->parts[i];
    for (size_t i = 0; s->lines.touched && i < s->lines.size; i++)
        if (s->lines.touched[i])
            n[__builtin_popcountll(s->lines.touched[i])]++;
}
