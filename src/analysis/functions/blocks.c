/*
 * blocks.c - blocks of memory by address (functions.h).
 *
 * A treap (core/treap.h). Blocks do not overlap. Freed
 * blocks stay until their memory is given again, or until others have been freed after them: as
 * many as there were ever live ones, and at least FUN_FREED. Pages with freed blocks are counted in
 * a table, so that accesses elsewhere need not be looked up.
 */
#include "analysis/functions/functions.h"

#include "core/grow.h"

#include <stdlib.h>

uint32_t fun_find(const struct fun_heap *h, uint64_t addr)
{
    uint32_t i = h->root;

    while (i) {
        const struct fun_block *b = &h->block[i];

        if (addr < b->at)
            i = b->link.left;
        else if (addr - b->at < b->size)
            return i;
        else
            i = b->link.right;
    }
    return 0;
}

/* The first block that ends behind AT. */
static uint32_t first_behind(const struct fun_heap *h, uint64_t at)
{
    uint32_t i = h->root, best = 0;

    while (i) {
        const struct fun_block *b = &h->block[i];

        if (b->at + b->size > at) {
            best = i;
            i = b->link.left;
        } else {
            i = b->link.right;
        }
    }
    return best;
}

static const struct treap_shape shape = {sizeof(struct fun_block), offsetof(struct fun_block, at),
                                         offsetof(struct fun_block, link)};

static void count_pages(struct fun_heap *h, const struct fun_block *b, int by)
{
    const uint64_t first = b->at >> 12, last = (b->at + b->size - 1) >> 12;

    if (last - first >= FUN_WIDE) {
        h->wide += (uint64_t)(int64_t)by;
        return;
    }
    for (uint64_t p = first; p <= last; p++)
        h->page[p & (FUN_PAGES - 1)] += (uint32_t)by;
}

/* Take block I off the list of freed blocks. */
static void leave_line(struct fun_heap *h, uint32_t i)
{
    uint32_t was = 0;

    for (uint32_t k = h->first_freed; k && k != i; k = h->block[k].next)
        was = k;
    if (was)
        h->block[was].next = h->block[i].next;
    else
        h->first_freed = h->block[i].next;
    if (h->last_freed == i)
        h->last_freed = was;
}

static void unlink_block(struct fun_heap *h, uint32_t i)
{
    uint32_t left, mid, right;

    treap_part(h->block, shape, h->root, h->block[i].at, &left, &mid);
    treap_part(h->block, shape, mid, h->block[i].at + 1, &mid, &right);
    h->root = treap_join(h->block, shape, left, right);
}

void fun_remove(struct fun_heap *h, uint32_t i)
{
    struct fun_block *b = &h->block[i];

    unlink_block(h, i);
    if (b->freed) {
        count_pages(h, b, -1);
        h->n_freed--;
        b->size = 0; /* it stays in the line until its turn comes */
        b->freed = false;
        return;
    }
    h->n_live--;
    h->bytes -= b->size;
    b->next = h->unused;
    h->unused = i;
}

/* The oldest of the freed ones is forgotten. */
static void forget(struct fun_heap *h)
{
    const uint32_t i = h->first_freed;
    struct fun_block *b = &h->block[i];

    leave_line(h, i);
    if (b->freed) {
        unlink_block(h, i);
        count_pages(h, b, -1);
        h->n_freed--;
    }
    b->freed = false;
    b->next = h->unused;
    h->unused = i;
}

void fun_set_freed(struct fun_heap *h, uint32_t i)
{
    struct fun_block *b = &h->block[i];

    h->n_live--;
    h->bytes -= b->size;
    b->freed = true;
    b->next = 0;
    if (h->last_freed)
        h->block[h->last_freed].next = i;
    else
        h->first_freed = i;
    h->last_freed = i;
    h->n_freed++;
    count_pages(h, b, 1);
}

/* An unused block; 0: no memory. */
static uint32_t take(struct fun_heap *h)
{
    const size_t most = h->most_live > FUN_FREED ? h->most_live : FUN_FREED;
    uint32_t i;

    while (!h->unused && h->first_freed && h->n > h->n_live + most)
        forget(h);
    if ((i = h->unused)) {
        h->unused = h->block[i].next;
        return i;
    }
    if (h->n == 0)
        h->n = 1;
    if (h->n >= UINT32_MAX ||
        (h->cap == 0 && !trod_grow(&h->block, 0, &h->cap, sizeof *h->block, 64)) ||
        !trod_grow(&h->block, h->n, &h->cap, sizeof *h->block, 64))
        return 0;
    if (h->n == 1)
        h->block[0] = (struct fun_block){0};
    return (uint32_t)h->n++;
}

struct fun_block *fun_insert(struct fun_heap *h, uint64_t at, uint64_t size)
{
    uint32_t i, left, right;

    if (!h->page && !(h->page = calloc(FUN_PAGES, sizeof *h->page)))
        return NULL;
    size = size ? size : 1;
    size = size > UINT64_MAX - at ? UINT64_MAX - at : size; /* not over the end of memory */
    while ((i = first_behind(h, at)) && h->block[i].at < at + size) {
        h->replaced += !h->block[i].freed;
        fun_remove(h, i);
    }
    if (!(i = take(h)))
        return NULL;
    h->given++;
    h->block[i] = (struct fun_block){.at = at, .size = size, .link.weight = treap_weight(h->given)};
    treap_part(h->block, shape, h->root, at, &left, &right);
    h->root = treap_join(h->block, shape, treap_join(h->block, shape, left, i), right);
    h->n_live++;
    h->most_live = h->n_live > h->most_live ? h->n_live : h->most_live;
    h->bytes += size;
    return &h->block[i];
}
