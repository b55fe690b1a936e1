/*
 * parse.c - tokens to a tree. Implements trod-where(7), "Operators": arithmetic binds tighter than
 * comparison, so that "opcode & 0xff == 1" means what it says.
 */
#include <string.h>

#include "show/where/where_int.h"

struct parser {
    struct where_tree *t;
    struct where_lexer *x;
    int depth;
};

/* What parses a level returns the number of a node, or TROD_ERR_USAGE. */
static int condition(struct parser *p);
static int sum(struct parser *p);

static int fail(struct parser *p, uint32_t pos, const char *message)
{
    return where_error(p->t->diag, p->t->text, pos, "%s", message);
}

static int node(struct parser *p, unsigned op, uint32_t pos, int a, int b)
{
    struct where_node *n;

    if (p->t->n == WHERE_NODES)
        return fail(p, pos, "the expression is too long");
    n = &p->t->node[p->t->n];
    memset(n, 0, sizeof *n);
    n->op = (uint8_t)op;
    n->pos = pos;
    n->a = a;
    n->b = b;
    n->next = -1;
    return p->t->n++;
}

/* The token at hand becomes a node, and the next one is read. */
static int leaf(struct parser *p, unsigned op)
{
    const struct where_lexer *x = p->x;
    int n = node(p, op, x->pos, -1, -1), r;

    if (n < 0)
        return n;
    p->t->node[n].num = x->number;
    p->t->node[n].s = x->s;
    p->t->node[n].nocase = op == OP_REGEX && x->nocase;
    r = where_lex(p->x);
    return r < 0 ? r : n;
}

static int expect(struct parser *p, char c)
{
    char message[] = "')' is missing";

    message[1] = c;
    return p->x->token == TOK_OTHER + (unsigned)c ? where_lex(p->x) : fail(p, p->x->pos, message);
}

static int deeper(struct parser *p)
{
    return ++p->depth > WHERE_DEPTH ? fail(p, p->x->pos, "the expression is nested too deeply") : 0;
}

/* Can the token at hand begin an operand? */
static bool begins_operand(const struct where_lexer *x)
{
    return x->token == TOK_NUMBER || x->token == TOK_STRING || x->token == TOK_NAME ||
           (x->token >= TOK_OTHER && strchr("(-~!", (int)(x->token - TOK_OTHER)));
}

/* A value or a range of them: LO..HI, LO.., ..HI, LO..<HI. */
static int range(struct parser *p)
{
    uint32_t pos = p->x->pos;
    int lo = -1, hi = -1, n, r;
    bool open;

    if (p->x->token != TOK_RANGE && p->x->token != TOK_RANGE_OPEN) {
        lo = sum(p);
        if (lo < 0 || (p->x->token != TOK_RANGE && p->x->token != TOK_RANGE_OPEN))
            return lo;
    }
    open = p->x->token == TOK_RANGE_OPEN;
    r = where_lex(p->x);
    if (r < 0)
        return r;
    if (begins_operand(p->x) && (hi = sum(p)) < 0)
        return hi;
    if (hi < 0 && (lo < 0 || open))
        return fail(p, p->x->pos, "the end of the range is missing");
    n = node(p, OP_RANGE, pos, lo, hi);
    if (n >= 0)
        p->t->node[n].num = open;
    return n;
}

/* Ranges separated by commas up to CLOSE, which is read too; they hang on node LIST. */
static int items(struct parser *p, int list, char close)
{
    int last = -1, r;

    for (;;) {
        int item = range(p);

        if (item < 0)
            return item;
        if (last < 0)
            p->t->node[list].a = item;
        else
            p->t->node[last].next = item;
        last = item;
        if (p->x->token != TOK_OTHER + ',')
            break;
        if ((r = where_lex(p->x)) < 0)
            return r;
    }
    r = expect(p, close);
    return r < 0 ? r : list;
}

static int name_or_call(struct parser *p)
{
    int n = leaf(p, OP_NAME), r;

    if (n < 0)
        return n;
    if (strcmp(p->t->node[n].s, "true") == 0 || strcmp(p->t->node[n].s, "false") == 0) {
        p->t->node[n].op = OP_TRUE;
        p->t->node[n].num = p->t->node[n].s[0] == 't';
    }
    if (p->x->token != TOK_OTHER + '(')
        return n;
    p->t->node[n].op = OP_CALL;
    r = where_lex(p->x);
    return r < 0 ? r : items(p, n, ')');
}

static int primary(struct parser *p)
{
    int n, r;

    switch (p->x->token) {
    case TOK_NUMBER:
        return leaf(p, OP_NUMBER);
    case TOK_STRING:
        return leaf(p, OP_STRING);
    case TOK_NAME:
        return name_or_call(p);
    case TOK_OTHER + '(':
        if ((r = where_lex(p->x)) < 0 || (r = deeper(p)) < 0 || (n = condition(p)) < 0)
            return r < 0 ? r : n;
        p->depth--;
        r = expect(p, ')');
        return r < 0 ? r : n;
    case TOK_END:
        return fail(p, p->x->pos, "something is missing at the end");
    default:
        return fail(p, p->x->pos, "a name, a value or '(' is expected here");
    }
}

