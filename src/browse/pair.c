/*
 * pair.c - two traces: which rows stand beside each other. Implements pair.h.
 */
#include "browse/pair_int.h"

#include <stdlib.h>
#include <string.h>

int browse_pair_begin(struct browse_pair **out, const char *const paths[2],
                      const struct trod_trace_options *const trace[2])
{
    struct browse_pair *p = calloc(1, sizeof *p);

    *out = NULL;
    if (!p)
        return TROD_ERR_NOMEM;
    p->track = (1u << TROD_TRACK_CLASSES) - 1;
    for (unsigned k = 0; k < 2; k++) {
        p->path[k] = paths[k];
        if (trace[k])
            p->trace[k] = *trace[k];
    }
    pthread_mutex_init(&p->lock, NULL);
    if (pthread_create(&p->thread, NULL, pair_compare, p) != 0) {
        pthread_mutex_destroy(&p->lock);
        free(p);
        return TROD_ERR_NOMEM;
    }
    *out = p;
    return 0;
}

void browse_pair_end(struct browse_pair *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_mutex_destroy(&p->lock);
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < PAIR_LANES; i++) {
            free(p->side[k].lane[i].range);
            free(p->side[k].lane[i].point);
        }
    free(p);
}

void browse_pair_state(struct browse_pair *p, struct browse_pair_state *out)
{
    pthread_mutex_lock(&p->lock);
    *out = p->state;
    pthread_mutex_unlock(&p->lock);
}

/* ---- what stands beside what */

/* The range that ROW of SIDE is in, to *OUT; its difference's number, 0: none. One lane. */
static uint64_t within(struct browse_pair *p, unsigned side, uint64_t row, struct range *out)
{
    const struct lane *l = &p->side[side].lane[0];
    uint64_t number = 0;
    size_t k;

    pthread_mutex_lock(&p->lock);
    k = pair_before(l, row);
    if (k && row - l->range[k - 1].at.row < l->range[k - 1].count) {
        *out = l->range[k - 1];
        number = out->number;
    }
    pthread_mutex_unlock(&p->lock);
    return number;
}

bool pair_compared(const struct browse_pair *p, const struct trod_batch *batch, uint32_t i)
{
    return p->track >> pair_class(batch->kind[i]) & 1;
}

uint64_t pair_of_track(const struct browse_pair *p, const struct point *at)
{
    uint64_t n = 0;

    for (unsigned k = 0; k < TROD_TRACK_CLASSES; k++)
        n += p->track >> k & 1 ? at->n[k] : 0;
    return n;
}

/* The point at or before ROW of SIDE, or before the Nth compared row of the lane (ROW NOWHERE). */
static struct point point_at(struct browse_pair *p, unsigned side, unsigned lane, uint64_t row,
                             uint64_t n)
{
    const struct lane *l = &p->side[side].lane[lane];
    struct point out = {0};
    size_t lo = 0, hi;

    pthread_mutex_lock(&p->lock);
    hi = l->n_points;
    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (row != TROD_NOWHERE ? l->point[k].row <= row : pair_of_track(p, &l->point[k]) <= n)
            lo = k + 1;
        else
            hi = k;
    }
    if (lo)
        out = l->point[lo - 1];
    pthread_mutex_unlock(&p->lock);
    return out;
}

/* Does row I of BATCH, of SIDE, count in LANE? */
static bool counts(struct browse_pair *p, struct browse *const b[2], unsigned side, unsigned lane,
                   const struct trod_batch *batch, uint32_t i)
{
    return pair_compared(p, batch, i) &&
           (p->n_lanes <= 1 || pair_lane(p, b, side, batch, i) == lane);
}

int pair_count(struct browse_pair *p, struct browse *const b[2], unsigned side, unsigned lane,
               uint64_t row, uint64_t *n)
{
    const struct point at = point_at(p, side, lane, row, 0);
    int rc = 1;

    *n = pair_of_track(p, &at);
    for (uint64_t k = at.row; k < row; k++) {
        const struct trod_batch *batch;
        uint32_t i;

        if ((rc = browse_row(b[side], k, &batch, &i)) <= 0)
            break;
        *n += counts(p, b, side, lane, batch, i);
    }
    return rc < 0 ? rc : 0;
}

