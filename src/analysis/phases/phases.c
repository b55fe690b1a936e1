/*
 * phases.c - the analysis "phases": what parts of a run are like each other, and which few stand
 * for all.
 *
 * Implements docs/analysing.md, "phases": intervals and the vectors of their basic blocks. These
 * are projected when an interval ends, so that memory grows with the program and the number of
 * intervals times the dimensions.
 */
#include "analysis/phases/phases.h"

#include "core/grow.h"
#include "core/wide.h"
#include "trod/streak.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct phases_options, field)

static const struct trod_option options[] = {
    {"dimensions", 0, TROD_OPT_U64, AT(dims), "N",
     "dimensions that vectors of blocks are projected to (default: 15)", NULL, NULL},
    {"most-phases", 0, TROD_OPT_U64, AT(most), "N", "phases at most (default: 10)", NULL, NULL},
    {"seed", 0, TROD_OPT_U64, AT(seed), "N", "of the random projection and centers (default: 1)",
     NULL, NULL},
    {"bb", 0, TROD_OPT_STR, AT(bb), "FILE", "write the vectors as SimPoint reads them", NULL, NULL},
    {"simpoints", 0, TROD_OPT_STR, AT(simpoints), "NAME",
     "write the chosen intervals and their weights as SimPoint does, to NAME.simpoints and "
     "NAME.weights",
     NULL, NULL},
    {"picture", 0, TROD_OPT_STR, AT(picture), "FILE",
     "draw how alike the intervals are: as a web page if FILE ends in .html, as PNG if in .png, "
     "else as PGM",
     NULL, NULL},
    {"list", 0, TROD_OPT_BOOL, AT(list), NULL, "show the phase of each interval", NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct phases_options defaults = {.dims = 15, .most = 10, .seed = 1};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct phases_state *s = st;
    int rc;

    s->opt = opt ? opt : &defaults;
    s->context = *context;
    if (s->opt->dims == 0 || s->opt->dims > PHASES_DIMS || s->opt->most == 0 ||
        s->opt->most > PHASES_MOST)
        return trod_error(context->diag, TROD_ERR_USAGE, "phases.option", NULL,
                          "there are 1 to %d dimensions and 1 to %d phases", PHASES_DIMS,
                          PHASES_MOST);
    s->length = s->opt->bb ? 0 : PHASES_FIRST;
    s->dims = (size_t)s->opt->dims;
    memset(s->line, 0xff, sizeof s->line); /* no line has that number */
    if (s->opt->list && phases_working_new(&s->working, PHASES_LINES) < 0)
        return TROD_ERR_NOMEM;
    if ((rc = phases_apart(s->opt, context)) < 0)
        return rc;
    return s->opt->bb ? trod_output_create(&s->bb, s->opt->bb, NULL, context->diag) : TROD_OK;
}

static void fini(void *st)
{
    struct phases_state *s = st;

    trod_output_discard(s->bb);
    trod_buf_fini(&s->text);
    phases_clusters_free(&s->clusters);
    phases_working_free(s->working);
    free(s->sums);
    free(s->direction);
    free(s->direction_of);
    free(s->count);
    free(s->id);
    free(s->touched);
    free(s->lane);
    free(s->interval);
    free(s->vector);
}

/* ---- room */

struct phases_lane *phases_lane_of(struct phases_state *s, uint32_t stream)
{
    static const struct phases_lane none = {.head = TROD_NO_SITE};

    if (!trod_grow_to(&s->lane, &s->n_lanes, stream, sizeof *s->lane, &none))
        return NULL;
    return &s->lane[stream];
}

int phases_room(struct phases_state *s, size_t n)
{
    size_t cap = s->cap ? s->cap : 64;
    struct phases_interval *interval;
    double *vector;

    if (n <= s->cap)
        return TROD_OK;
    while (cap < n)
        cap *= 2;
    interval = realloc(s->interval, cap * sizeof *interval);
    s->interval = interval ? interval : s->interval;
    vector = realloc(s->vector, cap * s->dims * sizeof *vector);
    s->vector = vector ? vector : s->vector;
    if (!interval || !vector)
        return TROD_ERR_NOMEM;
    s->cap = cap;
    return TROD_OK;
}

/* ---- intervals */

/* What ran of the block of lane L is counted in this interval. */
int phases_count_block(struct phases_state *s, struct phases_lane *l)
{
    if (l->run == 0)
        return TROD_OK;
    if (s->count[l->head] == 0) {
        if (!trod_grow(&s->touched, s->n_touched, &s->cap_touched, sizeof *s->touched, 1024))
            return TROD_ERR_NOMEM;
        s->touched[s->n_touched++] = l->head;
    }
    s->count[l->head] += l->run;
    l->run = 0;
    return TROD_OK;
}

/* A line "T:block:instructions :block:instructions ..." (SimPoint 3.2, "Frequency vectors"). */
static int write_vector(struct phases_state *s)
{
    int rc = trod_buf_add(&s->text, "T", 1);

    for (size_t i = 0; rc == TROD_OK && i < s->n_touched; i++) {
        const uint32_t site = s->touched[i];

        if (!s->id[site])
            s->id[site] = ++s->n_ids;
        rc = trod_buf_printf(&s->text, ":%" PRIu32 ":%" PRIu64 " ", s->id[site], s->count[site]);
    }
    if (rc == TROD_OK)
        rc = trod_buf_add(&s->text, "\n", 1);
    if (rc == TROD_OK)
        rc = trod_output_write(s->bb, s->text.p, s->text.n);
    s->text.n = 0;
    return rc;
}

static void add_interval(struct phases_interval *into, const struct phases_interval *from)
{
    into->instructions += from->instructions;
    into->accesses += from->accesses;
    into->misses += from->misses;
    for (unsigned c = 0; c < PHASES_CATEGORIES; c++)
        into->category[c] += from->category[c];
    for (unsigned i = 0; i < PHASES_AGES; i++)
        into->fresh[i] += from->fresh[i];
}

/* First accesses of interval I were in the interval that is number TO[I] from here on. */
static void move_cold(struct phases_state *s, const size_t *to)
{
    for (unsigned set = 0; set < PHASES_SETS; set++)
        for (unsigned k = 0; k < s->n_cold[set]; k++)
            s->cold[set][k].interval = to[s->cold[set][k].interval];
}

/*
 * Make one interval of each two neighbours of a file. Returns how many became the last one. TO:
 * room for where each interval went, and the one that goes on.
 */
static size_t join(struct phases_state *s, size_t *to)
{
    const size_t dims = s->dims;
    size_t n = 0, members = 0;

    for (size_t i = 0; i < s->n; i++) {
        phases_working_join(s->interval[i].fresh);
        if (i == 0 || members == 2 || s->interval[i].begins) {
            s->interval[n] = s->interval[i];
            memmove(s->vector + n++ * dims, s->vector + i * dims, dims * sizeof *s->vector);
            members = 1;
        } else {
            add_interval(&s->interval[n - 1], &s->interval[i]);
            for (size_t d = 0; d < dims; d++)
                s->vector[(n - 1) * dims + d] += s->vector[i * dims + d];
            members++;
        }
        to[i] = n - 1;
    }
    to[s->n] = n;
    s->n = n;
    return members;
}

/* The last interval goes on: it is half as long as it may be. */
static void reopen(struct phases_state *s, size_t *to, size_t before)
{
    struct phases_interval *last = &s->interval[s->n - 1];

    for (size_t d = 0; d < s->dims; d++)
        s->carry[d] += s->vector[(s->n - 1) * s->dims + d];
    add_interval(&s->now, last);
    s->inside = !last->begins;
    s->n_begin -= last->begins;
    s->n--;
    for (size_t i = 0; i <= before; i++) /* number n is what goes on */
        to[i] = to[i] < s->n ? to[i] : s->n;
}

/* Intervals twice as long. OPEN: the file of the last one may go on. */
static int twice(struct phases_state *s, bool open)
{
    const size_t before = s->n;
    size_t *to = calloc(before + 1, sizeof *to), members;

    if (!to)
        return TROD_ERR_NOMEM;
    members = join(s, to);
    s->length *= 2;
    if (s->working)
        phases_working_joined(s->working);
    if (open && s->n && members == 1)
        reopen(s, to, before);
    move_cold(s, to);
    free(to);
    return TROD_OK;
}

int phases_lengthen(struct phases_state *s, uint64_t length)
{
    int rc = TROD_OK;

    while (rc == TROD_OK && s->length < length)
        rc = twice(s, false);
    return rc;
}

int phases_shorten(struct phases_state *s, bool open)
{
    int rc = TROD_OK;

    while (rc == TROD_OK && s->length && s->n >= PHASES_AUTO && s->n > s->n_begin)
        rc = twice(s, open);
    return rc;
}

/* The direction that the block which begins at SITE is projected to. NULL: no memory. */
static const double *direction_of(struct phases_state *s, uint32_t site)
{
    const size_t dims = s->dims;
    double *d;

    if (!s->direction_of[site]) {
        const uint64_t pc = trod_site_at(s->context.sites, site)->pc;

        if (!trod_grow(&s->direction, s->n_directions, &s->cap_directions,
                       dims * sizeof *s->direction, 256))
            return NULL;
        d = s->direction + s->n_directions * dims;
        for (unsigned i = 0; i < dims; i++)
            d[i] = phases_direction(s->opt->seed, pc, i);
        s->direction_of[site] = (uint32_t)++s->n_directions;
    }
    return s->direction + (s->direction_of[site] - 1) * dims;
}

/* What belongs to the blocks touched behind number I is fetched into the caches. */
TROD_HOT void expect(const struct phases_state *s, size_t i)
{
    enum { SOON = 4, LATER = 12 };
    const double *next;

    if (i + LATER >= s->n_touched)
        return;
    __builtin_prefetch(&s->direction_of[s->touched[i + LATER]]);
    __builtin_prefetch(&s->count[s->touched[i + LATER]], 1);
    if (!s->direction_of[s->touched[i + SOON]])
        return;
    next = s->direction + (s->direction_of[s->touched[i + SOON]] - 1) * s->dims;
    __builtin_prefetch(next);
    __builtin_prefetch(next + s->dims / 2);
}

/* The interval ends. OPEN: the file goes on behind it. */
static int end_interval(struct phases_state *s, bool open)
{
    const size_t dims = s->dims;
    double *restrict v;
    int rc = TROD_OK;

    phases_settle(s);
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_lanes; i++)
        rc = phases_count_block(s, &s->lane[i]);
    if (rc < 0 || s->now.instructions == 0)
        return rc;
    if (s->bb && (rc = write_vector(s)) < 0)
        return rc;
    if (phases_room(s, s->n + 1) < 0)
        return TROD_ERR_NOMEM;
    v = s->vector + s->n * dims;
    memcpy(v, s->carry, dims * sizeof *v);
    memset(s->carry, 0, sizeof s->carry);
    for (size_t i = 0; i < s->n_touched; i++) {
        const double *const restrict direction = direction_of(s, s->touched[i]);
        const double n = (double)s->count[s->touched[i]];

        if (!direction)
            return TROD_ERR_NOMEM;
        expect(s, i);
        for (size_t d = 0; d < dims; d++)
            v[d] += n * direction[d];
        s->count[s->touched[i]] = 0;
    }
    s->n_touched = 0;
    s->now.begins = !s->inside;
    s->n_begin += s->now.begins;
    s->inside = true;
    s->interval[s->n++] = s->now;
    if (s->working && !phases_working_end(s->working))
        return TROD_ERR_NOMEM;
    s->now = (struct phases_interval){.instructions = 0};
    return phases_shorten(s, open);
}

