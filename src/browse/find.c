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

/* Rows before LO are judged too: the verdict on a row may depend on those before it. */
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

/* Backwards: parts that end at the cursor, each longer than the one after it. */
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
                                 : "after",
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
        return rc == TROD_ERR_USAGE ? 0 : rc; /* reported */
    if (b->rows && n)
        return (rc = browse_go(b, hit.row)) < 0 ? rc : 1;
    browse_say(b, "%s: none %s row %llu", what, back ? "before" : "after",
               (unsigned long long)b->cursor);
    return 0;
}

struct visits {
    uint64_t pc, n;
};

static int count_visits(void *user, const struct trod_batch *batch, uint32_t i, uint32_t n,
                        uint64_t row)
{
    struct visits *c = user;

    (void)row;
    for (uint32_t k = i; k < i + n; k++)
        c->n += batch->kind[k] == TROD_INSTR && batch->addr[k] == c->pc;
    return 1;
}

/* Executions of the instruction at PC in rows up to LAST, as the index counts them. */
static int visits_to(struct browse *b, uint64_t pc, uint64_t last, uint64_t *n)
{
    const struct trod_match_need need = {
        .kinds = 1u << TROD_INSTR, .rows = {true, 0, last}, .pcs = {true, 1, {{pc, pc}}}};
    struct visits c = {.pc = pc};
    int rc = trod_nav_tally(b->nav, &need, count_visits, &c, n);

    *n += c.n;
    return rc;
}

int browse_visit(struct browse *b, uint64_t pc, bool back)
{
    const struct trod_nav_query q = {.access = TROD_NAV_VISITS, .lo = pc, .hi = pc};
    uint64_t here, all;
    char what[64];
    int rc;

    snprintf(what, sizeof what, "executions of 0x%llx", (unsigned long long)pc);
    rc = look(b, &q, what, back);
    /* which one it is is shown where that costs nothing: not read for */
    if (rc > 0 && b->only < 0 && trod_nav_index(b->nav) &&
        visits_to(b, pc, b->cursor, &here) == 0 && visits_to(b, pc, TROD_NOWHERE - 1, &all) == 0)
        browse_say(b, "execution %llu of %llu of 0x%llx", (unsigned long long)here,
                   (unsigned long long)all, (unsigned long long)pc);
    return rc;
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

/* LO..HI, each an address; or one address, or the bytes of a symbol. */
static bool bytes_of(struct browse *b, const char *what, struct trod_nav_query *q)
{
    const char *dots = strstr(what, "..");
    char low[256];
    uint64_t size = 0;

    if (dots && (size_t)(dots - what) < sizeof low) {
        snprintf(low, sizeof low, "%.*s", (int)(dots - what), what);
        return browse_address(b, low, &q->lo) && browse_address(b, dots + 2, &q->hi) &&
               q->lo <= q->hi;
    }
    if (b->opt.symbols && trod_symbols_address(b->opt.symbols, what, &q->lo, &size)) {
        q->hi = q->lo + (size ? size - 1 : 0);
        return true;
    }
    if (!strpbrk(what, "+-*<>( ") && (what[0] < '0' || what[0] > '9'))
        return false; /* a register itself, not what it points to */
    if (!browse_address(b, what, &q->lo))
        return false;
    q->hi = q->lo;
    return true;
}

void browse_query(struct browse *b, const char *what, unsigned access, struct trod_nav_query *out)
{
    *out = (struct trod_nav_query){.access = access};
    if (bytes_of(b, what, out))
        return;
    out->lo = out->hi = 0;
    out->reg = what;
    out->stream = stream_here(b);
    out->one_stream = trod_nav_meta(b->nav)->n_streams > 1;
}

int browse_access(struct browse *b, const char *what, unsigned access, bool back)
{
    struct trod_nav_query q;
    char text[128];

    snprintf(text, sizeof text, "%s of %s", access & TROD_NAV_WRITES ? "writes" : "reads", what);
    browse_query(b, what, access, &q);
    return look(b, &q, text, back);
}
