/*
 * stacks.c - lists of blocks in the order of replacement.
 *
 * Implements din/stacks.h. Nodes of a set are numbered from set * ways on; a list is a ring.
 */
#include "sim/din/stacks.h"

#include <stdlib.h>

enum { SCAN = 32 };

int trod_din_stacks_init(struct trod_din_stacks *s, uint64_t sets, uint32_t ways)
{
    if (sets > UINT32_MAX / 2 / ways)
        return TROD_ERR_NOMEM;
    s->sets = sets;
    s->ways = ways;
    s->where.map = true;
    s->node = calloc(sets * ways, sizeof *s->node);
    s->top = calloc(sets, sizeof *s->top);
    s->used = calloc(sets, sizeof *s->used);
    if (!s->node || !s->top || !s->used)
        return TROD_ERR_NOMEM;
    trod_din_stacks_clear(s);
    return 0;
}

void trod_din_stacks_clear(struct trod_din_stacks *s)
{
    for (uint64_t set = 0; set < s->sets; set++) {
        const uint32_t first = (uint32_t)(set * s->ways);

        for (uint32_t w = 0; w < s->ways; w++)
            s->node[first + w] = (struct trod_din_node){
                .next = first + (w + 1) % s->ways,
                .previous = first + (w + s->ways - 1) % s->ways,
            };
        s->top[set] = first;
        s->used[set] = 0;
    }
    trod_lines_clear(&s->where);
}

void trod_din_stacks_fini(struct trod_din_stacks *s)
{
    free(s->node);
    free(s->top);
    free(s->used);
    trod_lines_fini(&s->where);
}

uint32_t trod_din_stacks_find(const struct trod_din_stacks *s, uint64_t block)
{
    const uint64_t set = block % s->sets;
    uint32_t i = s->top[set];

    if (s->ways > SCAN) {
        const uint64_t *v = trod_lines_get(&s->where, block);

        return v ? (uint32_t)*v : TROD_DIN_NONE;
    }
    for (uint32_t n = s->used[set]; n; n--, i = s->node[i].next)
        if (s->node[i].block == block)
            return i;
    return TROD_DIN_NONE;
}

static void to_top(struct trod_din_stacks *s, uint64_t set, uint32_t i)
{
    struct trod_din_node *n = s->node;
    const uint32_t top = s->top[set];

    if (i == top)
        return;
    n[n[i].previous].next = n[i].next;
    n[n[i].next].previous = n[i].previous;
    n[i].next = top;
    n[i].previous = n[top].previous;
    n[n[top].previous].next = i;
    n[top].previous = i;
    s->top[set] = i;
}

void trod_din_stacks_drop(struct trod_din_stacks *s, uint64_t block)
{
    const uint64_t set = block % s->sets;
    const uint32_t node = trod_din_stacks_find(s, block);

    if (node == TROD_DIN_NONE)
        return;
    to_top(s, set, node);
    s->top[set] = s->node[node].next; /* the top of a ring, passed over, is its bottom */
    s->node[node].valid = 0;
    s->used[set]--;
    if (s->ways > SCAN)
        trod_lines_remove(&s->where, block);
}

/* The node that a new block of a full set takes. */
static uint32_t victim(const struct trod_din_stacks *s, uint64_t set, char repl,
                       struct trod_gnu_random *random)
{
    uint32_t i = s->top[set], steps;

    if (repl != 'r')
        return s->node[i].previous;
    /* place 2 + n of a list that has the new block at place 1: place 1 + n of this one */
    for (steps = trod_gnu_random_next(random) % s->ways; steps; steps--)
        i = s->node[i].next;
    return i;
}

uint32_t trod_din_stacks_place(struct trod_din_stacks *s, uint64_t block, uint32_t node, char repl,
                               struct trod_gnu_random *random, struct trod_din_node *old)
{
    const uint64_t set = block % s->sets;
    uint64_t *v;

    old->valid = 0;
    if (node != TROD_DIN_NONE) {
        if (repl == 'l')
            to_top(s, set, node);
        return node;
    }
    if (s->used[set] == s->ways) {
        node = victim(s, set, repl, random);
        *old = s->node[node];
        if (s->ways > SCAN)
            trod_lines_remove(&s->where, old->block);
    } else {
        node = s->node[s->top[set]].previous;
        s->used[set]++;
    }
    to_top(s, set, node);
    s->node[node].block = block;
    s->node[node].valid = s->node[node].referenced = s->node[node].dirty = 0;
    if (s->ways > SCAN) {
        if (!(v = trod_lines_at(&s->where, block)))
            return TROD_DIN_NONE;
        *v = node;
    }
    return node;
}
