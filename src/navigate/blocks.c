/*
 * blocks.c - blocks of a trace, and which of them a question is about: with an index what this
 * says, without one all rows are one block.
 *
 * Implements the part of nav.h that an index answers.
 */
#include "navigate/attach.h"

#include <stdlib.h>
#include <string.h>

size_t nav_blocks(const struct trod_nav *nav)
{
    return nav->index ? nav->index->n_blocks : 1;
}

size_t nav_block_of(const struct trod_nav *nav, uint64_t row)
{
    const struct nav_index *x = nav->index;
    size_t lo = 0, hi = x ? x->n_blocks : 0;

    while (lo + 1 < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (x->block[mid].row <= row)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

uint64_t nav_block_first(const struct trod_nav *nav, size_t k)
{
    const struct nav_index *x = nav->index;

    if (x && k < x->n_blocks)
        return x->block[k].row;
    return k ? TROD_NOWHERE : 0;
}

/* The step at or before ROW; NULL: there is no index, or no such block, which is no error. */
static int step_at(struct trod_nav *nav, uint64_t row, const struct nav_step **out)
{
    const struct nav_index *x = nav->index;
    int rc;

    *out = NULL;
    if (!x || x->n_blocks == 0)
        return TROD_OK;
    rc = nav_steps_load(nav->steps, x, nav_block_of(nav, row));
    if (rc == TROD_OK)
        *out = &nav->steps->at[nav_steps_find(nav->steps, row)];
    return rc;
}

int nav_step_of(struct trod_nav *nav, uint64_t row, int steps, uint64_t *first, uint64_t *end)
{
    const struct nav_step *step;
    int rc = step_at(nav, row, &step);
    size_t i;

    *first = 0;
    *end = TROD_NOWHERE;
    if (rc < 0 || !step)
        return rc < 0 ? rc : 1;
    i = (size_t)(step - nav->steps->at);
    *first = step->row;
    *end = i + 1 < nav->steps->n ? step[1].row : nav_block_first(nav, nav->steps->block + 1);
    return steps >> i & 1;
}

int nav_step_next(struct trod_nav *nav, size_t k, int steps, uint64_t *row, uint64_t *end)
{
    const uint64_t last = nav_block_first(nav, k + 1);
    uint64_t first, next;
    int rc = 0;

    while (*row < last && (rc = nav_step_of(nav, *row, steps, &first, end)) == 0)
        *row = *end;
    if (rc <= 0)
        return rc;
    while (*end < last && (rc = nav_step_of(nav, *end, steps, &first, &next)) > 0)
        *end = next;
    return rc < 0 ? rc : 1;
}

int nav_regs_at(struct trod_nav *nav, uint64_t row, struct nav_regs *regs, uint64_t *first)
{
    const struct trod_format *f = trod_nav_format(nav);
    const struct nav_step *step;
    struct trod_span in;
    int rc = step_at(nav, row, &step);

    nav_regs_init(regs, &nav->names);
    regs->insn = nav->insn;
    nav_regs_of(regs, f);
    *first = step ? step->row : 0;
    if (!step || step->state.n == 0)
        return rc;
    in = (struct trod_span){
        .p = step->state.p + step->decoder, .n = step->state.n - step->decoder, .last = true};
    return nav_regs_load(regs, &in);
}

/* ---- where to begin */

/* The steps of block K. NULL: they cannot be looked up, which is reported when its rows are read.
 */
static const struct nav_steps *steps_of(struct trod_nav *nav, size_t k)
{
    return nav_steps_load(nav->steps, nav->index, k) == TROD_OK ? nav->steps : NULL;
}

uint64_t nav_from_time(struct trod_nav *nav, uint64_t time)
{
    const struct nav_index *x = nav->index;
    const struct nav_steps *s;
    uint32_t k = 0;
    size_t i;

    while (x && k < x->n_blocks && x->block[k].time_max < time)
        k++;
    if (!x || k == x->n_blocks)
        return x ? x->rows : 0;
    if (!(s = steps_of(nav, k)))
        return x->block[k].row;
    for (i = s->n; i > 1 && s->at[i - 1].time_max >= time;)
        i--;
    return s->at[i - 1].row;
}

int trod_index_unit(const struct trod_nav *nav, uint8_t *unit)
{
    const struct nav_index *x = nav->index;
    bool timed = false;

    if (!x)
        return TROD_ERR_UNKNOWN;
    for (uint32_t k = 0; k < x->n_blocks; k++) {
        if (x->block[k].flags & NAV_B_UNITS)
            return TROD_ERR_UNKNOWN;
        if (x->block[k].time_min > x->block[k].time_max)
            continue;
        *unit = (uint8_t)(x->block[k].flags >> NAV_B_UNIT);
        timed = true;
    }
    return timed;
}

uint64_t trod_nav_time_end(const struct trod_nav *nav, uint64_t time)
{
    const struct nav_index *x = nav->index;

    if (!x)
        return TROD_NOWHERE;
    for (uint32_t k = x->n_blocks; k-- > 0;)
        if (x->block[k].time_min <= time)
            return x->block[k].row + x->block[k].rows;
    return 0;
}

/* The first row of the block that has the one that is *LEFT after those before, of section ID. */
static uint64_t from_count(struct trod_nav *nav, unsigned id, uint64_t key, uint64_t *left)
{
    const struct nav_index *x = nav->index;
    const uint64_t all = *left;
    struct nav_postings found = {0};
    uint64_t row = x ? TROD_NOWHERE : 0;

    for (uint32_t s = 0; x && row == TROD_NOWHERE && s < x->n_segments; s++) {
        int rc;

        found.n = 0;
        rc = nav_postings_find(x, &x->segment[s], id, key, &found);
        if (rc < 0) { /* what cannot be looked up is looked for */
            row = x->block[x->segment[s].from].row;
            if (nav_distrust(nav, rc)) {
                x = NULL;
                row = 0;
                *left = all;
            }
            break;
        }
        for (size_t i = 0; i < found.n; i++) {
            if (found.at[i].a >= *left) {
                row = x->block[found.at[i].block].row;
                break;
            }
            *left -= found.at[i].a;
        }
    }
    free(found.at);
    return row;
}

uint64_t nav_from_visit(struct trod_nav *nav, uint64_t pc, uint64_t *left)
{
    return from_count(nav, NAV_S_SITES, pc, left);
}

uint64_t nav_from_kind(struct trod_nav *nav, uint64_t key, uint64_t *left)
{
    return from_count(nav, NAV_S_MARKS, key, left);
}

/* The last step of block K before which no instruction has NUMBER or more. */
static uint64_t from_number(struct trod_nav *nav, uint32_t k, uint64_t number)
{
    const struct nav_steps *s = steps_of(nav, k);
    size_t i;

    if (!s)
        return nav->index->block[k].row;
    for (i = s->n; i > 1 && s->at[i - 1].number_max >= number;)
        i--;
    return s->at[i - 1].row;
}

uint64_t nav_from_instruction(struct trod_nav *nav, uint64_t number, uint64_t *left)
{
    const struct nav_index *x = nav->index;
    const struct trod_format *f = trod_nav_format(nav);
    uint32_t k = 0;

    if (!x || x->n_blocks == 0)
        return 0;
    if (f && f->reads & TROD_COL_INDEX && x->block[0].number_max) {
        while (k + 1 < x->n_blocks && x->block[k].number_max < number)
            k++;
        return from_number(nav, k, number);
    }
    return nav_from_executed(nav, left);
}

uint64_t nav_from_executed(struct trod_nav *nav, uint64_t *left)
{
    const struct nav_index *x = nav->index;
    const uint64_t number = *left;
    const struct nav_steps *s;
    uint32_t k = 0;
    size_t i;

    if (!x || x->n_blocks == 0)
        return 0;
    while (k + 1 < x->n_blocks && x->block[k + 1].insn < number)
        k++;
    s = steps_of(nav, k);
    for (i = s ? s->n : 1; i > 1 && s->at[i - 1].insn >= number;)
        i--;
    *left -= s ? s->at[i - 1].insn : x->block[k].insn;
    return s ? s->at[i - 1].row : x->block[k].row;
}

uint64_t nav_from_line(struct trod_nav *nav, uint64_t line, uint64_t *offset, uint64_t *before)
{
    const struct nav_index *x = nav->index;
    const struct nav_steps *s;
    uint32_t k = 0;
    size_t i;

    *offset = *before = 0;
    if (!x || !x->lines_known || x->n_blocks == 0)
        return 0;
    while (k + 1 < x->n_blocks && x->block[k + 1].line + 1 <= line)
        k++;
    *offset = x->block[k].offset;
    *before = x->block[k].line;
    if (!(s = steps_of(nav, k)))
        return x->block[k].row;
    for (i = s->n; i > 1 && s->at[i - 1].line + 1 > line;)
        i--;
    *offset = s->at[i - 1].offset;
    *before = s->at[i - 1].line;
    return s->at[i - 1].row;
}

uint64_t nav_step_line(struct trod_nav *nav, uint64_t row, uint64_t *offset, uint64_t *before)
{
    const struct nav_index *x = nav->index;
    const struct nav_step *step;
    int rc = step_at(nav, row, &step);
    const bool known = rc == TROD_OK && step && x->lines_known;

    *offset = known ? step->offset : 0;
    *before = known ? step->line : 0;
    return known ? step->row : 0;
}

/* ---- which blocks */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The lines of L in ascending order, to be freed. NULL: no memory. */
static uint64_t *sorted(const struct nav_lines *l)
{
    uint64_t *number = calloc((size_t)l->n + 1, sizeof *number);
    size_t n = 0;

    for (uint32_t i = 0; number && i <= l->mask; i++)
        if (l->slot[i])
            number[n++] = l->slot[i]->number;
    if (number)
        qsort(number, n, sizeof *number, by_value);
    return number;
}

int nav_lines_prepare(struct trod_nav *nav, struct nav_lines *l)
{
    if (!nav->index)
        return TROD_OK;
    free(l->number);
    l->segment = UINT32_MAX;
    l->number = sorted(l);
    if (!l->held)
        l->held = calloc(1, sizeof *l->held);
    return l->number && l->held ? TROD_OK : TROD_ERR_NOMEM;
}

/* Of the N lines KEY those that segment S can tell something of, in their order. *N: so many. */
static int may_tell(const struct nav_index *x, uint32_t s, uint64_t *key, size_t *n)
{
    size_t left = 0;
    int rc = TROD_OK;

    for (size_t i = 0; rc >= 0 && i < *n; i++)
        if ((rc = nav_bloom_may(x, &x->segment[s], key[i])) > 0)
            key[left++] = key[i];
    *n = left;
    return rc < 0 ? rc : TROD_OK;
}

/*
 * What blocks of segment S, from block K on to the side that L goes to, hold of the lines of L that
 * are open.
 */
static int look_up(const struct nav_index *x, uint32_t s, size_t k, struct nav_lines *l)
{
    const struct nav_blocks blocks = {.from = l->forward ? (uint32_t)k : 0,
                                      .to = l->forward ? UINT32_MAX : (uint32_t)k + 1};
    uint64_t *key = NULL;
    size_t n = nav_lines_open(l, &key);
    int rc = key ? TROD_OK : TROD_ERR_NOMEM;

    l->held->n = 0;
    if (rc == TROD_OK)
        key[n++] = NAV_ANY_LINE;
    if (rc == TROD_OK)
        rc = may_tell(x, s, key, &n);
    if (rc == TROD_OK)
        rc = nav_postings_in(x, &x->segment[s], NAV_S_LINES, key, n, &blocks, l->held);
    if (rc == TROD_OK)
        rc = nav_postings_by_block(l->held, &x->segment[s], &l->held_from);
    for (size_t i = 0; rc == TROD_OK && i < l->held->n; i++)
        if (l->held->at[i].key != NAV_ANY_LINE)
            nav_lines_find(l, l->held->at[i].key)->held = s;
    free(key);
    l->segment = rc == TROD_OK ? s : UINT32_MAX;
    return rc;
}

int nav_block_touches(struct trod_nav *nav, size_t k, struct nav_lines *l)
{
    const struct nav_index *x = nav->index;
    const uint32_t s = x && x->n_segments ? nav_index_segment(x, k) : 0;
    unsigned steps = 0;
    uint64_t told; /* reads that tell nothing are of no use */
    size_t from;

    if (!x || !l->held || s >= x->n_segments)
        return NAV_ALL_STEPS;
    if (l->segment != s) {
        const int rc = look_up(x, s, k, l);

        if (rc < 0)
            return rc;
    }
    told = x->block[k].flags & NAV_B_SILENT ? 0 : UINT64_MAX;
    from = k - x->segment[s].from;
    for (size_t i = l->held_from[from]; i < l->held_from[from + 1]; i++) {
        const struct nav_posting *p = &l->held->at[l->held->order[i]];
        const struct nav_line *line = p->key == NAV_ANY_LINE ? NULL : nav_lines_find(l, p->key);

        if (!line || line->open & (p->a | (p->b & (l->forward ? told : told & ~line->seen))))
            steps |= p->steps;
    }
    return (int)(steps & NAV_ALL_STEPS);
}

void nav_candidates_add(const struct nav_postings *found, const struct trod_nav_query *q,
                        uint8_t *block)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct nav_posting *p = &found->at[i];
        uint64_t mask = UINT64_MAX;

        if (!q->reg && !(q->access & (TROD_NAV_VISITS | TROD_NAV_KIND))) {
            const uint64_t first = p->key * NAV_LINE;

            mask =
                (q->access & TROD_NAV_WRITES ? p->a : 0) | (q->access & TROD_NAV_READS ? p->b : 0);
            if (p->key != NAV_ANY_LINE && q->lo > first)
                mask &= UINT64_MAX << (q->lo - first);
            if (p->key != NAV_ANY_LINE && q->hi < first + 63)
                mask &= UINT64_MAX >> (first + 63 - q->hi);
        }
        if (q->access & TROD_NAV_VISITS)
            mask = p->a; /* rows that name the address are no visits */
        if (mask)
            block[p->block] |= p->steps ? (uint8_t)p->steps : NAV_ALL_STEPS;
    }
}

