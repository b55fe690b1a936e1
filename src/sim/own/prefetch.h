/*
 * prefetch.h - prefetchers: which lines are asked for after a reference.
 */
#ifndef TROD_SIM_OWN_PREFETCH_H
#define TROD_SIM_OWN_PREFETCH_H

#include "sim/own/cache.h"

/* A demand reference to ADDR by PC was made at C. MISS: it missed; USEFUL: it is the first one to a
 * line that was prefetched. */
void trod_own_prefetch(struct trod_own_cache *c, uint64_t addr, uint64_t pc, bool miss,
                       bool useful);

/* Bring the line of ADDR into C, unless it is there. */
void trod_own_prefetch_into(struct trod_own_cache *c, uint64_t addr, uint64_t pc);

#endif
