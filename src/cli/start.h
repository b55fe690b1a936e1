/*
 * start.h - commands that are asked about a part of a trace begin to read near it, where the trace
 * has an index (docs/navigating.md, "The index").
 */
#ifndef CLI_START_H
#define CLI_START_H

#include "analyse.h"

/* Where reading begins. All zero but what is asked: at the beginning. */
struct cli_start {
    const struct cli_input *input;
    const struct cli_index *index;
    const char *const *paths; /* of the trace, N of them */
    size_t n;
    struct trod_match *match;                /* NULL: none. What it chooses bounds the part, */
    const struct trod_match_options *filter; /* by these options; it is done behind the part */
    struct trod_range rows, times;           /* the part besides, if they are set */
    struct trod_range executed; /* likewise: instructions, which become ROWS where possible */
    bool owners;                /* which instruction a row belongs to matters */
    bool clock; /* so does the last time before the part, and how many instructions were executed */
    const struct cli_planned *plan; /* N_PLAN analyses: what those that follow calls need of the */
    size_t n_plan;                  /* rows before the part is known; */
    enum trod_by by;                /* for whom they have results */
    bool placed;                    /* EXECUTED are instructions with an address */
    uint64_t first, before; /* set where EXECUTED is: the first row read, instructions before it */
    struct trod_nav *nav;   /* of the trace, by who has opened one; NULL: nobody has */
    bool own;               /* it was opened here */
    struct trod_diag *report_to, diag;
};

/*
 * Set OPT->begin where that is of use: to be called when all else of OPT is settled, before the
 * trace is opened with it. Problems of the index are reported to DIAG. cli_start_end behind the
 * opening in every case. False: reading begins at the beginning.
 */
bool cli_start(struct cli_start *s, struct trod_trace_options *opt, struct trod_diag *diag);
void cli_start_end(struct cli_start *s);

/*
 * Of ROWS those stay from the first instruction with a number in NUMBERS on, up to the first one
 * with a larger number, which *UNTIL is; TROD_NOWHERE: there is none. 1, 0 (the index of NAV does
 * not know) or an error.
 */
int cli_numbers(struct trod_nav *nav, const struct trod_range *numbers, struct trod_range *rows,
                uint64_t *until);

/* Are NUMBERS of instructions asked for that the format of T does not give? */
bool cli_unnumbered(const struct trod_trace *t, const struct trod_range *numbers);
/*
 * B, whose first row is row FIRST, is the next batch of T: the row of its first instruction with a
 * larger number than NUMBERS; TROD_NOWHERE: none, or T has several files, each with its own.
 */
uint64_t cli_numbers_end(const struct trod_trace *t, const struct trod_range *numbers,
                         const struct trod_batch *b, uint64_t first);

/*
 * Set OPT->begin for reading from BEFORE rows before the first one that may be what NEED says, by
 * the index of NAV, if many lie before it. 1, 0 (reading begins as it would) or an error.
 */
int cli_start_late(struct trod_nav *nav, const struct trod_match_need *need, uint64_t before,
                   struct trod_trace_options *opt);

/* What is in both R and BY, to R. */
void cli_narrow(struct trod_range *r, const struct trod_range *by);

/* Does the analysis P follow what is going on in the rows before a part? */
bool cli_follows(const struct cli_planned *p);

#endif
