/*
 * mix.c - the analysis "mix": what instructions and accesses the program consists of.
 *
 * Implements docs/analysing.md, "mix". Instructions are counted by site, streak by streak
 * (by_site.h), user and kernel apart; what a site is, is found out once, at the end (mix_result.c).
 */
#include "analysis/mix/mix.h"

#include "analysis/by_site.h"
#include "core/pack.h"
#include "trod/streak.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct mix_options, field)

static const struct trod_option options[] = {
    {"line-size", 0, TROD_OPT_BYTES, AT(line), "BYTES", "size of a cache line (default: 64)", NULL,
     NULL},
    {"page-size", 0, TROD_OPT_BYTES, AT(page), "BYTES", "size of a page (default: 4096)", NULL,
     NULL},
    {"top", 0, TROD_OPT_U64, AT(top), "N", "show the N most frequent mnemonics only", NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct mix_options defaults = {.line = 64, .page = 4096};

static bool power_of_two(uint64_t v)
{
    return v != 0 && (v & (v - 1)) == 0;
}

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct mix_state *s = st;

    s->opt = opt ? opt : &defaults;
    s->sites = context->sites;
    s->symbols = context->symbols;
    s->by = context->by;
    if (power_of_two(s->opt->line) && power_of_two(s->opt->page))
        return TROD_OK;
    return trod_error(context->diag, TROD_ERR_USAGE, "mix.size", NULL,
                      "sizes of lines and pages are powers of two: %llu and %llu are not both",
                      (unsigned long long)s->opt->line, (unsigned long long)s->opt->page);
}

static void fini(void *st)
{
    struct mix_state *s = st;

    free(s->ran);
    free(s->did);
    s->ran = NULL;
    s->did = NULL;
    s->n_ran = s->n_did = 0;
}

/* Room for the steps of N sites. */
static int room(struct mix_state *s, size_t n)
{
    const int rc = s->by < TROD_BY_MODULE
                       ? TROD_OK
                       : trod_by_site_room(&s->did, &s->n_did, n + 1, sizeof *s->did);

    return rc < 0 ? rc : trod_by_site_room(&s->ran, &s->n_ran, n + 1, sizeof *s->ran);
}

/* N instructions from SITE on were executed. */
static inline void count_ran(struct mix_state *s, uint32_t site, uint32_t n, unsigned kernel)
{
    s->ran[site].by[kernel]++;
    s->ran[site + n].by[kernel]--;
}

/* An access of SIZE bytes at ADDR, by class C, which may be misaligned or cross something. */
static void look_at_access(struct mix_state *s, unsigned c, uint64_t addr, uint32_t size)
{
    struct mix_accesses *a = &s->sums.accesses[c];

    if (size == 0)
        return;
    a->misaligned += (size & (size - 1)) == 0 && (addr & (size - 1)) != 0;
    a->crosses_line += (addr & (s->opt->line - 1)) + size > s->opt->line;
    a->crosses_page += (addr & (s->opt->page - 1)) + size > s->opt->page;
}

/*
 * An access of SIZE bytes at ADDR, by class C. LEAST: the smaller one of lines and pages; what is
 * aligned and not larger crosses neither.
 */
static inline void count_access(struct mix_state *s, unsigned c, uint64_t addr, uint32_t size,
                                uint64_t least)
{
    s->sums.accesses[c].size[size < MIX_SIZES ? size : MIX_SIZES - 1]++;
    if (((size | addr) & (size - 1)) != 0 || size > least)
        look_at_access(s, c, addr, size);
}

static uint64_t least_of(const struct mix_state *s)
{
    return s->opt->line < s->opt->page ? s->opt->line : s->opt->page;
}

static void any_row(struct mix_state *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t flags = b->flags[i], place = TROD_COL_ADDR | TROD_COL_SIZE;
    const unsigned kind = b->kind[i], kernel = (flags & TROD_F_KERNEL) != 0;

    if (kind == TROD_INSTR) {
        if (flags & TROD_F_SYNTHETIC)
            return;
        if (b->have & TROD_COL_SITE && b->site[i] != TROD_NO_SITE)
            count_ran(s, b->site[i], 1, kernel);
        else
            s->sums.nowhere[kernel]++;
        s->sums.branch[flags & TROD_F_BRANCH]++;
        s->sums.skipped += (flags & TROD_F_SKIPPED) != 0;
    } else if (kind >= TROD_READ && kind <= TROD_ATOMIC && (b->have & b->has[i] & place) == place) {
        count_access(s, kind - TROD_READ, b->addr[i], b->size[i], least_of(s));
    }
}

/* Count single rows among [FROM, TO), those that are in no streak. */
static void count_accesses(struct mix_state *s, const struct trod_batch *b, uint32_t from,
                           uint32_t to)
{
    const uint8_t *const restrict kind = b->kind;
    const uint64_t *const restrict addr = b->addr;
    const uint32_t *const restrict size = b->size;
    uint32_t n;
    const uint16_t *const access = trod_streak_accesses(b, from, to, &n);
    const uint64_t least = least_of(s);

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = access[i];

        if (kind[row] <= TROD_ATOMIC)
            count_access(s, kind[row] - TROD_READ, addr[row], size[row], least);
    }
}

