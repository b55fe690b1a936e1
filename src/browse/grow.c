/*
 * grow.c - room for one more at the end of an array. Implements grow.h.
 */
#include "browse/grow.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST = 64 };

void *browse_grow(void *p, size_t n, size_t *cap, size_t size)
{
    const size_t more = *cap ? 2 * *cap : FIRST;
    void *to;

    if (n < *cap)
        return p;
    if (more > SIZE_MAX / size || !(to = realloc(p, more * size)))
        return NULL;
    *cap = more;
    return to;
}
