/*
 * config_check.c - checks a configuration and computes what follows from it: sets, instances, which
 * level is next.
 *
 * Implements own/config_int.h. Combinations that the model cannot simulate are refused here.
 */
#include "sim/own/config_int.h"

#include <string.h>

#define fail trod_own_config_fail

/* The instances of H, which line LINE gave to NAME. */
static int check_home(const struct trod_own_parser *p, struct trod_own_home *h, unsigned line,
                      const char *name)
{
    const uint32_t cores = p->c->cores;
    const uint64_t all = cores == 64 ? UINT64_MAX : (UINT64_C(1) << cores) - 1;
    uint32_t n = 0, together;

    if (h->cores == 0)
        h->cores = all;
    if (h->cores & ~all)
        return fail(p, line, "there are not so many cores:", name);
    if (h->shared && h->cluster)
        return fail(p, line, "shared and cluster exclude each other:", name);
    together = h->shared ? cores : h->cluster ? h->cluster : 1;
    for (uint32_t k = 0; k < TROD_OWN_CORES; k++) {
        const bool here = h->cores >> k & 1;

        h->of[k] = here ? (uint8_t)(n / together) : TROD_OWN_NOT_HERE;
        n += here;
    }
    h->instances = (n + together - 1) / together;
    return 0;
}

/* Do core K and those before it that have FROM together have NEXT, whose home is TO, together? */
static bool stays_together(const struct trod_own_home *from, const int16_t *next, uint32_t k,
                           const struct trod_own_home *to)
{
    for (uint32_t j = 0; j < k; j++)
        if (from->of[j] == from->of[k] &&
            (next[j] != next[k] || (next[k] >= 0 && to->of[j] != to->of[k])))
            return false;
    return true;
}

/* What sub-blocks and looking ahead do not go with. */
static int check_kind(const struct trod_own_parser *p, const struct trod_own_spec *s)
{
    const bool ahead = s->policy.kind == TROD_REPL_OPT;

    if (s->sector && (s->sector & (s->sector - 1) || s->sector < 4 || s->sector > s->line ||
                      s->line / s->sector > 64))
        return fail(p, s->line_number,
                    "a sector has a power of two of bytes, 4 to a line, at most 64 a line: cache",
                    s->name);
    if (s->sector && (s->victims || s->prefetch || s->inclusion != TROD_OWN_NEITHER))
        return fail(p, s->line_number,
                    "sectors go with neither victims, prefetch nor inclusion: cache", s->name);
    if (s->incoherent && s->side != TROD_OWN_CODE)
        return fail(p, s->line_number,
                    "only a cache for code can keep what other cores write (coherent=no): cache",
                    s->name);
    if (s->inclusion == TROD_OWN_EXCLUSIVE && s->prefetch)
        return fail(p, s->line_number,
                    "an exclusive cache takes in nothing but what is pushed out, and cannot "
                    "prefetch: cache",
                    s->name);
    if (s->inclusion == TROD_OWN_EVICTED && (s->victims || s->prefetch))
        return fail(p, s->line_number,
                    "a cache of evicted lines goes with neither victims nor prefetch: cache",
                    s->name);
    if (ahead && (s->victims || s->prefetch || s->no_allocate || s->inclusion != TROD_OWN_NEITHER))
        return fail(p, s->line_number,
                    "opt goes with neither victims, prefetch, inclusion nor allocate=no: cache",
                    s->name);
    if (ahead && p->c->coherent && p->c->cores > 1)
        return fail(p, s->line_number, "opt does not go with coherence: cache", s->name);
    return 0;
}

