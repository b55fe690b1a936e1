/*
 * touch.c - which bytes of memory the block that is being indexed touches. Implements tally.h.
 */
#include "navigate/tally.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 1 << 12 };

int nav_touch_init(struct nav_touch *t, bool big)
{
    memset(t, 0, sizeof *t);
    t->big = big;
    t->turn = 1;
    t->line_mask = FIRST - 1;
    t->line = calloc(FIRST, sizeof *t->line);
    return t->line ? nav_memory_init(&t->memory) : TROD_ERR_NOMEM;
}

void nav_touch_fini(struct nav_touch *t)
{
    nav_memory_fini(&t->memory);
    free(t->line);
    t->line = NULL;
}

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct nav_tally_line *line_place(struct nav_tally_line *table, uint32_t mask, uint32_t turn,
                                         uint64_t key)
{
    for (uint32_t at = hash(key);; at++) {
        struct nav_tally_line *l = &table[at & mask];

        if (l->turn != turn || l->key == key)
            return l;
    }
}

static int grow_lines(struct nav_touch *t)
{
    const uint32_t mask = 2 * t->line_mask + 1;
    struct nav_tally_line *table = calloc((size_t)mask + 1, sizeof *table);

    if (!table)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i <= t->line_mask; i++)
        if (t->line[i].turn == t->turn)
            *line_place(table, mask, t->turn, t->line[i].key) = t->line[i];
    free(t->line);
    t->line = table;
    t->line_mask = mask;
    t->last = NULL;
    return TROD_OK;
}

static int touch(struct nav_touch *t, uint64_t key, uint64_t mask, const struct nav_access *a)
{
    struct nav_tally_line *l = t->last;

    if (!l || l->key != key) {
        if (2 * t->n_lines > t->line_mask && grow_lines(t) < 0)
            return TROD_ERR_NOMEM;
        l = line_place(t->line, t->line_mask, t->turn, key);
        if (l->turn != t->turn) {
            *l = (struct nav_tally_line){.key = key, .turn = t->turn};
            t->n_lines++;
        }
        t->last = l;
    }
    l->steps |= 1u << t->step;
    if (a->writes)
        l->written |= mask;
    if (a->reads)
        l->read |= mask;
    return TROD_OK;
}

static int access(struct nav_touch *t, const struct nav_access *a)
{
    uint64_t at = a->addr, left = a->size;
    int rc = TROD_OK;

    if (a->size > NAV_WIDE || (a->size > NAV_LONG && t->n_lines >= NAV_MANY))
        return touch(t, NAV_ANY_LINE, UINT64_MAX, a);
    while (rc == TROD_OK && left) {
        const unsigned k = at % NAV_LINE;
        const uint64_t n = left < NAV_LINE - k ? left : NAV_LINE - k;

        rc = touch(t, at / NAV_LINE, (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << k, a);
        at += n;
        left -= n;
    }
    return rc;
}

int nav_touch_row(struct nav_touch *t, const struct trod_batch *b, uint32_t i, uint32_t row)
{
    struct nav_access a;
    int rc;

    if (!nav_access_of(b, i, t->big, &a))
        return TROD_OK;
    rc = nav_memory_access(&t->memory, &a, row);
    return rc < 0 ? rc : access(t, &a);
}

int nav_touch_end(struct nav_touch *t, uint32_t block, struct nav_postings *lines)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i <= t->line_mask; i++)
        if (t->line[i].turn == t->turn) {
            const struct nav_tally_line *l = &t->line[i];

            rc = nav_postings_add(lines, l->key, block, l->written, l->read);
            if (rc == TROD_OK)
                lines->at[lines->n - 1].steps = l->steps;
        }
    t->n_lines = 0;
    t->last = NULL;
    t->turn++;
    return rc;
}
