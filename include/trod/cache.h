/*
 * cache.h - simulation of caches and TLBs over the rows of a trace.
 *
 * Implements docs/caches.md. The simulators of other tools are followed in rules, statistics and
 * layout (trod_cache_layout): DynamoRIO's cache simulator, TLB simulator and miss analyzer, Dinero
 * IV, and Valgrind's Cachegrind and Callgrind.
 */
#ifndef TROD_CACHE_H
#define TROD_CACHE_H

#include "trod/analysis.h"
#include "trod/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_buf;
struct trod_cache;
struct trod_symbols;

enum trod_cache_like {
    TROD_CACHE_OWN, /* trod's own rules: docs/caches.md */
    TROD_CACHE_DRCACHESIM,
    TROD_CACHE_DINERO,
    TROD_CACHE_CACHEGRIND,
    TROD_CACHE_CALLGRIND,
    TROD_CACHE_LIKES
};

enum trod_cache_by {
    TROD_CACHE_BY_NOTHING,
    TROD_CACHE_BY_INSTRUCTION,
    TROD_CACHE_BY_PAGE,
    TROD_CACHE_BY_LINE,
    TROD_CACHE_BY_THREAD
};

struct trod_cache_options {
    int like;         /* enum trod_cache_like */
    const char *with; /* options in that tool's own words; NULL: none */
    /* The rest is for TROD_CACHE_OWN. */
    const char *config; /* configuration file */
    const char *preset; /* where there is none; NULL: "default" */
    const char *sweep;  /* LRU caches of many shapes instead: "size=4K..8M,ways=1..16,line=64" */
    int by;             /* enum trod_cache_by: a table of who misses */
    bool classify;      /* misses into compulsory, capacity, conflict, coherence */
    bool sharing;       /* lines that threads share, truly and falsely */
    uint64_t interval;  /* misses every so many instructions; 0: no */
    uint64_t top;       /* rows of the tables of who misses and what is shared; 0: all */
};

/* The analysis "cache"; its options are struct trod_cache_options. */
extern const struct trod_analysis trod_analysis_cache;

/*
 * Prepare a simulation with options O, which are not kept. Files that the options name are read
 * (configurations, page mappings) or begun (misses). DIAG must outlive the simulation. Returns 0,
 * TROD_ERR_USAGE (options or configuration; reported with file and line), an error of reading a
 * file, or TROD_ERR_NOMEM.
 */
int trod_cache_new(struct trod_cache **out, const struct trod_cache_options *o,
                   struct trod_diag *diag);

/*
 * The order of the rows that a simulation with options O stands for; cores: of TROD_ORDER_DYNAMIC.
 * Returns 0, or what trod_cache_new returns for options and configuration; reported.
 */
int trod_cache_order(const struct trod_cache_options *o, enum trod_order *order, uint32_t *cores,
                     struct trod_diag *diag);

/*
 * Rows [FROM, TO) of B. Returns 1 to go on, 0 when what is to be simulated has been seen,
 * TROD_ERR_USAGE (rows of more cores than there are; reported), an error of writing misses, or
 * TROD_ERR_NOMEM.
 */
int trod_cache_feed(struct trod_cache *c, const struct trod_batch *b, uint32_t from, uint32_t to);

/* Statistics begin anew, contents stay (TROD_CACHE_OWN; other tools have options for it). */
void trod_cache_warm(struct trod_cache *c);

/* Preset I and what it is, NULL past the last. Static texts. */
const char *trod_cache_preset(size_t i, const char **title);

/*
 * The rows have ended: the result of TROD_CACHE_OWN, into the open level of R. SYMBOLS, if not
 * NULL, sums instructions up by function. META is that of the trace. Returns 0, TROD_ERR_USAGE
 * (another tool's simulation) or TROD_ERR_NOMEM.
 */
int trod_cache_result(struct trod_cache *c, struct trod_symbols *symbols,
                      const struct trod_meta *meta, struct trod_result *r);

/*
 * The rows have ended: finish, and append the result to OUT as the tool prints it. Returns 0, an
 * error of writing misses, TROD_ERR_USAGE (TROD_CACHE_OWN has no layout) or TROD_ERR_NOMEM.
 */
int trod_cache_layout(struct trod_cache *c, struct trod_buf *out);

void trod_cache_free(struct trod_cache *c);

#ifdef __cplusplus
}
#endif

#endif
