/*
 * sums.c - what follows from a tree of calling contexts: totals, children in order.
 */
#include "analysis/callgraph/callgraph.h"

#include "core/slab.h"

#include <stdlib.h>
#include <string.h>

struct ranked {
    uint64_t total, function;
    uint32_t node, kind;
};

/* The largest first, then by address. */
static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;

    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* Most functions call few others. */
static void sort(struct ranked *r, size_t n)
{
    enum { FEW = 12 };

    if (n > FEW) {
        qsort(r, n, sizeof *r, by_rank);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const struct ranked one = r[i];
        size_t k = i;

        for (; k && by_rank(&one, &r[k - 1]) < 0; k--)
            r[k] = r[k - 1];
        r[k] = one;
    }
}

/* Children of all nodes in order. R has room for all nodes, END too and for one more. */
static void put_in_order(const struct cg_tree *t, struct cg_sum *sum, unsigned by, struct ranked *r,
                         uint32_t *end)
{
    memset(end, 0, (t->n + 1) * sizeof *end);
    for (uint32_t i = 1; i < t->n; i++)
        end[t->node[i].parent + 1]++;
    for (size_t p = 1; p <= t->n; p++)
        end[p] += end[p - 1];
    /* END of a parent is where its children begin, and at last where they end */
    for (uint32_t i = 1; i < t->n; i++)
        r[end[t->node[i].parent]++] =
            (struct ranked){sum[i].total[by], t->node[i].function, i, t->node[i].kind};
    for (size_t p = 0; p < t->n; p++) {
        const size_t from = p ? end[p - 1] : 0;

        sort(r + from, end[p] - from);
        for (size_t i = end[p]; i-- > from;) {
            sum[r[i].node].next = sum[p].first;
            sum[p].first = r[i].node;
        }
    }
}

/* Weights that any node has. */
static unsigned weights_of(const struct cg_tree *t)
{
    return t->n_weighed ? CG_SELVES : CG_SELF_WEIGHTS;
}

/* ORDER: children before their parents, from its end on; NULL: the nodes as they are. */
static void add_up(const struct cg_tree *t, struct cg_sum *sum, const uint32_t *order)
{
    const unsigned n = weights_of(t);

    for (size_t i = t->n; i-- > 1;) {
        const size_t node = order ? order[i] : i;
        const uint32_t parent = t->node[node].parent;

        for (unsigned w = 0; w < n; w++)
            sum[parent].total[w] += sum[node].total[w];
    }
}

/* The depth of all nodes, if parents come before their children, as they do where none moved. */
static bool in_depth(const struct cg_tree *t, struct cg_sum *sum)
{
    for (uint32_t i = 1; i < t->n; i++) {
        if (t->node[i].parent >= i)
            return false;
        sum[i].depth = sum[t->node[i].parent].depth + 1;
    }
    return true;
}

/* Nodes by depth into ORDER, which has room for them; and their depth, which is not known yet. */
static void by_depth(const struct cg_tree *t, struct cg_sum *sum, uint32_t *order, uint32_t *start)
{
    uint32_t *path = order; /* as long as nothing else is there */

    for (uint32_t i = 1; i < t->n; i++)
        sum[i].depth = 0;
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
    struct cg_sum *sum = trod_slab_zeroed((t->n + 1) * sizeof *sum);
    struct ranked *r = trod_slab_take((t->n + 1) * sizeof *r);
    uint32_t *order = trod_slab_take((t->n + 2) * sizeof *order);
    uint32_t *start = trod_slab_take((t->n + 2) * sizeof *start);

    if (!sum || !r || !order || !start) {
        cg_sums_free(t, sum);
        sum = NULL;
    } else {
        const unsigned n = weights_of(t);

        for (size_t i = 0; i < t->n; i++)
            for (unsigned w = 0; w < n; w++)
                sum[i].total[w] = cg_self(t, i, w);
        if (in_depth(t, sum)) {
            add_up(t, sum, NULL);
        } else {
            by_depth(t, sum, order, start);
            add_up(t, sum, order);
        }
        put_in_order(t, sum, by, r, start);
    }
    trod_slab_give(r, (t->n + 1) * sizeof *r);
    trod_slab_give(order, (t->n + 2) * sizeof *order);
    trod_slab_give(start, (t->n + 2) * sizeof *start);
    return sum;
}

void cg_sums_free(const struct cg_tree *t, struct cg_sum *sum)
{
    trod_slab_give(sum, (t->n + 1) * sizeof *sum);
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
