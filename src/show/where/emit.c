/*
 * emit.c - a checked tree to a program.
 *
 * Conditions are made for a mask of active rows: behind && only the rows that passed what stands
 * before it, behind || only those that did not. Masks and numbers are kept in registers whose
 * numbers grow with the depth of the tree.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/grow.h"
#include "show/where/where_int.h"

struct emitter {
    struct trod_where *w;
    const struct where_tree *t;
    bool nomem;
    int usage; /* an error that was told */
};

static struct where_step *step(struct emitter *e, unsigned code, int active, int dst, int a, int b)
{
    static struct where_step nowhere;
    struct trod_where *w = e->w;
    struct where_step *s;

    if (!trod_grow(&w->step, w->n_steps, &w->cap_steps, sizeof *w->step, 32)) {
        e->nomem = true;
        return &nowhere;
    }
    s = &w->step[w->n_steps++];
    memset(s, 0, sizeof *s);
    s->code = (uint8_t)code;
    s->active = (uint16_t)active;
    s->dst = dst;
    s->a = a;
    s->b = b;
    return s;
}

static void use_mask(struct emitter *e, int mask)
{
    if (mask >= e->w->n_masks)
        e->w->n_masks = mask + 1;
}

static const struct where_node *at(const struct emitter *e, int n)
{
    return &e->t->node[n];
}

/* ---- numbers */

/* A step on numbers that gives number DST. */
static struct where_step *number_step(struct emitter *e, unsigned code, int active, int dst, int a,
                                      int b)
{
    if (dst >= e->w->n_numbers)
        e->w->n_numbers = dst + 1;
    return step(e, code, active, dst, a, b);
}

/* Node N as number DST, of the rows in ACTIVE. */
static void number(struct emitter *e, int n, int active, int dst)
{
    const struct where_node *x = at(e, n);
    struct where_step *s;

    switch (x->op) {
    case OP_NUMBER:
        number_step(e, RUN_CONST, active, dst, 0, 0)->k = x->num;
        return;
    case OP_NAME:
        e->w->want |= x->name->want;
        e->w->places |= x->name->column == COL_PC || x->name->column == COL_LINE ||
                        x->name->column == COL_OFFSET;
        e->w->streams |= x->name->column == COL_STREAM || x->name->column == COL_TID ||
                         x->name->column == COL_PID;
        number_step(e, RUN_LOAD, active, dst, x->name->column, 0);
        return;
    case OP_NEG:
    case OP_INV:
        number(e, x->a, active, dst);
        number_step(e, x->op == OP_NEG ? RUN_NEG : RUN_INV, active, dst, dst, 0);
        return;
    default:
        number(e, x->a, active, dst);
        if (at(e, x->b)->op != OP_NUMBER)
            number(e, x->b, active, dst + 1);
        s = number_step(e, RUN_ARITH, active, dst, dst,
                        at(e, x->b)->op == OP_NUMBER ? -1 : dst + 1);
        s->sub = x->op;
        s->k = at(e, x->b)->num;
        return;
    }
}

static unsigned turned(unsigned op)
{
    return op == OP_LT   ? OP_GT
           : op == OP_GT ? OP_LT
           : op == OP_LE ? OP_GE
           : op == OP_GE ? OP_LE
                         : op;
}

/* Number REG against node N. */
static void compare_with(struct emitter *e, unsigned op, int reg, int n, int active, int dst)
{
    const struct where_node *x = at(e, n);
    struct where_step *s;

    if (x->op != OP_NUMBER)
        number(e, n, active, reg + 1);
    s = step(e, RUN_COMPARE, active, dst, reg, x->op == OP_NUMBER ? -1 : reg + 1);
    s->sub = (uint8_t)op;
    s->k = x->num;
}

