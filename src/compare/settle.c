/*
 * settle.c - the rows of one instruction against each other, what is left over, and reporting.
 *
 * Implements cmp_settle, cmp_expire and cmp_report of lane.h. Rows of an instruction may come in
 * any order. Accesses that one side gives as one row and the other as several are compared byte by
 * byte. What is left over waits for the window: an equal row of the other side takes it away.
 */
#include "compare/lane.h"

#include <stdlib.h>
#include <string.h>

enum { REACH = 512, BYTES = 512 };

/* A byte of memory as a row says it. */
struct byte {
    uint64_t addr;
    uint8_t value, known;
};

static int by_addr(const void *a, const void *b)
{
    const struct byte *p = a, *q = b;

    return p->addr < q->addr ? -1 : p->addr > q->addr;
}

/* The bytes of accesses of KIND among N rows that are still open. Returns how many, or -1. */
static int list_bytes(const struct cmp_queue *q, size_t n, const bool *done, unsigned kind,
                      struct byte *out)
{
    int count = 0;

    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(q, i);

        if (done[i] || r->pub.kind != kind)
            continue;
        if (!(r->pub.has & TROD_COL_SIZE) || count + (int)r->pub.size > BYTES ||
            r->pub.size > BYTES)
            return -1;
        for (uint32_t k = 0; k < r->pub.size; k++) {
            struct byte *b = &out[count++];
            bool known = (r->pub.has & TROD_COL_VALUE) || r->wide;

            *b = (struct byte){r->pub.addr + k, 0, 0};
            if (r->wide && k < r->wide->size) {
                b->value = r->wide->bytes[k];
                b->known = r->wide->bytes[r->wide->size + k];
            } else if (!r->wide && known && k < 8) {
                b->value = (uint8_t)(r->pub.value >> (8 * k));
                b->known = (uint8_t)(r->pub.known >> (8 * k));
            }
        }
    }
    qsort(out, (size_t)count, sizeof *out, by_addr);
    return count;
}

/* Accesses that touch the same bytes with the same values agree, however they are cut. */
static void match_bytes(struct cmp_lane *l, size_t na, bool *done_a, size_t nb, bool *done_b,
                        unsigned kind)
{
    struct byte a[BYTES], b[BYTES];
    int n = list_bytes(&l->queue[0], na, done_a, kind, a);

    if (n <= 0 || list_bytes(&l->queue[1], nb, done_b, kind, b) != n)
        return;
    for (int i = 0; i < n; i++)
        if (a[i].addr != b[i].addr || ((a[i].value ^ b[i].value) & a[i].known & b[i].known))
            return;
    for (size_t i = 0; i < na; i++)
        done_a[i] |= cmp_queue_at(&l->queue[0], i)->pub.kind == kind;
    for (size_t i = 0; i < nb; i++)
        done_b[i] |= cmp_queue_at(&l->queue[1], i)->pub.kind == kind;
}

/* Pair equal rows, in any order; the next one of the other side is tried first. */
static uint64_t match_rows(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                           size_t nb, bool *done_b)
{
    uint64_t matched = 0;
    size_t low = 0; /* rows of B before it are done */

    for (size_t i = 0; i < na; i++) {
        const struct cmp_row *a = cmp_queue_at(&l->queue[0], i);

        while (low < nb && done_b[low])
            low++;
        for (size_t j = low; j < nb && j < low + REACH; j++) {
            const struct cmp_row *b = cmp_queue_at(&l->queue[1], j);

            if (done_b[j] || cmp_row_differs(a, b, m->rules) != 0)
                continue;
            cmp_history_note_rows(m->history, a, b);
            done_a[i] = done_b[j] = true;
            matched++;
            break;
        }
    }
    return matched;
}

/* A waiting row of the other side that equals R; SIZE_MAX: none. */
static size_t find_waiting(const struct cmp_queue *q, const struct cmp_row *r, int side,
                           const struct cmp_rules *rules)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct cmp_row *w = cmp_queue_at(q, i);

        if (w->pub.kind == r->pub.kind && cmp_row_differs(side ? w : r, side ? r : w, rules) == 0)
            return i;
    }
    return SIZE_MAX;
}

static void remove_at(struct cmp_queue *q, size_t i)
{
    cmp_row_fini(cmp_queue_at(q, i));
    memmove(cmp_queue_at(q, i), cmp_queue_at(q, i) + 1, (q->n - i - 1) * sizeof *q->row);
    q->n--;
}

