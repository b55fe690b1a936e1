/*
 * insns.c - the instructions that ran, by address (hot.h).
 *
 * Sites are numbered as they are met, and instructions mostly are met one behind the other: what is
 * sorted are stretches of sites that lie so.
 */
#include "analysis/hot/hot.h"

#include "engine/near.h"
#include "engine/sites.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

/* ---- branches */

/* Is a branch of KIND none that loops have? */
static bool returns(unsigned kind)
{
    return kind == TROD_BR_CALL || kind == TROD_BR_ICALL || kind == TROD_BR_RETURN ||
           kind == TROD_BR_SYSCALL || kind == TROD_BR_ERET;
}

/* The kind of branch that SITE, that of NUMBER, decodes to; TROD_BR_NONE: none. */
static unsigned decoded(struct trod_sites *sites, uint32_t number)
{
    const struct trod_insn *insn = trod_site_insn(sites, number);

    return insn->valid ? insn->branch : TROD_BR_NONE;
}

/*
 * May rows of the trace of SITES say the kind of a branch that no opcode tells? Then what they say
 * none of is no branch. It is the format that counts, not the rows so far: all parts of a trace see
 * the same loops.
 */
static bool says_branches(const struct trod_sites *sites)
{
    const struct trod_meta *m = trod_sites_meta(sites);
    const struct trod_format *f = m->driver;

    if (f && strcmp(f->name, "csv") == 0) /* a table says it in columns that it may have */
        return m->dialect && strcmp(m->dialect, "usual") != 0;
    return !f || f->flags & TROD_FMT_BRANCHES;
}

/* Does nothing say whether SITE is a branch? SAYS: says_branches. */
static bool unsaid(const struct trod_site *site, bool says)
{
    return !says && site->code_n == 0 && site->branch == TROD_BR_NONE;
}

bool hot_unsaid(const struct trod_sites *sites, uint32_t site)
{
    return unsaid(trod_site_at(sites, site), says_branches(sites));
}

bool hot_loops(struct trod_sites *sites, uint32_t site)
{
    const unsigned kind = decoded(sites, site);
    const unsigned said = kind ? kind : trod_site_at(sites, site)->branch;

    if (said == TROD_BR_NONE)
        return hot_unsaid(sites, site);
    return !returns(said);
}

enum { LIKE_BITS = 9, SHORT_CODE = 8 };

/* What opcodes of up to SHORT_CODE bytes decode to: programs have few different ones. */
struct kinds {
    struct {
        uint64_t code;         /* without what only tells where a branch leads to */
        uint8_t n, iset, kind; /* n 0: none */
    } like[1 << LIKE_BITS];
    bool x86_64, says; /* SAYS: says_branches */
};

static void begin_kinds(struct kinds *k, struct trod_sites *sites)
{
    enum trod_isa isa;
    enum trod_endian endian;

    engine_sites_isa(sites, &isa, &endian);
    memset(k, 0, sizeof *k);
    k->x86_64 = isa == TROD_ISA_X86_64;
    k->says = says_branches(sites);
}

/* As decoded has it. */
static unsigned kind_of(struct kinds *k, struct trod_sites *sites, uint32_t number,
                        const struct trod_site *site)
{
    const unsigned n = site->code_n;
    unsigned known = n;
    uint64_t code;
    size_t at;

    if (n == 0 || n > SHORT_CODE)
        return decoded(sites, number);
    if (k->x86_64) {
        known = engine_near_branch(site->code, n);
        known = known ? known : n;
    }
    memcpy(&code, site->code, sizeof code);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    code >>= 8 * (SHORT_CODE - known);
#else
    code <<= 8 * (SHORT_CODE - known);
#endif
    at = (size_t)((code ^ n) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LIKE_BITS));
    if (k->like[at].n != n || k->like[at].iset != site->iset || k->like[at].code != code) {
        k->like[at].code = code;
        k->like[at].n = (uint8_t)n;
        k->like[at].iset = site->iset;
        k->like[at].kind = (uint8_t)decoded(sites, number);
    }
    return k->like[at].kind;
}

/* ---- by address */

/* Sites that ran: N of them from SITE on, which lie one behind the other from PC to LAST. */
struct stretch {
    uint64_t pc, last;
    uint32_t site, n;
};

/* The sites of S that ran to P; FETCHED: executions. SINGLE: one at a time. Returns how many. */
static size_t stretches(const struct hot_state *s, struct stretch *p, const uint64_t *fetched,
                        bool single)
{
    uint64_t next = 0;
    bool on = false;
    size_t n = 0;

    for (uint32_t k = 0; k < s->n_ran; k++) {
        const struct trod_site *site;

        if (!(fetched[k] | hot_again(s, k))) {
            on = false;
            continue;
        }
        site = trod_site_at(s->context.sites, k);
        if (on && site->pc == next && next > p[n - 1].last)
            p[n - 1].n++;
        else
            p[n++] = (struct stretch){.pc = site->pc, .site = k, .n = 1};
        p[n - 1].last = site->pc;
        next = site->pc + hot_size_of(site);
        on = !single;
    }
    return n;
}