/* The accesses of rows [FROM, TO) by the site of their instruction. */
static void count_by_site(struct mix_state *s, const struct trod_batch *b, uint32_t from,
                          uint32_t to)
{
    const uint32_t place = TROD_COL_ADDR | TROD_COL_SIZE;
    const bool sites = b->have & TROD_COL_SITE;

    for (uint32_t i = from; i < to; i++) {
        const uint32_t site = sites ? b->site[i] : TROD_NO_SITE;
        const unsigned kind = b->kind[i];

        if (kind >= TROD_READ && kind <= TROD_ATOMIC && (b->have & b->has[i] & place) == place)
            s->did[site == TROD_NO_SITE ? 0 : site + 1].n[kind - TROD_READ]++;
    }
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct mix_state *s = st;
    struct trod_streak_walk walk;
    const struct trod_streak *streak;

    if ((b->have & TROD_COL_SITE || s->by >= TROD_BY_MODULE) &&
        room(s, trod_sites_count(s->sites)) < 0)
        return TROD_ERR_NOMEM;
    if (s->did)
        count_by_site(s, b, from, to);
    if (!b->streaks) {
        for (uint32_t i = from; i < to; i++)
            any_row(s, b, i);
        return TROD_OK;
    }
    trod_streak_walk_begin(&walk, b, from, to);
    while ((streak = trod_streak_next(&walk))) {
        const uint32_t flags = b->flags[streak->last];
        uint32_t end;

        __builtin_prefetch(&s->ran[trod_streak_soon(&walk, &end)], 1);
        __builtin_prefetch(&s->ran[end], 1);

        if (streak->n == 0) {
            any_row(s, b, streak->row);
            continue;
        }
        count_ran(s, streak->site, streak->n, (flags & TROD_F_KERNEL) != 0);
        s->sums.branch[flags & TROD_F_BRANCH]++;
    }
    count_accesses(s, b, from, to);
    return TROD_OK;
}

enum { SUMS = sizeof(struct mix_sums) / sizeof(uint64_t) };

/* The sums are numbers and nothing else: number I of them. */
static uint64_t *sum_at(struct mix_state *s, size_t i)
{
    return (uint64_t *)(void *)&s->sums + i;
}

static int merge(void *into, const void *from)
{
    struct mix_state *s = into;
    const struct mix_state *t = from;
    struct mix_sums sums = t->sums;

    if ((t->n_ran && room(s, t->n_ran - 1) < 0) ||
        trod_by_site_room(&s->did, &s->n_did, t->n_did, sizeof *s->did) < 0)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->n_ran; i++) {
        s->ran[i].by[0] += t->ran[i].by[0];
        s->ran[i].by[1] += t->ran[i].by[1];
    }
    for (size_t i = 0; i < t->n_did; i++)
        for (unsigned k = 0; k < MIX_ACCESSES; k++)
            s->did[i].n[k] += t->did[i].n[k];
    for (size_t i = 0; i < SUMS; i++)
        *sum_at(s, i) += ((const uint64_t *)(const void *)&sums)[i];
    return TROD_OK;
}

