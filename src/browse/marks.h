/*
 * marks.h - bookmarks, and the file that they are kept in.
 */
#ifndef BROWSE_MARKS_H
#define BROWSE_MARKS_H

#include "browse/model.h"

/* Read what was kept of B's trace. Lines that are none are left out, which is reported. */
void browse_marks_load(struct browse *b);
void browse_marks_fini(struct browse *b);
/* Set a bookmark at ROW (one that is there gets NAME), remove number I; the file follows. */
int browse_marks_set(struct browse *b, uint64_t row, const char *name);
void browse_marks_remove(struct browse *b, size_t i);
/* Is there one at ROW? */
bool browse_marked(const struct browse *b, uint64_t row);

#endif