int phases_end_interval(struct phases_state *s)
{
    return end_interval(s, true);
}

int phases_begin_file(struct phases_state *s, uint32_t file)
{
    int rc = TROD_OK;

    if (s->file && s->length)
        rc = end_interval(s, false);
    if (s->length)
        s->inside = false;
    if (s->length && s->working)
        phases_working_file(s->working);
    s->file = file;
    return rc;
}

/* Intervals are ended from outside: those made before the first end are one. */
static int end_of_others(struct phases_state *s)
{
    const int rc = phases_end_interval(s);

    if (rc < 0 || s->cut)
        return rc;
    s->cut = true;
    s->length = 0;
    for (size_t i = 1; i < s->n; i++) {
        add_interval(&s->interval[0], &s->interval[i]);
        for (size_t d = 0; d < s->dims; d++)
            s->vector[d] += s->vector[i * s->dims + d];
    }
    if (s->n)
        phases_working_all(s->interval[0].fresh);
    for (unsigned set = 0; set < PHASES_SETS; set++)
        for (unsigned k = 0; k < s->n_cold[set]; k++)
            s->cold[set][k].interval = 0;
    s->n = s->n != 0;
    if (s->working)
        phases_working_cut(s->working);
    return TROD_OK;
}

/* No more rows. */
static int phases_end(struct phases_state *s)
{
    int rc = end_interval(s, false);
    uint64_t first = 0;

    for (size_t i = 0; i < s->n; i++) {
        s->interval[i].first = first;
        first += s->interval[i].instructions;
    }
    if (rc == TROD_OK && s->bb) {
        rc = trod_output_commit(s->bb);
        s->bb = NULL;
    }
    return rc;
}

