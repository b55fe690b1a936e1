/*
 * flow.c - patterns of control: a loop in a loop, a function that calls itself, a stack that is
 * filled and emptied.
 */
#include "gen/int.h"

#define AT(field) offsetof(struct gen_options, field)

/* ---- loop: add; branch to add (TRIPS times); branch to add (COUNT times) */

enum { LOOP_BODY, LOOP_INNER, LOOP_OUTER };

static int loop_begin(struct trod_gen *g, struct trod_diag *diag)
{
    (void)diag;
    gen_code(g, GEN_ADD, 0);
    gen_code(g, GEN_COND, LOOP_BODY);
    gen_code(g, GEN_COND, LOOP_BODY);
    return TROD_OK;
}

static bool loop_step(struct trod_gen *g)
{
    const bool again = ++g->i < g->o.trips;

    gen_run(g, 0, LOOP_BODY, 0, 0);
    gen_run(g, 0, LOOP_INNER, 0, again ? LOOP_BODY : LOOP_OUTER);
    if (again)
        return true;
    g->i = 0;
    gen_run(g, 0, LOOP_OUTER, 0, ++g->k < g->o.count ? LOOP_BODY : LOOP_OUTER + 1);
    return g->k < g->o.count;
}

static void loop_answers(const struct trod_gen *g, struct trod_result *r)
{
    const uint64_t n = g->o.trips, k = g->o.count;

    trod_result_u64(r, "loads", 0);
    trod_result_u64(r, "stores", 0);
    trod_result_u64(r, "conditional_branches", k * n + k);
    trod_result_u64(r, "taken", k * (n - 1) + (k - 1));
    trod_result_u64(r, "inner_executed", k * n);
    trod_result_u64(r, "inner_taken", k * (n - 1));
    trod_result_u64(r, "outer_executed", k);
    trod_result_u64(r, "outer_taken", k - 1);
    trod_result_u64(r, "mispredicted_if_always_taken", k + 1);
}

