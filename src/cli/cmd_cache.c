/*
 * cmd_cache.c - `trod cache`: caches and TLBs simulated over a trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse.h"
#include "misses.h"
#include "start.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_index index;
    struct cli_report report;
    struct trod_cache_options cache;
    struct trod_match_options filter;
    bool presets;
    const char *warmup, *windows;
    const char *misses, *to;
};

static const char *const likes[] = {"trod",       "drcachesim", "dinero",
                                    "cachegrind", "callgrind",  NULL};
enum { TOP = 20 }; /* rows of tables */

static const struct trod_option options[] = {
    CLI_SHARED(cache, NULL, trod_cache_option_table),
    {"presets", 0, TROD_OPT_BOOL, offsetof(struct options, presets), NULL,
     "list the presets and end", NULL, NULL},
    {"misses", 0, TROD_OPT_STR, offsetof(struct options, misses), "OUT",
     "write what goes to memory, misses and lines written back, as a trace, for further levels",
     NULL, NULL},
    {"to", 'T', TROD_OPT_STR, offsetof(struct options, to), "FORMAT[:OPT=VALUE,...]",
     "format of --misses (default: by its suffix); see trod formats", NULL, NULL},
    {"plot", 0, TROD_OPT_BOOL, offsetof(struct options, cache.plot), NULL,
     "draw the curves of a sweep, in text output", NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, offsetof(struct options, cache.like), "TOOL",
     "rules, statistics and layout of that tool: trod (its own, the default), drcachesim "
     "(DynamoRIO's cache and TLB simulators and miss analyzer), dinero (Dinero IV), cachegrind or "
     "callgrind (Valgrind)",
     likes, NULL},
    {"with", 0, TROD_OPT_STR, offsetof(struct options, cache.with), "OPTIONS",
     "options in the words of that tool, in one string: '-L1D_size 16K -config_file x.conf', "
     "'-l1-usize 8K -l1-ubsize 32', '--D1=32768,8,64'",
     NULL, NULL},
    {"warmup", 0, TROD_OPT_STR, offsetof(struct options, warmup), "N",
     "the first N instructions, with rows:N so many rows, or with full all until the last "
     "caches are full, fill the caches and are not counted",
     NULL, NULL},
    {"windows", 0, TROD_OPT_STR, offsetof(struct options, windows), "EVERY,WARM,COUNT",
     "of each EVERY instructions the last COUNT are counted, the WARM before them fill the caches, "
     "others are not simulated",
     NULL, NULL},
    CLI_REPORT_OPTIONS,
    CLI_SHARED(filter, "Choosing rows", trod_match_option_table),
    CLI_INPUT_OPTIONS,
    CLI_WHICH_INDEX,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.input = {.order = -1}, .cache = {.top = TOP}};

/* One run of the command. */
struct running {
    struct cli *c;
    const struct options *o;
    struct trod_match *match;
    struct trod_run *run;
    struct trod_cache_options cache; /* as given, and of two passes */
    bool skipped;                    /* of skip and warm-up what is not read was taken off */
    bool begun;                      /* reading begins inside the trace */
    struct cli_progress progress;
    struct cli_misses misses;
    struct trod_diag diag;
};

static int filter(void *user, struct trod_batch *b)
{
    struct running *k = user;
    const int r = trod_match_batch(k->match, b);

    if (r < 0)
        return r;
    trod_batch_keep(b, trod_match_keep(k->match));
    return !trod_match_done(k->match);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    struct running *k = user;

    cli_progress_show(&k->progress, p);
}

/* What is skipped need not be read: only the number of its instructions matters. */
static void skip_to(const struct running *k, struct cli_start *s)
{
    const struct trod_cache_options *c = &k->o->cache;

    /* blocks of data are made and released in it */
    if (c->skip && c->like == TROD_CACHE_OWN && c->by < TROD_CACHE_BY_DATA &&
        trod_match_all(k->match))
        s->executed = (struct trod_range){true, c->skip + 1, UINT64_MAX};
    s->placed = true;
}

