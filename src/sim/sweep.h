/*
 * sweep.h - LRU caches of many sizes, ways and lines over one pass.
 *
 * Implements docs/caches.md, "Many caches at once", with locality/sets.h: an instruction cache and
 * a data cache of each geometry, misses of the first level.
 */
#ifndef TROD_SIM_SWEEP_H
#define TROD_SIM_SWEEP_H

#include "sim/locality/sets.h"
#include "sim/ref.h"
#include "trod/diag.h"
#include "trod/result.h"

enum { TROD_SWEEP_LINES = 8, TROD_SWEEP_BATCH = 4096 };

struct trod_sweep {
    uint64_t size[2], ways[2], line[2]; /* least and greatest, powers of two */
    unsigned n_lines;
    struct trod_sets *sets[TROD_SWEEP_LINES][2]; /* by line size; code, data */
    unsigned first[TROD_SWEEP_LINES];            /* log2 of the least number of sets */
    uint64_t buffer[TROD_SWEEP_LINES][2][TROD_SWEEP_BATCH];
    uint32_t n[TROD_SWEEP_LINES][2];
    uint64_t refs[TROD_SWEEP_LINES][2];
};

/*
 * Prepare a sweep over what TEXT says: "size=4K..8M,ways=1..16,line=32..128". 0, TROD_ERR_USAGE
 * (reported) or TROD_ERR_NOMEM.
 */
int trod_sweep_init(struct trod_sweep *s, const char *text, struct trod_diag *diag);
void trod_sweep_fini(struct trod_sweep *s);

void trod_sweep_feed(struct trod_sweep *s, const struct trod_sim_ref *r, size_t n);
/* What is still held is counted. */
void trod_sweep_end(struct trod_sweep *s);

/* Misses of code (DATA 0) or data (1) in a cache of SIZE, WAYS, LINE, which is part of the sweep.
 */
uint64_t trod_sweep_misses(const struct trod_sweep *s, unsigned data, uint64_t size, uint64_t ways,
                           uint64_t line);

void trod_sweep_report(const struct trod_sweep *s, struct trod_result *r);

#endif
