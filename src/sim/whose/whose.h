/*
 * whose.h - the owner of the data at an address: an object, a block of the heap, a stack, a module.
 *
 * Implements docs/caches.md, "Whose data". The rows are given in the order of the trace. Calls of
 * allocation functions show where blocks are; calls and instructions that use the stack pointer
 * show where stacks are. An owner is identified by a number, from 1; its name is asked for at the
 * end.
 */
#ifndef TROD_SIM_WHOSE_WHOSE_H
#define TROD_SIM_WHOSE_WHOSE_H

#include "trod/batch.h"

struct trod_symbols;
struct trod_whose;

enum trod_whose_by {
    TROD_WHOSE_DATA,   /* objects, blocks by where they were asked for, stacks, modules */
    TROD_WHOSE_BLOCK,  /* the same, but each block is an owner of its own */
    TROD_WHOSE_REGION, /* code and data of each module, the heap, mappings, stacks */
    TROD_WHOSE_BYS
};

enum { TROD_WHOSE_NAME = 640, TROD_WHOSE_NOBODY = 0 };

/* The columns that it uses. */
enum {
    TROD_WHOSE_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_ADDR |
                         TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_TEXT
};

/*
 * A new table of owners. SYMBOLS (may be NULL) have the objects and modules and outlive it. Returns
 * 0 or TROD_ERR_NOMEM. Release it with trod_whose_free; NULL is allowed.
 */
int trod_whose_new(struct trod_whose **out, enum trod_whose_by by, struct trod_symbols *symbols);
void trod_whose_free(struct trod_whose *w);

/*
 * Process ROW of B, the next row of the trace. Returns the owner of what it references, or
 * TROD_WHOSE_NOBODY if it is no instruction or access with an address. Lack of memory is remembered
 * (trod_whose_failed).
 */
uint32_t trod_whose_row(struct trod_whose *w, const struct trod_batch *b, uint32_t row);
/* The owner of the page tables, which page walks read. */
uint32_t trod_whose_tables(struct trod_whose *w);
/* Was memory lacking at any time? */
bool trod_whose_failed(const struct trod_whose *w);

/* No more rows: adjacent pages without a known owner are joined. 0 or TROD_ERR_NOMEM. */
int trod_whose_end(struct trod_whose *w);
/* After trod_whose_end: the owner under which OWNER is counted. */
uint32_t trod_whose_of(const struct trod_whose *w, uint32_t owner);
/* Write the name of OWNER, NUL-terminated, to TEXT. META is that of the trace. */
void trod_whose_name(const struct trod_whose *w, uint32_t owner, const struct trod_meta *meta,
                     char text[TROD_WHOSE_NAME]);

#endif
