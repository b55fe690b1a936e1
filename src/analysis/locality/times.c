/*
 * times.c - what reuse times say, as results (locality.h).
 */
#include "analysis/locality/locality.h"

#include <math.h>
#include <stdlib.h>

static void put_histogram(const struct trod_times *t, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"from", TROD_COLUMN_X, "references", "reuse time, this and up"},
        {"to", TROD_COLUMN_PLAIN, "references", "reuse time, this included"},
        {"references", TROD_COLUMN_MEASURE, "references", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all references"},
    };

    trod_result_table(r, "reuse_times", "references by reuse time", columns, 4);
    for (unsigned i = 1; i < TROD_BINS;) {
        const uint64_t from = trod_bin_begin(i), to = 2 * from - 1;
        uint64_t n = 0;

        for (; i < TROD_BINS && trod_bin_begin(i) <= to; i++)
            n += t->reuse[i].n;
        if (!n)
            continue;
        trod_result_u64(r, "from", from);
        trod_result_u64(r, "to", to);
        trod_result_u64(r, "references", n);
        trod_result_f64(r, "share", 100 * (double)n / (double)t->now, 4);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_windows(const struct trod_curves *c, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"window", TROD_COLUMN_X, "references", NULL},
        {"footprint", TROD_COLUMN_MEASURE, "lines", "mean over all windows of that length"},
        {"working_set", TROD_COLUMN_MEASURE, "lines", "of the last so many, mean over all times"},
    };

    trod_result_table(r, "footprint", "distinct lines by length of the window", columns, 3);
    for (unsigned i = 1; i < c->points; i++) {
        const uint64_t w = trod_bin_begin(i);

        if ((w & (w - 1)) && i + 1 != c->points)
            continue;
        trod_result_u64(r, "window", w);
        trod_result_f64(r, "footprint", c->fp[i], 2);
        trod_result_f64(r, "working_set", c->ws[i], 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_models(const struct loc_state *s, const struct trod_curves *c,
                       struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"bytes", TROD_COLUMN_X, "bytes", "size of the cache"},
        {"hotl", TROD_COLUMN_MEASURE, NULL, "miss ratio from the footprint"},
        {"aet", TROD_COLUMN_MEASURE, NULL, "miss ratio from mean eviction times"},
        {"statstack", TROD_COLUMN_MEASURE, NULL, "miss ratio from expected distances"},
    };
    uint64_t size[LOC_SIZES];
    const size_t n = loc_sizes(c->lines, 0, size, LOC_SIZES);

    trod_result_table(r, "models", "miss ratios that the reuse times foretell", columns, 4);
    for (size_t i = 0; i < n; i++) {
        loc_put_size(r, size[i], s->shift);
        trod_result_f64(r, "hotl", trod_curves_hotl(c, (double)size[i]), 6);
        trod_result_f64(r, "aet", trod_curves_aet(c, (double)size[i]), 6);
        trod_result_f64(r, "statstack", trod_curves_statstack(c, (double)size[i]), 6);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_sets(const struct trod_times *t, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"window", TROD_COLUMN_X, NULL, "number of the window"},
        {"lines", TROD_COLUMN_MEASURE, "lines", "distinct ones in it"},
    };

    trod_result_table(r, "windows", "distinct lines of each window", columns, 2);
    for (size_t i = 0; i < t->n_sets; i++) {
        trod_result_u64(r, "window", i);
        trod_result_u64(r, "lines", t->sets[i]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

int loc_times_result(const struct loc_state *s, struct trod_result *r)
{
    const struct trod_times *t = s->own.times;
    struct trod_curves *c = calloc(1, sizeof *c);

    if (!c || !trod_curves_make(c, t)) {
        free(c);
        return TROD_ERR_NOMEM;
    }
    if (!isnan(c->mean))
        trod_result_f64(r, "mean_reuse_time", c->mean, 2);
    if (s->opt->times || s->opt->like)
        put_histogram(t, r);
    /* windows of several threads are not those of one */
    if (s->opt->times && t->summed < 2) {
        put_windows(c, r);
        put_models(s, c, r);
    }
    if (s->opt->window && t->summed < 2)
        put_sets(t, r);
    free(c);
    return TROD_OK;
}
