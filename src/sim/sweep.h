/*
 * sweep.h - simulating caches of many sizes, ways, lines and policies in one pass.
 *
 * Implements docs/caches.md, "Many caches at once": an instruction cache and a data cache of each
 * geometry, misses of the first level. LRU comes from stacks (locality/sets.h), other policies from
 * a simulation of each cache (sweep_walk.h).
 */
#ifndef TROD_SIM_SWEEP_H
#define TROD_SIM_SWEEP_H

#include "sim/locality/sets.h"
#include "sim/own/touched.h"
#include "sim/ref.h"
#include "sim/repl.h"
#include "sim/sweep_walk.h"
#include "trod/batch.h"
#include "trod/diag.h"
#include "trod/result.h"

enum { TROD_SWEEP_LINES = 8, TROD_SWEEP_BATCH = TROD_WALK_BATCH };

struct trod_buf;

struct trod_sweep {
    uint64_t size[2], ways[2], line[2]; /* least and greatest, powers of two */
    uint8_t policy[TROD_REPL_OPT];      /* each once, as they were named */
    unsigned n_policies;
    unsigned n_lines;
    struct trod_sets *sets[TROD_SWEEP_LINES][2]; /* by line size; code, data. NULL: no LRU */
    struct trod_walk *walk[TROD_SWEEP_LINES][2]; /* NULL: LRU alone */
    bool by_rows;                                /* no policy is changed by repeated references */
    struct trod_touched in;                      /* BY_ROWS: references still to be simulated */
    unsigned bits;                               /* log2 of the smallest line */
    uint64_t last[TROD_SWEEP_LINES][2];          /* BY_ROWS: previous line; not for size number 0 */
    unsigned first[TROD_SWEEP_LINES];            /* log2 of the least number of sets */
    unsigned shard, shards;                      /* the part that this sweep counts */
    unsigned class_bits; /* line number bits that select a part; 0: by cache */
    uint64_t buffer[TROD_SWEEP_LINES][2][TROD_SWEEP_BATCH];
    uint32_t n[TROD_SWEEP_LINES][2];
    uint64_t refs[TROD_SWEEP_LINES][2]; /* references to lines */
};

/*
 * Prepare the sweep that TEXT describes: "size=4K..8M,ways=1..16,line=32..128,policy=lru+fifo". 0,
 * TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM.
 */
int trod_sweep_init(struct trod_sweep *s, const char *text, struct trod_diag *diag);
void trod_sweep_fini(struct trod_sweep *s);

/*
 * How many of JOBS threads can share the sweep of TEXT: divided by bits of the line number if all
 * sets are independent, else by line sizes and streams. At least 1.
 */
unsigned trod_sweep_shards(const char *text, unsigned jobs);
/* Count only part SHARD of SHARDS; to be called before the first reference. */
void trod_sweep_take(struct trod_sweep *s, unsigned shard, unsigned shards);
/* Add the counts of OTHER, another part of the same sweep, both ended. */
void trod_sweep_sum(struct trod_sweep *s, const struct trod_sweep *other);

/* Feed the next N references. 0 or TROD_ERR_NOMEM. */
int trod_sweep_feed(struct trod_sweep *s, const struct trod_sim_ref *r, size_t n);
/* Instead, if by_rows: feed rows [FROM, TO) of B. A sweep is fed in one of the two ways. */
int trod_sweep_rows(struct trod_sweep *s, const struct trod_batch *b, uint32_t from, uint32_t to);
/* Internal, if by_rows: sweep.c calls these at the beginning and at the end. */
void trod_sweep_begin_rows(struct trod_sweep *s);
void trod_sweep_end_rows(struct trod_sweep *s);
/* Internal: sweep_rows.c passes the buffer of line size number I and stream K to the caches. */
void trod_sweep_caches(struct trod_sweep *s, unsigned i, unsigned k);
/* Reset the counts; the contents of the caches are kept. */
void trod_sweep_restart(struct trod_sweep *s);
/* No more references: count those that are still buffered. */
void trod_sweep_end(struct trod_sweep *s);

/*
 * Misses of code (DATA 0) or data (1) in a cache of SIZE, WAYS, LINE and POLICY, which is part of
 * the sweep.
 */
uint64_t trod_sweep_misses(const struct trod_sweep *s, unsigned data, uint64_t size, uint64_t ways,
                           uint64_t line, unsigned policy);

/* Write the misses of all caches into the open level of R. */
void trod_sweep_report(const struct trod_sweep *s, struct trod_result *r);
/* Append curves of the misses by size, WIDTH characters wide, to OUT. 0 or TROD_ERR_NOMEM. */
int trod_sweep_chart(const struct trod_sweep *s, unsigned width, struct trod_buf *out);

#endif
