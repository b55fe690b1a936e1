/*
 * sized.h - option structs that begin with their size, so that programs compiled against another
 * version of the headers stay right: what they do not have is zero, what they have and this library
 * does not know must be.
 */
#ifndef TROD_CORE_SIZED_H
#define TROD_CORE_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Copy the option struct FROM (NULL: all zero), whose first member is its size (0: that of FIRST,
 * as it was in the first version), to TO of SIZE bytes, which says that it has SIZE bytes (0 where
 * FROM is NULL). False: FROM says something that is not known.
 */
static inline bool trod_sized(void *to, size_t size, size_t first, const void *from)
{
    size_t given = 0;

    memset(to, 0, size);
    if (!from)
        return true;
    memcpy(&given, from, sizeof given);
    if (given == 0)
        given = first;
    if (given < sizeof given)
        return false;
    for (size_t i = size; i < given; i++)
        if (((const uint8_t *)from)[i])
            return false;
    memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof size);
    return true;
}

#endif
