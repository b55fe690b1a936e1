/*
 * spread.c - where addresses lie. Implements spread.h.
 *
 * The key of a posting is the level (3 bits), the number of the piece, the kind (5 bits): a block
 * has pieces of instructions of one level, and of all other rows, the first at which they are few
 * enough.
 */
#include "navigate/spread.h"

#include "navigate/nav.h"
#include "navigate/tally.h"

#include <stdlib.h>
#include <string.h>

/* At the last level there are two pieces for each kind, for which there is always room. */
const uint8_t nav_spread_shift[NAV_SPREAD_LEVELS] = {8, 10, 12, 14, 17, 21, 30, 63};

enum { LEVEL_SHIFT = 61 };

/* The key of blocks with rows that may be anywhere: of no piece. */
#define ANYWHERE UINT64_MAX

static void begin(struct nav_pieces *s)
{
    s->last = NULL;
    s->n = 0;
    s->level = 0;
    s->shift = nav_spread_shift[0];
    s->turn++;
}

int nav_spread_init(struct nav_spread *s)
{
    memset(s, 0, sizeof *s);
    begin(&s->rows);
    begin(&s->code);
    return nav_within_init(&s->within);
}

void nav_spread_fini(struct nav_spread *s)
{
    nav_within_fini(&s->within);
}

static inline struct nav_spread_piece *place(struct nav_pieces *s, uint64_t key)
{
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40);

    for (;; at++) {
        struct nav_spread_piece *p = &s->piece[at % NAV_SPREAD_SLOTS];

        if (p->turn != s->turn || p->key == key)
            return p;
    }
}

/* COUNT rows more at KEY. False: there is no room for one more piece. */
static inline bool add(struct nav_pieces *s, uint64_t key, uint32_t count)
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
static void join(struct nav_pieces *s)
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
        const uint64_t kind = old[i].key % (1 << NAV_PIECE_KIND);

        add(s, old[i].key >> NAV_PIECE_KIND >> by << NAV_PIECE_KIND | kind, old[i].count);
    }
}

static inline uint64_t key_of(const struct nav_pieces *s, uint64_t addr, unsigned kind)
{
    return addr >> s->shift << NAV_PIECE_KIND | kind;
}

/* COUNT rows of KIND have the address ADDR. */
static void put(struct nav_pieces *s, uint64_t addr, unsigned kind, uint32_t count)
{
    while (!add(s, key_of(s, addr, kind), count))
        join(s);
}

void nav_spread_code(struct nav_spread *s, uint64_t addr, uint32_t count)
{
    put(&s->code, addr, TROD_INSTR, count);
}

static uint64_t level_of(const struct nav_pieces *s)
{
    return (uint64_t)s->level << LEVEL_SHIFT;
}

/* The postings of S, of BLOCK; the next one begins. */
static int end(struct nav_pieces *s, uint32_t block, struct nav_postings *out)
{
    int rc = nav_postings_room(out, s->n);

    for (uint32_t i = 0; rc == TROD_OK && i < NAV_SPREAD_SLOTS; i++) {
        const struct nav_spread_piece *p = &s->piece[i];

        if (p->turn == s->turn)
            rc = nav_postings_add(out, level_of(s) | p->key, block, p->count, 0);
    }
    begin(s);
    return rc;
}

static int ascending(const void *a, const void *b)
{
    const struct nav_spread_piece *const *p = a, *const *q = b;

    return (*p)->key < (*q)->key ? -1 : (*p)->key > (*q)->key;
}

/* The keys of S's pieces, whose ranks they get, to KEY. */
static void rank(struct nav_pieces *s, uint64_t key[NAV_SPREAD_MOST])
{
    struct nav_spread_piece *all[NAV_SPREAD_MOST];
    uint32_t n = 0;

    for (uint32_t i = 0; i < NAV_SPREAD_SLOTS; i++)
        if (s->piece[i].turn == s->turn)
            all[n++] = &s->piece[i];
    qsort(all, n, sizeof *all, ascending);
    for (uint32_t i = 0; i < n; i++) {
        all[i]->rank = i;
        key[i] = level_of(s) | all[i]->key;
    }
}

/* Count the rows of the block by piece, as postings added to OUT. */
static int put_rows(struct nav_spread *s, uint32_t block, struct nav_postings *out)
{
    struct nav_within *w = &s->within;
    uint64_t key[NAV_SPREAD_MOST];

    for (size_t i = 0; i < w->n; i++)
        put(&s->rows, w->at[i].addr, w->at[i].kind, w->at[i].count);
    rank(&s->rows, key);
    for (size_t i = 0; i < w->n; i++) {
        struct nav_within_entry *e = &w->at[i];

        e->rank = (uint16_t)place(&s->rows, key_of(&s->rows, e->addr, e->kind))->rank;
    }
    return nav_within_end(w, block, s->rows.shift, key, out);
}