/* Sets, and that S is a cache at all. */
static int check_cache(const struct trod_own_parser *p, struct trod_own_spec *s)
{
    uint64_t lines;

    if (s->size == 0)
        return fail(p, s->line_number, "no size: cache", s->name);
    lines = s->size / s->line;
    if (lines > UINT32_MAX / 4)
        return fail(p, s->line_number, "more than 1,073,741,823 lines: cache", s->name);
    if (lines == 0 || s->size % s->line)
        return fail(p, s->line_number, "the size is no whole number of lines: cache", s->name);
    if (s->ways == 0)
        s->ways = (uint32_t)lines;
    if (lines % s->ways)
        return fail(p, s->line_number, "the lines cannot be shared out to the ways: cache",
                    s->name);
    if (s->policy.kind == TROD_REPL_TREE_PLRU && s->ways & (s->ways - 1))
        return fail(p, s->line_number, "tree-plru needs a power of two of ways: cache", s->name);
    s->sets = lines / s->ways;
    if (check_kind(p, s) < 0)
        return TROD_ERR_USAGE;
    return check_home(p, &s->home, s->line_number, s->name);
}

static int check_tlb(const struct trod_own_parser *p, struct trod_own_tlb_spec *t)
{
    if (t->entries == 0)
        return fail(p, t->line_number, "no number of entries: tlb", t->name);
    if (t->ways == 0)
        t->ways = t->entries;
    if (t->entries % t->ways)
        return fail(p, t->line_number, "the entries cannot be shared out to the ways: tlb",
                    t->name);
    if (t->policy.kind == TROD_REPL_OPT)
        return fail(p, t->line_number, "opt is a policy of caches: tlb", t->name);
    if (t->policy.kind == TROD_REPL_TREE_PLRU && t->ways & (t->ways - 1))
        return fail(p, t->line_number, "tree-plru needs a power of two of ways: tlb", t->name);
    t->sets = t->entries / t->ways;
    return check_home(p, &t->home, t->line_number, t->name);
}

/* Can cache S have cache N behind it? */
static int check_next(const struct trod_own_parser *p, const struct trod_own_spec *s,
                      const struct trod_own_spec *n)
{
    if (n->side != TROD_OWN_BOTH && n->side != s->side)
        return fail(p, s->line_number, "the next cache holds something else: cache", s->name);
    if (s->home.shared && !n->home.shared)
        return fail(p, s->line_number, "the caches after a shared one must be shared: cache",
                    s->name);
    if (n->line < s->line)
        return fail(p, s->line_number, "the next cache has shorter lines: cache", s->name);
    if (trod_own_hands_over(s, n) && n->line != s->line)
        return fail(p, s->line_number,
                    "what is pushed out goes to a cache with lines as long: cache", s->name);
    if (trod_own_hands_over(s, n) && s->sector)
        return fail(p, s->line_number,
                    "sectors do not go before a cache of what is pushed out: cache", s->name);
    return 0;
}

/* Which cache comes behind cache I, for each core. */
static int link_next(const struct trod_own_parser *p, unsigned i)
{
    struct trod_own_config *c = p->c;
    struct trod_own_spec *s = &c->spec[i];
    bool named = false;

    for (unsigned j = i + 1; j < c->n; j++)
        named = named || strcmp(c->spec[j].name, s->next_name) == 0;
    if (*s->next_name && !named && strcmp(s->next_name, "memory") != 0)
        return fail(p, s->line_number, "no later cache is called", s->next_name);
    for (uint32_t k = 0; k < TROD_OWN_CORES; k++) {
        s->next[k] = -1;
        if (s->home.of[k] == TROD_OWN_NOT_HERE)
            continue;
        for (unsigned j = i + 1; s->next[k] < 0 && j < c->n; j++)
            if (c->spec[j].home.of[k] != TROD_OWN_NOT_HERE &&
                (*s->next_name ? strcmp(c->spec[j].name, s->next_name) == 0
                               : c->spec[j].side == TROD_OWN_BOTH))
                s->next[k] = (int16_t)j;
        if (s->next[k] >= 0 && check_next(p, s, &c->spec[s->next[k]]) < 0)
            return TROD_ERR_USAGE;
        if (!stays_together(&s->home, s->next, k,
                            &c->spec[s->next[k] < 0 ? i : (unsigned)s->next[k]].home))
            return fail(p, s->line_number, "cores that share it do not share the next one: cache",
                        s->name);
    }
    return 0;
}

