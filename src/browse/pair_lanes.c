/*
 * pair_lanes.c - two traces of several cpus or threads: which rows stand beside each other.
 *
 * Implements pair_lanes_... of pair_int.h. The rows of one side stand in their order; beside each
 * stands the one of the same lane that it is compared with, wherever that lies in the other trace.
 * Rows that only the other side has stand after the pair of their lane that they follow.
 */
#include "browse/pair_int.h"

#include <stdlib.h>
#include <string.h>

/* A row among those of its lane. */
struct spot {
    unsigned lane;
    bool is, in;      /* it is compared; it is in RANGE */
    uint64_t ordinal; /* compared rows of the lane before it */
    uint64_t pairs;   /* of these, those in pairs */
    struct range range;
};

/* Lines that are being collected. */
struct lines {
    struct browse_pair_line *at;
    unsigned n, most;
};

static uint64_t first_of(const struct browse_pair *p, const struct range *r)
{
    return pair_of_track(p, &r->at);
}

/* How many ranges of L begin at or before its compared row ORDINAL. Locked. */
static size_t ranges_to(const struct browse_pair *p, const struct lane *l, uint64_t ordinal)
{
    size_t lo = 0, hi = l->n;

    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (first_of(p, &l->range[k]) <= ordinal)
            lo = k + 1;
        else
            hi = k;
    }
    return lo;
}

/* The first range of L after N pairs or more. Locked. */
static size_t ranges_before(const struct browse_pair *p, const struct lane *l, uint64_t n)
{
    size_t lo = 0, hi = l->n;

    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (first_of(p, &l->range[k]) - l->range[k].sum < n)
            lo = k + 1;
        else
            hi = k;
    }
    return lo;
}

static bool range_at(struct browse_pair *p, const struct lane *l, size_t k, struct range *out)
{
    bool is;

    pthread_mutex_lock(&p->lock);
    is = k < l->n;
    if (is)
        *out = l->range[k];
    pthread_mutex_unlock(&p->lock);
    return is;
}

/* Where ROW of SIDE lies among the rows of lane s->lane. 0 or an error. */
static int among(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                 struct spot *s)
{
    const struct lane *l = &p->side[side].lane[s->lane];
    int rc = pair_count(p, b, side, s->lane, row, &s->ordinal);
    uint64_t off;
    size_t k;

    s->in = false;
    s->pairs = s->ordinal;
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&p->lock);
    k = ranges_to(p, l, s->ordinal);
    if (k) {
        s->range = l->range[k - 1];
        off = s->ordinal - first_of(p, &s->range);
        s->in = s->is && off < s->range.count;
        s->pairs -= s->range.sum + (off < s->range.count ? off : s->range.count);
    }
    pthread_mutex_unlock(&p->lock);
    return 0;
}

/* 1, 0: there is no such row, or an error. */
static int spot_of(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                   struct spot *s)
{
    const struct trod_batch *batch;
    uint32_t i;
    int rc = browse_row(b[side], row, &batch, &i);

    if (rc <= 0)
        return rc;
    s->lane = pair_lane(p, b, side, batch, i);
    s->is = pair_compared(p, batch, i);
    rc = among(p, b, side, row, s);
    return rc < 0 ? rc : 1;
}

/* The row of the other side that the one at S stands beside. 1, 0: none, or an error. */
static int beside(struct browse_pair *p, struct browse *const b[2], unsigned side,
                  const struct spot *s, struct range *twin, uint64_t *out)
{
    const uint64_t n = pair_place(p, !side, s->lane, s->pairs, s->in ? s->range.number : 0, twin);
    const uint64_t off = s->in ? s->ordinal - first_of(p, &s->range) : 0;

    if (!s->is || (s->in && off >= twin->count))
        return 0;
    return pair_find(p, b, !side, s->lane, s->in ? first_of(p, twin) + off : n, out);
}

int pair_lanes_map(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                   uint64_t *out)
{
    struct range twin;
    struct spot s;
    int rc = spot_of(p, b, side, row, &s);

    if (rc <= 0)
        return rc;
    rc = beside(p, b, side, &s, &twin, out);
    if (rc != 0)
        return rc;
    return pair_find(p, b, !side, s.lane, pair_place(p, !side, s.lane, s.pairs, 0, &twin), out);
}

/* ---- a page */

/* Rows of the other side alone: COUNT of lane LANE from its compared row FIRST on. */
static int add_alone(struct browse_pair *p, struct browse *const b[2], unsigned side, unsigned lane,
                     uint64_t first, uint64_t count, struct lines *to)
{
    int rc = 1;

    for (uint64_t i = 0; rc > 0 && i < count && to->n < to->most; i++) {
        struct browse_pair_line line = {{TROD_NOWHERE, TROD_NOWHERE}, true};

        rc = pair_find(p, b, !side, lane, first + i, &line.row[!side]);
        if (rc > 0)
            to->at[to->n++] = line;
    }
    return rc < 0 ? rc : 0;
}

/* Those that stand after N pairs of LANE. */
static int add_alone_at(struct browse_pair *p, struct browse *const b[2], unsigned side,
                        unsigned lane, uint64_t n, struct lines *to)
{
    const struct lane *l = &p->side[!side].lane[lane];
    struct range r, twin;
    int rc = 0;
    size_t k;

    pthread_mutex_lock(&p->lock);
    k = ranges_before(p, l, n);
    pthread_mutex_unlock(&p->lock);
    for (; rc == 0 && range_at(p, l, k, &r) && first_of(p, &r) - r.sum == n; k++) {
        pair_place(p, side, lane, n, r.number, &twin);
        if (!twin.count)
            rc = add_alone(p, b, side, lane, first_of(p, &r), r.count, to);
    }
    return rc;
}

