/*
 * span.h - what --interval, --warmup, --region and --limit say to a run.
 */
#ifndef CLI_SPAN_H
#define CLI_SPAN_H

#include "analyse.h"

struct cli_spanning {
    const struct cli *c;
    const struct cli_analyse *o;
    struct trod_symbols *symbols; /* names of places; NULL: none */
    bool chosen;                  /* other options choose rows, too */
    struct trod_range rows;       /* filled: rows that are to be chosen instead of a region */
    struct trod_range times;      /* filled: likewise */
};

/* Does the region of S lie between places ("main..0x8000:3") instead of numbers? */
bool cli_span_placed(const struct cli_span *s);
/* Put the options into OPT, whose trace is the one that will be read. 0 or an error, reported to
 * DIAG. */
int cli_span_read(struct cli_spanning *s, struct trod_run_options *opt, struct trod_diag *diag);

#endif
