/*
 * tables.c - counted blocks of memory (hot.h).
 *
 * Blocks lie in groups of neighbours, which are found by a hash table. Counts beyond 32 bits, and
 * accesses that also touch the block before, are kept in lines of their own.
 *
 * The number of blocks may be limited: where there are more, two neighbours are joined, until there
 * are few enough. How large blocks become depends on the memory that was touched, not on the order,
 * so that parts of a trace give the result of the whole. An access that touches two blocks counts
 * in both; how many of a block's accesses also touch the one before it is kept, so that they count
 * once when the two are joined.
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
    hot_wide_free(&t->wide);
    *t = (struct hot_lines){.shift = t->shift, .line = t->line};
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

/* Add LINE to T, however many blocks that makes. */
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

/* Block I of T to *LINE. False: nothing touched it. */
static bool line_at(const struct hot_lines *t, size_t i, struct hot_line *line)
{
    const struct hot_group *g = &t->group[i / HOT_GROUP];
    const bool more = g->more >> i % HOT_GROUP & 1;

    if (!t->count[i] && !more)
        return false;
    *line = (struct hot_line){.number = g->number * HOT_GROUP + i % HOT_GROUP};
    if (more)
        *line = *more_of(t, line->number);
    line->n += t->count[i];
    return true;
}

bool hot_lines_next(const struct hot_lines *t, size_t *at, uint64_t least, struct hot_line *line)
{
    for (size_t i = *at; i < t->n_groups * HOT_GROUP; i++)
        if ((t->count[i] >= least || t->group[i / HOT_GROUP].more >> i % HOT_GROUP & 1) &&
            line_at(t, i, line) && line->n >= least) {
            *at = i + 1;
            return true;
        }
    *at = t->n_groups * HOT_GROUP;
    return false;
}

bool hot_lines_has(const struct hot_lines *t, uint64_t number)
{
    const struct hot_place *p =
        t->n_places ? place_of(t->place, t->n_places, t->hash, number / HOT_GROUP) : NULL;
    struct hot_line line;

    return p && p->number != HOT_NOWHERE && line_at(t, p->at + number % HOT_GROUP, &line);
}

/* Accesses that the counters of group G have. */
static uint64_t counted(const struct hot_lines *t, size_t g)
{
    const uint32_t *count = t->count + g * HOT_GROUP;
    uint64_t sum = 0;

    for (size_t k = 0; k < HOT_GROUP; k++)
        sum += count[k];
    return sum;
}

