/*
 * recall.c - what blocks left in memory, as an index keeps it. Implements the second part of
 * memory.h; how it is written is said in memory.c.
 */
#include "navigate/memory.h"
#include "navigate/tally.h"

#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

void nav_recall_init(struct nav_recall *r, const struct nav_index *x)
{
    memset(r, 0, sizeof *r);
    r->x = x;
    r->segment = UINT32_MAX;
}

void nav_recall_fini(struct nav_recall *r)
{
    free(r->at.at);
    free(r->at.order);
    free(r->first);
    free(r->key);
    free(r->since);
    trod_buf_fini(&r->at.payload);
}

bool nav_recall_can(const struct nav_recall *r, size_t k, bool big)
{
    const struct nav_index *x = r->x;

    return x && k < x->n_blocks && (x->block[k].flags & NAV_B_MEMORY) &&
           (x->endian == TROD_ENDIAN_BIG) == big;
}

/* The lines of L that are open, and that lists of segment S name, to R. Returns how many. */
static size_t take_lines(struct nav_recall *r, uint32_t s, const struct nav_lines *l)
{
    const size_t n = nav_lines_open(l, &r->key);
    size_t held = 0;

    for (size_t i = 0; r->key && i < n; i++) {
        struct nav_line *line = nav_lines_find(l, r->key[i]);

        if (line->held != s)
            continue;
        line->left = line->open;
        line->since = r->x->segment[s].from;
        r->key[held++] = r->key[i];
    }
    return held;
}

/*
 * How far back from block K the N lines of R go, by the lists of writes: to the block that writes
 * the last of their open bytes. Of memory in use that is not far.
 */
static void limit(struct nav_recall *r, size_t k, const struct nav_lines *l, size_t n)
{
    const uint32_t from = r->x->segment[r->segment].from;

    for (size_t left = n, at = k + 1; left && at-- > from;)
        for (size_t i = l->held_from[at - from]; i < l->held_from[at - from + 1]; i++) {
            const struct nav_posting *p = &l->held->at[l->held->order[i]];
            struct nav_line *line = p->key == NAV_ANY_LINE ? NULL : nav_lines_find(l, p->key);

            if (!line || !line->left)
                continue;
            line->left &= ~p->a;
            if (!line->left) {
                line->since = (uint32_t)at;
                left--;
            }
        }
}

/* The postings of N lines of R in its segment, from block K on to the side that L goes to. */
static int load(struct nav_recall *r, size_t k, const struct nav_lines *l, size_t n)
{
    const struct nav_segment *s = &r->x->segment[r->segment];
    const struct nav_blocks back = {.to = (uint32_t)k + 1, .since = r->since};
    const struct nav_blocks onwards = {.from = (uint32_t)k, .to = UINT32_MAX};
    int rc;

    for (size_t i = 0; i < n; i++)
        r->since[i] = nav_lines_find(l, r->key[i])->since;
    r->at.n = r->at.payload.n = 0;
    rc = nav_postings_in(r->x, s, NAV_S_MEMORY, r->key, n, l->forward ? &onwards : &back, &r->at);
    if (rc == TROD_OK)
        rc = nav_postings_by_block(&r->at, s, &r->first);
    if (rc < 0)
        r->segment = UINT32_MAX;
    return rc;
}

/*
 * Does block K have more of a line that is open than R looked for? What lists call written may not
 * have been: the access failed.
 */
static bool is_short(const struct nav_recall *r, size_t k, const struct nav_lines *l)
{
    const uint32_t from = r->x->segment[r->segment].from;

    for (size_t i = l->held_from[k - from]; r->limited && i < l->held_from[k - from + 1]; i++) {
        const struct nav_posting *p = &l->held->at[l->held->order[i]];
        const struct nav_line *line = p->key == NAV_ANY_LINE ? NULL : nav_lines_find(l, p->key);

        if (line && line->open && line->since > k)
            return true;
    }
    return false;
}

