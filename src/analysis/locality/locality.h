/*
 * locality.h - the state of the analysis "locality", shared by the files of this folder.
 *
 * Implements docs/locality.md. The computations are in src/sim/locality; here rows become
 * references, and numbers become results.
 */
#ifndef TROD_ANALYSIS_LOCALITY_H
#define TROD_ANALYSIS_LOCALITY_H

#include "core/map.h"
#include "sim/locality/sets.h"
#include "sim/locality/shards.h"
#include "sim/locality/stack.h"
#include "sim/locality/times.h"
#include "sim/ref.h"
#include "sim/whose/whose.h"
#include "trod/analysis.h"
#include "trod/buf.h"

#include <inttypes.h>
#include <stdio.h>

enum { LOC_BLOCK = 4096, LOC_ALL = (1 << TROD_REFS) - 1 };

enum { LOC_WAYS = 64 }; /* of --ways, at the most */

enum loc_like { LOC_OWN, LOC_REUSE_DISTANCE, LOC_REUSE_TIME };
enum loc_per {
    LOC_PER_NONE,
    LOC_PER_FUNCTION,
    LOC_PER_INSTRUCTION,
    LOC_PER_MODULE,
    LOC_PER_SOURCE,
    LOC_PER_DATA, /* from here on by number of the owner of the data */
    LOC_PER_BLOCK,
    LOC_PER_REGION,
    LOC_PER_PAGE, /* from here on by address */
    LOC_PER_LINE
};

struct loc_options {
    uint64_t line;     /* bytes */
    uint64_t top;      /* rows of lists */
    uint64_t distant;  /* distance in lines */
    uint64_t limit;    /* lines kept; 0: all */
    uint64_t sample;   /* one line in so many; 0: all */
    uint64_t memory;   /* bytes; 0: as many as it takes */
    uint64_t window;   /* references */
    uint64_t ways;     /* of set-associative caches; 0: none */
    uint64_t resident; /* bytes of the cache whose lines' touched parts are counted; 0: not */
    uint64_t size;     /* bytes of the cache whose misses are given to owners */
    int refs, like, per;
    bool shared, crossing, times, histogram, strides, plot;
    uint64_t width; /* of the plot in characters; 0: 73 */
};

/* The references of one thread, one file or all. */
struct loc_lane {
    uint64_t tid;
    uint32_t file, number;
    struct trod_stack *stack;   /* exact, or NULL */
    struct trod_shards *shards; /* a sample, or NULL */
    struct trod_times *times;
    struct trod_sets *sets;
};

struct loc_owner {
    uint64_t refs;
    double cold, misses;
};

/*
 * Strides of one instruction: the most frequent ones, by the space-saving algorithm. Stride by[i]
 * came n[i] times at most, and n[i] - over[i] times at least.
 */
enum { LOC_STRIDES = 8 };
struct loc_strides {
    uint64_t last, refs, steps; /* steps: references behind another one of their thread */
    int64_t by[LOC_STRIDES];
    uint64_t n[LOC_STRIDES], over[LOC_STRIDES];
};

/* Where a bus fetches code there is no instruction: the address of the fetch is the owner. */
struct loc_fetch {
    uint64_t addr;
    struct loc_owner of;
};

/* In loc_block.site: the rest is the number of a loc_fetch, not of a site. */
#define LOC_FETCH (UINT32_C(1) << 31)

struct loc_block {
    uint64_t line[LOC_BLOCK], touched[LOC_BLOCK];
    uint32_t site[LOC_BLOCK], out[LOC_BLOCK];
    double weight[LOC_BLOCK]; /* of a sample: what a reference of it stands for */
    uint8_t class[LOC_BLOCK];
    size_t n;
};

/* What was counted up to the end of an interval. */
struct loc_interval {
    uint64_t number, instructions, refs, cold, misses;
};

struct loc_state {
    const struct loc_options *opt;
    struct trod_context context;
    unsigned shift;            /* log2 of the size of a line */
    uint8_t class[TROD_KINDS]; /* class of reference of a kind; 0xff: none */
    struct loc_lane own;       /* of what was fed, or the sum */
    struct loc_lane **file;    /* like: by file */
    size_t n_files, cap_files;
    uint32_t cached; /* like: the lane of stream `cached - 1` is file[at] */
    size_t at;
    struct loc_owner *owner;     /* by site, or by owner of the data */
    struct trod_whose *whose;    /* tells whose data it is; NULL: not wanted */
    struct loc_strides *strides; /* by site */
    size_t n_sites;
    struct loc_fetch *fetch; /* owners without a site */
    size_t n_fetches, cap_fetches;
    struct trod_map fetches; /* their numbers, by address */
    struct trod_lines pages; /* owners by page: refs, misses */
    struct loc_block *block; /* while rows are counted */
    struct loc_interval *interval;
    size_t n_intervals, cap_intervals;
};

/*
 * Can parts of a stream be counted independently? Not if references are handed on one by one: the
 * first references of a part are settled only when it is merged.
 */
bool loc_parts(const struct loc_options *o);

/* ---- rows.c */

struct loc_rows {
    const uint8_t *class; /* by kind of row, TROD_KINDS of them: loc_state */
    unsigned shift;       /* log2 of the size of a line */
    uint8_t without;      /* trod_without */
};

/*
 * Rows [FROM, TO) of B that refer to memory and whose class is wanted, as numbers of lines and
 * classes alone, to K, which has room for all.
 */
