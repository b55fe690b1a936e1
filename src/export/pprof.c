/*
 * pprof.c - the view "pprof": a profile of calls as pprof reads it, a gzip file.
 *
 * Implements docs/exporting.md, "pprof"; document: profile.proto of google/pprof. A location is an
 * address: the innermost one that where its function begins, those of callers that of the call. A
 * sample is a stack of locations with what was spent there, and the stream as its label.
 */
#include "export/pb.h"
#include "export/tree.h"

#include <stdlib.h>

/* Numbers of the fields used. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DEFAULT_TYPE = 14
};

struct options {
    struct export_tree_options tree;
};

static const struct options defaults = {.tree = {.depth = EXPORT_TREE_DEPTH}};

static const struct trod_option options[] = {
    EXPORT_TREE_OPTION(struct options),
    {.type = TROD_OPT_END},
};

struct state {
    struct trod_export_context c;
    struct export_tree tree;
    struct trod_buf out, part, inner, stack;
    struct export_map location; /* address and function: entry I is location I + 1 */
    uint64_t strings;
    int status;
};

static int init(void *st, const void *opt, const struct trod_export_context *c)
{
    struct state *s = st;

    s->c = *c;
    return export_tree_init(&s->tree, &((const struct options *)opt)->tree, c, true);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return export_tree_feed(&((struct state *)st)->tree, b, from, to);
}

/* Remember the first failure. */
static void note(struct state *s, int r)
{
    if (s->status == 0)
        s->status = r;
}

/* The number of a new entry of the table of strings, which is written at once. */
static uint64_t string(struct state *s, const void *p, size_t n)
{
    note(s, pb_bytes(&s->out, PROFILE_STRING, p, n));
    return s->strings++;
}

static uint64_t text(struct state *s, const char *p)
{
    return string(s, p, strlen(p));
}

/* What is counted; the last one is what pprof shows first. */
static void put_types(struct state *s)
{
    static const char *const names[][2] = {
        {"reads", "count"}, {"writes", "count"}, {"instructions", "count"}};
    uint64_t last = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        last = text(s, names[i][0]);
        note(s, pb_number(&s->part, 1, last));
        note(s, pb_number(&s->part, 2, text(s, names[i][1])));
        note(s, pb_message(&s->out, PROFILE_SAMPLE_TYPE, &s->part));
    }
    note(s, pb_number(&s->out, PROFILE_DEFAULT_TYPE, last));
}

/* The files of the program; returns how many. */
static uint64_t put_mappings(struct state *s)
{
    const char *path;
    uint64_t from, to, n = 0;

    while (s->c.symbols && trod_symbols_module(s->c.symbols, n, &path, &from, &to)) {
        note(s, pb_number(&s->part, 1, ++n));
        note(s, pb_number(&s->part, 2, from));
        note(s, pb_number(&s->part, 3, to));
        note(s, pb_number(&s->part, 5, text(s, path)));
        note(s, pb_number(&s->part, 7, 1));
        note(s, pb_message(&s->out, PROFILE_MAPPING, &s->part));
    }
    return n;
}

static uint64_t mapping_of(const struct state *s, uint64_t address)
{
    const char *path;
    uint64_t from, to;

    for (size_t i = 0; s->c.symbols && trod_symbols_module(s->c.symbols, i, &path, &from, &to); i++)
        if (address >= from && address < to)
            return i + 1;
    return 0;
}

/* Put the location of ADDRESS in FUNCTION on the stack that is being built. */
static void push(struct state *s, uint64_t address, uint32_t function)
{
    const struct export_pair *p = export_map_at(&s->location, address, function);

    note(s, p ? trod_pack(&s->stack, (uint64_t)(p - s->location.at) + 1) : TROD_ERR_NOMEM);
}

/* LABEL: number of the stream's name among the strings; KEY that of "cpu" or "thread". */
static void put_sample(struct state *s, uint32_t number, uint64_t key, uint64_t label)
{
    const struct export_node *node = &s->tree.node[number], *n = node;
    const struct export_names *names = &s->tree.lanes.names;

    push(s, export_function_address(names, n->function), n->function);
    for (; n->parent != EXPORT_ROOT; n = &s->tree.node[n->parent]) {
        const uint32_t above = s->tree.node[n->parent].function;

        push(s, n->site == TROD_NOWHERE ? export_function_address(names, above) : n->site, above);
    }
    note(s, pb_message(&s->part, 1, &s->stack));
    note(s, trod_pack(&s->stack, node->self[EXPORT_READS]));
    note(s, trod_pack(&s->stack, node->self[EXPORT_WRITES]));
    note(s, trod_pack(&s->stack, node->self[EXPORT_INSTRUCTIONS]));
    note(s, pb_message(&s->part, 2, &s->stack));
    note(s, pb_number(&s->inner, 1, key));
    note(s, pb_number(&s->inner, 2, label));
    note(s, pb_message(&s->part, 3, &s->inner));
    note(s, pb_message(&s->out, PROFILE_SAMPLE, &s->part));
}

