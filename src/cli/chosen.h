/*
 * chosen.h - rows of a trace to move about in that an expression chooses (trod-where(7)).
 *
 * The trace is read again for it, from the index where there is one; an expression over pc, or what
 * goes by it, is judged from the beginning of the trace, since a row may not say which instruction
 * it belongs to.
 */
#ifndef CLI_CHOSEN_H
#define CLI_CHOSEN_H

#include "navigating.h"

/* Is EXPRESSION one? Returns 0 or an error, reported. */
int cli_chosen_check(struct cli_nav *n, const char *expression);

/*
 * The last row at or before *ROW for which EXPRESSION holds, to *ROW. Returns 0 or an error,
 * reported: TROD_ERR_USAGE where there is none.
 */
int cli_chosen_last(struct cli_nav *n, const char *expression, uint64_t *row);

/*
 * For which of the K rows ROW, in ascending order, does EXPRESSION hold? To HOLDS, K bytes. Returns
 * 0 or an error, reported.
 */
int cli_chosen_rows(struct cli_nav *n, const char *expression, const uint64_t *row, size_t k,
                    uint8_t *holds);

#endif
