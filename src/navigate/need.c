/*
 * need.c - which blocks may have rows that a search needs. Implements nav.h: candidates of a NEED.
 *
 * Lists by line, kind and address say where such rows may be; addresses of instructions, values and
 * how rows look then take steps away that have none of them.
 */
#include "core/grow.h"
#include "navigate/index.h"
#include "navigate/nav.h"
#include "navigate/spread.h"
#include "navigate/tally.h"
#include "navigate/values.h"

#include <stdlib.h>
#include <string.h>

enum { WIDE = 1 << 20 }; /* bytes whose lines are too many to be looked up one by one */

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

    if (need->bounded && need->hi - need->lo >= WIDE && need->lo <= need->hi) {
        rc = nav_spread_may(x, segment, need->lo, need->hi, kinds & NAV_SPREAD_KINDS, c->steps);
        kinds &= ~(uint32_t)NAV_SPREAD_KINDS;
    }
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

/* Of the blocks of segment S those steps stay that have rows of KINDS that belong to PCS. */
static int by_pc(struct nav_candidates *c, const struct nav_index *x, uint32_t s,
                 const struct trod_match_spans *pcs, uint32_t kinds)
{
    const struct nav_segment *segment = &x->segment[s];
    struct nav_postings found = {0};
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < pcs->n; i++)
        rc = nav_postings_range(x, segment, NAV_S_SITES, pcs->at[i].lo, pcs->at[i].hi, &found);
    for (uint32_t k = segment->from; rc == TROD_OK && k < segment->to; k++)
        c->there[k] = 0;
    for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
        if (found.at[i].b & kinds && (!c->only || nav_numbers_have(c->only, found.at[i].key)))
            c->there[found.at[i].block] |= (uint8_t)found.at[i].steps;
    for (uint32_t k = segment->from; rc == TROD_OK && k < segment->to; k++)
        c->steps[k] &= c->there[k];
    free(found.at);
    return rc;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t v = *(const uint64_t *)a, w = *(const uint64_t *)b;

    return v < w ? -1 : v > w;
}

bool nav_numbers_have(const struct nav_numbers *n, uint64_t v)
{
    return n->n && bsearch(&v, n->at, n->n, sizeof *n->at, ascending);
}

/* Keys of FOUND that have rows of KINDS to TO. */
static int add_sites(const struct nav_postings *found, uint32_t kinds, struct nav_numbers *to)
{
    for (size_t i = 0; i < found->n; i++) {
        const uint64_t key = found->at[i].key;

        if (!(found->at[i].b & kinds) || (to->n && to->at[to->n - 1] == key))
            continue;
        if (!trod_grow(&to->at, to->n, &to->cap, sizeof *to->at, 256))
            return TROD_ERR_NOMEM;
        to->at[to->n++] = key;
    }
    return TROD_OK;
}

int nav_need_sites(const struct nav_index *x, const struct trod_match_need *need,
                   struct nav_numbers *out)
{
    struct nav_postings found = {0};
    size_t n = 0;
    int rc = TROD_OK;

    for (uint32_t s = 0; rc == TROD_OK && s < x->n_segments; s++)
        for (uint32_t i = 0; rc == TROD_OK && i < need->pcs.n; i++) {
            found.n = 0;
            rc = nav_postings_range(x, &x->segment[s], NAV_S_SITES, need->pcs.at[i].lo,
                                    need->pcs.at[i].hi, &found);
            if (rc == TROD_OK)
                rc = add_sites(&found, need->kinds, out);
        }
    free(found.at);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, ascending);
    for (size_t i = 0; i < out->n; i++)
        if (i == 0 || out->at[i] != out->at[n - 1])
            out->at[n++] = out->at[i];
    out->n = n;
    return rc;
}

/* Of the blocks of segment S those steps stay that have one of VALUES. */
static int by_value(struct nav_candidates *c, const struct nav_index *x, uint32_t s,
                    const struct trod_match_spans *values)
{
    const struct nav_segment *segment = &x->segment[s];
    int rc;

    memset(c->there + segment->from, 0, segment->to - segment->from);
    rc = nav_values_steps(x, segment, values, c->need->kinds, c->there + segment->from);
    for (uint32_t k = segment->from; rc == TROD_OK && k < segment->to; k++)
        c->steps[k] &= c->there[k];
    return rc;
}

int nav_need_look(struct nav_candidates *c, const struct nav_index *x, uint32_t s)
{
    int rc = by_kind(c, x, s);

    if (rc == TROD_OK && c->need->pcs.set)
        rc = by_pc(c, x, s, &c->need->pcs, c->need->kinds);
    if (rc == TROD_OK && c->need->values.set)
        rc = by_value(c, x, s, &c->need->values);
    if (rc == TROD_OK && c->shape_choice)
        rc = nav_shape_choice_steps(c->shape_choice, x, s, c->steps + x->segment[s].from);
    if (rc == TROD_OK && c->class_choice)
        rc = nav_class_choice_steps(c->class_choice, x, s, c->steps + x->segment[s].from);
    c->looked[s] = rc == TROD_OK;
    return rc;
}

bool nav_need_outside(const struct trod_match_need *need, const struct nav_block *b)
{
    return (need->rows.set && (need->rows.lo >= b->row + b->rows || need->rows.hi < b->row)) ||
           (need->times.set && (need->times.lo > b->time_max || need->times.hi < b->time_min)) ||
           (need->numbers.set && (need->numbers.lo > b->last || need->numbers.hi < b->first));
}
