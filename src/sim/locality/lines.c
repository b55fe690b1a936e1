/*
 * lines.c - tables of cache lines (lines.h).
 */
#include "lines.h"

#include "core/slab.h"

enum { FIRST = 1 << 8 }; /* slots of a new table: of thousands of threads each has one */

/* Slots for an empty table of SIZE, with what T has. */
static bool make(struct trod_lines *t, size_t size, bool count, bool touched)
{
    *t = (struct trod_lines){.size = size, .shift = 64};
    for (size_t n = size; n > 1; n /= 2)
        t->shift--;
    t->at = trod_slab_take(size * sizeof *t->at);
    if (count)
        t->count = trod_slab_zeroed(size * sizeof *t->count);
    if (touched)
        t->touched = trod_slab_zeroed(size * sizeof *t->touched);
    if (!t->at || (count && !t->count) || (touched && !t->touched)) {
        trod_lines_free(t);
        return false;
    }
    for (size_t i = 0; i < size; i++)
        t->at[i] = (struct trod_line){.pos = TROD_LINE_EMPTY};
    return true;
}

bool trod_lines_init(struct trod_lines *t, bool count, bool touched)
{
    return make(t, FIRST, count, touched);
}

void trod_lines_free(struct trod_lines *t)
{
    trod_slab_give(t->at, t->size * sizeof *t->at);
    trod_slab_give(t->count, t->size * sizeof *t->count);
    trod_slab_give(t->touched, t->size * sizeof *t->touched);
    *t = (struct trod_lines){0};
}

/* The lines of T in a table of SIZE slots, pruned ones only if KEEP. */
static bool rehash(struct trod_lines *t, size_t size, bool keep)
{
    struct trod_lines to;

    if (!make(&to, size, t->count != NULL, t->touched != NULL))
        return false;
    for (size_t i = 0; i < t->size; i++) {
        size_t slot;

        if (t->at[i].pos == TROD_LINE_EMPTY || (!keep && t->at[i].pos == TROD_LINE_PRUNED))
            continue;
        slot = trod_lines_slot(&to, t->at[i].line);
        to.at[slot] = t->at[i];
        if (t->count)
            to.count[slot] = t->count[i];
        if (t->touched)
            to.touched[slot] = t->touched[i];
        to.used++;
    }
    trod_lines_free(t);
    *t = to;
    return true;
}

bool trod_lines_reserve(struct trod_lines *t, size_t n)
{
    size_t size = t->size;

    while (t->used + n > trod_lines_most(size))
        size *= 2;
    return size == t->size || rehash(t, size, true);
}

bool trod_lines_purge(struct trod_lines *t)
{
    return rehash(t, t->size, false);
}