int pair_find(struct browse_pair *p, struct browse *const b[2], unsigned side, unsigned lane,
              uint64_t n, uint64_t *row)
{
    const struct point at = point_at(p, side, lane, TROD_NOWHERE, n);
    uint64_t left = n - pair_of_track(p, &at);
    int rc;

    for (*row = at.row;; ++*row) {
        const struct trod_batch *batch;
        uint32_t i;

        if ((rc = browse_row(b[side], *row, &batch, &i)) <= 0)
            return rc;
        if (counts(p, b, side, lane, batch, i) && left-- == 0)
            return 1;
    }
}

/* Pairs of SIDE before ROW: compared rows that are in no range. One lane. */
static int pairs(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                 uint64_t *n)
{
    const struct lane *l = &p->side[side].lane[0];
    struct range r = {.count = 0};
    size_t k;
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    k = pair_before(l, row);
    if (k)
        r = l->range[k - 1];
    pthread_mutex_unlock(&p->lock);
    if (k && row - r.at.row < r.count)
        *n = pair_of_track(p, &r.at) - r.sum;
    else if ((rc = pair_count(p, b, side, 0, row, n)) == 0)
        *n -= r.sum + r.count;
    return rc;
}

uint64_t pair_place(struct browse_pair *p, unsigned side, unsigned lane, uint64_t n,
                    uint64_t number, struct range *twin)
{
    const struct lane *l = &p->side[side].lane[lane];
    size_t lo = 0, hi;

    twin->count = 0;
    pthread_mutex_lock(&p->lock);
    hi = l->n;
    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (pair_of_track(p, &l->range[k].at) - l->range[k].sum <= n)
            lo = k + 1;
        else
            hi = k;
    }
    for (size_t k = lo;
         number && k && pair_of_track(p, &l->range[k - 1].at) - l->range[k - 1].sum == n; k--)
        if (l->range[k - 1].number == number)
            *twin = l->range[k - 1];
    if (lo)
        n += l->range[lo - 1].sum + l->range[lo - 1].count;
    pthread_mutex_unlock(&p->lock);
    return n;
}

int browse_pair_map(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                    uint64_t *out)
{
    struct range mine = {.count = 0}, twin;
    uint64_t number, n;
    int rc;

    if (p->n_lanes > 1)
        return pair_lanes_map(p, b, side, row, out);
    number = within(p, side, row, &mine);
    if ((rc = pairs(p, b, side, row, &n)) < 0)
        return rc;
    n = pair_place(p, !side, 0, n, number, &twin);
    if (twin.count && row - mine.at.row < twin.count) {
        *out = twin.at.row + (row - mine.at.row);
        return 1;
    }
    if (twin.count) {
        *out = twin.at.row + twin.count;
        return 1;
    }
    return pair_find(p, b, !side, 0, n, out);
}

/* Row ROW of SIDE: 1 and its difference, and whether it is compared; 0 where there is none. */
static int look(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                uint64_t *diff, bool *is)
{
    const struct trod_batch *batch;
    struct range r;
    uint32_t i;
    int rc = browse_row(b[side], row, &batch, &i);

    *diff = rc > 0 ? within(p, side, row, &r) : 0;
    *is = rc > 0 && pair_compared(p, batch, i);
    return rc;
}

/*
 * The line that rows AT[0] and AT[1] are next for (BACK: those before them). 1, 0: there is none,
 * or an error.
 */
static int step(struct browse_pair *p, struct browse *const b[2], uint64_t at[2], bool back,
                struct browse_pair_line *line)
{
    bool is[2], there[2], use[2];
    uint64_t diff[2];

    for (unsigned k = 0; k < 2; k++) {
        const bool none = back && at[k] == 0;
        int rc = none ? 0 : look(p, b, k, at[k] - back, &diff[k], &is[k]);

        if (rc < 0)
            return rc;
        there[k] = rc > 0;
        if (!there[k]) {
            diff[k] = 0;
            is[k] = false;
        }
    }
    if (diff[0] || diff[1]) { /* the one that comes first on this way is shown */
        const size_t first = !diff[0]                      ? diff[1]
                             : !diff[1]                    ? diff[0]
                             : (diff[0] < diff[1]) != back ? diff[0]
                                                           : diff[1];

        use[0] = diff[0] == first;
        use[1] = diff[1] == first;
    } else {
        use[0] = there[0] && (is[0] == is[1] || !is[0] || !there[1]);
        use[1] = there[1] && (is[0] == is[1] || !is[1] || !there[0]);
        if (there[0] && there[1] && !is[0] && !is[1])
            use[1] = false;
    }
    line->differs = diff[0] || diff[1];
    for (unsigned k = 0; k < 2; k++) {
        line->row[k] = use[k] ? at[k] - back : TROD_NOWHERE;
        if (use[k])
            at[k] = back ? at[k] - 1 : at[k] + 1;
    }
    return use[0] || use[1];
}

