/*
 * align.c - anchors and edit scripts.
 *
 * Implements align.h. Anchors are runs of K keys found through a hash of all runs of the other
 * side; the script is Myers' greedy algorithm ("An O(ND) Difference Algorithm", 1986) with its
 * steps kept for the way back, which bounds memory by the square of the limit.
 */
#include "compare/align.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum { SCRIPT_MAX = 1 << 16 };

static const uint64_t end_mark = 0x5bd1e995c2b2ae3du;

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* Hash of the K keys from I on, the end mark standing behind the last. */
static uint64_t run_hash(const struct trod_keys *s, size_t i, size_t k)
{
    uint64_t h = 0x243f6a8885a308d3u;

    for (size_t e = i + k < s->n ? i + k : s->n; i < e; i++, k--)
        h = mix(h, s->key[i]);
    return k ? mix(h, end_mark) : h;
}

/* How many runs of K keys (or up to the end) begin in S. */
static size_t runs(const struct trod_keys *s, size_t k)
{
    if (s->end)
        return s->n + 1;
    return s->n >= k ? s->n - k + 1 : 0;
}

static bool same_run(const struct trod_keys *a, size_t i, const struct trod_keys *b, size_t j,
                     size_t k)
{
    size_t na = a->n - i < k ? a->n - i : k, nb = b->n - j < k ? b->n - j : k;

    return na == nb && (na == 0 || memcmp(a->key + i, b->key + j, na * sizeof *a->key) == 0);
}

/* First place of each run of B: open addressing, slots hold place + 1. */
static uint32_t *index_runs(const struct trod_keys *b, size_t k, size_t *size)
{
    size_t n = runs(b, k);
    uint32_t *slot;

    for (*size = 16; *size < 2 * n;)
        *size *= 2;
    slot = calloc(*size, sizeof *slot);
    for (size_t j = 0; slot && j < n; j++) {
        size_t at = run_hash(b, j, k) & (*size - 1);

        while (slot[at] && !same_run(b, slot[at] - 1, b, j, k))
            at = (at + 1) & (*size - 1);
        if (!slot[at])
            slot[at] = (uint32_t)j + 1;
    }
    return slot;
}

int trod_align_find(struct trod_keys a, struct trod_keys b, size_t k, size_t *i, size_t *j)
{
    size_t size, best = SIZE_MAX, na = runs(&a, k);
    uint32_t *slot = index_runs(&b, k, &size);

    if (!slot)
        return TROD_ERR_NOMEM;
    for (size_t x = 0; x < na && x < best; x++) {
        size_t at = run_hash(&a, x, k) & (size - 1);

        while (slot[at] && !same_run(&a, x, &b, slot[at] - 1, k))
            at = (at + 1) & (size - 1);
        if (slot[at] && x + slot[at] - 1 < best) {
            *i = x;
            *j = slot[at] - 1;
            best = *i + *j;
        }
    }
    free(slot);
    return best != SIZE_MAX;
}

void trod_edits_fini(struct trod_edits *e)
{
    free(e->edit);
    *e = (struct trod_edits){0};
}

/* Append an edit, joined with the one before where they belong together. */
static int push(struct trod_edits *e, struct trod_edit new)
{
    struct trod_edit *last = e->n ? &e->edit[e->n - 1] : NULL;

    if (new.na == 0 && new.nb == 0)
        return TROD_OK;
    if (last && (last->type == TROD_EDIT_EQUAL) == (new.type == TROD_EDIT_EQUAL)) {
        if (last->type != new.type)
            last->type = TROD_EDIT_CHANGE;
        last->na += new.na;
        last->nb += new.nb;
        return TROD_OK;
    }
    if (!trod_grow(&e->edit, e->n, &e->cap, sizeof *e->edit, 16))
        return TROD_ERR_NOMEM;
    e->edit[e->n++] = new;
    return TROD_OK;
}

/*
 * The furthest reaching paths: v[step][k + step] is x on diagonal k after STEP edits. Rows of
 * growing length lie behind one another.
 */
struct paths {
    int32_t *v;
    size_t used, cap;
};

