/*
 * pair.c - two traces: which rows stand beside each other. Implements pair.h.
 */
#include "browse/pair.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES = 1 << 20, EVERY = 4096, RECENT = 1 << 18 };

/* Rows of each class before row ROW. */
struct point {
    uint64_t row, n[TROD_TRACK_CLASSES];
};

/* Rows of one side that a difference is about. All others that are compared stand in pairs. */
struct range {
    struct point at; /* the first one */
    uint64_t count;
    uint64_t sum;    /* counts of the ranges before */
    uint64_t number; /* of the difference, from 1 */
};

struct side {
    struct range *range; /* by row */
    size_t n, cap;
    struct point *point; /* every so many rows */
    size_t n_points, cap_points;
    struct point now;
    uint8_t recent[RECENT]; /* classes of the last rows: differences are told late */
};

struct browse_pair {
    const char *path[2];
    struct trod_trace_options trace[2];
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    struct side side[2];
    struct browse_pair_state state;
    _Atomic uint32_t track; /* classes that are compared */
    bool stop;
};

/* The classes that `trod compare` knows (trod/compare.h). */
static unsigned class_of(unsigned kind)
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

/* ---- the thread that compares */

static void *grown(void *p, size_t n, size_t *cap, size_t size)
{
    void *more;

    if (n < *cap)
        return p;
    more = realloc(p, (*cap ? 2 * *cap : 256) * size);
    if (more)
        *cap = *cap ? 2 * *cap : 256;
    return more;
}

static int note_rows(struct side *s, const struct trod_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const unsigned class = class_of(batch->kind[i]);

        if (s->now.row % EVERY == 0) {
            struct point *more = grown(s->point, s->n_points, &s->cap_points, sizeof *more);

            if (!more)
                return TROD_ERR_NOMEM;
            s->point = more;
            s->point[s->n_points++] = s->now;
        }
        s->recent[s->now.row % RECENT] = (uint8_t) class;
        s->now.n[class]++;
        s->now.row++;
    }
    return 0;
}

static int choose(void *user, int side, const struct trod_batch *batch, uint8_t *keep)
{
    struct browse_pair *p = user;
    int rc;

    (void)keep;
    pthread_mutex_lock(&p->lock);
    rc = p->stop ? TROD_ERR_LIMIT : note_rows(&p->side[side], batch);
    p->state.rows[side] += batch->n;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* The last range that begins at or before ROW: its place + 1; 0: none. */
static size_t before(const struct side *s, uint64_t row)
{
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (s->range[k].at.row <= row)
            lo = k + 1;
        else
            hi = k;
    }
    return lo;
}

/* What is before ROW, one of the last that were read. */
static struct point recent(const struct side *s, uint64_t row)
{
    struct point out = s->point[row / EVERY];

    for (; out.row < row; out.row++)
        out.n[s->recent[out.row % RECENT]]++;
    return out;
}

/* ROW and COUNT rows from there on are part of difference NUMBER. What is told twice counts once.
 */
