/*
 * analyse.h - one pass of one or several analyses over the operands: what the sub-commands that
 * come from descriptors share, and what the ones written by hand may use.
 */
#ifndef CLI_ANALYSE_H
#define CLI_ANALYSE_H

#include "cli.h"

/* Which part of a trace is looked at, and how it is divided. */
struct cli_span {
    const char *interval, *region, *warmup; /* "N[:MEASURE]", "FROM..TO[:MEASURE]" */
    uint64_t limit;                         /* instructions; 0: all */
    int by;                                 /* enum trod_by */
};
extern const struct trod_option cli_span_options[];
/* The words of --by, as enum trod_by; NULL behind the last. */
extern const char *const cli_groupings[];

/* Charts instead of tables; for analyses that have no option of that name. */
struct cli_plot {
    bool on;
};
extern const struct trod_option cli_plot_options[];

/* The options of every sub-command that comes from a descriptor; the analysis' own lie behind. */
struct cli_analyse {
    struct cli_common common;
    struct cli_input input;
    struct trod_match_options filter;
    struct cli_span span;
    struct cli_report report;
    struct cli_plot plot;
    struct cli_index index;
};

/* Those of them that a sub-command written by hand has, in its struct options as ANALYSE. */
#define CLI_ANALYSE_OPTIONS                                                                        \
    CLI_SHARED(analyse.span, "Part and division", cli_span_options),                               \
        CLI_SHARED(analyse.filter, "Choosing rows", trod_match_option_table),                      \
        CLI_SHARED(analyse.input, "Input", cli_input_options),                                     \
        CLI_SHARED(analyse.index, NULL, cli_index_options),                                        \
        CLI_SHARED(analyse.report, "Output", cli_report_options)

struct cli_planned {
    const struct trod_analysis *analysis;
    const void *options;
};

/* What the options COUNT leave open, as output in FORMAT (enum trod_emit_format) has it. */
void cli_count_for(struct trod_count_options *count, int format);

/* How a run that several processes share meets the others. Functions may be NULL. */
struct cli_share {
    /* Problems go here instead of to standard error. */
    void (*problem)(void *user, const struct trod_problem *p);
    /* What this process will read: files FIRST to LAST, or nothing (NULL). */
    void (*planned)(void *user, const char *first, const char *last);
    /* Add analysis I of the plan to RUN, or leave it out. LACKS: it needs all rows, of which some
     * were chosen. Of several files in another order than theirs it is not asked whether the
     * analysis can follow: its options say so. Returns 0 to go on, or an error. NULL: all are
     * added, and must be possible. */
    int (*add)(void *user, size_t i, struct trod_run *run, bool lacks);
    /* Instead of printing results: RUN returned RC. Returns what is wrong, or 0. */
    int (*found)(void *user, const struct trod_run *run, const struct trod_diag *diag, int rc);
    /* Instead of reading: put what the others found into RUN. TROD_ERR_USAGE: no results. */
    int (*gather)(void *user, struct trod_run *run, struct trod_diag *diag);
    void *user;
};

struct cli_parts {
    unsigned part, parts;  /* this process reads part PART of PARTS; 0 of 0: all */
    const char *save;      /* write the states here instead of printing results; NULL: print */
    struct trod_span head; /* what stands before them in that file, up to cli_plan_head_end */
    const struct trod_span *saved; /* merge these instead of reading */
    size_t n_saved;
    const struct cli_share *share; /* NULL: this process is alone */
};

/*
 * Read the operands of C once, feed the N analyses of PLAN, print their results. Returns the exit
 * status. PARTS may be NULL.
 */
int cli_analyse(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                size_t n, const struct cli_parts *parts);

/*
 * The analyses of R get what they count from an index of the operands of C (indexed.c): 1, 0 where
 * they need rows, or there is no index, or none with calls as SYMBOLS, those of R, make them.
 * Problems of the index are reported to DIAG.
 */
int cli_indexed(struct trod_run *r, const struct cli *c, const struct cli_analyse *o,
                const struct trod_symbols *symbols, struct trod_diag *diag);

/* What analysis I of R found, into the open level of E. 0 or an error. */
int cli_run_emit(const struct trod_run *r, size_t i, struct trod_emit *e);
/* Which format the trace of R has and how many of its files were read, DIAG being of the reading.
 */
void cli_run_emit_trace(const struct cli *c, const struct trod_run *r, const struct trod_diag *diag,
                        struct trod_emit *e);

/* The option NAME of A itself, or NULL. */
const struct trod_option *cli_own_option(const struct trod_analysis *a, const char *name);

/* The sub-command of analysis I of those that have one, NULL past the last. */
const struct cli_command *cli_analysis_command(size_t i);

#endif
