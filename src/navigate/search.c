/*
 * search.c - rows that may match a condition, chosen by the lists of an index and given to the
 * caller's function. Implements trod_nav_search, trod_nav_expect and trod_nav_tally.
 */
#include "navigate/index.h"
#include "navigate/nav.h"

#include <stdlib.h>
#include <string.h>

/* Whether the last instruction of each stream is one that is looked for. By stream + 1; 0: rows
 * without a stream. */
struct followed {
    uint8_t *inside;
    uint32_t n, open; /* streams; number of those whose last instruction is */
};

struct searching {
    struct trod_nav *nav;
    struct nav_candidates candidates;
    struct nav_candidates
        executed; /* where instructions are, if the condition is about a row's instruction */
    bool owners;
    uint64_t lo, hi;                 /* rows that may match */
    const struct nav_numbers *sites; /* rows belong to instructions there; NULL: to any */
    struct followed followed;
    struct nav_counts *counts; /* rows of blocks that need not be read; NULL: all are read */
    uint64_t counted;
    uint64_t before, behind;
    uint64_t from, to; /* rows that were found and not given to FN yet */
    uint64_t most;     /* limit of these; doubles each time, so that the first rows come at once */
    uint64_t next;     /* the row after those given to FN */
    bool over;
    trod_nav_rows_fn fn;
    void *user;
};

/* Row I of B is an instruction: the rows that follow it in its stream belong to it. */
static int follow(struct searching *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t stream = nav_has(b, i, TROD_COL_STREAM) ? b->stream[i] + 1 : 0;
    struct followed *f = &s->followed;
    bool inside = false;

    if (nav_has(b, i, TROD_COL_PC))
        inside = nav_numbers_have(s->sites, b->pc[i]);
    else if (nav_has(b, i, TROD_COL_ADDR))
        inside = nav_numbers_have(s->sites, b->addr[i]);
    if (stream >= f->n) {
        const uint32_t n = 2 * stream + 2;
        uint8_t *p = realloc(f->inside, n);

        if (!p)
            return TROD_ERR_NOMEM;
        memset(p + f->n, 0, n - f->n);
        f->inside = p;
        f->n = n;
    }
    f->open += (unsigned)inside - f->inside[stream];
    f->inside[stream] = inside;
    return TROD_OK;
}

static int rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    struct searching *s = user;
    int rc = TROD_OK;

    for (uint32_t k = i; s->sites && rc == TROD_OK && k < i + n; k++)
        if (b->kind[k] == TROD_INSTR)
            rc = follow(s, b, k);
    if (rc < 0)
        return rc;
    rc = s->fn(s->user, b, i, n, row);
    s->next = row + n;
    s->over = rc == 0;
    return rc;
}

/* Rows up to TO were given to FN: give it those after them that belong to the last instructions. */
static int deliver_owned(struct searching *s, uint64_t to)
{
    uint64_t behind = 0, more = 0, first, end;
    int rc = TROD_OK;

    while (rc == TROD_OK && !s->over && to != TROD_NOWHERE) {
        if (s->followed.open && to <= s->hi) {
            rc = nav_step_of(s->nav, to + more, 0, &first, &end);
            behind = s->behind;
            more = 2 * more + NAV_BEHIND;
        } else if (behind) {
            end = to + behind;
            behind = 0;
        } else {
            break;
        }
        if (rc >= 0)
            rc = nav_scan(s->nav, to, end, rows, s);
        to = end;
    }
    return rc < 0 ? rc : TROD_OK;
}

/* Give the rows that were found to FN. */
static int deliver(struct searching *s)
{
    const uint64_t from = s->from > s->next ? s->from : s->next, to = s->to;
    int rc;

    s->from = s->to = 0;
    if (s->over || from >= to)
        return TROD_OK;
    if (from != s->next && s->followed.n) {
        memset(s->followed.inside, 0, s->followed.n);
        s->followed.open = 0;
    }
    rc = nav_scan(s->nav, from, to, rows, s);
    return rc == TROD_OK && s->sites ? deliver_owned(s, to) : rc;
}

/*
 * Where reading begins so that the last instruction before row *FROM is read, of a trace of one
 * stream: with a step that has instructions.
 */
