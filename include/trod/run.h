/*
 * run.h - several analyses in one pass over a trace, on all cores.
 *
 * Implements docs/design.md, "The engine". The columns read are the union of those that the
 * analyses need and use; an analysis that needs a column the format lacks is refused before
 * anything is read. If every analysis allows it, files and parts of files are distributed among
 * threads, and their states merged in order. Otherwise one thread decodes, and the others feed the
 * instances (analyses and their shards). Results do not depend on the number of threads.
 */
#ifndef TROD_RUN_H
#define TROD_RUN_H

#include "trod/analysis.h"
#include "trod/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_run;

/* Number of processors that this process may run on (sched_getaffinity), 1 or more. */
unsigned trod_processors(void);

enum { TROD_RUN_ITEMS = 32, TROD_RUN_JOBS = 256, TROD_RUN_PIECE = 4 << 20 };

/* What a position or a length is counted in. */
enum trod_measure { TROD_IN_INSTRUCTIONS, TROD_IN_ROWS, TROD_IN_TIME };

struct trod_run_options {
    size_t struct_size;              /* sizeof the struct; 0 stands for its size in version 0 */
    struct trod_trace_options trace; /* want: columns needed besides those of the analyses */
    unsigned jobs;                   /* threads; 0: one for each processor it may use */
    bool serial;                     /* one state for all, in the order of the trace */
    /*
     * Called for each batch before the analyses see it, in the order of the trace, on one thread;
     * may drop rows (trod_batch_keep). Returns 1 to go on, 0 to end the run here, or an error.
     * NULL: all rows.
     */
    int (*filter)(void *user, struct trod_batch *b);
    /* Called now and then, on the thread of trod_run_go. NULL: never. */
    void (*progress)(void *user, const struct trod_trace_progress *p);
    void *user;
    /* Set by another thread or a signal handler: reading ends, results are partial. May be NULL. */
    const volatile bool *stop;

    /*
     * Intervals, region and warm-up (docs/analysing.md) end before an instruction, so that its
     * accesses stay with it, unless they are counted in rows.
     */
    uint64_t interval; /* length of an interval; 0: none */
    enum trod_measure interval_in;
    uint64_t region_from, region_to; /* rows FROM to TO, both included; 0 and 0: all */
    enum trod_measure region_in;
    uint64_t warmup; /* length of the beginning that prepares states but is not counted; 0: none */
    enum trod_measure warmup_in;
    bool by_stream; /* a result for each stream besides that of all, where an analysis merges */

    struct trod_symbols *symbols; /* of the caller, valid until the run is freed; or NULL */
    uint64_t piece;               /* smallest part of a plain file in bytes; 0: TROD_RUN_PIECE */
    unsigned part, parts; /* read only part PART (from 0) of PARTS of the trace; 0 of 0: all */
    enum trod_by by;      /* THREAD: as by_stream */
};

/*
 * Open the N files or directories PATHS. OPT may be NULL. DIAG must outlive the run. Returns what
 * trod_trace_open returns, or TROD_ERR_UNSUPPORTED (the format has no times that the options count
 * in; reported).
 */
int trod_run_open(struct trod_run **out, const char *const *paths, size_t n,
                  const struct trod_run_options *opt, struct trod_diag *diag);

/*
 * Plan analysis A with options OPT (NULL: its defaults). If A is sized, they are copied; else they
 * are options_size bytes that must outlive the run. Returns its number (0, 1, ...),
 * TROD_ERR_UNSUPPORTED (the format lacks columns; the message names them), TROD_ERR_USAGE (more
 * than TROD_RUN_ITEMS analyses, after trod_run_go, options of another version, or A has no results
 * of the kind that option by asks for) or TROD_ERR_NOMEM. All reported.
 */
int trod_run_add(struct trod_run *r, const struct trod_analysis *a, const void *opt);

/*
 * With option parts: the files of the trace that this run will read are *FIRST to *LAST (both
 * included); parts have about the same number of bytes. Returns 1, 0 (there is nothing to read in
 * this part), TROD_ERR_UNSUPPORTED (the run cannot be divided; reported) or TROD_ERR_NOMEM. To be
 * called after the last trod_run_add and before trod_run_go.
 */
int trod_run_share(struct trod_run *r, size_t *first, size_t *last);

/*
 * Read the trace. Returns 0 or the first error, in the order of the files; all but
 * TROD_ERR_NOMEM and TROD_ERR_UNSUPPORTED (option parts of a run that cannot be parted) leave
 * results of what could be read. Problems are reported in the order of the files, whatever the
 * number of threads. Once only: a second call returns TROD_ERR_USAGE.
 */
int trod_run_go(struct trod_run *r);

/*
 * The same without reading the trace: its calls come from SOURCE, an index of it
 * (trod_nav_callstack). Returns 0 with the results that trod_run_go would lead to;
 * TROD_ERR_UNSUPPORTED (R, or an analysis of it, needs rows; not reported), TROD_ERR_NOMEM, or what
 * SOURCE returned. On an error R is as before: trod_run_go may follow.
 */
int trod_run_calls(struct trod_run *r, const struct trod_callstack_source *source);
/*
 * The same for runs with symbols, which trod_run_calls refuses with TROD_ERR_UNSUPPORTED: the calls
 * of SOURCE were followed with the same symbols (trod_nav_follow).
 */
int trod_run_calls_named(struct trod_run *r, const struct trod_callstack_source *source);

/*
 * Write the result of analysis I to the open level of RESULT: its fields; with intervals the list
 * "intervals"; with by_stream the list "streams"; by core the list "cores"; and "partial" if the
 * run was stopped. Returns 0, what the result function of the analysis returns, TROD_ERR_USAGE
 * (before trod_run_go, or no such analysis), or TROD_ERR_NOMEM.
 */
int trod_run_result(const struct trod_run *r, size_t i, struct trod_result *result);
/* The state of analysis I for the whole trace; it belongs to R. */
void *trod_run_state(const struct trod_run *r, size_t i);
/* True when option stop ended the run before the trace did. */
bool trod_run_stopped(const struct trod_run *r);

/*
 * The states of all analyses as bytes, and back, so that processes can share out the parts of a
 * trace. trod_run_save, after trod_run_go, appends them to OUT. trod_run_merge adds a saved run to
 * R, which was opened on the same trace with the same analyses and has not been read, or has read
 * an earlier part; parts are merged in order. Both return 0, TROD_ERR_UNSUPPORTED (an analysis, or
 * results of intervals or cores, cannot be saved), TROD_ERR_CORRUPT (not saved by such a run) or
 * TROD_ERR_NOMEM, reported but for the last; or TROD_ERR_USAGE, not reported: saving before
 * trod_run_go or trod_run_merge, and merging again after a merge that failed, which may have added
 * some of its states.
 */
int trod_run_save(const struct trod_run *r, struct trod_buf *out);
/*
 * Can the states of R be saved, as far as that is known after the last trod_run_add? 0, or
 * TROD_ERR_UNSUPPORTED, reported as trod_run_save does.
 */
int trod_run_savable(const struct trod_run *r);
int trod_run_merge(struct trod_run *r, struct trod_span saved);

/* The trace (its format, files, meta of its first file) and how far it was read. */
const struct trod_trace *trod_run_trace(const struct trod_run *r);
void trod_run_progress(struct trod_run *r, struct trod_trace_progress *p);

/* Release R, its states and its trace. NULL is allowed. */
void trod_run_free(struct trod_run *r);

#ifdef __cplusplus
}
#endif

#endif
