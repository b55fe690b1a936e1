/*
 * result.c - what was counted as a tree of results (locality.h).
 */
#include "analysis/locality/locality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DATA  (LOC_ALL & ~(1U << TROD_REF_INSTR))
#define INSTR (1U << TROD_REF_INSTR)

struct loc_stats loc_stats_of(const struct trod_dist *h, unsigned classes)
{
    struct loc_stats s = {0};
    double sum = 0, square = 0;
    uint64_t seen = 0;

    for (uint64_t d = trod_dist_next(h, 0, classes); d != UINT64_MAX;
         d = trod_dist_next(h, d + 1, classes)) {
        const uint64_t n = trod_dist_of(h, d, classes);

        s.n += n;
        s.max = d;
        sum += (double)d * (double)n;
    }
    if (s.n == 0)
        return s;
    s.mean = sum / (double)s.n;
    for (uint64_t d = trod_dist_next(h, 0, classes); d != UINT64_MAX;
         d = trod_dist_next(h, d + 1, classes)) {
        const uint64_t n = trod_dist_of(h, d, classes);

        if (seen == 0 || seen < s.n / 2)
            s.median = d;
        seen += n;
        square += ((double)d - s.mean) * ((double)d - s.mean) * (double)n;
    }
    s.deviation = sqrt(square / (double)s.n);
    return s;
}

/* Does A come before B in the list? Ties: the lower address first. */
static bool before(const struct loc_top *a, const struct loc_top *b, bool distant)
{
    const uint64_t a1 = distant ? a->distant : a->refs, b1 = distant ? b->distant : b->refs;
    const uint64_t a2 = distant ? a->refs : a->distant, b2 = distant ? b->refs : b->distant;

    if (a1 != b1)
        return a1 > b1;
    return a2 != b2 ? a2 > b2 : a->line < b->line;
}

size_t loc_top(const struct trod_stack *s, bool distant, struct loc_top *out, size_t n)
{
    size_t k = 0;

    for (size_t i = 0; n > 0 && i < s->lines.size; i++) {
        struct trod_line_count c;
        struct loc_top t;
        size_t at;

        if (s->lines.at[i].pos >= TROD_LINE_PRUNED || !trod_tally_knows(&s->lines.at[i]))
            continue;
        c = trod_tally_of(&s->tally, &s->lines.at[i]);
        t = (struct loc_top){s->lines.at[i].line, c.refs, c.distant};
        if (k == n && !before(&t, &out[n - 1], distant))
            continue;
        k += k < n;
        for (at = k - 1; at > 0 && before(&t, &out[at - 1], distant); at--)
            out[at] = out[at - 1];
        out[at] = t;
    }
    return k;
}

uint64_t loc_limit(const struct loc_options *o)
{
    return o->like ? 0 : o->limit;
}

size_t loc_sizes(uint64_t lines, uint64_t limit, uint64_t *size, size_t cap)
{
    size_t n = 0, most;

    for (uint64_t c = 1; n + 2 < cap; c *= 2) {
        size[n++] = c;
        if (c >= lines || c >= UINT64_C(1) << 40)
            break;
        if (c > 1)
            size[n++] = c + c / 2;
    }
    for (most = n; limit && n && size[n - 1] > limit;)
        n--;
    if (n < most && (n == 0 || size[n - 1] < limit))
        size[n++] = limit;
    return n;
}

/* ---- the curve */

struct curve {
    uint64_t size[LOC_SIZES];
    double all[LOC_SIZES], data[LOC_SIZES], instr[LOC_SIZES], error[LOC_SIZES];
    size_t n;
};

static bool curve_of(const struct loc_lane *l, uint64_t limit, struct curve *c)
{
    uint64_t misses[LOC_SIZES];
    const unsigned classes[] = {LOC_ALL, DATA, INSTR};
    double *const out[] = {c->all, c->data, c->instr};

    c->n =
        loc_sizes(l->shards ? (uint64_t)trod_shards_lines(l->shards) : trod_stack_lines(l->stack),
                  limit, c->size, LOC_SIZES);
    for (unsigned k = 0; k < 3; k++) {
        if (l->shards) {
            if (!trod_shards_misses(l->shards, classes[k], c->size, c->n, out[k],
                                    k ? NULL : c->error))
                return false;
            continue;
        }
        trod_dist_misses(&l->stack->dist, classes[k], c->size, c->n, misses);
        for (size_t i = 0; i < c->n; i++)
            out[k][i] = (double)misses[i];
    }
    return true;
}

void loc_put_size(struct trod_result *r, uint64_t lines, unsigned shift)
{
    if (lines <= UINT64_MAX >> shift)
        trod_result_u64(r, "bytes", lines << shift);
    else
        trod_result_absent(r);
}

