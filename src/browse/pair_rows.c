/*
 * pair_rows.c - two traces: what the thread that compares them notes of their rows and of where
 * they differ. Implements pair_compare of pair_int.h.
 */
#include "browse/grow.h"
#include "browse/pair_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The classes that `trod compare` knows (trod/compare.h). */
unsigned pair_class(unsigned kind)
{
    switch (kind) {
    case TROD_INSTR:
    case TROD_BRANCH:
        return 0;
    case TROD_REG:
    case TROD_STATE:
        return 1;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
    case TROD_PREFETCH:
    case TROD_FLUSH:
    case TROD_BUS:
        return 2;
    case TROD_EXCEPTION:
    case TROD_MODE:
        return 3;
    default:
        return 4;
    }
}

/* ---- lanes */

/* The lane of the stream called NAME, made if new; the last one has all that find no place. */
static unsigned lane_called(struct browse_pair *p, const char *name)
{
    unsigned k = 0;

    while (k < p->n_lanes && strcmp(p->name[k], name) != 0)
        k++;
    if (k == PAIR_LANES)
        return PAIR_LANES - 1;
    if (k == p->n_lanes) {
        snprintf(p->name[k], PAIR_NAME, "%s", name);
        p->n_lanes++;
    }
    return k;
}

static void name_of(const struct trod_meta *m, uint32_t stream, char name[PAIR_NAME])
{
    const struct trod_stream *s = m && stream < m->n_streams ? &m->streams[stream] : NULL;

    if (s && s->name_len)
        snprintf(name, PAIR_NAME, "%.*s", (int)s->name_len, s->name);
    else
        snprintf(name, PAIR_NAME, "#%u", stream);
}

/* The lane of STREAM of SIDE; WHO: 0 the comparing thread, 1 the browser. Locked. */
static unsigned lane_of(struct browse_pair *p, unsigned side, unsigned who,
                        const struct trod_meta *meta, uint32_t stream)
{
    uint8_t *known = &p->known[side][who][stream % PAIR_STREAMS];
    char name[PAIR_NAME];

    if (stream < PAIR_STREAMS && *known)
        return *known - 1u;
    if (p->by_order)
        snprintf(name, sizeof name, "#%u", stream);
    else
        name_of(meta, stream, name);
    if (stream >= PAIR_STREAMS)
        return lane_called(p, name);
    *known = (uint8_t)(lane_called(p, name) + 1);
    return *known - 1u;
}

unsigned pair_lane(struct browse_pair *p, struct browse *const b[2], unsigned side,
                   const struct trod_batch *batch, uint32_t i)
{
    const uint32_t stream = trod_batch_stream(batch, i);
    unsigned lane;

    if (stream < PAIR_STREAMS && p->known[side][1][stream])
        return p->known[side][1][stream] - 1u;
    pthread_mutex_lock(&p->lock);
    lane = lane_of(p, side, 1, trod_nav_meta(b[side]->nav), stream);
    pthread_mutex_unlock(&p->lock);
    return lane;
}

/* Every lane counts what it has so far. */
static int note_points(struct browse_pair *p, struct side *s)
{
    const size_t n = s->rows / EVERY + 1;

    for (unsigned k = 0; k < p->n_lanes; k++) {
        struct lane *l = &s->lane[k];

        while (l->n_points < n) { /* a lane that is new had nothing before */
            struct point *more = browse_grow(l->point, l->n_points, &l->cap_points, sizeof *more);

            if (!more)
                return TROD_ERR_NOMEM;
            l->point = more;
            l->point[l->n_points] = l->n_points + 1 == n ? l->now : (struct point){.row = 0};
            l->point[l->n_points].row = l->n_points * EVERY;
            l->n_points++;
        }
    }
    return 0;
}

static int note_rows(struct browse_pair *p, unsigned side, const struct trod_batch *batch)
{
    struct side *s = &p->side[side];

    for (uint32_t i = 0; i < batch->n; i++) {
        const unsigned class = pair_class(batch->kind[i]);
        const unsigned lane = lane_of(p, side, 0, batch->meta, trod_batch_stream(batch, i));

        if ((s->rows % EVERY == 0 || s->lane[lane].n_points <= s->rows / EVERY) &&
            note_points(p, s) < 0)
            return TROD_ERR_NOMEM;
        s->recent[s->rows % RECENT] = (uint8_t)(lane << 3 | class);
        s->lane[lane].now.n[class]++;
        s->rows++;
    }
    return 0;
}

static int choose(void *user, int side, const struct trod_batch *batch, uint8_t *keep)
{
    struct browse_pair *p = user;
    int rc;

    (void)keep;
    pthread_mutex_lock(&p->lock);
    rc = p->stop ? TROD_ERR_LIMIT : note_rows(p, (unsigned)side, batch);
    p->state.rows[side] += batch->n;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

size_t pair_before(const struct lane *l, uint64_t row)
{
    size_t lo = 0, hi = l->n;

    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (l->range[k].at.row <= row)
            lo = k + 1;
        else
            hi = k;
    }
    return lo;
}

