/*
 * where.h - choosing rows by an expression over their columns.
 *
 * Implements trod-where(7), where the language is described: what `trod find` and the option
 * --where of the commands mean. An expression is compiled once and judged a batch at a time.
 */
#ifndef TROD_WHERE_H
#define TROD_WHERE_H

#include "trod/batch.h"
#include "trod/diag.h"
#include "trod/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_where;

struct trod_where_options {
    size_t struct_size;           /* sizeof the struct; 0 stands for its size in version 0 */
    struct trod_symbols *symbols; /* for function, symbol and the like; outlives the expression */
};

/*
 * Compile TEXT, which is copied. OPT may be NULL: no symbols. Returns 0, TROD_ERR_NOMEM or
 * TROD_ERR_USAGE: TEXT is no expression, has a name that there is not, compares what cannot be
 * compared, or needs symbols that OPT does not have (reported with the position in TEXT), or OPT is
 * of another version (reported). Release it with trod_where_free; NULL is allowed.
 */
int trod_where_new(struct trod_where **out, const char *text, const struct trod_where_options *opt,
                   struct trod_diag *diag);
void trod_where_free(struct trod_where *w);

/* Columns that judging needs: enum trod_column bits. */
uint32_t trod_where_want(const struct trod_where *w);

/* Number in the trace of the last row that can be chosen; TROD_NOWHERE: no limit is known. */
uint64_t trod_where_last(const struct trod_where *w);

/*
 * Judge those rows of B for which KEEP (a byte a row) is 1 and set the byte to 0 where the
 * expression is false. FIRST is the number of B's first row in the trace. Returns how many bytes
 * are 1 then, or TROD_ERR_NOMEM. Batches of one trace follow each other; W must not be used by two
 * threads at once.
 */
int trod_where_batch(struct trod_where *w, const struct trod_batch *b, uint64_t first,
                     uint8_t *keep);

/* A name that expressions may use. */
struct trod_where_name {
    const char *name;
    const char *type; /* "number", "text", "word", "stream", "condition", "function" */
    const char *text; /* what it is, one line */
};

/* Name I, NULL past the last. */
const struct trod_where_name *trod_where_name_at(size_t i);

#ifdef __cplusplus
}
#endif

#endif
