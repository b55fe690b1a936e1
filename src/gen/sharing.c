/*
 * sharing.c - patterns of two threads on two cores that take turns.
 *
 * Both execute the same kind of loop: access; add; branch back. One stores, the other loads or
 * stores.
 */
#include "gen/int.h"

#define AT(field) offsetof(struct gen_options, field)

/*
 * Thread S goes round its loop, which begins at FIRST, once. A turn ends behind the access and the
 * add, so that no thread waits between a branch and what it leads to.
 */
static void turn(struct trod_gen *g, unsigned s, unsigned first, uint64_t addr)
{
    if (g->i)
        gen_run(g, s, first + 2, 0, first);
    gen_run(g, s, first, addr, 0);
    gen_run(g, s, first + 1, 0, 0);
}

/* Behind the last turn of N both loops are left. */
static bool turned(struct trod_gen *g, uint64_t n)
{
    if (++g->i < n)
        return true;
    gen_run(g, 0, 2, 0, 3);
    gen_run(g, 1, 5, 0, 6);
    return false;
}

static int two_loops(struct trod_gen *g, enum gen_op second)
{
    gen_code(g, GEN_STORE, 0);
    gen_code(g, GEN_ADD, 0);
    gen_code(g, GEN_COND, 0);
    gen_code(g, second, 0);
    gen_code(g, GEN_ADD, 0);
    gen_code(g, GEN_COND, 3);
    return TROD_OK;
}

static void both(struct trod_result *r, uint64_t n)
{
    trod_result_u64(r, "conditional_branches", 2 * n);
    trod_result_u64(r, "taken", 2 * (n - 1));
}

/* ---- producer: one thread fills a ring of lines, the other reads each behind it */

static int producer_begin(struct trod_gen *g, struct trod_diag *diag)
{
    (void)diag;
    return two_loops(g, GEN_LOAD);
}

static bool producer_step(struct trod_gen *g)
{
    const uint64_t addr = gen_line(g, g->i % g->o.lines);

    turn(g, 0, 0, addr);
    turn(g, 1, 3, addr);
    return turned(g, g->o.items);
}

static void producer_answers(const struct trod_gen *g, struct trod_result *r)
{
    const uint64_t n = g->o.items, lines = n < g->o.lines ? n : g->o.lines;

    trod_result_u64(r, "loads", n);
    trod_result_u64(r, "stores", n);
    both(r, n);
    trod_result_u64(r, "data_lines", lines);
    trod_result_u64(r, "lines_shared", lines);
    trod_result_u64(r, "transfers_to_the_consumer", n);
    trod_result_u64(r, "copies_invalidated", n - lines);
}

static const struct trod_option producer_options[] = {
    {"items", 0, TROD_OPT_U64, AT(items), "N", "lines produced and consumed (10,000)", NULL, NULL},
    {"lines", 0, TROD_OPT_U64, AT(lines), "N", "of the ring (16)", NULL, NULL},
    {"line", 0, TROD_OPT_BYTES, AT(line), "BYTES", "from one line to the next (64)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_producer = {
    .pattern = {"producer", "one thread stores lines of a ring, another loads each of them",
                producer_options},
    .streams = 2,
    .defaults = {.items = 10000, .lines = 16, .line = 64},
    .begin = producer_begin,
    .step = producer_step,
    .answers = producer_answers,
};

/* ---- sharing: two threads store to words of their own that lie in one line */

static int sharing_begin(struct trod_gen *g, struct trod_diag *diag)
{
    if (g->o.line < 2 * (uint64_t)g->word)
        return trod_error(diag, TROD_ERR_USAGE, "gen.line", NULL,
                          "a line of %llu bytes has no two words of %u",
                          (unsigned long long)g->o.line, g->word);
    return two_loops(g, GEN_STORE);
}

static bool sharing_step(struct trod_gen *g)
{
    turn(g, 0, 0, GEN_DATA);
    turn(g, 1, 3, GEN_DATA + g->word);
    return turned(g, g->o.count);
}

static void sharing_answers(const struct trod_gen *g, struct trod_result *r)
{
    const uint64_t n = g->o.count;

    trod_result_u64(r, "loads", 0);
    trod_result_u64(r, "stores", 2 * n);
    both(r, n);
    trod_result_u64(r, "data_bytes", 2 * (uint64_t)g->word);
    trod_result_u64(r, "data_lines", 1);
    trod_result_u64(r, "lines_falsely_shared", 1);
    trod_result_u64(r, "invalidations", 2 * n - 1);
}

static const struct trod_option sharing_options[] = {
    {"count", 0, TROD_OPT_U64, AT(count), "N", "stores of each thread (10,000)", NULL, NULL},
    {"line", 0, TROD_OPT_BYTES, AT(line), "BYTES", "what the answers call a line (64)", NULL, NULL},
    {.type = TROD_OPT_END},
};

const struct gen_desc gen_pattern_sharing = {
    .pattern = {"sharing", "two threads store to different words of one line: false sharing",
                sharing_options},
    .streams = 2,
    .defaults = {.count = 10000, .line = 64},
    .begin = sharing_begin,
    .step = sharing_step,
    .answers = sharing_answers,
};
