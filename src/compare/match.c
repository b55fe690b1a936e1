/*
 * match.c - matching the two queues of a lane.
 *
 * Implements cmp_lane_match and cmp_lane_finish of match.h. Equal heads cost one comparison. Where
 * they differ, rows are looked at by instruction: the same instruction on both sides is settled by
 * itself (settle.c); otherwise the search for the next place where both sides agree widens in
 * stages, and an edit script says what lies before it.
 */
#include "compare/match.h"
#include "compare/align.h"

#include <stdlib.h>

enum { SCRIPT_LIMIT = 512, MANY = 1 << 16, NOT_LONE = 2 };

/*
 * A search looks at up to FREE_SEARCHES times the lookahead at once; beyond that at no more than
 * CMP_PAID rows for each row that goes. So the work is in proportion to the rows, whatever they
 * are.
 */
enum { FREE_SEARCHES = 8, NARROW = 256 };

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

/* Rows from the head of Q to the beginning of the next group; 0 when that is not known yet. */
static size_t group_rows(const struct cmp_lane *l, const struct cmp_queue *q, bool ended)
{
    for (size_t i = 1; i < q->n; i++)
        if (cmp_starts_group(l, cmp_queue_at(q, i)))
            return i;
    return ended ? q->n : 0;
}

/* The first N rows of the sides say the same. */
static void take_equal(struct cmp_lane *l, struct cmp_match *m, const size_t n[2])
{
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < n[side]; i++)
            cmp_row_drop(m->pool, cmp_lane_shift(l, m->pool, side));
        m->sum->equal[side] += n[side];
    }
    if (l->waiting[0].n || l->waiting[1].n)
        cmp_expire(l, m, false);
}

/* The heads agree. */
static void accept(struct cmp_lane *l, struct cmp_match *m)
{
    const size_t one[2] = {1, 1};

    cmp_history_note_rows(m->history, l->pair, cmp_queue_at(&l->queue[0], 0),
                          cmp_queue_at(&l->queue[1], 0));
    take_equal(l, m, one);
}

/* The groups of a queue as keys, and where each begins. */
struct groups {
    uint64_t *key, *place; /* with opcodes, if they count, and without */
    size_t *row;
    size_t n;
};

static int list_groups(const struct cmp_lane *l, const struct cmp_queue *q, size_t rows,
                       bool with_code, struct groups *g)
{
    size_t n = rows < q->n ? rows : q->n;

    *g = (struct groups){.key = malloc((n + 1) * sizeof *g->key),
                         .place = malloc((n + 1) * sizeof *g->place),
                         .row = malloc((n + 1) * sizeof *g->row)};
    if (!g->key || !g->place || !g->row)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(q, i);

        if (!cmp_starts_group(l, r))
            continue;
        g->key[g->n] = cmp_row_key(r, with_code);
        g->place[g->n] = cmp_row_key(r, false);
        g->row[g->n++] = i;
    }
    g->row[g->n] = n;
    return TROD_OK;
}

static void free_groups(struct groups *g)
{
    free(g->key);
    free(g->place);
    free(g->row);
}

/*
 * N groups of both sides, one by one. Returns 0, 1 where an access is cut into pieces, which ends
 * what is known of the rows that follow, or an error.
 */
static int settle_each(struct cmp_lane *l, struct cmp_match *m, const struct groups g[2], size_t i,
                       size_t j, size_t n)
{
    int rc = TROD_OK;

    for (size_t k = 0; k < n && rc == TROD_OK && !m->stop; k++)
        rc = cmp_cut_otherwise(l, m) ? 1
                                     : cmp_settle(l, m, g[0].row[i + k + 1] - g[0].row[i + k],
                                                  g[1].row[j + k + 1] - g[1].row[j + k]);
    return rc;
}

/* The first NA and NB rows say something else, and nothing tells what belongs to what. */
static void report_change(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    struct cmp_diff *d = cmp_diff_begin(m, TROD_DIFF_CHANGED);
    const size_t n[2] = {na, nb};

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < n[side]; i++)
            cmp_diff_add(m, d, side, cmp_queue_at(&l->queue[side], i));
    if (na == 1 && nb == 1)
        d->fields = cmp_row_differs(d->row[0][0], d->row[1][0], m->rules);
    cmp_diff_context(l, d, NULL);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < n[side]; i++)
            cmp_row_drop(m->pool, cmp_lane_shift(l, m->pool, side));
    cmp_diff_end(l, m, d);
}

