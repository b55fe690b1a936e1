/*
 * lanes.c - what an index has of its rows: memory, instructions and registers, calls. Implements
 * build.h.
 *
 * Each lane is fed with all rows in order and knows nothing of the others until a block ends. Then
 * they meet: with all that they have it is decided whether the segment ends as well, which is kept
 * in memory until then and written in the order of its sections. So the index is the same however
 * many threads have the lanes.
 */
#include "navigate/build.h"

#include <stdlib.h>
#include <string.h>

/* Sections of a segment, in their order. */
enum {
    STATES,
    LINES,
    SITES,
    REGS,
    MEMORY,
    CALLS,
    MARKS,
    BLOOM,
    VALUES,
    SHAPES,
    TEXTS,
    CLASSES,
    ALIKE,
    SPREAD,
    WITHIN,
    EXECUTED,
    NAMED
};

static const unsigned ids[NAV_CONTENTS] = {
    NAV_S_STATES,     NAV_S_LINES,  NAV_S_SITES,  NAV_S_REGS,     NAV_S_MEMORY, NAV_S_CALLS,
    NAV_S_MARKS,      NAV_S_BLOOM,  NAV_S_VALUES, NAV_S_SHAPES,   NAV_S_TEXTS,  NAV_S_CLASSES,
    NAV_S_CLASS_ROWS, NAV_S_SPREAD, NAV_S_WITHIN, NAV_S_EXECUTED, NAV_S_NAMED};

/* ---- rows */

/* The decoder's state and all registers before the block. */
static int begin_state(struct nav_builder *b, const struct nav_item *it)
{
    struct nav_block *k = &b->block[b->n_blocks];
    int rc;

    b->state.n = 0;
    k->insn = b->insns;
    if (k->flags & NAV_B_START)
        b->clock = 0;
    k->state = b->states.n;
    rc = it->mark.n ? trod_buf_add(&b->state, it->mark.p, it->mark.n) : TROD_OK;
    if (rc == TROD_OK)
        rc = nav_regs_save(&b->regs, &b->state);
    k->state_raw = b->state.n;
    if (rc == TROD_OK)
        rc = nav_squeeze(b->state.p, b->state.n, &b->states);
    k->state_n = b->states.n - k->state;
    b->steps.n = 0;
    b->step = (struct nav_step){
        .row = k->row, .insn = k->insn, .line = k->line, .offset = k->offset, .log = k->log};
    return rc;
}

/* The same before a step inside the block. */
static int begin_step(struct nav_builder *b, const struct nav_item *it)
{
    const struct nav_block *k = &b->block[b->n_blocks];
    struct nav_step s = {.row = it->block.row,
                         .insn = b->insns,
                         .line = it->block.line,
                         .offset = it->block.offset,
                         .log = it->block.log,
                         .time_max = k->time_max,
                         .number_max = k->number_max,
                         .decoder = it->mark.n};
    int rc = TROD_OK;

    b->state.n = 0;
    if (it->mark.n)
        rc = trod_buf_add(&b->state, it->mark.p, it->mark.n);
    if (rc == TROD_OK)
        rc = nav_regs_save(&b->regs, &b->state);
    s.state = (struct trod_span){.p = b->state.p, .n = b->state.n};
    if (rc == TROD_OK)
        rc = nav_steps_put(&s, &b->step, &b->steps);
    b->step = s;
    return rc;
}

/* The steps of the block, which ends. */
static int end_steps(struct nav_builder *b)
{
    struct nav_block *k = &b->block[b->n_blocks];
    int rc;

    k->steps = b->states.n;
    k->steps_raw = b->steps.n;
    rc = nav_squeeze(b->steps.p, b->steps.n, &b->states);
    k->steps_n = b->states.n - k->steps;
    return rc;
}

/* Times and numbers of instructions of the rows of B. */
static void note_rows(struct nav_builder *to, const struct trod_batch *b)
{
    struct nav_block *k = &to->block[to->n_blocks];
    uint64_t insns = 0, most = k->number_max, first = k->first, last = k->last;
    unsigned flags = 0, differ = 0;
    const uint8_t common = b->meta->unit;
    uint8_t first_unit = to->unit;
    bool timed = to->timed;

    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t has = b->have & b->has[i];
        const bool is = b->kind[i] == TROD_INSTR;

        insns += is;
        if (has & TROD_COL_TIME) {
            const uint64_t t = b->time[i];
            const uint8_t unit = has & TROD_COL_UNIT ? b->unit[i] : common;

            first_unit = timed ? first_unit : unit;
            timed = true;
            differ |= unit ^ first_unit;

            if (t > k->time_max)
                k->time_max = t;
            if (t < k->time_min)
                k->time_min = t;
            if (is) {
                flags |= t < to->clock ? NAV_B_FALLS : NAV_B_TIMED;
                to->clock = t;
            }
        } else if (is) {
            flags |= NAV_B_UNTIMED;
        }
        if (has & TROD_COL_INDEX) {
            const uint64_t number = b->index[i];

            first = number < first ? number : first;
            last = number > last ? number : last;
            most = is && number > most ? number : most;
        }
    }
    k->number_max = most;
    k->first = first;
    k->last = last;
    to->insns += insns;
    to->timed = timed;
    to->unit = first_unit;
    to->time_flags |= flags | (differ ? NAV_B_UNITS : 0u);
}