/* The line of ROW of SIDE and those of the other side after it. 1, 0: no such row, or an error. */
static int add_row(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                   struct lines *to)
{
    struct browse_pair_line line = {{TROD_NOWHERE, TROD_NOWHERE}, false};
    struct range twin;
    struct spot s;
    int rc = spot_of(p, b, side, row, &s);

    if (rc <= 0 || to->n == to->most)
        return rc;
    line.row[side] = row;
    line.differs = s.in;
    if ((rc = beside(p, b, side, &s, &twin, &line.row[!side])) < 0)
        return rc;
    if (rc == 0)
        line.row[!side] = TROD_NOWHERE;
    to->at[to->n++] = line;
    rc = 0;
    if (s.is && !s.in)
        rc = add_alone_at(p, b, side, s.lane, s.pairs + 1, to);
    else if (s.in && s.ordinal - first_of(p, &s.range) + 1 == s.range.count &&
             twin.count > s.range.count)
        rc = add_alone(p, b, side, s.lane, first_of(p, &twin) + s.range.count,
                       twin.count - s.range.count, to);
    return rc < 0 ? rc : 1;
}

/* What the other side has before the first pair of each lane. */
static int add_first(struct browse_pair *p, struct browse *const b[2], unsigned side,
                     struct lines *to)
{
    int rc = 0;

    for (unsigned lane = 0; rc == 0 && lane < p->n_lanes; lane++)
        rc = add_alone_at(p, b, side, lane, 0, to);
    return rc;
}

static void turn_round(struct browse_pair_line *line, unsigned n)
{
    for (unsigned k = 0; k < n / 2; k++) {
        const struct browse_pair_line other = line[k];

        line[k] = line[n - 1 - k];
        line[n - 1 - k] = other;
    }
}

/* Up to MOST lines before row ROW, into LINE, in order. */
static int page_before(struct browse_pair *p, struct browse *const b[2], unsigned side,
                       uint64_t row, unsigned most, struct browse_pair_line *line, unsigned *n)
{
    struct lines some = {.at = malloc((most + 1) * sizeof *some.at), .most = most + 1};
    int rc = some.at ? 0 : TROD_ERR_NOMEM;

    *n = 0;
    for (bool first = row == 0; rc >= 0 && *n < most; first = --row == 0) {
        some.n = 0;
        rc = first ? add_first(p, b, side, &some) : add_row(p, b, side, row - 1, &some);
        while (some.n && *n < most)
            line[(*n)++] = some.at[--some.n];
        if (first || rc < 0)
            break;
    }
    free(some.at);
    turn_round(line, *n);
    return rc < 0 ? rc : 0;
}

int pair_lanes_page(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                    unsigned height, struct browse_pair_line *line, unsigned *n, unsigned *at)
{
    struct lines to = {.at = line, .most = height};
    int rc = page_before(p, b, side, row, height / 2, line, at);

    to.n = *at;
    while (rc >= 0 && to.n < height && (rc = add_row(p, b, side, row++, &to)) > 0)
        ;
    *n = to.n;
    return rc < 0 ? rc : 0;
}

/* ---- differences */

/* Is OUT, a row of the side, on the way from ROW, and nearer than *BEST? */
static void nearer(uint64_t out, uint64_t row, bool back, uint64_t *best)
{
    if (back ? out < row && (*best == TROD_NOWHERE || out > *best) : out > row && out < *best)
        *best = out;
}

/* The next difference that only the other side has rows of LANE in. 0 or an error. */
static int next_alone(struct browse_pair *p, struct browse *const b[2], unsigned side,
                      unsigned lane, uint64_t row, bool back, uint64_t *best)
{
    const struct lane *l = &p->side[!side].lane[lane];
    struct spot s = {.lane = lane};
    struct range r, twin;
    uint64_t out, n;
    int rc = among(p, b, side, row, &s);
    size_t k;

    pthread_mutex_lock(&p->lock);
    k = ranges_before(p, l, s.pairs + back);
    pthread_mutex_unlock(&p->lock);
    for (k -= back; rc == 0 && range_at(p, l, k, &r); k += back ? SIZE_MAX : 1) {
        n = pair_place(p, side, lane, first_of(p, &r) - r.sum, r.number, &twin);
        if (twin.count)
            continue;
        rc = pair_find(p, b, side, lane, n, &out);
        if (rc > 0 && (back ? out < row : out > row)) {
            nearer(out, row, back, best);
            return 0;
        }
        rc = rc < 0 ? rc : 0;
    }
    return rc;
}

int pair_lanes_next(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                    bool back, uint64_t *out)
{
    uint64_t best = TROD_NOWHERE;
    int rc = 0;

    for (unsigned lane = 0; rc == 0 && lane < p->n_lanes; lane++) {
        const struct lane *l = &p->side[side].lane[lane];
        struct range r;
        size_t k;

        pthread_mutex_lock(&p->lock);
        k = pair_before(l, back ? row - (row > 0) : row);
        pthread_mutex_unlock(&p->lock);
        if (range_at(p, l, k - back, &r))
            nearer(r.at.row, row, back, &best);
        rc = next_alone(p, b, side, lane, row, back, &best);
    }
    if (rc < 0)
        return rc;
    *out = best;
    return best != TROD_NOWHERE;
}
