/*
 * build.c - making the caches and TLBs of a configuration, and checking it.
 *
 * Implements dr/sim.h, trod_dr_sim_init.
 */
#include "sim/dr/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    struct trod_dr_sim *s;
    const struct trod_dr_config *c;
    const char *path;
    struct trod_diag *diag;
};

/* Core CORE lacks a cache that its instructions or data come to first. */
static int fail_core(const struct builder *b, uint32_t core)
{
    const struct trod_dr_config *c = b->c;
    const bool code = b->s->code[core] != NULL, data = b->s->data[core] != NULL;
    struct trod_place at = trod_place_path(b->path);

    at.line = c->cores_line ? c->cores_line : c->last_line ? c->last_line : 1;
    return trod_error(b->diag, TROD_ERR_USAGE, "cache.config", b->path ? &at : NULL,
                      "core %" PRIu32 " has no %s cache: each core below num_cores (%" PRIu32
                      "%s) needs an instruction and a data cache, or a unified one, with 'core N'",
                      core,
                      code   ? "data"
                      : data ? "instruction"
                             : "instruction and no data",
                      c->cores, c->cores_line ? "" : ", as it is not given");
}

static int fail(const struct builder *b, const struct trod_dr_spec *s, const char *what)
{
    struct trod_place at = trod_place_path(b->path);

    if (s && s->line)
        at.line = s->line;
    return trod_error(b->diag, TROD_ERR_USAGE, "cache.config", b->path ? &at : NULL, "%s%s%s%s",
                      s ? "cache '" : "", s ? s->name : "", s ? "': " : "", what);
}

/* DynamoRIO's LRU is that of counted_lru.h. */
static struct trod_repl_options policy_of(const struct trod_repl_options *o)
{
    struct trod_repl_options own = *o;

    if (o->kind == TROD_REPL_LRU)
        own.kind = TROD_REPL_COUNTED_LRU;
    return own;
}

static unsigned log2_of(uint64_t v)
{
    unsigned bits = 0;

    while (v >>= 1)
        bits++;
    return bits;
}

/* Lines of CACHE and what they are called: sizes that the simulator takes. */
static int make(const struct builder *b, const struct trod_dr_spec *s, struct trod_dr_cache *c)
{
    const uint64_t line = b->c->line_size;
    const uint64_t lines = s->size / line;
    const struct trod_repl_options policy = policy_of(&s->policy);
    uint64_t sets;
    int rc;

    if (s->size == 0)
        return fail(b, s, "no size");
    if (s->ways == 0)
        return fail(b, s, "no number of ways (assoc)");
    sets = lines / s->ways;
    if (sets == 0 || sets & (sets - 1) || s->size % line)
        return fail(b, s, "size / line size / ways must be a power of two");
    if (s->inclusive && s->exclusive)
        return fail(b, s, "a cache cannot be both inclusive and exclusive");
    if (s->policy.kind == TROD_REPL_BIT_PLRU && s->ways == 1)
        return fail(b, s, "BIT_PLRU needs two ways or more");
    c->name = s->name;
    c->side = s->side;
    c->inclusive = s->inclusive;
    c->exclusive = s->exclusive;
    c->prefetches = s->prefetches;
    c->size = s->size;
    c->line_bits = log2_of(line);
    c->last = TROD_NO_LINE;
    if ((rc = trod_store_init(&c->store, &policy, sets, s->ways)) == TROD_ERR_USAGE)
        return fail(b, s, "this policy does not go with this number of ways");
    return rc;
}

