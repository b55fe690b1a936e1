/*
 * touched.c - which bytes are touched between two places. Implements trod_nav_touched of
 * trod/navigate.h: by the lists of an index, or by reading the rows.
 */
#include "core/grow.h"
#include "core/map.h"
#include "navigate/index.h"
#include "navigate/tally.h"

#include <stdlib.h>

/* Bytes by line of memory. */
struct touched {
    struct line {
        uint64_t number, mask;
    } * at;
    size_t n, cap;
    struct trod_map map; /* of lines */
};

static void touched_fini(struct touched *t)
{
    free(t->at);
    trod_map_fini(&t->map);
}

static void forget(struct touched *t)
{
    t->n = 0;
    trod_map_clear(&t->map);
}

/* The bytes MASK of the line NUMBER. Returns 0, TROD_ERR_LIMIT or TROD_ERR_NOMEM. */
static int ask_mask(struct touched *t, uint64_t number, uint64_t mask)
{
    const uint32_t hash = trod_map_hash(number);
    uint32_t i;

    if (!mask)
        return TROD_OK;
    for (size_t at = hash; trod_map_next(&t->map, hash, &at, &i);)
        if (t->at[i].number == number) {
            t->at[i].mask |= mask;
            return TROD_OK;
        }
    if (t->n == TROD_NAV_MEMORY / NAV_LINE)
        return TROD_ERR_LIMIT;
    if (!trod_grow(&t->at, t->n, &t->cap, sizeof *t->at, 256) ||
        !trod_map_put(&t->map, hash, (uint32_t)t->n))
        return TROD_ERR_NOMEM;
    t->at[t->n++] = (struct line){number, mask};
    return TROD_OK;
}

/* N bytes from ADDR on. */
static int ask_bytes(struct touched *t, uint64_t addr, uint64_t n)
{
    int rc = TROD_OK;

    while (rc == TROD_OK && n) {
        const unsigned at = addr % NAV_LINE;
        const uint64_t some = n < NAV_LINE - at ? n : NAV_LINE - at;

        rc = ask_mask(t, addr / NAV_LINE, UINT64_MAX >> (NAV_LINE - some) << at);
        addr += some;
        n -= some;
    }
    return rc;
}

/* Bytes that rows write, or read with a value: what they find may be new. */
static int touch(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct touched *t = user;
    int rc = TROD_OK;

    (void)row;
    for (uint32_t end = i + n; rc == TROD_OK && i < end; i++) {
        struct nav_access a;

        if (nav_access_of(b, i, false, &a) && (a.writes || a.values))
            rc = ask_bytes(t, a.addr, a.size);
    }
    return rc < 0 ? rc : 1;
}

/* Blocks whose lists say what they touch. */
struct listed {
    const struct nav_index *x;
    uint32_t from, end;
    bool sure;  /* only those that are NAV_B_EXACT; else */
    bool vague; /* some were not */
};

/* The bytes that they touch of the line of posting *I of FOUND; *I goes on to the next line. */
static uint64_t mask_of(struct listed *b, const struct nav_postings *found, size_t *i)
{
    const uint64_t key = found->at[*i].key;
    uint64_t mask = 0;

    for (; *i < found->n && found->at[*i].key == key; ++*i) {
        const struct nav_posting *p = &found->at[*i];
        const uint64_t flags = b->x->block[p->block].flags;

        if (p->block < b->from || p->block >= b->end || (b->sure && !(flags & NAV_B_EXACT)))
            continue;
        b->vague |= !(flags & NAV_B_EXACT);
        mask |= p->a | (flags & NAV_B_SILENT ? 0 : p->b);
    }
    return mask;
}

/* Those of one segment. */
static int ask_segment(struct listed *b, const struct nav_postings *found, struct touched *t)
{
    const bool few = found->n <= TROD_NAV_MEMORY / NAV_LINE;
    uint64_t lines = 0;
    int rc = TROD_OK;

    for (size_t i = 0; !few && i < found->n;) { /* no room is made for what is too much anyway */
        const uint64_t key = found->at[i].key, mask = mask_of(b, found, &i);

        lines += key != NAV_ANY_LINE && mask != 0;
    }
    if (lines > TROD_NAV_MEMORY / NAV_LINE)
        return TROD_ERR_LIMIT;
    for (size_t i = 0; rc == TROD_OK && i < found->n;) {
        const uint64_t key = found->at[i].key, mask = mask_of(b, found, &i);

        rc = key != NAV_ANY_LINE ? ask_mask(t, key, mask) : mask != 0;
    }
    return rc;
}

