/*
 * cmd_info.c - `trod info`: what a trace is and what is in it.
 *
 * What it is stands in its meta, what is in it the analysis "info" counts, and what the format has
 * to tell of its own an analysis of the format, in one pass on all cores.
 */
#include <stdio.h>
#include <string.h>

#include "analyse.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct trod_match_options filter;
    struct cli_report report;
    bool quick;
};

static const struct trod_option options[] = {
    {"quick", 0, TROD_OPT_BOOL, offsetof(struct options, quick), NULL,
     "look at the beginning only: format and what its header says", NULL, NULL},
    CLI_SHARED(filter, "Choosing rows that are counted", trod_match_option_table),
    CLI_INPUT_OPTIONS,
    CLI_REPORT_OPTIONS,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

static void emit_problems(struct trod_emit *e, const struct trod_diag *d)
{
    static const char *const columns[] = {"problem", "severity", "count"};
    static const char *const names[] = {"note", "warning", "error"};

    if (d->n_counts == 0)
        return;
    trod_emit_table(e, "problems", "problems", columns, 3);
    for (uint32_t i = 0; i < d->n_counts; i++) {
        trod_emit_str(e, NULL, d->counts[i].kind);
        trod_emit_str(e, NULL, names[d->counts[i].severity]);
        trod_emit_count(e, NULL, d->counts[i].n);
        trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
}

static void emit_size(struct trod_emit *e, const char *key, uint64_t v)
{
    if (v && v != TROD_NOWHERE)
        trod_emit_u64(e, key, v);
}

/* The odds that other data passes the checks which this trace passed. */
static void emit_evidence(struct trod_emit *e, unsigned bits)
{
    char shown[80];

    snprintf(shown, sizeof shown, "its content (other data would pass once in 2^%u)", bits);
    trod_emit_said(e, "evidence_bits", bits, "recognised_by", shown);
}

static void emit_meta(struct trod_emit *e, const struct trod_trace *t)
{
    static const char *const endians[] = {NULL, "little", "big"};
    const struct trod_meta *m = trod_trace_meta(t);
    const struct trod_format *f = trod_trace_format(t);

    if (f) {
        trod_emit_str(e, "format", f->name);
        trod_emit_str(e, "title", f->title);
    }
    trod_emit_str(e, "dialect", m->dialect);
    emit_size(e, "version", m->version);
    if (m->bits >= 0)
        emit_evidence(e, (unsigned)m->bits);
    if (m->isa != TROD_ISA_UNKNOWN)
        trod_emit_str(e, "isa", trod_isa_name(m->isa));
    trod_emit_str(e, "endian", endians[m->endian]);
    emit_size(e, "address_bits", m->addr_bits);
    emit_size(e, "line_size", m->line_size);
    emit_size(e, "page_size", m->page_size);
    if (m->filetype)
        trod_emit_hex(e, "filetype", m->filetype);
    if (m->filetype && f && f->filetype_name) {
        trod_emit_list(e, "filetype_bits", NULL);
        for (unsigned i = 0; i < 64; i++) {
            if ((m->filetype >> i & 1) && f->filetype_name(i))
                trod_emit_str(e, NULL, f->filetype_name(i));
        }
        trod_emit_list_close(e);
    }
}

static void emit_sizes(struct trod_emit *e, const struct trod_trace_progress *p, size_t files,
                       bool quick)
{
    if (p->filters[0]) {
        trod_emit_list(e, "filters", NULL);
        for (unsigned i = 0; i < TROD_FILTER_DEPTH && p->filters[i]; i++)
            trod_emit_str(e, NULL, p->filters[i]);
        trod_emit_list_close(e);
    }
    if (files > 1)
        trod_emit_count(e, "files", files);
    if (p->total != TROD_NOWHERE)
        trod_emit_bytes(e, "file_bytes", p->total);
    else if (!quick)
        trod_emit_bytes(e, "file_bytes", p->bytes);
    if (!quick) {
        trod_emit_bytes(e, "decoded_bytes", p->decoded);
        if (p->skipped && p->skipped != TROD_NOWHERE)
            trod_emit_bytes(e, "skipped_bytes", p->skipped);
    }
}

/* One FILE, while it is looked at. */
struct looking {
    struct cli *c;
    const struct options *o;
    struct cli_progress progress;
    struct trod_diag diag;
    struct trod_match *match;
    struct trod_run *run;
    const struct trod_analysis *own; /* of the format; NULL: none */
};

static int filter(void *user, struct trod_batch *b)
{
    struct looking *k = user;
    int r = trod_match_batch(k->match, b);

    if (r < 0)
        return r;
    trod_batch_keep(b, trod_match_keep(k->match));
    return !trod_match_done(k->match);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    cli_progress_show(&((struct looking *)user)->progress, p);
}

static int open_run(struct looking *k, const char *path)
{
    const struct cli_input *input = &k->o->input;
    struct trod_run_options opt = {
        .jobs = cli_jobs(input),
        .progress = progress,
        .user = k,
        .stop = cli_stop(),
    };
    const struct trod_format *f;
    int r = trod_match_new(&k->match, &k->o->filter, &k->diag);

    if (r < 0)
        return r;
    opt.trace = cli_trace_options(input, TROD_COL_KIND | trod_match_want(k->match));
    if (!trod_match_all(k->match))
        opt.filter = filter;
    r = trod_run_open(&k->run, &path, 1, &opt, &k->diag);
    if (r < 0)
        return r;
    r = trod_run_add(k->run, trod_analysis_find("info", 4), NULL);
    f = trod_trace_format(trod_run_trace(k->run));
    if (r >= 0 && f && f->info) {
        k->own = f->info;
        r = trod_run_add(k->run, k->own, k->own->defaults);
    }
    return r < 0 ? r : 0;
}

/* What was read; the trace may have ended with an error. */
static int emit_found(struct looking *k, struct trod_emit *e)
{
    int r;

    trod_emit_count(e, "errors", k->diag.errors);
    trod_emit_count(e, "warnings", k->diag.warnings);
    r = cli_run_emit(k->run, 0, e);
    emit_problems(e, &k->diag);
    if (r >= 0 && k->own) {
        trod_emit_open(e, k->own->name, k->own->title);
        r = cli_run_emit(k->run, 1, e);
        trod_emit_close(e);
    }
    return r;
}

/* What T is, into an item of the list. */
static void emit_head(struct looking *k, struct trod_emit *e, const char *path,
                      const struct trod_trace *t, const struct trod_trace_progress *p)
{
    trod_emit_open(e, NULL, path);
    if (k->o->report.format != TROD_EMIT_TEXT) /* there it is the title */
        trod_emit_str(e, "file", strcmp(path, "-") == 0 ? "standard input" : path);
    emit_meta(e, t);
    emit_sizes(e, p, trod_trace_files(t), k->o->quick);
}

static int look_quickly(struct looking *k, struct trod_emit *e, const char *path)
{
    const struct trod_trace_options opt = cli_trace_options(&k->o->input, TROD_COL_KIND);
    struct trod_trace_progress p;
    struct trod_trace *t;
    int r = trod_match_new(&k->match, &k->o->filter, &k->diag);

    if (r == 0 && !trod_match_all(k->match))
        r = trod_error(&k->diag, TROD_ERR_USAGE, "info.quick", NULL,
                       "option '--quick' reads no rows: there are none to choose");
    if (r == 0)
        r = trod_trace_open(&t, &path, 1, &opt, &k->diag);
    if (r < 0)
        return r;
    trod_trace_progress(t, &p);
    emit_head(k, e, path, t, &p);
    trod_emit_close(e);
    trod_trace_close(t);
    return r;
}

/* An error in reading is reported; what was read before it is shown all the same. */
static int look(struct looking *k, struct trod_emit *e, const char *path)
{
    struct trod_trace_progress p;
    int r = open_run(k, path), emitted = 0;

    if (r < 0)
        return r;
    r = cli_run_go(k->c, k->run, &k->progress, &k->diag);
    if (r >= 0)
        trod_match_explain(k->match, trod_trace_meta(trod_run_trace(k->run)), &k->diag);
    trod_run_progress(k->run, &p);
    emit_head(k, e, path, trod_run_trace(k->run), &p);
    if (r != TROD_ERR_NOMEM)
        emitted = emit_found(k, e);
    trod_emit_close(e);
    return r < 0 ? r : emitted;
}

static void one(struct cli *c, const struct options *o, const char *path, struct trod_emit *e)
{
    struct looking k = {.c = c, .o = o};
    int r;

    cli_diag_init(c, &k.diag);
    k.diag.strict = o->input.strict;
    r = o->quick ? look_quickly(&k, e, path) : look(&k, e, path);
    if (r == TROD_ERR_NOMEM)
        trod_error(&k.diag, r, "info.memory", NULL, "out of memory");
    if (r < 0)
        c->trouble = true;
    cli_diag_end(c, &k.diag);
    trod_run_free(k.run);
    trod_match_free(k.match);
}

static int run(struct cli *c, const void *opt)
{
    const struct options *o = opt;
    struct cli_out out;

    if (cli_report_begin(&out, c, &o->report) != 0)
        return CLI_TROUBLE;
    trod_emit_list(out.emit, "files", NULL);
    for (size_t i = 0; i < c->n_operands; i++) {
        one(c, o, c->operands[i], out.emit);
        if (*cli_stop() && i + 1 < c->n_operands) {
            trod_warning(&c->diag, TROD_ERR_TRUNCATED, "run.interrupted", NULL,
                         "interrupted: what comes behind it was not read: %zu file%s",
                         c->n_operands - i - 1, c->n_operands - i == 2 ? "" : "s");
            break;
        }
    }
    trod_emit_list_close(out.emit);
    return cli_report_end(&out) == 0 ? CLI_YES : CLI_TROUBLE;
}

const struct cli_command cli_command_info = {
    .name = "info",
    .title = "tell what a trace is and what is in it",
    .operands = "FILE...",
    .about =
        "Tell what each FILE is and what is in it: format and dialect and how sure that is, "
        "compression, instruction set, cpus and threads, time span, rows by kind, record "
        "types that are not understood, damage. A FILE may be a directory that is a trace, "
        "or - for standard input. The whole file is read; options that choose rows, as --where, "
        "say which are counted.",
    .examples = "  trod info run.tarmac.gz\n"
                "  trod info --where 'kind == EXCEPTION' run.tarmac\n"
                "  trod info --quick --format json *.trace | jq '.files[].format'\n",
    .options = options,
    .options_size = sizeof(struct options),
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
    .alone = "'trod run info FILE...' shares out the work of 'trod info'",
};
