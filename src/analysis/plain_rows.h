/*
 * plain_rows.h - rows between markers, counted many at once, for analyses that look at markers and
 * else count instructions.
 */
#ifndef TROD_ANALYSIS_PLAIN_ROWS_H
#define TROD_ANALYSIS_PLAIN_ROWS_H

#include "trod/batch.h"

struct trod_plain_rows {
    uint32_t end; /* the row behind them */
    uint32_t instructions;
    uint32_t user; /* of these, those that are not the kernel's */
};

/*
 * The rows [FROM, end) of B, up to TO, that are of the stream of row FROM and neither MARKER nor
 * THREAD. INSTR rows with one of the flags ABSENT do not count as instructions.
 */
struct trod_plain_rows trod_plain_rows(const struct trod_batch *b, uint32_t from, uint32_t to,
                                       uint32_t absent);

#endif
