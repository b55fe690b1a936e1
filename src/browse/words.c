/*
 * words.c - words that what the user types may go on with. Implements words.h.
 */
#include "browse/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Words that begin with the N bytes at BEGIN go to OUT. */
struct choice {
    const char *begin;
    size_t n;
    struct browse_lines *out;
    int rc;
};

static void offer(struct choice *c, const char *word, bool any_case)
{
    if (c->rc < 0 || (any_case ? strncasecmp : strncmp)(word, c->begin, c->n) != 0)
        return;
    for (size_t i = c->out->n; i-- > 0 && c->out->n < 1000;) /* each once */
        if (strcmp(c->out->at[i], word) == 0)
            return;
    c->rc = browse_lines_add(c->out, "%s", word);
}

static void places(struct choice *c)
{
    static const char *const words[] = {
        "row:", "line:", "time:", "insn:", "kind:", "marker:", "start", "end"};
    char text[64];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        offer(c, words[i], false);
    if (c->n < 5 || strncmp(c->begin, "kind:", 5) != 0)
        return;
    for (unsigned k = 0; k < TROD_KINDS; k++) {
        snprintf(text, sizeof text, "kind:%s", trod_kind_name(k));
        offer(c, text, true);
    }
}

static void of_expressions(struct choice *c)
{
    const struct trod_where_name *name;

    for (size_t i = 0; (name = trod_where_name_at(i)); i++)
        offer(c, name->name, false);
    for (unsigned k = 0; k < TROD_KINDS; k++)
        offer(c, trod_kind_name(k), true);
}

static void registers(struct browse *b, struct choice *c)
{
    static const char *const common[] = {"pc", "sp", "lr"};
    struct trod_nav_register r;

    for (size_t i = 0; b->state && trod_nav_state_register(b->state, i, &r); i++)
        offer(c, r.name, true);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (b->state && trod_nav_state_has(b->state, common[i]))
            offer(c, common[i], true);
}

static void symbols(struct browse *b, struct choice *c)
{
    const char *name;
    uint64_t address, size;

    for (size_t i = 0; b->opt.symbols && trod_symbols_at(b->opt.symbols, i, &name, &address, &size);
         i++)
        offer(c, name, false);
}

static int words(struct browse *b, unsigned sets, const char *begin, size_t n,
                 struct browse_lines *out)
{
    struct choice c = {.begin = begin, .n = n, .out = out};

    if (sets & BROWSE_PLACES)
        places(&c);
    if (sets & BROWSE_WHERE)
        of_expressions(&c);
    if (sets & BROWSE_REGISTERS)
        registers(b, &c);
    if (sets & BROWSE_SYMBOLS)
        symbols(b, &c);
    return c.rc == TROD_ERR_LIMIT ? 0 : c.rc;
}

/* May a word begin at byte I of TEXT? Words of symbols have any bytes in them. */
static bool begins(const char *text, size_t i)
{
    return i == 0 || !(isalnum((unsigned char)text[i - 1]) || strchr("_.$~", text[i - 1]));
}

void browse_put_word(char *text, size_t size, size_t from, size_t *at, const char *word)
{
    const size_t rest = strlen(text + *at) + 1;
    size_t n = strlen(word);

    if (from + n + rest > size)
        n = from + rest < size ? size - from - rest : 0;
    memmove(text + from + n, text + *at, rest);
    memcpy(text + from, word, n);
    *at = from + n;
}

/* Bytes that all words of L begin with. */
static size_t common(const struct browse_lines *l)
{
    size_t n = strlen(l->at[0]);

    for (size_t i = 1; i < l->n; i++) {
        size_t k = 0;

        while (k < n && l->at[i][k] == l->at[0][k])
            k++;
        n = k;
    }
    return n;
}

long browse_complete(struct browse *b, unsigned sets, char *text, size_t size, size_t *at,
                     size_t *from, struct browse_lines *out)
{
    const size_t end = *at;
    char begin[256];
    int rc = 0;

    memset(out, 0, sizeof *out);
    for (*from = 0; *from <= end && rc == 0 && !out->n; ++*from)
        if (begins(text, *from))
            rc = words(b, sets, text + *from, end - *from, out);
    --*from;
    if (rc < 0)
        return rc;
    if (out->n && common(out) >= end - *from) {
        snprintf(begin, sizeof begin, "%.*s", (int)common(out), out->at[0]);
        browse_put_word(text, size, *from, at, begin);
    }
    return (long)out->n;
}
