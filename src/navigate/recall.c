/*
 * recall.c - what blocks left in memory, as an index keeps it. Implements the second part of
 * memory.h; how it is written is said in memory.c.
 */
#include "navigate/memory.h"

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
    free(r->first);
    free(r->key);
    trod_buf_fini(&r->at.payload);
}

bool nav_recall_can(const struct nav_recall *r, size_t k, bool big)
{
    const struct nav_index *x = r->x;

    return x && k < x->n_blocks && (x->block[k].flags & NAV_B_MEMORY) &&
           (x->endian == TROD_ENDIAN_BIG) == big;
}

/* The postings of all lines of L that are open in the segment of block K, whose lists name them. */
static int enter(struct nav_recall *r, size_t k, const struct nav_lines *l)
{
    const struct nav_index *x = r->x;
    const uint32_t s = nav_index_segment(x, k);
    size_t n, held = 0;
    int rc;

    if (r->segment == s)
        return TROD_OK;
    if (s == x->n_segments || !x->segment[s].memory)
        return TROD_ERR_CORRUPT;
    r->at.n = r->at.payload.n = 0;
    n = nav_lines_open(l, &r->key);
    if (n && !r->key)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (nav_lines_find(l, r->key[i])->held == s)
            r->key[held++] = r->key[i];
    rc = nav_postings_keys(x, &x->segment[s], NAV_S_MEMORY, r->key, held, &r->at);
    if (rc == TROD_OK)
        rc = nav_postings_by_block(&r->at, &x->segment[s], &r->first);
    r->segment = rc == TROD_OK ? s : UINT32_MAX;
    return rc;
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
        const struct nav_posting *p = &r->at.at[i];
        struct nav_line *line = nav_lines_find(l, p->key);

        if (line && line->open)
            rc = apply(l, line, r->at.payload.p + p->a, (size_t)p->b, r->x->block[k].row);
    }
    return rc;
}
