/*
 * sweep_walk.c - lines to many caches, one after the other.
 *
 * Implements sweep_walk.h. A batch of lines stays in the processor's cache while each of the
 * simulated ones takes it.
 */
#include "sim/sweep_walk.h"

#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

bool trod_walk_apart(unsigned policy)
{
    return policy != TROD_REPL_RANDOM && policy != TROD_REPL_BRRIP && policy != TROD_REPL_DRRIP;
}

int trod_walk_init(struct trod_walk *w, uint64_t sets)
{
    w->cache = NULL;
    w->n = 0;
    w->failed = false;
    w->mask = sets - 1;
    w->last = malloc(sets * sizeof *w->last);
    if (!w->last)
        return TROD_ERR_NOMEM;
    memset(w->last, 0xff, sets * sizeof *w->last);
    return 0;
}

void trod_walk_fini(struct trod_walk *w)
{
    for (size_t i = 0; i < w->n; i++)
        trod_store_fini(&w->cache[i].store);
    free(w->cache);
    free(w->last);
}

bool trod_walk_notices(unsigned policy)
{
    return policy == TROD_REPL_LFU || policy > TROD_REPL_NRU;
}

int trod_walk_add(struct trod_walk *w, unsigned policy, uint64_t sets, uint64_t ways, bool mine)
{
    const struct trod_repl_options o = {.kind = (uint8_t)policy};
    struct trod_walk_cache *more = realloc(w->cache, (w->n + 1) * sizeof *more), *c;

    if (!more)
        return TROD_ERR_NOMEM;
    w->cache = more;
    c = &more[w->n++];
    *c = (struct trod_walk_cache){
        .sets = sets, .ways = ways, .policy = (uint8_t)policy, .mine = mine};
    c->every = trod_walk_notices(policy);
    return mine ? trod_store_init(&c->store, &o, sets, (uint32_t)ways) : 0;
}

/* true: no memory. */
static bool feed_one(struct trod_walk_cache *c, const uint64_t *line, size_t n)
{
    struct trod_store *s = &c->store;
    bool failed = false;

    for (size_t i = 0; i < n; i++) {
        const uint64_t set = trod_store_set(s, line[i]);
        uint32_t way = trod_store_find(s, set, line[i]);
        uint64_t old;

        if (way != TROD_NO_WAY) {
            trod_repl_hit(&s->repl, set, way);
            continue;
        }
        c->misses++;
        way = trod_store_choose(s, set);
        failed = trod_store_put(s, set, way, line[i], &old) < 0 || failed;
        trod_repl_fill(&s->repl, set, way);
    }
    return failed;
}

void trod_walk_feed(struct trod_walk *w, const uint64_t *line, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t *last = &w->last[line[i] & w->mask];

        w->line[kept] = line[i];
        kept += *last != line[i];
        *last = line[i];
    }
    for (size_t i = 0; i < w->n; i++) {
        struct trod_walk_cache *c = &w->cache[i];

        if (c->mine && (c->every ? feed_one(c, line, n) : feed_one(c, w->line, kept)))
            w->failed = true;
    }
}

uint64_t trod_walk_misses(const struct trod_walk *w, unsigned policy, uint64_t sets, uint64_t ways)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->cache[i].policy == policy && w->cache[i].sets == sets && w->cache[i].ways == ways)
            return w->cache[i].misses;
    return 0;
}

void trod_walk_sum(struct trod_walk *w, const struct trod_walk *other)
{
    for (size_t i = 0; i < w->n; i++)
        w->cache[i].misses += other->cache[i].misses;
    w->failed = w->failed || other->failed;
}
