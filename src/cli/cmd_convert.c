/*
 * cmd_convert.c - `trod convert`: a trace, or part of one, into a format.
 *
 * What the target cannot hold is reported before anything is written (trod_writer_open). The output
 * appears under its name when it is complete; a damaged input is converted as far as it can be
 * read, and the exit status says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export.h"
#include "start.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_index index;
    struct trod_match_options filter;
    struct cli_cut cut;
    int format;
    const char *to, *compress;
    uint64_t level;
    bool allow_loss;
};

static const char *const formats[] = {"text", "json", "csv", NULL};

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "Target"},
    {"to", 'T', TROD_OPT_STR, offsetof(struct options, to), "FORMAT[:OPT=VALUE,...]",
     "format of OUT (default: by its suffix, that of IN where it has none); see trod formats", NULL,
     NULL},
    {"allow-loss", 0, TROD_OPT_BOOL, offsetof(struct options, allow_loss), NULL,
     "convert although the target cannot hold all that the source says", NULL, NULL},
    {"compress", 'z', TROD_OPT_STR, offsetof(struct options, compress), "FILTER",
     "compress OUT with gzip, zstd, lz4, xz, snappy, zip or none (default: by its suffix)", NULL,
     NULL},
    {"level", 0, TROD_OPT_U64, offsetof(struct options, level), "N",
     "level of compression (default: a fast one)", NULL, NULL},
    CLI_SHARED(filter, "Which rows", trod_match_option_table),
    CLI_CUT_OPTIONS,
    CLI_INPUT_OPTIONS,
    CLI_WHICH_INDEX,
    {.type = TROD_OPT_GROUP, .text = "Summary"},
    {"format", 0, TROD_OPT_ENUM, offsetof(struct options, format), NULL,
     "how to print the summary: text on standard error, json or csv on standard output", formats,
     NULL},
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

struct convert {
    struct cli *c;
    const struct options *o;
    struct trod_diag diag;
    struct trod_trace *trace;
    struct trod_writer *writer;
    struct trod_match *match;
    const char *out;
    const char *target;
    uint64_t seen, kept, in_kind[TROD_KINDS], kept_kind[TROD_KINDS];
    uint64_t behind[TROD_KINDS]; /* rows since the last one that was chosen */
};

/* What --to says, or what the names say. NULL: nothing, as was reported. */
static const char *target(struct convert *v)
{
    const struct trod_format *source = trod_trace_format(v->trace), *f = source;

    if (v->o->to)
        return v->o->to;
    if (trod_format_by_name(&f, v->out, source, trod_trace_path(v->trace, 0), &v->diag) < 0)
        return NULL;
    return f->name;
}

static int open_trace(struct convert *v, struct trod_trace_options *topt)
{
    const struct options *o = v->o;
    struct cli_start start = {.input = &o->input,
                              .index = &o->index,
                              .paths = v->c->operands,
                              .n = v->c->n_operands - 1,
                              .match = v->match,
                              .filter = &o->filter};
    int r;

    cli_start(&start, topt, &v->diag);
    r = cli_cut_apply(v->c, &o->cut, &o->filter, topt, start.n, v->match, &v->diag);
    if (r == 0) {
        topt->ahead = o->input.jobs != 1 && trod_processors() > 1;
        topt->batch_rows = trod_match_rows(v->match);
        r = cli_open(&v->trace, start.paths, start.n, topt, v->match, &v->diag);
    }
    cli_start_end(&start);
    return r;
}

static int open_all(struct convert *v)
{
    const struct options *o = v->o;
    struct trod_trace_options topt = cli_trace_options(&o->input, TROD_COL_ALL);
    struct trod_writer_options wopt;
    int r = trod_match_new(&v->match, &o->filter, &v->diag);

    if (r == 0)
        r = cli_not_input(v->c, v->out, &v->diag);
    if (r == 0)
        r = open_trace(v, &topt);
    if (r != 0)
        return r;
    v->target = target(v);
    if (!v->target)
        return TROD_ERR_USAGE;
    memset(&wopt, 0, sizeof wopt);
    wopt.to = v->target;
    wopt.output.compress = o->compress;
    wopt.output.level = o->level > 99 ? 99 : (int)o->level;
    wopt.output.no_thread = o->input.jobs == 1;
    wopt.output.jobs = (uint16_t)cli_jobs(&o->input);
    wopt.allow_loss = o->allow_loss;
    wopt.drops = trod_match_drops(v->match);
    wopt.source = trod_trace_format(v->trace);
    wopt.source_options = trod_trace_format_options(v->trace);
    cli_interrupt_begin();
    r = trod_writer_open(&v->writer, v->out, &wopt, trod_trace_meta(v->trace), &v->diag);
    if (r == 0) {
        const uint32_t uses = trod_writer_uses(v->writer), more = trod_match_want(v->match);

        trod_trace_want(v->trace, trod_writer_want(v->writer) | more);
        trod_trace_slices(v->trace, uses | more);
        if (uses & TROD_COL_RAW) /* to copy is less than to hand on */
            trod_trace_alone(v->trace);
    }
    return r;
}

