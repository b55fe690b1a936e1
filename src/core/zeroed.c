/*
 * zeroed.c - implements zeroed.h.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise, mremap */
#include "core/zeroed.h"

#include "core/mapped.h"
#include "core/spare.h"
#include "trod/types.h"

#include <stdlib.h>
#include <string.h>

/* FIRST: elements. COPIED: bytes; blocks up to this size that are kept are cheaper than new pages.
 */
enum { SMALL = TROD_SPARE_LEAST, FIRST = 1 << 10, COPIED = 1 << 22 };

/* Of N bytes at P, which are zero, each page is made. */
static void make_pages(void *p, size_t n)
{
    volatile char *const at = p;

#ifdef MADV_POPULATE_WRITE
    if (madvise(p, n, MADV_POPULATE_WRITE) == 0)
        return;
#endif
    for (size_t i = 0; i < n; i += TROD_PAGE)
        at[i] = 0;
}

void *trod_zeroed_new(size_t bytes)
{
    void *p;

    if (bytes < SMALL)
        return calloc(1, bytes);
    p = trod_spare_kept(bytes);
    if (p)
        return memset(p, 0, bytes);
    p = trod_map_for(bytes);
    if (p)
        make_pages(p, bytes);
    return p;
}

void trod_zeroed_free(void *p, size_t bytes)
{
    if (bytes < SMALL)
        free(p);
    else
        trod_spare_give(p, bytes);
}

/* ThreadSanitizer knows nothing of mremap: addresses that another thread left would be races */
#if defined MREMAP_MAYMOVE && !defined __SANITIZE_THREAD__
enum { MOVES = 1 };

/* P of HAD bytes, which were mapped and stay of the same kind of pages, with BYTES. NULL: no
 * memory. */
static void *moved(void *p, size_t had, size_t bytes)
{
    const size_t was = trod_mapped_for(had), is = trod_mapped_for(bytes);
    char *to;

    if (!is)
        return NULL;
    /* where what is moved by itself comes to lie need not be the beginning of a huge page */
    if (!trod_mapped_huge(bytes)) {
        to = mremap(p, was, is, MREMAP_MAYMOVE);
    } else if ((to = trod_map_huge(is)) != NULL) {
        if (mremap(p, was, was, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
            munmap(to, is);
            return NULL;
        }
    }
    if (!to || to == MAP_FAILED)
        return NULL;
    make_pages(to + was, is - was);
    return to;
}
#else
enum { MOVES = 0 };

static void *moved(void *p, size_t had, size_t bytes)
{
    (void)p, (void)had, (void)bytes;
    return NULL;
}
#endif

/* P of HAD bytes, or NULL, with BYTES, which are more. NULL: no memory. */
static void *grown(void *p, size_t had, size_t bytes)
{
    char *to;

    if (bytes < SMALL) {
        to = realloc(p, bytes);
        if (to)
            memset(to + had, 0, bytes - had);
        return to;
    }
    to = bytes <= COPIED ? trod_spare_kept(bytes) : NULL;
    if (to)
        memset(to + had, 0, bytes - had);
    else if (MOVES && had >= SMALL && trod_mapped_huge(had) == trod_mapped_huge(bytes))
        return moved(p, had, bytes);
    else
        to = trod_zeroed_new(bytes);
    if (to && p) {
        memcpy(to, p, had);
        trod_zeroed_free(p, had);
    }
    return to;
}

int trod_zeroed_room(void *array, size_t *have, size_t n, size_t size)
{
    size_t cap = *have ? *have : FIRST;
    void *p;

    if (n <= *have)
        return TROD_OK;
    while (cap < n && cap < SIZE_MAX / 4)
        cap *= 2;
    if (cap < n || cap > SIZE_MAX / 4 / size)
        return TROD_ERR_NOMEM;
    memcpy(&p, array, sizeof p);
    p = grown(p, *have * size, cap * size);
    if (!p)
        return TROD_ERR_NOMEM;
    memcpy(array, &p, sizeof p);
    *have = cap;
    return TROD_OK;
}
