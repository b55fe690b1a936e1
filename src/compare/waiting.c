/*
 * waiting.c - what the rows of an instruction leave over.
 *
 * Implements the functions of match.h that say so. A row that is left over waits for the window: a
 * row of the other side that agrees takes it away; else it is a difference.
 */
#include "compare/match.h"

#include <stdlib.h>

enum { LOOK = 64, MANY = 1 << 14 };

void cmp_found(struct cmp_match *m, int side, struct cmp_row *row)
{
    m->sum->equal[side]++;
    m->sum->equal[!side]++; /* the one that waited */
    cmp_row_drop(m->pool, row);
}

/*
 * ROW of SIDE (reference taken over) is left over: it takes away its like, or waits. OTHERS_N of
 * the other side's queue belong to the same instruction.
 */
static int leave_over(struct cmp_lane *l, struct cmp_match *m, int side, struct cmp_row *row,
                      struct cmp_scene *scene, size_t others_n)
{
    struct cmp_bag *others = &l->waiting[!side];
    struct cmp_wait *w = m->window > 1 ? cmp_bag_agreeing(others, row, side, m->rules) : NULL;

    if (w) {
        struct cmp_row *other = cmp_bag_take(m->pool, others, w);

        cmp_history_note_rows(m->history, l->pair, side ? other : row, side ? row : other);
        cmp_row_drop(m->pool, other);
        cmp_found(m, side, row);
        return TROD_OK;
    }
    if (cmp_bag_push(&l->waiting[side], row, scene, l->group, cmp_lane_gone(l, !side) + others_n))
        return TROD_OK;
    cmp_row_drop(m->pool, row);
    return TROD_ERR_NOMEM;
}

struct cmp_scene *cmp_take_scene(const struct cmp_lane *l, size_t na, size_t nb)
{
    /* Where very many rows wait, memory is dearer than context. */
    const uint64_t most = l->waiting[0].n + l->waiting[1].n > MANY ? 1 : CMP_CONTEXT;
    const size_t n[2] = {na, nb};
    size_t context[2], group[2], k = 0;
    struct cmp_scene *s;

    for (int side = 0; side < 2; side++) {
        context[side] = (size_t)(l->n_past[side] < most ? l->n_past[side] : most);
        group[side] = n[side] < CMP_GROUP ? n[side] : CMP_GROUP;
        k += context[side] + group[side];
    }
    s = calloc(1, sizeof *s + k * sizeof(struct cmp_row *));
    if (!s)
        return NULL;
    s->refs = 1;
    k = 0;
    for (int side = 0; side < 2; side++) {
        uint64_t past = l->n_past[side];
        struct cmp_row *r = NULL;

        for (uint64_t i = past - context[side]; i < past; i++)
            s->row[k++] = cmp_row_keep(r = l->past[side][i % CMP_PAST]);
        for (size_t i = 0; i < group[side]; i++)
            s->row[k++] = cmp_row_keep(r = cmp_queue_at(&l->queue[side], i));
        s->n[side] = (uint16_t)(context[side] + group[side]);
        if (n[side])
            r = cmp_queue_at(&l->queue[side], 0);
        if (r && (r->pub.kind == TROD_INSTR || r->owner))
            s->instr[side] = cmp_row_keep(r->pub.kind == TROD_INSTR ? r : r->owner);
    }
    return s;
}

int cmp_take_off(struct cmp_lane *l, struct cmp_match *m, int side, size_t n, const bool *done,
                 struct cmp_scene *scene, size_t others_n)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < n && rc == TROD_OK; i++) {
        struct cmp_row *row = cmp_lane_shift(l, m->pool, side);

        if (done && done[i]) {
            m->sum->equal[side]++;
            cmp_row_drop(m->pool, row);
        } else {
            rc = leave_over(l, m, side, row, scene, others_n);
        }
    }
    return rc;
}

/*
 * Where times tell how long W, of SIDE, has waited: 1, long enough, or 0. -1: they do not tell.
 */
static int waited_ticks(const struct cmp_lane *l, const struct cmp_match *m, int side,
                        const struct cmp_wait *w)
{
    const struct cmp_row *from = w->row, *to = l->timed[side];
    const struct cmp_rules *rules = m->rules;
    struct trod_gap gap;
    uint8_t since, unit;

    if (rules->opt->window_unit != TROD_WINDOW_TICKS || !to || !(from->pub.has & TROD_COL_TIME))
        return -1;
    since = cmp_unit(rules, side, from);
    unit = cmp_unit(rules, side, to);
    if (!cmp_ticks(rules, side, since) || !cmp_ticks(rules, side, unit))
        return -1;
    gap = trod_time_gap(from->pub.time, since, to->pub.time, unit);
    unit = (uint8_t)(gap.decimals << 4 | (unit & 15));
    return !gap.back && trod_time_compare(gap.number, unit, m->window, rules->tick) >= 0;
}

