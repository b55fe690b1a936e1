/*
 * may.c - the part of an expression that depends on how rows look: kind, opcode, text.
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

static bool is_of_looks(unsigned column)
{
    return column == COL_OPCODE || (column >= COL_TEXT && column <= COL_REGISTER);
}

/* Does number or text N depend only on how rows look? *ANY: it depends on more than constants. */
static bool looks(const struct where_tree *t, int n, bool *any)
{
    const struct where_node *x = &t->node[n];

    switch (x->op) {
    case OP_NUMBER:
    case OP_STRING:
    case OP_REGEX:
        return true;
    case OP_NAME:
        *any |= x->name != NULL;
        return !x->name || is_of_looks(x->name->column);
    case OP_SET:
        for (int i = x->a; i >= 0; i = t->node[i].next)
            if (!looks(t, i, any))
                return false;
        return true;
    default:
        return (x->a < 0 || looks(t, x->a, any)) && (x->b < 0 || looks(t, x->b, any));
    }
}

bool where_is_of_looks(const struct where_tree *t, const struct where_node *x, bool *any)
{
    const struct where_node *a = x->a < 0 ? NULL : &t->node[x->a];
    bool here = false, is;

    if (x->op == OP_NAME)
        return false;
    if (x->op == OP_CALL)
        is = x->name->column == COL_HAS && looks(t, x->a, &here);
    else if (a->op == OP_NAME && a->name && a->name->column == COL_KIND)
        return t->node[x->b].op == OP_SET ? are_kinds(t, t->node[x->b].a, true)
                                          : are_kinds(t, x->b, false);
    else
        is = looks(t, x->a, &here) && looks(t, x->b, &here);
    *any |= is && here;
    return is;
}

bool where_loosen(struct where_tree *t, int n, bool holds)
{
    struct where_node *x = &t->node[n];
    bool any = false;

    switch (x->op) {
    case OP_TRUE:
        return false;
    case OP_NOT:
        return where_loosen(t, x->a, !holds);
    case OP_AND:
    case OP_OR:
        any = where_loosen(t, x->a, holds);
        return where_loosen(t, x->b, holds) || any;
    default:
        if (!where_is_of_looks(t, x, &any)) {
            x->op = OP_TRUE;
            x->num = holds;
        }
        return any;
    }
}
