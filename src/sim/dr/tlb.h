/*
 * tlb.h - the TLBs of a core in DynamoRIO's TLB simulator.
 *
 * Follows drcachesim's simulator/tlb.cpp and tlb_simulator.cpp.
 */
#ifndef TROD_SIM_DR_TLB_H
#define TROD_SIM_DR_TLB_H

#include "sim/dr/cache.h"

struct trod_dr_tlb {
    struct trod_store store; /* page | number of the process << 52 */
    unsigned page_bits;
    uint64_t last; /* remembered page and process, TROD_NO_LINE: none */
    uint64_t last_set;
    uint32_t last_way;
    struct trod_dr_tlb *parent;
    struct trod_lines seen; /* pages ever missed */
    struct trod_dr_stats now, warmup;
    bool failed;
};

enum { TROD_DR_PROCESSES = 4096, TROD_DR_PAGE_BITS = 52 };

/* A fetch, read or write of R by process number PROCESS. */
void trod_dr_tlb_request(struct trod_dr_tlb *t, const struct trod_sim_ref *r, uint64_t process);

#endif
