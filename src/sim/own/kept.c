/*
 * kept.c - blocks of recorded references.
 *
 * Implements own/kept.h.
 */
#include "sim/own/kept.h"

#include "core/spare.h"

#include <string.h>

/* A block of BYTES behind the others. NULL: no memory. */
static struct trod_kept_block *add(struct trod_kept *k, size_t bytes)
{
    struct trod_kept_block *b = trod_spare_take(bytes);

    if (!b)
        return NULL;
    *b = (struct trod_kept_block){.bytes = bytes};
    if (k->last)
        k->last->next = b;
    else
        k->first = b;
    k->last = b;
    k->bytes += bytes;
    return b;
}

bool trod_kept_add(struct trod_kept *k, struct trod_touched *t)
{
    const size_t room = (TROD_KEPT_BLOCK - sizeof *k->first) / sizeof *t->ref;

    if (t->n == 0)
        return true;
    if (t->ref == t->own) { /* else they are in a block already */
        if (!add(k, TROD_KEPT_BLOCK))
            return false;
        memcpy(k->last->ref, t->ref, t->n * sizeof *t->ref);
    }
    k->last->n += t->n;
    t->ref = room - k->last->n < TROD_TOUCHED_ROOM ? t->own : k->last->ref + k->last->n;
    return true;
}

bool trod_kept_lines(struct trod_kept *k, struct trod_touched *t, uint64_t ref, uint64_t lines)
{
    struct trod_kept_block *b = add(k, sizeof *b + sizeof *b->ref);

    t->ref = t->own;
    if (!b)
        return false;
    b->n = 1;
    b->lines = lines;
    b->ref[0] = ref;
    return true;
}

size_t trod_kept_some(const struct trod_kept_block *b, uint64_t at, size_t most, unsigned line_bits,
                      uint64_t *room, const uint64_t **refs)
{
    const uint64_t left = (b->lines ? b->lines : b->n) - at;
    const size_t n = left < most ? (size_t)left : most;

    *refs = b->lines ? room : b->ref + at;
    for (size_t i = 0; b->lines && i < n; i++)
        room[i] = b->ref[0] + ((at + i) << line_bits);
    return n;
}

void trod_kept_free(struct trod_kept *k)
{
    for (struct trod_kept_block *b = k->first, *next; b; b = next) {
        next = b->next;
        trod_spare_give(b, b->bytes);
    }
    *k = (struct trod_kept){.first = NULL};
}
