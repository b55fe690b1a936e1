/*
 * analyse.c - one pass of one or several analyses over the operands.
 *
 * Implements analyse.h: options to a run, Ctrl-C, progress, results as text, JSON, CSV or in the
 * layout that an analysis has for another tool's output.
 */
#include "analyse.h"

#include "plan.h"
#include "ranks.h"
#include "span.h"
#include "start.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const cli_groupings[] = {"all", "thread", "core", "module", "function", "line", NULL};

#define AT(field) offsetof(struct cli_span, field)

const struct trod_option cli_span_options[] = {
    {"interval", 0, TROD_OPT_STR, AT(interval), "N[:MEASURE]",
     "a result for every N instructions too; MEASURE: instructions, rows or time", NULL, NULL},
    {"region", 0, TROD_OPT_STR, AT(region), "FROM..TO[:MEASURE]",
     "only instructions FROM to TO (from 1), or rows (from 0), or times; or between two places, as "
     "main..0x8000:3 or marker:22..end (see trod state)",
     NULL, NULL},
    {"warmup", 0, TROD_OPT_STR, AT(warmup), "N[:MEASURE]",
     "the first N prepare the state and are not counted", NULL, NULL},
    {"limit", 0, TROD_OPT_COUNT, AT(limit), "N", "end after N instructions", NULL, NULL},
    {"by", 0, TROD_OPT_ENUM, AT(by), "WHAT",
     "results for each thread, core, module, function or line of source too", cli_groupings, NULL},
    {.type = TROD_OPT_END},
};

const struct trod_option cli_plot_options[] = {
    {"plot", 0, TROD_OPT_BOOL, offsetof(struct cli_plot, on), NULL,
     "draw the tables, in text output: bars, and curves over time or size", NULL, NULL},
    {.type = TROD_OPT_END},
};

struct analysing {
    struct cli *c;
    const struct cli_analyse *o;
    struct trod_diag diag;
    struct trod_match *match;
    struct cli_start start;
    struct cli_progress progress;
    struct trod_run *run;
    enum trod_order order;
};

static int filter(void *user, struct trod_batch *b)
{
    struct analysing *k = user;
    int r = trod_match_batch(k->match, b);

    if (r < 0)
        return r;
    trod_batch_keep(b, trod_match_keep(k->match));
    return !trod_match_done(k->match);
}

static void progress(void *user, const struct trod_trace_progress *p)
{
    struct analysing *k = user;

    cli_progress_show(&k->progress, p);
}

/* ---- options */

/* What the analyses of PLAN want of the order of the rows, where nobody named one. */
static void take_order(const struct cli_analyse *o, const struct cli_planned *plan, size_t n,
                       const struct cli_parts *parts, struct trod_trace_options *t)
{
    for (size_t i = 0; i < n; i++) {
        t->idle = t->idle || plan[i].analysis->idle;
        const struct trod_analysis *a = plan[i].analysis;
        const bool timed = a->timed_of ? a->timed_of(plan[i].options) : a->timed;

        if (timed && o->input.order < 0 && !(parts && parts->parts))
            t->order = TROD_ORDER_TIME;
    }
}

/* Are the rows before --range of use to an analysis of PLAN, and is nothing else chosen? */
static bool follows(const struct cli_analyse *o, const struct cli_planned *plan, size_t n)
{
    const struct trod_match_options *f = &o->filter;
    bool any = false;

    for (size_t i = 0; i < n; i++)
        any = any || cli_follows(&plan[i]);
    return any && f->range.set && f->range.lo && !o->span.region && !o->span.limit &&
           !o->span.interval && !o->span.warmup && !f->instructions.set && !f->time.set &&
           !f->address.n && !f->pc.n && !f->without_pc.n && !f->kinds.n && !f->streams.n &&
           !f->registers.n && !f->text && !f->where;
}

/* May the rows before the part that is asked for be left out? */
static bool begins_anywhere(const struct cli_parts *parts, const struct trod_run_options *opt)
{
    /* a report tells what was read; regions are counted from the first row that was chosen on */
    if ((parts && (parts->save || parts->parts || parts->share)) ||
        (opt->filter && opt->region_from > (opt->region_in == TROD_IN_INSTRUCTIONS)))
        return false;
    /* files without an address in which nothing ever ran are reported at the end */
    return trod_symbols_placed(opt->symbols);
}