/* Whether W, of SIDE, has waited long enough. */
static bool expired(const struct cmp_lane *l, const struct cmp_match *m, int side,
                    const struct cmp_wait *w)
{
    int waited;

    /* where only one side goes on, no more wait than there is room for in the window */
    if (m->window <= 1 || l->waiting[side].n > m->window)
        return true;
    waited = waited_ticks(l, m, side, w);
    return waited < 0 ? cmp_lane_gone(l, !side) >= w->since + m->window : waited;
}

/* The access or event that W was expected to be, at another address: of the same instruction. */
static struct cmp_wait *other_place(const struct cmp_bag *others, const struct cmp_wait *w)
{
    struct cmp_wait *o = others->first;

    if (w->row->pub.kind == TROD_REG || w->row->pub.kind == TROD_INSTR)
        return NULL;
    for (unsigned i = 0; o && o->group <= w->group && i < LOOK; o = o->newer, i++)
        if (o->group == w->group && o->row->pub.kind == w->row->pub.kind)
            return o;
    return NULL;
}

static struct cmp_wait *fellow_of(const struct cmp_bag *others, const struct cmp_wait *w)
{
    struct cmp_wait *o = cmp_bag_fellow(others, w->row, w->group);

    return o ? o : other_place(others, w);
}

/* The oldest row of SIDE that waits, or the run of rows that it begins, is a difference. */
static void give_up(struct cmp_lane *l, struct cmp_match *m, int side)
{
    struct cmp_bag *mine = &l->waiting[side], *others = &l->waiting[!side];
    struct cmp_wait *w = mine->first, *o = fellow_of(others, w);
    uint64_t group = w->group, next = w->row->place;
    struct cmp_diff *d = cmp_diff_begin(m, o      ? TROD_DIFF_CHANGED
                                           : side ? TROD_DIFF_INSERTED
                                                  : TROD_DIFF_MISSING);

    if (o) {
        d->fields = cmp_row_differs(side ? o->row : w->row, side ? w->row : o->row, m->rules);
        cmp_diff_add(m, d, !side, o->row);
        cmp_diff_add(m, d, side, w->row);
        cmp_diff_context(l, d, w->scene);
        cmp_row_drop(m->pool, cmp_bag_take(m->pool, others, o));
        cmp_row_drop(m->pool, cmp_bag_take(m->pool, mine, w));
    } else {
        cmp_diff_add(m, d, side, w->row);
        cmp_diff_context(l, d, w->scene);
        cmp_row_drop(m->pool, cmp_bag_take(m->pool, mine, w));
        /* With it goes what follows it, belongs to the same instructions, and has no fellow. */
        while ((w = mine->first) && w->group == group && w->row->place == ++next &&
               !fellow_of(others, w)) {
            cmp_diff_add(m, d, side, w->row);
            cmp_row_drop(m->pool, cmp_bag_take(m->pool, mine, w));
        }
    }
    cmp_diff_end(l, m, d);
}

/* Which side has waited longer, of those that have waited long enough; -1: none. */
static int first_expired(const struct cmp_lane *l, const struct cmp_match *m, bool whatever)
{
    const struct cmp_wait *w[2] = {l->waiting[0].first, l->waiting[1].first};

    for (int side = 0; side < 2; side++)
        if (w[side] && !whatever && !expired(l, m, side, w[side]))
            w[side] = NULL;
    if (w[0] && w[1])
        return w[1]->group < w[0]->group;
    return w[0] ? 0 : w[1] ? 1 : -1;
}

void cmp_give_up(struct cmp_lane *l, struct cmp_match *m, size_t n)
{
    const size_t waiting = l->waiting[0].n + l->waiting[1].n, left = waiting > n ? waiting - n : 0;
    int side;

    while (!m->stop && l->waiting[0].n + l->waiting[1].n > left &&
           (side = first_expired(l, m, true)) >= 0)
        give_up(l, m, side);
}

void cmp_expire(struct cmp_lane *l, struct cmp_match *m, bool whatever)
{
    int side;

    while (!m->stop && (side = first_expired(l, m, whatever)) >= 0)
        give_up(l, m, side);
}
