/*
 * lex.c - the tokens of an expression. Implements trod-where(7), "Values".
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "show/where/where_int.h"

int where_error(struct trod_diag *diag, const char *text, uint32_t pos, const char *fmt, ...)
{
    struct trod_place at = trod_place_path(NULL);
    char message[800];
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    at.text = (const uint8_t *)text;
    at.text_len = strlen(text);
    at.caret = pos;
    return trod_error(diag, TROD_ERR_USAGE, "where.expression", &at, "expression: %s", message);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool goes_on_name(char c)
{
    return begins_name(c) || is_digit(c);
}

static int digit_of(char c, unsigned base)
{
    int d = is_digit(c)            ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : 16;

    return d < (int)base ? d : -1;
}

static uint64_t suffix(const char **p)
{
    static const struct {
        const char *name;
        uint64_t times;
    } known[] = {{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30},  {"k", 1000},
                 {"K", 1000},     {"M", 1000000},  {"G", 1000000000}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t n = strlen(known[i].name);

        if (strncmp(*p, known[i].name, n) == 0 && !goes_on_name((*p)[n])) {
            *p += n;
            return known[i].times;
        }
    }
    return 1;
}

static int number(struct where_lexer *x)
{
    const char *p = x->text + x->at;
    unsigned base = 10;
    uint64_t v = 0, times;
    bool any = false;

    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X' || p[1] == 'b' || p[1] == 'B')) {
        base = p[1] == 'x' || p[1] == 'X' ? 16 : 2;
        p += 2;
    }
    for (; digit_of(*p, base) >= 0 || (*p == '_' && any); p++) {
        const unsigned d = *p == '_' ? 0 : (unsigned)digit_of(*p, base);

        any = true;
        if (*p == '_')
            continue;
        if (v > (UINT64_MAX - d) / base)
            return where_error(x->diag, x->text, x->pos, "this number has more than 64 bits");
        v = v * base + d;
    }
    times = base == 10 ? suffix(&p) : 1;
    if (!any || goes_on_name(*p) || (*p == '.' && p[1] != '.'))
        return where_error(x->diag, x->text, (uint32_t)(p - x->text), "this is no number");
    if (v > UINT64_MAX / times)
        return where_error(x->diag, x->text, x->pos, "this number has more than 64 bits");
    x->token = TOK_NUMBER;
    x->number = v * times;
    x->at = (size_t)(p - x->text);
    return 0;
}

/* A text between two of QUOTE: a backslash takes the special meaning of QUOTE and of itself. */
static int quoted(struct where_lexer *x, char quote, unsigned token)
{
    const char *p = x->text + x->at + 1;
    char *to = x->strings;

    x->s = to;
    for (; *p && *p != quote; p++) {
        if (*p == '\\' && (p[1] == quote || (quote != '/' && p[1] == '\\')))
            p++;
        else if (*p == '\\' && quote == '/' && p[1])
            *to++ = *p++; /* two characters that belong together */
        *to++ = *p;
    }
    if (!*p)
        return where_error(x->diag, x->text, x->pos, "the %s that begins here does not end",
                           quote == '/' ? "pattern" : "text");
    *to++ = '\0';
    x->strings = to;
    x->token = token;
    x->at = (size_t)(p + 1 - x->text);
    x->nocase = false;
    if (token == TOK_REGEX && x->text[x->at] == 'i' && !goes_on_name(x->text[x->at + 1])) {
        x->nocase = true;
        x->at++;
    }
    return 0;
}

static void name(struct where_lexer *x)
{
    static const struct {
        const char *word;
        unsigned token;
    } words[] = {{"and", TOK_AND}, {"or", TOK_OR}, {"not", TOK_NOT}, {"in", TOK_IN}};
    const char *p = x->text + x->at;
    size_t n = 0;

    while (goes_on_name(p[n]))
        n++;
    memcpy(x->strings, p, n);
    x->strings[n] = '\0';
    x->s = x->strings;
    x->strings += n + 1;
    x->at += n;
    x->token = TOK_NAME;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(x->s, words[i].word) == 0)
            x->token = words[i].token;
}

static int sign(struct where_lexer *x)
{
    static const struct {
        const char *text;
        unsigned token;
    } signs[] = {
        {"||", TOK_OR},      {"&&", TOK_AND}, {"==", TOK_EQ},          {"!=", TOK_NE},
        {"!~", TOK_NOMATCH}, {"<<", TOK_SHL}, {">>", TOK_SHR},         {"<=", TOK_LE},
        {">=", TOK_GE},      {"<", TOK_LT},   {"..<", TOK_RANGE_OPEN}, {"..", TOK_RANGE},
        {">", TOK_GT},
    };
    const char *p = x->text + x->at;

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        size_t n = strlen(signs[i].text);

        if (strncmp(p, signs[i].text, n) == 0) {
            x->token = signs[i].token;
            x->at += n;
            return 0;
        }
    }
    if (*p == '~' && x->operand)
        x->token = TOK_MATCH;
    else if (strchr("()+-*/%&|^~!,{}", *p))
        x->token = TOK_OTHER + (unsigned char)*p;
    else if (*p == '=')
        return where_error(x->diag, x->text, x->pos, "'=' is no operator; equality is '=='");
    else
        return where_error(x->diag, x->text, x->pos, "this character has no meaning here");
    x->at++;
    return 0;
}

int where_lex(struct where_lexer *x)
{
    const bool pattern = x->token == TOK_MATCH || x->token == TOK_NOMATCH;
    const char *p;
    int r = 0;

    while (strchr(" \t\r\n", x->text[x->at]) && x->text[x->at])
        x->at++;
    p = x->text + x->at;
    x->pos = (uint32_t)x->at;
    if (!*p)
        x->token = TOK_END;
    else if (is_digit(*p))
        r = number(x);
    else if (begins_name(*p))
        name(x);
    else if (*p == '"' || *p == '\'')
        r = quoted(x, *p, TOK_STRING);
    else if (*p == '/' && pattern)
        r = quoted(x, *p, TOK_REGEX);
    else
        r = sign(x);
    x->operand = x->token == TOK_NUMBER || x->token == TOK_STRING || x->token == TOK_NAME ||
                 x->token == TOK_OTHER + ')';
    return r;
}
