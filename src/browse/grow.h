/*
 * grow.h - room for one more at the end of an array.
 */
#ifndef BROWSE_GROW_H
#define BROWSE_GROW_H

#include <stddef.h>

/*
 * P, an array of N elements of SIZE bytes with room for *CAP, with room for one more: P itself, or
 * where it has moved to, twice as large. NULL: memory is short; P is as it was.
 */
void *browse_grow(void *p, size_t n, size_t *cap, size_t size);

#endif
