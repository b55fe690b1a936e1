/*
 * loss_streams.h - what rows lose in a file that holds one stream.
 *
 * Part of the account of loss.h. The stream of the file is that of the first row that it has; all
 * other rows lose theirs. Which rows it has may be known later than they are given.
 */
#ifndef TROD_TRACE_LOSS_STREAMS_H
#define TROD_TRACE_LOSS_STREAMS_H

#include "trod/loss.h"

/* L counts for one file; WHY (static text): why rows of other streams lose theirs. 0 or an error.
 */
int trod_loss_streams_begin(struct trod_loss *l, const char *why);
void trod_loss_streams_end(struct trod_loss *l);

/*
 * The rows of B, all of one stream where they say one, are given: before they are encoded. Returns
 * 0 or TROD_ERR_NOMEM.
 */
int trod_loss_streams_give(struct trod_loss *l, const struct trod_batch *b);

/* ROW, which was given, is not written. */
void trod_loss_streams_drop(struct trod_loss *l, const struct trod_loss_held *row);

#endif
