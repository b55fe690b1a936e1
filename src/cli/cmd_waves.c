/*
 * cmd_waves.c - `trod waves`: a trace as waveforms for viewers of signals.
 *
 * The trace is read twice: the first time to find out what signals it has.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cli.h"
#include "start.h"

struct options {
    struct cli_common common;
    struct cli_input input;
    struct cli_index index;
    struct trod_match_options filter;
    const char *output;
    struct trod_list signals;
    bool cycles, no_date, tarmac_times;
    int like; /* 0 none, 1 tarmac */
};

static const char *const likes[] = {"none", "tarmac", NULL};

#define AT(field) offsetof(struct options, field)

static const struct trod_option options[] = {
    {.type = TROD_OPT_GROUP, .text = "Waves"},
    {"output", 'o', TROD_OPT_STR, AT(output), "OUT.vcd",
     "write to OUT.vcd, which appears when it is complete (default: standard output)", NULL, NULL},
    {"signals", 0, TROD_OPT_LIST, AT(signals), "NAME,...",
     "only signals of these names: pc, x0, cpu0.mem_*; patterns as of the shell (default: all)",
     NULL, NULL},
    {"cycles", 0, TROD_OPT_BOOL, AT(cycles), NULL,
     "a tick an instruction, whatever the trace says of time: shows instructions of one time apart",
     NULL, NULL},
    {"like", 0, TROD_OPT_ENUM, AT(like), "TOOL",
     "tarmac: the dump that tarmac-vcd of Arm's Tarmac Trace Utilities writes", likes, NULL},
    {"use-tarmac-timestamps", 0, TROD_OPT_BOOL, AT(tarmac_times), NULL,
     "with --like tarmac: times are 1000 times those of the trace, not numbers of groups of lines",
     NULL, NULL},
    {"no-date", 0, TROD_OPT_BOOL, AT(no_date), NULL, "with --like tarmac: no date in the header",
     NULL, NULL},
    CLI_SHARED(filter, "Which rows", trod_match_option_table),
    CLI_INPUT_OPTIONS,
    CLI_WHICH_INDEX,
    CLI_COMMON_OPTIONS,
    {.type = TROD_OPT_END},
};

/* Threads that have files of their own are merged by time, unless another order is asked for. */
static const struct options defaults = {.input.order = -1};

struct waving {
    struct cli *c;
    const struct options *o;
    struct trod_diag diag;
    struct trod_trace *trace[2]; /* for the first and the second time */
    struct trod_match *match;
    struct trod_waves *waves;
    struct trod_output *out;
    struct cli_progress progress;
    struct trod_buf calls; /* the call tree of Arm's tools, with --like tarmac */
};

/* Rows of B that are not chosen are dropped. 1, 0 where the trace need not be read on. */
static int choose(struct waving *w, struct trod_batch *b)
{
    int r = trod_match_batch(w->match, b);

    if (r < 0)
        return r;
    if (!trod_match_all(w->match))
        trod_batch_keep(b, trod_match_keep(w->match));
    return !trod_match_done(w->match);
}

/* Open the trace for the first or the second time, in the order that is asked for. */
static int open_with(struct waving *w, unsigned time, struct trod_trace_options *topt,
                     struct trod_diag *diag)
{
    struct cli_start start = {.input = &w->o->input,
                              .index = &w->o->index,
                              .paths = w->c->operands,
                              .n = w->c->n_operands,
                              .match = w->match,
                              .filter = &w->o->filter};
    int r;

    cli_start(&start, topt, diag);
    r = cli_open(&w->trace[time], start.paths, start.n, topt, w->match, diag);
    cli_start_end(&start);
    topt->begin = NULL;
    return r;
}

static int open_trace(struct waving *w, unsigned time, struct trod_diag *diag)
{
    struct trod_trace_options topt = cli_trace_options(&w->o->input, TROD_COL_KIND);
    const struct trod_format *f;
    int r;

    r = trod_match_new(&w->match, &w->o->filter, diag);
    if (r == 0)
        r = open_with(w, time, &topt, diag);
    if (r < 0)
        return r;
    f = trod_trace_format(w->trace[time]);
    if (w->o->input.order < 0 && !w->o->cycles && trod_trace_files(w->trace[time]) > 1 &&
        (f->reads & TROD_COL_TIME)) {
        struct trod_trace *by_time;

        topt.order = TROD_ORDER_TIME;
        if (trod_trace_open(&by_time, w->c->operands, w->c->n_operands, &topt, NULL) == 0) {
            trod_trace_close(by_time);
            trod_trace_close(w->trace[time]);
            w->trace[time] = NULL;
            trod_match_end(w->match, UINT64_MAX); /* that was of the other order */
            r = open_with(w, time, &topt, diag);
        }
    }
    if (r == 0 && !trod_trace_rewindable(w->trace[time]))
        r = trod_error(diag, TROD_ERR_USAGE, "waves.pipe", NULL,
                       "waves are made by reading twice, which a pipe does not allow: name a file");
    return r;
}

