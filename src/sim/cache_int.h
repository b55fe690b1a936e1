/* cache_int.h - functions of a simulation for the analysis "cache", beyond trod/cache.h. */
#ifndef TROD_SIM_CACHE_INT_H
#define TROD_SIM_CACHE_INT_H

#include "sim/dr/sim.h"
#include "sim/own/config.h"
#include "sim/own/future.h"
#include "trod/buf.h"
#include "trod/cache.h"

struct trod_cache_future {
    struct trod_own_future of;
};

/* The numbers of `trod cache` for each row (weigh.c). */
extern const struct trod_weigher trod_cache_weigher;

/* Set C to the hierarchy of options O. 0, or an error as of trod_cache_new; reported. */
int trod_cache_configure(struct trod_own_config *c, const struct trod_cache_options *o,
                         struct trod_diag *diag);

/* Report options of an unknown version. Returns TROD_ERR_USAGE. */
int trod_cache_version(struct trod_diag *diag);
/* Append the whole of file PATH, a configuration, to OUT. 0 or an error, reported. */
int trod_cache_file(const char *path, struct trod_buf *out, struct trod_diag *diag);
/*
 * Read WITH, options of DynamoRIO's simulator, and the configuration file that they name, into K. 0
 * or an error, reported.
 */
int trod_cache_configure_dr(struct trod_dr_config *k, const char *with, struct trod_diag *diag);
/*
 * Do options O ask for nothing but the counts of a hierarchy C whose first level own/first.h can
 * simulate?
 */
bool trod_cache_plain(const struct trod_cache_options *o, const struct trod_own_config *c);

/* How many of JOBS threads may share the simulation with options O, exactly. At least 1. */
unsigned trod_cache_shards(const struct trod_cache_options *o, unsigned jobs);
/* The columns that a simulation with options O looks at in a trace of FORMAT. */
uint32_t trod_cache_uses(const char *format, const struct trod_cache_options *o);
/*
 * Into how many parts of the simulation, for JOBS threads, each of which simulates its own, the
 * states that recorded are merged. At least 1.
 */
unsigned trod_cache_takers(const struct trod_cache_options *o, unsigned jobs);
/* As trod_cache_new, for part SHARD of SHARDS. */
int trod_cache_new_shard(struct trod_cache **out, const struct trod_cache_options *options,
                         unsigned shard, unsigned shards, struct trod_diag *diag);
/* May parts of the rows of a simulation with options O be recorded (trod_analysis.records)? */
bool trod_cache_records(const struct trod_cache_options *o);
/*
 * As trod_cache_new, for a state that records, to be merged into SHARDS parts of the simulation: it
 * has no caches behind the first level, and those of a large sweep not at all. Only if
 * trod_cache_records(options).
 */
int trod_cache_new_part(struct trod_cache **out, const struct trod_cache_options *options,
                        unsigned shards, struct trod_diag *diag);
/* Refuse files of misses that are files of META's trace. 0 or TROD_ERR_USAGE, reported. */
int trod_cache_apart(const struct trod_cache *c, const struct trod_meta *meta);
/* The bytes that C has recorded. */
size_t trod_cache_recorded(const struct trod_cache *c);
/* The rows have ended: counts are final. 0, or an error of trod_cache_options.memory. */
int trod_cache_end(struct trod_cache *c);
/* Add FROM, another part of the same simulation: both have ended, or FROM has recorded the rows
 * that come next. 0, TROD_ERR_NOMEM, or TROD_ERR_UNSUPPORTED (simulations of other tools have no
 * parts).
 */
int trod_cache_merge(struct trod_cache *c, const struct trod_cache *from);

#endif
