/*
 * compare.c - running a comparison.
 *
 * Implements trod_compare_run of compare.h. As long as both sides say the same row after row, rows
 * are compared where they lie, in their batches (fast.c). At the first that differs, rows are taken
 * out into the queues of their lanes and matched there (lane.c) until the queues of both sides are
 * empty again. Memory: two batches, the queues (bounded by the lookahead) and what waits for the
 * window.
 */
#include "compare/engine.h"

#include "core/sized.h"
#include "trace/mark.h"
#include "trod/insn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64, STEP = 4096, LOOKAHEAD = 1 << 16, QUEUED = 1 << 15 };

/* Room for N lanes. False: no memory. */
static bool grow_lanes(struct trod_compare *c, size_t n)
{
    const size_t words = (n + 63) / 64, had = (c->lanes.n + 63) / 64;
    struct cmp_lane **l = realloc(c->lanes.lane, n * sizeof(struct cmp_lane *));
    uint64_t *busy;

    if (!l)
        return false;
    c->lanes.lane = l;
    busy = realloc(c->busy, words * sizeof *busy);
    if (!busy)
        return false;
    for (size_t k = had; k < words; k++)
        busy[k] = 0;
    for (size_t k = c->lanes.n; k < n; k++)
        l[k] = NULL;
    c->busy = busy;
    c->lanes.n = n;
    return true;
}

/* The first busy lane from number *I on, which becomes that number; NULL: there is none. */
static struct cmp_lane *busy_lane(const struct trod_compare *c, size_t *i)
{
    const size_t words = (c->lanes.n + 63) / 64;
    size_t w = *i / 64;
    uint64_t bits = w < words ? c->busy[w] & UINT64_MAX << *i % 64 : 0;

    while (!bits && ++w < words)
        bits = c->busy[w];
    if (!bits)
        return NULL;
    *i = w * 64 + (size_t)__builtin_ctzll(bits);
    return c->lanes.lane[*i];
}

struct cmp_lane *cmp_lane_of(struct trod_compare *c, int pair, unsigned cls)
{
    size_t per = c->rules.opt->independent ? TROD_TRACK_CLASSES : 1;
    size_t i = (size_t)pair * per + (per > 1 ? cls : 0);

    if (i >= c->lanes.n && !grow_lanes(c, 2 * (i + per)))
        return NULL;
    if (!c->lanes.lane[i]) {
        c->lanes.lane[i] = calloc(1, sizeof **c->lanes.lane);
        if (!c->lanes.lane[i])
            return NULL;
        c->lanes.lane[i]->pair = pair;
        c->lanes.lane[i]->number = i;
        c->lanes.lane[i]->grouped = (per == 1 || cls == 0) && (c->rules.track & TROD_TRACK_INSTR);
    }
    return c->lanes.lane[i];
}

/* Rows that say the same of everything but the time. */
static bool repeats(const struct cmp_row *a, const struct cmp_row *b, struct cmp_rules *rules)
{
    const uint32_t columns = rules->fields.columns;
    const size_t n_slides = rules->n_slides;
    bool same;

    rules->fields.columns &= ~(uint32_t)TROD_COL_TIME;
    rules->fields.columns |= TROD_COL_INDEX; /* the next pass of a loop is no repetition */
    rules->n_slides = 0;
    same = a->pub.has == b->pub.has && a->pub.stream == b->pub.stream && a->name_id == b->name_id &&
           cmp_row_differs(a, b, rules) == 0;
    rules->fields.columns = columns;
    rules->n_slides = n_slides;
    return same;
}

/* Whether ROW of S is passed over. */
static bool passed_over(struct trod_compare *c, struct cmp_side *s, struct cmp_row *row)
{
    if (row->pub.kind == TROD_REG && c->rules.opt->n_ignore_registers && row->pub.name_len &&
        cmp_name_find(&c->rules, row->pub.name, row->pub.name_len)->ignored)
        return true;
    if (!c->rules.opt->skip_equal)
        return false;
    if (s->before && repeats(s->before, row, &c->rules))
        return true;
    cmp_row_drop(&c->pool, s->before);
    s->before = cmp_row_keep(row);
    return false;
}

