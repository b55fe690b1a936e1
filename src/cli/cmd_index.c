/*
 * cmd_index.c - `trod index`: make indexes of traces, and say what is in them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_report report;
    struct trod_list symbols;
    const char *index;
    bool info, again, upgrade, together;
};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "What"},
    {"index", 0, TROD_OPT_STR, offsetof(struct options, index), "DIR",
     "folder for the index (default: that of the trace; the user's cache where nobody may write "
     "there)",
     NULL, NULL},
    {"info", 'i', TROD_OPT_BOOL, offsetof(struct options, info), NULL,
     "make nothing: say what is in the index that is there", NULL, NULL},
    {"again", 0, TROD_OPT_BOOL, offsetof(struct options, again), NULL,
     "make it also where one is there that fits", NULL, NULL},
    {"upgrade", 0, TROD_OPT_BOOL, offsetof(struct options, upgrade), NULL,
     "only bring those up to date that are there; where the trace has grown they are continued",
     NULL, NULL},
    {"together", 't', TROD_OPT_BOOL, offsetof(struct options, together), NULL,
     "one index of all FILEs: they are one trace, as state, who and view take them", NULL, NULL},
    {"symbols", 'S', TROD_OPT_LIST, offsetof(struct options, symbols), "ELF[@ADDRESS],...",
     "calls are kept as the functions of these files make them, too: what calls, profile and flame "
     "ask with the same files (default: those of the list of modules beside the trace, or of "
     "--modules)",
     NULL, NULL},
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

enum { PATH = 8192 };

static void progress(void *user, const struct trod_trace_progress *p)
{
    cli_progress_show(user, p);
}

static int count_stacks(void *user, const struct trod_call_sum *at, size_t n, bool timed)
{
    (void)at, (void)timed;
    *(uint64_t *)user = n - 1; /* number 0 is none */
    return 0;
}

/* Stacks by which calls are summed up in the index of NAV. */
static uint64_t stacks_of(struct trod_nav *nav)
{
    struct trod_callstack_counts counts;
    uint64_t n = 0;

    return trod_nav_call_sums(nav, count_stacks, &n, &counts) == 0 ? n : 0;
}

static void tell_index(struct trod_emit *e, struct trod_nav *nav, const struct trod_index_info *x)
{
    uint64_t rest, named;
    const uint64_t shapes = trod_index_shapes(nav, &rest);

    trod_emit_str(e, "index", trod_nav_index(nav));
    trod_emit_bytes(e, "index_bytes", x->bytes);
    trod_emit_bytes(e, "trace_bytes", x->trace_bytes);
    trod_emit_count(e, "files", x->files);
    trod_emit_count(e, "rows", x->rows);
    trod_emit_count(e, "instructions", x->instructions);
    trod_emit_count(e, "streams", x->streams);
    trod_emit_count(e, "registers", x->registers);
    trod_emit_count(e, "blocks", x->blocks);
    trod_emit_count(e, "segments", x->segments);
    trod_emit_count(e, "memory_blocks", x->memory_blocks);
    trod_emit_count(e, "shapes", shapes);
    trod_emit_count(e, "blocks_with_others", rest);
    trod_emit_bool(e, "resumable", x->resumable);
    trod_emit_count(e, "whole_files", trod_index_whole_files(nav));
    trod_emit_count(e, "activations", x->activations);
    trod_emit_count(e, "activations_with_symbols", trod_index_named(nav, &named));
    trod_emit_count(e, "call_stacks", stacks_of(nav));
    trod_emit_count(e, "damaged_places", x->problems);
    trod_emit_open(e, "bytes_of", "bytes of its parts");
    trod_emit_bytes(e, "states", x->states);
    trod_emit_bytes(e, "lines", x->lines);
    trod_emit_bytes(e, "sites", x->sites);
    trod_emit_bytes(e, "registers", x->registers_at);
    trod_emit_bytes(e, "memory", x->memory);
    trod_emit_bytes(e, "calls", x->calls);
    trod_emit_bytes(e, "calls_with_symbols", named);
    trod_emit_bytes(e, "marks", x->marks);
    trod_emit_bytes(e, "values", trod_index_part_bytes(nav, TROD_INDEX_VALUES));
    trod_emit_bytes(e, "shapes", trod_index_part_bytes(nav, TROD_INDEX_SHAPES));
    trod_emit_bytes(e, "classes", trod_index_part_bytes(nav, TROD_INDEX_CLASSES));
    trod_emit_bytes(e, "log", x->log);
    trod_emit_bytes(e, "directory", x->directory);
    trod_emit_bytes(e, "windows", x->windows);
    trod_emit_close(e);
}

/* Open the trace of N PATHS with its index. Returns 0 or an error. */
static int open_trace(struct trod_nav **nav, const struct options *o, const char *const *paths,
                      size_t n, struct trod_diag *diag)
{
    struct trod_trace_options topt = cli_trace_options(&o->input, TROD_COL_ALL);
    struct trod_nav_options opt = {
        .struct_size = sizeof opt, .trace = &topt, .index_dir = o->index};

    return trod_nav_open(nav, paths, n, &opt, diag);
}

/* What is in the index of the trace of N PATHS. Returns 0, 1 (there is none) or an error. */
static int about(const struct options *o, const char *const *paths, size_t n, struct trod_emit *e,
                 struct trod_diag *diag)
{
    struct trod_index_info x;
    struct trod_nav *nav;
    int r = open_trace(&nav, o, paths, n, diag);

