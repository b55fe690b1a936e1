/*
 * cache_int.h - what the analysis "cache" asks of a simulation beyond trod/cache.h.
 */
#ifndef TROD_SIM_CACHE_INT_H
#define TROD_SIM_CACHE_INT_H

#include "sim/own/config.h"
#include "trod/cache.h"

/* What `trod cache` offers by the row (weigh.c). */
extern const struct trod_weigher trod_cache_weigher;

/* The hierarchy of options O into C. 0, or what trod_cache_new returns; reported. */
int trod_cache_configure(struct trod_own_config *c, const struct trod_cache_options *o,
                         struct trod_diag *diag);

/* How many of JOBS threads may share the simulation with options O, exactly. At least 1. */
unsigned trod_cache_shards(const struct trod_cache_options *o, unsigned jobs);
/* The columns that a simulation with options O looks at. */
uint32_t trod_cache_uses(const struct trod_cache_options *o);
/* Simulate part SHARD of SHARDS; before the first rows. */
void trod_cache_take(struct trod_cache *c, unsigned shard, unsigned shards);
/* The rows have ended: counts are final. 0, or an error of trod_cache_options.memory. */
int trod_cache_end(struct trod_cache *c);
/* Add FROM, another part of the same simulation; both have ended. 0, TROD_ERR_NOMEM, or
 * TROD_ERR_UNSUPPORTED (another tool's simulation has no parts). */
int trod_cache_merge(struct trod_cache *c, const struct trod_cache *from);

#endif