/* One edit: its groups stand at the heads of the queues. Returns as settle_each. */
static int apply(struct cmp_lane *l, struct cmp_match *m, const struct groups g[2],
                 const struct trod_edit *e)
{
    size_t na = g[0].row[e->a + e->na] - g[0].row[e->a];
    size_t nb = g[1].row[e->b + e->nb] - g[1].row[e->b];

    switch (e->type) {
    case TROD_EDIT_EQUAL:
        return settle_each(l, m, g, e->a, e->b, e->na);
    case TROD_EDIT_DELETE:
        return cmp_one_sided(l, m, 0, na);
    case TROD_EDIT_INSERT:
        return cmp_one_sided(l, m, 1, nb);
    default:
        /* each row may have its counterpart a little later */
        if (m->window > 1 && na <= m->window && nb <= m->window)
            return cmp_settle(l, m, na, nb);
        report_change(l, m, na, nb);
        return TROD_OK;
    }
}

/*
 * What is changed if opcodes count is looked at again by address: the opcode may be all. Returns as
 * settle_each.
 */
static int apply_change(struct cmp_lane *l, struct cmp_match *m, const struct groups g[2],
                        const struct trod_edit *e)
{
    struct trod_edits edits = {0};
    int rc =
        trod_align_script(g[0].place + e->a, e->na, g[1].place + e->b, e->nb, SCRIPT_LIMIT, &edits);

    for (size_t k = 0; k < edits.n && rc == TROD_OK && !m->stop; k++) {
        struct trod_edit part = edits.edit[k];

        part.a += e->a;
        part.b += e->b;
        rc = apply(l, m, g, &part);
    }
    trod_edits_fini(&edits);
    return rc;
}

