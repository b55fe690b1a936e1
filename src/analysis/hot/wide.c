/*
 * wide.c - accesses that touch very many blocks of memory, and the blocks that were touched most
 * (hot.h).
 *
 * An access of 4 GiB touches 2^26 lines. Such accesses are not counted line by line: of each only
 * the first and the last block are kept, as edges. How many of them touch a block follows from the
 * edges before it. Where blocks become larger, edges do as accesses do: an access still begins in
 * one block and ends in one.
 */
#include "analysis/hot/hot.h"

#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_EDGES = 64 };

void hot_wide_free(struct hot_wide *w)
{
    free(w->edge);
    *w = (struct hot_wide){.edge = NULL};
}

static int by_number(const void *a, const void *b)
{
    const struct hot_edge *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

/* Sort the N edges at E; those of one block become one. Returns how many there are then. */
static size_t sort_edges(struct hot_edge *e, size_t n)
{
    size_t to = 0;

    if (n)
        qsort(e, n, sizeof *e, by_number);
    for (size_t i = 1; i < n; i++) {
        if (e[i].number != e[to].number) {
            e[++to] = e[i];
            continue;
        }
        e[to].begin += e[i].begin;
        e[to].end += e[i].end;
    }
    return n ? to + 1 : 0;
}

static int add_edge(struct hot_wide *w, const struct hot_edge *e)
{
    if (w->n == w->cap) { /* the same places come again: where half of the room is free, it does */
        w->n = sort_edges(w->edge, w->n);
        if (2 * w->n >= w->cap &&
            !trod_grow(&w->edge, w->cap, &w->cap, sizeof *w->edge, FIRST_EDGES))
            return TROD_ERR_NOMEM;
    }
    w->edge[w->n++] = *e;
    return TROD_OK;
}

int hot_wide_add(struct hot_wide *w, uint64_t first, uint64_t last, uint64_t n)
{
    const int rc = add_edge(w, &(struct hot_edge){.number = first, .begin = n});

    return rc < 0 ? rc : add_edge(w, &(struct hot_edge){.number = last, .end = n});
}

int hot_wide_merge(struct hot_wide *into, const struct hot_wide *from, unsigned wider)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < from->n; i++) {
        struct hot_edge e = from->edge[i];

        e.number >>= wider;
        rc = add_edge(into, &e);
    }
    return rc;
}

uint64_t hot_wide_touches(const struct hot_wide *w)
{
    uint64_t sum = 0; /* modulo 2^64: ends are not before beginnings */

    for (size_t i = 0; i < w->n; i++)
        sum += w->edge[i].end * (w->edge[i].number + 1) - w->edge[i].begin * w->edge[i].number;
    return sum;
}

/* The edges of W in order, *N of them. NULL: no memory. */
static struct hot_edge *ordered(const struct hot_wide *w, size_t *n)
{
    struct hot_edge *e = malloc((w->n + 1) * sizeof *e);

    if (!e)
        return NULL;
    if (w->n)
        memcpy(e, w->edge, w->n * sizeof *e);
    *n = sort_edges(e, w->n);
    return e;
}

/* ---- as bytes: edges in order, so that equal states are equal bytes */

int hot_wide_save(const struct hot_wide *w, struct trod_buf *out)
{
    size_t n;
    struct hot_edge *e = ordered(w, &n);
    int rc = e ? trod_pack(out, n) : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, e[i].number) | trod_pack(out, e[i].begin) | trod_pack(out, e[i].end);
    free(e);
    return rc == TROD_OK ? TROD_OK : TROD_ERR_NOMEM;
}

int hot_wide_load(struct hot_wide *w, struct trod_span *in)
{
    uint64_t n, open = 0;
    int rc = trod_unpack(in, &n);

    if (rc < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        struct hot_edge e;

        if (trod_unpack(in, &e.number) < 0 || trod_unpack(in, &e.begin) < 0 ||
            trod_unpack(in, &e.end) < 0 || (i && e.number <= w->edge[w->n - 1].number) ||
            !(e.begin | e.end) || e.begin > UINT64_MAX - open || e.end > open + e.begin)
            return TROD_ERR_CORRUPT;
        open += e.begin - e.end;
        rc = add_edge(w, &e);
    }
    return rc == TROD_OK && open ? TROD_ERR_CORRUPT : rc;
}

