/*
 * sim.h - the caches of Valgrind's Cachegrind and Callgrind.
 *
 * Follows Valgrind 3.19 (cachegrind/cg_sim.c, callgrind/sim.c); docs/caches.md, "Other tools".
 */
#ifndef TROD_SIM_CG_SIM_H
#define TROD_SIM_CG_SIM_H

#include "sim/ref.h"
#include "trod/diag.h"

enum trod_cg_level { TROD_CG_I1, TROD_CG_D1, TROD_CG_LL, TROD_CG_LEVELS };
enum trod_cg_event { TROD_CG_IR, TROD_CG_DR, TROD_CG_DW, TROD_CG_EVENTS };

/* Lines of each set in the order of their last use. */
struct trod_cg_cache {
    uint64_t size;
    uint32_t ways, line;
    unsigned line_bits;
    uint64_t sets;
    uint64_t *tag; /* line number + 1, shifted left by one; bit 0: dirty; 0: empty */
};

struct trod_cg_stream {
    uint64_t last;
    int32_t run; /* steps in one direction: negative downwards */
};

enum { TROD_CG_STREAMS = 8 };

struct trod_cg_sim {
    struct trod_cg_cache cache[TROD_CG_LEVELS];
    bool callgrind, write_back, prefetch;
    uint32_t least_line;
    struct trod_cg_stream stream[TROD_CG_STREAMS];
    uint64_t refs[TROD_CG_EVENTS], first_misses[TROD_CG_EVENTS], last_misses[TROD_CG_EVENTS];
    uint64_t dirty_misses[TROD_CG_EVENTS];
    struct trod_sim_ref held; /* a read that may be the first half of a modification */
    bool holds;
};

/*
 * A run with options TEXT as valgrind takes them (--I1=SIZE,WAYS,LINE --D1= --LL=; CALLGRIND also
 * --simulate-wb=yes --simulate-hwpref=yes). 0, TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM.
 */
int trod_cg_sim_init(struct trod_cg_sim *s, bool callgrind, const char *text,
                     struct trod_diag *diag);
void trod_cg_sim_fini(struct trod_cg_sim *s);

/*
 * The next N references: fetches (and executions that are not fetched again), reads and writes. A
 * read and the write of the same bytes that follows it, by one instruction, are one modification.
 */
void trod_cg_sim_feed(struct trod_cg_sim *s, const struct trod_sim_ref *r, size_t n);
/* Count the read that is held. To be called after the last reference, before counts are read. */
void trod_cg_sim_end(struct trod_cg_sim *s);

#endif
