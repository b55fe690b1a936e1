/*
 * cmd_cache.c - `trod cache`: caches and TLBs simulated over a trace.
 */
#include <string.h>

#include "cli.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    int like;
    const char *with, *output;
};

static const char *const likes[] = {"drcachesim", "dinero", "cachegrind", "callgrind", NULL};

static const struct trod_option options[] = {
    {"like", 0, TROD_OPT_ENUM, offsetof(struct options, like), "TOOL",
     "rules, statistics and layout of that tool: drcachesim (DynamoRIO's cache and TLB simulators "
     "and miss analyzer, the default), dinero (Dinero IV), cachegrind or callgrind (Valgrind)",
     likes, NULL},
    {"with", 0, TROD_OPT_STR, offsetof(struct options, with), "OPTIONS",
     "options in the words of that tool, in one string: '-L1D_size 16K -config_file x.conf', "
     "'-l1-usize 8K -l1-ubsize 32', '--D1=32768,8,64'",
     NULL, NULL},
    {"output", 'o', TROD_OPT_STR, offsetof(struct options, output), "FILE",
     "write the result to FILE, which appears when it is complete", NULL, NULL},
    CLI_INPUT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.input = {.order = -1}};

/* Feed all rows of the operands to SIM. */
static int simulate(struct cli *c, const struct options *o, struct trod_cache *sim,
                    struct trod_diag *diag)
{
    struct trod_trace_options opt = cli_trace_options(&o->input, trod_cache_want(sim));
    struct cli_progress progress;
    struct trod_trace *t;
    struct trod_batch *b;
    enum trod_order order;
    uint64_t rows = 0;
    int r;

    trod_cache_order(sim, &order, &opt.cores);
    if (o->input.order < 0)
        opt.order = order;
    r = trod_trace_open(&t, c->operands, c->n_operands, &opt, diag);
    if (r < 0)
        return r;
    cli_progress_begin(&progress, c);
    while ((r = trod_trace_next(t, &b)) > 0) {
        rows += b->n;
        cli_progress_tick(&progress, t, rows);
        if ((r = trod_cache_feed(sim, b, 0, b->n)) <= 0)
            break;
    }
    cli_progress_end(&progress);
    trod_trace_close(t);
    return r;
}

static int deliver(const struct options *o, const struct trod_buf *text, struct trod_diag *diag)
{
    struct trod_output *out;
    int r = trod_output_create(&out, o->output ? o->output : "-", NULL, diag);

    if (r < 0)
        return r;
    r = trod_output_write(out, text->p, text->n);
    if (r == 0)
        return trod_output_commit(out);
    trod_output_discard(out);
    return r;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    const struct trod_cache_options cache = {o->like, o->with};
    struct trod_cache *sim = NULL;
    struct trod_buf text = {0};
    struct trod_diag diag;
    int r;

    cli_diag_init(c, &diag);
    diag.strict = o->input.strict;
    r = trod_cache_new(&sim, &cache, &diag);
    if (r == 0) {
        const int read = simulate(c, o, sim, &diag);

        /* what could be read of a damaged trace is told as well */
        r = read == TROD_ERR_NOMEM || read == TROD_ERR_USAGE ? read : trod_cache_layout(sim, &text);
        if (r == 0)
            r = deliver(o, &text, &diag);
        r = read < 0 ? read : r;
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&diag, r, "cache.memory", NULL, "out of memory");
    if (r < 0)
        c->trouble = true;
    r = cli_diag_end(c, &diag);
    trod_cache_free(sim);
    trod_buf_fini(&text);
    return c->trouble ? CLI_TROUBLE : r;
}

const struct cli_command cli_command_cache = {
    .name = "cache",
    .title = "simulate caches and TLBs as DynamoRIO, Dinero IV and Valgrind do",
    .operands = "FILE...",
    .about =
        "Simulate caches or TLBs over the references of a trace, by the rules of another tool, "
        "and print what that tool prints: the same numbers in the same layout. --like names "
        "the tool, --with gives it options in its own words, configuration files included. "
        "DynamoRIO's simulators schedule the threads of a trace onto four cores unless "
        "-no_core_sharded is among the options; then threads take cores in the order of their "
        "time stamps. The other tools see the files one after the other. --order overrides "
        "this.",
    .examples = "  trod cache drmemtrace.app.1234.5678.dir\n"
                "  trod cache --with '-no_core_sharded -L1D_size 16K -LL_size 1M' dir\n"
                "  trod cache --like dinero --with '-l1-usize 8K -l1-ubsize 32' run.tarmac\n"
                "  trod cache --like cachegrind --with '--D1=32768,8,64' trace.zip\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
