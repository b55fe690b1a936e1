/*
 * account.c - the activations of a stream, counted in a tree. Implements tree.h.
 *
 * Instructions and time are counted where activations begin and end: what was executed since the
 * last such place belongs to the innermost one. A time belongs to the instruction that it passes
 * after: the last one of a stream has none.
 */
#include "callstack/tree.h"

enum { MOST_ROOTS = 1024 }; /* that are put below in a stream */

uint32_t cg_account_nodes(struct cg_account *a, struct trod_frame *f, bool inlined)
{
    struct trod_frame *from = f;

    while (from->depth && !(uint32_t)from[-1].user)
        from--;
    for (;; from++) {
        const bool exception = from->kind == TROD_FRAME_EXCEPTION;
        const bool below = from->depth && (!exception || inlined);
        const uint32_t node = cg_child(&a->tree, below ? (uint32_t)from[-1].user : 0,
                                       from->function, exception ? CG_EXCEPTION : CG_PLAIN);

        from->user = (from->user >> 32 << 32) | node;
        if (from == f || !node)
            return node;
    }
}

int cg_account_put_under(struct cg_account *a, uint32_t node)
{
    if (!a->bottom || a->tree.node[a->bottom].parent || a->bottom == node ||
        a->roots++ >= MOST_ROOTS)
        return TROD_OK;
    return cg_move(&a->tree, a->bottom, node);
}
