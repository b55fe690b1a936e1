/*
 * report.c - the tables of a hierarchy.
 *
 * Implements own/report.h. Names of columns are documented in trod-cache(1).
 */
#include "sim/own/report.h"

#include "trod/meta.h"

#include <stdlib.h>
#include <string.h>

static uint64_t sum3(const uint64_t v[TROD_OWN_KINDS])
{
    return v[0] + v[1] + v[2];
}

static void percent(struct trod_result *r, uint64_t part, uint64_t of)
{
    if (of)
        trod_result_f64(r, NULL, (double)part * 100 / (double)of, 3);
    else
        trod_result_absent(r);
}

/* A count that says something only where ON. */
static void count(struct trod_result *r, bool on, uint64_t v)
{
    if (on)
        trod_result_u64(r, NULL, v);
    else
        trod_result_absent(r);
}

static void mpki(const struct trod_own_sim *s, uint64_t misses, struct trod_result *r)
{
    if (s->instructions)
        trod_result_f64(r, NULL, (double)misses * 1000 / (double)s->instructions, 3);
    else
        trod_result_absent(r);
}

static const char *const cache_columns[] = {
    "cache",
    "instances",
    "references",
    "misses",
    "percent",
    "mpki",
    "total_percent",
    "compulsory",
    "capacity",
    "conflict",
    "coherence",
    "sector_misses",
    "victim_hits",
    "evictions",
    "writebacks",
    "bytes_in",
    "bytes_out",
    "prefetches",
    "useful",
    "accuracy_percent",
    "coverage_percent",
    "back_invalidations",
    "coherence_invalidations",
    "flushed",
};

