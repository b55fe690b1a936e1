/*
 * check.c - what the parts of an expression are, and whether they go together.
 *
 * Implements trod-where(7), "Names" and "Operators". A name that is none stands for itself beside
 * texts, words and streams; anywhere else it is an error.
 */
#include <string.h>
#include <strings.h>

#include "show/where/where_int.h"
#include "trod/buf.h"

enum { NAMES = 128 };

static const char *const type_names[] = {"nothing", "a condition", "a number", "a text",
                                         "a word",  "a stream",    "a name"};

static int check(struct where_tree *t, int n);

static int unknown_name(struct where_tree *t, const struct where_node *n)
{
    const char *list[NAMES], *near;
    struct trod_buf all = {0};
    size_t count = 0;
    int r;

    for (size_t i = 0; where_name_at(i) && count < NAMES; i++) {
        list[count++] = where_name_at(i)->public.name;
        if (where_name_at(i)->public.text)
            trod_buf_printf(&all, "%s%s", all.n ? " " : "", where_name_at(i)->public.name);
    }
    near = trod_suggest(n->s, strlen(n->s), list, count);
    if (near)
        r = where_error(t->diag, t->text, n->pos, "there is no '%s'; did you mean '%s'?", n->s,
                        near);
    else
        r = where_error(t->diag, t->text, n->pos, "there is no '%.60s'; there are %.*s", n->s,
                        (int)all.n, all.n ? (const char *)all.p : "");
    trod_buf_fini(&all);
    return r;
}

/* Node N is of type TYPE, or an error is told. */
static int must_be(struct where_tree *t, int n, unsigned type)
{
    const struct where_node *x = &t->node[n];
    int r = check(t, n);

    if (r < 0)
        return r;
    if (x->type == TYPE_BARE)
        return unknown_name(t, x);
    if (x->type == TYPE_STREAM && type == TYPE_NUMBER)
        return 0;
    if (x->type != type)
        return where_error(t->diag, t->text, x->pos, "this is %s where %s is expected",
                           type_names[x->type], type_names[type]);
    return 0;
}

static uint64_t fold(unsigned op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_MUL:
        return a * b;
    case OP_DIV:
        return a / b;
    case OP_MOD:
        return a % b;
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_SHL:
        return b < 64 ? a << b : 0;
    case OP_SHR:
        return b < 64 ? a >> b : 0;
    case OP_BAND:
        return a & b;
    case OP_BXOR:
        return a ^ b;
    default:
        return a | b;
    }
}

static int arithmetic(struct where_tree *t, struct where_node *n)
{
    const struct where_node *a = &t->node[n->a], *b = n->b < 0 ? NULL : &t->node[n->b];
    int r = must_be(t, n->a, TYPE_NUMBER);

    if (r == 0 && b)
        r = must_be(t, n->b, TYPE_NUMBER);
    n->type = TYPE_NUMBER;
    if (r < 0)
        return r;
    if ((n->op == OP_DIV || n->op == OP_MOD) && b->op == OP_NUMBER && b->num == 0)
        return where_error(t->diag, t->text, b->pos, "this divides by zero");
    if (a->op != OP_NUMBER || (b && b->op != OP_NUMBER))
        return 0;
    n->num = n->op == OP_NEG ? 0 - a->num : n->op == OP_INV ? ~a->num : fold(n->op, a->num, b->num);
    n->op = OP_NUMBER;
    return 0;
}

/* The bounds of range N are numbers; one that is left open becomes a constant. */
static int range(struct where_tree *t, struct where_node *n)
{
    struct where_node *lo = n->a < 0 ? NULL : &t->node[n->a],
                      *hi = n->b < 0 ? NULL : &t->node[n->b];
    int r = lo ? must_be(t, n->a, TYPE_NUMBER) : 0;

    if (r == 0 && hi)
        r = must_be(t, n->b, TYPE_NUMBER);
    if (r < 0)
        return r;
    n->type = TYPE_NUMBER;
    if (hi && hi->op == OP_NUMBER && n->num) {
        if (hi->num == 0)
            return where_error(t->diag, t->text, hi->pos, "no number lies below this end");
        hi->num--;
        n->num = 0;
    }
    if (lo && hi && lo->op == OP_NUMBER && hi->op == OP_NUMBER && lo->num > hi->num)
        return where_error(t->diag, t->text, n->pos, "this range ends before it begins");
    return 0;
}

static bool is_constant_range(const struct where_tree *t, const struct where_node *n)
{
    return (n->a < 0 || t->node[n->a].op == OP_NUMBER) &&
           (n->b < 0 || t->node[n->b].op == OP_NUMBER) && !n->num;
}

