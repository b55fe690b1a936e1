/*
 * sets_part.c - parts of the references of LRU caches of many numbers of sets and ways (sets.h).
 *
 * In a part, a line that is in the list of its set is where it would be whatever came before, and a
 * line that is not there is not there either if the list is full. Else it is the first reference of
 * the part to this line: where the line was is known once the list that the part began with is.
 */
#include "sets_int.h"

#include <stdlib.h>
#include <string.h>

bool trod_sets_begin_part(struct trod_sets *s)
{
    for (unsigned i = 0; i < s->levels; i++) {
        const size_t sets = (size_t)1 << (s->first + i);

        s->met[i] = malloc(sets * s->ways * sizeof **s->met);
        s->n_met[i] = calloc(sets, sizeof **s->n_met);
        if (!s->met[i] || !s->n_met[i])
            return false;
        s->unmet[i] = (uint64_t)sets * s->ways;
    }
    return true;
}

uint64_t trod_sets_part_bytes(unsigned first, unsigned levels, unsigned ways)
{
    return ((UINT64_C(2) << (first + levels - 1)) - (UINT64_C(1) << first)) * ways * 2 *
           sizeof(uint64_t);
}

/* Line number P, which is no empty place, of list SET of level I of S. */
static uint64_t line_at(const struct trod_sets *s, unsigned i, size_t set, unsigned p)
{
    const size_t at = set * s->stride + p;

    return s->is_narrow ? trod_narrow_line(&s->narrow, s->few[i][at]) : s->list[i][at];
}

/* Is the first line of LATER in SET of level I in front of that set in S? */
static bool in_front(const struct trod_sets *s, const struct trod_sets *later, unsigned i,
                     size_t set)
{
    return later->n_met[i][set] && later->met[i][set * s->ways] == s->list[i][set * s->stride];
}

/*
 * The references of LATER to SET of level I that depend on S: count those whose line S has. A line
 * in front of its set is looked for at no larger number of sets: level I - 1 must still be as it
 * was.
 */
static void resolve(struct trod_sets *s, const struct trod_sets *later, unsigned i, size_t set)
{
    const uint64_t *const met = later->met[i] + set * s->ways;
    uint64_t *const list = s->list[i] + set * s->stride;
    const size_t below = i ? set & (((size_t)1 << (s->first + i - 1)) - 1) : 0;
    const bool counted = i && in_front(s, later, i, set) && in_front(s, later, i - 1, below) &&
                         later->met[i - 1][below * s->ways] == met[0];
    const unsigned n = later->n_met[i][set];

    for (unsigned q = 0; q < n; q++) {
        const unsigned p = trod_sets_front(list, s->ways, met[q]);

        if (p < s->ways && !(q == 0 && counted) && (met[q] != TROD_SETS_NO_LINE || s->no_line))
            s->at[i][p][0]++;
    }
    /* those lines are in front now: in the order of their last use */
    for (unsigned p = 0; p < n; p++)
        list[p] = line_at(later, i, set, p);
}

void trod_sets_append(struct trod_sets *s, const struct trod_sets *later)
{
    if (!later->fed)
        return;
    if (!s->fed)
        trod_sets_empty(s);
    s->fed = true;
    trod_sets_widen(s);
    for (unsigned i = s->levels; i-- > 0;)
        for (size_t set = 0; set < (size_t)1 << (s->first + i); set++)
            if (later->n_met[i][set])
                resolve(s, later, i, set);
    for (size_t set = 0; set < (size_t)1 << s->first; set++)
        s->front[set] = s->list[0][set * s->stride];
    s->no_line |= later->no_line;
    trod_sets_sum(s, later);
}