static int insn_rows(struct nav_builder *b, const struct nav_item *it)
{
    int rc = TROD_OK;

    note_rows(b, it->b);
    for (uint32_t i = 0; rc == TROD_OK && i < it->b->n; i++)
        rc = nav_tally_row(&b->tally, it->b, i, it->row + i);
    return rc < 0 ? rc : nav_classes_rows(&b->classes, it->b, b->tally.step);
}

static int memory_rows(struct nav_builder *b, const struct nav_item *it)
{
    const uint32_t row = (uint32_t)(it->row - b->block[b->n_blocks].row);

    if (nav_values_rows(&b->values, it->b, b->touch.step) < 0)
        return TROD_ERR_NOMEM;
    return nav_touch_rows(&b->touch, it->b, row);
}

static int calls_rows(struct nav_builder *b, const struct nav_item *it)
{
    const int rc = nav_calls_feed(b->calls, it->b, 0, it->b->n, it->row);

    return rc < 0 || !b->named ? rc : nav_calls_feed(b->named, it->b, 0, it->b->n, it->row);
}

static int lane_rows(struct nav_builder *b, unsigned lane, const struct nav_item *it)
{
    switch (lane) {
    case NAV_LANE_MEMORY:
        return memory_rows(b, it);
    case NAV_LANE_INSNS:
        return insn_rows(b, it);
    default:
        return calls_rows(b, it);
    }
}

static int lane_begin(struct nav_builder *b, unsigned lane, const struct nav_item *it)
{
    if (lane == NAV_LANE_MEMORY)
        b->touch.step = it->begins ? 0 : b->touch.step + 1;
    if (lane != NAV_LANE_INSNS)
        return TROD_OK;
    b->tally.step = it->begins ? 0 : b->tally.step + 1;
    return it->begins ? begin_state(b, it) : begin_step(b, it);
}

/* ---- the end of a block */

/*
 * How much of what a block of ROWS leaves in memory is kept: of formats that have no values, only
 * rows are reported.
 */
static uint64_t memory_most(const struct nav_builder *b, uint64_t rows)
{
    const struct trod_format *f = trod_trace_format(b->trace);
    const bool values = !f || f->reads & (TROD_COL_VALUE | TROD_COL_DATA);

    if (b->opt->memory)
        return b->opt->memory;
    return NAV_MEMORY_FLOOR + (values ? NAV_MEMORY_ROW : 1) * rows;
}

/* The lane's part of the block before IT. */
static int lane_end(struct nav_builder *b, unsigned lane, const struct nav_item *it)
{
    int rc;

    switch (lane) {
    case NAV_LANE_MEMORY:
        b->valued = b->touch.valued;
        b->exact = !b->touch.no_effect && !(b->valued && b->touch.valueless);
        b->touch.valued = b->touch.valueless = b->touch.no_effect = false;
        rc = nav_touch_end(&b->touch, b->n_blocks, &b->lines);
        if (rc == TROD_OK)
            rc = nav_values_end(&b->values);
        return rc < 0 ? rc
                      : nav_memory_end(&b->touch.memory, b->n_blocks,
                                       memory_most(b, it->row - b->block[b->n_blocks].row),
                                       &b->memory, &b->whole);
    case NAV_LANE_INSNS:
        rc = end_steps(b);
        b->insn_flags = b->tally.flags;
        if (rc == TROD_OK)
            rc = nav_classes_end(&b->classes, b->n_blocks, &b->at.classes);
        return rc < 0 ? rc : nav_tally_end(&b->tally, b->n_blocks, &b->at);
    default:
        return TROD_OK;
    }
}

static bool segment_is_full(const struct nav_builder *b)
{
    return b->n_blocks - b->segment_from == b->segment_most ||
           b->lines.n + b->at.sites.n >= NAV_POSTINGS ||
           nav_values_size(&b->values) >= NAV_VALUES_SEGMENT ||
           b->memory.payload.n >= NAV_MEMORY_SEGMENT || nav_calls_events(b->calls) >= NAV_EVENTS;
}

