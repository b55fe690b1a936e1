/*
 * owners.c - what the instructions of each module, function or line of source are (mix.h).
 *
 * Implements docs/analysing.md, "Results by thread, core, module, function or line".
 */
#include "analysis/mix/mix.h"

#include "trod/owners.h"

enum {
    CATEGORIES = 32, /* mix_category_name() has fewer */
    USER = CATEGORIES,
    KERNEL,
    ACCESSES,
    ALL = ACCESSES + MIX_ACCESSES,
    COUNTS
};

static int add(uint64_t *count, unsigned category, const uint64_t by[2])
{
    if (!count)
        return TROD_ERR_NOMEM;
    count[category] += by[0] + by[1];
    count[USER] += by[0];
    count[KERNEL] += by[1];
    count[ALL] += by[0] + by[1];
    return TROD_OK;
}

static int add_accesses(uint64_t *count, const struct mix_did *did)
{
    if (!count)
        return TROD_ERR_NOMEM;
    for (unsigned k = 0; k < MIX_ACCESSES; k++)
        count[ACCESSES + k] += did->n[k];
    return TROD_OK;
}

static bool any(const struct mix_did *did)
{
    return (did->n[0] | did->n[1] | did->n[2]) != 0;
}

static int gather(const struct mix_state *s, struct trod_owners *o)
{
    const uint64_t *nowhere = s->sums.nowhere;
    uint64_t by[2] = {0, 0};
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < s->n_ran; i++) {
        const struct mix_did *did = i + 1 < s->n_did ? &s->did[i + 1] : NULL;
        const struct trod_site *site;
        uint64_t *count;

        by[0] += s->ran[i].by[0];
        by[1] += s->ran[i].by[1];
        if (!(by[0] | by[1]) && !(did && any(did)))
            continue;
        site = trod_site_at(s->sites, i);
        count = trod_owners_site(o, i);
        rc = add(count, mix_category(site, trod_site_insn(s->sites, i)), by);
        if (rc == TROD_OK && did)
            rc = add_accesses(count, did);
    }
    if (rc == TROD_OK && nowhere[0] | nowhere[1]) /* category 0: unknown */
        rc = add(trod_owners_none(o), 0, nowhere);
    if (rc == TROD_OK && s->n_did && any(&s->did[0]))
        rc = add_accesses(trod_owners_none(o), &s->did[0]);
    return rc == TROD_OK ? trod_owners_sort(o, ALL) : rc;
}

static void put_owners(const struct trod_owners *o, size_t n, uint64_t total, struct trod_result *r)
{
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"user", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"kernel", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"reads", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"writes", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"atomic", TROD_COLUMN_MEASURE, "accesses", NULL},
    };

    trod_result_table(r, "owners", "instructions and accesses by what they belong to", columns, 8);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *count = trod_owners_at(o, i)->count;

        trod_owners_put(o, trod_owners_at(o, i), r);
        trod_result_u64(r, NULL, count[ALL]);
        trod_result_f64(r, NULL, total ? 100 * (double)count[ALL] / (double)total : 0, 2);
        for (unsigned k = USER; k < ACCESSES + MIX_ACCESSES; k++)
            trod_result_u64(r, NULL, count[k]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_categories(const struct trod_owners *o, size_t n, struct trod_result *r)
{
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"category", TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of its owner's"},
    };

    trod_result_table(r, "owner_categories", "their instructions by category", columns, 4);
    for (size_t i = 0; i < n; i++)
        for (unsigned c = 0; mix_category_name(c); c++) {
            const uint64_t *count = trod_owners_at(o, i)->count;

            if (!count[c])
                continue;
            trod_owners_put(o, trod_owners_at(o, i), r);
            trod_result_str(r, NULL, mix_category_name(c));
            trod_result_u64(r, NULL, count[c]);
            trod_result_f64(r, NULL, 100 * (double)count[c] / (double)count[ALL], 2);
            trod_result_row_end(r);
        }
    trod_result_table_close(r);
}

int mix_put_owners(const struct mix_state *s, uint64_t total, struct trod_result *r)
{
    struct trod_owners *o;
    int rc = trod_owners_new(&o, s->by, s->symbols, s->sites, COUNTS);

    if (rc == TROD_OK)
        rc = gather(s, o);
    if (rc == TROD_OK) {
        const size_t n = trod_owners_count(o, s->opt->top, r);

        put_owners(o, n, total, r);
        put_categories(o, n, r);
    }
    trod_owners_free(o);
    return rc;
}
