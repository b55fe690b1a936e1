/*
 * tree.c - a tree of calls. Implements tree.h.
 *
 * A root is a node of its own, because its caller may only be found when it has returned
 * (trod_frame.under): then it is moved below that. When the tree is written, equal paths are added
 * up.
 */
#include "export/tree.h"

#include "core/grow.h"

static uint32_t add(struct export_tree *t, const struct export_node *node)
{
    if (t->n >= EXPORT_ROOT - 1 || !trod_grow(&t->node, t->n, &t->cap, sizeof *t->node, 256))
        return EXPORT_ROOT;
    t->node[t->n] = *node;
    return (uint32_t)t->n++;
}

/* The node of FUNCTION, called from SITE, below PARENT. EXPORT_ROOT: no memory. */
static uint32_t below(struct export_tree *t, uint32_t parent, uint32_t function, uint64_t site,
                      uint32_t lane)
{
    uint64_t key = function;
    struct export_pair *p;

    if (t->sites) {
        p = export_map_at(&t->calls, function, site);
        if (!p)
            return EXPORT_ROOT;
        key = (uint64_t)(p - t->calls.at);
    }
    p = export_map_at(&t->by, parent, key);
    if (!p)
        return EXPORT_ROOT;
    if (!p->value) {
        const struct export_node node = {
            .parent = parent, .function = function, .lane = lane, .site = site};
        const uint32_t number = add(t, &node);

        if (number == EXPORT_ROOT)
            return number;
        p->value = (uint64_t)number + 1;
    }
    return (uint32_t)p->value - 1;
}

static int enter(void *st, struct export_lane *l, struct export_open *o, const struct trod_frame *f)
{
    struct export_tree *t = st;

    if (f->depth >= t->depth) {
        /* endless recursion would make a tree without end */
        o->node = (o - 1)->node;
        t->cut++;
    } else if (f->depth > 0) {
        o->node = below(t, (o - 1)->node, o->function, t->sites ? f->site.pc : 0, l->number);
    } else {
        const struct export_node root = {.parent = EXPORT_ROOT,
                                         .function = o->function,
                                         .lane = l->number,
                                         .site = TROD_NOWHERE};

        o->node = add(t, &root);
        if (o->node != EXPORT_ROOT && f->under && l->has_root) {
            t->node[l->root.node].parent = o->node;
            t->node[l->root.node].site = f->entry.pc;
        }
    }
    return o->node == EXPORT_ROOT ? TROD_ERR_NOMEM : 0;
}

static int rows(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct export_lane *l, struct export_open *o)
{
    struct export_tree *t = st;
    uint64_t *self;

    if (!l)
        return 0;
    self = t->node[o->node].self;
    for (uint32_t i = from; i < to; i++) {
        const unsigned costs = export_costs(b, i);

        for (unsigned k = 0; k < EXPORT_ROW_COSTS; k++)
            self[k] += costs >> k & 1;
    }
    return 0;
}

int export_tree_init(struct export_tree *t, const struct export_tree_options *o,
                     const struct trod_export_context *c, bool sites)
{
    const struct export_lanes_sink sink = {.st = t, .enter = enter, .rows = rows};

    t->sites = sites;
    t->depth = o->depth ? o->depth : 1;
    return export_lanes_init(&t->lanes, &sink, c);
}

int export_tree_feed(struct export_tree *t, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return export_lanes_feed(&t->lanes, b, from, to);
}

int export_tree_end(struct export_tree *t)
{
    return export_lanes_end(&t->lanes);
}

void export_tree_fini(struct export_tree *t)
{
    export_lanes_fini(&t->lanes);
    export_map_fini(&t->by);
    export_map_fini(&t->calls);
    free(t->node);
}
