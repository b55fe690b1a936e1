/*
 * result.c - the result of "phases" (phases.h).
 *
 * Implements docs/analysing.md, "phases", the table of keys.
 */
#include "analysis/phases/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32 };

const char *const phases_category_names[PHASES_CATEGORIES] = {
    "unknown", "branch", "floating point or vector", "load and store", "load", "store", "other"};

static double share(double part, double of)
{
    return of > 0 ? part / of : 0;
}

static void put_phases(const struct phases_state *s, uint64_t all, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"phase", TROD_COLUMN_KEY, NULL, NULL},
        {"intervals", TROD_COLUMN_MEASURE, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"weight", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"point", TROD_COLUMN_MEASURE, NULL, "number of the interval to simulate, from 0"},
        {"first", TROD_COLUMN_MEASURE, "instructions", "before it"},
        {"length", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"miss_ratio", TROD_COLUMN_MEASURE, "percent", "of its accesses of the cache"},
    };
    const struct phases_clusters *c = &s->clusters;

    trod_result_table(r, "phases", "phases and the interval that stands for each", columns, 8);
    for (unsigned k = 0; k < c->n; k++) {
        const struct phases_interval *i = &s->interval[c->chosen[k]];

        if (!c->members[k])
            continue;
        trod_result_u64(r, NULL, k);
        trod_result_u64(r, NULL, c->members[k]);
        trod_result_u64(r, NULL, c->weight[k]);
        trod_result_f64(r, NULL, 100 * share((double)c->weight[k], (double)all), 2);
        trod_result_u64(r, NULL, c->chosen[k]);
        trod_result_u64(r, NULL, i->first);
        trod_result_u64(r, NULL, i->instructions);
        trod_result_f64(r, NULL, 100 * share((double)i->misses, (double)i->accesses), 3);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_estimate(struct trod_result *r, const char *what, double whole, double estimated)
{
    trod_result_str(r, NULL, what);
    trod_result_f64(r, NULL, 100 * whole, 3);
    trod_result_f64(r, NULL, 100 * estimated, 3);
    trod_result_f64(r, NULL, 100 * (estimated - whole), 3);
    trod_result_row_end(r);
}

/* What the chosen intervals, weighted, say of the whole. */
static void put_errors(const struct phases_state *s, const struct phases_interval *all,
                       struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"what", TROD_COLUMN_KEY, NULL, NULL},
        {"whole", TROD_COLUMN_MEASURE, "percent", "measured"},
        {"estimated", TROD_COLUMN_MEASURE, "percent", "by the chosen intervals"},
        {"error", TROD_COLUMN_MEASURE, "percentage points", NULL},
    };
    const struct phases_clusters *c = &s->clusters;
    double category[PHASES_CATEGORIES] = {0}, accesses = 0, misses = 0, apart = 0;

    for (unsigned k = 0; k < c->n; k++) {
        const struct phases_interval *i = &s->interval[c->chosen[k]];
        const double w = share((double)c->weight[k], (double)all->instructions) /
                         (double)(i->instructions ? i->instructions : 1);

        for (unsigned n = 0; n < PHASES_CATEGORIES; n++)
            category[n] += w * (double)i->category[n];
        accesses += w * (double)i->accesses;
        misses += w * (double)i->misses;
    }
    trod_result_table(r, "estimates", "what the chosen intervals tell of the whole", columns, 4);
    for (unsigned n = 0; n < PHASES_CATEGORIES; n++) {
        const double whole = share((double)all->category[n], (double)all->instructions);

        apart += fabs(category[n] - whole) / 2;
        if (all->category[n])
            put_estimate(r, phases_category_names[n], whole, category[n]);
    }
    put_estimate(r, "miss ratio", share((double)all->misses, (double)all->accesses),
                 share(misses, accesses));
    put_estimate(r, "misses an instruction", share((double)all->misses, (double)all->instructions),
                 misses);
    trod_result_table_close(r);
    trod_result_f64(r, "mix_error", 100 * apart, 3);
    trod_result_describe(r, "percent",
                         "of the instructions are in another category than estimated");
}

