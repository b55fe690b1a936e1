/*
 * cmd_flame.c - `trod flame`: folded stacks and flame graphs, of one trace or of two.
 *
 * The analysis "flame" does the counting. Of two traces each is a run of its own; what they found
 * is put side by side here (trod/flame.h).
 */
#include <stdlib.h>
#include <string.h>

#include "analyse.h"
#include "ranks.h"

struct options {
    struct cli_analyse analyse;
    const char *weight, *against, *exceptions, *like, *title;
    bool reverse, svg, no_offsets, normalize;
};

#define AT(field) offsetof(struct options, field)

static const struct trod_option options[] = {
    {"weight", 0, TROD_OPT_STR, AT(weight), "WHAT",
     "what is counted: instructions (the default), time, or one of what profile --weight takes: "
     "rows, loads, stores, bytes, misses, a column, cache.LEVEL, "
     "branches.PREDICTOR, deps.stalls, deps.cycles",
     NULL, NULL},
    {"reverse", 0, TROD_OPT_BOOL, AT(reverse), NULL,
     "the innermost function first: who calls what costs", NULL, NULL},
    {"exceptions", 0, TROD_OPT_STR, AT(exceptions), "WHERE",
     "handlers stand for themselves (apart, the default), or on what they interrupted (inline)",
     NULL, NULL},
    {"svg", 0, TROD_OPT_BOOL, AT(svg), NULL,
     "a picture that needs nothing but a browser, instead of text", NULL, NULL},
    {"title", 0, TROD_OPT_STR, AT(title), "TEXT", "of the picture", NULL, NULL},
    {"against", 0, TROD_OPT_STR, AT(against), "TRACE",
     "compare with this trace: two counts for each stack, and in the picture red for more and blue "
     "for less",
     NULL, NULL},
    {"normalize", 0, TROD_OPT_BOOL, AT(normalize), NULL,
     "with --against: scale the counts of FILE so that both traces cost the same", NULL, NULL},
    {"like", 0, TROD_OPT_STR, AT(like), "TOOL",
     "print as that tool does: tarmac (Arm's tarmac-flamegraph)", NULL, NULL},
    {"no-offsets", 0, TROD_OPT_BOOL, AT(no_offsets), NULL,
     "with --like tarmac: only names of functions", NULL, NULL},
    CLI_ANALYSE_OPTIONS,
    CLI_SHARED(analyse.common, "General", cli_common_options),
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.analyse.input.order = -1};

/* What one run found. */
struct found {
    struct trod_flame *flame;
    unsigned side, came; /* which trace; how many of them could be read */
    int rc;
};

/* ---- options of the analysis */

static int set(const struct trod_analysis *a, void *to, const char *key, const char *value,
               struct trod_diag *diag)
{
    char copy[64];

    if (!value)
        return 0;
    if (strlen(value) >= sizeof copy)
        return trod_error(diag, TROD_ERR_USAGE, "args.value", NULL, "option '--%s': '%s' is none",
                          key, value);
    memcpy(copy, value, strlen(value) + 1);
    return trod_option_set(a->options, to, key, copy, diag);
}

/* The weight, whose text lies behind the options. */
static int set_weight(const struct trod_analysis *a, void *to, const char *weight,
                      struct trod_diag *diag)
{
    char *text = (char *)to + a->options_size;

    if (!weight)
        return 0;
    memcpy(text, weight, strlen(weight) + 1);
    return trod_option_set(a->options, to, "weight", text, diag);
}

/* Options of A as O says them; NULL: reported. Release with free. */
static void *own_options(const struct trod_analysis *a, const struct options *o,
                         struct trod_diag *diag)
{
    void *to = malloc(a->options_size + (o->weight ? strlen(o->weight) : 0) + 1);
    int r;

    if (!to) {
        trod_error(diag, TROD_ERR_NOMEM, "run.memory", NULL, "out of memory");
        return NULL;
    }
    memcpy(to, a->defaults, a->options_size);
    r = set_weight(a, to, o->weight, diag);
    if (r == 0)
        r = set(a, to, "exceptions", o->exceptions, diag);
    if (r == 0)
        r = set(a, to, "like", o->like, diag);
    if (r == 0 && o->reverse)
        r = trod_option_set(a->options, to, "reverse", NULL, diag);
    if (r == 0 && o->svg)
        r = trod_option_set(a->options, to, "svg", NULL, diag);
    if (r == 0 && o->no_offsets)
        r = trod_option_set(a->options, to, "no-offsets", NULL, diag);
    if (r != 0) {
        free(to);
        to = NULL;
    }
    return to;
}

/* ---- two traces */

static int take(void *user, const struct trod_run *run, const struct trod_diag *diag, int rc)
{
    struct found *k = user;
    struct trod_result *r = NULL;

    (void)diag;
    k->came++;
    k->rc = rc == TROD_ERR_NOMEM || rc == TROD_ERR_USAGE || rc == TROD_ERR_UNSUPPORTED ? rc : 0;
    if (k->rc == 0)
        k->rc = trod_result_new(&r);
    if (k->rc == 0)
        k->rc = trod_run_result(run, 0, r);
    if (k->rc == 0)
        k->rc = trod_flame_add_result(k->flame, r, k->side);
    trod_result_free(r);
    return k->rc;
}

