/*
 * result_diff.h - rows of two tables that belong together, for result_diff.c.
 */
#ifndef TROD_ENGINE_RESULT_DIFF_H
#define TROD_ENGINE_RESULT_DIFF_H

#include "trod/buf.h"
#include "trod/result.h"

#define RESULT_NO_ROW SIZE_MAX

/* Rows of tables A and B by key. Zero bytes are an empty one. */
struct result_match {
    size_t *b_of_a;        /* the row of B, or RESULT_NO_ROW */
    bool *b_taken;         /* by row of B */
    char **key_a, **key_b; /* texts of the keys by row, as paths show them */
};

/*
 * Match the rows of A and B, one of which may be NULL (no rows), by the columns KEY (N of them)
 * that they have, else by their first columns. 0 or TROD_ERR_NOMEM.
 */
int result_match_rows(struct result_match *m, const struct trod_node *a, const struct trod_node *b,
                      const char *const *key, size_t n);
void result_match_fini(struct result_match *m, const struct trod_node *a,
                       const struct trod_node *b);

/*
 * *OUT is a result with one table, that of LIST, whose items are objects of plain values with the
 * same names: reading a saved result makes tables of such lists. NULL: LIST is none, or no list. 0
 * or TROD_ERR_NOMEM.
 */
int result_as_table(struct trod_result **out, const struct trod_node *list);

/* Add V, which may be of another result, to R. */
void result_add_value(struct trod_result *r, const char *key, const struct trod_value *v);

/* V as a text after what OUT holds. 0 or TROD_ERR_NOMEM. */
int result_value_text(struct trod_buf *out, const struct trod_value *v);

#endif