static int begin_block(struct nav_builder *b, const struct nav_item *it)
{
    b->open = !it->over;
    if (it->over)
        return TROD_OK;
    if (!trod_grow(&b->block, b->n_blocks, &b->cap_blocks, sizeof *b->block, 256))
        return TROD_ERR_NOMEM;
    b->block[b->n_blocks] = it->block;
    return TROD_OK;
}

/* All lanes have ended the block before IT. */
static int next_block(struct nav_builder *b, const struct nav_item *it)
{
    if (b->open) {
        struct nav_block *k = &b->block[b->n_blocks++];

        k->rows = it->row - k->row;
        b->incomplete |= !k->flags;
        if (b->whole)
            k->flags |= NAV_B_MEMORY;
        if (!b->valued)
            k->flags |= NAV_B_SILENT;
        if (b->exact)
            k->flags |= NAV_B_EXACT;
        k->flags |= b->time_flags | b->insn_flags | (uint64_t)b->unit << NAV_B_UNIT;
        b->time_flags = 0;
    }
    b->full = b->n_blocks > b->segment_from && (it->over || segment_is_full(b));
    return b->full ? TROD_OK : begin_block(b, it);
}

/* ---- the end of a segment */

/* The lines of which the segment can tell something: see nav_bloom_may. LINES are sorted. */
static int save_bloom(struct nav_builder *b, const struct nav_postings *lines)
{
    struct trod_buf *out = &b->content[BLOOM].bytes;
    uint64_t *key = malloc((lines->n + 1) * sizeof *key);
    size_t n = 0;
    int rc;

    if (!key)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < lines->n; i++) {
        const struct nav_posting *p = &lines->at[i];

        if ((p->a || !(b->block[p->block].flags & NAV_B_SILENT)) &&
            (n == 0 || key[n - 1] != p->key))
            key[n++] = p->key;
    }
    rc = nav_bloom_encode(key, n, out);
    b->content[BLOOM].raw = out->n;
    free(key);
    return rc;
}

/* The instructions of the segment, each with how often it is executed there; SITES are sorted. */
static int save_executed(struct nav_builder *b, const struct nav_postings *sites)
{
    struct nav_postings sums = {0};
    struct trod_buf *out = &b->content[EXECUTED].bytes;
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < sites->n; i++) {
        const struct nav_posting *p = &sites->at[i];

        if (sums.n && sums.at[sums.n - 1].key == p->key)
            sums.at[sums.n - 1].a += p->a;
        else if (p->a)
            rc = nav_postings_add(&sums, p->key, b->segment_from, p->a, 0);
    }
    if (rc == TROD_OK)
        rc = nav_postings_encode(&sums, NAV_S_EXECUTED, b->segment_from, out);
    b->content[EXECUTED].raw = out->n;
    free(sums.at);
    return rc;
}

static int save_postings(struct nav_builder *b, unsigned to, struct nav_postings *p)
{
    struct trod_buf *out = &b->content[to].bytes;
    int rc = nav_postings_sort(p);

    if (rc == TROD_OK && to == LINES)
        rc = save_bloom(b, p);
    if (rc == TROD_OK && to == SITES)
        rc = save_executed(b, p);
    if (rc == TROD_OK)
        rc = nav_postings_encode(p, ids[to], b->segment_from, out);
    b->content[to].raw = out->n;
    p->payload.n = 0;
    p->n = 0;
    return rc;
}

/* What rows look like that are new, and their classes. */
static int save_new(struct nav_builder *b)
{
    struct trod_buf raw = {0};
    int rc = nav_shapes_save(&b->shapes, &raw);

    if (rc == TROD_OK)
        rc = nav_squeeze(raw.p, raw.n, &b->content[SHAPES].bytes);
    b->content[SHAPES].raw = raw.n;
    raw.n = 0;
    if (rc == TROD_OK)
        rc = nav_classes_save(&b->classes, &raw);
    if (rc == TROD_OK)
        rc = nav_squeeze(raw.p, raw.n, &b->content[CLASSES].bytes);
    b->content[CLASSES].raw = raw.n;
    trod_buf_fini(&raw);
    return rc;
}

static int save_calls(struct nav_calls *c, const struct nav_item *it, struct nav_content *to)
{
    struct trod_buf raw = {0};
    int rc = it->over ? nav_calls_end(c, it->row) : TROD_OK;

    if (rc == TROD_OK)
        rc = nav_calls_save(c, &raw);
    if (rc == TROD_OK)
        rc = nav_squeeze(raw.p, raw.n, &to->bytes);
    to->raw = raw.n;
    trod_buf_fini(&raw);
    return rc;
}

