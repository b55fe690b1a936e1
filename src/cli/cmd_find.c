/*
 * cmd_find.c - `trod find`: the rows of a trace for which an expression holds, and what stands
 * around them.
 *
 * Rows are shown as trod view shows them. Of the rows before a match no more are kept than are
 * wanted, so that memory depends on neither the trace nor what is found.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "first.h"
#include "flow.h"
#include "navigating.h"
#include "start.h"

enum { AROUND = 1000 }; /* rows of context at the most */

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_report report;
    struct trod_match_options filter;
    bool first, all, count;
    uint64_t limit, before, after, context;
    int disassemble; /* 0 auto, 1 always, 2 never */
    struct cli_index index;
};

static const char *const when[] = {"auto", "always", "never", NULL};

#define AT(field) offsetof(struct options, field)

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "What is printed"},
    {"first", '1', TROD_OPT_BOOL, AT(first), NULL, "the first row found; reading stops there", NULL,
     NULL},
    {"all", 0, TROD_OPT_BOOL, AT(all), NULL, "all rows found (the default)", NULL, NULL},
    {"limit", 'n', TROD_OPT_U64, AT(limit), "N", "the first N rows found (0: all)", NULL, NULL},
    {"count", 'c', TROD_OPT_BOOL, AT(count), NULL, "only how many rows are found", NULL, NULL},
    {"before", 'B', TROD_OPT_U64, AT(before), "N", "N rows before each row found (at most 1000)",
     NULL, NULL},
    {"after", 'A', TROD_OPT_U64, AT(after), "N", "N rows after each row found", NULL, NULL},
    {"context", 'C', TROD_OPT_U64, AT(context), "N", "N rows before and after", NULL, NULL},
    {"disassemble", 'd', TROD_OPT_ENUM, AT(disassemble), "WHEN",
     "disassemble instructions that come without text: auto (in binary formats), always, never",
     when, NULL},
    CLI_SHARED(filter, "Which rows", trod_match_option_table),
    CLI_WHICH_INDEX,
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

struct finding {
    struct cli *c;
    const struct options *o;
    struct trod_diag diag;
    struct trod_match_options filter;
    size_t files; /* operands that are no expression */
    struct trod_trace *trace;
    struct trod_nav *nav; /* its index, where it is of use */
    struct trod_match_need need;
    struct trod_range asked; /* its rows, before the index makes them fewer */
    uint64_t next;           /* row behind those judged so far */
    uint64_t all_rows;       /* of the trace, with an index */
    uint64_t until; /* rows before the first one whose number is too large, if there is one */
    bool tally;     /* which says how many rows match, as far as its lists go */
    struct trod_match *match;
    struct trod_show *rows;
    struct trod_show_options show;
    struct trod_disasm *disasm;
    struct cli_sink sink;
    uint64_t limit, before, after;
    uint64_t found, last, shown; /* rows; the last of them; the row behind the last one shown */
    uint64_t follow;             /* rows still to be shown behind the last one found */
    struct trod_batch *tail[2];
    unsigned turn; /* which of them holds the rows before the batch, from number tail_first */
    uint64_t tail_first;
    bool header, measured, around, settled, any;
    struct cli_first first; /* rows that wait until it is known how wide columns are */
};

/* What is said of rows that wait. */
enum { MARK_FOUND = 1, MARK_APART = 2 /* rows before it are left out */ };

static bool is_text(const struct finding *f)
{
    return f->o->report.format == TROD_EMIT_TEXT;
}

/* Row I of B, number ROW of the trace, as a line. MARK: enum above. */
static void write_row(struct finding *f, const struct trod_batch *b, uint32_t i, uint64_t row,
                      unsigned marked)
{
    const bool is_found = marked & MARK_FOUND;
    char *p = cli_sink_room(&f->sink, TROD_SHOW_LINE + 64);
    const char *mark = "";

    if (marked & MARK_APART) {
        memcpy(p, "--\n", 3);
        p += 3;
    }
    if (f->around && f->o->report.format == TROD_EMIT_JSON)
        mark = is_found ? "{\"found\": true, " : "{\"found\": false, ";
    else if (f->around)
        mark = is_text(f) ? (is_found ? "> " : "  ") : (is_found ? "true," : "false,");
    if (f->o->report.format == TROD_EMIT_JSON) {
        char *from = *mark ? p + strlen(mark) - 1 : p; /* over the brace that opens the row */
        char *end = trod_show_json(f->rows, b, i, row, from);

        memcpy(p, mark, strlen(mark));
        p = end;
    } else {
        memcpy(p, mark, strlen(mark));
        p += strlen(mark);
        p = is_text(f) ? trod_show_text(f->rows, b, i, row, p)
                       : trod_show_csv(f->rows, b, i, row, p);
    }
    cli_sink_advance(&f->sink, p);
}

