/*
 * folds.c - calls that stand in one line. Implements folds.h.
 */
#include "browse/folds.h"
#include "browse/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDS = 1 << 20 };

/* The first fold behind row ROW of STREAM. */
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
