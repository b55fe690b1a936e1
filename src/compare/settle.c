/*
 * settle.c - the rows of one instruction against each other, and what is left over.
 *
 * Implements the functions of lane.h that say so. Rows of an instruction may come in any order.
 * Accesses that one side gives as one row and the other as several are compared byte by byte. What
 * is left over waits for the window: a row of the other side that agrees takes it away.
 */
#include "compare/lane.h"

#include <stdlib.h>
#include <string.h>

enum { REACH = 1024, BYTES = 512, FEW = 16, LOOK = 64, MANY = 1 << 14 };

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

/* Byte K of an access as ROW says it; nothing is known of bytes it does not tell. */
static struct byte byte_at(const struct cmp_row *r, uint32_t k, bool big)
{
    struct byte b = {r->addr + (big ? r->pub.size - 1 - k : k), 0, 0};

    if (r->wide && k < r->wide_size) {
        b.value = r->wide[k];
        b.known = r->wide[r->wide_size + k];
    } else if (!r->wide && (r->pub.has & TROD_COL_VALUE) && k < 8) {
        b.value = (uint8_t)(r->pub.value >> (8 * k));
        b.known = (uint8_t)(r->pub.known >> (8 * k));
    }
    return b;
}

/* The bytes of accesses of KIND among N rows that are still open. Returns how many, or -1. */
static int list_bytes(const struct cmp_queue *q, size_t n, const bool *done, unsigned kind,
                      bool big, struct byte *out)
{
    int count = 0;

    for (size_t i = 0; i < n; i++) {
        const struct cmp_row *r = cmp_queue_at(q, i);

        if (done[i] || r->pub.kind != kind)
            continue;
        if (!(r->pub.has & TROD_COL_SIZE) || r->pub.size == 0 ||
            r->pub.size > BYTES - (uint32_t)count)
            return -1;
        for (uint32_t k = 0; k < r->pub.size; k++)
            out[count++] = byte_at(r, k, big);
    }
    qsort(out, (size_t)count, sizeof *out, by_addr);
    return count;
}

/* Whether the open accesses of KIND touch the same bytes with the same values. */
static bool bytes_agree(const struct cmp_lane *l, size_t na, const bool *done_a, size_t nb,
                        const bool *done_b, unsigned kind, bool big)
{
    struct byte a[BYTES], b[BYTES];
    int n = list_bytes(&l->queue[0], na, done_a, kind, big, a);

    if (n <= 0 || list_bytes(&l->queue[1], nb, done_b, kind, big, b) != n)
        return false;
    for (int i = 0; i < n; i++)
        if (a[i].addr != b[i].addr || ((a[i].value ^ b[i].value) & a[i].known & b[i].known))
            return false;
    return true;
}

/*
 * Whether the open accesses of KIND are cut alike on both sides: then they are the same ones, and
 * it is something else that differs. Or whether what they say beyond their bytes differs.
 */
static bool same_cut(const struct cmp_lane *l, const struct cmp_match *m, size_t na,
                     const bool *done_a, size_t nb, const bool *done_b, unsigned kind)
{
    const struct cmp_fields *f = &m->rules->fields;
    const uint32_t flags = f->columns & TROD_COL_FLAGS ? f->flags : 0;
    size_t i = 0, j = 0;

    for (;;) {
        const struct cmp_row *a, *b;

        while (i < na && (done_a[i] || cmp_queue_at(&l->queue[0], i)->pub.kind != kind))
            i++;
        while (j < nb && (done_b[j] || cmp_queue_at(&l->queue[1], j)->pub.kind != kind))
            j++;
        if (i == na || j == nb)
            return i == na && j == nb;
        a = cmp_queue_at(&l->queue[0], i++);
        b = cmp_queue_at(&l->queue[1], j++);
        if (f->alike && ((a->pub.flags ^ b->pub.flags) & flags))
            return true;
        if (a->addr != b->addr || a->pub.size != b->pub.size)
            return false;
    }
}

/* Accesses agree however they are cut. Where the byte order is not known, either will do. */
static void match_bytes(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                        size_t nb, bool *done_b, unsigned kind)
{
    const uint32_t needed = TROD_COL_ADDR | TROD_COL_VALUE;

    if ((m->rules->fields.columns & needed) != needed ||
        same_cut(l, m, na, done_a, nb, done_b, kind) ||
        (!bytes_agree(l, na, done_a, nb, done_b, kind, m->rules->big_endian) &&
         (m->rules->endian_known ||
          !bytes_agree(l, na, done_a, nb, done_b, kind, !m->rules->big_endian))))
        return;
    for (size_t i = 0; i < na; i++)
        done_a[i] |= cmp_queue_at(&l->queue[0], i)->pub.kind == kind;
    for (size_t i = 0; i < nb; i++)
        done_b[i] |= cmp_queue_at(&l->queue[1], i)->pub.kind == kind;
}

