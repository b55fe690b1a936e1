/*
 * areas.c - stretches of addresses in a treap (core/treap.h).
 *
 * Implements areas.h. Parting at an address and joining are all that changes the tree.
 */
#include "sim/whose/areas.h"

#include "core/grow.h"

enum { FIRST = 64 };

void trod_areas_fini(struct trod_areas *s)
{
    free(s->at);
    *s = (struct trod_areas){0};
}

uint32_t trod_areas_find(const struct trod_areas *s, uint64_t addr, uint64_t *from, uint64_t *to)
{
    uint32_t i = s->root;

    while (i) {
        const struct trod_area *n = &s->at[i];

        if (addr < n->from) {
            *to = n->from < *to ? n->from : *to;
            i = n->link.left;
        } else if (addr >= n->to) {
            *from = n->to > *from ? n->to : *from;
            i = n->link.right;
        } else {
            *from = n->from > *from ? n->from : *from;
            *to = n->to < *to ? n->to : *to;
            return i;
        }
    }
    return 0;
}

uint32_t trod_areas_before(const struct trod_areas *s, uint64_t addr)
{
    uint32_t i = s->root, best = 0;

    while (i) {
        const bool below = s->at[i].from < addr;

        best = below ? i : best;
        i = below ? s->at[i].link.right : s->at[i].link.left;
    }
    return best;
}

uint32_t trod_areas_behind(const struct trod_areas *s, uint64_t addr)
{
    uint32_t i = s->root, best = 0;

    while (i) {
        const bool above = s->at[i].to > addr;

        best = above ? i : best;
        i = above ? s->at[i].link.left : s->at[i].link.right;
    }
    return best;
}

static const struct treap_shape shape = {sizeof(struct trod_area), offsetof(struct trod_area, from),
                                         offsetof(struct trod_area, link)};

/* An area that is in no tree; 0: no memory. */
static uint32_t make(struct trod_areas *s, uint64_t from, uint64_t to, uint32_t value)
{
    uint32_t i = s->unused;

    if (i) {
        s->unused = s->at[i].link.right;
    } else {
        s->n += s->n == 0; /* number 0 is none */
        if (s->n >= UINT32_MAX || !trod_grow(&s->at, s->n, &s->cap, sizeof *s->at, FIRST))
            return 0;
        i = (uint32_t)s->n++;
    }
    s->at[i] = (struct trod_area){
        .from = from,
        .to = to,
        .value = value,
        .link.weight = treap_weight(++s->given),
    };
    return i;
}

/* The areas of tree I are no more. */
static void drop(struct trod_areas *s, uint32_t i)
{
    while (i) {
        const uint32_t left = s->at[i].link.left;

        if (left) { /* turn right until nothing is left of it */
            s->at[i].link.left = s->at[left].link.right;
            s->at[left].link.right = i;
            i = left;
        } else {
            const uint32_t next = s->at[i].link.right;

            s->at[i].link.right = s->unused;
            s->unused = i;
            i = next;
        }
    }
}

bool trod_areas_cut(struct trod_areas *s, uint64_t from, uint64_t to)
{
    uint32_t last, left, mid, right, rest;

    if (from >= to)
        return true;
    last = trod_areas_before(s, to);
    if (last && s->at[last].to > to) { /* what lies behind stays, as an area of its own */
        if (!(rest = make(s, to, s->at[last].to, s->at[last].value)))
            return false;
        s->at[last].to = to;
        treap_part(s->at, shape, s->root, to, &left, &right);
        s->root = treap_join(s->at, shape, treap_join(s->at, shape, left, rest), right);
    }
    last = trod_areas_before(s, from);
    if (last && s->at[last].to > from)
        s->at[last].to = from;
    treap_part(s->at, shape, s->root, from, &left, &mid);
    treap_part(s->at, shape, mid, to, &mid, &right);
    drop(s, mid);
    s->root = treap_join(s->at, shape, left, right);
    return true;
}

bool trod_areas_put(struct trod_areas *s, uint64_t from, uint64_t to, uint32_t value)
{
    uint32_t i, left, right;

    if (from >= to)
        return true;
    if (!trod_areas_cut(s, from, to) || !(i = make(s, from, to, value)))
        return false;
    treap_part(s->at, shape, s->root, from, &left, &right);
    s->root = treap_join(s->at, shape, treap_join(s->at, shape, left, i), right);
    return true;
}
