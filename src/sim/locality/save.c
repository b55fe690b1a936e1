/*
 * save.c - stacks and reuse times as bytes and back (save.h).
 *
 * A stack is its counters, its first references in order, its live lines from the least recent one
 * on with their counters, and the distances that occur, each as its distance from the one before;
 * reuse times are their counters and each line with the times of its first and last reference.
 */
#include "save.h"

#include "core/pack.h"
#include "core/slab.h"

#include <stdlib.h>

/* The N numbers at V. */
static int put(struct trod_buf *out, const uint64_t *v, size_t n)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, v[i]);
    return rc;
}

static int get(struct trod_span *in, uint64_t *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    return TROD_OK;
}

/* Of N numbers those that are not 0: how far behind the one before, and the number; 0. */
static int put_sparse(struct trod_buf *out, const uint64_t *v, size_t n)
{
    size_t last = 0;
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < n; i++) {
        if (!v[i])
            continue;
        rc = put(out, (const uint64_t[]){i + 1 - last, v[i]}, 2);
        last = i + 1;
    }
    return rc == TROD_OK ? trod_pack(out, 0) : rc;
}

static int get_sparse(struct trod_span *in, uint64_t *v, size_t n)
{
    uint64_t at = 0, by;

    while (get(in, &by, 1) == TROD_OK) {
        if (by == 0)
            return TROD_OK;
        if (by > n - at || get(in, &v[at + by - 1], 1) < 0)
            break;
        at += by;
    }
    return TROD_ERR_CORRUPT;
}

/* ---- stacks */

enum { CLASSES = (1 << TROD_REFS) - 1, DISTANCES = 1 << 30 };

static int save_distances(const struct trod_dist *h, struct trod_buf *out)
{
    uint64_t last = 0, d = 0;
    int rc = TROD_OK;

    while (rc == TROD_OK && (d = trod_dist_next(h, d, CLASSES)) != UINT64_MAX) {
        rc = trod_pack(out, d + 1 - last);
        last = ++d;
        for (unsigned k = 0; rc == TROD_OK && k < TROD_REFS; k++)
            rc = trod_pack(out, trod_dist_at(h, d - 1, k));
    }
    return rc == TROD_OK ? trod_pack(out, 0) : rc;
}

static int load_distances(struct trod_dist *h, struct trod_span *in)
{
    uint64_t d = 0, by, n[TROD_REFS];

    while (get(in, &by, 1) == TROD_OK) {
        if (by == 0)
            return TROD_OK;
        if (by > DISTANCES - d || get(in, n, TROD_REFS) < 0)
            break;
        d += by;
        for (unsigned k = 0; k < TROD_REFS; k++)
            if (n[k] && !trod_dist_count(h, (uint32_t)(d - 1), k, n[k]))
                return TROD_ERR_NOMEM;
    }
    return TROD_ERR_CORRUPT;
}

int trod_stack_save(const struct trod_stack *s, struct trod_buf *out)
{
    uint64_t *order = trod_stack_order(s);
    int rc = order ? put(out, s->refs, TROD_REFS) : TROD_ERR_NOMEM;

    if (rc == TROD_OK)
        rc = put(out, s->dist.cold, TROD_REFS);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->n_first);
    for (size_t i = 0; rc == TROD_OK && i < s->n_first; i++)
        rc = put(out, (const uint64_t[]){s->first[i].line, s->first[i].class}, 2);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->live);
    for (uint64_t i = 0; rc == TROD_OK && i < s->live; i++) {
        rc = trod_pack(out, order[i]);
        if (rc == TROD_OK) {
            const struct trod_line_count c =
                trod_tally_of(&s->tally, &s->lines.at[trod_lines_slot(&s->lines, order[i])]);

            rc = put(out, (const uint64_t[]){c.refs, c.distant}, 2);
        }
    }
    free(order);
    return rc == TROD_OK ? save_distances(&s->dist, out) : rc;
}