static void put_header(struct finding *f)
{
    char *p = f->header ? cli_sink_room(&f->sink, TROD_SHOW_LINE) : NULL;

    if (!p)
        return;
    f->header = false;
    if (f->around) {
        memcpy(p, is_text(f) ? "  " : "found,", is_text(f) ? 2 : 6);
        p += is_text(f) ? 2 : 6;
    }
    cli_sink_advance(&f->sink,
                     is_text(f) ? trod_show_header(f->rows, p) : trod_show_csv_header(f->rows, p));
}

/* Rows wait no longer: how wide columns are follows from them. */
static void write_first(struct finding *f)
{
    struct cli_first *first = &f->first;
    const struct trod_batch *b = first->b;

    if (f->measured)
        return;
    f->measured = first->over = true;
    if (is_text(f) && b && b->n)
        trod_show_measure(f->rows, b, first->keep, cli_first_row(first->row[0]));
    if (!is_text(f) || (b && b->n))
        put_header(f);
    for (uint32_t i = 0; b && i < b->n; i++)
        write_row(f, b, i, first->row[i], first->mark[i]);
}

/* Rows before row ROW were looked at. */
static void pass(void *user, uint64_t row)
{
    struct finding *f = user;

    if (!f->measured && f->any &&
        (!cli_first_waits(&f->first, row) || !trod_trace_rewindable(f->trace)))
        write_first(f);
}

/* Row I of B, number ROW of the trace, is the next one to be shown. */
static void put_row(struct finding *f, const struct trod_batch *b, uint32_t i, uint64_t row,
                    bool is_found)
{
    const bool apart = f->around && is_text(f) && f->any && row != f->shown;
    const unsigned mark = (is_found ? MARK_FOUND : 0u) | (apart ? MARK_APART : 0u);

    f->shown = row + 1;
    f->any = true;
    if (!f->measured) {
        if (is_text(f) && cli_first_wait(&f->first, b, i, row, (uint8_t)mark, is_found))
            return;
        write_first(f);
        if (is_text(f) && !cli_first_any(&f->first))
            cli_first_measure(f->rows, b, i, row);
    }
    write_row(f, b, i, row, mark);
}

static bool disassembles(const struct finding *f)
{
    return f->o->disassemble == 1 ||
           (f->o->disassemble == 0 && !(trod_trace_format(f->trace)->flags & TROD_FMT_TEXT));
}

/* The ISA may only be known once rows have been read. */
static void settle(struct finding *f, const struct trod_batch *b)
{
    if (!f->settled && disassembles(f) && b->meta->isa != TROD_ISA_UNKNOWN &&
        b->meta->isa != TROD_ISA_REGDEPS && (b->have & TROD_COL_CODE)) {
        f->settled = true;
        if (trod_disasm_new(&f->disasm, b->meta->isa, b->meta->endian, &f->diag) == 0)
            trod_show_disasm(f->rows, f->disasm);
    }
}

/* The rows before row I of B, number ROW, that are wanted and not shown yet. */
static void put_before(struct finding *f, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    const struct trod_batch *tail = f->tail[f->turn];
    uint64_t from = row > f->before ? row - f->before : 0;

    if (f->any && from < f->shown)
        from = f->shown;
    for (; tail && from < row - i && from >= f->tail_first && from < f->tail_first + tail->n;
         from++)
        put_row(f, tail, (uint32_t)(from - f->tail_first), from, false);
    if (from < row - i)
        from = row - i;
    for (; from < row; from++)
        put_row(f, b, i - (uint32_t)(row - from), from, false);
}

/* Rows FROM to END of B, whose first one is row FIRST. */
static void put_batch(struct finding *f, const struct trod_batch *b, uint32_t from, uint32_t end,
                      uint64_t first)
{
    const uint8_t *keep = trod_match_keep(f->match);

    for (uint32_t i = from; i < end; i++) {
        if (keep[i] && f->found < f->limit) {
            f->found++;
            f->last = first + i;
            if (f->o->count)
                continue;
            settle(f, b);
            if (f->before)
                put_before(f, b, i, first + i);
            put_row(f, b, i, first + i, true);
            f->follow = f->after;
        } else if (f->follow > 0) {
            put_row(f, b, i, first + i, false);
            f->follow--;
        }
    }
}

