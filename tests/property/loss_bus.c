/*
 * loss_bus.c - what records of one bus format say that the other has no place for. Implements
 * loss_rows.h (loss_bus_record) after docs/formats/byu.md.
 *
 * Of byu6 that are writebacks, and bits that carry nothing; of byu12 reads for ownership, and
 * attributes that are not those of memory that is written back, and none of uncached memory, I/O
 * and special cycles.
 */
#include "loss_rows.h"

enum { SUB = 12, DETAIL = 17 };

_Static_assert(1 << SUB == TROD_COL_SUB && 1 << DETAIL == TROD_COL_DETAIL, "numbers of columns");

void loss_bus_record(struct pair *p, const struct row *a)
{
    const bool none = a->flags & (TROD_F_UNCACHED | TROD_F_IO) || a->kind == TROD_MARKER;
    const uint8_t *d = a->record.p;

    if (loss_is(p->from, "byu6")) {
        p->columns[a->kind][SUB] += a->sub == 14;
        p->columns[a->kind][DETAIL] += (d[5] & 15) || ((d[3] & 7) && d[4] != 0xff);
    } else {
        p->columns[a->kind][SUB] += a->sub == 2;
        p->columns[a->kind][DETAIL] += d[6] != (none ? 0 : 3);
    }
}
