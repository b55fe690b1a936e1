/*
 * flow.c - what follows from executions of sites and jumps between them (hot.h).
 *
 * A basic block begins where a jump leads to, behind a branch or what else was left by a jump, and
 * where instructions that ran are not neighbours. It is what ran, not what the program could run.
 * A loop is known by its head: where a jump that is no call or return goes back to, in the same
 * function where functions are known. It was entered as often as its head was executed without
 * such a jump, and its trips are executions of its head.
 */
#include "analysis/hot/hot.h"

#include <stdlib.h>
#include <string.h>

/* A site that ran. */
struct ran {
    uint64_t pc;
    uint32_t site;
};

/* Sort N sites at *P by address; *ROOM is for as many, and what is sorted is in either. */
static void sort_by_pc(struct ran **p, struct ran **room, size_t n)
{
    enum { BITS = 11, PLACES = 1 << BITS };
    uint64_t differ = 0;

    for (size_t i = 1; i < n; i++)
        differ |= (*p)[i].pc ^ (*p)[0].pc;
    for (unsigned shift = 0; shift < 64 && differ >> shift; shift += BITS) {
        size_t at[PLACES] = {0}, sum = 0;
        struct ran *const from = *p, *const to = *room;

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

/* As trod_site_compare has it. Returns the sites of N that are sorted, in P or ROOM. */
static struct ran *sorted(struct trod_sites *sites, struct ran *p, struct ran *room, size_t n)
{
    sort_by_pc(&p, &room, n);
    for (size_t i = 1; i < n; i++) /* few addresses have more than one opcode */
        for (size_t k = i; k > 0 && p[k - 1].pc == p[k].pc; k--) {
            const struct ran r = p[k];

            if (trod_site_compare(trod_site_at(sites, p[k - 1].site), trod_site_at(sites, r.site)) <
                0)
                break;
            p[k] = p[k - 1];
            p[k - 1] = r;
        }
    return p;
}

static void classify(struct hot_insn *i, struct trod_sites *sites, const struct trod_site *site)
{
    const struct trod_insn *insn = trod_site_insn(sites, i->site);
    const unsigned kind = insn->valid && insn->branch ? insn->branch : site->branch;

    i->branch = kind != TROD_BR_NONE;
    i->returns = kind == TROD_BR_CALL || kind == TROD_BR_ICALL || kind == TROD_BR_RETURN ||
                 kind == TROD_BR_SYSCALL || kind == TROD_BR_ERET;
}

bool hot_loops(struct trod_sites *sites, uint32_t site)
{
    struct hot_insn i = {.site = site};

    classify(&i, sites, trod_site_at(sites, site));
    return i.branch && !i.returns;
}

/* The sites that ran to P, executions with a fetch of each site to FETCHED. Returns how many. */
static size_t sum_up(const struct hot_state *s, struct ran *p, uint64_t *fetched)
{
    uint64_t sum = 0;
    size_t n = 0;

    for (uint32_t k = 0; k < s->n_ran; k++) {
        fetched[k] = sum += s->fetched[k];
        if (sum | s->again[k])
            p[n++] = (struct ran){trod_site_at(s->context.sites, k)->pc, k};
    }
    return n;
}

static void add_insn(struct hot_flow *f, const struct hot_state *s, uint32_t site, uint64_t fetched)
{
    struct hot_insn *i = &f->insn[f->n++];

    i->what = trod_site_at(s->context.sites, site);
    i->pc = i->what->pc;
    i->n = fetched + s->again[site];
    i->again = s->again[site];
    i->site = site;
    i->size = hot_size_of(i->what);
    i->begins = false;
    classify(i, s->context.sites, i->what);
    f->executed += i->n;
}

static int gather(struct hot_flow *f, const struct hot_state *s)
{
    struct ran *p = malloc((s->n_ran + 1) * sizeof *p), *room = NULL;
    uint64_t *fetched = malloc((s->n_ran + 1) * sizeof *fetched);
    size_t n = p && fetched ? sum_up(s, p, fetched) : 0;
    const struct ran *all;

    f->executed = s->nowhere;
    f->insn = malloc((n + 1) * sizeof *f->insn);
    room = malloc((n + 1) * sizeof *room);
    if (p && fetched && f->insn && room) {
        all = sorted(s->context.sites, p, room, n);
        for (size_t i = 0; i < n; i++)
            add_insn(f, s, all[i].site, fetched[all[i].site]);
        n = f->n + 1;
    } else {
        n = 0;
    }
    free(p);
    free(room);
    free(fetched);
    return n ? TROD_OK : TROD_ERR_NOMEM;
}

/* MIPS: the instruction behind a branch is executed before the branch is taken. It leaves the
 * block, where it ran. */
static void delay(struct hot_flow *f, const struct hot_state *s)
{
    const enum trod_isa isa = trod_sites_meta(s->context.sites)->isa;

    if (isa != TROD_ISA_MIPS32 && isa != TROD_ISA_MIPS64)
        return;
    for (size_t i = f->n; i-- > 1;) {
        struct hot_insn *slot = &f->insn[i], *branch = slot - 1;

        if (!branch->branch || branch->pc + branch->size != slot->pc)
            continue;
        slot->branch = true;
        slot->returns = branch->returns;
        branch->branch = branch->returns = false;
    }
}

/* By site the number of its instruction. NULL: no memory. */
static uint32_t *numbers(const struct hot_flow *f, const struct hot_state *s)
{
    uint32_t *of = calloc(s->n_ran + 1, sizeof *of);

    for (size_t i = 0; of && i < f->n; i++)
        of[f->insn[i].site] = (uint32_t)i;
    return of;
}

static void mark_blocks(struct hot_flow *f, const struct trod_pairs *jumps, const uint32_t *of)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct hot_insn *before = i ? &f->insn[i - 1] : NULL;

        f->insn[i].begins = !before || before->branch || before->pc + before->size != f->insn[i].pc;
    }
    for (size_t k = 0; k < jumps->size; k++) {
        const struct trod_pair *p = &jumps->at[k];
        const uint32_t from = (uint32_t)(p->key >> 32);

        if (p->n == 0)
            continue;
        f->insn[of[p->key & UINT32_MAX]].begins = true;
        if (from != TROD_NO_SITE && of[from] + 1 < f->n)
            f->insn[of[from] + 1].begins = true;
    }
}

