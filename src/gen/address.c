/*
 * address.c - patterns of addresses: one loop that loads a word each time round.
 *
 *     again: load; add; branch to again
 */
#include "gen/int.h"

#include <math.h>
#include <stdlib.h>

enum { LOAD, ADD, AGAIN };

#define AT(field) offsetof(struct gen_options, field)

static int begin(struct trod_gen *g, struct trod_diag *diag)
{
    (void)diag;
    gen_code(g, GEN_LOAD, 0);
    gen_code(g, GEN_ADD, 0);
    gen_code(g, GEN_COND, LOAD);
    return TROD_OK;
}

/* The I-th of N loads, at ADDR. False: it was the last. */
static bool load(struct trod_gen *g, uint64_t addr, uint64_t n)
{
    const bool more = ++g->i < n;

    gen_run(g, 0, LOAD, addr, 0);
    gen_run(g, 0, ADD, 0, 0);
    gen_run(g, 0, AGAIN, 0, more ? LOAD : AGAIN + 1);
    return more;
}

/* What holds for all of them, N loads being made. */
static void common(struct trod_result *r, uint64_t n)
{
    trod_result_u64(r, "loads", n);
    trod_result_u64(r, "stores", 0);
    trod_result_u64(r, "conditional_branches", n);
    trod_result_u64(r, "taken", n - 1);
}

/* ---- cyclic: the same lines in the same order, lap by lap */

static bool cyclic_step(struct trod_gen *g)
{
    return load(g, gen_line(g, g->i % g->o.lines), g->o.lines * g->o.laps);
}

static void cyclic_answers(const struct trod_gen *g, struct trod_result *r)
{
    const uint64_t n = g->o.lines * g->o.laps;

    common(r, n);
    trod_result_u64(r, "data_lines", g->o.lines);
    trod_result_u64(r, "cold_misses", g->o.lines);
    trod_result_u64(r, "reuse_distance", g->o.lines - 1);
    trod_result_u64(r, "lru_misses_with_all_lines", g->o.lines);
    trod_result_u64(r, "lru_misses_with_fewer", n);
}