/* Reading begins by S: what lies before it needs not be skipped any more. */
static void skipped(struct running *k, const struct cli_start *s)
{
    struct trod_cache_options *c = &k->cache;

    if (!s->executed.set || k->skipped)
        return;
    c->skip -= s->before;
    c->warm -= c->warm ? s->before : 0;
    c->warm_rows -= c->warm_rows < s->first ? c->warm_rows : s->first;
    k->skipped = true;
}

/* Problems go to DIAG. */
static int open_run(struct running *k, struct trod_diag *diag)
{
    const struct options *o = k->o;
    struct trod_run_options opt = {
        .jobs = cli_jobs(&o->input),
        .progress = progress,
        .user = k,
        .stop = cli_stop(),
    };
    struct cli_start start = {.input = &o->input,
                              .index = &o->index,
                              .paths = k->c->operands,
                              .n = k->c->n_operands,
                              .filter = &o->filter,
                              .owners = true};
    enum trod_order order;
    uint32_t cores;
    /* of data there is more than symbols know: heap blocks, stacks */
    const bool needs = o->cache.by >= TROD_CACHE_BY_FUNCTION && o->cache.by < TROD_CACHE_BY_DATA;
    int r = o->cache.by >= TROD_CACHE_BY_FUNCTION
                ? cli_match_named(&k->match, k->c, &o->input, &o->filter, diag)
                : trod_match_new(&k->match, &o->filter, diag);

    if (r == 0 && needs && !trod_match_symbols(k->match))
        r = trod_error(diag, TROD_ERR_USAGE, "usage", NULL,
                       "--by function, module and source need the program: say --symbols");

    if (r == 0)
        r = trod_cache_order(&o->cache, &order, &cores, diag);
    if (r < 0)
        return r;
    opt.symbols = trod_match_symbols(k->match);
    start.match = k->match;
    opt.trace = cli_trace_options(&o->input, TROD_COL_KIND | trod_match_want(k->match));
    if (!opt.trace.cores)
        opt.trace.cores = cores;
    if (o->input.order < 0)
        opt.trace.order = order;
    if (!trod_match_all(k->match))
        opt.filter = filter;
    skip_to(k, &start);
    k->begun = cli_start(&start, &opt.trace, diag);
    if (k->begun)
        skipped(k, &start);
    r = trod_run_open(&k->run, k->c->operands, k->c->n_operands, &opt, diag);
    cli_start_end(&start);
    if (r == 0)
        r = trod_run_add(k->run, &trod_analysis_cache, &k->cache);
    return r < 0 ? r : 0;
}

static int at_once(struct trod_diag *diag, const char *path)
{
    return trod_error(diag, TROD_ERR_USAGE, "usage", NULL, "'%s' is input and output at once",
                      path);
}

/* The head of a trace of misses says what was known when the trace began. */
static int begin_misses(struct running *k)
{
    const struct trod_trace_options topt = cli_trace_options(&k->o->input, TROD_COL_KIND);
    struct trod_trace *whole = NULL;
    const struct trod_trace *trace;
    struct trod_diag quiet;
    int r = 0;

    trod_diag_init(&quiet, NULL, NULL);
    if (k->begun)
        r = trod_trace_open(&whole, k->c->operands, k->c->n_operands, &topt, &quiet);
    trace = whole ? whole : trod_run_trace(k->run);
    if (r == 0)
        r = cli_misses_begin(&k->misses, k->o->misses, k->o->to, trod_trace_meta(trace), &k->diag);
    trod_trace_close(whole);
    return r;
}

/* The text of another tool. */
static int layout(const struct running *k)
{
    const char *path = k->o->report.output ? k->o->report.output : "-";
    struct trod_diag *diag = &k->c->diag;
    const void *state =
        trod_run_state(k->run, 0); /* NULL: it could not be made, already reported */
    struct trod_buf text = {0};
    struct trod_output *out;
    int r = state ? trod_analysis_cache.layout(state, &text) : TROD_ERR_IO;

    r = r < 0 ? r : 0;
    if (k->o->cache.plot && !cli_unicode())
        trod_plot_ascii(&text);
    if (r == 0)
        r = trod_output_create(&out, path, NULL, diag);
    if (r == 0) {
        r = trod_output_write(out, text.p, text.n);
        if (r == 0)
            r = trod_output_commit(out);
        else
            trod_output_discard(out);
    }
    trod_buf_fini(&text);
    return r;
}

