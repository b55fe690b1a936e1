/*
 * curves.c - footprint, working sets and models of the miss ratio, from reuse times (times.h).
 *
 * All are sums of max(0, v - w) or min(v, w) over the histograms of
 * reuse times, of first positions, and of last positions counted from the end.
 */
#include "times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values from the beginning of a bin on: how many, and the sum of what they exceed it by. */
struct beyond {
    double n, sum;
};

/* OUT[i]: of the values of BINS that are at least trod_bin_begin(i). */
static void suffix(const struct trod_bin *bins, struct beyond *out)
{
    struct beyond b = {0};

    for (unsigned i = TROD_BINS; i-- > 0;) {
        if (i + 1 < TROD_BINS)
            b.sum += b.n * (double)(trod_bin_begin(i + 1) - trod_bin_begin(i));
        b.n += (double)bins[i].n;
        b.sum += (double)bins[i].beyond;
        out[i] = b;
    }
}

bool trod_curves_make(struct trod_curves *c, const struct trod_times *t)
{
    struct beyond *reuse = malloc(3 * TROD_BINS * sizeof *reuse);
    struct beyond *const first = reuse + TROD_BINS, *const last = first + TROD_BINS;
    struct trod_bin *tail = malloc(TROD_BINS * sizeof *tail);
    const double n = (double)t->now, m = (double)t->lines;

    memset(c, 0, sizeof *c);
    if (!reuse || !tail) {
        free(reuse);
        free(tail);
        return false;
    }
    c->n = t->now;
    c->lines = t->lines;
    c->points = t->now ? trod_bin_of(t->now) + 1 : 0;
    trod_times_tail(t, tail);
    suffix(t->reuse, reuse);
    suffix(t->first, first);
    suffix(tail, last);
    for (unsigned i = 1; i < c->points; i++) {
        const double w = (double)trod_bin_begin(i);
        /* min(v, w) = v - max(0, v - w) */
        const double reuses = reuse[0].sum - reuse[i].sum, ends = last[0].sum - last[i].sum;

        c->fp[i] = m - (first[i].sum + last[i].sum + reuse[i].sum) / (n - w + 1);
        c->ws[i] = (reuses + ends) / n;
        c->fill[i] = (reuses + m * w) / n;
    }
    c->mean = reuse[0].n > 0 ? reuse[0].sum / reuse[0].n : NAN;
    free(reuse);
    free(tail);
    return true;
}

/* The last point of CURVE at which it is at most V; 0 where the curve begins above. */
static unsigned reached(const struct trod_curves *c, const double *curve, double v)
{
    unsigned low = 0, high = c->points;

    while (high - low > 1) {
        const unsigned mid = (low + high) / 2;

        *(curve[mid] <= v ? &low : &high) = mid;
    }
    return low;
}

/* The rise of CURVE for one more reference, after point I. */
static double slope(const struct trod_curves *c, const double *curve, unsigned i)
{
    if (i + 1 >= c->points)
        return (double)c->lines / (double)c->n;
    return (curve[i + 1] - curve[i]) / (double)(trod_bin_begin(i + 1) - trod_bin_begin(i));
}

double trod_curves_hotl(const struct trod_curves *c, double lines)
{
    if (lines >= (double)c->lines)
        return (double)c->lines / (double)c->n;
    return slope(c, c->fp, reached(c, c->fp, lines));
}

double trod_curves_aet(const struct trod_curves *c, double lines)
{
    return slope(c, c->fill, reached(c, c->fill, lines));
}

double trod_curves_statstack(const struct trod_curves *c, double lines)
{
    /* A reuse of time t has the mean distance fill(t) - 1: those from time T on miss. */
    const unsigned i = reached(c, c->fill, lines + 1);
    const double rise = slope(c, c->fill, i);
    double t = (double)trod_bin_begin(i);

    if (rise > 0)
        t = ceil(t + (lines + 1 - c->fill[i]) / rise - 1e-9);
    if (t < 1 || t > (double)c->n)
        return (double)c->lines / (double)c->n;
    return slope(c, c->fill, trod_bin_of((uint64_t)t - 1));
}
