/*
 * emit.h - the one way numbers leave: text, JSON and CSV are the same numbers (docs/design.md, rule
 * 7).
 *
 * A report is a tree of named fields, lists and tables. As text it is an indented, aligned listing;
 * as JSON one document (or, for tables opened with trod_emit_rows, one object a line); as CSV every
 * table with its header line, and fields as "name,value" lines with dotted names, list items by
 * number from 0 ("files.0.rows"); an empty line parts one table from the next. A table inside an
 * item of a list has the dotted name of the item as its first column, "item".
 *
 * Text that is to fit a terminal (option width) is folded: fields at blanks; tables by wrapping the
 * columns of long texts, or else in blocks one below the other, each with the first column.
 *
 * Keys are lower-case words joined by "_"; text shows the "_" as blanks. Texts are escaped as the
 * output needs it; bytes that are no UTF-8 are made visible. Depth is limited to TROD_EMIT_DEPTH.
 */
#ifndef TROD_EMIT_H
#define TROD_EMIT_H

#include <stdio.h>

#include "trod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TROD_EMIT_DEPTH = 32 };

enum trod_emit_format { TROD_EMIT_TEXT, TROD_EMIT_JSON, TROD_EMIT_CSV };

struct trod_emit;

struct trod_emit_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    enum trod_emit_format format;
    bool colour; /* text only */
    /* text only: columns that a line may have; tables and fields that need more are folded. 0: any
     */
    unsigned width;
};

/* Write to FILE, which the caller owns. Returns 0, TROD_ERR_USAGE (options of another
 * version) or TROD_ERR_NOMEM. */
int trod_emit_new(struct trod_emit **out, FILE *file, const struct trod_emit_options *opt);
/* Close what is open, flush; returns 0 or TROD_ERR_IO when anything could not be written. */
int trod_emit_free(struct trod_emit *e);

/* A nested object: fields until trod_emit_close belong to it. TITLE (may be NULL) is for text. */
void trod_emit_open(struct trod_emit *e, const char *key, const char *title);
void trod_emit_close(struct trod_emit *e);
/* A list of objects or values; items are opened with trod_emit_open(e, NULL, title). */
void trod_emit_list(struct trod_emit *e, const char *key, const char *title);
void trod_emit_list_close(struct trod_emit *e);

/* Fields. KEY is NULL for the items of a list. Nothing is written for what is absent. */
void trod_emit_u64(struct trod_emit *e, const char *key, uint64_t v);
/*
 * How many of something, and how many bytes: as trod_emit_u64 in JSON and CSV; text groups the
 * digits ("1,278,587,797") and says large sizes in units as well
 * ("1,278,587,797 bytes (1.2 GiB)").
 */
void trod_emit_count(struct trod_emit *e, const char *key, uint64_t v);
void trod_emit_bytes(struct trod_emit *e, const char *key, uint64_t v);
/* The number V; in text output SHOWN stands for it, under LABEL, as a reader knows it by a name. */
void trod_emit_said(struct trod_emit *e, const char *key, uint64_t v, const char *label,
                    const char *shown);
void trod_emit_i64(struct trod_emit *e, const char *key, int64_t v);
/* "0x.." in text and CSV, a string "0x.." in JSON (64-bit values do not survive JSON numbers). */
void trod_emit_hex(struct trod_emit *e, const char *key, uint64_t v);
void trod_emit_f64(struct trod_emit *e, const char *key, double v, int decimals);
void trod_emit_bool(struct trod_emit *e, const char *key, bool v);
void trod_emit_str(struct trod_emit *e, const char *key, const char *v);
void trod_emit_strn(struct trod_emit *e, const char *key, const char *v, size_t n);
/* V; in text output with BLANKS before it: it belongs below what stands above. */
void trod_emit_below(struct trod_emit *e, const char *key, const char *v, unsigned blanks);

/*
 * A table with the N COLUMNS of these names; in text output a column is right-aligned if every cell
 * is a number, and left out if every cell is empty. Cells are given in order with the field
 * functions above (key ignored); trod_emit_absent leaves one empty, trod_emit_row_end ends a row.
 */
void trod_emit_table(struct trod_emit *e, const char *key, const char *title,
                     const char *const *columns, size_t n);
void trod_emit_absent(struct trod_emit *e);
void trod_emit_row_end(struct trod_emit *e);
void trod_emit_table_close(struct trod_emit *e);

/*
 * A table that is the whole output, however long: rows leave as they come. JSON: one object a
 * line. Nothing else may be open or follow but trod_emit_table_close.
 */
void trod_emit_rows(struct trod_emit *e, const char *const *columns, size_t n);

#ifdef __cplusplus
}
#endif

#endif