static void caches(const struct trod_own_sim *s, struct trod_result *r)
{
    trod_result_counts(r, "caches", "Caches", cache_columns,
                       sizeof cache_columns / sizeof *cache_columns);
    for (unsigned i = 0; i < s->config->n; i++) {
        const struct trod_own_spec *spec = &s->config->spec[i];
        const struct trod_own_counts n = trod_own_sim_sum(s, i);
        const uint64_t refs = sum3(n.refs), misses = sum3(n.misses);

        trod_result_str(r, NULL, spec->name);
        trod_result_u64(r, NULL, spec->home.instances);
        trod_result_u64(r, NULL, refs);
        trod_result_u64(r, NULL, misses);
        percent(r, misses, refs);
        mpki(s, misses, r);
        percent(r, misses, s->line_refs);
        for (unsigned k = 0; k < TROD_OWN_CLASSES; k++)
            count(r, s->config->classify && (k < TROD_OWN_COHERENCE || s->config->coherent),
                  n.classes[k]);
        count(r, spec->sector, n.sector_misses);
        count(r, spec->victims, n.victim_hits);
        trod_result_u64(r, NULL, n.evictions);
        trod_result_u64(r, NULL, n.writebacks);
        trod_result_u64(r, NULL, n.bytes_in);
        trod_result_u64(r, NULL, n.bytes_out);
        count(r, spec->prefetch, n.prefetches);
        count(r, spec->prefetch, n.useful);
        percent(r, n.useful, spec->prefetch ? n.prefetches : 0);
        percent(r, n.useful, spec->prefetch ? n.useful + misses : 0);
        count(r, n.back_invalidations, n.back_invalidations);
        count(r, s->config->coherent && !spec->home.shared, n.coherence_invalidations);
        count(r, s->config->flush & TROD_OWN_FLUSH_CACHES, n.flushed);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void tlbs(const struct trod_own_sim *s, struct trod_result *r)
{
    static const char *const columns[] = {
        "tlb",         "instances",   "references",   "misses",    "percent", "mpki",
        "code_misses", "read_misses", "write_misses", "evictions", "flushed",
    };
    const struct trod_own_config *c = s->config;

    trod_result_counts(r, "tlbs", "TLBs", columns, sizeof columns / sizeof *columns);
    for (unsigned i = 0; i < c->n_tlbs; i++) {
        const struct trod_own_tlb_counts n = trod_own_sim_sum_tlb(s, i);

        trod_result_str(r, NULL, c->tlb[i].name);
        trod_result_u64(r, NULL, c->tlb[i].home.instances);
        trod_result_u64(r, NULL, sum3(n.refs));
        trod_result_u64(r, NULL, sum3(n.misses));
        percent(r, sum3(n.misses), sum3(n.refs));
        mpki(s, sum3(n.misses), r);
        for (unsigned k = 0; k < TROD_OWN_KINDS; k++)
            trod_result_u64(r, NULL, n.misses[k]);
        trod_result_u64(r, NULL, n.evictions);
        count(r, c->flush & TROD_OWN_FLUSH_TLBS, n.flushed);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    trod_result_open(r, "walks", "Page walks");
    trod_result_u64(r, "walks", s->walks.walks);
    trod_result_u64(r, "reads", s->walks.reads);
    trod_result_str(r, "into", c->walk < 0 ? "memory" : c->spec[c->walk].name);
    trod_result_close(r);
}

static void kinds(const struct trod_own_sim *s, struct trod_result *r)
{
    static const char *const columns[] = {"cache", "kind", "references", "misses", "percent"};
    static const char *const names[] = {"fetch", "read", "write"};

    trod_result_counts(r, "kinds", "By kind of reference", columns, 5);
    for (unsigned i = 0; i < s->config->n; i++) {
        const struct trod_own_counts n = trod_own_sim_sum(s, i);

        for (unsigned k = 0; k < TROD_OWN_KINDS; k++) {
            if (n.refs[k] == 0)
                continue;
            trod_result_str(r, NULL, s->config->spec[i].name);
            trod_result_str(r, NULL, names[k]);
            trod_result_u64(r, NULL, n.refs[k]);
            trod_result_u64(r, NULL, n.misses[k]);
            percent(r, n.misses[k], n.refs[k]);
            trod_result_row_end(r);
        }
    }
    trod_result_table_close(r);
}

/* --- who shares --- */

static int by_sharing(const void *a, const void *b)
{
    const struct trod_own_shared *x = a, *y = b;

    if (x->invalidations != y->invalidations)
        return x->invalidations < y->invalidations ? 1 : -1;
    if (x->refs != y->refs)
        return x->refs < y->refs ? 1 : -1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int sharing(const struct trod_own_sim *s, const struct trod_own_report *o,
                   struct trod_result *r)
{
    static const char *const columns[] = {"line", "threads", "references", "invalidations",
                                          "sharing"};
    struct trod_own_shared *copy = malloc((s->n_shared ? s->n_shared : 1) * sizeof *copy);
    uint64_t read_only = 0, falsely = 0;
    size_t n = 0;

    if (!copy)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < s->n_shared; i++) {
        const struct trod_own_sharing k = trod_own_sharing_of(s, &s->shared[i]);

        if (s->shared[i].follows || k.threads < 2)
            continue;
        read_only += !k.written;
        falsely += k.written && !k.truly;
        if (k.written)
            copy[n++] = s->shared[i];
    }
    qsort(copy, n, sizeof *copy, by_sharing);
    trod_result_open(r, "sharing", "Lines of 64 bytes shared between threads");
    trod_result_u64(r, "read_only", read_only);
    trod_result_u64(r, "written", n);
    trod_result_u64(r, "false_sharing", falsely);
    trod_result_counts(r, "lines", "Lines that are written", columns, 5);
    for (size_t i = 0; i < n && (o->top == 0 || i < o->top); i++) {
        const struct trod_own_sharing k = trod_own_sharing_of(s, &copy[i]);

        trod_result_hex(r, NULL, copy[i].line);
        trod_result_u64(r, NULL, k.threads);
        trod_result_u64(r, NULL, copy[i].refs);
        trod_result_u64(r, NULL, copy[i].invalidations);
        trod_result_str(r, NULL, k.truly ? "true" : "false");
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    trod_result_close(r);
    free(copy);
    return 0;
}

static void intervals(const struct trod_own_sim *s, struct trod_result *r)
{
    const char *columns[TROD_OWN_CACHES + 1] = {"instructions"};
    struct trod_own_snapshot before = {0}, last = {.instructions = s->instructions};

    for (unsigned i = 0; i < s->config->n; i++) {
        const struct trod_own_counts n = trod_own_sim_sum(s, i);

        columns[1 + i] = s->config->spec[i].name;
        last.misses[i] = sum3(n.misses);
    }
    trod_result_counts(r, "intervals", "Misses by interval", columns, s->config->n + 1);
    for (size_t i = 0; i <= s->n_snapshots; i++) {
        const struct trod_own_snapshot *n = i < s->n_snapshots ? &s->snapshot[i] : &last;

        if (n == &last && s->phases.every && n->instructions == before.instructions &&
            s->windows <= s->n_snapshots)
            break; /* the last window has ended before */
        trod_result_u64(r, NULL, n->instructions);
        for (unsigned k = 0; k < s->config->n; k++)
            trod_result_u64(r, NULL, n->misses[k] - before.misses[k]);
        trod_result_row_end(r);
        before = *n;
    }
    trod_result_table_close(r);
}

int trod_own_report(const struct trod_own_sim *s, const struct trod_own_report *o,
                    const struct trod_meta *meta, struct trod_result *r)
{
    int rc = 0;

    trod_result_u64(r, "instructions", s->instructions);
    trod_result_u64(r, "references", s->refs);
    trod_result_u64(r, "cores", s->config->cores);
    if (s->phases.every)
        trod_result_u64(r, "windows", s->windows);
    if (s->phases.until_full && s->full)
        trod_result_u64(r, "full_after", s->full_after);
    else if (s->phases.until_full)
        trod_result_str(r, "full_after", "never");
    if (s->config->flush)
        trod_result_u64(r, "switches", s->switches);
    if (s->config->physical)
        trod_result_u64(r, "without_physical", s->pages.unknown);
    caches(s, r);
    kinds(s, r);
    if (s->config->n_tlbs)
        tlbs(s, r);
    if (s->config->coherent) {
        trod_result_open(r, "coherence", "Coherence");
        trod_result_u64(r, "invalidations", s->invalidations);
        trod_result_u64(r, "interventions", s->interventions);
        trod_result_u64(r, "upgrades", s->upgrades);
        trod_result_close(r);
    }
    if (s->by)
        rc = trod_own_who(s, o, meta, r);
    if (rc == 0 && s->sharing)
        rc = sharing(s, o, r);
    if (s->interval || s->phases.every)
        intervals(s, r);
    return rc;
}
