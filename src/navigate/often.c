/*
 * often.c - numbers that many rows of a block hold. Implements often.h.
 *
 * Rows were counted by a hash of their number as they came; only those of numbers whose counter
 * says that they may be many are counted one by one when the block ends.
 */
#include "navigate/often.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t number;
    uint32_t n, steps;
};

struct nav_often {
    uint32_t *slot; /* by hash: number of the entry + 1 */
    uint32_t mask;
    struct entry *at;
    size_t n, cap;
    uint32_t *count[TROD_KINDS]; /* by entry: rows of the kind; NULL: none so far */
    size_t room[TROD_KINDS];
};

enum { SLOTS = 1 << 12 };

struct nav_often *nav_often_new(void)
{
    struct nav_often *o = calloc(1, sizeof *o);

    if (o && !(o->slot = calloc(SLOTS, sizeof *o->slot))) {
        free(o);
        return NULL;
    }
    if (o)
        o->mask = SLOTS - 1;
    return o;
}

void nav_often_free(struct nav_often *o)
{
    if (!o)
        return;
    for (unsigned kind = 0; kind < TROD_KINDS; kind++)
        free(o->count[kind]);
    free(o->slot);
    free(o->at);
    free(o);
}

static uint32_t place(const struct nav_often *o, uint64_t number)
{
    uint32_t at = (uint32_t)(nav_values_hash(number) >> 32) & o->mask;

    while (o->slot[at] && o->at[o->slot[at] - 1].number != number)
        at = (at + 1) & o->mask;
    return at;
}

static int more_slots(struct nav_often *o)
{
    const size_t n = 2 * ((size_t)o->mask + 1);
    uint32_t *slot = calloc(n, sizeof *slot);

    if (!slot)
        return TROD_ERR_NOMEM;
    free(o->slot);
    o->slot = slot;
    o->mask = (uint32_t)n - 1;
    for (size_t i = 0; i < o->n; i++)
        o->slot[place(o, o->at[i].number)] = (uint32_t)i + 1;
    return TROD_OK;
}

/* Room for a count of each entry for KIND. */
static int more_counts(struct nav_often *o, unsigned kind)
{
    uint32_t *p = realloc(o->count[kind], o->cap * sizeof *p);

    if (!p)
        return TROD_ERR_NOMEM;
    memset(p + o->room[kind], 0, (o->cap - o->room[kind]) * sizeof *p);
    o->count[kind] = p;
    o->room[kind] = o->cap;
    return TROD_OK;
}

static int count(struct nav_often *o, const struct nav_number *row)
{
    uint32_t at = place(o, row->value);
    struct entry *e;
    size_t i;

    if (!o->slot[at]) {
        if (2 * o->n >= o->mask) {
            if (more_slots(o) < 0)
                return TROD_ERR_NOMEM;
            at = place(o, row->value);
        }
        if (!trod_grow(&o->at, o->n, &o->cap, sizeof *o->at, SLOTS / 2))
            return TROD_ERR_NOMEM;
        o->at[o->n] = (struct entry){.number = row->value};
        o->slot[at] = (uint32_t)++o->n;
    }
    i = o->slot[at] - 1;
    e = &o->at[i];
    e->n++;
    e->steps |= 1u << row->step;
    if (i >= o->room[row->kind] && more_counts(o, row->kind) < 0)
        return TROD_ERR_NOMEM;
    o->count[row->kind][i]++;
    return TROD_OK;
}

/* What was counted to LIST; nothing is counted any more. */
static int put(struct nav_often *o, uint32_t block, struct nav_postings *list)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < o->n; i++) {
        const struct entry *e = &o->at[i];

        for (unsigned kind = 0; e->n >= NAV_VALUES_OFTEN && kind < TROD_KINDS; kind++) {
            if (rc < 0 || i >= o->room[kind] || !o->count[kind][i])
                continue;
            rc = nav_postings_add(list, e->number, block, o->count[kind][i], 1u << kind);
            if (rc == TROD_OK)
                list->at[list->n - 1].steps = e->steps;
        }
    }
    for (unsigned kind = 0; kind < TROD_KINDS; kind++)
        if (o->count[kind])
            memset(o->count[kind], 0,
                   (o->n < o->room[kind] ? o->n : o->room[kind]) * sizeof *o->count[kind]);
    memset(o->slot, 0, ((size_t)o->mask + 1) * sizeof *o->slot);
    o->n = 0;
    return rc;
}

int nav_often_list(struct nav_often *o, const struct nav_values *v, uint32_t block,
                   struct nav_postings *list)
{
    int rc = TROD_OK, done;

    for (size_t i = 0; rc == TROD_OK && i < v->n_all; i++) {
        const struct nav_number *row = &v->all[i];

        if (v->counter[nav_often_counter(nav_values_hash(row->value))] >= NAV_VALUES_OFTEN)
            rc = count(o, row);
    }
    done = put(o, block, list);
    return rc < 0 ? rc : done;
}