/* Open the run, near the part of the trace that is asked for by CHOICE, or OPT, if NEAR. */
static int open_near(struct analysing *k, const struct trod_match_options *choice, bool near,
                     struct trod_run_options *opt)
{
    const bool of_all = opt->region_to && !opt->filter; /* not of those chosen */
    const struct trod_range region = {of_all, opt->region_from, opt->region_to};
    struct cli_start *start = &k->start;

    start->input = &k->o->input;
    start->index = &k->o->index;
    start->paths = k->c->operands;
    start->n = k->c->n_operands;
    start->match = k->match;
    start->filter = choice;
    start->owners = true;
    start->by = opt->by;
    start->clock = of_all && (opt->interval || opt->warmup);
    *(opt->region_in == TROD_IN_ROWS   ? &start->rows
      : opt->region_in == TROD_IN_TIME ? &start->times
                                       : &start->executed) = region;
    if (near && cli_start(start, &opt->trace, &k->diag) && start->executed.set) {
        opt->region_in = TROD_IN_ROWS;
        opt->region_from = start->rows.lo;
        opt->region_to = start->rows.hi;
    }
    start->filter = NULL;
    return trod_run_open(&k->run, start->paths, start->n, opt, &k->diag);
}

/* Which rows are chosen, with names where the region or one of the analyses of PLAN needs some. */
static int choose(struct analysing *k, const struct trod_match_options *choice,
                  const struct cli_planned *plan, size_t n)
{
    bool names = k->o->span.by >= TROD_BY_FUNCTION || cli_span_placed(&k->o->span);

    for (size_t i = 0; i < n; i++)
        names = names || plan[i].analysis->names;
    trod_match_free(k->match);
    k->match = NULL;
    return names ? cli_match_named(&k->match, k->c, &k->o->input, choice, &k->diag)
                 : trod_match_new(&k->match, choice, &k->diag);
}

/* The part of the trace that is asked for, into OPT and, where that cannot say it, into CHOICE. */
static int part_of(struct analysing *k, struct trod_match_options *choice,
                   const struct cli_planned *plan, size_t n, struct trod_run_options *opt)
{
    struct cli_spanning s = {.c = k->c,
                             .o = k->o,
                             .symbols = trod_match_symbols(k->match),
                             .chosen = !trod_match_all(k->match)};
    int r = cli_span_read(&s, opt, &k->diag);

    if (r < 0 || !(s.rows.set || s.times.set))
        return r;
    cli_narrow(&choice->range, &s.rows);
    cli_narrow(&choice->time, &s.times);
    r = choose(k, choice, plan, n);
    if (r == 0)
        opt->trace.want |= trod_match_want(k->match);
    return r;
}

static int open_run(struct analysing *k, const struct cli_planned *plan, size_t n,
                    const struct cli_parts *parts)
{
    const struct cli_analyse *o = k->o;
    const bool region = follows(o, plan, n);
    struct trod_match_options choice = o->filter;
    struct trod_run_options opt = {
        .jobs = cli_jobs(&o->input),
        .progress = progress,
        .user = k,
        .stop = cli_stop(),
    };
    int r;

    choice.range.set = choice.range.set && !region;
    r = choose(k, &choice, plan, n);
    if (r != 0)
        return r;
    opt.trace = cli_trace_options(&o->input, TROD_COL_KIND | trod_match_want(k->match));
    take_order(o, plan, n, parts, &opt.trace);
    k->order = opt.trace.order;
    if (parts) {
        opt.part = parts->part;
        opt.parts = parts->parts;
    }
    r = part_of(k, &choice, plan, n, &opt);
    if (r < 0)
        return r;
    if (!trod_match_all(k->match))
        opt.filter = filter;
    if (region) {
        opt.region_from = o->filter.range.lo;
        opt.region_to = o->filter.range.hi;
        opt.region_in = TROD_IN_ROWS;
    }
    opt.symbols = trod_match_symbols(k->match);
    return open_near(k, &choice, begins_anywhere(parts, &opt), &opt);
}

/* ---- results */

