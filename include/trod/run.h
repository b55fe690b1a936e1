/*
 * run.h - several analyses in one pass over a trace, on several threads where that is possible.
 *
 * Implements docs/design.md, "Analyses": the columns that somebody needs are the union of what the
 * analyses need and use; what a format cannot deliver is refused before anything is read. Files of
 * a trace are shared out to threads; each has states of its own, which are merged in the order of
 * the files, so that results do not depend on the number of threads.
 */
#ifndef TROD_RUN_H
#define TROD_RUN_H

#include "trod/analysis.h"
#include "trod/trace.h"

struct trod_run;

enum { TROD_RUN_ITEMS = 32, TROD_RUN_JOBS = 256 };

struct trod_run_options {
    struct trod_trace_options trace; /* want: columns needed besides those of the analyses */
    unsigned jobs;                   /* threads; 0: as many as there are processors */
    bool serial;                     /* one state for all, in the order of the trace */
    /*
     * Called for each batch before the analyses see it; may drop rows (trod_batch_keep). Returns 1
     * to go on, 0 to end the run here, or an error. Makes the run serial. NULL: all rows.
     */
    int (*filter)(void *user, struct trod_batch *b);
    /* Called now and then, on the thread of trod_run_go. NULL: nobody wants to know. */
    void (*progress)(void *user, const struct trod_trace_progress *p);
    void *user;
};

/*
 * Open the N files or directories PATHS. OPT may be NULL. DIAG must outlive the run. Returns what
 * trod_trace_open returns.
 */
int trod_run_open(struct trod_run **out, const char *const *paths, size_t n,
                  const struct trod_run_options *opt, struct trod_diag *diag);

/*
 * Plan analysis A with options OPT (options_size bytes, not copied; NULL: its defaults). Returns
 * its number (0, 1, ...), TROD_ERR_UNSUPPORTED (the format lacks columns; the message names them),
 * TROD_ERR_USAGE (more than TROD_RUN_ITEMS) or TROD_ERR_NOMEM. All reported.
 */
int trod_run_add(struct trod_run *r, const struct trod_analysis *a, const void *opt);

/*
 * Read the trace. Returns 0 or the first error, in the order of the files; all but
 * TROD_ERR_NOMEM leave results of what could be read. Problems are reported in the order of the
 * files, whatever the number of threads. Once only.
 */
int trod_run_go(struct trod_run *r);

/* What analysis I found. Returns what its report returns, or TROD_ERR_USAGE before trod_run_go. */
int trod_run_report(const struct trod_run *r, size_t i, struct trod_emit *e);
/* Its state, for merge and save. */
void *trod_run_state(const struct trod_run *r, size_t i);

/* The trace (its format, files, meta of its first file) and how far it was read. */
const struct trod_trace *trod_run_trace(const struct trod_run *r);
void trod_run_progress(struct trod_run *r, struct trod_trace_progress *p);

void trod_run_free(struct trod_run *r);

#endif
