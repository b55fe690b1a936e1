/*
 * owners.c - the branches of each module, function or line of source (branches.h).
 *
 * Implements docs/analysing.md, "Results by thread, core, module, function or line".
 */
#include "analysis/branches/branches.h"

#include "trod/owners.h"

enum { EXECUTIONS = TROD_BP_MOST, CONDITIONAL, TAKEN, STATIC, COUNTS };

static int gather(const struct br_state *s, struct trod_owners *o)
{
    for (size_t i = 0; i < s->n_sites; i++) {
        const struct br_site *site = &s->site[i];
        uint64_t *count;

        if (!site->executions)
            continue;
        count = trod_owners_site(o, (uint32_t)i);
        if (!count)
            return TROD_ERR_NOMEM;
        count[EXECUTIONS] += site->executions;
        count[CONDITIONAL] += s->fact[i].counted == TROD_BP_COND + 1 ? site->executions : 0;
        count[TAKEN] += site->taken;
        count[STATIC]++;
        for (unsigned k = 0; k < s->n_choices; k++)
            count[k] += s->wrong[i * s->n_choices + k];
    }
    return trod_owners_sort(o, EXECUTIONS);
}

static void put_owners(const struct br_state *s, const struct trod_owners *o, size_t n,
                       struct trod_result *r)
{
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"executions", TROD_COLUMN_MEASURE, "branches", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all branches"},
        {"conditional", TROD_COLUMN_MEASURE, "branches", NULL},
        {"taken", TROD_COLUMN_MEASURE, "branches", NULL},
        {"static", TROD_COLUMN_MEASURE, NULL, "different ones"},
    };
    uint64_t all = 0;

    for (unsigned k = 0; k < TROD_BP_KINDS; k++)
        all += s->sums.kind[k];
    trod_result_table(r, "owners", "branches by what they belong to", columns, 6);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *count = trod_owners_at(o, i)->count;

        trod_owners_put(o, trod_owners_at(o, i), r);
        trod_result_u64(r, NULL, count[EXECUTIONS]);
        trod_result_f64(r, NULL, br_percent(count[EXECUTIONS], all), 2);
        trod_result_u64(r, NULL, count[CONDITIONAL]);
        trod_result_u64(r, NULL, count[TAKEN]);
        trod_result_u64(r, NULL, count[STATIC]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_predictors(const struct br_state *s, const struct trod_owners *o, size_t n,
                           struct trod_result *r)
{
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"predictor", TROD_COLUMN_KEY, NULL, NULL},
        {"wrong", TROD_COLUMN_MEASURE, "branches", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all that the predictor gets wrong"},
    };

    trod_result_table(r, "owner_predictors", "branches predicted wrong by what they belong to",
                      columns, 4);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < s->n_choices; k++) {
            trod_owners_put(o, trod_owners_at(o, i), r);
            trod_result_str(r, NULL, s->choice[k].name);
            trod_result_u64(r, NULL, trod_owners_at(o, i)->count[k]);
            trod_result_f64(r, NULL, br_percent(trod_owners_at(o, i)->count[k], s->sums.wrong[k]),
                            2);
            trod_result_row_end(r);
        }
    trod_result_table_close(r);
}

int br_put_owners(const struct br_state *s, struct trod_result *r)
{
    struct trod_owners *o;
    int rc = trod_owners_new(&o, s->context.by, s->context.symbols, s->context.sites, COUNTS);

    if (rc == TROD_OK)
        rc = gather(s, o);
    if (rc == TROD_OK) {
        const size_t n = trod_owners_count(o, s->opt->top, r);

        put_owners(s, o, n, r);
        put_predictors(s, o, n, r);
    }
    trod_owners_free(o);
    return rc;
}