/* Put ROW of SIDE into its lane. */
static int enter(struct trod_compare *c, int side, int pair, struct cmp_row *row)
{
    struct cmp_lane *l = cmp_lane_of(c, pair, row->cls);

    if (!l || cmp_side_own(&c->side[side], &c->pool, pair, row) < 0)
        return TROD_ERR_NOMEM;
    cmp_row_own(&c->pool, row, cmp_side_owner(&c->side[side], pair));
    row->place = l->places[side]++;
    c->busy[l->number / 64] |= UINT64_C(1) << l->number % 64;
    return cmp_queue_push(&l->queue[side], row) ? TROD_OK : TROD_ERR_NOMEM;
}

/* Row I of SIDE is not chosen: if an instruction, what follows belongs to none that is known. */
static int disown(struct trod_compare *c, int side, uint32_t i)
{
    struct cmp_side *s = &c->side[side];
    int pair;

    if (s->b->kind[i] != TROD_INSTR)
        return TROD_OK;
    pair = cmp_side_pair(s, &c->pairs, i);
    if (pair < 0)
        return TROD_ERR_NOMEM;
    if (pair < s->n_owner) {
        cmp_row_drop(&c->pool, s->owner[pair]);
        s->owner[pair] = NULL;
    }
    return TROD_OK;
}

/* Take the row at hand of side SIDE into its lane, if it counts. */
static int take(struct trod_compare *c, int side)
{
    struct cmp_side *s = &c->side[side];
    uint32_t i = s->at++;
    unsigned cls = cmp_class_of[s->b->kind[i]];
    struct cmp_row *row;
    int pair, rc;

    c->sum->rows[side]++;
    if (!cmp_side_chosen(s, i)) {
        c->sum->skipped[side]++;
        return disown(c, side, i);
    }
    if (!cmp_side_counts(s, c->rules.track, i)) {
        c->sum->skipped[side]++;
        s->seen |= cls < TROD_TRACK_CLASSES ? 1u << cls : 0;
        return TROD_OK;
    }
    if ((pair = cmp_side_pair(s, &c->pairs, i)) < 0 ||
        !(row = cmp_row_take(s->b, i, side, &c->rules)))
        return TROD_ERR_NOMEM;
    if (passed_over(c, s, row)) {
        c->sum->skipped[side]++;
        cmp_row_drop(&c->pool, row);
        return TROD_OK;
    }
    rc = enter(c, side, pair, row);
    if (rc < 0)
        cmp_row_drop(&c->pool, row);
    return rc;
}

static int pull(struct trod_compare *c, int side, size_t n)
{
    int rc = TROD_OK;

    while (n-- > 0 && rc == TROD_OK && cmp_side_fill(&c->side[side]) == 1)
        rc = take(c, side);
    return rc;
}

static bool over(const struct trod_compare *c, int side)
{
    const struct cmp_side *s = &c->side[side];

    return s->ended && !s->next && (!s->b || s->at >= s->b->n);
}

/* Rows queued by side; WANT: the most a lane asks for on a side where it has fewer. */
struct need {
    size_t queued[2], want[2];
    uint64_t waiting; /* rows of all lanes that wait for the window */
};

