/*
 * grow.h - arrays that double when they are full.
 */
#ifndef TROD_CORE_GROW_H
#define TROD_CORE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/*
 * See to element AT of an array of *N elements of SIZE bytes, such as one by stream: it has 16 at
 * first and doubles until there is one. New elements are copies of FILL, or all zero where that is
 * NULL. ARRAY is the address of the pointer to it. Returns false when there is no memory; then
 * nothing has changed.
 */
static inline bool trod_grow_to(void *array, uint32_t *n, uint32_t at, size_t size,
                                const void *fill)
{
    uint32_t more = *n ? *n : 16;
    char *p;

    if (at < *n)
        return true;
    while (more <= at && more <= UINT32_MAX / 2)
        more *= 2;
    if (more <= at)
        return false;
    memcpy(&p, array, sizeof p); /* whatever it points to */
    p = realloc(p, more * size);
    if (!p)
        return false;
    if (!fill)
        memset(p + *n * size, 0, (more - *n) * size);
    for (uint32_t i = *n; fill && i < more; i++)
        memcpy(p + i * size, fill, size);
    memcpy(array, &p, sizeof p);
    *n = more;
    return true;
}

#endif
