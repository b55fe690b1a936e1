/*
 * places.h - two positions: what differs between them.
 */
#ifndef BROWSE_PLACES_H
#define BROWSE_PLACES_H

#include "browse/model.h"

/* Lines of text. */
struct browse_lines {
    char **at;
    size_t n, cap;
};

/*
 * What differs between the second position and the cursor: registers of the stream of the cursor's
 * row, memory. Release OUT with browse_lines_fini. Returns 0, TROD_ERR_USAGE (there is no second
 * position, as was reported) or an error.
 */
int browse_differences(struct browse *b, struct browse_lines *out);
/* One more line. Returns 0, TROD_ERR_NOMEM or TROD_ERR_LIMIT (there are too many). */
int browse_lines_add(struct browse_lines *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void browse_lines_fini(struct browse_lines *l);

#endif
