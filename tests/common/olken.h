/*
 * olken.h - stack distances the slow ways: a list, and a balanced tree with sizes.
 *
 * Oracles and yardsticks. Document: F. Olken, "Efficient methods for
 * calculating the success function of fixed space replacement policies", 1981. The tree is a treap
 * over times of last references; a line's node is found by a plain chained hash table.
 */
#ifndef TROD_OLKEN_H
#define TROD_OLKEN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct olken_node {
    uint64_t line, time;
    uint32_t left, right, size, rank, chain;
};

struct olken {
    struct olken_node *node; /* 0: none */
    uint32_t n, cap, root, buckets, *bucket;
    uint64_t time, seed;
};

static inline void olken_init(struct olken *o)
{
    memset(o, 0, sizeof *o);
    o->buckets = 1 << 16;
    o->bucket = calloc(o->buckets, sizeof *o->bucket);
    o->cap = 1 << 10;
    o->node = calloc(o->cap, sizeof *o->node);
    o->n = 1;
    o->seed = 1;
    if (!o->bucket || !o->node)
        abort();
}

static inline void olken_fini(struct olken *o)
{
    free(o->node);
    free(o->bucket);
}

static inline uint32_t olken_size(const struct olken *o, uint32_t t)
{
    return t ? o->node[t].size : 0;
}

static inline void olken_fix(struct olken *o, uint32_t t)
{
    o->node[t].size = 1 + olken_size(o, o->node[t].left) + olken_size(o, o->node[t].right);
}

/* Nodes of times before TIME to *A, the others to *B. */
static inline void olken_split(struct olken *o, uint32_t t, uint64_t time, uint32_t *a, uint32_t *b)
{
    if (!t) {
        *a = *b = 0;
    } else if (o->node[t].time < time) {
        uint32_t right;

        olken_split(o, o->node[t].right, time, &right, b);
        o->node[t].right = right;
        olken_fix(o, t);
        *a = t;
    } else {
        uint32_t left;

        olken_split(o, o->node[t].left, time, a, &left);
        o->node[t].left = left;
        olken_fix(o, t);
        *b = t;
    }
}

static inline uint32_t olken_join(struct olken *o, uint32_t a, uint32_t b)
{
    if (!a || !b)
        return a ? a : b;
    if (o->node[a].rank > o->node[b].rank) {
        o->node[a].right = olken_join(o, o->node[a].right, b);
        olken_fix(o, a);
        return a;
    }
    o->node[b].left = olken_join(o, a, o->node[b].left);
    olken_fix(o, b);
    return b;
}

/* A reference to LINE: its stack distance, UINT64_MAX when it is the first. */
static inline uint64_t olken_ref(struct olken *o, uint64_t line)
{
    const uint32_t h = (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 48) & (o->buckets - 1);
    uint32_t t = o->bucket[h], old, mine, newer;
    uint64_t d = UINT64_MAX;

    while (t && o->node[t].line != line)
        t = o->node[t].chain;
    if (t) {
        olken_split(o, o->root, o->node[t].time, &old, &newer);
        olken_split(o, newer, o->node[t].time + 1, &mine, &newer);
        d = olken_size(o, newer);
        o->root = olken_join(o, old, newer);
    } else {
        if (o->n == o->cap) {
            o->cap *= 2;
            o->node = realloc(o->node, o->cap * sizeof *o->node);
            if (!o->node)
                abort();
        }
        t = o->n++;
        o->seed = o->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        o->node[t] = (struct olken_node){.line = line, .rank = (uint32_t)(o->seed >> 32)};
        o->node[t].chain = o->bucket[h];
        o->bucket[h] = t;
    }
    o->node[t].time = o->time++;
    o->node[t].left = o->node[t].right = 0;
    o->node[t].size = 1;
    o->root = olken_join(o, o->root, t);
    return d;
}

/* The same with a list, most recent first; *N lines are in LIST. */
static inline uint64_t list_ref(uint64_t *list, size_t *n, uint64_t line)
{
    size_t i = 0;
    uint64_t d = UINT64_MAX;

    while (i < *n && list[i] != line)
        i++;
    if (i < *n)
        d = i;
    else
        ++*n;
    memmove(list + 1, list, i * sizeof *list);
    list[0] = line;
    return d;
}

#endif
