/*
 * cmd_view.c - `trod view`: the records of a trace, a line each.
 *
 * Streams: the first page is there as soon as the first rows are decoded, whatever the file's size.
 */
#include <string.h>
#include <unistd.h>

#include "first.h"
#include "flow.h"
#include "jump.h"
#include "sink.h"
#include "start.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_report report;
    struct trod_match_options filter;
    struct cli_cut cut;
    struct cli_jump jump;
    bool native;
    int header;      /* 0 auto, 1 always, 2 never */
    int disassemble; /* 0 auto, 1 always, 2 never */
    int times;       /* enum trod_show_times */
};

static const char *const when[] = {"auto", "always", "never", NULL};
static const char *const times[] = {"absolute", "start", "previous", NULL};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "Layout"},
    {"native", 'N', TROD_OPT_BOOL, offsetof(struct options, native), NULL,
     "the records as the format itself writes them, instead of the uniform layout", NULL, NULL},
    {"header", 0, TROD_OPT_ENUM, offsetof(struct options, header), "WHEN",
     "print the names of the columns: auto (on a terminal), always, never", when, NULL},
    {"disassemble", 'd', TROD_OPT_ENUM, offsetof(struct options, disassemble), "WHEN",
     "disassemble instructions that come without text: auto (in binary formats), always, never",
     when, NULL},
    {"times", 0, TROD_OPT_ENUM, offsetof(struct options, times), "FROM",
     "times as the trace has them (absolute), since the first row shown (start), or since the "
     "record shown before (previous)",
     times, NULL},
    CLI_SHARED(filter, "Which rows", trod_match_option_table),
    CLI_CUT_OPTIONS,
    CLI_SHARED(jump, NULL, cli_jump_options),
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

enum { COMPACT = 100 }; /* terminals with fewer columns */

enum layout { UNIFORM, JSON, CSV, NATIVE_RAW, NATIVE_DRIVER };

struct view {
    struct cli *c;
    const struct options *o;
    struct trod_diag diag;
    struct trod_trace *trace;
    const struct trod_format *format;
    struct trod_match_options filter; /* of the user, or from a place on */
    struct cli_nav at;                /* opened for the place */
    bool begun;                       /* reading begins inside the trace */
    struct trod_match *match;
    struct trod_show *rows;
    struct trod_show_options show;
    struct trod_disasm *disasm;
    bool measured;
    struct cli_first first; /* rows that wait until it is known how wide columns are */
    struct trod_native listing;
    struct cli_sink sink;
    enum layout layout;
    bool header;
    bool disassembly_settled;
};

static enum layout choose_layout(struct view *v)
{
    const struct options *o = v->o;

    if (o->native && v->format->flags & TROD_FMT_TEXT)
        return NATIVE_RAW;
    if (o->native && v->format->native)
        return NATIVE_DRIVER;
    if (o->native)
        trod_diag_report(&v->diag, TROD_SEV_NOTE, TROD_OK, "view.native", NULL,
                         "format '%s' has no listing of its own; this is the uniform one",
                         v->format->name);
    return o->report.format == TROD_EMIT_JSON  ? JSON
           : o->report.format == TROD_EMIT_CSV ? CSV
                                               : UNIFORM;
}

static uint32_t columns_wanted(const struct view *v)
{
    uint32_t all = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;

    if (v->layout == NATIVE_RAW)
        return TROD_COL_KIND | TROD_COL_RAW | TROD_COL_FLAGS | trod_match_want(v->match);
    return all;
}

static bool disassembles(const struct view *v)
{
    return v->o->disassemble == 1 ||
           (v->o->disassemble == 0 && !(v->format->flags & TROD_FMT_TEXT));
}

/* The ISA may only be known once records have been read. */
static void settle_disassembly(struct view *v, const struct trod_batch *b)
{
    const struct trod_meta *m = b->meta;

    if (v->disassembly_settled || !disassembles(v) || m->isa == TROD_ISA_UNKNOWN ||
        m->isa == TROD_ISA_REGDEPS || !(b->have & TROD_COL_CODE))
        return;
    v->disassembly_settled = true;
    if (trod_disasm_new(&v->disasm, m->isa, m->endian, &v->diag) == 0)
        trod_show_disasm(v->rows, v->disasm);
}

