/*
 * slow_where.h - expressions over rows, slowly: random trees, printed as text, and walked for one
 * row at a time. What trod-where(7) says, written a second time for test_where.c.
 */
#ifndef TROD_TEST_SLOW_WHERE_H
#define TROD_TEST_SLOW_WHERE_H

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trod/trod.h"

enum { ROWS = 700 };

/* ---- random rows: few different values, so that comparisons hold now and then */

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static const char *const texts[] = {"x0", "X1", "sp", "ldr x0,[sp]", "ADD x1,x2", "EL1"};
static const char all_texts[] = "x0X1spldr x0,[sp]ADD x1,x2EL1";

static struct trod_slice text_slice(unsigned k)
{
    struct trod_slice s = {0, (uint32_t)strlen(texts[k])};

    for (unsigned i = 0; i < k; i++)
        s.off += (uint32_t)strlen(texts[i]);
    return s;
}

static uint64_t number(void)
{
    static const uint64_t some[] = {0,  1,    2,      3,      7,          8,
                                    42, 0xff, 0x1000, 0x1004, UINT64_MAX, UINT64_C(1) << 63};

    return some[draw(sizeof some / sizeof some[0])];
}

static void fill(struct trod_batch *b, struct trod_meta *meta)
{
    static const uint32_t columns = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                                    TROD_COL_TIME | TROD_COL_INDEX | TROD_COL_ADDR |
                                    TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET |
                                    TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_TEXT;

    b->meta = meta;
    b->bytes = (const uint8_t *)all_texts;
    b->bytes_n = sizeof all_texts;
    b->have = columns | TROD_COL_KIND;
    b->n = ROWS;
    for (uint32_t i = 0; i < ROWS; i++) {
        b->has[i] =
            TROD_COL_KIND | (columns & (uint32_t)draw(UINT32_MAX) & (uint32_t)(draw(3) ? ~0u : 0u));
        b->kind[i] = (uint8_t)draw(TROD_KINDS);
        if (draw(2))
            b->kind[i] = TROD_INSTR + (uint8_t)draw(3);
        b->flags[i] = (uint32_t)(draw(12) | draw(5) << TROD_F_ISET_SHIFT |
                                 draw(5) << TROD_F_SEC_SHIFT | draw(1 << 7) << 10);
        b->size[i] = (uint32_t)(number() & 0xff);
        b->stream[i] = (uint32_t)draw(3);
        b->time[i] = number();
        b->index[i] = number();
        b->addr[i] = number();
        b->paddr[i] = number();
        b->pc[i] = number();
        b->target[i] = number();
        b->value[i] = number();
        b->sub[i] = (uint16_t)draw(4);
        b->text[i] = text_slice((unsigned)draw(6));
    }
}

/* ---- trees */

enum op {
    NUM,
    COLUMN,
    ARITH,
    NEG,
    INV,
    COMPARE,
    RANGE,
    SET,
    WORD,
    PATTERN,
    FLAG,
    HAS,
    TOUCH,
    NOT,
    AND,
    OR
};

struct tree {
    enum op op;
    unsigned which;
    uint64_t n[4];
    struct tree *a, *b, *c;
};

static struct tree *make(enum op op)
{
    struct tree *t = calloc(1, sizeof *t);

    assert_non_null(t);
    t->op = op;
    return t;
}

static void drop(struct tree *t)
{
    if (!t)
        return;
    drop(t->a);
    drop(t->b);
    drop(t->c);
    free(t);
}

static const char *const columns[] = {"row",   "index",  "time", "pc",  "addr",   "paddr", "size",
                                      "value", "target", "sub",  "tid", "stream", "flags"};
enum { NUMBERS = sizeof columns / sizeof columns[0] };

static const char *const ariths[] = {"*", "/", "%", "+", "-", "<<", ">>", "&", "^", "|"};
static const int levels[] = {9, 9, 9, 8, 8, 7, 7, 6, 5, 4};
static const char *const compares[] = {"==", "!=", "<", "<=", ">", ">="};

static struct tree *sum(int depth)
{
    struct tree *t;

