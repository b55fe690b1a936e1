/*
 * tree.h - what the calls of a trace cost by stacks of functions: counted while they are followed,
 * kept in an index, given to who asks.
 *
 * Implements docs/index-file.md, "The file", sections 20 and 21. A tree of many nodes, or of not
 * many fewer than there are activations, is not kept: activations tell the same as fast.
 */
#ifndef NAVIGATE_TREE_H
#define NAVIGATE_TREE_H

#include "callstack/tree.h"

enum {
    NAV_TREE_NODES = 1 << 18,    /* at most that are kept, */
    NAV_TREE_FOLLOWED = 1 << 19, /* and in memory, where streams have the same stacks */
    NAV_TREE_PART = 4            /* activations of a node at the least, on average */
};

struct nav_tree {
    struct cg_tree all;       /* of streams that are over */
    struct cg_account **lane; /* by own[NAV_OWN_LANE] of frames; NULL: none of this file yet */
    uint32_t n_lanes, file;
    size_t nodes;    /* of the streams that are not over */
    bool impossible; /* it is not counted any more */
};

/* T is all zero at first. F begins, or ends. Return 0 or TROD_ERR_NOMEM. */
int nav_tree_enter(struct nav_tree *t, struct trod_frame *f);
int nav_tree_leave(struct nav_tree *t, struct trod_frame *f, const struct trod_frame_left *end);
/*
 * All streams are over: T as bytes, appended to OUT; nothing where it has more than MOST nodes, or
 * too many ever. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_tree_save(struct nav_tree *t, uint64_t most, struct trod_buf *out);
void nav_tree_fini(struct nav_tree *t);
/*
 * What nav_tree_save wrote: *N stacks into *OUT, which is released with nav_tree_unload in every
 * case. Returns 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM.
 */
int nav_tree_load(struct trod_span in, struct trod_call_sum **out, size_t *n, bool *timed);
void nav_tree_unload(struct trod_call_sum *at, size_t n);

struct nav_builder;
/* The sections of B that it makes. Returns 0 or an error. */
int nav_trees_put(struct nav_builder *b);

#endif