const struct trod_option *cli_own_option(const struct trod_analysis *a, const char *name)
{
    const struct trod_option *t = a->options;

    while (t && t->type != TROD_OPT_END && !(t->name && strcmp(t->name, name) == 0))
        t++;
    return t && t->type != TROD_OPT_END ? t : NULL;
}

/* Is the layout of PLAN a chart? */
static bool is_plot(const struct cli_planned *plan)
{
    const struct trod_option *t = cli_own_option(plan->analysis, "plot");
    bool on = false;

    if (t && t->type == TROD_OPT_BOOL)
        memcpy(&on, (const uint8_t *)plan->options + t->offset, sizeof on);
    return on;
}

/* RESULT as charts. */
static int draw(struct analysing *k, const struct trod_result *result, struct cli_out *out)
{
    const struct trod_plot_options opt = {
        .struct_size = sizeof opt, .width = cli_width(STDOUT_FILENO), .ascii = !cli_unicode()};
    struct trod_buf text = {0};
    int r = trod_plot_result(result, &opt, &text);

    if (r == 0)
        trod_warning(&k->diag, TROD_ERR_UNSUPPORTED, "plot.nothing", NULL,
                     "nothing of this result can be drawn");
    if (r > 0)
        fwrite(text.p, 1, text.n, out->file);
    trod_buf_fini(&text);
    return r < 0 ? r : 0;
}

/* The report, which begins when the first of what it says is there. */
struct telling {
    struct analysing *k;
    struct cli_out out;
    bool begun;
};

static int begin(struct telling *t)
{
    const int r = t->begun ? 0 : cli_report_begin(&t->out, t->k->c, &t->k->o->report);

    t->begun |= r == 0;
    return r;
}

/* The drain of a long text. */
static int put_text(void *user, const uint8_t *p, size_t n)
{
    struct telling *t = user;
    const int r = begin(t);

    if (r == 0)
        fwrite(p, 1, n, t->out.file);
    return r;
}

/* The result in the layout of another tool. 1, 0 where none is wanted, or an error. */
static int layout_of(struct analysing *k, const struct cli_planned *plan, struct trod_buf *text)
{
    void *st = trod_run_state(k->run, 0);
    int r = 0;

    if (plan->analysis->layout && st && k->o->report.format == TROD_EMIT_TEXT)
        r = plan->analysis->layout(st, text);
    if (r == 1 && is_plot(plan) && !cli_unicode())
        trod_plot_ascii(text);
    return r;
}

/* Open the level of analysis I of PLAN; its title says which one it is of several alike. */
static void open_level(struct trod_result *result, const struct cli_planned *plan, size_t i)
{
    const struct trod_analysis *a = plan[i].analysis;
    char title[128];
    unsigned number = 1;

    for (size_t k = 0; k < i; k++)
        number += plan[k].analysis == a;
    snprintf(title, sizeof title, "%s (%u)", a->title, number);
    trod_result_open(result, a->name, number > 1 ? title : a->title);
}

/* Could input I of T be read? Files may have been opened by parts of T, pipes never are. */
static bool was_read(const struct trod_trace *t, size_t i)
{
    struct trod_trace *again;
    bool opens;

    if (trod_trace_opened(t, i) || trod_trace_bytes(t, i) == TROD_NOWHERE)
        return trod_trace_opened(t, i);
    opens = trod_trace_open_file(&again, t, i, NULL, NULL) == 0;
    if (opens)
        trod_trace_close(again);
    return opens;
}

/* The files of T that were read: where nothing was wrong all of them. */
static size_t files_read(const struct cli *c, const struct trod_diag *diag,
                         const struct trod_trace *t)
{
    size_t n = 0;

    if (!diag->errors && !c->trouble)
        return trod_trace_files(t);
    for (size_t i = 0; i < trod_trace_files(t); i++)
        n += was_read(t, i);
    return n;
}

static int fill(struct analysing *k, const struct cli_planned *plan, size_t n,
                struct trod_result *result)
{
    const struct trod_trace *t = trod_run_trace(k->run);
    const struct trod_format *f = trod_trace_format(t);
    int r = 0;

    if (f)
        trod_result_str(result, "format", f->name);
    trod_result_u64(result, "files", files_read(k->c, &k->diag, t));
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (n > 1)
            open_level(result, plan, i);
        r = trod_run_result(k->run, i, result);
        if (n > 1)
            trod_result_close(result);
    }
    return r < 0 ? r : trod_result_status(result);
}