static int link_parents(const struct builder *b)
{
    struct trod_dr_sim *s = b->s;

    for (uint32_t i = 0; i < s->n_cache; i++) {
        const struct trod_dr_spec *spec = &b->c->spec[i];
        struct trod_dr_cache *c = &s->cache[i], **more;

        for (uint32_t j = 0; *spec->parent && j < s->n_cache; j++)
            if (strcmp(b->c->spec[j].name, spec->parent) == 0)
                c->parent = &s->cache[j];
        if (!*spec->parent)
            continue;
        if (!c->parent)
            return fail(b, spec, "its parent is no cache of this configuration");
        if (c->parent->side != TROD_DR_UNIFIED && c->parent->side != c->side)
            return fail(b, spec, "the type of its parent is another one");
        more = realloc(c->parent->child, (c->parent->n_child + 1) * sizeof(*more));
        if (!more)
            return TROD_ERR_NOMEM;
        c->parent->child = more;
        more[c->parent->n_child++] = c;
    }
    for (uint32_t i = 0; i < s->n_cache; i++) {
        const struct trod_dr_cache *up = &s->cache[i];
        uint32_t steps = 0;

        while (up->parent && steps++ <= s->n_cache)
            up = up->parent;
        if (steps > s->n_cache)
            return fail(b, &b->c->spec[i], "its parents go round in a circle");
    }
    return 0;
}

/* First-level caches to their cores. */
static int link_cores(const struct builder *b)
{
    struct trod_dr_sim *s = b->s;

    for (uint32_t i = 0; i < s->n_cache; i++) {
        const struct trod_dr_spec *spec = &b->c->spec[i];
        const bool code = spec->side != TROD_DR_DATA, data = spec->side != TROD_DR_CODE;

        if (spec->core < 0)
            continue;
        if ((uint32_t)spec->core >= b->c->cores)
            return fail(b, spec, "its core is not below num_cores");
        if ((code && s->code[spec->core]) || (data && s->data[spec->core]))
            return fail(b, spec, "its core has such a cache already");
        if (code)
            s->code[spec->core] = &s->cache[i];
        if (data)
            s->data[spec->core] = &s->cache[i];
    }
    for (uint32_t i = 0; i < b->c->cores; i++)
        if (!s->code[i] || !s->data[i])
            return fail_core(b, i);
    return 0;
}

static void coherent_below(struct trod_dr_cache *c)
{
    c->coherent = true;
    for (uint32_t i = 0; i < c->n_child; i++)
        coherent_below(c->child[i]);
}

/* Where the snoop filter sits (drcachesim, simulator/cache_simulator.cpp). */
static int link_snoop(const struct builder *b)
{
    struct trod_dr_sim *s = b->s;
    struct trod_dr_cache *at = NULL;
    uint32_t n = 0;
    int rc;

    for (uint32_t i = 0; i < s->n_cache; i++)
        if (!s->cache[i].parent) {
            at = &s->cache[i];
            n++;
        }
    if (n == 1) {
        while (at->n_child == 1)
            at = at->child[0];
        n = at->n_child;
    } else {
        at = NULL;
    }
    if (n == 0)
        return 0;
    if ((rc = trod_dr_snoop_init(&s->snoop, n)) < 0)
        return rc;
    n = 0;
    for (uint32_t i = 0; i < s->n_cache; i++) {
        struct trod_dr_cache *c = &s->cache[i];

        if (c->parent != at)
            continue;
        c->snoop = &s->snoop;
        c->snoop_id = n;
        s->snoop.cache[n++] = c;
        coherent_below(c);
    }
    return 0;
}

static void note_miss(void *user, const struct trod_sim_ref *r, uint64_t addr)
{
    struct trod_dr_sim *s = user;

    if (r->op == TROD_OP_READ)
        trod_dr_misses_add(&s->misses, r->pc, addr >> s->cache[0].line_bits);
}

static int build_caches(const struct builder *b)
{
    struct trod_dr_sim *s = b->s;
    int rc;

    s->cache = calloc(b->c->n_spec ? b->c->n_spec : 1, sizeof *s->cache);
    s->code = calloc(b->c->cores, sizeof(*s->code));
    s->data = calloc(b->c->cores, sizeof(*s->data));
    if (!s->cache || !s->code || !s->data)
        return TROD_ERR_NOMEM;
    for (; s->n_cache < b->c->n_spec; s->n_cache++)
        if ((rc = make(b, &b->c->spec[s->n_cache], &s->cache[s->n_cache])) < 0)
            return rc;
    if ((rc = link_parents(b)) < 0 || (rc = link_cores(b)) < 0)
        return rc;
    if (b->c->coherent && (rc = link_snoop(b)) < 0)
        return rc;
    for (uint32_t i = 0; b->c->tool == TROD_DR_MISS_ANALYZER && i < s->n_cache; i++)
        if (!s->cache[i].parent) {
            s->cache[i].missed = note_miss;
            s->cache[i].user = s;
        }
    return 0;
}

