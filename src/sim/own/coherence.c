/*
 * coherence.c - coherence between the caches of different cores.
 *
 * Implements own/sim.h, "coherence.c". It is MESI as a directory keeps it: which cores may hold a
 * line in caches of their own. A write invalidates the line in the others, a read makes a dirty
 * copy clean. Caches for code hold nothing dirty, but lose what is written, too. Cores that have
 * their first cache of data together are one for the directory, and for what is counted: bits are
 * those of the lowest of them, their leader.
 */
#include "sim/own/sim.h"

/* --- what the configuration says --- */

/*
 * May lines come to caches that data of a core go through without a reference that coherence sees?
 * Prefetches do, what others that share a cache reference, and code that was fetched before
 * somebody else wrote there, when a cache that keeps it pushes it out into an exclusive level.
 */
static bool comes_unseen(const struct trod_own_config *c, const struct trod_own_spec *s)
{
    bool code = false;

    for (uint32_t k = 0; s->incoherent && k < c->cores; k++)
        code = code || (s->next[k] >= 0 && trod_own_hands_over(s, &c->spec[s->next[k]]));
    return code || s->prefetch || s->home.cluster > 1 || s->home.shared;
}

/* Is C among the caches that data (SIDE 1) or code of core K go through? */
static bool is_used_by(const struct trod_own_sim *s, uint32_t k, unsigned side,
                       const struct trod_own_cache *c)
{
    const struct trod_own_cache *own = s->entry[k][side];

    while (own && own != c)
        own = own->next;
    return own != NULL;
}

/*
 * The cache at DEPTH (0: first) that data (SIDE 1) or code of core K go through, where CORE does
 * not use it; else NULL.
 */
static struct trod_own_cache *apart(const struct trod_own_sim *s, uint32_t k, unsigned side,
                                    unsigned depth, uint32_t core)
{
    struct trod_own_cache *c = s->entry[k][side];

    for (; depth && c; depth--)
        c = c->next;
    return c && !is_used_by(s, core, 1, c) && !is_used_by(s, core, 0, c) ? c : NULL;
}

/* How many caches code of core K goes through before those of its data, if writes matter there. */
static uint8_t code_alone(const struct trod_own_sim *s, uint32_t k)
{
    uint8_t n = 0, most = 0;

    for (const struct trod_own_cache *c = s->entry[k][0]; c && !is_used_by(s, k, 1, c);
         c = c->next) {
        n++;
        most = c->spec->incoherent ? most : n;
    }
    return most;
}

static void find_leaders(struct trod_own_sim *s)
{
    for (uint32_t k = 0; k < s->config->cores; k++) {
        s->leader[k] = (uint8_t)k;
        for (uint32_t j = k; s->entry[k][1] && j-- > 0;)
            if (s->entry[j][1] == s->entry[k][1])
                s->leader[k] = (uint8_t)j;
        if (s->entry[k][0] || s->entry[k][1])
            s->leaders |= UINT64_C(1) << s->leader[k];
        if (s->entry[k][1])
            s->unit_bits = (uint8_t)s->entry[k][1]->line_bits;
    }
}

/*
 * Which references of core K coherence looks at: those through a first cache that another core does
 * not use, and those to what other cores may have in caches that K does not use.
 */
static uint8_t asks_of(const struct trod_own_sim *s, uint32_t k)
{
    bool mine[2] = {false, false}, data = false, code = false;
    uint8_t kinds = 0;

    for (uint32_t j = 0; j < s->config->cores; j++) {
        if (j == k || !(s->leaders >> s->leader[j] & 1))
            continue;
        mine[0] = mine[0] || apart(s, k, 0, 0, j);
        mine[1] = mine[1] || apart(s, k, 1, 0, j);
        data = data || apart(s, j, 1, 0, k);
        code = code || (s->alone[j] && apart(s, j, 0, 0, k));
    }
    if (s->entry[k][0] && (mine[0] || data))
        kinds |= 1u << TROD_OWN_FETCH;
    if (s->entry[k][1] && (mine[1] || data))
        kinds |= 1u << TROD_OWN_READ | 1u << TROD_OWN_WRITE;
    if (s->entry[k][1] && code)
        kinds |= 1u << TROD_OWN_WRITE;
    return kinds;
}

/* Has another core that has its first cache of data together with K code that a write takes? */
static bool has_kin(const struct trod_own_sim *s, uint32_t k)
{
    for (uint32_t j = 0; j < s->config->cores; j++)
        for (unsigned depth = 0; s->leader[j] == s->leader[k] && depth < s->alone[j]; depth++)
            if (j != k && apart(s, j, 0, depth, k))
                return true;
    return false;
}

void trod_own_coherence_init(struct trod_own_sim *s)
{
    const struct trod_own_config *c = s->config;
    const uint64_t all = UINT64_MAX >> (64 - c->cores);

    if (!c->coherent || c->cores == 1)
        return;
    find_leaders(s);
    s->holder_bits = s->unit_bits;
    for (unsigned i = 0; i < c->n; i++) {
        const uint8_t bits =
            s->first[i] < s->instances ? (uint8_t)s->cache[s->first[i]].line_bits : 0;

        if (c->spec[i].home.shared && c->spec[i].home.cores == all)
            continue;
        s->unseen = s->unseen || comes_unseen(c, &c->spec[i]);
        s->mixed = s->mixed || (s->holder_bits && bits != s->holder_bits);
        s->holder_bits = bits > s->holder_bits ? bits : s->holder_bits;
    }
    for (uint32_t k = 0; k < c->cores; k++) {
        s->alone[k] = code_alone(s, k);
        s->most_alone = s->alone[k] > s->most_alone ? s->alone[k] : s->most_alone;
    }
    for (uint32_t k = 0; k < c->cores; k++) {
        s->asks[k] = asks_of(s, k);
        s->kin |= (uint64_t)has_kin(s, k) << k;
    }
}

