/*
 * named.h - rows counted by the numbers that a format has names for (trod_format.sub_name).
 *
 * Numbers below 64 and the last one that has a name are counted each for itself, the others
 * together: what stands for a record without a number lies far behind those of all others.
 */
#ifndef TROD_ANALYSIS_NAMED_H
#define TROD_ANALYSIS_NAMED_H

#include "trod/format.h"

enum { NAMED_LOW = 64, NAMED_LAST = NAMED_LOW, NAMED_OTHER, NAMED_SLOTS };

/* Where rows of number SUB of F are counted. */
static inline unsigned named_slot(const struct trod_format *f, unsigned sub)
{
    if (sub < NAMED_LOW)
        return sub;
    return sub + 1 == f->subs ? (unsigned)NAMED_LAST : (unsigned)NAMED_OTHER;
}

/* The name of what is counted in SLOT of rows of KIND, NULL where it has none. */
static inline const char *named_of(const struct trod_format *f, unsigned kind, unsigned slot)
{
    if (slot < NAMED_LOW)
        return f->sub_name(kind, slot);
    return slot == NAMED_LAST && f->subs > NAMED_LOW ? f->sub_name(kind, f->subs - 1) : NULL;
}

#endif