static int to_owner(struct searching *s, uint64_t *from)
{
    uint64_t first, end;
    int rc = nav_step_of(s->nav, *from, 0, &first, &end);

    for (*from = first; rc == 0 && first > 0; *from = first) {
        rc = nav_candidates_of(&s->executed, s->nav, nav_block_of(s->nav, first - 1));
        if (rc >= 0)
            rc = nav_step_of(s->nav, first - 1, rc, &first, &end);
    }
    return rc < 0 ? rc : TROD_OK;
}

/* Rows FROM to TO were found: add them, and the rows around them, to those to be given to FN. */
static int found(struct searching *s, uint64_t from, uint64_t to)
{
    int rc = TROD_OK;

    from = from > s->lo || s->sites ? from : s->lo;
    to = to - 1 < s->hi ? to : s->hi + 1;
    if (from >= to)
        return TROD_OK;
    if (s->owners && (rc = to_owner(s, &from)) < 0)
        return rc;
    from = from > s->before ? from - s->before : 0;
    to = to < TROD_NOWHERE - s->behind ? to + s->behind : TROD_NOWHERE;
    if (from > s->to || s->to == 0) {
        rc = deliver(s);
        s->from = from;
    }
    s->to = to;
    if (rc == TROD_OK && s->to - s->from >= s->most) {
        s->most *= 2;
        rc = deliver(s);
    }
    return rc;
}

/* Count the rows of block K by lists. Returns 1, 0 (the block has to be read) or an error. */
static int count_block(struct searching *s, size_t k)
{
    uint64_t n;
    int rc = s->counts ? nav_counts_of(s->counts, s->nav, k, &n) : 0;

    if (rc <= 0)
        return rc;
    rc = deliver(s); /* what lies before it */
    if (rc < 0 || s->over)
        return rc < 0 ? rc : 1;
    s->counted += n;
    s->next = nav_block_first(s->nav, k + 1);
    return 1;
}

static int block(struct searching *s, size_t k)
{
    uint64_t row = nav_block_first(s->nav, k), end;
    int rc = count_block(s, k), steps;

    if (rc != 0)
        return rc < 0 ? rc : TROD_OK;
    steps = rc = nav_candidates_of(&s->candidates, s->nav, k);
    while (rc > 0 && !s->over && (rc = nav_step_next(s->nav, k, steps, &row, &end)) > 0) {
        rc = found(s, row, end);
        rc = rc < 0 ? rc : 1;
        row = end;
    }
    return rc < 0 ? rc : TROD_OK;
}

/* Begin with rows from S->LO on, which may belong to an instruction before it. */
static int begin_owned(struct searching *s)
{
    uint64_t first;
    int rc = nav_step_of(s->nav, s->lo, 0, &first, &s->to);

    s->from = s->lo;
    if (rc >= 0)
        rc = to_owner(s, &s->from);
    return rc < 0 ? rc : TROD_OK;
}

/* The shapes and classes that are looked for, besides the need. */
struct choices {
    struct nav_shape_choice *shape_choice;
    struct nav_class_choice *class_choice;
};

/* Those of NAV to OUT and, where it is not NULL, to COUNTS, which uses classes in any case. */
static int make_choices(struct trod_nav *nav, struct nav_counts *counts, struct choices *out)
{
    int rc = TROD_OK;

    if (nav->classes || counts)
        rc = nav_class_choice_make(nav, &out->class_choice);
    if (rc == TROD_OK)
        rc =
            nav_shape_choice_make(nav, nav->classes ? out->class_choice : NULL, &out->shape_choice);
    if (counts) {
        counts->shape_choice = out->shape_choice;
        counts->class_choice = out->class_choice;
        counts->classes = nav->classes != NULL;
    }
    if (!nav->classes)
        out->class_choice = NULL;
    return rc;
}

static int search(struct searching *s, const struct trod_match_need *need,
                  const struct choices *choices)
{
    static const struct trod_match_need instructions = {.kinds = 1u << TROD_INSTR};
    int rc = nav_candidates_init(&s->candidates, s->nav, NULL, NULL);

    if (rc == TROD_OK)
        rc = nav_candidates_init(&s->executed, s->nav, NULL, NULL);
    s->candidates.need = need;
    s->candidates.only = s->sites;
    s->candidates.shape_choice = choices->shape_choice;
    s->candidates.class_choice = choices->class_choice;
    s->executed.need = &instructions;
    s->from = s->to = 0;
    s->most = NAV_BLOCK_ROWS;
    if (rc == TROD_OK && s->sites && s->lo > 0)
        rc = begin_owned(s);
    for (size_t k = nav_block_of(s->nav, s->next > s->lo ? s->next : s->lo);
         rc == TROD_OK && !s->over && k < nav_blocks(s->nav) && nav_block_first(s->nav, k) <= s->hi;
         k++)
        rc = block(s, k);
    if (rc == TROD_OK && !s->over)
        rc = deliver(s);
    nav_candidates_fini(&s->candidates);
    nav_candidates_fini(&s->executed);
    return rc;
}

