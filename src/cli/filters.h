/*
 * filters.h - choosing rows: the options of view, convert and whoever works on part of a trace.
 */
#ifndef CLI_FILTERS_H
#define CLI_FILTERS_H

#include "cli.h"

struct cli_filter {
    struct trod_range range, instructions, address, pc, time;
    struct trod_list kinds, streams, without_pc;
};

extern const struct trod_option cli_filter_options[];

struct cli_match {
    const struct cli_filter *filter;
    uint32_t kinds;                           /* bit by kind */
    struct trod_range without[TROD_LIST_MAX]; /* filter->without_pc */
    uint8_t *stream;                          /* by stream: 1 wanted, 0 not */
    uint32_t n_streams;                       /* streams judged so far */
    uint64_t seen;                            /* rows so far */
    bool single;    /* the trace is one file: its instruction numbers rise */
    bool all, done; /* nothing is filtered out; nothing more can match */
    uint8_t keep[TROD_BATCH_ROWS];
};

/* Prepare M for FILTER (which must outlive it). Returns 0 or TROD_ERR_USAGE, reported. */
int cli_match_init(struct cli_match *m, const struct cli_filter *filter, struct trod_diag *diag);
void cli_match_fini(struct cli_match *m);

/* Columns that matching needs. */
uint32_t cli_match_want(const struct cli_match *m);

/* What it may leave out: enum trod_drop. */
uint32_t cli_match_drops(const struct cli_match *m);

/* Rows a batch for trod_trace_open: few where few are wanted, so that nothing behind them is read.
 */
uint32_t cli_match_rows(const struct cli_match *m);

/*
 * Judge the rows of B, the next of the trace: m->keep is set by row, m->done when no row after them
 * can match. Returns how many match, or TROD_ERR_NOMEM.
 */
int cli_match_batch(struct cli_match *m, const struct trod_batch *b);

#endif
