/*
 * reason.h - why the system refused something, in its words; any thread may ask.
 */
#ifndef TROD_CORE_REASON_H
#define TROD_CORE_REASON_H

#include <stdio.h>
#include <string.h>

enum { TROD_REASON = 128 };

/* The words for ERRNUM, written to ROOM. */
static inline const char *trod_reason(int errnum, char room[TROD_REASON])
{
    if (strerror_r(errnum, room, TROD_REASON) != 0)
        snprintf(room, TROD_REASON, "error %d", errnum);
    return room;
}

#endif
