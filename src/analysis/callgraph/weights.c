/*
 * weights.c - what functions are weighed by: names of weights, and analyses that give numbers by
 * row.
 *
 * Implements docs/navigating.md, "Weights": rows and accesses (cost.c), columns, and numbers that
 * analyses offer (trod_analysis.weigher). Weighers see all rows in the order of the run, before the
 * call stack does; their number for a row is added when the call stack tells which activation the
 * row belongs to.
 */
#include "analysis/callgraph/callgraph.h"
#include "analysis/callgraph/like.h"

#include "sim/ref.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *unit;
} plain[] = {
    [CG_INSTRUCTIONS] = {"instructions", "instructions"},
    [CG_TIME] = {"time", "time"},
    [CG_ROWS] = {"rows", "rows"},
    [CG_LOADS] = {"loads", "loads"},
    [CG_STORES] = {"stores", "stores"},
    [CG_ACCESSES] = {"accesses", "accesses"},
    [CG_BYTES] = {"bytes", "bytes"},
    [CG_BYTES_READ] = {"bytes_read", "bytes"},
    [CG_BYTES_WRITTEN] = {"bytes_written", "bytes"},
    [CG_MISSES] = {"misses", "misses"},
};

enum {
    NUMERIC = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_TIME | TROD_COL_INDEX | TROD_COL_ADDR |
              TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB |
              TROD_COL_CORE
};

const char cg_weight_help[] =
    "count this too, several separated by commas: rows, loads, stores, accesses, bytes, "
    "bytes_read, bytes_written, misses (of a cache of 32 KiB for each thread), a column or "
    "KIND.COLUMN (value, read.size), KIND.rows, cache.LEVEL[:preset=NAME or :config=FILE], "
    "branches.PREDICTOR, deps.stalls, deps.cycles";

/* ---- names */

/* The column of NAME that has numbers, -1: none. */
static int column_of(const char *name)
{
    for (unsigned k = 0; k < TROD_COLUMNS; k++)
        if (NUMERIC >> k & 1 && strcasecmp(trod_column_name(k), name) == 0)
            return (int)k;
    return -1;
}

static bool parse_plain(struct cg_weight *w, const char *text)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(plain[i].name, text) == 0) {
            w->what = (uint8_t)i;
            w->unit = plain[i].unit;
            return true;
        }
    return false;
}

/* COLUMN, KIND.COLUMN or KIND.rows. */
static bool parse_column(struct cg_weight *w, const char *text)
{
    const char *dot = strchr(text, '.'), *name = dot ? dot + 1 : text;
    const int kind = dot ? trod_kind_find(text, (size_t)(dot - text)) : (int)TROD_KINDS;
    const int column = column_of(name);

    if (kind < 0)
        return false;
    w->kind = (uint8_t)kind;
    if (dot && strcmp(name, "rows") == 0) {
        w->what = CG_ROWS;
        w->unit = "rows";
        return true;
    }
    w->what = CG_COLUMN;
    w->column = (uint8_t)column;
    w->unit = column < 0 ? NULL : trod_column_name((unsigned)column);
    return column >= 0;
}

/* ANALYSIS.NUMBER */
static bool parse_analysis(struct cg_weight *w, const char *text)
{
    const char *dot = strchr(text, '.');
    const struct trod_analysis *a = dot ? trod_analysis_find(text, (size_t)(dot - text)) : NULL;

    if (!a || !a->weigher)
        return false;
    w->what = CG_ANALYSIS;
    w->weigher = a->weigher;
    w->unit = a->weigher->unit;
    w->number = dot + 1;
    return true;
}

/* The key of weight NUMBER: letters, digits and underscores, unlike those before. */
static void name_it(struct cg_weights *w, unsigned number)
{
    struct cg_weight *k = &w->at[number];
    size_t n = 0;

    for (const char *p = k->text; *p && *p != ':' && n < CG_WEIGHT_KEY - 4; p++)
        k->key[n++] = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '_';
    k->key[n] = '\0';
    for (unsigned i = 0; i < number; i++)
        if (strcmp(w->at[i].key, k->key) == 0) {
            snprintf(k->key + n, CG_WEIGHT_KEY - n, "_%u", number + 1);
            return;
        }
}

