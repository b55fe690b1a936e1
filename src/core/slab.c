/*
 * slab.c - implements slab.h: slabs are huge pages that a buddy system divides into blocks.
 *
 * A slab is a binary tree whose leaves have LEAF bytes. Each node knows the largest block that is
 * free below it (Knuth, "The Art of Computer Programming", volume 1, 2.5). Blocks of more than half
 * a slab are mapped alone, in whole huge pages.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "core/slab.h"

#include "core/mapped.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, LEAF = 1 << 14, SLAB = TROD_HUGE_PAGE, LEAVES = SLAB / LEAF, TOP = 8 };

/* AddressSanitizer sees use after release only of blocks that are malloc's. */
#ifdef __SANITIZE_ADDRESS__
enum { DIVIDES = 0 };
#elif defined __has_feature
enum { DIVIDES = !__has_feature(address_sanitizer) };
#else
enum { DIVIDES = 1 };
#endif

/* Stands in the first leaf of its memory. */
struct slab {
    struct slab *next, *before;
    size_t used; /* behind so many bytes nothing was ever taken: they are zero */
    /* of node i, whose halves are 2 i and 2 i + 1: LEAF << most - 1 bytes are the largest free
       block below; 0: there is none, or the node is a block */
    uint8_t most[2 * LEAVES];
};

_Static_assert(sizeof(struct slab) <= LEAF, "a slab's own data is its first leaf");
_Static_assert(LEAVES == 1 << (TOP - 1), "the root is the block of order TOP");

static struct {
    pthread_mutex_t lock;
    struct slab *first;
} slabs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The order of the least block that has BYTES: 1 for a leaf, TOP for what is no part of a slab. */
static unsigned order_of(size_t bytes)
{
    unsigned order = 1;

    while (order < TOP && (size_t)LEAF << (order - 1) < bytes)
        order++;
    return order;
}

/* Node I of S, of ORDER, has changed: so may those above it. */
static void tell_above(struct slab *s, unsigned i, unsigned order)
{
    for (i /= 2; i > 0; i /= 2) {
        const uint8_t a = s->most[2 * i], b = s->most[2 * i + 1];

        s->most[i] = a == order && b == order ? (uint8_t)(order + 1) : a > b ? a : b;
        order++;
    }
}

/* A block of ORDER of S, which has one. */
static void *cut(struct slab *s, unsigned order)
{
    unsigned i = 1, at = TOP;

    for (; at > order; at--)
        i = s->most[2 * i] >= order ? 2 * i : 2 * i + 1;
    s->most[i] = 0;
    tell_above(s, i, order);
    return (char *)s + (size_t)LEAF * (((size_t)i << (order - 1)) - LEAVES);
}

/* A slab, the first of all. NULL: no memory. */
static struct slab *new_slab(void)
{
    struct slab *s = trod_map_huge(SLAB);

    if (!s)
        return NULL;
    for (unsigned i = 1, order = TOP; order > 0; order--)
        for (const unsigned end = 2 * i; i < end; i++)
            s->most[i] = (uint8_t)order;
    cut(s, 1);
    s->before = NULL;
    s->next = slabs.first;
    if (s->next)
        s->next->before = s;
    slabs.first = s;
    return s;
}

/* Is nothing of S used? */
static bool is_free(const struct slab *s)
{
    /* all but the first leaf */
    for (unsigned i = 2, order = TOP - 1; order > 0; order--, i *= 2)
        if (s->most[i + 1] != order)
            return false;
    return true;
}

/* S is not needed any more. */
static void drop(struct slab *s)
{
    if (s->next)
        s->next->before = s->before;
    if (s->before)
        s->before->next = s->next;
    else
        slabs.first = s->next;
    munmap(s, SLAB);
}

/* BYTES of memory, of which the first *DIRTY need not be zero. */
static void *take(size_t bytes, size_t *dirty)
{
    const unsigned order = order_of(bytes);
    struct slab *s;
    char *p = NULL;

    *dirty = bytes;
    if (!DIVIDES || bytes < LEAF)
        return bytes < SIZE_MAX / 2 ? aligned_alloc(ALIGN, (bytes + ALIGN - 1) & -(size_t)ALIGN)
                                    : NULL;
    if (order == TOP) {
        *dirty = 0;
        return trod_map_huge(trod_mapped(bytes, SLAB));
    }
    pthread_mutex_lock(&slabs.lock);
    for (s = slabs.first; s && s->most[1] < order;)
        s = s->next;
    if (!s)
        s = new_slab();
    if (s) {
        p = cut(s, order);
        const size_t at = (size_t)(p - (char *)s), was = s->used > at ? s->used - at : 0;

        *dirty = was < bytes ? was : bytes;
        if (s->used < at + bytes)
            s->used = at + bytes;
    }
    pthread_mutex_unlock(&slabs.lock);
    return p;
}

void *trod_slab_take(size_t bytes)
{
    size_t dirty;

    return take(bytes, &dirty);
}

void *trod_slab_zeroed(size_t bytes)
{
    size_t dirty;
    void *p = take(bytes, &dirty);

    if (p && dirty)
        memset(p, 0, dirty);
    return p;
}

void trod_slab_give(void *p, size_t bytes)
{
    const unsigned order = order_of(bytes);
    struct slab *s;
    unsigned i;

    if (!DIVIDES || bytes < LEAF) {
        free(p);
        return;
    }
    if (order == TOP) {
        if (p)
            munmap(p, trod_mapped(bytes, SLAB));
        return;
    }
    if (!p)
        return;
    s = (struct slab *)((uintptr_t)p & ~(uintptr_t)(SLAB - 1));
    i = (unsigned)((((size_t)((char *)p - (char *)s) / LEAF) + LEAVES) >> (order - 1));
    pthread_mutex_lock(&slabs.lock);
    s->most[i] = (uint8_t)order;
    tell_above(s, i, order);
    if (is_free(s) && (s->next || s->before)) /* one stays */
        drop(s);
    pthread_mutex_unlock(&slabs.lock);
}
