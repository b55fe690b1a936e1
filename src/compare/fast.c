/*
 * fast.c - the fast path: rows that are equal where they lie.
 *
 * A row is passed here only when everything that both sides say and that counts is the same in
 * form; whatever is merely equivalent (another notation, a slide, an alias, unknown digits) is left
 * to the queues. So a false "different" here costs time, never truth.
 */
#include "compare/fast.h"

#include <stdlib.h>
#include <string.h>

static bool same_value(const struct trod_compare *c, uint64_t a, uint64_t b)
{
    return a == b || (c->rules.n_slides && cmp_value_slides(&c->rules, a, b, UINT64_MAX));
}

static bool same_times(const struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                       const struct trod_batch *b, uint32_t j, uint32_t both)
{
    if (!(both & TROD_COL_UNIT))
        return !(both & TROD_COL_TIME) || a->time[i] == b->time[j];
    return !cmp_times_differ(c->rules.meta, both, both & TROD_COL_TIME ? a->time[i] : 0, a->unit[i],
                             both & TROD_COL_TIME ? b->time[j] : 0, b->unit[j]);
}

static bool same_numbers(const struct trod_compare *c, const struct cmp_view *a, uint32_t i,
                         const struct cmp_view *b, uint32_t j, uint32_t both)
{
    if ((both & TROD_COL_ADDR) && a->addr[i] != b->addr[j])
        return false;
    if ((both & TROD_COL_VALUE) && !same_value(c, a->b->value[i], b->b->value[j]))
        return false;
    if ((both & TROD_COL_SIZE) && a->b->size[i] != b->b->size[j])
        return false;
    if ((both & TROD_COL_PADDR) && a->b->paddr[i] != b->b->paddr[j])
        return false;
    if ((both & TROD_COL_TARGET) && a->target[i] != b->target[j])
        return false;
    if ((both & TROD_COL_SUB) && a->b->sub[i] != b->b->sub[j])
        return false;
    if (both & (TROD_COL_TIME | TROD_COL_INDEX | TROD_COL_PC | TROD_COL_UNIT)) {
        if (!same_times(c, a->b, i, b->b, j, both))
            return false;
        if ((both & TROD_COL_INDEX) && a->b->index[i] != b->b->index[j])
            return false;
        if ((both & TROD_COL_PC) && a->b->pc[i] != b->b->pc[j])
            return false;
    }
    return true;
}

/* Whether registers of another spelling are the same in full. */
static bool same_register(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                          const struct trod_batch *b, uint32_t j)
{
    struct cmp_name n, m;

    if (a->text[i].len == 0 || b->text[j].len == 0)
        return false;
    n = *cmp_name_find(&c->rules, (const char *)trod_batch_bytes(a, a->text[i]), a->text[i].len);
    m = *cmp_name_find(&c->rules, (const char *)trod_batch_bytes(b, b->text[j]), b->text[j].len);
    return n.id == m.id && n.bits == 0 && m.bits == 0;
}

bool cmp_same_names(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                    const struct trod_batch *b, uint32_t j)
{
    if (a->kind[i] == TROD_NOTE)
        return cmp_same_slice(a, cmp_note_of(a, i), b, cmp_note_of(b, j));
    return cmp_same_slice(a, a->text[i], b, b->text[j]) ||
           (a->kind[i] == TROD_REG && same_register(c, a, i, b, j));
}

/* The process of a row of SIDE that says HAS and perhaps STREAM. */
static uint64_t pid_of(const struct trod_compare *c, int side, uint32_t has, uint32_t stream)
{
    return has & TROD_COL_STREAM ? cmp_pid(&c->rules, side, stream) : TROD_NOWHERE;
}

