/*
 * tlb.h - one TLB: which pages it knows.
 *
 * Implements docs/caches.md, "TLBs". What is stored is the page alone: protection, and programs
 * with equal addresses, are not told apart.
 */
#ifndef TROD_SIM_OWN_TLB_H
#define TROD_SIM_OWN_TLB_H

#include "sim/own/config.h"
#include "sim/store.h"

enum { TROD_OWN_TLB_KINDS = 3 }; /* fetch, read, write: enum trod_own_kind */

struct trod_own_tlb_counts {
    uint64_t refs[TROD_OWN_TLB_KINDS], misses[TROD_OWN_TLB_KINDS];
    uint64_t evictions, flushed;
};

struct trod_own_tlb {
    const struct trod_own_tlb_spec *spec;
    struct trod_own_tlb *next; /* NULL: page walk */
    struct trod_store store;
    uint64_t last; /* page of the last reference, as it is stored */
    bool repeats;  /* a reference to that page again changes nothing but counts */
    bool failed;
    struct trod_own_tlb_counts n;
};

/* 0 or TROD_ERR_NOMEM. */
int trod_own_tlb_init(struct trod_own_tlb *t, const struct trod_own_tlb_spec *spec);
void trod_own_tlb_fini(struct trod_own_tlb *t);

/*
 * A reference of KIND to the page of ADDR, which has 2^BITS bytes, here and, where it misses, in
 * the TLBs behind. All that missed have it afterwards. Returns true where one had it.
 */
bool trod_own_tlb_ref(struct trod_own_tlb *t, unsigned kind, uint64_t addr, unsigned bits);

/* Forget all. */
void trod_own_tlb_flush(struct trod_own_tlb *t);

#endif
