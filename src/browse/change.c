/*
 * change.c - where a value becomes another one, and who reads and writes. Implements browse_change
 * and browse_accesses of find.h.
 *
 * The rows that access what is asked for are looked at one after the other. Most say the value
 * themselves; the state after the others is asked for.
 */
#include "browse/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 512, PART = 256, NEAR = 100 };

/* A value: bytes, and which bits of them are known. */
struct worth {
    size_t n;
    uint8_t value[WIDE], known[WIDE];
};

struct changing {
    struct browse *b;
    struct trod_nav_query query;
    size_t n; /* bytes of memory; 0: a register */
};

static bool same(const struct worth *x, const struct worth *y)
{
    return x->n == y->n && memcmp(x->value, y->value, x->n) == 0 &&
           memcmp(x->known, y->known, x->n) == 0;
}

/* What has no known bits has no value there. */
static void clean(struct worth *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->value[i] &= w->known[i];
}

/* The value after row ROW. */
static int value_at(struct changing *c, uint64_t row, struct worth *out)
{
    struct trod_nav_byte byte[8];
    struct trod_nav_state *s;
    int rc;

    memset(out, 0, sizeof *out);
    if (c->n) {
        out->n = c->n;
        rc = trod_nav_memory(c->b->nav, row, c->query.lo, c->n, byte);
        for (size_t i = 0; rc == 0 && i < c->n; i++) {
            out->value[i] = byte[i].value;
            out->known[i] = byte[i].from == TROD_NAV_UNKNOWN ? 0 : 0xff;
        }
    } else {
        rc = trod_nav_state(c->b->nav, row,
                            c->query.one_stream ? (int64_t)c->query.stream : TROD_NAV_ROW_STREAM,
                            &s);
        if (rc == 0) {
            if (!trod_nav_state_named(s, c->query.reg, out->value, out->known, WIDE, &out->n))
                out->n = 0;
            trod_nav_state_free(s);
        }
    }
    clean(out);
    return rc;
}

/* The value after HIT, where WAS is that before it. */
static int value_of(struct changing *c, const struct trod_nav_hit *hit, struct worth *out)
{
    const uint64_t from = c->n ? c->query.lo - hit->addr : 0;

    if (!hit->has_value || (c->n ? from > 8 || c->n > 8 - from || c->n > hit->size - from
                                 : !hit->size || hit->size > 8))
        return value_at(c, hit->row, out);
    memset(out, 0, sizeof *out);
    out->n = c->n ? c->n : hit->size;
    for (size_t i = 0; i < out->n; i++)
        out->value[i] = (uint8_t)(hit->value >> (8 * (from + i)));
    memset(out->known, 0xff, out->n);
    return 0;
}

/* Forwards: the first row whose value is not that at the cursor. */
static int forward(struct changing *c, struct trod_nav_hit hit[PART], uint64_t *row)
{
    struct worth first, now;
    uint64_t at = c->b->cursor;
    size_t n = PART;
    int rc = value_at(c, at, &first);

    while (rc == 0 && n == PART) {
        rc = trod_nav_find(c->b->nav, &c->query, at, false, hit, PART, &n);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            rc = value_of(c, &hit[i], &now);
            at = hit[i].row;
            if (rc == 0 && !same(&first, &now)) {
                *row = at;
                return 1;
            }
        }
    }
    return rc;
}

/* Backwards: the last row that made of another value the one after it. */
static int backward(struct changing *c, struct trod_nav_hit hit[PART], uint64_t *row)
{
    struct worth later, now;
    struct trod_nav_hit last = {.row = TROD_NOWHERE};
    uint64_t at = c->b->cursor;
    size_t n = PART;
    int rc = 0;

    while (rc == 0 && n == PART) {
        rc = trod_nav_find(c->b->nav, &c->query, at, true, hit, PART, &n);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            rc = value_of(c, &hit[i], &now);
            if (rc == 0 && last.row != TROD_NOWHERE && !same(&later, &now)) {
                *row = last.row;
                return 1;
            }
            later = now;
            last = hit[i];
            at = last.row;
        }
    }
    if (rc < 0 || last.row == TROD_NOWHERE || last.access == TROD_NAV_READS)
        return rc; /* what a read tells first was so before */
    *row = last.row;
    return 1;
}

int browse_change(struct browse *b, const char *what, bool back)
{
    struct changing c = {.b = b};
    struct trod_nav_hit *hit;
    uint64_t row = 0;
    int rc = 0;

    browse_query(b, what, TROD_NAV_WRITES, &c.query);
    if (!c.query.reg) {
        if (c.query.hi - c.query.lo > 7)
            return TROD_ERR_USAGE;
        c.query.access |= TROD_NAV_READS;
        c.n = (size_t)(c.query.hi - c.query.lo) + 1;
    }
    if (!(hit = malloc(PART * sizeof *hit)))
        return TROD_ERR_NOMEM;
    if (b->rows)
        rc = back ? backward(&c, hit, &row) : forward(&c, hit, &row);
    free(hit);
    if (rc > 0)
        return (rc = browse_go(b, row)) < 0 ? rc : 1;
    if (rc == 0)
        browse_say(b, "%s: the value is the same in all rows %s row %llu", what,
                   back ? "before" : "after", (unsigned long long)b->cursor);
    return rc;
}

/* ---- who */

int browse_accesses(struct browse *b, const char *what, struct browse_accesses *out)
{
    struct trod_nav_query q;
    struct trod_nav_hit *hit = malloc(2 * NEAR * sizeof *hit);
    size_t before = 0, behind = 0;
    int rc = hit ? 0 : TROD_ERR_NOMEM;

    *out = (struct browse_accesses){.at = hit};
    browse_query(b, what, TROD_NAV_WRITES | TROD_NAV_READS, &q);
    if (rc == 0 && b->rows)
        rc = trod_nav_find(b->nav, &q, b->cursor + 1, true, hit, NEAR, &before);
    for (size_t i = 0; rc == 0 && i < before / 2; i++) {
        const struct trod_nav_hit other = hit[i];

        hit[i] = hit[before - 1 - i];
        hit[before - 1 - i] = other;
    }
    if (rc == 0 && b->rows)
        rc = trod_nav_find(b->nav, &q, b->cursor, false, hit + before, NEAR, &behind);
    out->here = before && hit[before - 1].row == b->cursor ? before - 1 : before;
    out->n = before + behind;
    if (rc == TROD_ERR_USAGE)
        rc = 0; /* reported */
    else if (rc == 0 && !out->n)
        browse_say(b, "%s: nobody writes or reads it", what);
    return rc < 0 ? rc : out->n > 0;
}
