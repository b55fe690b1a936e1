/*
 * expr.c - addresses as the user types them: numbers, registers and symbols, and what is made of
 * them. Implements browse_address of model.h (docs/navigating.md, "Addresses").
 *
 * All is 64 bits wide and goes round. Shifts bind loosest, then + and -, then *, then a sign.
 */
#include "browse/model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { DEEP = 64, WORD = 256 };

struct expr {
    struct browse *b;
    const char *p;
    unsigned depth; /* of brackets and signs */
    bool bad;
};

/* The value of register NAME, if all of its low 64 bits are known. */
static bool of_register(const struct browse *b, const char *name, uint64_t *out)
{
    uint8_t value[512], known[512];
    size_t n;

    if (!b->state || !trod_nav_state_named(b->state, name, value, known, sizeof value, &n) || !n)
        return false;
    *out = 0;
    for (size_t i = 0; i < n && i < 8; i++) {
        if (known[i] != 0xff)
            return false;
        *out |= (uint64_t)value[i] << (8 * i);
    }
    return true;
}

static bool of_symbol(const struct browse *b, const char *name, uint64_t *out)
{
    uint64_t size;

    return b->opt.symbols && trod_symbols_address(b->opt.symbols, name, out, &size);
}

/* A register, else a symbol; "reg::" and "sym::" say which. */
static bool of_name(struct browse *b, const char *name, uint64_t *out)
{
    if (strncmp(name, "reg::", 5) == 0 && of_register(b, name + 5, out))
        return true;
    if (strncmp(name, "sym::", 5) == 0 && of_symbol(b, name + 5, out))
        return true;
    if (of_register(b, name, out) || (strcmp(name, "pc") == 0 && browse_pc(b, out)))
        return true;
    return of_symbol(b, name, out);
}

static char next(struct expr *e)
{
    while (*e->p == ' ' || *e->p == '\t')
        e->p++;
    return *e->p;
}

static uint64_t shifted(struct expr *e);

static uint64_t bracket(struct expr *e)
{
    uint64_t value;

    e->p++;
    value = shifted(e);
    e->bad |= next(e) != ')';
    e->p += !e->bad;
    return value;
}

static uint64_t word(struct expr *e)
{
    char text[WORD];
    uint64_t value = 0;
    size_t n = 0;

    while (n + 1 < sizeof text && *e->p &&
           (isalnum((unsigned char)*e->p) || strchr("_.$@:?", *e->p)))
        text[n++] = *e->p++;
    text[n] = '\0';
    if (isdigit((unsigned char)text[0]))
        e->bad |= trod_option_number(text, &value) != 0;
    else
        e->bad |= !of_name(e->b, text, &value);
    return value;
}

static uint64_t sign(struct expr *e)
{
    const char c = next(e);
    uint64_t value = 0;

    if (e->depth == DEEP || e->bad) {
        e->bad = true;
        return 0;
    }
    e->depth++;
    if (c == '(') {
        value = bracket(e);
    } else if (c == '+' || c == '-') {
        e->p++;
        value = sign(e);
        value = c == '-' ? 0 - value : value;
    } else {
        value = word(e);
    }
    e->depth--;
    return value;
}

static uint64_t product(struct expr *e)
{
    uint64_t value = sign(e);

    while (!e->bad && next(e) == '*') {
        e->p++;
        value *= sign(e);
    }
    return value;
}

static uint64_t sum(struct expr *e)
{
    uint64_t value = product(e);

    while (!e->bad && (next(e) == '+' || *e->p == '-')) {
        const bool minus = *e->p++ == '-';
        const uint64_t other = product(e);

        value += minus ? 0 - other : other;
    }
    return value;
}

static uint64_t shifted(struct expr *e)
{
    uint64_t value = sum(e);

    while (!e->bad && (next(e) == '<' || *e->p == '>') && e->p[1] == *e->p) {
        const bool left = *e->p == '<';
        uint64_t by;

        e->p += 2;
        by = sum(e);
        value = by > 63 ? 0 : left ? value << by : value >> by;
    }
    return value;
}

/* Symbols have names such as "operator+(int)": NAME, or NAME and what is added. */
static bool odd_name(struct browse *b, const char *text, uint64_t *addr)
{
    uint64_t offset;
    char name[WORD];

    if (strlen(text) >= sizeof name)
        return false;
    if (of_name(b, text, addr))
        return true;
    for (size_t at = strlen(text); at-- > 1;) {
        if (text[at] != '+' && text[at] != '-')
            continue;
        snprintf(name, sizeof name, "%.*s", (int)at, text);
        if (trod_option_number(text + at + 1, &offset) != 0 || !of_name(b, name, addr))
            return false;
        *addr += text[at] == '+' ? offset : 0 - offset;
        return true;
    }
    return false;
}

bool browse_address(struct browse *b, const char *text, uint64_t *addr)
{
    struct expr e = {.b = b, .p = text};
    uint64_t value = shifted(&e);

    if (e.bad || next(&e))
        return odd_name(b, text, addr);
    *addr = value;
    return true;
}
