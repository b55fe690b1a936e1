/*
 * beside.h - files that trod itself puts beside the files of a trace.
 *
 * They may lie in the folder that holds a trace, and are no part of it.
 */
#ifndef CORE_BESIDE_H
#define CORE_BESIDE_H

#include "core/suffix.h"

/* Is it an index (trod index) or a list of bookmarks (trod browse)? */
static inline bool trod_beside_trace(const char *name)
{
    static const char *const suffixes[] = {".trodx", ".trodmarks"};
    const size_t n = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (trod_ends_with(name, n, suffixes[i]))
            return true;
    return false;
}

#endif
