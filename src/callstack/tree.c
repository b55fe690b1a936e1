/*
 * tree.c - trees of calling contexts. Implements tree.h.
 *
 * A node is found by its parent, function and kind. Of stacks beyond CG_MOST_NODES only the
 * function is kept, below a node of its own, so that what each function cost by itself stays right.
 */
#include "callstack/tree.h"

#include "core/pack.h"
#include "core/slab.h"
#include "core/times.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mixed(uint64_t function, unsigned kind)
{
    const uint64_t h = (function + kind) * UINT64_C(0x9e3779b97f4a7c15);

    return h ^ h >> 29;
}

static uint32_t hash(uint32_t parent, uint64_t function, unsigned kind)
{
    return trod_map_hash(mixed(function, kind) + parent);
}

static bool is(const struct cg_tree *t, uint32_t node, uint32_t parent, uint64_t function,
               unsigned kind)
{
    const struct cg_node *n = &t->node[node];

    return n->function == function && n->parent == parent && n->kind == kind;
}

static uint32_t find(const struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind)
{
    const uint32_t h = hash(parent, function, kind);
    uint32_t i;

    for (size_t at = h; trod_map_next(&t->map, h, &at, &i);)
        if (is(t, i, parent, function, kind))
            return i;
    return 0;
}

static bool put(struct cg_tree *t, uint32_t node)
{
    const struct cg_node *n = &t->node[node];

    return trod_map_put(&t->map, hash(n->parent, n->function, n->kind), node);
}

/* All nodes of T are found. False: no memory. */
static bool map_all(struct cg_tree *t)
{
    if (t->mapped == 0)
        t->mapped = 1; /* node 0 is nobody's child */
    for (; t->mapped < t->n; t->mapped++)
        if (!put(t, (uint32_t)t->mapped))
            return false;
    return true;
}

/* Room for one node more. False: no memory. */
static bool room(struct cg_tree *t)
{
    const size_t more = t->cap ? 2 * t->cap : 16;
    struct cg_node *p;

    if (t->n < t->cap)
        return true;
    if (!(p = trod_slab_take(more * sizeof *p)))
        return false;
    if (t->n)
        memcpy(p, t->node, t->n * sizeof *p);
    trod_slab_give(t->node, t->cap * sizeof *p);
    t->node = p;
    t->cap = more;
    return true;
}

bool cg_tree_begin(struct cg_tree *t)
{
    if (t->n == 0) {
        if (!room(t))
            return false;
        t->node[t->n++] = (struct cg_node){.function = TROD_NOWHERE};
    }
    return true;
}

uint64_t *cg_tree_weights(struct cg_tree *t, uint32_t node)
{
    if (node >= t->n_weighed) {
        void *p = realloc(t->weight, t->cap * sizeof *t->weight);

        if (!p)
            return NULL;
        t->weight = p;
        memset(t->weight + t->n_weighed, 0, (t->cap - t->n_weighed) * sizeof *t->weight);
        t->n_weighed = t->cap;
    }
    return t->weight[node];
}

uint32_t cg_new_child(struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind)
{
    if (!cg_tree_begin(t) || !room(t))
        return 0;
    t->node[t->n] = (struct cg_node){.function = function, .parent = parent, .kind = kind};
    return (uint32_t)t->n++;
}

static uint32_t add(struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind)
{
    const uint32_t node = cg_new_child(t, parent, function, kind);

    return node && map_all(t) ? node : 0;
}

/*
 * Children that a node knows: their numbers below NUMBERS, above them a tag of what they are, which
 * is not 0. A place that is 0 is free.
 */
enum { NUMBERS = 1 << 20 };

static uint32_t tag_of(uint64_t function, unsigned kind)
{
    return ((uint32_t)(mixed(function, kind) >> 40) | 1) << 20;
}

static void know(struct cg_node *n, uint32_t tag, uint32_t child)
{
    unsigned at = 0;

    if (child >= NUMBERS)
        return;
    while (at < CG_NEAR && n->near[at])
        at++;
    n->near[at < CG_NEAR ? at : (tag >> 21) % CG_NEAR] = tag | child;
}

uint32_t cg_child(struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind)
{
    const uint32_t tag = tag_of(function, kind);
    const uint32_t *near;
    unsigned known = 0;
    uint32_t child;

    if (!cg_tree_begin(t))
        return 0;
    near = t->node[parent].near;
    for (unsigned i = 0; i < CG_NEAR; i++)
        known |= (unsigned)((near[i] ^ tag) < NUMBERS) << i;
    if (known) {
        child = near[__builtin_ctz(known)] % NUMBERS;
        if (is(t, child, parent, function, kind))
            return child;
    }
    if (!map_all(t))
        return 0;
    child = find(t, parent, function, kind);
    if (!child) {
        if (t->n >= CG_MOST_NODES && parent != t->cut) {
            if (!t->cut && !(t->cut = add(t, 0, TROD_NOWHERE, CG_CUT)))
                return 0;
            return cg_child(t, t->cut, function, CG_PLAIN);
        }
        child = add(t, parent, function, kind);
    }
    if (child)
        know(&t->node[parent], tag, child);
    return child;
}

