/*
 * owners.c - critical paths and bad sequences of each module, function or line of source (deps.h).
 *
 * Implements docs/analysing.md, "Results by thread, core, module, function or line".
 */
#include "analysis/deps/deps.h"

#include "trod/owners.h"

enum { INSTRUCTIONS = DEPS_WHATS, COUNTS };

static void add(uint64_t *to, const struct deps_counts *site, uint64_t rest[COUNTS])
{
    to[INSTRUCTIONS] += site->executed;
    rest[INSTRUCTIONS] -= site->executed;
    for (unsigned k = 0; k < DEPS_WHATS; k++) {
        to[k] += site->count[k];
        rest[k] -= site->count[k];
    }
}

static bool any(const uint64_t *count, unsigned n)
{
    uint64_t all = 0;

    for (unsigned k = 0; k < n; k++)
        all |= count[k];
    return all != 0;
}

/* What no site has belongs to instructions without an address. */
static int gather(const struct deps_state *s, struct trod_owners *o)
{
    const size_t most = s->context.sites ? trod_sites_count(s->context.sites) : 0;
    uint64_t rest[COUNTS] = {[INSTRUCTIONS] = s->sums.instructions}, *to;

    for (unsigned k = 0; k < DEPS_WHATS; k++)
        rest[k] = s->sums.what[k];
    for (size_t i = 0; i < most; i++) {
        const struct deps_counts *site = deps_counts_at(&s->places, (uint32_t)i);

        if (!site || !(site->executed || any(site->count, DEPS_WHATS)))
            continue;
        to = trod_owners_of(o, trod_site_at(s->context.sites, (uint32_t)i)->pc);
        if (!to)
            return TROD_ERR_NOMEM;
        add(to, site, rest);
    }
    if (any(rest, COUNTS)) {
        to = trod_owners_none(o);
        if (!to)
            return TROD_ERR_NOMEM;
        for (unsigned k = 0; k < COUNTS; k++)
            to[k] += rest[k];
    }
    return trod_owners_sort(o, DEPS_CRITICAL);
}

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100 * (double)part / (double)of : 0;
}

static void put(const struct deps_state *s, const struct trod_owners *o, struct trod_result *r)
{
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"cycles", TROD_COLUMN_MEASURE, "cycles", "on the critical path"},
        {"cycles_share", TROD_COLUMN_MEASURE, "percent", "of the critical path"},
        {"load_use", TROD_COLUMN_MEASURE, NULL, NULL},
        {"in_group", TROD_COLUMN_MEASURE, NULL, NULL},
        {"store_in_group", TROD_COLUMN_MEASURE, NULL, NULL},
        {"split", TROD_COLUMN_MEASURE, NULL, NULL},
        {"misaligned", TROD_COLUMN_MEASURE, NULL, NULL},
    };

    trod_result_u64(r, "owner_count", trod_owners_n(o));
    trod_result_table(r, "owners", "dependences by what they belong to", columns, 10);
    for (size_t i = 0; i < trod_owners_n(o) && (s->opt->top == 0 || i < s->opt->top); i++) {
        const uint64_t *count = trod_owners_at(o, i)->count;

        trod_owners_put(o, trod_owners_at(o, i), r);
        trod_result_u64(r, NULL, count[INSTRUCTIONS]);
        trod_result_f64(r, NULL, percent(count[INSTRUCTIONS], s->sums.instructions), 2);
        trod_result_u64(r, NULL, count[DEPS_CRITICAL]);
        trod_result_f64(r, NULL, percent(count[DEPS_CRITICAL], s->sums.what[DEPS_CRITICAL]), 2);
        for (unsigned k = DEPS_CRITICAL + 1; k < DEPS_WHATS; k++)
            trod_result_u64(r, NULL, count[k]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

int deps_put_owners(const struct deps_state *s, struct trod_result *r)
{
    struct trod_owners *o;
    int rc = trod_owners_new(&o, s->context.by, s->context.symbols, s->context.sites, COUNTS);

    if (rc == TROD_OK)
        rc = gather(s, o);
    if (rc == TROD_OK)
        put(s, o, r);
    trod_owners_free(o);
    return rc;
}
