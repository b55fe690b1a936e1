/*
 * sync.h - the order graph of a trace set as a picture.
 *
 * Implements amber, "Thread Synchronization Records": signals and waits are nodes, the program
 * order of each thread and "signal before the wait that carries its count" are edges.
 */
#ifndef TROD_SYNC_H
#define TROD_SYNC_H

#include "trod/batch.h"
#include "trod/io.h"
#include "trod/meta.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_sync_dot;

/*
 * Write the graph to OUT (not owned) in the DOT language, one column a thread. META names the
 * threads. Returns 0, TROD_ERR_NOMEM or TROD_ERR_IO.
 */
int trod_sync_dot_new(struct trod_sync_dot **dot, struct trod_output *out,
                      const struct trod_meta *meta);
/* Add the SYNC rows of B, which come in a legal order. Returns 0, TROD_ERR_NOMEM, TROD_ERR_IO. */
int trod_sync_dot_feed(struct trod_sync_dot *dot, const struct trod_batch *b);
/* Close the graph and release DOT. Returns 0 or TROD_ERR_IO. NULL is allowed. */
int trod_sync_dot_end(struct trod_sync_dot *dot);

#ifdef __cplusplus
}
#endif

#endif