    if (depth <= 0 || draw(3) == 0) {
        t = make(draw(3) ? COLUMN : NUM);
        t->which = (unsigned)draw(NUMBERS);
        t->n[0] = number();
        return t;
    }
    t = make(draw(8) == 0 ? NEG : draw(8) == 0 ? INV : ARITH);
    t->which = (unsigned)draw(10);
    t->a = sum(depth - 1);
    if (t->op == ARITH)
        t->b = sum(depth - 1);
    /* a constant zero below / or % is refused */
    if (t->op == ARITH && (t->which == 1 || t->which == 2) && t->b->op != COLUMN) {
        drop(t->b);
        t->b = make(COLUMN);
        t->b->which = (unsigned)draw(NUMBERS);
    }
    return t;
}

static struct tree *condition(int depth)
{
    static const enum op leaves[] = {COMPARE, COMPARE, COMPARE, RANGE, SET,  WORD,
                                     PATTERN, FLAG,    HAS,     TOUCH, RANGE};
    struct tree *t =
        make(depth <= 0 || draw(4) == 0 ? leaves[draw(sizeof leaves / sizeof leaves[0])]
             : draw(4) == 0             ? NOT
             : draw(2)                  ? AND
                                        : OR);

    t->which = (unsigned)draw(1000);
    for (int k = 0; k < 4; k++)
        t->n[k] = number();
    if (t->op >= NOT)
        t->a = condition(depth - 1);
    if (t->op >= AND)
        t->b = condition(depth - 1);
    if (t->op == COMPARE || t->op == RANGE || t->op == SET)
        t->a = sum(2);
    if (t->op == COMPARE || (t->op == RANGE && t->which % 4 == 3))
        t->b = sum(2);
    /* constants need not fold to an ordered range */
    if (t->op == RANGE && t->b && t->b->op != COLUMN) {
        drop(t->b);
        t->b = make(COLUMN);
        t->b->which = (unsigned)draw(NUMBERS);
    }
    if ((t->op == RANGE || t->op == TOUCH) && t->n[0] > t->n[1]) {
        t->n[2] = t->n[0];
        t->n[0] = t->n[1];
        t->n[1] = t->n[2];
    }
    return t;
}

/* ---- as text */

struct out {
    char *p;
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct out *o, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    o->p += vsprintf(o->p, fmt, args);
    va_end(args);
}

static void put_number(struct out *o, uint64_t v)
{
    put(o, draw(2) ? "%llu" : "0x%llx", (unsigned long long)v);
}

/* T where what binds as LEVEL is expected: parentheses where they are needed, and now and then. */
static void put_sum(struct out *o, const struct tree *t, int level)
{
    const int own = t->op == ARITH ? levels[t->which] : t->op == NEG || t->op == INV ? 10 : 11;
    const bool parens = own < level || draw(8) == 0;

    if (parens)
        put(o, "(");
    if (t->op == NUM) {
        put_number(o, t->n[0]);
    } else if (t->op == COLUMN) {
        put(o, "%s", columns[t->which]);
    } else if (t->op == ARITH) {
        put_sum(o, t->a, own);
        put(o, draw(2) ? " %s " : "%s", ariths[t->which]);
        if (o->p[-1] == '/') /* a name before it: no pattern */
            put(o, " ");
        put_sum(o, t->b, own + 1);
    } else {
        put(o, "%s", t->op == NEG ? "-" : "~");
        put_sum(o, t->a, 10);
    }
    if (parens)
        put(o, ")");
}

static const char *const words[] = {"kind == WRITE",
                                    "kind in {read, MEMORY}",
                                    "kind != INSTR",
                                    "iset == T32",
                                    "security != ns",
                                    "register == x0",
                                    "register in {x1, \"sp\"}",
                                    "text != \"EL1\"",
                                    "mnemonic == add",
                                    "branch in {call, \"indirect-call\"}"};
static const char *const patterns[] = {"text ~ \"^x\"",    "text ~ /x[01]/i",  "text !~ /^[a-z]/",
                                       "disasm ~ 'sp\\]'", "stream ~ \"cpu\"", "register ~ /X/"};
static const char *const flags[] = {"skipped",    "exclusive",   "unprivileged", "locked",
                                    "privileged", "unknown",     "partial",      "thumb",
                                    "call",       "conditional", "taken",        "untaken"};