/* Is number REG in range N? Mask DST + 1 is used. */
static void within(struct emitter *e, int reg, int n, int active, int dst)
{
    const struct where_node *x = at(e, n);
    struct where_step *s;

    if ((x->a < 0 || at(e, x->a)->op == OP_NUMBER) && (x->b < 0 || at(e, x->b)->op == OP_NUMBER)) {
        s = step(e, RUN_BETWEEN, active, dst, reg, 0);
        s->k = x->a < 0 ? 0 : at(e, x->a)->num;
        s->most = x->b < 0 ? UINT64_MAX : at(e, x->b)->num;
        return;
    }
    if (x->a < 0) {
        compare_with(e, x->num ? OP_LT : OP_LE, reg, x->b, active, dst);
        return;
    }
    compare_with(e, OP_GE, reg, x->a, active, dst);
    if (x->b < 0)
        return;
    use_mask(e, dst + 1);
    compare_with(e, x->num ? OP_LT : OP_LE, reg, x->b, dst, dst + 1);
    step(e, RUN_ALL, active, dst, dst + 1, 0);
}

/* ---- texts, words and streams */

static bool by_place(unsigned column)
{
    return column == COL_FUNCTION || column == COL_SYMBOL || column == COL_MODULE ||
           column == COL_SOURCE;
}

static int new_test(struct emitter *e, unsigned column)
{
    struct trod_where *w = e->w;

    if (!trod_grow(&w->test, w->n_tests, &w->cap_tests, sizeof *w->test, 4)) {
        e->nomem = true;
        return -1;
    }
    w->test[w->n_tests] = calloc(1, sizeof **w->test);
    if (!w->test[w->n_tests]) {
        e->nomem = true;
        return -1;
    }
    w->test[w->n_tests]->column = (uint8_t)column;
    if (by_place(column)) {
        w->places = true;
        w->test[w->n_tests]->places = calloc(WHERE_PLACES, sizeof(struct where_place));
        e->nomem |= !w->test[w->n_tests]->places;
    }
    return (int)w->n_tests++;
}

static void add_item(struct emitter *e, int test, const struct where_node *item)
{
    struct where_test *x = e->w->test[test];

    if (x->n == WHERE_ITEMS) {
        e->usage = where_error(e->t->diag, e->t->text, item->pos, "the set is too large");
        return;
    }
    x->item[x->n++] = item->s;
    if (x->column != COL_KIND)
        return;
    if (trod_kind_find(item->s, strlen(item->s)) >= 0)
        x->kinds |= 1u << trod_kind_find(item->s, strlen(item->s));
    else if (strcasecmp(item->s, "MEMORY") == 0)
        x->kinds |= 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC;
    else if (strcasecmp(item->s, "FETCH") == 0)
        x->fetches = true;
    x->named |= match_is_record_name(item->s);
    if (x->fetches || x->named)
        e->w->want |= TROD_COL_FLAGS | TROD_COL_SUB;
}

/* Rows of ACTIVE whose column NAME is text ITEM, or one of the texts from ITEM on if ALL. */
static void text_test(struct emitter *e, const struct where_node *column, int item, bool all,
                      int active, int dst, bool negate)
{
    const unsigned c = column->name->column;
    struct where_step *s;
    int test;

    e->w->want |= column->name->want;
    if (column->type == TYPE_WORD && c != COL_KIND) {
        s = step(e, RUN_WORD, active, dst, 0, 0);
        s->sub = (uint8_t)c;
        s->negate = negate;
        for (int i = item; i >= 0; i = all ? at(e, i)->next : -1)
            s->k |= UINT64_C(1) << where_word_find(c, at(e, i)->s);
        return;
    }
    if ((test = new_test(e, c)) < 0)
        return;
    for (int i = item; i >= 0 && e->usage == 0; i = all ? at(e, i)->next : -1)
        if (is_text_node(at(e, i)))
            add_item(e, test, at(e, i));
    e->w->test[test]->nocase = c == COL_REGISTER || c == COL_MNEMONIC || c == COL_RECORD_TYPE;
    s = step(e,
             c == COL_KIND     ? RUN_KIND
             : c == COL_STREAM ? RUN_STREAM
                               : RUN_TEXT,
             active, dst, 0, 0);
    s->k = (uint64_t)test;
    s->negate = negate;
}