    if (r < 0)
        return r;
    trod_emit_open(e, NULL, paths[0]);
    trod_emit_str(e, "file", paths[0]);
    r = !trod_index_about(nav, &x);
    if (r == 0)
        tell_index(e, nav, &x);
    else
        trod_emit_str(e, "index", "none");
    trod_emit_close(e);
    trod_nav_close(nav);
    return r;
}

/* Say of compressed files that an index is of less use for how they can be had otherwise. */
static void advise(struct cli *c, const struct options *o, const char *const *paths, size_t n,
                   struct trod_diag *diag)
{
    struct trod_index_info x;
    struct trod_nav *nav;

    if (open_trace(&nav, o, paths, n, diag) < 0)
        return;
    if (trod_index_about(nav, &x) && x.blocks > 1 && trod_index_whole_files(nav))
        cli_say(c,
                "%s: compressed in one piece, which every question decompresses from the "
                "beginning; reading begins anywhere in one that 'trod convert' writes, or gzip, "
                "'xz -T2' or pzstd",
                paths[0]);
    trod_nav_close(nav);
}

/*
 * Symbols that calls of the trace of N PATHS are asked for with, into *OUT; NULL: none. Returns 0
 * or an error.
 */
static int load_symbols(struct trod_symbols **out, const struct options *o,
                        const char *const *paths, size_t n, struct trod_diag *diag)
{
    char *modules = NULL;
    size_t added;
    int r;

    *out = NULL;
    if (!o->symbols.n && (n == 1 || o->input.modules))
        modules = cli_modules_of(paths[0], &o->input);
    r = o->symbols.n || modules ? trod_symbols_new(out) : 0;
    if (r == 0 && modules)
        r = trod_symbols_modules(*out, modules, &added, diag);
    for (size_t i = 0; r == 0 && i < o->symbols.n; i++)
        r = trod_symbols_add(*out, o->symbols.item[i], diag);
    free(modules);
    return r;
}

static int make(struct cli *c, const struct options *o, const char *const *paths, size_t n,
                struct trod_diag *diag)
{
    struct trod_trace_options topt = cli_trace_options(&o->input, TROD_COL_ALL);
    struct cli_progress shown;
    struct trod_index_options opt = {.struct_size = sizeof opt,
                                     .trace = &topt,
                                     .index_dir = o->index,
                                     .again = o->again,
                                     .upgrade = o->upgrade,
                                     .jobs = cli_jobs(&o->input),
                                     .progress = progress,
                                     .user = &shown,
                                     .more = paths + 1,
                                     .n_more = n - 1};
    char where[PATH] = "";
    struct trod_symbols *symbols;
    bool made;
    int r = load_symbols(&symbols, o, paths, n, diag);

    opt.symbols = symbols;
    if (r == 0) {
        cli_progress_begin(&shown, c);
        r = trod_index_make(paths[0], &opt, &made, where, sizeof where, diag);
        cli_progress_end(&shown);
    }
    trod_symbols_free(symbols);
    if (r == 0)
        cli_say(c,
                made         ? "made %s"
                : o->upgrade ? "%s: nothing to do"
                             : "%s is there and fits",
                where);
    if (r == 0 && made)
        advise(c, o, paths, n, diag);
    return r;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct trod_diag diag;
    struct cli_out out;
    int r = 0, status = CLI_YES;
    size_t each;

    if (o->info && (o->again || o->upgrade)) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.index", NULL,
                   "option '--info' makes nothing: '--%s' does not go with it",
                   o->again ? "again" : "upgrade");
        return CLI_TROUBLE;
    }
    cli_diag_init(c, &diag);
    diag.strict = o->input.strict && !o->info; /* show what is there all the same */
    cli_interrupt_begin();
    if (o->info && cli_report_begin(&out, c, &o->report) != 0)
        return CLI_TROUBLE;
    if (o->info)
        trod_emit_list(out.emit, "traces", NULL);
    each = o->together ? c->n_operands : 1;
    for (size_t i = 0; i < c->n_operands; i += each) {
        int rc = o->info ? about(o, c->operands + i, each, out.emit, &diag)
                         : make(c, o, c->operands + i, each, &diag);

        if (rc == 1)
            status = CLI_NO;
        if (rc == TROD_ERR_NOMEM)
            trod_error(&diag, rc, "index.memory", NULL, "out of memory");
        r = rc < 0 ? rc : r;
    }
    if (o->info) {
        trod_emit_list_close(out.emit);
        if (cli_report_end(&out) < 0)
            r = TROD_ERR_IO;
    }
    if (cli_diag_end(c, &diag) == CLI_TROUBLE || r < 0)
        return CLI_TROUBLE;
    return status;
}

const struct cli_command cli_command_index = {
    .name = "index",
    .title = "make indexes of traces, so that places in them are reached at once",
    .operands = "FILE...",
    .about = "Make an index of each FILE, a file or directory, in one pass: FILE.trodx. It lets "
             "state, who and view begin anywhere in the trace, also in one that is compressed, and "
             "says which parts of it write, read or execute what, and what memory holds after "
             "each. It has all calls: calls, profile and flame do not read the trace, nor do they "
             "with --symbols if it was made with these. An index is bound to its trace; one that "
             "is damaged, old or of another trace is not used, and is made again. It is the same "
             "whatever the number of threads. There is no --where: an index is of all rows, and "
             "commands that have one use it.",
    .examples = "  trod index run.tarmac.gz\n"
                "  trod index --info run.tarmac.gz\n"
                "  trod index --symbols app run.tarmac\n"
                "  trod index --together cpu0.trace cpu1.trace\n"
                "  trod state run.tarmac.gz --at 90%\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
