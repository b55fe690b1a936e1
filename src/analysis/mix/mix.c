/*
 * mix.c - the analysis "mix": what instructions and accesses the program consists of.
 *
 * Implements docs/analysing.md, "mix". Instructions are counted by site, two counters each (user
 * and kernel); what a site is, is found out once, at the end (mix_result.c).
 */
#include "analysis/mix/mix.h"

#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct mix_options, field)

static const struct trod_option options[] = {
    {"line-size", 0, TROD_OPT_U64, AT(line), "BYTES", "size of a cache line (default: 64)", NULL,
     NULL},
    {"page-size", 0, TROD_OPT_U64, AT(page), "BYTES", "size of a page (default: 4096)", NULL, NULL},
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
    s->ran = NULL;
    s->n_ran = 0;
}

/* Room for N sites. */
static int room(struct mix_state *s, size_t n)
{
    size_t cap = s->n_ran ? s->n_ran : 1024;
    struct mix_ran *ran;

    if (n <= s->n_ran)
        return TROD_OK;
    while (cap < n)
        cap *= 2;
    ran = realloc(s->ran, cap * sizeof *ran);
    if (!ran)
        return TROD_ERR_NOMEM;
    memset(ran + s->n_ran, 0, (cap - s->n_ran) * sizeof *ran);
    s->ran = ran;
    s->n_ran = cap;
    return TROD_OK;
}

/* An access of SIZE bytes at ADDR, by class C. */
static void count_access(struct mix_state *s, unsigned c, uint64_t addr, uint32_t size)
{
    struct mix_accesses *a = &s->sums.accesses[c];

    a->size[size < MIX_SIZES ? size : MIX_SIZES - 1]++;
    if (size == 0)
        return;
    a->misaligned += (size & (size - 1)) == 0 && (addr & (size - 1)) != 0;
    a->crosses_line += (addr & (s->opt->line - 1)) + size > s->opt->line;
    a->crosses_page += (addr & (s->opt->page - 1)) + size > s->opt->page;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t place = TROD_COL_ADDR | TROD_COL_SIZE;
    const bool sites = b->have & TROD_COL_SITE;
    struct mix_state *s = st;

    if (sites && room(s, trod_sites_count(s->sites)) < 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t flags = b->flags[i];
        const unsigned kind = b->kind[i], kernel = (flags & TROD_F_KERNEL) != 0;

        if (kind == TROD_INSTR) {
            if (flags & TROD_F_SYNTHETIC)
                continue;
            if (sites && b->site[i] < s->n_ran)
                s->ran[b->site[i]].by[kernel]++;
            else
                s->sums.nowhere[kernel]++;
            s->sums.branch[flags & TROD_F_BRANCH]++;
            s->sums.skipped += (flags & TROD_F_SKIPPED) != 0;
        } else if (kind >= TROD_READ && kind <= TROD_ATOMIC &&
                   (b->have & b->has[i] & place) == place) {
            count_access(s, kind - TROD_READ, b->addr[i], b->size[i]);
        }
    }
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

    if (room(s, t->n_ran) < 0)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->n_ran; i++) {
        s->ran[i].by[0] += t->ran[i].by[0];
        s->ran[i].by[1] += t->ran[i].by[1];
    }
    for (size_t i = 0; i < SUMS; i++)
        *sum_at(s, i) += ((const uint64_t *)(const void *)&sums)[i];
    return TROD_OK;
}

/* The sums; the number of sites, and each with its counters. */
static int save(const void *st, struct trod_buf *out)
{
    const struct mix_state *s = st;
    const struct mix_sums sums = s->sums;
    size_t n = s->n_ran;
    int rc = TROD_OK;

    while (n && !(s->ran[n - 1].by[0] | s->ran[n - 1].by[1]))
        n--;
    for (size_t i = 0; rc == TROD_OK && i < SUMS; i++)
        rc = trod_pack(out, ((const uint64_t *)(const void *)&sums)[i]);
    if (rc == TROD_OK)
        rc = trod_pack(out, n);
    for (size_t i = 0; rc == TROD_OK && i < n; i++) {
        rc = trod_pack(out, s->ran[i].by[0]);
        if (rc == TROD_OK)
            rc = trod_pack(out, s->ran[i].by[1]);
    }
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
        if (trod_unpack(&in, &v[0]) < 0 || trod_unpack(&in, &v[1]) < 0)
            return TROD_ERR_CORRUPT;
        if (!(v[0] | v[1]))
            continue;
        if (room(s, (size_t)sites[i] + 1) < 0)
            return TROD_ERR_NOMEM;
        s->ran[sites[i]].by[0] += v[0];
        s->ran[sites[i]].by[1] += v[1];
    }
    return in.n ? TROD_ERR_CORRUPT : TROD_OK;
}

const struct trod_analysis trod_analysis_mix = {
    .name = "mix",
    .title = "instructions by mnemonic, category and length; accesses by size and alignment",
    .about = "Counts the instructions that were executed by mnemonic, by category and by\n"
             "length of their opcode, user and kernel apart where the trace tells them\n"
             "apart, branches by kind, and data accesses by size, alignment and whether\n"
             "they cross a line or a page.\n"
             "\n"
             "Every instruction of the program is decoded once. Instructions whose\n"
             "opcode the trace does not give are counted as unknown. An instruction\n"
             "whose condition failed counts, and is told apart as skipped.",
    .examples = "  trod mix --top 20 app.trace.zip\n"
                "  trod mix --interval 1000000 --format json app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct mix_options),
    .defaults = &defaults,
    .state_size = sizeof(struct mix_state),
    .order = TROD_ANY_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_FLAGS,
    .uses = TROD_COL_SITE | TROD_COL_ADDR | TROD_COL_SIZE,
    .init = init,
    .feed = feed,
    .merge = merge,
    .save = save,
    .load = load,
    .result = mix_result,
    .fini = fini,
};
