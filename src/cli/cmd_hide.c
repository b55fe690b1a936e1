/*
 * cmd_hide.c - `trod hide`: a trace that can be given away.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

enum { KEY = 4096 };

struct options {
    struct cli_common common;
    struct cli_input input;
    struct trod_match_options filter;
    struct cli_report report;
    struct trod_list keep;
    const char *to, *compress, *key_file;
    uint64_t granule;
};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "What is hidden"},
    {"key-file", 0, TROD_OPT_STR, offsetof(struct options, key_file), "FILE",
     "take the key from FILE: traces that are hidden with one key can be compared (default: a "
     "random key, which is not kept)",
     NULL, NULL},
    {"granule", 0, TROD_OPT_BYTES, offsetof(struct options, granule), "BYTES",
     "keep places within so many bytes: a power of two (default: 1Mi)", NULL, NULL},
    {"keep", 0, TROD_OPT_LIST, offsetof(struct options, keep), "WHAT,...",
     "keep code (opcodes), values, times or names (numbers of threads and cpus)", NULL, NULL},
    {.type = TROD_OPT_GROUP, .text = "Target"},
    {"to", 'T', TROD_OPT_STR, offsetof(struct options, to), "FORMAT[:OPT=VALUE,...]",
     "format of OUT (default: by its suffix; if it has none drmemtrace, or where IN has no opcodes "
     "that of IN, or csv); see trod formats",
     NULL, NULL},
    {"compress", 'z', TROD_OPT_STR, offsetof(struct options, compress), "FILTER",
     "compress OUT with gzip, zstd, lz4, xz, snappy, zip or none (default: by its suffix)", NULL,
     NULL},
    CLI_SHARED(filter, "Which rows", trod_match_option_table),
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static const struct options defaults = {.input.order = -1};

struct hiding {
    struct cli *c;
    const struct options *o;
    const char *out, *to;
    struct trod_diag diag;
    struct trod_trace *trace;
    struct trod_match *match;
    struct trod_hide *hide;
    struct trod_writer *writer;
    char key[KEY];
};

static int read_key(struct hiding *h)
{
    FILE *f = fopen(h->o->key_file, "rb");
    size_t n = f ? fread(h->key, 1, sizeof h->key - 1, f) : 0;
    const bool whole = f && !ferror(f) && feof(f);

    if (f)
        fclose(f);
    h->key[n] = '\0';
    if (!whole || n == 0 || memchr(h->key, '\0', n))
        return trod_error(&h->diag, TROD_ERR_USAGE, "hide.key", NULL,
                          "'%s' cannot be read, is empty, longer than %d bytes or no text",
                          h->o->key_file, KEY - 1);
    return 0;
}

static int keep_of(struct hiding *h, uint32_t *keep)
{
    static const char *const names[] = {"code", "values", "times", "names"};

    for (size_t i = 0; i < h->o->keep.n; i++) {
        size_t k = 0;

        while (k < 4 && strcmp(names[k], h->o->keep.item[i]) != 0)
            k++;
        if (k == 4)
            return trod_error(&h->diag, TROD_ERR_USAGE, "args.keep", NULL,
                              "option '--keep': '%s' is none of code, values, times, names",
                              h->o->keep.item[i]);
        *keep |= 1u << k;
    }
    return 0;
}

/*
 * The format of an OUT whose name tells none: drmemtrace, which has opcodes, or else that of the
 * source, or a table where that cannot be written.
 */
static const struct trod_format *usual_of(const struct hiding *h)
{
    const struct trod_format *f = trod_format_find("drmemtrace", strlen("drmemtrace"));
    const struct trod_format *from = trod_trace_meta(h->trace)->driver;
    const char *slash = strrchr(h->out, '/'), *name = slash ? slash + 1 : h->out;
    struct stat st;

    if (!from || (from->reads & TROD_COL_CODE) || !*name || strchr(name, '.') ||
        (stat(h->out, &st) == 0 && S_ISDIR(st.st_mode)))
        return f;
    return from->begin ? from : trod_format_find("csv", strlen("csv"));
}

/* The format of OUT. NULL: none, as was reported. */
static const struct trod_format *format_of(struct hiding *h)
{
    const struct trod_format *f = usual_of(h);

    if (h->o->to) {
        f = trod_format_find(h->o->to, strcspn(h->o->to, ":"));
        if (!f)
            trod_error(&h->diag, TROD_ERR_USAGE, "hide.format", NULL,
                       "unknown format '%s'; `trod formats` lists them", h->o->to);
        return f;
    }
    return trod_format_by_name(&f, h->out, f, NULL, &h->diag) < 0 ? NULL : f;
}

/* How OUT is written in format F: a table with all columns, as the usual ones have no branches. */
static const char *spec_of(const struct hiding *h, const struct trod_format *f)
{
    if (h->o->to || !f)
        return h->o->to;
    return strcmp(f->name, "csv") == 0 ? "csv:columns=all" : f->name;
}

