/*
 * folded.c - the view "folded": a line for each stack of calls, with what was spent in it itself.
 *
 * Implements docs/exporting.md, "Folded stacks": what flamegraph.pl and its relatives read.
 */
#include "export/text.h"
#include "export/tree.h"

#include <stdlib.h>
#include <string.h>

struct options {
    struct export_tree_options tree;
    int count;
};

static const char *const counts[] = {"instructions", "reads", "writes", NULL};

static const struct options defaults = {.tree = {.depth = EXPORT_TREE_DEPTH}};

static const struct trod_option options[] = {
    {.name = "count",
     .type = TROD_OPT_ENUM,
     .offset = offsetof(struct options, count),
     .arg = "WHAT",
     .text = "what the numbers count",
     .choices = counts},
    EXPORT_TREE_OPTION(struct options),
    {.type = TROD_OPT_END},
};

struct state {
    struct trod_export_context c;
    struct export_tree tree;
    int count;
};

struct line {
    char *stack; /* owned */
    uint64_t n;
};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    const struct options *o = opt;
    struct state *s = st;

    s->c = *c;
    s->count = o->count;
    return export_tree_init(&s->tree, &o->tree, c, false);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return export_tree_feed(&((struct state *)st)->tree, b, from, to);
}

/* Append NAME; what parts frames and lines becomes ':'. */
static int add_name(struct trod_buf *out, const char *name, size_t n)
{
    const size_t at = out->n;
    int r = trod_buf_add(out, name, n);

    for (size_t i = at; r == 0 && i < out->n; i++)
        if (out->p[i] == ';' || out->p[i] < ' ')
            out->p[i] = ':';
    return r;
}

/* The names of node NUMBER and those above it, outermost first. */
static int stack_of(const struct state *s, uint32_t number, const struct trod_meta *meta,
                    uint32_t *path, struct trod_buf *out)
{
    const struct export_tree *t = &s->tree;
    struct trod_buf lane = {0};
    size_t depth = 0;
    int r = export_lane_name(&lane, t->lanes.lane[t->node[number].lane], meta);

    for (uint32_t i = number; i != EXPORT_ROOT; i = t->node[i].parent)
        path[depth++] = t->node[i].function;
    if (r == 0)
        r = add_name(out, (const char *)lane.p, lane.n);
    while (r == 0 && depth-- > 0) {
        const char *name = export_function_name(&t->lanes.names, path[depth]);

        r = trod_buf_add(out, ";", 1);
        if (r == 0)
            r = add_name(out, name, strlen(name));
    }
    trod_buf_fini(&lane);
    return r;
}

static int by_stack(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

static int lines_of(const struct state *s, const struct trod_meta *meta, struct line *line,
                    size_t *n)
{
    uint32_t *path = malloc((s->tree.n + 1) * sizeof *path);
    int r = path ? 0 : TROD_ERR_NOMEM;

    for (uint32_t i = 0; r == 0 && i < s->tree.n; i++) {
        struct trod_buf text = {0};

        if (s->tree.node[i].self[s->count] == 0)
            continue;
        r = stack_of(s, i, meta, path, &text);
        if (r == 0)
            r = trod_buf_add(&text, "", 1);
        if (r == 0)
            line[(*n)++] = (struct line){(char *)text.p, s->tree.node[i].self[s->count]};
        else
            trod_buf_fini(&text);
    }
    free(path);
    return r;
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    struct export_text t = {.out = s->c.out};
    struct line *line = NULL;
    size_t n = 0, written = 0;
    uint64_t total = 0;
    int r = export_tree_end(&s->tree);

    if (r == 0 && !(line = malloc((s->tree.n + 1) * sizeof *line)))
        r = TROD_ERR_NOMEM;
    if (r == 0)
        r = lines_of(s, meta, line, &n);
    if (n)
        qsort(line, n, sizeof *line, by_stack);
    for (size_t i = 0; r == 0 && i < n; written++) {
        uint64_t sum = 0;
        size_t k = i;

        for (; k < n && strcmp(line[k].stack, line[i].stack) == 0; k++)
            sum += line[k].n;
        export_put(&t, line[i].stack);
        export_put(&t, " ");
        export_number(&t, sum);
        export_put(&t, "\n");
        total += sum;
        i = k;
    }
    for (size_t i = 0; i < n; i++)
        free(line[i].stack);
    free(line);
    trod_result_u64(result, "stacks", written);
    trod_result_u64(result, "calls_too_deep", s->tree.cut);
    trod_result_u64(result, counts[s->count], total);
    return r == 0 ? t.status : r;
}

static void fini(void *st)
{
    export_tree_fini(&((struct state *)st)->tree);
}

static const char *const suffixes[] = {".folded", NULL};

const struct trod_export trod_view_folded = {
    .name = "folded",
    .title = "folded stacks: what was spent in each stack of calls",
    .opens = "flamegraph.pl, speedscope, inferno",
    .leaves_out = "time and order, numbers of calls, addresses, all data",
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
