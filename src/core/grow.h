/*
 * grow.h - arrays that double when they are full.
 */
#ifndef TROD_CORE_GROW_H
#define TROD_CORE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * See to room for one more element of SIZE bytes behind the N of an array that has room for *CAP;
 * FIRST is where it begins. ARRAY is the address of the pointer to it. Returns false when there is
 * no memory; then nothing has changed.
 */
static inline bool trod_grow(void *array, size_t n, size_t *cap, size_t size, size_t first)
{
    const size_t more = *cap ? 2 * *cap : first;
    void *p;

    if (n < *cap)
        return true;
    memcpy(&p, array, sizeof p); /* whatever it points to */
    p = realloc(p, more * size);
    if (!p)
        return false;
    memcpy(array, &p, sizeof p);
    *cap = more;
    return true;
}

#endif
