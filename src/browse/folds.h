/*
 * folds.h - calls that stand in one line.
 */
#ifndef BROWSE_FOLDS_H
#define BROWSE_FOLDS_H

#include "browse/model.h"

/* The fold that row ROW of STREAM is in; NULL: none. */
const struct browse_fold *browse_folds_find(const struct browse_folds *f, uint32_t stream,
                                            uint64_t row);
/* Add F; folds inside of it go. Returns 0, TROD_ERR_NOMEM or TROD_ERR_LIMIT (too many). */
int browse_folds_add(struct browse_folds *folds, const struct browse_fold *f);
/* Add N folds at F in any order, which it puts in order; those inside of others go. Returns the
 * same.
 */
int browse_folds_merge(struct browse_folds *folds, struct browse_fold *f, size_t n);
/* Take away all that begin in rows FIRST to LAST of STREAM. */
void browse_folds_clear(struct browse_folds *folds, uint32_t stream, uint64_t first, uint64_t last);
/* Take away F, which is one of FOLDS. */
void browse_folds_remove(struct browse_folds *folds, const struct browse_fold *f);
void browse_folds_fini(struct browse *b);

#endif
