/*
 * literal.c - implements literal.h.
 *
 * Only ASCII letters, digits and characters without a special meaning count, outside of brackets,
 * groups and alternatives, and without a repetition sign behind them: such a run must occur in
 * every text that matches, whatever else the expression means.
 */
#include "show/literal.h"

#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Behind the bracket expression that begins at P; NULL: it has no end. */
static const char *behind_bracket(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    p += *p == ']';
    while (*p && *p != ']') {
        const char class = *p == '[' && p[1] && strchr(".:=", p[1]) ? p[1] : '\0';

        p += class ? 2 : 1;
        while (class && *p && !(*p == class && p[1] == ']'))
            p++;
        if (class && *p)
            p += 2;
    }
    return *p ? p + 1 : NULL;
}

/* The same for a group. */
static const char *behind_group(const char *p)
{
    unsigned depth = 0;

    do {
        depth += *p == '(';
        depth -= *p == ')';
        if (*p == '[')
            p = behind_bracket(p);
        else
            p += *p == '\\' && p[1] ? 2 : 1;
    } while (p && *p && depth);
    return depth ? NULL : p;
}

/* RUN, which ends, to OUT, if it is longer than what is there. */
static void settle(struct show_literal *run, struct show_literal *out)
{
    if (run->n > out->n)
        *out = *run;
    run->n = 0;
}

/* Behind the part of a pattern that begins at P and is no letter of RUN; NULL: nothing is known. */
static const char *behind(const char *p, struct show_literal *run)
{
    switch (*p) {
    case '*':
    case '+':
    case '?':
        run->n = run->n ? (uint8_t)(run->n - 1) : 0;
        return p + 1;
    case '{':
        run->n = run->n ? (uint8_t)(run->n - 1) : 0;
        p = strchr(p, '}');
        return p ? p + 1 : NULL;
    case '[':
        return behind_bracket(p);
    case '(':
        return behind_group(p);
    case '\\':
        return p[1] ? p + 2 : NULL;
    case '|':
    case ')':
        return NULL;
    default:
        return p + 1;
    }
}

static bool is_letter(char c)
{
    return c >= ' ' && c <= '~' && !strchr("*+?{}[]()\\|.^$", c);
}

struct show_literal show_literal_of(const char *pattern, bool nocase)
{
    struct show_literal out = {.nocase = nocase}, run = out;
    const char *p = pattern;

    while (*p) {
        if (is_letter(*p)) {
            if (run.n == sizeof run.s)
                settle(&run, &out);
            run.s[run.n++] = nocase ? lower(*p) : *p;
            p++;
            continue;
        }
        p = behind(p, &run);
        if (!p)
            return (struct show_literal){.n = 0};
        settle(&run, &out);
    }
    settle(&run, &out);
    return out;
}

/* Letters of other alphabets may be those of ours in another case. */
static bool is_plain(const char *s, size_t n)
{
    char all = 0;

    for (size_t i = 0; i < n; i++)
        all |= s[i];
    return !((unsigned char)all & 0x80);
}

bool show_literal_in(const struct show_literal *l, const char *s, size_t n)
{
    if (l->n == 0 || (l->nocase && !is_plain(s, n)))
        return true;
    for (size_t i = 0; i + l->n <= n; i++) {
        size_t k = 0;

        while (k < l->n && (l->nocase ? lower(s[i + k]) : s[i + k]) == l->s[k])
            k++;
        if (k == l->n)
            return true;
    }
    return false;
}
