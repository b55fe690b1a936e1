/*
 * exact.c - expressions that can be decided without looking at rows: those for which need.c and
 * may.c are exact.
 */
#include <string.h>
#include <strings.h>

#include "show/where/where_int.h"

/* The kind that TEXT is; 0: none, or also records of another kind. */
static uint32_t kind_named(const struct where_tree *t, const char *text)
{
    const int kind = trod_kind_find(text, strlen(text));

    if (!t->plain)
        return 0;
    if (strcasecmp(text, "MEMORY") == 0)
        return 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC;
    return kind >= 0 ? 1u << kind : 0;
}

/* The kinds from node N on. */
static bool kinds_named(const struct where_tree *t, int n, bool all, uint32_t *kinds)
{
    *kinds = 0;
    for (; n >= 0; n = all ? t->node[n].next : -1) {
        const uint32_t kind = is_text_node(&t->node[n]) ? kind_named(t, t->node[n].s) : 0;

        if (!kind)
            return false;
        *kinds |= kind;
    }
    return true;
}

static bool is_name(const struct where_tree *t, int n, unsigned column)
{
    return n >= 0 && t->node[n].op == OP_NAME && t->node[n].name &&
           t->node[n].name->column == column;
}

bool where_kinds(const struct where_tree *t, int n, uint32_t *kinds)
{
    const struct where_node *x = &t->node[n];
    uint32_t more;

    switch (x->op) {
    case OP_TRUE:
        *kinds = x->num ? UINT32_MAX : 0;
        return true;
    case OP_NOT:
        if (!where_kinds(t, x->a, &more))
            return false;
        *kinds = ~more;
        return true;
    case OP_AND:
    case OP_OR:
        if (!where_kinds(t, x->a, kinds) || !where_kinds(t, x->b, &more))
            return false;
        *kinds = x->op == OP_AND ? *kinds & more : *kinds | more;
        return true;
    case OP_EQ:
    case OP_NE:
        if (!is_name(t, x->a, COL_KIND) || !kinds_named(t, x->b, false, kinds))
            return false;
        *kinds = x->op == OP_EQ ? *kinds : ~*kinds;
        return true;
    case OP_IN:
        return is_name(t, x->a, COL_KIND) && t->node[x->b].op == OP_SET &&
               kinds_named(t, t->node[x->b].a, true, kinds);
    default:
        return false;
    }
}

/* Is node N a number, or a range of them with both ends? */
static bool is_plain_item(const struct where_tree *t, int n)
{
    const struct where_node *x = &t->node[n];

    return x->op == OP_NUMBER ||
           (x->op == OP_RANGE && x->num == 0 && (x->a < 0 || t->node[x->a].op == OP_NUMBER) &&
            (x->b < 0 || t->node[x->b].op == OP_NUMBER));
}

/* A comparison of one column with numbers: what is known of it in full. */
static unsigned comparison(const struct where_tree *t, const struct where_node *x)
{
    static const struct {
        unsigned column, part, most;
    } parts[] = {{COL_ROW, WHERE_ROWS, 1},
                 {COL_TIME, WHERE_TIMES, 1},
                 {COL_ADDR, WHERE_ADDRS, 1},
                 {COL_VALUE, WHERE_VALUES, TROD_MATCH_SPANS},
                 {COL_PC, WHERE_PCS, TROD_MATCH_SPANS}};
    const bool turned = x->op >= OP_EQ && x->op <= OP_GE && t->node[x->a].op == OP_NUMBER;
    const int name = turned ? x->b : x->a, item = turned ? x->a : x->b;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        unsigned n = 0;

        if (!is_name(t, name, parts[i].column))
            continue;
        if (x->op == OP_NE)
            return parts[i].column == COL_VALUE && !turned && t->node[item].op == OP_NUMBER
                       ? WHERE_VALUES
                       : 0;
        if (x->op != OP_IN)
            return x->op >= OP_EQ && x->op <= OP_GE && t->node[item].op == OP_NUMBER ? parts[i].part
                                                                                     : 0;
        if (t->node[item].op != OP_SET)
            return is_plain_item(t, item) ? parts[i].part : 0;
        for (int k = t->node[item].a; k >= 0; k = t->node[k].next)
            if (!is_plain_item(t, k) || ++n > parts[i].most)
                return 0;
        return parts[i].part;
    }
    return 0;
}

/* A comparison of the function with names. */
static bool is_of_functions(const struct where_tree *t, const struct where_node *x)
{
    if (!is_name(t, x->a, COL_FUNCTION))
        return false;
    if (x->op == OP_EQ)
        return where_functions(t, x->b, false);
    return x->op == OP_IN && t->node[x->b].op == OP_SET &&
           where_functions(t, t->node[x->b].a, true);
}

unsigned where_exact(const struct where_tree *t, int n)
{
    const unsigned once = WHERE_VALUES | WHERE_PCS;
    const struct where_node *x = &t->node[n];
    bool any = false;
    uint32_t kinds;
    unsigned a, b;

    if (where_kinds(t, n, &kinds))
        return WHERE_KINDS;
    if (where_all_go(t, n, where_goes_by_shape, &any))
        return WHERE_LOOKS;
    if (where_all_go(t, n, where_goes_by_class, &any))
        return WHERE_CLASSES;
    if (is_of_functions(t, x))
        return WHERE_PCS;
    if (x->op == OP_AND) {
        a = where_exact(t, x->a);
        b = where_exact(t, x->b);
        return a && b && !(a & b & once) ? a | b : 0;
    }
    return (x->op >= OP_EQ && x->op <= OP_GE) || x->op == OP_IN ? comparison(t, x) : 0;
}