/* Read the trace for the first or the second time. */
static int read_rows(struct waving *w, unsigned time, struct trod_buf *text)
{
    struct trod_batch *b;
    int r, go = 1;

    trod_trace_want(w->trace[time], trod_waves_columns(w->waves) | trod_match_want(w->match));
    while (go > 0 && (r = trod_trace_next(w->trace[time], &b)) > 0) {
        r = go = choose(w, b);
        if (r < 0)
            return r;
        r = time == 0 ? trod_waves_survey(w->waves, b) : trod_waves_feed(w->waves, b, text);
        if (r == 0 && text->n) {
            r = trod_output_write(w->out, text->p, text->n);
            text->n = 0;
        }
        if (r < 0)
            return r;
        cli_progress_tick(&w->progress, w->trace[time], trod_match_seen(w->match));
    }
    return go > 0 ? r : 0;
}

/* Now, as these tools write it. */
static const char *today(char *text, size_t n)
{
    const time_t now = time(NULL);
    struct tm tm;

    return localtime_r(&now, &tm) && strftime(text, n, "%a %b %e %H:%M:%S %Y", &tm) ? text : NULL;
}

/* The tree that the names of functions come from: that of trod calls --like tarmac. */
static int find_calls(struct waving *w)
{
    const struct trod_analysis *a = trod_analysis_find("calls", 5);
    const struct trod_run_options ropt = {
        .trace = cli_trace_options(&w->o->input, TROD_COL_KIND),
        .symbols = trod_match_symbols(w->match),
    };
    struct trod_run *run = NULL;
    char spec[] = "like=tarmac";
    struct trod_diag quiet;
    void *opt = a ? calloc(1, a->options_size) : NULL;
    int r = opt ? 0 : TROD_ERR_NOMEM;

    trod_diag_init(&quiet, NULL, NULL); /* problems are reported when the rows are read */
    if (r == 0) {
        memcpy(opt, a->defaults, a->options_size);
        r = trod_option_spec(a->options, opt, spec, &w->diag);
    }
    if (r == 0)
        r = trod_run_open(&run, w->c->operands, w->c->n_operands, &ropt, &quiet);
    if (r == 0)
        r = trod_run_add(run, a, opt);
    if (r >= 0 && (r = trod_run_go(run)) != TROD_ERR_NOMEM)
        r = a->layout(trod_run_state(run, 0), &w->calls);
    if (r >= 0)
        r = trod_buf_add(&w->calls, "", 1);
    trod_run_free(run);
    free(opt);
    return r < 0 ? r : 0;
}

static int survey(struct waving *w)
{
    char date[64];
    struct trod_diag quiet;
    struct trod_buf none = {0};
    int r;

    if (!w->o->like && (w->o->no_date || w->o->tarmac_times))
        return trod_error(&w->diag, TROD_ERR_USAGE, "waves.like", NULL,
                          "--no-date and --use-tarmac-timestamps go with --like tarmac");
    r = open_trace(w, 0, &w->diag);
    if (r == 0 && w->o->like == 1) {
        if (w->o->signals.n || w->o->cycles)
            r = trod_error(&w->diag, TROD_ERR_USAGE, "waves.like", NULL,
                           "--signals and --cycles are not for --like tarmac");
        else if (strcmp(trod_trace_format(w->trace[0])->name, "tarmac") != 0)
            r = trod_error(&w->diag, TROD_ERR_UNSUPPORTED, "waves.like", NULL,
                           "--like tarmac is for traces of format tarmac; this is %s",
                           trod_trace_format(w->trace[0])->name);
        else
            r = find_calls(w);
    }
    if (r == 0) {
        const char *calls = w->calls.n ? (const char *)w->calls.p : NULL;
        const struct trod_waves_options opt = {
            .symbols = trod_match_symbols(w->match),
            .signals = w->o->signals,
            .cycles = w->o->cycles,
            .tarmac = w->o->like == 1,
            .tarmac_times = w->o->tarmac_times,
            .calls = calls,
            .date = w->o->like == 1 && !w->o->no_date ? today(date, sizeof date) : NULL,
            .merged = w->o->input.order > 0 || trod_trace_files(w->trace[0]) > 1,
        };

        r = trod_waves_new(&w->waves, &opt, trod_trace_meta(w->trace[0]), &w->diag);
    }
    if (r == 0) {
        /* damage is reported in the second pass */
        trod_diag_init(&quiet, NULL, NULL);
        quiet.sink = w->diag.sink;
        w->diag.sink = NULL;
        r = read_rows(w, 0, &none);
        w->diag.sink = quiet.sink;
    }
    return r == TROD_ERR_NOMEM || !w->waves ? r : 0;
}