/* How a search chooses the rows it reads. */
enum way {
    WAY_ROWS,   /* rows that may match */
    WAY_OWNERS, /* those, and the instruction before them: of a trace of one stream */
    WAY_OWNED,  /* instructions, and the rows that belong to them */
    WAY_ALL
};

static const struct trod_match_need anything = {.kinds = UINT32_MAX, .hi = UINT64_MAX};

/* The way to search for NEED; *BY: the conditions that choose blocks. */
static enum way way_to(const struct trod_nav *nav, const struct trod_match_need *need,
                       struct trod_match_need *by)
{
    *by = *need;
    if (!need->owners)
        return WAY_ROWS;
    if (nav->index && trod_nav_meta(nav)->n_streams <= 1)
        return WAY_OWNERS;
    *by = anything;
    if (!nav->index || !need->pcs.set)
        return WAY_ALL;
    by->kinds = need->kinds | 1u << TROD_INSTR;
    by->pcs = need->pcs;
    return WAY_OWNED;
}

/* Search by NEED, shapes and classes. */
static int search_by(struct searching *s, const struct trod_match_need *need)
{
    const bool one = s->nav->index && trod_nav_meta(s->nav)->n_streams <= 1;
    struct trod_match_need by;
    const enum way way = way_to(s->nav, need, &by);
    struct choices choices = {0};
    struct nav_numbers sites = {0};
    int rc = TROD_OK;

    s->owners = way == WAY_OWNERS;
    s->lo = need->rows.set && (one || !need->owners) ? need->rows.lo : 0;
    if (way == WAY_OWNED) {
        rc = nav_need_sites(s->nav->index, need, &sites);
        s->sites = &sites;
    } else if (way != WAY_ALL) {
        rc = make_choices(s->nav, s->counts, &choices);
    }
    if (rc == TROD_OK)
        rc = search(s, &by, &choices);
    s->sites = NULL;
    free(sites.at);
    return rc;
}

int trod_nav_search(struct trod_nav *nav, const struct trod_match_need *need, uint64_t before,
                    uint64_t after, trod_nav_rows_fn fn, void *user)
{
    struct searching s = {.nav = nav,
                          .hi = need->rows.set ? need->rows.hi : UINT64_MAX,
                          .before = before,
                          .behind = after,
                          .fn = fn,
                          .user = user};
    int rc = search_by(&s, need);

    if (nav_distrust(nav, rc))
        rc = search_by(&s, need);
    free(s.followed.inside);
    return rc;
}

/* How many rows of block B are in RANGE. */
static uint64_t rows_of(const struct nav_block *b, const struct trod_range *range)
{
    const uint64_t from = range->lo > b->row ? range->lo : b->row;
    const uint64_t last = range->hi < b->row + b->rows ? range->hi + 1 : b->row + b->rows;

    return from < last ? last - from : 0;
}

/* Estimate *ROWS, the rows that would be read. COUNTS: of blocks that need not be; NULL: all are.
 */
static int expect(struct trod_nav *nav, const struct trod_match_need *need,
                  struct nav_counts *counts, uint64_t *rows)
{
    struct trod_match_need by;
    const enum way way = way_to(nav, need, &by);
    const bool all = !nav->index || (way == WAY_ALL && !counts);
    struct nav_numbers sites = {0};
    struct choices choices = {0};
    struct nav_candidates c;
    int rc = nav_candidates_init(&c, nav, NULL, NULL);

