/*
 * calls.h - which activations are open: followed over rows, kept in an index, asked for.
 *
 * Implements the open calls of docs/navigating.md, "State". Stacks are followed without symbols, so
 * that they are the same for every caller (trod/callstack.h says by which rules).
 */
#ifndef NAVIGATE_CALLS_H
#define NAVIGATE_CALLS_H

#include "navigate/events.h"
#include "trod/batch.h"
#include "trod/navigate.h"

struct nav_calls;

/*
 * Nobody has called yet. LOG: what happens is to be saved (nav_calls_save). SYMBOLS, which may be
 * NULL, outlive it. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_calls_new(struct nav_calls **out, bool log, const struct trod_symbols *symbols);
void nav_calls_free(struct nav_calls *c);
/* Rows I to I + N of B, of which the first is row ROW. Returns 0 or TROD_ERR_NOMEM. */
int nav_calls_feed(struct nav_calls *c, const struct trod_batch *b, uint32_t i, uint32_t n,
                   uint64_t row);
/* No rows follow, the trace has ROW: what is open ends. Returns 0 or TROD_ERR_NOMEM. */
int nav_calls_end(struct nav_calls *c, uint64_t row);
/* What was seen so far; instructions only of streams that have ended. */
void nav_calls_counts(const struct nav_calls *c, struct trod_callstack_counts *out);
/*
 * The stacks as they were at the last nav_calls_save, or at the beginning, and what happened since,
 * appended to OUT. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_calls_save(struct nav_calls *c, struct trod_buf *out);
/* How many events there are to be saved. */
size_t nav_calls_events(const struct nav_calls *c);
/*
 * All streams have ended: what calls cost by stacks (tree.h), appended to OUT, unless a stack has
 * fewer than PART activations on average. The same.
 */
int nav_calls_tree(struct nav_calls *c, uint64_t part, struct trod_buf *out);
/*
 * The stack of STREAM at ROW from what nav_calls_save gave: N frames, outermost first, appended to
 * OUT as struct trod_nav_call. Returns 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM.
 */
int nav_calls_load(struct trod_span in, uint64_t row, uint32_t stream, struct trod_buf *out);
enum { NAV_NO_CONTEXT = TROD_CALLSTACK_CONTEXTS };
/*
 * What happens in it to the calls of STREAM from row ROW on, in the context *CONTEXT, to FN with
 * USER. NAV_NO_CONTEXT: in the one that runs after ROW, which is set then. Returns what FN
 * returned last, 1 where it was not called, TROD_ERR_CORRUPT or TROD_ERR_NOMEM.
 */
int nav_calls_walk(struct trod_span in, uint64_t row, uint32_t stream, uint32_t *context,
                   trod_nav_call_fn fn, void *user);
/*
 * What happens in it, from its beginning on: to be read with nav_events_next, closed in every case.
 * IN outlives OUT. Returns 0 or TROD_ERR_CORRUPT.
 */
int nav_calls_read(struct trod_span in, struct nav_events_reader *out);
/*
 * The stacks of all streams before ROW, from what nav_calls_save gave, appended to OUT as struct
 * trod_given, and from *FIRST on what happens there, which R reads. IN outlives R, which is closed
 * in every case. Returns 1, 0 (nothing happens: there is no *FIRST), TROD_ERR_CORRUPT or
 * TROD_ERR_NOMEM.
 */
int nav_calls_begin(struct trod_span in, uint64_t row, struct trod_buf *out,
                    struct nav_events_reader *r, struct nav_event *first);
/* The stack of STREAM as it is, appended to OUT. */
int nav_calls_stack(const struct nav_calls *c, uint32_t stream, struct trod_buf *out);

#endif
