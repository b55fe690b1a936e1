/*
 * tables.c - blocks of memory that are counted (hot.h).
 *
 * Blocks lie in groups of neighbours, which are found by a hash table. What 32 bits do not hold,
 * and accesses that touch the block before, too, are counted by lines of their own.
 *
 * Blocks of memory may be limited in number: where there are more, two neighbours become one, until
 * there are no more than that. How large blocks become depends on what was touched, not on the
 * order, so that parts of a trace give what the whole gives. An access that touches two blocks
 * counts in both; how many of a block's accesses touch the one before it too is kept, so that they
 * count once where the two become one.
 */
#include "analysis/hot/hot.h"

#include "core/grow.h"
#include "core/wide.h"
#include "trod/streak.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 8 };

void hot_lines_free(struct hot_lines *t)
{
    free(t->group);
    free(t->count);
    free(t->place);
    free(t->more);
    *t = (struct hot_lines){.shift = t->shift};
}

/* ---- groups */

/* The place of group NUMBER, or the empty one where it belongs. */
static inline struct hot_place *place_of(struct hot_place *place, size_t n, unsigned hash,
                                         uint64_t number)
{
    size_t i = trod_table_home(number, hash);

    while (place[i].number != number && place[i].number != HOT_NOWHERE)
        i = (i + 1) & (n - 1);
    return &place[i];
}

static int grow_places(struct hot_lines *t)
{
    const size_t n = t->n_places ? 2 * t->n_places : (size_t)1 << FIRST_BITS;
    const unsigned hash = t->n_places ? t->hash - 1 : 64 - FIRST_BITS;
    struct hot_place *to = malloc(n * sizeof *to);

    if (!to)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        to[i].number = HOT_NOWHERE;
    for (size_t i = 0; i < t->n_groups; i++)
        *place_of(to, n, hash, t->group[i].number) =
            (struct hot_place){t->group[i].number, i * HOT_GROUP};
    free(t->place);
    t->place = to;
    t->n_places = n;
    t->hash = hash;
    return TROD_OK;
}

/* The counter of block NUMBER, made where there is none. NULL: no memory. */
static uint32_t *counter_of(struct hot_lines *t, uint64_t number)
{
    const uint64_t group = number / HOT_GROUP;
    struct hot_place *p;
    size_t at;

    if (2 * t->n_groups >= t->n_places && grow_places(t) < 0)
        return NULL;
    p = place_of(t->place, t->n_places, t->hash, group);
    if (p->number == HOT_NOWHERE) {
        at = t->n_groups * HOT_GROUP;
        if (!trod_grow(&t->group, t->n_groups, &t->cap_groups, sizeof *t->group, HOT_GROUP) ||
            !trod_grow(&t->count, at, &t->cap_count, sizeof *t->count, HOT_GROUP * HOT_GROUP))
            return NULL;
        memset(t->count + at, 0, HOT_GROUP * sizeof *t->count);
        t->group[t->n_groups++] = (struct hot_group){.number = group};
        *p = (struct hot_place){group, at};
    }
    return &t->count[p->at + number % HOT_GROUP];
}

/* ---- what groups do not hold */

/* The place of block NUMBER, or the empty one where it belongs. */
static struct hot_line *more_of(const struct hot_lines *t, uint64_t number)
{
    size_t i = trod_table_home(number, t->hash_more);

    while (t->more[i].number != number && t->more[i].n)
        i = (i + 1) & (t->size_more - 1);
    return &t->more[i];
}

static int grow_more(struct hot_lines *t)
{
    const struct hot_lines old = *t;

    t->size_more = old.size_more ? 2 * old.size_more : (size_t)1 << FIRST_BITS;
    t->hash_more = old.size_more ? old.hash_more - 1 : 64 - FIRST_BITS;
    t->more = calloc(t->size_more, sizeof *t->more);
    if (!t->more) {
        *t = old;
        return TROD_ERR_NOMEM;
    }
    for (size_t i = 0; i < old.size_more; i++)
        if (old.more[i].n)
            *more_of(t, old.more[i].number) = old.more[i];
    free(old.more);
    return TROD_OK;
}

