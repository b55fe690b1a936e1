/*
 * result.h - what an analysis found: a tree of named, typed values and tables.
 *
 * Implements docs/design.md, "Results". An analysis builds its result through the functions below;
 * whoever asked for it prints it (trod_result_emit), reads single values from it
 * (trod_result_find), or draws its tables. The same tree gives the text, the JSON, the CSV, the
 * report and the plots, so that all of them are the same numbers.
 *
 * Building follows the order of the output: trod_result_open and trod_result_list begin a level,
 * their _close ends it. A builder that runs out of memory remembers it: trod_result_status says so
 * once, at the end, and no call in between needs to be checked.
 */
#ifndef TROD_RESULT_H
#define TROD_RESULT_H

#include "trod/diag.h"
#include "trod/emit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trod_value_type {
    TROD_RESULT_ABSENT,
    TROD_RESULT_U64,
    TROD_RESULT_I64,
    TROD_RESULT_HEX, /* an address or a mask: a u64 that is shown in hexadecimal */
    TROD_RESULT_F64,
    TROD_RESULT_BOOL,
    TROD_RESULT_STR
};

/* What a column of a table is for: plots and the comparison of two results go by it. */
enum trod_column_role {
    TROD_COLUMN_PLAIN,
    TROD_COLUMN_KEY,    /* says what the row is about: rows of two results are matched by it */
    TROD_COLUMN_X,      /* the horizontal axis of a plot; a key as well */
    TROD_COLUMN_MEASURE /* a number that was measured */
};

struct trod_result_column {
    const char *name; /* lower-case words joined by "_" */
    enum trod_column_role role;
    const char *unit;  /* "bytes", "instructions", "percent", ...; NULL: a plain number or a text */
    const char *about; /* one line, or NULL */
};

struct trod_value {
    enum trod_value_type type;
    int decimals; /* F64: digits after the point that are shown; STR: blanks before it in text */
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        bool boolean;
        const char *str; /* owned by the result; NUL-terminated */
    } is;
};

enum trod_node_type { TROD_NODE_VALUE, TROD_NODE_OBJECT, TROD_NODE_LIST, TROD_NODE_TABLE };

/* A node of the tree. Everything it points to belongs to the result. Read only. */
struct trod_node {
    enum trod_node_type type;
    const char *key;   /* NULL: an item of a list */
    const char *title; /* for text output, or NULL */
    const char *unit, *about;
    struct trod_value value;        /* VALUE */
    struct trod_node *first, *next; /* OBJECT, LIST: first child; next of the same parent */
    const struct trod_result_column *columns; /* TABLE */
    size_t n_columns;
    size_t n_rows;
    const struct trod_value *cells; /* TABLE: row by row */
};

enum { TROD_RESULT_COLUMNS = 128 }; /* of trod_result_counts */

struct trod_result;

/* An empty result: an object without fields. Returns 0 or TROD_ERR_NOMEM. */
int trod_result_new(struct trod_result **out);
/* Release R and all it owns. NULL is allowed. */
void trod_result_free(struct trod_result *r);
/* 0, or TROD_ERR_NOMEM when any call so far ran out of memory. */
int trod_result_status(const struct trod_result *r);

/*
 * Levels. KEY is NULL for an item of a list; TITLE, for text output, may be NULL. Copied. Members
 * of an object have different names: where KEY is there already, the new one is KEY_2, KEY_3, ...
 */
void trod_result_open(struct trod_result *r, const char *key, const char *title);
void trod_result_close(struct trod_result *r);
void trod_result_list(struct trod_result *r, const char *key, const char *title);
void trod_result_list_close(struct trod_result *r);

/* Values: fields of the open object, items of the open list, or cells of the open table (KEY is
 * then ignored). Texts are copied. */