/* Match every lane as far as its rows go. */
static int match_lanes(struct trod_compare *c, struct need *need)
{
    const bool ended[2] = {over(c, 0), over(c, 1)};
    struct cmp_lane *l;

    *need = (struct need){.waiting = 0};
    for (size_t i = 0; (l = busy_lane(c, &i)) != NULL && !c->match.stop; i++) {
        size_t want = 0;
        int rc = cmp_lane_match(l, &c->match, ended, &want);

        if (rc < 0)
            return rc;
        if (!l->queue[0].n && !l->queue[1].n && !l->waiting[0].n && !l->waiting[1].n)
            c->busy[i / 64] &= ~(UINT64_C(1) << i % 64);
        for (int side = 0; side < 2; side++) {
            size_t n = l->queue[side].n;

            need->queued[side] += n;
            need->waiting += l->waiting[side].n;
            if (rc == CMP_MORE && n < want && want - n > need->want[side])
                need->want[side] = want - n;
            /* A lane that one side has run out of: as many rows again from that side. */
            if (rc == CMP_EMPTY && n == 0 && l->queue[!side].n > need->want[side])
                need->want[side] = l->queue[!side].n < STEP ? l->queue[!side].n : STEP;
        }
    }
    return TROD_OK;
}

/* The lane with the most rows on one side. */
static struct cmp_lane *longest(const struct trod_compare *c, int *side)
{
    struct cmp_lane *best = NULL;

    for (size_t i = 0; i < c->lanes.n; i++)
        for (int s = 0; c->lanes.lane[i] && s < 2; s++)
            if (!best || c->lanes.lane[i]->queue[s].n > best->queue[*side].n) {
                best = c->lanes.lane[i];
                *side = s;
            }
    return best;
}

/*
 * More rows wait in all lanes together than memory is meant for: the oldest of the lane that has
 * the most are given up.
 */
static void relieve_waiting(struct trod_compare *c, uint64_t waiting)
{
    const uint64_t most = c->match.window + c->match.window / 4;
    struct cmp_lane *fullest = NULL;

    for (size_t i = 0; waiting > most + STEP && i < c->lanes.n; i++) {
        struct cmp_lane *l = c->lanes.lane[i];

        if (l && (!fullest || l->waiting[0].n + l->waiting[1].n >
                                  fullest->waiting[0].n + fullest->waiting[1].n))
            fullest = l;
    }
    if (fullest)
        cmp_give_up(fullest, &c->match, (size_t)(waiting - most));
}

/* Rows that may be queued and wait, all together. */
static size_t budget(const struct trod_compare *c)
{
    const size_t window = (size_t)c->match.window, lookahead = c->match.lookahead;
    const size_t searched = 2 * lookahead + lookahead / 2, waits = window + window / 4 + QUEUED;

    if (c->rules.opt->align == TROD_ALIGN_NONE)
        return 3 * (window > lookahead ? window : lookahead);
    return searched > waits ? searched : waits;
}

/*
 * Rows pile up because the other side brings nothing for their lane: past the bound, half of the
 * longest queue is given up as missing or inserted, so that memory stays what it is.
 */
static int relieve(struct trod_compare *c, const struct need *need)
{
    const size_t queued = need->queued[0] + need->queued[1];
    struct cmp_lane *l;
    size_t n;
    int side = 0;

    relieve_waiting(c, need->waiting);
    if (queued <= QUEUED || queued + need->waiting <= budget(c) || !(l = longest(c, &side)))
        return TROD_OK;
    n = l->queue[side].n - l->queue[side].n / 2;
    c->sum->apart += n;
    return cmp_one_sided(l, &c->match, side, n);
}

/* Match through the queues until they are empty on both sides. Returns 1, 0 at the end, or < 0. */
static int slow(struct trod_compare *c)
{
    struct need need;
    int rc;

    for (;;) {
        bool idle;

        if ((rc = match_lanes(c, &need)) < 0)
            return rc;
        idle = need.queued[0] == 0 && need.queued[1] == 0;
        if (c->match.stop ||
            (over(c, 0) && over(c, 1) && (idle || (!need.want[0] && !need.want[1]))))
            return 0;
        if (idle && !cmp_waiting(c) && !c->always_slow)
            return 1;
        if ((rc = relieve(c, &need)) < 0)
            return rc;
        for (int side = 0; side < 2; side++) {
            size_t n = idle || over(c, !side) ? CHUNK : 0;

            n = need.want[side] > n ? need.want[side] : n;
            if (n && (rc = pull(c, side, n)) < 0)
                return rc;
        }
        cmp_tell(&c->match, false);
        if (c->rules.opt->tick)
            c->rules.opt->tick(c->rules.opt->tick_user, c->sum->rows);
    }
}

