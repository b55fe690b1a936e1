/*
 * records.c - how decoding of records of a fixed size ends. Implements records.h.
 */
#include "format/records.h"

#include "trod/format.h"

int fmt_records_eaten(struct trod_span *in, size_t n, uint32_t record, int rc, const char *kind,
                      struct trod_diag *diag)
{
    struct trod_place at;

    in->p += n;
    in->n -= n;
    in->offset += n;
    if (rc != TROD_DEC_MORE || !in->last || in->n == 0)
        return rc;
    at = trod_place_offset(NULL, in->offset);
    return trod_error(diag, TROD_ERR_TRUNCATED, kind, &at,
                      "trace ends %zu bytes into a record of %u", in->n, (unsigned)record);
}
