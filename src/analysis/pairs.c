/*
 * pairs.c - implements pairs.h.
 */
#include "analysis/pairs.h"

#include "core/pack.h"

#include <stdlib.h>

enum { FIRST_BITS = 10 };

static struct trod_pair *pair_place(const struct trod_pairs *t, uint64_t key)
{
    size_t i = trod_table_home(key, t->shift);

    while (t->at[i].key != key && t->at[i].n)
        i = (i + 1) & (t->size - 1);
    return &t->at[i];
}

static int grow_pairs(struct trod_pairs *t)
{
    struct trod_pairs to = {.n = t->n,
                            .size = t->size ? 2 * t->size : (size_t)1 << FIRST_BITS,
                            .shift = t->size ? t->shift - 1 : 64 - FIRST_BITS};

    to.at = calloc(to.size, sizeof *to.at);
    if (!to.at)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->size; i++)
        if (t->at[i].n)
            *pair_place(&to, t->at[i].key) = t->at[i];
    free(t->at);
    *t = to;
    return TROD_OK;
}

int trod_pairs_add(struct trod_pairs *t, uint64_t key, uint64_t n)
{
    struct trod_pair *p;

    if (2 * t->n >= t->size && grow_pairs(t) < 0)
        return TROD_ERR_NOMEM;
    p = pair_place(t, key);
    t->n += p->n == 0;
    p->key = key;
    p->n += n;
    return TROD_OK;
}

int trod_pairs_merge(struct trod_pairs *into, const struct trod_pairs *from)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < from->size; i++)
        if (from->at[i].n)
            rc = trod_pairs_add(into, from->at[i].key, from->at[i].n);
    return rc;
}

static int by_key(const void *a, const void *b)
{
    const struct trod_pair *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

int trod_pairs_save(const struct trod_pairs *t, struct trod_buf *out)
{
    struct trod_pair *all = malloc((t->n + 1) * sizeof *all);
    size_t n = 0;
    int rc = all ? trod_pack(out, t->n) : TROD_ERR_NOMEM;

    for (size_t i = 0; all && i < t->size; i++)
        if (t->at[i].n)
            all[n++] = t->at[i];
    if (all)
        qsort(all, n, sizeof *all, by_key);
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, all[i].key >> 32) | trod_pack(out, all[i].key & UINT32_MAX) |
             trod_pack(out, all[i].n);
    free(all);
    return rc == TROD_OK ? TROD_OK : TROD_ERR_NOMEM;
}
