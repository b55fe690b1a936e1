/*
 * ref.h - a memory reference as the models take it: what rows of a trace become.
 */
#ifndef TROD_SIM_REF_H
#define TROD_SIM_REF_H

#include <stdint.h>

enum trod_ref_op {
    TROD_REF_FETCH,
    TROD_REF_READ,
    TROD_REF_WRITE,
    TROD_REF_PREFETCH,      /* by software, of data or into lower caches */
    TROD_REF_PREFETCH_CODE, /* by software, into the first instruction cache */
    TROD_REF_HW_PREFETCH,
    TROD_REF_FLUSH,
    TROD_REF_FLUSH_CODE,
    TROD_REF_NOTHING, /* counts as a reference and touches nothing (an instruction not fetched) */
    TROD_REF_EXIT,    /* the thread ends */
    TROD_REF_CPU,     /* the thread runs on cpu VALUE from here on; no reference */
    TROD_REF_MAPPING, /* page of ADDR is at physical VALUE; TROD_NOWHERE: not known; no reference */
    TROD_REF_PAGE_SIZE, /* pages have VALUE bytes; no reference */
    TROD_REF_OTHER      /* no reference */
};

static inline int trod_ref_is_prefetch(unsigned op)
{
    return op >= TROD_REF_PREFETCH && op <= TROD_REF_HW_PREFETCH;
}

struct trod_ref {
    uint64_t addr, pc;
    uint64_t value;
    uint64_t tid, pid;
    uint32_t size;
    uint32_t stream; /* number in the trace */
    uint32_t shard;  /* number of the core, where the order of the trace gives one */
    uint8_t op;
};

#endif