static bool same_row(struct trod_compare *c, const struct cmp_view *va, uint32_t i,
                     const struct cmp_view *vb, uint32_t j)
{
    const struct trod_batch *a = va->b, *b = vb->b;
    uint32_t has_a = a->has[i] & a->have, has_b = b->has[j] & b->have;
    uint32_t columns = c->rules.fields.columns, both = has_a & has_b & columns, fa, fb;

    if (a->kind[i] != b->kind[j] ||
        ((has_a ^ has_b) & (c->rules.fields.given[a->kind[i]] | TROD_COL_DATA)))
        return false;
    if ((columns & TROD_COL_STREAM) &&
        strcmp(cmp_stream(&c->rules, 0, has_a & TROD_COL_STREAM ? a->stream[i] : 0),
               cmp_stream(&c->rules, 1, has_b & TROD_COL_STREAM ? b->stream[j] : 0)) != 0)
        return false;
    if ((columns & TROD_COMPARE_PID) &&
        pid_of(c, 0, has_a, a->stream[i]) != pid_of(c, 1, has_b, b->stream[j]))
        return false;
    fa = has_a & TROD_COL_FLAGS ? a->flags[i] : 0;
    fb = has_b & TROD_COL_FLAGS ? b->flags[j] : 0;
    if (((fa ^ fb) & c->flags) || ((fa | fb) & CMP_HARD))
        return false;
    if (!same_numbers(c, va, i, vb, j, both) || !cmp_same_details(c, a, i, b, j))
        return false;
    if ((both & TROD_COL_CODE) &&
        (c->rules.mixed_code || !cmp_same_slice(a, a->code[i], b, b->code[j])))
        return false;
    if ((both & TROD_COL_DATA) && !cmp_same_slice(a, a->data[i], b, b->data[j]))
        return false;
    if (a->kind[i] != TROD_INSTR)
        return !(has_a & has_b & (a->kind[i] == TROD_NOTE ? TROD_COL_RAW : TROD_COL_TEXT)) ||
               !(columns & TROD_COMPARE_NAME) || cmp_same_names(c, a, i, b, j);
    return !(both & TROD_COL_TEXT) || cmp_same_slice(a, a->text[i], b, b->text[j]);
}

/* Take row I of SIDE out, as one that is behind us. */
static int keep_row(struct trod_compare *c, int side, uint32_t i, bool as_owner)
{
    struct cmp_side *s = &c->side[side];
    unsigned cls = cmp_class_of[s->b->kind[i]];
    int pair = cmp_side_pair(s, &c->pairs, i), rc = TROD_OK;
    struct cmp_lane *l = pair < 0 ? NULL : cmp_lane_of(c, pair, cls);
    struct cmp_row *row = l ? cmp_row_take(s->b, i, side, &c->rules) : NULL;

    if (!row)
        return TROD_ERR_NOMEM;
    rc = cmp_side_own(s, &c->pool, pair, row);
    cmp_row_own(&c->pool, row, cmp_side_owner(s, pair));
    if (!as_owner)
        cmp_lane_remember(l, &c->pool, side, row);
    cmp_row_drop(&c->pool, row);
    return rc;
}

static bool counts(const struct trod_compare *c, int side, uint32_t i)
{
    return cmp_side_counts(&c->side[side], c->rules.track, i);
}

/*
 * Of several pairs some may have had no instruction yet: where rows of SIDE from FROM on bring one,
 * what follows belongs to it, however far behind us it lies then.
 */
static int find_owners(struct trod_compare *c, int side, uint32_t from)
{
    struct cmp_side *s = &c->side[side];
    uint32_t without = 0;
    int rc = TROD_OK;

    if (!(c->rules.track & TROD_TRACK_INSTR) || c->pairs.n < 2)
        return rc;
    for (uint32_t pair = 0; pair < c->pairs.n; pair++)
        without += cmp_side_owner(s, (int)pair) == NULL;
    for (uint32_t i = s->at; i > from && without && rc == TROD_OK; i--) {
        const int pair = s->b->kind[i - 1] == TROD_INSTR ? cmp_side_pair(s, &c->pairs, i - 1) : 0;

        if (s->b->kind[i - 1] != TROD_INSTR || (pair >= 0 && cmp_side_owner(s, pair)))
            continue;
        rc = keep_row(c, side, i - 1, true);
        without--;
    }
    return rc;
}

/*
 * The rows of SIDE from FROM up to the next to come are behind us: the last are kept as context,
 * with the instructions they belong to.
 */
