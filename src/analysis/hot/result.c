/*
 * result.c - the result of "hot": instructions, blocks, loops (hot.h); the rest is in places.c.
 */
#include "analysis/hot/hot.h"

#include "engine/sites.h"

#include <stdlib.h>

enum { TEXT = 160 };

void hot_put_share(struct trod_result *r, struct hot_share *share, uint64_t n)
{
    const double total = share->total ? (double)share->total : 1;

    share->sum += n;
    trod_result_f64(r, NULL, 100 * (double)n / total, 2);
    trod_result_f64(r, NULL, 100 * (double)share->sum / total, 2);
}

static void put_function(const struct hot_state *s, uint32_t site, struct trod_result *r)
{
    char text[TEXT];

    if (trod_site_where(s->context.sites, site, text, sizeof text))
        trod_result_str(r, NULL, text);
    else
        trod_result_absent(r);
}

static void put_text(const struct hot_state *s, uint32_t site, struct trod_result *r)
{
    char text[TEXT];

    if (trod_site_text(s->context.sites, site, text, sizeof text))
        trod_result_str(r, NULL, text);
    else
        trod_result_absent(r);
}

/* ---- instructions */

static int by_executions(const void *a, const void *b)
{
    const struct hot_insn *x = *(const struct hot_insn *const *)a;
    const struct hot_insn *y = *(const struct hot_insn *const *)b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x < y ? -1 : x > y;
}

/*
 * The MOST instructions of F executed most, in order: *N of them. The largest are kept while going
 * through all, so that few are sorted. NULL: no memory.
 */
static const struct hot_insn **hottest(const struct hot_flow *f, size_t most, size_t *n)
{
    const size_t room = most < f->n / 2 ? 2 * most : f->n;
    const struct hot_insn **all = calloc(room + 1, sizeof *all);
    uint64_t least = 0;

    *n = 0;
    for (size_t i = 0; all && i < f->n; i++) {
        if (f->insn[i].n < least)
            continue;
        all[(*n)++] = &f->insn[i];
        if (*n == room && room < f->n) {
            qsort(all, *n, sizeof(const struct hot_insn *), by_executions);
            *n = most;
            least = most ? all[most - 1]->n : UINT64_MAX;
        }
    }
    if (!all)
        return NULL;
    qsort(all, *n, sizeof(const struct hot_insn *), by_executions);
    *n = *n < most ? *n : most;
    return all;
}

static int put_instructions(const struct hot_state *s, const struct hot_flow *f,
                            struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"executions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"cumulated", TROD_COLUMN_MEASURE, "percent", NULL},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
        {"text", TROD_COLUMN_PLAIN, NULL, NULL},
    };
    size_t n;
    const struct hot_insn **all = hottest(f, hot_rows(s, f->n), &n);
    struct hot_share share = {f->executed, 0};

    if (!all)
        return TROD_ERR_NOMEM;
    trod_result_table(r, "hot_instructions", "hottest instructions", columns, 6);
    for (size_t i = 0; i < n; i++) {
        trod_result_hex(r, NULL, all[i]->pc);
        trod_result_u64(r, NULL, all[i]->n);
        hot_put_share(r, &share, all[i]->n);
        put_function(s, all[i]->site, r);
        put_text(s, all[i]->site, r);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(all);
    return TROD_OK;
}

/* ---- blocks */

static int by_executed(const void *a, const void *b)
{
    const struct hot_block *x = a, *y = b;

    if (x->executed != y->executed)
        return x->executed > y->executed ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Put the hottest blocks of F, MOST at the most, first and in order; the rest is lost. The largest
 * are kept while going through all, so that few are sorted.
 */
static void sort_blocks(struct hot_flow *f, size_t most)
{
    const size_t room = most < f->n_blocks / 2 ? 2 * most : f->n_blocks;
    uint64_t least = 0;
    size_t n = 0;

    for (size_t i = 0; i < f->n_blocks; i++) {
        if (f->block[i].executed < least)
            continue;
        f->block[n++] = f->block[i];
        if (n == room && room < f->n_blocks) {
            qsort(f->block, n, sizeof *f->block, by_executed);
            n = most;
            least = most ? f->block[most - 1].executed : UINT64_MAX;
        }
    }
    qsort(f->block, n, sizeof *f->block, by_executed);
}

static void put_code(const struct hot_state *s, const struct hot_flow *f, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"block", TROD_COLUMN_KEY, NULL, "its address"},
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"executions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"text", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(r, "hot_code", "their instructions", columns, 4);
    for (size_t i = 0; i < hot_rows(s, f->n_blocks); i++)
        for (size_t k = 0; k < f->block[i].n; k++) {
            const struct hot_insn *first = &f->insn[f->block[i].first];

            trod_result_hex(r, NULL, first->pc);
            trod_result_hex(r, NULL, first[k].pc);
            trod_result_u64(r, NULL, first[k].n);
            put_text(s, first[k].site, r);
            trod_result_row_end(r);
        }
    trod_result_table_close(r);
}