void trod_result_u64(struct trod_result *r, const char *key, uint64_t v);
void trod_result_i64(struct trod_result *r, const char *key, int64_t v);
void trod_result_hex(struct trod_result *r, const char *key, uint64_t v);
void trod_result_f64(struct trod_result *r, const char *key, double v, int decimals);
void trod_result_bool(struct trod_result *r, const char *key, bool v);
void trod_result_str(struct trod_result *r, const char *key, const char *v);
void trod_result_strn(struct trod_result *r, const char *key, const char *v, size_t n);
/* V, a cell of a tree: in text and on pages with BLANKS before it. */
void trod_result_below(struct trod_result *r, const char *key, const char *v, unsigned blanks);
/* Unit and description (static texts, each may be NULL) of the value added last. */
void trod_result_describe(struct trod_result *r, const char *unit, const char *about);

/*
 * A table of N columns (COLUMNS is copied; unit and about must be static texts). The cells follow
 * row by row: by the functions for values, trod_result_absent for an empty one, and
 * trod_result_row_end after each row.
 */
void trod_result_table(struct trod_result *r, const char *key, const char *title,
                       const struct trod_result_column *columns, size_t n);
/* The same where the first column is the key and the others are measures without a unit; N is at
 * most TROD_RESULT_COLUMNS. */
void trod_result_counts(struct trod_result *r, const char *key, const char *title,
                        const char *const *names, size_t n);
void trod_result_absent(struct trod_result *r);
void trod_result_row_end(struct trod_result *r);
void trod_result_table_close(struct trod_result *r);

/* The root: an OBJECT without key. */
const struct trod_node *trod_result_root(const struct trod_result *r);
/* The node at PATH ("total.loads", "threads.0.tid"), or NULL. */
const struct trod_node *trod_result_find(const struct trod_result *r, const char *path);
/* The number of column NAME of table T, or -1. */
int trod_result_column(const struct trod_node *t, const char *name);

/* Copy the children of FROM's root into the open level of INTO. */
void trod_result_add(struct trod_result *into, const struct trod_result *from);

/* Write the fields of R into the open level of E. */
void trod_result_emit(const struct trod_result *r, struct trod_emit *e);

/*
 * Read back what trod_result_emit wrote as JSON, from the file PATH ("-": standard input). Arrays
 * of objects that have the same names and plain values become tables without roles and units; other
 * arrays become lists. Returns 0, TROD_ERR_IO, TROD_ERR_CORRUPT (no JSON, no object, a number
 * beyond 64 bits), TROD_ERR_LIMIT (nested deeper than TROD_EMIT_DEPTH), TROD_ERR_UNSUPPORTED (built
 * without jansson) or TROD_ERR_NOMEM, all reported.
 */
int trod_result_read(struct trod_result **out, const char *path, struct trod_diag *diag);

struct trod_result_diff_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    /* Numbers are equal that differ by no more than this, or than this part of the larger one. */
    double absolute, relative;
    /* Compare what lies at or below one of these paths ("*": any text, "?": any letter); none: all.
     */
    const char *const *only;
    size_t n_only;
    /* Names of columns that tell rows of a table apart, where it has them; none: see below. */
    const char *const *key;
    size_t n_key;
};

/*
 * How B differs from A, into the open level of OUT: "compared", "different", and the table
 * "differences": path, first, second, difference (second minus first) and percent of the first.
 * Fields are matched by name, items of lists by position, rows of tables by their key columns: the
 * first columns, as many as it takes to tell all rows of both tables apart; rows that are the same
 * in all columns are matched in their order. A row's path has its keys in brackets:
 * "caches[L1D/read].misses". Returns 0, TROD_ERR_USAGE (options of another version) or
 * TROD_ERR_NOMEM; *DIFFERENT says how many values differ.
 */
int trod_result_diff(const struct trod_result *a, const struct trod_result *b,
                     const struct trod_result_diff_options *opt, struct trod_result *out,
                     uint64_t *different);

#ifdef __cplusplus
}
#endif

#endif