/* Runs of untouched text leave in one piece. */
static void put_raw(struct view *v, const struct trod_batch *b)
{
    const uint8_t *from = NULL;
    size_t n = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        const uint8_t *p;
        size_t len = b->raw[i].len;

        if (!trod_match_keep(v->match)[i] || !(b->have & b->has[i] & TROD_COL_RAW) || len == 0)
            continue;
        p = trod_batch_bytes(b, b->raw[i]);
        if (from + n != p || p[-1] != '\n') {
            if (n > 0)
                cli_sink_write(&v->sink, from, n);
            if (n > 0 && from[n - 1] != '\n')
                cli_sink_write(&v->sink, "\n", 1);
            from = p;
            n = 0;
        }
        n += len;
    }
    if (n > 0)
        cli_sink_write(&v->sink, from, n);
    if (n > 0 && from[n - 1] != '\n')
        cli_sink_write(&v->sink, "\n", 1);
}

static void put_native_row(struct view *v, const struct trod_batch *b, uint32_t row)
{
    char *p = cli_sink_room(&v->sink, CLI_SINK_ROOM);
    struct trod_room room = {(uint8_t *)p, (uint8_t *)p + CLI_SINK_ROOM};

    if (v->format->native(&v->listing, b, row, &room) == TROD_ENC_DONE)
        cli_sink_advance(&v->sink, (const char *)room.p);
}

static void put_native(struct view *v, const struct trod_batch *b)
{
    settle_disassembly(v, b);
    v->listing.disasm = v->disasm;
    for (uint32_t i = 0; i < b->n; i++)
        if (trod_match_keep(v->match)[i])
            put_native_row(v, b, i);
}

/* Rows from ROW on. */
static void put_lines(struct view *v, const struct trod_batch *b, const uint8_t *keep,
                      uint64_t first, uint32_t row)
{
    while (row < b->n) {
        char *p = cli_sink_room(&v->sink, CLI_SINK_ROOM);

        cli_sink_advance(&v->sink,
                         trod_show_lines(v->rows, b, keep, first, &row, p, p + CLI_SINK_ROOM));
    }
}

static void put_header(struct view *v)
{
    char *p;

    if (!v->header)
        return;
    p = cli_sink_room(&v->sink, TROD_SHOW_LINE);
    cli_sink_advance(&v->sink, v->layout == CSV ? trod_show_csv_header(v->rows, p)
                                                : trod_show_header(v->rows, p));
    v->header = false;
}

/* Rows wait no longer: how wide columns are follows from them. */
static void write_first(struct view *v)
{
    struct cli_first *first = &v->first;
    const struct trod_batch *b = first->b;

    if (v->measured)
        return;
    v->measured = first->over = true;
    if (b && b->n) {
        trod_show_measure(v->rows, b, first->keep, cli_first_row(first->row[0]));
        put_header(v);
    }
    for (uint32_t i = 0; b && i < b->n; i++)
        cli_sink_advance(&v->sink, trod_show_text(v->rows, b, i, first->row[i],
                                                  cli_sink_room(&v->sink, TROD_SHOW_LINE)));
}

/* Rows before row ROW were looked at. */
static void pass(void *user, uint64_t row)
{
    struct view *v = user;

    const bool live = cli_first_any(&v->first) && !trod_trace_rewindable(v->trace);

    if (!v->measured && (v->layout != UNIFORM || live || !cli_first_waits(&v->first, row)))
        write_first(v);
}

/* Those of the listing: the first ones wait. */
static void put_listing(struct view *v, const struct trod_batch *b, const uint8_t *keep,
                        uint64_t first)
{
    uint32_t i = 0;

    while (!v->measured && i < b->n) {
        if (!keep[i] || cli_first_wait(&v->first, b, i, first + i, 0, true)) {
            i++;
            continue;
        }
        write_first(v);
        if (!cli_first_any(&v->first)) /* it is too long to wait */
            trod_show_measure(v->rows, b, keep, cli_first_row(first + i));
    }
    put_lines(v, b, keep, first, i);
}