static int make_blocks(struct hot_flow *f)
{
    f->block = calloc(f->n + 1, sizeof *f->block);
    if (!f->block)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < f->n; i++) {
        struct hot_block *b;

        if (f->insn[i].begins)
            f->block[f->n_blocks++] = (struct hot_block){.first = i, .executions = f->insn[i].n};
        b = &f->block[f->n_blocks - 1];
        b->n++;
        b->executed += f->insn[i].n;
    }
    return TROD_OK;
}

/* ---- loops */

bool hot_same_function(const struct hot_state *s, uint32_t a, uint32_t b)
{
    struct trod_sites *sites = s->context.sites;
    const uint64_t pc[2] = {trod_site_at(sites, a)->pc, trod_site_at(sites, b)->pc};
    const char *name[2] = {NULL, NULL};
    uint64_t offset[2] = {0, 0};
    bool known = trod_site_function(sites, a, &name[0], &offset[0]);

    if (trod_site_function(sites, b, &name[1], &offset[1]) != known)
        return false;
    if (!known) {
        known = trod_sites_module(sites, pc[0], &name[0], &offset[0]);
        if (trod_sites_module(sites, pc[1], &name[1], &offset[1]) != known)
            return false;
        /* stretches of one module have paths of their own */
        return !known || pc[0] - offset[0] == pc[1] - offset[1];
    }
    return name[0] == name[1] && pc[0] - offset[0] == pc[1] - offset[1];
}

static int by_head(const void *a, const void *b)
{
    const struct hot_loop *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->back < y->back ? -1 : x->back > y->back;
}

