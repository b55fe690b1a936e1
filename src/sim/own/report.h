/*
 * report.h - what a hierarchy counted, as fields and tables.
 */
#ifndef TROD_SIM_OWN_REPORT_H
#define TROD_SIM_OWN_REPORT_H

#include "sim/own/sim.h"
#include "trod/cache.h"
#include "trod/result.h"

struct trod_meta;
struct trod_symbols;
struct trod_whose;

struct trod_own_report {
    uint64_t top;                   /* rows of the tables of misses and of shared lines; 0: all */
    struct trod_symbols *symbols;   /* rows by instruction are summed up by function; or NULL */
    int by;                         /* enum trod_cache_by */
    const struct trod_whose *whose; /* whose numbers the keys are; NULL: they are addresses */
};

/* owners.c: the first column of the table of misses, by enum trod_cache_by. */
const char *trod_own_who_column(int by, const struct trod_symbols *symbols);
/* The table; the columns behind are called as the caches, none of them as the first. 0 or
 * TROD_ERR_NOMEM. */
int trod_own_who(const struct trod_own_sim *s, const struct trod_own_report *o,
                 const struct trod_meta *meta, struct trod_result *r);

/* Into the open level of R. 0 or TROD_ERR_NOMEM. */
int trod_own_report(const struct trod_own_sim *s, const struct trod_own_report *o,
                    const struct trod_meta *meta, struct trod_result *r);

#endif
