/*
 * plot.h - results as charts of characters, for terminals.
 *
 * Implements docs/report.md, "In the terminal". What is drawn follows from the roles of columns
 * (trod/result.h): tables with an axis are curves, others bars. Block characters and braille
 * patterns (Unicode, U+2580 and U+2800), or ASCII.
 */
#ifndef TROD_PLOT_H
#define TROD_PLOT_H

#include "trod/result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_buf;

enum { TROD_PLOT_ROWS = 20 }; /* bars of a table, where nothing is said */

struct trod_plot_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    unsigned width;     /* columns that a line may have, at least 40; 0: 80 */
    uint64_t rows;      /* rows of a table that are drawn as bars; 0: TROD_PLOT_ROWS */
    bool ascii;         /* nothing but ASCII */
};

/*
 * Append charts of what R has to OUT: of each table with an axis (TROD_COLUMN_X) a curve for each
 * measure; of other tables with a key bars of their share, or else of their first measure; of the
 * list "intervals" a curve for each number of its items. Returns how many there are, TROD_ERR_USAGE
 * (options of another version) or TROD_ERR_NOMEM.
 */
int trod_plot_result(const struct trod_result *r, const struct trod_plot_options *opt,
                     struct trod_buf *out);

/* Replace the block characters and braille patterns in TEXT by ASCII characters, in place. */
void trod_plot_ascii(struct trod_buf *text);

#ifdef __cplusplus
}
#endif

#endif