static int add_more(struct hot_lines *t, uint64_t number, uint64_t n, uint64_t joined)
{
    struct hot_line *p;

    if (2 * t->n_more >= t->size_more && grow_more(t) < 0)
        return TROD_ERR_NOMEM;
    p = more_of(t, number);
    t->n_more += p->n == 0;
    p->number = number;
    p->n += n;
    p->joined += joined;
    return TROD_OK;
}

/* ---- blocks */

/* LINE on top of what T has, however many blocks there become. */
static int add_line(struct hot_lines *t, const struct hot_line *line)
{
    uint32_t *count = counter_of(t, line->number);
    const uint64_t bit = UINT64_C(1) << line->number % HOT_GROUP;
    const uint64_t alone = line->n - line->joined;
    struct hot_group *g;
    bool fits;

    if (!count)
        return TROD_ERR_NOMEM;
    g = &t->group[(size_t)(count - t->count) / HOT_GROUP];
    fits = alone <= UINT32_MAX - *count;
    if ((line->joined || !fits) &&
        add_more(t, line->number, fits ? line->joined : line->n, line->joined) < 0)
        return TROD_ERR_NOMEM;
    t->n += *count == 0 && !(g->more & bit);
    if (line->joined || !fits)
        g->more |= bit;
    if (fits)
        *count += (uint32_t)alone;
    return TROD_OK;
}

bool hot_lines_next(const struct hot_lines *t, size_t *at, struct hot_line *line)
{
    for (size_t i = *at; i < t->n_groups * HOT_GROUP; i++) {
        const struct hot_group *g = &t->group[i / HOT_GROUP];
        const unsigned k = i % HOT_GROUP;

        if (!t->count[i] && !(g->more >> k & 1))
            continue;
        *line = (struct hot_line){.number = g->number * HOT_GROUP + k};
        if (g->more >> k & 1)
            *line = *more_of(t, line->number);
        line->n += t->count[i];
        *at = i + 1;
        return true;
    }
    *at = t->n_groups * HOT_GROUP;
    return false;
}

/*
 * What LINE, a block of 1 << SHIFT bytes, is of a block of T, which is not smaller. Of one all of
 * whose accesses touch the one before it, which becomes part of the same block, nothing is left.
 */
static struct hot_line part_of(const struct hot_lines *t, const struct hot_line *line,
                               unsigned shift)
{
    const unsigned wider = t->shift - shift;
    const bool inside = line->number & ((UINT64_C(1) << wider) - 1);

    return (struct hot_line){.number = line->number >> wider,
                             .n = inside ? line->n - line->joined : line->n,
                             .joined = inside ? 0 : line->joined};
}

int hot_lines_copy(struct hot_lines *to, const struct hot_lines *t, unsigned shift)
{
    struct hot_line line, sum = {.n = 0};
    int rc = TROD_OK;

    *to = (struct hot_lines){.shift = shift > t->shift ? shift : t->shift};
    for (size_t at = 0; rc == TROD_OK && hot_lines_next(t, &at, &line);) {
        const struct hot_line part = part_of(to, &line, t->shift);

        if (sum.n && part.number != sum.number) {
            rc = add_line(to, &sum);
            sum = part;
            continue;
        }
        sum.number = part.number; /* neighbours come one behind the other */
        sum.n += part.n;
        sum.joined += part.joined;
    }
    return rc == TROD_OK && sum.n ? add_line(to, &sum) : rc;
}

/* Make the blocks of T as large as 1 << SHIFT. */
static int coarsen(struct hot_lines *t, unsigned shift)
{
    struct hot_lines to;

    if (shift <= t->shift)
        return TROD_OK;
    if (hot_lines_copy(&to, t, shift) < 0) {
        hot_lines_free(&to);
        return TROD_ERR_NOMEM;
    }
    hot_lines_free(t);
    *t = to;
    return TROD_OK;
}

/* Make the blocks of T larger until there are MOST at the most; 0: any number. */
static int limit(struct hot_lines *t, uint64_t most)
{
    while (most && t->n > most && t->shift < 63)
        if (coarsen(t, t->shift + 1) < 0)
            return TROD_ERR_NOMEM;
    return TROD_OK;
}

int hot_line_add(struct hot_lines *t, const struct hot_line *line, uint64_t most)
{
    return add_line(t, line) < 0 ? TROD_ERR_NOMEM : limit(t, most);
}