static int build_tlb(const struct builder *b, struct trod_dr_tlb *t, struct trod_dr_tlb *parent,
                     uint32_t entries, uint32_t ways)
{
    const struct trod_repl_options policy = policy_of(&b->c->tlb.policy);
    const uint64_t sets = ways ? entries / ways : 0;

    if (sets == 0 || sets & (sets - 1) || entries % ways)
        return fail(b, NULL, "entries / ways of a TLB must be a power of two");
    if (b->c->tlb.policy.kind == TROD_REPL_BIT_PLRU && ways == 1)
        return fail(b, NULL, "BIT_PLRU needs two ways or more");
    t->page_bits = log2_of(b->c->page_size);
    t->last = TROD_NO_LINE;
    t->parent = parent;
    return trod_store_init(&t->store, &policy, sets, ways);
}

static int build_tlbs(const struct builder *b)
{
    const struct trod_dr_tlb_options *o = &b->c->tlb;
    int rc = 0;

    b->s->tlb = calloc(b->c->cores, sizeof *b->s->tlb);
    if (!b->s->tlb)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < b->c->cores; i++) {
        struct trod_dr_tlbs *t = &b->s->tlb[i];

        rc = build_tlb(b, &t->l2, NULL, o->l2_entries, o->l2_ways);
        if (rc == 0)
            rc = build_tlb(b, &t->code, &t->l2, o->code_entries, o->code_ways);
        if (rc == 0)
            rc = build_tlb(b, &t->data, &t->l2, o->data_entries, o->data_ways);
    }
    return rc;
}

int trod_dr_sim_init(struct trod_dr_sim *s, const struct trod_dr_config *config, const char *path,
                     struct trod_diag *diag)
{
    const struct builder b = {s, config, path, diag};
    uint8_t mode = TROD_DR_BY_SHARD;
    int rc;

    memset(s, 0, sizeof *s);
    s->config = config;
    s->skip = config->skip_refs;
    s->warmup = config->warmup_refs;
    s->sim = config->sim_refs;
    s->warm = config->warmup_refs || config->warmup_fraction > 0;
    s->process.map = true;
    trod_dr_pages_init(&s->pages, config->page_size);
    if (config->cpu_scheduling)
        mode = TROD_DR_BY_CPU;
    else if (config->by_thread)
        mode = TROD_DR_BY_THREAD;
    if ((rc = trod_dr_cores_init(&s->cores, config->cores, mode)) < 0)
        return rc;
    return config->tool == TROD_DR_TLB ? build_tlbs(&b) : build_caches(&b);
}

static void tlb_fini(struct trod_dr_tlb *t)
{
    trod_store_fini(&t->store);
    trod_lines_fini(&t->seen);
}

void trod_dr_sim_fini(struct trod_dr_sim *s)
{
    for (uint32_t i = 0; s->cache && i < s->config->n_spec; i++) {
        trod_store_fini(&s->cache[i].store);
        trod_lines_fini(&s->cache[i].seen);
        trod_lines_fini(&s->cache[i].served);
        free(s->cache[i].child);
    }
    for (uint32_t i = 0; s->tlb && i < s->config->cores; i++) {
        tlb_fini(&s->tlb[i].code);
        tlb_fini(&s->tlb[i].data);
        tlb_fini(&s->tlb[i].l2);
    }
    free(s->cache);
    free(s->code);
    free(s->data);
    free(s->tlb);
    trod_dr_snoop_fini(&s->snoop);
    trod_dr_cores_fini(&s->cores);
    trod_dr_pages_fini(&s->pages);
    trod_lines_fini(&s->process);
    trod_dr_misses_fini(&s->misses);
    memset(s, 0, sizeof *s);
}