int nav_spread_end(struct nav_spread *s, uint32_t block, struct nav_postings *out,
                   struct nav_postings *within)
{
    int rc = put_rows(s, block, within);

    if (rc == TROD_OK)
        rc = end(&s->rows, block, out);
    if (rc == TROD_OK)
        rc = end(&s->code, block, out);
    if (rc == TROD_OK && s->apart)
        rc = nav_postings_add(out, ANYWHERE, block, 1, 0);
    s->apart = false;
    return rc;
}

/* ---- questions */

/* Pieces of a level with an address in LO..HI: the first, the last; bits of an address below. */
struct part {
    uint64_t lo, hi, first, last, below;
    uint64_t level; /* where a key has it */
};

static struct part part_of(unsigned level, uint64_t lo, uint64_t hi)
{
    return (struct part){.lo = lo,
                         .hi = hi,
                         .first = lo >> nav_spread_shift[level],
                         .last = hi >> nav_spread_shift[level],
                         .below = (UINT64_C(1) << nav_spread_shift[level]) - 1,
                         .level = (uint64_t)level << LEVEL_SHIFT};
}

static uint64_t piece_of(const struct nav_posting *p)
{
    return (p->key & ((UINT64_C(1) << LEVEL_SHIFT) - 1)) >> NAV_PIECE_KIND;
}

static unsigned kind_of(const struct nav_posting *p)
{
    return p->key % (1 << NAV_PIECE_KIND);
}

/* Does LO..HI have some addresses of PIECE, which it reaches into, and not all? */
static bool is_cut(const struct part *part, uint64_t piece)
{
    return (piece == part->first && part->lo & part->below) ||
           (piece == part->last && (part->hi & part->below) != part->below);
}

/* The postings of PART in section ID from piece FIRST to LAST, after those of FOUND. */
static int look_up(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                   const struct part *part, uint64_t first, uint64_t last,
                   struct nav_postings *found)
{
    return nav_postings_range(x, s, id, part->level | first << NAV_PIECE_KIND,
                              part->level | last << NAV_PIECE_KIND | ((1 << NAV_PIECE_KIND) - 1),
                              found);
}

/* Rows of postings FOUND that are in no cut piece. Those that are stay, the first of FOUND. */
static void take_whole(struct nav_postings *found, const struct part *part, uint32_t from,
                       uint64_t *at)
{
    size_t n = 0;

    for (size_t i = 0; i < found->n; i++) {
        const struct nav_posting *p = &found->at[i];
        uint64_t *rows;

        if (kind_of(p) >= TROD_KINDS)
            continue;
        rows = &at[TROD_KINDS * (uint64_t)(p->block - from) + kind_of(p)];
        if (is_cut(part, piece_of(p)))
            found->at[n++] = *p;
        else if (*rows != UINT64_MAX)
            *rows += p->a;
    }
    found->n = n;
}

/*
 * Rows of P, which tells where in its piece they are, that are in LO..HI, of ALL that there are. Of
 * those up to the end of the piece the others are counted: what lies after LO is not looked at.
 */
static int count_within(const struct nav_postings *told, const struct nav_posting *p, uint64_t all,
                        const struct part *part, uint64_t *rows)
{
    const uint64_t piece = piece_of(p);
    const uint64_t lo = piece == part->first ? part->lo & part->below : 0;
    const uint64_t hi = piece == part->last ? part->hi & part->below : part->below;
    const bool rest = lo > 0 && hi == part->below;
    uint64_t n;
    const int rc = nav_within_count(told->payload.p + p->a, (size_t)p->b, rest ? 0 : lo,
                                    rest ? lo - 1 : hi, &n);

    if (rc == TROD_OK && rest && n > all)
        return TROD_ERR_CORRUPT;
    if (*rows != UINT64_MAX)
        *rows += rest ? all - n : n;
    return rc;
}

/*
 * CUT are postings of cut pieces, WITHIN the addresses in these, both in the same order: rows of
 * all kinds but instructions.
 */
static int take_within(const struct nav_postings *cut, const struct nav_postings *within,
                       const struct part *part, uint32_t from, uint64_t *at)
{
    size_t next = 0;
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < cut->n; i++) {
        const struct nav_posting *p = &cut->at[i];
        uint64_t *rows = &at[TROD_KINDS * (uint64_t)(p->block - from) + kind_of(p)];
        const struct nav_posting *told;

        if (kind_of(p) == TROD_INSTR)
            continue;
        while (next < within->n &&
               (within->at[next].key < p->key ||
                (within->at[next].key == p->key && within->at[next].block < p->block)))
            next++;
        told = next < within->n ? &within->at[next] : NULL;
        if (told && told->key == p->key && told->block == p->block)
            rc = count_within(within, told, p->a, part, rows);
        else
            *rows = UINT64_MAX;
    }
    return rc;
}