static int put_row(void *user, const char *stack, size_t n, const uint64_t count[2])
{
    struct trod_emit *e = user;

    trod_emit_strn(e, NULL, stack, n);
    trod_emit_u64(e, NULL, count[0]);
    trod_emit_u64(e, NULL, count[1]);
    trod_emit_row_end(e);
    return 0;
}

static int put_table(const struct trod_flame *f, struct trod_emit *e)
{
    static const char *const columns[] = {"stack", "first", "second"};
    int r;

    trod_emit_u64(e, "first", trod_flame_total(f, 0));
    trod_emit_u64(e, "second", trod_flame_total(f, 1));
    trod_emit_table(e, "stacks", "stacks", columns, 3);
    r = trod_flame_each(f, put_row, e);
    trod_emit_table_close(e);
    return r;
}

static int put_text(void *user, const uint8_t *p, size_t n)
{
    const struct cli_out *out = user;

    fwrite(p, 1, n, out->file);
    return 0;
}

/* What F holds, as O says. */
static int tell(struct cli *c, const struct options *o, const struct trod_flame *f)
{
    const struct trod_flame_options opt = {.struct_size = sizeof opt,
                                           .both = o->against != NULL,
                                           .normalize = o->normalize,
                                           .title = o->title,
                                           .unit = o->weight};
    struct cli_out out;
    struct trod_buf text = {.drain = put_text, .user = &out};
    int r = cli_report_begin(&out, c, &o->analyse.report), end;

    if (r != 0)
        return r;
    if (o->analyse.report.format != TROD_EMIT_TEXT)
        r = put_table(f, out.emit);
    else
        r = o->svg ? trod_flame_svg(f, &opt, &text) : trod_flame_folded(f, &opt, &text);
    if (r == 0 && text.n)
        fwrite(text.p, 1, text.n, out.file);
    trod_buf_fini(&text);
    end = cli_report_end(&out);
    return r < 0 ? r : end;
}

/* The runs of the traces, and both together. */
static int compare(struct cli *c, const struct options *o, const struct cli_planned *plan)
{
    struct found found = {.side = 0};
    const struct cli_share share = {.found = take, .user = &found};
    const struct cli_parts parts = {.share = &share};
    const char *const *operands = c->operands;
    const size_t n = c->n_operands;
    int r, status;

    if (trod_flame_new(&found.flame) < 0)
        return CLI_TROUBLE;
    status = cli_analyse(c, &o->analyse, plan, 1, &parts);
    r = found.rc;
    if (r == 0 && o->against) {
        found.side = 1;
        c->operands = &o->against;
        c->n_operands = 1;
        if (cli_analyse(c, &o->analyse, plan, 1, &parts) != CLI_YES)
            status = CLI_TROUBLE;
        r = found.rc;
        c->operands = operands;
        c->n_operands = n;
    }
    if (r == 0 &&
        found.came == (o->against ? 2 : 1)) /* one that cannot be opened is no empty one */
        r = tell(c, o, found.flame);
    if (r == TROD_ERR_NOMEM)
        trod_error(&c->diag, r, "run.memory", NULL, "out of memory");
    trod_flame_free(found.flame);
    return r < 0 ? CLI_TROUBLE : status;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct cli_planned plan = {.analysis = trod_analysis_find("flame", 5)};
    void *own = own_options(plan.analysis, o, &c->diag);
    int r;

    if (!own)
        return CLI_TROUBLE;
    plan.options = own;
    if (o->normalize && !o->against) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.flame", NULL,
                   "option '--normalize' goes with '--against'");
        r = CLI_TROUBLE;
    } else if ((o->against || o->title || o->svg || o->reverse) && o->like) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.flame", NULL,
                   "option '--like' goes with none of '--against', '--title', '--svg' and "
                   "'--reverse'");
        r = CLI_TROUBLE;
    } else if (o->title && !o->svg) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.flame", NULL,
                   "option '--title' goes with '--svg'");
        r = CLI_TROUBLE;
    } else if ((o->against || o->title) && cli_ranks()) {
        r = cli_ranks_refuse(c, "options '--against' and '--title' are for one process");
    } else if (o->against || o->title) {
        r = compare(c, o, &plan);
    } else {
        r = cli_analyse(c, &o->analyse, &plan, 1, NULL);
    }
    free(own);
    return r;
}

const struct cli_command cli_command_flame = {
    .name = "flame",
    .title = "stacks of functions and what they cost, folded or as a flame graph",
    .operands = "FILE...",
    .about =
        "Follow calls and returns of each thread or cpu and print each stack of functions with "
        "what the innermost one cost by itself: a line a stack, as flame graph programs read it, "
        "or (--svg) the flame graph itself, which zooms and searches in a browser. With --against "
        "two traces are compared. Threads are put together; names come from --symbols, which say "
        "what is a call, too: an index is of use then if it was made with the same ones "
        "(trod index --symbols), or if options choose rows.",
    .examples = "  trod flame --symbols app@0x555555554000 app.trace.zip > app.folded\n"
                "  trod flame --svg -o app.svg app.trace.zip\n"
                "  trod flame --svg --normalize --against new.trace.zip old.trace.zip > diff.svg\n"
                "  trod flame --weight misses --reverse app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
