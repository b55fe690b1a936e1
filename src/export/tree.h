/*
 * tree.h - a tree of calls: what was spent in each function, by chain of callers.
 *
 * A node is a function below a node. Activations of one function with the same chain of callers,
 * each called from the same place where sites are kept apart, share a node.
 */
#ifndef TROD_EXPORT_TREE_H
#define TROD_EXPORT_TREE_H

#include "export/lanes.h"

struct export_node {
    uint32_t parent; /* EXPORT_ROOT: none */
    uint32_t function, lane;
    uint64_t site; /* the call that led to it; TROD_NOWHERE: not known */
    uint64_t self[EXPORT_ROW_COSTS];
};

#define EXPORT_ROOT UINT32_MAX

struct export_tree {
    struct export_lanes lanes;
    bool sites;              /* calls from different places make different nodes */
    uint64_t depth;          /* what is called deeper belongs to the node at this depth */
    uint64_t cut;            /* calls that were */
    struct export_map by;    /* parent, and function or call: number of the node + 1 */
    struct export_map calls; /* function and site: a number for both */
    struct export_node *node;
    size_t n, cap;
};

/* What views of a tree have in common. */
struct export_tree_options {
    uint64_t depth;
};

enum { EXPORT_TREE_DEPTH = 500 };

#define EXPORT_TREE_OPTION(filled)                                                                 \
    {                                                                                              \
        .name = "depth", .type = TROD_OPT_U64, .offset = offsetof(filled, tree.depth), .arg = "N", \
        .text = "calls deeper than N are counted to the one at that depth (default: 500)"          \
    }

int export_tree_init(struct export_tree *t, const struct export_tree_options *o,
                     const struct trod_export_context *c, bool sites);
int export_tree_feed(struct export_tree *t, const struct trod_batch *b, uint32_t from, uint32_t to);
int export_tree_end(struct export_tree *t);
void export_tree_fini(struct export_tree *t);

#endif
