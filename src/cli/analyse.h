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
    int by;                                 /* 0: all together, 1: by thread */
};
extern const struct trod_option cli_span_options[];

/* The options of every sub-command that comes from a descriptor; the analysis' own lie behind. */
struct cli_analyse {
    struct cli_common common;
    struct cli_input input;
    struct trod_match_options filter;
    struct cli_span span;
    struct cli_report report;
};

struct cli_planned {
    const struct trod_analysis *analysis;
    const void *options;
};

struct cli_parts {
    unsigned part, parts;  /* this process reads part PART of PARTS; 0 of 0: all */
    const char *save;      /* write the states here instead of printing results; NULL: print */
    struct trod_span head; /* what stands before them in that file */
    const struct trod_span *saved; /* merge these instead of reading */
    size_t n_saved;
};

/*
 * Read the operands of C once, feed the N analyses of PLAN, print their results. Returns the exit
 * status. PARTS may be NULL.
 */
int cli_analyse(struct cli *c, const struct cli_analyse *o, const struct cli_planned *plan,
                size_t n, const struct cli_parts *parts);

/* What analysis I of R found, into the open level of E. 0 or an error. */
int cli_run_emit(const struct trod_run *r, size_t i, struct trod_emit *e);

/* The sub-command of analysis I of those that have one, NULL past the last. */
const struct cli_command *cli_analysis_command(size_t i);

#endif
