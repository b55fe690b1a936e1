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

/* Rows FROM to TO were found, and those around them are wanted as well. */
static int found(struct searching *s, uint64_t from, uint64_t to)
{
    int rc = TROD_OK;

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
    int rc = nav_candidates_init(&s->candidates, s->nav, NULL, NULL);

    s->candidates.need = need;
    s->from = s->to = 0;
    for (size_t k = nav_block_of(s->nav, s->next);
         rc == TROD_OK && !s->over && k < nav_blocks(s->nav); k++)
        rc = block(s, k);
    if (rc == TROD_OK && !s->over)
        rc = tell(s);
    nav_candidates_fini(&s->candidates);
    return rc;
}

int trod_nav_search(struct trod_nav *nav, const struct trod_match_need *need, uint64_t before,
                    uint64_t behind, trod_nav_rows_fn fn, void *user)
{
    struct searching s = {.nav = nav, .before = before, .behind = behind, .fn = fn, .user = user};
    const int rc = search(&s, need);

    return nav_distrust(nav, rc) ? search(&s, need) : rc;
}

static int expect(struct trod_nav *nav, const struct trod_match_need *need, uint64_t *rows)
{
    struct nav_candidates c;
    int rc = nav_candidates_init(&c, nav, NULL, NULL);

    c.need = need;
    *rows = nav->index ? 0 : TROD_NOWHERE;
    for (size_t k = 0; rc >= 0 && nav->index && k < nav_blocks(nav); k++) {
        const uint64_t step = nav->index->block[k].rows / NAV_STEPS;

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
