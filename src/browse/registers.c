/*
 * registers.c - registers at the cursor, held, and at the second position; which of them are shown.
 *
 * Implements "the state at the cursor" of model.h. A value changed if it is not what it was at the
 * place where the cursor was before, or is not that which it is compared with.
 */
#include "browse/model.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WIDE = 512 };

void browse_digits(char *out, size_t size, const uint8_t *value, const uint8_t *known, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    size_t most = 2 * n, at = 0;

    if (most >= size) { /* that there is more is said */
        at = (size_t)snprintf(out, size, "%zu bytes: ..", n);
        most = at < size ? size - 1 - at : 0;
    }
    for (size_t i = most; i-- > 0;) {
        const unsigned shift = i % 2 * 4;

        out[at++] = (known[i / 2] >> shift & 15) == 15 ? hex[value[i / 2] >> shift & 15] : '-';
    }
    out[at] = '\0';
}

/* ---- which states */

static const struct trod_nav_state *state_of(const struct browse *b, enum browse_registers of)
{
    if (of == BROWSE_SECOND)
        return b->held ? b->state : b->second;
    return of == BROWSE_PANE && b->held ? b->held : b->state;
}

static const struct trod_nav_state *compared_with(const struct browse *b, enum browse_registers of)
{
    if (of == BROWSE_SECOND)
        return b->held ? b->held : b->state;
    return of == BROWSE_PANE && b->held ? b->state : b->before;
}

uint64_t browse_registers_row(const struct browse *b, enum browse_registers of, uint32_t *stream)
{
    const struct trod_nav_state *s = state_of(b, of);

    if (!s)
        return TROD_NOWHERE;
    *stream = trod_nav_state_stream(s);
    return trod_nav_state_row(s);
}

int browse_hold_registers(struct browse *b)
{
    if (b->held) {
        trod_nav_state_free(b->held);
        b->held = NULL;
        return 0;
    }
    return b->rows ? trod_nav_state(b->nav, b->cursor, TROD_NAV_ROW_STREAM, &b->held) : 0;
}

int browse_second_state(struct browse *b)
{
    const bool there = b->second && trod_nav_state_row(b->second) == b->other;
    struct trod_nav_state *s = NULL;
    int rc = 0;

    if (b->held || there || b->rows == 0)
        return 0;
    if (b->other != TROD_NOWHERE)
        rc = trod_nav_state(b->nav, b->other, TROD_NAV_ROW_STREAM, &s);
    if (rc < 0)
        return rc;
    trod_nav_state_free(b->second);
    b->second = s;
    return 0;
}

/* ---- all that are known */

static bool equal(const struct trod_nav_register *a, const struct trod_nav_register *b)
{
    return a->size == b->size && memcmp(a->value, b->value, a->size) == 0 &&
           memcmp(a->known, b->known, a->size) == 0;
}

/* Is R what it is in OLD? That of another stream says nothing. */
static bool changed(const struct trod_nav_state *now, const struct trod_nav_state *before,
                    size_t at, const struct trod_nav_register *r)
{
    struct trod_nav_register old;

    if (!before || !now || trod_nav_state_stream(before) != trod_nav_state_stream(now))
        return false;
    if (trod_nav_state_register(before, at, &old) && strcmp(old.name, r->name) == 0)
        return !equal(&old, r);
    for (size_t i = 0; trod_nav_state_register(before, i, &old); i++)
        if (strcmp(old.name, r->name) == 0)
            return !equal(&old, r);
    return true;
}

static void fill(struct browse *b, enum browse_registers of, size_t at,
                 const struct trod_nav_register *r, struct browse_register *out)
{
    snprintf(out->name, sizeof out->name, "%s", r->name);
    browse_digits(out->value, sizeof out->value, r->value, r->known, r->size);
    if (!trod_nav_flags(trod_nav_meta(b->nav), r, out->flags, sizeof out->flags))
        out->flags[0] = '\0';
    out->changed = changed(state_of(b, of), compared_with(b, of), at, r);
    out->row = r->row;
}

/* ---- those that are chosen */

