/*
 * counts.c - how many rows of a block are looked for, where the lists of an index say it: rows by
 * kind, by value, instructions by address, rows by what they look like. Implements nav.h.
 */
#include "navigate/index.h"
#include "navigate/nav.h"
#include "navigate/values.h"

#include <stdlib.h>
#include <string.h>

int nav_counts_init(struct nav_counts *c, const struct trod_nav *nav,
                    const struct trod_match_need *need)
{
    const struct nav_index *x = nav->index;

    *c = (struct nav_counts){.need = need};
    if (!x)
        return TROD_OK;
    c->at = calloc((size_t)x->n_blocks + 1, sizeof *c->at);
    c->looked = calloc((size_t)x->n_segments + 1, 1);
    return c->at && c->looked ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_counts_fini(struct nav_counts *c)
{
    free(c->at);
    free(c->looked);
    c->at = NULL;
    c->looked = NULL;
}

/* Are all rows and times of block B among those that are wanted? Of numbers that is not known. */
static bool is_inside(const struct trod_match_need *need, const struct nav_block *b)
{
    const struct trod_range *rows = &need->rows, *times = &need->times;

    return !need->numbers.set &&
           (!rows->set || (rows->lo <= b->row && rows->hi >= b->row + b->rows - 1)) &&
           (!times->set || (times->lo <= b->time_min && times->hi >= b->time_max));
}

static void add(const struct nav_posting *p, uint64_t *at)
{
    if (at[p->block] != NAV_UNCOUNTED)
        at[p->block] += p->a;
}

static int by_kind(struct nav_counts *c, const struct nav_index *x,
                   const struct nav_segment *segment)
{
    struct nav_postings found = {0};
    int rc = TROD_OK;

    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++)
        if (c->need->kinds >> kind & 1)
            rc = nav_postings_find(x, segment, NAV_S_MARKS, kind, &found);
    for (size_t i = 0; i < found.n; i++)
        add(&found.at[i], c->at);
    free(found.at);
    return rc;
}

/* N rows of kinds THERE: where some of them are wanted and others are not it is not known. */
static void add_some(struct nav_counts *c, uint32_t block, uint32_t there, uint64_t n)
{
    const uint32_t wanted = there & c->need->kinds;

    if (wanted && wanted != there)
        c->at[block] = NAV_UNCOUNTED;
    else if (wanted && c->at[block] != NAV_UNCOUNTED)
        c->at[block] += n;
}

/* Rows that belong to instructions at PCS. */
static int by_pc(struct nav_counts *c, const struct nav_index *x, const struct nav_segment *segment,
                 const struct trod_match_spans *pcs)
{
    const uint32_t instruction = 1u << TROD_INSTR;
    struct nav_postings found = {0};
    int rc = TROD_OK;

    for (uint32_t k = segment->from; k < segment->to; k++)
        if (x->block[k].flags & NAV_B_ASIDE)
            c->at[k] = NAV_UNCOUNTED;
    for (uint32_t i = 0; rc == TROD_OK && i < pcs->n; i++)
        rc = nav_postings_range(x, segment, NAV_S_SITES, pcs->at[i].lo, pcs->at[i].hi, &found);
    for (size_t i = 0; i < found.n; i++) {
        const struct nav_posting *p = &found.at[i];
        const uint32_t kinds = (uint32_t)p->b;

        add_some(c, p->block, kinds & instruction, p->a);
        add_some(c, p->block, kinds & ~instruction, p->b >> NAV_SITE_ROWS);
    }
    free(found.at);
    return rc;
}

/* All values that there are. */
static bool any_value(const struct trod_match_spans *v)
{
    return v->set && v->n == 1 && v->at[0].lo == 0 && v->at[0].hi == UINT64_MAX;
}

/* Does it go by classes alone? */
static bool by_class(const struct nav_counts *c)
{
    const struct trod_match_need *n = c->need;

    return c->class_choice && !c->shape_choice && !n->pcs.set &&
           (!n->values.set || any_value(&n->values)) &&
           (c->classes || n->times.set || n->bounded || n->values.set);
}

/* Does it go by how rows look, and by nothing but their class besides? */
static bool by_shapes(const struct nav_counts *c)
{
    const struct trod_match_need *n = c->need;

    return c->shape_choice && (c->class_choice || !c->classes) && !n->pcs.set && !n->values.set &&
           !n->times.set && !n->bounded;
}

/* Does it go by values, and by nothing but classes and times besides? */
static bool by_values(const struct nav_counts *c)
{
    const struct trod_match_need *n = c->need;

    return n->values.set && !c->shape_choice && !n->pcs.set && !n->bounded &&
           (c->class_choice || !(c->classes || n->times.set));
}

/*
 * Of rows of a kind, ALL, as many LOOK as it is wanted, of SOME the class is wanted: how many are
 * both. Where there are others of each nobody knows which these are.
 */
static uint64_t both(uint64_t all, uint64_t look, uint64_t some)
{
    if (look == 0 || some == 0)
        return 0;
    if (look == NAV_UNCOUNTED || some == NAV_UNCOUNTED)
        return NAV_UNCOUNTED;
    return some == all ? look : look == all ? some : NAV_UNCOUNTED;
}

/* Add N rows to *TO; NAV_UNCOUNTED: nobody knows. */
static void add_rows(uint64_t *to, uint64_t n)
{
    *to = *to == NAV_UNCOUNTED || n == NAV_UNCOUNTED ? NAV_UNCOUNTED : *to + n;
}