/* at("SYMBOL"), span("SYMBOL"): the node becomes a number or a range. */
static int symbol(struct where_tree *t, struct where_node *n)
{
    const struct where_node *arg = &t->node[n->a];
    uint64_t at, size;

    if (arg->next >= 0 || (arg->op != OP_STRING && arg->op != OP_NAME))
        return where_error(t->diag, t->text, arg->pos, "the name of a symbol is expected here");
    if (!t->symbols)
        return where_error(t->diag, t->text, n->pos, "'%s' needs --symbols ELF", n->s);
    if (!trod_symbols_address(t->symbols, arg->s, &at, &size))
        return where_error(t->diag, t->text, arg->pos, "no symbol is called '%s'", arg->s);
    n->type = TYPE_NUMBER;
    if (n->name->column == COL_AT) {
        n->op = OP_NUMBER;
        n->num = at;
        return 0;
    }
    if (t->n + 2 > WHERE_NODES)
        return where_error(t->diag, t->text, n->pos, "the expression is too long");
    n->op = OP_RANGE;
    n->num = 0;
    n->a = t->n;
    n->b = t->n + 1;
    for (int i = 0; i < 2; i++)
        t->node[t->n++] = (struct where_node){.op = OP_NUMBER,
                                              .type = TYPE_NUMBER,
                                              .pos = n->pos,
                                              .a = -1,
                                              .b = -1,
                                              .next = -1,
                                              .num = i == 0 ? at : at + (size ? size - 1 : 0)};
    return 0;
}

static int call(struct where_tree *t, struct where_node *n)
{
    struct where_node *arg = &t->node[n->a];

    n->name = where_name_find(n->s);
    if (!n->name)
        return unknown_name(t, n);
    if (n->name->type != TYPE_NONE)
        return where_error(t->diag, t->text, n->pos, "'%s' is no function", n->s);
    n->type = TYPE_BOOL;
    if (n->name->column == COL_AT || n->name->column == COL_SPAN)
        return symbol(t, n);
    if (n->name->column == COL_HAS) {
        arg->name = arg->op == OP_NAME ? where_name_find(arg->s) : NULL;
        if (arg->next >= 0 || !arg->name || arg->name->type == TYPE_BOOL ||
            arg->name->type == TYPE_NONE)
            return where_error(t->diag, t->text, arg->pos,
                               "the name of a column is expected here, as in has(value)");
        return check(t, n->a);
    }
    for (int i = n->a; i >= 0; i = t->node[i].next) {
        int r = must_be(t, i, TYPE_NUMBER);

        if (r < 0)
            return r;
        if (t->node[i].op != OP_NUMBER &&
            (t->node[i].op != OP_RANGE || !is_constant_range(t, &t->node[i])))
            return where_error(t->diag, t->text, t->node[i].pos,
                               "an address or a range of them is expected here");
    }
    return 0;
}

static int name(struct where_tree *t, struct where_node *n)
{
    n->name = where_name_find(n->s);
    n->type = n->name ? n->name->type : TYPE_BARE;
    if (n->name && n->type == TYPE_NONE)
        return where_error(t->diag, t->text, n->pos, "'%s' is a function: %s", n->s,
                           n->name->public.text);
    if (n->name && n->name->symbols && !t->symbols)
        return where_error(t->diag, t->text, n->pos, "'%s' needs --symbols ELF", n->s);
    return 0;
}

static int bad_word(struct where_tree *t, const struct where_node *name, const struct where_node *n)
{
    struct trod_buf all = {0};
    const char *s;
    int r;

    if (name->name->column == COL_KIND)
        for (unsigned i = 0; (s = trod_kind_name(i)); i++)
            trod_buf_printf(&all, " %s", s);
    else
        for (unsigned i = 1; (s = where_word_at(name->name->column, i)); i++)
            trod_buf_printf(&all, " %s", s);
    r = where_error(t->diag, t->text, n->pos, "no %s is called '%.60s'; there are%.*s",
                    name->name->column == COL_KIND ? "record" : name->s, n->s, (int)all.n,
                    all.n ? (const char *)all.p : "");
    trod_buf_fini(&all);
    return r;
}

/* Constant N is compared with COLUMN, which is no number. */
static int constant(struct where_tree *t, const struct where_node *column,
                    const struct where_node *n)
{
    if (!is_text_node(n))
        return where_error(
            t->diag, t->text, n->pos, "'%s' is %s; a constant text is expected here%s", column->s,
            type_names[column->type], n->op == OP_NAME ? " (in quotes, if this is one)" : "");
    if (column->type != TYPE_WORD)
        return 0;
    if (column->name->column == COL_KIND
            ? !(trod_kind_find(n->s, strlen(n->s)) >= 0 || strcasecmp(n->s, "MEMORY") == 0 ||
                strcasecmp(n->s, "FETCH") == 0 || match_is_record_name(n->s))
            : where_word_find(column->name->column, n->s) < 0)
        return bad_word(t, column, n);
    return 0;
}

static bool is_number(const struct where_node *n)
{
    return n->type == TYPE_NUMBER || n->type == TYPE_STREAM;
}

