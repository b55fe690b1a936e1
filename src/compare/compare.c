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

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64, LOOKAHEAD = 1 << 16 };

struct cmp_lane *cmp_lane_of(struct trod_compare *c, int pair, unsigned cls)
{
    size_t per = c->rules.opt->independent ? TROD_TRACK_CLASSES : 1;
    size_t i = (size_t)pair * per + (per > 1 ? cls : 0);

    if (i >= c->n_lanes) {
        size_t n = i + per;
        struct cmp_lane *l = realloc(c->lanes, n * sizeof *l);

        if (!l)
            return NULL;
        memset(l + c->n_lanes, 0, (n - c->n_lanes) * sizeof *l);
        for (size_t k = c->n_lanes; k < n; k++)
            l[k].grouped = (per == 1 || k % per == 0) && (c->rules.track & TROD_TRACK_INSTR);
        c->lanes = l;
        c->n_lanes = n;
    }
    return &c->lanes[i];
}

/* Rows with the same facts, whatever their time. */
static bool repeats(const struct cmp_row *a, const struct cmp_row *b, const struct cmp_rules *rules)
{
    struct cmp_rules timeless = *rules;

    timeless.compare &= ~(uint32_t)(TROD_COL_TIME | TROD_COL_INDEX);
    timeless.n_slides = 0;
    return a->pub.has == b->pub.has && a->pub.stream == b->pub.stream && a->name_id == b->name_id &&
           cmp_row_differs(a, b, &timeless) == 0;
}

static bool ignored(const struct trod_compare *c, const struct cmp_row *r)
{
    for (size_t i = 0; r->pub.kind == TROD_REG && i < c->rules.n_ignored; i++)
        if (c->rules.ignored[i] == r->name_id)
            return true;
    return false;
}

/* Take the row at hand of side SIDE into its lane, if it counts. */
static int take(struct trod_compare *c, int side)
{
    struct cmp_side *s = &c->side[side];
    uint32_t i = s->at++;
    unsigned cls = cmp_class_of[s->b->kind[i]];
    struct cmp_lane *l;
    struct cmp_row row, *to;
    int pair, rc;

    c->sum->rows[side]++;
    if (!cmp_side_started(s, i) || cls == TROD_TRACK_CLASSES || !(c->rules.track >> cls & 1)) {
        c->sum->skipped[side]++;
        return TROD_OK;
    }
    if ((pair = cmp_side_pair(s, &c->pairs, i)) < 0 || !(l = cmp_lane_of(c, pair, cls)))
        return TROD_ERR_NOMEM;
    if ((rc = cmp_row_take(&row, s->b, i, side, &c->rules)) < 0)
        return rc;
    if (ignored(c, &row) ||
        (c->rules.opt->skip_equal && s->has_before && repeats(&s->before, &row, &c->rules))) {
        c->sum->skipped[side]++;
        cmp_row_fini(&row);
        return TROD_OK;
    }
    s->before = row;
    s->before.wide = NULL;
    s->has_before = !row.wide;
    row.place = l->places[side]++;
    if (!(to = cmp_queue_push(&l->queue[side]))) {
        cmp_row_fini(&row);
        return TROD_ERR_NOMEM;
    }
    *to = row;
    return TROD_OK;
}

int cmp_pull(struct trod_compare *c, int side, size_t n)
{
    int rc = TROD_OK;

    while (n-- > 0 && rc == TROD_OK && cmp_side_fill(&c->side[side]) == 1)
        rc = take(c, side);
    return rc;
}

static bool over(const struct trod_compare *c, int side)
{
    const struct cmp_side *s = &c->side[side];

    return s->ended && (!s->b || s->at >= s->b->n);
}

/* Rows queued by side; WANT: the most a lane asks for on a side where it has fewer. */
struct need {
    size_t queued[2], want[2];
};

/* Match every lane as far as its rows go. */
static int match_lanes(struct trod_compare *c, struct need *need)
{
    const bool ended[2] = {over(c, 0), over(c, 1)};

    *need = (struct need){{0, 0}, {0, 0}};
    for (size_t i = 0; i < c->n_lanes && !c->match.stop; i++) {
        struct cmp_lane *l = &c->lanes[i];
        size_t want = 0;
        int rc = cmp_lane_match(l, &c->match, ended, &want);

        if (rc < 0)
            return rc;
        for (int side = 0; side < 2; side++) {
            size_t n = l->queue[side].n;

            need->queued[side] += n;
            if (rc == CMP_MORE && n < want && want - n > need->want[side])
                need->want[side] = want - n;
            /* A lane that one side has run out of: as many rows again from that side. */
            if (rc == CMP_EMPTY && n == 0 && l->queue[!side].n > need->want[side])
                need->want[side] = l->queue[!side].n;
        }
    }
    return TROD_OK;
}

/*
 * A side brings nothing for a lane while the other's rows pile up: past the lookahead they are
 * given up as missing or inserted.
 */