int hot_lines_touch(struct hot_lines *t, uint64_t addr, uint64_t size, uint64_t n, uint64_t most)
{
    unsigned shift = t->shift;
    uint64_t last = addr + size - 1, joined = 0;

    /* an access of no bytes touches the block that it lies in, unless it lies at its beginning */
    if (size == 0 && !(addr & ((UINT64_C(1) << shift) - 1)))
        return TROD_OK;
    if (last < addr && size) /* around the end of the address space */
        last = UINT64_MAX;
    for (uint64_t b = addr >> shift;; b++, joined = n) {
        if (hot_line_add(t, &(struct hot_line){b, n, joined}, most) < 0)
            return TROD_ERR_NOMEM;
        b >>= t->shift - shift; /* which may have become larger */
        shift = t->shift;
        if (b >= last >> shift)
            return TROD_OK;
    }
}

/* Counters of so many groups are not in the nearest caches; accesses that are looked at ahead. */
enum { FAR = 1 << 10, AHEAD = 12 };

/* The place of block NUMBER's group, or the empty one where it belongs. */
TROD_HOT const struct hot_place *group_of(const struct hot_lines *t, uint64_t number)
{
    return place_of(t->place, t->n_places, t->hash, number / HOT_GROUP);
}

/* ADDR is going to be accessed: its counter, if its group has one, is fetched into the caches. */
TROD_HOT void expect(const struct hot_lines *t, uint64_t addr)
{
    const uint64_t number = addr >> t->shift;
    const struct hot_place *p = group_of(t, number);

    if (p->number != HOT_NOWHERE)
        __builtin_prefetch(&t->count[p->at + number % HOT_GROUP], 1);
}

/*
 * One more access of the bytes [ADDR, ADDR + SIZE). False: it is no simple case, and nothing is
 * done.
 */
static inline bool count_inside(struct hot_lines *t, uint64_t addr, uint32_t size, uint64_t most)
{
    const uint64_t inside = (UINT64_C(1) << t->shift) - 1, number = addr >> t->shift;
    const struct hot_place *p = group_of(t, number);
    uint32_t *count;

    /* an access of no bytes is inside of the block that it does not lie at the beginning of */
    if (p->number == HOT_NOWHERE || (addr & inside) + size - 1 > inside)
        return false;
    count = &t->count[p->at + number % HOT_GROUP];
    if (*count + 1 > 1) { /* it is neither 0 nor as large as it may be */
        ++*count;
        return true;
    }
    if (*count == 0 && !most && !(t->group[p->at / HOT_GROUP].more >> number % HOT_GROUP & 1)) {
        *count = 1;
        t->n++;
        return true;
    }
    return false;
}

int hot_lines_rows(struct hot_lines *table, const struct trod_batch *b, uint32_t from, uint32_t to,
                   uint64_t most)
{
    const uint8_t *const restrict kind = b->kind;
    const uint64_t *const restrict addr = b->addr;
    const uint32_t *const restrict size = b->size;
    const bool far = table->n_groups >= FAR;
    struct hot_lines t;
    uint32_t n;
    const uint16_t *const access = trod_streak_accesses(b, from, to, &n);

    if (!table->n_places && grow_places(table) < 0)
        return TROD_ERR_NOMEM;
    t = *table;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = access[i];

        if (far && i + AHEAD < n)
            expect(&t, addr[access[i + AHEAD]]);
        if (kind[row] > TROD_PREFETCH || count_inside(&t, addr[row], size[row], most))
            continue;
        table->n = t.n;
        if (hot_lines_touch(table, addr[row], size[row], 1, most) < 0)
            return TROD_ERR_NOMEM;
        t = *table;
    }
    table->n = t.n;
    return TROD_OK;
}

int hot_lines_merge(struct hot_lines *into, const struct hot_lines *from, uint64_t most)
{
    struct hot_line line;
    int rc = coarsen(into, from->shift);

    for (size_t at = 0; rc == TROD_OK && hot_lines_next(from, &at, &line);) {
        const struct hot_line part = part_of(into, &line, from->shift);

        rc = part.n ? hot_line_add(into, &part, most) : TROD_OK;
    }
    return rc;
}
