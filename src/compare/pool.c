/*
 * pool.c - memory for rows.
 *
 * Implements the cmp_pool functions of row.h: blocks of a few sizes, cut from chunks, kept in lists
 * when they are given back. What is larger than the largest size (values of many hundred bytes)
 * comes from malloc.
 */
#include "compare/row.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 32, CHUNK = 1 << 16 };

struct chunk {
    struct chunk *next;
    uint64_t align;
};

/* Cut a new chunk into blocks of SIZE. */
static bool refill(struct cmp_pool *pool, unsigned cls)
{
    size_t size = (cls + 1u) * GRAIN, n = (CHUNK - sizeof(struct chunk)) / size;
    struct chunk *c = malloc(CHUNK);
    uint8_t *p;

    if (!c)
        return false;
    c->next = pool->chunks;
    pool->chunks = c;
    p = (uint8_t *)(c + 1);
    for (size_t i = 0; i < n; i++, p += size) {
        memcpy(p, &pool->free[cls], sizeof(void *));
        pool->free[cls] = p;
    }
    return true;
}

void *cmp_pool_take(struct cmp_pool *pool, size_t n, uint8_t *cls)
{
    size_t c = (n + GRAIN - 1) / GRAIN - 1;
    void *p;

    if (c >= CMP_CLASSES) {
        *cls = CMP_CLASSES;
        return calloc(1, n);
    }
    *cls = (uint8_t)c;
    if (!pool->free[c] && !refill(pool, (unsigned)c))
        return NULL;
    p = pool->free[c];
    memcpy(&pool->free[c], p, sizeof(void *));
    return p;
}

void cmp_pool_give(struct cmp_pool *pool, void *p, uint8_t cls)
{
    if (cls == CMP_CLASSES) {
        free(p);
        return;
    }
    memcpy(p, &pool->free[cls], sizeof(void *));
    pool->free[cls] = p;
}

void cmp_pool_fini(struct cmp_pool *pool)
{
    for (struct chunk *c = pool->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *pool = (struct cmp_pool){{NULL}, NULL};
}

void cmp_row_drop(struct cmp_pool *pool, struct cmp_row *row)
{
    struct cmp_row *owner;

    if (!row || --row->refs)
        return;
    owner = row->owner;
    cmp_pool_give(pool, row, row->pool_class);
    cmp_row_drop(pool, owner); /* an instruction: it has no owner itself */
}

void cmp_row_own(struct cmp_pool *pool, struct cmp_row *row, struct cmp_row *owner)
{
    if (row->owner)
        cmp_row_drop(pool, row->owner);
    row->owner = owner && owner != row ? cmp_row_keep(owner) : NULL;
    if (!row->owner || row->pub.kind != TROD_READ || owner->n_reads == CMP_READS)
        return;
    owner->reads[owner->n_reads++] = (struct cmp_read){row->pub.addr, row->pub.size};
}