static int write_waves(struct waving *w)
{
    struct trod_match *first = w->match; /* its symbols are those of the waves */
    struct trod_buf text = {0};
    int r, end;

    w->match = NULL;
    r = trod_waves_begin(w->waves, &text);
    if (r == 0)
        r = open_trace(w, 1, &w->diag);
    if (r == 0)
        r = trod_output_create(&w->out, w->o->output ? w->o->output : "-", NULL, &w->diag);
    if (r == 0) {
        r = trod_output_write(w->out, text.p, text.n);
        text.n = 0;
        if (r == 0)
            r = read_rows(w, 1, &text);
        end = r == TROD_ERR_NOMEM || r == TROD_ERR_IO ? r : trod_waves_end(w->waves, &text);
        if (end == 0)
            end = trod_output_write(w->out, text.p, text.n);
        if (end == 0 && (r == 0 || !w->diag.strict))
            end = trod_output_commit(w->out);
        else
            trod_output_discard(w->out);
        r = r < 0 ? r : end;
    }
    trod_buf_fini(&text);
    trod_match_free(w->match);
    w->match = first;
    return r;
}

static void tell(struct waving *w)
{
    struct trod_waves_summary s;
    char n[TROD_PUT_GROUPED + 1];

    trod_waves_count(w->waves, &s);
    if (s.shared) {
        *trod_put_grouped(n, s.shared) = '\0';
        cli_say(w->c,
                s.shared == 1
                    ? "%s instruction has the time of the one before it and hides it; --cycles "
                      "shows each"
                    : "%s instructions have the time of the one before them and hide it; --cycles "
                      "shows each",
                n);
    }
    if (s.back) {
        *trod_put_grouped(n, s.back) = '\0';
        cli_say(w->c,
                s.back == 1
                    ? "%s row lies before the time of a row before it and is shown at that time"
                    : "%s rows lie before the time of a row before them and are shown at its time",
                n);
    }
}

/* No library of Debian writes FST: a file of that name would not be what it says. */
static bool is_fst(struct waving *w)
{
    const char *name = w->o->output ? w->o->output : "", *dot = strrchr(name, '.');

    if (!dot || strcasecmp(dot, ".fst") != 0)
        return false;
    trod_error(&w->diag, TROD_ERR_UNSUPPORTED, "waves.format", NULL,
               "'%s': waveforms are written as VCD: write a .vcd file and make FST of it with "
               "vcd2fst (package gtkwave)",
               name);
    return true;
}

static int run(struct cli *c, const void *opt)
{
    struct waving w = {.c = c, .o = opt};
    int r;

    cli_diag_init(c, &w.diag);
    if (is_fst(&w)) {
        cli_diag_end(c, &w.diag);
        return CLI_TROUBLE;
    }
    w.diag.strict = w.o->input.strict;
    cli_progress_begin(&w.progress, c);
    r = cli_not_input(c, w.o->output, &w.diag);
    if (r == 0)
        r = survey(&w);
    if (r == 0)
        r = write_waves(&w);
    cli_progress_end(&w.progress);
    if (r == 0)
        tell(&w);
    if (r == TROD_ERR_NOMEM)
        trod_error(&w.diag, r, "waves.memory", NULL, "out of memory");
    if (cli_diag_end(c, &w.diag) != CLI_YES)
        r = TROD_ERR_IO;
    trod_waves_free(w.waves);
    trod_match_free(w.match);
    trod_buf_fini(&w.calls);
    trod_trace_close(w.trace[0]);
    trod_trace_close(w.trace[1]);
    return r < 0 ? CLI_TROUBLE : CLI_YES;
}

const struct cli_command cli_command_waves = {
    .name = "waves",
    .title = "write a trace as waveforms (VCD)",
    .operands = "FILE...",
    .about =
        "Write what registers, program counter, opcode, function and memory accesses of each cpu "
        "or thread are over time as a value change dump, for viewers of waveforms such as gtkwave "
        "and next to the waves of a simulated design. Only changes are written; what is not known "
        "is x. Several FILEs, or a directory, are read as one trace, by time. Everything is read "
        "twice, so not from a pipe.",
    .examples = "  trod waves --like tarmac --no-date calc.tarmac -S calc.elf -o calc.vcd\n"
                "  trod waves run.tarmac -o run.vcd && gtkwave run.vcd\n"
                "  trod waves run.tarmac --signals pc,function,sp,'mem_*' -S prog.elf -o run.vcd\n"
                "  trod waves run.tarmac --cycles --instructions 1000..2000 -o part.vcd\n",
    .options = options,
    .options_size = sizeof(struct options),
    .defaults = &defaults,
    .least = 1,
    .most = SIZE_MAX,
    .run = run,
};
