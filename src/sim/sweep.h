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
#include "sim/own/kept.h"
#include "sim/own/touched.h"
#include "sim/ref.h"
#include "sim/repl.h"
#include "sim/sweep_walk.h"
#include "trod/batch.h"
#include "trod/diag.h"
#include "trod/result.h"

enum { TROD_SWEEP_LINES = 8, TROD_SWEEP_BATCH = TROD_WALK_BATCH, TROD_SWEEP_SHARDS = 64 };

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
    /*
     * So many lowest bits of the number of the longest line select the part, and are left out of
     * the line numbers that its caches see, which have as many fewer sets. 0: parts by cache.
     */
    unsigned class_bits;
    uint8_t mine[TROD_SWEEP_LINES]; /* bits by stream: this part has the stacks */
    bool part;                      /* of the rows: for trod_sweep_merge */
    bool recording;                 /* a part that keeps the references and has no caches */
    struct trod_kept kept;
    bool failed; /* no memory for them */
    uint64_t buffer[TROD_SWEEP_LINES][2][TROD_SWEEP_BATCH];
    uint32_t n[TROD_SWEEP_LINES][2];
    uint64_t refs[TROD_SWEEP_LINES][2]; /* references to lines */
};

/*
 * Prepare part SHARD of SHARDS, as many as trod_sweep_shards says, of the sweep that TEXT
 * describes: "size=4K..8M,ways=1..16,line=32..128,policy=lru+fifo". 0, TROD_ERR_USAGE (reported) or
 * TROD_ERR_NOMEM.
 */
int trod_sweep_init(struct trod_sweep *s, const char *text, unsigned shard, unsigned shards,
                    struct trod_diag *diag);
/* The same for a part of the rows, to be merged: only if trod_sweep_records(TEXT). */
int trod_sweep_init_part(struct trod_sweep *s, const char *text, struct trod_diag *diag);
void trod_sweep_fini(struct trod_sweep *s);

/*
 * Of how many parts, JOBS at the most, the sweep of TEXT can be the sum: by bits of the line number
 * (a power of two) if all sets are independent, else by cache. At least 1.
 */
unsigned trod_sweep_shards(const char *text, unsigned jobs);
/* Does it cost so little that finding its references, which each part does, is most of the work? */
bool trod_sweep_small(const char *text);
/* Can parts of the rows be read before it is known what came before? */
bool trod_sweep_records(const char *text);
/*
 * Have such parts caches of their own (locality/sets.h), because all are LRU and have few lines?
 * Others keep their references, which are simulated later.
 */
bool trod_sweep_parts(const char *text);
/* Add the counts of OTHER, another part of the same sweep, both ended. */
void trod_sweep_sum(struct trod_sweep *s, const struct trod_sweep *other);
/*
 * The rows of FROM, a part, come next: S is a whole sweep, or a part by line number or by cache if
 * parts keep references. 0 or TROD_ERR_NOMEM.
 */
int trod_sweep_merge(struct trod_sweep *s, const struct trod_sweep *from);

/* Feed the next N references. 0 or TROD_ERR_NOMEM. */
int trod_sweep_feed(struct trod_sweep *s, const struct trod_sim_ref *r, size_t n);
/* Instead, if by_rows: feed rows [FROM, TO) of B. A sweep is fed in one of the two ways. */
int trod_sweep_rows(struct trod_sweep *s, const struct trod_batch *b, uint32_t from, uint32_t to);
/* Internal, if by_rows: sweep.c calls these at the beginning and at the end. */
void trod_sweep_begin_rows(struct trod_sweep *s);
void trod_sweep_end_rows(struct trod_sweep *s);
/* Internal: sweep_rows.c passes the buffer of line size number I and stream K to the caches. */
void trod_sweep_caches(struct trod_sweep *s, unsigned i, unsigned k);
/* Internal: sweep_rows.c keeps the references of T. */
void trod_sweep_keep(struct trod_sweep *s, struct trod_touched *t);
/* Internal: passes N references, at most TROD_SWEEP_BATCH, of all parts to the caches. */
void trod_sweep_refs(struct trod_sweep *s, const uint64_t *ref, size_t n);
/* Internal: reads the ranges of TEXT into S; false: it has none. */
bool trod_sweep_ranges(struct trod_sweep *s, const char *text);
/* Internal: prepares the parts of S, and the caches of this one. 0 or an error. */
int trod_sweep_make(struct trod_sweep *s);
/* Internal: prepares S, which has its ranges, as a part of the rows. 0 or TROD_ERR_NOMEM. */
int trod_sweep_make_part(struct trod_sweep *s);
/* Internal: no memory for one of the caches? */
bool trod_sweep_failed(const struct trod_sweep *s);

static inline unsigned trod_sweep_log2(uint64_t v)
{
    unsigned bits = 0;

    while (v >>= 1)
        bits++;
    return bits;
}
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
