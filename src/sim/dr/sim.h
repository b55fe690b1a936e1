/*
 * sim.h - a run of one of DynamoRIO's simulators: the caches or TLBs of all cores, and what is
 * counted when.
 *
 * Follows drcachesim's simulator/cache_simulator.cpp, tlb_simulator.cpp and
 * cache_miss_analyzer.cpp, but for reading and printing.
 */
#ifndef TROD_SIM_DR_SIM_H
#define TROD_SIM_DR_SIM_H

#include "sim/dr/config.h"
#include "sim/dr/cores.h"
#include "sim/dr/miss.h"
#include "sim/dr/pages.h"
#include "sim/dr/tlb.h"

struct trod_dr_tlbs {
    struct trod_dr_tlb code, data, l2;
};

struct trod_dr_sim {
    const struct trod_dr_config *config; /* not owned */
    struct trod_dr_cache *cache;         /* in the order of the configuration */
    uint32_t n_cache;
    struct trod_dr_cache **code, **data; /* by core; the same where it is unified */
    struct trod_dr_tlbs *tlb;            /* by core */
    struct trod_dr_snoop snoop;
    struct trod_dr_cores cores;
    struct trod_dr_pages pages;
    struct trod_lines process;    /* pid to number */
    struct trod_dr_misses misses; /* of the miss analyzer */
    uint64_t skip, warmup, sim;
    uint64_t last_tid; /* TLB: of the last core choice */
    uint32_t last_core;
    bool warm, warmed_up; /* warm-up asked for; done */
    bool started;         /* a reference was seen */
    bool over;            /* the end was reached: nothing counts any more */
};

/*
 * Prepare a run of CONFIG, which is complete and outlives it. PATH: of the configuration file, for
 * messages, or NULL. Returns 0, TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM.
 */
int trod_dr_sim_init(struct trod_dr_sim *s, const struct trod_dr_config *config, const char *path,
                     struct trod_diag *diag);
void trod_dr_sim_fini(struct trod_dr_sim *s);

/* The next N references. 0, TROD_ERR_NOMEM, or TROD_ERR_USAGE (more shards than cores; reported).
 */
int trod_dr_sim_feed(struct trod_dr_sim *s, const struct trod_sim_ref *r, size_t n,
                     struct trod_diag *diag);

#endif
