/*
 * places.c - the result of "hot": functions, files and lines of source; lines and pages of memory.
 *
 * Functions and sources are those of the files of --symbols, modules also those of a list beside
 * the trace (trod/owners.h).
 */
#include "analysis/hot/hot.h"

#include "engine/sites.h"
#include "trod/owners.h"

#include <stdlib.h>

/* What is counted for each; HOTTEST: number of an instruction + 1. */
enum { EXECUTED, INSNS, HOTTEST, COUNTS };

struct table {
    enum trod_by by;
    const char *key, *title;
    bool all; /* also addresses without a name, with the hottest instruction */
};

/* The executions of F by owner, hottest first. 0 or TROD_ERR_NOMEM. */
static int gather(const struct hot_state *s, const struct hot_flow *f, struct trod_owners *o)
{
    for (size_t i = 0; i < f->n; i++) {
        uint64_t *count = trod_owners_of(o, f->insn[i].pc);

        if (!count)
            return TROD_ERR_NOMEM;
        if (!count[HOTTEST] || f->insn[count[HOTTEST] - 1].n < f->insn[i].n)
            count[HOTTEST] = i + 1;
        count[EXECUTED] += f->insn[i].n;
        count[INSNS]++;
    }
    if (s->nowhere) {
        uint64_t *count = trod_owners_none(o);

        if (!count)
            return TROD_ERR_NOMEM;
        count[EXECUTED] += s->nowhere;
    }
    for (size_t i = 0; i < trod_owners_n(o);
         i++) /* of the rest the order is that of the addresses */
        trod_owners_at(o, i)->count[HOTTEST] = UINT64_MAX - trod_owners_at(o, i)->count[HOTTEST];
    return trod_owners_sort(o, EXECUTED);
}

/* Has owner W of O a line in table T? */
static bool shown(const struct table *t, const struct trod_owner *w)
{
    return t->all || w->kind == TROD_OWNER_NAMED ||
           (w->kind == TROD_OWNER_MODULE && t->by == TROD_BY_FUNCTION);
}

static void put_owner(const struct hot_flow *f, const struct table *t, const struct trod_owners *o,
                      const struct trod_owner *w, struct hot_share *share, struct trod_result *r)
{
    const uint64_t hottest = UINT64_MAX - w->count[HOTTEST];

    trod_owners_put(o, w, r);
    trod_result_u64(r, NULL, w->count[EXECUTED]);
    hot_put_share(r, share, w->count[EXECUTED]);
    trod_result_u64(r, NULL, w->count[INSNS]);
    if (t->all && hottest) {
        trod_result_hex(r, NULL, f->insn[hottest - 1].pc);
        trod_result_u64(r, NULL, f->insn[hottest - 1].n);
    } else if (t->all) {
        trod_result_absent(r);
        trod_result_absent(r);
    }
    trod_result_row_end(r);
}

/* The owners O as table T. */
static void put_owners(const struct hot_state *s, const struct hot_flow *f, const struct table *t,
                       const struct trod_owners *o, struct trod_result *r)
{
    struct hot_share share = {f->executed, 0};
    const struct trod_result_column columns[] = {
        {trod_owners_column(o), TROD_COLUMN_KEY, NULL, NULL},
        {"executed", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"cumulated", TROD_COLUMN_MEASURE, "percent", NULL},
        {"static_instructions", TROD_COLUMN_MEASURE, "instructions", "different ones"},
        {"hottest", TROD_COLUMN_PLAIN, NULL, "address of the one executed most"},
        {"executions", TROD_COLUMN_MEASURE, "instructions", "of that one"},
    };
    const size_t owners = trod_owners_n(o);
    size_t n = 0;

    for (size_t i = 0; i < owners; i++)
        n += shown(t, trod_owners_at(o, i));
    if (t->all)
        trod_result_u64(r, "owner_count", owners);
    else if (n == 0)
        return;
    trod_result_table(r, t->key, t->title, columns, t->all ? 7 : 5);
    n = hot_rows(s, n);
    for (size_t i = 0; i < owners && n; i++) {
        if (!shown(t, trod_owners_at(o, i)))
            continue;
        put_owner(f, t, o, trod_owners_at(o, i), &share, r);
        n--;
    }
    trod_result_table_close(r);
}

static int put_table(const struct hot_state *s, const struct hot_flow *f, const struct table *t,
                     struct trod_result *r)
{
    struct trod_owners *o;
    int rc = trod_owners_new(&o, t->by, s->context.symbols, s->context.sites, COUNTS);

