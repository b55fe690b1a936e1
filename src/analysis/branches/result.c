/*
 * result.c - the result of "branches": kinds, predictors, the branches executed most and those that
 * each predictor gets wrong most (branches.h).
 */
#include "analysis/branches/branches.h"

#include "engine/sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 160, SOURCE = 512 };

static const char *const kind_names[TROD_BP_KINDS] = {"conditional", "jump",          "call",
                                                      "indirect",    "indirect call", "return"};
static const char *const class_names[] = {"direction", "targets", "returns", "indirect"};

double br_percent(uint64_t n, uint64_t of)
{
    return of ? 100 * (double)n / (double)of : 0;
}

static double mpki(uint64_t wrong, uint64_t instructions)
{
    return instructions ? 1000 * (double)wrong / (double)instructions : 0;
}

/* ---- kinds and predictors */

static void put_kinds(const struct br_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"kind", TROD_COLUMN_KEY, NULL, NULL},
        {"executions", TROD_COLUMN_MEASURE, "branches", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all branches"},
        {"taken", TROD_COLUMN_MEASURE, "branches", NULL},
        {"taken_share", TROD_COLUMN_MEASURE, "percent", "of its executions"},
        {"static", TROD_COLUMN_MEASURE, NULL, "different instructions"},
    };
    uint64_t different[TROD_BP_KINDS] = {0}, all = 0;

    for (size_t i = 0; i < s->n_sites; i++)
        if (s->site[i].executions)
            different[s->fact[i].counted - 1]++;
    for (unsigned k = 0; k < TROD_BP_KINDS; k++)
        all += s->sums.kind[k];
    if (!s->sums.instructions && !all)
        trod_result_str(r, "note", "no instructions are recorded, among which branches are found");
    else if (!all && !s->sums.unresolved &&
             !engine_sites_say_branches(s->context.sites, s->context.meta))
        trod_result_str(r, "note", "the trace does not say which instructions are branches");
    trod_result_u64(r, "instructions", s->sums.instructions);
    trod_result_u64(r, "branches", all);
    trod_result_u64(r, "unresolved", s->sums.unresolved);
    trod_result_table(r, "kinds", "branches by kind", columns, 6);
    for (unsigned k = 0; k < TROD_BP_KINDS; k++) {
        if (!s->sums.kind[k])
            continue;
        trod_result_str(r, NULL, kind_names[k]);
        trod_result_u64(r, NULL, s->sums.kind[k]);
        trod_result_f64(r, NULL, br_percent(s->sums.kind[k], all), 2);
        trod_result_u64(r, NULL, s->sums.taken[k]);
        trod_result_f64(r, NULL, br_percent(s->sums.taken[k], s->sums.kind[k]), 2);
        trod_result_u64(r, NULL, different[k]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_predictors(const struct br_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"predictor", TROD_COLUMN_KEY, NULL, NULL},
        {"of", TROD_COLUMN_PLAIN, NULL, "what it predicts"},
        {"bits", TROD_COLUMN_PLAIN, "bits", "of storage"},
        {"branches", TROD_COLUMN_MEASURE, "branches", "that it predicted"},
        {"wrong", TROD_COLUMN_MEASURE, "branches", NULL},
        {"accuracy", TROD_COLUMN_MEASURE, "percent", NULL},
        {"mpki", TROD_COLUMN_MEASURE, NULL, "wrong ones for every thousand instructions"},
    };

    trod_result_table(r, "predictors", "predictors", columns, 7);
    for (unsigned k = 0; k < s->n_choices; k++) {
        const struct trod_bp_choice *c = &s->choice[k];
        const uint64_t judged = s->sums.judged[k], wrong = s->sums.wrong[k];

        trod_result_str(r, NULL, c->name);
        trod_result_str(r, NULL, class_names[c->type->class]);
        trod_result_u64(r, NULL, c->type->bits(c->value));
        trod_result_u64(r, NULL, judged);
        trod_result_u64(r, NULL, wrong);
        if (judged)
            trod_result_f64(r, NULL, br_percent(judged - wrong, judged), 2);
        else
            trod_result_absent(r);
        trod_result_f64(r, NULL, mpki(wrong, s->sums.instructions), 3);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_intervals(const struct br_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, NULL},
        {"instructions_end", TROD_COLUMN_PLAIN, "instructions", NULL},
        {"predictor", TROD_COLUMN_KEY, NULL, NULL},
        {"branches", TROD_COLUMN_MEASURE, "branches", NULL},
        {"wrong", TROD_COLUMN_MEASURE, "branches", NULL},
        {"mpki", TROD_COLUMN_MEASURE, NULL, NULL},
    };

    if (!s->n_intervals)
        return;
    trod_result_table(r, "interval_predictors", "intervals", columns, 6);
    for (size_t i = 0; i < s->n_intervals; i++)
        for (unsigned k = 0; k < s->n_choices; k++) {
            const struct br_interval *v = &s->interval[i];

            trod_result_u64(r, NULL, v->number);
            trod_result_u64(r, NULL, v->instructions_end);
            trod_result_str(r, NULL, s->choice[k].name);
            trod_result_u64(r, NULL, v->sums.judged[k]);
            trod_result_u64(r, NULL, v->sums.wrong[k]);
            trod_result_f64(r, NULL, mpki(v->sums.wrong[k], v->sums.instructions), 3);
            trod_result_row_end(r);
        }
    trod_result_table_close(r);
}