static int unary(struct parser *p)
{
    const unsigned token = p->x->token;
    const uint32_t pos = p->x->pos;
    int n, r;

    if (token != TOK_OTHER + '-' && token != TOK_OTHER + '~' && token != TOK_OTHER + '!')
        return primary(p);
    if ((r = where_lex(p->x)) < 0 || (r = deeper(p)) < 0)
        return r;
    n = unary(p);
    p->depth--;
    return n < 0 ? n
                 : node(p,
                        token == TOK_OTHER + '-'   ? OP_NEG
                        : token == TOK_OTHER + '~' ? OP_INV
                                                   : OP_NOT,
                        pos, n, -1);
}

/* Operators of arithmetic, tightest first; 0 ends a level. */
static const struct {
    unsigned token, op;
} levels[][4] = {
    {{TOK_OTHER + '*', OP_MUL}, {TOK_OTHER + '/', OP_DIV}, {TOK_OTHER + '%', OP_MOD}, {0, 0}},
    {{TOK_OTHER + '+', OP_ADD}, {TOK_OTHER + '-', OP_SUB}, {0, 0}, {0, 0}},
    {{TOK_SHL, OP_SHL}, {TOK_SHR, OP_SHR}, {0, 0}, {0, 0}},
    {{TOK_OTHER + '&', OP_BAND}, {0, 0}, {0, 0}, {0, 0}},
    {{TOK_OTHER + '^', OP_BXOR}, {0, 0}, {0, 0}, {0, 0}},
    {{TOK_OTHER + '|', OP_BOR}, {0, 0}, {0, 0}, {0, 0}},
};

static int binary(struct parser *p, int level)
{
    int a = level < 0 ? unary(p) : binary(p, level - 1);

    while (level >= 0 && a >= 0) {
        const uint32_t pos = p->x->pos;
        int i = 0, b, r;

        while (levels[level][i].token && levels[level][i].token != p->x->token)
            i++;
        if (!levels[level][i].token)
            break;
        if ((r = where_lex(p->x)) < 0 || (b = binary(p, level - 1)) < 0)
            return r < 0 ? r : b;
        a = node(p, levels[level][i].op, pos, a, b);
    }
    return a;
}

static int sum(struct parser *p)
{
    return binary(p, (int)(sizeof levels / sizeof levels[0]) - 1);
}

static int set(struct parser *p)
{
    int n, r;

    if (p->x->token != TOK_OTHER + '{')
        return range(p);
    n = node(p, OP_SET, p->x->pos, -1, -1);
    if (n < 0 || (r = where_lex(p->x)) < 0)
        return n < 0 ? n : r;
    return items(p, n, '}');
}

static int comparison(struct parser *p)
{
    const uint32_t begin = p->x->pos;
    int a = sum(p), b, r;
    unsigned token = p->x->token;
    uint32_t pos = p->x->pos;
    unsigned op;
    bool outside = false;

    if (a < 0)
        return a;
    if (token == TOK_NOT) { /* A not in B */
        if ((r = where_lex(p->x)) < 0)
            return r;
        if (p->x->token != TOK_IN)
            return fail(p, p->x->pos, "'in' is missing after 'not'");
        token = TOK_IN;
        outside = true;
    }
    if (token < TOK_EQ || token > TOK_NOMATCH)
        return a;
    op = token == TOK_IN        ? OP_IN
         : token == TOK_MATCH   ? OP_MATCH
         : token == TOK_NOMATCH ? OP_NOMATCH
                                : OP_EQ + (token - TOK_EQ);
    if ((r = where_lex(p->x)) < 0)
        return r;
    if (op == OP_IN)
        b = set(p);
    else if (p->x->token == TOK_REGEX)
        b = leaf(p, OP_REGEX);
    else
        b = sum(p);
    if (b < 0)
        return b;
    if (p->x->token >= TOK_EQ && p->x->token <= TOK_NOMATCH)
        return fail(p, p->x->pos, "comparisons do not follow each other; put '&&' between them");
    a = node(p, op, pos, a, b);
    return outside && a >= 0 ? node(p, OP_NOT, begin, a, -1) : a;
}

static int negation(struct parser *p)
{
    const uint32_t pos = p->x->pos;
    int n, r;

    if (p->x->token != TOK_NOT)
        return comparison(p);
    if ((r = where_lex(p->x)) < 0 || (r = deeper(p)) < 0)
        return r;
    n = negation(p);
    p->depth--;
    return n < 0 ? n : node(p, OP_NOT, pos, n, -1);
}

static int all_of(struct parser *p)
{
    int a = negation(p), b, r;

    while (a >= 0 && p->x->token == TOK_AND) {
        const uint32_t pos = p->x->pos;

        if ((r = where_lex(p->x)) < 0 || (b = negation(p)) < 0)
            return r < 0 ? r : b;
        a = node(p, OP_AND, pos, a, b);
    }
    return a;
}

static int condition(struct parser *p)
{
    int a = all_of(p), b, r;

    while (a >= 0 && p->x->token == TOK_OR) {
        const uint32_t pos = p->x->pos;

        if ((r = where_lex(p->x)) < 0 || (b = all_of(p)) < 0)
            return r < 0 ? r : b;
        a = node(p, OP_OR, pos, a, b);
    }
    return a;
}

int where_parse(struct where_tree *t, struct where_lexer *x)
{
    struct parser p = {t, x, 0};
    int root, r = where_lex(x);

    if (r < 0)
        return r;
    if (x->token == TOK_END)
        return fail(&p, 0, "it is empty; trod-where(7) says what can be asked");
    root = condition(&p);
    if (root >= 0 && x->token != TOK_END)
        return fail(&p, x->pos, "an operator is expected here, or the end");
    return root;
}
