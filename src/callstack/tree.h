/*
 * tree.h - what each stack of functions cost: trees of calling contexts, and the account by which
 * the activations of a stream are counted in one.
 *
 * A node is a function called from the function of its parent. The receiver of activations
 * (trod_callstack_sink) keeps an account for each stream; when the stream is over, its tree is
 * added to that of all. The analyses that count calls do so, and an index (docs/index-file.md).
 */
#ifndef CALLSTACK_TREE_H
#define CALLSTACK_TREE_H

#include "core/map.h"
#include "trod/buf.h"
#include "trod/callstack.h"
#include "trod/io.h"

enum { CG_MOST_WEIGHTS = 6 };

/* What a node counts: instructions, time, and each weight that looks at rows. */
enum {
    CG_SELF_INSTRUCTIONS,
    CG_SELF_TIME,
    CG_SELF_WEIGHTS,
    CG_SELVES = CG_SELF_WEIGHTS + CG_MOST_WEIGHTS
};

enum cg_node_kind { CG_PLAIN, CG_EXCEPTION, CG_CUT };

enum { CG_MOST_NODES = 1 << 20 };

enum { CG_NEAR = 6 }; /* children that a node knows: what is left of its cache line */

/* What an activation looks at is a cache line. Weights lie elsewhere. */
struct cg_node {
    uint64_t function; /* where it begins */
    uint64_t count;    /* activations */
    uint64_t self[CG_SELF_WEIGHTS];
    uint32_t parent; /* 0: none */
    uint32_t kind;
    uint32_t near[CG_NEAR]; /* internal to tree.c */
};

_Static_assert(sizeof(struct cg_node) == 64, "a node is a cache line");

/* Node 0 stands for all: it has no function, and what belongs to none. */
struct cg_tree {
    struct cg_node *node;
    size_t n, cap;
    uint64_t (*weight)[CG_MOST_WEIGHTS]; /* of the first N_WEIGHED nodes; of others they are 0 */
    size_t n_weighed;
    struct trod_map map; /* of the nodes before MAPPED */
    size_t mapped;
    uint32_t cut;  /* stacks beyond CG_MOST_NODES: functions without their callers */
    bool any_time; /* somebody said a time */
    bool moved;    /* a node was */
};

/* Number W, enum CG_SELF_..., of NODE. */
static inline uint64_t cg_self(const struct cg_tree *t, size_t node, unsigned w)
{
    if (w < CG_SELF_WEIGHTS)
        return t->node[node].self[w];
    return node < t->n_weighed ? t->weight[node][w - CG_SELF_WEIGHTS] : 0;
}

/* What belongs to no function, rows before a stream's first instruction, to SELF. Is it anything?
 */
static inline bool cg_nobody(const struct cg_tree *t, uint64_t self[CG_SELVES])
{
    uint64_t any = 0;

    for (unsigned w = 0; w < CG_SELVES; w++)
        any |= self[w] = cg_self(t, 0, w);
    return any != 0;
}

/* ---- tree.c: 0 or TROD_ERR_NOMEM where they return int */
/* See to node 0. False: no memory. */
bool cg_tree_begin(struct cg_tree *t);
/* The child of PARENT for FUNCTION, made if new; 0: no memory. */
uint32_t cg_child(struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind);
/*
 * The same where there is none yet, which is not looked at: nodes that come from a tree are found
 * only if somebody asks for one.
 */
uint32_t cg_new_child(struct cg_tree *t, uint32_t parent, uint64_t function, unsigned kind);
/* NODE, whose parent is 0, becomes a child of PARENT. */
int cg_move(struct cg_tree *t, uint32_t node, uint32_t parent);
int cg_tree_add(struct cg_tree *into, const struct cg_tree *from);
/* The same. FROM is of no use afterwards but for cg_tree_fini. */
int cg_tree_take(struct cg_tree *into, struct cg_tree *from);
/* The weights of NODE; NULL: no memory. */
uint64_t *cg_tree_weights(struct cg_tree *t, uint32_t node);
void cg_tree_fini(struct cg_tree *t);
/* Times are in ticks from here on of which 10^POWER were one. */
void cg_tree_scale(struct cg_tree *t, unsigned power);
int cg_tree_save(const struct cg_tree *t, struct trod_buf *out);
int cg_tree_load(struct cg_tree *t, struct trod_span *in);

/*
 * ---- account.c: a stream whose activations are counted. The low 32 bits of a frame's user are its
 * node; 0: it has none yet.
 */
struct cg_account {
    struct cg_tree tree;
    bool clocked;               /* time is known */
    uint64_t instruction, time; /* counted so far */
    uint32_t bottom;            /* node of the root that ended last */
    uint32_t roots;             /* that were put below */
};

/*
 * The nodes of F and of those below it that have none. INLINED: exceptions stand above what they
 * interrupted, else on their own. Returns that of F; 0: no memory.
 */
uint32_t cg_account_nodes(struct cg_account *a, struct trod_frame *f, bool inlined);
/* That of F, made if it has none. */
static inline uint32_t cg_account_node(struct cg_account *a, struct trod_frame *f, bool inlined)
{
    return (uint32_t)f->user ? (uint32_t)f->user : cg_account_nodes(a, f, inlined);
}
/* What was executed up to AT belongs to NODE. */
static inline void cg_account_charge(struct cg_account *a, uint32_t node,
                                     const struct trod_moment *at)
{
    uint64_t *self = a->tree.node[node].self;

    self[CG_SELF_INSTRUCTIONS] += at->instruction - a->instruction;
    a->instruction = at->instruction;
    if (at->time == TROD_NOWHERE)
        return;
    if (a->clocked)
        self[CG_SELF_TIME] += at->time - a->time;
    a->tree.any_time = a->clocked = true;
    a->time = at->time;
}
/*
 * F, which begins and has NODE: is it the caller of the root that ended last, that one is put under
 * it. 0 or TROD_ERR_NOMEM.
 */
int cg_account_put_under(struct cg_account *a, uint32_t node);
static inline int cg_account_under(struct cg_account *a, const struct trod_frame *f, uint32_t node)
{
    return f->under ? cg_account_put_under(a, node) : 0;
}

#endif
