/*
 * emit_int.h - what emit.c (JSON, CSV, the calls) and emit_text.c (layout for people) share.
 */
#ifndef EMIT_INT_H
#define EMIT_INT_H

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
    bool blank; /* an empty line was just written, or nothing at all */
};

/* One value; NUMBER: JSON writes it bare. */
void emit_text_value(struct trod_emit *e, const char *key, const char *s, size_t n, bool number);
void emit_text_open(struct trod_emit *e, const char *key, const char *title);
void emit_text_flush(struct trod_emit *e);
void emit_text_table(struct trod_emit *e, const char *key, const char *title);
void emit_text_row_end(struct trod_emit *e);
void emit_text_table_end(struct trod_emit *e);

#endif
