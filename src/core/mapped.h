/*
 * mapped.h - memory of the system's own, for slab.c, spare.c, zeroed.c, recent.c and small batches.
 */
#ifndef TROD_CORE_MAPPED_H
#define TROD_CORE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* The least page that systems have, and a huge one. */
enum { TROD_PAGE = 1 << 12, TROD_HUGE_PAGE = 1 << 21 };

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

/*
 * N bytes, all zero, whole huge pages, which they begin with; they are made huge where the system
 * has such. NULL: no memory, or N is 0.
 */
static inline void *trod_map_huge(size_t n)
{
    char *p = (char *)trod_map(n ? n + TROD_HUGE_PAGE : 0);
    size_t before;

    if (!p)
        return NULL;
    before = -(uintptr_t)p & (TROD_HUGE_PAGE - 1);
    if (before)
        munmap(p, before);
    p += before;
    munmap(p + n, TROD_HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(p, n, MADV_HUGEPAGE);
#endif
    return p;
}

/* Do BYTES have huge pages? If they fill more than half of one. */
static inline bool trod_mapped_huge(size_t bytes)
{
    return bytes > TROD_HUGE_PAGE / 2;
}

/* What trod_map_for maps for BYTES. */
static inline size_t trod_mapped_for(size_t bytes)
{
    return trod_mapped(bytes, trod_mapped_huge(bytes) ? TROD_HUGE_PAGE : TROD_PAGE);
}

/* BYTES, all zero, in pages of the kind that suits them. NULL: no memory, or BYTES is 0. */
static inline void *trod_map_for(size_t bytes)
{
    const size_t n = trod_mapped_for(bytes);

    return trod_mapped_huge(bytes) ? trod_map_huge(n) : trod_map(n);
}

#endif