static int32_t *add_row(struct paths *p, size_t n)
{
    if (p->used + n > p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 1024;
        int32_t *v;

        while (cap < p->used + n)
            cap *= 2;
        v = realloc(p->v, cap * sizeof *v);
        if (!v)
            return NULL;
        p->v = v;
        p->cap = cap;
    }
    p->used += n;
    return p->v + p->used - n;
}

/* Row of step D: D * D values lie before it (1 + 3 + 5 + ...). */
static int32_t *row_of(const struct paths *p, size_t d)
{
    return p->v + d * d;
}

/* Whether the path to diagonal K at step D comes from K + 1 (an insertion). */
static bool comes_down(const int32_t *before, long d, long k)
{
    return k == -d || (k != d && before[k - 1 + d - 1] < before[k + 1 + d - 1]);
}

/* Number of edits, or -1 past LIMIT, or TROD_ERR_NOMEM - 1. */
static long search(const uint64_t *a, long n, const uint64_t *b, long m, long limit,
                   struct paths *p)
{
    for (long d = 0; d <= limit; d++) {
        int32_t *row = add_row(p, (size_t)(2 * d + 1));

        if (!row)
            return TROD_ERR_NOMEM - 1;
        for (long k = -d; k <= d; k += 2) {
            const int32_t *before = d ? row_of(p, (size_t)d - 1) : NULL;
            long x = 0;

            if (d)
                x = comes_down(before, d, k) ? before[k + 1 + d - 1] : before[k - 1 + d - 1] + 1;
            while (x < n && x - k < m && x - k >= 0 && a[x] == b[x - k])
                x++;
            row[k + d] = (int32_t)x;
            if (x >= n && x - k >= m)
                return d;
        }
    }
    return -1;
}

/* The steps back from the end, first into STEP (d of them): where each edit happened. */
static void walk_back(const struct paths *p, long n, long m, long d, struct trod_edit *step)
{
    long x = n, y = m;

    for (; d > 0; d--) {
        const int32_t *before = row_of(p, (size_t)d - 1);
        long k = x - y;
        bool down = comes_down(before, d, k);
        long px = down ? before[k + 1 + d - 1] : before[k - 1 + d - 1];
        long py = px - (down ? k + 1 : k - 1);

        step[d - 1] = (struct trod_edit){down ? TROD_EDIT_INSERT : TROD_EDIT_DELETE, (size_t)px,
                                         down ? 0 : 1, (size_t)py, down ? 1 : 0};
        x = px;
        y = py;
    }
}

static int emit_script(const struct trod_edit *step, size_t d, size_t n, struct trod_edits *out)
{
    size_t x = 0, y = 0;
    int rc = TROD_OK;

    for (size_t i = 0; i < d && rc == TROD_OK; i++) {
        size_t same = step[i].a - x;

        rc = push(out, (struct trod_edit){TROD_EDIT_EQUAL, x, same, y, same});
        if (rc == TROD_OK)
            rc = push(out, step[i]);
        x = step[i].a + step[i].na;
        y = step[i].b + step[i].nb;
    }
    return rc < 0 ? rc : push(out, (struct trod_edit){TROD_EDIT_EQUAL, x, n - x, y, n - x});
}

int trod_align_script(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t limit,
                      struct trod_edits *out)
{
    struct trod_edit *step;
    struct paths p = {0};
    long d = -1;
    int rc;

    if (n == 0 || m == 0)
        return push(out, (struct trod_edit){n ? TROD_EDIT_DELETE : TROD_EDIT_INSERT, 0, n, 0, m});
    if (n + m <= SCRIPT_MAX)
        d = search(a, (long)n, b, (long)m, (long)limit, &p);
    if (d == TROD_ERR_NOMEM - 1) {
        free(p.v);
        return TROD_ERR_NOMEM;
    }
    if (d < 0) {
        free(p.v);
        return push(out, (struct trod_edit){TROD_EDIT_CHANGE, 0, n, 0, m});
    }
    step = calloc((size_t)d + 1, sizeof *step);
    if (step)
        walk_back(&p, (long)n, (long)m, d, step);
    free(p.v);
    if (!step)
        return TROD_ERR_NOMEM;
    rc = emit_script(step, (size_t)d, n, out);
    free(step);
    return rc;
}