/* Few rows: every one of A with every one of B. */
static int64_t pair_few(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                        size_t nb, bool *done_b)
{
    int64_t pairs = 0;

    for (size_t i = 0; i < na; i++) {
        struct cmp_row *a = cmp_queue_at(&l->queue[0], i);

        for (size_t j = 0; !done_a[i] && j < nb; j++) {
            struct cmp_row *b = cmp_queue_at(&l->queue[1], j);

            if (done_b[j] || a->subject != b->subject || cmp_row_differs(a, b, m->rules) != 0)
                continue;
            cmp_history_note_rows(m->history, l->pair, a, b);
            done_a[i] = done_b[j] = true;
            pairs++;
        }
    }
    return pairs;
}

/* Many: the rows of B under what they say (or their subjects), in chains of rising place + 1. */
struct chains {
    uint32_t *first, *next;
    size_t mask;
    bool exact;
};

static uint32_t *chain_of(const struct chains *c, const struct cmp_row *r)
{
    return &c->first[(c->exact ? r->exact >> 1 : r->subject) & c->mask];
}

static int link_rows(const struct cmp_queue *q, size_t n, const bool *done, struct chains *c)
{
    size_t size = 64;

    while (size < 2 * n)
        size *= 2;
    c->mask = size - 1;
    c->first = calloc(size + n, sizeof *c->first);
    if (!c->first)
        return TROD_ERR_NOMEM;
    c->next = c->first + size;
    for (size_t j = n; j-- > 0;) {
        const struct cmp_row *r = cmp_queue_at(q, j);
        uint32_t *head = chain_of(c, r);

        if (done[j] || (c->exact && r->exact == 0))
            continue;
        c->next[j] = *head;
        *head = (uint32_t)j + 1;
    }
    return TROD_OK;
}

/* The first open row of B that agrees with A: it leaves its chain. SIZE_MAX: none. */
static size_t pick(const struct cmp_lane *l, const struct cmp_match *m, struct chains *c,
                   const struct cmp_row *a)
{
    uint32_t *link = chain_of(c, a);

    for (unsigned reach = 0; *link && reach < REACH; reach++) {
        size_t j = *link - 1u;
        const struct cmp_row *b = cmp_queue_at(&l->queue[1], j);

        if (a->subject == b->subject && cmp_row_differs(a, b, m->rules) == 0) {
            *link = c->next[j];
            return j;
        }
        link = &c->next[j];
    }
    return SIZE_MAX;
}

/* Rows that say all in full first (EXACT), then what is left by subject. */
static int64_t pair_many(struct cmp_lane *l, const struct cmp_match *m, bool exact, size_t na,
                         bool *done_a, size_t nb, bool *done_b)
{
    struct chains c = {.exact = exact};
    int64_t pairs = 0;

    if (link_rows(&l->queue[1], nb, done_b, &c) < 0)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < na; i++) {
        struct cmp_row *a = cmp_queue_at(&l->queue[0], i);
        size_t j = done_a[i] || (exact && a->exact == 0) ? SIZE_MAX : pick(l, m, &c, a);

        if (j == SIZE_MAX)
            continue;
        cmp_history_note_rows(m->history, l->pair, a, cmp_queue_at(&l->queue[1], j));
        done_a[i] = done_b[j] = true;
        pairs++;
    }
    free(c.first);
    return pairs;
}

int64_t cmp_pair_rows(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                      size_t nb, bool *done_b)
{
    int64_t pairs, more;

    if (na * nb <= FEW * FEW)
        return pair_few(l, m, na, done_a, nb, done_b);
    pairs = pair_many(l, m, true, na, done_a, nb, done_b);
    more = pairs < 0 ? pairs : pair_many(l, m, false, na, done_a, nb, done_b);
    return more < 0 ? more : pairs + more;
}

void cmp_found(struct cmp_match *m, int side, struct cmp_row *row)
{
    m->sum->equal[side]++;
    m->sum->equal[!side]++; /* the one that waited */
    cmp_row_drop(m->pool, row);
}

/* Rows of SIDE that have been taken off. */
static uint64_t gone(const struct cmp_lane *l, int side)
{
    return l->places[side] - l->queue[side].n;
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
    if (cmp_bag_push(&l->waiting[side], row, scene, l->group, gone(l, !side) + others_n))
        return TROD_OK;
    cmp_row_drop(m->pool, row);
    return TROD_ERR_NOMEM;
}

