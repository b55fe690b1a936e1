/*
 * dist.c - exact histograms of stack distances (dist.h).
 */
#include "dist.h"

#include "core/slab.h"

#include <stdlib.h>
#include <string.h>

/* Chunks from number GROUP on are made so many at a time. */
enum { GROUP = 4 };

/* The chunks that are made together with number FIRST, the first of them. */
static size_t chunks_with(size_t first)
{
    return first < GROUP ? 1 : GROUP;
}

bool trod_dist_make(struct trod_dist *h, uint32_t d)
{
    const size_t c = d >> TROD_DIST_CHUNK_LOG;

    if (c >= h->n_chunks) {
        size_t n = h->n_chunks ? h->n_chunks : 16;
        struct trod_dist_chunk **more;

        while (n <= c)
            n *= 2;
        more = realloc(h->chunk, n * sizeof(struct trod_dist_chunk *));
        if (!more)
            return false;
        for (size_t i = h->n_chunks; i < n; i++)
            more[i] = NULL;
        h->chunk = more;
        h->n_chunks = n;
    }
    if (!h->chunk[c]) {
        const size_t first = c < GROUP ? c : c - c % GROUP, n = chunks_with(first);
        struct trod_dist_chunk *const all = trod_slab_zeroed(n * sizeof *all);

        for (size_t i = 0; all && i < n; i++)
            h->chunk[first + i] = &all[i];
    }
    return h->chunk[c] != NULL;
}

void trod_dist_clear(struct trod_dist *h)
{
    for (size_t i = 0; i < h->n_chunks; i += chunks_with(i))
        trod_slab_give(h->chunk[i], chunks_with(i) * sizeof **h->chunk);
    free(h->chunk);
    *h = (struct trod_dist){0};
}

bool trod_dist_add(struct trod_dist *into, const struct trod_dist *from)
{
    for (size_t c = 0; c < from->n_chunks; c++) {
        if (!from->chunk[c])
            continue;
        if (!trod_dist_make(into, (uint32_t)(c << TROD_DIST_CHUNK_LOG)))
            return false;
        for (size_t d = 0; d < TROD_DIST_CHUNK; d++)
            for (unsigned k = 0; k < TROD_REFS; k++)
                into->chunk[c]->n[d][k] += from->chunk[c]->n[d][k];
    }
    for (unsigned k = 0; k < TROD_REFS; k++)
        into->cold[k] += from->cold[k];
    return true;
}

static uint64_t sum(const uint64_t *n, unsigned classes)
{
    uint64_t all = 0;

    for (unsigned k = 0; k < TROD_REFS; k++)
        all += classes >> k & 1 ? n[k] : 0;
    return all;
}

uint64_t trod_dist_of(const struct trod_dist *h, uint64_t d, unsigned classes)
{
    const uint64_t c = d >> TROD_DIST_CHUNK_LOG;

    if (c >= h->n_chunks || !h->chunk[c])
        return 0;
    return sum(h->chunk[c]->n[d & (TROD_DIST_CHUNK - 1)], classes);
}

uint64_t trod_dist_cold(const struct trod_dist *h, unsigned classes)
{
    return sum(h->cold, classes);
}

uint64_t trod_dist_total(const struct trod_dist *h, unsigned classes)
{
    uint64_t all = trod_dist_cold(h, classes);

    for (size_t c = 0; c < h->n_chunks; c++)
        for (size_t d = 0; h->chunk[c] && d < TROD_DIST_CHUNK; d++)
            all += sum(h->chunk[c]->n[d], classes);
    return all;
}

uint64_t trod_dist_next(const struct trod_dist *h, uint64_t d, unsigned classes)
{
    for (uint64_t c = d >> TROD_DIST_CHUNK_LOG; c < h->n_chunks; c++) {
        if (h->chunk[c])
            for (size_t i = d & (TROD_DIST_CHUNK - 1); i < TROD_DIST_CHUNK; i++)
                if (sum(h->chunk[c]->n[i], classes))
                    return (c << TROD_DIST_CHUNK_LOG) + i;
        d = 0;
    }
    return UINT64_MAX;
}

void trod_dist_misses(const struct trod_dist *h, unsigned classes, const uint64_t *size, size_t n,
                      uint64_t *misses)
{
    uint64_t left = trod_dist_total(h, classes), d = trod_dist_next(h, 0, classes);

    for (size_t i = 0; i < n; i++) {
        while (d < size[i]) {
            left -= trod_dist_of(h, d, classes);
            d = trod_dist_next(h, d + 1, classes);
        }
        misses[i] = left;
    }
}
