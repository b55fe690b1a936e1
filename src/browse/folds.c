/*
 * folds.c - calls that stand in one line. Implements folds.h.
 */
#include "browse/folds.h"
#include "browse/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDS = 1 << 20 };

/* The first fold after row ROW of STREAM. */
static size_t behind(const struct browse_folds *f, uint32_t stream, uint64_t row)
{
    size_t lo = 0, hi = f->n;

    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;
        const struct browse_fold *at = &f->at[k];

        if (at->stream < stream || (at->stream == stream && at->first <= row))
            lo = k + 1;
        else
            hi = k;
    }
    return lo;
}

const struct browse_fold *browse_folds_find(const struct browse_folds *f, uint32_t stream,
                                            uint64_t row)
{
    const size_t k = behind(f, stream, row);

    return k && f->at[k - 1].stream == stream && f->at[k - 1].last >= row ? &f->at[k - 1] : NULL;
}

int browse_folds_add(struct browse_folds *folds, const struct browse_fold *f)
{
    struct browse_fold *more;
    size_t from, to;

    if (folds->n == FOLDS)
        return TROD_ERR_LIMIT;
    if (!(more = browse_grow(folds->at, folds->n, &folds->cap, sizeof *more)))
        return TROD_ERR_NOMEM;
    folds->at = more;
    to = behind(folds, f->stream, f->last);
    for (from = to;
         from && folds->at[from - 1].stream == f->stream && folds->at[from - 1].last >= f->first;)
        from--;
    memmove(folds->at + from + 1, folds->at + to, (folds->n - to) * sizeof *folds->at);
    folds->n = folds->n - (to - from) + 1;
    folds->at[from] = *f;
    return 0;
}

/* By stream and row, of those that begin at one row the longest first. */
static int by_place(const void *x, const void *y)
{
    const struct browse_fold *a = x, *b = y;

    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->last > b->last ? -1 : a->last < b->last;
}

int browse_folds_merge(struct browse_folds *folds, struct browse_fold *f, size_t n)
{
    const size_t room = n + folds->n;
    struct browse_fold *all = room <= 2 * FOLDS ? malloc((room + 1) * sizeof *all) : NULL;
    size_t k = 0;

    if (!all)
        return room <= 2 * FOLDS ? TROD_ERR_NOMEM : TROD_ERR_LIMIT;
    if (n)
        memcpy(all, f, n * sizeof *all);
    if (folds->n)
        memcpy(all + n, folds->at, folds->n * sizeof *all);
    qsort(all, room, sizeof *all, by_place);
    for (size_t i = 0; i < room; i++)
        if (!k || all[k - 1].stream != all[i].stream || all[k - 1].last < all[i].first)
            all[k++] = all[i];
    if (k > FOLDS) {
        free(all);
        return TROD_ERR_LIMIT;
    }
    free(folds->at);
    *folds = (struct browse_folds){.at = all, .n = k, .cap = room + 1};
    return 0;
}

void browse_folds_clear(struct browse_folds *folds, uint32_t stream, uint64_t first, uint64_t last)
{
    size_t k = 0;

    for (size_t i = 0; i < folds->n; i++) {
        const struct browse_fold *f = &folds->at[i];

        if (f->stream != stream || f->first < first || f->first > last)
            folds->at[k++] = *f;
    }
    folds->n = k;
}

void browse_folds_remove(struct browse_folds *folds, const struct browse_fold *f)
{
    const size_t i = (size_t)(f - folds->at);

    memmove(folds->at + i, folds->at + i + 1, (folds->n - i - 1) * sizeof *folds->at);
    folds->n--;
}

void browse_folds_fini(struct browse *b)
{
    free(b->folds.at);
    memset(&b->folds, 0, sizeof b->folds);
}
