/*
 * spans.c - sets of numbers as a few ranges, which may contain more than the set.
 *
 * Where there are too many ranges, those nearest to each other are joined.
 */
#include <string.h>

#include "show/match.h"

/* Range I and the one behind it become one. */
static void join(struct trod_match_spans *s, uint32_t i)
{
    if (s->at[i + 1].hi > s->at[i].hi)
        s->at[i].hi = s->at[i + 1].hi;
    s->n--;
    memmove(&s->at[i + 1], &s->at[i + 2], (s->n - i - 1) * sizeof *s->at);
}

/* Room for one more. */
static void make_room(struct trod_match_spans *s)
{
    uint32_t nearest = 0;

    if (s->n < TROD_MATCH_SPANS)
        return;
    for (uint32_t i = 1; i + 1 < s->n; i++)
        if (s->at[i + 1].lo - s->at[i].hi < s->at[nearest + 1].lo - s->at[nearest].hi)
            nearest = i;
    join(s, nearest);
}

void match_spans_add(struct trod_match_spans *s, uint64_t lo, uint64_t hi)
{
    uint32_t i = 0;

    s->set = true;
    make_room(s);
    while (i < s->n && s->at[i].lo < lo)
        i++;
    memmove(&s->at[i + 1], &s->at[i], (s->n - i) * sizeof *s->at);
    s->at[i].lo = lo;
    s->at[i].hi = hi;
    s->n++;
    if (i > 0 && (s->at[i - 1].hi >= lo || s->at[i - 1].hi + 1 == lo))
        join(s, --i);
    while (i + 1 < s->n && (s->at[i].hi >= s->at[i + 1].lo || s->at[i].hi + 1 == s->at[i + 1].lo))
        join(s, i);
}

struct trod_match_spans match_spans_both(const struct trod_match_spans *a,
                                         const struct trod_match_spans *b)
{
    struct trod_match_spans out = {.set = true};

    if (!a->set || !b->set)
        return a->set ? *a : *b;
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++) {
            const uint64_t lo = a->at[i].lo > b->at[k].lo ? a->at[i].lo : b->at[k].lo;
            const uint64_t hi = a->at[i].hi < b->at[k].hi ? a->at[i].hi : b->at[k].hi;

            if (lo <= hi)
                match_spans_add(&out, lo, hi);
        }
    return out;
}

struct trod_match_spans match_spans_either(const struct trod_match_spans *a,
                                           const struct trod_match_spans *b)
{
    struct trod_match_spans out = *a;

    if (!a->set || !b->set)
        return (struct trod_match_spans){.set = false};
    for (uint32_t i = 0; i < b->n; i++)
        match_spans_add(&out, b->at[i].lo, b->at[i].hi);
    return out;
}
