/*
 * page_runs.c - runs of whole pages. See page_runs.h.
 */
#include "analysis/page_runs.h"

#include "analysis/pages.h"
#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>

enum { FIRST_RUNS = 16 };

void trod_page_runs_free(struct trod_page_runs *r)
{
    if (r)
        free(r->at);
    free(r);
}

static int by_first(const void *a, const void *b)
{
    const struct trod_page_run *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

void trod_page_runs_order(struct trod_page_runs *r)
{
    size_t to = 0;

    if (!r || r->ordered == r->n)
        return;
    qsort(r->at, r->n, sizeof *r->at, by_first);
    for (size_t i = 1; i < r->n; i++) {
        if (r->at[i].first > r->at[to].last + 1)
            r->at[++to] = r->at[i];
        else if (r->at[i].last > r->at[to].last)
            r->at[to].last = r->at[i].last;
    }
    r->n = r->ordered = to + 1;
}

int trod_page_runs_add(struct trod_page_runs **r, const struct trod_page_run *run)
{
    struct trod_page_runs *to = *r;

    if (!to && !(to = *r = calloc(1, sizeof *to)))
        return TROD_ERR_NOMEM;
    /* the same pages come again: where half of the room is free when they are in order, it does */
    if (to->n == to->cap) {
        trod_page_runs_order(to);
        if (2 * to->n >= to->cap &&
            !trod_grow(&to->at, to->cap, &to->cap, sizeof *to->at, FIRST_RUNS))
            return TROD_ERR_NOMEM;
    }
    to->at[to->n++] = *run;
    return TROD_OK;
}

int trod_page_runs_merge(struct trod_page_runs **into, const struct trod_page_runs *from)
{
    int rc = TROD_OK;

    for (size_t i = 0; from && rc == TROD_OK && i < from->n; i++)
        rc = trod_page_runs_add(into, &from->at[i]);
    return rc;
}

bool trod_page_runs_meet(const struct trod_page_runs *r, const struct trod_page_run *run)
{
    size_t lo = 0, hi = r ? r->n : 0;

    while (lo < hi) { /* the first run that does not end before RUN begins */
        const size_t mid = lo + (hi - lo) / 2;

        if (r->at[mid].last < run->first)
            lo = mid + 1;
        else
            hi = mid;
    }
    return r && lo < r->n && r->at[lo].first <= run->last;
}

uint64_t trod_page_runs_blocks(const struct trod_page_runs *r, unsigned log)
{
    uint64_t n = 0, next = 0; /* blocks before NEXT are counted */

    for (size_t i = 0; r && i < r->n; i++) {
        const uint64_t first = r->at[i].first >> log, end = (r->at[i].last >> log) + 1;

        n += end - (first > next ? first : next < end ? next : end);
        next = end;
    }
    return n;
}

int trod_page_runs_save(const struct trod_page_runs *r, struct trod_buf *out)
{
    uint64_t last = 0;
    int rc = trod_pack(out, r ? r->n : 0);

    for (size_t i = 0; r && rc == TROD_OK && i < r->n; i++) {
        rc = trod_pack(out, r->at[i].first - last);
        if (rc == TROD_OK)
            rc = trod_pack(out, r->at[i].last - r->at[i].first);
        last = r->at[i].last;
    }
    return rc;
}

int trod_page_runs_load(struct trod_page_runs **r, struct trod_span *in)
{
    const uint64_t most = UINT64_MAX >> TROD_PAGE_SHIFT;
    uint64_t n, last = 0, step, more;
    int rc = trod_unpack(in, &n);

    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        if (trod_unpack(in, &step) < 0 || trod_unpack(in, &more) < 0 || (i && step < 2) ||
            step > most - last || more > most - last - step)
            return TROD_ERR_CORRUPT;
        rc = trod_page_runs_add(r, &(struct trod_page_run){last + step, last + step + more});
        last += step + more;
    }
    trod_page_runs_order(*r);
    return rc;
}
