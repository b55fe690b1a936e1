/*
 * find.h - rows that are looked for from the cursor on: by an expression, by what they write, by
 * what they execute.
 */
#ifndef BROWSE_FIND_H
#define BROWSE_FIND_H

#include "browse/model.h"

/* Each puts the cursor to the row: 1, 0 (there is none, as was reported) or an error. BACK: before
 * the cursor.
 */

/* The next row for which the expression TEXT holds (trod-where(7)). */
int browse_find(struct browse *b, const char *text, bool back);
/* The same from the cursor's row on, that included. */
int browse_find_here(struct browse *b, const char *text);
/*
 * The next row that does ACCESS (enum trod_nav_access: WRITES, READS) to WHAT: a register, a symbol
 * or an address (browse_address), or LO..HI.
 */
int browse_access(struct browse *b, const char *what, unsigned access, bool back);
/* The next row at which the value of WHAT, a register or LO..HI of at most 8 bytes, is another one.
 */
int browse_change(struct browse *b, const char *what, bool back);
/* What WHAT names, at the cursor, as a question about ACCESS; a name stays the caller's. */
void browse_query(struct browse *b, const char *what, unsigned access, struct trod_nav_query *out);
/* The next execution of the instruction at PC. */
int browse_visit(struct browse *b, uint64_t pc, bool back);
/* The next or the last row of KIND (enum trod_kind). */
int browse_kind(struct browse *b, unsigned kind, bool back);

/* The rows nearest to the cursor that write or read WHAT, in order. */
struct browse_accesses {
    struct trod_nav_hit *at; /* to be freed */
    size_t n, here;          /* the first one at or after the cursor */
};
/* 1, 0 (there are none, as was reported) or an error. */
int browse_accesses(struct browse *b, const char *what, struct browse_accesses *out);

/*
 * Rows FROM to END (not among them) of B's trace to FN, a batch or a part of one at a time; I is
 * the first of N rows, its number ROW. FN returns more than 0 to go on. Returns 0 or an error.
 */
typedef int (*browse_fn)(void *user, const struct trod_batch *batch, uint32_t i, uint32_t n,
                         uint64_t row);
int browse_read(struct browse *b, uint64_t from, uint64_t end, uint32_t want, browse_fn fn,
                void *user);

#endif