static int keep_context(struct trod_compare *c, int side, uint32_t from)
{
    const struct cmp_side *s = &c->side[side];
    uint32_t left = CMP_CONTEXT * (uint32_t)(c->pairs.n ? c->pairs.n : 1), i = s->at;
    int rc = find_owners(c, side, from);

    while (i > from && left) {
        i--;
        left -= counts(c, side, i);
    }
    /* The instruction that the first of them belongs to. */
    for (uint32_t k = i; k > from && rc == TROD_OK && (c->rules.track & TROD_TRACK_INSTR); k--)
        if (s->b->kind[k - 1] == TROD_INSTR) {
            rc = keep_row(c, side, k - 1, true);
            break;
        }
    for (; i < s->at && rc == TROD_OK; i++)
        if (counts(c, side, i))
            rc = keep_row(c, side, i, false);
    return rc;
}

/* A row of SIDE that is not compared. */
static void skip(struct trod_compare *c, int side)
{
    struct cmp_side *s = &c->side[side];
    unsigned cls = cmp_class_of[s->b->kind[s->at++]];

    s->seen |= cls < TROD_TRACK_CLASSES ? 1u << cls : 0;
    c->sum->skipped[side]++;
}

/* Whether row I of B writes a register that is left out. */
static bool left_out(struct trod_compare *c, const struct trod_batch *b, uint32_t i)
{
    return b->kind[i] == TROD_REG && (b->have & b->has[i] & TROD_COL_TEXT) && b->text[i].len &&
           cmp_name_find(&c->rules, (const char *)trod_batch_bytes(b, b->text[i]), b->text[i].len)
               ->ignored;
}

static inline void note(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                        const struct trod_batch *b, uint32_t j, int pair)
{
    uint64_t *at = &c->at[pair < CMP_PAIRS_AT ? pair : CMP_PAIRS_AT - 1];

    if (a->kind[i] == TROD_INSTR)
        *at = pair < CMP_PAIRS_AT - 1 ? a->addr[i] : 0;
    else if (a->kind[i] == TROD_REG || a->kind[i] == TROD_WRITE || a->kind[i] == TROD_ATOMIC)
        cmp_history_note(&c->history, pair, *at, a, i, b, j);
}

/* One stream on either side, as far as rows have been read. */
static bool single(const struct trod_compare *c)
{
    return c->rules.opt->n_pairs == 0 && trod_trace_meta(c->side[0].trace)->n_streams <= 1 &&
           trod_trace_meta(c->side[1].trace)->n_streams <= 1;
}

/*
 * When to look at many rows at once: not where little came of it of late. So many rows are to be
 * gone through one by one before, and after a time when it was in vain.
 */
struct pace {
    uint32_t wait, next;
};

enum { WORTH = 8, LONGEST_WAIT = 64 };

/* The first N rows of S from I of A and J of B on are behind us: who wrote what is noted. */
static void note_many(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j, const struct cmp_stretch *s)
{
    uint64_t *at = &c->at[s->pair < CMP_PAIRS_AT ? s->pair : CMP_PAIRS_AT - 1];
    const bool known = s->pair < CMP_PAIRS_AT - 1;

    for (uint64_t left = s->writes; left; left &= left - 1) {
        const uint32_t k = (uint32_t)__builtin_ctzll(left);
        const uint64_t before = s->instr & ((left & -left) - 1);

        cmp_history_note(&c->history, s->pair,
                         before && known ? a->addr[i + 63 - (uint32_t)__builtin_clzll(before)]
                                         : *at,
                         a, i + k, b, j + k);
    }
    if (s->instr)
        *at = known ? a->addr[i + 63 - (uint32_t)__builtin_clzll(s->instr)] : 0;
}

/* Pass rows that are looked at many at once, in SAME. Returns how many. */
static uint32_t pass_many(struct trod_compare *c, const struct cmp_view *a,
                          const struct cmp_view *b, struct cmp_stretch *same, struct pace *p)
{
    struct cmp_side *s = &c->side[0], *t = &c->side[1];
    uint32_t n;

    if (p->wait) {
        p->wait--;
        return 0;
    }
    n = cmp_stretch(c, a, s->at, b, t->at, same);
    if (n)
        note_many(c, a->b, s->at, b->b, t->at, same);
    s->at += n;
    t->at += n;
    c->sum->equal[0] += n;
    c->sum->equal[1] += n;
    if (n >= WORTH)
        p->next = 1;
    else if (p->next < LONGEST_WAIT)
        p->next *= 2;
    p->wait = n < CMP_STRETCH ? p->next : 0;
    return n;
}