/* Row R of SIDE is left over: take away its twin if that waits, or let it wait. */
static int leave_over(struct cmp_lane *l, struct cmp_match *m, int side, const struct cmp_row *r)
{
    struct cmp_queue *others = &l->pending[!side];
    size_t i = m->window > 1 ? find_waiting(others, r, side, m->rules) : SIZE_MAX;
    struct cmp_row *to;

    if (i != SIZE_MAX) {
        remove_at(others, i);
        cmp_lane_remember(l, side, r);
        m->sum->compared++;
        return TROD_OK;
    }
    if (!(to = cmp_queue_push(&l->pending[side])))
        return TROD_ERR_NOMEM;
    *to = *r;
    to->group = l->group;
    return TROD_OK;
}

/* Take the first N rows of SIDE off: the done ones are history, the others left over. */
static int take_off(struct cmp_lane *l, struct cmp_match *m, int side, size_t n, const bool *done)
{
    struct cmp_queue *q = &l->queue[side];
    int rc = TROD_OK;

    for (size_t i = 0; i < n && rc == TROD_OK; i++) {
        l->times[side] = cmp_queue_at(q, i)->pub.time;
        if (done[i])
            cmp_lane_remember(l, side, cmp_queue_at(q, i));
        else
            rc = leave_over(l, m, side, cmp_queue_at(q, i));
    }
    cmp_queue_drop(q, n);
    return rc;
}

static int settle(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    bool *done_a = calloc(na + nb + 1, sizeof *done_a), *done_b = done_a + na;
    int rc;

    if (!done_a)
        return TROD_ERR_NOMEM;
    m->sum->compared += match_rows(l, m, na, done_a, nb, done_b);
    if (m->rules->opt->align != TROD_ALIGN_NONE) {
        match_bytes(l, na, done_a, nb, done_b, TROD_READ);
        match_bytes(l, na, done_a, nb, done_b, TROD_WRITE);
    }
    l->group++;
    rc = take_off(l, m, 0, na, done_a);
    if (rc == TROD_OK)
        rc = take_off(l, m, 1, nb, done_b);
    free(done_a);
    return rc;
}

int cmp_settle(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    int rc = settle(l, m, na, nb);

    if (rc == TROD_OK)
        cmp_expire(l, m, false);
    return rc;
}

/* Hand the rows R of SIDE over to be shown. */
static void show(struct cmp_match *m, struct trod_difference *d, int side, struct cmp_row *r)
{
    if (d->count[side]++ == 0)
        d->first[side] = r->pub.ordinal;
    d->instructions[side] += r->pub.kind == TROD_INSTR;
    if (d->n_rows[side] == CMP_SHOWN)
        return;
    cmp_row_public(r);
    m->shown[side][d->n_rows[side]++] = r->pub;
}

void cmp_report(struct cmp_lane *l, struct cmp_match *m, struct trod_difference *d)
{
    unsigned kind = d->n_rows[0] ? m->shown[0][0].kind : m->shown[1][0].kind;

    if (m->stop)
        return;
    d->number = m->reports++;
    m->sum->differences++;
    m->sum->by_type[d->type]++;
    m->sum->by_kind[kind]++;
    for (int side = 0; side < 2; side++) {
        struct cmp_queue *q = &l->context[side];

        d->rows[side] = d->n_rows[side] ? m->shown[side] : NULL;
        for (size_t i = 0; i < q->n; i++) {
            cmp_row_public(cmp_queue_at(q, i));
            m->context[side][i] = cmp_queue_at(q, i)->pub;
        }
        d->context[side] = m->context[side];
        d->n_context[side] = q->n;
    }
    if (m->fn && m->fn(m->user, m->owner, d) != 0)
        m->stop = true;
    if (m->rules->opt->first_stop)
        m->stop = true;
}

/* Whether R, of SIDE, has waited long enough. */
static bool expired(const struct cmp_lane *l, const struct cmp_match *m, int side,
                    const struct cmp_row *r)
{
    if (m->window <= 1)
        return true;
    if (m->rules->opt->window_unit == TROD_WINDOW_TICKS)
        return l->times[side] - r->pub.time >= m->window && l->times[side] > r->pub.time;
    return l->places[side] - l->queue[side].n - r->place >= m->window;
}

/* The waiting row of the other side that R was expected to be: same instruction, same subject. */
static size_t find_counterpart(const struct cmp_queue *q, const struct cmp_row *r)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct cmp_row *w = cmp_queue_at(q, i);

        if (w->group == r->group && cmp_row_same_subject(w, r))
            return i;
    }
    return SIZE_MAX;
}

/* How many rows from the first of Q on belong to its instruction, follow it, and have no twin. */
static size_t alike(const struct cmp_queue *q, const struct cmp_queue *others)
{
    const struct cmp_row *first = cmp_queue_at(q, 0);
    size_t n = 1;

    while (n < q->n && cmp_queue_at(q, n)->group == first->group &&
           cmp_queue_at(q, n)->place == first->place + n &&
           find_counterpart(others, cmp_queue_at(q, n)) == SIZE_MAX)
        n++;
    return n;
}

