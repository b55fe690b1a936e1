/*
 * lane.c - matching the two queues of a lane.
 *
 * Implements lane.h. Equal heads cost one comparison. Where they differ, rows are looked at by
 * instruction: the same instruction on both sides is settled by itself (settle.c); otherwise the
 * search for the next place where both sides agree widens in stages, and an edit script says what
 * lies before it.
 */
#include "compare/lane.h"
#include "compare/align.h"

#include <stdlib.h>
#include <string.h>

enum { SCRIPT_LIMIT = 512 };

/* How many rows to look at, and runs of how many instructions to take for agreement. */
static const struct {
    uint32_t rows; /* 0: the lookahead */
    size_t runs[4];
} stages[] = {
    {256, {8, 0}},
    {4096, {8, 4, 0}},
    {0, {8, 4, 2, 1}},
};

enum { STAGES = sizeof stages / sizeof *stages };

static bool starts_group(const struct cmp_lane *l, const struct cmp_row *r)
{
    return !l->grouped || r->pub.kind == TROD_INSTR;
}

/* Rows from FROM to the beginning of the next group; 0 when that is not known yet. */
static size_t group_rows(const struct cmp_lane *l, const struct cmp_queue *q, size_t from,
                         bool ended)
{
    for (size_t i = from + 1; i < q->n; i++)
        if (starts_group(l, cmp_queue_at(q, i)))
            return i - from;
    return ended && q->n > from ? q->n - from : 0;
}

static void accept(struct cmp_lane *l, struct cmp_match *m)
{
    cmp_history_note_rows(m->history, cmp_queue_at(&l->queue[0], 0), cmp_queue_at(&l->queue[1], 0));
    for (int side = 0; side < 2; side++) {
        struct cmp_queue *q = &l->queue[side];

        l->times[side] = cmp_queue_at(q, 0)->pub.time;
        cmp_lane_remember(l, side, cmp_queue_at(q, 0));
        cmp_queue_drop(q, 1);
    }
    m->sum->compared++;
    if (l->pending[0].n || l->pending[1].n)
        cmp_expire(l, m, false);
}

/* The groups of a queue as keys, and where each begins. */
struct groups {
    uint64_t *key;
    size_t *row;
    size_t n;
};

static int list_groups(const struct cmp_lane *l, const struct cmp_queue *q, size_t rows,
                       bool with_code, struct groups *g)
{
    size_t n = rows < q->n ? rows : q->n;

    *g = (struct groups){.key = malloc((n + 1) * sizeof *g->key),
                         .row = malloc((n + 1) * sizeof *g->row)};
    if (!g->key || !g->row)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(q, i);

        if (!starts_group(l, r))
            continue;
        g->key[g->n] = cmp_row_key(r, with_code);
        g->row[g->n++] = i;
    }
    g->row[g->n] = n;
    return TROD_OK;
}

static void free_groups(struct groups *g)
{
    free(g->key);
    free(g->row);
}