static int report(struct running *k)
{
    struct cli_out out;
    int r = cli_report_begin(&out, k->c, &k->o->report), end;

    if (r != 0)
        return r;
    if (k->o->report.format != TROD_EMIT_TEXT)
        cli_run_emit_trace(k->c, k->run, &k->diag, out.emit);
    r = cli_run_emit(k->run, 0, out.emit);
    end = cli_report_end(&out);
    return r < 0 ? r : end;
}

static int list_presets(const struct running *k)
{
    static const char *const columns[] = {"preset", "machine"};
    const char *name, *title;
    struct cli_out out;
    int r = cli_report_begin(&out, k->c, &k->o->report);

    if (r != 0)
        return r;
    trod_emit_table(out.emit, "presets", NULL, columns, 2);
    for (size_t i = 0; (name = trod_cache_preset(i, &title)); i++) {
        trod_emit_str(out.emit, NULL, name);
        trod_emit_str(out.emit, NULL, title);
        trod_emit_row_end(out.emit);
    }
    trod_emit_table_close(out.emit);
    return cli_report_end(&out);
}

/* Is PATH the file that ITEM, "PATH" or "PATH@ADDRESS", names? */
static bool is_symbols(const char *path, const char *item)
{
    const char *at = strrchr(item, '@');
    char *name = at ? strndup(item, (size_t)(at - item)) : NULL;
    const bool is = trod_same_file(item, path) || (name && trod_same_file(name, path));

    free(name);
    return is;
}

/* Is PATH read, besides the trace? */
static bool is_read(const struct options *o, const char *path)
{
    const char *const others[] = {o->cache.config, o->filter.modules, o->input.modules,
                                  o->index.index};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] && trod_same_file(others[i], path))
            return true;
    for (size_t i = 0; i < o->filter.symbols.n; i++)
        if (is_symbols(path, o->filter.symbols.item[i]))
            return true;
    return false;
}

/* What --misses writes is neither an input nor the result. */
static int check_misses(const struct running *k)
{
    const char *path = k->o->misses, *result = k->o->report.output ? k->o->report.output : "-";

    if (trod_same_file(path, result) || (strcmp(path, "-") == 0 && strcmp(result, "-") == 0))
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--misses and the result both go to '%s': say another file with -o",
                          path);
    if (cli_not_input(k->c, path, &k->c->diag) < 0)
        return TROD_ERR_USAGE;
    return is_read(k->o, path) ? at_once(&k->c->diag, path) : 0;
}

/* What was asked for that does not go together. */
static int check(const struct running *k)
{
    const struct options *o = k->o;
    const bool own = o->cache.like == TROD_CACHE_OWN;

    if (own && o->cache.with)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--with has the options of another tool: say --like");
    if (!own && (o->cache.config || o->cache.preset || o->cache.sweep || o->cache.by ||
                 o->cache.classify || o->cache.sharing || o->cache.interval || o->cache.physical ||
                 o->cache.skip || o->warmup || o->windows || o->misses))
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--like takes the tool's own options only: see --with");
    if (!own && o->report.format != TROD_EMIT_TEXT)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--like prints the tool's own text: no --format");
    if (o->cache.config && o->cache.preset)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--config and --preset exclude each other");
    if (o->cache.sweep && (o->cache.physical || o->cache.config || o->cache.preset || o->cache.by ||
                           o->cache.classify || o->cache.sharing || o->cache.interval || o->misses))
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--sweep counts the misses of single caches by virtual addresses: of the "
                          "other options --warmup and --plot go with it");
    if (o->to && !o->misses)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--to is the format of --misses");
    if (o->windows && o->cache.interval)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL,
                          "--windows and --interval have one table between them: say one of both");
    if (cli_not_input(k->c, o->report.output, &k->c->diag) < 0 ||
        (o->misses && check_misses(k) < 0))
        return TROD_ERR_USAGE;
    if (o->cache.plot && !o->cache.sweep)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL, "--plot needs --sweep");
    if (k->c->n_operands == 0 && !o->presets)
        return trod_error(&k->c->diag, TROD_ERR_USAGE, "usage", NULL, "a FILE is missing");
    return 0;
}