static const struct trod_option loop_options[] = {
    {"trips", 0, TROD_OPT_U64, AT(trips), "N", "times through the loop before it is left (8)", NULL,
     NULL},
    {"count", 0, TROD_OPT_U64, AT(count), "N", "times that it is entered (1,000)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_loop = {
    .pattern = {"loop", "a loop of so many trips inside another: branches", loop_options},
    .streams = 1,
    .defaults = {.trips = 8, .count = 1000, .line = 64},
    .begin = loop_begin,
    .step = loop_step,
    .answers = loop_answers,
};

/* ---- recursion: a loop calls f, which calls itself until it is DEPTH deep */

enum { REC_CALL, REC_AGAIN, REC_F, REC_TEST, REC_DEEPER, REC_BACK, REC_RETURN };

static int recursion_begin(struct trod_gen *g, struct trod_diag *diag)
{
    const uint64_t room = (GEN_STACK - GEN_TEXT) / 2 / 16;

    if (g->o.depth > room)
        return trod_error(diag, TROD_ERR_USAGE, "gen.depth", NULL,
                          "depth %llu: the stack has room for %llu", (unsigned long long)g->o.depth,
                          (unsigned long long)room);
    gen_code(g, GEN_CALL, REC_F);
    gen_code(g, GEN_COND, REC_CALL);
    gen_code(g, g->pushes ? GEN_ADD : GEN_SAVE, 0); /* f */
    gen_code(g, GEN_COND, REC_BACK);
    gen_code(g, GEN_CALL, REC_F);
    gen_code(g, g->pushes ? GEN_ADD : GEN_RESTORE, 0);
    gen_code(g, GEN_RETURN, 0);
    return TROD_OK;
}

/* One activation on the way down (phase 0), one on the way up (phase 1). */
static bool recursion_step(struct trod_gen *g)
{
    const uint64_t depth = g->o.depth;

    if (g->at == 0) {
        if (g->i == 0)
            gen_run(g, 0, REC_CALL, 0, REC_F);
        gen_run(g, 0, REC_F, 0, 0);
        g->i++;
        gen_run(g, 0, REC_TEST, 0, g->i < depth ? REC_DEEPER : REC_BACK);
        if (g->i < depth)
            gen_run(g, 0, REC_DEEPER, 0, REC_F);
        else
            g->at = 1;
        return true;
    }
    gen_run(g, 0, REC_BACK, 0, 0);
    gen_run(g, 0, REC_RETURN, 0, --g->i ? REC_BACK : REC_AGAIN);
    if (g->i)
        return true;
    g->at = 0;
    gen_run(g, 0, REC_AGAIN, 0, ++g->k < g->o.count ? REC_CALL : REC_F);
    return g->k < g->o.count;
}

static void recursion_answers(const struct trod_gen *g, struct trod_result *r)
{
    const uint64_t calls = g->o.depth * g->o.count;

    trod_result_u64(r, "loads", calls);
    trod_result_u64(r, "stores", calls);
    trod_result_u64(r, "conditional_branches", calls + g->o.count);
    trod_result_u64(r, "taken", g->o.count + g->o.count - 1);
    trod_result_u64(r, "calls", calls);
    trod_result_u64(r, "returns", calls);
    trod_result_u64(r, "deepest", g->o.depth);
    trod_result_u64(r, "stack_bytes", g->o.depth * (g->pushes ? g->word : 16));
}

static const struct trod_option recursion_options[] = {
    {"depth", 0, TROD_OPT_U64, AT(depth), "N", "activations at the deepest (10)", NULL, NULL},
    {"count", 0, TROD_OPT_U64, AT(count), "N", "times that it is called (100)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_recursion = {
    .pattern = {"recursion", "a function that calls itself", recursion_options},
    .streams = 1,
    .defaults = {.depth = 10, .count = 100, .line = 64},
    .begin = recursion_begin,
    .step = recursion_step,
    .answers = recursion_answers,
};

/* ---- stack: DEPTH words are stored and loaded in the opposite order */

enum { STACK_STORE, STACK_DOWN, STACK_AGAIN, STACK_LOAD, STACK_UP, STACK_BACK, STACK_LAP };

static int stack_begin(struct trod_gen *g, struct trod_diag *diag)
{
    (void)diag;
    gen_code(g, GEN_STORE, 0);
    gen_code(g, GEN_ADD, 0);
    gen_code(g, GEN_COND, STACK_STORE);
    gen_code(g, GEN_LOAD, 0);
    gen_code(g, GEN_ADD, 0);
    gen_code(g, GEN_COND, STACK_LOAD);
    gen_code(g, GEN_COND, STACK_STORE);
    return TROD_OK;
}

static bool stack_step(struct trod_gen *g)
{
    const uint64_t depth = g->o.depth;

    if (g->at == 0) {
        gen_run(g, 0, STACK_STORE, GEN_DATA + g->i++ * g->word, 0);
        gen_run(g, 0, STACK_DOWN, 0, 0);
        g->at = g->i == depth;
        gen_run(g, 0, STACK_AGAIN, 0, g->at ? STACK_LOAD : STACK_STORE);
        return true;
    }
    gen_run(g, 0, STACK_LOAD, GEN_DATA + --g->i * g->word, 0);
    gen_run(g, 0, STACK_UP, 0, 0);
    gen_run(g, 0, STACK_BACK, 0, g->i ? STACK_LOAD : STACK_LAP);
    if (g->i)
        return true;
    g->at = 0;
    gen_run(g, 0, STACK_LAP, 0, ++g->k < g->o.laps ? STACK_STORE : STACK_LAP + 1);
    return g->k < g->o.laps;
}

static void stack_answers(const struct trod_gen *g, struct trod_result *r)
{
    const uint64_t n = g->o.depth * g->o.laps;
    const uint64_t lines = (g->o.depth * g->word - 1) / g->o.line + 1;

    trod_result_u64(r, "loads", n);
    trod_result_u64(r, "stores", n);
    trod_result_u64(r, "conditional_branches", 2 * n + g->o.laps);
    trod_result_u64(r, "taken", 2 * (n - g->o.laps) + g->o.laps - 1);
    trod_result_u64(r, "data_bytes", g->o.depth * g->word);
    trod_result_u64(r, "data_lines", lines);
    trod_result_u64(r, "cold_misses", lines);
    /* a cache of k lines hits the last k it left on the way back, and the first on the way down */
    trod_result_u64(r, "lru_misses_with_one_line", (lines - 1) * 2 * g->o.laps + 1);
}

static const struct trod_option stack_options[] = {
    {"depth", 0, TROD_OPT_U64, AT(depth), "WORDS", "words stored before they are loaded (1,000)",
     NULL, NULL},
    {"laps", 0, TROD_OPT_U64, AT(laps), "N", "times down and up (10)", NULL, NULL},
    {"line", 0, TROD_OPT_BYTES, AT(line), "BYTES", "what the answers call a line (64)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_stack = {
    .pattern = {"stack", "words stored and loaded in the opposite order", stack_options},
    .streams = 1,
    .defaults = {.depth = 1000, .laps = 10, .line = 64},
    .begin = stack_begin,
    .step = stack_step,
    .answers = stack_answers,
};
