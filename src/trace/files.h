/*
 * files.h - from what the user names to the files of a trace.
 */
#ifndef TROD_TRACE_FILES_H
#define TROD_TRACE_FILES_H

#include "trod/format.h"

/*
 * Append to OUT the file PATH, or what the directory PATH holds; *FORMAT is set when a format
 * claims the directory. Returns 0, TROD_ERR_IO, TROD_ERR_UNKNOWN (an empty directory),
 * TROD_ERR_NOMEM, or what a format's resolve returns. A missing file is no error here.
 */
int trod_files_expand(const char *path, struct trod_files *out, const struct trod_format **format,
                      struct trod_diag *diag);

/* Do the files A and B lie in the same folder, as their paths say? */
bool trod_files_together(const char *a, const char *b);

#endif
