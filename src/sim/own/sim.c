/*
 * sim.c - references to cores, coherence between them, and what is noted on the way.
 *
 * Implements own/sim.h. Coherence is MESI seen from a directory: which cores may hold a line in
 * caches of their own. A write takes it away from the others, a read makes a dirty copy clean.
 */
#include "sim/own/sim.h"

#include "core/grow.h"
#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12, LINE_BITS = 6 };

static void note_miss(void *user, const struct trod_own_cache *c, uint64_t addr)
{
    struct trod_own_sim *s = user;
    const unsigned spec = (unsigned)(c->spec - s->config->spec);
    const size_t width = TROD_OWN_CACHES + 1;
    uint64_t key = s->current, *number;

    if (s->by == TROD_OWN_BY_PAGE)
        key = addr >> PAGE_BITS << PAGE_BITS;
    else if (s->by == TROD_OWN_BY_LINE)
        key = addr >> LINE_BITS << LINE_BITS;
    if (!(number = trod_lines_at(&s->key, key))) {
        s->failed = true;
        return;
    }
    if (*number == 0) {
        if (!trod_grow(&s->row, s->n_rows, &s->cap_rows, width * sizeof *s->row, 256)) {
            s->failed = true;
            return;
        }
        memset(s->row + s->n_rows * width, 0, width * sizeof *s->row);
        s->row[s->n_rows * width] = key;
        *number = ++s->n_rows;
    }
    s->row[(*number - 1) * width + 1 + spec]++;
}

/* --- making --- */

static int make_caches(struct trod_own_sim *s)
{
    const struct trod_own_config *c = s->config;
    int rc;

    for (unsigned i = 0; i < c->n; i++) {
        s->first[i] = s->instances;
        s->instances += c->spec[i].shared ? 1 : c->cores;
    }
    s->cache = calloc(s->instances, sizeof *s->cache);
    if (!s->cache)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < (c->spec[i].shared ? 1 : c->cores); k++)
            if ((rc = trod_own_cache_init(&s->cache[s->first[i] + k], &c->spec[i], c->classify)) <
                0)
                return rc;
    return 0;
}

static int link_caches(struct trod_own_sim *s)
{
    const struct trod_own_config *c = s->config;

    for (unsigned i = 0; i < c->n; i++)
        for (uint32_t k = 0; c->spec[i].next >= 0 && k < (c->spec[i].shared ? 1 : c->cores); k++) {
            const unsigned n = (unsigned)c->spec[i].next;
            struct trod_own_cache *from = &s->cache[s->first[i] + k],
                                  *to = &s->cache[s->first[n] + (c->spec[n].shared ? 0 : k)],
                                  **more = realloc(to->child, (to->n_child + 1) * sizeof(*more));

            if (!more)
                return TROD_ERR_NOMEM;
            from->next = to;
            to->child = more;
            more[to->n_child++] = from;
        }
    for (uint32_t k = 0; k < c->cores; k++)
        for (unsigned data = 0; data < 2; data++)
            for (unsigned i = 0; !s->entry[k][data] && i < c->n; i++)
                if (c->spec[i].side != (data ? TROD_OWN_CODE : TROD_OWN_DATA))
                    s->entry[k][data] = &s->cache[s->first[i] + (c->spec[i].shared ? 0 : k)];
    return 0;
}

int trod_own_sim_init(struct trod_own_sim *s, const struct trod_own_config *config)
{
    int rc;

    memset(s, 0, sizeof *s);
    s->config = config;
    s->thread.map = s->holders.map = s->key.map = s->shared_of.map = true;
    rc = make_caches(s);
    return rc < 0 ? rc : link_caches(s);
}