static void count_kinds(uint64_t *count, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        count[b->kind[i] < TROD_KINDS ? b->kind[i] : TROD_NOTE]++;
}

static void add_kinds(uint64_t *count, uint64_t *more)
{
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        count[i] += more[i];
        more[i] = 0;
    }
}

/*
 * Of the rows of B, R of which are chosen, those up to the last chosen one count as read: how many
 * more there are in a batch when reading ends depends on how the input came.
 */
static void count_read(struct convert *v, const struct trod_batch *b, int r)
{
    const uint8_t *keep = trod_match_keep(v->match);
    uint32_t to = r ? b->n : 0;

    while (to && (uint32_t)r < b->n && !keep[to - 1])
        to--;
    if (to)
        add_kinds(v->in_kind, v->behind);
    count_kinds(v->in_kind, b, 0, to);
    count_kinds(v->behind, b, to, b->n);
}

/* The rows of B that match, R of them. */
static int put(struct convert *v, struct trod_batch *b, int r)
{
    v->kept += (uint64_t)r;
    if ((uint32_t)r == b->n) {
        count_kinds(v->kept_kind, b, 0, b->n);
        return trod_writer_put(v->writer, b);
    }
    for (uint32_t i = 0; i < b->n; i++)
        v->kept_kind[b->kind[i] < TROD_KINDS ? b->kind[i] : TROD_NOTE] +=
            trod_match_keep(v->match)[i] != 0;
    return trod_writer_put_some(v->writer, b, trod_match_keep(v->match));
}

static void show_progress(void *user, const struct trod_trace_progress *p)
{
    cli_progress_show(user, p);
}

/* All rows, without looking at them, where that is possible. Returns 1: they are written. */
static int copy_whole(struct convert *v, struct cli_progress *progress)
{
    const struct trod_copy_options opt = {
        .struct_size = sizeof opt,
        .jobs = cli_jobs(&v->o->input),
        .tick = show_progress,
        .user = progress,
    };
    int r;

    if (!trod_match_all(v->match) || v->o->cut.head || v->o->cut.tail)
        return 0;
    r = trod_writer_copy(v->writer, v->trace, &opt, v->in_kind);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        v->kept_kind[i] = v->in_kind[i];
        v->kept += v->in_kind[i];
    }
    v->seen = v->kept;
    return r;
}

static int copy_rows(struct convert *v, struct cli_progress *progress)
{
    struct trod_batch *b;
    int r;

    while ((r = trod_trace_next(v->trace, &b)) > 0) {
        r = trod_match_batch(v->match, b);
        if (r < 0)
            break;
        count_read(v, b, r);
        r = put(v, b, r);
        if (r < 0 || trod_match_done(v->match))
            break;
        cli_progress_tick(progress, v->trace, trod_match_seen(v->match));
    }
    if (!trod_match_done(v->match))
        add_kinds(v->in_kind, v->behind);
    for (unsigned i = 0; i < TROD_KINDS; i++)
        v->seen += v->in_kind[i];
    if (r >= 0)
        trod_match_explain(v->match, trod_trace_meta(v->trace), &v->diag);
    return r;
}

static int copy(struct convert *v)
{
    struct cli_progress progress;
    int r;

    cli_progress_begin(&progress, v->c);
    r = copy_whole(v, &progress);
    if (r == 0)
        r = copy_rows(v, &progress);
    cli_progress_end(&progress);
    return r;
}

