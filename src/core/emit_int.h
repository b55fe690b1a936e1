/*
 * emit_int.h - what emit.c (JSON, CSV, the calls) and emit_text.c (layout for people) share.
 */
#ifndef EMIT_INT_H
#define EMIT_INT_H

#include <string.h>

#include "trod/buf.h"
#include "trod/emit.h"

enum emit_what { EMIT_OBJECT, EMIT_LIST, EMIT_TABLE, EMIT_ROWS };

struct emit_level {
    enum emit_what what;
    uint64_t items;    /* fields, items or rows so far */
    size_t path;       /* length of the dotted name outside */
    unsigned indent;   /* of what is inside, in text */
    bool inline_list;  /* JSON: the last item was a value, not an object */
    const char *title; /* text: of a list whose first item is still to come */
    const char *key;
};

struct trod_emit {
    FILE *file;
    struct trod_emit_options opt;
    struct emit_level level[TROD_EMIT_DEPTH];
    unsigned depth, ignored; /* levels open; levels beyond the depth */
    bool nomem, in_fields, any;
    struct trod_buf path;
    const char *const *columns;
    size_t n_columns, column;
    bool item_column; /* CSV: rows begin with the name of the item they are in */
    /* text */
    struct trod_buf fields; /* "key\0value\0", waiting to be aligned */
    uint32_t n_fields;
    bool list_field;       /* the last of them is a list that goes on */
    struct trod_buf cells; /* a byte of flags and text, NUL: waiting for the widths */
    uint64_t n_cells;
    uint32_t *width;       /* by column */
    bool *words, *present; /* columns with text, with anything at all */
    bool header_done;
    bool blank;      /* an empty line was just written, or nothing at all */
    bool table_over; /* what was written last is the end of a table */
};

enum { CELL_NUMBER = 1, CELL_TEXT = 2, CELL_ABSENT = 3 }; /* flags of a cell */

/* Folding leaves a text at least so many columns, or does not fold it; so many if there is room. */
enum { FOLD_LEAST = 24, FOLD_WELL = 40 };

static inline const char *emit_next(const char *s)
{
    return s + strlen(s) + 1;
}

/* Columns that N bytes of visible UTF-8 take (wide characters count as one). */
uint32_t emit_columns_of(const char *s);
/*
 * Bytes of the text S that go on a line of ROOM columns: up to a blank; where there is none the
 * first word, or (HARD) what of it fits.
 */
size_t emit_fold(const char *s, uint32_t room, bool hard);
/* Print the rows of the table that are held; COMPLETE: these are all. */
void emit_table_flush(struct trod_emit *e, bool complete);

/* One value; NUMBER: JSON writes it bare. */
void emit_text_value(struct trod_emit *e, const char *key, const char *s, size_t n, bool number);
void emit_text_open(struct trod_emit *e, const char *key, const char *title);
void emit_text_flush(struct trod_emit *e);
void emit_text_table(struct trod_emit *e, const char *key, const char *title);
void emit_text_row_end(struct trod_emit *e);
void emit_text_table_end(struct trod_emit *e);

#endif
