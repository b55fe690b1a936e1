/*
 * flame.c - the analysis "flame": stacks of functions and what they cost, folded.
 *
 * Implements docs/navigating.md, "flame". Two traces are compared by the command (trod/flame.h).
 */
#include "trod/flame.h"
#include "analysis/callgraph/callgraph.h"
#include "analysis/callgraph/like.h"

#include "callstack/stacks.h"
#include "core/slab.h"

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
    struct trod_flame *flame;
    struct trod_buf name;
    struct folded {
        uint32_t node;  /* of FLAME */
        uint32_t depth; /* 0: not folded yet */
    } * of;             /* by node of the tree */
    uint32_t *path;     /* nodes from one towards the outermost; room for all */
};

/* The child of AT for NODE; 0: no memory. */
static uint32_t put_node(struct folding *k, uint32_t at, uint32_t node)
{
    char buf[TROD_FUNCTION_NAME];
    const struct cg_node *n = &k->core->tree.node[node];
    const char *name = cg_node_name(k->core, n, buf);
    size_t from;

    k->name.n = 0;
    if (n->kind == CG_EXCEPTION && trod_buf_add(&k->name, "exception ", 10) < 0)
        return 0;
    from = k->name.n;
    if (trod_buf_add(&k->name, name, strlen(name)) < 0)
        return 0;
    for (size_t i = from; i < k->name.n; i++) { /* what ends a name or a line */
        const uint8_t c = k->name.p[i];

        if (c == ';' || c == '\n' || c == '\r')
            k->name.p[i] = ':';
    }
    return stacks_child(k->flame, at, (const char *)k->name.p, k->name.n);
}

static uint32_t put_deeper(struct folding *k, uint32_t at)
{
    return stacks_child(k->flame, at, "(deeper)", 8);
}

/* The stack of NODE into FLAME, behind what is there of it; 0: no memory. */
static uint32_t put_stack(struct folding *k, uint32_t node)
{
    const struct cg_node *const tree = k->core->tree.node;
    struct folded last = {0, 0};
    size_t n = 0;

    for (; node && !k->of[node].depth; node = tree[node].parent)
        k->path[n++] = node;
    if (node)
        last = k->of[node];
    while (n) {
        node = k->path[--n];
        if (++last.depth <= DEEP)
            last.node = put_node(k, last.node, node);
        else if (last.depth == DEEP + 1)
            last.node = put_deeper(k, last.node);
        if (!last.node)
            return 0;
        k->of[node] = last;
    }
    return last.node;
}

/* The same, the innermost function first. */
static uint32_t put_reverse(struct folding *k, uint32_t node)
{
    uint32_t at = 0;
    size_t n = 0, i = 0;

    for (; node; node = k->core->tree.node[node].parent)
        k->path[n++] = node;
    if (n > DEEP) {
        i = n - DEEP;
        if (!(at = put_deeper(k, at)))
            return 0;
    }
    for (; i < n; i++)
        if (!(at = put_node(k, at, k->path[i])))
            return 0;
    return at;
}

static int put_stacks(struct folding *k)
{
    const struct cg_core *core = k->core;

    for (uint32_t i = 1; i < core->tree.n; i++) {
        const uint64_t n = cg_self(&core->tree, i, core->weights.shown);
        const uint32_t node = n == 0 ? 0 : core->opt->reverse ? put_reverse(k, i) : put_stack(k, i);

        if (n && !node)
            return TROD_ERR_NOMEM;
        if (n)
            k->flame->node[node].self[0] += n;
    }
    return TROD_OK;
}

/* The stacks of CORE. *OUT is released with trod_flame_free in every case. */
static int fold(struct cg_core *core, struct trod_flame **out)
{
    struct folding k = {.core = core};
    const int finished = cg_conclude(core);
    int rc;

    *out = NULL;
    if (finished < 0)
        return finished;
    rc = cg_tree_begin(&core->tree) ? trod_flame_new(out) : TROD_ERR_NOMEM;
    k.flame = *out;
    k.of = trod_slab_zeroed(core->tree.n * sizeof *k.of);
    k.path = trod_slab_take(core->tree.n * sizeof *k.path);
    if (rc == TROD_OK && (!k.of || !k.path || !stacks_room(k.flame, core->tree.n)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = put_stacks(&k);
    if (rc == TROD_OK && cg_self(&core->tree, 0, core->weights.shown))
        rc = trod_flame_add(k.flame, CG_NO_FUNCTION, strlen(CG_NO_FUNCTION), 0,
                            cg_self(&core->tree, 0, core->weights.shown));
    trod_slab_give(k.of, core->tree.n * sizeof *k.of);
    trod_slab_give(k.path, core->tree.n * sizeof *k.path);
    trod_buf_fini(&k.name);
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
        if (cg_note(core))
            trod_result_str(r, "note", cg_note(core));
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
