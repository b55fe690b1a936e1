/*
 * sweep_parts.c - a sweep as the sum of parts, for several threads, and parts of its rows.
 *
 * Implements sweep.h. Where all sets are independent of each other a part has the lines whose
 * numbers end in its bits: it is a sweep of smaller caches. Else it has some of the caches.
 */
#include "sim/sweep.h"

#include <stdlib.h>
#include <string.h>

/*
 * CLASS_BITS: 2^CLASS_BITS parts at the most. SMALL: see trod_sweep_small. PART: bytes that the
 * caches of a part of the rows may have: with more, making and merging them is a larger share of
 * the work on a part than keeping its references.
 */
enum { CLASS_BITS = 6, SMALL = 24, PART = 1 << 22 };

/*
 * What the caches of a stream cost: stacks by the number of sets, which get fewer references the
 * more there are of them, and other caches one by one. Data has more references than code where
 * repeats are left out.
 */
enum { STACKS = 2, LEVEL = 1, CACHE = 4 };

/* The caches of a sweep, dealt out to its parts: each goes to that which has least so far. */
struct deal {
    unsigned load[TROD_SWEEP_SHARDS];
};

/* Is what costs COST, of stream K, this part's? */
static bool deal(struct deal *d, const struct trod_sweep *s, unsigned cost, unsigned k)
{
    unsigned least = 0;

    if (s->shards == 1 || s->class_bits)
        return true;
    for (unsigned i = 1; i < s->shards; i++)
        if (d->load[i] < d->load[least])
            least = i;
    d->load[least] += cost << k;
    return least == s->shard;
}

/*
 * log2 of the number of parts that line numbers can be divided into so that no cache has a set in
 * two parts; 0: none.
 */
static unsigned class_bits(const struct trod_sweep *s)
{
    const uint64_t least = s->size[0] / s->line[1] / s->ways[1];
    const unsigned sets = least ? trod_sweep_log2(least) : 0;

    for (unsigned p = 0; p < s->n_policies; p++)
        if (!trod_walk_apart(s->policy[p]))
            return 0;
    /* bits of the longest line's number, which are in the number of every shorter line's set */
    return sets < CLASS_BITS ? sets : CLASS_BITS;
}

/* The numbers of sets of line size number I: log2 of the least, and how many. */
static unsigned levels_of(const struct trod_sweep *s, unsigned i, unsigned *first)
{
    const uint64_t line = s->line[0] << i;
    const uint64_t least = (s->size[0] >> s->class_bits) / line / s->ways[1],
                   most = (s->size[1] >> s->class_bits) / line / s->ways[0];

    *first = least ? trod_sweep_log2(least) : 0;
    return trod_sweep_log2(most) - *first + 1;
}

/* The caches of line size number I and stream K that are no stack. */
static int make_walk(struct trod_sweep *s, struct deal *d, unsigned i, unsigned k)
{
    const uint64_t line = s->line[0] << i;
    struct trod_walk *w = s->walk[i][k] = calloc(1, sizeof *w);
    int rc = w ? trod_walk_init(w, UINT64_C(1) << s->first[i]) : TROD_ERR_NOMEM;

    for (unsigned p = 0; p < s->n_policies; p++)
        for (uint64_t size = s->size[0]; s->policy[p] && size <= s->size[1]; size *= 2)
            for (uint64_t ways = s->ways[0]; rc == 0 && ways <= s->ways[1] && ways * line <= size;
                 ways *= 2)
                rc = trod_walk_add(w, s->policy[p], (size >> s->class_bits) / line / ways, ways,
                                   deal(d, s, CACHE, k));
    return rc;
}

int trod_sweep_make(struct trod_sweep *s)
{
    const bool lru = memchr(s->policy, TROD_REPL_LRU, s->n_policies);
    struct deal d = {.load = {0}};
    int rc = 0;

    s->class_bits = s->shards > 1 && class_bits(s) ? trod_sweep_log2(s->shards) : 0;
    for (unsigned i = 0; i < s->n_lines; i++) {
        const unsigned levels = levels_of(s, i, &s->first[i]);

        for (unsigned k = 0; k < 2; k++) {
            if (lru && !(s->sets[i][k] = trod_sets_new(s->first[i], levels, (unsigned)s->ways[1])))
                return TROD_ERR_NOMEM;
            if (lru && deal(&d, s, STACKS + LEVEL * levels, k))
                s->mine[i] |= (uint8_t)(1u << k);
            if (s->n_policies > lru && (rc = make_walk(s, &d, i, k)) < 0)
                return rc;
        }
    }
    return 0;
}

/* The number of caches, stacks counted as one each, and what they cost. */
static unsigned pieces_of(const struct trod_sweep *s, unsigned *cost)
{
    const bool lru = memchr(s->policy, TROD_REPL_LRU, s->n_policies);
    unsigned n = 0;

    *cost = 0;
    for (unsigned i = 0; i < s->n_lines; i++) {
        unsigned first, caches = 0;

        for (uint64_t size = s->size[0]; size <= s->size[1]; size *= 2)
            for (uint64_t ways = s->ways[0]; ways <= s->ways[1] && ways * s->line[0] << i <= size;
                 ways *= 2)
                caches += s->n_policies - lru;
        n += 2 * (lru + caches);
        *cost += 2 * (lru * (STACKS + LEVEL * levels_of(s, i, &first)) + caches * CACHE);
    }
    return n;
}

