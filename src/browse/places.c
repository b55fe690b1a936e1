/*
 * places.c - two positions: what differs between them. Implements places.h.
 *
 * The same as `trod state --diff` tells.
 */
#include "browse/places.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 100000, RUN = 8 };

static int line(struct browse_lines *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int line(struct browse_lines *l, const char *fmt, ...)
{
    va_list args;

    if (l->n == LINES)
        return TROD_ERR_LIMIT;
    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 64;
        void *more = realloc(l->at, cap * sizeof *l->at);

        if (!more)
            return TROD_ERR_NOMEM;
        l->at = more;
        l->cap = cap;
    }
    va_start(args, fmt);
    vsnprintf(l->at[l->n++], sizeof *l->at, fmt, args);
    va_end(args);
    return 0;
}

void browse_lines_fini(struct browse_lines *l)
{
    free(l->at);
    memset(l, 0, sizeof *l);
}

/* ---- registers */

static bool equal(const struct trod_nav_register *x, const struct trod_nav_register *y)
{
    return x->size == y->size && (x->size == 0 || (memcmp(x->value, y->value, x->size) == 0 &&
                                                   memcmp(x->known, y->known, x->size) == 0));
}

static void digits(const struct trod_nav_register *r, char *out, size_t size)
{
    size_t n = 0;

    if (r->size == 0) {
        snprintf(out, size, "unknown");
        return;
    }
    for (size_t i = r->size; i-- > 0 && n + 3 < size;)
        n += (size_t)snprintf(out + n, size - n, r->known[i] == 0xff ? "%02x" : "--", r->value[i]);
}

static int registers(const struct trod_nav_state *first, const struct trod_nav_state *second,
                     struct browse_lines *out)
{
    struct trod_nav_register x, y;
    char a[48], c[48];
    int rc = 0;

    for (size_t i = 0; rc == 0 && trod_nav_state_register(second, i, &y); i++) {
        bool found = false;

        for (size_t k = 0; !found && trod_nav_state_register(first, k, &x); k++)
            found = strcmp(x.name, y.name) == 0;
        if (!found)
            memset(&x, 0, sizeof x);
        if (equal(&x, &y))
            continue;
        digits(&x, a, sizeof a);
        digits(&y, c, sizeof c);
        rc = line(out, " %-10s %-18s %s", y.name, a, c);
    }
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
        rc = line(out, " %016llx  %-*s %s", (unsigned long long)(r->addr + i), 3 * RUN, a, c);
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
        rc = line(out, " registers: at row %llu, at row %llu", (unsigned long long)b->other,
                  (unsigned long long)b->cursor);
    if (rc == 0)
        rc = registers(s[0], s[1], out);
    if (rc == 0)
        rc = line(out, " memory: at row %llu, at row %llu", (unsigned long long)b->other,
                  (unsigned long long)b->cursor);
    if (rc == 0)
        rc = memory(b, b->other, b->cursor, out);
    trod_nav_state_free(s[0]);
    trod_nav_state_free(s[1]);
    if (rc == TROD_ERR_LIMIT) { /* what there is is shown */
        browse_say(b, "there are more differences than are shown");
        rc = 0;
    }
    return rc;
}