/* Rows of KIND that the output has. */
static uint64_t kept_of(const struct convert *v, const struct trod_loss *l, unsigned kind)
{
    return v->kept_kind[kind] - l->rows[kind] - l->left[kind];
}

static uint64_t kept_all(const struct convert *v, const struct trod_loss *l)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TROD_KINDS; i++)
        n += kept_of(v, l, i);
    return n;
}

static uint64_t left_all(const struct trod_loss *l)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TROD_KINDS; i++)
        n += l->left[i];
    return n;
}

static void emit_kinds(const struct convert *v, const struct trod_loss *l, struct trod_emit *e)
{
    static const char *const columns[] = {"kind", "rows", "chosen", "kept", "lost", "not_needed"};

    trod_emit_table(e, "kinds", "rows by kind", columns, 6);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (v->in_kind[i] == 0)
            continue;
        trod_emit_str(e, NULL, trod_kind_name(i));
        trod_emit_u64(e, NULL, v->in_kind[i]);
        trod_emit_u64(e, NULL, v->kept_kind[i]);
        trod_emit_u64(e, NULL, kept_of(v, l, i));
        trod_emit_u64(e, NULL, l->rows[i]);
        trod_emit_u64(e, NULL, l->left[i]);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

/* Rows that were kept without what they said in a column, by kind and column. */
static void emit_columns(const struct trod_loss *l, struct trod_emit *e)
{
    static const char *const columns[] = {"kind", "column", "rows"};

    if (trod_loss_values(l) == 0)
        return;
    trod_emit_table(e, "lost_columns", "lost of rows that are kept", columns, 3);
    for (unsigned i = 0; i < TROD_KINDS; i++)
        for (unsigned k = 0; k < TROD_COLUMNS; k++) {
            if (l->columns[i][k] == 0)
                continue;
            trod_emit_str(e, NULL, trod_kind_name(i));
            trod_emit_str(e, NULL, trod_column_name(k));
            trod_emit_u64(e, NULL, l->columns[i][k]);
            trod_emit_row_end(e);
        }
    trod_emit_table_close(e);
}

/* Problems of the input. */
static void emit_problems(const struct convert *v, struct trod_emit *e)
{
    static const char *const columns[] = {"problem", "count"};
    bool any = false;

    for (uint32_t i = 0; i < v->diag.n_counts; i++) {
        if (!any)
            trod_emit_table(e, "problems", "problems", columns, 2);
        any = true;
        trod_emit_str(e, NULL, v->diag.counts[i].kind);
        trod_emit_u64(e, NULL, v->diag.counts[i].n);
        trod_emit_row_end(e);
    }
    if (any)
        trod_emit_table_close(e);
}

static void emit_summary(const struct convert *v, const struct trod_writer_summary *sum,
                         struct trod_emit *e)
{
    trod_emit_str(e, "output", v->out);
    trod_emit_str(e, "from", trod_trace_format(v->trace)->name);
    trod_emit_str(e, "to", v->target);
    trod_emit_u64(e, "rows_read", v->seen);
    trod_emit_u64(e, "rows_chosen", v->kept);
    trod_emit_u64(e, "rows_kept", kept_all(v, &sum->loss));
    trod_emit_u64(e, "rows_lost", trod_loss_rows(&sum->loss));
    trod_emit_u64(e, "rows_not_needed", left_all(&sum->loss));
    trod_emit_u64(e, "rows_copied_verbatim", sum->copied);
    trod_emit_u64(e, "accesses_invented", sum->loss.invented);
    trod_emit_u64(e, "bytes", sum->bytes);
    trod_emit_u64(e, "files", sum->files);
    trod_emit_u64(e, "errors", v->diag.errors);
    trod_emit_u64(e, "warnings", v->diag.warnings);
    emit_kinds(v, &sum->loss, e);
    emit_columns(&sum->loss, e);
    emit_problems(v, e);
}

struct grouped {
    char text[TROD_PUT_GROUPED + 1];
};

/* V as people read it. */
static struct grouped grouped(uint64_t v)
{
    struct grouped g;

    *trod_put_grouped(g.text, v) = '\0';
    return g;
}

static void say_summary(const struct convert *v, const struct trod_writer_summary *sum)
{
    const uint64_t lost = trod_loss_rows(&sum->loss), left = left_all(&sum->loss);
    const struct grouped read = grouped(v->seen), kept = grouped(kept_all(v, &sum->loss)),
                         copied = grouped(sum->copied), bytes = grouped(sum->bytes);
    char more[128] = "";
    int n = 0;

    if (lost)
        n = snprintf(more, sizeof more, ", %s lost", grouped(lost).text);
    if (left)
        snprintf(more + n, sizeof more - (size_t)n, ", %s that need no record", grouped(left).text);
    cli_say(v->c, "%s: %s rows read, %s kept%s, %s of them copied as they were; %s bytes of %s",
            strcmp(v->out, "-") == 0 ? "standard output" : v->out, read.text, kept.text, more,
            copied.text, bytes.text, v->target);
    cli_say_loss(v->c, &sum->loss, v->kept_kind);
}

static int summarize(struct convert *v, const struct trod_writer_summary *sum)
{
    struct cli_report report = {v->o->format, NULL};
    struct cli_out out;

    if (v->o->format == TROD_EMIT_TEXT || strcmp(v->out, "-") == 0) {
        say_summary(v, sum);
        return 0;
    }
    if (cli_report_begin(&out, v->c, &report) != 0)
        return TROD_ERR_IO;
    emit_summary(v, sum, out.emit);
    return cli_report_end(&out);
}

/* The view that --to means, or the name of the output where the input is not called so too. */
static const char *view_of(const struct cli *c, const struct options *o)
{
    const struct trod_export *v;

    if (o->to)
        return cli_export_names(o->to) ? o->to : NULL;
    v = trod_export_by_name(c->operands[c->n_operands - 1]);
    return v && !trod_export_by_name(c->operands[0]) ? v->name : NULL;
}

static int export_view(struct cli *c, const struct options *o, const char *to)
{
    const struct cli_export x = {
        .paths = c->operands,
        .n = c->n_operands - 1,
        .out = c->operands[c->n_operands - 1],
        .to = to,
        .input = &o->input,
        .index = &o->index,
        .filter = &o->filter,
        .cut = &o->cut,
        .compress = o->compress,
        .level = o->level,
        .format = o->format,
    };

    return cli_export(c, &x);
}

static int run(struct cli *c, const void *opt)
{
    const char *view = view_of(c, opt);
    struct trod_writer_summary sum;
    struct convert v;
    int r;

    if (view)
        return export_view(c, opt, view);
    memset(&v, 0, sizeof v);
    memset(&sum, 0, sizeof sum);
    v.c = c;
    v.o = opt;
    v.out = c->operands[c->n_operands - 1];
    cli_diag_init(c, &v.diag);
    v.diag.strict = v.o->input.strict;
    r = open_all(&v);
    if (r == 0) {
        int failed;

        r = copy(&v);
        /* damage in the input does not keep what was read from being written */
        failed = r == TROD_ERR_NOMEM || r == TROD_ERR_LOSS || (r < 0 && v.diag.strict);
        if (failed)
            trod_writer_discard(v.writer);
        else if (trod_writer_commit(v.writer, &sum) != 0)
            r = failed = TROD_ERR_IO;
        if (!failed && summarize(&v, &sum) != 0)
            r = TROD_ERR_IO;
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&v.diag, r, "convert.memory", NULL, "out of memory");
    cli_diag_end(c, &v.diag);
    trod_match_free(v.match);
    trod_trace_close(v.trace);
    return r < 0 ? CLI_TROUBLE : CLI_YES;
}

const struct cli_command cli_command_convert = {
    .name = "convert",
    .title = "write a trace, or part of one, in another format",
    .operands = "IN... OUT",
    .about = "Write the trace IN to OUT, in another format, compressed otherwise, or only some of "
             "its records. Where the format stays the same, records are copied byte for byte, or "
             "written anew from their rows (see trod-convert(1) for which). What "
             "the target can never hold is named before the run and refused without --allow-loss; "
             "what only a row shows ends it there. The summary counts all that is lost. FORMAT may "
             "be a view, as for trod export. "
             "OUT appears when it is complete; - is standard output.",
    .examples = "  trod convert run.tarmac run.tarmac.zst\n"
                "  trod convert run.tarmac part.tarmac --range 1000..1999\n"
                "  trod convert es.log fm.tarmac --to tarmac:dialect=fm\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 2,
    .most = SIZE_MAX,
    .run = run,
};