static void pattern(struct emitter *e, const struct where_node *x, int active, int dst)
{
    const struct where_node *column = at(e, x->a), *p = at(e, x->b);
    const unsigned c = column->name->column;
    int test = new_test(e, c), r;
    struct where_test *y;
    struct where_step *s;
    char why[200];

    e->w->want |= column->name->want;
    if (test < 0)
        return;
    y = e->w->test[test];
    r = regcomp(&y->regex, p->s, REG_EXTENDED | REG_NOSUB | (p->nocase ? REG_ICASE : 0));
    if (r != 0) {
        regerror(r, &y->regex, why, sizeof why);
        e->usage =
            where_error(e->t->diag, e->t->text, p->pos, "the pattern '%.200s': %s", p->s, why);
        return;
    }
    y->has_regex = true;
    y->literal = show_literal_of(p->s, p->nocase);
    y->cached = calloc(WHERE_CACHE, sizeof *y->cached);
    e->nomem |= !y->cached;
    s = step(e, c == COL_STREAM ? RUN_STREAM : RUN_TEXT, active, dst, 0, 0);
    s->k = (uint64_t)test;
    s->negate = x->op == OP_NOMATCH;
}

/* ---- conditions */

static void condition(struct emitter *e, int n, int active, int dst);

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The numbers from node ITEM on, which are constants, as a set. */
static void member(struct emitter *e, int item, int reg, int active, int dst)
{
    struct trod_where *w = e->w;
    struct where_set *set;
    size_t n = 0;

    for (int i = item; i >= 0; i = at(e, i)->next)
        n += at(e, i)->op == OP_NUMBER;
    if (!trod_grow(&w->set, w->n_sets, &w->cap_sets, sizeof *w->set, 4)) {
        e->nomem = true;
        return;
    }
    set = &w->set[w->n_sets];
    set->n = 0;
    set->item = calloc(n + 1, sizeof *set->item);
    if (!set->item) {
        e->nomem = true;
        return;
    }
    for (int i = item; i >= 0; i = at(e, i)->next)
        if (at(e, i)->op == OP_NUMBER)
            set->item[set->n++] = at(e, i)->num;
    qsort(set->item, set->n, sizeof *set->item, by_value);
    step(e, RUN_MEMBER, active, dst, reg, 0)->k = w->n_sets++;
}

/* A number in a set: its constants at once, then what else there is, each for the rows left. */
static void number_in_set(struct emitter *e, const struct where_node *x, int reg, int active,
                          int dst)
{
    const int first = at(e, x->b)->a;

    number(e, x->a, active, reg);
    member(e, first, reg, active, dst);
    for (int i = first; i >= 0; i = at(e, i)->next) {
        const struct where_node *item = at(e, i);

        if (item->op == OP_NUMBER || is_text_node(item))
            continue;
        use_mask(e, dst + 2);
        step(e, RUN_ANDN, active, dst + 1, active, dst);
        if (item->op == OP_RANGE)
            within(e, reg, i, dst + 1, dst + 2);
        else
            compare_with(e, OP_EQ, reg, i, dst + 1, dst + 2);
        step(e, RUN_OR, active, dst, dst, dst + 2);
    }
}

/* A stream in a set: by numbers, and those left by names. */
static void stream_in_set(struct emitter *e, const struct where_node *x, int reg, int active,
                          int dst)
{
    bool numbers = false, texts = false;

    for (int i = at(e, x->b)->a; i >= 0; i = at(e, i)->next) {
        texts |= is_text_node(at(e, i));
        numbers |= !is_text_node(at(e, i));
    }
    if (numbers)
        number_in_set(e, x, reg, active, dst);
    else
        step(e, RUN_NONE, active, dst, 0, 0);
    if (!texts)
        return;
    use_mask(e, dst + 2);
    step(e, RUN_ANDN, active, dst + 1, active, dst);
    text_test(e, at(e, x->a), at(e, x->b)->a, true, dst + 1, dst + 2, false);
    step(e, RUN_OR, active, dst, dst, dst + 2);
}

