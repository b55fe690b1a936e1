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

int nav_step_row(struct trod_nav *nav, uint64_t row, uint64_t *first)
{
    const struct nav_step *step;
    int rc = step_at(nav, row, &step);

    *first = step ? step->row : 0;
    return rc;
}

int nav_regs_at(struct trod_nav *nav, uint64_t row, struct nav_regs *regs, uint64_t *first)
{
    const struct trod_format *f = trod_nav_format(nav);
    const struct nav_step *step;
    struct trod_span in;
    int rc = step_at(nav, row, &step);

    nav_regs_init(regs, &nav->names);
    regs->insn = nav->insn;
    regs->markers = f && f->flags & TROD_FMT_MARKERS;
    *first = step ? step->row : 0;
    if (!step || step->state.n == 0)
        return rc;
    in = (struct trod_span){
        .p = step->state.p + step->decoder, .n = step->state.n - step->decoder, .last = true};
    return nav_regs_load(regs, &in);
}

/* ---- where to begin */

/* The steps of block K. NULL: they cannot be looked up, which is told when its rows are read. */
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

/* The first row of the block that has the one that is *LEFT behind those before, of section ID. */
static uint64_t from_count(struct trod_nav *nav, unsigned id, uint64_t key, uint64_t *left)
{
    const struct nav_index *x = nav->index;
    struct nav_postings found = {0};
    uint64_t row = x ? TROD_NOWHERE : 0;

    for (uint32_t s = 0; x && row == TROD_NOWHERE && s < x->n_segments; s++) {
        found.n = 0;
        if (nav_postings_find(x, &x->segment[s], id, key, &found) < 0) {
            row = x->block[x->segment[s].from].row; /* what cannot be looked up is looked for */
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
    const struct nav_steps *s;
    uint32_t k = 0;
    size_t i;

    if (!x || x->n_blocks == 0)
        return 0;
    if (f && f->reads & TROD_COL_INDEX && x->block[0].number_max) {
        while (k + 1 < x->n_blocks && x->block[k].number_max < number)
            k++;
        return from_number(nav, k, number);
    }
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

static int by_block(const void *a, const void *b)
{
    const struct nav_posting *x = a, *y = b;

    return x->block < y->block ? -1 : x->block > y->block;
}

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

static int look_up(const struct nav_index *x, const uint64_t *number, size_t n,
                   struct nav_postings *found)
{
    int rc = TROD_OK;

    for (uint32_t s = 0; rc == TROD_OK && s < x->n_segments; s++) {
        for (size_t i = 0, end; rc == TROD_OK && i < n; i = end) {
            for (end = i + 1; end < n && number[end] == number[end - 1] + 1;)
                end++;
            rc = nav_postings_range(x, &x->segment[s], NAV_S_LINES, number[i], number[end - 1],
                                    found);
        }
        if (rc == TROD_OK)
            rc = nav_postings_find(x, &x->segment[s], NAV_S_LINES, NAV_ANY_LINE, found);
    }
    return rc;
}

int nav_lines_prepare(struct trod_nav *nav, struct nav_lines *l)
{
    const struct nav_index *x = nav->index;
    struct nav_postings found = {0};
    uint64_t *number;
    int rc;

    if (!x)
        return TROD_OK;
    number = sorted(l);
    l->held_from = calloc((size_t)x->n_blocks + 2, sizeof *l->held_from);
    if (!number || !l->held_from) {
        free(number);
        return TROD_ERR_NOMEM;
    }
    free(l->number);
    l->number = number;
    rc = look_up(x, number, l->n, &found);
    if (rc == TROD_OK && found.n) {
        qsort(found.at, found.n, sizeof *found.at, by_block);
        for (size_t i = 0; i < found.n; i++)
            l->held_from[found.at[i].block + 1]++;
        for (uint32_t k = 0; k <= x->n_blocks; k++)
            l->held_from[k + 1] += l->held_from[k];
    }
    l->held = found.at;
    return rc;
}

bool nav_block_touches(const struct trod_nav *nav, size_t k, const struct nav_lines *l)
{
    if (!nav->index || !l->held_from)
        return true;
    for (size_t i = l->held_from[k]; i < l->held_from[k + 1]; i++) {
        const struct nav_posting *p = &l->held[i];
        const struct nav_line *line = p->key == NAV_ANY_LINE ? NULL : nav_lines_find(l, p->key);

        if (!line || line->open & (p->a | (p->b & (l->forward ? UINT64_MAX : ~line->seen))))
            return true;
    }
    return false;
}

/* The blocks of FOUND are candidates: those of postings that FITS says. */
static void add_candidates(const struct nav_postings *found, const struct trod_nav_query *q,
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
        if (mask)
            block[p->block] = 1;
    }
}

/* Does register ID, as the index names it, matter for what is asked of REG? */
static bool about(const struct nav_names *names, uint32_t id, const char *reg)
{
    const char *name = names->at[id].text;
    const size_t n = strlen(name);

    return nav_names_means(names, id, reg) || (strncmp(reg, name, n) == 0 && reg[n] == '_');
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

int nav_candidates(struct trod_nav *nav, const struct trod_nav_query *query, const char *reg,
                   uint8_t **block)
{
    const struct nav_index *x = nav->index;
    struct nav_postings found = {0};
    int rc = TROD_OK;

    *block = NULL;
    if (!x)
        return TROD_OK;
    *block = calloc((size_t)x->n_blocks + 1, 1);
    if (!*block)
        return TROD_ERR_NOMEM;
    for (uint32_t s = 0; rc == TROD_OK && s < x->n_segments; s++) {
        found.n = 0;
        if (query->reg)
            rc = register_candidates(x, query, reg, &x->segment[s], &found);
        else if (query->access & TROD_NAV_KIND)
            rc = nav_postings_find(x, &x->segment[s], NAV_S_MARKS, query->lo, &found);
        else if (query->access & TROD_NAV_VISITS)
            rc = nav_postings_find(x, &x->segment[s], NAV_S_SITES, query->lo, &found);
        else
            rc = nav_postings_range(x, &x->segment[s], NAV_S_LINES, query->lo / NAV_LINE,
                                    query->hi / NAV_LINE, &found);
        if (rc == TROD_OK && !query->reg && !(query->access & (TROD_NAV_VISITS | TROD_NAV_KIND)))
            rc = nav_postings_find(x, &x->segment[s], NAV_S_LINES, NAV_ANY_LINE, &found);
        add_candidates(&found, query, *block);
    }
    free(found.at);
    return rc;
}
