/*
 * sums.c - what follows from a tree of calling contexts: totals, children in order.
 */
#include "analysis/callgraph/callgraph.h"

#include <stdlib.h>
#include <string.h>

struct ranked {
    uint32_t node;
    const struct cg_tree *tree;
    const struct cg_sum *sum;
    unsigned by;
};

/* By parent, then the largest first, then by address. */
static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    const struct cg_node *m = &a->tree->node[a->node], *n = &b->tree->node[b->node];
    const uint64_t p = a->sum[a->node].total[a->by], q = b->sum[b->node].total[b->by];

    if (m->parent != n->parent)
        return m->parent < n->parent ? -1 : 1;
    if (p != q)
        return p > q ? -1 : 1;
    if (m->function != n->function)
        return m->function < n->function ? -1 : 1;
    return m->kind < n->kind ? -1 : m->kind > n->kind;
}

static void add_up(const struct cg_tree *t, struct cg_sum *sum, const uint32_t *order)
{
    for (size_t i = t->n; i-- > 1;) { /* children before their parents */
        const uint32_t node = order[i], parent = t->node[node].parent;

        for (unsigned w = 0; w < CG_SELVES; w++)
            sum[parent].total[w] += sum[node].total[w];
    }
}

/* Nodes by depth into ORDER, which has room for them; and their depth. */
static void by_depth(const struct cg_tree *t, struct cg_sum *sum, uint32_t *order, uint32_t *start)
{
    uint32_t *path = order; /* as long as nothing else is there */

    for (uint32_t i = 1; i < t->n; i++) {
        size_t n = 0;
        uint32_t k = i;

        for (; k && !sum[k].depth; k = t->node[k].parent)
            path[n++] = k;
        while (n) {
            const uint32_t node = path[--n];

            sum[node].depth = sum[t->node[node].parent].depth + 1;
        }
    }
    memset(start, 0, (t->n + 2) * sizeof *start);
    for (uint32_t i = 0; i < t->n; i++)
        start[sum[i].depth + 1]++;
    for (uint32_t d = 1; d < t->n + 2; d++)
        start[d] += start[d - 1];
    for (uint32_t i = 0; i < t->n; i++)
        order[start[sum[i].depth]++] = i;
}

struct cg_sum *cg_sums(const struct cg_tree *t, unsigned by)
{
    struct cg_sum *sum = calloc(t->n + 1, sizeof *sum);
    struct ranked *r = malloc((t->n + 1) * sizeof *r);
    uint32_t *order = calloc(t->n + 1, sizeof *order);
    uint32_t *start = calloc(t->n + 2, sizeof *start);

    if (!sum || !r || !order || !start) {
        free(sum);
        sum = NULL;
    } else {
        for (size_t i = 0; i < t->n; i++)
            memcpy(sum[i].total, t->node[i].self, sizeof sum[i].total);
        by_depth(t, sum, order, start);
        add_up(t, sum, order);
        for (uint32_t i = 1; i < t->n; i++)
            r[i - 1] = (struct ranked){i, t, sum, by};
        if (t->n > 1)
            qsort(r, t->n - 1, sizeof *r, by_rank);
        for (size_t i = t->n > 1 ? t->n - 1 : 0; i-- > 0;) {
            const uint32_t parent = t->node[r[i].node].parent;

            sum[r[i].node].next = sum[parent].first;
            sum[parent].first = r[i].node;
        }
    }
    free(r);
    free(order);
    free(start);
    return sum;
}

int cg_walk(const struct cg_tree *t, const struct cg_sum *sum,
            int (*enter)(void *user, uint32_t node), void (*leave)(void *user, uint32_t node),
            void *user)
{
    uint32_t at = t->n ? sum[0].first : 0;
    int rc = TROD_OK;

    while (at && rc == TROD_OK) {
        rc = enter(user, at);
        if (sum[at].first) {
            at = sum[at].first;
            continue;
        }
        while (at) {
            if (leave)
                leave(user, at);
            if (sum[at].next) {
                at = sum[at].next;
                break;
            }
            at = t->node[at].parent;
        }
    }
    return rc;
}

const char *cg_node_name(const struct cg_core *core, const struct cg_node *n,
                         char buf[TROD_FUNCTION_NAME])
{
    return n->kind == CG_CUT ? "(callers not kept)"
                             : trod_function_name(core->context.symbols, n->function, buf);
}