/* Go on to the end of a batch. Returns 1 there, 0 at a row that is not the same, or an error. */
static int run_batches(struct trod_compare *c, const struct cmp_view *va, const struct cmp_view *vb)
{
    struct cmp_side *s = &c->side[0], *t = &c->side[1];
    const struct trod_batch *a = va->b, *b = vb->b;
    const bool one = single(c), names = c->rules.opt->n_ignore_registers > 0;
    struct cmp_stretch same = {.single = one};
    struct pace pace = {0, 1};
    int pair[2] = {0, 0};

    if (one && (pair[0] = cmp_side_pair(s, &c->pairs, s->at)) < 0)
        return TROD_ERR_NOMEM;
    same.pair = pair[0];
    while (s->at < a->n && t->at < b->n) {
        const uint32_t i = s->at, j = t->at;

        if (!names && pass_many(c, va, vb, &same, &pace))
            continue;
        if (!counts(c, 0, i) || (names && left_out(c, a, i))) {
            skip(c, 0);
            continue;
        }
        if (!counts(c, 1, j) || (names && left_out(c, b, j))) {
            skip(c, 1);
            continue;
        }
        if (!same_row(c, va, i, vb, j))
            return 0;
        if (!one) {
            pair[0] = cmp_side_pair(s, &c->pairs, i);
            pair[1] = cmp_side_pair(t, &c->pairs, j);
            if (pair[0] != pair[1])
                return pair[0] < 0 || pair[1] < 0 ? TROD_ERR_NOMEM : 0;
        }
        note(c, a, i, b, j, pair[0]);
        s->at++;
        t->at++;
        c->sum->equal[0]++;
        c->sum->equal[1]++;
    }
    return 1;
}

/* The addresses of the batch at hand as the other side has them. */
static int look_at(struct trod_compare *c, int side, struct cmp_view *v)
{
    struct cmp_side *s = &c->side[side];
    uint64_t *const from[2] = {s->b->addr, s->b->target};

    *v = (struct cmp_view){s->b, s->b->addr, s->b->target};
    if (c->rules.n_slides == 0)
        return TROD_OK;
    for (int k = 0; k < 2; k++) {
        if (!s->slid[k] && !(s->slid[k] = malloc(TROD_BATCH_ROWS * sizeof *s->slid[k])))
            return TROD_ERR_NOMEM;
        /* What was slid when this batch came is still there. */
        for (uint32_t i = s->slid_of == s->b ? s->b->n : 0; i < s->b->n; i++)
            s->slid[k][i] = s->b->has[i] & (k ? TROD_COL_TARGET : TROD_COL_ADDR)
                                ? cmp_slide(&c->rules, side, from[k][i])
                                : 0;
    }
    s->slid_of = s->b;
    v->addr = s->slid[0];
    v->target = s->slid[1];
    return TROD_OK;
}

int cmp_fast(struct trod_compare *c)
{
    int rc = 1;

    for (int pair = 0; pair < CMP_PAIRS_AT - 1 && pair < c->side[0].n_owner; pair++) {
        const struct cmp_row *owner = cmp_side_owner(&c->side[0], pair);

        c->at[pair] = owner ? owner->pub.addr : 0;
    }

    while (rc == 1 && cmp_sides_fill(c->side)) {
        const uint32_t from[2] = {c->side[0].at, c->side[1].at};
        struct cmp_view view[2];

        for (int side = 0; side < 2 && rc == 1; side++)
            rc = look_at(c, side, &view[side]) < 0 ? TROD_ERR_NOMEM : 1;
        if (rc == 1)
            rc = run_batches(c, &view[0], &view[1]);
        for (int side = 0; side < 2 && rc >= 0; side++) {
            c->sum->rows[side] += c->side[side].at - from[side];
            if (keep_context(c, side, from[side]) < 0)
                rc = TROD_ERR_NOMEM;
        }
        if (c->rules.opt->tick)
            c->rules.opt->tick(c->rules.opt->tick_user, c->sum->rows);
        cmp_tell(&c->match, false);
    }
    return rc < 0 ? rc : TROD_OK;
}