static uint64_t hash_keys(const uint64_t *key, size_t n)
{
    uint64_t h = n;

    for (size_t i = 0; i < n; i++)
        h = (h ^ key[i]) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* One edit: its groups stand at the heads of the queues. */
static int apply(struct cmp_lane *l, struct cmp_match *m, const struct groups g[2],
                 const struct trod_edit *e)
{
    static const enum trod_difference_type types[] = {
        [TROD_EDIT_DELETE] = TROD_DIFF_MISSING,
        [TROD_EDIT_INSERT] = TROD_DIFF_INSERTED,
        [TROD_EDIT_CHANGE] = TROD_DIFF_CHANGED,
    };
    size_t rows_a = g[0].row[e->a + e->na] - g[0].row[e->a];
    size_t rows_b = g[1].row[e->b + e->nb] - g[1].row[e->b];
    int rc = TROD_OK;

    if (e->type != TROD_EDIT_EQUAL) {
        bool missing = e->type == TROD_EDIT_DELETE;
        uint64_t hash =
            missing ? hash_keys(g[0].key + e->a, e->na) : hash_keys(g[1].key + e->b, e->nb);

        cmp_report_block(l, m, types[e->type], rows_a, rows_b, missing ? e->na : e->nb, hash);
        return TROD_OK;
    }
    for (size_t i = 0; i < e->na && rc == TROD_OK && !m->stop; i++)
        rc = cmp_settle(l, m, g[0].row[e->a + i + 1] - g[0].row[e->a + i],
                        g[1].row[e->b + i + 1] - g[1].row[e->b + i]);
    return rc;
}

/* The groups before I and J differ; behind them both sides agree. */
static int apply_script(struct cmp_lane *l, struct cmp_match *m, const struct groups g[2], size_t i,
                        size_t j)
{
    struct trod_edits edits = {0};
    int rc = trod_align_script(g[0].key, i, g[1].key, j, SCRIPT_LIMIT, &edits);

    for (size_t k = 0; k < edits.n && rc == TROD_OK && !m->stop; k++)
        rc = apply(l, m, g, &edits.edit[k]);
    trod_edits_fini(&edits);
    return rc;
}

/*
 * Look for the next place where both sides agree. Returns 1 and the groups before it, 0 when it
 * is not in sight, or TROD_ERR_NOMEM.
 */
static int look(const struct cmp_lane *l, const struct groups g[2], const bool whole[2], size_t *i,
                size_t *j)
{
    struct trod_keys a = {g[0].key, g[0].n, whole[0]}, b = {g[1].key, g[1].n, whole[1]};
    int rc = 0;

    for (size_t k = 0; k < 4 && stages[l->stage].runs[k] && rc == 0; k++)
        rc = trod_align_find(a, b, stages[l->stage].runs[k], i, j);
    return rc;
}

static int align(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    uint32_t rows = stages[l->stage].rows;
    struct groups g[2] = {{0}};
    bool whole[2];
    size_t i = 0, j = 0;
    int rc = TROD_OK;

    if (rows == 0 || rows > m->lookahead)
        rows = m->lookahead;
    for (int side = 0; side < 2; side++) {
        if (l->queue[side].n < rows && !ended[side]) {
            *want = rows;
            return CMP_MORE;
        }
        whole[side] = ended[side] && l->queue[side].n <= rows;
    }
    for (int side = 0; side < 2 && rc == TROD_OK; side++)
        rc = list_groups(l, &l->queue[side], rows, m->with_code, &g[side]);
    if (rc == TROD_OK)
        rc = look(l, g, whole, &i, &j);
    if (rc == 0 && l->stage + 1 < STAGES) {
        l->stage++;
    } else if (rc >= 0) {
        /* Nowhere in sight: half of what is in sight is given up. */
        if (rc == 0) {
            i = g[0].n - g[0].n / 2;
            j = g[1].n - g[1].n / 2;
        }
        l->stage = 0;
        rc = apply_script(l, m, g, i, j);
    }
    free_groups(&g[0]);
    free_groups(&g[1]);
    return rc < 0 ? rc : CMP_EMPTY;
}

/* The heads differ. */
static int repair(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    bool inside[2];
    size_t n[2];

    for (int side = 0; side < 2; side++) {
        struct cmp_queue *q = &l->queue[side];

        inside[side] = !starts_group(l, cmp_queue_at(q, 0));
        n[side] = group_rows(l, q, 0, ended[side]);
        if (n[side] == 0 && q->n < m->lookahead) {
            *want = q->n + 64;
            return CMP_MORE;
        }
        if (n[side] == 0)
            n[side] = q->n;
    }
    if (inside[0] || inside[1])
        return cmp_settle(l, m, inside[0] ? n[0] : 0, inside[1] ? n[1] : 0);
    if (cmp_row_key(cmp_queue_at(&l->queue[0], 0), m->with_code) ==
        cmp_row_key(cmp_queue_at(&l->queue[1], 0), m->with_code))
        return cmp_settle(l, m, n[0], n[1]);
    return align(l, m, ended, want);
}

/* Rows of the block at the head of Q, or 0 when its end is not known. */
static size_t block_rows(const struct cmp_queue *q, const struct cmp_match *m, bool ended,
                         uint64_t end)
{
    size_t n = 0;

    if (m->rules->opt->window_unit == TROD_WINDOW_RECORDS)
        return q->n >= m->window ? (size_t)m->window : ended ? q->n : SIZE_MAX;
    while (n < q->n && cmp_queue_at(q, n)->pub.time < end)
        n++;
    return n < q->n || ended || n >= m->lookahead ? n : SIZE_MAX;
}

/* Trace Matcher's way: block against block, wherever that leads. */
static int match_blocks(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    while (l->queue[0].n && l->queue[1].n && !m->stop) {
        uint64_t a = cmp_queue_at(&l->queue[0], 0)->pub.time;
        uint64_t b = cmp_queue_at(&l->queue[1], 0)->pub.time, first = a < b ? a : b;
        size_t n[2];
        int rc;

        for (int side = 0; side < 2; side++) {
            n[side] =
                block_rows(&l->queue[side], m, ended[side], first - first % m->window + m->window);
            if (n[side] == SIZE_MAX) {
                *want = l->queue[side].n + (size_t)(m->window < 64 ? 64 : m->window);
                return CMP_MORE;
            }
        }
        if ((rc = cmp_settle_block(l, m, n[0], n[1])) < 0)
            return rc;
    }
    return CMP_EMPTY;
}

/* One side is over: what the other still brings is counted, the first rows are kept to be shown. */
static int take_rest(struct cmp_lane *l, const bool ended[2])
{
    for (int side = 0; side < 2; side++) {
        struct cmp_queue *q = &l->queue[side];

        if (q->n == 0 || !ended[!side] || l->queue[!side].n)
            continue;
        for (size_t i = 0; i < q->n; i++) {
            struct cmp_row *r = cmp_queue_at(q, i), *to;

            l->rest[side]++;
            l->rest_instructions[side] += r->pub.kind == TROD_INSTR;
            if (l->rest_rows[side].n == CMP_SHOWN) {
                cmp_row_fini(r);
                continue;
            }
            if (!(to = cmp_queue_push(&l->rest_rows[side])))
                return TROD_ERR_NOMEM;
            *to = *r;
        }
        cmp_queue_drop(q, q->n);
    }
    return TROD_OK;
}

int cmp_lane_match(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    int rc = CMP_EMPTY;

    if (m->rules->opt->align == TROD_ALIGN_NONE && (m->window > 1 || m->rules->opt->window_unit))
        rc = match_blocks(l, m, ended, want);
    while (rc == CMP_EMPTY && l->queue[0].n && l->queue[1].n && !m->stop) {
        if (cmp_row_differs(cmp_queue_at(&l->queue[0], 0), cmp_queue_at(&l->queue[1], 0),
                            m->rules) == 0)
            accept(l, m);
        else if (m->rules->opt->align == TROD_ALIGN_NONE)
            rc = cmp_settle_block(l, m, 1, 1);
        else
            rc = repair(l, m, ended, want);
    }
    if (rc == CMP_EMPTY)
        rc = take_rest(l, ended);
    return rc;
}

static void report_rest(struct cmp_lane *l, struct cmp_match *m)
{
    struct trod_difference d = {.type = TROD_DIFF_REST, .of = TROD_NOWHERE};

    if (m->rules->opt->skip_rest || m->stop || l->rest[0] + l->rest[1] == 0)
        return;
    for (int side = 0; side < 2; side++) {
        struct cmp_queue *q = &l->rest_rows[side];

        d.count[side] = l->rest[side];
        d.instructions[side] = l->rest_instructions[side];
        d.n_rows[side] = q->n;
        d.first[side] = q->n ? cmp_queue_at(q, 0)->pub.ordinal : 0;
        for (size_t i = 0; i < q->n; i++) {
            cmp_row_public(cmp_queue_at(q, i));
            m->shown[side][i] = cmp_queue_at(q, i)->pub;
        }
    }
    cmp_report(l, m, &d);
}

int cmp_lane_finish(struct cmp_lane *l, struct cmp_match *m)
{
    cmp_expire(l, m, true);
    report_rest(l, m);
    return TROD_OK;
}
