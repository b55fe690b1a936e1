/*
 * first.h - the first rows of a listing, which wait until it is known how wide its columns are.
 *
 * Widths follow from these rows alone: not from the batches that they come in, which differ with
 * where reading begins and how many threads read.
 */
#ifndef CLI_FIRST_H
#define CLI_FIRST_H

#include "trod/batch.h"
#include "trod/meta.h"
#include "trod/show.h"

enum {
    CLI_FIRST = 2048,         /* rows that wait, at the most */
    CLI_FIRST_REACH = 1 << 16 /* and rows of the trace that they lie among */
};

struct cli_first {
    struct trod_batch *b; /* a copy of them */
    struct trod_meta meta;
    uint64_t row[CLI_FIRST]; /* their numbers */
    uint8_t mark[CLI_FIRST]; /* the caller's */
    uint8_t keep[TROD_BATCH_ROWS];
    bool over; /* no more rows wait */
};

/*
 * Row I of B, number ROW of the trace, waits with MARK; it counts for widths if KEEP. False: it
 * does not, and those before it wait no longer.
 */
bool cli_first_wait(struct cli_first *f, const struct trod_batch *b, uint32_t i, uint64_t row,
                    uint8_t mark, bool keep);
/* Rows before row ROW of the trace were looked at: do others still wait for those behind? */
bool cli_first_waits(const struct cli_first *f, uint64_t row);
/* Columns are made for numbers of rows from here on: a round one at or before the first. */
static inline uint64_t cli_first_row(uint64_t row)
{
    return row - row % TROD_BATCH_ROWS;
}

/* Does one wait, or did one? */
static inline bool cli_first_any(const struct cli_first *f)
{
    return f->b && f->b->n;
}

void cli_first_fini(struct cli_first *f);
/* Row I of B, number ROW, which cannot wait, because it is too long, comes first. */
void cli_first_measure(struct trod_show *rows, const struct trod_batch *b, uint32_t i,
                       uint64_t row);

#endif
