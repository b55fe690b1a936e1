/*
 * like.c - results as DynamoRIO's reuse_distance and reuse_time print them.
 *
 * After drcachesim's tools/reuse_distance.cpp and reuse_time.cpp. A shard is an input file; threads
 * that share a file share the list. Shards of equal size are printed from the last to the first, as
 * its table gives them (up to 13 shards; beyond, their order is not specified).
 */
#include "analysis/locality/locality.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 100000, SHORT = 10 };

#define DATA (LOC_ALL & ~(1U << TROD_REF_INSTR))

static int put_top(const struct loc_state *s, const struct trod_stack *k, struct trod_buf *out)
{
    static const char *const titles[] = {"frequently referenced cache lines",
                                         "distant repeatedly referenced cache lines"};
    const size_t most = s->opt->top < MOST ? (size_t)s->opt->top : MOST;
    struct loc_top *top = calloc(most + 1, sizeof *top);
    int rc = trod_buf_printf(out, "\nReuse distance threshold = %u cache lines\n", k->opt.distant);

    for (int distant = 0; top && distant < 2; distant++) {
        const size_t n = loc_top(k, distant, top, most);

        rc |= trod_buf_printf(out, "Top %" PRIu64 " %s\n%s\n", s->opt->top, titles[distant],
                              "        cache line:     #references   #distant refs");
        for (size_t i = 0; i < n; i++) {
            char line[32];

            snprintf(line, sizeof line, "0x%" PRIx64, top[i].line << s->shift);
            rc |= trod_buf_printf(out, "%18s: %12" PRIu64 ", %12" PRIu64 "\n", line, top[i].refs,
                                  top[i].distant);
        }
    }
    if (!top)
        return TROD_ERR_NOMEM;
    free(top);
    return rc;
}

static int put_histogram(const struct trod_dist *h, uint64_t total, struct trod_buf *out)
{
    double all = 0, data = 0;
    int rc = trod_buf_printf(out, "Reuse distance histogram bin multiplier: 1.00\n"
                                  "Reuse distance histogram:\n"
                                  "                      All References       :            "
                                  "Data References\n"
                                  "Distance       Count  Percent  Cumulative  :       "
                                  "Count  Percent  Cumulative\n");

    for (uint64_t d = trod_dist_next(h, 0, LOC_ALL); d != UINT64_MAX;
         d = trod_dist_next(h, d + 1, LOC_ALL)) {
        const uint64_t n = trod_dist_of(h, d, LOC_ALL), of_data = trod_dist_of(h, d, DATA);
        const double share = (double)n / (double)total,
                     data_share = (double)of_data / (double)total;

        all += share;
        data += data_share;
        rc |= trod_buf_printf(
            out, "%8" PRIu64 "%12" PRIu64 "%8.2f%%%8.2f%%     :%12" PRIu64 "%8.2f%%%8.2f%%\n", d, n,
            100 * share, 100 * all, of_data, 100 * data_share, 100 * data);
    }
    return rc;
}

static int put_distances(const struct loc_state *s, const struct loc_lane *l, struct trod_buf *out)
{
    const struct trod_stack *k = l->stack;
    const struct loc_stats stats = loc_stats_of(&k->dist, LOC_ALL);
    const uint64_t refs = loc_lane_refs(l, LOC_ALL);
    int rc = trod_buf_printf(out, "Total accesses: %" PRIu64 "\n", refs);

    if (refs == 0)
        return rc;
    rc |= trod_buf_printf(out,
                          "Instruction accesses: %" PRIu64 "\nData accesses: %" PRIu64
                          "\nUnique accesses: %" PRIu64 "\nUnique cache lines accessed: %" PRIu64
                          "\nDistance limit: %u\nPruned addresses: %" PRIu64
                          "\nPruned address hits: %" PRIu64 "\n\n",
                          loc_lane_refs(l, 1U << TROD_REF_INSTR), loc_lane_refs(l, DATA),
                          refs - trod_dist_of(&k->dist, 0, LOC_ALL), trod_stack_lines(k),
                          k->opt.limit, k->pruned, k->pruned_hits);
    if (stats.n)
        rc |= trod_buf_printf(out,
                              "Reuse distance mean: %.2f\nReuse distance median: %" PRIu64
                              "\nReuse distance standard deviation: %.2f\n",
                              stats.mean, stats.median, stats.deviation);
    else
        rc |= trod_buf_printf(out, "Reuse distance mean: -nan\n"
                                   "Reuse distance standard deviation: -nan\n");
    if (s->opt->histogram)
        rc |= put_histogram(&k->dist, stats.n, out);
    else
        rc |= trod_buf_printf(out, "(Pass -reuse_distance_histogram to see all the data.)\n");
    return rc | put_top(s, k, out);
}