/*
 * The references of a cache with policy opt must not depend on another policy that knows the
 * future, because the first pass simulates LRU there.
 */
static int check_ahead(const struct trod_own_parser *p, unsigned i)
{
    const struct trod_own_config *c = p->c;

    for (uint32_t k = 0; c->spec[i].policy.kind == TROD_REPL_OPT && k < TROD_OWN_CORES; k++)
        for (int n = c->spec[i].next[k]; n >= 0; n = c->spec[n].next[k])
            if (c->spec[n].policy.kind == TROD_REPL_OPT || trod_own_includes(&c->spec[n]))
                return fail(p, c->spec[n].line_number,
                            "a cache after one with opt can be neither opt nor inclusive: cache",
                            c->spec[n].name);
    return 0;
}

static int link_tlb(const struct trod_own_parser *p, unsigned i)
{
    struct trod_own_config *c = p->c;
    struct trod_own_tlb_spec *t = &c->tlb[i];
    bool named = false;

    for (unsigned j = i + 1; j < c->n_tlbs; j++)
        named = named || strcmp(c->tlb[j].name, t->next_name) == 0;
    if (*t->next_name && !named && strcmp(t->next_name, "walk") != 0)
        return fail(p, t->line_number, "no later tlb is called", t->next_name);
    for (uint32_t k = 0; k < TROD_OWN_CORES; k++) {
        t->next[k] = -1;
        if (t->home.of[k] == TROD_OWN_NOT_HERE)
            continue;
        for (unsigned j = i + 1; t->next[k] < 0 && j < c->n_tlbs; j++)
            if (c->tlb[j].home.of[k] != TROD_OWN_NOT_HERE &&
                (*t->next_name ? strcmp(c->tlb[j].name, t->next_name) == 0
                               : c->tlb[j].side == TROD_OWN_BOTH))
                t->next[k] = (int16_t)j;
        if (t->next[k] >= 0 && c->tlb[t->next[k]].side != TROD_OWN_BOTH &&
            c->tlb[t->next[k]].side != t->side)
            return fail(p, t->line_number, "the next tlb holds something else: tlb", t->name);
        if (!stays_together(&t->home, t->next, k,
                            &c->tlb[t->next[k] < 0 ? i : (unsigned)t->next[k]].home))
            return fail(p, t->line_number, "cores that share it do not share the next one: tlb",
                        t->name);
    }
    return 0;
}

/* Coherence is kept by the lines of what data come to first: those of all cores are as long. */
static int check_coherence(const struct trod_own_parser *p)
{
    const struct trod_own_config *c = p->c;
    uint32_t line = 0;

    for (uint32_t k = 0; c->coherent && k < c->cores; k++)
        for (unsigned i = 0; i < c->n; i++) {
            const struct trod_own_spec *s = &c->spec[i];

            if (s->side == TROD_OWN_CODE || s->home.of[k] == TROD_OWN_NOT_HERE)
                continue;
            if (line && s->line != line)
                return fail(p, s->line_number,
                            "coherence needs first caches with lines as long for all cores: cache",
                            s->name);
            line = s->line;
            break;
        }
    return 0;
}

static int link_walk(const struct trod_own_parser *p)
{
    struct trod_own_config *c = p->c;

    c->walk = -1;
    for (unsigned i = 0; i < c->n; i++)
        if (strcmp(c->spec[i].name, c->walk_name) == 0)
            c->walk = (int)i;
    if (c->walk < 0)
        return *c->walk_name && strcmp(c->walk_name, "memory") != 0
                   ? fail(p, c->walk_line, "no cache is called", c->walk_name)
                   : 0;
    if (c->spec[c->walk].side == TROD_OWN_CODE)
        return fail(p, c->walk_line, "page walks read data: cache", c->walk_name);
    if (c->spec[c->walk].line < 8)
        return fail(p, c->walk_line, "page tables have entries of 8 bytes, longer than a line of",
                    c->walk_name);
    if (c->n_tlbs == 0)
        return fail(p, c->walk_line, "page walks without a tlb", NULL);
    return 0;
}

