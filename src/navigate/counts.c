/*
 * counts.c - how many rows of a block are looked for, where the lists of an index say it: rows by
 * kind, by value, instructions by address, rows by what they look like. Implements nav.h.
 */
#include "navigate/index.h"
#include "navigate/nav.h"

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

/* Rows with numbers SPANS in the list of section ID. */
static int by_span(struct nav_counts *c, const struct nav_index *x,
                   const struct nav_segment *segment, unsigned id,
                   const struct trod_match_spans *spans)
{
    const uint32_t instruction = 1u << TROD_INSTR;
    struct nav_postings found = {0};
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < spans->n; i++)
        rc = nav_postings_range(x, segment, id, spans->at[i].lo, spans->at[i].hi, &found);
    for (size_t i = 0; i < found.n; i++) {
        const struct nav_posting *p = &found.at[i];
        const uint32_t kinds = (uint32_t)p->b;

        if (id == NAV_S_NUMBERS) {
            add_some(c, p->block, kinds, p->a);
        } else {
            add_some(c, p->block, kinds & instruction, p->a);
            add_some(c, p->block, kinds & ~instruction, p->b >> NAV_SITE_ROWS);
        }
    }
    free(found.at);
    return rc;
}

/* Blocks of SEGMENT of which FLAG is (IS) or is not set are not known. */
static void unless(struct nav_counts *c, const struct nav_index *x,
                   const struct nav_segment *segment, uint64_t flag, bool is)
{
    for (uint32_t k = segment->from; k < segment->to; k++)
        if (((x->block[k].flags & flag) != 0) == is)
            c->at[k] = NAV_UNCOUNTED;
}

static int look(struct nav_counts *c, const struct nav_index *x, uint32_t s)
{
    const struct nav_segment *segment = &x->segment[s];
    const struct trod_match_need *need = c->need;

    if (c->looks)
        return nav_looks_count(c->looks, x, s, c->at + segment->from);
    if (need->values.set) {
        unless(c, x, segment, NAV_B_LISTED, false);
        return by_span(c, x, segment, NAV_S_NUMBERS, &need->values);
    }
    if (!need->pcs.set)
        return by_kind(c, x, segment);
    unless(c, x, segment, NAV_B_ASIDE, true);
    return by_span(c, x, segment, NAV_S_SITES, &need->pcs);
}

/* Is there more to what is looked for than lists know? */
static bool is_more(const struct nav_counts *c)
{
    const struct trod_match_need *n = c->need;

    return n->bounded || n->times.set || (c->looks && (n->values.set || n->pcs.set)) ||
           (n->pcs.set && n->values.set);
}

int nav_counts_of(struct nav_counts *c, const struct trod_nav *nav, size_t k, uint64_t *count)
{
    const struct nav_index *x = nav->index;
    const struct trod_range *rows = &c->need->rows;
    const uint32_t s = x && k < x->n_blocks ? nav_index_segment(x, k) : UINT32_MAX;
    const struct nav_block *b;

    *count = 0;
    if (!x || !c->at || s >= x->n_segments || is_more(c))
        return 0;
    b = &x->block[k];
    if (!c->need->kinds || nav_need_outside(c->need, b))
        return 1;
    if (rows->set && (rows->lo > b->row || rows->hi < b->row + b->rows - 1))
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