/* --- references --- */

/* Leaders among OTHERS of cores whose references go through C. */
static uint64_t users_of(const struct trod_own_sim *s, uint64_t others,
                         const struct trod_own_cache *c)
{
    uint64_t users = 0;

    for (uint32_t k = 0; k < s->config->cores; k++)
        if (others >> s->leader[k] & 1 && (is_used_by(s, k, 1, c) || is_used_by(s, k, 0, c)))
            users |= UINT64_C(1) << s->leader[k];
    return users;
}

typedef bool act_on_cache(struct trod_own_cache *, uint64_t);

/* ACT on all lines of C that the line of ADDR, as first caches of data have it, is in. */
static bool act_on_line(const struct trod_own_sim *s, struct trod_own_cache *c, uint64_t addr,
                        act_on_cache *act)
{
    const uint64_t unit = UINT64_C(1) << s->unit_bits, start = addr & ~(unit - 1);
    bool any = false;

    if (c->line_bits >= s->unit_bits)
        return act(c, addr);
    for (uint64_t at = 0; at < unit; at += c->spec->line)
        any = act(c, start + at) || any;
    return any;
}

/* What is asked of which cores' caches. */
struct question {
    uint64_t others;
    uint32_t core;
    uint64_t addr;
    act_on_cache *act;
};

/* The same for caches at DEPTH of those asked; ANY: of whom it was true before. */
static uint64_t at_depth(struct trod_own_sim *s, const struct question *q, unsigned side,
                         unsigned depth, uint64_t any, bool *more)
{
    for (uint32_t k = 0; k < s->config->cores; k++) {
        struct trod_own_cache *c;

        if (!(q->others >> s->leader[k] & 1) || (side ? s->leader[k] != k : depth >= s->alone[k]) ||
            !(c = apart(s, k, side, depth, q->core)))
            continue;
        *more = true;
        if (!c->spec->incoherent && act_on_line(s, c, q->addr, q->act) &&
            !(any && users_of(s, q->others, c) & any))
            any |= UINT64_C(1) << s->leader[k];
    }
    return any;
}

/*
 * Run ACT over the caches that cores OTHERS do not share with CORE: those that data go through,
 * level by level, and then those of code alone. Returns bits of the cores for which it said true;
 * what a cache of a cluster says counts for one of its cores.
 */
static uint64_t each_private(struct trod_own_sim *s, uint64_t others, uint32_t core, uint64_t addr,
                             act_on_cache *act)
{
    const struct question q = {others, core, addr, act};
    uint64_t any = 0;
    bool more = true;

    for (unsigned depth = 0; more; depth++) {
        more = false;
        any = at_depth(s, &q, 1, depth, any, &more);
    }
    for (unsigned depth = 0; depth < s->most_alone; depth++)
        any = at_depth(s, &q, 0, depth, any, &more);
    return any;
}

static unsigned ones(uint64_t v)
{
    unsigned n = 0;

    for (; v; v &= v - 1)
        n++;
    return n;
}

/* Has CORE the line of ADDR in a cache of its own? */
static bool has(const struct trod_own_sim *s, uint32_t core, uint64_t addr)
{
    for (struct trod_own_cache *c = s->entry[core][1]; c; c = c->next)
        if (trod_own_cache_has(c, addr) &&
            (c == s->entry[core][1] || (!c->spec->home.shared && c->spec->home.cluster < 2)))
            return true;
    return false;
}

/*
 * The directory knows which cores have referenced a line since another one wrote it; which of them
 * still hold it is looked up. Some lines come to caches without the directory seeing them: where
 * there may be such lines, every core is looked up.
 */
void trod_own_cohere(struct trod_own_sim *s, uint32_t core, uint64_t addr, bool write)
{
    const uint64_t own = UINT64_C(1) << s->leader[core];
    const bool kin = write && s->kin >> core & 1;
    uint64_t *holders = trod_lines_at(&s->holders, addr >> s->holder_bits), others;

    if (!holders) {
        s->failed = true;
        return;
    }
    others = (s->unseen ? s->leaders : *holders) & (kin ? UINT64_MAX : ~own);
    if (others)
        others = each_private(s, others, core, addr, trod_own_cache_has);
    if (others) {
        s->upgrades += write && has(s, core, addr);
        s->interventions += ones(each_private(
            s, others, core, addr, write ? trod_own_cache_take_away : trod_own_cache_clean));
        if (write)
            s->invalidations += ones(others);
        if (write && s->sharing && !s->mode)
            trod_own_sharing_lost(s, addr, ones(others));
    }
    if (s->mixed) /* a core without this line may have another one of these */
        *holders |= own;
    else
        *holders = write ? own : others | own;
}