static void put_condition(struct out *o, const struct tree *t, int level)
{
    /* or 1, and 2, the word not 3, comparisons 4, ! 5 */
    const bool word = t->op == NOT && t->which % 2;
    const int own = t->op == OR                                       ? 1
                    : t->op == AND                                    ? 2
                    : word                                            ? 3
                    : t->op == NOT                                    ? 5
                    : t->op == FLAG || t->op == HAS || t->op == TOUCH ? 6
                                                                      : 4;
    const bool parens = own < level || draw(8) == 0;

    if (parens)
        put(o, "(");
    switch (t->op) {
    case OR:
    case AND:
        put_condition(o, t->a, own);
        put(o, "%s", t->op == OR ? (draw(2) ? " || " : " or ") : (draw(2) ? "&&" : " and "));
        put_condition(o, t->b, own + 1);
        break;
    case NOT:
        put(o, "%s", word ? "not " : "!");
        put_condition(o, t->a, own);
        break;
    case COMPARE:
        put_sum(o, t->a, 4);
        put(o, " %s ", compares[t->which % 6]);
        put_sum(o, t->b, 4);
        break;
    case RANGE:
        put_sum(o, t->a, 4);
        put(o, " in ");
        if (t->which % 4 != 1)
            put_number(o, t->n[0]);
        put(o, "..");
        if (t->which % 4 == 3)
            put_sum(o, t->b, 4);
        else if (t->which % 4 != 2)
            put_number(o, t->n[1]);
        break;
    case SET:
        put_sum(o, t->a, 4);
        put(o, t->which % 2 ? " not in {" : " in {");
        put_number(o, t->n[0]);
        put(o, ", ");
        put_number(o, t->n[1]);
        put(o, ", 5..9, sub}");
        break;
    case WORD:
        put(o, "%s", words[t->which % 10]);
        break;
    case PATTERN:
        put(o, "%s", patterns[t->which % 6]);
        break;
    case FLAG:
        put(o, "%s", flags[t->which % 12]);
        break;
    case HAS:
        put(o, "has(%s)", columns[t->which % NUMBERS]);
        break;
    default:
        put(o, "touches(");
        put_number(o, t->n[0]);
        put(o, "..");
        put_number(o, t->n[1]);
        put(o, ")");
    }
    if (parens)
        put(o, ")");
}

/* ---- one row at a time */

struct row {
    const struct trod_batch *b;
    uint32_t i;
    const uint64_t *pc; /* by row; of those of has_pc */
    const bool *has_pc;
};

static bool says(const struct row *r, uint32_t column)
{
    return r->b->has[r->i] & column;
}

static bool column_of(const struct row *r, unsigned which, uint64_t *v)
{
    static const uint64_t tids[] = {100, TROD_NOWHERE, TROD_NOWHERE};
    static const uint64_t numbers[] = {100, 7, 2}; /* thread 100, "7", "cpu2" */
    const struct trod_batch *b = r->b;
    const uint32_t i = r->i;
    const struct {
        uint64_t v;
        bool there;
    } all[NUMBERS] = {
        {1000 + i, true},
        {b->index[i], says(r, TROD_COL_INDEX)},
        {b->time[i], says(r, TROD_COL_TIME)},
        {r->pc[i], r->has_pc[i]},
        {b->addr[i], says(r, TROD_COL_ADDR)},
        {b->paddr[i], says(r, TROD_COL_PADDR)},
        {b->size[i], says(r, TROD_COL_SIZE)},
        {b->value[i], says(r, TROD_COL_VALUE)},
        {b->target[i], says(r, TROD_COL_TARGET)},
        {b->sub[i], says(r, TROD_COL_SUB)},
        {tids[b->stream[i]], says(r, TROD_COL_STREAM) && b->stream[i] == 0},
        {numbers[b->stream[i]], says(r, TROD_COL_STREAM)},
        {b->flags[i], says(r, TROD_COL_FLAGS)},
    };

    *v = all[which].v;
    return all[which].there;
}

