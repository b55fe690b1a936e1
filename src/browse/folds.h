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
/* Take away F, which is one of FOLDS. */
void browse_folds_remove(struct browse_folds *folds, const struct browse_fold *f);
void browse_folds_fini(struct browse *b);

#endif
