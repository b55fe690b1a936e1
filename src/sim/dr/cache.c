/*
 * cache.c - requests to a cache as DynamoRIO's simulator handles them.
 *
 * Implements dr/cache.h. The order of the steps is the specification's and shows in the numbers;
 * what looks like an accident in it (the remembered place that is trusted, the index of a flush) is
 * copied on purpose.
 */
#include "sim/dr/cache.h"

#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

static void invalidate(struct trod_dr_cache *c, uint64_t line, enum trod_dr_why why);
static void insert(struct trod_dr_cache *c, uint64_t line, uint64_t set, uint32_t way, bool write);

/* --- statistics --- */

static void count_hit(struct trod_dr_cache *c, unsigned op)
{
    if (trod_op_is_prefetch(op))
        c->now.prefetch_hits++;
    else
        c->now.hits++;
    for (struct trod_dr_cache *up = c->parent; up; up = up->parent)
        up->now.child_hits++;
}

static void count_miss(struct trod_dr_cache *c, const struct trod_sim_ref *r, uint64_t line)
{
    int is_new = trod_lines_add(&c->seen, line);

    if (is_new < 0)
        c->failed = true;
    c->now.compulsory += is_new > 0;
    if (trod_op_is_prefetch(r->op))
        c->now.prefetch_misses++;
    else
        c->now.misses++;
    if (c->missed && r->op != TROD_OP_HW_PREFETCH)
        c->missed(c->user, r, r->addr);
}

/* --- coherence --- */

int trod_dr_snoop_init(struct trod_dr_snoop *s, uint32_t n)
{
    memset(s, 0, sizeof *s);
    s->line.map = true;
    s->n_caches = n;
    s->words = (n + 63) / 64 + 1;
    s->cache = calloc(n, sizeof *s->cache);
    return s->cache ? 0 : TROD_ERR_NOMEM;
}

void trod_dr_snoop_fini(struct trod_dr_snoop *s)
{
    trod_lines_fini(&s->line);
    free(s->entry);
    free(s->cache);
}

/* The entry of LINE, made if there is none (1 is added so that 0 says none). */
static uint64_t *entry_of(struct trod_dr_snoop *s, uint64_t line)
{
    uint64_t *number = trod_lines_at(&s->line, line);

    if (!number)
        return NULL;
    if (*number == 0) {
        if (s->n == s->cap) {
            const size_t cap = s->cap ? 2 * s->cap : 256;
            uint64_t *more = realloc(s->entry, cap * s->words * sizeof *more);

            if (!more)
                return NULL;
            s->entry = more;
            s->cap = cap;
        }
        memset(s->entry + s->n * s->words, 0, s->words * sizeof *s->entry);
        *number = ++s->n;
    }
    return s->entry + (*number - 1) * s->words;
}

static void snoop(struct trod_dr_snoop *s, struct trod_dr_cache *c, uint64_t line, bool write)
{
    const uint32_t id = c->snoop_id;
    uint64_t *e = entry_of(s, line);

    if (!e) {
        c->failed = true;
        return;
    }
    if (e[s->words - 1] && !(e[id / 64] >> id % 64 & 1)) {
        s->writebacks++;
        e[s->words - 1] = 0;
    }
    if (write) {
        s->writes++;
        e[s->words - 1] = 1;
        for (uint32_t i = 0; i < s->n_caches; i++) {
            if (i == id || !(e[i / 64] >> i % 64 & 1))
                continue;
            invalidate(s->cache[i], line, TROD_DR_BY_COHERENCE);
            s->invalidations++;
            e[i / 64] &= ~(UINT64_C(1) << i % 64);
        }
    }
    e[id / 64] |= UINT64_C(1) << id % 64;
}

static void snoop_evict(struct trod_dr_snoop *s, struct trod_dr_cache *c, uint64_t line)
{
    uint64_t *e = entry_of(s, line);

    if (!e) {
        c->failed = true;
        return;
    }
    s->writebacks += e[s->words - 1];
    e[s->words - 1] = 0;
    e[c->snoop_id / 64] &= ~(UINT64_C(1) << c->snoop_id % 64);
}

