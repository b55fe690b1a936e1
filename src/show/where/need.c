/*
 * need.c - necessary conditions of an expression: kinds of rows, addresses, times, row numbers.
 *
 * They hold for all rows that pass, and for others: what is not understood here allows any row.
 */
#include <regex.h>
#include <string.h>
#include <strings.h>

#include "show/where/where_int.h"

enum { LONGEST = 64 }; /* more bytes than an instruction has */

static const struct trod_match_need any = {.kinds = UINT32_MAX, .hi = UINT64_MAX};
static const struct trod_match_need none = {.kinds = 0, .hi = UINT64_MAX};

/* What is in A and in B. */
static struct trod_range both_ranges(struct trod_range a, struct trod_range b)
{
    if (!a.set || !b.set)
        return a.set ? a : b;
    return (struct trod_range){true, a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

/* What is in A or in B, and what lies between them. */
static struct trod_range either_range(struct trod_range a, struct trod_range b)
{
    return (struct trod_range){a.set && b.set, a.lo < b.lo ? a.lo : b.lo,
                               a.hi > b.hi ? a.hi : b.hi};
}

struct trod_match_need match_need_both(struct trod_match_need a, struct trod_match_need b)
{
    return (struct trod_match_need){.kinds = a.kinds & b.kinds,
                                    .rows = both_ranges(a.rows, b.rows),
                                    .times = both_ranges(a.times, b.times),
                                    .numbers = both_ranges(a.numbers, b.numbers),
                                    .pcs = match_spans_both(&a.pcs, &b.pcs),
                                    .values = match_spans_both(&a.values, &b.values),
                                    .bounded = a.bounded || b.bounded,
                                    .lo = a.lo > b.lo ? a.lo : b.lo,
                                    .hi = a.hi < b.hi ? a.hi : b.hi,
                                    .reach = a.reach > b.reach ? a.reach : b.reach};
}

struct trod_match_need match_need_bytes(uint64_t lo, uint64_t hi)
{
    /* the words of eight bytes that they lie in: byu6 has accesses to bytes before their address */
    return (struct trod_match_need){.kinds = UINT32_MAX,
                                    .bounded = true,
                                    .lo = lo & ~UINT64_C(7),
                                    .hi = hi | 7,
                                    .reach = LONGEST};
}

/* One of them. */
static struct trod_match_need either(struct trod_match_need a, struct trod_match_need b)
{
    if (!a.kinds || !b.kinds)
        return a.kinds ? a : b;
    return (struct trod_match_need){.kinds = a.kinds | b.kinds,
                                    .rows = either_range(a.rows, b.rows),
                                    .times = either_range(a.times, b.times),
                                    .numbers = either_range(a.numbers, b.numbers),
                                    .pcs = match_spans_either(&a.pcs, &b.pcs),
                                    .values = match_spans_either(&a.values, &b.values),
                                    .bounded = a.bounded && b.bounded,
                                    .lo = a.lo < b.lo ? a.lo : b.lo,
                                    .hi = a.hi > b.hi ? a.hi : b.hi,
                                    .reach = a.reach > b.reach ? a.reach : b.reach};
}

static struct trod_match_need of_kind(const struct where_tree *t, const char *name)
{
    const int kind = trod_kind_find(name, strlen(name));
    struct trod_match_need n = none;

    n.kinds = t->plain ? 0 : match_record_kinds(NULL, name);
    if (kind >= 0)
        n.kinds |= 1u << kind;
    else if (strcasecmp(name, "MEMORY") == 0)
        n.kinds |= 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC;
    else if (strcasecmp(name, "FETCH") == 0)
        n.kinds |= 1u << TROD_BUS;
    return n.kinds || t->plain ? n : any;
}

/* What COLUMN says is LO to HI; none if there are no such numbers. */
static struct trod_match_need within(unsigned column, uint64_t lo, uint64_t hi)
{
    const struct trod_range range = {true, lo, hi};
    struct trod_match_need n = any;

    if (lo > hi)
        return none;
    switch (column) {
    case COL_ADDR:
        n.bounded = true;
        n.lo = lo;
        n.hi = hi;
        break;
    case COL_ROW:
        n.rows = range;
        break;
    case COL_TIME:
        n.times = range;
        break;
    case COL_INDEX:
        n.numbers = range;
        break;
    case COL_PC:
        match_spans_add(&n.pcs, lo, hi);
        break;
    case COL_VALUE:
        match_spans_add(&n.values, lo, hi);
        break;
    default:
        break;
    }
    return n;
}

/* What COLUMN says stands in relation OP to V. */
static struct trod_match_need compared(unsigned column, unsigned op, uint64_t v)
{
    struct trod_match_need n = any;

    switch (op) {
    case OP_NE:
        if (column != COL_VALUE)
            return any;
        n.values.set = true;
        if (v > 0)
            match_spans_add(&n.values, 0, v - 1);
        if (v < UINT64_MAX)
            match_spans_add(&n.values, v + 1, UINT64_MAX);
        return n;
    case OP_EQ:
        return within(column, v, v);
    case OP_LE:
        return within(column, 0, v);
    case OP_LT:
        return v ? within(column, 0, v - 1) : none;
    case OP_GE:
        return within(column, v, UINT64_MAX);
    case OP_GT:
        return v < UINT64_MAX ? within(column, v + 1, UINT64_MAX) : none;
    default:
        return any;
    }
}

/* V stands in relation OP to what COLUMN says. */
static struct trod_match_need compared_with(unsigned column, unsigned op, uint64_t v)
{
    static const struct {
        unsigned op, turned;
    } turn[] = {{OP_EQ, OP_EQ}, {OP_LT, OP_GT}, {OP_LE, OP_GE}, {OP_GT, OP_LT}, {OP_GE, OP_LE}};

    for (size_t i = 0; i < sizeof turn / sizeof *turn; i++)
        if (turn[i].op == op)
            return compared(column, turn[i].turned, v);
    return any;
}

/* COLUMN is in the range of node N, or the number; any, where it is neither. */
static struct trod_match_need item(const struct where_tree *t, unsigned column, int n)
{
    const struct where_node *x = &t->node[n];
    uint64_t lo = 0, hi = UINT64_MAX;

    if (x->op == OP_NUMBER)
        return within(column, x->num, x->num);
    if (x->op != OP_RANGE || (x->a >= 0 && t->node[x->a].op != OP_NUMBER) ||
        (x->b >= 0 && t->node[x->b].op != OP_NUMBER))
        return any;
    if (x->a >= 0)
        lo = t->node[x->a].num;
    if (x->b >= 0)
        hi = t->node[x->b].num;
    return within(column, lo, hi);
}

/* ---- names of addresses */

/* Names that are wanted: the texts from node ITEM on, or a pattern. */
struct wanted {
    const struct where_tree *tree;
    int item;
    bool all; /* and those behind it */
    const regex_t *pattern;
};

static bool is_wanted(const struct wanted *w, const char *name)
{
    const char *slash = strrchr(name, '/');

    if (w->pattern)
        return strlen(name) > WHERE_TEXT || regexec(w->pattern, name, 0, NULL, 0) == 0;
    for (int i = w->item; i >= 0; i = w->all ? w->tree->node[i].next : -1) {
        const char *text = w->tree->node[i].s;

        if (!is_text_node(&w->tree->node[i]) || strcmp(text, name) == 0 ||
            (slash && strcmp(text, slash + 1) == 0))
            return true;
    }
    return false;
}

/* Where symbols have such a name: each up to its end, or to where the next one begins. */
static void add_symbols(const struct wanted *w, struct trod_match_spans *to)
{
    struct trod_symbols *s = w->tree->symbols;
    const char *name, *next;
    uint64_t at, size, behind, more;
    bool there = trod_symbols_at(s, 0, &name, &at, &size);

    for (size_t i = 0; there; i++) {
        uint64_t last = at + (size - 1) < at ? UINT64_MAX : at + (size - 1);

        there = trod_symbols_at(s, i + 1, &next, &behind, &more);
        if (there && behind - 1 < last)
            last = behind - 1;
        if (size && is_wanted(w, name))
            match_spans_add(to, at, last);
        name = next;
        at = behind;
        size = more;
    }
}

/* Is TEXT one that is wanted as it stands? */
static bool is_text_of(const struct wanted *w, const char *text)
{
    for (int i = w->item; i >= 0; i = w->all ? w->tree->node[i].next : -1)
        if (is_text_node(&w->tree->node[i]) && strcmp(w->tree->node[i].s, text) == 0)
            return true;
    return false;
}

bool where_functions(const struct where_tree *t, int n, bool all)
{
    const struct wanted w = {.tree = t, .item = n, .all = all};
    const char *name;
    uint64_t at, size;
    unsigned wanted = 0;

    for (int i = n; i >= 0; i = all ? t->node[i].next : -1)
        if (!is_text_node(&t->node[i]) || strlen(t->node[i].s) >= WHERE_TEXT)
            return false;
    if (!t->symbols)
        return false;
    for (size_t i = 0; trod_symbols_at(t->symbols, i, &name, &at, &size); i++)
        if (is_wanted(&w, name) && (!is_text_of(&w, name) || ++wanted > TROD_MATCH_SPANS))
            return false;
    return true;
}

static void add_modules(const struct wanted *w, struct trod_match_spans *to)
{
    const char *path;
    uint64_t from, end;

    for (size_t i = 0; trod_symbols_module(w->tree->symbols, i, &path, &from, &end); i++)
        if (from < end && is_wanted(w, path))
            match_spans_add(to, from, end - 1);
}

/* What COLUMN says of an address is W. */
static struct trod_match_need placed(unsigned column, const struct wanted *w)
{
    struct trod_match_spans at = {.set = true};
    struct trod_match_need n = any;

    if (column == COL_DISASM || column == COL_MNEMONIC || column == COL_REGISTER)
        n.kinds = 1u << (column == COL_REGISTER ? TROD_REG : TROD_INSTR);
    if (!w->tree->symbols ||
        (column != COL_FUNCTION && column != COL_SYMBOL && column != COL_MODULE))
        return n;
    if (column == COL_MODULE)
        add_modules(w, &at);
    else
        add_symbols(w, &at);
    if (at.n == 0)
        return none;
    if (column == COL_SYMBOL)
        return within(COL_ADDR, at.at[0].lo, at.at[at.n - 1].hi);
    n.pcs = at;
    return n;
}

/* COLUMN matches the pattern of node N. */
static struct trod_match_need pattern(const struct where_tree *t, unsigned column, int n)
{
    const struct where_node *p = &t->node[n];
    struct wanted w = {.tree = t};
    struct trod_match_need out;
    regex_t regex;

    if (regcomp(&regex, p->s, REG_EXTENDED | REG_NOSUB | (p->nocase ? REG_ICASE : 0)) != 0)
        return any;
    w.pattern = &regex;
    out = placed(column, &w);
    regfree(&regex);
    return out;
}

/* One of the items from node N on, of COLUMN. */
static struct trod_match_need items(const struct where_tree *t, unsigned column, int n, bool all)
{
    struct trod_match_need out = none;

    if (t->node[n].op != OP_NUMBER && is_text_node(&t->node[n]) && column != COL_KIND)
        return placed(column, &(struct wanted){.tree = t, .item = n, .all = all});
    for (; n >= 0; n = all ? t->node[n].next : -1) {
        const struct where_node *x = &t->node[n];

        out = either(out, column != COL_KIND ? item(t, column, n)
                          : is_text_node(x)  ? of_kind(t, x->s)
                                             : any);
    }
    return out;
}

static struct trod_match_need touched(const struct where_tree *t, const struct where_node *x)
{
    const struct trod_match_need n = items(t, COL_ADDR, x->a, true);

    return n.bounded ? match_need_bytes(n.lo, n.hi) : any;
}

static unsigned column_of(const struct where_tree *t, int n)
{
    const struct where_node *x = &t->node[n];

    return x->op == OP_NAME && x->name ? x->name->column : COL_SPAN;
}

/* A comparison. */
static struct trod_match_need comparison(const struct where_tree *t, const struct where_node *x)
{
    unsigned left, right;

    if (x->a < 0 || x->b < 0)
        return any;
    left = column_of(t, x->a);
    right = column_of(t, x->b);
    if (is_text_node(&t->node[x->b]))
        return x->op == OP_EQ ? items(t, left, x->b, false) : any;
    if (t->node[x->b].op == OP_NUMBER)
        return compared(left, x->op, t->node[x->b].num);
    if (t->node[x->a].op == OP_NUMBER)
        return compared_with(right, x->op, t->node[x->a].num);
    return any;
}

struct trod_match_need where_need(const struct where_tree *t, int n)
{
    const struct where_node *x = &t->node[n];
    struct trod_match_need kinds = any;
    unsigned column;

    if (where_kinds(t, n, &kinds.kinds))
        return kinds;
    switch (x->op) {
    case OP_AND:
        return match_need_both(where_need(t, x->a), where_need(t, x->b));
    case OP_OR:
        return either(where_need(t, x->a), where_need(t, x->b));
    case OP_IN:
        column = column_of(t, x->a);
        if (t->node[x->b].op == OP_SET)
            return items(t, column, t->node[x->b].a, true);
        return items(t, column, x->b, false);
    case OP_MATCH:
        return pattern(t, column_of(t, x->a), x->b);
    case OP_CALL:
        if (x->name->column == COL_HAS && column_of(t, x->a) == COL_VALUE)
            return within(COL_VALUE, 0, UINT64_MAX);
        return x->name->column == COL_TOUCHES ? touched(t, x) : any;
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return comparison(t, x);
    default:
        return any;
    }
}
