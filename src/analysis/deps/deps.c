/*
 * deps.c - the analysis "deps": how instructions depend on each other, and how many could run at
 * once.
 *
 * Implements docs/analysing.md, "deps": options, rows. flow.c has the model.
 */
#include "analysis/deps/deps.h"

#include "trod/streak.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct deps_options, field)

static const struct trod_option options[] = {
    {"window", 0, TROD_OPT_LIST, AT(window), "N,...",
     "instructions that a machine looks at (default: unlimited)", NULL, NULL},
    {"width", 0, TROD_OPT_LIST, AT(width), "N,...",
     "instructions that it takes in a cycle (default: unlimited)", NULL, NULL},
    {"latency", 0, TROD_OPT_LIST, AT(latency), "CLASS=N,...",
     "cycles of instructions of a class: int, mul, div, fp, fp-div, load, store, branch, system, "
     "unknown; all",
     NULL, NULL},
    {"group", 0, TROD_OPT_U64, AT(group), "N",
     "instructions of a dispatch group, the last a branch (default: 5; at most 65535)", NULL, NULL},
    {"most-lines", 0, TROD_OPT_U64, AT(most), "N",
     "lines of 64 bytes of each thread whose stores are remembered (default: 65536)", NULL, NULL},
    {"top", 0, TROD_OPT_U64, AT(top), "N",
     "rows of the tables of instructions and functions "
     "(default: 10; 0: all)",
     NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct deps_options defaults = {.group = 5, .most = 65536, .top = 10};

const char *const deps_class_names[DEPS_CLASSES + 1] = {
    "int", "mul", "div", "fp", "fp-div", "load", "store", "branch", "system", "unknown", NULL};

static const uint16_t latencies[DEPS_CLASSES] = {
    [DEPS_INT] = 1,  [DEPS_MUL] = 3,   [DEPS_DIV] = 20,   [DEPS_FP] = 4,     [DEPS_FP_DIV] = 15,
    [DEPS_LOAD] = 4, [DEPS_STORE] = 1, [DEPS_BRANCH] = 1, [DEPS_SYSTEM] = 1, [DEPS_UNKNOWN] = 1,
};

/* ---- options */

static int wrong(const struct trod_context *c, const char *option, const char *text,
                 const char *what)
{
    return trod_error(c->diag, TROD_ERR_USAGE, "deps.option", NULL, "option '--%s': '%s' is not %s",
                      option, text, what);
}

/* TEXT as a number from 1 to MOST, or 0 for "unlimited". */
static bool bound(const char *text, uint64_t most, uint32_t *out)
{
    uint64_t v;

    *out = 0;
    if (strcmp(text, "unlimited") == 0)
        return true;
    if (trod_option_number(text, &v) < 0 || v == 0 || v > most)
        return false;
    *out = (uint32_t)v;
    return true;
}

static int set_latency(struct deps_state *s, const char *text)
{
    const char *equals = strchr(text, '=');
    uint32_t v;

    if (!equals || !bound(equals + 1, DEPS_LATENCY, &v) || v == 0)
        return wrong(&s->context, "latency", text, "CLASS=N with N from 1 to 10000");
    for (unsigned c = 0; c <= DEPS_CLASSES; c++) {
        const char *name = c < DEPS_CLASSES ? deps_class_names[c] : "all";

        if (strlen(name) != (size_t)(equals - text) || memcmp(name, text, strlen(name)) != 0)
            continue;
        for (unsigned k = 0; k < DEPS_CLASSES; k++)
            if (c == DEPS_CLASSES || k == c)
                s->limits.latency[k] = (uint16_t)v;
        return TROD_OK;
    }
    return wrong(&s->context, "latency", text, "of a class that there is");
}

/* Every window with every width; none where neither is given. */
static int machines(struct deps_state *s)
{
    static const struct trod_list unlimited = {1, {"unlimited"}};
    const struct trod_list *w = s->opt->window.n ? &s->opt->window : &unlimited;
    const struct trod_list *v = s->opt->width.n ? &s->opt->width : &unlimited;

    if (w == v)
        return TROD_OK;
    if (w->n * v->n > DEPS_CONFIGS)
        return trod_error(s->context.diag, TROD_ERR_USAGE, "deps.option", NULL,
                          "%zu windows times %zu widths are more than %d machines", w->n, v->n,
                          DEPS_CONFIGS);
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < v->n; k++) {
            struct deps_config *c = &s->config[s->n_configs];

            if (!bound(w->item[i], DEPS_WINDOW, &c->window))
                return wrong(&s->context, "window", w->item[i],
                             "a number from 1 to 65536 or 'unlimited'");
            if (!bound(v->item[k], DEPS_WINDOW, &c->width))
                return wrong(&s->context, "width", v->item[k],
                             "a number from 1 to 65536 or 'unlimited'");
            s->n_configs += c->window || c->width; /* that with no bounds is always there */
        }
    s->stride = (s->n_configs + DEPS_LANES - 1) / DEPS_LANES * DEPS_LANES;
    return TROD_OK;
}

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct deps_state *s = st;
    int rc = TROD_OK;

    s->opt = opt ? opt : &defaults;
    s->context = *context;
    memcpy(s->limits.latency, latencies, sizeof latencies);
    if (s->opt->group == 0 || s->opt->group > DEPS_GROUPS || s->opt->most == 0)
        return trod_error(context->diag, TROD_ERR_USAGE, "deps.option", NULL,
                          "option 'group' is a number from 1 to %d, option 'most-lines' one from 1",
                          DEPS_GROUPS);
    s->limits.group = (uint16_t)s->opt->group;
    for (size_t i = 0; rc == TROD_OK && i < s->opt->latency.n; i++)
        rc = set_latency(s, s->opt->latency.item[i]);
    return rc == TROD_OK ? machines(s) : rc;
}

static void fini(void *st)
{
    struct deps_state *s = st;

    deps_flow_free(s);
    deps_places_free(&s->places);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return deps_flow_rows(st, b, from, to);
}

const struct trod_analysis trod_analysis_deps = {
    .name = "deps",
    .title = "dependences through registers and memory, and the parallelism they leave",
    .names = true,
    .about = "Follows values from the instruction that makes them to those that use them, in\n"
             "each thread by itself: how far away the use of a register and of a loaded value\n"
             "is, which loads get what a store left, what is spilled to the stack and loaded\n"
             "again, and which sequences are bad for a pipeline.\n"
             "\n"
             "Shows how many instructions could run at once if only these dependences held\n"
             "them back: with no bounds, and on machines that look at a window of so many\n"
             "instructions and take in so many a cycle; and where the longest chains are,\n"
             "by instruction and, with --symbols, by function.",
    .examples = "  trod deps app.trace.zip\n"
                "  trod deps --window 64,512 --width 4,8 app.trace.zip\n"
                "  trod deps --latency all=1 --window unlimited --symbols app app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct deps_options),
    .defaults = &defaults,
    .state_size = sizeof(struct deps_state),
    .scope = TROD_PER_STREAM,
    .order = TROD_STREAM_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_FLAGS,
    .uses = TROD_COL_SITE | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_STREAM | TROD_WANT_STREAKS,
    .init = init,
    .feed = feed,
    .merge = deps_merge,
    .save = deps_save,
    .load = deps_load,
    .result = deps_result,
    .fini = fini,
    .owners = true,
    .weigher = &deps_weigher,
};