/* The lane's sections of the segment that ends. */
static int lane_save(struct nav_builder *b, unsigned lane, const struct nav_item *it)
{
    int rc;

    switch (lane) {
    case NAV_LANE_MEMORY:
        rc = save_postings(b, LINES, &b->lines);
        if (rc == TROD_OK)
            rc = save_postings(b, MEMORY, &b->memory);
        if (rc == TROD_OK)
            rc = nav_values_save(&b->values, &b->content[VALUES].bytes);
        b->content[VALUES].raw = b->content[VALUES].bytes.n;
        nav_memory_forget(&b->touch.memory);
        return rc;
    case NAV_LANE_INSNS:
        rc = save_postings(b, SITES, &b->at.sites);
        if (rc == TROD_OK)
            rc = save_postings(b, REGS, &b->at.regs);
        if (rc == TROD_OK)
            rc = save_postings(b, MARKS, &b->at.marks);
        if (rc == TROD_OK)
            rc = save_postings(b, TEXTS, &b->at.shapes);
        if (rc == TROD_OK)
            rc = save_postings(b, ALIKE, &b->at.classes);
        if (rc == TROD_OK)
            rc = save_postings(b, SPREAD, &b->at.pieces);
        if (rc == TROD_OK)
            rc = save_postings(b, WITHIN, &b->at.within);
        return rc < 0 ? rc : save_new(b);
    default:
        rc = save_calls(b->calls, it, &b->content[CALLS]);
        return rc < 0 || !b->named ? rc : save_calls(b->named, it, &b->content[NAMED]);
    }
}

/* All lanes have saved their sections. */
static int next_segment(struct nav_builder *b, const struct nav_item *it)
{
    const uint32_t range[2] = {b->segment_from, b->n_blocks};
    const uint64_t at = trod_output_offset(b->out);
    struct nav_content *c = b->content;
    int rc = TROD_OK;

    for (uint32_t k = b->segment_from; k < b->n_blocks; k++) {
        b->block[k].state += at;
        b->block[k].steps += at;
    }
    for (unsigned i = 0; rc == TROD_OK && i < NAV_CONTENTS; i++) {
        struct trod_buf *bytes = i == STATES ? &b->states : &c[i].bytes;

        if (i == NAMED && !b->named)
            continue;
        rc = nav_put_section(b, ids[i], b->n_segments, bytes->p, bytes->n,
                             i == STATES ? bytes->n : c[i].raw);
        bytes->n = 0;
    }
    if (rc == TROD_OK)
        rc = trod_buf_add(&b->segments, range, sizeof range);
    b->n_segments++;
    b->segment_from = b->n_blocks;
    return rc < 0 ? rc : begin_block(b, it);
}

/* ---- lanes and threads */

/*
 * Wait for the threads that have the other lanes; the last one that comes does FN for all. RC: what
 * has come of the caller's lanes. Returns what came of all.
 */
static int meet(struct nav_builder *b, int rc, const struct nav_item *it,
                int (*fn)(struct nav_builder *, const struct nav_item *))
{
    struct nav_meeting *m = &b->meeting;
    uint64_t turn;

    if (m->n < 2)
        return rc < 0 ? rc : fn(b, it);
    pthread_mutex_lock(&m->lock);
    if (rc < 0 && m->rc == TROD_OK)
        m->rc = rc;
    turn = m->turn;
    if (++m->come == m->n) {
        if (m->rc == TROD_OK)
            m->rc = fn(b, it);
        m->come = 0;
        m->turn++;
        pthread_cond_broadcast(&m->over);
    }
    while (m->turn == turn)
        pthread_cond_wait(&m->over, &m->lock);
    rc = m->rc;
    pthread_mutex_unlock(&m->lock);
    return rc;
}

static int each(struct nav_builder *b, unsigned lanes, const struct nav_item *it, int rc,
                int (*fn)(struct nav_builder *, unsigned lane, const struct nav_item *))
{
    for (unsigned lane = 0; rc == TROD_OK && lane < NAV_LANES; lane++)
        if (lanes >> lane & 1)
            rc = fn(b, lane, it);
    return rc;
}

int nav_lanes_take(struct nav_builder *b, unsigned lanes, const struct nav_item *it, int rc)
{
    if (it->begins || it->over) {
        if (b->open)
            rc = each(b, lanes, it, rc, lane_end);
        rc = meet(b, rc, it, next_block);
        if (rc == TROD_OK && b->full) {
            rc = each(b, lanes, it, rc, lane_save);
            rc = meet(b, rc, it, next_segment);
        }
        if (it->over)
            return rc;
    }
    if (it->begins || it->step)
        rc = each(b, lanes, it, rc, lane_begin);
    return each(b, lanes, it, rc, lane_rows);
}