/* Traces without opcodes may lack what drmemtrace has of each instruction. */
static void warn_made_up(struct hiding *h, const struct trod_format *f)
{
    const struct trod_format *from = trod_trace_meta(h->trace)->driver;

    if (from && from != f && strcmp(f->name, "drmemtrace") == 0 &&
        (from->kinds == 0 || from->kinds >> TROD_INSTR & 1) && !(from->reads & TROD_COL_CODE))
        trod_diag_report(
            &h->diag, TROD_SEV_NOTE, TROD_OK, "hide.made-up", NULL,
            "%s has no opcodes: in drmemtrace an instruction whose length it does not say has 4 "
            "bytes, and one after which the code goes on elsewhere is a jump; --to "
            "csv:columns=all writes no more than there is",
            from->name);
}

/* Can F, the format of OUT, tell which instructions the tracer put in? */
static bool tells_synthetic(const struct hiding *h, const struct trod_format *f)
{
    return f->flags & TROD_FMT_PUT_IN && f == trod_trace_meta(h->trace)->driver;
}

/* Records of programs' instructions have a place for the opcode, which cannot stay empty. */
static int may_write(struct hiding *h, const struct trod_format *f, uint32_t keep)
{
    if (keep & TROD_HIDE_CODE || !f->isas || !(f->writes & TROD_COL_CODE) ||
        f->isas >> TROD_ISA_REGDEPS & 1)
        return 0;
    return trod_error(&h->diag, TROD_ERR_UNSUPPORTED, "hide.format", NULL,
                      "%s has the opcode of each instruction: keep them (--keep code), or write "
                      "another format (--to drmemtrace)",
                      f->name);
}

static int open_writer(struct hiding *h, const struct trod_format *f)
{
    const struct trod_writer_options opt = {.to = spec_of(h, f),
                                            .output.compress = h->o->compress,
                                            .allow_loss = true,
                                            .drops = trod_match_drops(h->match),
                                            .columns = trod_hide_columns(h->hide)};

    warn_made_up(h, f);
    h->to = f->name;
    cli_interrupt_begin();
    return trod_writer_open(&h->writer, h->out, &opt, trod_hide_meta(h->hide), &h->diag);
}

/*
 * Streams are not always in the order of their times: the first of all is known when all rows that
 * are copied have been seen. Of a pipe it is that of the first row.
 */
static int look_at_times(struct hiding *h)
{
    const uint32_t want = TROD_COL_KIND | TROD_COL_TIME | TROD_COL_UNIT;
    const struct trod_trace_options topt =
        cli_trace_options(&h->o->input, want | trod_match_want(h->match));
    const struct trod_format *from = trod_trace_meta(h->trace)->driver;
    struct trod_diag quiet; /* what is wrong is said when the rows are hidden */
    struct trod_match *match;
    struct trod_trace *trace;
    struct trod_batch *b;
    int r;

    if (!trod_trace_rewindable(h->trace) || (from && !(from->reads & TROD_COL_TIME)))
        return 0;
    trod_diag_init(&quiet, NULL, NULL);
    r = trod_match_new(&match, &h->o->filter, &quiet);
    if (r < 0)
        return r;
    if (cli_open(&trace, h->c->operands, h->c->n_operands - 1, &topt, match, &quiet) == 0) {
        while (!trod_match_done(match) && trod_trace_next(trace, &b) > 0 &&
               (r = trod_match_batch(match, b)) >= 0) {
            trod_batch_keep(b, trod_match_keep(match));
            trod_hide_look(h->hide, b);
        }
        trod_trace_close(trace);
    }
    trod_match_free(match);
    return r == TROD_ERR_NOMEM ? r : 0; /* what else there is ends the copying, too */
}

static int open_all(struct hiding *h)
{
    const struct options *o = h->o;
    const struct trod_trace_options topt = cli_trace_options(&o->input, TROD_COL_ALL);
    struct trod_hide_options hide = {.struct_size = sizeof hide, .granule = o->granule};
    const struct trod_format *f = NULL;
    int r = cli_not_input(h->c, h->out, &h->diag);

    if (r == 0)
        r = keep_of(h, &hide.keep);
    if (r == 0 && o->key_file) {
        r = read_key(h);
        hide.key = h->key;
    }
    if (r == 0)
        r = trod_match_new(&h->match, &o->filter, &h->diag);
    if (r == 0)
        r = cli_open(&h->trace, h->c->operands, h->c->n_operands - 1, &topt, h->match, &h->diag);
    if (r == 0 && !(f = format_of(h)))
        r = TROD_ERR_USAGE;
    if (r == 0)
        r = may_write(h, f, hide.keep);
    if (r == 0 && tells_synthetic(h, f))
        hide.keep |= TROD_HIDE_SYNTHETIC;
    if (r == 0 && f->flags & TROD_FMT_BUS)
        hide.keep |= TROD_HIDE_PHYSICAL;
    if (r == 0)
        r = trod_hide_new(&h->hide, &hide, trod_trace_meta(h->trace), &h->diag);
    if (r == 0 && !(hide.keep & TROD_HIDE_TIMES))
        r = look_at_times(h);
    return r == 0 ? open_writer(h, f) : r;
}