uint64_t hot_lines_touches(const struct hot_lines *t)
{
    uint64_t sum = hot_wide_touches(&t->wide);

    for (size_t g = 0; g < t->n_groups; g++)
        sum += counted(t, g);
    for (size_t i = 0; i < t->size_more; i++)
        sum += t->more[i].n;
    return sum;
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

/* Add group G of T to TO, whose blocks are not smaller. */
static int copy_group(struct hot_lines *to, const struct hot_lines *t, size_t g)
{
    const unsigned wider = to->shift - t->shift;
    struct hot_line line, sum = {.n = 0};
    int rc = TROD_OK;

    if (wider >= HOT_GROUP_LOG2 && !t->group[g].more) { /* all of it lies in one block */
        sum.number = t->group[g].number >> (wider - HOT_GROUP_LOG2);
        sum.n = counted(t, g);
        return sum.n ? add_line(to, &sum) : TROD_OK;
    }
    for (size_t i = g * HOT_GROUP; rc == TROD_OK && i < (g + 1) * HOT_GROUP; i++) {
        struct hot_line part;

        if (!line_at(t, i, &line))
            continue;
        part = part_of(to, &line, t->shift);
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

int hot_lines_copy(struct hot_lines *to, const struct hot_lines *t, unsigned shift)
{
    int rc = TROD_OK;

    *to = (struct hot_lines){.shift = shift > t->shift ? shift : t->shift, .line = t->line};
    for (size_t g = 0; rc == TROD_OK && g < t->n_groups; g++)
        rc = copy_group(to, t, g);
    return rc == TROD_OK ? hot_wide_merge(&to->wide, &t->wide, to->shift - t->shift) : rc;
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

/*
 * Make the blocks of T so large that those from ADDR to LAST are no more than MOST, as they will be
 * when they are added; so that there are never many more for a while. 0 or TROD_ERR_NOMEM.
 */
static int make_room(struct hot_lines *t, uint64_t addr, uint64_t last, uint64_t most)
{
    unsigned shift = t->shift;

    while (shift < 63 && (last >> shift) - (addr >> shift) >= most)
        shift++;
    return coarsen(t, shift);
}

int hot_lines_touch(struct hot_lines *t, uint64_t addr, uint64_t size, uint64_t n, uint64_t most)
{
    unsigned shift = t->shift;
    uint64_t last = addr + size - 1, joined = 0;

    /*
     * An access of no bytes touches the line that it lies in, unless it lies at its beginning:
     * whatever blocks have become, as their size differs from part to part.
     */
    if (size == 0 && !(addr & ((UINT64_C(1) << t->line) - 1)))
        return TROD_OK;
    if (last < addr && size) /* around the end of the address space */
        last = UINT64_MAX;
    if ((last >> shift) - (addr >> shift) >= HOT_WIDE) {
        if (!most)
            return hot_wide_add(&t->wide, addr >> shift, last >> shift, n);
        if (make_room(t, addr, last, most) < 0)
            return TROD_ERR_NOMEM;
        shift = t->shift;
    }
    for (uint64_t b = addr >> shift;; b++, joined = n) {
        if (hot_line_add(t, &(struct hot_line){b, n, joined}, most) < 0)
            return TROD_ERR_NOMEM;
        b >>= t->shift - shift; /* which may have become larger */
        shift = t->shift;
        if (b >= last >> shift)
            return TROD_OK;
    }
}

/* Where the groups are that were found last, by the last bits of their numbers. */
enum { NEAR = 128 };
/* From so many groups on few are found there. */
enum { FAR = 1 << 10 };
/* Number of accesses whose counters are located before the first of them is counted. */
enum { BLOCK = 32 };
/* No counter: the access is no simple case. */
#define NO_COUNTER SIZE_MAX

/* Where group NUMBER of T is, if it exists. Not inlined: the callers have no registers to spare. */
TROD_APART static struct hot_place find_group(const struct hot_lines *t, uint64_t number)
{
    return *place_of(t->place, t->n_places, t->hash, number);
}

/*
 * The counter of T for row ROW of B. An access of no bytes is no simple case: what is left of its
 * block is always less than the largest number. NEAR_BY: NEAR places, or NULL.
 */
TROD_HOT size_t find_counter(const struct hot_lines *t, const struct trod_batch *b, uint32_t row,
                             struct hot_place *near_by)
{
    const uint64_t inside = (UINT64_C(1) << t->shift) - 1;
    const uint64_t addr = b->addr[row], number = addr >> t->shift, group = number / HOT_GROUP;
    const struct hot_place *p;

    if (!near_by) {
        p = place_of(t->place, t->n_places, t->hash, group);
    } else {
        if (near_by[group % NEAR].number != group)
            near_by[group % NEAR] = find_group(t, group);
        p = &near_by[group % NEAR];
    }
    if (p->number != group || (uint64_t)b->size[row] - 1 > (~addr & inside) ||
        b->kind[row] > TROD_PREFETCH)
        return NO_COUNTER;
    return p->at + number % HOT_GROUP;
}

/* Count an access in counter AT of T. False: it is not the simple case. */
TROD_HOT bool count_one(struct hot_lines *t, uint32_t *count, size_t at, uint64_t most,
                        size_t *begun)
{
    const uint32_t now = count[at] + 1;

    if (now <= 1) { /* it was 0, or as large as it may be */
        if (now == 0 || most || t->group[at / HOT_GROUP].more >> at % HOT_GROUP & 1)
            return false;
        ++*begun;
    }
    count[at] = now;
    return true;
}

/*
 * Count the rows ACCESS of B from number I of N on, up to one that is no simple case: its number is
 * returned. NEAR_BY: NEAR places.
 */
TROD_HOT uint32_t count_near(struct hot_lines *t, const struct trod_batch *b,
                             const uint16_t *access, uint32_t i, uint32_t n, uint64_t most,
                             struct hot_place *near_by)
{
    const struct hot_lines here = *t;
    const struct trod_batch columns = {.kind = b->kind, .addr = b->addr, .size = b->size};
    size_t begun = 0;

    for (; i < n; i++) {
        const size_t at = find_counter(&here, &columns, access[i], near_by);

        if (at == NO_COUNTER || !count_one(t, here.count, at, most, &begun))
            break;
    }
    t->n += begun;
    return i;
}

/* The same; AT: the counters. */
TROD_HOT uint32_t count_block(struct hot_lines *t, const size_t at[BLOCK], uint32_t i, uint32_t n,
                              uint64_t most)
{
    uint32_t *const count = t->count;
    size_t begun = 0;

    for (; i < n && at[i] != NO_COUNTER; i++)
        if (!count_one(t, count, at[i], most, &begun))
            break;
    t->n += begun;
    return i;
}

static int touch_row(struct hot_lines *t, const struct trod_batch *b, uint32_t row, uint64_t most)
{
    return b->kind[row] > TROD_PREFETCH ? TROD_OK
                                        : hot_lines_touch(t, b->addr[row], b->size[row], 1, most);
}

static void forget(struct hot_place near_by[NEAR])
{
    for (uint32_t i = 0; i < NEAR; i++)
        near_by[i].number = HOT_NOWHERE;
}

TROD_HOT int near_rows(struct hot_lines *t, const struct trod_batch *b, const uint16_t *access,
                       uint32_t n, uint64_t most)
{
    struct hot_place near_by[NEAR];

    forget(near_by);
    for (uint32_t i = count_near(t, b, access, 0, n, most, near_by); i < n;
         i = count_near(t, b, access, i + 1, n, most, near_by)) {
        const unsigned shift = t->shift;

        if (touch_row(t, b, access[i], most) < 0)
            return TROD_ERR_NOMEM;
        if (t->shift != shift) /* blocks have become larger */
            forget(near_by);
    }
    return TROD_OK;
}

TROD_HOT void find_counters(const struct hot_lines *t, const struct trod_batch *b,
                            const uint16_t *access, uint32_t n, size_t at[BLOCK])
{
    for (uint32_t i = 0; i < n; i++) {
        at[i] = find_counter(t, b, access[i], NULL);
        if (at[i] != NO_COUNTER)
            __builtin_prefetch(&t->count[at[i]], 1);
    }
}

TROD_HOT int far_rows(struct hot_lines *t, const struct trod_batch *b, const uint16_t *access,
                      uint32_t n, uint64_t most)
{
    size_t at[BLOCK];

    for (uint32_t from = 0, some; from < n; from += some) {
        some = n - from < BLOCK ? n - from : BLOCK;
        find_counters(t, b, access + from, some, at);
        for (uint32_t i = count_block(t, at, 0, some, most); i < some;
             i = count_block(t, at, i + 1, some, most)) {
            const unsigned shift = t->shift;

            if (touch_row(t, b, access[from + i], most) < 0)
                return TROD_ERR_NOMEM;
            if (t->shift != shift)
                find_counters(t, b, access + from, some, at);
        }
    }
    return TROD_OK;
}

TROD_HOT int count_rows(struct hot_lines *t, const struct trod_batch *b, const uint16_t *access,
                        uint32_t n, uint64_t most)
{
    return t->n_groups < FAR ? near_rows(t, b, access, n, most) : far_rows(t, b, access, n, most);
}

#if TROD_AVX2
TROD_WIDE static int count_rows_wide(struct hot_lines *t, const struct trod_batch *b,
                                     const uint16_t *access, uint32_t n, uint64_t most)
{
    return count_rows(t, b, access, n, most);
}
#endif

int hot_lines_rows(struct hot_lines *t, const struct trod_batch *b, uint32_t from, uint32_t to,
                   uint64_t most)
{
    uint32_t n;
    const uint16_t *const access = trod_streak_accesses(b, from, to, &n);

    if (!t->n_places && grow_places(t) < 0)
        return TROD_ERR_NOMEM;
#if TROD_AVX2
    if (trod_wide())
        return count_rows_wide(t, b, access, n, most);
#endif
    return count_rows(t, b, access, n, most);
}

int hot_lines_merge(struct hot_lines *into, const struct hot_lines *from, uint64_t most)
{
    struct hot_line line;
    int rc = coarsen(into, from->shift);

    for (size_t at = 0; rc == TROD_OK && hot_lines_next(from, &at, 1, &line);) {
        const struct hot_line part = part_of(into, &line, from->shift);

        rc = part.n ? hot_line_add(into, &part, most) : TROD_OK;
    }
    return rc == TROD_OK ? hot_wide_merge(&into->wide, &from->wide, into->shift - from->shift) : rc;
}
