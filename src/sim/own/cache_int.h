/*
 * cache_int.h - what the files of a cache share: lines that leave it.
 */
#ifndef TROD_SIM_OWN_CACHE_INT_H
#define TROD_SIM_OWN_CACHE_INT_H

#include "sim/own/cache.h"

/* The bits of the sectors of C that BYTES at ADDR, in one line, touch. */
static inline uint64_t trod_own_sectors_of(const struct trod_own_cache *c, uint64_t addr,
                                           uint32_t bytes)
{
    const uint32_t from = (uint32_t)(addr & (c->spec->line - 1)) / c->spec->sector;
    const uint32_t to = (uint32_t)((addr + bytes - 1) & (c->spec->line - 1)) / c->spec->sector;

    return UINT64_MAX << from & UINT64_MAX >> (63 - to);
}

/* The state of LINE in C or in its victim cache; NULL: it is in neither. */
uint8_t *trod_own_line_state(const struct trod_own_cache *c, uint64_t line);

/* Why a line is removed. DATA: by a level that is inclusive of data only: code caches keep it. */
enum trod_own_drop { TROD_OWN_DROP_BACK, TROD_OWN_DROP_DATA, TROD_OWN_DROP_COHERENT };

/*
 * Remove BYTES at ADDR from C and from those before it, for the reason WHY. Returns true if a line
 * was dirty.
 */
bool trod_own_line_drop(struct trod_own_cache *c, uint64_t addr, uint32_t bytes,
                        enum trod_own_drop why);
/* The same from the caches before C alone. */
bool trod_own_line_drop_before(const struct trod_own_cache *c, uint64_t addr, uint32_t bytes,
                               enum trod_own_drop why);

/* The dirty line at ADDR of C, of which SECTORS are, goes to the next level that has it. */
void trod_own_line_write(struct trod_own_cache *c, uint64_t addr, uint64_t sectors);

#endif
