/*
 * whose.h - whose data an address is: of an object, a block of the heap, a stack, a module.
 *
 * Implements docs/caches.md, "Whose data". Rows are shown in the order of the trace: calls of
 * allocation functions say where blocks are, calls and instructions that go through the stack
 * pointer where stacks are. An owner is known by a number, from 1, and is named at the end.
 */
#ifndef TROD_SIM_WHOSE_WHOSE_H
#define TROD_SIM_WHOSE_WHOSE_H

#include "trod/batch.h"

struct trod_symbols;
struct trod_whose;

enum trod_whose_by {
    TROD_WHOSE_DATA,   /* objects, blocks by where they were asked for, stacks, modules */
    TROD_WHOSE_BLOCK,  /* the same, each block for itself */
    TROD_WHOSE_REGION, /* code and data of each module, the heap, mappings, stacks */
    TROD_WHOSE_BYS
};

enum { TROD_WHOSE_NAME = 640, TROD_WHOSE_NOBODY = 0 };

/* Columns that say whose data something is, beside the address and kind of the rows. */
enum {
    TROD_WHOSE_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_ADDR |
                         TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_TEXT
};

/*
 * SYMBOLS (may be NULL) have the objects and modules; they are looked at here only. Returns 0 or
 * TROD_ERR_NOMEM. Release it with trod_whose_free; NULL is allowed.
 */
int trod_whose_new(struct trod_whose **out, enum trod_whose_by by, struct trod_symbols *symbols);
void trod_whose_free(struct trod_whose *w);

/*
 * ROW of B, the next of the trace. Returns the number of the owner of what it references, NOBODY
 * where it is no instruction or access with an address. Failures are kept (trod_whose_failed).
 */
uint32_t trod_whose_row(struct trod_whose *w, const struct trod_batch *b, uint32_t row);
/* The owner of tables of pages, which walks read. */
uint32_t trod_whose_tables(struct trod_whose *w);
/* Was there no memory? */
bool trod_whose_failed(const struct trod_whose *w);

/* No more rows: pages that nobody is known to own become stretches. 0 or TROD_ERR_NOMEM. */
int trod_whose_end(struct trod_whose *w);
/* After that: the owner that OWNER is counted with, a number of an owner too. */
uint32_t trod_whose_of(const struct trod_whose *w, uint32_t owner);
/* The name of OWNER, NUL-terminated, in TEXT. META is that of the trace. */
void trod_whose_name(const struct trod_whose *w, uint32_t owner, const struct trod_meta *meta,
                     char text[TROD_WHOSE_NAME]);

#endif