/*
 * What blocks B touch, by the lists of the index: also bytes that accesses which leave nothing pass
 * over, and reads that do not say what they read, unless the block is NAV_B_EXACT. Returns 0, 1
 * (lists do not say it) or an error.
 */
static int ask_lists(struct listed *b, struct touched *t)
{
    const struct nav_index *x = b->x;
    struct nav_postings found = {0};
    int rc = TROD_OK;

    for (uint32_t s = nav_index_segment(x, b->from); rc == TROD_OK && s < x->n_segments; s++) {
        if (x->segment[s].from >= b->end)
            break;
        found.n = 0;
        rc = nav_postings_range(x, &x->segment[s], NAV_S_LINES, 0, NAV_ANY_LINE, &found);
        if (rc == TROD_OK)
            rc = ask_segment(b, &found, t);
    }
    free(found.at);
    return rc;
}

/* The bytes that rows FROM to END touch, those of whole blocks by lists. The same. */
static int ask_rows(struct trod_nav *nav, uint64_t from, uint64_t end, struct touched *t, bool sure,
                    bool *vague)
{
    const struct nav_index *x = nav->index;
    uint32_t k = (uint32_t)nav_block_of(nav, from), last = (uint32_t)nav_block_of(nav, end);
    struct listed listed = {.x = x, .end = last, .sure = sure};
    int rc = TROD_OK;

    k += from > x->block[k].row;
    listed.from = k;
    if (k >= last)
        return 1;
    if (from < x->block[k].row)
        rc = nav_scan(nav, from, x->block[k].row, touch, t);
    if (rc == TROD_OK)
        rc = ask_lists(&listed, t);
    *vague = listed.vague;
    return rc == TROD_OK ? nav_scan(nav, x->block[last].row, end, touch, t) : rc;
}

/*
 * The same, where lists say it. TROD_ERR_LIMIT: they are too many, even if there are fewer than
 * some of the lists say.
 */
static int ask_index(struct trod_nav *nav, uint64_t from, uint64_t end, struct touched *t)
{
    bool vague = false;
    int rc;

    if (!nav->index || !nav->index->n_blocks)
        return 1;
    rc = ask_rows(nav, from, end, t, false, &vague);
    if (rc != TROD_ERR_LIMIT || !vague)
        return rc;
    forget(t);
    rc = ask_rows(nav, from, end, t, true, &vague);
    return rc == TROD_OK ? 1 : rc;
}

static int by_number(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static int make_runs(struct touched *t, struct trod_nav_run **out, size_t *n)
{
    struct trod_nav_run *run = calloc(t->n * (NAV_LINE / 2) + 1, sizeof *run);
    size_t k = 0;

    if (!run)
        return TROD_ERR_NOMEM;
    if (t->n)
        qsort(t->at, t->n, sizeof *t->at, by_number);
    for (size_t i = 0; i < t->n; i++)
        for (unsigned at = 0; at < NAV_LINE; at++) {
            const uint64_t addr = t->at[i].number * NAV_LINE + at;

            if (!(t->at[i].mask >> at & 1))
                continue;
            if (k && run[k - 1].addr + run[k - 1].count == addr)
                run[k - 1].count++;
            else
                run[k++] = (struct trod_nav_run){addr, 1};
        }
    *out = run;
    *n = k;
    return TROD_OK;
}

static int touched(struct trod_nav *nav, uint64_t lo, uint64_t hi, struct trod_nav_run **out,
                   size_t *n)
{
    struct touched t = {.at = NULL};
    const uint64_t end = hi == TROD_NOWHERE ? hi : hi + 1;
    int rc = TROD_OK;

    *out = NULL;
    *n = 0;
    if (lo < hi)
        rc = ask_index(nav, lo + 1, end, &t);
    if (rc == 1) {
        forget(&t);
        rc = nav_scan(nav, lo + 1, end, touch, &t);
    }
    if (rc == TROD_ERR_LIMIT)
        trod_error(nav->diag, rc, "navigate.memory", NULL,
                   "more than %d bytes are touched between rows %llu and %llu: name some with "
                   "--memory",
                   TROD_NAV_MEMORY, (unsigned long long)lo, (unsigned long long)hi);
    if (rc == TROD_OK)
        rc = make_runs(&t, out, n);
    touched_fini(&t);
    return rc;
}

int trod_nav_touched(struct trod_nav *nav, uint64_t lo, uint64_t hi, struct trod_nav_run **out,
                     size_t *n)
{
    const int rc = touched(nav, lo, hi, out, n);

    return nav_distrust(nav, rc) ? touched(nav, lo, hi, out, n) : rc;
}