/* Sort N stretches at *P by address; *ROOM is for as many, and what is sorted is in *P. */
static void sort_by_pc(struct stretch **p, struct stretch **room, size_t n)
{
    enum { BITS = 11, PLACES = 1 << BITS };
    uint64_t differ = 0;

    for (size_t i = 1; i < n; i++)
        differ |= (*p)[i].pc ^ (*p)[0].pc;
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift += BITS) {
        size_t at[PLACES] = {0}, sum = 0;
        struct stretch *const from = *p, *const to = *room;

        if (!(differ >> shift & (PLACES - 1)))
            continue;
        for (size_t i = 0; i < n; i++)
            at[from[i].pc >> shift & (PLACES - 1)]++;
        for (size_t i = 0; i < PLACES; i++) {
            const size_t here = at[i];

            at[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[at[from[i].pc >> shift & (PLACES - 1)]++] = from[i];
        *p = to;
        *room = from;
    }
}

/* The N single sites at P, sorted by address, sorted as trod_site_compare has it. */
static void sort_by_code(struct trod_sites *sites, struct stretch *p, size_t n)
{
    for (size_t i = 1; i < n; i++) /* few addresses have more than one opcode */
        for (size_t k = i; k > 0 && p[k - 1].pc == p[k].pc; k--) {
            const struct stretch r = p[k];

            if (trod_site_compare(trod_site_at(sites, p[k - 1].site), trod_site_at(sites, r.site)) <
                0)
                break;
            p[k] = p[k - 1];
            p[k - 1] = r;
        }
}

/* Does one of the N stretches at P begin before the one that it follows is over? */
static bool overlap(const struct stretch *p, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (p[i].pc <= p[i - 1].last)
            return true;
    return false;
}

/* The sites of S that ran to *P, sorted, with room in *ROOM. Returns how many stretches. */
static size_t sorted(const struct hot_state *s, struct stretch **p, struct stretch **room,
                     const uint64_t *fetched)
{
    size_t n = stretches(s, *p, fetched, false);

    sort_by_pc(p, room, n);
    if (overlap(*p, n)) {
        n = stretches(s, *p, fetched, true);
        sort_by_pc(p, room, n);
        sort_by_code(s->context.sites, *p, n);
    }
    return n;
}

/* ---- together */

/* The instructions of STRETCH. */
static void add_stretch(struct hot_flow *f, const struct hot_state *s,
                        const struct stretch *stretch, const uint64_t *fetched, struct kinds *kinds)
{
    struct trod_sites *sites = s->context.sites;

    for (uint32_t site = stretch->site, n = stretch->n; n > 0; n--, site++) {
        const struct trod_site *what = trod_site_at(sites, site);
        const unsigned kind = kind_of(kinds, sites, site, what);
        const unsigned said = kind ? kind : what->branch;

        f->insn[f->n] = (struct hot_insn){.pc = what->pc,
                                          .n = fetched[site] + hot_again(s, site),
                                          .site = site,
                                          .size = hot_size_of(what) & HOT_SIZE_MAX,
                                          .branch = said != TROD_BR_NONE,
                                          .returns = returns(said),
                                          .unsaid = unsaid(what, kinds->says)};
        f->unsaid = f->unsaid || f->insn[f->n].unsaid;
        f->executed += f->insn[f->n++].n;
    }
}

int hot_insns(struct hot_flow *f, const struct hot_state *s)
{
    enum { AHEAD = 4 };
    struct stretch *p = malloc((s->n_ran + 1) * sizeof *p);
    struct stretch *room = malloc((s->n_ran + 1) * sizeof *room);
    uint64_t *fetched = hot_fetched(s);
    struct kinds kinds;
    size_t n, all = 0;

    f->executed = s->nowhere;
    if (p && room && fetched) {
        n = sorted(s, &p, &room, fetched);
        for (size_t i = 0; i < n; i++)
            all += p[i].n;
        f->insn = malloc((all + 1) * sizeof *f->insn);
        begin_kinds(&kinds, s->context.sites);
        for (size_t i = 0; f->insn && i < n; i++) {
            if (i + AHEAD < n) {
                __builtin_prefetch(trod_site_at(s->context.sites, p[i + AHEAD].site));
                __builtin_prefetch(&fetched[p[i + AHEAD].site]);
            }
            add_stretch(f, s, &p[i], fetched, &kinds);
        }
    }
    free(p);
    free(room);
    free(fetched);
    return f->insn ? TROD_OK : TROD_ERR_NOMEM;
}