static void put_ratio(struct trod_result *r, const char *name, double misses, uint64_t refs)
{
    if (refs)
        trod_result_f64(r, name, misses / (double)refs, 6);
    else
        trod_result_absent(r);
}

static int put_curve(const struct loc_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"lines", TROD_COLUMN_PLAIN, "lines", "size of the cache"},
        {"bytes", TROD_COLUMN_X, "bytes", "size of the cache"},
        {"misses", TROD_COLUMN_MEASURE, "references", "first references included"},
        {"miss_ratio", TROD_COLUMN_MEASURE, NULL, "misses by references"},
        {"instr", TROD_COLUMN_MEASURE, NULL, "of instruction fetches"},
        {"data", TROD_COLUMN_MEASURE, NULL, "of all other references"},
        {"error", TROD_COLUMN_PLAIN, NULL, "standard error of miss_ratio, estimated"},
    };
    const struct loc_lane *l = &s->own;
    const uint64_t refs[] = {loc_lane_refs(l, LOC_ALL), loc_lane_refs(l, INSTR),
                             loc_lane_refs(l, DATA)};
    struct curve *c = calloc(1, sizeof *c);

    if (!c || !curve_of(l, loc_limit(s->opt), c)) {
        free(c);
        return TROD_ERR_NOMEM;
    }
    trod_result_table(r, "miss_ratio_curve", "fully associative LRU caches", columns,
                      l->shards ? 7 : 6);
    for (size_t i = 0; i < c->n; i++) {
        /* a sampled distance stands for 1 / rate lines: it says nothing of smaller caches */
        if (l->shards && (double)c->size[i] * trod_shards_rate(l->shards) < 1)
            continue;
        trod_result_u64(r, "lines", c->size[i]);
        loc_put_size(r, c->size[i], s->shift);
        trod_result_u64(r, "misses", (uint64_t)(c->all[i] > 0 ? c->all[i] + 0.5 : 0));
        put_ratio(r, "miss_ratio", c->all[i], refs[0]);
        put_ratio(r, "instr", c->instr[i], refs[1]);
        put_ratio(r, "data", c->data[i], refs[2]);
        if (l->shards)
            trod_result_f64(r, "error", c->error[i], 6);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(c);
    return TROD_OK;
}

/* ---- distances */

static void put_classes(struct trod_result *r, const double *n, double all)
{
    static const char *const names[] = {"instr", "read", "write", "prefetch"};

    for (unsigned k = 0; k < TROD_REFS; k++)
        trod_result_u64(r, names[k], (uint64_t)(n[k] > 0 ? n[k] + 0.5 : 0));
    trod_result_f64(r, "share", all, 4);
    trod_result_row_end(r);
}

static void open_histogram(struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"from", TROD_COLUMN_X, "lines", "distance, this and up"},
        {"to", TROD_COLUMN_PLAIN, "lines", "distance, this included"},
        {"instr", TROD_COLUMN_MEASURE, "references", NULL},
        {"read", TROD_COLUMN_MEASURE, "references", NULL},
        {"write", TROD_COLUMN_MEASURE, "references", NULL},
        {"prefetch", TROD_COLUMN_MEASURE, "references", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all references"},
    };

    trod_result_table(r, "distances", "references by reuse distance", columns, 7);
}

/* Exact: each distance, or ranges that double. */
static void put_exact(const struct loc_state *s, struct trod_result *r)
{
    const struct trod_dist *h = &s->own.stack->dist;
    const double refs = (double)loc_lane_refs(&s->own, LOC_ALL);
    uint64_t d = trod_dist_next(h, 0, LOC_ALL);

    open_histogram(r);
    while (d != UINT64_MAX) {
        uint64_t from = d, to = d;
        double n[TROD_REFS] = {0}, all = 0;

        if (!s->opt->histogram && d > 1) {
            from = UINT64_C(1) << (63 - __builtin_clzll(d));
            to = 2 * from - 1;
        }
        for (; d <= to && d != UINT64_MAX; d = trod_dist_next(h, d + 1, LOC_ALL))
            for (unsigned k = 0; k < TROD_REFS; k++)
                n[k] += (double)trod_dist_at(h, d, k);
        for (unsigned k = 0; k < TROD_REFS; k++)
            all += n[k];
        trod_result_u64(r, "from", from);
        trod_result_u64(r, "to", to);
        put_classes(r, n, 100 * all / refs);
    }
    trod_result_table_close(r);
}