/* CHILD wrote to LINE: no other child may keep it. */
static void written_below(struct trod_dr_cache *c, const struct trod_dr_cache *child, uint64_t line)
{
    for (; c; child = c, c = c->parent) {
        for (uint32_t i = 0; i < c->n_child; i++)
            if (c->child[i] != child)
                invalidate(c->child[i], line, TROD_DR_BY_COHERENCE);
        if (c->snoop) {
            snoop(c->snoop, c, line, true);
            return;
        }
    }
}

/* --- inclusion, exclusion --- */

static void invalidate(struct trod_dr_cache *c, uint64_t line, enum trod_dr_why why)
{
    const uint64_t set = trod_store_set(&c->store, line);
    const uint32_t way = trod_store_find(&c->store, set, line);

    if (way != TROD_NO_WAY) {
        trod_store_drop(&c->store, set, way);
        c->loaded--;
        c->now.invalidated[why]++;
        trod_repl_invalidate(&c->store.repl, set, way);
        if (c->last == line)
            c->last = TROD_NO_LINE;
        if (why == TROD_DR_BY_INCLUSION && c->inclusive)
            for (uint32_t i = 0; i < c->n_child; i++)
                invalidate(c->child[i], line, why);
    }
    if (c->exclusive && why != TROD_DR_BY_EXCLUSION)
        trod_lines_remove(&c->served, line);
    if (why == TROD_DR_BY_COHERENCE)
        for (uint32_t i = 0; i < c->n_child; i++)
            invalidate(c->child[i], line, why);
}

static bool contains(const struct trod_dr_cache *c, uint64_t line)
{
    if (trod_store_find(&c->store, trod_store_set(&c->store, line), line) != TROD_NO_WAY)
        return true;
    for (uint32_t i = 0; !c->inclusive && i < c->n_child; i++)
        if (contains(c->child[i], line))
            return true;
    return false;
}

/* CHILD has evicted LINE (it is still in its place there). */
static void take(struct trod_dr_cache *c, const struct trod_dr_cache *child, uint64_t line)
{
    const uint64_t set = trod_store_set(&c->store, line);
    uint32_t way;

    if (trod_store_find(&c->store, set, line) != TROD_NO_WAY)
        return;
    for (uint32_t i = 0; i < c->n_child; i++)
        if (c->child[i] != child && contains(c->child[i], line))
            return;
    if (!c->exclusive) {
        if (c->snoop)
            snoop_evict(c->snoop, c, line);
        else if (c->parent)
            take(c->parent, c, line);
        return;
    }
    way = trod_store_choose(&c->store, set);
    insert(c, line, set, way, false);
    if (trod_lines_remove(&c->served, line))
        trod_repl_hit(&c->store.repl, set, way);
    else
        trod_repl_fill(&c->store.repl, set, way);
}

/* What becomes of line OLD, which a new one is to replace. */
static void displace(struct trod_dr_cache *c, uint64_t old)
{
    const bool above = c->parent && c->parent->exclusive;

    for (uint32_t i = 0; c->inclusive && i < c->n_child; i++)
        invalidate(c->child[i], old, TROD_DR_BY_INCLUSION);
    if (!c->coherent && !above)
        return;
    for (uint32_t i = 0; i < c->n_child; i++)
        if (contains(c->child[i], old))
            return;
    if (c->coherent && c->snoop)
        snoop_evict(c->snoop, c, old);
    if (c->parent && ((c->coherent && !c->snoop) || above))
        take(c->parent, c, old);
}

static void insert(struct trod_dr_cache *c, uint64_t line, uint64_t set, uint32_t way, bool write)
{
    uint64_t old;

    if (c->snoop)
        snoop(c->snoop, c, line, write);
    old = c->store.line[set * c->store.ways + way];
    if (old == TROD_NO_LINE)
        c->loaded++;
    else
        displace(c, old);
    if (trod_store_put(&c->store, set, way, line, &old) < 0)
        c->failed = true;
}