static void among(struct emitter *e, const struct where_node *x, int active, int dst)
{
    const struct where_node *a = at(e, x->a), *b = at(e, x->b);

    if (b->op != OP_SET) {
        number(e, x->a, active, 0);
        within(e, 0, x->b, active, dst);
    } else if (a->type == TYPE_STREAM) {
        stream_in_set(e, x, 0, active, dst);
    } else if (a->type == TYPE_NUMBER) {
        number_in_set(e, x, 0, active, dst);
    } else {
        text_test(e, a, b->a, true, active, dst, false);
    }
}

static void compare(struct emitter *e, const struct where_node *x, int active, int dst)
{
    const struct where_node *a = at(e, x->a), *b = at(e, x->b);

    if (is_text_node(b)) {
        text_test(e, a, x->b, false, active, dst, x->op == OP_NE);
    } else if (a->op == OP_NUMBER) {
        number(e, x->b, active, 0);
        compare_with(e, turned(x->op), 0, x->a, active, dst);
    } else {
        number(e, x->a, active, 0);
        compare_with(e, x->op, 0, x->b, active, dst);
    }
}

static void touches(struct emitter *e, const struct where_node *x, int active, int dst)
{
    struct trod_where *w = e->w;
    struct match_ranges *r;

    if (!trod_grow(&w->ranges, w->n_ranges, &w->cap_ranges, sizeof *w->ranges, 2)) {
        e->nomem = true;
        return;
    }
    r = &w->ranges[w->n_ranges];
    r->n = 0;
    for (int i = x->a; i >= 0; i = at(e, i)->next) {
        const struct where_node *item = at(e, i);

        if (r->n == TROD_LIST_MAX) {
            e->usage = where_error(e->t->diag, e->t->text, item->pos, "these are too many ranges");
            return;
        }
        r->at[r->n++] = item->op == OP_NUMBER
                            ? (struct trod_range){true, item->num, item->num}
                            : (struct trod_range){true, item->a < 0 ? 0 : at(e, item->a)->num,
                                                  item->b < 0 ? UINT64_MAX : at(e, item->b)->num};
    }
    w->want |= x->name->want;
    step(e, RUN_TOUCH, active, dst, 0, 0)->k = w->n_ranges++;
}

/* has(NAME): numbers and texts tell themselves, other columns have a bit. */
static void has(struct emitter *e, const struct where_node *x, int active, int dst)
{
    const struct where_node *arg = at(e, x->a);
    struct where_step *s;
    int test;

    e->w->want |= arg->name->want;
    if (arg->type == TYPE_NUMBER) {
        number(e, x->a, active, 0);
        step(e, RUN_PRESENT, active, dst, 0, 0);
    } else if (arg->type == TYPE_STREAM) {
        step(e, RUN_HAS, active, dst, 0, 0)->k = TROD_COL_STREAM;
    } else if (arg->name->column == COL_KIND) {
        step(e, RUN_ALL, active, dst, active, 0);
    } else if (arg->type == TYPE_WORD) {
        s = step(e, RUN_WORD, active, dst, 0, 0);
        s->sub = arg->name->column;
        s->negate = true; /* none of no words */
    } else if ((test = new_test(e, arg->name->column)) >= 0) {
        s = step(e, RUN_TEXT, active, dst, 0, 0);
        s->k = (uint64_t)test;
        s->negate = true; /* there, and none of no texts */
    }
}

/* A name that is a condition. */
static void flag(struct emitter *e, const struct where_node *x, int active, int dst)
{
    static const uint8_t codes[] = {RUN_TAKEN, RUN_UNTAKEN, RUN_KERNEL, RUN_USER};
    const unsigned c = x->name->column;
    struct where_step *s;

    e->w->want |= x->name->want;
    if (c == COL_FLAG) {
        step(e, RUN_FLAG, active, dst, 0, 0)->k = x->name->arg;
    } else if (c == COL_BRANCH_IN || c == COL_ISET_IN) {
        s = step(e, RUN_WORD, active, dst, 0, 0);
        s->sub = c == COL_BRANCH_IN ? COL_BRANCH : COL_ISET;
        s->k = x->name->arg;
    } else {
        step(e, codes[c - COL_TAKEN], active, dst, 0, 0);
    }
}

