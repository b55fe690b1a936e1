/*
 * recent.c - memory of the tables of recent.h: pages of the system, of which only those that are
 * used take memory. There may be thousands of tables at once.
 */
#include "core/recent.h"

#include "core/spare.h"

enum { BYTES = TROD_RECENT * sizeof(struct trod_recent) };

struct trod_recent *trod_recent_new(void)
{
    return trod_spare_zeroed(BYTES);
}

void trod_recent_free(struct trod_recent *t)
{
    trod_spare_give(t, BYTES);
}