/* --- requests --- */

/* LINE, which F refers to, is in the cache. Returns true if the remaining steps are skipped. */
static bool on_hit(struct trod_dr_cache *c, const struct trod_sim_ref *f, uint64_t line)
{
    count_hit(c, f->op);
    if (c->coherent && f->op == TROD_OP_WRITE) {
        if (c->snoop)
            snoop(c->snoop, c, line, true);
        else if (c->parent)
            written_below(c->parent, c, line);
    }
    if (!c->exclusive || c->n_child == 0)
        return false;
    invalidate(c, line, TROD_DR_BY_EXCLUSION);
    if (trod_lines_add(&c->served, line) < 0)
        c->failed = true;
    return true;
}

/*
 * One LINE of a request, F. Returns true where the simulator goes on to the next line without
 * advancing the address and size of F.
 */
static bool fragment(struct trod_dr_cache *c, const struct trod_sim_ref *f, uint64_t line)
{
    const uint64_t set = trod_store_set(&c->store, line);
    uint32_t way = trod_store_find(&c->store, set, line);
    const bool hit = way != TROD_NO_WAY;

    if (hit) {
        if (on_hit(c, f, line))
            return true;
        trod_repl_hit(&c->store.repl, set, way);
    } else {
        if (c->exclusive) {
            count_miss(c, f, line);
            if (c->parent)
                trod_dr_request(c->parent, f);
            return true;
        }
        way = trod_store_choose(&c->store, set);
        count_miss(c, f, line);
        if (c->parent)
            trod_dr_request(c->parent, f);
        insert(c, line, set, way, f->op == TROD_OP_WRITE);
        trod_repl_fill(&c->store.repl, set, way);
    }
    if (c->prefetches && !hit && !trod_op_is_prefetch(f->op)) {
        struct trod_sim_ref next = *f;

        next.op = TROD_OP_HW_PREFETCH;
        next.addr += UINT64_C(1) << c->line_bits;
        trod_dr_request(c, &next);
    }
    c->last = line;
    c->last_set = set;
    c->last_way = way;
    return false;
}

void trod_dr_request(struct trod_dr_cache *c, const struct trod_sim_ref *r)
{
    const uint64_t end = r->addr + r->size - 1;
    const uint64_t first = r->addr >> c->line_bits, last = end >> c->line_bits;
    struct trod_sim_ref f = *r;

    if (r->size == 0 && r->addr == 0)
        return; /* the simulator would loop here for ever */
    if (first == last && first == c->last && r->op != TROD_OP_WRITE) {
        count_hit(c, r->op);
        trod_repl_hit(&c->store.repl, c->last_set, c->last_way);
        return;
    }
    for (uint64_t line = first; line <= last; line++) {
        const uint64_t next = (line + 1) << c->line_bits;

        if (line < last)
            f.size = (uint32_t)(next - f.addr);
        if (!fragment(c, &f, line) && line < last) {
            f.addr = next;
            f.size = (uint32_t)(end - next + 1);
        }
    }
}

/* --- flushes --- */

void trod_dr_flush(struct trod_dr_cache *c, const struct trod_sim_ref *r)
{
    const uint64_t first = r->addr >> c->line_bits, last = (r->addr + r->size - 1) >> c->line_bits;

    for (; c && (r->size || r->addr); c = c->parent) {
        c->last = TROD_NO_LINE;
        for (uint64_t line = first; line <= last; line++) {
            const uint64_t set = trod_store_set(&c->store, line);
            const uint32_t way = trod_store_find(&c->store, set, line);

            if (way == TROD_NO_WAY)
                continue;
            trod_store_drop(&c->store, set, way);
            /* As there, of set SET * WAYS and not of SET: mostly there is no such set. */
            if (set * c->store.ways < c->store.sets)
                trod_repl_invalidate(&c->store.repl, set * c->store.ways, way);
        }
        c->now.flushes++;
    }
}