/* One by any of its names, known or not. */
static bool by_name(struct browse *b, enum browse_registers of, const char *name,
                    struct browse_register *out)
{
    const struct trod_nav_state *s = state_of(b, of), *than = compared_with(b, of);
    uint8_t value[WIDE] = {0}, known[WIDE] = {0}, old[WIDE] = {0}, old_known[WIDE] = {0};
    size_t n = 0, old_n = 0;

    if (!s)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->value, sizeof out->value, "unknown");
    out->row = TROD_NOWHERE;
    if (trod_nav_state_named(s, name, value, known, WIDE, &n) && n)
        browse_digits(out->value, sizeof out->value, value, known, n);
    if (!than || trod_nav_state_stream(than) != trod_nav_state_stream(s))
        return true;
    trod_nav_state_named(than, name, old, old_known, WIDE, &old_n);
    out->changed = n != old_n || memcmp(value, old, n < WIDE ? n : WIDE) != 0 ||
                   memcmp(known, old_known, n < WIDE ? n : WIDE) != 0;
    return true;
}

/* Letters and a number of up to three digits at P, to NAME and *NUMBER. NULL: none; else after. */
static const char *numbered(const char *p, char name[32], unsigned *number)
{
    size_t n = 0, digits = 0;

    while (n + 1 < 32 && (isalpha((unsigned char)p[n]) || p[n] == '_'))
        n++;
    snprintf(name, 32, "%.*s", (int)n, p);
    *number = 0;
    for (; digits < 3 && isdigit((unsigned char)p[n]); n++, digits++)
        *number = 10 * *number + (unsigned)(p[n] - '0');
    return digits ? p + n : NULL;
}

/* "x3-x7": its letters to NAME, its numbers. */
static bool range(const char *word, char name[32], unsigned *first, unsigned *last)
{
    char other[32];
    const char *p = numbered(word, name, first);

    p = p && *p == '-' ? numbered(p + 1, other, last) : NULL;
    return p && !*p && strcmp(name, other) == 0 && *first <= *last;
}

/* The Kth register that WORD names; *K is less by as many where there are fewer. */
static bool of_word(struct browse *b, enum browse_registers of, const char *word, size_t *k,
                    struct browse_register *out)
{
    const struct trod_nav_state *s = state_of(b, of);
    const size_t n = strlen(word);
    struct trod_nav_register r;
    unsigned first, last;
    char name[32], full[48];

    if (range(word, name, &first, &last)) {
        if (*k <= last - first) {
            snprintf(full, sizeof full, "%s%u", name, first + (unsigned)*k);
            return by_name(b, of, full, out);
        }
        *k -= last - first + 1;
        return false;
    }
    if (word[n - 1] != '*')
        return *k == 0 ? by_name(b, of, word, out) : (--*k, false);
    for (size_t at = 0; s && trod_nav_state_register(s, at, &r); at++)
        if (r.size && strncasecmp(r.name, word, n - 1) == 0 && (*k)-- == 0) {
            fill(b, of, at, &r, out);
            return true;
        }
    return false;
}

static bool chosen(struct browse *b, enum browse_registers of, size_t i,
                   struct browse_register *out)
{
    char text[sizeof b->registers], *rest, *word;

    snprintf(text, sizeof text, "%s", b->registers);
    for (word = strtok_r(text, " ,", &rest); word; word = strtok_r(NULL, " ,", &rest))
        if (of_word(b, of, word, &i, out))
            return true;
    return false;
}

bool browse_choose_registers(struct browse *b, const char *text)
{
    if (strlen(text) >= sizeof b->registers)
        return false;
    snprintf(b->registers, sizeof b->registers, "%s", text);
    return true;
}

bool browse_register(struct browse *b, enum browse_registers of, size_t i,
                     struct browse_register *out)
{
    const struct trod_nav_state *s = state_of(b, of);
    struct trod_nav_register r;

    memset(out, 0, sizeof *out);
    if (of != BROWSE_HERE && b->registers[strspn(b->registers, " ,")])
        return chosen(b, of, i, out);
    for (size_t at = 0; s && trod_nav_state_register(s, at, &r); at++) {
        if (r.size == 0 || i-- > 0)
            continue;
        fill(b, of, at, &r, out);
        return true;
    }
    return false;
}