/* The results, also of a trace that could be read only in part; without any nothing is printed. */
static int tell(struct analysing *k, const struct cli_planned *plan, size_t n)
{
    struct telling t = {.k = k};
    struct trod_result *result = NULL;
    struct trod_buf text = {.drain = put_text, .user = &t};
    int r = n == 1 ? layout_of(k, plan, &text) : 0, end = 0;
    const bool laid = r == 1;

    if (laid && text.n == 0 && !t.begun && k->diag.errors == 0)
        trod_warning(&k->diag, TROD_OK, "run.nothing", NULL,
                     "'%s' has nothing to print: the trace has nothing that this output shows",
                     plan->analysis->name);
    if (r == 0)
        r = trod_result_new(&result);
    if (r == 0)
        r = fill(k, plan, n, result);
    if (r >= 0 && (r = begin(&t)) == 0) {
        if (laid)
            fwrite(text.n ? (const char *)text.p : "", 1, text.n, t.out.file);
        else if (k->o->plot.on && k->o->report.format == TROD_EMIT_TEXT)
            r = draw(k, result, &t.out);
        else
            trod_result_emit(result, t.out.emit);
    }
    if (t.begun)
        end = cli_report_end(&t.out);
    trod_result_free(result);
    trod_buf_fini(&text);
    return r < 0 ? r : end;
}

void cli_run_emit_trace(const struct cli *c, const struct trod_run *run,
                        const struct trod_diag *diag, struct trod_emit *e)
{
    const struct trod_trace *t = trod_run_trace(run);
    const struct trod_format *f = trod_trace_format(t);

    if (f)
        trod_emit_str(e, "format", f->name);
    trod_emit_u64(e, "files", files_read(c, diag, t));
}

int cli_run_emit(const struct trod_run *run, size_t i, struct trod_emit *e)
{
    struct trod_result *result;
    int r = trod_result_new(&result);

    if (r == 0)
        r = trod_run_result(run, i, result);
    if (r == 0)
        trod_result_emit(result, e);
    trod_result_free(result);
    return r;
}

/* Behind the bytes of OUT their sum. */
static int add_sum(struct trod_buf *out)
{
    uint64_t sum = cli_plan_sum(CLI_PLAN_SUM, out->p, out->n);
    uint8_t bytes[CLI_PLAN_SUM_BYTES];

    for (size_t i = 0; i < sizeof bytes; i++, sum >>= 8)
        bytes[i] = (uint8_t)sum;
    return trod_buf_add(out, bytes, sizeof bytes);
}

/* The states as PARTS says; reading has returned RC. */
static int save(struct analysing *k, const struct cli_parts *parts, int rc)
{
    struct trod_buf state = {0};
    struct trod_output *out;
    int r = 0;

    /* a part that is not all of it would be merged as if it were */
    if (trod_run_stopped(k->run))
        r = trod_error(&k->diag, TROD_ERR_TRUNCATED, "run.save", NULL,
                       "interrupted: state '%s' was not written", parts->save);
    if (r == 0)
        r = trod_buf_add(&state, parts->head.p, parts->head.n);
    if (r == 0)
        r = cli_plan_head_end(&state, rc < 0 || k->c->trouble, rc < 0 && k->o->input.strict);
    if (r == 0)
        r = trod_run_save(k->run, &state);
    if (r == 0)
        r = add_sum(&state);

    if (r == 0)
        r = trod_output_create(&out, parts->save, NULL, &k->diag);
    if (r == 0) {
        r = trod_output_write(out, state.p, state.n);
        if (r == 0)
            r = trod_output_commit(out);
        else
            trod_output_discard(out);
    }
    trod_buf_fini(&state);
    return r;
}

static int planned(struct analysing *k, const struct cli_share *share)
{
    const struct trod_trace *t = trod_run_trace(k->run);
    size_t first, last;
    int r = trod_run_share(k->run, &first, &last);

    if (r >= 0)
        share->planned(share->user, r ? trod_trace_path(t, first) : NULL,
                       r ? trod_trace_path(t, last) : NULL);
    return r < 0 ? r : 0;
}

