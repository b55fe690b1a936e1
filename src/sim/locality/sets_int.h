/*
 * sets_int.h - what sets.c and sets_part.c share.
 */
#ifndef TROD_SIM_SETS_INT_H
#define TROD_SIM_SETS_INT_H

#include "sets.h"

/* Bring LINE to the front of LIST. Returns where it was, or WAYS. */
static inline unsigned trod_sets_front(uint64_t *list, unsigned ways, uint64_t line)
{
    uint64_t carry = line;

    for (unsigned p = 0; p < ways; p++) {
        const uint64_t was = list[p];

        list[p] = carry;
        if (was == line)
            return p;
        carry = was;
    }
    return ways;
}

/* LINE was not in the list of SET of level I of a part: keep it if it is one of the first there. */
static inline void trod_sets_meet(struct trod_sets *s, unsigned i, size_t set, uint64_t line)
{
    uint8_t *const n = &s->n_met[i][set];

    if (*n < s->ways) {
        s->met[i][set * s->ways + *n] = line;
        ++*n;
        s->unmet[i]--;
    }
}

/* sets.c: all lists are empty, and those of 64 bits from here on. */
void trod_sets_empty(struct trod_sets *s);
void trod_sets_widen(struct trod_sets *s);

#endif