bool cmp_waiting(const struct trod_compare *c)
{
    const struct cmp_lane *l;

    for (size_t i = 0; (l = busy_lane(c, &i)) != NULL; i++)
        if (l->waiting[0].n || l->waiting[1].n)
            return true;
    return false;
}

uint32_t trod_compare_want(const struct trod_compare_options *opt)
{
    uint32_t want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
    struct trod_compare_options own;

    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return want;
    opt = &own;
    if (!(opt->compare & TROD_COL_INDEX) && opt->n_also == 0 && !opt->skip_equal)
        want &= ~(uint32_t)TROD_COL_INDEX;
    return want;
}

/*
 * Batches of files end in the same places however their bytes come in: what is told first of two
 * sides that are damaged follows from that, and what is told at all where the comparison ends
 * early. Traces
 * that are decoded ahead are so with their windows, which is less to hand on than what each row
 * points to: all of it may be looked at.
 */
static void begin_traces(struct trod_trace *a, struct trod_trace *b, bool serial)
{
    struct trod_trace *const t[2] = {a, b};

    for (int side = 0; side < 2; side++) {
        if (trod_trace_rewindable(t[side])) /* what comes from a pipe is looked at when it comes */
            trod_trace_settle_windows(t[side]);
        if (serial)
            trod_trace_alone(t[side]);
        else
            trod_trace_windows(t[side]);
    }
}

static int run(struct trod_compare *c)
{
    int rc = 1;

    while (rc == 1 && !c->match.stop) {
        if (!c->always_slow && !cmp_waiting(c) && cmp_fast(c) < 0)
            return TROD_ERR_NOMEM;
        cmp_sides_fill(c->side);
        for (int side = 0; side < 2 && rc == 1; side++) {
            int r = pull(c, side, CHUNK);

            rc = r < 0 ? r : rc;
        }
        if (rc == 1)
            rc = slow(c);
    }
    for (size_t i = 0; rc == 0 && i < c->lanes.n && !c->match.stop; i++)
        if (c->lanes.lane[i])
            rc = cmp_lane_finish(c->lanes.lane[i], &c->match);
    cmp_tell(&c->match, true);
    return rc < 0 ? rc : TROD_OK;
}

static void release(struct trod_compare *c)
{
    cmp_diffs_fini(&c->match);
    for (size_t i = 0; i < c->lanes.n; i++)
        if (c->lanes.lane[i]) {
            cmp_lane_fini(c->lanes.lane[i], &c->pool);
            free(c->lanes.lane[i]);
        }
    for (int side = 0; side < 2; side++)
        cmp_side_fini(&c->side[side], &c->pool);
    free(c->lanes.lane);
    free(c->busy);
    free(c->pairs.key);
    trod_map_fini(&c->pairs.map);
    cmp_history_fini(&c->history);
    cmp_pool_fini(&c->pool);
    trod_insn_decoder_free(c->match.decoder);
    free(c);
}

static struct trod_compare *prepare(struct trod_trace *a, struct trod_trace *b,
                                    const struct trod_compare_options *opt, trod_compare_fn fn,
                                    void *user, struct trod_compare_summary *sum)
{
    struct trod_compare *c = calloc(1, sizeof *c);

    if (!c || cmp_history_init(&c->history) < 0) {
        free(c);
        return NULL;
    }
    for (int side = 0; side < 2; side++)
        c->side[side] = (struct cmp_side){.trace = side ? b : a,
                                          .opt = opt,
                                          .side = side,
                                          .boot_left = opt->boot,
                                          .started = !opt->has_start && opt->boot == 0};
    c->rules.opt = opt;
    c->rules.pool = &c->pool;
    c->rules.meta[0] = trod_trace_meta(a);
    c->rules.meta[1] = trod_trace_meta(b);
    c->sum = sum;
    c->match.rules = &c->rules;
    c->match.pool = &c->pool;
    c->match.run = c;
    c->match.lanes = &c->lanes;
    c->match.sides = c->side;
    c->match.history = &c->history;
    c->match.tally = &c->tally;
    c->match.fn = fn;
    c->match.user = user;
    c->match.sum = sum;
    c->match.window = opt->window ? opt->window : 1;
    c->match.lookahead = opt->lookahead ? opt->lookahead : LOOKAHEAD;
    /* Blocks of more than one row begin where they begin, whatever the fast path finds equal. */
    c->always_slow = opt->choose || opt->skip_equal ||
                     (opt->align == TROD_ALIGN_NONE && (c->match.window > 1 || opt->window_unit));
    return c;
}