void loc_rows_put(struct loc_block *k, const struct loc_rows *r, const struct trod_batch *b,
                  uint32_t from, uint32_t to);

/*
 * Does row I say where it is, and nothing that makes it no reference? What is on a bus refers if it
 * is a fetch of code. HAVE: the batch's columns.
 */
static inline bool loc_refers(const struct trod_batch *b, uint32_t i, uint32_t have)
{
    const uint32_t said = b->has[i] & have;
    const uint32_t flags = b->flags[i] & -(said / TROD_COL_FLAGS & 1); /* no branch for each row */

    return trod_ref_is_placed(said, b->kind[i]) & !(flags & TROD_NO_REFERENCE) &
           ((b->kind[i] != TROD_BUS) | (flags / TROD_F_IFETCH & 1));
}

/* ---- lane.c */

/* Prepare L as S's options say. 0 or TROD_ERR_NOMEM; loc_lane_fini is due in any case. */
int loc_lane_init(struct loc_lane *l, const struct loc_state *s);
void loc_lane_fini(struct loc_lane *l);
/* The references of B; distances go to B->out if DISTANCES. */
int loc_lane_feed(struct loc_lane *l, struct loc_block *b, bool distances);
/* FROM came right behind INTO. */
int loc_lane_append(struct loc_lane *into, const struct loc_lane *from);
/* Was nothing fed to L, or merged into it? */
bool loc_lane_is_new(const struct loc_lane *l);
/* A and B, made with the same options, exchange what they have counted. */
void loc_lane_swap(struct loc_lane *a, struct loc_lane *b);
/* FROM is another thread. */
int loc_lane_sum(struct loc_lane *into, const struct loc_lane *from);
/* References of the classes in CLASSES. */
uint64_t loc_lane_refs(const struct loc_lane *l, unsigned classes);
/* Count anew from here on; what is in the caches stays. */
void loc_lane_restart(struct loc_lane *l);
/* Misses in a cache of SIZE lines, and first references. Returns false without memory. */
bool loc_lane_misses(const struct loc_lane *l, uint64_t size, uint64_t *misses, uint64_t *cold);

/* ---- owners.c */

/* Count the block for the owners of its references. 0 or TROD_ERR_NOMEM. */
int loc_owners_count(struct loc_state *s, const struct loc_block *b);
int loc_owners_add(struct loc_state *s, const struct loc_state *from);
void loc_owners_fini(struct loc_state *s);
/* What stands for the fetch of ADDR by a bus in loc_block.site, to *SITE. 0 or TROD_ERR_NOMEM. */
int loc_fetch_number(struct loc_state *s, uint64_t addr, uint32_t *site);
/* A reference by SITE to ADDR. 0 or TROD_ERR_NOMEM. */
int loc_strides_count(struct loc_state *s, uint32_t site, uint64_t addr);
int loc_owners_result(const struct loc_state *s, struct trod_result *r);
int loc_strides_result(const struct loc_state *s, struct trod_result *r);

/* ---- result.c */

int loc_result(const void *st, struct trod_result *r);

/* The bytes of LINES lines, a cell of a table: none where 64 bits do not hold them. */
void loc_put_size(struct trod_result *r, uint64_t lines, unsigned shift);

struct loc_stats {
    uint64_t n, max;
    double mean, deviation;
    uint64_t median;
};

/* Of the distances of re-references, as reuse_distance of DynamoRIO defines them. */
struct loc_stats loc_stats_of(const struct trod_dist *h, unsigned classes);

struct loc_top {
    uint64_t line, refs, distant;
};

/* The N lines of L with most references (or, DISTANT, most distant ones). Returns how many. */
size_t loc_top(const struct trod_stack *s, bool distant, struct loc_top *out, size_t n);

/*
 * Sizes of caches in lines that a curve has points at, rising, the last of them LIMIT at the most
 * (0: the first one that holds LINES). Returns how many, at most CAP.
 */
size_t loc_sizes(uint64_t lines, uint64_t limit, uint64_t *size, size_t cap);
/* So many lines are remembered; 0: all. DynamoRIO's tools show what they have of all sizes. */
uint64_t loc_limit(const struct loc_options *o);
enum { LOC_SIZES = 128 };

/* ---- locality.c */

/* The lane of FILE, made if new; TID is that of the first row. NULL without memory. */
struct loc_lane *loc_lane_of_file(struct loc_state *s, uint32_t file, uint64_t tid);

/* ---- save.c */

int loc_save(const void *st, struct trod_buf *out);
int loc_load(void *st, struct trod_span in, const uint32_t *sites);

/* ---- intervals.c */

/* An interval ends. 0 or TROD_ERR_NOMEM. */
int loc_interval_end(struct loc_state *s, const struct trod_boundary *at);
void loc_intervals_result(const struct loc_state *s, struct trod_result *r);

/* ---- times.c */

int loc_times_result(const struct loc_state *s, struct trod_result *r);

/* ---- like.c, plot.c */

/* What all files have together, to *ALL, which is due to loc_lane_fini. 0 or TROD_ERR_NOMEM. */
int loc_like_sum(const struct loc_state *s, struct loc_lane *all);
/* The layout of DynamoRIO's tools. 1 or TROD_ERR_NOMEM. */
int loc_like(const struct loc_state *s, struct trod_buf *out);
/* The curve as a chart. 1 or TROD_ERR_NOMEM. */
int loc_plot(const struct loc_state *s, struct trod_buf *out);

#endif
