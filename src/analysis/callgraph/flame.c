/*
 * flame.c - the analysis "flame": stacks of functions and what they cost, folded.
 *
 * Implements docs/navigating.md, "flame". Two traces are compared by the command (trod/flame.h).
 */
#include "trod/flame.h"
#include "analysis/callgraph/callgraph.h"
#include "analysis/callgraph/like.h"

#include "callstack/stacks.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct cg_options, field)

static const char *const places[] = {"apart", "inline", NULL};
static const char *const likes[] = {"none", "tarmac", NULL};

static const struct trod_option options[] = {
    {"weight", 0, TROD_OPT_LIST, AT(weight), "WHAT",
     "what is counted instead of instructions: one of what profile --weight takes", NULL, NULL},
    {"reverse", 0, TROD_OPT_BOOL, AT(reverse), NULL,
     "the innermost function first: who calls what costs", NULL, NULL},
    {"exceptions", 0, TROD_OPT_ENUM, AT(exceptions), "WHERE",
     "handlers stand for themselves (apart, the default), or on what they interrupted (inline)",
     places, NULL},
    {"svg", 0, TROD_OPT_BOOL, AT(svg), NULL,
     "a picture that needs nothing but a browser, instead of text", NULL, NULL},
    {"no-offsets", 0, TROD_OPT_BOOL, AT(no_offsets), NULL,
     "with --like tarmac: only names of functions", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL",
     "print as that tool does: tarmac (Arm's tarmac-flamegraph)", likes, NULL},
    {.type = TROD_OPT_END},
};

static const struct cg_options defaults = {.like = CG_LIKE_NONE};

static int init(void *st, const void *opt, const struct trod_context *c)
{
    const struct cg_options *o = opt ? opt : &defaults;

    if (o->weight.n > 1)
        return trod_error(c->diag, TROD_ERR_USAGE, "calls.weight", NULL,
                          "a flame graph shows one weight, not %zu", o->weight.n);
    return cg_init(st, o, c, o->exceptions == 1, false);
}

static const char *weight_of(const struct cg_core *core)
{
    return core->opt->weight.n ? core->opt->weight.item[0] : "instructions";
}

/* In what it is counted: a static text. */
static const char *unit_of(const struct cg_core *core)
{
    return core->weights.n                       ? core->weights.at[0].unit
           : core->weights.shown == CG_SELF_TIME ? "time"
                                                 : "instructions";
}

/* ---- from the tree to folded stacks */

enum { DEEP = 256 }; /* functions of a stack; what lies deeper counts for "(deeper)" */

struct folding {
    const struct cg_core *core;
    const struct cg_sum *sum;
    struct trod_flame *flame;
    struct trod_buf text;
    size_t at[DEEP + 2];   /* lengths of the text by depth */
    uint32_t of[DEEP + 1]; /* nodes of FLAME by depth, */
    uint32_t made;         /* so many of the stack at hand */
};

static int put_name(struct folding *k, uint32_t node)
{
    char buf[TROD_FUNCTION_NAME];
    const struct cg_node *n = &k->core->tree.node[node];
    const char *name = cg_node_name(k->core, n, buf);
    size_t from;
    int rc = k->text.n ? trod_buf_add(&k->text, ";", 1) : TROD_OK;

    if (rc == TROD_OK && n->kind == CG_EXCEPTION)
        rc = trod_buf_add(&k->text, "exception ", 10);
    from = k->text.n;
    if (rc == TROD_OK)
        rc = trod_buf_add(&k->text, name, strlen(name));
    for (size_t i = from; rc == TROD_OK && i < k->text.n; i++) { /* what ends a name or a line */
        const uint8_t c = k->text.p[i];

        if (c == ';' || c == '\n' || c == '\r')
            k->text.p[i] = ':';
    }
    return rc;
}

/* The stack of TEXT the other way round. */
static int turn(struct trod_buf *text)
{
    struct trod_buf to = {0};
    size_t end = text->n;
    int rc = TROD_OK;

    for (size_t i = text->n; rc == TROD_OK && i-- > 0;) {
        if (i > 0 && text->p[i - 1] != ';')
            continue;
        if (to.n)
            rc = trod_buf_add(&to, ";", 1);
        if (rc == TROD_OK)
            rc = trod_buf_add(&to, text->p + i, end - i);
        end = i ? i - 1 : 0;
    }
    trod_buf_fini(text);
    *text = to;
    return rc;
}

static int add_turned(struct folding *k, uint64_t n)
{
    struct trod_buf copy = {0};
    int rc = trod_buf_add(&copy, k->text.p, k->text.n);

    if (rc == TROD_OK)
        rc = turn(&copy);
    if (rc == TROD_OK)
        rc = trod_flame_add(k->flame, (const char *)copy.p, copy.n, 0, n);
    trod_buf_fini(&copy);
    return rc;
}

