/*
 * tree.c - trees of calling contexts. Implements tree.h.
 *
 * A node is found by its parent, function and kind. Of stacks beyond CG_MOST_NODES only the
 * function is kept, below a node of its own, so that what each function cost by itself stays right.
 */
#include "callstack/tree.h"

#include "core/grow.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(uint32_t parent, uint64_t function, unsigned kind)
{
    uint64_t h = (function + kind) * UINT64_C(0x9e3779b97f4a7c15);

    return trod_map_hash((h ^ h >> 29) + parent);
}

static uint32_t find(const struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind)
{
    const uint32_t h = hash(parent, function, kind);
    uint32_t i;

    for (size_t at = h; trod_map_next(&t->map, h, &at, &i);) {
        const struct cg_node *n = &t->node[i];

        if (n->parent == parent && n->function == function && n->kind == kind)
            return i;
    }
    return 0;
}

static bool put(struct cg_tree *t, uint32_t node)
{
    const struct cg_node *n = &t->node[node];

    return trod_map_put(&t->map, hash(n->parent, n->function, n->kind), node);
}

bool cg_tree_begin(struct cg_tree *t)
{
    if (t->n == 0) {
        if (!trod_grow(&t->node, 0, &t->cap, sizeof *t->node, 16))
            return false;
        t->node[t->n++] = (struct cg_node){.function = TROD_NOWHERE};
    }
    return true;
}

static uint32_t add(struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind)
{
    if (!cg_tree_begin(t) || !trod_grow(&t->node, t->n, &t->cap, sizeof *t->node, 16))
        return 0;
    t->node[t->n] = (struct cg_node){.function = function, .parent = parent, .kind = kind};
    return put(t, (uint32_t)t->n) ? (uint32_t)t->n++ : 0;
}

uint32_t cg_child(struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind)
{
    const uint32_t found = find(t, parent, function, kind);

    if (found)
        return found;
    if (t->n < CG_MOST_NODES || parent == t->cut)
        return add(t, parent, function, kind);
    if (!t->cut && !(t->cut = add(t, 0, TROD_NOWHERE, CG_CUT)))
        return 0;
    return cg_child(t, t->cut, function, CG_PLAIN);
}

/* The search may find the old place of the node now and then: it is not used there. */
int cg_move(struct cg_tree *t, uint32_t node, uint32_t parent)
{
    t->node[node].parent = parent;
    return put(t, node) ? TROD_OK : TROD_ERR_NOMEM;
}

int cg_tree_add(struct cg_tree *into, const struct cg_tree *from)
{
    uint32_t *to = calloc(from->n + 1, sizeof *to), *path = calloc(from->n + 1, sizeof *path);
    int rc = to && path ? TROD_OK : TROD_ERR_NOMEM;

    into->any_time = into->any_time || from->any_time;
    for (uint32_t i = 1; rc == TROD_OK && i < from->n; i++) {
        size_t n = 0;

        for (uint32_t k = i; k && !to[k]; k = from->node[k].parent)
            path[n++] = k;
        while (rc == TROD_OK && n) {
            const uint32_t k = path[--n];
            const struct cg_node *f = &from->node[k];
            uint32_t parent = f->parent ? to[f->parent] : 0;

            if (f->kind == CG_CUT) {
                if (!into->cut)
                    into->cut = add(into, 0, TROD_NOWHERE, CG_CUT);
                to[k] = into->cut;
            } else {
                to[k] = cg_child(into, parent, f->function, f->kind);
            }
            if (!to[k])
                rc = TROD_ERR_NOMEM;
        }
        if (rc == TROD_OK) {
            struct cg_node *t = &into->node[to[i]];

            t->count += from->node[i].count;
            for (unsigned w = 0; w < CG_SELVES; w++)
                t->self[w] += from->node[i].self[w];
        }
    }
    if (rc == TROD_OK && from->n) { /* what belongs to no function */
        rc = cg_tree_begin(into) ? TROD_OK : TROD_ERR_NOMEM;
        for (unsigned w = 0; rc == TROD_OK && w < CG_SELVES; w++)
            into->node[0].self[w] += from->node[0].self[w];
    }
    free(to);
    free(path);
    return rc;
}

void cg_tree_fini(struct cg_tree *t)
{
    free(t->node);
    trod_map_fini(&t->map);
    *t = (struct cg_tree){0};
}

int cg_tree_save(const struct cg_tree *t, struct trod_buf *out)
{
    int rc = trod_pack(out, t->any_time) | trod_pack(out, t->n);

    for (size_t i = 0; rc == TROD_OK && i < t->n; i++) {
        const struct cg_node *n = &t->node[i];

        rc = trod_pack(out, n->function) | trod_pack(out, n->parent) | trod_pack(out, n->kind) |
             trod_pack(out, n->count);
        for (unsigned w = 0; rc == TROD_OK && w < CG_SELVES; w++)
            rc = trod_pack(out, n->self[w]);
    }
    return rc == TROD_OK ? rc : TROD_ERR_NOMEM;
}

/* Every node has its parent, and no node is among its own parents. */
static bool sound(const struct cg_tree *t)
{
    for (size_t i = 1; i < t->n; i++) {
        size_t steps = 0;

        if (t->node[i].parent >= t->n || t->node[i].kind > CG_CUT)
            return false;
        if (t->node[i].parent < i) /* but for roots that were put below */
            continue;
        for (size_t k = i; k; k = t->node[k].parent)
            if (++steps > t->n || t->node[k].parent >= t->n)
                return false;
    }
    return true;
}

int cg_tree_load(struct cg_tree *t, struct trod_span *in)
{
    uint64_t v[4 + CG_SELVES], n, timed;
    struct cg_tree from = {0};
    int rc;

    if (trod_unpack(in, &timed) < 0 || trod_unpack(in, &n) < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    from.any_time = timed != 0;
    from.node = calloc((size_t)n + 1, sizeof *from.node);
    if (!from.node)
        return TROD_ERR_NOMEM;
    for (; from.n < n; from.n++) {
        for (unsigned k = 0; k < 4 + CG_SELVES; k++)
            if (trod_unpack(in, &v[k]) < 0)
                goto corrupt;
        from.node[from.n] = (struct cg_node){
            .function = v[0], .parent = (uint32_t)v[1], .kind = (uint32_t)v[2], .count = v[3]};
        memcpy(from.node[from.n].self, &v[4], sizeof from.node->self);
    }
    if (!sound(&from))
        goto corrupt;
    rc = cg_tree_add(t, &from);
    cg_tree_fini(&from);
    return rc;
corrupt:
    cg_tree_fini(&from);
    return TROD_ERR_CORRUPT;
}