static int go(struct analysing *k, const struct cli_parts *parts)
{
    const struct cli_share *share = parts ? parts->share : NULL;
    int r = 0;

    if (share && share->gather)
        return share->gather(share->user, k->run, &k->diag);
    for (size_t i = 0; r == 0 && parts && i < parts->n_saved; i++)
        r = trod_run_merge(k->run, parts->saved[i]);
    if (parts && parts->n_saved)
        return r;
    if (!(parts && (parts->parts || parts->save)) && !(share && share->planned) &&
        cli_indexed(k->run, k->c, k->o, trod_match_symbols(k->match), &k->diag))
        return 0;
    if (share && share->planned && (r = planned(k, share)) < 0)
        return r;
    return cli_run_go(k->c, k->run, &k->progress, &k->diag);
}

/*
 * Item I of the plan to the run. Who looks at records as they stand in the file (direct: check)
 * would find missing what is left out, and out of place what another file has in between.
 */
static int add(struct analysing *k, const struct cli_planned *plan, size_t i,
               const struct cli_share *share)
{
    const struct cli_span *part = &k->o->span;
    const bool chosen = !trod_match_all(k->match) || part->interval || part->region ||
                        part->warmup || part->limit || part->by == TROD_BY_CORE;

    const bool mixed = k->order != TROD_ORDER_FILE && trod_trace_files(trod_run_trace(k->run)) > 1;
    const bool direct = plan->analysis->direct;

    if (share && share->add) /* which has set how records are numbered in that order */
        return share->add(share->user, i, k->run, chosen && direct);
    if ((chosen || mixed) && direct)
        return trod_error(
            &k->diag, TROD_ERR_UNSUPPORTED, "run.whole", NULL,
            "analysis '%s' looks at all records of each file as they stand: no filter, "
            "interval, region, warm-up, results by core or order of rows other than "
            "--order file",
            plan->analysis->name);
    return trod_run_add(k->run, plan->analysis, plan->options);
}

/* What cannot be parted or saved is refused before anything is read. */
static int may_save(const struct analysing *k, const struct cli_parts *parts)
{
    size_t first, last;
    int r = 0;

    if (parts && parts->save)
        r = parts->parts > 1 ? trod_run_share(k->run, &first, &last) : trod_run_savable(k->run);
    return r < 0 ? r : 0;
}

int cli_analyse(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                size_t n, const struct cli_parts *parts)
{
    struct analysing k = {.c = c, .o = o, .start = {.plan = plan, .n_plan = n}};
    const struct cli_share *share = parts ? parts->share : NULL;
    int r;

    if (!share && cli_ranks() && !(parts && (parts->save || parts->parts || parts->n_saved)))
        return cli_ranks_analyse(c, o, plan, n);
    cli_diag_init(c, &k.diag);
    if (share && share->problem)
        trod_diag_init(&k.diag, share->problem, share->user);
    k.diag.strict = o->input.strict;
    r = cli_not_input(c, parts && parts->save ? parts->save : o->report.output, &k.diag);
    if (r == 0)
        r = open_run(&k, plan, n, parts);
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = add(&k, &plan[i], i, share);
    if (r >= 0)
        r = may_save(&k, parts);
    if (r >= 0) {
        int shown;

        r = go(&k, parts);
        if (r >= 0 && !(parts && parts->n_saved))
            trod_match_explain(k.match, trod_trace_meta(trod_run_trace(k.run)), &k.diag);
        /* what cannot be analysed as asked for has no numbers */
        shown = share && share->found ? share->found(share->user, k.run, &k.diag, r)
                : r == TROD_ERR_NOMEM || r == TROD_ERR_USAGE ? r
                : parts && parts->save                       ? save(&k, parts, r)
                                                             : tell(&k, plan, n);
        r = r < 0 ? r : shown;
    }
    if (r == TROD_ERR_NOMEM)
        trod_error(&k.diag, r, "run.memory", NULL, "out of memory");
    if (r < 0)
        c->trouble = true;
    if (share && share->found)
        r = c->trouble ? CLI_TROUBLE : CLI_YES; /* rank 0 says how many more there were */
    else
        r = cli_diag_end(c, &k.diag);
    trod_run_free(k.run);
    cli_start_end(&k.start); /* which has the calls that the run was given */
    trod_match_free(k.match);
    return c->trouble ? CLI_TROUBLE : r;
}
