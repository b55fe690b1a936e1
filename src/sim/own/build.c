/*
 * build.c - the caches and TLBs of a hierarchy, made and connected.
 *
 * Implements own/sim.h, trod_own_sim_init.
 */
#include "sim/own/sim.h"

#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

static int make_caches(struct trod_own_sim *s, struct trod_own_future *future)
{
    const struct trod_own_config *c = s->config;
    uint32_t ahead = 0;
    int rc;

    for (unsigned i = 0; i < c->n; i++) {
        s->first[i] = s->instances;
        s->instances += c->spec[i].home.instances;
    }
    s->cache = calloc(s->instances ? s->instances : 1, sizeof *s->cache);
    if (!s->cache)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < c->spec[i].home.instances; k++) {
            struct trod_own_coming *coming =
                future && c->spec[i].policy.kind == TROD_REPL_OPT ? &future->cache[ahead++] : NULL;

            rc = trod_own_cache_init(&s->cache[s->first[i] + k], &c->spec[i], c->classify, coming,
                                     future && !future->turned);
            if (rc < 0)
                return rc;
        }
    return 0;
}

static int make_tlbs(struct trod_own_sim *s)
{
    const struct trod_own_config *c = s->config;
    int rc;

    for (unsigned i = 0; i < c->n_tlbs; i++) {
        s->first_tlb[i] = s->tlbs;
        s->tlbs += c->tlb[i].home.instances;
    }
    s->tlb = calloc(s->tlbs ? s->tlbs : 1, sizeof *s->tlb);
    if (!s->tlb)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; i < c->n_tlbs; i++)
        for (uint32_t k = 0; k < c->tlb[i].home.instances; k++)
            if ((rc = trod_own_tlb_init(&s->tlb[s->first_tlb[i] + k], &c->tlb[i])) < 0)
                return rc;
    return 0;
}

/*
 * Can an inclusive level behind C, because of a prefetch, evict the line that it is bringing in for
 * C?
 */
static bool may_lose(const struct trod_own_cache *c)
{
    const uint8_t side = c->spec->side;
    bool prefetches = false;

    while ((c = c->next)) {
        prefetches = prefetches || c->spec->prefetch;
        if (prefetches && trod_own_includes_side(c->spec, side))
            return true;
    }
    return false;
}

static int link_caches(struct trod_own_sim *s)
{
    const struct trod_own_config *c = s->config;

    for (unsigned i = 0; i < c->n; i++)
        for (uint32_t k = 0; k < c->cores; k++) {
            struct trod_own_cache *from = trod_own_cache_of(s, i, k), *to, **more;

            if (!from || from->next || c->spec[i].next[k] < 0)
                continue;
            to = trod_own_cache_of(s, (unsigned)c->spec[i].next[k], k);
            more = realloc(to->child, (to->n_child + 1) * sizeof(*more));
            if (!more)
                return TROD_ERR_NOMEM;
            from->next = to;
            to->child = more;
            more[to->n_child++] = from;
        }
    for (uint32_t i = 0; i < s->instances; i++)
        s->cache[i].may_lose = may_lose(&s->cache[i]);
    return 0;
}

/* What each core begins with. */
static void enter(struct trod_own_sim *s)
{
    const struct trod_own_config *c = s->config;

    for (unsigned i = 0; i < c->n_tlbs; i++)
        for (uint32_t k = 0; k < c->cores; k++)
            if (trod_own_tlb_of(s, i, k) && c->tlb[i].next[k] >= 0)
                trod_own_tlb_of(s, i, k)->next = trod_own_tlb_of(s, (unsigned)c->tlb[i].next[k], k);
    for (uint32_t k = 0; k < c->cores; k++) {
        for (unsigned data = 0; data < 2; data++) {
            const uint8_t other = data ? TROD_OWN_CODE : TROD_OWN_DATA;

            for (unsigned i = 0; !s->entry[k][data] && i < c->n; i++)
                if (c->spec[i].side != other)
                    s->entry[k][data] = trod_own_cache_of(s, i, k);
            for (unsigned i = 0; !s->look[k][data] && i < c->n_tlbs; i++)
                if (c->tlb[i].side != other)
                    s->look[k][data] = trod_own_tlb_of(s, i, k);
        }
        if (c->walk >= 0)
            s->walk[k] = trod_own_cache_of(s, (unsigned)c->walk, k);
    }
    trod_own_coherence_init(s);
}

uint32_t trod_own_sim_ahead(const struct trod_own_config *config)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < config->n; i++)
        if (config->spec[i].policy.kind == TROD_REPL_OPT)
            n += config->spec[i].home.instances;
    return n;
}

int trod_own_sim_init_pass(struct trod_own_sim *s, const struct trod_own_config *config,
                           struct trod_own_future *future)
{
    int rc;

    memset(s, 0, sizeof *s);
    s->config = config;
    s->thread.map = s->holders.map = s->key.map = s->shared_of.map = true;
    s->paged = config->n_tlbs || config->physical;
    trod_own_pages_init(&s->pages, config);
    if ((rc = make_caches(s, future)) < 0 || (rc = make_tlbs(s)) < 0 || (rc = link_caches(s)) < 0)
        return rc;
    enter(s);
    return 0;
}

int trod_own_sim_init(struct trod_own_sim *s, const struct trod_own_config *config)
{
    return trod_own_sim_init_pass(s, config, NULL);
}

int trod_own_sim_memory(struct trod_own_sim *s, int (*give)(void *user, const struct trod_batch *b),
                        void *user)
{
    for (uint32_t i = 0; i < s->instances; i++)
        s->cache[i].memory = &s->memory;
    return trod_own_memory_init(&s->memory, give, user);
}

void trod_own_sim_fini(struct trod_own_sim *s)
{
    for (uint32_t i = 0; s->cache && i < s->instances; i++)
        trod_own_cache_fini(&s->cache[i]);
    free(s->cache);
    for (uint32_t i = 0; s->tlb && i < s->tlbs; i++)
        trod_own_tlb_fini(&s->tlb[i]);
    free(s->tlb);
    trod_own_memory_fini(&s->memory);
    trod_own_pages_fini(&s->pages);
    free(s->row);
    free(s->shared);
    free(s->snapshot);
    trod_own_phase_fini(s);
    trod_lines_fini(&s->thread);
    trod_lines_fini(&s->holders);
    trod_lines_fini(&s->key);
    trod_lines_fini(&s->shared_of);
}