    if (rc == TROD_OK)
        rc = gather(s, f, o);
    if (rc == TROD_OK)
        put_owners(s, f, t, o, r);
    trod_owners_free(o);
    return rc;
}

int hot_put_places(const struct hot_state *s, const struct hot_flow *f, struct trod_result *r)
{
    const struct table functions = {TROD_BY_FUNCTION, "hot_functions", "hottest functions", false};
    const struct table modules = {TROD_BY_MODULE, "hot_modules", "hottest files of code", false};
    const struct table sources = {TROD_BY_LINE, "hot_sources", "hottest lines of source", false};
    const struct table owners = {s->context.by, "owners", "executions by what they belong to",
                                 true};
    int rc = TROD_OK;

    if (s->context.symbols)
        rc = put_table(s, f, &functions, r);
    if (rc == TROD_OK && (s->context.symbols || engine_sites_modules_known(s->context.sites)))
        rc = put_table(s, f, &modules, r);
    if (rc == TROD_OK && s->context.symbols)
        rc = put_table(s, f, &sources, r);
    if (rc == TROD_OK && s->context.by >= TROD_BY_MODULE)
        rc = put_table(s, f, &owners, r);
    return rc;
}

/* ---- memory */

static int put_lines(const struct hot_state *s, const struct hot_lines *t,
                     const struct hot_cover *c, const char *key, const char *title,
                     struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"accesses", TROD_COLUMN_MEASURE, "accesses", "that touch it"},
        {"share", TROD_COLUMN_MEASURE, "percent",
         "of the sum of all; an access of two counts twice"},
        {"cumulated", TROD_COLUMN_MEASURE, "percent", NULL},
    };
    size_t n;
    struct hot_line *all = hot_lines_top(t, c, hot_rows(s, hot_cover_blocks(c, t)), &n);
    struct hot_share share = {hot_lines_touches(t), 0};

    if (!all)
        return TROD_ERR_NOMEM;
    trod_result_table(r, key, title, columns, 4);
    for (size_t i = 0; i < n; i++) {
        trod_result_hex(r, NULL, all[i].number << t->shift);
        trod_result_u64(r, NULL, all[i].n);
        hot_put_share(r, &share, all[i].n);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(all);
    return TROD_OK;
}

/* Lines of CODE and of data, or pages. */
static int put_both(const struct hot_state *s, const struct hot_lines *code,
                    const struct hot_lines *data, bool pages, struct trod_result *r)
{
    struct hot_cover of_code, of_data = {.at = NULL};
    int rc = hot_cover_init(&of_code, &code->wide);

    if (rc == TROD_OK)
        rc = hot_cover_init(&of_data, &data->wide);
    if (rc == TROD_OK) {
        trod_result_u64(r, pages ? "code_pages" : "code_lines", hot_cover_blocks(&of_code, code));
        trod_result_u64(r, pages ? "data_pages" : "data_lines", hot_cover_blocks(&of_data, data));
        trod_result_u64(r, pages ? "data_page_bytes" : "data_line_bytes",
                        UINT64_C(1) << data->shift);
        rc = put_lines(s, code, &of_code, pages ? "hot_code_pages" : "hot_code_lines",
                       pages ? "hottest pages of code" : "hottest lines of code", r);
    }
    if (rc == TROD_OK)
        rc = put_lines(s, data, &of_data, pages ? "hot_data_pages" : "hot_data_lines",
                       pages ? "hottest pages of data" : "hottest lines of data", r);
    hot_cover_free(&of_code);
    hot_cover_free(&of_data);
    return rc;
}

int hot_put_memory(const struct hot_state *s, const struct hot_flow *f, struct trod_result *r)
{
    const unsigned shift = hot_log2(s->opt->page);
    struct hot_lines code = {0}, pages = {0}, data = {0};
    int rc = hot_code_lines(&code, s, f, hot_log2(s->opt->line));

    if (rc == TROD_OK)
        rc = put_both(s, &code, &s->data, false, r);
    if (rc == TROD_OK)
        rc = hot_lines_copy(&pages, &code, shift);
    if (rc == TROD_OK)
        rc = hot_lines_copy(&data, &s->data, shift);
    if (rc == TROD_OK)
        rc = put_both(s, &pages, &data, true, r);
    hot_lines_free(&code);
    hot_lines_free(&pages);
    hot_lines_free(&data);
    return rc;
}
