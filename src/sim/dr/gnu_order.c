/*
 * gnu_order.c - the order of a GNU C++ hash table.
 *
 * Implements dr/gnu_order.h. Elements are numbered from 0; HEAD stands for what is before the
 * first.
 */
#include "sim/dr/gnu_order.h"

#include "trod/diag.h"

#include <stdlib.h>

#define HEAD UINT32_MAX
#define NONE (UINT32_MAX - 1)

static const uint32_t primes[] = {13,      29,       59,       127,      257,       541,
                                  1109,    2357,     5087,     10273,    20753,     42043,
                                  85229,   172933,   351061,   712697,   1447153,   2938679,
                                  5967347, 12117689, 24607243, 49969847, 101473717, 206062531};

struct table {
    const uint64_t *key;
    uint32_t *next;   /* by element */
    uint32_t *before; /* by bucket: the element before its first one; NONE: it is empty */
    uint32_t first;   /* NONE: no elements */
    uint32_t buckets;
};

static uint32_t *link_of(struct table *t, uint32_t element)
{
    return element == HEAD ? &t->first : &t->next[element];
}

static uint32_t bucket(const struct table *t, uint32_t element)
{
    return (uint32_t)(t->key[element] % t->buckets);
}

static int resize(struct table *t, uint32_t buckets)
{
    uint32_t element = t->first, front = 0;

    free(t->before);
    t->before = malloc(buckets * sizeof *t->before);
    if (!t->before)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < buckets; i++)
        t->before[i] = NONE;
    t->buckets = buckets;
    t->first = NONE;
    while (element != NONE) {
        const uint32_t rest = t->next[element], b = bucket(t, element);

        if (t->before[b] == NONE) {
            t->next[element] = t->first;
            t->first = element;
            t->before[b] = HEAD;
            if (t->next[element] != NONE)
                t->before[front] = element;
            front = b;
        } else {
            uint32_t *link = link_of(t, t->before[b]);

            t->next[element] = *link;
            *link = element;
        }
        element = rest;
    }
    return 0;
}

static void insert(struct table *t, uint32_t element)
{
    const uint32_t b = bucket(t, element);
    uint32_t *link;

    if (t->before[b] == NONE) {
        t->next[element] = t->first;
        t->first = element;
        if (t->next[element] != NONE)
            t->before[bucket(t, t->next[element])] = element;
        t->before[b] = HEAD;
        return;
    }
    link = link_of(t, t->before[b]);
    t->next[element] = *link;
    *link = element;
}

int trod_gnu_order(const uint64_t *key, size_t n, size_t most, uint32_t *order)
{
    struct table t = {.key = key, .first = NONE};
    size_t prime = 0;
    int rc = 0;

    t.next = malloc((n ? n : 1) * sizeof *t.next);
    if (!t.next)
        return TROD_ERR_NOMEM;
    while (rc == 0 && most > t.buckets && prime < sizeof primes / sizeof *primes)
        rc = resize(&t, primes[prime++]);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (i + 1 > t.buckets && prime < sizeof primes / sizeof *primes)
            rc = resize(&t, primes[prime++]);
        if (rc == 0)
            insert(&t, (uint32_t)i);
    }
    for (uint32_t e = t.first, i = 0; rc == 0 && e != NONE; e = t.next[e])
        order[i++] = e;
    free(t.next);
    free(t.before);
    return rc;
}
