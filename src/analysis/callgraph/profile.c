/*
 * profile.c - the analysis "profile": what functions cost, by themselves and with all they call.
 *
 * Implements docs/navigating.md, "profile". Inclusive costs are those of the outermost activation
 * of a function: recursion is not counted twice.
 */
#include "analysis/callgraph/callgraph.h"
#include "analysis/callgraph/like.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct cg_options, field)

enum { SORT_EXCLUSIVE, SORT_INCLUSIVE, SORT_CALLS, SORT_ADDRESS };

static const char *const sorts[] = {"exclusive", "inclusive", "calls", "address", NULL};
static const char *const places[] = {"apart", "inline", NULL};
static const char *const likes[] = {"none", "tarmac", NULL};

static const struct trod_option options[] = {
    {"weight", 0, TROD_OPT_LIST, AT(weight), "WHAT", cg_weight_help, NULL, NULL},
    {"sort", 0, TROD_OPT_ENUM, AT(sort), "HOW", "order of the functions (default: exclusive)",
     sorts, NULL},
    {"top", 0, TROD_OPT_U64, AT(top), "N", "rows of each table (default: 30; 0: all)", NULL, NULL},
    {"exceptions", 0, TROD_OPT_ENUM, AT(exceptions), "WHERE",
     "handlers count for themselves (apart, the default), or for what they interrupted (inline)",
     places, NULL},
    {"no-offsets", 0, TROD_OPT_BOOL, AT(no_offsets), NULL,
     "with --like tarmac: only names of functions", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL",
     "print as that tool does: tarmac (Arm's tarmac-profile)", likes, NULL},
    {.type = TROD_OPT_END},
};

static const struct cg_options defaults = {.top = 30};

static int init(void *st, const void *opt, const struct trod_context *c)
{
    const struct cg_options *o = opt ? opt : &defaults;

    return cg_init(st, o, c, o->exceptions == 1, false);
}

/* ---- functions */

struct function {
    uint64_t address, calls;
    uint64_t self[CG_SELVES], total[CG_SELVES];
    uint32_t open; /* while the tree is walked */
    bool exception;
};

struct edge {
    uint32_t caller, callee; /* numbers of functions; caller UINT32_MAX: none */
    uint64_t calls, total[CG_SELVES];
};

struct table {
    const struct cg_core *core;
    const struct cg_sum *sum;
    struct function *function; /* by address */
    size_t n, cap;
    uint32_t *of; /* by node */
    struct edge *edge;
    size_t n_edges, cap_edges;
    struct trod_map edges; /* by caller and callee */
    unsigned shown;
    int sort;
};

