/*
 * report.c - differences, from the moment they are known until they are told.
 *
 * Implements the cmp_diff functions of match.h. Instructions that are missing may stand elsewhere
 * on the other side: their difference is held until so many rows have passed that they will not be
 * looked for any more (HOLD), or until they turn up and it becomes "reordered". Everything behind a
 * held difference waits with it, so that differences are told in order.
 */
#include "compare/match.h"

#include <string.h>

enum { HOLD = 2048 };

struct cmp_diff *cmp_diff_begin(struct cmp_match *m, enum trod_difference_type type)
{
    struct cmp_diff *d;

    cmp_tell(m, false);
    if (m->n_held == CMP_HELD) {
        m->held[m->held_at].may_turn_up = false;
        cmp_tell(m, false);
    }
    d = &m->held[(m->held_at + m->n_held++) % CMP_HELD];
    memset(d, 0, sizeof *d);
    d->type = type;
    d->of = TROD_NOWHERE;
    d->serial = m->serial++;
    return d;
}

void cmp_diff_add(struct cmp_match *m, struct cmp_diff *d, int side, struct cmp_row *row)
{
    if (d->count[side]++ == 0)
        d->first[side] = row->pub.ordinal;
    d->instructions[side] += row->pub.kind == TROD_INSTR;
    d->groups += row->pub.kind == TROD_INSTR || !row->owner;
    if (d->type != TROD_DIFF_REST) {
        d->hash = (d->hash ^ cmp_row_key(row, m->with_code)) * 0x9e3779b97f4a7c15u;
        m->sum->differing[side]++;
    }
    if (d->n_rows[side] < CMP_SHOWN)
        d->row[side][d->n_rows[side]++] = cmp_row_keep(row);
}

/* The last rows of LIST that came before record LIMIT of SIDE. */
static void choose(struct cmp_diff *d, int side, struct cmp_row *const *list, size_t n,
                   uint64_t limit)
{
    size_t from;

    while (n && list[n - 1]->pub.ordinal >= limit)
        n--;
    from = n > CMP_CONTEXT ? n - CMP_CONTEXT : 0;
    for (; from < n; from++)
        d->context[side][d->n_context[side]++] = cmp_row_keep(list[from]);
}

/* The instruction that the first row of SIDE belongs to. */
static struct cmp_row *instruction_of(const struct cmp_diff *d, int side)
{
    struct cmp_row *r = d->n_rows[side] ? d->row[side][0] : NULL;

    return r && r->pub.kind == TROD_INSTR ? r : r ? r->owner : NULL;
}

void cmp_diff_context(struct cmp_lane *l, struct cmp_diff *d, const struct cmp_scene *scene)
{
    for (int side = 0; side < 2; side++) {
        struct cmp_row *list[CMP_PAST], *instr = instruction_of(d, side);
        size_t n = l->n_past[side] < CMP_PAST ? (size_t)l->n_past[side] : CMP_PAST;
        uint64_t limit = d->n_rows[side] ? d->row[side][0]->pub.ordinal : UINT64_MAX;

        if (scene) {
            instr = instr ? instr : scene->instr[side];
            /* Where a side has nothing, up to the instruction that was matched. */
            if (instr && d->n_rows[side] == 0)
                limit = instr->pub.ordinal + 1;
            choose(d, side, scene->row + (side ? scene->n[0] : 0), scene->n[side], limit);
        } else {
            for (size_t i = 0; i < n; i++)
                list[i] = l->past[side][(l->n_past[side] - n + i) % CMP_PAST];
            choose(d, side, list, n, limit);
        }
        d->instr[side] = instr ? cmp_row_keep(instr) : NULL;
    }
}

static void release(struct cmp_match *m, struct cmp_diff *d)
{
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < d->n_rows[side]; i++)
            cmp_row_drop(m->pool, d->row[side][i]);
        for (size_t i = 0; i < d->n_context[side]; i++)
            cmp_row_drop(m->pool, d->context[side][i]);
        cmp_row_drop(m->pool, d->instr[side]);
    }
}

/* Count D in the summary under its TYPE, once. */
static void count(struct cmp_match *m, const struct cmp_diff *d)
{
    const struct cmp_row *head = d->n_rows[0] ? d->row[0][0] : d->row[1][0];
    const struct cmp_row *instr = d->instr[0] ? d->instr[0] : d->instr[1];

    m->sum->differences++;
    m->sum->by_type[d->type]++;
    m->sum->by_kind[head->pub.kind]++;
    if (head->pub.kind == TROD_REG)
        cmp_tally_register(m->tally, head->base_id, head->pub.name, head->pub.name_len,
                           d->count[1] == 0   ? 0
                           : d->count[0] == 0 ? 1
                                              : -1);
    if (d->n_fields == 1)
        cmp_tally_field(m->tally, d->field[0].name);
    if (instr || (head->pub.has & TROD_COL_PC))
        cmp_tally_pc(m->tally, instr ? instr->pub.addr : head->pub.pc);
}