/* ---- which blocks they touch */

int hot_cover_init(struct hot_cover *c, const struct hot_wide *w)
{
    size_t n = 0;
    struct hot_edge *e = w->n ? ordered(w, &n) : NULL;
    uint64_t open = 0; /* accesses that go on behind the edge before */

    *c = (struct hot_cover){.at = NULL};
    if (!w->n)
        return TROD_OK;
    c->at = e ? malloc(2 * n * sizeof *c->at) : NULL;
    for (size_t i = 0; c->at && i < n; i++) {
        if (open && e[i].number - e[i - 1].number > 1)
            c->at[c->n++] = (struct hot_stretch){e[i - 1].number + 1, e[i].number - 1, open};
        open += e[i].begin;
        c->at[c->n++] = (struct hot_stretch){e[i].number, e[i].number, open};
        open -= e[i].end;
    }
    free(e);
    return c->at ? TROD_OK : TROD_ERR_NOMEM;
}

void hot_cover_free(struct hot_cover *c)
{
    free(c->at);
}

/* The accesses that touch block NUMBER. */
static uint64_t cover_of(const struct hot_cover *c, uint64_t number)
{
    size_t lo = 0, hi = c->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (c->at[mid].last < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && c->at[lo].first <= number ? c->at[lo].n : 0;
}

uint64_t hot_cover_blocks(const struct hot_cover *c, const struct hot_lines *t)
{
    uint64_t n = t->n;
    struct hot_line line;

    for (size_t i = 0; i < c->n; i++)
        n += c->at[i].last - c->at[i].first + 1;
    for (size_t at = 0; c->n && hot_lines_next(t, &at, 1, &line);)
        n -= cover_of(c, line.number) != 0;
    return n;
}

/* ---- those that were touched most */

static int by_accesses(const void *a, const void *b)
{
    const struct hot_line *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The largest MOST of those that were added; from time to time all others are dropped. */
struct largest {
    struct hot_line *at;
    size_t n, room, most;
    uint64_t least; /* fewer accesses are not enough */
};

static void add_large(struct largest *l, const struct hot_line *line)
{
    if (line->n < l->least)
        return;
    l->at[l->n++] = *line;
    if (l->n < l->room)
        return;
    qsort(l->at, l->n, sizeof *l->at, by_accesses);
    if (l->n > l->most)
        l->n = l->most;
    l->least = l->most ? l->at[l->n - 1].n : UINT64_MAX;
}

/* The blocks of stretch S that T does not have: the first ones will do, they are all alike. */
static void add_stretch(struct largest *l, const struct hot_lines *t, const struct hot_stretch *s)
{
    size_t left = l->most;

    for (uint64_t b = s->first; left && s->n >= l->least; b++) {
        if (!hot_lines_has(t, b)) {
            add_large(l, &(struct hot_line){.number = b, .n = s->n});
            left--;
        }
        if (b == s->last)
            return;
    }
}

struct hot_line *hot_lines_top(const struct hot_lines *t, const struct hot_cover *c, size_t most,
                               size_t *n)
{
    const uint64_t blocks = hot_cover_blocks(c, t);
    struct largest l = {.most = most, .least = 1};
    struct hot_line line;

    /* never full where there is room for all */
    l.room = most < blocks / 2 ? 2 * most + 1 : (size_t)blocks + 1;
    l.at = malloc((l.room + 1) * sizeof *l.at);
    for (size_t at = 0; l.at && hot_lines_next(t, &at, c->n ? 1 : l.least, &line);) {
        line.n += cover_of(c, line.number);
        add_large(&l, &line);
    }
    for (size_t i = 0; l.at && i < c->n; i++)
        add_stretch(&l, t, &c->at[i]);
    if (!l.at)
        return NULL;
    qsort(l.at, l.n, sizeof *l.at, by_accesses);
    *n = l.n < most ? l.n : most;
    return l.at;
}
