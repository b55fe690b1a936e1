/*
 * search.c - rows that may match, found with what an index has of kinds and addresses. Implements
 * trod_nav_search.
 */
#include "navigate/index.h"
#include "navigate/nav.h"

#include <stdlib.h>
#include <string.h>

struct searching {
    struct trod_nav *nav;
    struct nav_candidates candidates;
    struct nav_candidates executed; /* where instructions are, if rows go by theirs */
    bool owners;
    uint64_t lo, hi; /* rows that may match */
    uint64_t before, behind;
    uint64_t from, to; /* rows that were found and not told yet */
    uint64_t next;     /* behind all that were told */
    bool over;
    trod_nav_rows_fn fn;
    void *user;
};

static int rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct searching *s = user;
    const int rc = s->fn(s->user, b, i, n, row);

    s->next = row + n;
    s->over = rc == 0;
    return rc;
}

/* Tell the rows that were found. */
static int tell(struct searching *s)
{
    const uint64_t from = s->from > s->next ? s->from : s->next, to = s->to;

    s->from = s->to = 0;
    return from < to ? nav_scan(s->nav, from, to, rows, s) : TROD_OK;
}

/*
 * Where reading begins so that the last instruction before row *FROM is read, of a trace of one
 * stream: with a step that has instructions.
 */
static int to_owner(struct searching *s, uint64_t *from)
{
    uint64_t first, end;
    int rc = nav_step_of(s->nav, *from, 0, &first, &end);

    for (*from = first; rc == 0 && first > 0; *from = first) {
        rc = nav_candidates_of(&s->executed, s->nav, nav_block_of(s->nav, first - 1));
        if (rc >= 0)
            rc = nav_step_of(s->nav, first - 1, rc, &first, &end);
    }
    return rc < 0 ? rc : TROD_OK;
}

/* Rows FROM to TO were found, and those around them are wanted as well. */
static int found(struct searching *s, uint64_t from, uint64_t to)
{
    int rc = TROD_OK;

    from = from > s->lo ? from : s->lo;
    to = to - 1 < s->hi ? to : s->hi + 1;
    if (from >= to)
        return TROD_OK;
    if (s->owners && (rc = to_owner(s, &from)) < 0)
        return rc;
    from = from > s->before ? from - s->before : 0;
    to = to < TROD_NOWHERE - s->behind ? to + s->behind : TROD_NOWHERE;
    if (from > s->to || s->to == 0) {
        rc = tell(s);
        s->from = from;
    }
    s->to = to;
    return rc;
}

static int block(struct searching *s, size_t k)
{
    uint64_t row = nav_block_first(s->nav, k), end;
    int rc = nav_candidates_of(&s->candidates, s->nav, k);
    const int steps = rc;

    while (rc > 0 && !s->over && (rc = nav_step_next(s->nav, k, steps, &row, &end)) > 0) {
        rc = found(s, row, end);
        rc = rc < 0 ? rc : 1;
        row = end;
    }
    return rc < 0 ? rc : TROD_OK;
}

static int search(struct searching *s, const struct trod_match_need *need)
{
    static const struct trod_match_need instructions = {.kinds = 1u << TROD_INSTR};
    static const struct trod_match_need all = {.kinds = UINT32_MAX, .hi = UINT64_MAX};
    int rc = nav_candidates_init(&s->candidates, s->nav, NULL, NULL);

    if (rc == TROD_OK && s->owners)
        rc = nav_candidates_init(&s->executed, s->nav, NULL, NULL);
    s->candidates.need = need->owners && !s->owners ? &all : need;
    s->executed.need = &instructions;
    s->from = s->to = 0;
    for (size_t k = nav_block_of(s->nav, s->next);
         rc == TROD_OK && !s->over && k < nav_blocks(s->nav); k++)
        rc = block(s, k);
    if (rc == TROD_OK && !s->over)
        rc = tell(s);
    nav_candidates_fini(&s->candidates);
    nav_candidates_fini(&s->executed);
    return rc;
}

int trod_nav_search(struct trod_nav *nav, const struct trod_match_need *need, uint64_t before,
                    uint64_t behind, trod_nav_rows_fn fn, void *user)
{
    const bool one = nav->index && trod_nav_meta(nav)->n_streams <= 1;
    struct searching s = {.nav = nav,
                          .owners = need->owners && one,
                          .lo = need->rows.set && (one || !need->owners) ? need->rows.lo : 0,
                          .hi = need->rows.set ? need->rows.hi : UINT64_MAX,
                          .before = before,
                          .behind = behind,
                          .fn = fn,
                          .user = user};
    const int rc = search(&s, need);

    return nav_distrust(nav, rc) ? search(&s, need) : rc;
}

/* How many rows of block B are in RANGE. */
static uint64_t rows_of(const struct nav_block *b, const struct trod_range *range)
{
    const uint64_t from = range->lo > b->row ? range->lo : b->row;
    const uint64_t last = range->hi < b->row + b->rows ? range->hi + 1 : b->row + b->rows;

    return from < last ? last - from : 0;
}

static int expect(struct trod_nav *nav, const struct trod_match_need *need, uint64_t *rows)
{
    struct nav_candidates c;
    int rc = nav_candidates_init(&c, nav, NULL, NULL);

    const bool all = !nav->index || (need->owners && trod_nav_meta(nav)->n_streams > 1);

    c.need = need;
    *rows = all ? TROD_NOWHERE : 0;
    for (size_t k = 0; rc >= 0 && !all && k < nav_blocks(nav); k++) {
        const struct nav_block *b = &nav->index->block[k];
        const uint64_t part = need->rows.set ? rows_of(b, &need->rows) : b->rows;
        const uint64_t step = part / NAV_STEPS;

        rc = nav_candidates_of(&c, nav, k);
        for (unsigned i = 0; rc > 0 && i < NAV_STEPS; i++)
            *rows += rc >> i & 1 ? step : 0;
    }
    nav_candidates_fini(&c);
    return rc < 0 ? rc : TROD_OK;
}

int trod_nav_expect(struct trod_nav *nav, const struct trod_match_need *need, uint64_t *rows)
{
    const int rc = expect(nav, need, rows);

    return nav_distrust(nav, rc) ? expect(nav, need, rows) : rc;
}