/* The groups before I and J differ; behind them both sides agree. Returns 0 or an error. */
static int apply_script(struct cmp_lane *l, struct cmp_match *m, const struct groups g[2], size_t i,
                        size_t j)
{
    struct trod_edits edits = {0};
    int rc = trod_align_script(g[0].key, i, g[1].key, j, SCRIPT_LIMIT, &edits);

    for (size_t k = 0; k < edits.n && rc == TROD_OK && !m->stop; k++)
        rc = edits.edit[k].type == TROD_EDIT_CHANGE ? apply_change(l, m, g, &edits.edit[k])
                                                    : apply(l, m, g, &edits.edit[k]);
    trod_edits_fini(&edits);
    return rc < 0 ? rc : TROD_OK;
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

/*
 * Rows to look through at the most. Where very many wait already it is less: memory is bounded for
 * both together.
 */
static uint32_t reach_of(const struct cmp_lane *l, const struct cmp_match *m)
{
    return l->waiting[0].n + l->waiting[1].n > MANY && m->lookahead > MANY / 4 ? MANY / 4
                                                                               : m->lookahead;
}

/*
 * How many rows of each side to look at now. Returns CMP_EMPTY, or CMP_MORE and WANT where they are
 * not there yet.
 */
static int in_view(const struct cmp_lane *l, const struct cmp_match *m, const bool ended[2],
                   uint32_t *rows, size_t *want)
{
    const uint32_t reach = reach_of(l, m);
    const uint64_t most = FREE_SEARCHES * (uint64_t)m->lookahead;
    const uint64_t left = most > l->spent ? most - l->spent : 0;

    *rows = stages[l->stage].rows;
    if (*rows == 0 || *rows > reach)
        *rows = reach;
    if (*rows > NARROW && *rows > left)
        *rows = left > NARROW ? (uint32_t)left : NARROW;
    for (int side = 0; side < 2; side++)
        if (l->queue[side].n < *rows && !ended[side]) {
            *want = *rows;
            return CMP_MORE;
        }
    return CMP_EMPTY;
}

static int align(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    struct groups g[2] = {{0}};
    bool whole[2];
    size_t i = 0, j = 0;
    uint32_t rows;
    int rc = in_view(l, m, ended, &rows, want);

    if (rc == CMP_MORE)
        return rc;
    for (int side = 0; side < 2 && rc == TROD_OK; side++) {
        whole[side] = ended[side] && l->queue[side].n <= rows;
        rc = list_groups(l, &l->queue[side], rows, m->with_code, &g[side]);
        l->spent += rows < l->queue[side].n ? rows : l->queue[side].n;
        /* The last group may go on behind what is in view. */
        if (!whole[side] && g[side].n > 1)
            g[side].n--;
    }
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

static bool same_key(const struct cmp_match *m, const struct cmp_row *a, const struct cmp_row *b)
{
    return cmp_row_key(a, m->with_code) == cmp_row_key(b, m->with_code);
}

/*
 * An instruction alone was put in (or taken out), and the rows of the one before it now stand
 * behind it: SIDE is inside an instruction with N rows, the other begins one. Returns 1 when the
 * instruction alone was dealt with, 0, or an error.
 */
static int lone_instruction(struct cmp_lane *l, struct cmp_match *m, int side, size_t n)
{
    struct cmp_queue *in = &l->queue[side], *at = &l->queue[!side];

    if (at->n < n + 2 || in->n < n + 1 || !cmp_starts_group(l, cmp_queue_at(at, n + 1)) ||
        !same_key(m, cmp_queue_at(in, n), cmp_queue_at(at, n + 1)))
        return 0;
    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(in, i), *s = cmp_queue_at(at, i + 1);

        if (cmp_starts_group(l, s) || cmp_row_differs(side ? s : r, side ? r : s, m->rules) != 0)
            return 0;
    }
    return cmp_one_sided(l, m, !side, 1) < 0 ? TROD_ERR_NOMEM : 1;
}

/* The same address with another opcode, and then both sides go on alike. */
static bool only_code(const struct cmp_lane *l, const struct cmp_match *m, const size_t n[2])
{
    const struct cmp_queue *a = &l->queue[0], *b = &l->queue[1];

    return cmp_row_same_subject(cmp_queue_at(a, 0), cmp_queue_at(b, 0)) && a->n > n[0] &&
           b->n > n[1] && same_key(m, cmp_queue_at(a, n[0]), cmp_queue_at(b, n[1]));
}

/*
 * The rows at the heads up to the next group, and whether they go on with one. Returns CMP_EMPTY,
 * or CMP_MORE and WANT.
 */
static int heads(const struct cmp_lane *l, const struct cmp_match *m, const bool ended[2],
                 size_t n[2], bool inside[2], size_t *want)
{
    for (int side = 0; side < 2; side++) {
        const struct cmp_queue *q = &l->queue[side];

        inside[side] = !cmp_starts_group(l, cmp_queue_at(q, 0));
        n[side] = group_rows(l, q, ended[side]);
        if (n[side] == 0 && q->n < reach_of(l, m)) {
            *want = q->n + 64;
            return CMP_MORE;
        }
        if (n[side] == 0)
            n[side] = q->n;
    }
    return CMP_EMPTY;
}

static bool is_instr(const struct cmp_queue *q, size_t i)
{
    return cmp_queue_at(q, i)->pub.kind == TROD_INSTR;
}

/*
 * Rows of SIDE before its next instruction, where only the other side stands at one: 0, this is not
 * so, or there are too many. SIZE_MAX: not known yet.
 */
static size_t rows_before(const struct cmp_lane *l, int side, const bool ended[2],
                          const bool inside[2], size_t n)
{
    const struct cmp_queue *q = &l->queue[side];

    if (inside[side])
        return inside[!side] ? 0 : n;
    if (!l->grouped || is_instr(q, 0) || !is_instr(&l->queue[!side], 0))
        return 0;
    for (size_t i = 1; i < q->n && i < NARROW; i++)
        if (is_instr(q, i))
            return i;
    return q->n < NARROW && !ended[side] ? SIZE_MAX : 0;
}

/*
 * One side begins an instruction, the other is between two: see lone_instruction. Returns CMP_EMPTY
 * when one was dealt with, CMP_MORE and WANT, an error, or NOT_LONE.
 */
static int find_lone(struct cmp_lane *l, struct cmp_match *m, const bool ended[2],
                     const bool inside[2], const size_t n[2], size_t *want)
{
    const uint32_t reach = reach_of(l, m);

    for (int side = 0; side < 2; side++) {
        const size_t before = rows_before(l, side, ended, inside, n[side]);
        int rc;

        if (before == SIZE_MAX ||
            (before && l->queue[!side].n < before + 2 && !ended[!side] && before < reach)) {
            *want = before == SIZE_MAX ? l->queue[side].n + 64 : before + 2;
            return CMP_MORE;
        }
        if (before && (rc = lone_instruction(l, m, side, before)) != 0)
            return rc < 0 ? rc : CMP_EMPTY;
    }
    return NOT_LONE;
}

/* The heads differ. */
static int repair(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    bool inside[2];
    size_t n[2], cut[2];
    enum cmp_pieces pieces;
    int rc = heads(l, m, ended, n, inside, want);

    if (rc == CMP_MORE)
        return rc;
    if ((rc = find_lone(l, m, ended, inside, n, want)) != NOT_LONE)
        return rc;
    if (inside[0] || inside[1])
        return cmp_settle(l, m, inside[0] ? n[0] : 0, inside[1] ? n[1] : 0);
    if ((pieces = cmp_find_pieces(l, m, ended, cut)) != CMP_NO_PIECES) {
        if (pieces == CMP_PIECES)
            take_equal(l, m, cut);
        *want = (cut[0] > cut[1] ? cut[0] : cut[1]) + 64;
        return pieces == CMP_PIECES ? CMP_EMPTY : CMP_MORE;
    }
    if (same_key(m, cmp_queue_at(&l->queue[0], 0), cmp_queue_at(&l->queue[1], 0)) ||
        only_code(l, m, n))
        return cmp_settle(l, m, n[0], n[1]);
    if (cmp_learn_code(l, m))
        return CMP_EMPTY;
    return align(l, m, ended, want);
}

/* Row R of SIDE, which goes on alone. */
static int take_rest_row(struct cmp_lane *l, struct cmp_match *m, int side, struct cmp_row *r)
{
    struct cmp_wait *w =
        m->window > 1 ? cmp_bag_agreeing(&l->waiting[!side], r, side, m->rules) : NULL;

    if (w) {
        cmp_row_drop(m->pool, cmp_bag_take(m->pool, &l->waiting[!side], w));
        cmp_found(m, side, r);
        return TROD_OK;
    }
    if (m->rules->opt->skip_rest)
        m->sum->skipped[side]++;
    else
        m->sum->differing[side]++;
    l->rest[side]++;
    l->rest_instructions[side] += r->pub.kind == TROD_INSTR;
    if (l->rest_rows[side].n < CMP_SHOWN && cmp_queue_push(&l->rest_rows[side], r))
        return TROD_OK;
    cmp_row_drop(m->pool, r);
    return TROD_OK;
}

/* One side is over: what the other still brings is counted, the first rows are kept to be shown. */
static int take_rest(struct cmp_lane *l, struct cmp_match *m, const bool ended[2])
{
    int rc = TROD_OK;

    for (int side = 0; side < 2 && rc == TROD_OK && !m->stop; side++) {
        struct cmp_queue *q = &l->queue[side];

        if (!ended[!side] || l->queue[!side].n)
            continue;
        /* The context of a rest is what both sides had in common. */
        while (q->n && rc == TROD_OK)
            rc = take_rest_row(l, m, side, cmp_queue_pop(q));
    }
    return rc;
}

int cmp_lane_match(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want)
{
    const struct trod_compare_options *opt = m->rules->opt;
    int rc = CMP_EMPTY;

    if (opt->align == TROD_ALIGN_NONE)
        rc = cmp_match_blocks(l, m, ended, want);
    while (rc == CMP_EMPTY && l->queue[0].n && l->queue[1].n && !m->stop) {
        if (cmp_row_differs(cmp_queue_at(&l->queue[0], 0), cmp_queue_at(&l->queue[1], 0),
                            m->rules) == 0)
            accept(l, m);
        else
            rc = repair(l, m, ended, want);
    }
    if (rc == CMP_EMPTY)
        rc = take_rest(l, m, ended);
    return rc;
}

int cmp_lane_finish(struct cmp_lane *l, struct cmp_match *m)
{
    struct cmp_diff *d;

    cmp_expire(l, m, true);
    if (m->rules->opt->skip_rest || m->stop || l->rest[0] + l->rest[1] == 0)
        return TROD_OK;
    d = cmp_diff_begin(m, TROD_DIFF_REST);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < l->rest_rows[side].n; i++)
            cmp_diff_add(m, d, side, cmp_queue_at(&l->rest_rows[side], i));
        d->count[side] = l->rest[side];
        d->instructions[side] = l->rest_instructions[side];
    }
    cmp_diff_context(l, d, NULL);
    cmp_diff_end(l, m, d);
    return TROD_OK;
}