/* The sums; the number of sites, and each with its counters; accesses where there are owners. */
static int save(const void *st, struct trod_buf *out)
{
    const struct mix_state *s = st;
    const struct mix_sums sums = s->sums;
    uint64_t by[2] = {0, 0};
    size_t n = s->n_ran;
    int rc = TROD_OK;

    while (n && !(s->ran[n - 1].by[0] | s->ran[n - 1].by[1]))
        n--;
    n -= n > 0; /* the last step ends what came before */
    for (size_t i = 0; rc == TROD_OK && i < SUMS; i++)
        rc = trod_pack(out, ((const uint64_t *)(const void *)&sums)[i]);
    if (rc == TROD_OK)
        rc = trod_pack(out, n);
    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        for (unsigned k = 0; rc == TROD_OK && k < 2; k++)
            rc = trod_pack(out, by[k] += s->ran[i].by[k]);
    if (rc == TROD_OK && s->by >= TROD_BY_MODULE)
        rc = trod_by_site_save(out, s->did, s->n_did, MIX_ACCESSES);
    return rc;
}

static int load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct mix_state *s = st;
    uint64_t n, v[2];
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < SUMS; i++)
        rc = trod_unpack(&in, sum_at(s, i));
    if (rc < 0 || trod_unpack(&in, &n) < 0 || n > in.n || (n && !sites))
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        if (sites[i] == TROD_NO_SITE || trod_unpack(&in, &v[0]) < 0 || trod_unpack(&in, &v[1]) < 0)
            return TROD_ERR_CORRUPT;
        if (!(v[0] | v[1]))
            continue;
        if (room(s, (size_t)sites[i] + 1) < 0)
            return TROD_ERR_NOMEM;
        for (unsigned k = 0; k < 2; k++) {
            s->ran[sites[i]].by[k] += v[k];
            s->ran[(size_t)sites[i] + 1].by[k] -= v[k];
        }
    }
    if (s->by >= TROD_BY_MODULE)
        rc = trod_by_site_load(&in, &s->did, &s->n_did, MIX_ACCESSES, sites);
    if (rc == TROD_OK && s->n_did && room(s, s->n_did - 1) < 0) /* as feed makes it */
        rc = TROD_ERR_NOMEM;
    return rc < 0 ? rc : in.n ? TROD_ERR_CORRUPT : TROD_OK;
}

const struct trod_analysis trod_analysis_mix = {
    .name = "mix",
    .title = "instructions by mnemonic, category and extension; accesses by size",
    .about = "Counts the instructions that were executed by mnemonic, by category, by\n"
             "extension of the instruction set and by length of their opcode, user and\n"
             "kernel apart where the trace tells them apart, branches by kind, and data\n"
             "accesses by size, alignment and whether they cross a line or a page.\n"
             "PowerPC instructions also by what they are for and by their classes in TT6\n"
             "and TT6E.\n"
             "\n"
             "Every instruction of the program is decoded once. Instructions whose\n"
             "opcode the trace does not give are counted as unknown. An instruction\n"
             "whose condition failed counts, and is counted apart as skipped.",
    .examples = "  trod mix --top 20 app.trace.zip\n"
                "  trod mix --interval 1000000 --format json app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct mix_options),
    .defaults = &defaults,
    .state_size = sizeof(struct mix_state),
    .order = TROD_ANY_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_FLAGS,
    .uses = TROD_COL_SITE | TROD_COL_ADDR | TROD_COL_SIZE | TROD_WANT_STREAKS | TROD_WANT_RAN,
    .init = init,
    .feed = feed,
    .merge = merge,
    .save = save,
    .load = load,
    .result = mix_result,
    .fini = fini,
    .owners = true,
};
