/*
 * recent.c - memory of the tables of recent.h: new pages of the system, of which only those that
 * are written to take memory. There may be thousands of tables at once.
 *
 * Addresses of data are looked up beside those of instructions. Where nothing was written all
 * pages are the same one of zeros, which stays in the nearest cache; pages that were used before
 * and cleared would be as many as there are places.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "core/recent.h"

#include "core/mapped.h"

enum { BYTES = TROD_RECENT * sizeof(struct trod_recent) };

struct trod_recent *trod_recent_new(void)
{
    return trod_map(BYTES);
}

void trod_recent_free(struct trod_recent *t)
{
    if (t)
        munmap(t, BYTES);
}
