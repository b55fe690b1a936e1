/*
 * result.c - the result of "deps" (deps.h).
 *
 * Implements docs/analysing.md, "deps", the table of keys.
 */
#include "analysis/deps/deps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 160 };

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100 * (double)part / (double)of : 0;
}

/* ---- distances */

static void put_distances(struct trod_result *r, const char *key, const char *title,
                          const char *unit, const uint64_t *bins)
{
    const struct trod_result_column columns[] = {
        {"distance", TROD_COLUMN_X, unit, "the least of a range that ends before the next"},
        {"to", TROD_COLUMN_PLAIN, unit, "the largest of the range"},
        {"count", TROD_COLUMN_MEASURE, NULL, NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", NULL},
    };
    uint64_t all = 0;

    for (unsigned i = 0; i < DEPS_BINS; i++)
        all += bins[i];
    trod_result_table(r, key, title, columns, 4);
    for (unsigned i = 0; i < DEPS_BINS; i++) {
        if (!bins[i])
            continue;
        trod_result_u64(r, NULL, deps_bin_least(i));
        trod_result_u64(r, NULL, i + 1 < DEPS_BINS ? deps_bin_least(i + 1) - 1 : UINT64_MAX);
        trod_result_u64(r, NULL, bins[i]);
        trod_result_f64(r, NULL, percent(bins[i], all), 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_counts(struct trod_result *r, const char *key, const char *title,
                       const char *column, const char *const *names, const uint64_t *n,
                       unsigned rows, uint64_t all)
{
    const struct trod_result_column columns[] = {
        {column, TROD_COLUMN_KEY, NULL, NULL},
        {"count", TROD_COLUMN_MEASURE, NULL, NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", NULL},
    };

    trod_result_table(r, key, title, columns, 3);
    for (unsigned i = 0; i < rows; i++) {
        trod_result_str(r, NULL, names[i]);
        trod_result_u64(r, NULL, n[i]);
        trod_result_f64(r, NULL, percent(n[i], all), 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_memory(const struct deps_sums *n, struct trod_result *r)
{
    static const char *const names[DEPS_OVERLAPS] = {"exact", "inside", "partial", "several"};

    put_counts(r, "forwarding", "loads of what was stored, of all loads", "overlap", names,
               n->overlap, DEPS_OVERLAPS, n->loads);
    put_distances(r, "forwarding_distance", "from the store to the load", "instructions",
                  n->forward);
    put_distances(r, "forwarding_bytes", "bytes stored between the store and the load", "bytes",
                  n->between);
    trod_result_u64(r, "spills", n->spills);
    trod_result_describe(r, "stores", "to the stack that are loaded again");
    trod_result_u64(r, "reloads", n->reloads);
    trod_result_describe(r, "loads", "of them");
    put_distances(r, "reload_distance", "from the spill to the reload", "instructions", n->reload);
}

/* ---- parallelism */

static void put_machine(const struct deps_state *s, const struct deps_config *c, uint64_t cycles,
                        struct trod_result *r)
{
    const uint32_t bounds[2] = {c ? c->window : 0, c ? c->width : 0};
    char text[16];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%u", bounds[i]);
        trod_result_str(r, NULL, bounds[i] ? text : "unlimited");
    }
    trod_result_u64(r, NULL, cycles);
    trod_result_f64(r, NULL, cycles ? (double)s->sums.instructions / (double)cycles : 0, 3);
    trod_result_row_end(r);
}

static void put_parallelism(const struct deps_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"window", TROD_COLUMN_KEY, "instructions", NULL},
        {"width", TROD_COLUMN_KEY, "instructions", "a cycle"},
        {"cycles", TROD_COLUMN_MEASURE, "cycles", NULL},
        {"ilp", TROD_COLUMN_MEASURE, "instructions", "a cycle"},
    };

    trod_result_table(r, "parallelism", "instructions a cycle that the dependences allow", columns,
                      4);
    for (unsigned i = 0; i < s->n_configs; i++)
        put_machine(s, &s->config[i], s->sums.bounded[i], r);
    put_machine(s, NULL, s->sums.cycles, r);
    trod_result_table_close(r);
}

/* ---- places */

/* Sites by one of their counters. */
struct ranked {
    uint64_t n, pc;
    uint32_t site;
    const char *name; /* of the function */
};

static int by_count(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->site < y->site ? -1 : x->site > y->site;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ranked *)a)->name, ((const struct ranked *)b)->name);
}

/* What site SITE counts for: its cycles, or its bad sequences. */
static uint64_t weight(const struct deps_counts *site, bool critical)
{
    uint64_t n = 0;

    if (critical)
        return site->count[DEPS_CRITICAL];
    for (unsigned k = DEPS_CRITICAL + 1; k < DEPS_WHATS; k++)
        n += site->count[k];
    return n;
}

static size_t shown(const struct deps_state *s, size_t n)
{
    return s->opt->top && s->opt->top < n ? (size_t)s->opt->top : n;
}

static size_t all_sites(const struct deps_state *s)
{
    return s->context.sites ? trod_sites_count(s->context.sites) : 0;
}

/*
 * The sites that count most, as many as are shown: *N of them. NULL: no memory. Where they are few,
 * the most of twice as many are chosen again and again, so that the others are not sorted.
 */
static struct ranked *rank(const struct deps_state *s, bool critical, size_t *n)
{
    const size_t sites = all_sites(s), most = shown(s, sites);
    const size_t room = most < sites / 2 ? 2 * most : sites;
    struct ranked *best = calloc(room + 1, sizeof *best);
    uint64_t least = 1;

    *n = 0;
    for (size_t i = 0; best && i < sites; i++) {
        const struct deps_counts *site = deps_counts_at(&s->places, (uint32_t)i);
        const uint64_t w = site ? weight(site, critical) : 0;

        if (w < least)
            continue;
        best[(*n)++] = (struct ranked){
            .n = w, .site = (uint32_t)i, .pc = trod_site_at(s->context.sites, (uint32_t)i)->pc};
        if (*n == room && room < sites) {
            qsort(best, room, sizeof *best, by_count);
            *n = most;
            least = best[most - 1].n;
        }
    }
    if (best)
        qsort(best, *n, sizeof *best, by_count);
    *n = shown(s, *n);
    return best;
}

static void put_text(const struct deps_state *s, uint32_t site, struct trod_result *r)
{
    char text[TEXT];

    trod_site_text(s->context.sites, site, text, sizeof text);
    trod_result_str(r, NULL, text);
}

static void put_critical(const struct deps_state *s, const struct ranked *all, size_t n,
                         struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"cycles", TROD_COLUMN_MEASURE, "cycles", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of the critical path"},
        {"text", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(r, "critical_instructions", "instructions on the critical path", columns, 4);
    for (size_t i = 0; i < n; i++) {
        trod_result_hex(r, NULL, all[i].pc);
        trod_result_u64(r, NULL, all[i].n);
        trod_result_f64(r, NULL, percent(all[i].n, s->sums.what[DEPS_CRITICAL]), 2);
        put_text(s, all[i].site, r);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

/* The sites on the critical path that have a function: *N of them. NULL: no memory. */
static struct ranked *named_sites(const struct deps_state *s, size_t *n)
{
    const size_t sites = all_sites(s);
    struct ranked *all = calloc(sites + 1, sizeof *all);
    uint64_t offset;

    *n = 0;
    for (size_t i = 0; all && i < sites; i++) {
        const struct deps_counts *site = deps_counts_at(&s->places, (uint32_t)i);

        if (site && site->count[DEPS_CRITICAL] &&
            trod_site_function(s->context.sites, (uint32_t)i, &all[*n].name, &offset))
            all[(*n)++].n = site->count[DEPS_CRITICAL];
    }
    return all;
}

/* Functions of the N sites ALL, all of which have one. */
static void put_functions(const struct deps_state *s, struct ranked *all, size_t n,
                          struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"function", TROD_COLUMN_KEY, NULL, NULL},
        {"cycles", TROD_COLUMN_MEASURE, "cycles", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of the critical path"},
    };
    size_t k = 0;

    if (!n)
        return;
    qsort(all, n, sizeof *all, by_name);
    for (size_t i = 0; i < n; i++) {
        if (k && by_name(&all[k - 1], &all[i]) == 0) {
            all[k - 1].n += all[i].n;
        } else {
            all[k] = (struct ranked){.n = all[i].n, .name = all[i].name, .site = (uint32_t)k};
            k++;
        }
    }
    qsort(all, k, sizeof *all, by_count);
    trod_result_table(r, "critical_functions", "functions on the critical path", columns, 3);
    for (size_t i = 0; i < shown(s, k); i++) {
        trod_result_str(r, NULL, all[i].name);
        trod_result_u64(r, NULL, all[i].n);
        trod_result_f64(r, NULL, percent(all[i].n, s->sums.what[DEPS_CRITICAL]), 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_bad(const struct deps_state *s, const struct ranked *all, size_t n,
                    struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"load_use", TROD_COLUMN_MEASURE, NULL, NULL},
        {"in_group", TROD_COLUMN_MEASURE, NULL, NULL},
        {"store_in_group", TROD_COLUMN_MEASURE, NULL, NULL},
        {"split", TROD_COLUMN_MEASURE, NULL, NULL},
        {"misaligned", TROD_COLUMN_MEASURE, NULL, NULL},
        {"text", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(r, "bad_instructions", "instructions with most bad sequences", columns, 7);
    for (size_t i = 0; i < n; i++) {
        const struct deps_counts *site = deps_counts_at(&s->places, all[i].site);

        trod_result_hex(r, NULL, all[i].pc);
        for (unsigned k = DEPS_CRITICAL + 1; k < DEPS_WHATS; k++)
            trod_result_u64(r, NULL, site->count[k]);
        put_text(s, all[i].site, r);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static int put_places(const struct deps_state *s, struct trod_result *r)
{
    size_t n;
    struct ranked *all = rank(s, true, &n);

    if (!all)
        return TROD_ERR_NOMEM;
    put_critical(s, all, n, r);
    free(all);
    all = named_sites(s, &n);
    if (!all)
        return TROD_ERR_NOMEM;
    put_functions(s, all, n, r);
    free(all);
    all = rank(s, false, &n);
    if (!all)
        return TROD_ERR_NOMEM;
    put_bad(s, all, n, r);
    free(all);
    return TROD_OK;
}

/* ---- all */

static void put_classes(const struct deps_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"class", TROD_COLUMN_KEY, NULL, NULL},
        {"latency", TROD_COLUMN_PLAIN, "cycles", NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", NULL},
    };

    trod_result_table(r, "classes", "instructions by class", columns, 4);
    for (unsigned c = 0; c < DEPS_CLASSES; c++) {
        if (!s->sums.by_class[c])
            continue;
        trod_result_str(r, NULL, deps_class_names[c]);
        trod_result_u64(r, NULL, s->limits.latency[c]);
        trod_result_u64(r, NULL, s->sums.by_class[c]);
        trod_result_f64(r, NULL, percent(s->sums.by_class[c], s->sums.instructions), 2);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_sequences(const struct deps_sums *n, struct trod_result *r)
{
    static const char *const names[] = {
        "use of a load before it is there", "use of a register of the same group",
        "load of a store of the same group", "load of bytes that no one store has",
        "misaligned operand"};

    put_counts(r, "bad_sequences", "bad sequences, of all instructions", "sequence", names,
               n->what + DEPS_CRITICAL + 1, DEPS_WHATS - 1, n->instructions);
    trod_result_u64(r, "load_use_stalls", n->stall_cycles);
    trod_result_describe(r, "cycles", "of a pipeline that begins one instruction a cycle");
}

int deps_result(const void *st, struct trod_result *r)
{
    struct deps_state *s = (struct deps_state *)(uintptr_t)st;
    const struct deps_sums *n = &s->sums;

    if (s->live.file && deps_flow_end(s) < 0)
        return TROD_ERR_NOMEM;
    if (n->instructions && n->unknown == n->instructions)
        trod_result_str(r, "note", "the trace does not say what its instructions read and write");
    trod_result_u64(r, "instructions", n->instructions);
    trod_result_u64(r, "unknown", n->unknown);
    trod_result_describe(r, "instructions", "of which registers are not known");
    trod_result_u64(r, "skipped", n->skipped);
    trod_result_u64(r, "loads", n->loads);
    trod_result_u64(r, "stores", n->stores);
    if (n->forgotten)
        trod_result_u64(r, "stores_forgotten", n->forgotten);
    put_parallelism(s, r);
    put_classes(s, r);
    put_distances(r, "register_distance", "from the write of a register to its use", "instructions",
                  n->registers);
    trod_result_u64(r, "loaded_registers", n->loaded);
    trod_result_u64(r, "loaded_unused", n->unused);
    trod_result_describe(r, "registers", "that were not read before they were written again");
    put_distances(r, "load_use", "from a load to the first use of its value", "instructions",
                  n->load_use);
    put_memory(n, r);
    put_sequences(n, r);
    if (put_places(s, r) < 0)
        return TROD_ERR_NOMEM;
    return s->context.by >= TROD_BY_MODULE ? deps_put_owners(s, r) : TROD_OK;
}