static int add(struct browse_pair *p, struct side *s, uint64_t row, uint64_t count, uint64_t number)
{
    size_t k = before(s, row);
    struct range *more;

    if (!count || row / EVERY >= s->n_points ||
        (k && row - s->range[k - 1].at.row < s->range[k - 1].count) ||
        (k < s->n && s->range[k].at.row < row + count))
        return 0;
    if (s->n == RANGES) {
        p->state.more = true;
        return 0;
    }
    if (!(more = grown(s->range, s->n, &s->cap, sizeof *more)))
        return TROD_ERR_NOMEM;
    s->range = more;
    memmove(more + k + 1, more + k, (s->n++ - k) * sizeof *more);
    more[k] = (struct range){.at = recent(s, row), .count = count, .number = number};
    for (; k < s->n; k++)
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

static void *compare(void *user)
{
    struct browse_pair *p = user;
    struct trod_compare_options opt = {
        .struct_size = sizeof opt, .choose = choose, .choose_user = p, .serial = true};
    struct trod_compare_summary sum;
    struct trod_trace *t[2] = {NULL, NULL};
    int rc = 0;

    memset(&sum, 0, sizeof sum);
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
    if (pthread_create(&p->thread, NULL, compare, p) != 0) {
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
    for (unsigned k = 0; k < 2; k++) {
        free(p->side[k].range);
        free(p->side[k].point);
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

/* The range that ROW of SIDE is in, to *OUT; its difference's number, 0: none. */
static uint64_t within(struct browse_pair *p, unsigned side, uint64_t row, struct range *out)
{
    const struct side *s = &p->side[side];
    uint64_t number = 0;
    size_t k;

    pthread_mutex_lock(&p->lock);
    k = before(s, row);
    if (k && row - s->range[k - 1].at.row < s->range[k - 1].count) {
        *out = s->range[k - 1];
        number = out->number;
    }
    pthread_mutex_unlock(&p->lock);
    return number;
}

static bool compared(const struct browse_pair *p, const struct trod_batch *batch, uint32_t i)
{
    return p->track >> class_of(batch->kind[i]) & 1;
}

static uint64_t of_track(const struct browse_pair *p, const struct point *at)
{
    uint64_t n = 0;

    for (unsigned k = 0; k < TROD_TRACK_CLASSES; k++)
        n += p->track >> k & 1 ? at->n[k] : 0;
    return n;
}

/* The point at or before ROW of SIDE, or before its Nth compared row (ROW NOWHERE). */
static struct point point_at(struct browse_pair *p, unsigned side, uint64_t row, uint64_t n)
{
    const struct side *s = &p->side[side];
    struct point out = {0};
    size_t lo = 0, hi;

    pthread_mutex_lock(&p->lock);
    hi = s->n_points;
    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (row != TROD_NOWHERE ? s->point[k].row <= row : of_track(p, &s->point[k]) <= n)
            lo = k + 1;
        else
            hi = k;
    }
    if (lo)
        out = s->point[lo - 1];
    pthread_mutex_unlock(&p->lock);
    return out;
}

/* Compared rows of SIDE before ROW. */
static int count(struct browse_pair *p, struct browse *b, unsigned side, uint64_t row, uint64_t *n)
{
    const struct point at = point_at(p, side, row, 0);
    int rc = 1;

    *n = of_track(p, &at);
    for (uint64_t k = at.row; k < row; k++) {
        const struct trod_batch *batch;
        uint32_t i;

        if ((rc = browse_row(b, k, &batch, &i)) <= 0)
            break;
        *n += compared(p, batch, i);
    }
    return rc < 0 ? rc : 0;
}

/* The compared row of SIDE that N others are before. */
static int find(struct browse_pair *p, struct browse *b, unsigned side, uint64_t n, uint64_t *row)
{
    const struct point at = point_at(p, side, TROD_NOWHERE, n);
    uint64_t left = n - of_track(p, &at);
    int rc;

    for (*row = at.row;; ++*row) {
        const struct trod_batch *batch;
        uint32_t i;

        if ((rc = browse_row(b, *row, &batch, &i)) <= 0)
            return rc;
        if (compared(p, batch, i) && left-- == 0)
            return 1;
    }
}

/* Pairs of SIDE before ROW: compared rows that are in no range. */
static int pairs(struct browse_pair *p, struct browse *b, unsigned side, uint64_t row, uint64_t *n)
{
    const struct side *s = &p->side[side];
    struct range r = {.count = 0};
    size_t k;
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    k = before(s, row);
    if (k)
        r = s->range[k - 1];
    pthread_mutex_unlock(&p->lock);
    if (k && row - r.at.row < r.count)
        *n = of_track(p, &r.at) - r.sum;
    else if ((rc = count(p, b, side, row, n)) == 0)
        *n -= r.sum + r.count;
    return rc;
}

/* Compared rows of SIDE before the row of pair N; *TWIN: the range of difference NUMBER there. */
static uint64_t place(struct browse_pair *p, unsigned side, uint64_t n, uint64_t number,
                      struct range *twin)
{
    const struct side *s = &p->side[side];
    size_t lo = 0, hi;

    twin->count = 0;
    pthread_mutex_lock(&p->lock);
    hi = s->n;
    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;

        if (of_track(p, &s->range[k].at) - s->range[k].sum <= n)
            lo = k + 1;
        else
            hi = k;
    }
    for (size_t k = lo; number && k && of_track(p, &s->range[k - 1].at) - s->range[k - 1].sum == n;
         k--)
        if (s->range[k - 1].number == number)
            *twin = s->range[k - 1];
    if (lo)
        n += s->range[lo - 1].sum + s->range[lo - 1].count;
    pthread_mutex_unlock(&p->lock);
    return n;
}

int browse_pair_map(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                    uint64_t *out)
{
    struct range mine, twin;
    const uint64_t number = within(p, side, row, &mine);
    uint64_t n;
    int rc = pairs(p, b[side], side, row, &n);

    if (rc < 0)
        return rc;
    n = place(p, !side, n, number, &twin);
    if (twin.count && row - mine.at.row < twin.count) {
        *out = twin.at.row + (row - mine.at.row);
        return 1;
    }
    if (twin.count) {
        *out = twin.at.row + twin.count;
        return 1;
    }
    return find(p, b[!side], !side, n, out);
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
    *is = rc > 0 && compared(p, batch, i);
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

/* The first range of SIDE that begins behind N pairs or more; BACK: the last one up to N. */
static size_t behind_pairs(const struct browse_pair *p, unsigned side, uint64_t n, bool back)
{
    const struct side *s = &p->side[side];
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        const size_t k = lo + (hi - lo) / 2;
        const uint64_t pairs_before = of_track(p, &s->range[k].at) - s->range[k].sum;

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
    const struct side *s = &p->side[!side];
    uint64_t n;
    size_t k;
    int rc = pairs(p, b[side], side, row, &n);

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
        n = place(p, side, of_track(p, &r.at) - r.sum, r.number, &twin);
        if (!twin.count && (rc = find(p, b[side], side, n, out)) > 0 &&
            (back ? *out < row : *out > row))
            return 1;
        rc = rc < 0 ? rc : 0;
    }
    return rc;
}

int browse_pair_next(struct browse_pair *p, struct browse *const b[2], unsigned side, uint64_t row,
                     bool back, uint64_t *out)
{
    const struct side *s = &p->side[side];
    uint64_t other;
    bool found;
    size_t k;
    int rc = lone(p, b, side, row, back, &other);

    if (rc < 0)
        return rc;
    pthread_mutex_lock(&p->lock);
    k = before(s, row);
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