    c.need = &by;
    if (rc == TROD_OK && way == WAY_OWNED) {
        rc = nav_need_sites(nav->index, need, &sites);
        c.only = &sites;
    } else if (rc == TROD_OK && !all) {
        rc = make_choices(nav, counts, &choices);
    }
    c.shape_choice = choices.shape_choice;
    c.class_choice = choices.class_choice;
    *rows = all ? TROD_NOWHERE : 0;
    for (size_t k = 0; rc >= 0 && !all && k < nav_blocks(nav); k++) {
        const struct nav_block *b = &nav->index->block[k];
        const uint64_t part = need->rows.set ? rows_of(b, &need->rows) : b->rows;
        const uint64_t step = part / NAV_STEPS;
        uint64_t n;

        if (part == 0)
            continue;
        rc = counts ? nav_counts_of(counts, nav, k, &n) : 0;
        if (rc != 0)
            continue;
        rc = nav_candidates_of(&c, nav, k);
        for (unsigned i = 0; rc > 0 && i < NAV_STEPS; i++)
            *rows += rc >> i & 1 ? step : 0;
    }
    nav_candidates_fini(&c);
    free(sites.at);
    return rc < 0 ? rc : TROD_OK;
}

int trod_nav_expect(struct trod_nav *nav, const struct trod_match_need *need, uint64_t *rows)
{
    const int rc = expect(nav, need, NULL, rows);

    return nav_distrust(nav, rc) ? expect(nav, need, NULL, rows) : rc;
}

/*
 * Are there counts for all blocks? Where rows go by the instruction before them, which a block
 * before has, blocks are not left out one by one.
 */
static bool count_all(struct trod_nav *nav, struct nav_counts *counts)
{
    uint64_t n;

    for (size_t k = 0; k < nav_blocks(nav); k++)
        if (nav_counts_of(counts, nav, k, &n) != 1)
            return false;
    return true;
}

/* What lists count for NEED: kept, so that an estimate and the count after it look it up once. */
struct nav_tallied {
    struct trod_match_need need;
    struct nav_counts counts; /* of NEED */
};

void nav_tallied_forget(struct trod_nav *nav)
{
    if (nav->tallied)
        nav_counts_fini(&nav->tallied->counts);
    free(nav->tallied);
    nav->tallied = NULL;
}

static bool same_range(const struct trod_range *a, const struct trod_range *b)
{
    return a->set == b->set && a->lo == b->lo && a->hi == b->hi;
}

static bool same_spans(const struct trod_match_spans *a, const struct trod_match_spans *b)
{
    bool same = a->set == b->set && a->n == b->n;

    for (uint32_t i = 0; same && i < a->n; i++)
        same = a->at[i].lo == b->at[i].lo && a->at[i].hi == b->at[i].hi;
    return same;
}

static bool same_need(const struct trod_match_need *a, const struct trod_match_need *b)
{
    return a->kinds == b->kinds && a->bounded == b->bounded && a->lo == b->lo && a->hi == b->hi &&
           a->reach == b->reach && same_range(&a->rows, &b->rows) &&
           same_range(&a->times, &b->times) && same_range(&a->numbers, &b->numbers) &&
           same_spans(&a->pcs, &b->pcs) && same_spans(&a->values, &b->values) &&
           a->owners == b->owners;
}

/* The counts that NAV keeps, for NEED. NULL: no memory. */
static struct nav_counts *counts_for(struct trod_nav *nav, const struct trod_match_need *need)
{
    struct nav_tallied *t = nav->tallied;

    if (t && same_need(&t->need, need))
        return &t->counts;
    nav_tallied_forget(nav);
    if (!(t = nav->tallied = calloc(1, sizeof *t)))
        return NULL;
    t->need = *need;
    return nav_counts_init(&t->counts, nav, &t->need) == TROD_OK ? &t->counts : NULL;
}

int trod_nav_tally(struct trod_nav *nav, const struct trod_match_need *need, trod_nav_rows_fn fn,
                   void *user, uint64_t *count)
{
    struct nav_counts *counts = counts_for(nav, need);
    struct searching s = {.nav = nav,
                          .hi = need->rows.set ? need->rows.hi : UINT64_MAX,
                          .counts = counts,
                          .fn = fn,
                          .user = user};
    int rc = counts ? TROD_OK : TROD_ERR_NOMEM;

    nav->tallies = true;
    *count = 0;
    if (counts)
        counts->shape_choice = NULL;
    if (rc == TROD_OK && need->owners && !count_all(nav, counts))
        s.counts = NULL;
    if (rc == TROD_OK && !fn) {
        rc = expect(nav, need, s.counts, count);
        rc = nav_distrust(nav, rc) ? expect(nav, need, s.counts, count) : rc;
    } else if (rc == TROD_OK) {
        rc = search_by(&s, need);
        rc = nav_distrust(nav, rc) ? search_by(&s, need) : rc;
        *count = s.counted;
    }
    free(s.followed.inside);
    return rc;
}