/* Rows of segment S that have the values, and are of the classes that are wanted. */
static int count_by_values(const struct nav_counts *c, const struct nav_index *x, uint32_t s,
                           uint64_t *at)
{
    const struct trod_match_need *need = c->need;
    const size_t n = TROD_KINDS * (size_t)(x->segment[s].to - x->segment[s].from);
    uint64_t *have = calloc(3 * n + 1, sizeof *have), *all = have + n, *some = all + n;
    const bool classes = c->classes || need->times.set;
    int rc = have ? nav_values_count(x, &x->segment[s], &need->values, have) : TROD_ERR_NOMEM;

    if (rc == TROD_OK && classes)
        rc = nav_class_choice_kinds(c->class_choice, x, s, TROD_COL_VALUE,
                                    need->times.set ? TROD_COL_TIME : 0, all, some);
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        if (need->kinds >> i % TROD_KINDS & 1)
            add_rows(&at[i / TROD_KINDS], classes ? both(all[i], have[i], some[i]) : have[i]);
    free(have);
    return rc;
}

/* What the N numbers of rows AT, of the blocks of a segment by kind, are together: to its first
 * block. */
static void gather(uint64_t *at, size_t n)
{
    for (size_t i = TROD_KINDS; i < n; i++)
        add_rows(&at[i % TROD_KINDS], at[i]);
}

/*
 * Rows of segment S that look as it is wanted, if classes are asked about of these. WHOLE: of all
 * its blocks, to the first one.
 */
static int by_look(const struct nav_counts *c, const struct nav_index *x, uint32_t s, bool whole,
                   uint64_t *at)
{
    size_t n = TROD_KINDS * (size_t)(x->segment[s].to - x->segment[s].from);
    uint64_t *look = calloc(3 * n + 1, sizeof *look), *all = look + n, *some = all + n;
    const bool sized = c->classes && nav_shape_choice_by_size(c->shape_choice);
    int rc = look ? nav_shape_choice_count(c->shape_choice, x, s, whole, look) : TROD_ERR_NOMEM;

    if (rc == TROD_OK && c->classes)
        rc = nav_class_choice_kinds(c->class_choice, x, s, 0, 0, all, some);
    if (rc == TROD_OK && whole) {
        gather(look, n);
        gather(all, n);
        gather(some, n);
        n = TROD_KINDS;
    }
    for (size_t i = 0; rc == TROD_OK && i < n; i++) {
        const size_t kind = i % TROD_KINDS;

        if (!c->classes || (sized && kind == TROD_INSTR && c->need->kinds & 1u << TROD_INSTR))
            add_rows(&at[i / TROD_KINDS], look[i]);
        else if (c->need->kinds >> kind & 1)
            add_rows(&at[i / TROD_KINDS], both(all[i], look[i], some[i]));
    }
    free(look);
    return rc;
}

/* The same: at once where all blocks are wanted and that tells it, else of each block. */
static int count_by_shapes(const struct nav_counts *c, const struct nav_index *x, uint32_t s,
                           uint64_t *at)
{
    const struct nav_segment *segment = &x->segment[s];
    bool whole = true;
    int rc = TROD_OK;

    for (uint32_t k = segment->from; whole && k < segment->to; k++)
        whole = is_inside(c->need, &x->block[k]);
    if (whole)
        rc = by_look(c, x, s, true, at);
    if (rc < 0 || (whole && at[0] != NAV_UNCOUNTED))
        return rc;
    at[0] = 0;
    return by_look(c, x, s, false, at);
}

static int look(struct nav_counts *c, const struct nav_index *x, uint32_t s)
{
    const struct nav_segment *segment = &x->segment[s];
    const struct trod_match_need *need = c->need;

    if (by_class(c)) {
        const uint32_t columns = (need->times.set ? TROD_COL_TIME : 0u) |
                                 (need->bounded ? TROD_COL_ADDR : 0u) |
                                 (need->values.set ? TROD_COL_VALUE : 0u);

        if (need->bounded && (need->lo > 0 || need->hi < UINT64_MAX))
            return nav_class_choice_within(c->class_choice, x, s, need, columns,
                                           c->at + segment->from);
        return nav_class_choice_count(c->class_choice, x, s, need->kinds, columns,
                                      c->at + segment->from);
    }
    if (c->shape_choice)
        return count_by_shapes(c, x, s, c->at + segment->from);
    if (need->values.set)
        return count_by_values(c, x, s, c->at + segment->from);
    return need->pcs.set ? by_pc(c, x, segment, &need->pcs) : by_kind(c, x, segment);
}

/* Is there more to what is looked for than lists know? */
static bool is_more(const struct nav_counts *c)
{
    const struct trod_match_need *n = c->need;

    if (by_class(c) || by_shapes(c) || by_values(c))
        return false;
    return n->bounded || n->times.set || c->classes || n->values.set || c->shape_choice;
}

int nav_counts_of(struct nav_counts *c, const struct trod_nav *nav, size_t k, uint64_t *count)
{
    const struct nav_index *x = nav->index;
    const uint32_t s = x && k < x->n_blocks ? nav_index_segment(x, k) : UINT32_MAX;
    const struct nav_block *b;

    *count = 0;
    if (!x || !c->at || s >= x->n_segments || is_more(c))
        return 0;
    b = &x->block[k];
    if (!c->need->kinds || nav_need_outside(c->need, b))
        return 1;
    if (!is_inside(c->need, b))
        return 0;
    if (!c->looked[s]) {
        const int rc = look(c, x, s);

        if (rc < 0)
            return rc;
        c->looked[s] = 1;
    }
    if (c->at[k] == NAV_UNCOUNTED)
        return 0;
    *count = c->at[k];
    return 1;
}