/* N more for the stack of the text, which is DEPTH functions deep. */
static int add(struct folding *k, uint32_t depth, uint64_t n)
{
    const uint32_t named = depth < DEEP ? depth : DEEP;
    uint32_t node;

    if (k->core->opt->reverse)
        return add_turned(k, n);
    for (uint32_t d = k->made + 1; d <= named; d++) {
        const size_t from = k->at[d - 1] + (k->at[d - 1] > 0);

        if (!(k->of[d] = stacks_child(k->flame, k->of[d - 1], (const char *)k->text.p + from,
                                      k->at[d] - from)))
            return TROD_ERR_NOMEM;
        k->made = d;
    }
    node = depth > DEEP ? stacks_child(k->flame, k->of[DEEP], "(deeper)", 8) : k->of[depth];
    if (!node)
        return TROD_ERR_NOMEM;
    k->flame->node[node].self[0] += n;
    return TROD_OK;
}

static int enter(void *user, uint32_t node)
{
    struct folding *k = user;
    const uint32_t depth = k->sum[node].depth;
    const uint64_t n = cg_self(&k->core->tree, node, k->core->weights.shown);
    int rc;

    if (depth > DEEP + 1 && n == 0)
        return TROD_OK;
    if (depth > DEEP) {
        k->text.n = k->at[DEEP];
        rc = trod_buf_add(&k->text, ";(deeper)", 9);
    } else {
        k->text.n = k->at[depth - 1];
        rc = put_name(k, node);
        k->at[depth] = k->text.n;
        k->made = k->made < depth ? k->made : depth - 1;
    }
    return rc == TROD_OK && n ? add(k, depth, n) : rc;
}

/* The stacks of CORE. *OUT is released with trod_flame_free in every case. */
static int fold(struct cg_core *core, struct trod_flame **out)
{
    struct folding k = {.core = core};
    struct cg_sum *sum = NULL;
    int rc = cg_finish(core);

    *out = NULL;
    if (rc == TROD_OK)
        rc = trod_flame_new(&k.flame);
    *out = k.flame;
    if (rc == TROD_OK &&
        (!cg_tree_begin(&core->tree) || !(sum = cg_sums(&core->tree, core->weights.shown))))
        rc = TROD_ERR_NOMEM;
    k.sum = sum;
    if (rc == TROD_OK)
        rc = cg_walk(&core->tree, sum, enter, NULL, &k);
    if (rc == TROD_OK && cg_self(&core->tree, 0, core->weights.shown))
        rc = trod_flame_add(k.flame, "(no function)", 13, 0,
                            cg_self(&core->tree, 0, core->weights.shown));
    cg_sums_free(&core->tree, sum);
    trod_buf_fini(&k.text);
    return rc;
}

/* ---- results */

static int put_row(void *user, const char *stack, size_t n, const uint64_t count[2])
{
    struct trod_result *r = user;

    trod_result_strn(r, NULL, stack, n);
    trod_result_u64(r, NULL, count[0]);
    trod_result_row_end(r);
    return TROD_OK;
}

static int result(const void *st, struct trod_result *r)
{
    struct cg_core *core = ((const struct cg_state *)st)->core;
    const struct trod_result_column columns[] = {
        {"stack", TROD_COLUMN_KEY, NULL, "from the outermost function to the innermost"},
        {"count", TROD_COLUMN_MEASURE, unit_of(core), "by the innermost function itself"},
    };
    struct trod_flame *flame;
    int rc = fold(core, &flame);

    if (rc == TROD_OK) {
        trod_result_str(r, "weight", weight_of(core));
        trod_result_u64(r, "total", trod_flame_total(flame, 0));
        trod_result_table(r, "stacks", "stacks", columns, 2);
        rc = trod_flame_each(flame, put_row, r);
        trod_result_table_close(r);
    }
    trod_flame_free(flame);
    return rc;
}

static int layout(const void *st, struct trod_buf *out)
{
    struct cg_core *core = ((const struct cg_state *)st)->core;
    const struct trod_flame_options opt = {.struct_size = sizeof opt, .unit = weight_of(core)};
    struct trod_flame *flame;
    int rc;

    if (core->like)
        return cg_like_flame(st, out);
    rc = fold(core, &flame);
    if (rc == TROD_OK)
        rc =
            core->opt->svg ? trod_flame_svg(flame, &opt, out) : trod_flame_folded(flame, &opt, out);
    trod_flame_free(flame);
    return rc < 0 ? rc : 1;
}

const struct trod_analysis trod_analysis_flame = {
    .name = "flame",
    .title = "stacks of functions and what they cost, folded or as a flame graph",
    .names = true,
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
    .layout = layout,
    .fini = cg_fini,
    .by_calls = cg_by_calls,
    .calls = cg_calls,
    .begins = cg_begins,
};
