/*
 * cmd_browse.c - `trod browse`: a trace on the terminal, to move about in.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "browse/browse.h"
#include "cli.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    const char *from_b, *at, *where, *index, *colours;
    struct trod_list symbols, source;
    bool no_index;
};

#define AT(field) offsetof(struct options, field)

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "What"},
    {"at", 'a', TROD_OPT_STR, AT(at), "PLACE",
     "begin at this place: a row, line:N, time:T, insn:N, kind:NAME:K, marker:NAME:K, N%, start, "
     "end, ADDRESS:K "
     "or SYMBOL:K "
     "(its Kth execution)",
     NULL, NULL},
    {"where", 0, TROD_OPT_STR, AT(where), "EXPRESSION",
     "begin at the first row (from --at on) for which EXPRESSION holds, as 'kind == WRITE && value "
     "== 42'; f and F go to the others; see trod-where(7)",
     NULL, NULL},
    {"symbols", 'S', TROD_OPT_LIST, AT(symbols), "ELF[@ADDRESS],...",
     "symbols of these files, for names of places and of memory; ADDRESS (position-independent "
     "files need it) is where the file's first "
     "segment lies in the trace",
     NULL, NULL},
    {"source", 0, TROD_OPT_LIST, AT(source), "DIR,...",
     "folders of source files, where the debugging information of --symbols names files that are "
     "elsewhere",
     NULL, NULL},
    {"index", 0, TROD_OPT_STR, AT(index), "DIR",
     "folder of the index and the bookmarks (default: that of the trace, then the user's cache)",
     NULL, NULL},
    {"no-index", 0, TROD_OPT_BOOL, AT(no_index), NULL, "do not use an index, and make none", NULL,
     NULL},
    {"colors", 0, TROD_OPT_STR, AT(colours), "PART=STYLE,...",
     "how parts of the screen are shown, as changed=yellow+bold; see \"COLOURS\" in the manual "
     "(default: $TROD_BROWSE_COLORS)",
     NULL, NULL},
    CLI_INPUT_OPTIONS,
    {"from-b", 0, TROD_OPT_STR, AT(from_b), "FORMAT[:OPT=VALUE,...]",
     "format of FILE2, where it is not that of FILE", NULL, NULL},
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static int open_symbols(const struct options *o, struct trod_symbols **out, struct trod_diag *diag)
{
    int r = o->symbols.n ? trod_symbols_new(out) : 0;

    for (size_t i = 0; r == 0 && i < o->symbols.n; i++)
        r = trod_symbols_add(*out, o->symbols.item[i], diag);
    return r;
}

static int check(struct cli *c, struct trod_diag *diag)
{
    if (!browse_there())
        return browse_run(NULL, diag);
    for (size_t i = 0; i < c->n_operands; i++)
        if (strcmp(c->operands[i], "-") == 0)
            return trod_error(diag, TROD_ERR_USAGE, "browse.pipe", NULL,
                              "standard input is the keyboard: save the trace to a file first");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return trod_error(diag, TROD_ERR_USAGE, "browse.terminal", NULL,
                          "standard %s is no terminal, which the browser needs; 'trod view' and "
                          "'trod state' print the same",
                          isatty(STDOUT_FILENO) ? "input" : "output");
    return 0;
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct trod_trace_options first = cli_trace_options(&o->input, TROD_COL_ALL);
    struct trod_trace_options second = first;
    struct trod_symbols *symbols = NULL;
    struct browse_setup setup = {.paths = c->operands,
                                 .n_paths = c->n_operands,
                                 .trace = {&first, &second},
                                 .index_dir = o->index,
                                 .at = o->at,
                                 .where = o->where,
                                 .no_index = o->no_index,
                                 .strict = o->input.strict,
                                 .colour = cli_colour(c, STDOUT_FILENO),
                                 .colours = o->colours ? o->colours : getenv("TROD_BROWSE_COLORS"),
                                 .source = o->source.item,
                                 .n_source = o->source.n,
                                 .jobs = cli_jobs(&o->input)};
    struct trod_diag diag;
    int r;

    if (o->from_b)
        second.from = o->from_b;
    cli_diag_init(c, &diag);
    diag.strict = o->input.strict;
    r = check(c, &diag);
    if (r == 0)
        r = open_symbols(o, &symbols, &diag);
    setup.symbols = symbols;
    if (r == 0)
        r = browse_run(&setup, &diag);
    if (r == TROD_ERR_NOMEM)
        trod_error(&diag, r, "browse.memory", NULL, "out of memory");
    trod_symbols_free(symbols);
    if (cli_diag_end(c, &diag) == CLI_TROUBLE || r < 0)
        return CLI_TROUBLE;
    if (r > 0) { /* what ended it ends the program as it would have without a terminal to restore */
        signal(r, SIG_DFL);
        raise(r);
    }
    return CLI_YES;
}

const struct cli_command cli_command_browse = {
    .name = "browse",
    .title = "move about in a trace on the terminal",
    .operands = "FILE [FILE2]",
    .about =
        "Show FILE on the terminal, to move about in: its rows, and the registers and the memory "
        "as they are at the row of the cursor, with what changed there marked. Places are reached "
        "by row, line, time, address and symbol, by what rows say, write and execute. With FILE2 "
        "the rows of two traces stand side by side, as trod compare aligns them. Press ? for the "
        "keys.",
    .examples = "  trod browse run.tarmac\n"
                "  trod browse run.tarmac --symbols prog.elf --source src --at main\n"
                "  trod browse good.tarmac bad.tarmac\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = 2,
    .run = run,
};
