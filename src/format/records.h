/*
 * records.h - how decoding of records of a fixed size ends.
 */
#ifndef TROD_FORMAT_RECORDS_H
#define TROD_FORMAT_RECORDS_H

#include "trod/diag.h"

/*
 * Take the N bytes of whole records that were decoded from IN. RC is what decode() is to return; if
 * that is TROD_DEC_MORE and the trace ends in a record of RECORD bytes, which is reported as a
 * problem of KIND, it becomes TROD_ERR_TRUNCATED. Returns it.
 */
int fmt_records_eaten(struct trod_span *in, size_t n, uint32_t record, int rc, const char *kind,
                      struct trod_diag *diag);

#endif