static int by_address(const void *a, const void *b)
{
    const struct function *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

/* The number of the function at ADDRESS, which is among those of T, by MAP; new ones are put behind
 * them. UINT32_MAX: no memory. */
static uint32_t number_of(struct table *t, struct trod_map *map, uint64_t address)
{
    const uint32_t hash = trod_map_hash(address);
    uint32_t i;

    for (size_t at = hash; trod_map_next(map, hash, &at, &i);)
        if (t->function[i].address == address)
            return i;
    if (!trod_grow(&t->function, t->n, &t->cap, sizeof *t->function, 64) ||
        !trod_map_put(map, hash, (uint32_t)t->n))
        return UINT32_MAX;
    t->function[t->n] = (struct function){.address = address, .open = (uint32_t)t->n};
    return (uint32_t)t->n++;
}

/* Functions in the order of addresses; their numbers follow. */
static int put_in_order(struct table *t)
{
    uint32_t *to = calloc(t->n + 1, sizeof *to);

    if (!to)
        return TROD_ERR_NOMEM;
    if (t->n)
        qsort(t->function, t->n, sizeof *t->function, by_address);
    for (uint32_t i = 0; i < t->n; i++) {
        to[t->function[i].open] = i;
        t->function[i].open = 0;
    }
    for (size_t i = 1; i < t->core->tree.n; i++)
        if (t->of[i] != UINT32_MAX)
            t->of[i] = to[t->of[i]];
    free(to);
    return TROD_OK;
}

static int gather(struct table *t)
{
    const struct cg_tree *tree = &t->core->tree;
    struct trod_map map = {.slot = NULL};
    int rc = TROD_OK;

    if (!(t->of = malloc((tree->n + 1) * sizeof *t->of)))
        return TROD_ERR_NOMEM;
    for (size_t i = 1; rc == TROD_OK && i < tree->n; i++) {
        const bool cut = tree->node[i].kind == CG_CUT;

        t->of[i] = cut ? UINT32_MAX : number_of(t, &map, tree->node[i].function);
        if (!cut && t->of[i] == UINT32_MAX)
            rc = TROD_ERR_NOMEM;
    }
    trod_map_fini(&map);
    return rc < 0 ? rc : put_in_order(t);
}

/* What CALLEE is for CALLER, made if new. NULL: no memory. */
static struct edge *edge_of(struct table *t, uint32_t caller, uint32_t callee)
{
    const uint32_t hash = trod_map_hash((uint64_t)caller << 32 | callee);
    uint32_t i;

    for (size_t at = hash; trod_map_next(&t->edges, hash, &at, &i);)
        if (t->edge[i].caller == caller && t->edge[i].callee == callee)
            return &t->edge[i];
    if (!trod_grow(&t->edge, t->n_edges, &t->cap_edges, sizeof *t->edge, 64) ||
        !trod_map_put(&t->edges, hash, (uint32_t)t->n_edges))
        return NULL;
    t->edge[t->n_edges] = (struct edge){.caller = caller, .callee = callee};
    return &t->edge[t->n_edges++];
}

/* The function of the caller of NODE; UINT32_MAX: it has none. */
static uint32_t caller_of(const struct table *t, uint32_t node)
{
    const uint32_t parent = t->core->tree.node[node].parent;

    return parent ? t->of[parent] : UINT32_MAX;
}

static int enter(void *user, uint32_t node)
{
    struct table *t = user;
    const struct cg_node *n = &t->core->tree.node[node];
    struct function *f;
    struct edge *e;

    if (t->of[node] == UINT32_MAX)
        return TROD_OK;
    f = &t->function[t->of[node]];
    if (!(e = edge_of(t, caller_of(t, node), t->of[node])))
        return TROD_ERR_NOMEM;
    e->calls += n->count;
    f->calls += n->count;
    f->exception = f->exception || n->kind == CG_EXCEPTION;
    for (unsigned w = 0; w < CG_SELVES; w++) {
        f->self[w] += cg_self(&t->core->tree, node, w);
        if (f->open)
            continue;
        f->total[w] += t->sum[node].total[w];
        e->total[w] += t->sum[node].total[w];
    }
    f->open++;
    return TROD_OK;
}

static void leave(void *user, uint32_t node)
{
    struct table *t = user;

    if (t->of[node] != UINT32_MAX)
        t->function[t->of[node]].open--;
}

/* ---- tables */

struct order {
    const struct table *t;
    uint32_t number;
};

static int by_sort(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    const struct table *t = x->t;
    const struct function *f = &t->function[x->number], *g = &t->function[y->number];
    uint64_t p = f->self[t->shown], q = g->self[t->shown];

    if (t->sort == SORT_INCLUSIVE) {
        p = f->total[t->shown];
        q = g->total[t->shown];
    } else if (t->sort == SORT_CALLS) {
        p = f->calls;
        q = g->calls;
    }
    if (p != q && t->sort != SORT_ADDRESS)
        return p > q ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_edge(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    if (x->callee != y->callee)
        return x->callee < y->callee ? -1 : 1;
    return x->caller < y->caller ? -1 : x->caller > y->caller;
}

static const char *name_of(const struct table *t, uint32_t number, char buf[TROD_FUNCTION_NAME])
{
    if (number == UINT32_MAX)
        return "";
    return trod_function_name(t->core->context.symbols, t->function[number].address, buf);
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_costs(const struct table *t, struct trod_result *r, const uint64_t *self,
                      const uint64_t *total)
{
    const struct cg_core *core = t->core;

    for (unsigned w = 0; w < CG_SELVES; w++) {
        if ((w == CG_SELF_TIME && !core->tree.any_time) || w >= CG_SELF_WEIGHTS + core->weights.n)
            continue;
        if (self)
            trod_result_u64(r, NULL, self[w]);
        trod_result_u64(r, NULL, total[w]);
    }
}

struct names {
    char of[CG_SELVES][2][CG_WEIGHT_KEY + 16];
};

/* Columns of costs behind the N there are, whose names go to NAMES. */
static size_t cost_columns(const struct table *t, struct trod_result_column *c, size_t n, bool self,
                           struct names *names)
{
    for (unsigned w = 0; w < CG_SELVES; w++)
        n += cg_weight_columns(t->core, w, self, c + n, names->of[w]);
    return n;
}

static void put_nobody(const struct table *t, struct trod_result *r)
{
    uint64_t self[CG_SELVES];

    if (!cg_nobody(&t->core->tree, self))
        return;
    trod_result_str(r, NULL, CG_NO_FUNCTION);
    trod_result_absent(r);
    trod_result_u64(r, NULL, 0);
    trod_result_f64(r, NULL, percent(self[t->shown], t->sum[0].total[t->shown]), 2);
    put_costs(t, r, self, self);
    trod_result_row_end(r);
}

static void put_functions(const struct table *t, const struct order *order, size_t n,
                          struct trod_result *r)
{
    struct names names;
    struct trod_result_column columns[4 + 2 * CG_SELVES] = {
        {"function", TROD_COLUMN_KEY, NULL, NULL},
        {"address", TROD_COLUMN_KEY, NULL, "where it begins"},
        {"calls", TROD_COLUMN_MEASURE, "activations", NULL},
        {"share", TROD_COLUMN_MEASURE, "%", "of all, exclusive"},
    };
    const size_t n_columns = cost_columns(t, columns, 4, true, &names);
    char buf[TROD_FUNCTION_NAME];

    trod_result_table(r, "functions", "functions", columns, n_columns);
    for (size_t i = 0; i < n; i++) {
        const struct function *f = &t->function[order[i].number];

        trod_result_str(r, NULL, name_of(t, order[i].number, buf));
        trod_result_hex(r, NULL, f->address);
        trod_result_u64(r, NULL, f->calls);
        trod_result_f64(r, NULL, percent(f->self[t->shown], t->sum[0].total[t->shown]), 2);
        put_costs(t, r, f->self, f->total);
        trod_result_row_end(r);
    }
    put_nobody(t, r);
    trod_result_table_close(r);
}

static void put_edges(const struct table *t, const struct order *order, size_t n,
                      struct trod_result *r)
{
    struct names names;
    struct trod_result_column columns[3 + CG_SELVES] = {
        {"function", TROD_COLUMN_KEY, NULL, NULL},
        {"caller", TROD_COLUMN_KEY, NULL, "empty: none, the bottom of a stack"},
        {"calls", TROD_COLUMN_MEASURE, "activations", NULL},
    };
    const size_t n_columns = cost_columns(t, columns, 3, false, &names);
    char a[TROD_FUNCTION_NAME], b[TROD_FUNCTION_NAME];

    trod_result_table(r, "callers", "by caller", columns, n_columns);
    for (size_t i = 0; i < n; i++) {
        size_t lo = 0, hi = t->n_edges;

        while (lo < hi) {
            const size_t mid = lo + (hi - lo) / 2;

            if (t->edge[mid].callee < order[i].number)
                lo = mid + 1;
            else
                hi = mid;
        }
        for (; lo < t->n_edges && t->edge[lo].callee == order[i].number; lo++) {
            const struct edge *e = &t->edge[lo];

            trod_result_str(r, NULL, name_of(t, e->callee, a));
            trod_result_str(r, NULL, name_of(t, e->caller, b));
            trod_result_u64(r, NULL, e->calls);
            put_costs(t, r, NULL, e->total);
            trod_result_row_end(r);
        }
    }
    trod_result_table_close(r);
}

void cg_put_counts(const struct cg_core *core, const struct cg_sum *sum, struct trod_result *r)
{
    const struct trod_callstack_counts *c = &core->counts;

    if (cg_note(core))
        trod_result_str(r, "note", cg_note(core));
    trod_result_u64(r, "instructions", sum[0].total[CG_SELF_INSTRUCTIONS]);
    if (core->tree.any_time)
        trod_result_u64(r, "time", sum[0].total[CG_SELF_TIME]);
    cg_put_unit(core, r);
    for (unsigned i = 0; i < core->weights.n; i++)
        trod_result_u64(r, core->weights.at[i].key, sum[0].total[CG_SELF_WEIGHTS + i]);
    trod_result_u64(r, "calls", c->entered[TROD_FRAME_CALL] + c->entered[TROD_FRAME_MANUAL]);
    trod_result_u64(r, "tail_calls", c->entered[TROD_FRAME_TAIL]);
    trod_result_u64(r, "exceptions", c->entered[TROD_FRAME_EXCEPTION]);
    trod_result_u64(r, "returns", c->left[TROD_FRAME_RETURNED]);
    trod_result_u64(r, "unwound", c->left[TROD_FRAME_UNWOUND]);
    trod_result_u64(r, "open", c->left[TROD_FRAME_OPEN]);
    trod_result_u64(r, "unmatched_returns", c->unmatched);
    if (c->switches)
        trod_result_u64(r, "task_switches", c->switches);
    if (c->too_deep)
        trod_result_u64(r, "calls_too_deep", c->too_deep);
    if (core->tree.cut)
        trod_result_bool(r, "callers_cut", true);
}

static int put(struct table *t, struct trod_result *r)
{
    const struct cg_core *core = t->core;
    struct order *order = calloc(t->n + 1, sizeof *order);
    const size_t n = core->opt->top && core->opt->top < t->n ? (size_t)core->opt->top : t->n;

    if (!order)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < t->n; i++)
        order[i] = (struct order){t, i};
    qsort(order, t->n, sizeof *order, by_sort);
    cg_put_counts(core, t->sum, r);
    trod_result_u64(r, "functions_in_all", t->n);
    put_functions(t, order, n, r);
    put_edges(t, order, n, r);
    free(order);
    return TROD_OK;
}

static int result(const void *st, struct trod_result *r)
{
    struct cg_core *core = ((const struct cg_state *)st)->core;
    struct table t = {.core = core, .shown = core->weights.shown, .sort = core->opt->sort};
    struct cg_sum *sum = NULL;
    int rc = cg_conclude(core);

    if (rc == TROD_OK && (!cg_tree_begin(&core->tree) || !(sum = cg_sums(&core->tree, t.shown))))
        rc = TROD_ERR_NOMEM;
    t.sum = sum;
    if (rc == TROD_OK)
        rc = gather(&t);
    if (rc == TROD_OK)
        rc = cg_walk(&core->tree, sum, enter, leave, &t);
    if (rc == TROD_OK && t.n_edges)
        qsort(t.edge, t.n_edges, sizeof *t.edge, by_edge);
    if (rc == TROD_OK)
        rc = put(&t, r);
    cg_sums_free(&core->tree, sum);
    free(t.function);
    free(t.of);
    free(t.edge);
    trod_map_fini(&t.edges);
    return rc;
}

const struct trod_analysis trod_analysis_profile = {
    .name = "profile",
    .title = "what functions cost, by themselves and with all they call",
    .names = true,
    .about = "Follows calls and returns (tail calls, exceptions, longjmp and task switches\n"
             "too) and counts for each function how often it was called and what it cost,\n"
             "by itself (exclusive) and with all that it called (inclusive), and the same\n"
             "by caller. Recursion is not counted twice; the exclusive costs add up to\n"
             "those of the trace. Costs are instructions, time where the trace has times,\n"
             "and those that --weight names. Names come from --symbols, which say what is\n"
             "a call, too: an index is of use then if it was made with the same ones (trod\n"
             "index --symbols), or if options choose rows.\n"
             "\n"
             "--like tarmac prints what Arm's tarmac-profile does, its errors included.",
    .examples = "  trod profile --symbols app@0x555555554000 app.trace.zip\n"
                "  trod profile --weight misses --sort inclusive app.trace.zip\n"
                "  trod profile --weight cache.L1D,cache.LL,branches.tage app.trace.zip\n"
                "  trod profile --like tarmac --symbols calc.elf calc.tarmac\n",
    .options = options,
    .options_size = sizeof(struct cg_options),
    .defaults = &defaults,
    .state_size = sizeof(struct cg_state),
    .order = TROD_STREAM_ORDER,
    .order_of = cg_order,
    .timed_of = cg_timed,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_CALLSTACK_COLUMNS,
    .uses_of = cg_uses_of,
    .init = init,
    .feed = cg_feed,
    .follow = cg_follow,
    .follows = cg_follows,
    .merge = cg_merge,
    .save = cg_save,
    .load = cg_load,
    .result = result,
    .layout = cg_like_profile,
    .fini = cg_fini,
    .by_calls = cg_by_calls,
    .calls = cg_calls,
    .begins = cg_begins,
};
