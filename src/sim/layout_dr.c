/*
 * layout_dr.c - the text of DynamoRIO's cache simulator, TLB simulator and miss analyzer.
 *
 * Implements layout.h, trod_layout_dr, after drcachesim's simulator/ (print_stats of the
 * statistics, print_results of the simulators). Caches that belong to no core come in the order of
 * the configuration (the simulator's own order is that of a hash table).
 */
#include "sim/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int line(struct trod_buf *out, const char *label, uint64_t v)
{
    return trod_buf_printf(out, "    %-18s%20" PRIu64 "\n", label, v);
}

static int wide(struct trod_buf *out, const char *label, int width, uint64_t v)
{
    return trod_buf_printf(out, "    %-*s%*" PRIu64 "\n", width, label, 38 - width, v);
}

static int rate(struct trod_buf *out, const char *label, uint64_t misses, uint64_t of)
{
    const float r = (float)misses * 100 / (float)of;

    return trod_buf_printf(out, "    %-18s%20.2f%%\n", label, (double)r);
}

/* What a cache or TLB counted. */
static int stats(struct trod_buf *out, const struct trod_dr_stats *s, const struct trod_dr_stats *w,
                 bool coherent)
{
    const uint64_t refs = s->hits + s->misses;
    int rc = 0;

    if (w) {
        rc |= line(out, "Warmup hits:", w->hits);
        rc |= line(out, "Warmup misses:", w->misses);
    }
    rc |= line(out, "Hits:", s->hits);
    rc |= line(out, "Misses:", s->misses);
    rc |= line(out, "Compulsory misses:", s->compulsory);
    if (coherent) {
        rc |= wide(out, "Parent invalidations:", 21,
                   s->invalidated[TROD_DR_BY_INCLUSION] + s->invalidated[TROD_DR_BY_EXCLUSION]);
        rc |= wide(out, "Write invalidations:", 20, s->invalidated[TROD_DR_BY_COHERENCE]);
    } else {
        rc |= line(out, "Invalidations:",
                   s->invalidated[TROD_DR_BY_INCLUSION] + s->invalidated[TROD_DR_BY_EXCLUSION]);
    }
    if (s->flushes)
        rc |= line(out, "Flushes:", s->flushes);
    if (s->prefetch_hits + s->prefetch_misses) {
        rc |= line(out, "Prefetch hits:", s->prefetch_hits);
        rc |= line(out, "Prefetch misses:", s->prefetch_misses);
    }
    if (refs)
        rc |= rate(out, s->child_hits ? "Local miss rate:" : "Miss rate:", s->misses, refs);
    if (s->child_hits) {
        rc |= line(out, "Child hits:", s->child_hits);
        rc |= rate(out, "Total miss rate:", s->misses, refs + s->child_hits);
    }
    return rc;
}

static int core_head(struct trod_buf *out, const struct trod_dr_cores *c, uint32_t i)
{
    const struct trod_dr_core *k = &c->core[i];
    int rc = trod_buf_printf(out, "Core #%" PRIu32 " (", i);

    if (c->mode == TROD_DR_BY_THREAD)
        return rc | trod_buf_printf(out, "%" PRIu32 " thread(s))\n", k->ever);
    if (c->mode == TROD_DR_BY_SHARD) {
        rc |= trod_buf_printf(out, "traced CPU(s): ");
        return rc |
               (k->ever ? trod_buf_printf(out, "#%" PRIu32 ")\n", i) : trod_buf_printf(out, ")\n"));
    }
    rc |= trod_buf_printf(out, "%" PRIu32 " traced CPU(s)", k->n_cpu);
    for (uint32_t j = 0; j < k->n_cpu; j++)
        rc |= trod_buf_printf(out, "%s #%" PRIu64, j ? "," : ":", k->cpu[j]);
    return rc | trod_buf_printf(out, ")\n");
}

static bool used(const struct trod_dr_cores *c, uint32_t i)
{
    return c->mode == TROD_DR_BY_CPU ? c->core[i].n_cpu > 0 || c->core[i].ever > 0
                                     : c->core[i].ever > 0;
}

