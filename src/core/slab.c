/*
 * slab.c - implements slab.h: slabs are huge pages that a buddy system divides into blocks.
 *
 * A slab is a binary tree whose leaves have LEAF bytes. Each node knows the largest block that is
 * free below it (Knuth, "The Art of Computer Programming", volume 1, 2.5). The trees are not in the
 * slabs, so that two tables of a megabyte fill one. Larger blocks than a slab are mapped alone, in
 * whole huge pages.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "core/slab.h"

#include "core/grow.h"
#include "core/mapped.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, LEAF = 1 << 14, SLAB = TROD_HUGE_PAGE, LEAVES = SLAB / LEAF };

/* Orders of blocks: of a whole slab, and of what is no part of a slab. */
enum { TOP = 8, ALONE };

/* So many slabs of which nothing is used are kept: making pages takes long. */
enum { FREE = 2 };

/* AddressSanitizer sees use after release only of blocks that are malloc's. */
#ifdef __SANITIZE_ADDRESS__
enum { DIVIDES = 0 };
#elif defined __has_feature
enum { DIVIDES = !__has_feature(address_sanitizer) };
#else
enum { DIVIDES = 1 };
#endif

struct slab {
    struct slab *next, *before;
    char *mem;
    size_t used; /* behind so many bytes nothing was ever taken: they are zero */
    /* of node i, whose halves are 2 i and 2 i + 1: LEAF << most - 1 bytes are the largest free
       block below; 0: there is none, or the node is a block */
    uint8_t most[2 * LEAVES];
};

_Static_assert(LEAVES == 1 << (TOP - 1), "the root is the block of order TOP");

static struct {
    pthread_mutex_t lock;
    struct slab *first;     /* of all, the newest first */
    struct slab **by_place; /* the same, by where their memory is */
    size_t n, cap;
    unsigned n_free; /* of which nothing is used */
} slabs = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The order of the least block that has BYTES: 1 for a leaf. */
static unsigned order_of(size_t bytes)
{
    unsigned order = 1;

    while (order < ALONE && (size_t)LEAF << (order - 1) < bytes)
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
static char *cut(struct slab *s, unsigned order)
{
    unsigned i = 1, at = TOP;

    slabs.n_free -= s->most[1] == TOP;
    for (; at > order; at--)
        i = s->most[2 * i] >= order ? 2 * i : 2 * i + 1;
    s->most[i] = 0;
    tell_above(s, i, order);
    return s->mem + (size_t)LEAF * (((size_t)i << (order - 1)) - LEAVES);
}

/* The place in slabs.by_place of the slab with P; if there is none, of the first one behind P. */
static size_t place_of(const char *p)
{
    size_t from = 0, to = slabs.n;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;

        if ((uintptr_t)slabs.by_place[middle]->mem + SLAB <= (uintptr_t)p)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* A slab, the first of all. NULL: no memory. */
static struct slab *new_slab(void)
{
    struct slab *s = malloc(sizeof *s);
    char *mem = trod_map_huge(SLAB);
    size_t at;

    if (!s || !mem || !trod_grow(&slabs.by_place, slabs.n, &slabs.cap, sizeof s, 64)) {
        free(s);
        if (mem)
            munmap(mem, SLAB);
        return NULL;
    }
    *s = (struct slab){.mem = mem, .next = slabs.first};
    for (unsigned i = 1, order = TOP; order > 0; order--)
        for (const unsigned end = 2 * i; i < end; i++)
            s->most[i] = (uint8_t)order;
    if (s->next)
        s->next->before = s;
    slabs.first = s;
    at = place_of(mem);
    memmove(&slabs.by_place[at + 1], &slabs.by_place[at], (slabs.n - at) * sizeof s);
    slabs.by_place[at] = s;
    slabs.n++;
    slabs.n_free++;
    return s;
}

/* S is not needed any more; it is number AT by place. */
static void drop(struct slab *s, size_t at)
{
    if (s->next)
        s->next->before = s->before;
    if (s->before)
        s->before->next = s->next;
    else
        slabs.first = s->next;
    slabs.n--;
    memmove(&slabs.by_place[at], &slabs.by_place[at + 1], (slabs.n - at) * sizeof s);
    munmap(s->mem, SLAB);
    free(s);
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
    if (order == ALONE) {
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
        const size_t at = (size_t)(p - s->mem), was = s->used > at ? s->used - at : 0;

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
    size_t at;
    unsigned i;

    if (!DIVIDES || bytes < LEAF) {
        free(p);
        return;
    }
    if (order == ALONE) {
        if (p)
            munmap(p, trod_mapped(bytes, SLAB));
        return;
    }
    if (!p)
        return;
    pthread_mutex_lock(&slabs.lock);
    at = place_of(p);
    s = slabs.by_place[at];
    i = (unsigned)((((size_t)((char *)p - s->mem) / LEAF) + LEAVES) >> (order - 1));
    s->most[i] = (uint8_t)order;
    tell_above(s, i, order);
    slabs.n_free += s->most[1] == TOP;
    if (slabs.n_free > FREE) {
        slabs.n_free--;
        drop(s, at);
    }
    pthread_mutex_unlock(&slabs.lock);
}