static const struct trod_option cyclic_options[] = {
    {"lines", 0, TROD_OPT_U64, AT(lines), "N", "lines of memory (1,000)", NULL, NULL},
    {"line", 0, TROD_OPT_BYTES, AT(line), "BYTES", "from one line to the next (64)", NULL, NULL},
    {"laps", 0, TROD_OPT_U64, AT(laps), "N", "times through all of them (10)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_cyclic = {
    .pattern = {"cyclic", "the same lines of memory in the same order, again and again",
                cyclic_options},
    .streams = 1,
    .defaults = {.lines = 1000, .line = 64, .laps = 10},
    .begin = begin,
    .step = cyclic_step,
    .answers = cyclic_answers,
};

/* ---- strided: each word once, always as far from the last */

static bool strided_step(struct trod_gen *g)
{
    return load(g, GEN_DATA + g->i * g->o.stride, g->o.count);
}

static void strided_answers(const struct trod_gen *g, struct trod_result *r)
{
    const uint64_t n = g->o.count, last = (n - 1) * g->o.stride;
    const uint64_t lines = g->o.stride >= g->o.line ? n : last / g->o.line + 1;

    common(r, n);
    trod_result_u64(r, "data_bytes", n * g->word);
    trod_result_u64(r, "data_lines", lines);
    trod_result_u64(r, "cold_misses", lines);
    trod_result_u64(r, "hits_in_any_cache", n - lines);
}

static const struct trod_option strided_options[] = {
    {"count", 0, TROD_OPT_U64, AT(count), "N", "loads (10,000)", NULL, NULL},
    {"stride", 0, TROD_OPT_BYTES, AT(stride), "BYTES", "from one to the next: a multiple of 8 (16)",
     NULL, NULL},
    {"line", 0, TROD_OPT_BYTES, AT(line), "BYTES", "what the answers call a line (64)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_strided = {
    .pattern = {"strided", "a walk through memory in equal steps", strided_options},
    .streams = 1,
    .defaults = {.count = 10000, .stride = 16, .line = 64},
    .begin = begin,
    .step = strided_step,
    .answers = strided_answers,
};

/* ---- random and zipf: lines drawn one by one */

static int begin_drawing(struct trod_gen *g, struct trod_diag *diag)
{
    trod_rng_seed(&g->rng, g->o.seed);
    g->touched = calloc(g->o.lines, sizeof *g->touched);
    return g->touched ? begin(g, diag) : TROD_ERR_NOMEM;
}

static bool draw(struct trod_gen *g, uint64_t line)
{
    g->touched[line]++;
    return load(g, gen_line(g, line), g->o.count);
}

static bool random_step(struct trod_gen *g)
{
    return draw(g, trod_rng_below(&g->rng, g->o.lines));
}

/* The answers about lines that were drawn at random: they were counted while rows were made. */
static void drawn(const struct trod_gen *g, struct trod_result *r)
{
    uint64_t lines = 0, most = 0;

    for (uint64_t i = 0; i < g->o.lines; i++) {
        lines += g->touched[i] > 0;
        if (g->touched[i] > most)
            most = g->touched[i];
    }
    common(r, g->o.count);
    trod_result_u64(r, "data_lines", lines);
    trod_result_u64(r, "cold_misses", lines);
    trod_result_u64(r, "loads_of_the_hottest_line", most);
}

static void random_answers(const struct trod_gen *g, struct trod_result *r)
{
    drawn(g, r);
    /* a cache of all policies that keeps k of n lines hits with k / n */
    trod_result_f64(r, "miss_ratio_expected_with_half_of_the_lines", 0.5, 2);
}

static const struct trod_option random_options[] = {
    {"lines", 0, TROD_OPT_U64, AT(lines), "N", "lines to draw from (1,000)", NULL, NULL},
    {"line", 0, TROD_OPT_BYTES, AT(line), "BYTES", "from one line to the next (64)", NULL, NULL},
    {"count", 0, TROD_OPT_U64, AT(count), "N", "loads (100,000)", NULL, NULL},
    {"seed", 0, TROD_OPT_U64, AT(seed), "N", "other numbers, other draws (1)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_random = {
    .pattern = {"random", "lines drawn with equal chance", random_options},
    .streams = 1,
    .defaults = {.lines = 1000, .line = 64, .count = 100000, .seed = 1},
    .begin = begin_drawing,
    .step = random_step,
    .answers = random_answers,
};

static int zipf_begin(struct trod_gen *g, struct trod_diag *diag)
{
    char *end;
    const double skew = strtod(g->o.skew, &end);
    double sum = 0;

    if (end == g->o.skew || *end || !(skew >= 0) || skew > 100)
        return trod_error(diag, TROD_ERR_USAGE, "gen.skew", NULL,
                          "skew '%s' is no number from 0 to 100", g->o.skew);
    g->share = malloc(g->o.lines * sizeof *g->share);
    if (!g->share)
        return TROD_ERR_NOMEM;
    for (uint64_t i = 0; i < g->o.lines; i++)
        g->share[i] = sum += pow((double)(i + 1), -skew);
    return begin_drawing(g, diag);
}

static bool zipf_step(struct trod_gen *g)
{
    const double total = g->share[g->o.lines - 1];
    const double x = (double)(trod_rng_next(&g->rng) >> 11) * 0x1p-53 * total;
    uint64_t lo = 0, hi = g->o.lines - 1;

    while (lo < hi) {
        const uint64_t mid = lo + (hi - lo) / 2;

        if (g->share[mid] > x)
            hi = mid;
        else
            lo = mid + 1;
    }
    return draw(g, lo);
}

static void zipf_answers(const struct trod_gen *g, struct trod_result *r)
{
    drawn(g, r);
    trod_result_f64(r, "share_expected_of_the_hottest_line", g->share[0] / g->share[g->o.lines - 1],
                    6);
}

static const struct trod_option zipf_options[] = {
    {"lines", 0, TROD_OPT_U64, AT(lines), "N", "lines to draw from (1,000)", NULL, NULL},
    {"line", 0, TROD_OPT_BYTES, AT(line), "BYTES", "from one line to the next (64)", NULL, NULL},
    {"count", 0, TROD_OPT_U64, AT(count), "N", "loads (100,000)", NULL, NULL},
    {"seed", 0, TROD_OPT_U64, AT(seed), "N", "other numbers, other draws (1)", NULL, NULL},
    {"skew", 0, TROD_OPT_STR, AT(skew), "S",
     "line k is drawn in proportion to k to the power -S (1)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_zipf = {
    .pattern = {"zipf", "lines drawn by Zipf's law: few are hot", zipf_options},
    .streams = 1,
    .defaults = {.lines = 1000, .line = 64, .count = 100000, .seed = 1, .skew = "1"},
    .begin = zipf_begin,
    .step = zipf_step,
    .answers = zipf_answers,
};