static void relieve(struct trod_compare *c)
{
    for (size_t i = 0; i < c->n_lanes; i++)
        for (int side = 0; side < 2; side++) {
            struct cmp_lane *l = &c->lanes[i];
            size_t n = l->queue[side].n;

            if (l->queue[!side].n == 0 && n > 2 * (size_t)c->match.lookahead)
                cmp_report_block(l, &c->match, side ? TROD_DIFF_INSERTED : TROD_DIFF_MISSING,
                                 side ? 0 : n / 2, side ? n / 2 : 0, 0, 0);
        }
}

/* Match through the queues until they are empty on both sides. Returns 1, 0 at the end, or < 0. */
static int slow(struct trod_compare *c)
{
    struct need need;
    int rc;

    for (;;) {
        if ((rc = match_lanes(c, &need)) < 0)
            return rc;
        if (c->match.stop || (over(c, 0) && over(c, 1) && !need.want[0] && !need.want[1]))
            return 0;
        if (need.queued[0] == 0 && need.queued[1] == 0 && !cmp_waiting(c) && !c->always_slow)
            return 1;
        relieve(c);
        for (int side = 0; side < 2; side++) {
            size_t n = need.want[side];

            if (need.queued[0] == 0 && need.queued[1] == 0)
                n = CHUNK;
            if (n && (rc = cmp_pull(c, side, n)) < 0)
                return rc;
        }
        if (over(c, 0) && over(c, 1) && (rc = match_lanes(c, &need)) <= 0)
            return rc;
    }
}

bool cmp_waiting(const struct trod_compare *c)
{
    for (size_t i = 0; i < c->n_lanes; i++)
        if (c->lanes[i].pending[0].n || c->lanes[i].pending[1].n)
            return true;
    return false;
}

bool trod_compare_last_register(const struct trod_compare *c, const char *name, size_t len,
                                struct trod_last_write *out)
{
    return cmp_history_register(&c->history, name, len, out);
}

bool trod_compare_last_memory(const struct trod_compare *c, uint64_t addr, uint32_t size,
                              struct trod_last_write *out)
{
    return cmp_history_memory(&c->history, addr, size, out);
}

uint32_t trod_compare_want(const struct trod_compare_options *opt)
{
    uint32_t want = TROD_COL_ALL & ~(uint32_t)TROD_COL_SITE;

    if (opt->compare && !(opt->compare & TROD_COL_INDEX))
        want &= ~(uint32_t)TROD_COL_INDEX;
    return want;
}

static int run(struct trod_compare *c)
{
    int rc = 1;

    while (rc == 1 && !c->match.stop) {
        if (!c->always_slow && !cmp_waiting(c))
            cmp_fast(c);
        for (int side = 0; side < 2 && rc == 1; side++) {
            int r = cmp_pull(c, side, CHUNK);

            rc = r < 0 ? r : rc;
        }
        if (rc == 1)
            rc = slow(c);
    }
    for (size_t i = 0; rc == 0 && i < c->n_lanes && !c->match.stop; i++)
        rc = cmp_lane_finish(&c->lanes[i], &c->match);
    return rc;
}

static void release(struct trod_compare *c)
{
    for (size_t i = 0; i < c->n_lanes; i++)
        cmp_lane_fini(&c->lanes[i]);
    for (int side = 0; side < 2; side++)
        free(c->side[side].pair);
    free(c->lanes);
    free(c->pairs.key);
    cmp_history_fini(&c->history);
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
    c->sum = sum;
    c->match = (struct cmp_match){.rules = &c->rules,
                                  .owner = c,
                                  .history = &c->history,
                                  .fn = fn,
                                  .user = user,
                                  .sum = sum,
                                  .window = opt->window ? opt->window : 1,
                                  .lookahead = opt->lookahead ? opt->lookahead : LOOKAHEAD};
    c->always_slow =
        opt->skip_equal || opt->n_ignore_registers || opt->n_masks || opt->align == TROD_ALIGN_NONE;
    return c;
}

int trod_compare_run(struct trod_trace *a, struct trod_trace *b,
                     const struct trod_compare_options *opt, trod_compare_fn fn, void *user,
                     struct trod_compare_summary *summary, struct trod_diag *diag)
{
    struct trod_compare *c;
    int rc;

    memset(summary, 0, sizeof *summary);
    if (opt->n_slides > TROD_COMPARE_SLIDES || opt->n_masks > TROD_COMPARE_MASKS ||
        opt->n_ignore_registers > TROD_COMPARE_MASKS)
        return trod_error(diag, TROD_ERR_USAGE, "compare.options", NULL,
                          "too many slides, masks or ignored registers");
    c = prepare(a, b, opt, fn, user, summary);
    if (!c)
        return TROD_ERR_NOMEM;
    rc = cmp_plan(c, diag);
    if (rc == TROD_OK)
        rc = run(c);
    summary->ended = c->match.stop;
    summary->n_slides = c->rules.n_slides;
    memcpy(summary->slides, c->rules.slides, sizeof summary->slides);
    for (int side = 0; side < 2 && rc == TROD_OK; side++)
        rc = c->side[side].failed;
    release(c);
    return rc;
}