unsigned trod_sweep_shards(const char *text, unsigned jobs)
{
    struct trod_sweep *s = malloc(sizeof *s);
    unsigned most = 1, cost;

    if (s && trod_sweep_ranges(s, text)) {
        const unsigned bits = class_bits(s);

        jobs = jobs < TROD_SWEEP_SHARDS ? jobs : TROD_SWEEP_SHARDS;
        most = bits ? 1u << bits : pieces_of(s, &cost);
        most = jobs < most ? jobs : most;
        most = bits && most ? 1u << trod_sweep_log2(most) : most;
    }
    free(s);
    return most ? most : 1;
}

bool trod_sweep_small(const char *text)
{
    struct trod_sweep *s = malloc(sizeof *s);
    unsigned cost = 0;

    if (s && trod_sweep_ranges(s, text))
        pieces_of(s, &cost);
    free(s);
    return cost <= SMALL;
}

bool trod_sweep_records(const char *text)
{
    struct trod_sweep *s = malloc(sizeof *s);
    const bool yes = s && trod_sweep_ranges(s, text) && s->by_rows;

    free(s);
    return yes;
}

/* As trod_sweep_parts. */
static bool has_parts(const struct trod_sweep *s)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < s->n_lines; i++) {
        unsigned first;
        const unsigned levels = levels_of(s, i, &first);

        bytes += 2 * trod_sets_part_bytes(first, levels, (unsigned)s->ways[1]);
    }
    return s->by_rows && s->n_policies == 1 && s->policy[0] == TROD_REPL_LRU && bytes <= PART;
}

bool trod_sweep_parts(const char *text)
{
    struct trod_sweep *s = malloc(sizeof *s);
    const bool yes = s && trod_sweep_ranges(s, text) && has_parts(s);

    free(s);
    return yes;
}

void trod_sweep_sum(struct trod_sweep *s, const struct trod_sweep *other)
{
    for (unsigned i = 0; i < s->n_lines; i++)
        for (unsigned k = 0; k < 2; k++) {
            s->refs[i][k] += other->refs[i][k];
            if (s->sets[i][k])
                trod_sets_sum(s->sets[i][k], other->sets[i][k]);
            if (s->walk[i][k])
                trod_walk_sum(s->walk[i][k], other->walk[i][k]);
        }
}

/* --- parts of the rows --- */

int trod_sweep_make_part(struct trod_sweep *s)
{
    int rc;

    s->part = true;
    s->recording = !has_parts(s);
    if (s->recording)
        return 0;
    rc = trod_sweep_make(s);
    for (unsigned i = 0; rc == 0 && i < s->n_lines; i++)
        for (unsigned k = 0; rc == 0 && k < 2; k++)
            rc = trod_sets_begin_part(s->sets[i][k]) ? 0 : TROD_ERR_NOMEM;
    return rc;
}

void trod_sweep_keep(struct trod_sweep *s, struct trod_touched *t)
{
    s->failed |= !trod_kept_add(&s->kept, t);
}

/* Simulate the references that FROM has kept. */
static void simulate(struct trod_sweep *s, const struct trod_sweep *from)
{
    uint64_t room[TROD_SWEEP_BATCH];
    const uint64_t *ref;

    for (const struct trod_kept_block *b = from->kept.first; b; b = b->next)
        for (uint64_t at = 0, n; (n = trod_kept_some(b, at, TROD_SWEEP_BATCH, s->bits, room, &ref));
             at += n)
            trod_sweep_refs(s, ref, n);
}

int trod_sweep_merge(struct trod_sweep *s, const struct trod_sweep *from)
{
    if (from->recording)
        simulate(s, from);
    for (unsigned i = 0; i < s->n_lines && !from->recording; i++)
        for (unsigned k = 0; k < 2; k++) {
            trod_sets_append(s->sets[i][k], from->sets[i][k]);
            s->last[i][k] = UINT64_MAX; /* not known */
        }
    trod_touched_forget(&s->in);
    for (unsigned kind = 0; kind < 3; kind++) {
        s->in.refs[kind] += from->in.refs[kind];
        for (unsigned i = 0; i < s->n_lines; i++)
            s->in.more[i][kind] += from->in.more[i][kind];
    }
    return trod_sweep_failed(s) ? TROD_ERR_NOMEM : 0;
}

bool trod_sweep_failed(const struct trod_sweep *s)
{
    bool failed = s->failed;

    for (unsigned i = 0; i < s->n_lines; i++)
        failed |= s->walk[i][0] && (s->walk[i][0]->failed || s->walk[i][1]->failed);
    return failed;
}