/*
 * What stands before the rows at the heads of the queues, and the first NA and NB of them. Where
 * very many rows wait, memory is dearer than context.
 */
static struct cmp_scene *take_scene(const struct cmp_lane *l, size_t na, size_t nb)
{
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

/* Take the first N rows of SIDE off: the done ones are history, the others left over. */
static int take_off(struct cmp_lane *l, struct cmp_match *m, int side, size_t n, const bool *done,
                    struct cmp_scene *scene, size_t others_n)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < n && rc == TROD_OK; i++) {
        struct cmp_row *row = cmp_lane_shift(l, m, side);

        if (done && done[i]) {
            m->sum->equal[side]++;
            cmp_row_drop(m->pool, row);
        } else {
            rc = leave_over(l, m, side, row, scene, others_n);
        }
    }
    return rc;
}

static bool all(const bool *done, size_t n)
{
    return n == 0 || !memchr(done, false, n);
}

/* Accesses that are left over may be the same ones elsewhere (--slide auto). True: pair again. */
static bool learn(struct cmp_lane *l, struct cmp_match *m, size_t na, const bool *done_a, size_t nb,
                  const bool *done_b)
{
    na = na < LOOK ? na : LOOK;
    nb = nb < LOOK ? nb : LOOK;
    for (size_t i = 0; m->rules->opt->auto_slide && i < na; i++)
        for (size_t j = 0; !done_a[i] && j < nb; j++)
            if (!done_b[j] &&
                cmp_learn_data(m, cmp_queue_at(&l->queue[0], i), cmp_queue_at(&l->queue[1], j)))
                return true;
    return false;
}

int cmp_settle(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb)
{
    bool few[2 * FEW] = {false}, *done_a = few, *done_b;
    struct cmp_scene *scene = NULL;
    int rc = TROD_OK;

    if (na + nb > 2 * FEW && !(done_a = calloc(na + nb, sizeof *done_a)))
        return TROD_ERR_NOMEM;
    done_b = done_a + na;
    do
        rc = cmp_pair_rows(l, m, na, done_a, nb, done_b) < 0 ? TROD_ERR_NOMEM : TROD_OK;
    while (rc == TROD_OK && learn(l, m, na, done_a, nb, done_b));
    if (rc == TROD_OK && !(all(done_a, na) && all(done_b, nb))) {
        match_bytes(l, m, na, done_a, nb, done_b, TROD_READ);
        match_bytes(l, m, na, done_a, nb, done_b, TROD_WRITE);
        scene = take_scene(l, na, nb);
        rc = scene ? TROD_OK : TROD_ERR_NOMEM;
    }
    l->group++;
    if (rc == TROD_OK)
        rc = take_off(l, m, 0, na, done_a, scene, nb);
    if (rc == TROD_OK)
        rc = take_off(l, m, 1, nb, done_b, scene, 0);
    cmp_scene_drop(m->pool, scene);
    if (done_a != few)
        free(done_a);
    if (rc == TROD_OK)
        cmp_expire(l, m, false);
    return rc;
}

int cmp_one_sided(struct cmp_lane *l, struct cmp_match *m, int side, size_t n)
{
    struct cmp_scene *scene;
    struct cmp_diff *d;
    int rc;

    if (m->window > 1 && n <= m->window) {
        if (!(scene = take_scene(l, side ? 0 : n, side ? n : 0)))
            return TROD_ERR_NOMEM;
        l->group++;
        rc = take_off(l, m, side, n, NULL, scene, 0);
        cmp_scene_drop(m->pool, scene);
        if (rc == TROD_OK)
            cmp_expire(l, m, false);
        return rc;
    }
    d = cmp_diff_begin(m, side ? TROD_DIFF_INSERTED : TROD_DIFF_MISSING);
    for (size_t i = 0; i < n; i++)
        cmp_diff_add(m, d, side, cmp_queue_at(&l->queue[side], i));
    cmp_diff_context(l, d, NULL);
    for (size_t i = 0; i < n; i++)
        cmp_row_drop(m->pool, cmp_lane_shift(l, m, side));
    cmp_diff_end(l, m, d);
    return TROD_OK;
}

/* Whether W, of SIDE, has waited long enough. */
static bool expired(const struct cmp_lane *l, const struct cmp_match *m, int side,
                    const struct cmp_wait *w)
{
    uint64_t time = w->row->pub.time;

    /* where only one side goes on, no more wait than there is room for in the window */
    if (m->window <= 1 || l->waiting[side].n > m->window)
        return true;
    if (m->rules->opt->window_unit == TROD_WINDOW_TICKS)
        return l->times[side] > time && l->times[side] - time >= m->window;
    return gone(l, !side) >= w->since + m->window;
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