/* What --warmup and --windows say. */
static int read_phases(struct running *k)
{
    const char *warmup = k->o->warmup, *windows = k->o->windows;
    struct trod_cache_options *c = &k->cache;
    int r = 0;

    if (warmup && strcmp(warmup, "full") == 0)
        c->warm_full = true;
    else if (warmup && strncmp(warmup, "rows:", 5) == 0)
        r = trod_option_number(warmup + 5, &c->warm_rows);
    else if (warmup && (r = trod_option_number(warmup, &c->warm)) == 0 && c->warm)
        c->warm = c->warm < UINT64_MAX - c->skip ? c->warm + c->skip : UINT64_MAX;
    if (r < 0)
        return trod_error(&k->diag, r, "args.warmup", NULL,
                          "option '--warmup': '%s' is neither a number, rows:N nor full", warmup);
    if (windows) {
        char text[128], *rest = NULL, *every, *warm, *count;

        snprintf(text, sizeof text, "%s", windows);
        every = strtok_r(text, ",", &rest);
        warm = strtok_r(NULL, ",", &rest);
        count = strtok_r(NULL, ",", &rest);
        if (!count || strtok_r(NULL, ",", &rest) || strlen(windows) >= sizeof text ||
            trod_option_number(every, &c->window_every) < 0 ||
            trod_option_number(warm, &c->window_warm) < 0 ||
            trod_option_number(count, &c->window) < 0 || c->window_every == 0)
            return trod_error(&k->diag, TROD_ERR_USAGE, "args.windows", NULL,
                              "option '--windows': '%s' is not EVERY,WARM,COUNT", windows);
        if (warmup)
            return trod_error(&k->diag, TROD_ERR_USAGE, "args.windows", NULL,
                              "--windows has its own warm-up: no --warmup");
    }
    c->width = cli_width(1);
    return 0;
}

/* Can all files be read twice? */
static int check_twice(const struct running *k)
{
    for (size_t i = 0; i < k->c->n_operands; i++) {
        const char *path = k->c->operands[i];

        if (cli_once_only(path))
            return trod_error(&k->c->diag, TROD_ERR_USAGE, "cache.future", NULL,
                              "policy opt reads the trace twice: '%s' must be a file, not a pipe",
                              path);
    }
    return 0;
}

static int go(struct running *k, struct trod_diag *diag)
{
    const int read = cli_run_go(k->c, k->run, &k->progress, diag);

    if (read >= 0)
        trod_match_explain(k->match, trod_trace_meta(trod_run_trace(k->run)), diag);
    return read;
}

static void unheard(void *user, const struct trod_problem *p)
{
    (void)user;
    (void)p;
}

/*
 * The first of two passes, where the policy asks for two. What it would complain about the second
 * one does.
 */
static int look_ahead(struct running *k)
{
    int r = trod_cache_future_new(&k->cache.future, &k->cache, &k->diag);
    struct trod_diag silent;

    if (r < 0 || !k->cache.future)
        return r;
    r = check_twice(k);
    trod_diag_init(&silent, unheard, NULL);
    silent.strict = k->diag.strict;
    if (r == 0 && open_run(k, &silent) == 0) {
        if (go(k, &silent) == TROD_ERR_NOMEM)
            r = TROD_ERR_NOMEM;
        else if (trod_run_stopped(k->run))
            r = trod_error(&k->diag, TROD_ERR_TRUNCATED, "run.interrupted", NULL,
                           "interrupted in the first of two passes: there are no results");
    }
    if (r < 0)
        return r;
    trod_run_free(k->run);
    trod_match_free(k->match);
    k->run = NULL;
    k->match = NULL;
    return trod_cache_future_turn(k->cache.future, &k->diag);
}