static int copy(struct hiding *h)
{
    struct cli_progress progress;
    struct trod_batch *b, *hidden;
    uint64_t rows = 0;
    int r;

    cli_progress_begin(&progress, h->c);
    while ((r = trod_trace_next(h->trace, &b)) > 0) {
        rows += b->n;
        if ((r = trod_match_batch(h->match, b)) < 0)
            break;
        trod_batch_keep(b, trod_match_keep(h->match));
        if ((r = trod_hide_batch(h->hide, b, &hidden)) < 0 ||
            (r = trod_writer_put(h->writer, hidden)) < 0 || trod_match_done(h->match))
            break;
        cli_progress_tick(&progress, h->trace, rows);
    }
    cli_progress_end(&progress);
    if (r >= 0)
        trod_match_explain(h->match, trod_trace_meta(h->trace), &h->diag);
    return r;
}

/* Instructions and accesses that OUT does not have, though they were kept: those behind the last
 * branch, where the trace does not show where it goes on (drmemtrace), are counted as left. */
static uint64_t unwritten(const struct trod_loss *loss)
{
    return trod_loss_rows(loss) + loss->left[TROD_INSTR] + loss->left[TROD_READ] +
           loss->left[TROD_WRITE];
}

/* What the rows still say and OUT has no column for, by name; "none". */
static void columns_lost(const struct hiding *h, char *names, size_t size)
{
    const struct trod_format *from = trod_trace_meta(h->trace)->driver;
    const uint32_t columns = trod_hide_columns(h->hide) & (from ? from->reads : TROD_COL_ALL);
    const uint32_t loss = trod_writer_loss(columns, trod_format_find(h->to, strlen(h->to)));
    size_t n = 0;

    snprintf(names, size, "none");
    for (unsigned i = 0; i < TROD_COLUMNS; i++)
        if ((loss >> i & 1) && n + strlen(trod_loss_name(i)) + 3 < size)
            n += (size_t)snprintf(names + n, size - n, "%s%s", n ? ", " : "", trod_loss_name(i));
}

static int tell(struct hiding *h, const struct trod_loss *loss)
{
    struct trod_result *result = NULL;
    struct cli_out out;
    char names[512];
    int r;

    if (unwritten(loss))
        cli_say(h->c, "not written: %" PRIu64 " rows that %s cannot hold there", unwritten(loss),
                h->to);
    if (strcmp(h->out, "-") == 0 && !h->o->report.output)
        return 0; /* the trace is there */
    if ((r = cli_report_begin(&out, h->c, &h->o->report)) != 0)
        return r;
    r = trod_result_new(&result);
    if (r == 0) {
        trod_result_str(result, "output", h->out);
        trod_result_str(result, "to", h->to);
        trod_result_u64(result, "rows_not_written", unwritten(loss));
        columns_lost(h, names, sizeof names);
        trod_result_str(result, "columns_not_written", names);
        r = trod_hide_result(h->hide, result);
    }
    if (r == 0)
        trod_result_emit(result, out.emit);
    trod_result_free(result);
    return cli_report_end(&out) != 0 ? TROD_ERR_IO : r;
}

static int run(struct cli *c, const void *opt)
{
    struct hiding h = {.c = c, .o = opt, .out = c->operands[c->n_operands - 1]};
    int r;

    cli_diag_init(c, &h.diag);
    h.diag.strict = h.o->input.strict;
    r = open_all(&h);
    if (r == 0)
        r = copy(&h);
    if (h.writer && r != TROD_ERR_NOMEM && r != TROD_ERR_LIMIT && r != TROD_ERR_IO) {
        /* what a damaged trace has before the damage is kept; the exit status tells of it */
        struct trod_writer_summary sum;
        const int written = trod_writer_commit(h.writer, &sum);

        h.writer = NULL;
        r = written < 0 ? written : r;
        if (written == 0)
            r = tell(&h, &sum.loss) < 0 ? TROD_ERR_IO : r;
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&h.diag, r, "hide.memory", NULL, "out of memory");
    if (r == TROD_ERR_LIMIT)
        trod_error(&h.diag, r, "hide.limit", NULL, "more different instructions than can be held");
    trod_writer_discard(h.writer);
    trod_hide_free(h.hide);
    trod_match_free(h.match);
    trod_trace_close(h.trace);
    if (r < 0)
        c->trouble = true;
    return cli_diag_end(c, &h.diag);
}

const struct cli_command cli_command_hide = {
    .name = "hide",
    .title = "write a trace without what it says about whose program it was",
    .operands = "IN... OUT",
    .about =
        "Copy a trace for others to study: addresses are moved, so that distances, lines, "
        "pages, sets of caches and loops stay and nothing else; opcodes become lists of the "
        "registers that are read and written; values, names, texts, registers, system calls and "
        "symbols go. Caches, TLBs, locality and branch predictors give the same numbers before "
        "and after. What was kept and what is gone is printed. This is no encryption: anybody "
        "who knows the program can recognise it.",
    .examples = "  trod hide app.zip for-others.zip\n"
                "  trod hide --key-file key before.zip hidden-before.zip\n"
                "  trod hide --keep code,times run.tarmac run-hidden.tarmac\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 2,
    .most = SIZE_MAX,
    .run = run,
};