/* What caches and TLBs have in common. */
struct place {
    const struct trod_own_home *home;
    const int16_t *next;
    uint8_t side;
};

/* Do references of CORE come to number I before they come to another one? */
static bool is_first(const struct place *at, unsigned i, uint32_t core)
{
    bool code = at[i].side != TROD_OWN_DATA, data = at[i].side != TROD_OWN_CODE;

    for (unsigned j = 0; j < i; j++)
        if (at[j].home->of[core] != TROD_OWN_NOT_HERE) {
            code = code && at[j].side == TROD_OWN_DATA;
            data = data && at[j].side == TROD_OWN_CODE;
        }
    return code || data;
}

/* Does anything come to number I? */
static bool is_used(const struct place *at, unsigned i, uint32_t cores)
{
    for (uint32_t k = 0; k < cores; k++) {
        if (at[i].home->of[k] == TROD_OWN_NOT_HERE)
            continue;
        if (is_first(at, i, k))
            return true;
        for (unsigned j = 0; j < i; j++)
            if (at[j].home->of[k] != TROD_OWN_NOT_HERE && at[j].next[k] == (int)i)
                return true;
    }
    return false;
}

/* One that nothing comes to is a mistake: of a name, of an order, or of what it holds. */
static int check_used(const struct trod_own_parser *p)
{
    static const char idle[] = "nothing comes to it, as it is neither a first one nor the next one "
                               "of another (next=NAME):";
    const struct trod_own_config *c = p->c;
    struct place cache[TROD_OWN_CACHES], tlb[TROD_OWN_TLBS];

    for (unsigned i = 0; i < c->n; i++) {
        cache[i] = (struct place){&c->spec[i].home, c->spec[i].next, c->spec[i].side};
        if ((int)i != c->walk && !is_used(cache, i, c->cores))
            return fail(p, c->spec[i].line_number, idle, c->spec[i].name);
    }
    for (unsigned i = 0; i < c->n_tlbs; i++) {
        tlb[i] = (struct place){&c->tlb[i].home, c->tlb[i].next, c->tlb[i].side};
        if (!is_used(tlb, i, c->cores))
            return fail(p, c->tlb[i].line_number, idle, c->tlb[i].name);
    }
    return 0;
}

int trod_own_config_bare(const struct trod_own_config *c, bool data)
{
    const uint64_t all = c->cores == 64 ? UINT64_MAX : (UINT64_C(1) << c->cores) - 1;
    uint64_t have = 0;

    for (unsigned i = 0; i < c->n; i++)
        have |=
            c->spec[i].side == (data ? TROD_OWN_CODE : TROD_OWN_DATA) ? 0 : c->spec[i].home.cores;
    return have == 0 || have == all ? -1 : __builtin_ctzll(~have);
}

int trod_own_config_check(const struct trod_own_parser *p)
{
    struct trod_own_config *c = p->c;
    int rc = 0;

    if (c->n == 0 && c->n_tlbs == 0)
        return fail(p, p->line ? p->line : 1, "no cache", NULL);
    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = check_cache(p, &c->spec[i]);
    for (unsigned i = 0; rc == 0 && i < c->n_tlbs; i++)
        rc = check_tlb(p, &c->tlb[i]);
    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = link_next(p, i);
    for (unsigned i = 0; rc == 0 && i < c->n; i++)
        rc = check_ahead(p, i);
    for (unsigned i = 0; rc == 0 && i < c->n_tlbs; i++)
        rc = link_tlb(p, i);
    if (rc == 0)
        rc = check_coherence(p);
    if (rc == 0)
        rc = link_walk(p);
    return rc < 0 ? rc : check_used(p);
}
