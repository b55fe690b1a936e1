/*
 * sets.c - LRU caches of many numbers of sets and ways in one pass (sets.h).
 */
#include "sets.h"

#include <stdlib.h>
#include <string.h>

struct trod_sets *trod_sets_new(unsigned first, unsigned levels, unsigned ways)
{
    struct trod_sets *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->first = first;
    s->levels = levels < TROD_SETS_LEVELS ? levels : TROD_SETS_LEVELS;
    s->ways = ways < TROD_SETS_WAYS ? ways : TROD_SETS_WAYS;
    for (unsigned i = 0; i < s->levels; i++) {
        s->list[i] = calloc((size_t)s->ways << (first + i), sizeof **s->list);
        s->fill[i] = calloc((size_t)1 << (first + i), 1);
        if (!s->list[i] || !s->fill[i]) {
            trod_sets_free(s);
            return NULL;
        }
    }
    return s;
}

void trod_sets_free(struct trod_sets *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->levels; i++) {
        free(s->list[i]);
        free(s->fill[i]);
    }
    free(s);
}

/* Bring LINE to the front of LIST, of which *FILL are in use. Returns where it was, or WAYS. */
static unsigned to_front(uint64_t *list, uint8_t *fill, unsigned ways, uint64_t line)
{
    const unsigned n = *fill;
    uint64_t carry = line;

    for (unsigned p = 0; p < n; p++) {
        const uint64_t was = list[p];

        list[p] = carry;
        if (was == line)
            return p;
        carry = was;
    }
    if (n < ways) {
        list[n] = carry;
        *fill = (uint8_t)(n + 1);
    }
    return ways;
}

static void one(struct trod_sets *s, uint64_t line, unsigned class)
{
    for (unsigned i = 0; i < s->levels; i++) {
        const size_t set = (size_t)(line & ((UINT64_C(1) << (s->first + i)) - 1));
        uint64_t *list = s->list[i] + set * s->ways;
        unsigned p;

        if (list[0] == line && s->fill[i][set]) {
            s->front[i][class]++;
            return;
        }
        p = to_front(list, &s->fill[i][set], s->ways, line);
        if (p < s->ways)
            s->at[i][p][class]++;
    }
}

void trod_sets_feed(struct trod_sets *s, const uint64_t *line, const uint8_t *class, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->refs[class[i]]++;
        one(s, line[i], class[i]);
    }
}

void trod_sets_restart(struct trod_sets *s)
{
    memset(s->at, 0, sizeof s->at);
    memset(s->front, 0, sizeof s->front);
    memset(s->refs, 0, sizeof s->refs);
}

void trod_sets_sum(struct trod_sets *s, const struct trod_sets *other)
{
    for (unsigned k = 0; k < TROD_REFS; k++) {
        s->refs[k] += other->refs[k];
        for (unsigned i = 0; i < s->levels; i++) {
            s->front[i][k] += other->front[i][k];
            for (unsigned p = 0; p < s->ways; p++)
                s->at[i][p][k] += other->at[i][p][k];
        }
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
            misses -= s->front[i][k];
        for (unsigned p = 1; p < ways && p < s->ways; p++)
            misses -= s->at[level][p][k];
    }
    return misses;
}
