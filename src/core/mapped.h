/*
 * mapped.h - memory of the system's own, for spare.c, zeroed.c and recent.c.
 */
#ifndef TROD_CORE_MAPPED_H
#define TROD_CORE_MAPPED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* The least page that systems have. */
enum { TROD_PAGE = 1 << 12 };

/* BYTES as whole units of UNIT, a power of two; 0: there is no such memory. */
static inline size_t trod_mapped(size_t bytes, size_t unit)
{
    return bytes < SIZE_MAX / 2 ? (bytes + unit - 1) & ~(unit - 1) : 0;
}

/* N bytes, all zero, in pages of the system. NULL: no memory, or N is 0. */
static inline void *trod_map(size_t n)
{
    void *p =
        n ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;

    return p == MAP_FAILED ? NULL : p;
}

#endif
