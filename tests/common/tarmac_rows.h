/*
 * tarmac_rows.h - rows of the Tarmac and Trace Matcher drivers as one line each, short enough to be
 * written by hand beside the line of the trace that they come from.
 */
#ifndef TROD_TEST_TARMAC_ROWS_H
#define TROD_TEST_TARMAC_ROWS_H

#include "testlib.h"

/*
 * Row ROW of B: KIND, then what it says, in this order, each only if it does:
 *   +            belongs to the record of the row before
 *   t=15clk      time and unit (t=13.5ns, t=15); u=clk: a unit without time
 *   s=cpu0       stream, by name
 *   i=10         index
 *   a=1000       address, hexadecimal;  p=8000:NS physical address and security (S, NS, RT, RL)
 *   to=2000      target
 *   n=4          size
 *   v=1f         value;  d=0102 data, in the order of the slice
 *   sub=1
 *   c=1f2003d5   opcode bytes in memory order
 *   fl=..        flags by name, commas between them: branch kind, instruction set, the others
 *   x=..         text, in quotes if it has blanks
 *   [..]         what its detail says beyond how things were written
 */
void tarmac_row_text(const struct trod_batch *b, uint32_t row, struct trod_buf *out);

/*
 * Decode N bytes at P with F; OPT is "" or an option spec. A line a row to OUT, followed for each
 * problem by a line "! kind line N caret C".
 */
void tarmac_rows_of(const struct trod_format *f, const char *opt, const void *p, size_t n,
                    struct trod_buf *out);

#endif