void trod_own_sim_fini(struct trod_own_sim *s)
{
    for (uint32_t i = 0; s->cache && i < s->instances; i++)
        trod_own_cache_fini(&s->cache[i]);
    free(s->cache);
    free(s->row);
    free(s->shared);
    free(s->snapshot);
    trod_lines_fini(&s->thread);
    trod_lines_fini(&s->holders);
    trod_lines_fini(&s->key);
    trod_lines_fini(&s->shared_of);
}

/* --- coherence and sharing --- */

/* Run DO over the private caches of core K that data goes through. */
static bool each_private(struct trod_own_sim *s, uint32_t k, uint64_t addr,
                         bool (*act)(struct trod_own_cache *, uint64_t))
{
    bool any = false;

    for (struct trod_own_cache *c = s->entry[k][1]; c && !c->spec->shared; c = c->next)
        any = act(c, addr) || any;
    return any;
}

static void note_invalidation(struct trod_own_sim *s, uint64_t line)
{
    const uint64_t *number = trod_lines_get(&s->shared_of, line);

    if (number && *number)
        s->shared[*number - 1].invalidations++;
}

static void cohere(struct trod_own_sim *s, uint32_t core, uint64_t addr, bool write)
{
    const uint64_t line = addr >> s->entry[core][1]->line_bits, own = UINT64_C(1) << core;
    uint64_t *holders = trod_lines_at(&s->holders, line), others;

    if (!holders) {
        s->failed = true;
        return;
    }
    others = *holders & ~own;
    for (uint32_t k = 0; others >> k && k < s->config->cores; k++) {
        if (!(others >> k & 1))
            continue;
        if (!write) {
            s->interventions += each_private(s, k, addr, trod_own_cache_clean);
            continue;
        }
        if (each_private(s, k, addr, trod_own_cache_take_away))
            s->interventions++;
        s->invalidations++;
        if (s->sharing)
            note_invalidation(s, addr >> LINE_BITS);
    }
    s->upgrades += write && others && *holders & own;
    *holders = write ? own : *holders | own;
}

static void note_sharing(struct trod_own_sim *s, const struct trod_sim_ref *r, uint64_t addr,
                         uint32_t size)
{
    const uint64_t line = addr >> LINE_BITS;
    const unsigned from = addr % TROD_OWN_SHARED_BYTES;
    const unsigned n = size > TROD_OWN_SHARED_BYTES - from ? TROD_OWN_SHARED_BYTES - from : size;
    const uint64_t bytes = n ? (UINT64_MAX >> (64 - n)) << from : 0;
    uint64_t *number = trod_lines_at(&s->shared_of, line);
    struct trod_own_shared *e;
    uint32_t i = 0;

    if (!number || (*number == 0 &&
                    !trod_grow(&s->shared, s->n_shared, &s->cap_shared, sizeof *s->shared, 256))) {
        s->failed = true;
        return;
    }
    if (*number == 0) {
        s->shared[s->n_shared] = (struct trod_own_shared){.line = line << LINE_BITS};
        *number = ++s->n_shared;
    }
    e = &s->shared[*number - 1];
    e->refs++;
    while (i < e->threads && i < TROD_OWN_SHARERS && e->thread[i] != r->stream)
        i++;
    if (i == e->threads && i < TROD_OWN_SHARERS)
        e->thread[e->threads++] = r->stream;
    if (i == TROD_OWN_SHARERS) {
        e->threads = TROD_OWN_SHARERS + 1;
        return;
    }
    *(r->op == TROD_OP_WRITE ? &e->written[i] : &e->read[i]) |= bytes;
}

/* --- references --- */

static uint32_t core_of(struct trod_own_sim *s, const struct trod_sim_ref *r, bool cores)
{
    uint64_t *core;

    if (s->config->cores == 1)
        return 0;
    if (cores)
        return r->shard % s->config->cores;
    if (!(core = trod_lines_at(&s->thread, r->stream))) {
        s->failed = true;
        return 0;
    }
    if (*core == 0)
        *core = 1 + s->next_core++ % s->config->cores;
    return (uint32_t)*core - 1;
}

