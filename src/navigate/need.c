/*
 * need.c - which blocks may have rows that a search needs. Implements nav.h: candidates of a NEED.
 *
 * Lists by line, kind and address say where such rows may be; addresses of instructions then take
 * blocks away that have none of them.
 */
#include "navigate/index.h"
#include "navigate/nav.h"
#include "navigate/tally.h"
#include "navigate/values.h"

#include <stdlib.h>
#include <string.h>

/* Of the blocks of segment S by kind and address. */
static int by_kind(struct nav_candidates *c, const struct nav_index *x, uint32_t s)
{
    static const struct trod_nav_query whole = {.access = TROD_NAV_KIND};
    const struct trod_match_need *need = c->need;
    const struct nav_segment *segment = &x->segment[s];
    const uint32_t reads = 1u << TROD_READ, writes = 1u << TROD_WRITE | 1u << TROD_ATOMIC;
    struct nav_postings found = {0};
    uint32_t kinds = need->kinds;
    int rc = TROD_OK;

    if (need->bounded && kinds & (reads | writes)) {
        const struct trod_nav_query q = {.access = (kinds & reads ? TROD_NAV_READS : 0u) |
                                                   (kinds & writes ? TROD_NAV_WRITES : 0u),
                                         .lo = need->lo,
                                         .hi = need->hi};

        rc = nav_lines_of(x, segment, &q, &found);
        nav_candidates_add(&found, &q, c->steps);
        found.n = 0;
        kinds &= ~(reads | writes);
    }
    if (rc == TROD_OK && need->bounded && kinds & 1u << TROD_INSTR) {
        const uint64_t from = need->lo > need->reach ? need->lo - need->reach : 0;

        rc = nav_postings_range(x, segment, NAV_S_SITES, from, need->hi, &found);
        if (rc == TROD_OK)
            rc = nav_postings_find(x, segment, NAV_S_SITES, NAV_ANY_SITE, &found);
        kinds &= ~(1u << TROD_INSTR);
    }
    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++)
        if (kinds >> kind & 1)
            rc = nav_postings_find(x, segment, NAV_S_MARKS,
                                   need->bounded ? nav_mark_placed(kind) : kind, &found);
    nav_candidates_add(&found, &whole, c->steps);
    free(found.at);
    return rc;
}

/* Of the blocks of segment S those stay that have instructions, or rows that name them, at PCS. */
static int by_pc(struct nav_candidates *c, const struct nav_index *x, uint32_t s,
                 const struct trod_match_spans *pcs)
{
    const struct nav_segment *segment = &x->segment[s];
    uint8_t *steps = c->steps + segment->from;
    struct nav_postings found = {0};
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < pcs->n; i++)
        rc = nav_postings_range(x, segment, NAV_S_SITES, pcs->at[i].lo, pcs->at[i].hi, &found);
    for (uint32_t k = segment->from; rc == TROD_OK && k < segment->to; k++)
        c->there[k] = 0;
    for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
        c->there[found.at[i].block] = 1;
    for (uint32_t k = 0; rc == TROD_OK && k < segment->to - segment->from; k++)
        steps[k] = c->there[segment->from + k] ? steps[k] : 0;
    free(found.at);
    return rc;
}

/* Of the blocks of segment S those steps stay that may have one of VALUES. */
static int by_value(struct nav_candidates *c, const struct nav_index *x, uint32_t s,
                    const struct trod_match_spans *values)
{
    uint64_t number[TROD_MATCH_SPANS], v;
    size_t n = 0;

    for (uint32_t i = 0; i < values->n; i++) {
        if (values->at[i].hi - values->at[i].lo >= TROD_MATCH_SPANS - n)
            return TROD_OK; /* too many to be asked for */
        for (v = values->at[i].lo; n < TROD_MATCH_SPANS && v - 1 != values->at[i].hi; v++)
            number[n++] = v;
    }
    return nav_values_only(x, &x->segment[s], number, n, c->steps + x->segment[s].from);
}

int nav_need_look(struct nav_candidates *c, const struct nav_index *x, uint32_t s)
{
    int rc = by_kind(c, x, s);

    if (rc == TROD_OK && c->need->pcs.set)
        rc = by_pc(c, x, s, &c->need->pcs);
    if (rc == TROD_OK && c->need->values.set)
        rc = by_value(c, x, s, &c->need->values);
    c->looked[s] = rc == TROD_OK;
    return rc;
}

bool nav_need_outside(const struct trod_match_need *need, const struct nav_block *b)
{
    return (need->rows.set && (need->rows.lo >= b->row + b->rows || need->rows.hi < b->row)) ||
           (need->times.set && (need->times.lo > b->time_max || need->times.hi < b->time_min));
}