static int work(struct running *k)
{
    const bool text = k->o->report.format == TROD_EMIT_TEXT;
    int r = check(k), read = 0;

    if (r < 0 || k->o->presets)
        return r < 0 ? r : list_presets(k);
    r = read_phases(k);
    if (r == 0)
        r = look_ahead(k);
    if (r == 0 && k->o->misses) {
        k->cache.memory = cli_misses_put;
        k->cache.memory_user = &k->misses;
    }
    if (r == 0)
        r = open_run(k, &k->diag);
    if (r == 0 && k->o->misses)
        r = begin_misses(k);
    if (r < 0) {
        cli_misses_end(&k->misses, k->c, false, &k->diag);
        return r;
    }
    read = go(k, &k->diag);
    if (k->o->misses && trod_run_stopped(k->run))
        trod_warning(&k->diag, TROD_ERR_TRUNCATED, "run.interrupted", NULL,
                     "interrupted: '%s' was not written", k->o->misses);
    r = cli_misses_end(
        &k->misses, k->c,
        read != TROD_ERR_NOMEM && read != TROD_ERR_USAGE && !trod_run_stopped(k->run), &k->diag);
    if (read == TROD_ERR_NOMEM || read == TROD_ERR_USAGE || r < 0)
        return r < 0 ? r : read;
    /* what could be read of a damaged trace has results, too */
    r = k->o->cache.like == TROD_CACHE_OWN && !(k->o->cache.plot && text) ? report(k) : layout(k);
    return read < 0 ? read : r;
}

static int run(struct cli *c, const void *opt)
{
    struct running k = {.c = c, .o = opt};
    int r;

    k.cache = k.o->cache;
    k.cache.result = k.o->report.output;
    cli_diag_init(c, &k.diag);
    k.diag.strict = k.o->input.strict;
    r = work(&k);
    if (r == TROD_ERR_NOMEM)
        trod_error(&k.diag, r, "cache.memory", NULL, "out of memory");
    if (r < 0)
        c->trouble = true;
    r = cli_diag_end(c, &k.diag);
    trod_run_free(k.run);
    trod_match_free(k.match);
    trod_cache_future_free(k.cache.future);
    return c->trouble ? CLI_TROUBLE : r;
}

const struct cli_command cli_command_cache = {
    .name = "cache",
    .title = "simulate caches and TLBs: hits, misses and their causes",
    .operands = "FILE...",
    .about =
        "Simulate a hierarchy of caches over the references of a trace: hits and misses, why "
        "lines were missing, traffic, write-backs, prefetches, invalidations between cores; by "
        "cache and TLB, and on request by instruction, function, page, line or thread, over time, "
        "and "
        "for lines that threads share. The hierarchy is a preset or a configuration file; "
        "a cache with policy=opt has the trace read twice. "
        "--sweep gives the misses of caches of many sizes, ways, lines and policies in one pass. "
        "With --like the rules, the layout and the numbers are those of another tool, which "
        "--with gives options in its own words. Threads of a trace run on the cores of the "
        "hierarchy, in the order of their time stamps where there are several cores; --order "
        "overrides this. With -j several threads simulate, and the numbers are the same: each has "
        "some of the sets, where sets have nothing to do with each other at any level (powers of "
        "two; no prefetch, victims, TLBs, physical addresses, --classify, --warmup full, nor the "
        "policies random, brrip, drrip and opt; with fewer than four threads only plain "
        "hierarchies, as the default one); of a sweep each has some of the caches where it "
        "is not so. All else is simulated by one thread while another one decodes.",
    .examples = "  trod cache --preset i7-6700 --classify app.zip\n"
                "  trod cache --config mine.conf --by instruction --symbols ./prog app.zip\n"
                "  trod cache --config first.conf --misses l1.csv.gz app.zip\n"
                "  trod cache --sweep size=4K..8M,ways=1..16 --format csv app.zip\n"
                "  trod cache --sweep size=4K..1M,ways=4,policy=lru+fifo+random --plot app.zip\n"
                "  trod cache --like drcachesim --with '-no_core_sharded -LL_size 1M' dir\n"
                "  trod cache --like dinero --with '-l1-usize 8K -l1-ubsize 32' run.tarmac\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
    .alone = "'trod cache' needs all rows in order, which one process reads",
};