static void put_blocks(const struct hot_state *s, struct hot_flow *f, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"address", TROD_COLUMN_KEY, NULL, NULL},
        {"length", TROD_COLUMN_PLAIN, "instructions", NULL},
        {"executions", TROD_COLUMN_MEASURE, NULL, "of its first instruction"},
        {"executed", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"cumulated", TROD_COLUMN_MEASURE, "percent", NULL},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
    };
    struct hot_share share = {f->executed, 0};

    sort_blocks(f, hot_rows(s, f->n_blocks));
    trod_result_table(r, "hot_blocks", "hottest basic blocks", columns, 7);
    for (size_t i = 0; i < hot_rows(s, f->n_blocks); i++) {
        const struct hot_block *b = &f->block[i];

        trod_result_hex(r, NULL, f->insn[b->first].pc);
        trod_result_u64(r, NULL, b->n);
        trod_result_u64(r, NULL, b->executions);
        trod_result_u64(r, NULL, b->executed);
        hot_put_share(r, &share, b->executed);
        put_function(s, f->insn[b->first].site, r);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    put_code(s, f, r);
}

/* ---- loops */

static void put_loops(const struct hot_state *s, const struct hot_flow *f, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"head", TROD_COLUMN_KEY, NULL, "address of its first instruction"},
        {"back", TROD_COLUMN_PLAIN, NULL, "address of its last jump back"},
        {"jumps_back", TROD_COLUMN_PLAIN, NULL, "instructions that jump back to its head"},
        {"entries", TROD_COLUMN_MEASURE, NULL, "times it was entered"},
        {"iterations", TROD_COLUMN_MEASURE, NULL, "executions of its first instruction"},
        {"trips", TROD_COLUMN_MEASURE, NULL, "iterations an entry"},
        {"least_trips", TROD_COLUMN_MEASURE, NULL, NULL},
        {"most_trips", TROD_COLUMN_MEASURE, NULL, NULL},
        {"executed", TROD_COLUMN_MEASURE, "instructions", "from head to back, without calls"},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all instructions"},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(r, "hot_loops", "hottest loops", columns, 11);
    for (size_t i = 0; i < hot_rows(s, f->n_loops); i++) {
        const struct hot_loop *l = &f->loop[i];
        uint64_t least, most;

        trod_result_hex(r, NULL, l->head);
        trod_result_hex(r, NULL, l->back);
        trod_result_u64(r, NULL, l->edges);
        trod_result_u64(r, NULL, l->entries);
        trod_result_u64(r, NULL, l->iterations);
        if (l->entries)
            trod_result_f64(r, NULL, (double)l->iterations / (double)l->entries, 2);
        else
            trod_result_absent(r);
        if (hot_trips_of(s, l->site, l->entries, &least, &most)) {
            trod_result_u64(r, NULL, least);
            trod_result_u64(r, NULL, most);
        } else {
            trod_result_absent(r);
            trod_result_absent(r);
        }
        trod_result_u64(r, NULL, l->executed);
        trod_result_f64(r, NULL, f->executed ? 100 * (double)l->executed / (double)f->executed : 0,
                        2);
        put_function(s, l->site, r);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static int result_of(const struct hot_state *s, struct trod_result *r)
{
    struct hot_flow f;
    int rc = hot_flow_init(&f, s);

    if (rc == TROD_OK) {
        if (f.unsaid && !engine_sites_say_branches(s->context.sites, s->context.meta))
            trod_result_str(r, "note",
                            "the trace does not say which instructions are branches: calls and "
                            "returns that go back count as jumps of loops");
        trod_result_u64(r, "instructions", f.executed);
        trod_result_u64(r, "static_instructions", f.n);
        trod_result_u64(r, "blocks", f.n_blocks);
        trod_result_u64(r, "loops", f.n_loops);
        rc = put_instructions(s, &f, r);
    }
    if (rc == TROD_OK)
        rc = hot_put_places(s, &f, r); /* before the blocks are sorted */
    if (rc == TROD_OK) {
        put_blocks(s, &f, r);
        put_loops(s, &f, r);
        rc = hot_put_memory(s, &f, r);
    }
    hot_flow_fini(&f);
    return rc;
}

int hot_result(const void *st, struct trod_result *r)
{
    struct hot_state room = {.opt = NULL};
    const struct hot_state *s = hot_lanes_begun(&room, st);
    const int rc = s ? result_of(s, r) : TROD_ERR_NOMEM;

    hot_lanes_end(&room);
    return rc;
}
