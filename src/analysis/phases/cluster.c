/*
 * cluster.c - intervals into phases (phases.h).
 *
 * Implements docs/analysing.md, "phases": k-means (Lloyd) from centers that are drawn far from each
 * other (Arthur and Vassilvitskii, "k-means++", 2007), and the number of clusters by the Bayesian
 * information criterion (Pelleg and Moore, "X-means", 2000) as SimPoint chooses it (Sherwood et
 * al., "Automatically characterizing large scale program behavior", 2002): the smallest whose score
 * reaches nine tenths of the way from the worst to the best. Most points keep their center without
 * a look at any other, by the bounds of Hamerly ("Making k-means even faster", 2010). Of many
 * points a sample is enough to choose the number (Hamerly, Perelman, Lau, Calder, "SimPoint 3.0",
 * 2005).
 */
#include "analysis/phases/phases.h"

#include "core/rng.h"
#include "core/wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 5, TRIAL = 8, ROUNDS = 100, SAMPLE = 100 };

static const double enough = 0.9; /* of the way to the best score */
static const double pi = 3.14159265358979323846;
static const double even =
    1e-12; /* two points so little apart are as near to a center: the first */
static const double least_variance = 1e-12; /* points that are the same are this far apart */

double phases_direction(uint64_t seed, uint64_t pc, unsigned d)
{
    uint64_t x = seed ^ pc * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(d + 1) << 56;

    trod_splitmix64(&x);
    return (double)(trod_splitmix64(&x) >> 43) * PHASES_STEP - 1;
}

void phases_clusters_free(struct phases_clusters *c)
{
    free(c->of);
    free(c->center);
    memset(c, 0, sizeof *c);
}

/*
 * Points and centers of work have STRIDE elements, zeros behind the dimensions: four sums of every
 * fourth element are the same in vector registers and without.
 */
enum { LANES = 4 };