/* What is in lane LANE before ROW, one of the last that were read. */
static struct point recent(const struct side *s, unsigned lane, uint64_t row)
{
    struct point out = s->lane[lane].point[row / EVERY];

    for (; out.row < row; out.row++) {
        const uint8_t r = s->recent[out.row % RECENT];

        if (r >> 3 == lane)
            out.n[r & 7]++;
    }
    return out;
}

/* ROW and COUNT rows from there on are part of difference NUMBER. A second report counts once.
 */
static int add(struct browse_pair *p, struct side *s, uint64_t row, uint64_t count, uint64_t number)
{
    struct lane *l = &s->lane[s->recent[row % RECENT] >> 3];
    struct range *more;
    struct point at;
    uint64_t first;
    size_t k;

    if (!count || row / EVERY >= l->n_points)
        return 0;
    k = pair_before(l, row);
    at = recent(s, (unsigned)(l - s->lane), row);
    first = pair_of_track(p, &at);
    if ((k && first - pair_of_track(p, &l->range[k - 1].at) < l->range[k - 1].count) ||
        (k < l->n && pair_of_track(p, &l->range[k].at) < first + count))
        return 0;
    if (l->n == RANGES) {
        p->state.more = true;
        return 0;
    }
    if (!(more = browse_grow(l->range, l->n, &l->cap, sizeof *more)))
        return TROD_ERR_NOMEM;
    l->range = more;
    memmove(more + k + 1, more + k, (l->n++ - k) * sizeof *more);
    more[k] = (struct range){.at = at, .count = count, .number = number};
    for (; k < l->n; k++)
        more[k].sum = k ? more[k - 1].sum + more[k - 1].count : 0;
    return 0;
}

static int differ(void *user, const struct trod_compare *c, const struct trod_difference *d)
{
    struct browse_pair *p = user;
    int rc = 0;

    (void)c;
    pthread_mutex_lock(&p->lock);
    p->state.differences++;
    for (unsigned k = 0; rc == 0 && k < 2; k++)
        rc = add(p, &p->side[k], d->first[k], d->count[k], p->state.differences);
    rc = p->stop ? 1 : rc;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* The streams of the first rows of T by name, into NAME; how many. */
static unsigned first_streams(struct trod_trace *t, char (*name)[PAIR_NAME])
{
    struct trod_batch *batch;
    unsigned n = 0, k;
    char own[PAIR_NAME];

    if (trod_trace_next(t, &batch) <= 0)
        return 0;
    for (uint32_t i = 0; i < batch->n && n < PAIR_LANES; i++) {
        name_of(batch->meta, trod_batch_stream(batch, i), own);
        for (k = 0; k < n && strcmp(name[k], own) != 0;)
            k++;
        if (k == n)
            memcpy(name[n++], own, PAIR_NAME);
    }
    return n;
}

/* As the comparer does: streams of one name are compared, or else the first, the second, .. */
static bool by_order(struct browse_pair *p)
{
    char name[2][PAIR_LANES][PAIR_NAME];
    unsigned n[2] = {0, 0};
    bool shared = false;

    for (unsigned k = 0; k < 2; k++) {
        struct trod_trace *t = NULL;

        if (trod_trace_open(&t, &p->path[k], 1, &p->trace[k], NULL) == 0)
            n[k] = first_streams(t, name[k]);
        trod_trace_close(t);
    }
    for (unsigned i = 0; i < n[0]; i++)
        for (unsigned j = 0; j < n[1]; j++)
            shared = shared || strcmp(name[0][i], name[1][j]) == 0;
    return !shared;
}

void *pair_compare(void *user)
{
    struct browse_pair *p = user;
    struct trod_compare_options opt = {
        .struct_size = sizeof opt, .choose = choose, .choose_user = p, .serial = true};
    struct trod_compare_summary sum;
    struct trod_trace *t[2] = {NULL, NULL};
    int rc = 0;

    memset(&sum, 0, sizeof sum);
    p->by_order = by_order(p);
    for (unsigned k = 0; rc == 0 && k < 2; k++)
        rc = trod_trace_open(&t[k], &p->path[k], 1, &p->trace[k], NULL);
    for (unsigned k = 0; rc == 0 && k < 2; k++)
        trod_trace_want(t[k], trod_compare_want(&opt));
    if (rc == 0)
        rc = trod_compare_run(t[0], t[1], &opt, differ, p, &sum, NULL);
    trod_trace_close(t[0]);
    trod_trace_close(t[1]);
    pthread_mutex_lock(&p->lock);
    p->state.done = true;
    p->state.status = rc;
    p->track = sum.track ? sum.track : p->track;
    pthread_mutex_unlock(&p->lock);
    return NULL;
}
