/*
 * suffix.h - does a name end with a suffix?
 *
 * Names of files (what they are compressed with, their format) and of registers (their bank).
 */
#ifndef TROD_CORE_SUFFIX_H
#define TROD_CORE_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Does NAME, of N characters, end with SUFFIX, and is there something before it? */
static inline bool trod_ends_with(const char *name, size_t n, const char *suffix)
{
    const size_t m = strlen(suffix);

    return n > m && memcmp(name + n - m, suffix, m) == 0;
}

#endif