TROD_HOT double distance(const double *a, const double *b, size_t stride)
{
    double sum[LANES] = {0};

    for (size_t d = 0; d < stride; d += LANES)
        for (size_t k = 0; k < LANES; k++)
            sum[k] += (a[d + k] - b[d + k]) * (a[d + k] - b[d + k]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* What one run of k-means works on. */
struct work {
    double *point;
    size_t n, stride;
    unsigned dims, k;
    uint32_t *of;
    double *center, *before; /* BEFORE: where they were in the round before */
    double *away;            /* of points that centers are drawn from: from the nearest, squared */
    double *near, *far;      /* by point: its center is not farther, no other one is nearer */
    uint64_t *members;
    bool changed[PHASES_MOST]; /* by center: points have come or gone */
};

/* Distances are computed much more exactly than that; elements of points are between -1 and 1. */
static const double exact = 1e-9;

TROD_HOT const double *point_at(const struct work *w, size_t i)
{
    return w->point + i * w->stride;
}

TROD_HOT double *center_at(const struct work *w, uint32_t c)
{
    return w->center + c * w->stride;
}

/* The first center is drawn; each that follows with a chance of its distance from those before. */
TROD_HOT void draw_centers(struct work *w, struct trod_rng *rng)
{
    size_t pick = (size_t)trod_rng_below(rng, w->n);

    for (unsigned c = 0; c < w->k; c++) {
        double all = 0, at;

        memcpy(center_at(w, c), point_at(w, pick), w->stride * sizeof *w->center);
        for (size_t i = 0; i < w->n; i++) {
            const double d = distance(point_at(w, i), center_at(w, c), w->stride);

            w->away[i] = c == 0 || d < w->away[i] ? d : w->away[i];
            all += w->away[i];
        }
        at = (double)(trod_rng_next(rng) >> 11) * 0x1p-53 * all;
        for (pick = 0; pick + 1 < w->n && at >= w->away[pick]; pick++)
            at -= w->away[pick];
    }
}

/* The center nearest to point I, the lowest of several; bounds are set. */
TROD_HOT uint32_t nearest(struct work *w, size_t i)
{
    double best = distance(point_at(w, i), center_at(w, 0), w->stride), second = HUGE_VAL;
    uint32_t at = 0;

    for (uint32_t c = 1; c < w->k; c++) {
        const double d = distance(point_at(w, i), center_at(w, c), w->stride);

        if (d < best) {
            second = best;
            best = d;
            at = c;
        } else if (d < second) {
            second = d;
        }
    }
    w->near[i] = sqrt(best);
    w->far[i] = sqrt(second);
    return at;
}

/* Half of the way from center C to the nearest other one: points within have no nearer center. */
TROD_HOT double half_way(const struct work *w, uint32_t c)
{
    double least = HUGE_VAL;

    for (uint32_t k = 0; k < w->k; k++) {
        const double d = k == c ? HUGE_VAL : distance(center_at(w, c), center_at(w, k), w->stride);

        least = d < least ? d : least;
    }
    return sqrt(least) / 2;
}

/* How the centers have moved: how far each, and of the others the one that moved most. */
TROD_HOT void look_at_centers(const struct work *w, double *shift, double *other, double *half)
{
    for (uint32_t c = 0; c < w->k; c++) {
        shift[c] = sqrt(distance(center_at(w, c), w->before + c * w->stride, w->stride));
        half[c] = half_way(w, c);
    }
    for (uint32_t c = 0; c < w->k; c++) {
        other[c] = 0;
        for (uint32_t k = 0; k < w->k; k++)
            other[c] = k != c && shift[k] > other[c] ? shift[k] : other[c];
    }
}

/* Every point to its nearest center, the lowest of several. Returns how many moved. */
TROD_HOT size_t assign(struct work *w, bool first)
{
    double shift[PHASES_MOST], other[PHASES_MOST], half[PHASES_MOST];
    size_t moved = 0;

    memset(w->changed, first, sizeof w->changed);
    if (!first)
        look_at_centers(w, shift, other, half);
    for (size_t i = 0; i < w->n; i++) {
        const uint32_t c = w->of[i];
        double free = 0;

        if (!first) {
            w->near[i] += shift[c];
            w->far[i] -= other[c];
            free = w->far[i] > half[c] ? w->far[i] : half[c];
            if (w->near[i] + exact < free)
                continue;
            w->near[i] = sqrt(distance(point_at(w, i), center_at(w, c), w->stride));
            if (w->near[i] + exact < free)
                continue;
        }
        w->of[i] = nearest(w, i);
        if (w->of[i] == c)
            continue;
        moved++;
        w->changed[w->of[i]] = true;
        if (!first)
            w->changed[c] = true;
    }
    return moved;
}

/* Every center to the mean of its points; one without points stays. */
TROD_HOT void move_centers(struct work *w)
{
    memset(w->members, 0, w->k * sizeof *w->members);
    memcpy(w->before, w->center, w->k * w->stride * sizeof *w->center);
    for (size_t i = 0; i < w->n; i++)
        w->members[w->of[i]]++;
    for (unsigned c = 0; c < w->k; c++)
        if (w->members[c] && w->changed[c])
            memset(center_at(w, c), 0, w->stride * sizeof *w->center);
    for (size_t i = 0; i < w->n; i++) {
        const double *const restrict point = point_at(w, i);
        double *const restrict center = center_at(w, w->of[i]);
        const double members = (double)w->members[w->of[i]];

        for (size_t d = 0; w->changed[w->of[i]] && d < w->stride; d += LANES)
            for (size_t k = 0; k < LANES; k++)
                center[d + k] += point[d + k] / members;
    }
}

/*
 * One run, which ends before ROUNDS if no point moves. Returns the squares of the distances from
 * the centers, summed up.
 */
TROD_HOT double k_means(struct work *w, struct trod_rng *rng, int rounds)
{
    double sum = 0;

    draw_centers(w, rng);
    memset(w->of, 0xff, w->n * sizeof *w->of);
    for (int round = 0; round < rounds && assign(w, round == 0); round++)
        move_centers(w);
    for (size_t i = 0; i < w->n; i++)
        sum += distance(point_at(w, i), center_at(w, w->of[i]), w->stride);
    return sum;
}

#if TROD_AVX2
TROD_WIDE static double k_means_wide(struct work *w, struct trod_rng *rng, int rounds)
{
    return k_means(w, rng, rounds);
}
#endif

/* Run number START for the K clusters of W, of ROUNDS at the most. */
static double run(struct work *w, unsigned start, uint64_t seed, int rounds)
{
    struct trod_rng rng;

    trod_rng_seed(&rng, seed ^ (uint64_t)w->k << 32 ^ start);
#if TROD_AVX2
    if (trod_wide())
        return k_means_wide(w, &rng, rounds);
#endif
    return k_means(w, &rng, rounds);
}

/* The score of K clusters of R points whose distances are SSE: the larger, the better. */
static double score(const struct work *w, double sse)
{
    const double r = (double)w->n, k = w->k, m = w->dims;
    double variance = w->n > w->k ? sse / (r - k) : 0, sum = 0;

    variance = variance > least_variance ? variance : least_variance;
    for (unsigned c = 0; c < w->k; c++) {
        double n = 0;

        for (size_t i = 0; i < w->n; i++)
            n += w->of[i] == c;
        if (n > 0)
            sum += -n / 2 * log(2 * pi) - n * m / 2 * log(variance) - (n - k) / 2 + n * log(n) -
                   n * log(r);
    }
    return sum - (k - 1 + m * k + 1) / 2 * log(r);
}

/* POINT has DIMS elements for each of the ALL points, of which W takes n. */
static int make(struct work *w, const double *point, size_t all, unsigned most)
{
    w->stride = (w->dims + LANES - 1) / LANES * LANES;
    w->point = calloc(w->n * w->stride, sizeof *w->point);
    w->of = malloc(w->n * sizeof *w->of);
    w->away = calloc(w->n, sizeof *w->away);
    w->center = calloc(most * w->stride, sizeof *w->center);
    w->before = calloc(most * w->stride, sizeof *w->before);
    w->near = calloc(w->n, sizeof *w->near);
    w->far = calloc(w->n, sizeof *w->far);
    w->members = calloc(most, sizeof *w->members);
    for (size_t i = 0; w->point && i < w->n; i++)
        memcpy(w->point + i * w->stride, point + i * all / w->n * w->dims, w->dims * sizeof *point);
    return w->point && w->of && w->away && w->center && w->before && w->near && w->far && w->members
               ? TROD_OK
               : TROD_ERR_NOMEM;
}

static void drop(struct work *w)
{
    free(w->point);
    free(w->of);
    free(w->away);
    free(w->center);
    free(w->before);
    free(w->near);
    free(w->far);
    free(w->members);
}

/* The best of some short runs for K clusters: which, its distances and its score go to C. */
static void try_clusters(struct work *w, struct phases_clusters *c, unsigned k, uint64_t seed)
{
    w->k = c->tried = k;
    for (unsigned start = 0; start < STARTS; start++) {
        const double sse = run(w, start, seed, TRIAL);

        if (start && sse >= c->sse[k])
            continue;
        c->sse[k] = sse;
        c->bic[k] = score(w, sse);
        c->start[k] = start;
    }
}

/* The best run for K clusters once more, to its end: what it found is taken. */
static void take_clusters(struct work *w, struct phases_clusters *c, unsigned k, uint64_t seed)
{
    c->n = w->k = k;
    c->distortion = run(w, c->start[k], seed, ROUNDS);
    memcpy(c->of, w->of, w->n * sizeof *w->of);
    for (size_t i = 0; i < k; i++)
        memcpy(c->center + i * w->dims, w->center + i * w->stride, w->dims * sizeof *w->center);
    for (size_t i = 0; i < w->n; i++) {
        const uint32_t of = c->of[i];
        const double away = distance(point_at(w, i), center_at(w, of), w->stride);

        if (c->members[of]++ == 0 || away + even < w->away[of]) {
            c->chosen[of] = i;
            w->away[of] = away; /* of the interval that is chosen */
        }
    }
}

/* The smallest number of clusters whose score is good enough. */
static unsigned choose(const struct phases_clusters *c)
{
    double low = c->bic[1], high = c->bic[1];
    unsigned k = 1;

    for (unsigned i = 2; i <= c->tried; i++) {
        low = c->bic[i] < low ? c->bic[i] : low;
        high = c->bic[i] > high ? c->bic[i] : high;
    }
    while (k < c->tried && c->bic[k] < low + enough * (high - low))
        k++;
    return k;
}

int phases_cluster(struct phases_clusters *c, const double *point, size_t n, unsigned dims,
                   unsigned most, uint64_t seed)
{
    struct work sample = {.n = n < SAMPLE ? n : SAMPLE, .dims = dims};
    struct work all = {.n = n, .dims = dims};
    int rc;

    c->dims = dims;
    c->points = n;
    if (n == 0)
        return TROD_OK;
    /* two intervals a phase on the average: what never comes again is no phase, and where each
     * point is its own cluster the score has no bound */
    most = (n + 1) / 2 < most ? (unsigned)((n + 1) / 2) : most;
    c->of = calloc(n, sizeof *c->of);
    c->center = calloc((size_t)most * dims, sizeof *c->center);
    rc = c->of && c->center ? make(&sample, point, n, most) : TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = make(&all, point, n, most);
    for (unsigned k = 1; rc == TROD_OK && k <= most; k++)
        try_clusters(&sample, c, k, seed);
    if (rc == TROD_OK)
        take_clusters(&all, c, choose(c), seed);
    drop(&sample);
    drop(&all);
    return rc;
}
