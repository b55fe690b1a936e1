/*
 * reporting.h - what many analyses find in a trace, for `trod report`.
 */
#ifndef CLI_REPORTING_H
#define CLI_REPORTING_H

#include "damages.h"
#include "plan.h"

enum { CLI_REPORT_PROBLEMS = 200 };

/* What one trace gave. */
struct cli_reporting {
    struct cli *c;
    const struct cli_plan *plan;
    struct trod_result *part[TROD_RUN_ITEMS + 1]; /* of each analysis of the plan; NULL: none */
    char *reason[TROD_RUN_ITEMS + 1];             /* why it has none */
    struct trod_result *trace;                    /* what was read */
    /* of the run, while it goes on */
    struct trod_diag print;
    struct trod_result *problems;
    size_t n_problems;
    struct cli_damages damages;
    struct cli_planned item[TROD_RUN_ITEMS];
    size_t n;
    int number[TROD_RUN_ITEMS]; /* in the run; negative: it could not be run */
    uint64_t refused;
    char last[512]; /* message of the last refusal */
    bool found;
    bool unread;  /* a file could not be opened or read */
    bool whole;   /* read to its end */
    bool stopped; /* by Ctrl-C, in whichever pass */
    bool once;    /* a pipe is read, and no order was named */
    bool apart;   /* sync is found by a pass of its own, in the order of synchronization */
    bool in_sync; /* that pass goes on */
    uint64_t errors, warnings;
    int rc;
};

/*
 * Read the operands of C once (a single file of Amber once more, for sync) and keep the results of
 * the analyses of PLAN, and the problems of a trace that is damaged or empty. Returns 0, or an
 * error after which there is nothing to report (already printed): TROD_ERR_IO if no file could be
 * opened.
 */
int cli_reporting_read(struct cli_reporting *k, struct cli *c, const struct cli_analyse *o,
                       const struct cli_plan *plan);
/* Instead: the trace PATH was not read, for Ctrl-C ended the reading before it. 0 or an error. */
int cli_reporting_stop(struct cli_reporting *k, struct cli *c, const char *path);
/* All of it, into the open level of R: an object for each analysis. 0 or an error. */
int cli_reporting_put(const struct cli_reporting *k, struct trod_result *r);
/* How the results of B differ from those of A, as the object "differences" of the open level of R:
 * one for each analysis that both have. 0 or an error. */
int cli_reporting_differences(const struct cli_reporting *a, const struct cli_reporting *b,
                              struct trod_result *r);
void cli_reporting_fini(struct cli_reporting *k);

#endif
