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
struct trod_cache_future;
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
    TROD_CACHE_BY_THREAD,
    TROD_CACHE_BY_CORE, /* of the hierarchy */
    /* by the symbols given to trod_cache_result: */
    TROD_CACHE_BY_FUNCTION,
    TROD_CACHE_BY_MODULE, /* file of code */
    TROD_CACHE_BY_SOURCE, /* line of source */
    /* by whose data is referenced (docs/caches.md, "Whose data"): */
    TROD_CACHE_BY_DATA,  /* objects, blocks of the heap by where they were asked for, stacks */
    TROD_CACHE_BY_BLOCK, /* the same, each block for itself */
    TROD_CACHE_BY_REGION /* code and data of modules, heap, mappings, stacks, stretches of pages */
};

struct trod_cache_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    int like;           /* enum trod_cache_like */
    const char *with;   /* options in that tool's own words; NULL: none */
    /* The rest is for TROD_CACHE_OWN. */
    const char *config; /* configuration file */
    const char *preset; /* where there is none; NULL: "default" */
    /* caches of many shapes instead: "size=4K..8M,ways=1..16,line=64,policy=lru" */
    const char *sweep;
    int by;            /* enum trod_cache_by: a table of misses by these */
    bool classify;     /* divide misses into compulsory, capacity, conflict, coherence */
    bool sharing;      /* list the lines that threads share, truly and falsely */
    uint64_t interval; /* misses every so many instructions; 0: no */
    uint64_t top;      /* rows of the tables of misses and of shared lines; 0: all */
    bool plot;         /* a sweep as a chart: then it has a layout */
    unsigned width;    /* of the chart in characters; 0: 80 */
    uint64_t skip;     /* instructions at the beginning that are not simulated */
    /* Sampling: of every window_every instructions after these the last `window` are counted, the
     * window_warm before them only fill the caches, the others are not simulated. 0: all count. */
    uint64_t window_every, window_warm, window;
    uint64_t warm_rows;               /* so many rows fill the caches and are not counted */
    bool warm_full;                   /* counts begin when the last caches are full */
    bool physical;                    /* caches by physical addresses, where the trace has them */
    struct trod_cache_future *future; /* of two passes (trod_cache_future_new); outlives both */
    /* What goes from the last caches to memory, as rows, in order (docs/caches.md, "Misses as a
     * trace"): MEMORY is called for each batch of them, with MEMORY_USER, and returns 0 or an
     * error, which ends the simulation. NULL: not wanted. Not for sweeps. */
    int (*memory)(void *user, const struct trod_batch *b);
    void *memory_user;
    struct trod_symbols *symbols; /* objects of TROD_CACHE_BY_DATA; outlives it; or NULL */
    uint64_t warm; /* instructions at the beginning, skipped ones included, that are not counted,
                      nor are their references */
    /* Where the caller writes the layout of TROD_CACHE_DRCACHESIM: files of misses that it names
     * must be others. NULL: not known. */
    const char *result;
};

/* The options of TROD_CACHE_OWN as `trod cache` and `trod run cache:...` have them: of struct
 * trod_cache_options. */
extern const struct trod_option trod_cache_option_table[];

/* The analysis "cache"; its options are struct trod_cache_options. */
extern const struct trod_analysis trod_analysis_cache;

/*
 * Prepare a simulation with options O, which are not kept. Files that the options name are read
 * (configurations, page mappings) or begun (misses). DIAG must outlive the simulation. Returns 0,
 * TROD_ERR_USAGE (options or configuration; reported with file and line), an error of reading a
 * file, or TROD_ERR_NOMEM. A hierarchy with policy opt without FUTURE is TROD_ERR_USAGE.
 */
int trod_cache_new(struct trod_cache **out, const struct trod_cache_options *o,
                   struct trod_diag *diag);

/*
 * The optimal policy (docs/caches.md, "The optimal policy") takes two passes over the rows.
 * trod_cache_future_new sets *OUT to NULL where options O need one pass only. Otherwise run first a
 * simulation with O and this future over all rows, and ignore its result; then call
 * trod_cache_future_turn; then run the simulation proper over the same rows. trod_cache_future_new
 * returns 0, what trod_cache_new returns for options and configuration, or TROD_ERR_IO (a file in
 * TMPDIR or /tmp cannot be made; reported). trod_cache_future_turn returns 0, TROD_ERR_IO
 * (reported) or TROD_ERR_NOMEM. Release it with trod_cache_future_free; NULL is allowed.
 */
int trod_cache_future_new(struct trod_cache_future **out, const struct trod_cache_options *o,
                          struct trod_diag *diag);
int trod_cache_future_turn(struct trod_cache_future *f, struct trod_diag *diag);
void trod_cache_future_free(struct trod_cache_future *f);

/*
 * The order of rows that a simulation with options O needs, to *ORDER; *CORES: the number of cores
 * for TROD_ORDER_DYNAMIC. Returns 0, or what trod_cache_new returns for options and configuration;
 * reported.
 */
int trod_cache_order(const struct trod_cache_options *o, enum trod_order *order, uint32_t *cores,
                     struct trod_diag *diag);

/*
 * Simulate rows [FROM, TO) of B. Returns 1 to go on, 0 when all that is to be simulated was seen,
 * TROD_ERR_USAGE (rows of more cores than there are; reported), an error of writing misses, or
 * TROD_ERR_NOMEM.
 */
int trod_cache_feed(struct trod_cache *c, const struct trod_batch *b, uint32_t from, uint32_t to);

/* End the warm-up: reset the statistics, keep the contents (TROD_CACHE_OWN; other tools have
 * options for it). Not for simulations that count windows or wait until caches are full. */
void trod_cache_warm(struct trod_cache *c);

/* The name of preset I, and in *TITLE what it is; NULL past the last. Static texts. */
const char *trod_cache_preset(size_t i, const char **title);

/*
 * After the last row: write the result of TROD_CACHE_OWN into the open level of R. SYMBOLS (or
 * NULL) name functions, modules and lines of source. META is that of the trace. Returns 0,
 * TROD_ERR_USAGE (another tool's simulation), what trod_cache_options.memory returned, or
 * TROD_ERR_NOMEM.
 */
int trod_cache_result(struct trod_cache *c, struct trod_symbols *symbols,
                      const struct trod_meta *meta, struct trod_result *r);

/*
 * After the last row: append the result to OUT as the simulated tool prints it. Returns 0, an error
 * of writing misses, TROD_ERR_USAGE (TROD_CACHE_OWN has no layout but a plot) or TROD_ERR_NOMEM.
 */
int trod_cache_layout(struct trod_cache *c, struct trod_buf *out);

/* Release C. NULL is allowed. */
void trod_cache_free(struct trod_cache *c);

#ifdef __cplusplus
}
#endif

#endif