static int by_executed(const void *a, const void *b)
{
    const struct hot_loop *x = a, *y = b;

    if (x->executed != y->executed)
        return x->executed > y->executed ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Jumps back with one head become one loop. Until then entries are the jumps. */
static void join(struct hot_flow *f)
{
    size_t n = 0;

    qsort(f->loop, f->n_loops, sizeof *f->loop, by_head);
    for (size_t i = 0; i < f->n_loops; i++) {
        struct hot_loop *l = n ? &f->loop[n - 1] : NULL;

        if (l && l->first == f->loop[i].first) {
            l->entries += f->loop[i].entries;
            l->back = f->loop[i].back;
            l->edges++;
        } else {
            f->loop[n++] = f->loop[i];
        }
    }
    f->n_loops = n;
}

/* Executions of instructions before address PC. SUM: of the instructions before each. */
static uint64_t before(const struct hot_flow *f, const uint64_t *sum, uint64_t pc)
{
    size_t lo = 0, hi = f->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (f->insn[mid].pc < pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return sum[lo];
}

static int make_loops(struct hot_flow *f, const struct hot_state *s, const struct trod_pairs *jumps,
                      const uint32_t *of)
{
    uint64_t *sum = calloc(f->n + 1, sizeof *sum);

    f->loop = calloc(jumps->n + 1, sizeof *f->loop);
    if (!sum || !f->loop) {
        free(sum);
        return TROD_ERR_NOMEM;
    }
    for (size_t k = 0; k < jumps->size; k++) {
        const struct trod_pair *p = &jumps->at[k];
        const uint32_t from = (uint32_t)(p->key >> 32), to = (uint32_t)(p->key & UINT32_MAX);
        const struct hot_insn *a, *b;

        if (p->n == 0 || from == TROD_NO_SITE)
            continue;
        a = &f->insn[of[from]];
        b = &f->insn[of[to]];
        if (a->branch && !a->returns && b->pc <= a->pc && hot_same_function(s, from, to))
            f->loop[f->n_loops++] = (struct hot_loop){.head = b->pc,
                                                      .back = a->pc,
                                                      .entries = p->n,
                                                      .edges = 1,
                                                      .site = to,
                                                      .first = of[to]};
    }
    join(f);
    for (size_t i = 0; i < f->n; i++)
        sum[i + 1] = sum[i] + f->insn[i].n;
    for (size_t i = 0; i < f->n_loops; i++) {
        struct hot_loop *l = &f->loop[i];

        l->iterations = f->insn[of[l->site]].n - f->insn[of[l->site]].again;
        l->entries = l->iterations - l->entries;
        l->executed = before(f, sum, l->back + 1) - before(f, sum, l->head);
    }
    qsort(f->loop, f->n_loops, sizeof *f->loop, by_executed);
    free(sum);
    return TROD_OK;
}

int hot_flow_init(struct hot_flow *f, const struct hot_state *s)
{
    struct trod_pairs jumps = {.n = 0};
    uint32_t *of = NULL;
    int rc;

    *f = (struct hot_flow){.n = 0};
    rc = gather(f, s);
    if (rc == TROD_OK && !(of = numbers(f, s)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = hot_jumps(&jumps, s);
    if (rc == TROD_OK) {
        delay(f, s);
        mark_blocks(f, &jumps, of);
        rc = make_blocks(f);
    }
    if (rc == TROD_OK)
        rc = make_loops(f, s, &jumps, of);
    free(jumps.at);
    free(of);
    return rc;
}

void hot_flow_fini(struct hot_flow *f)
{
    free(f->insn);
    free(f->block);
    free(f->loop);
}

/* ---- memory */

int hot_code_lines(struct hot_lines *to, const struct hot_state *s, unsigned shift)
{
    int rc = hot_lines_copy(to, &s->code, shift);
    uint64_t fetched = 0;

    for (uint32_t k = 0; rc == TROD_OK && k < s->n_ran; k++) {
        const struct trod_site *site;

        fetched += s->fetched[k];
        if (!fetched)
            continue;
        site = trod_site_at(s->context.sites, k);
        rc = hot_lines_touch(to, site->pc, hot_size_of(site), fetched, 0);
    }
    return rc;
}

static int by_accesses(const void *a, const void *b)
{
    const struct hot_line *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* As those that are not among the first MOST of the N at ALL are left out again and again, few are
 * sorted. */
struct hot_line *hot_lines_top(const struct hot_lines *t, size_t most, size_t *n)
{
    const size_t room = most < t->n / 2 ? 2 * most : t->n;
    struct hot_line *all = malloc((room + 1) * sizeof *all);
    struct hot_line line;
    uint64_t least = 1;

    *n = 0;
    for (size_t at = 0; all && hot_lines_next(t, &at, &line);) {
        if (line.n < least)
            continue;
        all[(*n)++] = line;
        if (*n == room && room < t->n) {
            qsort(all, *n, sizeof *all, by_accesses);
            *n = most;
            least = most ? all[most - 1].n : UINT64_MAX;
        }
    }
    if (!all)
        return NULL;
    qsort(all, *n, sizeof *all, by_accesses);
    *n = *n < most ? *n : most;
    return all;
}

uint64_t hot_lines_touches(const struct hot_lines *t)
{
    struct hot_line line;
    uint64_t n = 0;

    for (size_t at = 0; hot_lines_next(t, &at, &line);)
        n += line.n;
    return n;
}