/* The rows of B that KEEP names; FIRST is the number of its first row. */
static void put_rows(void *user, const struct trod_batch *b, const uint8_t *keep, uint64_t first)
{
    struct view *v = user;
    char *(*const put[])(struct trod_show *, const struct trod_batch *, uint32_t, uint64_t,
                         char *) = {[JSON] = trod_show_json, [CSV] = trod_show_csv};

    settle_disassembly(v, b);
    if (v->layout == UNIFORM) {
        put_listing(v, b, keep, first);
        return;
    }
    put_header(v);
    for (uint32_t i = 0; i < b->n; i++) {
        char *p;

        if (!keep[i])
            continue;
        p = cli_sink_room(&v->sink, TROD_SHOW_LINE);
        cli_sink_advance(&v->sink, put[v->layout](v->rows, b, i, first + i, p));
    }
}

static int show_in_turn(struct view *v)
{
    struct cli_progress progress;
    struct trod_batch *b;
    int r;

    cli_progress_begin(&progress, v->c);
    while ((r = trod_trace_next(v->trace, &b)) > 0) {
        uint64_t first;

        r = trod_match_batch(v->match, b);
        first = trod_match_seen(v->match) - b->n;
        if (r < 0)
            break;
        if (r > 0 && v->layout == NATIVE_RAW)
            put_raw(v, b);
        else if (r > 0 && v->layout == NATIVE_DRIVER)
            put_native(v, b);
        else if (r > 0)
            put_rows(v, b, trod_match_keep(v->match), first);
        pass(v, first + b->n);
        if (!v->sink.file)
            cli_sink_flush(&v->sink);
        if (trod_match_done(v->match) || v->sink.failed)
            break;
        cli_progress_tick(&progress, v->trace, trod_match_seen(v->match));
    }
    cli_progress_end(&progress);
    return r;
}

/* All of the trace is looked at, and no line follows from others but for its columns. */
static bool can_flow(const struct view *v, const struct cli_flow *f)
{
    return v->layout <= CSV && !v->begun && cli_flow_can(f);
}

static int show(struct view *v)
{
    uint64_t found = 0;
    struct cli_flow flow = {
        .c = v->c,
        .input = &v->o->input,
        .trace = v->trace,
        .match = v->match,
        .filter = &v->filter,
        .rows = v->rows,
        .show = v->show,
        .format = v->layout == JSON  ? TROD_EMIT_JSON
                  : v->layout == CSV ? TROD_EMIT_CSV
                                     : TROD_EMIT_TEXT,
        .disassemble = disassembles(v),
        .settled = &v->disassembly_settled,
        .sink = &v->sink,
        .found = &found,
        .put = put_rows,
        .pass = pass,
        .measured = &v->measured,
        .user = v,
    };
    int r = can_flow(v, &flow) ? cli_flow(&flow) : show_in_turn(v);

    write_first(v);
    if (r >= 0)
        trod_match_explain(v->match, trod_trace_meta(v->trace), &v->diag);
    if (v->layout == NATIVE_DRIVER)
        put_native_row(v, NULL, TROD_NATIVE_END);
    if (v->header && v->layout == CSV) {
        /* no row at all: the header still says what the columns are */
        cli_sink_advance(&v->sink,
                         trod_show_csv_header(v->rows, cli_sink_room(&v->sink, TROD_SHOW_LINE)));
    }
    return r < 0 ? r : 0;
}

/* Open the trace, near the rows that are chosen if it has an index. */
static int open_trace(struct view *v, struct trod_trace_options *topt)
{
    struct cli_start start = {.input = &v->o->input,
                              .index = &v->o->jump.index,
                              .paths = v->c->operands,
                              .n = v->c->n_operands,
                              .match = v->match,
                              .filter = &v->filter,
                              .nav = v->at.nav};
    struct trod_match_need need;
    int r;

    trod_match_need(v->match, &need);
    v->begun = cli_start(&start, topt, &v->diag);
    if (!v->begun && v->filter.range.set && !need.owners)
        topt->skip_rows = v->filter.range.lo;
    else if (!v->begun && !v->filter.range.set && v->filter.instructions.lo && !need.owners &&
             topt->order == TROD_ORDER_FILE)
        topt->skip_instructions = v->filter.instructions.lo - 1;
    r = cli_cut_apply(v->c, &v->o->cut, &v->filter, topt, start.n, v->match, &v->diag);
    if (r == 0) {
        topt->batch_rows = trod_match_rows(v->match);
        r = cli_open(&v->trace, start.paths, start.n, topt, v->match, &v->diag);
    }
    cli_start_end(&start);
    return r;
}

