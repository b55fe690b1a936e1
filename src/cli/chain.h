/*
 * chain.h - `trod who --chain`.
 */
#ifndef CLI_CHAIN_H
#define CLI_CHAIN_H

#include "navigating.h"

/*
 * Tell where what QUERY names came from, before row ROW, as a table; DOT: and write it to this file
 * as a graph. Returns 0 or an error, reported.
 */
int cli_chain(struct cli_nav *n, const struct trod_nav_query *query, uint64_t row, uint64_t depth,
              const char *dot, const struct cli_report *report);

#endif
