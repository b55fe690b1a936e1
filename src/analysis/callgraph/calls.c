/*
 * calls.c - the analysis "calls": who called whom, folded into a tree, or call by call.
 *
 * Implements docs/navigating.md, "calls".
 */
#include "analysis/callgraph/callgraph.h"
#include "analysis/callgraph/like.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct cg_options, field)

enum { TOP = 500, MOST = 100000 };

static const char *const likes[] = {"none", "tarmac", NULL};

static const struct trod_option options[] = {
    {"function", 0, TROD_OPT_LIST, AT(function), "NAME|ADDRESS",
     "list every call of these functions, with its arguments where the trace has registers", NULL,
     NULL},
    {"list", 0, TROD_OPT_BOOL, AT(list), NULL, "list call by call instead of the folded tree", NULL,
     NULL},
    {"depth", 0, TROD_OPT_COUNT, AT(depth), "N", "only the outermost N functions of each stack",
     NULL, NULL},
    {"during", 0, TROD_OPT_RANGE, AT(time), "FROM..TO",
     "of a list only calls that were going on at these times, in the trace's unit without decimals",
     NULL, NULL},
    {"final-stack", 0, TROD_OPT_BOOL, AT(final), NULL,
     "show what is open at the end of each thread or cpu", NULL, NULL},
    {"top", 0, TROD_OPT_U64, AT(top), "N",
     "rows of the tree, those that cost most (default: 500; 0: all)", NULL, NULL},
    {"most", 0, TROD_OPT_U64, AT(most), "N", "calls of a list (default: 100000; 0: all)", NULL,
     NULL},
    {"weight", 0, TROD_OPT_LIST, AT(weight), "WHAT", cg_weight_help, NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL",
     "print as that tool does: tarmac (Arm's tarmac-calltree, with --function tarmac-callinfo)",
     likes, NULL},
    {"no-offsets", 0, TROD_OPT_BOOL, AT(no_offsets), NULL,
     "with --like tarmac: only names of functions", NULL, NULL},
    {"matching", 0, TROD_OPT_BOOL, AT(debug), NULL,
     "with --like tarmac: before the tree, how calls and returns were matched", NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct cg_options defaults = {.top = TOP, .most = MOST};

static int init(void *st, const void *opt, const struct trod_context *c)
{
    const struct cg_options *o = opt ? opt : &defaults;

    if (o->time.set && !o->list && !o->function.n)
        return trod_error(c->diag, TROD_ERR_USAGE, "calls.during", NULL,
                          "'--during' goes with '--list' or '--function'");
    return cg_init(st, o, c, true, o->list || o->function.n || o->final);
}

/* ---- the folded tree */

struct tree {
    const struct cg_core *core;
    const struct cg_sum *sum;
    struct trod_result *r;
    uint64_t least;  /* instructions of what is shown */
    uint64_t equals; /* rows left for those with just as many */
    uint64_t hidden;
};

/* The number of A, of which there are N, that K - 1 others are not smaller than. */
static uint64_t select_largest(uint64_t *a, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;

    while (lo < hi) { /* what is before LO is no smaller, what is behind HI no larger */
        const uint64_t pivot = a[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;

        for (;;) {
            while (a[i] > pivot)
                i++;
            while (a[j] < pivot)
                j--;
            if (i >= j)
                break;
            const uint64_t one = a[i];

            a[i++] = a[j];
            a[j--] = one;
        }
        if (k - 1 <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return a[lo];
}

/* The least cost at which there are TOP rows to show. */
static int choose(struct tree *t)
{
    const size_t n = t->core->tree.n, top = (size_t)t->core->opt->top;
    uint64_t *all;

    t->equals = UINT64_MAX;
    if (top == 0 || n <= top + 1)
        return TROD_OK;
    all = malloc(n * sizeof *all);
    if (!all)
        return TROD_ERR_NOMEM;
    for (size_t i = 1; i < n; i++)
        all[i - 1] = t->sum[i].total[t->core->weights.shown];
    t->least = select_largest(all, n - 1, top);
    t->equals = top;
    for (size_t i = 0; i < n - 1; i++)
        t->equals -= all[i] > t->least;
    free(all);
    return TROD_OK;
}

static bool shown(struct tree *t, uint32_t node)
{
    const uint64_t total = t->sum[node].total[t->core->weights.shown], depth = t->core->opt->depth;

    if (depth && t->sum[node].depth > depth)
        return false;
    if (total > t->least || t->equals == UINT64_MAX)
        return true;
    if (total < t->least || t->equals == 0)
        return false;
    t->equals--;
    return true;
}

/* What NODE and all that it called cost. */
static void put_costs(const struct tree *t, uint32_t node, const uint64_t *total)
{
    const struct cg_tree *tree = &t->core->tree;
    const unsigned by = t->core->weights.shown;
    const uint64_t all = t->sum[0].total[by];

    trod_result_u64(t->r, NULL, total[CG_SELF_INSTRUCTIONS]);
    trod_result_f64(t->r, NULL, all ? 100.0 * (double)total[by] / (double)all : 0, 2);
    trod_result_u64(t->r, NULL, cg_self(tree, node, CG_SELF_INSTRUCTIONS));
    if (tree->any_time)
        trod_result_u64(t->r, NULL, total[CG_SELF_TIME]);
    for (unsigned w = CG_SELF_WEIGHTS; w < CG_SELF_WEIGHTS + t->core->weights.n; w++) {
        trod_result_u64(t->r, NULL, cg_self(tree, node, w));
        trod_result_u64(t->r, NULL, total[w]);
    }
    trod_result_row_end(t->r);
}

static int put_node(void *user, uint32_t node)
{
    struct tree *t = user;
    const struct cg_node *n = &t->core->tree.node[node];
    const unsigned depth = t->sum[node].depth - 1;
    char buf[TROD_FUNCTION_NAME];
    struct trod_buf text = {0};
    int rc;

    if (!shown(t, node)) {
        t->hidden++;
        return TROD_OK;
    }
    rc = trod_buf_printf(&text, "%s%s", n->kind == CG_EXCEPTION ? "exception " : "",
                         cg_node_name(t->core, n, buf));
    if (rc == TROD_OK)
        rc = trod_buf_add(&text, "", 1);
    if (rc == TROD_OK) {
        trod_result_below(t->r, NULL, (const char *)text.p, 2 * (depth < 50 ? depth : 50));
        trod_result_u64(t->r, NULL, depth);
        trod_result_hex(t->r, NULL, n->function);
        trod_result_u64(t->r, NULL, n->count);
        put_costs(t, node, t->sum[node].total);
    }
    trod_buf_fini(&text);
    return rc;
}

static void put_nobody(const struct tree *t)
{
    uint64_t self[CG_SELVES];

    if (!cg_nobody(&t->core->tree, self))
        return;
    trod_result_str(t->r, NULL, CG_NO_FUNCTION);
    trod_result_u64(t->r, NULL, 0);
    trod_result_absent(t->r);
    trod_result_u64(t->r, NULL, 0);
    put_costs(t, 0, self);
}

static int put_tree(struct tree *t)
{
    struct trod_result_column columns[8 + 2 * CG_MOST_WEIGHTS] = {
        {"function", TROD_COLUMN_KEY, NULL, "in text a step to the right: called by the one above"},
        {"depth", TROD_COLUMN_KEY, NULL, "functions below it in the stack"},
        {"address", TROD_COLUMN_KEY, NULL, "where it begins"},
        {"calls", TROD_COLUMN_MEASURE, "activations", NULL},
        {"inclusive", TROD_COLUMN_MEASURE, "instructions", "with all that it called"},
        {"share", TROD_COLUMN_MEASURE, "%", "of all"},
        {"exclusive", TROD_COLUMN_MEASURE, "instructions", "by the function itself"},
        {"time", TROD_COLUMN_MEASURE, "time", "inclusive"},
    };
    char names[CG_MOST_WEIGHTS][2][CG_WEIGHT_KEY + 16];
    size_t n = 8 - !t->core->tree.any_time;
    int rc = choose(t);

    if (rc < 0)
        return rc;
    for (unsigned w = 0; w < CG_MOST_WEIGHTS; w++)
        n += cg_weight_columns(t->core, CG_SELF_WEIGHTS + w, true, columns + n, names[w]);
    trod_result_table(t->r, "tree", "calls, folded", columns, n);
    rc = cg_walk(&t->core->tree, t->sum, put_node, NULL, t);
    put_nobody(t);
    trod_result_table_close(t->r);
    if (t->hidden)
        trod_result_u64(t->r, "rows_not_shown", t->hidden);
    return rc;
}

static int result(const void *st, struct trod_result *r)
{
    struct cg_core *core = ((const struct cg_state *)st)->core;
    struct tree t = {.core = core, .r = r};
    struct cg_sum *sum = NULL;
    int rc = cg_conclude(core);

    if (rc == TROD_OK &&
        (!cg_tree_begin(&core->tree) || !(sum = cg_sums(&core->tree, core->weights.shown))))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK) {
        t.sum = sum;
        cg_put_counts(core, sum, r);
        if (core->opt->time.set && !core->tree.any_time)
            trod_warning(core->context.diag, TROD_ERR_UNSUPPORTED, "calls.during", NULL,
                         "the trace has no times: no call is known to go on during '--during'");
        if (core->opt->list || core->n_wanted)
            cg_put_list(core, r);
        else if (!core->opt->final)
            rc = put_tree(&t);
        if (core->opt->final)
            cg_put_open(core, r);
    }
    cg_sums_free(&core->tree, sum);
    return rc;
}

const struct trod_analysis trod_analysis_calls = {
    .name = "calls",
    .title = "who called whom: a folded tree of calls, or call by call",
    .names = true,
    .about = "Follows calls and returns of each thread or cpu and shows them as a tree: each\n"
             "function below the one that called it, with how often and at what cost. Tail\n"
             "calls, exceptions, longjmp, C++ exceptions and task switches are followed\n"
             "too, with registers where the trace has them. --list shows call by call;\n"
             "--function each call of a function, with its arguments; --final-stack what is\n"
             "open at the end, as of a program that hangs. Names come from --symbols,\n"
             "which say what is a call, too: an index is of use then if it was made with\n"
             "the same ones (trod index --symbols), or if options choose rows.\n"
             "\n"
             "--like tarmac prints what Arm's tarmac-calltree does, with --function what\n"
             "tarmac-callinfo does, their errors included.",
    .examples = "  trod calls --symbols app@0x555555554000 app.trace.zip\n"
                "  trod calls --function memcpy --symbols libc.so.6@0x7ffff7c00000 app.trace.zip\n"
                "  trod calls --list --depth 3 --during 1000..2000 cpu.tarmac\n"
                "  trod calls --like tarmac --symbols calc.elf calc.tarmac\n",
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
    .layout = cg_like_calls,
    .fini = cg_fini,
    .by_calls = cg_by_calls,
    .calls = cg_calls,
    .begins = cg_begins,
};
