/*
 * may.c - the part of an expression that goes by what rows look like (kind, opcode, text), or by
 * their class: kind, flags, size, stream, which columns they have.
 *
 * All other conditions are taken to be true: the rest holds for all rows for which the expression
 * holds, and for some more.
 */
#include <string.h>
#include <strings.h>

#include "show/where/where_int.h"

/* The texts from node N on are kinds. */
static bool are_kinds(const struct where_tree *t, int n, bool all)
{
    for (; n >= 0; n = all ? t->node[n].next : -1) {
        const char *s = t->node[n].s;

        if (!is_text_node(&t->node[n]) ||
            (trod_kind_find(s, strlen(s)) < 0 && strcasecmp(s, "MEMORY") != 0))
            return false;
    }
    return true;
}

static bool is_of_shape(unsigned column)
{
    return column == COL_OPCODE || (column >= COL_TEXT && column <= COL_REGISTER);
}

/*
 * Does number or text N go by columns that are OF something alone? *ANY: it goes by more than
 * constants and kinds.
 */
static bool goes_by(const struct where_tree *t, int n, bool (*of)(unsigned column), bool *any)
{
    const struct where_node *x = &t->node[n];

    switch (x->op) {
    case OP_NUMBER:
    case OP_STRING:
    case OP_REGEX:
        return true;
    case OP_NAME:
        *any |= x->name && x->name->column != COL_KIND;
        return !x->name || of(x->name->column);
    case OP_SET:
        for (int i = x->a; i >= 0; i = t->node[i].next)
            if (!goes_by(t, i, of, any))
                return false;
        return true;
    default:
        return (x->a < 0 || goes_by(t, x->a, of, any)) && (x->b < 0 || goes_by(t, x->b, of, any));
    }
}

bool where_goes_by_shape(const struct where_tree *t, const struct where_node *x, bool *any)
{
    const struct where_node *a = x->a < 0 ? NULL : &t->node[x->a];
    bool here = false, is;

    if (x->op == OP_NAME)
        return false;
    if (x->op == OP_CALL)
        is = x->name->column == COL_HAS && goes_by(t, x->a, is_of_shape, &here);
    else if (a->op == OP_NAME && a->name && a->name->column == COL_KIND)
        return t->node[x->b].op == OP_SET ? are_kinds(t, t->node[x->b].a, true)
                                          : are_kinds(t, x->b, false);
    else
        is = goes_by(t, x->a, is_of_shape, &here) && goes_by(t, x->b, is_of_shape, &here);
    *any |= is && here;
    return is;
}

/* ---- classes */

/* Is COLUMN the same in all rows of a class? */
static bool is_of_class(unsigned column)
{
    switch (column) {
    case COL_SIZE:
    case COL_CORE: /* no row of an index says one */
    case COL_SUB:
    case COL_FLAGS:
    case COL_TID:
    case COL_PID:
    case COL_STREAM:
    case COL_RECORD_TYPE:
        return true;
    default:
        return column >= COL_KIND && column <= COL_ISET_IN;
    }
}

/* Do rows of a class say COLUMN all, or none of them? */
static bool is_said_by_class(unsigned column)
{
    return is_of_class(column) || column == COL_INDEX || column == COL_TIME || column == COL_ADDR ||
           column == COL_PADDR || column == COL_VALUE || column == COL_TARGET;
}

bool where_goes_by_class(const struct where_tree *t, const struct where_node *x, bool *any)
{
    bool here = false, is;

    if (x->op == OP_CALL) {
        const struct where_node *a = &t->node[x->a];

        is = x->name->column == COL_HAS && a->name && is_said_by_class(a->name->column);
        here = true;
    } else if (x->op == OP_NAME) {
        is = goes_by(t, (int)(x - t->node), is_of_class, &here);
    } else {
        is = goes_by(t, x->a, is_of_class, &here) && goes_by(t, x->b, is_of_class, &here);
    }
    *any |= is && here;
    return is;
}

/* ---- expressions */

bool where_all_go(const struct where_tree *t, int n, where_goes_fn *goes, bool *any)
{
    const struct where_node *x = &t->node[n];

    switch (x->op) {
    case OP_TRUE:
        return true;
    case OP_NOT:
        return where_all_go(t, x->a, goes, any);
    case OP_AND:
    case OP_OR:
        return where_all_go(t, x->a, goes, any) && where_all_go(t, x->b, goes, any);
    default:
        return goes(t, x, any);
    }
}

bool where_loosen(struct where_tree *t, int n, bool holds, where_goes_fn *goes, bool *kept)
{
    struct where_node *x = &t->node[n];
    bool any = false;

    switch (x->op) {
    case OP_TRUE:
        return false;
    case OP_NOT:
        return where_loosen(t, x->a, !holds, goes, kept);
    case OP_AND:
    case OP_OR:
        any = where_loosen(t, x->a, holds, goes, kept);
        return where_loosen(t, x->b, holds, goes, kept) || any;
    default:
        if (goes(t, x, &any)) {
            *kept = true;
        } else {
            x->op = OP_TRUE;
            x->num = holds;
        }
        return any;
    }
}