static bool value(const struct row *r, const struct tree *t, uint64_t *v)
{
    uint64_t a = 0, b = 0;

    *v = t->n[0];
    if (t->op == NUM || t->op == COLUMN)
        return t->op == NUM || column_of(r, t->which, v);
    if (!value(r, t->a, &a) || (t->b && !value(r, t->b, &b)))
        return false;
    if (t->op != ARITH) {
        *v = t->op == NEG ? -a : ~a;
        return true;
    }
    if ((t->which == 1 || t->which == 2) && b == 0)
        return false;
    *v = t->which == 0   ? a * b
         : t->which == 1 ? a / b
         : t->which == 2 ? a % b
         : t->which == 3 ? a + b
         : t->which == 4 ? a - b
         : t->which == 5 ? (b > 63 ? 0 : a << b)
         : t->which == 6 ? (b > 63 ? 0 : a >> b)
         : t->which == 7 ? (a & b)
         : t->which == 8 ? (a ^ b)
                         : (a | b);
    return true;
}

/* The text of the row, NUL-terminated in OUT; false: none. */
static bool text_is(const struct row *r, char *out)
{
    const struct trod_slice s = r->b->text[r->i];

    memcpy(out, all_texts + s.off, s.len);
    out[s.len] = '\0';
    return says(r, TROD_COL_TEXT);
}

static bool found(const char *pattern, const char *text, int how)
{
    regex_t x;
    bool yes;

    assert_int_equal(regcomp(&x, pattern, REG_EXTENDED | REG_NOSUB | how), 0);
    yes = regexec(&x, text, 0, NULL, 0) == 0;
    regfree(&x);
    return yes;
}

static bool word(const struct row *r, unsigned which)
{
    const unsigned kind = r->b->kind[r->i];
    const uint32_t f = says(r, TROD_COL_FLAGS) ? r->b->flags[r->i] : 0;
    const unsigned sec = (f & TROD_F_SEC) >> TROD_F_SEC_SHIFT;
    char text[64];
    const bool has = text_is(r, text);

    switch (which) {
    case 0:
        return kind == TROD_WRITE;
    case 1:
        return kind == TROD_READ || kind == TROD_WRITE || kind == TROD_ATOMIC;
    case 2:
        return kind != TROD_INSTR;
    case 3:
        return (f & TROD_F_ISET) >> TROD_F_ISET_SHIFT == TROD_ISET_T32;
    case 4:
        return sec && sec != TROD_SEC_NONSECURE;
    case 5:
        return kind == TROD_REG && has && strcasecmp(text, "x0") == 0;
    case 6:
        return kind == TROD_REG && has &&
               (strcasecmp(text, "x1") == 0 || strcasecmp(text, "sp") == 0);
    case 7:
        return has && strcmp(text, "EL1") != 0;
    case 8:
        return kind == TROD_INSTR && has && strncmp(text, "ADD ", 4) == 0;
    default:
        return (f & TROD_F_BRANCH) == TROD_BR_CALL || (f & TROD_F_BRANCH) == TROD_BR_ICALL;
    }
}

static bool pattern(const struct row *r, unsigned which)
{
    const unsigned kind = r->b->kind[r->i];
    char text[64];
    const bool has = text_is(r, text);

    switch (which) {
    case 0:
        return has && found("^x", text, 0);
    case 1:
        return has && found("x[01]", text, REG_ICASE);
    case 2:
        return has && !found("^[a-z]", text, 0);
    case 3:
        return has && kind == TROD_INSTR && found("sp\\]", text, 0);
    case 4: /* names: thread 100, "7", "cpu2" */
        return says(r, TROD_COL_STREAM) && r->b->stream[r->i] == 2;
    default:
        return has && kind == TROD_REG && found("X", text, 0);
    }
}

