/*
 * dot.c - the view "dot": the call graph for Graphviz.
 *
 * Implements docs/exporting.md, "Call graphs"; document: "The DOT Language". Functions whose share
 * of the instructions, calls included, is too small are left out with their calls.
 */
#include "core/grow.h"
#include "export/costs.h"
#include "export/text.h"

#include <stdio.h>

struct options {
    uint64_t share;
};

static const struct options defaults = {.share = 5};
static const struct trod_option options[] = {
    {.name = "share",
     .type = TROD_OPT_U64,
     .offset = offsetof(struct options, share),
     .arg = "N",
     .text = "leave out functions with less than N thousandths of the instructions (default: 5)"},
    {.type = TROD_OPT_END},
};

struct state {
    struct trod_export_context c;
    struct export_totals t;
    uint64_t share;
};

struct weight {
    uint64_t self, inclusive;
    bool shown;
};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;

    s->c = *c;
    s->share = ((const struct options *)opt)->share;
    return export_totals_init(&s->t, NULL, c);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return export_totals_feed(&((struct state *)st)->t, b, from, to);
}

/* NAME as a quoted string that ends with TAIL. */
static void put_quoted(struct export_text *t, const char *name, const char *tail)
{
    export_put(t, "\"");
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            export_put(t, "\\");
        export_putn(t, (unsigned char)*name < ' ' ? "_" : name, 1);
    }
    export_put(t, tail);
    export_put(t, "\"");
}

/* By function, what it cost; returns the sum of all. */
static uint64_t weigh(const struct export_totals *t, struct weight *w)
{
    uint64_t total = 0;

    for (size_t i = 0; i < t->n_places; i++) {
        const uint64_t n = t->place[i].self[EXPORT_INSTRUCTIONS];

        w[t->place[i].function].self += n;
        w[t->place[i].function].inclusive += n;
        total += n;
    }
    for (size_t i = 0; i < t->n_edges; i++) {
        if (t->edge[i].from != t->edge[i].to)
            w[t->edge[i].from].inclusive += t->edge[i].inclusive[EXPORT_INSTRUCTIONS];
    }
    return total;
}

static void put_node(struct export_text *t, const char *name, uint32_t number,
                     const struct weight *w)
{
    char label[128];

    snprintf(label, sizeof label, "\\nself %llu\\nwith calls %llu", (unsigned long long)w->self,
             (unsigned long long)w->inclusive);
    export_print(t, "  f%u [label=", (unsigned)number);
    put_quoted(t, name, label);
    export_put(t, "];\n");
}

/* All calls of a function from another; I is the number of the entry of the map. */
struct arrow {
    uint64_t calls, inclusive;
};

/* Add up calls from several places of one function: *SUM, parallel to the entries of BY. */
static int add_arrows(const struct export_totals *all, struct export_map *by, struct arrow **sum)
{
    size_t cap = 0;

    for (size_t i = 0; i < all->n_edges; i++) {
        const struct export_edge *e = &all->edge[i];
        const struct export_pair *p = export_map_at(by, e->from, e->to);
        const size_t at = p ? (size_t)(p - by->at) : 0;
        const bool first = p && !(at < cap);

        if (!p || (first && !trod_grow(sum, at, &cap, sizeof **sum, 64)))
            return TROD_ERR_NOMEM;
        if (first)
            memset(*sum + at, 0, (cap - at) * sizeof **sum);
        (*sum)[at].calls += e->calls;
        (*sum)[at].inclusive += e->inclusive[EXPORT_INSTRUCTIONS];
    }
    return 0;
}

static size_t put_arrows(struct export_text *t, const struct weight *w, const struct export_map *by,
                         const struct arrow *sum)
{
    size_t shown = 0;

    for (size_t i = 0; i < by->n; i++) {
        const struct export_pair *p = &by->at[i];

        if (!w[p->a].shown || !w[p->b].shown)
            continue;
        export_print(t, "  f%u -> f%u [label=\"%llu calls\\n%llu Ir\"];\n", (unsigned)p->a,
                     (unsigned)p->b, (unsigned long long)sum[i].calls,
                     (unsigned long long)sum[i].inclusive);
        shown++;
    }
    return shown;
}

static int put_graph(struct state *s, struct weight *w, struct trod_result *result)
{
    const struct export_names *names = &s->t.lanes.names;
    const uint64_t total = weigh(&s->t, w);
    struct export_text t = {.out = s->c.out};
    struct export_map by = {0};
    struct arrow *sum = NULL;
    size_t shown = 0, n = export_functions(names);
    int r = add_arrows(&s->t, &by, &sum);

    export_put(&t, "digraph calls {\n  node [shape=box];\n");
    for (uint32_t i = 0; r == 0 && i < n; i++) {
        w[i].shown = (double)w[i].inclusive * 1000 >= (double)total * (double)s->share;
        shown += w[i].shown;
        if (w[i].shown)
            put_node(&t, export_function_name(names, i), i, &w[i]);
    }
    trod_result_u64(result, "functions", shown);
    trod_result_u64(result, "functions_left_out", n - shown);
    if (r == 0)
        trod_result_u64(result, "calls_shown", put_arrows(&t, w, &by, sum));
    export_put(&t, "}\n");
    export_map_fini(&by);
    free(sum);
    return r == 0 ? t.status : r;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct weight *w = NULL;
    int r = export_totals_end(&s->t);

    (void)meta;
    if (r == 0 && !(w = calloc(export_functions(&s->t.lanes.names) + 1, sizeof *w)))
        r = TROD_ERR_NOMEM;
    if (r == 0)
        r = put_graph(s, w, result);
    free(w);
    return r;
}

static void fini(void *st)
{
    export_totals_fini(&((struct state *)st)->t);
}

static const char *const suffixes[] = {".dot", ".gv", NULL};

const struct trod_export trod_view_dot = {
    .name = "dot",
    .title = "DOT: who called whom, as a graph",
    .opens = "Graphviz (dot -Tsvg), xdot, Gephi",
    .leaves_out = "time and order, threads (all are added up), where in a function calls are, all "
                  "data, functions of a small share",
    .suffixes = suffixes,
    .form = TROD_EXPORT_TEXT,
    .options = options,
    .options_size = sizeof(struct options),
    .state_size = sizeof(struct state),
    .defaults = &defaults,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_CALLSTACK_COLUMNS,
    .init = init,
    .feed = feed,
    .finish = finish,
    .fini = fini,
};