static void put_sampled(const struct loc_state *s, struct trod_result *r)
{
    const double refs = (double)loc_lane_refs(&s->own, LOC_ALL);

    open_histogram(r);
    for (unsigned i = 0; i < TROD_BINS;) {
        const uint64_t from = trod_bin_begin(i);
        const uint64_t to = from < 2             ? from
                            : !s->opt->histogram ? 2 * from - 1
                            : i + 1 < TROD_BINS  ? trod_bin_begin(i + 1) - 1
                                                 : UINT64_MAX;
        double n[TROD_REFS] = {0}, all = 0;

        for (; i < TROD_BINS && trod_bin_begin(i) <= to; i++)
            for (unsigned k = 0; k < TROD_REFS; k++)
                n[k] += trod_shards_at(s->own.shards, i, 1U << k);
        for (unsigned k = 0; k < TROD_REFS; k++)
            all += n[k];
        if (all > 0) {
            trod_result_u64(r, "from", from);
            trod_result_u64(r, "to", to);
            put_classes(r, n, 100 * all / refs);
        }
        if (to == UINT64_MAX)
            break;
    }
    trod_result_table_close(r);
}

static void put_sample(const struct loc_state *s, struct trod_result *r)
{
    const struct trod_shards *k = s->own.shards;
    const uint64_t lines = trod_shards_sampled(k);

    trod_result_f64(r, "sampling_rate", trod_shards_rate(k), 6);
    trod_result_describe(r, NULL, "share of the lines that is looked at");
    trod_result_u64(r, "sampled_lines", lines);
    trod_result_u64(r, "sampled_references",
                    k->sampled[0] + k->sampled[1] + k->sampled[2] + k->sampled[3]);
    if (trod_shards_rate(k) < 1 && lines < TROD_SHARDS_ENOUGH)
        trod_result_str(r, "sample", "too small: about 8000 lines are needed; do without a sample");
}

static void put_summary(const struct loc_state *s, struct trod_result *r)
{
    static const char *const names[] = {"instruction_references", "read_references",
                                        "write_references", "prefetch_references"};
    const struct loc_lane *l = &s->own;

    trod_result_u64(r, "line_size", s->opt->line);
    trod_result_describe(r, "bytes", NULL);
    trod_result_u64(r, "references", loc_lane_refs(l, LOC_ALL));
    for (unsigned k = 0; k < TROD_REFS; k++)
        if (loc_lane_refs(l, 1U << k))
            trod_result_u64(r, names[k], loc_lane_refs(l, 1U << k));
    if (l->shards) {
        trod_result_u64(r, "lines", (uint64_t)(trod_shards_counted(l->shards) + 0.5));
        trod_result_describe(r, "lines", "estimate of the distinct ones");
        put_sample(s, r);
    } else {
        const struct loc_stats stats = loc_stats_of(&l->stack->dist, LOC_ALL);

        trod_result_u64(r, "lines", trod_stack_counted(l->stack));
        trod_result_u64(r, "cold", trod_dist_cold(&l->stack->dist, LOC_ALL));
        trod_result_describe(r, "references",
                             loc_limit(s->opt) ? "to a line that is not remembered"
                                               : "first references to a line");
        if (stats.n) {
            trod_result_f64(r, "mean_distance", stats.mean, 2);
            trod_result_u64(r, "median_distance", stats.median);
            trod_result_f64(r, "standard_deviation", stats.deviation, 2);
            trod_result_u64(r, "max_distance", stats.max);
        }
        if (s->opt->limit) {
            trod_result_u64(r, "forgotten_lines", l->stack->pruned);
            trod_result_u64(r, "forgotten_hits", l->stack->pruned_hits);
        }
    }
}

/* ---- lists */

