/*
 * plot.c - the miss-ratio curve as a chart of characters (locality.h).
 *
 * The horizontal axis is the size of the cache, the vertical one the miss ratio (core/chart.h).
 */
#include "analysis/locality/locality.h"

#include "core/chart.h"

#include <math.h>

enum { DOTS_X = 128 }; /* of a chart of TROD_CHART_WIDTH */

/* Miss ratios at N sizes (in lines). */
static bool ratios(const struct loc_lane *l, const uint64_t *size, size_t n, double *out)
{
    const double refs = (double)loc_lane_refs(l, LOC_ALL);
    uint64_t misses[DOTS_X];

    if (l->shards) {
        if (!trod_shards_misses(l->shards, LOC_ALL, size, n, out, NULL))
            return false;
    } else {
        trod_dist_misses(&l->stack->dist, LOC_ALL, size, n, misses);
        for (size_t i = 0; i < n; i++)
            out[i] = (double)misses[i];
    }
    for (size_t i = 0; i < n; i++)
        out[i] = refs > 0 ? out[i] / refs : 0;
    return true;
}

int loc_plot(const struct loc_state *s, struct trod_buf *out)
{
    const double lines = s->own.shards  ? trod_shards_lines(s->own.shards)
                         : s->own.stack ? (double)trod_stack_lines(s->own.stack)
                                        : 1;
    const double low = s->own.shards ? log2(1 / trod_shards_rate(s->own.shards)) : 0;
    const double all = fmax(log2(lines > 2 ? 2 * lines : 4), low + 2);
    const uint64_t limit = loc_limit(s->opt);
    const double top = limit ? fmin(all, log2((double)limit)) : all;
    uint64_t size[DOTS_X];
    double at[DOTS_X], ratio[DOTS_X];
    const struct trod_chart_curve curve = {ratio, NULL};
    const struct trod_chart chart = {.x = at,
                                     .n = DOTS_X,
                                     .unit = UINT64_C(1) << s->shift,
                                     .curve = &curve,
                                     .curves = 1,
                                     .width =
                                         (unsigned)(s->opt->width < 1000 ? s->opt->width : 1000)};

    if (loc_lane_refs(&s->own, LOC_ALL) == 0)
        return trod_buf_printf(out, "no references\n") < 0 ? TROD_ERR_NOMEM : 1;
    for (unsigned x = 0; x < DOTS_X; x++) {
        at[x] = low + (top - low) * x / (DOTS_X - 1);
        size[x] = (uint64_t)(exp2(at[x]) + 0.5);
    }
    if (!ratios(&s->own, size, DOTS_X, ratio) ||
        trod_buf_printf(out, "miss ratio of a fully associative LRU cache, by its size%s\n\n",
                        s->own.shards ? " (from a sample of the lines)" : "") < 0 ||
        trod_chart_draw(&chart, out) < 0)
        return TROD_ERR_NOMEM;
    return 1;
}