static int cache(struct trod_buf *out, const struct trod_dr_sim *s, const struct trod_dr_cache *c,
                 const char *indent)
{
    const struct trod_dr_spec *spec = &s->config->spec[c - s->cache];
    int rc = trod_buf_printf(
        out, "%s%s (size=%" PRIu64 ", assoc=%" PRIu32 ", block=%u, %s%s%s%s) stats:\n", indent,
        c->name, c->size, c->store.ways, 1u << c->line_bits, trod_dr_policy_name(&spec->policy),
        c->coherent ? ", coherent" : "", c->inclusive ? ", inclusive" : "",
        c->exclusive ? ", exclusive" : "");

    return rc | stats(out, &c->now, s->warm ? &c->warmup : NULL, c->coherent);
}

static bool first_level(const struct trod_dr_sim *s, const struct trod_dr_cache *c)
{
    return s->config->spec[c - s->cache].core >= 0;
}

static int caches(const struct trod_dr_sim *s, struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "Cache simulation results:\n");

    for (uint32_t i = 0; i < s->config->cores; i++) {
        rc |= core_head(out, &s->cores, i);
        if (!used(&s->cores, i))
            continue;
        if (s->code[i] == s->data[i]) {
            rc |= cache(out, s, s->code[i], "  unified ");
        } else {
            rc |= cache(out, s, s->code[i], "  ");
            rc |= cache(out, s, s->data[i], "  ");
        }
    }
    for (int last = 0; last < 2; last++)
        for (uint32_t i = 0; i < s->n_cache; i++)
            if (!first_level(s, &s->cache[i]) && (s->cache[i].parent == NULL) == last)
                rc |= cache(out, s, &s->cache[i], "");
    if (s->config->coherent) {
        rc |= trod_buf_printf(out, "Coherence stats:\n");
        rc |= line(out, "Total writes:", s->snoop.writes);
        rc |= line(out, "Invalidations:", s->snoop.invalidations);
        rc |= line(out, "Writebacks:", s->snoop.writebacks);
    }
    return rc;
}

static int tlbs(const struct trod_dr_sim *s, struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "TLB simulation results:\n");

    for (uint32_t i = 0; i < s->config->cores; i++) {
        rc |= core_head(out, &s->cores, i);
        if (!used(&s->cores, i))
            continue;
        rc |= trod_buf_printf(out, "  L1I stats:\n");
        rc |= stats(out, &s->tlb[i].code.now, NULL, false);
        rc |= trod_buf_printf(out, "  L1D stats:\n");
        rc |= stats(out, &s->tlb[i].data.now, NULL, false);
        rc |= trod_buf_printf(out, "  LL stats:\n");
        rc |= stats(out, &s->tlb[i].l2.now, NULL, false);
    }
    return rc;
}

/* A line for each hint: HEAD, the pc, BETWEEN, the stride, TAIL. */
static int hints(const struct trod_dr_sim *s, const char *head, const char *between,
                 const char *tail, struct trod_buf *out)
{
    const struct trod_dr_config *c = s->config;
    struct trod_dr_hint *hint;
    int rc = 0;
    const int64_t n = trod_dr_misses_hints(&s->misses, c->miss_count_threshold, c->miss_fraction,
                                           c->confidence, c->line_size, &hint);

    if (n < 0)
        return (int)n;
    for (int64_t i = 0; i < n; i++)
        rc |= trod_buf_printf(out, "%s0x%" PRIx64 "%s%" PRId32 "%s\n", head, hint[i].pc, between,
                              hint[i].stride, tail);
    free(hint);
    return rc;
}

int trod_layout_dr_hints(const struct trod_dr_sim *s, struct trod_buf *out)
{
    return hints(s, "", ",", ",nta", out) ? TROD_ERR_NOMEM : 0;
}

static int analyzer(const struct trod_dr_sim *s, struct trod_buf *out)
{
    const int rc = trod_buf_printf(out, "Cache miss analyzer results:\n");

    return rc ? rc : hints(s, "pc=", ", stride=", ", locality=nta", out);
}

int trod_layout_dr(const struct trod_dr_sim *s, struct trod_buf *out)
{
    const int rc = s->config->tool == TROD_DR_TLB             ? tlbs(s, out)
                   : s->config->tool == TROD_DR_MISS_ANALYZER ? analyzer(s, out)
                                                              : caches(s, out);

    return rc ? TROD_ERR_NOMEM : 0;
}
