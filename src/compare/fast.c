/*
 * fast.c - the fast path: rows that are equal where they lie.
 *
 * A row is passed here only when everything that both sides say and that counts is the same in
 * form; whatever is merely equivalent (another notation, a slide, an alias, unknown digits) is left
 * to the queues. So a false "different" here costs time, never truth.
 */
#include "compare/engine.h"

#include "trod/detail.h"

#include <string.h>

/* Whether two short texts are the same but for the case of letters. */
static bool same_text(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    uint64_t x = 0, y = 0;

    if (n > 8)
        return memcmp(a, b, n) == 0;
    memcpy(&x, a, n);
    memcpy(&y, b, n);
    return x == y;
}

static bool same_slice(const struct trod_batch *a, struct trod_slice s, const struct trod_batch *b,
                       struct trod_slice t)
{
    return s.len == t.len && same_text(trod_batch_bytes(a, s), trod_batch_bytes(b, t), s.len);
}

/* What may not be decided here. */
enum { HARD = TROD_F_UNKNOWN | TROD_F_PARTIAL };

static bool same_numbers(const struct trod_batch *a, uint32_t i, const struct trod_batch *b,
                         uint32_t j, uint32_t both)
{
    if ((both & TROD_COL_ADDR) && a->addr[i] != b->addr[j])
        return false;
    if ((both & TROD_COL_VALUE) && a->value[i] != b->value[j])
        return false;
    if ((both & TROD_COL_SIZE) && a->size[i] != b->size[j])
        return false;
    if ((both & TROD_COL_PADDR) && a->paddr[i] != b->paddr[j])
        return false;
    if ((both & TROD_COL_TARGET) && a->target[i] != b->target[j])
        return false;
    if ((both & TROD_COL_SUB) && a->sub[i] != b->sub[j])
        return false;
    if ((both & TROD_COL_TIME) && a->time[i] != b->time[j])
        return false;
    return !(both & TROD_COL_INDEX) || a->index[i] == b->index[j];
}

static bool same_row(const struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                     const struct trod_batch *b, uint32_t j)
{
    uint32_t has_a = a->has[i] & a->have, has_b = b->has[j] & b->have;
    uint32_t both = has_a & has_b & c->rules.compare;

    if (a->kind[i] != b->kind[j] || ((a->flags[i] ^ b->flags[j]) & c->flags) ||
        ((a->flags[i] | b->flags[j]) & HARD) || ((has_a ^ has_b) & TROD_COL_DATA))
        return false;
    if (!same_numbers(a, i, b, j, both))
        return false;
    if ((both & TROD_COL_CODE) && !same_slice(a, a->code[i], b, b->code[j]))
        return false;
    if ((both & TROD_COL_DATA) && !same_slice(a, a->data[i], b, b->data[j]))
        return false;
    if (a->kind[i] != TROD_INSTR && (has_a & has_b & TROD_COL_TEXT) &&
        !same_slice(a, a->text[i], b, b->text[j]))
        return false;
    if (a->kind[i] == TROD_INSTR && (both & TROD_COL_TEXT) &&
        !same_slice(a, a->text[i], b, b->text[j]))
        return false;
    return true;
}

/* Modes stand in the detail; the same bytes are the same mode. */
static bool same_mode(const struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j)
{
    const struct trod_detail_instr *d, *e;

    if (!c->modes || a->kind[i] != TROD_INSTR)
        return true;
    d = trod_batch_detail(a, i);
    e = trod_batch_detail(b, j);
    return !d || !e || d->mode.len == 0 || e->mode.len == 0 || same_slice(a, d->mode, b, e->mode);
}

/* The rows of SIDE from FROM up to the next to come are behind us: keep the last as context. */
static void keep_context(struct trod_compare *c, int side, uint32_t from)
{
    struct cmp_side *s = &c->side[side];
    uint32_t i = s->at > from + CMP_CONTEXT ? s->at - CMP_CONTEXT : from;

    for (; i < s->at; i++) {
        unsigned cls = cmp_class_of[s->b->kind[i]];
        struct cmp_lane *l;
        struct cmp_row row;
        int pair;

        if (cls == TROD_TRACK_CLASSES || !(c->rules.track >> cls & 1) ||
            (pair = cmp_side_pair(s, &c->pairs, i)) < 0 || !(l = cmp_lane_of(c, pair, cls)) ||
            cmp_row_take(&row, s->b, i, side, &c->rules) < 0)
            continue;
        cmp_lane_remember(l, side, &row);
    }
}

static bool counts(const struct trod_compare *c, const struct trod_batch *b, uint32_t i)
{
    unsigned cls = cmp_class_of[b->kind[i]];

    return cls < TROD_TRACK_CLASSES && (c->rules.track >> cls & 1);
}

/* Whether rows I and J are of paired streams. */
static bool paired(struct trod_compare *c, uint32_t i, uint32_t j)
{
    return c->single ||
           cmp_side_pair(&c->side[0], &c->pairs, i) == cmp_side_pair(&c->side[1], &c->pairs, j);
}

/* Go on to the end of a batch. Returns false at a row that is not the same. */
static bool run_batches(struct trod_compare *c)
{
    struct cmp_side *s = &c->side[0], *t = &c->side[1];
    const struct trod_batch *a = s->b, *b = t->b;

    while (s->at < a->n && t->at < b->n) {
        uint32_t i = s->at, j = t->at;

        if (!counts(c, a, i)) {
            s->at++;
            c->sum->skipped[0]++;
            continue;
        }
        if (!counts(c, b, j)) {
            t->at++;
            c->sum->skipped[1]++;
            continue;
        }
        if (!same_row(c, a, i, b, j) || !same_mode(c, a, i, b, j) || !paired(c, i, j))
            return false;
        if (a->kind[i] == TROD_REG || a->kind[i] == TROD_WRITE)
            cmp_history_note(&c->history, a, i, b, j);
        s->at++;
        t->at++;
        c->sum->compared++;
    }
    return true;
}

void cmp_fast(struct trod_compare *c)
{
    bool same = true;

    if (!c->side[0].started || !c->side[1].started || c->rules.n_slides)
        return;
    while (same && cmp_side_fill(&c->side[0]) == 1 && cmp_side_fill(&c->side[1]) == 1) {
        const uint32_t from[2] = {c->side[0].at, c->side[1].at};

        same = run_batches(c);
        for (int side = 0; side < 2; side++) {
            c->sum->rows[side] += c->side[side].at - from[side];
            keep_context(c, side, from[side]);
        }
    }
}
