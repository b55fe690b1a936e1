/*
 * hist.c - histograms of the analysis "schedule", and the order of another tool's lists.
 */
#include "analysis/schedule/schedule.h"

#include "core/grow.h"

#include <stdlib.h>

static bool put(struct sch_hist *h, uint64_t at, uint64_t n)
{
    size_t lo = 0, hi = h->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (h->bin[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < h->n && h->bin[lo].at == at) {
        h->bin[lo].n += n;
        return true;
    }
    if (!trod_grow(&h->bin, h->n, &h->cap, sizeof *h->bin, 8))
        return false;
    memmove(h->bin + lo + 1, h->bin + lo, (h->n - lo) * sizeof *h->bin);
    h->bin[lo] = (struct sch_bin){at, n};
    h->n++;
    return true;
}

bool sch_count(struct sch_hist *h, uint64_t value, uint64_t bin, uint64_t n)
{
    return put(h, value - value % bin, n);
}

bool sch_add(struct sch_hist *into, const struct sch_hist *from)
{
    bool room = true;

    for (size_t i = 0; i < from->n; i++)
        room = room && put(into, from->bin[i].at, from->bin[i].n);
    return room;
}

struct sch_hist *sch_of(struct sch_map *m, uint64_t key)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->item[i].key == key)
            return &m->item[i].hist;
    if (!trod_grow(&m->item, m->n, &m->cap, sizeof *m->item, 8))
        return NULL;
    m->item[m->n] = (struct sch_keyed){.key = key};
    return &m->item[m->n++].hist;
}

void sch_map_free(struct sch_map *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->item[i].hist.bin);
    free(m->item);
    *m = (struct sch_map){0};
}

/*
 * Buckets are a prime; a node goes to the front of its bucket where the bucket holds some, else to
 * the front of all. When there are more nodes than buckets, all are put in anew, first to last.
 */
static bool spread(const uint64_t *key, const uint32_t *order, size_t n, size_t buckets,
                   uint32_t *out)
{
    uint32_t *list = calloc(n + 1, sizeof *list);
    size_t m = 0;

    if (!list)
        return false;
    for (size_t i = 0; i < n; i++) {
        const uint32_t one = order[i];
        size_t at = 0;

        while (at < m && key[list[at]] % buckets != key[one] % buckets)
            at++;
        at = at == m ? 0 : at;
        memmove(list + at + 1, list + at, (m - at) * sizeof *list);
        list[at] = one;
        m++;
    }
    memcpy(out, list, n * sizeof *list);
    free(list);
    return true;
}

bool sch_unordered(const uint64_t *key, size_t n, uint32_t *out)
{
    static const size_t primes[] = {13,   29,   59,    127,   257,   541,   1109,
                                    2357, 5087, 10273, 20753, 42043, 85229, 172933};
    size_t done = 0;
    uint32_t *order = calloc(n + 1, sizeof *order);
    bool room = order != NULL;

    for (size_t p = 0; room && done < n; p++) {
        const bool last = p + 1 == sizeof primes / sizeof *primes;
        const size_t many = last || n < primes[p] ? n : primes[p];

        /* those that are there, in their order, then the new ones */
        for (size_t i = done; i < many; i++)
            order[i] = (uint32_t)i;
        room = spread(key, order, many, primes[p], out);
        if (room)
            memcpy(order, out, many * sizeof *order);
        done = many;
    }
    free(order);
    return room;
}