int phases_finish(struct phases_state *s)
{
    const unsigned dims = (unsigned)s->dims;
    double *point;
    int rc;

    if (s->finished)
        return TROD_OK;
    s->finished = true;
    rc = phases_end(s);
    point = calloc(s->n * dims + 1, sizeof *point);
    if (!point)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < dims; k++)
            point[i * dims + k] = s->vector[i * dims + k] / (double)s->interval[i].instructions;
    if (rc == TROD_OK)
        rc = phases_cluster(&s->clusters, point, s->n, dims, (unsigned)s->opt->most, s->opt->seed);
    free(point);
    for (size_t i = 0; rc == TROD_OK && i < s->n; i++) {
        s->interval[i].phase = s->clusters.of[i];
        s->clusters.weight[s->clusters.of[i]] += s->interval[i].instructions;
    }
    if (rc == TROD_OK && s->opt->simpoints)
        rc = phases_simpoints(s);
    return rc == TROD_OK && s->opt->picture ? phases_picture(s) : rc;
}

static int boundary(void *st, const struct trod_boundary *at)
{
    struct phases_state *s = st;

    if (at->type == TROD_BOUNDARY_INTERVAL)
        return end_of_others(s);
    if (at->type == TROD_BOUNDARY_END)
        return phases_end(s);
    if (at->type == TROD_BOUNDARY_WARM) { /* the cache stays */
        struct trod_output *bb = s->bb;
        int rc;

        s->bb = NULL;
        rc = phases_end_interval(s);
        s->bb = bb;
        s->n = s->n_begin = 0;
        s->inside = false;
        if (s->working)
            phases_working_forget(s->working);
        s->now = (struct phases_interval){.first = 0};
        memset(s->carry, 0, sizeof s->carry);
        memset(s->n_cold, 0, sizeof s->n_cold); /* of what is left out */
        s->length = s->length ? PHASES_FIRST : 0;
        return rc;
    }
    return TROD_OK;
}