/* The postings of all lines of L that are open in the segment of block K, whose lists name them. */
static int enter(struct nav_recall *r, size_t k, const struct nav_lines *l)
{
    const struct nav_index *x = r->x;
    const uint32_t s = nav_index_segment(x, k);
    const bool again = r->segment == s;
    size_t n;

    if (again && !is_short(r, k, l))
        return TROD_OK;
    if (s == x->n_segments || !x->segment[s].memory)
        return TROD_ERR_CORRUPT;
    n = take_lines(r, s, l);
    if (!r->since)
        r->since = malloc(((size_t)l->n + 1) * sizeof *r->since);
    if (!r->key || !r->since)
        return TROD_ERR_NOMEM;
    r->segment = s;
    r->limited = !again && !l->forward;
    if (r->limited)
        limit(r, k, l, n);
    return load(r, k, l, n);
}

struct run {
    unsigned kind, at, n;
    uint64_t row;
    const uint8_t *value;
};

static bool next_run(struct trod_span *in, uint64_t *row, struct run *out)
{
    uint64_t d;

    if (in->n < 2)
        return false;
    out->kind = in->p[0] >> 6;
    out->at = in->p[0] & 63;
    out->n = in->p[1] + 1u;
    in->p += 2;
    in->n -= 2;
    if (out->at + out->n > NAV_LINE || trod_unpack(in, &d) < 0)
        return false;
    out->row = *row += d >> 1 ^ (d & 1 ? UINT64_MAX : 0);
    out->value = in->p;
    if (out->kind == NAV_RUN_UNSAID)
        return true;
    if (in->n < out->n)
        return false;
    in->p += out->n;
    in->n -= out->n;
    return true;
}

static void back(struct nav_byte *b, const struct run *run, unsigned i, uint64_t *only)
{
    switch (run->kind) {
    case NAV_RUN_WROTE:
    case NAV_RUN_UNSAID:
        b->write = run->row;
        b->written = run->kind == NAV_RUN_WROTE ? run->value[i] : 0;
        b->flags |= run->kind == NAV_RUN_WROTE ? NAV_WROTE_KNOWN : 0;
        break;
    case NAV_RUN_FIRST:
        if (!(*only >> (run->at + i) & 1))
            break;
        /* fall through */
    default:
        b->read = run->row;
        b->seen = run->value[i];
        b->flags |= NAV_READ_KNOWN;
        break;
    }
    *only &= ~(UINT64_C(1) << (run->at + i));
}

/* A write closes only what no read before it has: these runs come last. */
static void onwards(struct nav_byte *b, const struct run *run, unsigned i)
{
    if (run->kind == NAV_RUN_READ)
        return;
    b->flags |= NAV_CLOSED;
    if (run->kind != NAV_RUN_FIRST)
        return;
    b->flags |= NAV_LATER;
    b->read = run->row;
    b->seen = run->value[i];
}

/* What the N bytes at P tell of LINE; the block's first row is FIRST. */
static int apply(struct nav_lines *l, struct nav_line *line, const uint8_t *p, size_t n,
                 uint64_t first)
{
    struct trod_span in = {.p = p, .n = n};
    uint64_t row = first, only = UINT64_MAX, told;
    struct run run;

    if (!line->touched) {
        line->touched = true;
        l->touched[l->n_touched++] = line;
    }
    while (in.n) {
        if (!next_run(&in, &row, &run))
            return TROD_ERR_CORRUPT;
        told = line->open & UINT64_MAX >> (NAV_LINE - run.n) << run.at;
        if (!l->forward && (run.kind == NAV_RUN_READ || run.kind == NAV_RUN_FIRST))
            told &= ~line->seen; /* a later read has told it */
        line->hit |= told;
        for (; told; told &= told - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(told) - run.at;

            if (l->forward)
                onwards(&line->now[run.at + i], &run, i);
            else
                back(&line->now[run.at + i], &run, i, &only);
        }
    }
    return TROD_OK;
}

int nav_recall(struct nav_recall *r, size_t k, struct nav_lines *l)
{
    int rc = enter(r, k, l);
    const size_t from = rc == TROD_OK ? k - r->x->segment[r->segment].from : 0;

    for (size_t i = rc == TROD_OK ? r->first[from] : 0; rc == TROD_OK && i < r->first[from + 1];
         i++) {
        const struct nav_posting *p = &r->at.at[r->at.order[i]];
        struct nav_line *line = nav_lines_find(l, p->key);

        if (line && line->open)
            rc = apply(l, line, r->at.payload.p + p->a, (size_t)p->b, r->x->block[k].row);
    }
    return rc;
}
