/*
 * pairs.c - which rows of two groups agree, in any order.
 *
 * Implements cmp_pair_rows of match.h.
 */
#include "compare/match.h"

#include <stdlib.h>

enum { REACH = 1024, FEW = 16 };

/* Few rows: every one of A with every one of B. */
static int64_t pair_few(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                        size_t nb, bool *done_b)
{
    int64_t pairs = 0;

    for (size_t i = 0; i < na; i++) {
        struct cmp_row *a = cmp_queue_at(&l->queue[0], i);

        for (size_t j = 0; !done_a[i] && j < nb; j++) {
            struct cmp_row *b = cmp_queue_at(&l->queue[1], j);

            if (done_b[j] || a->subject != b->subject || cmp_row_differs(a, b, m->rules) != 0)
                continue;
            cmp_history_note_rows(m->history, l->pair, a, b);
            done_a[i] = done_b[j] = true;
            pairs++;
        }
    }
    return pairs;
}

/* Many: the rows of B under what they say (or their subjects), in chains of rising place + 1. */
struct chains {
    uint32_t *first, *next;
    size_t mask;
    bool exact;
};

static uint32_t *chain_of(const struct chains *c, const struct cmp_row *r)
{
    return &c->first[(c->exact ? r->exact >> 1 : r->subject) & c->mask];
}

static int link_rows(const struct cmp_queue *q, size_t n, const bool *done, struct chains *c)
{
    size_t size = 64;

    while (size < 2 * n)
        size *= 2;
    c->mask = size - 1;
    c->first = calloc(size + n, sizeof *c->first);
    if (!c->first)
        return TROD_ERR_NOMEM;
    c->next = c->first + size;
    for (size_t j = n; j-- > 0;) {
        const struct cmp_row *r = cmp_queue_at(q, j);
        uint32_t *head = chain_of(c, r);

        if (done[j] || (c->exact && r->exact == 0))
            continue;
        c->next[j] = *head;
        *head = (uint32_t)j + 1;
    }
    return TROD_OK;
}

/* The first open row of B that agrees with A: it leaves its chain. SIZE_MAX: none. */
static size_t pick(const struct cmp_lane *l, const struct cmp_match *m, struct chains *c,
                   const struct cmp_row *a)
{
    uint32_t *link = chain_of(c, a);

    for (unsigned reach = 0; *link && reach < REACH; reach++) {
        size_t j = *link - 1u;
        const struct cmp_row *b = cmp_queue_at(&l->queue[1], j);

        if (a->subject == b->subject && cmp_row_differs(a, b, m->rules) == 0) {
            *link = c->next[j];
            return j;
        }
        link = &c->next[j];
    }
    return SIZE_MAX;
}

/* Rows that say all in full first (EXACT), then what is left by subject. */
static int64_t pair_many(struct cmp_lane *l, const struct cmp_match *m, bool exact, size_t na,
                         bool *done_a, size_t nb, bool *done_b)
{
    struct chains c = {.exact = exact};
    int64_t pairs = 0;

    if (link_rows(&l->queue[1], nb, done_b, &c) < 0)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < na; i++) {
        struct cmp_row *a = cmp_queue_at(&l->queue[0], i);
        size_t j = done_a[i] || (exact && a->exact == 0) ? SIZE_MAX : pick(l, m, &c, a);

        if (j == SIZE_MAX)
            continue;
        cmp_history_note_rows(m->history, l->pair, a, cmp_queue_at(&l->queue[1], j));
        done_a[i] = done_b[j] = true;
        pairs++;
    }
    free(c.first);
    return pairs;
}

int64_t cmp_pair_rows(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                      size_t nb, bool *done_b)
{
    int64_t pairs, more;

    if (na * nb <= FEW * FEW)
        return pair_few(l, m, na, done_a, nb, done_b);
    pairs = pair_many(l, m, true, na, done_a, nb, done_b);
    more = pairs < 0 ? pairs : pair_many(l, m, false, na, done_a, nb, done_b);
    return more < 0 ? more : pairs + more;
}