/* The first waiting row of SIDE, or the run of rows that it begins, is a difference. */
static void give_up(struct cmp_lane *l, struct cmp_match *m, int side)
{
    struct cmp_queue *q = &l->pending[side], *others = &l->pending[!side];
    struct trod_difference d = {.of = TROD_NOWHERE};
    struct cmp_row *r = cmp_queue_at(q, 0);
    size_t i = find_counterpart(others, r), n = 1;

    d.type = side ? TROD_DIFF_INSERTED : TROD_DIFF_MISSING;
    if (i != SIZE_MAX) {
        struct cmp_row *w = cmp_queue_at(others, i);

        d.type = TROD_DIFF_CHANGED;
        d.fields = side ? cmp_row_differs(w, r, m->rules) : cmp_row_differs(r, w, m->rules);
        show(m, &d, !side, w);
    } else {
        n = alike(q, others);
    }
    for (size_t k = 0; k < n; k++)
        show(m, &d, side, cmp_queue_at(q, k));
    cmp_report(l, m, &d);
    for (size_t k = 0; k < n; k++)
        cmp_lane_remember(l, side, cmp_queue_at(q, k));
    cmp_queue_drop(q, n);
    if (i != SIZE_MAX)
        remove_at(others, i);
}

void cmp_expire(struct cmp_lane *l, struct cmp_match *m, bool all)
{
    for (int side = 0; side < 2; side++)
        while (l->pending[side].n && !m->stop &&
               (all || expired(l, m, side, cmp_queue_at(&l->pending[side], 0))))
            give_up(l, m, side);
}

int cmp_settle_block(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    int rc = settle(l, m, na, nb);

    while (rc == TROD_OK && !m->stop && (l->pending[0].n || l->pending[1].n)) {
        struct trod_difference d = {.type = TROD_DIFF_CHANGED, .of = TROD_NOWHERE};
        struct cmp_row r[2];
        bool there[2];

        for (int side = 0; side < 2; side++) {
            there[side] = l->pending[side].n > 0;
            if (!there[side])
                continue;
            r[side] = *cmp_queue_at(&l->pending[side], 0);
            cmp_queue_drop(&l->pending[side], 1);
            show(m, &d, side, &r[side]);
        }
        if (there[0] && there[1])
            d.fields = cmp_row_differs(&r[0], &r[1], m->rules);
        else
            d.type = there[0] ? TROD_DIFF_MISSING : TROD_DIFF_INSERTED;
        cmp_report(l, m, &d);
        for (int side = 0; side < 2; side++)
            if (there[side])
                cmp_lane_remember(l, side, &r[side]);
    }
    return rc;
}

/* The difference in which the other side had the same rows; NULL: none of late. */
static struct cmp_block *find_block(struct cmp_lane *l, const struct cmp_match *m, int side,
                                    size_t groups, uint64_t hash)
{
    for (size_t i = 0; i < CMP_BLOCKS && i < l->n_blocks; i++) {
        struct cmp_block *b = &l->blocks[i];

        if (b->groups == groups && b->hash == hash && b->side == !side &&
            l->places[side] - b->place <= 2 * (uint64_t)m->lookahead)
            return b;
    }
    return NULL;
}

void cmp_report_block(struct cmp_lane *l, struct cmp_match *m, enum trod_difference_type type,
                      size_t na, size_t nb, size_t groups, uint64_t hash)
{
    struct trod_difference d = {.type = type, .of = TROD_NOWHERE};
    const size_t n[2] = {na, nb};
    int side = type == TROD_DIFF_INSERTED;
    struct cmp_block *twin = NULL;

    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < n[s]; i++)
            show(m, &d, s, cmp_queue_at(&l->queue[s], i));
    if (type != TROD_DIFF_CHANGED && (twin = find_block(l, m, side, groups, hash))) {
        /* What was missing there stands here: one difference, not two. */
        d.type = TROD_DIFF_REORDERED;
        d.of = twin->number;
        m->sum->by_type[side ? TROD_DIFF_MISSING : TROD_DIFF_INSERTED]--;
        m->sum->differences--;
        twin->groups = 0;
    } else if (type != TROD_DIFF_CHANGED) {
        l->blocks[l->n_blocks++ % CMP_BLOCKS] =
            (struct cmp_block){hash, m->reports, l->places[side], groups, side};
    }
    if (na == 1 && nb == 1)
        d.fields =
            cmp_row_differs(cmp_queue_at(&l->queue[0], 0), cmp_queue_at(&l->queue[1], 0), m->rules);
    cmp_report(l, m, &d);
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < n[s]; i++)
            cmp_lane_remember(l, s, cmp_queue_at(&l->queue[s], i));
        if (n[s])
            l->times[s] = cmp_queue_at(&l->queue[s], n[s] - 1)->pub.time;
        cmp_queue_drop(&l->queue[s], n[s]);
    }
}