/* Instructions of cut pieces CUT, from address LO to HI, by the list of their addresses. */
static int take_sites(const struct nav_index *x, const struct nav_segment *s,
                      const struct nav_postings *cut, uint64_t lo, uint64_t hi, uint64_t *at)
{
    struct nav_postings found = {0};
    uint8_t *there = calloc((size_t)(s->to - s->from) + 1, 1);
    int rc = there ? TROD_OK : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < cut->n; i++)
        if (kind_of(&cut->at[i]) == TROD_INSTR)
            there[cut->at[i].block - s->from] = 1;
    if (rc == TROD_OK && memchr(there, 1, s->to - s->from))
        rc = nav_postings_range(x, s, NAV_S_SITES, lo, hi, &found);
    for (size_t i = 0; rc == TROD_OK && i < found.n; i++) {
        const struct nav_posting *p = &found.at[i];
        uint64_t *rows = &at[TROD_KINDS * (uint64_t)(p->block - s->from) + TROD_INSTR];

        if (there[p->block - s->from] && *rows != UINT64_MAX)
            *rows = p->key == NAV_ANY_SITE ? UINT64_MAX : *rows + p->a;
    }
    free(found.at);
    free(there);
    return rc;
}

/* What CUT, postings of one cut piece, has in LO..HI. */
static int take_cut(const struct nav_index *x, const struct nav_segment *s,
                    const struct nav_postings *cut, const struct part *part, uint64_t *at)
{
    const uint64_t piece = cut->n ? piece_of(&cut->at[0]) : 0, begin = piece * (part->below + 1);
    struct nav_postings within = {0};
    int rc = TROD_OK;

    if (cut->n)
        rc = look_up(x, s, NAV_S_WITHIN, part, piece, piece, &within);
    if (rc == TROD_OK)
        rc = take_within(cut, &within, part, s->from, at);
    if (rc == TROD_OK && cut->n)
        rc = take_sites(x, s, cut, begin > part->lo ? begin : part->lo,
                        begin + part->below < part->hi ? begin + part->below : part->hi, at);
    free(within.at);
    trod_buf_fini(&within.payload);
    return rc;
}

/* Rows of blocks whose pieces are those of PART. */
static int count_level(const struct nav_index *x, const struct nav_segment *s,
                       const struct part *part, struct nav_postings *found, uint64_t *at)
{
    size_t n = 0;
    int rc;

    found->n = 0;
    rc = look_up(x, s, NAV_S_SPREAD, part, part->first, part->last, found);
    if (rc < 0)
        return rc;
    take_whole(found, part, s->from, at);
    while (n < found->n && piece_of(&found->at[n]) == part->first)
        n++;
    rc = take_cut(x, s, &(const struct nav_postings){.at = found->at, .n = n}, part, at);
    if (rc == TROD_OK)
        rc = take_cut(x, s, &(const struct nav_postings){.at = found->at + n, .n = found->n - n},
                      part, at);
    return rc;
}

int nav_spread_count(const struct nav_index *x, const struct nav_segment *s, uint64_t lo,
                     uint64_t hi, uint64_t *at)
{
    struct nav_postings found = {0};
    int rc = TROD_OK;

    memset(at, 0, TROD_KINDS * (size_t)(s->to - s->from) * sizeof *at);
    for (unsigned level = 0; rc == TROD_OK && lo <= hi && level < NAV_SPREAD_LEVELS; level++) {
        const struct part part = part_of(level, lo, hi);

        rc = count_level(x, s, &part, &found, at);
    }
    free(found.at);
    return rc;
}

int nav_spread_may(const struct nav_index *x, const struct nav_segment *s, uint64_t lo, uint64_t hi,
                   uint32_t kinds, uint8_t *steps)
{
    struct nav_postings found = {0};
    int rc = nav_postings_find(x, s, NAV_S_SPREAD, ANYWHERE, &found);

    for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
        steps[found.at[i].block] = NAV_ALL_STEPS;
    lo = lo > NAV_SPREAD_REACH ? lo - NAV_SPREAD_REACH : 0;
    for (unsigned level = 0; rc == TROD_OK && lo <= hi && level < NAV_SPREAD_LEVELS; level++) {
        const struct part part = part_of(level, lo, hi);

        found.n = 0;
        rc = look_up(x, s, NAV_S_SPREAD, &part, part.first, part.last, &found);
        for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
            if (kinds >> found.at[i].key % (1 << NAV_PIECE_KIND) & 1)
                steps[found.at[i].block] = NAV_ALL_STEPS;
    }
    free(found.at);
    return rc;
}