int browse_pair_page(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                     unsigned height, struct browse_pair_line *line, unsigned *n, unsigned *at)
{
    uint64_t here[2], down[2];
    int rc;

    if (p->n_lanes > 1)
        return pair_lanes_page(p, b, side, row, height, line, n, at);
    *n = *at = 0;
    here[side] = row;
    if ((rc = browse_pair_map(p, b, side, row, &here[!side])) < 0)
        return rc;
    if (rc == 0 && b[!side]->rows != TROD_NOWHERE)
        here[!side] = b[!side]->rows;
    down[0] = here[0];
    down[1] = here[1];
    while (*at < height / 2 && (rc = step(p, b, here, true, &line[*at])) > 0)
        ++*at;
    for (unsigned k = 0; k < *at / 2; k++) {
        const struct browse_pair_line other = line[k];

        line[k] = line[*at - 1 - k];
        line[*at - 1 - k] = other;
    }
    *n = *at;
    while (rc >= 0 && *n < height && (rc = step(p, b, down, false, &line[*n])) > 0)
        ++*n;
    while (*at < *n && line[*at].row[side] != row) /* rows of the other side alone come first */
        ++*at;
    return rc < 0 ? rc : 0;
}

/* The first range of SIDE that begins after N pairs or more; BACK: the last one up to N. */
static size_t behind_pairs(const struct browse_pair *p, unsigned side, uint64_t n, bool back)
{
    const struct lane *s = &p->side[side].lane[0];
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;
        const uint64_t pairs_before = pair_of_track(p, &s->range[k].at) - s->range[k].sum;

        if (back ? pairs_before <= n : pairs_before < n)
            lo = k + 1;
        else
            hi = k;
    }
    return back ? lo - 1 : lo; /* SIZE_MAX: none */
}

/* The row of SIDE beside the next difference that only the other side has rows in. */
static int lone(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                bool back, uint64_t *out)
{
    const struct lane *s = &p->side[!side].lane[0];
    uint64_t n;
    size_t k;
    int rc = pairs(p, b, side, row, &n);

    pthread_mutex_lock(&p->lock);
    k = behind_pairs(p, !side, n, back);
    pthread_mutex_unlock(&p->lock);
    for (; rc == 0; k += back ? SIZE_MAX : 1) {
        struct range r = {.count = 0}, twin;

        pthread_mutex_lock(&p->lock);
        if (k < s->n)
            r = s->range[k];
        pthread_mutex_unlock(&p->lock);
        if (!r.count)
            return 0;
        n = pair_place(p, side, 0, pair_of_track(p, &r.at) - r.sum, r.number, &twin);
        if (!twin.count && (rc = pair_find(p, b, side, 0, n, out)) > 0 &&
            (back ? *out < row : *out > row))
            return 1;
        rc = rc < 0 ? rc : 0;
    }
    return rc;
}

int browse_pair_next(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                     bool back, uint64_t *out)
{
    const struct lane *s = &p->side[side].lane[0];
    uint64_t other;
    bool found;
    size_t k;
    int rc;

    if (p->n_lanes > 1)
        return pair_lanes_next(p, b, side, row, back, out);
    if ((rc = lone(p, b, side, row, back, &other)) < 0)
        return rc;
    pthread_mutex_lock(&p->lock);
    k = pair_before(s, row);
    if (back)
        while (k && s->range[k - 1].at.row >= row)
            k--;
    found = back ? k > 0 : k < s->n;
    if (found)
        *out = s->range[back ? k - 1 : k].at.row;
    pthread_mutex_unlock(&p->lock);
    if (rc > 0 && (!found || (back ? other > *out : other < *out)))
        *out = other;
    return found || rc > 0;
}