static uint64_t put_samples(struct state *s, const struct trod_meta *meta)
{
    const struct export_lanes *lanes = &s->tree.lanes;
    const uint64_t key = text(s, "cpu");
    uint64_t *label = malloc((lanes->n + 1) * sizeof *label), n = 0;

    if (!label) {
        note(s, TROD_ERR_NOMEM);
        return 0;
    }
    for (size_t i = 0; i < lanes->n; i++) {
        note(s, export_lane_name(&s->inner, lanes->lane[i], meta));
        label[i] = string(s, s->inner.p, s->inner.n);
        s->inner.n = 0;
    }
    for (uint32_t i = 0; s->status == 0 && i < s->tree.n; i++) {
        const struct export_node *node = &s->tree.node[i];

        if (node->self[0] + node->self[1] + node->self[2] == 0)
            continue;
        put_sample(s, i, key, label[node->lane]);
        n++;
    }
    free(label);
    return n;
}

static void put_locations(struct state *s)
{
    for (size_t i = 0; s->status == 0 && i < s->location.n; i++) {
        const struct export_pair *p = &s->location.at[i];
        const uint64_t mapping = mapping_of(s, p->a);
        const char *file;
        uint32_t line;

        note(s, pb_number(&s->part, 1, i + 1));
        if (mapping)
            note(s, pb_number(&s->part, 2, mapping));
        note(s, pb_number(&s->part, 3, p->a));
        note(s, pb_number(&s->inner, 1, p->b + 1));
        if (s->c.symbols && trod_symbols_line(s->c.symbols, p->a, &file, &line))
            note(s, pb_number(&s->inner, 2, line));
        note(s, pb_message(&s->part, 4, &s->inner));
        note(s, pb_message(&s->out, PROFILE_LOCATION, &s->part));
    }
}

static void put_functions(struct state *s)
{
    const struct export_names *names = &s->tree.lanes.names;

    for (uint32_t i = 0; s->status == 0 && i < export_functions(names); i++) {
        const uint64_t name = text(s, export_function_name(names, i));
        const char *file;
        uint32_t line;

        note(s, pb_number(&s->part, 1, (uint64_t)i + 1));
        note(s, pb_number(&s->part, 2, name));
        note(s, pb_number(&s->part, 3, name));
        if (s->c.symbols &&
            trod_symbols_line(s->c.symbols, export_function_address(names, i), &file, &line))
            note(s, pb_number(&s->part, 4, text(s, file)));
        note(s, pb_message(&s->out, PROFILE_FUNCTION, &s->part));
    }
}

static int finish(void *st, const struct trod_meta *meta, struct trod_result *result)
{
    struct state *s = st;
    uint64_t samples;

    note(s, export_tree_end(&s->tree));
    string(s, "", 0); /* string 0 is the empty one */
    put_types(s);
    put_mappings(s);
    samples = put_samples(s, meta);
    put_locations(s);
    put_functions(s);
    trod_result_u64(result, "samples", samples);
    trod_result_u64(result, "calls_too_deep", s->tree.cut);
    trod_result_u64(result, "locations", s->location.n);
    trod_result_u64(result, "functions", export_functions(&s->tree.lanes.names));
    return s->status == 0 ? trod_output_write(s->c.out, s->out.p, s->out.n) : s->status;
}

static void fini(void *st)
{
    struct state *s = st;

    export_tree_fini(&s->tree);
    export_map_fini(&s->location);
    trod_buf_fini(&s->out);
    trod_buf_fini(&s->part);
    trod_buf_fini(&s->inner);
    trod_buf_fini(&s->stack);
}

static const char *const suffixes[] = {".pb.gz", ".pprof", NULL};

const struct trod_export trod_view_pprof = {
    .name = "pprof",
    .title = "pprof: instructions, reads and writes by stack of calls",
    .opens = "go tool pprof, speedscope, Grafana Pyroscope",
    .leaves_out = "time and order, numbers of calls, single instructions, all data",
    .suffixes = suffixes,
    .form = TROD_EXPORT_BINARY,
    .compress = "gzip",
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
