/*
 * fast.c - the canonical lines of Fast Models and gem5, eaten without looking at them twice.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

const uint8_t *tm_fast(struct tm_dec *d, const uint8_t *p, const uint8_t *end, struct trod_batch *b)
{
    (void)d;
    (void)end;
    (void)b;
    return p;
}