static int prepare(struct view *v)
{
    struct trod_trace_options topt = cli_trace_options(&v->o->input, TROD_COL_ALL);
    const struct trod_match_options *filter = &v->filter;
    int r;

    v->filter = v->o->filter;
    r = cli_jump(v->c, &v->o->input, &v->o->jump, &v->filter, &v->at, &v->diag);
    if (r == 0)
        r = trod_match_new(&v->match, filter, &v->diag);
    if (r == 0)
        r = open_trace(v, &topt);
    if (v->at.c)
        cli_nav_close(&v->at, r, 0);
    if (r != 0)
        return r;
    if (trod_trace_files(v->trace) == 1)
        trod_match_single(v->match);
    v->format = trod_trace_format(v->trace);
    v->layout = choose_layout(v);
    trod_trace_want(v->trace, columns_wanted(v));
    return 0;
}

/* What does not go with --native; NULL: nothing that was given. */
static const char *not_native(const struct options *o)
{
    if (!o->native)
        return NULL;
    return o->report.format != TROD_EMIT_TEXT ? "--format"
           : o->times != TROD_SHOW_ABSOLUTE   ? "--times"
                                              : NULL;
}

static int run(struct cli *c, const void *opt)
{
    struct view v;
    bool terminal = cli_terminal(STDOUT_FILENO);
    const char *other = not_native(opt);
    int r;

    if (other) {
        trod_error(&c->diag, TROD_ERR_USAGE, "args.native", NULL,
                   "option '%s' does not go with '--native', which prints records as the format "
                   "itself writes them",
                   other);
        return CLI_TROUBLE;
    }
    memset(&v, 0, sizeof v);
    v.c = c;
    v.o = opt;
    cli_diag_init(c, &v.diag);
    v.diag.strict = v.o->input.strict;
    r = prepare(&v);
    if (r == 0) {
        bool to_stdout = !v.o->report.output || strcmp(v.o->report.output, "-") == 0;

        v.show = (struct trod_show_options){
            .meta = trod_trace_meta(v.trace),
            .symbols = trod_match_symbols(v.match),
            .times = (enum trod_show_times)v.o->times,
            .colour = v.layout == UNIFORM && to_stdout && cli_colour(c, STDOUT_FILENO),
            .compact = terminal && to_stdout && cli_width(STDOUT_FILENO) < COMPACT,
        };

        v.header = v.layout == CSV
                       ? v.o->header != 2
                       : v.layout == UNIFORM &&
                             (v.o->header == 1 || (v.o->header == 0 && terminal && to_stdout));
        if (to_stdout)
            cli_pager_start(c);
        r = trod_show_new(&v.rows, &v.show);
        if (r == 0)
            r = cli_sink_open(&v.sink, c, v.o->report.output);
        if (r == 0) {
            r = show(&v);
            if (cli_sink_close(&v.sink, r == 0 || !v.diag.strict) != 0)
                r = TROD_ERR_IO;
        }
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&v.diag, r, "view.memory", NULL, "out of memory");
    cli_diag_end(c, &v.diag);
    cli_first_fini(&v.first);
    trod_show_free(v.rows);
    trod_match_free(v.match);
    trod_disasm_free(v.disasm);
    trod_trace_close(v.trace);
    return r < 0 ? CLI_TROUBLE : CLI_YES;
}

const struct cli_command cli_command_view = {
    .name = "view",
    .title = "show the rows of a trace, a line each",
    .operands = "FILE...",
    .about = "Show the rows of a trace, a line each, in the same columns for every format: "
             "number of the record, time, cpu or thread, kind, address, size, value (of an "
             "instruction its opcode), text, and in braces what else the record says. What a "
             "record does not say is \"-\". Several FILEs, or a directory, are read as one trace.",
    .examples = "  trod view run.tarmac --kind WRITE --address 0x8000..0x8fff\n"
                "  trod view run.tarmac --symbols prog.elf --range 1000..1100\n"
                "  trod view thread1.tt6 --format csv > rows.csv\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