static void snapshot(struct trod_own_sim *s)
{
    struct trod_own_snapshot *n;

    if (!trod_grow(&s->snapshot, s->n_snapshots, &s->cap_snapshots, sizeof *s->snapshot, 64)) {
        s->failed = true;
        return;
    }
    n = &s->snapshot[s->n_snapshots++];
    memset(n, 0, sizeof *n);
    n->instructions = s->instructions;
    for (unsigned i = 0; i < s->config->n; i++) {
        const struct trod_own_counts c = trod_own_sim_sum(s, i);

        n->misses[i] = c.misses[0] + c.misses[1] + c.misses[2];
    }
}

static void one(struct trod_own_sim *s, const struct trod_sim_ref *r, uint32_t core)
{
    const bool data = r->op != TROD_OP_FETCH;
    struct trod_own_cache *c = s->entry[core][data];
    const enum trod_own_kind kind = r->op == TROD_OP_FETCH  ? TROD_OWN_FETCH
                                    : r->op == TROD_OP_READ ? TROD_OWN_READ
                                                            : TROD_OWN_WRITE;
    uint64_t addr = r->addr;
    uint32_t left = r->size;

    s->refs++;
    s->current = s->by == TROD_OWN_BY_THREAD ? r->stream : r->pc;
    while (c && left) {
        const uint32_t room = c->spec->line - (uint32_t)(addr & (c->spec->line - 1));
        const uint32_t n = left < room ? left : room;

        if (s->sharing && data)
            note_sharing(s, r, addr, n);
        if (s->config->coherent && data && s->config->cores > 1 && !c->spec->shared)
            cohere(s, core, addr, kind == TROD_OWN_WRITE);
        trod_own_cache_ref(c, kind, addr, n, r->pc);
        addr += n;
        left -= n;
    }
}

int trod_own_sim_feed(struct trod_own_sim *s, const struct trod_sim_ref *r, size_t n, bool cores)
{
    for (uint32_t i = 0; s->by && i < s->instances; i++) {
        s->cache[i].missed = note_miss;
        s->cache[i].user = s;
    }
    for (size_t i = 0; i < n; i++) {
        if (r[i].op == TROD_OP_FETCH || r[i].op == TROD_OP_NOTHING) {
            if (s->interval && s->instructions && s->instructions % s->interval == 0)
                snapshot(s);
            s->instructions++;
        }
        if (r[i].op <= TROD_OP_WRITE)
            one(s, &r[i], core_of(s, &r[i], cores));
    }
    for (uint32_t i = 0; i < s->instances; i++)
        s->failed =
            s->failed || s->cache[i].failed || (s->cache[i].shadow && s->cache[i].shadow->failed);
    return s->failed ? TROD_ERR_NOMEM : 0;
}

void trod_own_sim_reset(struct trod_own_sim *s)
{
    for (uint32_t i = 0; i < s->instances; i++)
        s->cache[i].n = (struct trod_own_counts){0};
    s->invalidations = s->interventions = s->upgrades = 0;
    s->instructions = s->refs = 0;
    s->n_rows = s->n_shared = s->n_snapshots = 0;
    trod_lines_clear(&s->key);
    trod_lines_clear(&s->shared_of);
}

struct trod_own_counts trod_own_sim_sum(const struct trod_own_sim *s, unsigned i)
{
    const uint32_t end = i + 1 < s->config->n ? s->first[i + 1] : s->instances;
    struct trod_own_counts sum = {0};

    for (uint32_t k = s->first[i]; k < end; k++)
        for (size_t at = 0; at < sizeof sum; at += sizeof(uint64_t)) {
            uint64_t a, b;

            memcpy(&a, (const char *)&sum + at, sizeof a);
            memcpy(&b, (const char *)&s->cache[k].n + at, sizeof b);
            a += b;
            memcpy((char *)&sum + at, &a, sizeof a);
        }
    return sum;
}