/* What is not known before the end. */
static void sum_up(struct trod_compare *c, bool unfinished)
{
    struct trod_compare_summary *s = c->sum;

    s->ended = c->match.stop;
    s->n_slides = c->rules.n_slides;
    memcpy(s->slides, c->rules.slides, sizeof s->slides);
    s->late = s->absent & c->side[0].seen & c->side[1].seen;
    cmp_tally_report(&c->tally, s);
    for (int side = 0; side < 2 && unfinished; side++)
        s->skipped[side] = s->rows[side] - s->equal[side] - s->differing[side];
}

/* A trace that ends before the options let the comparison begin: nothing of it was compared. */
static void report_unstarted(const struct trod_compare *c, struct trod_diag *diag)
{
    const struct trod_compare_options *opt = c->rules.opt;

    for (int side = 0; side < 2; side++) {
        const struct cmp_side *s = &c->side[side];
        const char *path = trod_trace_path(s->trace, 0);
        const struct trod_place at = trod_place_path(path);

        if (s->started || !s->ended)
            continue;
        if (s->boot_left || !opt->has_start)
            trod_error(diag, TROD_ERR_USAGE, "compare.never-started", &at,
                       "nothing is compared: %s has no instruction after the first %" PRIu64
                       " instructions, which are skipped",
                       path ? path : "a trace", opt->boot);
        else
            trod_error(diag, TROD_ERR_USAGE, "compare.never-started", &at,
                       "nothing is compared: %s has no instruction at the start address 0x%" PRIx64,
                       path ? path : "a trace", opt->start);
    }
}

int trod_compare_run(struct trod_trace *a, struct trod_trace *b,
                     const struct trod_compare_options *opt, trod_compare_fn fn, void *user,
                     struct trod_compare_summary *summary, struct trod_diag *diag)
{
    struct trod_compare_options own;
    struct trod_compare *c;
    int rc;

    memset(summary, 0, sizeof *summary);
    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return trod_error(diag, TROD_ERR_USAGE, "compare.options", NULL,
                          "options are of another version");
    opt = &own;
    if (opt->n_slides > TROD_COMPARE_SLIDES || opt->n_masks > TROD_COMPARE_MASKS ||
        opt->n_ignore_registers > TROD_COMPARE_MASKS || opt->n_pairs > TROD_COMPARE_PAIRS ||
        opt->n_aliases > TROD_COMPARE_PAIRS)
        return trod_error(diag, TROD_ERR_USAGE, "compare.options", NULL,
                          "too many slides, masks, pairs, aliases or ignored registers");
    begin_traces(a, b, opt->serial);
    c = prepare(a, b, opt, fn, user, summary);
    if (!c)
        return TROD_ERR_NOMEM;
    rc = cmp_plan(c, diag);
    if (rc == TROD_OK)
        rc = run(c);
    sum_up(c, rc < 0 || c->match.stop);
    cmp_pairs_doubt(&c->pairs, c->side, diag);
    if (rc == TROD_OK)
        report_unstarted(c, diag);
    for (int side = 0; side < 2 && rc == TROD_OK; side++)
        rc = c->side[side].failed;
    release(c);
    return rc;
}
