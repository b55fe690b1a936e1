/*
 * spread.c - where addresses lie. Implements spread.h.
 *
 * The key of a posting is the level (3 bits), the number of the piece, the kind (5 bits): a block
 * has pieces of one level, the first at which they are few enough.
 */
#include "navigate/spread.h"

#include "navigate/nav.h"

#include <stdlib.h>
#include <string.h>

/* At the last level there are two pieces for each kind, for which there is always room. */
const uint8_t nav_spread_shift[NAV_SPREAD_LEVELS] = {8, 10, 12, 14, 17, 21, 30, 63};

enum { KIND_BITS = 5, LEVEL_SHIFT = 61 };

/* The key of blocks with rows that may be anywhere: of no piece. */
#define ANYWHERE UINT64_MAX

void nav_spread_init(struct nav_spread *s)
{
    memset(s, 0, sizeof *s);
    s->turn = 1;
    s->shift = nav_spread_shift[0];
}

static inline struct nav_spread_piece *place(struct nav_spread *s, uint64_t key)
{
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (;; at++) {
        struct nav_spread_piece *p = &s->piece[at % NAV_SPREAD_SLOTS];

        if (p->turn != s->turn || p->key == key)
            return p;
    }
}

/* COUNT rows more at KEY. False: there is no room for one more piece. */
static inline bool add(struct nav_spread *s, uint64_t key, uint32_t count)
{
    struct nav_spread_piece *p = s->last;

    if (p && p->key == key) {
        p->count += count;
        return true;
    }
    p = place(s, key);
    if (p->turn != s->turn) {
        if (s->n == NAV_SPREAD_MOST)
            return false;
        s->n++;
        *p = (struct nav_spread_piece){.key = key, .turn = s->turn};
    }
    p->count += count;
    s->last = p;
    return true;
}

/* Pieces become larger ones. */
static void join(struct nav_spread *s)
{
    struct nav_spread_piece old[NAV_SPREAD_MOST];
    const unsigned by = nav_spread_shift[s->level + 1] - nav_spread_shift[s->level];
    uint32_t n = 0;

    for (uint32_t i = 0; i < NAV_SPREAD_SLOTS; i++)
        if (s->piece[i].turn == s->turn)
            old[n++] = s->piece[i];
    s->shift = nav_spread_shift[++s->level];
    s->turn++;
    s->n = 0;
    s->last = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t kind = old[i].key % (1 << KIND_BITS);

        add(s, old[i].key >> KIND_BITS >> by << KIND_BITS | kind, old[i].count);
    }
}

void nav_spread_add(struct nav_spread *s, uint64_t addr, unsigned kind, uint32_t count)
{
    while (!add(s, addr >> s->shift << KIND_BITS | kind, count))
        join(s);
}

int nav_spread_end(struct nav_spread *s, uint32_t block, struct nav_postings *out)
{
    const uint64_t level = (uint64_t)s->level << LEVEL_SHIFT;
    int rc = nav_postings_room(out, s->n);

    for (uint32_t i = 0; rc == TROD_OK && i < NAV_SPREAD_SLOTS; i++) {
        const struct nav_spread_piece *p = &s->piece[i];

        if (p->turn == s->turn)
            rc = nav_postings_add(out, level | p->key, block, p->count, 0);
    }
    if (rc == TROD_OK && s->apart)
        rc = nav_postings_add(out, ANYWHERE, block, 1, 0);
    s->apart = false;
    s->last = NULL;
    s->n = 0;
    s->level = 0;
    s->shift = nav_spread_shift[0];
    s->turn++;
    return rc;
}

/* ---- questions */

/* A level: the first and the last piece with an address in LO..HI; whether all of theirs are. */
struct part {
    uint64_t first, last;
    bool first_all, last_all;
};

static struct part part_of(unsigned level, uint64_t lo, uint64_t hi)
{
    const uint64_t below = (UINT64_C(1) << nav_spread_shift[level]) - 1;

    return (struct part){.first = lo >> nav_spread_shift[level],
                         .last = hi >> nav_spread_shift[level],
                         .first_all = (lo & below) == 0,
                         .last_all = (hi & below) == below};
}

static void take(const struct nav_posting *p, const struct part *part, uint32_t from, uint64_t *at)
{
    const uint64_t piece = (p->key & ((UINT64_C(1) << LEVEL_SHIFT) - 1)) >> KIND_BITS;
    const uint64_t kind = p->key % (1 << KIND_BITS);
    uint64_t *n;

    if (kind >= TROD_KINDS)
        return;
    n = &at[TROD_KINDS * (uint64_t)(p->block - from) + kind];
    if ((piece == part->first && !part->first_all) || (piece == part->last && !part->last_all))
        *n = UINT64_MAX;
    else if (*n != UINT64_MAX)
        *n += p->a;
}

/* The postings of LEVEL of pieces with an address in LO..HI to FOUND; *PART: which these are. */
static int look_up(const struct nav_index *x, const struct nav_segment *s, unsigned level,
                   uint64_t lo, uint64_t hi, struct part *part, struct nav_postings *found)
{
    const uint64_t above = (uint64_t)level << LEVEL_SHIFT;

    *part = part_of(level, lo, hi);
    found->n = 0;
    return nav_postings_range(x, s, NAV_S_SPREAD, above | part->first << KIND_BITS,
                              above | part->last << KIND_BITS | ((1 << KIND_BITS) - 1), found);
}

int nav_spread_count(const struct nav_index *x, const struct nav_segment *s, uint64_t lo,
                     uint64_t hi, uint64_t *at)
{
    struct nav_postings found = {0};
    struct part part;
    int rc = TROD_OK;

    memset(at, 0, TROD_KINDS * (size_t)(s->to - s->from) * sizeof *at);
    for (unsigned level = 0; rc == TROD_OK && lo <= hi && level < NAV_SPREAD_LEVELS; level++) {
        rc = look_up(x, s, level, lo, hi, &part, &found);
        for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
            take(&found.at[i], &part, s->from, at);
    }
    free(found.at);
    return rc;
}

int nav_spread_may(const struct nav_index *x, const struct nav_segment *s, uint64_t lo, uint64_t hi,
                   uint32_t kinds, uint8_t *steps)
{
    struct nav_postings found = {0};
    struct part part;
    int rc = nav_postings_find(x, s, NAV_S_SPREAD, ANYWHERE, &found);

    for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
        steps[found.at[i].block] = NAV_ALL_STEPS;
    lo = lo > NAV_SPREAD_REACH ? lo - NAV_SPREAD_REACH : 0;
    for (unsigned level = 0; rc == TROD_OK && lo <= hi && level < NAV_SPREAD_LEVELS; level++) {
        rc = look_up(x, s, level, lo, hi, &part, &found);
        for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
            if (kinds >> found.at[i].key % (1 << KIND_BITS) & 1)
                steps[found.at[i].block] = NAV_ALL_STEPS;
    }
    free(found.at);
    return rc;
}