/* The search may find the old place of the node now and then: it is not used there. */
int cg_move(struct cg_tree *t, uint32_t node, uint32_t parent)
{
    if (!map_all(t))
        return TROD_ERR_NOMEM;
    t->moved = true;
    t->node[node].parent = parent;
    return put(t, node) ? TROD_OK : TROD_ERR_NOMEM;
}

/* Add what node FROM of OTHER counted to NODE. */
static int add_node(struct cg_tree *t, uint32_t node, const struct cg_tree *other, size_t from)
{
    const struct cg_node *f = &other->node[from];
    uint64_t *weight;

    t->node[node].count += f->count;
    for (unsigned w = 0; w < CG_SELF_WEIGHTS; w++)
        t->node[node].self[w] += f->self[w];
    if (from >= other->n_weighed)
        return TROD_OK;
    if (!(weight = cg_tree_weights(t, node)))
        return TROD_ERR_NOMEM;
    for (unsigned w = 0; w < CG_MOST_WEIGHTS; w++)
        weight[w] += other->weight[from][w];
    return TROD_OK;
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
        if (rc == TROD_OK)
            rc = add_node(into, to[i], from, i);
    }
    if (rc == TROD_OK && from->n) /* what belongs to no function */
        rc = cg_tree_begin(into) ? add_node(into, 0, from, 0) : TROD_ERR_NOMEM;
    free(to);
    free(path);
    return rc;
}

/* Where nothing but node 0 is to be added to FROM, the nodes of FROM keep their numbers. */
int cg_tree_take(struct cg_tree *into, struct cg_tree *from)
{
    const struct cg_tree was = *into;

    if (into->n > 1 || from->moved || from->n == 0)
        return cg_tree_add(into, from);
    *into = *from;
    *from = was;
    return cg_tree_add(into, from);
}

void cg_tree_fini(struct cg_tree *t)
{
    trod_slab_give(t->node, t->cap * sizeof *t->node);
    free(t->weight);
    trod_map_fini(&t->map);
    *t = (struct cg_tree){0};
}

void cg_tree_scale(struct cg_tree *t, unsigned power)
{
    for (size_t i = 0; i < t->n; i++)
        t->node[i].self[CG_SELF_TIME] = trod_time_scale(t->node[i].self[CG_SELF_TIME], (int)power);
}

int cg_tree_save(const struct cg_tree *t, struct trod_buf *out)
{
    int rc = trod_pack(out, t->any_time) | trod_pack(out, t->n);

    for (size_t i = 0; rc == TROD_OK && i < t->n; i++) {
        const struct cg_node *n = &t->node[i];

        rc = trod_pack(out, n->function) | trod_pack(out, n->parent) | trod_pack(out, n->kind) |
             trod_pack(out, n->count);
        for (unsigned w = 0; rc == TROD_OK && w < CG_SELVES; w++)
            rc = trod_pack(out, cg_self(t, i, w));
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

/* The next node of what was saved, behind those of T. 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM. */
static int load_node(struct cg_tree *t, struct trod_span *in)
{
    uint64_t v[4 + CG_SELVES], *weight, any = 0;

    for (unsigned k = 0; k < 4 + CG_SELVES; k++)
        if (trod_unpack(in, &v[k]) < 0)
            return TROD_ERR_CORRUPT;
    if (!room(t))
        return TROD_ERR_NOMEM;
    t->node[t->n] = (struct cg_node){.function = v[0],
                                     .parent = (uint32_t)v[1],
                                     .kind = (uint32_t)v[2],
                                     .count = v[3],
                                     .self = {v[4], v[5]}};
    for (unsigned w = 0; w < CG_MOST_WEIGHTS; w++)
        any |= v[4 + CG_SELF_WEIGHTS + w];
    if (any && !(weight = cg_tree_weights(t, (uint32_t)t->n)))
        return TROD_ERR_NOMEM;
    if (any)
        memcpy(weight, v + 4 + CG_SELF_WEIGHTS, sizeof *t->weight);
    t->n++;
    return TROD_OK;
}

int cg_tree_load(struct cg_tree *t, struct trod_span *in)
{
    struct cg_tree from = {.n = 0};
    uint64_t n, timed;
    int rc = TROD_OK;

    if (trod_unpack(in, &timed) < 0 || trod_unpack(in, &n) < 0 || n > in->n)
        return TROD_ERR_CORRUPT;
    from.any_time = timed != 0;
    while (rc == TROD_OK && from.n < n)
        rc = load_node(&from, in);
    if (rc == TROD_OK && !sound(&from))
        rc = TROD_ERR_CORRUPT;
    if (rc == TROD_OK)
        rc = cg_tree_add(t, &from);
    cg_tree_fini(&from);
    return rc;
}