/* Does register ID, as the index names it, matter for what is asked of REG? */
static bool about(const struct nav_names *names, uint32_t id, const char *reg)
{
    const char *name = names->at[id].text;
    const size_t n = strlen(name);

    return nav_names_means(names, id, reg) || (strncmp(reg, name, n) == 0 && reg[n] == '_') ||
           nav_fields(names->isa, name, reg);
}

static int register_candidates(const struct nav_index *x, const struct trod_nav_query *q,
                               const char *reg, const struct nav_segment *s,
                               struct nav_postings *found)
{
    int rc = TROD_OK;

    for (uint32_t id = 0; rc == TROD_OK && id < x->names.n; id++) {
        if (!about(&x->names, id, reg))
            continue;
        if (q->access & TROD_NAV_WRITES)
            rc = nav_postings_find(x, s, NAV_S_REGS, 2 * (uint64_t)id, found);
        if (rc == TROD_OK && q->access & TROD_NAV_READS)
            rc = nav_postings_find(x, s, NAV_S_REGS, 2 * (uint64_t)id + 1, found);
    }
    return rc;
}

int nav_candidates_init(struct nav_candidates *c, struct trod_nav *nav,
                        const struct trod_nav_query *query, const char *reg)
{
    const struct nav_index *x = nav->index;

    *c = (struct nav_candidates){.query = query, .reg = reg};
    if (!x)
        return TROD_OK;
    c->steps = calloc((size_t)x->n_blocks + 1, 1);
    c->looked = calloc((size_t)x->n_segments + 1, 1);
    c->there = calloc((size_t)x->n_blocks + 1, 1);
    return c->steps && c->looked && c->there ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_candidates_fini(struct nav_candidates *c)
{
    free(c->steps);
    free(c->looked);
    free(c->there);
    c->steps = c->looked = c->there = NULL;
}

/* May segment S have a write to one of a few lines, FIRST to LAST? Returns 1, 0 or an error. */
static int may_write(const struct nav_index *x, const struct nav_segment *s, uint64_t first,
                     uint64_t last)
{
    int rc = nav_bloom_may(x, s, NAV_ANY_LINE);

    if (last - first >= NAV_LINE)
        return 1;
    for (uint64_t key = first; rc == 0 && key <= last; key++)
        rc = nav_bloom_may(x, s, key);
    return rc;
}

int nav_lines_of(const struct nav_index *x, const struct nav_segment *s,
                 const struct trod_nav_query *q, struct nav_postings *found)
{
    int rc = 1;

    if (!(q->access & TROD_NAV_READS))
        rc = may_write(x, s, q->lo / NAV_LINE, q->hi / NAV_LINE);
    if (rc <= 0)
        return rc;
    rc = nav_postings_range(x, s, NAV_S_LINES, q->lo / NAV_LINE, q->hi / NAV_LINE, found);

    if (rc == TROD_OK)
        rc = nav_postings_find(x, s, NAV_S_LINES, NAV_ANY_LINE, found);
    return rc;
}

static int look_for(struct nav_candidates *c, const struct nav_index *x, uint32_t s)
{
    const struct trod_nav_query *q = c->query;
    const struct nav_segment *segment = &x->segment[s];
    struct nav_postings found = {0};
    int rc;

    if (q->reg)
        rc = register_candidates(x, q, c->reg, segment, &found);
    else if (q->access & TROD_NAV_KIND)
        rc = nav_postings_find(x, segment, NAV_S_MARKS, q->lo, &found);
    else if (q->access & TROD_NAV_VISITS)
        rc = nav_postings_find(x, segment, NAV_S_SITES, q->lo, &found);
    else
        rc = nav_lines_of(x, segment, q, &found);
    nav_candidates_add(&found, q, c->steps);
    free(found.at);
    c->looked[s] = rc == TROD_OK;
    return rc;
}

int nav_candidates_of(struct nav_candidates *c, const struct trod_nav *nav, size_t k)
{
    const struct nav_index *x = nav->index;
    const uint32_t s = x ? nav_index_segment(x, k) : 0;
    int rc = TROD_OK;

    if (x && c->need && k < x->n_blocks && nav_need_outside(c->need, &x->block[k]))
        return 0;
    if (!x || !c->steps || s >= x->n_segments)
        return NAV_ALL_STEPS;
    if (!c->looked[s])
        rc = c->need ? nav_need_look(c, x, s) : look_for(c, x, s);
    return rc < 0 ? rc : c->steps[k];
}