/* ---- single branches */

/* What lists are sorted by. */
struct rank {
    uint64_t n;
    const struct trod_site *what;
    uint32_t site;
    uint32_t targets; /* different ones */
    uint64_t top, top_n;
};

static int by_count(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return trod_site_compare(x->what, y->what);
}

/* Branches that were executed, by site: targets counted. */
static struct rank *ranks(const struct br_state *s, size_t *n)
{
    struct rank *all = calloc(s->n_sites + 1, sizeof *all);

    *n = 0;
    for (size_t i = 0; all && i < s->n_sites; i++)
        all[i].site = (uint32_t)i;
    for (size_t i = 0; all && i < s->targets.size; i++) {
        const struct trod_pair *p = &s->targets.at[i];
        struct rank *k = p->n ? &all[p->key >> 32] : NULL;
        uint64_t pc;

        if (!k)
            continue;
        pc = trod_site_at(s->context.sites, (uint32_t)(p->key & UINT32_MAX))->pc;
        k->targets++;
        if (p->n > k->top_n || (p->n == k->top_n && pc < k->top)) {
            k->top = pc;
            k->top_n = p->n;
        }
    }
    for (size_t i = 0; all && i < s->n_sites; i++)
        if (s->site[i].executions) {
            all[*n] = all[i];
            all[(*n)++].what = trod_site_at(s->context.sites, (uint32_t)i);
        }
    return all;
}

static void put_where(const struct br_state *s, uint32_t site, struct trod_result *r)
{
    const uint64_t pc = trod_site_at(s->context.sites, site)->pc;
    const char *name;
    uint32_t line;
    char text[SOURCE];

    if (trod_site_where(s->context.sites, site, text, sizeof text))
        trod_result_str(r, NULL, text);
    else
        trod_result_absent(r);
    if (s->context.symbols && trod_symbols_line(s->context.symbols, pc, &name, &line)) {
        snprintf(text, sizeof text, "%s:%" PRIu32, name, line);
        trod_result_str(r, NULL, text);
    } else {
        trod_result_absent(r);
    }
    if (trod_site_text(s->context.sites, site, text, TEXT))
        trod_result_str(r, NULL, text);
    else
        trod_result_absent(r);
}

/* Kind, executions, share taken, transition rate. */
static void put_branch(const struct br_state *s, uint32_t i, struct trod_result *r)
{
    const struct br_site *site = &s->site[i];

    trod_result_str(r, NULL, kind_names[s->fact[i].counted - 1]);
    trod_result_u64(r, NULL, site->executions);
    trod_result_f64(r, NULL, br_percent(site->taken, site->executions), 2);
    trod_result_f64(r, NULL, br_percent(site->turns, site->executions), 2);
}