/* The bins of reuse times beyond those that are counted one by one are ranges. */
static int put_times(const struct loc_state *s, const struct loc_lane *l, struct trod_buf *out)
{
    const struct trod_times *t = l->times;
    uint64_t n = 0, shown = 0;
    double sum = 0, share = 0;
    int rc;

    for (unsigned i = 0; i < TROD_BINS; i++) {
        n += t->reuse[i].n;
        sum += (double)t->reuse[i].n * (double)trod_bin_begin(i) + (double)t->reuse[i].beyond;
    }
    rc = trod_buf_printf(out, "Total accesses: %" PRIu64 "\nTotal instructions: %" PRIu64 "\n",
                         t->now, t->refs[TROD_REF_INSTR]);
    if (n)
        rc |= trod_buf_printf(out, "Mean reuse time: %.2f\n", sum / (double)n);
    else
        rc |= trod_buf_printf(out, "Mean reuse time: -nan\n");
    rc |= trod_buf_printf(out, "Reuse time histogram:\n"
                               "Distance       Count  Percent  Cumulative\n");
    for (uint64_t d = 1; d < TROD_TIME_SHORT; d++) {
        const uint64_t k = trod_times_at(t, d);

        if (!k)
            continue;
        if (shown++ == SHORT && !s->opt->histogram)
            break;
        share += (double)k / (double)n;
        rc |= trod_buf_printf(out, "%8" PRIu64 "%12" PRIu64 "%8.2f%%%11.2f%%\n", d, k,
                              100 * (double)k / (double)n, 100 * share);
    }
    for (unsigned i = trod_bin_of(TROD_TIME_SHORT); i < TROD_BINS; i++) {
        if (!t->reuse[i].n)
            continue;
        if (shown++ >= SHORT && !s->opt->histogram)
            break;
        share += (double)t->reuse[i].n / (double)n;
        rc |= trod_buf_printf(out, "%8" PRIu64 "%12" PRIu64 "%8.2f%%%11.2f%%\n", trod_bin_begin(i),
                              t->reuse[i].n, 100 * (double)t->reuse[i].n / (double)n, 100 * share);
    }
    if (shown > SHORT && !s->opt->histogram)
        rc |= trod_buf_printf(out, "... (increase verbosity to see entire histogram)\n");
    return rc;
}

static int put(const struct loc_state *s, const struct loc_lane *l, struct trod_buf *out)
{
    return s->opt->like == LOC_REUSE_TIME ? put_times(s, l, out) : put_distances(s, l, out);
}

static int by_size(const void *a, const void *b)
{
    const struct loc_lane *x = *(const struct loc_lane *const *)a;
    const struct loc_lane *y = *(const struct loc_lane *const *)b;
    const uint64_t n = x->stack ? loc_lane_refs(x, LOC_ALL) : x->times->now;
    const uint64_t m = y->stack ? loc_lane_refs(y, LOC_ALL) : y->times->now;

    if (n != m)
        return n < m ? 1 : -1;
    return x->number < y->number ? 1 : -1;
}

int loc_like_sum(const struct loc_state *s, struct loc_lane *all)
{
    int rc = loc_lane_init(all, s);

    for (size_t i = 0; rc == TROD_OK && i < s->n_files; i++)
        rc = loc_lane_sum(all, s->file[i]);
    return rc;
}

int loc_like(const struct loc_state *s, struct trod_buf *out)
{
    const char *tool = s->opt->like == LOC_REUSE_TIME ? "Reuse time" : "Reuse distance";
    struct loc_lane **lane = calloc(s->n_files + 1, sizeof *lane), all = {0};
    int rc = lane ? loc_like_sum(s, &all) : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < s->n_files; i++)
        lane[i] = s->file[i];
    if (rc == TROD_OK) {
        qsort(lane, s->n_files, sizeof *lane, by_size);
        rc = trod_buf_printf(out, "%s tool aggregated results:\n", tool) | put(s, &all, out);
    }
    for (size_t i = 0; s->n_files > 1 && rc == TROD_OK && i < s->n_files; i++)
        rc = trod_buf_printf(out,
                             "\n==================================================\n"
                             "%s tool results for shard %u (thread %" PRIu64 "):\n",
                             tool, lane[i]->number, lane[i]->tid) |
             put(s, lane[i], out);
    loc_lane_fini(&all);
    free(lane);
    return rc == TROD_OK ? 1 : TROD_ERR_NOMEM;
}
