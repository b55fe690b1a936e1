/*
 * diag_own.h - how a diag finds the member of an archive that a problem is in.
 *
 * Part of the diag (trod/diag.h), for readers; not installed.
 */
#ifndef TROD_CORE_DIAG_OWN_H
#define TROD_CORE_DIAG_OWN_H

#include "trod/diag.h"

/* Of the file that a diag's path names; the reader keeps it as long as the path stands there. */
struct trod_diag_members {
    /* the name of the member of archive OF that decoded byte OFFSET lies in, or NULL */
    const char *(*name)(const void *of, uint64_t offset);
    const void *of;
};

#endif
