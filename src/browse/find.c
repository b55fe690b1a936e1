/*
 * find.c - rows that are looked for from the cursor on. Implements find.h.
 */
#include "browse/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int browse_read(struct browse *b, uint64_t from, uint64_t end, uint32_t want, browse_fn fn,
                void *user)
{
    struct trod_trace *t;
    struct trod_batch *batch;
    uint64_t row;
    int rc = trod_nav_trace(b->nav, from, want, NULL, &t, &row);

    if (rc < 0)
        return rc;
    while (row < end && (rc = trod_trace_next(t, &batch)) > 0) {
        const uint32_t i =
            from > row ? (from - row < batch->n ? (uint32_t)(from - row) : batch->n) : 0;
        const uint32_t to = end - row < batch->n ? (uint32_t)(end - row) : batch->n;

        if (b->opt.tick && (rc = b->opt.tick(b->opt.user, row)) < 0)
            break;
        if (i < to && (rc = fn(user, batch, i, to - i, row + i)) <= 0)
            break;
        row += batch->n;
    }
    trod_trace_close(t);
    return rc < 0 ? rc : 0;
}

/* ---- expressions */

struct search {
    struct browse *b;
    struct trod_where *where;
    uint8_t *keep;
    uint64_t lo, hi; /* rows that count: [lo, hi) */
    uint64_t found;  /* TROD_NOWHERE: none */
    bool back;
};

/* Rows before LO are judged too: what is told of a row may depend on those before it. */
static int judge(void *user, const struct trod_batch *batch, uint32_t i, uint32_t n, uint64_t row)
{
    struct search *s = user;
    const uint64_t first = row - i;
    int rc;

    memset(s->keep, 1, batch->n);
    rc = trod_where_batch(s->where, batch, first, s->keep);
    for (uint32_t k = i; rc > 0 && k < i + n; k++) {
        if (!s->keep[k] || first + k < s->lo || first + k >= s->hi ||
            (s->b->only >= 0 && trod_batch_stream(batch, k) != (uint64_t)s->b->only))
            continue;
        s->found = first + k;
        if (!s->back)
            return 0;
    }
    return rc < 0 ? rc : 1;
}

enum { BEFORE = 8, STREAMS = 256 };

/*
 * Where reading has to begin so that the instruction of each row from LO on is known: some
 * instructions before it in each stream.
 */
static int owners_from(struct search *s, uint64_t lo, uint64_t *from)
{
    struct trod_nav *nav = s->b->nav;
    const uint32_t streams = trod_nav_meta(nav)->n_streams;
    struct trod_nav_query q = {.access = TROD_NAV_KIND, .lo = TROD_INSTR, .hi = TROD_INSTR};
    struct trod_nav_hit hit[BEFORE];
    int rc = 0;

    *from = 0;
    if (lo == 0 || !trod_nav_index(nav) || streams > STREAMS)
        return 0;
    *from = lo;
    for (uint32_t k = 0; rc == 0 && k < (streams ? streams : 1); k++) {
        size_t n;

        q.one_stream = streams > 0;
        q.stream = k;
        rc = trod_nav_find(nav, &q, lo, true, hit, BEFORE, &n);
        if (rc == 0 && n && hit[n - 1].row < *from)
            *from = hit[n - 1].row;
    }
    return rc;
}

static int scan(struct search *s, const char *text)
{
    const struct trod_where_options opt = {.struct_size = sizeof opt, .symbols = s->b->opt.symbols};
    uint64_t from = s->lo;
    int rc = trod_where_new(&s->where, text, &opt, &s->b->diag);

    if (rc == 0 && trod_where_want(s->where) & TROD_COL_PC)
        rc = owners_from(s, s->lo, &from);
    if (rc == 0)
        rc = browse_read(s->b, from, s->hi, trod_where_want(s->where), judge, s);
    trod_where_free(s->where);
    s->where = NULL;
    return rc;
}