/* A || B: B is looked at for the rows that A left. */
static void either(struct emitter *e, const struct where_node *x, int active, int dst)
{
    size_t skip;

    condition(e, x->a, active, dst);
    use_mask(e, dst + 2);
    step(e, RUN_ANDN, active, dst + 1, active, dst);
    skip = e->w->n_steps;
    step(e, RUN_SKIP, active, 0, dst + 1, 0);
    condition(e, x->b, dst + 1, dst + 2);
    step(e, RUN_OR, active, dst, dst, dst + 2);
    if (!e->nomem)
        e->w->step[skip].k = e->w->n_steps;
}

static void both(struct emitter *e, const struct where_node *x, int active, int dst)
{
    size_t skip;

    condition(e, x->a, active, dst);
    use_mask(e, dst + 1);
    skip = e->w->n_steps;
    step(e, RUN_SKIP, active, 0, dst, 0);
    condition(e, x->b, dst, dst + 1);
    step(e, RUN_ALL, active, dst, dst + 1, 0);
    if (!e->nomem)
        e->w->step[skip].k = e->w->n_steps;
}

/* The rows of mask ACTIVE for which node N holds, as mask DST. */
static void condition(struct emitter *e, int n, int active, int dst)
{
    const struct where_node *x = at(e, n);

    use_mask(e, dst);
    switch (x->op) {
    case OP_TRUE:
        step(e, x->num ? RUN_ALL : RUN_NONE, active, dst, active, 0);
        break;
    case OP_NOT:
        condition(e, x->a, active, dst);
        step(e, RUN_ANDN, active, dst, active, dst);
        break;
    case OP_AND:
        both(e, x, active, dst);
        break;
    case OP_OR:
        either(e, x, active, dst);
        break;
    case OP_MATCH:
    case OP_NOMATCH:
        pattern(e, x, active, dst);
        break;
    case OP_IN:
        among(e, x, active, dst);
        break;
    case OP_CALL:
        if (x->name->column == COL_HAS)
            has(e, x, active, dst);
        else
            touches(e, x, active, dst);
        break;
    case OP_NAME:
        flag(e, x, active, dst);
        break;
    default:
        compare(e, x, active, dst);
    }
}

/* The last row that can pass node N, by what it says of the name row. */
static uint64_t last_row(const struct where_tree *t, int n)
{
    const struct where_node *x = &t->node[n], *a, *b;
    uint64_t l, r;

    if (x->op == OP_AND) {
        l = last_row(t, x->a);
        r = last_row(t, x->b);
        return l < r ? l : r;
    }
    if (x->a < 0 || x->b < 0 || t->node[x->a].op != OP_NAME || !t->node[x->a].name ||
        t->node[x->a].name->column != COL_ROW)
        return TROD_NOWHERE;
    a = &t->node[x->b];
    b = x->op == OP_IN && a->op == OP_RANGE && a->b >= 0 ? &t->node[a->b] : a;
    if (b->op != OP_NUMBER)
        return TROD_NOWHERE;
    if (x->op == OP_EQ || x->op == OP_LE || (x->op == OP_IN && b != a))
        return b->num;
    return x->op == OP_LT ? b->num - (b->num > 0) : TROD_NOWHERE;
}

int where_emit(struct trod_where *w, const struct where_tree *t, int root)
{
    struct emitter e = {w, t, false, 0};

    w->n_masks = 2;
    w->want = TROD_COL_KIND;
    condition(&e, root, 0, 1);
    w->last = last_row(t, root);
    return e.usage < 0 ? e.usage : e.nomem ? TROD_ERR_NOMEM : 0;
}