/* A name that is no number against a constant; the name is put on the left. */
static int compare_text(struct where_tree *t, struct where_node *n)
{
    struct where_node *a = &t->node[n->a], *b = &t->node[n->b];

    if (a->type == TYPE_BARE && (b->type == TYPE_BARE || b->type <= TYPE_NUMBER))
        return unknown_name(t, a);
    if (b->type == TYPE_BARE && a->type <= TYPE_NUMBER)
        return unknown_name(t, b);
    if (n->op != OP_EQ && n->op != OP_NE)
        return where_error(t->diag, t->text, n->pos, "only numbers have an order");
    if (is_text_node(a) || (a->type == TYPE_NUMBER && !is_number(b))) {
        int other = n->a;

        n->a = n->b;
        n->b = other;
        a = &t->node[n->a];
        b = &t->node[n->b];
    }
    if (a->type == TYPE_BARE)
        return unknown_name(t, a);
    if (a->op != OP_NAME || a->type == TYPE_BOOL || a->type == TYPE_NUMBER)
        return where_error(t->diag, t->text, n->pos, "%s cannot be compared with %s",
                           type_names[a->type], type_names[b->type]);
    return constant(t, a, b);
}

/* What stands beside text or word A is no name of a column: branch == call. */
static void take_for_text(const struct where_node *a, struct where_node *b)
{
    if (a->op == OP_NAME && (a->type == TYPE_WORD || a->type == TYPE_TEXT) && b->op == OP_NAME)
        b->op = OP_STRING;
}

static int compare(struct where_tree *t, struct where_node *n)
{
    struct where_node *a = &t->node[n->a], *b = &t->node[n->b];
    int r = check(t, n->a);

    if (r == 0) {
        take_for_text(a, b);
        r = check(t, n->b);
    }
    n->type = TYPE_BOOL;
    if (r < 0 || (is_number(a) && is_number(b)))
        return r;
    return compare_text(t, n);
}

static int match(struct where_tree *t, struct where_node *n)
{
    const struct where_node *a = &t->node[n->a], *b = &t->node[n->b];
    int r = check(t, n->a);

    n->type = TYPE_BOOL;
    if (r < 0)
        return r;
    if (a->type == TYPE_BARE)
        return unknown_name(t, a);
    if (a->op != OP_NAME ||
        (a->type != TYPE_TEXT && a->type != TYPE_STREAM && a->name->column != COL_OPCODE))
        return where_error(t->diag, t->text, a->pos,
                           "only texts, streams and opcode have patterns; this is %s",
                           type_names[a->type]);
    if (b->op != OP_STRING && b->op != OP_REGEX)
        return where_error(t->diag, t->text, b->pos,
                           "a pattern is expected here: \"...\" or /.../");
    return 0;
}

static int among(struct where_tree *t, struct where_node *n)
{
    const struct where_node *a = &t->node[n->a], *b = &t->node[n->b];
    int r = check(t, n->a);

    n->type = TYPE_BOOL;
    if (r < 0)
        return r;
    if (a->type == TYPE_BARE)
        return unknown_name(t, a);
    if (a->op != OP_NAME && a->type != TYPE_NUMBER)
        return where_error(t->diag, t->text, a->pos, "%s cannot stand before 'in'",
                           type_names[a->type]);
    if (a->type == TYPE_BOOL)
        return where_error(t->diag, t->text, a->pos, "a condition cannot stand before 'in'");
    if (b->op != OP_SET && !is_number(a))
        return where_error(t->diag, t->text, b->pos, "a set {...} is expected here");
    for (int i = b->op == OP_SET ? b->a : n->b; i >= 0; i = t->node[i].next) {
        struct where_node *item = &t->node[i];

        take_for_text(a, item);
        if ((r = check(t, i)) < 0)
            return r;
        if (is_number(a) && is_number(item)) {
            if (b->op != OP_SET && item->op != OP_RANGE)
                return where_error(t->diag, t->text, item->pos,
                                   "a range LO..HI or a set {...} is expected here");
            continue;
        }
        r = item->type == TYPE_BARE && a->type == TYPE_NUMBER ? unknown_name(t, item)
            : a->type == TYPE_NUMBER                          ? must_be(t, i, TYPE_NUMBER)
                                                              : constant(t, a, item);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check(struct where_tree *t, int i)
{
    struct where_node *n = &t->node[i];
    int r;

    switch (n->op) {
    case OP_NUMBER:
        n->type = TYPE_NUMBER;
        return 0;
    case OP_STRING:
    case OP_REGEX:
        n->type = TYPE_TEXT;
        return 0;
    case OP_TRUE:
        n->type = TYPE_BOOL;
        return 0;
    case OP_NAME:
        return name(t, n);
    case OP_CALL:
        return call(t, n);
    case OP_RANGE:
        return range(t, n);
    case OP_NOT:
    case OP_AND:
    case OP_OR:
        n->type = TYPE_BOOL;
        r = must_be(t, n->a, TYPE_BOOL);
        return r == 0 && n->op != OP_NOT ? must_be(t, n->b, TYPE_BOOL) : r;
    case OP_MATCH:
    case OP_NOMATCH:
        return match(t, n);
    case OP_IN:
        return among(t, n);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return compare(t, n);
    default:
        return arithmetic(t, n);
    }
}

int where_check(struct where_tree *t, int root)
{
    return must_be(t, root, TYPE_BOOL);
}