/* Backwards: parts that end at the cursor, each longer than the one behind it. */
static int scan_back(struct search *s, const char *text)
{
    const bool indexed = trod_nav_index(s->b->nav);
    uint64_t part = indexed ? 1 << 16 : UINT64_MAX;
    int rc = 0;

    while (rc == 0 && s->found == TROD_NOWHERE && s->hi > 0) {
        s->lo = s->hi > part ? s->hi - part : 0;
        rc = scan(s, text);
        s->hi = s->lo;
        part = part < UINT64_MAX / 4 ? 4 * part : part;
    }
    return rc;
}

/* Rows LO to HI, not among them. */
static int find(struct browse *b, const char *text, uint64_t lo, uint64_t hi, bool back)
{
    struct search s = {.b = b, .found = TROD_NOWHERE, .lo = lo, .hi = hi, .back = back};
    int rc;

    s.keep = malloc(TROD_BATCH_ROWS);
    if (!s.keep)
        return TROD_ERR_NOMEM;
    rc = back ? scan_back(&s, text) : scan(&s, text);
    free(s.keep);
    if (rc < 0)
        return rc;
    if (s.found != TROD_NOWHERE)
        return (rc = browse_go(b, s.found)) < 0 ? rc : 1;
    browse_say(b, "not found %s row %llu: %s",
               back              ? "before"
               : lo <= b->cursor ? "from"
                                 : "behind",
               (unsigned long long)b->cursor, text);
    return 0;
}

int browse_find(struct browse *b, const char *text, bool back)
{
    return find(b, text, back ? 0 : b->cursor + 1, back ? b->cursor : TROD_NOWHERE, back);
}

int browse_find_here(struct browse *b, const char *text)
{
    return find(b, text, b->cursor, TROD_NOWHERE, false);
}

/* ---- writes and visits */

static int look(struct browse *b, const struct trod_nav_query *q, const char *what, bool back)
{
    struct trod_nav_query own = *q;
    struct trod_nav_hit hit;
    size_t n;
    int rc;

    if (b->only >= 0) {
        own.one_stream = true;
        own.stream = (uint32_t)b->only;
    }
    rc = b->rows ? trod_nav_find(b->nav, &own, b->cursor, back, &hit, 1, &n) : 0;

    if (rc < 0)
        return rc == TROD_ERR_USAGE ? 0 : rc; /* told */
    if (b->rows && n)
        return (rc = browse_go(b, hit.row)) < 0 ? rc : 1;
    browse_say(b, "%s: none %s row %llu", what, back ? "before" : "behind",
               (unsigned long long)b->cursor);
    return 0;
}

int browse_visit(struct browse *b, uint64_t pc, bool back)
{
    const struct trod_nav_query q = {.access = TROD_NAV_VISITS, .lo = pc, .hi = pc};
    char what[64];

    snprintf(what, sizeof what, "executions of 0x%llx", (unsigned long long)pc);
    return look(b, &q, what, back);
}

int browse_kind(struct browse *b, unsigned kind, bool back)
{
    const struct trod_nav_query q = {.access = TROD_NAV_KIND, .lo = kind, .hi = kind};

    return look(b, &q, trod_kind_name(kind), back);
}

/* The stream of the cursor's row. */
static uint32_t stream_here(struct browse *b)
{
    const struct trod_batch *batch;
    uint32_t i;

    return browse_row(b, b->cursor, &batch, &i) > 0 ? trod_batch_stream(batch, i) : 0;
}

int browse_write(struct browse *b, const char *what, bool back)
{
    struct trod_nav_query q = {.access = TROD_NAV_WRITES};
    char text[128];
    struct trod_range range;
    uint64_t size;

    snprintf(text, sizeof text, "writes of %s", what);
    if (trod_option_range(what, &range) == 0) {
        q.lo = range.lo;
        q.hi = range.hi;
    } else if (b->opt.symbols && trod_symbols_address(b->opt.symbols, what, &q.lo, &size)) {
        q.hi = q.lo + (size ? size - 1 : 0);
    } else {
        q.reg = what;
        q.stream = stream_here(b);
        q.one_stream = trod_nav_meta(b->nav)->n_streams > 1;
    }
    return look(b, &q, text, back);
}
