/*
 * intervals.c - what happened in each interval of a stream; its lines stay where they are.
 */
#include "analysis/locality/locality.h"
#include "core/grow.h"

int loc_interval_end(struct loc_state *s, const struct trod_boundary *at)
{
    struct loc_interval *i;

    if (!trod_grow(&s->interval, s->n_intervals, &s->cap_intervals, sizeof *s->interval, 64))
        return TROD_ERR_NOMEM;
    i = &s->interval[s->n_intervals++];
    *i = (struct loc_interval){.number = at->number,
                               .instructions = at->instructions,
                               .refs = loc_lane_refs(&s->own, LOC_ALL)};
    return loc_lane_misses(&s->own, s->opt->size >> s->shift, &i->misses, &i->cold)
               ? TROD_OK
               : TROD_ERR_NOMEM;
}

void loc_intervals_result(const struct loc_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, NULL},
        {"instructions_end", TROD_COLUMN_PLAIN, "instructions", "of all threads, so far"},
        {"references", TROD_COLUMN_MEASURE, "references", NULL},
        {"cold", TROD_COLUMN_MEASURE, "references", "first references to a line"},
        {"misses", TROD_COLUMN_MEASURE, "references", "in a cache of --size bytes"},
        {"miss_ratio", TROD_COLUMN_MEASURE, NULL, NULL},
    };
    struct loc_interval was = {0};

    trod_result_table(r, "intervals", "intervals; the cache stays warm", columns, 6);
    for (size_t k = 0; k < s->n_intervals; k++) {
        const struct loc_interval *i = &s->interval[k];
        const uint64_t refs = i->refs - was.refs;
        uint64_t misses = i->misses - was.misses; /* of a sample, an estimate */

        if (misses > refs)
            misses = refs;

        trod_result_u64(r, "interval", i->number);
        trod_result_u64(r, "instructions_end", i->instructions);
        trod_result_u64(r, "references", refs);
        trod_result_u64(r, "cold", i->cold - was.cold);
        trod_result_u64(r, "misses", misses);
        trod_result_f64(r, "miss_ratio", refs ? (double)misses / (double)refs : 0, 6);
        trod_result_row_end(r);
        was = *i;
    }
    trod_result_table_close(r);
}
