/*
 * places.c - two positions: what differs between them. Implements places.h.
 *
 * The same as `trod state --diff` tells.
 */
#include "browse/places.h"
#include "browse/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 100000, RUN = 8 };

int browse_lines_add(struct browse_lines *l, const char *fmt, ...)
{
    va_list args;
    char **more;
    int n;

    if (l->n == LINES)
        return TROD_ERR_LIMIT;
    if (!(more = browse_grow(l->at, l->n, &l->cap, sizeof *l->at)))
        return TROD_ERR_NOMEM;
    l->at = more;
    va_start(args, fmt);
    n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0 || !(l->at[l->n] = malloc((size_t)n + 1)))
        return TROD_ERR_NOMEM;
    va_start(args, fmt);
    vsnprintf(l->at[l->n++], (size_t)n + 1, fmt, args);
    va_end(args);
    return 0;
}

void browse_lines_fini(struct browse_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->at[i]);
    free(l->at);
    memset(l, 0, sizeof *l);
}

/* ---- registers */

enum { NARROW = 18, DIGITS = 2 * 512 + 1 }; /* digits that stand side by side; at most */

static bool equal(const struct trod_nav_register *x, const struct trod_nav_register *y)
{
    return x->size == y->size && (x->size == 0 || (memcmp(x->value, y->value, x->size) == 0 &&
                                                   memcmp(x->known, y->known, x->size) == 0));
}

static void digits(const struct trod_nav_register *r, char out[DIGITS])
{
    if (r->size == 0)
        snprintf(out, DIGITS, "unknown");
    else
        browse_digits(out, DIGITS, r->value, r->known, r->size);
}

/* The register called NAME of S; false, and nothing known of it, where there is none. */
static bool of_name(const struct trod_nav_state *s, const char *name, struct trod_nav_register *out)
{
    for (size_t i = 0; trod_nav_state_register(s, i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    memset(out, 0, sizeof *out);
    return false;
}

/* A line if X is not Y; two where they are wide. */
static int differing(const char *name, const struct trod_nav_register *x,
                     const struct trod_nav_register *y, struct browse_lines *out)
{
    char a[DIGITS], c[DIGITS];
    int rc;

    if (equal(x, y))
        return 0;
    digits(x, a);
    digits(y, c);
    if (strlen(a) <= NARROW && strlen(c) <= NARROW)
        return browse_lines_add(out, " %-10s %-*s %s", name, NARROW, a, c);
    rc = browse_lines_add(out, " %-10s %s", name, a);
    return rc < 0 ? rc : browse_lines_add(out, " %-10s %s", "", c);
}

/* Those that SECOND has, then those that only FIRST has. */
static int registers(const struct trod_nav_state *first, const struct trod_nav_state *second,
                     struct browse_lines *out)
{
    struct trod_nav_register x, y;
    int rc = 0;

    for (size_t i = 0; rc == 0 && trod_nav_state_register(second, i, &y); i++) {
        (void)of_name(first, y.name, &x);
        rc = differing(y.name, &x, &y, out);
    }
    for (size_t i = 0; rc == 0 && trod_nav_state_register(first, i, &x); i++)
        if (!of_name(second, x.name, &y))
            rc = differing(x.name, &x, &y, out);
    return rc;
}

/* ---- memory */

static bool differs(const struct trod_nav_byte *x, const struct trod_nav_byte *y)
{
    const bool a = x->from != TROD_NAV_UNKNOWN, c = y->from != TROD_NAV_UNKNOWN;

    return a != c || (a && x->value != y->value);
}

static void bytes(const struct trod_nav_byte *b, size_t n, char out[3 * RUN + 1])
{
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + 3 * i, 4, b[i].from == TROD_NAV_UNKNOWN ? "-- " : "%02x ", b[i].value);
}

static int run(struct browse *b, uint64_t first, uint64_t second, const struct trod_nav_run *r,
               struct browse_lines *out)
{
    struct trod_nav_byte *x = calloc(r->count, sizeof *x), *y = calloc(r->count, sizeof *y);
    int rc = x && y ? trod_nav_memory(b->nav, first, r->addr, r->count, x) : TROD_ERR_NOMEM;
    char a[3 * RUN + 1], c[3 * RUN + 1];

    if (rc == 0)
        rc = trod_nav_memory(b->nav, second, r->addr, r->count, y);
    for (size_t i = 0, end; rc == 0 && i < r->count; i = end) {
        end = i + 1;
        if (!differs(&x[i], &y[i]))
            continue;
        while (end < r->count && end - i < RUN && differs(&x[end], &y[end]))
            end++;
        bytes(x + i, end - i, a);
        bytes(y + i, end - i, c);
        rc = browse_lines_add(out, " %016llx  %-*s %s", (unsigned long long)(r->addr + i), 3 * RUN,
                              a, c);
    }
    free(x);
    free(y);
    return rc;
}

enum { GAP = 1 << 12 }; /* bytes between runs that are cheaper to ask for as well */

static int memory(struct browse *b, uint64_t first, uint64_t second, struct browse_lines *out)
{
    struct trod_nav_run *r;
    size_t n;
    int rc = trod_nav_touched(b->nav, first < second ? first : second,
                              first < second ? second : first, &r, &n);

    for (size_t i = 0, end; rc == 0 && i < n; i = end) {
        struct trod_nav_run all = r[i];

        for (end = i + 1; end < n && r[end].addr - (all.addr + all.count) < GAP &&
                          r[end].addr + r[end].count - all.addr < TROD_NAV_MEMORY;
             end++)
            all.count = (size_t)(r[end].addr + r[end].count - all.addr);
        rc = run(b, first, second, &all, out);
    }
    free(r);
    return rc;
}

int browse_differences(struct browse *b, struct browse_lines *out)
{
    struct trod_nav_state *s[2] = {NULL, NULL};
    int rc = 0;

    memset(out, 0, sizeof *out);
    if (b->other == TROD_NOWHERE || b->rows == 0) {
        browse_say(b, "there is no second position: s sets it");
        return TROD_ERR_USAGE;
    }
    rc = trod_nav_state(b->nav, b->cursor, TROD_NAV_ROW_STREAM, &s[1]);
    if (rc == 0)
        rc = trod_nav_state(b->nav, b->other, trod_nav_state_stream(s[1]), &s[0]);
    if (rc == 0)
        rc = browse_lines_add(out, " registers: at row %llu, at row %llu",
                              (unsigned long long)b->other, (unsigned long long)b->cursor);
    if (rc == 0)
        rc = registers(s[0], s[1], out);
    if (rc == 0)
        rc = browse_lines_add(out, " memory: at row %llu, at row %llu",
                              (unsigned long long)b->other, (unsigned long long)b->cursor);
    if (rc == 0)
        rc = memory(b, b->other, b->cursor, out);
    if (rc == 0 && out->n == 2) /* the message where nothing differs */
        rc = browse_lines_add(out, " nothing differs");
    trod_nav_state_free(s[0]);
    trod_nav_state_free(s[1]);
    if (rc == TROD_ERR_LIMIT) { /* what there is is shown */
        browse_say(b, "there are more differences than are shown");
        rc = 0;
    }
    return rc;
}