static bool flag(const struct row *r, unsigned which)
{
    const uint32_t f = says(r, TROD_COL_FLAGS) ? r->b->flags[r->i] : 0, br = f & TROD_F_BRANCH;
    const unsigned iset = (f & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const bool made = br == TROD_BR_DIRECT || br == TROD_BR_INDIRECT || br == TROD_BR_CALL ||
                      br == TROD_BR_ICALL || br == TROD_BR_RETURN || br == TROD_BR_ERET ||
                      br == TROD_BR_COND_TAKEN;
    const bool knows = br == TROD_BR_COND && says(r, TROD_COL_TARGET) && says(r, TROD_COL_ADDR) &&
                       says(r, TROD_COL_SIZE);
    const bool goes = knows && r->b->target[r->i] != r->b->addr[r->i] + r->b->size[r->i];

    if (which < 7)
        return f >> (10 + which) & 1;
    switch (which) {
    case 7:
        return iset == TROD_ISET_T32 || iset == TROD_ISET_T32EE;
    case 8:
        return br == TROD_BR_CALL || br == TROD_BR_ICALL;
    case 9:
        return br == TROD_BR_COND || br == TROD_BR_COND_TAKEN || br == TROD_BR_COND_UNTAKEN;
    case 10:
        return (made || goes) && !(f & TROD_F_SKIPPED);
    default:
        return br == TROD_BR_COND_UNTAKEN || (knows && !goes) ||
               ((f & TROD_F_SKIPPED) && (made || br == TROD_BR_COND));
    }
}

static bool touched(const struct row *r, uint64_t lo, uint64_t hi)
{
    const uint32_t size = says(r, TROD_COL_SIZE) && r->b->size[r->i] ? r->b->size[r->i] : 1;
    const uint64_t at = says(r, TROD_COL_ADDR) ? r->b->addr[r->i] : r->b->paddr[r->i];

    if (!says(r, TROD_COL_ADDR | TROD_COL_PADDR))
        return false;
    for (uint32_t k = 0; k < size && at + k >= at; k++)
        if (at + k >= lo && at + k <= hi)
            return true;
    /* nothing lies behind the last byte; what is written there goes on at 0 */
    return at + size - 1 < at && at <= hi;
}

static bool holds(const struct row *r, const struct tree *t)
{
    uint64_t a, b = 0;

    switch (t->op) {
    case OR:
        return holds(r, t->a) || holds(r, t->b);
    case AND:
        return holds(r, t->a) && holds(r, t->b);
    case NOT:
        return !holds(r, t->a);
    case WORD:
        return word(r, t->which % 10);
    case PATTERN:
        return pattern(r, t->which % 6);
    case FLAG:
        return flag(r, t->which % 12);
    case HAS:
        return column_of(r, t->which % NUMBERS, &a);
    case TOUCH:
        return touched(r, t->n[0], t->n[1]);
    case SET:
        if (!value(r, t->a, &a))
            return t->which % 2;
        return (a == t->n[0] || a == t->n[1] || (a >= 5 && a <= 9) ||
                (says(r, TROD_COL_SUB) && a == r->b->sub[r->i])) != (t->which % 2);
    default:
        break;
    }
    if (!value(r, t->a, &a) || (t->b && !value(r, t->b, &b)))
        return false;
    if (t->op == RANGE)
        return (t->which % 4 == 1 || a >= t->n[0]) &&
               (t->which % 4 == 2 || a <= (t->which % 4 == 3 ? b : t->n[1]));
    switch (t->which % 6) {
    case 0:
        return a == b;
    case 1:
        return a != b;
    case 2:
        return a < b;
    case 3:
        return a <= b;
    case 4:
        return a > b;
    default:
        return a >= b;
    }
}

/* The instruction that each row belongs to. */
static void owners(const struct trod_batch *b, uint64_t *pc, bool *has)
{
    uint64_t last[4];
    bool known[4] = {false, false, false, false};

    for (uint32_t i = 0; i < b->n; i++) {
        const unsigned s = b->has[i] & TROD_COL_STREAM ? b->stream[i] + 1 : 0, k = b->kind[i];

        has[i] = b->has[i] & TROD_COL_PC;
        pc[i] = b->pc[i];
        if (k == TROD_INSTR) {
            if (!has[i] && (b->has[i] & TROD_COL_ADDR)) {
                has[i] = true;
                pc[i] = b->addr[i];
            }
            known[s] = has[i];
            last[s] = pc[i];
        } else if (!has[i] && known[s] &&
                   (k == TROD_READ || k == TROD_WRITE || k == TROD_ATOMIC || k == TROD_PREFETCH ||
                    k == TROD_FLUSH || k == TROD_REG)) {
            has[i] = true;
            pc[i] = last[s];
        }
    }
}

#endif
