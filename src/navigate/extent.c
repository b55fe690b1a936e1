/*
 * extent.c - the rows that go with an instruction. Implements trod_nav_extent of trod/navigate.h.
 */
#include "trace/owned.h"
#include "trod/navigate.h"

/* The instruction before ROW, if any, to *O. 0 or an error. */
static int before(struct trod_nav *nav, uint64_t row, struct trod_owning *o)
{
    const struct trod_nav_query query = {.access = TROD_NAV_KIND, .lo = TROD_INSTR};
    const struct trod_batch *b;
    struct trod_nav_hit hit;
    size_t n = 0;
    uint32_t i;
    int r = trod_nav_find(nav, &query, row, true, &hit, 1, &n);

    if (r == 0 && n && (r = trod_nav_row(nav, hit.row, &b, &i)) > 0)
        trod_owned_note(o, b, i);
    return r < 0 ? r : 0;
}

/* *FIRST becomes the first row of what comes before the instruction in row *FIRST. 0 or an error.
 */
static int go_back(struct trod_nav *nav, uint64_t *first)
{
    struct trod_owning o = {.ran = false};
    const struct trod_batch *b;
    uint32_t i;
    int r = before(nav, *first, &o);

    while (r >= 0 && *first && (r = trod_nav_row(nav, *first - 1, &b, &i)) > 0 &&
           trod_owned_before(&o, b, i, !o.ran))
        --*first;
    return r < 0 ? r : 0;
}

/* *LAST becomes the last row of the instruction in row *LAST. 0 or an error. */
static int go_on(struct trod_nav *nav, uint64_t *last)
{
    struct trod_owning o = {.ran = false};
    const struct trod_batch *b;
    uint32_t i;
    int r = trod_nav_row(nav, *last, &b, &i);

    if (r > 0)
        trod_owned_note(&o, b, i);
    while (r > 0 && (r = trod_nav_row(nav, *last + 1, &b, &i)) > 0 && !trod_owned_next(&o, b, i)) {
        if (b->kind[i] == TROD_INSTR)
            trod_owned_note(&o, b, i);
        ++*last;
    }
    return r < 0 ? r : 0;
}

int trod_nav_extent(struct trod_nav *nav, uint64_t row, uint64_t *first, uint64_t *last)
{
    const struct trod_batch *b;
    bool executed;
    uint32_t i;
    int r = trod_nav_row(nav, row, &b, &i);

    *first = *last = row;
    if (r <= 0 || b->kind[i] != TROD_INSTR)
        return r;
    executed = trod_owned_executed(b, i);
    if (executed)
        r = go_back(nav, first);
    if (r >= 0)
        r = go_on(nav, last);
    return r < 0 ? r : 1;
}