static int load_first(struct trod_stack *s, struct trod_span *in)
{
    uint64_t n, v[2];

    if (get(in, &n, 1) < 0 || n > in->n / 2)
        return TROD_ERR_CORRUPT;
    s->first = n < SIZE_MAX / sizeof *s->first ? trod_slab_take((n + 1) * sizeof *s->first) : NULL;
    if (!s->first)
        return TROD_ERR_NOMEM;
    s->cap_first = n + 1;
    for (; s->n_first < n; s->n_first++) {
        if (get(in, v, 2) < 0 || v[1] >= TROD_REFS)
            return TROD_ERR_CORRUPT;
        s->first[s->n_first] = (struct trod_first){v[0], (uint8_t)v[1]};
    }
    return TROD_OK;
}

/* Is each line of the first references live, and there once? 0 or an error. */
static int first_fit(const struct trod_stack *s)
{
    uint64_t *seen = calloc((size_t)s->bits.size >> 6, sizeof *seen); /* a bit for each position */
    int rc = seen ? TROD_OK : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < s->n_first; i++) {
        const uint32_t p = s->lines.at[trod_lines_slot(&s->lines, s->first[i].line)].pos;
        const uint64_t bit = UINT64_C(1) << (p & 63);

        if (p == TROD_LINE_EMPTY || seen[p >> 6] & bit)
            rc = TROD_ERR_CORRUPT;
        else
            seen[p >> 6] |= bit;
    }
    free(seen);
    return rc;
}

int trod_stack_load(struct trod_stack *s, struct trod_span *in)
{
    uint64_t n, line;
    size_t slot;
    uint32_t d;
    int rc = get(in, s->refs, TROD_REFS);

    if (rc == TROD_OK)
        rc = get(in, s->dist.cold, TROD_REFS);
    if (rc == TROD_OK)
        rc = load_first(s, in);
    if (rc == TROD_OK && (get(in, &n, 1) < 0 || n > in->n))
        rc = TROD_ERR_CORRUPT;
    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        struct trod_line_count c;

        if (get(in, &line, 1) < 0 || get(in, &c.refs, 1) < 0 || get(in, &c.distant, 1) < 0)
            return TROD_ERR_CORRUPT;
        if (!trod_stack_touch(s, line, &d, &slot))
            return TROD_ERR_NOMEM;
        if (d != TROD_DIST_COLD)
            return TROD_ERR_CORRUPT;
        trod_tally_add(&s->tally, &s->lines.at[slot], c);
        s->anew = s->anew || c.refs == 0;
    }
    if (rc == TROD_OK)
        rc = s->tally.failed ? TROD_ERR_NOMEM : first_fit(s);
    return rc == TROD_OK ? load_distances(&s->dist, in) : rc;
}

/* ---- reuse times */

int trod_times_save(const struct trod_times *t, struct trod_buf *out)
{
    int rc = put(out, (const uint64_t[]){t->now, t->recent, t->lines}, 3);

    if (rc == TROD_OK)
        rc = put(out, t->refs, TROD_REFS);
    for (uint64_t i = 0; rc == TROD_OK && i < t->lines; i++) {
        const struct trod_first_time *f = &t->order[i];

        rc = put(out, (const uint64_t[]){f->line, f->time, trod_times_last(t, f->line)}, 3);
    }
    if (rc == TROD_OK)
        rc = put_sparse(out, t->brief, TROD_TIME_SHORT);
    return rc == TROD_OK ? put_sparse(out, &t->reuse[0].n, 2 * TROD_BINS) : rc;
}

int trod_times_load(struct trod_times *t, struct trod_span *in)
{
    uint64_t v[3], now, recent;
    int rc = get(in, v, 3);
    const uint64_t lines = v[2];

    if (rc < 0 || lines > in->n / 3)
        return TROD_ERR_CORRUPT;
    now = v[0];
    recent = v[1];
    rc = get(in, t->refs, TROD_REFS);
    for (uint64_t i = 0; rc == TROD_OK && i < lines; i++) {
        rc = get(in, v, 3);
        if (rc < 0 || v[1] == 0 || v[2] < v[1] || v[2] > now)
            return TROD_ERR_CORRUPT;
        rc = trod_times_put(t, v[0], v[1], v[2]);
    }
    t->now = now;
    t->recent = recent;
    if (rc == TROD_OK)
        rc = get_sparse(in, t->brief, TROD_TIME_SHORT);
    return rc == TROD_OK ? get_sparse(in, &t->reuse[0].n, 2 * TROD_BINS) : rc;
}
