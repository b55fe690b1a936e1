/*
 * calls.h - the calls around the cursor: folded into one line, and as a stack.
 *
 * Calls are those of trod/callstack.h, followed without symbols, which only give names: what is
 * shown is what trod_nav_calls tells. An index knows the calls; without one they are followed from
 * the beginning of the trace.
 */
#ifndef BROWSE_CALLS_H
#define BROWSE_CALLS_H

#include "browse/model.h"

/*
 * Fold the call that the instruction at the cursor makes, else the one that the cursor is in. 1, 0
 * (there is none, as was reported) or an error.
 */
int browse_fold(struct browse *b);
/* Fold all calls that the function at the cursor makes, or made, itself. */
int browse_fold_callees(struct browse *b);
/* Unfold what is folded in the calls that the function at the cursor makes. */
int browse_unfold_callees(struct browse *b);
/* Fold all calls that are made at depth DEPTH, from 0, and no others: of each thread or cpu that is
 * seen. */
int browse_fold_deep(struct browse *b, uint32_t depth);
/* Fold all calls of the function that is entered at PC. */
int browse_fold_function(struct browse *b, uint64_t pc);
/* Where the function begins that the fold at the cursor is of, or that the cursor is in. 1, 0: not
 * known, or an error. */
int browse_function(struct browse *b, uint64_t *pc);
/* Unfold what is at the cursor: 1, 0: nothing. All of them. */
int browse_unfold(struct browse *b);
void browse_unfold_all(struct browse *b);

/* A function that is open at the cursor. */
struct browse_frame {
    char name[64];
    uint64_t site; /* row of the call; TROD_NOWHERE: not known */
    uint64_t pc;   /* address of the call */
    uint64_t entry;
};
/* The stack at the cursor, innermost first, into *OUT (to be freed) and *N. Returns 0 or an error.
 */
int browse_stack(struct browse *b, struct browse_frame **out, size_t *n);

#endif