/* The rows of B that KEEP names, which are counted elsewhere and have nothing around them. */
static void put_found(void *user, const struct trod_batch *b, const uint8_t *keep, uint64_t first)
{
    struct finding *f = user;

    settle(f, b);
    for (uint32_t i = 0; i < b->n; i++)
        if (keep[i])
            put_row(f, b, i, first + i, true);
}

/* Keep the last rows of B, and of those before it, for what is found in the next batch. */
static int keep_tail(struct finding *f, const struct trod_batch *b, uint64_t first)
{
    const struct trod_batch *old = f->tail[f->turn];
    struct trod_batch *to;
    uint64_t n = f->before;

    if (!f->before || f->o->count)
        return 0;
    f->turn = !f->turn;
    if (!f->tail[f->turn] && trod_batch_new(&f->tail[f->turn], (uint32_t)f->before) < 0)
        return TROD_ERR_NOMEM;
    to = f->tail[f->turn];
    for (;; n /= 2) { /* long records may not fit all */
        const uint32_t fresh = b->n < n ? b->n : (uint32_t)n;
        uint32_t more = old && first == f->tail_first + old->n ? old->n : 0;

        more = more < n - fresh ? more : (uint32_t)(n - fresh);
        trod_batch_clear(to);
        to->have = 0;
        if ((!more || trod_batch_append(to, old, old->n - more, more) == more) &&
            trod_batch_append(to, b, b->n - fresh, fresh) == fresh) {
            f->tail_first = first + b->n - fresh - more;
            return 0;
        }
    }
}

/* Show what was found in rows FROM to END of B, whose first one is row FIRST. */
static int show_batch(struct finding *f, const struct trod_batch *b, uint32_t from, uint32_t end,
                      uint64_t first)
{
    int r;

    put_batch(f, b, from, end, first);
    if (!f->o->count)
        pass(f, first + end);
    r = keep_tail(f, b, first);
    if (!f->o->count && !f->sink.file)
        cli_sink_flush(&f->sink);
    return r;
}

static int search_in_turn(struct finding *f)
{
    struct cli_progress progress;
    struct trod_batch *b;
    int r;

    cli_progress_begin(&progress, f->c);
    while ((r = trod_trace_next(f->trace, &b)) > 0) {
        uint64_t first;

        r = trod_match_batch(f->match, b);
        if (r < 0)
            break;
        first = trod_match_seen(f->match) - b->n;
        r = show_batch(f, b, 0, b->n, first);
        if (f->until == TROD_NOWHERE)
            f->until = cli_numbers_end(f->trace, &f->filter.instructions, b, first);
        if (r < 0 || f->sink.failed ||
            ((trod_match_done(f->match) || f->found >= f->limit) && f->follow == 0))
            break;
        cli_progress_tick(&progress, f->trace, trod_match_seen(f->match));
    }
    cli_progress_end(&progress);
    return r;
}

/* ---- with an index */

static int indexed_rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n,
                        uint64_t row)
{
    struct finding *f = user;
    const uint64_t first = row - i;
    int r;

    if (row != f->next)
        trod_match_jump(f->match);
    f->next = row + n;
    r = trod_match_batch_at(f->match, b, first);

    if (r < 0)
        return r;
    r = show_batch(f, b, i, i + n, first);
    if (r < 0 || f->sink.failed)
        return r < 0 ? r : TROD_ERR_IO;
    return f->found < f->limit || f->follow > 0;
}

static int open_trace(struct finding *f, const struct trod_trace_options *topt)
{
    const int r = cli_open(&f->trace, f->c->operands, f->files, topt, f->match, &f->diag);

    if (r == 0)
        trod_trace_want(f->trace, f->o->count ? TROD_COL_KIND | trod_match_want(f->match)
                                              : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE);
    return r;
}

/* Rows that may match are many: all is read, but for what lies long before the first of them. */
static int begin_late(struct finding *f, struct trod_trace_options *topt)
{
    const int r = cli_start_late(f->nav, &f->need, f->before, topt);

    if (r <= 0)
        return r;
    trod_trace_close(f->trace);
    f->trace = NULL;
    return open_trace(f, topt);
}