/* The difference in which the other side had the same instructions; NULL: none of late. */
static struct cmp_block *find_block(struct cmp_lane *l, const struct cmp_match *m, int side,
                                    const struct cmp_diff *d)
{
    for (size_t i = 0; i < CMP_BLOCKS && i < l->n_blocks; i++) {
        struct cmp_block *b = &l->blocks[i];

        if (b->groups == d->groups && b->hash == d->hash && b->side == !side &&
            m->sum->rows[side] - b->at[side] <= 2 * (uint64_t)m->lookahead)
            return b;
    }
    return NULL;
}

static struct cmp_diff *held_of(struct cmp_match *m, uint64_t serial)
{
    for (size_t i = 0; i < m->n_held; i++) {
        struct cmp_diff *d = &m->held[(m->held_at + i) % CMP_HELD];

        if (d->serial == serial)
            return d;
    }
    return NULL;
}

/* D, the last one held, is what HELD was missing: they are one. */
static void join(struct cmp_match *m, struct cmp_diff *held, struct cmp_diff *d, int side)
{
    held->type = TROD_DIFF_REORDERED;
    held->count[side] = d->count[side];
    held->instructions[side] = d->instructions[side];
    held->first[side] = d->first[side];
    held->n_rows[side] = d->n_rows[side];
    memcpy(held->row[side], d->row[side], sizeof d->row[side]);
    held->may_turn_up = false;
    d->n_rows[side] = 0;
    release(m, d);
    m->n_held--;
    m->serial--;
}

/* Look for the other place of missing or inserted instructions. True: D is gone or settled. */
static bool turn_up(struct cmp_lane *l, struct cmp_match *m, struct cmp_diff *d)
{
    int side = d->type == TROD_DIFF_INSERTED;
    struct cmp_block *twin = find_block(l, m, side, d);
    struct cmp_diff *held;

    if (!twin) {
        l->blocks[l->n_blocks++ % CMP_BLOCKS] = (struct cmp_block){
            d->hash, d->serial, {m->sum->rows[0], m->sum->rows[1]}, d->groups, side};
        d->may_turn_up = !m->rules->opt->first_stop;
        for (int s = 0; s < 2; s++)
            d->until[s] = m->sum->rows[s] + HOLD;
        return false;
    }
    /* What was missing there stands here: one difference, not two. */
    m->sum->by_type[side ? TROD_DIFF_MISSING : TROD_DIFF_INSERTED]--;
    m->sum->by_type[TROD_DIFF_REORDERED]++;
    twin->groups = 0;
    held = held_of(m, twin->serial);
    if (held) {
        join(m, held, d, side);
    } else {
        d->type = TROD_DIFF_REORDERED;
        d->of = twin->serial;
    }
    return true;
}

void cmp_diff_end(struct cmp_lane *l, struct cmp_match *m, struct cmp_diff *d)
{
    bool one_sided = d->type == TROD_DIFF_MISSING || d->type == TROD_DIFF_INSERTED;

    if (m->stop) {
        release(m, d);
        m->n_held--;
        return;
    }
    if (!l->grouped)
        d->groups = (size_t)(d->count[0] + d->count[1]);
    if (d->type == TROD_DIFF_CHANGED && d->count[0] == 1 && d->count[1] == 1)
        d->n_fields = cmp_row_explain(d->row[0][0], d->row[1][0], m->rules, d->field);
    if (m->fn)
        cmp_find_inputs(l, m, d);
    if (!one_sided || d->groups == 0 || m->rules->opt->align == TROD_ALIGN_NONE ||
        !turn_up(l, m, d))
        count(m, d);
    cmp_tell(m, false);
}

/* Hand D to the callback. */
static void tell(struct cmp_match *m, const struct cmp_diff *d)
{
    struct trod_difference out = {.type = d->type,
                                  .number = m->told,
                                  .of = d->of,
                                  .fields = d->fields,
                                  .field = d->field,
                                  .n_fields = d->n_fields,
                                  .inputs = d->inputs,
                                  .n_inputs = d->n_inputs};

    for (int side = 0; side < 2; side++) {
        out.count[side] = d->count[side];
        out.instructions[side] = d->instructions[side];
        out.first[side] = d->first[side];
        out.n_rows[side] = d->n_rows[side];
        out.n_context[side] = d->n_context[side];
        out.instruction[side] = d->instr[side] ? &d->instr[side]->pub : NULL;
        for (size_t i = 0; i < d->n_rows[side]; i++)
            m->shown[side][i] = d->row[side][i]->pub;
        for (size_t i = 0; i < d->n_context[side]; i++)
            m->context[side][i] = d->context[side][i]->pub;
        out.rows[side] = d->n_rows[side] ? m->shown[side] : NULL;
        out.context[side] = m->context[side];
    }
    if (m->fn && m->fn(m->user, m->run, &out) != 0)
        m->stop = true;
    if (m->rules->opt->first_stop)
        m->stop = true;
}

void cmp_tell(struct cmp_match *m, bool all)
{
    while (m->n_held) {
        struct cmp_diff *d = &m->held[m->held_at];

        if (!all && d->may_turn_up && m->sum->rows[0] < d->until[0] &&
            m->sum->rows[1] < d->until[1])
            return;
        if (!m->stop)
            tell(m, d);
        m->told++;
        release(m, d);
        m->held_at = (m->held_at + 1) % CMP_HELD;
        m->n_held--;
    }
}

void cmp_diffs_fini(struct cmp_match *m)
{
    m->stop = true;
    cmp_tell(m, true);
}