/* Vectors are written as they come; the lines of working sets are remembered in order. */
static enum trod_order_need order_of(const void *opt)
{
    const struct phases_options *o = opt;

    return o && (o->bb || o->list) ? TROD_GLOBAL_ORDER : TROD_STREAM_ORDER;
}

const struct trod_analysis trod_analysis_phases = {
    .name = "phases",
    .title = "phases of a run, and the few intervals that stand for all",
    .about = "Cuts the run into intervals (--interval; without it about a thousand of equal\n"
             "length) and compares which basic blocks they executed. Intervals that are alike\n"
             "are put into one phase; the interval nearest to the middle of each phase is the\n"
             "one to simulate, with the phase's share of all instructions as its weight.\n"
             "\n"
             "Shows how well these few intervals, weighted, tell the mix of instructions and\n"
             "the miss ratio of a data cache (32 KiB, 8 ways, LRU, lines of 64 bytes) of the\n"
             "whole run, and a picture of how alike the intervals are: dark is alike.",
    .examples = "  trod phases app.trace.zip\n"
                "  trod phases --interval 10000000 --bb app.bb app.trace.zip\n"
                "  trod phases --interval 10000000 --simpoints app app.trace.zip\n"
                "  trod phases --picture app.html --most-phases 20 app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct phases_options),
    .defaults = &defaults,
    .state_size = sizeof(struct phases_state),
    .order = TROD_GLOBAL_ORDER, /* phases of threads are not those of all */
    .order_of = order_of,
    .needs = TROD_COL_KIND | TROD_COL_FLAGS,
    .uses = TROD_COL_SITE | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_STREAM | TROD_WANT_STREAKS,
    .init = init,
    .feed = phases_feed,
    .boundary = boundary,
    .merge = phases_merge,
    .save = phases_save,
    .load = phases_load,
    .result = phases_result,
    .fini = fini,
};