/* The index says where rows may be that match: open it, if there is one that can help. */
static int open_index(struct finding *f)
{
    struct trod_trace_options topt = cli_trace_options(&f->o->input, TROD_COL_ALL);
    const struct trod_nav_options opt = {.struct_size = sizeof opt,
                                         .trace = &topt,
                                         .index_dir = f->o->index.index,
                                         .index_only = true};
    bool everything = false;
    uint64_t rows;
    int r;

    if (f->o->index.no_index || f->o->input.order != TROD_ORDER_FILE ||
        cli_unnumbered(f->trace, &f->filter.instructions) || !trod_match_anywhere(f->match) ||
        !trod_trace_rewindable(f->trace) ||
        (!f->filter.instructions.set && !f->need.bounded && !f->need.rows.set &&
         !f->need.times.set && !f->need.numbers.set && !f->need.pcs.set && !f->need.values.set &&
         !trod_match_shapes(f->match) && !trod_match_classes(f->match) &&
         !(~f->need.kinds & ((1u << TROD_KINDS) - 1))))
        return 0;
    cli_nav_memory();
    r = trod_nav_open(&f->nav, f->c->operands, f->files, &opt, &f->diag);
    if (r < 0)
        return r == TROD_ERR_UNKNOWN ? 0 : r;
    cli_nav_match(f->nav, f->match);
    f->tally = f->o->count && f->limit == UINT64_MAX && trod_match_exact(f->match);
    r = trod_nav_count(f->nav, &f->all_rows);
    if (r == 0 && f->filter.instructions.set) {
        r = cli_numbers(f->nav, &f->filter.instructions, &f->need.rows, &f->until);
        everything = r == 0 && f->o->count && /* reading ends behind them */
                     (trod_nav_meta(f->nav)->n_streams <= 1 || !trod_nav_index(f->nav));
        r = r < 0 ? r : 0;
    }
    if (r == 0 && f->limit != UINT64_MAX && !everything)
        everything = f->need.owners && !f->need.pcs.set && trod_nav_meta(f->nav)->n_streams > 1;
    if (r == 0 && f->limit == UINT64_MAX && !everything) {
        r = f->tally ? trod_nav_tally(f->nav, &f->need, NULL, NULL, &rows)
                     : trod_nav_expect(f->nav, &f->need, &rows);
        everything = r == 0 && rows > f->all_rows / 4; /* in turn, that is less */
        if (everything && rows <= f->all_rows)
            r = begin_late(f, &topt);
    }
    if (everything) {
        trod_nav_close(f->nav);
        f->nav = NULL;
    }
    return r;
}

static int search(struct finding *f)
{
    struct cli_flow flow = {.c = f->c,
                            .input = &f->o->input,
                            .trace = f->trace,
                            .match = f->match,
                            .filter = &f->filter,
                            .rows = f->rows,
                            .show = f->show,
                            .format = f->o->report.format,
                            .disassemble = disassembles(f),
                            .settled = &f->settled,
                            .sink = &f->sink,
                            .found = &f->found,
                            .put = put_found,
                            .pass = pass,
                            .measured = &f->measured,
                            .user = f};
    uint64_t counted = 0;
    int r = f->nav && f->tally ? trod_nav_tally(f->nav, &f->need, indexed_rows, f, &counted)
            : f->nav ? trod_nav_search(f->nav, &f->need, f->before, f->after, indexed_rows, f)
            : f->limit == UINT64_MAX && !f->around && cli_flow_can(&flow) ? cli_flow(&flow)
                                                                          : search_in_turn(f);

    f->found += counted;
    if (cli_unnumbered(f->trace, &f->filter.instructions))
        trod_match_explain(f->match, trod_trace_meta(f->trace), &f->diag);
    if (!f->o->count)
        write_first(f);
    if (f->header && !is_text(f))
        put_header(f); /* no row at all: it still says what the columns are */
    return r < 0 ? r : 0;
}

/* Rows up to the last one that had to be looked at. */
static uint64_t rows_counted(const struct finding *f)
{
    const struct trod_range *in = &f->asked;
    uint64_t n = f->nav ? f->all_rows : trod_match_seen(f->match);

    if (f->until < n && trod_trace_meta(f->trace)->n_streams <= 1)
        n = f->until;
    if (in->set)
        n = in->lo >= n ? 0 : in->hi < n ? in->hi + 1 : n;
    return f->limit != UINT64_MAX && f->found >= f->limit && f->last < n ? f->last + 1 : n;
}

static int put_count(struct finding *f)
{
    struct cli_out out;
    const int r = cli_report_begin(&out, f->c, &f->o->report);

    if (r != 0)
        return r;
    trod_emit_u64(out.emit, "found", f->found);
    trod_emit_u64(out.emit, "rows", rows_counted(f));
    return cli_report_end(&out);
}