static void put_scores(const struct phases_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"phases", TROD_COLUMN_X, NULL, NULL},
        {"bic", TROD_COLUMN_MEASURE, NULL, "the larger, the better"},
        {"distortion", TROD_COLUMN_MEASURE, NULL, "squares of the distances, summed up"},
    };

    trod_result_table(r, "scores", "numbers of phases that were tried", columns, 3);
    for (unsigned k = 1; k <= s->clusters.tried; k++) {
        trod_result_u64(r, NULL, k);
        trod_result_f64(r, NULL, s->clusters.bic[k], 3);
        trod_result_f64(r, NULL, s->clusters.sse[k], 6);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_list(const struct phases_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, NULL},
        {"first", TROD_COLUMN_PLAIN, "instructions", "before it"},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"phase", TROD_COLUMN_MEASURE, NULL, NULL},
        {"accesses", TROD_COLUMN_MEASURE, NULL, "lines of the cache"},
        {"misses", TROD_COLUMN_MEASURE, NULL, NULL},
        {"lines", TROD_COLUMN_MEASURE, NULL, "different ones: the working set"},
    };

    trod_result_table(r, "interval_phases", "phase of each interval", columns, 7);
    for (size_t i = 0; i < s->n; i++) {
        trod_result_u64(r, NULL, i);
        trod_result_u64(r, NULL, s->interval[i].first);
        trod_result_u64(r, NULL, s->interval[i].instructions);
        trod_result_u64(r, NULL, s->interval[i].phase);
        trod_result_u64(r, NULL, s->interval[i].accesses);
        trod_result_u64(r, NULL, s->interval[i].misses);
        trod_result_u64(r, NULL, phases_working_lines(s->interval[i].fresh));
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    if (phases_working_level(s->working) == 0)
        return;
    trod_result_u64(r, "lines_sampled", UINT64_C(1) << phases_working_level(s->working));
    trod_result_describe(r, NULL, "the working sets are estimated from one line in so many");
}

/* The picture of characters: two a group of intervals, the darker the more alike. */
static int put_picture(const struct phases_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, "the first of the group"},
        {"alike", TROD_COLUMN_PLAIN, NULL, "to the groups from left to right: @ the same"},
    };
    static const char shades[] = "@%#*+=-:. ";
    const size_t size = s->n < ROWS ? s->n : ROWS;
    double *distance = phases_distances(s, size);

    if (!distance)
        return TROD_ERR_NOMEM;
    trod_result_table(r, "similarity", "how alike the intervals are", columns, 2);
    for (size_t a = 0; a < size; a++) {
        char line[2 * ROWS];

        for (size_t b = 0; b < size; b++)
            line[2 * b] = line[2 * b + 1] =
                shades[(size_t)(distance[a * size + b] * (sizeof shades - 2) + 0.5)];
        trod_result_u64(r, NULL, a * s->n / size);
        trod_result_strn(r, NULL, line, 2 * size);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(distance);
    return TROD_OK;
}

int phases_result(const void *st, struct trod_result *r)
{
    struct phases_state *s = (struct phases_state *)(uintptr_t)st;
    struct phases_interval all = {.first = 0};
    const int rc = phases_finish(s); /* where the end was not reported */

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->n; i++) {
        all.instructions += s->interval[i].instructions;
        all.accesses += s->interval[i].accesses;
        all.misses += s->interval[i].misses;
        for (unsigned c = 0; c < PHASES_CATEGORIES; c++)
            all.category[c] += s->interval[i].category[c];
    }
    trod_result_u64(r, "instructions", all.instructions);
    trod_result_u64(r, "intervals", s->n);
    trod_result_u64(r, "interval_instructions", s->n ? s->interval[0].instructions : 0);
    trod_result_describe(r, "instructions", "of the first interval");
    put_phases(s, all.instructions, r);
    put_errors(s, &all, r);
    put_scores(s, r);
    if (s->opt->list)
        put_list(s, r);
    return put_picture(s, r);
}