static int put_top(const struct loc_state *s, struct trod_result *r, bool distant)
{
    static const struct trod_result_column columns[] = {
        {"line", TROD_COLUMN_KEY, NULL, "address"},
        {"references", TROD_COLUMN_MEASURE, "references", NULL},
        {"distant", TROD_COLUMN_MEASURE, "references", "farther than --distant"},
    };
    static const char *const titles[2][2] = {
        {"most referenced lines", "most referenced lines of those still remembered"},
        {"lines with most distant references",
         "lines with most distant references of those still remembered"},
    };
    const bool limited = loc_limit(s->opt) != 0;
    const size_t most = s->opt->top < 100000 ? (size_t)s->opt->top : 100000;
    struct loc_top *top = calloc(most, sizeof *top);
    size_t n;

    if (!top)
        return TROD_ERR_NOMEM;
    n = loc_top(s->own.stack, distant, top, most);
    trod_result_table(r, distant ? "distant_lines" : "top_lines", titles[distant][limited], columns,
                      3);
    for (size_t i = 0; i < n; i++) {
        trod_result_hex(r, "line", top[i].line << s->shift);
        trod_result_u64(r, "references", top[i].refs);
        trod_result_u64(r, "distant", top[i].distant);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(top);
    return TROD_OK;
}

static void put_parts(const struct loc_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"touched", TROD_COLUMN_X, "bytes", "of a line before it leaves the cache"},
        {"residencies", TROD_COLUMN_MEASURE, NULL, "times that a line was in the cache"},
        {"share", TROD_COLUMN_MEASURE, "percent", NULL},
    };
    const struct trod_stack *k = s->own.shards ? s->own.shards->stack : s->own.stack;
    const uint64_t grain = s->opt->line > TROD_PARTS ? s->opt->line / TROD_PARTS : 1;
    uint64_t n[TROD_PARTS + 1], all = 0;
    double bytes = 0; /* of large lines more than 2^64 */

    trod_stack_parts(k, n);
    for (unsigned i = 0; i <= TROD_PARTS; i++) {
        all += n[i];
        bytes += (double)n[i] * (double)(i * grain);
    }
    trod_result_u64(r, "touched_size", s->opt->resident);
    trod_result_describe(r, "bytes", "the cache that lines leave");
    trod_result_f64(r, "touched_share",
                    all ? 100 * bytes / ((double)all * (double)s->opt->line) : 0, 2);
    trod_result_describe(r, "percent", "of the bytes of a line, mean over residencies");
    trod_result_table(r, "touched", "bytes of a line touched while it is in the cache", columns, 3);
    for (unsigned i = 0; i <= TROD_PARTS; i++) {
        if (!n[i])
            continue;
        trod_result_u64(r, "touched", i * grain);
        trod_result_u64(r, "residencies", n[i]);
        trod_result_f64(r, "share", 100 * (double)n[i] / (double)all, 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_sets(const struct loc_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"sets", TROD_COLUMN_KEY, "sets", NULL},
        {"ways", TROD_COLUMN_KEY, "ways", NULL},
        {"bytes", TROD_COLUMN_X, "bytes", "size of the cache"},
        {"misses", TROD_COLUMN_MEASURE, "references", NULL},
        {"miss_ratio", TROD_COLUMN_MEASURE, NULL, NULL},
    };
    const struct trod_sets *k = s->own.sets;

    trod_result_table(r, "set_associative", "set-associative LRU caches", columns, 5);
    for (unsigned level = 0; level < k->levels; level++)
        for (unsigned ways = 1, next; ways <= k->ways; ways = next) {
            const uint64_t misses = trod_sets_misses(k, level, ways, LOC_ALL);

            trod_result_u64(r, "sets", UINT64_C(1) << level);
            trod_result_u64(r, "ways", ways);
            loc_put_size(r, (uint64_t)ways << level, s->shift);
            trod_result_u64(r, "misses", misses);
            put_ratio(r, "miss_ratio", (double)misses, loc_lane_refs(&s->own, LOC_ALL));
            trod_result_row_end(r);
            next = ways < k->ways && 2 * ways > k->ways ? k->ways : 2 * ways;
        }
    trod_result_table_close(r);
}

static int put_lists(const struct loc_state *s, struct trod_result *r)
{
    int rc = TROD_OK;

    if (s->own.stack)
        put_exact(s, r);
    else
        put_sampled(s, r);
    if (s->own.stack && s->opt->top)
        rc = put_top(s, r, false);
    if (rc == TROD_OK && s->own.stack && s->opt->top)
        rc = put_top(s, r, true);
    if (s->own.sets)
        put_sets(s, r);
    if (s->opt->resident)
        put_parts(s, r);
    return rc;
}

/* All of S, whose lane has what is to be reported. */
static int put_all(const struct loc_state *s, struct trod_result *r)
{
    const bool whole = s->context.stream == TROD_ALL_STREAMS;
    int rc = TROD_OK;

    if (loc_lane_refs(&s->own, LOC_ALL) == 0) {
        trod_result_u64(r, "references", 0);
        return TROD_OK;
    }
    if (s->own.stack || s->own.shards) {
        put_summary(s, r);
        rc = put_curve(s, r);
    } else {
        trod_result_u64(r, "references", s->own.times->now);
    }
    if (s->n_intervals && (!whole || s->opt->shared))
        loc_intervals_result(s, r);
    if (!whole)
        return rc;
    if (rc == TROD_OK && (s->own.stack || s->own.shards))
        rc = put_lists(s, r);
    if (rc == TROD_OK && s->own.times)
        rc = loc_times_result(s, r);
    if (rc == TROD_OK && s->opt->per)
        rc = loc_owners_result(s, r);
    if (rc == TROD_OK && s->opt->strides)
        rc = loc_strides_result(s, r);
    return rc;
}

int loc_result(const void *st, struct trod_result *r)
{
    const struct loc_state *s = st;
    struct loc_state all = *s;
    int rc;

    if (!s->opt->like)
        return put_all(s, r);
    all.own = (struct loc_lane){0};
    rc = loc_like_sum(s, &all.own);
    if (rc == TROD_OK)
        rc = put_all(&all, r);
    loc_lane_fini(&all.own);
    return rc;
}