static int unknown(const char *text, struct trod_diag *diag)
{
    const char *names[sizeof plain / sizeof *plain], *near;
    const size_t n = sizeof plain / sizeof *plain;

    for (size_t i = 0; i < n; i++)
        names[i] = plain[i].name;
    near = trod_suggest(text, strlen(text), names, n);
    return trod_error(diag, TROD_ERR_USAGE, "calls.weight", NULL,
                      "'%s' is no weight%s%s%s: there are those of --help, columns with numbers, "
                      "cache.LEVEL, branches.PREDICTOR, deps.stalls and deps.cycles",
                      text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int cg_weights_parse(struct cg_weights *w, const struct trod_list *list, struct trod_diag *diag)
{
    for (size_t i = 0; i < list->n; i++) {
        struct cg_weight k = {.text = list->item[i], .kind = TROD_KINDS};

        if (!parse_plain(&k, k.text) && !parse_analysis(&k, k.text) && !parse_column(&k, k.text))
            return unknown(k.text, diag);
        if (i == 0)
            w->shown = k.what < CG_ROWS ? (unsigned)k.what : CG_SELF_WEIGHTS;
        if (k.what < CG_ROWS) /* these are always counted */
            continue;
        if (w->n == CG_MOST_WEIGHTS)
            return trod_error(diag, TROD_ERR_USAGE, "calls.weight", NULL, "more than %d weights",
                              CG_MOST_WEIGHTS);
        w->at[w->n] = k;
        name_it(w, w->n++);
    }
    return TROD_OK;
}

/* ---- what they need of the rows */

uint32_t cg_weights_columns(const char *format, const struct trod_list *list)
{
    struct cg_weights w = {.n = 0};
    uint32_t columns = 0;

    cg_weights_parse(&w, list, NULL); /* what is none is reported when a state is made */
    for (unsigned i = 0; i < w.n; i++) {
        if (w.at[i].what == CG_COLUMN)
            columns |= UINT32_C(1) << w.at[i].column;
        if (w.at[i].what == CG_ANALYSIS)
            columns |= w.at[i].weigher->uses;
        if (w.at[i].what == CG_MISSES)
            columns |= trod_ref_physical(format);
    }
    return columns;
}

enum trod_order_need cg_order(const void *opt)
{
    const struct cg_options *o = opt;
    struct cg_weights w = {.n = 0};
    enum trod_order_need order = cg_like_order(opt);

    if (o)
        cg_weights_parse(&w, &o->weight, NULL);
    for (unsigned i = 0; i < w.n; i++)
        if (w.at[i].what == CG_ANALYSIS && w.at[i].weigher->order > order)
            order = w.at[i].weigher->order;
    return order;
}

bool cg_timed(const void *opt)
{
    const struct cg_options *o = opt;
    struct cg_weights w = {.n = 0};
    bool timed = false;

    if (o)
        cg_weights_parse(&w, &o->weight, NULL);
    for (unsigned i = 0; i < w.n; i++)
        if (w.at[i].what == CG_ANALYSIS && w.at[i].weigher->timed)
            timed = timed || w.at[i].weigher->timed(&w.at[i].number, 1);
    return timed;
}

/* ---- states */

static int late(void *ctx, uint32_t stream, unsigned k, uint64_t n)
{
    struct cg_core *core = ctx;

    return cg_late(core, stream, core->weights.weigher[core->weights.telling].slot[k], n);
}

int cg_weights_init(struct cg_core *core)
{
    struct cg_weights *w = &core->weights;
    int rc = cg_weights_parse(w, &core->opt->weight, core->context.diag);

    for (unsigned i = 0; rc == TROD_OK && i < w->n; i++) {
        struct cg_weigher *k = w->weigher;

        if (w->at[i].what != CG_ANALYSIS)
            continue;
        while (k < w->weigher + w->n_weighers && k->of != w->at[i].weigher)
            k++;
        w->n_weighers += k == w->weigher + w->n_weighers;
        k->of = w->at[i].weigher;
        k->what[k->n] = w->at[i].number;
        k->slot[k->n++] = i;
    }
    if (rc < 0 || w->n_weighers == 0)
        return rc;
    w->number = malloc(w->n * (size_t)TROD_BATCH_ROWS * sizeof *w->number);
    if (!w->number)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; rc == TROD_OK && i < w->n_weighers; i++) {
        struct cg_weigher *k = &w->weigher[i];

        k->out = (struct trod_weighed){.late = late, .ctx = core};
        for (unsigned j = 0; j < k->n; j++)
            k->out.number[j] = w->number + k->slot[j] * (size_t)TROD_BATCH_ROWS;
        rc = k->of->make(&k->st, k->what, k->n, &core->context);
    }
    return rc;
}

void cg_weights_fini(struct cg_weights *w)
{
    for (unsigned i = 0; i < w->n_weighers; i++)
        if (w->weigher[i].st)
            w->weigher[i].of->fini(w->weigher[i].st);
    free(w->number);
}

int cg_weights_feed(struct cg_core *core, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct cg_weights *w = &core->weights;
    int rc = TROD_OK;

    for (unsigned i = 0; rc == TROD_OK && i < w->n_weighers; i++) {
        struct cg_weigher *k = &w->weigher[i];

        for (unsigned j = 0; j < k->n; j++)
            memset(k->out.number[j] + from, 0, (to - from) * sizeof *w->number);
        w->telling = i;
        rc = k->of->weigh(k->st, b, from, to, &k->out);
    }
    return rc;
}

/* ---- results */

const struct cg_weight *cg_weight_at(const struct cg_core *core, unsigned slot)
{
    const unsigned i = slot - CG_SELF_WEIGHTS;

    return slot >= CG_SELF_WEIGHTS && i < core->weights.n ? &core->weights.at[i] : NULL;
}

unsigned cg_weight_columns(const struct cg_core *core, unsigned slot, bool self,
                           struct trod_result_column *c, char name[2][CG_WEIGHT_KEY + 16])
{
    const struct cg_weight *w = cg_weight_at(core, slot);
    const char *key = w ? w->key : slot == CG_SELF_TIME ? "time" : "";
    const char *unit = w ? w->unit : slot == CG_SELF_TIME ? "time" : "instructions";
    unsigned n = 0;

    if ((slot >= CG_SELF_WEIGHTS && !w) || (slot == CG_SELF_TIME && !core->tree.any_time))
        return 0;
    snprintf(name[0], sizeof name[0], "exclusive%s%s", *key ? "_" : "", key);
    snprintf(name[1], sizeof name[1], "inclusive%s%s", *key ? "_" : "", key);
    if (self)
        c[n++] = (struct trod_result_column){name[0], TROD_COLUMN_MEASURE, unit,
                                             "by the function itself"};
    c[n++] =
        (struct trod_result_column){name[1], TROD_COLUMN_MEASURE, unit, "with all that it called"};
    return n;
}
