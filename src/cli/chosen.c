/*
 * chosen.c - rows of a trace to move about in that an expression chooses. Implements chosen.h.
 */
#include <string.h>

#include "chosen.h"

enum { PART = 1 << 16 }; /* rows: parts of an indexed trace, and gaps in it that are skipped */

struct choosing {
    struct cli_nav *n;
    const char *expression;
    struct trod_where *where;
    bool owners; /* it looks at pc, which rows before a row may say */
    uint8_t keep[TROD_BATCH_ROWS];
};

static int begin(struct choosing *c)
{
    const struct trod_where_options opt = {.struct_size = sizeof opt, .symbols = c->n->symbols};
    int r = trod_where_new(&c->where, c->expression, &opt, &c->n->diag);

    if (r == 0)
        c->owners = trod_where_want(c->where) & TROD_COL_PC;
    return r;
}

int cli_chosen_check(struct cli_nav *n, const char *expression)
{
    struct choosing c = {.n = n, .expression = expression};
    int r = begin(&c);

    trod_where_free(c.where);
    return r;
}

/* Can reading begin near any row? */
static bool jumps(const struct choosing *c)
{
    return !c->owners && trod_nav_index(c->n->nav);
}

/* Problems of the trace are reported by the caller, which reads more than rows. */
static int open_at(const struct choosing *c, uint64_t row, struct trod_trace **t, uint64_t *first)
{
    return trod_nav_trace(c->n->nav, c->owners ? 0 : row, trod_where_want(c->where), NULL, t,
                          first);
}

static int judge(struct choosing *c, const struct trod_batch *b, uint64_t first)
{
    memset(c->keep, 1, b->n);
    return trod_where_batch(c->where, b, first, c->keep);
}

static int failed(struct cli_nav *n, int r)
{
    if (r >= 0 || r == TROD_ERR_USAGE || r == TROD_ERR_NOMEM)
        return r;
    return trod_error(&n->diag, r, "navigate.where", NULL,
                      "the rows that '--where' chooses from cannot be read");
}

/* The last row of LO to HI (not among them) for which it holds, to *FOUND. */
static int scan(struct choosing *c, uint64_t lo, uint64_t hi, uint64_t *found)
{
    struct trod_trace *t = NULL;
    struct trod_batch *b;
    uint64_t first = 0;
    int r = open_at(c, lo, &t, &first);

    while (r >= 0 && first < hi && (r = trod_trace_next(t, &b)) > 0) {
        r = judge(c, b, first);
        for (uint32_t i = b->n; r > 0 && i-- > 0;)
            if (c->keep[i] && first + i >= lo && first + i < hi) {
                *found = first + i;
                break;
            }
        first += b->n;
    }
    trod_trace_close(t);
    return r < 0 ? r : 0;
}

int cli_chosen_last(struct cli_nav *n, const char *expression, uint64_t *row)
{
    struct choosing c = {.n = n, .expression = expression};
    uint64_t hi = *row + 1, found = TROD_NOWHERE, part = PART;
    int r = begin(&c);

    while (r == 0 && found == TROD_NOWHERE && hi > 0) {
        const uint64_t lo = jumps(&c) && hi > part ? hi - part : 0;

        r = scan(&c, lo, hi, &found);
        trod_where_free(c.where); /* it is judged forwards only */
        c.where = NULL;
        hi = lo;
        part = part < UINT64_MAX / 4 ? 4 * part : part;
        if (r == 0 && hi > 0 && found == TROD_NOWHERE)
            r = begin(&c);
    }
    trod_where_free(c.where);
    if (r == 0 && found == TROD_NOWHERE)
        return trod_error(&n->diag, TROD_ERR_USAGE, "navigate.where", NULL,
                          "'--where' holds for no row up to row %llu", (unsigned long long)*row);
    *row = found;
    return failed(n, r);
}

int cli_chosen_rows(struct cli_nav *n, const char *expression, const uint64_t *row, size_t k,
                    uint8_t *holds)
{
    struct choosing c = {.n = n, .expression = expression};
    struct trod_trace *t = NULL;
    struct trod_batch *b;
    uint64_t first = 0;
    size_t i = 0;
    int r = begin(&c);

    memset(holds, 0, k);
    while (r >= 0 && i < k) {
        if (!t || (jumps(&c) && row[i] > first && row[i] - first > PART)) {
            trod_trace_close(t);
            t = NULL;
            if ((r = open_at(&c, row[i], &t, &first)) < 0)
                break;
        }
        if ((r = trod_trace_next(t, &b)) <= 0)
            break;
        if ((c.owners || row[i] < first + b->n) && (r = judge(&c, b, first)) < 0)
            break;
        for (; i < k && row[i] < first + b->n; i++)
            holds[i] = c.keep[row[i] - first];
        first += b->n;
    }
    trod_trace_close(t);
    trod_where_free(c.where);
    return r < 0 ? failed(n, r) : 0;
}