/* What is asked for; the expression is the last operand, or was given with --where. */
static int settle_options(struct finding *f)
{
    const struct options *o = f->o;

    f->filter = o->filter;
    f->files = f->c->n_operands;
    if (!f->filter.where) {
        if (f->files < 2)
            return trod_error(&f->diag, TROD_ERR_USAGE, "find.operands", NULL,
                              "something is missing: trod find %s", f->c->command->operands);
        f->filter.where = f->c->operands[--f->files];
        if (access(f->filter.where, F_OK) == 0 && access(f->c->operands[0], F_OK) != 0)
            return trod_error(&f->diag, TROD_ERR_USAGE, "find.operands", NULL,
                              "'%s' is a file: the expression comes last, trod find %s",
                              f->filter.where, f->c->command->operands);
    }
    if (o->context > AROUND || o->before > AROUND)
        return trod_error(&f->diag, TROD_ERR_USAGE, "find.context", NULL,
                          "at most %d rows before a row found can be shown", AROUND);
    f->limit = o->first ? 1 : o->limit && !o->all ? o->limit : UINT64_MAX;
    f->before = o->before ? o->before : o->context;
    f->after = o->after ? o->after : o->context;
    f->around = f->before || f->after;
    return 0;
}

static int prepare(struct finding *f)
{
    struct trod_trace_options topt = cli_trace_options(&f->o->input, TROD_COL_ALL);
    int r = settle_options(f);

    if (r == 0)
        r = trod_match_new(&f->match, &f->filter, &f->diag);
    if (r < 0)
        return r;
    trod_match_need(f->match, &f->need);
    if (!f->around && f->filter.range.set && !f->need.owners)
        topt.skip_rows = f->filter.range.lo;
    topt.batch_rows = trod_match_rows(f->match);
    r = open_trace(f, &topt);
    if (r < 0)
        return r;
    if (trod_trace_files(f->trace) == 1)
        trod_match_single(f->match);
    trod_match_format(f->match, trod_trace_format(f->trace));
    trod_match_need(f->match, &f->need);
    f->asked = f->need.rows;
    return open_index(f);
}

static int show(struct finding *f)
{
    const bool to_stdout = !f->o->report.output || strcmp(f->o->report.output, "-") == 0;
    int r;

    f->show = (struct trod_show_options){
        .meta = f->nav ? trod_nav_meta(f->nav) : trod_trace_meta(f->trace),
        .symbols = trod_match_symbols(f->match),
        .colour = is_text(f) && to_stdout && cli_colour(f->c, STDOUT_FILENO),
    };
    if (f->o->count)
        return (r = search(f)) < 0 ? r : put_count(f);
    f->header = f->o->report.format == TROD_EMIT_CSV ||
                (is_text(f) && to_stdout && cli_terminal(STDOUT_FILENO));
    if (to_stdout)
        cli_pager_start(f->c);
    r = trod_show_new(&f->rows, &f->show);
    if (r == 0)
        r = cli_sink_open(&f->sink, f->c, f->o->report.output);
    if (r == 0) {
        r = search(f);
        if (cli_sink_close(&f->sink, r == 0 || !f->diag.strict) != 0)
            r = TROD_ERR_IO;
    }
    return r;
}

static int run(struct cli *c, const void *opt)
{
    struct finding f;
    int r;

    memset(&f, 0, sizeof f);
    f.c = c;
    f.o = opt;
    f.until = TROD_NOWHERE;
    cli_diag_init(c, &f.diag);
    f.diag.strict = f.o->input.strict;
    r = prepare(&f);
    if (r == 0)
        r = show(&f);
    if (r == TROD_ERR_NOMEM)
        trod_error(&f.diag, r, "find.memory", NULL, "out of memory");
    if (cli_diag_end(c, &f.diag) != CLI_YES)
        r = TROD_ERR_IO;
    cli_first_fini(&f.first);
    trod_show_free(f.rows);
    trod_batch_free(f.tail[0]);
    trod_batch_free(f.tail[1]);
    trod_match_free(f.match);
    trod_disasm_free(f.disasm);
    trod_nav_close(f.nav);
    trod_trace_close(f.trace);
    return r < 0 ? CLI_TROUBLE : f.found ? CLI_YES : CLI_NO;
}

const struct cli_command cli_command_find = {
    .name = "find",
    .title = "find the rows for which an expression holds",
    .operands = "FILE... EXPRESSION",
    .about = "Show the rows of a trace for which EXPRESSION holds, as trod view shows them: "
             "comparisons of what rows say, joined with && || ! and parentheses. trod-where(7) "
             "describes the language; it is that of --where in other commands. Several FILEs, or a "
             "directory, are read as one trace. The exit status is 0 when a row is found, 1 when "
             "none is, 2 when the trace cannot be read.",
    .examples = "  trod find run.tarmac 'kind == WRITE && addr in 0x8000..0x8fff && value == 42'\n"
                "  trod find run.tarmac -S prog.elf -C 5 --first 'function == memcpy && size > 8'\n"
                "  trod find trace.dir --count 'opcode & 0xffe0001f == 0xd4000001'\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