static size_t rows(const struct br_state *s, size_t n)
{
    return s->opt->top && s->opt->top < n ? (size_t)s->opt->top : n;
}

static void put_hot(const struct br_state *s, struct rank *all, size_t n, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"kind", TROD_COLUMN_PLAIN, NULL, NULL},
        {"executions", TROD_COLUMN_MEASURE, "branches", NULL},
        {"taken", TROD_COLUMN_MEASURE, "percent", "of its executions"},
        {"turns", TROD_COLUMN_MEASURE, "percent", "executions with another outcome than before"},
        {"targets", TROD_COLUMN_MEASURE, NULL, "different ones, of indirect branches"},
        {"top_target", TROD_COLUMN_PLAIN, NULL, NULL},
        {"top_share", TROD_COLUMN_MEASURE, "percent", "of its executions"},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
        {"source", TROD_COLUMN_PLAIN, NULL, NULL},
        {"text", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    for (size_t i = 0; i < n; i++)
        all[i].n = s->site[all[i].site].executions;
    qsort(all, n, sizeof *all, by_count);
    trod_result_table(r, "static_branches", "branches executed most", columns, 11);
    for (size_t i = 0; i < rows(s, n); i++) {
        const struct rank *k = &all[i];

        trod_result_hex(r, NULL, k->what->pc);
        put_branch(s, k->site, r);
        if (k->targets) {
            trod_result_u64(r, NULL, k->targets);
            trod_result_hex(r, NULL, k->top);
            trod_result_f64(r, NULL, br_percent(k->top_n, k->n), 2);
        } else {
            trod_result_absent(r);
            trod_result_absent(r);
            trod_result_absent(r);
        }
        put_where(s, k->site, r);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_worst(const struct br_state *s, struct rank *all, size_t n, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"predictor", TROD_COLUMN_KEY, NULL, NULL},
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"kind", TROD_COLUMN_PLAIN, NULL, NULL},
        {"executions", TROD_COLUMN_MEASURE, "branches", NULL},
        {"taken", TROD_COLUMN_MEASURE, "percent", NULL},
        {"turns", TROD_COLUMN_MEASURE, "percent", NULL},
        {"wrong", TROD_COLUMN_MEASURE, "branches", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all that the predictor gets wrong"},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
        {"source", TROD_COLUMN_PLAIN, NULL, NULL},
        {"text", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(r, "worst", "branches predicted wrong most, by predictor", columns, 11);
    for (unsigned p = 0; p < s->n_choices; p++) {
        for (size_t i = 0; i < n; i++)
            all[i].n = s->wrong[(size_t)all[i].site * s->n_choices + p];
        qsort(all, n, sizeof *all, by_count);
        for (size_t i = 0; i < rows(s, n) && all[i].n; i++) {
            trod_result_str(r, NULL, s->choice[p].name);
            trod_result_hex(r, NULL, all[i].what->pc);
            put_branch(s, all[i].site, r);
            trod_result_u64(r, NULL, all[i].n);
            trod_result_f64(r, NULL, br_percent(all[i].n, s->sums.wrong[p]), 2);
            put_where(s, all[i].site, r);
            trod_result_row_end(r);
        }
    }
    trod_result_table_close(r);
}

int br_result(const void *st, struct trod_result *r)
{
    const struct br_state *s = st;
    size_t n;
    struct rank *all = ranks(s, &n);

    if (!all)
        return TROD_ERR_NOMEM;
    put_kinds(s, r);
    put_predictors(s, r);
    put_intervals(s, r);
    put_hot(s, all, n, r);
    put_worst(s, all, n, r);
    free(all);
    return s->context.by >= TROD_BY_MODULE ? br_put_owners(s, r) : TROD_OK;
}
